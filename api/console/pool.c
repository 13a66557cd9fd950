/* The worker pool: each worker has a connection to the primary, as tidemark_console. */
#include "api/console/console.h"
#include "api/sql/sql_problem.h"
#include "tidemark/log.h"

#include <stdlib.h>

/* SILENCE_MS is longer than the check of the audit, 60 s. PERSON_QUEUE: waiting requests of one
 * person. */
enum { SILENCE_MS = 90000, PERSON_QUEUE = 30 /* a page requests about 15 lists at once */ };

static tide_status open_worker(void *worker, void *owner, struct tide_worker_pool *pool,
                               struct tide_err *err)
{
    struct console_session *session = worker;
    (void)err;
    session->console = owner;
    session->pool = pool;
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

/* Connects to the primary. jit is off, because compiling would cost these short queries more than
 * it saves. */
static tide_status connect_worker(void *worker, struct tide_err *err)
{
    static const char settings[] = "SET statement_timeout = '5s'; SET lock_timeout = '4s';"
                                   " SET idle_in_transaction_session_timeout = '75s';"
                                   " SET search_path = pg_catalog; SET jit = off";
    struct console_session *session = worker;
    assert(session->console);
    struct tide_pg_options to = { .conninfo = session->console->conninfo,
                                  .application = "tidemark-console",
                                  .server = TIDE_PG_PRIMARY,
                                  .silence_ms = SILENCE_MS,
                                  .stopped = tide_worker_pool_is_closing,
                                  .stopped_self = session->pool };
    session->ready = false;
    tide_status status = tide_deployment_select_connect(&session->pg, &to, session->console->select,
                                                        &session->selected, err);
    if (status == TIDE_OK)
        status = tide_pg_run(session->pg, settings, "SET", err);
    session->ready = status == TIDE_OK;
    return status;
}

static void log_connection(void *worker, bool connected, const struct tide_err *err)
{
    const struct console_session *session = worker;
    char quoted[TIDE_ERR_TEXT_MAX];
    if (connected)
        tide_log(TIDE_INFO, "console.connected", "deployment=%s", session->selected.text);
    else
        tide_log(TIDE_WARN, "console.away", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
}

/* Runs the task. It may be a repetition, so an open transaction is rolled back. */
static tide_status run_task(void *worker, struct tide_job *job, struct tide_err *err)
{
    struct console_session *session = worker;
    const struct console_task *task = job->context.task;
    assert(task && task->person);
    tide_sql_roll_back(session->pg, &session->ready);
    return task->acts ? console_act(session, task, job, err)
                      : console_read(session, task, job, err);
}

static enum tide_worker_verdict judge_failure(void *worker, tide_status status)
{
    struct console_session *session = worker;
    session->ready = is_ready(worker);
    return tide_sql_judge(session->pg, &session->ready, status);
}

/* Writes the problem of a task that failed. A malformed value with `after` given means that the
 * position was invented. */
static void reject_task(void *worker, struct tide_job *job, const struct tide_err *err)
{
    struct console_session *session = worker;
    const struct tide_param_value *after = tide_request_param(job->request, TIDE_PARAM_after);
    bool connected = session->ready && session->pg && tide_pg_alive(session->pg);
    if (err->code == TIDE_E_STOPPED || !connected)
        tide_sql_problem(job->reply, NULL, err);
    else if (strncmp(tide_pg_sqlstate(session->pg), "22", 2) == 0 && after && after->given)
        tide_reply_problem(job->reply, 400, "cursor_invalid",
                           "This position is not from this list. Start without `after`.");
    else
        tide_sql_problem(job->reply, session->pg, err);
    tide_sql_roll_back(session->pg, &session->ready);
}

static void free_task(struct tide_job *job)
{
    console_task_free(job->context.task);
    job->context.task = NULL;
}

tide_status console_pool_open(struct console *console, uint32_t threads, uint32_t queue,
                              struct tide_err *err)
{
    assert(threads > 1 && !console->pool);
    static const struct tide_worker_calls work = { .state_size = sizeof(struct console_session),
                                                   .open = open_worker,
                                                   .close = close_worker,
                                                   .ready = is_ready,
                                                   .connect = connect_worker,
                                                   .report = log_connection,
                                                   .run = run_task,
                                                   .judge = judge_failure,
                                                   .refuse = reject_task,
                                                   .over = free_task };
    /* by_client with a bulkhead: one person's requests cannot occupy all workers. */
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
