/* The hub's source in production: PostgreSQL, primary or hot standby, a connection of its own. */
#ifndef API_STREAM_PG_SOURCE_H
#define API_STREAM_PG_SOURCE_H

#include "api/sql/age.h"
#include "api/sql/deployment_select.h"
#include "api/stream/source.h"
#include "schema/reader/history_lookup.h"

#include <pthread.h>

#define STREAM_PG_SILENCE_MS 10000u /* of the server, then the connection is given up */
#define STREAM_FIGURES_MS    1000
#define STREAM_BLOCKS_MAX    (1u << 20) /* times that a jurisdiction was blocked or unblocked */

struct stream_pg;

/* What the indexer says of itself, and what it has written. */
struct stream_figures {
    bool known;              /* asked at least once                                */
    int64_t asked_ms;        /* monotonic, when                                    */
    bool has_heartbeat;      /* there is a heartbeat: the rest of this group is it */
    char state[24];          /* following …                                        */
    uint32_t tip, lag;       /* 0: unknown                                         */
    double rate, event_rate; /* ledgers, events a second                      */
    double heartbeat_age_s;
    uint64_t retries, trouble_ms;
    uint64_t contracts_waiting;   /* discovered, and their past is not read yet */
    uint32_t ledger;              /* of the cursor, and what it counted since the beginning */
    uint64_t closed_at, moved_at; /* unix seconds */
    uint64_t ledgers, transactions, calls, events, changes, raw_events, raw_states, raw_calls;
    uint64_t calls_verified, calls_rewritten, calls_unverified;
};

struct stream_pg_options {
    const char *conninfo;                  /* of a role that may read jurisdictions: the feeder's */
    struct tide_deployment_select *select; /* NULL: the only deployment */
    bool (*stopped)(void *self);           /* NULL: never */
    void *stopped_self;
};

/* Does not connect yet. */
tide_status stream_pg_open(struct stream_pg **out, const struct stream_pg_options *options,
                           struct tide_err *err) TIDE_MUST_USE;
void stream_pg_close(struct stream_pg *pg);
struct stream_source stream_pg_source(struct stream_pg *pg);
/* Any thread. As old as STREAM_FIGURES_MS, older while the database is away. */
void stream_pg_figures(struct stream_pg *pg, struct stream_figures *out);

/* --- for stream_pg*.c ------------------------------------------------------------------ */

/* A jurisdiction was blocked, or unblocked, in a ledger. */
struct stream_block {
    uint32_t code, ledger;
    bool blocked;
};

struct stream_pg {
    struct stream_pg_options options;
    struct tide_pg *pg;
    struct tide_history history; /* which contract keeps compliance */
    struct stream_head head;
    struct tide_age age;
    struct tide_deployment_selected selected;
    bool prepared;
    struct stream_block *blocks; /* in the order of the ledger */
    uint32_t block_count, block_max, blocks_to;
    pthread_mutex_t mutex; /* of figures */
    struct stream_figures figures;
};

extern const char stream_sql_figures[], stream_sql_head[], stream_sql_blocks[], stream_sql_people[],
    stream_sql_prices[];
extern const char stream_sql_log[], stream_sql_ledgers[], stream_sql_changes[],
    stream_sql_price_changes[];
/* In source_wait: asks for the figures when they are old. */
void stream_pg_ask_figures(struct stream_pg *pg);
tide_status stream_pg_read(void *self, const struct stream_position *after, uint32_t until,
                           struct stream_piece **out, struct tide_err *err);
/* A note of a price, from row (asset, fields as JSON). */
void stream_pg_price(struct stream_piece *piece, const struct tide_pg_rows *rows, uint32_t row,
                     uint32_t first);
/* Slices of the piece were taken while its bytes could move: now they may be read. */
void stream_pg_settle(struct stream_piece *piece);

#endif
