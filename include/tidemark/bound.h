/* Statements read the deployment file's contracts and no others. Of the tables of a role they see
 * the rows of the file's contract of that role; of tokens' tables and of the lists of events, calls
 * and undecoded rows, the rows of contracts that are followed. Statements are written without these
 * conditions and get them here, so that none can lack one. $1 of each is the deployment. */
#ifndef TIDEMARK_BOUND_H
#define TIDEMARK_BOUND_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"

/* Appends the statement with a condition at each table that FROM, JOIN or a comma names, and a NUL.
 * sql begins with SELECT or WITH, behind lines of comment. out->failed: it does not fit. */
void tide_bound_write(struct tide_buf *out, const char *sql);

/* As tide_pg_prepare and tide_pg_query, of the statement so written. */
tide_status tide_bound_prepare(struct tide_pg *pg, const char *name, const char *sql,
                               struct tide_err *err) TIDE_MUST_USE;
tide_status tide_bound_query(struct tide_pg *pg, struct tide_pg_rows *rows, const char *sql,
                             const char *const *values, size_t count,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
