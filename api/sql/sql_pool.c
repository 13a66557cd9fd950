/* The worker pool of SQL routes: connections, callbacks and limits. */
#include "api/sql/sql_pool.h"
#include "api/sql/sql_answer.h"
#include "api/sql/sql_problem.h"
#include "tidemark/log.h"

/* Shared by all workers of the pool. */
struct shared {
    struct tide_sql_pool_options options;
    struct tide_statements statements;
};

struct worker {
    struct tide_session session;
    const struct shared *shared;
    struct tide_worker_pool *pool;
};

/* --- the connection ------------------------------------------------------------------------ */

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

static const char head_sql[] =
    "SELECT "
#define TIDE_HEAD(name, sql) sql ", "
#include "api/sql/head.def"
#undef TIDE_HEAD
    TIDE_AGE_COLUMNS
    " FROM chain.cursor AS c LEFT JOIN chain.start AS o ON o.deployment = c.deployment"
    " WHERE c.deployment = $1 AND c.ledger > 0";

static const char parts_sql[] =
    "SELECT c.parts FROM chain.cursor AS c WHERE c.deployment = $1::smallint";

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

static tide_status prepare_connection(struct tide_session *session, struct tide_err *err)
{
    tide_status status = tide_pg_run(session->pg, settings, "SET", err);
    if (status == TIDE_OK)
        status = check_role(session, err);
    if (status == TIDE_OK)
        status = tide_pg_prepare(session->pg, TIDE_SQL_HEAD, head_sql, err);
    return status == TIDE_OK ? tide_pg_prepare(session->pg, TIDE_SQL_PARTS, parts_sql, err)
                             : status;
}

/* --- callbacks of a worker ------------------------------------------------------------------ */

static tide_status open_worker(void *self, void *owner, struct tide_worker_pool *pool,
                               struct tide_err *err)
{
    struct worker *worker = self;
    const struct shared *shared = owner;
    *worker = (struct worker){ .session = { .statements = &shared->statements },
                               .shared = shared,
                               .pool = pool };
    worker->session.prepared = calloc(shared->statements.count, sizeof *worker->session.prepared);
    return worker->session.prepared ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "session");
}

static void close_worker(void *self)
{
    struct worker *worker = self;
    tide_pg_close(worker->session.pg);
    free(worker->session.prepared);
}

static bool is_ready(const void *self)
{
    const struct worker *worker = self;
    const struct tide_session *session = &worker->session;
    return session->ready && session->pg && tide_pg_alive(session->pg) &&
           tide_deployment_select_is_current(worker->shared->options.select, &session->selected);
}

/* A new connection has no prepared statements, so all marks are cleared first. */
static tide_status connect_worker(void *self, struct tide_err *err)
{
    struct worker *worker = self;
    struct tide_session *session = &worker->session;
    const struct tide_sql_pool_options *options = &worker->shared->options;
    struct tide_pg_options to = { .conninfo = options->conninfo,
                                  .application = "tidemark-api",
                                  .silence_ms = TIDE_SQL_SILENCE_MS,
                                  .stopped = tide_worker_pool_is_closing,
                                  .stopped_self = worker->pool };
    session->ready = false;
    memset(session->prepared, 0, session->statements->count * sizeof *session->prepared);
    tide_status status =
        tide_deployment_select_connect(&session->pg, &to, options->select, &session->selected, err);
    if (status == TIDE_E_MISSING)
        return tide_fail(err, TIDE_E_DB, "nothing is indexed yet");
    if (status == TIDE_OK)
        status = prepare_connection(session, err);
    session->ready = status == TIDE_OK;
    return status;
}

/* Logs when the database becomes reachable or unreachable. */
static void report_database(void *worker, bool there, const struct tide_err *err)
{
    const struct tide_session *session = &((struct worker *)worker)->session;
    char quoted[TIDE_ERR_TEXT_MAX];
    if (there)
        tide_log(TIDE_INFO, "pool.connected", "deployment=%s", session->selected.text);
    else
        tide_log(TIDE_WARN, "pool.away", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
}

/* Runs a job. A first attempt may have left a transaction open. */
static tide_status run_sql_job(void *worker, struct tide_job *job, struct tide_err *err)
{
    struct tide_session *session = &((struct worker *)worker)->session;
    tide_sql_roll_back(session->pg, &session->ready);
    if (job->request->route->statement)
        return tide_sql_answer(session, job->request, job->reply, err);
    return tide_sql_handle(session, &job->context, job->request, job->reply, err);
}

static enum tide_worker_verdict judge_failure(void *worker, tide_status status)
{
    struct tide_session *session = &((struct worker *)worker)->session;
    session->ready = is_ready(worker);
    return tide_sql_judge(session->pg, &session->ready, status);
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
    struct tide_session *session = &((struct worker *)worker)->session;
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
    tide_sql_roll_back(session->pg, &session->ready);
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
    static const struct tide_worker_calls work = { .state_size = sizeof(struct worker),
                                                   .open = open_worker,
                                                   .close = close_worker,
                                                   .ready = is_ready,
                                                   .connect = connect_worker,
                                                   .report = report_database,
                                                   .run = run_sql_job,
                                                   .judge = judge_failure,
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
