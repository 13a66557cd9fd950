/* Statements that add rows to indexed ledgers. Existing rows stay. */
#ifndef INDEXER_WRITE_ROWS_ADD_H
#define INDEXER_WRITE_ROWS_ADD_H

#include "indexer/write/rows/rollup.h"

/* Begins the text of the statement that adds the rows of parameter 1 to the table that has this
 * index in the plan. The statement folds added calls into their rollups, and new counts of
 * ledgers into the totals of chain.cursor. */
void write_sql_add(struct write_session *s, const struct write_rollups *rollups, uint32_t index);

#endif
