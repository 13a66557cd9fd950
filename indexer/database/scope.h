/* The index scope: the tables that --only KIND,… selects.
 *
 *   event.swap                  every event table whose name is swap or ends in _swap
 *   event.liquidity_pool_swap   that table
 *   state.* , event.*           all tables of a schema
 *   call, raw                   in any schema: chain.call; event.raw and state.raw
 *   rollup.candle, rollup.*     that rollup or all, the tables that it is made from, and the
 *                               rollups that share a table with it (rollup.h)
 *
 * State and history of a kind go together. chain.ledger and chain.contract_seen are always filled.
 * So are the raw tables of a selected kind: rows that do not fit are never dropped. A rollup that
 * is not selected is not folded: its tables have no rows. */
#ifndef INDEXER_DATABASE_SCOPE_H
#define INDEXER_DATABASE_SCOPE_H

#include "indexer/rollup/rollup.h"
#include "tidemark/buf.h"
#include "tidemark/table.h"

struct tide_scope {
    bool all;                       /* no --only: every table */
    bool wanted[TIDE_TABLES_MAX];   /* by table index */
    bool rollups[TIDE_ROLLUPS_MAX]; /* by rollup index */
};

/* Parses a comma list. An empty text selects all. TIDE_E_CONFIG names the pattern that no table
 * fits. */
tide_status tide_scope_parse(struct tide_scope *out, const struct tide_table *tables,
                             uint32_t count, const char *text, struct tide_err *err) TIDE_MUST_USE;
/* Appends "*", or the selected tables in order and the rollup tables behind them. Equal selections
 * give equal texts, however they were written. */
void tide_scope_text(struct tide_buf *out, const struct tide_scope *scope,
                     const struct tide_table *tables, uint32_t count);

#endif
