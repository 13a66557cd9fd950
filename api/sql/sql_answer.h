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

/* What a handler gets that runs on a worker of the pool, inside the transaction. */
struct tide_sql_task {
    struct tide_pg *pg;
    uint16_t deployment; /* that pg is asked about            */
    const char *scope;   /* which of its tables are indexed (scope.h) */
};

/* NULL on a connection's thread. */
static inline const struct tide_sql_task *tide_sql_task(const struct tide_handler_context *context)
{
    return context->task;
}

/* Answers a route that has a statement. 400 cursor_invalid before anything is asked. */
tide_status tide_sql_answer(struct tide_session *session, const struct tide_request *request,
                            struct tide_reply *reply, struct tide_err *err) TIDE_MUST_USE;

/* Runs the route's handler inside the transaction, with tide_sql_task and reply->at set, the latter
 * to ?ledger=N, else the newest. The handler is not called when N cannot be answered. */
tide_status tide_sql_handle(struct tide_session *session, struct tide_handler_context *context,
                            const struct tide_request *request, struct tide_reply *reply,
                            struct tide_err *err) TIDE_MUST_USE;

#endif
