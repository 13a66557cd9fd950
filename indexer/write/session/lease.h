/* The lease: a thread with a database session of its own that proves that the writer is alive,
 * whatever the main session does. Every TIDE_LEASE_RENEW_MS it renews chain.lease and writes the
 * last report into chain.heartbeat.
 *
 * Lease    after TIDE_LEASE_MS without renewal, by the database's clock, a standby may end the
 *          writer's sessions. So it may if that clock was set back by more than TIDE_LEASE_MS and
 *          the lease was not renewed since. If a renewal finds another writer in it, a standby took
 *          over: the lease is lost for good.
 * Current  A lease tells that the process lives. Rows are as fresh as chain.heartbeat.current_at: a
 *          renewal moves it if the writer committed since the last one, or reported within
 *          TIDE_LEASE_MS that it is at the tip, and the database of this thread's session has the
 *          writer's commits.
 * Failure  never stops the work. A lost session is opened again, tried every TIDE_LEASE_RENEW_MS.
 * Threads  any thread may call all functions except open and close. */
#ifndef INDEXER_WRITE_SESSION_LEASE_H
#define INDEXER_WRITE_SESSION_LEASE_H

#include "tidemark/status.h"

#include <stdbool.h>
#include <stdint.h>

/* The figures that the indexer reports into chain.heartbeat. */
struct tide_heartbeat {
    const char *state; /* below 16 bytes */
    uint32_t tip, ledger;
    double rate;
    const char *error; /* error that just occurred, or NULL */
    double event_rate;
    uint64_t ledgers, events; /* since the start */
    bool current;             /* the index was at the source's tip when this was reported */
    const char *source;       /* name of the source; NULL: unchanged */
    /* reason why the source cannot go on, for trouble_ms so far; NULL: it can */
    const char *trouble;
    int64_t trouble_ms;
};

enum { TIDE_LEASE_RENEW_MS = 500, TIDE_LEASE_MS = 5000 };
static_assert(TIDE_LEASE_RENEW_MS * 5 <= TIDE_LEASE_MS, "some renewals may come late");

#define TIDE_LEASE_INSTANCE_MAX 96u
#define TIDE_WRITER_TEXT        37u /* a uuid as text, and NUL */

struct tide_lease; /* opaque */

struct tide_lease_options {
    const char *conninfo; /* borrowed */
    uint32_t deployment;
    const char *writer; /* the one of chain.cursor; copied */
    uint64_t moves;     /* as the row counts them */
};

/* Starts the thread, which opens the session. TIDE_E_MEMORY. */
tide_status tide_lease_open(struct tide_lease **out, const struct tide_lease_options *options,
                            struct tide_err *err) TIDE_MUST_USE;
/* Writes the last report if the database allows it, gives the lease back, and ends the thread. NULL
 * is allowed. */
void tide_lease_close(struct tide_lease *lease);

/* Sets the report to write from now on. A new state is written at once. An error is written even if
 * the next report overtakes it. */
void tide_lease_report(struct tide_lease *lease, const struct tide_heartbeat *heartbeat,
                       uint64_t retries);
/* Notes a commit: chain.cursor has that many now. */
void tide_lease_committed(struct tide_lease *lease, uint64_t moves);
bool tide_lease_lost(struct tide_lease *lease);

/* Writes "host:process" of this process. */
void tide_lease_instance(char out[TIDE_LEASE_INSTANCE_MAX]);

#endif
