/* Folding of rows into rollups, in the transaction that makes the rows visible. */
#ifndef INDEXER_WRITE_ROWS_ROLLUP_H
#define INDEXER_WRITE_ROWS_ROLLUP_H

#include "indexer/database/range.h"
#include "indexer/decode/batch.h"
#include "indexer/rollup/rollup.h"
#include "indexer/write/session/main_session.h"
#include "indexer/write/session/session.h"

/* The rollups that this index keeps. write_rollups_learn fills it in. Afterwards no field changes,
 * and any thread may read it. */
struct write_rollups {
    bool any;                    /* at least one is kept */
    bool kept[TIDE_ROLLUPS_MAX]; /* the plan has the tables that it reads; a test's plan has not */
    bool needs[TIDE_ROLLUPS_MAX][TIDE_TABLES_MAX]; /* rows of the table make the rollup run */
};

void write_rollups_learn(struct write_rollups *r, const struct write_plan *plan);

/* Prepares the folds of a batch outside of transactions; prepared says which ones the session has.
 * write_rollup_send sends them behind the batch's rows and adds to *statements. */
tide_status write_rollup_prepare(struct write_session *s, const struct write_rollups *r,
                                 bool prepared[TIDE_ROLLUPS_MAX], const struct tide_batch *batch,
                                 struct tide_err *err) TIDE_MUST_USE;
tide_status write_rollup_send(struct write_session *s, const struct write_rollups *r,
                              const struct tide_batch *batch, uint32_t *statements,
                              struct tide_err *err) TIDE_MUST_USE;
/* Folds the ledgers of a partition, in the running transaction. */
tide_status write_rollup_partition(struct write_session *s, const struct write_rollups *r,
                                   uint32_t partition, struct tide_range range,
                                   struct tide_err *err) TIDE_MUST_USE;
/* Folds a batch of tide_writer_commit_gap again, behind its rows, in the running transaction: the
 * rollups that read tables of tokens (indexer/rollup/rollup.h). The partitions are attached. */
tide_status write_rollup_again(struct write_session *s, const struct write_rollups *r,
                               const struct tide_batch *batch, struct tide_err *err) TIDE_MUST_USE;
/* Continues a statement that adds rows of a table in a CTE `added`, which returns them: further
 * CTEs fold these rows. */
void write_sql_fold_added(struct write_session *s, const struct write_rollups *r, uint32_t table);

/* Makes the rollups anew if needed. TIDE_E_SCHEMA if a newer build made them, TIDE_E_MISSING if
 * archived rows are needed. */
tide_status write_rollup_settle(struct write_main *m, const struct write_rollups *r,
                                struct tide_err *err) TIDE_MUST_USE;
/* Makes them anew in the running transaction. TIDE_E_MISSING as above. */
tide_status write_rollup_anew(struct write_session *s, const struct write_rollups *r,
                              struct tide_err *err) TIDE_MUST_USE;

#endif
