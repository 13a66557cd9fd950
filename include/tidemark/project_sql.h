/* SELECTs over the tables that records are projected from. The rows of all sources have the same
 * columns, so that one statement may read several, and one function applies them. */
#ifndef TIDEMARK_PROJECT_SQL_H
#define TIDEMARK_PROJECT_SQL_H

#include "tidemark/buf.h"
#include "tidemark/project.h"

/* Columns in front of the values of every row that is applied. */
enum {
    PROJECT_ROW_SOURCE,
    PROJECT_ROW_REMOVED,
    PROJECT_ROW_LEDGER,
    PROJECT_ROW_TIME,
    PROJECT_ROW_CONTRACT,
    PROJECT_ROW_TX,
    PROJECT_ROW_SEQ,
    PROJECT_ROW_VALUES
};

/* The rows of a source since $2 up to $3, as one SELECT. */
void project_sql_since(struct tide_buf *sql, enum project_source_id source);
/* Appends the statement for all rows of source as of the end of $2, or for the newest ones if as_of
 * is false. */
void project_sql_whole(struct tide_buf *sql, enum project_source_id source, bool as_of);
/* The same as of $2 for entries that are seldom removed, one probe each. */
void project_sql_probes(struct tide_buf *sql, enum project_source_id source);
/* The same of the entries that have column above $3 and, unless $4 is NULL, not above it; texts. */
void project_sql_range(struct tide_buf *sql, enum project_source_id source, const char *column);
/* The statement, bound (include/tidemark/bound.h); NULL: too long. */
const char *project_sql_text(struct tide_buf *sql, struct tide_err *err);
/* Applies one row of such a statement. */
tide_status project_sql_apply(struct tide_hot_sink *sink, const struct tide_pg_rows *rows,
                              uint32_t at, struct tide_err *err);

#endif
