/* The worker pool of SQL routes: its callbacks and limits. */
#include "api/sql/sql_pool.h"
#include "api/sql/sql_answer.h"
#include "api/sql/sql_problem.h"
#include "tidemark/log.h"

/* Shared by all workers of the pool. */
struct shared {
    struct tide_sql_pool_options options;
    struct tide_statements statements;
};

/* --- callbacks of a worker, whose state is a session -------------------------------------- */

static tide_status open_worker(void *worker, void *owner, struct tide_worker_pool *workers,
                               struct tide_err *err)
{
    const struct shared *shared = owner;
    struct tide_session_options options = { .conninfo = shared->options.conninfo,
                                            .select = shared->options.select,
                                            .statements = &shared->statements,
                                            .stopped = tide_worker_pool_is_closing,
                                            .stopped_self = workers };
    return tide_session_open(worker, &options, err);
}

static void close_worker(void *worker)
{
    tide_session_close(worker);
}

static bool is_ready(const void *worker)
{
    return tide_session_is_ready(worker);
}

static tide_status connect_worker_state(void *worker, struct tide_err *err)
{
    return tide_session_connect(worker, err);
}

/* Logs when the database becomes reachable or unreachable. */
static void report_database(void *worker, bool there, const struct tide_err *err)
{
    const struct tide_session *session = worker;
    char quoted[TIDE_ERR_TEXT_MAX];
    if (there)
        tide_log(TIDE_INFO, "pool.connected", "deployment=%s", session->selected.text);
    else
        tide_log(TIDE_WARN, "pool.away", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
}

/* Runs a job. A first attempt may have left a transaction open and a part of a reply: both are
 * cleared. */
static tide_status run_sql_job(void *worker, struct tide_job *job, struct tide_err *err)
{
    struct tide_session *session = worker;
    tide_session_rollback(session);
    tide_reply_reset(job->reply);
    if (job->request->route->statement)
        return tide_sql_answer(session, job->request, job->reply, err);
    return tide_sql_handle(session, &job->context, job->request, job->reply, err);
}

/* Returns whether the connection broke, or its prepared statements belong to an older schema
 * (0A000, 26000). */
static bool is_lost(const void *worker)
{
    const struct tide_session *session = worker;
    const char *state = tide_pg_sqlstate(session->pg);
    return !tide_session_is_ready(session) || tide_pg_remedy(session->pg) == TIDE_PG_RECONNECT ||
           strcmp(state, "0A000") == 0 || strcmp(state, "26000") == 0;
}

static bool may_retry(const void *worker, tide_status status)
{
    return tide_sql_may_retry(((const struct tide_session *)worker)->pg, status);
}

static void mark_unready(void *worker)
{
    struct tide_session *session = worker;
    session->ready = false;
}

/* Returns whether a value error comes from a forged cursor: its tag is not secret, so a client
 * can make one with an invalid key. */
static bool is_forged(const struct tide_request *request, const char *state)
{
    const struct tide_param_value *cursor = tide_request_param(request, TIDE_PARAM_cursor);
    return strncmp(state, "22", 2) == 0 && cursor && cursor->text.len > 0;
}

/* Answers a job that failed. A time-out also names filters that would narrow the query. */
static void answer_failure(void *worker, struct tide_job *job, const struct tide_err *err)
{
    struct tide_session *session = worker;
    if (!session->ready) {
        tide_sql_problem(job->reply, NULL, err);
        return;
    }
    if (is_forged(job->request, tide_pg_sqlstate(session->pg)))
        tide_reply_problem(job->reply, 400, "cursor_invalid",
                           "The cursor was not issued by this list.");
    else
        tide_sql_problem(job->reply, session->pg, err);
    if (strcmp(tide_pg_sqlstate(session->pg), "57014") == 0)
        tide_sql_narrow(job->reply, job->request);
    tide_session_rollback(session);
}

/* --- opening ------------------------------------------------------------------------------ */

static void release_shared(void *owner)
{
    struct shared *shared = owner;
    tide_statements_close(&shared->statements);
    free(shared);
}

static uint32_t at_least_one(uint32_t n)
{
    return n ? n : 1;
}

tide_status tide_sql_pool_open(struct tide_worker_pool **out,
                               const struct tide_sql_pool_options *options, struct tide_err *err)
{
    static const struct tide_worker_calls work = { .state_size = sizeof(struct tide_session),
                                                   .open = open_worker,
                                                   .close = close_worker,
                                                   .ready = is_ready,
                                                   .connect = connect_worker_state,
                                                   .report = report_database,
                                                   .run = run_sql_job,
                                                   .lost = is_lost,
                                                   .again = may_retry,
                                                   .drop = mark_unready,
                                                   .refuse = answer_failure,
                                                   .release = release_shared };
    assert(options->threads > 0); /* one less is the share of a client */
    struct shared *shared = calloc(1, sizeof *shared);
    *out = NULL;
    if (!shared)
        return tide_fail(err, TIDE_E_MEMORY, "pool");
    shared->options = *options;
    struct tide_worker_pool_options workers = { .name = "pool",
                                                .work = &work,
                                                .owner = shared,
                                                .clock = tide_clock_system(),
                                                .threads = options->threads,
                                                .queue = options->queue,
                                                .by_client = true,
                                                .bulkhead_threads =
                                                    at_least_one(options->threads - 1),
                                                .bulkhead_queue =
                                                    at_least_one(options->queue / 4) };
    tide_status status = tide_statements_open(&shared->statements, options->routes, err);
    if (status != TIDE_OK) {
        release_shared(shared);
        return status;
    }
    status = tide_worker_pool_open(out, &workers, err);
    if (status == TIDE_OK)
        status = tide_worker_pool_start(*out, err);
    if (status != TIDE_OK) {
        tide_worker_pool_close(*out);
        *out = NULL;
    }
    return status;
}
