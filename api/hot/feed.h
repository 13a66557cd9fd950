/* The feeder: keeps the hot cache of this host equal to PostgreSQL.
 *
 * Full      a new generation from the state tables, in one snapshot of the database.
 * Then      versions of entries since the cache's own ledger, removals included, and swaps: one
 *           statement, one snapshot, one transaction of the cache, the cursor with it. On each
 *           NOTIFY, and each second without one; a hot standby, which refuses LISTEN, is asked for
 *           its cursor every TIDE_FEED_STANDBY_MS.
 * Rebuilt   when the cache is missing, damaged, of another version or deployment, ahead of the
 *           database, not on its chain, or when something behind its ledger changed (an earlier
 *           range was filled in, raw rows were decoded).
 * Standby   one that is behind the cache, as after a change of server, gets TIDE_FEED_BEHIND_MS to
 *           catch up. When it is promoted, the feeder connects anew and listens.
 * Away      without the database the cache stays as it is and gets older. So it does when the
 *           indexer is heard of no more, or the database is a standby that is late: see age.h. */
#ifndef API_HOT_FEED_H
#define API_HOT_FEED_H

#include "schema/store/hot.h"
#include "tidemark/pg.h"

#define TIDE_FEED_IDLE_MS    1000
#define TIDE_FEED_STANDBY_MS 4
#define TIDE_FEED_SILENCE_MS 60000u /* a server that says nothing for so long is given up */
#define TIDE_FEED_LEDGERS    64u    /* in one step while catching up      */
#define TIDE_FEED_REBUILD_S  60u    /* between rebuilds for changes behind */
#define TIDE_FEED_BEHIND_MS  5000   /* a standby may be behind the cache for so long */

struct tide_feed;
struct tide_deployment_select;

struct tide_feed_options {
    const char *conninfo;
    struct tide_deployment_select *select; /* NULL: the only deployment */
    struct tide_hot *hot;
    bool (*stopped)(void *self); /* NULL: never */
    void *stopped_self;
};

/* What a metric, /readyz and a test want to know. */
struct tide_feed_stats {
    bool feeding;    /* this process holds the lock and the database answers */
    bool unmigrated; /* the database has no tables yet  */
    uint32_t ledger; /* of the cache                    */
    uint64_t steps, rows, rebuilds, failures;
    uint64_t asked_us, applied_us;   /* of those steps: for the database's answer, for the cache */
    char trouble[TIDE_ERR_TEXT_MAX]; /* the last failure, "" when all is well */
};

/* Does not connect yet. */
tide_status tide_feed_open(struct tide_feed **out, const struct tide_feed_options *options,
                           struct tide_err *err) TIDE_MUST_USE;
void tide_feed_close(struct tide_feed *feed);

/* Feeds until stopped: the body of the feeder's thread. While another process holds the lock it
 * only follows that one's generations. Every trouble is logged, waited out and tried again. */
void tide_feed_run(struct tide_feed *feed);

/* One step by hand: connects and takes the lock if need be, brings the cache up to the cursor, or
 * to until where that is lower and not 0, by at most TIDE_FEED_LEDGERS. *more: not there yet.
 * TIDE_E_CONFLICT when another process feeds. */
tide_status tide_feed_step(struct tide_feed *feed, uint32_t until, bool *more,
                           struct tide_err *err) TIDE_MUST_USE;

/* Any thread. */
void tide_feed_stats(struct tide_feed *feed, struct tide_feed_stats *out);

#endif
