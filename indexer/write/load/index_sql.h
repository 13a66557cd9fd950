/* Write, as text of the session, a query for the work of a build. Each row has a statement, a
 * table's oid, bytes and name, and a constraint for its bounds. */
#ifndef INDEXER_WRITE_LOAD_INDEX_SQL_H
#define INDEXER_WRITE_LOAD_INDEX_SQL_H

#include "indexer/write/load/attach.h"
#include "indexer/write/session/session.h"

/* Lists every index of the parents that the tables of the partition lack. */
void load_sql_missing_indexes(struct write_session *s, const struct load_range *range);
/* Lists the parent tables whose statistics are worth the time. The name column includes the columns
 * to analyse. */
void load_sql_parents(struct write_session *s);

#endif
