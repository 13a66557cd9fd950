#include "api/sql/sql_pool.h"
#include "api/sql/sql_answer.h"
#include "tidemark/log.h"

struct tide_pool {
    struct tide_pool_options options;
    struct tide_statements statements;
    struct tide_crew *crew;
};

/* --- a seat is a session ------------------------------------------------------------------ */

static tide_status open_seat(void *seat, void *owner, struct tide_crew *crew, struct tide_err *err)
{
    const struct tide_pool *pool = owner;
    struct tide_session_options options = { .conninfo = pool->options.conninfo,
                                            .select = pool->options.select,
                                            .statements = &pool->statements,
                                            .stopped = tide_crew_is_closing,
                                            .stopped_self = crew };
    return tide_session_open(seat, &options, err);
}

static void close_seat(void *seat)
{
    tide_session_close(seat);
}

static bool is_ready(const void *seat)
{
    return tide_session_is_ready(seat);
}

static tide_status connect_seat(void *seat, struct tide_err *err)
{
    return tide_session_connect(seat, err);
}

static void tell(void *seat, bool there, const struct tide_err *err)
{
    const struct tide_session *session = seat;
    char quoted[TIDE_ERR_TEXT_MAX];
    if (there)
        tide_log(TIDE_INFO, "pool.connected", "deployment=%s", session->chosen.text);
    else
        tide_log(TIDE_WARN, "pool.away", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
}

static tide_status run(void *seat, struct tide_job *job, struct tide_err *err)
{
    struct tide_session *session = seat;
    tide_session_rollback(session);
    tide_reply_reset(job->reply);
    if (job->request->route->statement)
        return tide_sql_answer(session, job->request, job->reply, err);
    return tide_sql_handle(session, &job->context, job->request, job->reply, err);
}

/* The connection broke, or what is prepared on it is of another schema. */
static bool is_lost(const void *seat)
{
    const struct tide_session *session = seat;
    const char *state = tide_pg_sqlstate(session->pg);
    return !tide_session_is_ready(session) || tide_pg_remedy(session->pg) == TIDE_PG_RECONNECT ||
           strcmp(state, "0A000") == 0 || strcmp(state, "26000") == 0;
}

static bool is_worth_another(const void *seat, tide_status status)
{
    const struct tide_session *session = seat;
    return status == TIDE_E_DB && strcmp(tide_pg_sqlstate(session->pg), "57014") != 0;
}

static void drop(void *seat)
{
    struct tide_session *session = seat;
    session->ready = false;
}

/* A cursor's tag holds no secret: a client can make one with a key of another form. */
static bool is_forged(const struct tide_request *request, const char *state)
{
    const struct tide_param_value *cursor = tide_request_param(request, TIDE_PARAM_cursor);
    return strncmp(state, "22", 2) == 0 && cursor && cursor->text.len > 0;
}

static void refuse(void *seat, struct tide_job *job, const struct tide_err *err)
{
    struct tide_session *session = seat;
    struct tide_err away = { .code = TIDE_E_DB };
    if (!session->ready) {
        tide_sql_problem(job->reply, NULL, &away);
        return;
    }
    if (is_forged(job->request, tide_pg_sqlstate(session->pg)))
        tide_reply_problem(job->reply, 400, "cursor_invalid",
                           "The cursor is not one that this list gave out.");
    else
        tide_sql_problem(job->reply, session->pg, err);
    if (strcmp(tide_pg_sqlstate(session->pg), "57014") == 0)
        tide_sql_narrow(job->reply, job->request);
    tide_session_rollback(session);
}

/* --- life --------------------------------------------------------------------------------- */

enum tide_crew_submitted tide_pool_submit(struct tide_pool *pool, struct tide_job *job)
{
    return tide_crew_submit(pool->crew, job);
}

void tide_pool_stats(struct tide_pool *pool, struct tide_crew_stats *out)
{
    *out = (struct tide_crew_stats){ 0 };
    if (pool)
        tide_crew_stats(pool->crew, out);
}

static uint32_t at_least_one(uint32_t n)
{
    return n ? n : 1;
}

tide_status tide_pool_open(struct tide_pool **out, const struct tide_pool_options *options,
                           struct tide_err *err)
{
    static const struct tide_crew_work work = { .seat_size = sizeof(struct tide_session),
                                                .open = open_seat,
                                                .close = close_seat,
                                                .ready = is_ready,
                                                .connect = connect_seat,
                                                .told = tell,
                                                .run = run,
                                                .lost = is_lost,
                                                .again = is_worth_another,
                                                .drop = drop,
                                                .refuse = refuse };
    struct tide_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return tide_fail(err, TIDE_E_MEMORY, "pool");
    pool->options = *options;
    struct tide_crew_options crew = { .name = "pool",
                                      .work = &work,
                                      .owner = pool,
                                      .clock = tide_clock_system(),
                                      .threads = options->threads,
                                      .queue = options->queue,
                                      .by_client = true,
                                      .lane_threads = at_least_one(options->threads - 1),
                                      .lane_queue = at_least_one(options->queue / 4) };
    tide_status status = tide_statements_open(&pool->statements, err);
    if (status == TIDE_OK)
        status = tide_crew_open(&pool->crew, &crew, err);
    if (status == TIDE_OK)
        status = tide_crew_start(pool->crew, err);
    if (status == TIDE_OK)
        *out = pool;
    else
        tide_pool_close(pool);
    return status;
}

void tide_pool_close(struct tide_pool *pool)
{
    if (!pool)
        return;
    tide_crew_close(pool->crew);
    tide_statements_close(&pool->statements);
    free(pool);
}
