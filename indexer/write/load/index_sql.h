/* Lists of the work that a build has to do, as text of the session. A row is a statement, a table's
 * oid, its bytes, its name, and a constraint for its bounds. */
#ifndef INDEXER_WRITE_LOAD_INDEX_SQL_H
#define INDEXER_WRITE_LOAD_INDEX_SQL_H

#include "indexer/write/load/range.h"
#include "indexer/write/session/session.h"

/* Lists every index of the parents that the tables of the partition lack. */
void load_sql_missing_indexes(struct write_session *s, const struct load_range *range);
/* Lists the parents whose statistics are worth the time; the name has the columns. */
void load_sql_parents(struct write_session *s);

#endif
