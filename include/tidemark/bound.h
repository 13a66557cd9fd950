/* Binds statements to the contracts of the deployment file. A bound statement reads from the tables
 * of a role only the rows of the file's contract of that role. From tables of tokens and the lists
 * of events, calls and raw rows, it reads the rows of followed contracts. Statements are written
 * without these conditions; these functions add them, so that no statement lacks one. $1 of each
 * statement is the deployment. */
#ifndef TIDEMARK_BOUND_H
#define TIDEMARK_BOUND_H

#include "tidemark/buf.h"
#include "tidemark/pg.h"

/* Appends the statement with a condition at each table that FROM, JOIN or a comma names, and a NUL.
 * sql begins with SELECT or WITH; lines of comment may precede. out->failed: the statement does not
 * fit. */
void tide_bound_write(struct tide_buf *out, const char *sql);

/* Do what tide_pg_prepare and tide_pg_query do, with the bound statement. */
tide_status tide_bound_prepare(struct tide_pg *pg, const char *name, const char *sql,
                               struct tide_err *err) TIDE_MUST_USE;
tide_status tide_bound_query(struct tide_pg *pg, struct tide_pg_rows *rows, const char *sql,
                             const char *const *values, size_t count,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
