/* Sessions: connecting, settings, prepared statements. */
#include "api/sql/session.h"
#include "api/sql/head.h"
#include "api/sql/sql_problem.h"

tide_status tide_session_open(struct tide_session *session,
                              const struct tide_session_options *options, struct tide_err *err)
{
    *session = (struct tide_session){ .options = *options };
    session->prepared = calloc(options->statements->count, sizeof *session->prepared);
    return session->prepared ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "session");
}

void tide_session_close(struct tide_session *session)
{
    tide_pg_close(session->pg);
    free(session->prepared);
    *session = (struct tide_session){ 0 };
}

bool tide_session_is_ready(const struct tide_session *session)
{
    return session->ready && session->pg && tide_pg_alive(session->pg) &&
           tide_deployment_select_is_current(session->options.select, &session->selected);
}

/* Settings. Each execution is planned with its values, because most filters are optional and a
 * generic plan is bad for every combination. Bitmap scans are disabled: a page is read in an
 * index's order, which a bitmap loses, so that all matching rows would be read and sorted. To
 * compile a plan (jit) takes longer than the statement. */
static const char settings[] = "SET default_transaction_read_only = on;"
                               " SET statement_timeout = '2s'; SET lock_timeout = '1s';"
                               " SET idle_in_transaction_session_timeout = '10s';"
                               " SET max_parallel_workers_per_gather = 0;"
                               " SET enable_bitmapscan = off; SET random_page_cost = 1.1;"
                               " SET jit = off;"
                               " SET plan_cache_mode = force_custom_plan";

/* Fails if the login may not become tidemark_api: each statement of a SQL route sets that role. */
static tide_status check_role(struct tide_session *session, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        session->pg, &rows,
        "SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = $1",
        (const char *[]){ TIDE_SQL_ROLE }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count == 0 || !tide_pg_bool(&rows, 0, 0))
        status = tide_fail(err, TIDE_E_DB_FATAL,
                           "the login of api_database_url is not a member of"
                           " the role " TIDE_SQL_ROLE);
    tide_pg_rows_release(&rows);
    return status;
}

/* A new connection has no prepared statements, so all marks are cleared first. */
tide_status tide_session_connect(struct tide_session *session, struct tide_err *err)
{
    struct tide_pg_options to = { .conninfo = session->options.conninfo,
                                  .application = "tidemark-api",
                                  .silence_ms = TIDE_SQL_SILENCE_MS,
                                  .stopped = session->options.stopped,
                                  .stopped_self = session->options.stopped_self };
    session->ready = false;
    memset(session->prepared, 0, session->options.statements->count * sizeof *session->prepared);
    tide_status status = tide_deployment_select_connect(&session->pg, &to, session->options.select,
                                                        &session->selected, err);
    if (status == TIDE_E_MISSING)
        return tide_fail(err, TIDE_E_DB, "nothing is indexed yet");
    if (status == TIDE_OK)
        status = tide_pg_run(session->pg, settings, "SET", err);
    if (status == TIDE_OK)
        status = check_role(session, err);
    if (status == TIDE_OK)
        status = tide_sql_head_prepare(session->pg, err);
    session->ready = status == TIDE_OK;
    return status;
}

tide_status tide_session_prepare(struct tide_session *session, size_t statement,
                                 struct tide_err *err)
{
    assert(statement < session->options.statements->count);
    const struct tide_statement *of = &session->options.statements->all[statement];
    if (session->prepared[statement])
        return TIDE_OK;
    tide_status status = tide_pg_prepare(session->pg, of->name, of->sql, err);
    session->prepared[statement] = status == TIDE_OK;
    return status;
}

void tide_session_rollback(struct tide_session *session)
{
    tide_sql_roll_back(session->pg, &session->ready);
}
