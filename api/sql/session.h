/* One connection of the pool, ready for statements: opened when it is needed, opened again when it
 * was lost, told to be read-only and not to wait long, statements prepared when first used.
 *
 * Rights   it logs in as who api_database_url names; routes of kind SQL run as tidemark_api, who
 *          cannot read jurisdictions (hot routes as of a ledger need them, and run as the login).
 *          A login that is no member of that role is refused.
 * Threads  one session belongs to one thread; statements are shared and never change. */
#ifndef API_SQL_SESSION_H
#define API_SQL_SESSION_H

#include "api/sql/age.h"
#include "api/sql/deployment_select.h"
#include "api/sql/statement.h"

#define TIDE_SQL_TIMEOUT_MS 2000 /* of one statement                 */
#define TIDE_SQL_SILENCE_MS 5000 /* then the connection is given up  */
#define TIDE_SQL_ROLE       "tidemark_api"

struct tide_session_options {
    const char *conninfo;
    struct tide_deployment_select *select; /* NULL: the only deployment */
    const struct tide_statements *statements;
    bool (*stopped)(void *self); /* NULL: never */
    void *stopped_self;
};

struct tide_session {
    struct tide_session_options options;
    struct tide_pg *pg; /* NULL or not alive: not connected */
    bool ready;
    bool *prepared; /* of statements->all */
    struct tide_deployment_selected selected;
    struct tide_age age; /* of what this connection showed */
};

/* Does not connect yet. */
tide_status tide_session_open(struct tide_session *session,
                              const struct tide_session_options *options,
                              struct tide_err *err) TIDE_MUST_USE;
void tide_session_close(struct tide_session *session);

bool tide_session_is_ready(const struct tide_session *session);
/* Connects, if need be anew. TIDE_E_DB, TIDE_E_DB_FATAL, TIDE_E_CONFIG: not ready. */
tide_status tide_session_connect(struct tide_session *session, struct tide_err *err) TIDE_MUST_USE;
/* Prepares the statement on this connection, once. */
tide_status tide_session_prepare(struct tide_session *session, size_t statement,
                                 struct tide_err *err) TIDE_MUST_USE;
/* Ends a transaction that failed or is not needed; a lost connection has none. */
void tide_session_rollback(struct tide_session *session);

#endif
