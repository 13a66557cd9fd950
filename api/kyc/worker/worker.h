/* From the inbox to the outbox: one thread for each provider, so that one that hangs delays no
 * other. Several processes may work on one database.
 *
 * Inbox      a thread takes a webhook that no other thread works on, finds its session, asks the
 *            provider at the configured address, and applies the answer in one transaction
 *            (worker_store.c)
 * Sessions   sessions that are due are checked too, so a lost webhook only delays a decision
 * Upkeep     deletes old webhooks, writes refused ones into the audit, reads figures for /metrics
 * Once       a thread holds an advisory lock of the session from before it asks the provider until
 *            the answer is committed: an older answer can never overwrite a newer one
 * Failures   a row is taken for a short time. If the process dies, another one takes the row after
 *            that. Failed work is repeated after growing pauses, and a failing provider is not
 *            called for a while
 * Clocks     while the clocks of host, database and chain differ by more than skew_s, nothing is
 *            decided. Webhooks are stored, and handled once the clocks agree (api/base/clocks.h) */
#ifndef API_KYC_WORKER_WORKER_H
#define API_KYC_WORKER_WORKER_H

#include "api/kyc/base/context.h"
#include "api/kyc/worker/refused.h"

struct tide_kyc_workers; /* opaque: all threads */

/* Counters of one provider's thread since its start. */
struct tide_kyc_effort {
    uint64_t webhooks;  /* inbox rows finished */
    uint64_t strangers; /* inbox rows about no session */
    uint64_t asked;     /* calls for a decision */
    uint64_t failed;    /* calls without a usable answer */
    uint64_t moved;     /* sessions that changed */
    uint64_t stale;     /* answers older than the known decision */
    uint64_t found;     /* changes that no webhook had reported */
    int64_t turned_ms;  /* monotonic: end of the last turn; 0: none yet */
    bool away;          /* the last call failed; the provider is not called for a while */
    bool waits;         /* the clocks differ, so nothing is decided */
};

/* Opens the workers without connecting. They set stopped and stopped_self of the options
 * themselves. Everything that the options point to must outlive the threads. */
tide_status tide_kyc_workers_open(struct tide_kyc_workers **out,
                                  const struct tide_kyc_context_options *options,
                                  struct tide_kyc_refused *refused,
                                  struct tide_err *err) TIDE_MUST_USE;
tide_status tide_kyc_workers_start(struct tide_kyc_workers *workers,
                                   struct tide_err *err) TIDE_MUST_USE;
/* joins the threads; NULL is allowed */
void tide_kyc_workers_close(struct tide_kyc_workers *workers);

/* Appends the figures of the database to /metrics, if they were ever read. now_ms: monotonic. Any
 * thread. */
void tide_kyc_workers_figures(struct tide_kyc_workers *workers, struct tide_buf *out,
                              int64_t now_ms);
/* Any thread. */
void tide_kyc_workers_effort(struct tide_kyc_workers *workers, uint32_t provider,
                             struct tide_kyc_effort *out);

#endif
