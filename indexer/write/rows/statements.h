/* Prepared statements of the writer's session that take a table's rows as one array: one round
 * trip for a whole batch. Row types and statements are made when they are first needed, outside of
 * transactions, and belong to one server session. */
#ifndef INDEXER_WRITE_ROWS_STATEMENTS_H
#define INDEXER_WRITE_ROWS_STATEMENTS_H

#include "indexer/write/rows/keys.h"
#include "indexer/write/rows/rollup.h"
#include "indexer/write/rows/row_array.h"
#include "indexer/write/session/session.h"

/* Statements prepared for a table, by its index. */
enum write_statement {
    WRITE_PUT,
    WRITE_ADD, /* existing rows stay */
    WRITE_MERGE,
    WRITE_MERGE_BEHIND,
    WRITE_STATEMENTS
};

/* Statements and row types that the server's session has. They end with that session. */
struct write_prepared {
    bool unsure; /* a failure occurred: the session may lack statements that are noted here */
    uint32_t puts_from; /* partition whose tables the statements WRITE_PUT name */
    uint32_t batches;   /* batches since then */
    bool prepared[WRITE_STATEMENTS][TIDE_TABLES_MAX];
    bool covers[2];                                /* statements of cover.h, by moves_cursor */
    bool folds[TIDE_ROLLUPS_MAX];                  /* statements of rollup.h */
    struct tide_row_shape shapes[TIDE_TABLES_MAX]; /* oid 0: not known yet */
    struct tide_row_shape stored[TIDE_TABLES_MAX]; /* shapes of the stored tables */
};

struct write_statements {
    struct write_session *session;       /* borrowed */
    struct write_keys *keys;             /* borrowed */
    const struct write_rollups *rollups; /* borrowed */
    uint32_t number;                     /* number of the session that `known` describes */
    struct write_prepared known;
    struct tide_buf array; /* buffer for arrays */
};

void write_statements_init(struct write_statements *st, struct write_session *session,
                           struct write_keys *keys, const struct write_rollups *rollups);
void write_statements_release(struct write_statements *st);

/* Used in place of a partition for a batch that needs no WRITE_PUT. */
#define WRITE_NO_PUTS UINT32_MAX
static_assert(WRITE_NO_PUTS > INT32_MAX, "no partition begins at that ledger");

/* Begins to prepare for a batch of the partition: forgets what an earlier server session had. After
 * a failure it is unknown which statements exist, and those that put rows name a partition: then
 * all are made anew. Plans are made anew as tables grow. The caller sets known.unsure if it fails
 * to prepare what follows. */
tide_status write_statements_begin(struct write_statements *st, uint32_t partition,
                                   struct tide_err *err) TIDE_MUST_USE;
/* Prepares one statement, unless the session has it. */
tide_status write_statements_prepare(struct write_statements *st, enum write_statement what,
                                     uint32_t table, struct tide_err *err) TIDE_MUST_USE;
/* Sends the table's rows of the batch as the array of a prepared statement, into the pipeline.
 * *count: number of rows sent. */
tide_status write_send_rows(struct write_statements *st, enum write_statement what, uint32_t table,
                            const struct tide_batch *batch, uint64_t *count,
                            struct tide_err *err) TIDE_MUST_USE;

/* Merges the history tables of a partition into all tables of state, in the running
 * transaction. ledger 0: all its ledgers; otherwise that one alone. */
tide_status write_merge_partition(struct write_session *s, uint32_t from, uint32_t ledger,
                                  bool behind, struct tide_err *err) TIDE_MUST_USE;

#endif
