/* Internal to the files feed*.c. */
#ifndef API_HOT_FEED_IMPL_H
#define API_HOT_FEED_IMPL_H

#include "api/hot/feed.h"
#include "api/sql/age.h"
#include "api/sql/deployment_select.h"
#include "tidemark/buf.h"
#include "tidemark/project.h"

#include <pthread.h>

enum { FEED_CURSOR_ROW = -1 }; /* value of "source" in the cursor row */

/* The state of the database: the cursor row of the feeding statement. */
struct feed_head {
    uint32_t ledger;    /* the ledger up to which the statement's rows go */
    uint32_t cursor;    /* the newest indexed ledger */
    uint64_t closed_ms; /* close time of ledger, unix milliseconds */
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t moves;      /* counts all changes, also those below the newest ledger */
    uint64_t raw_states; /* entries that could not be decoded */
    uint32_t contracts_seen;
    /* Weighted count of complete ranges of chain.contract_coverage (feed_head.def) */
    uint32_t pasts_read;
    uint32_t withdrawn_keys;
    uint32_t proven, forked; /* struct tide_hot_meta */
    uint32_t from;           /* the first ledger of the covered range */
    /* The cache's ledger has the same hash in the database, or there is no cache */
    bool same;
    struct tide_age_sign sign;
};

struct tide_feed {
    struct tide_feed_options options;
    struct tide_pg *pg;
    struct tide_hot_reader *reader;
    struct tide_deployment_selected selected;
    bool prepared;
    uint64_t moves_seen; /* value of moves in the last step; polled on a standby */
    /* Monotonic time of the last rebuild for changes below the cache's ledger */
    int64_t rebuilt_ms;
    bool rebuild_logged; /* the pending rebuild is in the log already */
    /* Monotonic time since which a standby is behind the cache; 0: it is not */
    int64_t behind_ms;
    uint32_t misnamed;  /* roles of which the log says that the DAO names another contract */
    uint64_t pruned_at; /* close time of the ledger at the last pruning */
    struct tide_buf sql;
    struct feed_head head;
    uint32_t until;
    int64_t asked_ms, wall_ms; /* this host's clocks just before the last query */
    uint64_t asked_us;         /* duration of the last query */
    struct tide_pg_rows news;  /* rows of the current step */
    pthread_mutex_t mutex;     /* guards stats */
    struct tide_feed_stats stats;
};

/* feed.c */
/* Stores the clocks of this host. Call just before each query, so that ages are never too small. */
void feed_note_time(struct tide_feed *feed);

/* feed_apply.c */
/* Writes the statement for the cursor row. $1: deployment, $2: the cache's ledger, $3: last
 * ledger. */
void feed_sql_cursor(struct tide_buf *sql);
/* Reads the cursor row. our_hash: hash of the cache's ledger, NULL without a cache. Fails with
 * TIDE_E_MISSING if nothing is indexed yet. */
tide_status feed_read_head(struct feed_head *head, const struct tide_pg_rows *rows, uint32_t at,
                           const uint8_t our_hash[TIDE_HASH_BYTES], struct tide_err *err);
/* Writes the cache's own record: its ledger, the database's state, and ages. */
tide_status feed_put_meta(struct tide_feed *feed, struct tide_hot_sink *sink,
                          const struct feed_head *head, struct tide_err *err);
/* Adds the withdrawn receipt keys. Withdrawals are never undone. */
tide_status feed_put_withdrawn(struct tide_feed *feed, struct tide_hot_sink *sink,
                               struct tide_err *err);
/* Deletes the swap ticks that no time window can reach any more. */
tide_status feed_prune(struct tide_feed *feed, struct tide_err *err);

/* feed_build.c */
/* Builds a new generation of the cache. */
tide_status feed_build(struct tide_feed *feed, struct tide_err *err);

#endif
