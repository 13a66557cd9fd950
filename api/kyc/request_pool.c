/* Callbacks that run KYC's jobs in a worker pool. */
#include "api/kyc/request_pool.h"
#include "api/sql/sql_problem.h"
#include "tidemark/log.h"
#include "tidemark/sign.h"

struct worker {
    const struct tide_kyc_pool_options *shared;
    struct tide_kyc_context context;
};

/* --- callbacks of a worker ---------------------------------------------------------------- */

static tide_status open_worker(void *self, void *owner, struct tide_worker_pool *workers,
                               struct tide_err *err)
{
    struct worker *worker = self;
    const struct tide_kyc_pool_options *shared = owner;
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
    const char *name = ((const struct worker *)worker)->shared->name;
    char quoted[TIDE_ERR_TEXT_MAX];
    if (connected)
        tide_log(TIDE_INFO, "kyc.connected", "pool=%s", name);
    else
        tide_log(err->code == TIDE_E_CONFIG ? TIDE_ERROR : TIDE_WARN, "kyc.away", "pool=%s text=%s",
                 name, tide_log_quote(quoted, sizeof quoted, err->text));
}

/* Runs a job. The job may be a repetition: a transaction left open by the first run is rolled back
 * and a half-written reply is discarded. */
static tide_status run_job(void *self, struct tide_job *job, struct tide_err *err)
{
    struct worker *worker = self;
    struct tide_kyc_work *work = job->context.task;
    int64_t until = job->context.deadline_ms;
    assert(work && work->run);
    assert(!worker->context.job && worker->context.deadline_ms == 0);
    tide_kyc_rollback(&worker->context);
    tide_reply_reset(job->reply);
    worker->context.deadline_ms = until ? until - worker->shared->grace_ms : 0;
    worker->context.job = job;
    tide_status status = work->run(work, &worker->context, job, err);
    worker->context.job = NULL;
    worker->context.deadline_ms = 0;
    return status;
}

/* True if the worker must connect again before its next job. */
static bool is_lost(const void *worker)
{
    const struct tide_kyc_context *context = &((const struct worker *)worker)->context;
    return !tide_kyc_context_ready(context) || tide_pg_remedy(context->pg) == TIDE_PG_RECONNECT;
}

/* True for TIDE_E_DB only: another error would be the same on another connection. */
static bool is_retryable(const void *worker, tide_status status)
{
    (void)worker;
    return status == TIDE_E_DB;
}

/* Makes the worker connect again before its next job. */
static void mark_not_ready(void *worker)
{
    ((struct worker *)worker)->context.ready = false;
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

/* Half of the queue is the most that jobs of one provider may occupy. */
tide_status tide_kyc_pool_open(struct tide_worker_pool **out,
                               const struct tide_kyc_pool_options *options, struct tide_err *err)
{
    static const struct tide_worker_calls work = { .state_size = sizeof(struct worker),
                                                   .open = open_worker,
                                                   .close = close_worker,
                                                   .ready = is_ready,
                                                   .connect = connect_worker_state,
                                                   .report = log_connection,
                                                   .run = run_job,
                                                   .lost = is_lost,
                                                   .again = is_retryable,
                                                   .drop = mark_not_ready,
                                                   .refuse = reject_job,
                                                   .over = wipe_work,
                                                   .release = free };
    struct tide_kyc_pool_options *shared = malloc(sizeof *shared);
    *out = NULL;
    assert(options->threads > 0 && options->provider_threads <= options->threads);
    if (!shared)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: KYC worker pool");
    *shared = *options;
    struct tide_worker_pool_options workers = { .name = options->name,
                                                .work = &work,
                                                .owner = shared,
                                                .clock = options->context.clock,
                                                .threads = options->threads,
                                                .queue = options->queue,
                                                .bulkhead_threads = options->provider_threads,
                                                .bulkhead_queue = (options->queue + 1) / 2 };
    return tide_worker_pool_open(out, &workers, err);
}
