/* What the files feed*.c share. */
#ifndef API_HOT_FEED_IMPL_H
#define API_HOT_FEED_IMPL_H

#include "api/hot/feed.h"
#include "api/sql/age.h"
#include "api/sql/deployment_select.h"
#include "schema/project/contracts.h"
#include "schema/project/project_sql.h"
#include "tidemark/buf.h"

#include <pthread.h>

enum { FEED_CURSOR_ROW = -1 }; /* its source */

/* Where the database stands; the cursor row of the feeding statement. */
struct feed_look {
    uint32_t ledger;     /* up to which this statement goes */
    uint32_t cursor;     /* where the database is           */
    uint64_t close_time; /* of ledger */
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t moves;
    uint64_t raw_states;
    uint32_t contracts_seen;
    uint32_t pasts_read; /* ranges of chain.contract_coverage that are complete, weighed */
    uint32_t withdrawn_keys;
    uint32_t from;   /* of the covered range */
    uint32_t unkept; /* sources that the index leaves out: PROJECT_BIT */
    bool same;       /* our ledger's hash is the database's; also when we have none */
    struct tide_age_sign sign;
};

struct tide_feed {
    struct tide_feed_options options;
    struct tide_pg *pg;
    struct tide_hot_reader *reader;
    struct tide_deployment_selected selected;
    bool prepared;
    uint64_t moves_seen; /* on a standby: asked by polling */
    int64_t rebuilt_ms;  /* monotonic; of the last rebuild for what changed behind */
    bool rebuild_told;   /* in the log, until one succeeds */
    int64_t behind_ms;   /* monotonic: since when a standby is behind the cache; 0: it is not */
    uint32_t misnamed;   /* roles whose disagreement with the DAO is in the log */
    uint64_t pruned_at;  /* close time */
    struct tide_buf sql;
    struct feed_look look;
    uint32_t until;
    int64_t asked_ms, wall_ms; /* when the database was last asked: this host's clocks */
    uint64_t asked_us;         /* the last answer took so long */
    struct tide_pg_rows news;  /* rows of the step, until it is through */
    pthread_mutex_t mutex;     /* of stats */
    struct tide_feed_stats stats;
};

/* feed.c */
/* The clocks of this host, just before the database is asked. */
void feed_note_time(struct tide_feed *feed);

/* feed_sql.c */
/* Everything since $2 up to $3 or the cursor, the cursor row first. */
void feed_sql_news(struct tide_buf *sql);
/* The cursor row alone: $1 deployment, $2 our ledger, $3 until. */
void feed_sql_cursor(struct tide_buf *sql);

/* feed_apply.c */
tide_status feed_read_look(struct feed_look *look, const struct tide_pg_rows *rows, uint32_t at,
                           const uint8_t our_hash[TIDE_HASH_BYTES], struct tide_err *err);
/* Writes where the cache stands now. */
tide_status feed_put_meta(struct tide_feed *feed, struct tide_hot_sink *sink,
                          const struct feed_look *look, struct tide_err *err);
/* Adds the withdrawn keys; rows are never taken back. */
tide_status feed_put_withdrawn(struct tide_feed *feed, struct tide_hot_sink *sink,
                               struct tide_err *err);
tide_status feed_prune(struct tide_feed *feed, struct tide_err *err);

/* feed_build.c */
tide_status feed_build(struct tide_feed *feed, struct tide_err *err);

#endif
