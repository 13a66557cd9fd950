/* The feeder: keeps the hot cache of this host equal to PostgreSQL.
 *
 * Build     A new generation from the state tables, in one snapshot of the database.
 * Steps     Then versions of entries since the cache's own ledger, including removals, and swaps:
 *           one statement, one snapshot, and one transaction of the cache, which also stores the
 *           cursor. A step follows each NOTIFY, or after a second without one. A hot standby
 *           rejects LISTEN, so its cursor is polled every TIDE_FEED_STANDBY_MS.
 * Rebuild   If the cache is missing, damaged, of another version or deployment, ahead of the
 *           database, or not on its chain; or if data at or below its ledger changed (an earlier
 *           range was filled in, raw rows were decoded).
 * Standby   A standby that is behind the cache, as after a failover, has TIDE_FEED_BEHIND_MS to
 *           catch up. When it is promoted, the feeder reconnects and listens.
 * Away      Without the database the cache stays as it is and ages. It also ages while the
 *           indexer gives no sign, or the database is a late standby (api/sql/age.h). */
#ifndef API_HOT_FEED_H
#define API_HOT_FEED_H

#include "tidemark/hot.h"
#include "tidemark/pg.h"

#define TIDE_FEED_IDLE_MS    1000   /* longest wait for a notification */
#define TIDE_FEED_STANDBY_MS 4      /* between polls of a standby's cursor */
#define TIDE_FEED_SILENCE_MS 60000u /* silence of the server after which the connection is closed */
#define TIDE_FEED_LEDGERS    64u    /* ledgers in one step while catching up */
/* Between rebuilds because of changes below the cache's ledger */
#define TIDE_FEED_REBUILD_S 60u
#define TIDE_FEED_BEHIND_MS 5000 /* time that a standby may be behind the cache */

struct tide_feed;
struct tide_deployment_select;

struct tide_feed_options {
    const char *conninfo;
    struct tide_deployment_select *select; /* NULL: the only deployment */
    struct tide_hot *hot;
    bool (*stopped)(void *self); /* NULL: never */
    void *stopped_self;
};

/* The figures for /metrics and /readyz. */
struct tide_feed_stats {
    bool feeding;    /* this process holds the lock and the database answers */
    bool unmigrated; /* the database has no tables yet (not migrated) */
    uint32_t ledger; /* the cache's ledger */
    uint64_t steps, rows, rebuilds, failures;
    /* Sums over the steps: waiting for the database, writing the cache */
    uint64_t asked_us, applied_us;
    char trouble[TIDE_ERR_TEXT_MAX]; /* the last failure; empty if the last step succeeded */
};

/* Does not connect yet. Fails with TIDE_E_MEMORY or an error of the cache. *out is the caller's
 * until tide_feed_close. */
tide_status tide_feed_open(struct tide_feed **out, const struct tide_feed_options *options,
                           struct tide_err *err) TIDE_MUST_USE;
void tide_feed_close(struct tide_feed *feed);

/* Feeds until stopped: the body of the feeder's thread. While another process holds the cache's
 * lock, it only switches to that process's new generations. Failures are logged and retried. */
void tide_feed_run(struct tide_feed *feed);

/* Runs one step: connects and takes the lock if needed, and brings the cache up to the cursor,
 * or to `until` if that is lower and not 0, by at most TIDE_FEED_LEDGERS. *more: the target is
 * not reached yet. Fails with TIDE_E_CONFLICT if another process feeds. For tests and
 * tide_feed_run. */
tide_status tide_feed_step(struct tide_feed *feed, uint32_t until, bool *more,
                           struct tide_err *err) TIDE_MUST_USE;

/* Copies the figures. Any thread. */
void tide_feed_stats(struct tide_feed *feed, struct tide_feed_stats *out);

#endif
