/* What a client reads when the database fails. */
#ifndef API_SQL_SQL_PROBLEM_H
#define API_SQL_SQL_PROBLEM_H

#include "api/http/reply.h"
#include "api/http/request.h"
#include "tidemark/pg.h"

/* What a failed statement on pg (NULL: no connection) means to a client; handlers use it too.
 *   503 query_too_long        57014, the time-out
 *   503 database_unavailable  no connection, shutting down, out of connections …
 *   500 internal              everything else: logged, not shown. A value that a type does not take
 *                             (SQLSTATE class 22) too: parameters are checked before, so it is
 *                             stored data, which is never the client's error. */
void tide_sql_problem(struct tide_reply *reply, const struct tide_pg *pg,
                      const struct tide_err *err);

/* Says query_too_long again, with the names of filters that were not given. */
void tide_sql_narrow(struct tide_reply *reply, const struct tide_request *request);

#endif
