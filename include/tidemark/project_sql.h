/* SELECTs over the tables that records are projected from. The rows of all sources have the same
 * columns, so that one statement may read several, and one function applies them. */
#ifndef TIDEMARK_PROJECT_SQL_H
#define TIDEMARK_PROJECT_SQL_H

#include "tidemark/buf.h"
#include "tidemark/project.h"

/* The columns before the values in each row that is applied. */
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

/* Appends a SELECT of the rows of a source after ledger $2 up to ledger $3. */
void project_sql_since(struct tide_buf *sql, enum project_source_id source);
/* Appends the statement for all rows of source as of the end of ledger $2, or for the newest ones
 * if as_of is false. As of a ledger, conditions ("AND …") and an order may follow: "first" is the
 * first value. */
void project_sql_whole(struct tide_buf *sql, enum project_source_id source, bool as_of);
/* Appends the statement as of the end of ledger $2 for sources whose entries are seldom removed. It
 * takes one index probe for each entry that changed since. Conditions and an order
 * may follow, as above. */
void project_sql_probes(struct tide_buf *sql, enum project_source_id source);
/* Appends the same for the entries whose column is above $3 and, unless $4 is NULL, not above $4.
 * The column is text. */
void project_sql_range(struct tide_buf *sql, enum project_source_id source, const char *column);
/* Returns the statement, bound (include/tidemark/bound.h), or NULL if it is too long. */
const char *project_sql_text(struct tide_buf *sql, struct tide_err *err);
/* Applies one row of such a statement. */
tide_status project_sql_apply(struct tide_hot_sink *sink, const struct tide_pg_rows *rows,
                              uint32_t at, struct tide_err *err);

#endif
