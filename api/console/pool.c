/* The worker pool: each worker has a connection to the primary, as tidemark_console. */
#include "api/console/console.h"
#include "api/sql/sql_problem.h"
#include "tidemark/log.h"

#include <stdlib.h>

enum { SILENCE_MS = 90000, PERSON_QUEUE = 30 /* a page asks for some 15 lists at once */ };

static tide_status open_worker(void *worker, void *owner, struct tide_worker_pool *pool,
                               struct tide_err *err)
{
    struct console_session *session = worker;
    (void)err;
    session->console = owner;
    session->stopped = tide_worker_pool_is_closing;
    session->stopped_self = pool;
    return TIDE_OK;
}

static void close_worker(void *worker)
{
    tide_pg_close(((struct console_session *)worker)->pg);
}

static bool is_ready(const void *worker)
{
    const struct console_session *session = worker;
    return session->ready && session->pg && tide_pg_alive(session->pg) &&
           tide_deployment_select_is_current(session->console->select, &session->selected);
}

static tide_status connect_worker(void *worker, struct tide_err *err)
{
    static const char settings[] = "SET statement_timeout = '5s'; SET lock_timeout = '4s';"
                                   " SET idle_in_transaction_session_timeout = '75s';"
                                   " SET search_path = pg_catalog; SET jit = off";
    struct console_session *session = worker;
    struct tide_pg_options to = { .conninfo = session->console->conninfo,
                                  .application = "tidemark-console",
                                  .server = TIDE_PG_PRIMARY,
                                  .silence_ms = SILENCE_MS,
                                  .stopped = session->stopped,
                                  .stopped_self = session->stopped_self };
    session->ready = false;
    tide_status status = tide_deployment_select_connect(&session->pg, &to, session->console->select,
                                                        &session->selected, err);
    if (status == TIDE_OK)
        status = tide_pg_run(session->pg, settings, "SET", err);
    session->ready = status == TIDE_OK;
    return status;
}

static void report(void *worker, bool there, const struct tide_err *err)
{
    const struct console_session *session = worker;
    char quoted[TIDE_ERR_TEXT_MAX];
    if (there)
        tide_log(TIDE_INFO, "console.connected", "deployment=%s", session->selected.text);
    else
        tide_log(TIDE_WARN, "console.away", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
}

static void roll_back(struct console_session *session)
{
    struct tide_err err;
    if (session->pg && tide_pg_alive(session->pg) && tide_pg_in_transaction(session->pg) &&
        tide_pg_run(session->pg, "ROLLBACK", "ROLLBACK", &err) != TIDE_OK)
        session->ready = false;
}

static tide_status run(void *worker, struct tide_job *job, struct tide_err *err)
{
    struct console_session *session = worker;
    const struct console_ask *ask = job->context.task;
    roll_back(session);
    tide_reply_reset(job->reply);
    return ask->acts ? console_act(session, ask, job, err) : console_read(session, ask, job, err);
}

static bool is_lost(const void *worker)
{
    const struct console_session *session = worker;
    return !is_ready(worker) || tide_pg_remedy(session->pg) == TIDE_PG_RECONNECT;
}

/* A statement that took too long would take as long again. */
static bool is_worth_another(const void *worker, tide_status status)
{
    const struct console_session *session = worker;
    return status == TIDE_E_DB && strcmp(tide_pg_sqlstate(session->pg), "57014") != 0;
}

static void drop(void *worker)
{
    ((struct console_session *)worker)->ready = false;
}

static void refuse(void *worker, struct tide_job *job, const struct tide_err *err)
{
    struct console_session *session = worker;
    struct tide_err away = { .code = TIDE_E_DB };
    const struct tide_param_value *after = tide_request_param(job->request, TIDE_PARAM_after);
    bool there = session->ready && session->pg && tide_pg_alive(session->pg);
    if (err->code == TIDE_E_STOPPED || !there)
        tide_sql_problem(job->reply, NULL, &away);
    else if (strncmp(tide_pg_sqlstate(session->pg), "22", 2) == 0 && after && after->given)
        tide_reply_problem(job->reply, 400, "cursor_invalid",
                           "The position is not one that this list gave out.");
    else
        tide_sql_problem(job->reply, session->pg, err);
    roll_back(session);
}

static void end_ask(struct tide_job *job)
{
    console_ask_free(job->context.task);
    job->context.task = NULL;
}

tide_status console_pool_open(struct console *console, uint32_t threads, uint32_t queue,
                              struct tide_err *err)
{
    static const struct tide_worker_calls work = { .state_size = sizeof(struct console_session),
                                                   .open = open_worker,
                                                   .close = close_worker,
                                                   .ready = is_ready,
                                                   .connect = connect_worker,
                                                   .report = report,
                                                   .run = run,
                                                   .lost = is_lost,
                                                   .again = is_worth_another,
                                                   .drop = drop,
                                                   .refuse = refuse,
                                                   .over = end_ask };
    struct tide_worker_pool_options options = { .name = "console",
                                                .work = &work,
                                                .owner = console,
                                                .clock = console->clock,
                                                .threads = threads,
                                                .queue = queue,
                                                .bulkhead_threads = threads - 1,
                                                .bulkhead_queue = PERSON_QUEUE,
                                                .by_client = true };
    tide_status status = tide_worker_pool_open(&console->pool, &options, err);
    return status == TIDE_OK ? tide_worker_pool_start(console->pool, err) : status;
}
