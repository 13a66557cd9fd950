/* --only KIND,…: which tables are filled.
 *
 *   event.swap                  every event table whose name is swap or ends in _swap
 *   event.liquidity_pool_swap   that one
 *   state.* , event.*           all of a schema
 *   call, raw                   any schema: chain.call; event.raw and state.raw
 *   rollup.candle, rollup.*     that sum over time, or all, and the tables they are made from; with
 *                               one come those that share a table (rollup.h)
 *
 * State and history of a kind go together; chain.ledger and chain.contract_seen are always filled,
 * and so are the raw tables beside what is wanted: what does not fit is never dropped. A rollup
 * that is not named is not kept: its tables have no rows. */
#ifndef INDEXER_DATABASE_SCOPE_H
#define INDEXER_DATABASE_SCOPE_H

#include "indexer/rollup/rollup.h"
#include "tidemark/buf.h"
#include "tidemark/table.h"

struct tide_scope {
    bool all;
    bool wanted[TIDE_TABLES_MAX];
    bool rollups[TIDE_ROLLUPS_MAX];
};

/* TIDE_E_CONFIG names what fits no table. text "": all. */
tide_status tide_scope_parse(struct tide_scope *out, const struct tide_table *tables,
                             uint32_t count, const char *text, struct tide_err *err) TIDE_MUST_USE;
/* "*", or the wanted tables in order, those of rollups last: equal for equal choices, however they were written. */
void tide_scope_text(struct tide_buf *out, const struct tide_scope *scope,
                     const struct tide_table *tables, uint32_t count);

#endif
