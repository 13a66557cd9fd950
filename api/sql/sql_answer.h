/* SQL routes answered: a statement's rows in their envelope, and handlers that need the database.
 *
 * Snapshot   the answer's ledger and close time are read in the transaction that reads the rows:
 *            REPEATABLE READ, read only. A statement costs one round trip.
 * ?ledger=N  404 ledger_not_reached beyond the newest, 404 ledger_not_indexed with the ranges
 *            that are indexed; else N's own close time is the answer's.
 * Failure    a status other than TIDE_OK says that the database failed: the caller may run all of
 *            it again, or answer tide_sql_problem; the transaction is still to be rolled back,
 *            which forgets the SQLSTATE. What is wrong with the request is TIDE_OK and a problem in
 *            reply. */
#ifndef API_SQL_SQL_ANSWER_H
#define API_SQL_SQL_ANSWER_H

#include "api/sql/session.h"

/* For tide_session_connect. */
tide_status tide_sql_prepare_head(struct tide_session *session, struct tide_err *err) TIDE_MUST_USE;

/* Answers a route that has a statement. 400 cursor_invalid before anything is asked. */
tide_status tide_sql_answer(struct tide_session *session, const struct tide_request *request,
                            struct tide_reply *reply, struct tide_err *err) TIDE_MUST_USE;

/* Runs the route's handler inside the transaction, with context->pg and reply->at set, the latter
 * to ?ledger=N, else the newest. The handler is not called when N cannot be answered. */
tide_status tide_sql_handle(struct tide_session *session, struct tide_handler_context *context,
                            const struct tide_request *request, struct tide_reply *reply,
                            struct tide_err *err) TIDE_MUST_USE;

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
