/* Answers SQL routes: a statement's rows in their envelope, or a handler that needs the
 * database.
 *
 * Snapshot   The answer's ledger and close time are read in the transaction that reads the rows:
 *            REPEATABLE READ, read only. A statement costs one round trip. Partitions that
 *            change meanwhile do not follow the snapshot: then all is read again.
 * ?ledger=N  404 ledger_not_reached if N is above the newest; 404 ledger_not_indexed with the
 *            indexed ranges; otherwise the answer has N's own close time.
 * Failure    A status other than TIDE_OK means that the database failed. The caller may repeat
 *            the whole call, or answer tide_sql_problem; it must still roll back, which clears
 *            the SQLSTATE. Faults of the request return TIDE_OK with a problem in the reply. */
#ifndef API_SQL_SQL_ANSWER_H
#define API_SQL_SQL_ANSWER_H

#include "api/sql/statement.h"

#define TIDE_SQL_ROLE "tidemark_api" /* routes of kind SQL run as this role (sql_pool.c) */

/* The head is the statement that each transaction of an answer runs first: as of which ledger the
 * answer is true, and what the index holds. There is no row if nothing is indexed. */
#define TIDE_SQL_HEAD        "head" /* name of the prepared statement */
#define TIDE_SQL_HEAD_VALUES 5u

/* Columns of its row. */
enum {
#define TIDE_HEAD(name, sql) TIDE_SQL_HEAD_##name,
#include "api/sql/head.def"
#undef TIDE_HEAD
    TIDE_SQL_HEAD_SIGN /* the first of TIDE_AGE_COLUMNS */
};

/* Partitions do not follow the snapshot of a transaction. After the transaction this statement
 * (value: deployment; column: how often they changed) says whether it read across a change: another
 * value than the head's. Then rows may be missing, or be of ledgers behind the answer's, and
 * everything is read again. */
#define TIDE_SQL_PARTS "parts"

/* The database as a handler sees it that runs on a worker of the pool, inside the transaction. */
struct tide_sql_task {
    struct tide_pg *pg;
    uint16_t deployment; /* the deployment that pg serves */
    /* Ledgers whose events are archived, within what the request asks for; "": none */
    const char *archived;
};

/* Returns the task, or NULL on a connection's thread. */
static inline const struct tide_sql_task *tide_sql_task(const struct tide_handler_context *context)
{
    return context->task;
}

/* Answers 410: rows may be missing because they are archived, and the answer would look
 * complete. */
void tide_sql_reject_archived(struct tide_reply *reply, const char *ledgers);

/* Answers a route that has a statement. An invalid cursor gets 400 before any query. */
tide_status tide_sql_answer(struct tide_session *session, const struct tide_request *request,
                            struct tide_reply *reply, struct tide_err *err) TIDE_MUST_USE;

/* Runs the route's handler inside the transaction, with tide_sql_task and reply->at set: the
 * latter to ?ledger=N, else to the newest ledger. The handler is not called if N cannot be
 * answered, and is called again, with a new reply, if partitions changed meanwhile. */
tide_status tide_sql_handle(struct tide_session *session, struct tide_handler_context *context,
                            const struct tide_request *request, struct tide_reply *reply,
                            struct tide_err *err) TIDE_MUST_USE;

#endif
