/* The stream's source in production: PostgreSQL, primary or hot standby, on a connection of its
 * own. */
#ifndef API_STREAM_PG_SOURCE_H
#define API_STREAM_PG_SOURCE_H

#include "api/sql/age.h"
#include "api/sql/deployment_select.h"
#include "api/stream/source.h"
#include "tidemark/history_lookup.h"

#include <pthread.h>

#define STREAM_PG_SILENCE_MS 10000u /* silence of the server after which the connection is closed */
#define STREAM_FIGURES_MS    1000   /* the indexer's figures are read this often */

struct stream_pg;

#define STREAM_FIGURE_U32   uint32_t
#define STREAM_FIGURE_U64   uint64_t
#define STREAM_FIGURE_BOOL  bool
#define STREAM_FIGURE_MILLI double

/* The indexer's heartbeat and counters, for /metrics. */
struct stream_figures {
    bool known;         /* the figures were read at least once */
    int64_t asked_ms;   /* when they were read, monotonic */
    bool has_heartbeat; /* the indexer has one */
    char state[24];     /* the writer's state: "following", … */
#define TIDE_FIGURE(member, type, expression) STREAM_FIGURE_##type member;
#include "api/stream/figures.def"
#undef TIDE_FIGURE
};

struct stream_pg_options {
    const char *conninfo;                  /* a role that may read jurisdictions: the feeder's */
    struct tide_deployment_select *select; /* NULL: the only deployment */
    bool (*stopped)(void *self);           /* NULL: never */
    void *stopped_self;
};

/* Does not connect yet. Fails with TIDE_E_MEMORY. *out is the caller's until stream_pg_close. */
tide_status stream_pg_open(struct stream_pg **out, const struct stream_pg_options *options,
                           struct tide_err *err) TIDE_MUST_USE;
void stream_pg_close(struct stream_pg *pg);
/* Returns the callbacks. They borrow pg, which must outlive the stream. */
struct stream_source stream_pg_source(struct stream_pg *pg);
/* Copies the figures. Any thread. They are at most STREAM_FIGURES_MS old, older while the
 * database is away. */
void stream_pg_figures(struct stream_pg *pg, struct stream_figures *out);

/* --- internal to pg_*.c; stream thread, except figures --------------------------------------- */

/* One change: a jurisdiction was blocked or unblocked in a ledger. */
struct stream_block {
    uint32_t code, ledger;
    bool blocked;
};

struct stream_pg {
    struct stream_pg_options options;
    struct tide_pg *pg;
    struct tide_history history; /* finds the compliance registry and hashes its keys */
    struct stream_head head;     /* as of the last read, of the deployment `selected` */
    uint64_t parts;              /* how often partitions had changed then */
    struct tide_age age;
    struct tide_deployment_selected selected;
    bool prepared;               /* the connection has its statements and listens */
    struct stream_block *blocks; /* in order of ledger, up to and including blocks_to */
    uint32_t block_count, block_max, blocks_to;
    pthread_mutex_t mutex; /* guards figures */
    struct stream_figures figures;
};

extern const char stream_sql_head[], stream_sql_blocks[], stream_sql_people[], stream_sql_prices[];
extern const char stream_sql_log[], stream_sql_ledgers[], stream_sql_changes[],
    stream_sql_price_changes[];
/* Implements stream_source.read. */
tide_status stream_pg_read(void *self, const struct stream_position *after, uint32_t until,
                           struct stream_piece **out, struct tide_err *err);
/* Adds a price's note to the piece, from two columns of the row: asset, fields as JSON. Skips an
 * asset whose name is not a symbol. */
void stream_pg_price(struct stream_piece *piece, const struct tide_pg_rows *rows, uint32_t row,
                     uint32_t first);
/* Turns the offsets in the piece's slices into pointers. Call once, when piece->bytes does not
 * grow any more. */
void stream_pg_resolve_slices(struct stream_piece *piece);

#endif
