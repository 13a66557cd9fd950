/* Statements that merge versions of keys into the tables of state, which hold the newest one. */
#ifndef INDEXER_WRITE_ROWS_MERGE_H
#define INDEXER_WRITE_ROWS_MERGE_H

#include "indexer/write/session/session.h"

/* Begins the text that merges the rows of parameter 1 into the table of state with this index in
 * the plan. behind: the rows are not of the newest ledgers, so newer versions may exist. */
void write_sql_merge(struct write_session *s, uint32_t index, bool behind);
/* Merges the history tables of a partition into all tables of state, in the running
 * transaction. ledger 0: all its ledgers; otherwise that one alone. */
tide_status write_merge_partition(struct write_session *s, uint32_t from, uint32_t ledger,
                                  bool behind, struct tide_err *err) TIDE_MUST_USE;

#endif
