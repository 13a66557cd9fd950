#include "api/pool.h"
#include "api/sql.h"
#include "tidemark/clock.h"
#include "tidemark/lock.h"
#include "tidemark/log.h"

#include <time.h>

enum { RETRY_MS = 500 };

struct worker {
    struct tide_pool *pool;
    pthread_t thread;
    struct tide_session session;
    bool started;
    bool counted; /* in stats.connected */
};

struct tide_pool {
    struct tide_pool_options options;
    struct tide_statements statements;
    struct worker *workers;
    atomic_ullong waits;   /* of who brings a job, for the mutex */
    pthread_mutex_t mutex; /* of all that follows */
    pthread_cond_t wake;
    struct tide_job *first, *last;
    struct tide_pool_stats stats;
    bool connecting; /* a thread tries to reach the database */
    bool down;       /* the last attempt failed              */
    int64_t retry_ms;
    atomic_bool closing; /* also read while a statement runs */
};

static int64_t now_ms(void)
{
    const struct tide_clock *clock = tide_clock_system();
    return clock->now_ms(clock->self);
}

static bool is_closing(void *self)
{
    struct tide_pool *pool = self;
    return atomic_load(&pool->closing);
}

/* --- the connection --------------------------------------------------------------------- */

static void unavailable(struct tide_job *job)
{
    struct tide_err err = { .code = TIDE_E_DB };
    tide_sql_problem(job->reply, NULL, &err);
}

/* Under the mutex: whether this thread should try to connect now. */
static bool may_connect(struct tide_pool *pool)
{
    if (!pool->down)
        return true;
    return !pool->connecting && now_ms() >= pool->retry_ms;
}

/* Under the mutex. */
static void count_connected(struct worker *worker, bool connected)
{
    struct tide_pool_stats *stats = &worker->pool->stats;
    stats->connected = stats->connected + connected - worker->counted;
    worker->counted = connected;
}

static bool connect_worker(struct worker *worker)
{
    struct tide_pool *pool = worker->pool;
    struct tide_err err;
    char quoted[TIDE_ERR_TEXT_MAX];
    pthread_mutex_lock(&pool->mutex);
    bool may = may_connect(pool);
    if (may)
        pool->connecting = true;
    pthread_mutex_unlock(&pool->mutex);
    if (!may)
        return false;
    bool there = tide_session_connect(&worker->session, &err) == TIDE_OK;
    pthread_mutex_lock(&pool->mutex);
    bool news = pool->down == there;
    pool->connecting = false;
    pool->down = !there;
    pool->retry_ms = now_ms() + RETRY_MS;
    pool->stats.connects += there;
    count_connected(worker, there);
    pthread_mutex_unlock(&pool->mutex);
    if (!there && news)
        tide_log(TIDE_WARN, "pool.away", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, err.text));
    else if (there && news)
        tide_log(TIDE_INFO, "pool.connected", "deployment=%s", worker->session.chosen.text);
    return there;
}

static void mark_lost(struct worker *worker)
{
    worker->session.ready = false;
    pthread_mutex_lock(&worker->pool->mutex);
    count_connected(worker, false);
    pthread_mutex_unlock(&worker->pool->mutex);
}

/* --- jobs ------------------------------------------------------------------------------- */

static tide_status answer(struct worker *worker, struct tide_job *job, struct tide_err *err)
{
    tide_session_rollback(&worker->session);
    tide_reply_reset(job->reply);
    if (job->request->route->statement)
        return tide_sql_answer(&worker->session, job->request, job->reply, err);
    return tide_sql_handle(&worker->session, &job->context, job->request, job->reply, err);
}

static bool is_late(const struct tide_job *job)
{
    return job->context.deadline_ms != 0 && now_ms() > job->context.deadline_ms;
}

/* The connection broke, or what is prepared on it is of another schema. */
static bool is_lost(const struct tide_session *session)
{
    const char *state = tide_pg_sqlstate(session->pg);
    return !tide_session_is_ready(session) || tide_pg_remedy(session->pg) == TIDE_PG_RECONNECT ||
           strcmp(state, "0A000") == 0 || strcmp(state, "26000") == 0;
}

/* Once more after a lost connection, or when the server says that another try may do. */
static tide_status attempt(struct worker *worker, struct tide_job *job, struct tide_err *err)
{
    struct tide_session *session = &worker->session;
    for (int round = 0;; round++) {
        if (!tide_session_is_ready(session) && !connect_worker(worker))
            return tide_fail(err, TIDE_E_DB, "not connected");
        tide_status status = answer(worker, job, err);
        if (status == TIDE_OK)
            return status;
        bool lost = is_lost(session), slow = strcmp(tide_pg_sqlstate(session->pg), "57014") == 0;
        if (lost)
            mark_lost(worker);
        bool again = lost || (status == TIDE_E_DB && !slow);
        if (!again || round == 1 || is_late(job) || is_closing(worker->pool))
            return status;
    }
}

