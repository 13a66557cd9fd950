/* Failures of the database: problems, and what the adapters of the worker pools do about them. */
#ifndef API_SQL_SQL_PROBLEM_H
#define API_SQL_SQL_PROBLEM_H

#include "api/http/reply.h"
#include "api/http/request.h"
#include "tidemark/pg.h"

/* Writes the problem for a failed statement on pg (NULL: no connection). Handlers use it too.
 *  503 query_too_long        57014, the time-out
 *  503 database_unavailable  no connection, shutting down, out of connections …
 *  500 internal              everything else: logged, not shown. Also a value that a type rejects
 *                            (SQLSTATE class 22): parameters are checked before, so the value is
 *                            stored data and not the client's fault. */
void tide_sql_problem(struct tide_reply *reply, const struct tide_pg *pg,
                      const struct tide_err *err);

/* Ends the transaction that may be open on pg (NULL: no connection). If that fails, the session's
 * state is unknown: *ready becomes false, so that the worker connects again. */
void tide_sql_roll_back(struct tide_pg *pg, bool *ready);

/* Returns whether a statement that failed on a working connection may succeed if it is repeated. A
 * time-out (57014) would only repeat itself. */
bool tide_sql_may_retry(const struct tide_pg *pg, tide_status status);

/* Rewrites query_too_long with the names of filters that were not given. */
void tide_sql_narrow(struct tide_reply *reply, const struct tide_request *request);

#endif
