/* Callbacks that run KYC's jobs in a worker pool. */
#include "api/kyc/request_pool.h"
#include "api/sql/sql_problem.h"
#include "tidemark/log.h"
#include "tidemark/sign.h"

/* QUEUE: jobs that may wait; further ones get 503. GRACE_MS: part of a session's time that is kept
 * for writing the answer. */
enum { SESSION_THREADS = 4, HOOK_THREADS = 2, READ_THREADS = 2, QUEUE = 256, GRACE_MS = 500 };
static_assert(SESSION_THREADS > 1 && READ_THREADS > 1, "a slow one does not stop the others");

/* Each worker has a connection. provider_threads: workers that may wait for one provider, so that
 * one is always reserved for the others; 0: none ever waits for a provider. */
static const struct pool {
    const char *name;
    uint32_t threads, provider_threads, grace_ms;
} pools[TIDE_KYC_POOL_COUNT] = {
    [TIDE_KYC_POOL_SESSIONS] = { "sessions", SESSION_THREADS, SESSION_THREADS - 1, GRACE_MS },
    [TIDE_KYC_POOL_HOOKS] = { .name = "webhooks", .threads = HOOK_THREADS },
    [TIDE_KYC_POOL_READS] = { .name = "reads", .threads = READ_THREADS },
};

/* Belongs to the workers of a pool. */
struct shared {
    const struct pool *pool;
    struct tide_kyc_context_options context;
};

struct worker {
    const struct shared *shared;
    struct tide_kyc_context context;
};

/* --- callbacks of a worker ---------------------------------------------------------------- */

static tide_status open_worker(void *self, void *owner, struct tide_worker_pool *workers,
                               struct tide_err *err)
{
    struct worker *worker = self;
    const struct shared *shared = owner;
    struct tide_kyc_context_options options = shared->context;
    options.stopped = tide_worker_pool_is_closing;
    options.stopped_self = workers;
    worker->shared = shared;
    tide_status status = tide_kyc_context_open(&worker->context, &options, err);
    worker->context.pool = workers;
    return status;
}

static void close_worker(void *worker)
{
    tide_kyc_context_close(&((struct worker *)worker)->context);
}

static bool is_ready(const void *worker)
{
    return tide_kyc_context_ready(&((const struct worker *)worker)->context);
}

static tide_status connect_worker_state(void *worker, struct tide_err *err)
{
    return tide_kyc_context_connect(&((struct worker *)worker)->context, err);
}

/* Logs that the worker's connection was made or lost. TIDE_E_CONFIG is an error: retrying cannot
 * help until the operator changes the settings. */
static void log_connection(void *worker, bool connected, const struct tide_err *err)
{
    const char *name = ((const struct worker *)worker)->shared->pool->name;
    char quoted[TIDE_ERR_TEXT_MAX];
    if (connected)
        tide_log(TIDE_INFO, "kyc.connected", "pool=%s", name);
    else
        tide_log(err->code == TIDE_E_CONFIG ? TIDE_ERROR : TIDE_WARN, "kyc.away", "pool=%s text=%s",
                 name, tide_log_quote(quoted, sizeof quoted, err->text));
}

/* Runs a job. The job may be a repetition: a transaction left open by the first run is rolled
 * back. */
static tide_status run_job(void *self, struct tide_job *job, struct tide_err *err)
{
    struct worker *worker = self;
    struct tide_kyc_work *work = job->context.task;
    int64_t until = job->context.deadline_ms;
    assert(work && work->run);
    assert(!worker->context.job && worker->context.deadline_ms == 0);
    tide_kyc_rollback(&worker->context);
    worker->context.deadline_ms = until ? until - worker->shared->pool->grace_ms : 0;
    worker->context.job = job;
    tide_status status = work->run(work, &worker->context, job, err);
    worker->context.job = NULL;
    worker->context.deadline_ms = 0;
    return status;
}

/* Only TIDE_E_DB is worth a repetition: another error would be the same on another connection. */
static enum tide_worker_verdict judge_failure(void *worker, tide_status status)
{
    struct tide_kyc_context *context = &((struct worker *)worker)->context;
    context->ready =
        tide_kyc_context_ready(context) && tide_pg_remedy(context->pg) != TIDE_PG_RECONNECT;
    if (!context->ready)
        return TIDE_WORKER_LOST;
    return status == TIDE_E_DB ? TIDE_WORKER_AGAIN : TIDE_WORKER_FAILED;
}

/* Writes the problem for a job that failed. Without a usable connection the answer is the 503 of an
 * unreachable database, whatever the error was. */
static void reject_job(void *worker, struct tide_job *job, const struct tide_err *err)
{
    struct tide_kyc_context *context = &((struct worker *)worker)->context;
    bool usable = err->code != TIDE_E_STOPPED && tide_kyc_context_ready(context);
    tide_sql_problem(job->reply, usable ? context->pg : NULL, err);
    tide_kyc_rollback(context);
}

/* Overwrites the work before it is freed: a request may hold an API key or a challenge. */
static void wipe_work(struct tide_job *job)
{
    struct tide_kyc_work *work = job->context.task;
    job->context.task = NULL;
    assert(!work || work->size >= sizeof *work);
    if (work)
        tide_sign_wipe(work, work->size);
    free(work);
}

/* --- opening ------------------------------------------------------------------------------ */

const char *tide_kyc_pool_name(enum tide_kyc_pool_id pool)
{
    assert(pool < TIDE_KYC_POOL_COUNT);
    return pools[pool].name;
}

/* Half of the queue is the most that jobs of one provider may occupy. */
static tide_status open_pool(struct tide_worker_pool **out, const struct pool *pool,
                             const struct tide_kyc_context_options *options, struct tide_err *err)
{
    static const struct tide_worker_calls work = { .state_size = sizeof(struct worker),
                                                   .open = open_worker,
                                                   .close = close_worker,
                                                   .ready = is_ready,
                                                   .connect = connect_worker_state,
                                                   .report = log_connection,
                                                   .run = run_job,
                                                   .judge = judge_failure,
                                                   .refuse = reject_job,
                                                   .over = wipe_work,
                                                   .release = free };
    struct shared *shared = malloc(sizeof *shared);
    if (!shared)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: KYC worker pool");
    *shared = (struct shared){ pool, *options };
    struct tide_worker_pool_options workers = { .name = pool->name,
                                                .work = &work,
                                                .owner = shared,
                                                .clock = options->clock,
                                                .threads = pool->threads,
                                                .queue = QUEUE,
                                                .bulkhead_threads = pool->provider_threads,
                                                .bulkhead_queue = QUEUE / 2 };
    return tide_worker_pool_open(out, &workers, err);
}

tide_status tide_kyc_pools_open(struct tide_worker_pool *out[TIDE_KYC_POOL_COUNT],
                                const struct tide_kyc_context_options *options,
                                struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (int i = 0; i < TIDE_KYC_POOL_COUNT && status == TIDE_OK; i++)
        status = open_pool(&out[i], &pools[i], options, err);
    return status;
}