static void refuse(struct worker *worker, struct tide_job *job, const struct tide_err *err)
{
    struct tide_session *session = &worker->session;
    if (!session->ready) {
        unavailable(job);
        return;
    }
    tide_sql_problem(job->reply, session->pg, err);
    if (strcmp(tide_pg_sqlstate(session->pg), "57014") == 0)
        tide_sql_narrow(job->reply, job->request);
    tide_session_rollback(session);
}

static void run_job(struct worker *worker, struct tide_job *job)
{
    struct tide_pool *pool = worker->pool;
    struct tide_err err;
    bool late = is_late(job), failed = false;
    if (late) {
        tide_reply_problem(job->reply, 503, "overloaded", "Too many others were asking.");
        job->reply->retry_after_s = 1;
    } else if (attempt(worker, job, &err) != TIDE_OK) {
        failed = true;
        refuse(worker, job, &err);
    }
    job->next = NULL;
    pthread_mutex_lock(&pool->mutex);
    pool->stats.busy--;
    pool->stats.jobs++;
    pool->stats.late += late;
    pool->stats.failed += failed;
    pthread_mutex_unlock(&pool->mutex);
    job->done(job); /* it is the caller's now */
}

/* Waits a while; a thread without a connection looks for the database meanwhile. */
static void wait_for_work(struct tide_pool *pool)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += RETRY_MS * INT64_C(1000000);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&pool->wake, &pool->mutex, &until);
}

static struct tide_job *take_job(struct tide_pool *pool)
{
    struct tide_job *job = pool->first;
    if (job) {
        pool->first = job->next;
        if (!pool->first)
            pool->last = NULL;
        pool->stats.waiting--;
        pool->stats.busy++;
    }
    return job;
}

static void *work(void *self)
{
    struct worker *worker = self;
    struct tide_pool *pool = worker->pool;
    bool over = false;
    while (!over) {
        pthread_mutex_lock(&pool->mutex);
        bool idle = tide_session_is_ready(&worker->session) || !may_connect(pool);
        if (!pool->first && idle && !is_closing(pool))
            wait_for_work(pool);
        struct tide_job *job = take_job(pool);
        over = !job && is_closing(pool);
        pthread_mutex_unlock(&pool->mutex);
        if (job)
            run_job(worker, job);
        else if (!over && !tide_session_is_ready(&worker->session))
            (void)connect_worker(worker);
    }
    return NULL;
}

/* --- life ------------------------------------------------------------------------------- */

bool tide_pool_submit(struct tide_pool *pool, struct tide_job *job)
{
    tide_lock_counted(&pool->mutex, &pool->waits);
    bool room = !is_closing(pool) && pool->stats.waiting < pool->options.queue;
    if (room) {
        job->next = NULL;
        if (pool->last)
            pool->last->next = job;
        else
            pool->first = job;
        pool->last = job;
        pool->stats.waiting++;
        pthread_cond_signal(&pool->wake);
    }
    pool->stats.full += !room;
    pthread_mutex_unlock(&pool->mutex);
    return room;
}

void tide_pool_stats(struct tide_pool *pool, struct tide_pool_stats *out)
{
    pthread_mutex_lock(&pool->mutex);
    *out = pool->stats;
    out->threads = pool->options.threads;
    out->waits = atomic_load(&pool->waits);
    pthread_mutex_unlock(&pool->mutex);
}

static tide_status start_worker(struct tide_pool *pool, struct worker *worker, struct tide_err *err)
{
    struct tide_session_options options = { .conninfo = pool->options.conninfo,
                                            .deployment = pool->options.deployment,
                                            .statements = &pool->statements,
                                            .stopped = is_closing,
                                            .stopped_self = pool };
    worker->pool = pool;
    tide_status status = tide_session_open(&worker->session, &options, err);
    if (status != TIDE_OK)
        return status;
    worker->started = pthread_create(&worker->thread, NULL, work, worker) == 0;
    return worker->started ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "pool: no thread");
}

static void init_wake(struct tide_pool *pool)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->wake, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&pool->mutex, NULL);
}

tide_status tide_pool_open(struct tide_pool **out, const struct tide_pool_options *options,
                           struct tide_err *err)
{
    struct tide_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return tide_fail(err, TIDE_E_MEMORY, "pool");
    pool->options = *options;
    init_wake(pool);
    tide_status status = tide_statements_open(&pool->statements, err);
    if (status == TIDE_OK) {
        pool->workers = calloc(options->threads, sizeof *pool->workers);
        if (!pool->workers)
            status = tide_fail(err, TIDE_E_MEMORY, "pool");
    }
    for (uint32_t i = 0; i < options->threads && status == TIDE_OK; i++)
        status = start_worker(pool, &pool->workers[i], err);
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
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->closing, true);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; pool->workers && i < pool->options.threads; i++) {
        if (pool->workers[i].started)
            pthread_join(pool->workers[i].thread, NULL);
        tide_session_close(&pool->workers[i].session);
    }
    free(pool->workers);
    tide_statements_close(&pool->statements);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}
