/* A session: one connection of the pool. It connects when needed and reconnects when lost, is
 * read-only, limits the time of statements, and prepares each statement at its first use.
 *
 * Rights   It logs in as the role in api_database_url. Routes of kind SQL run as tidemark_api,
 *          which cannot read jurisdictions; hot routes as of a ledger need these and run as the
 *          login. A login that is not a member of tidemark_api is rejected.
 * Threads  A session belongs to one thread. The statements are shared and constant. */
#ifndef API_SQL_SESSION_H
#define API_SQL_SESSION_H

#include "api/sql/age.h"
#include "api/sql/deployment_select.h"
#include "api/sql/statement.h"

#define TIDE_SQL_TIMEOUT_MS 2000 /* limit of one statement */
#define TIDE_SQL_SILENCE_MS 5000 /* silence of the server after which the connection is closed */
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
    bool *prepared; /* by index in statements->all */
    struct tide_deployment_selected selected;
    struct tide_age age; /* the age that this connection has observed */
    /* Unix seconds from which on the index knows the past, as the last head said; 0: no limit */
    uint64_t history_since;
};

/* Does not connect yet. Fails with TIDE_E_MEMORY. */
tide_status tide_session_open(struct tide_session *session,
                              const struct tide_session_options *options,
                              struct tide_err *err) TIDE_MUST_USE;
void tide_session_close(struct tide_session *session);

bool tide_session_is_ready(const struct tide_session *session);
/* Connects or reconnects. Fails with TIDE_E_DB, TIDE_E_DB_FATAL or TIDE_E_CONFIG. */
tide_status tide_session_connect(struct tide_session *session, struct tide_err *err) TIDE_MUST_USE;
/* Prepares the statement on this connection, once. */
tide_status tide_session_prepare(struct tide_session *session, size_t statement,
                                 struct tide_err *err) TIDE_MUST_USE;
/* Rolls back an open transaction. A lost connection has none. */
void tide_session_rollback(struct tide_session *session);

#endif
