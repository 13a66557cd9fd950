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

static void report(void *worker, bool there, const struct tide_err *err)
{
    const char *name = ((const struct worker *)worker)->shared->name;
    char quoted[TIDE_ERR_TEXT_MAX];
    if (there)
        tide_log(TIDE_INFO, "kyc.connected", "pool=%s", name);
    else
        tide_log(err->code == TIDE_E_CONFIG ? TIDE_ERROR : TIDE_WARN, "kyc.away", "pool=%s text=%s",
                 name, tide_log_quote(quoted, sizeof quoted, err->text));
}

static tide_status run(void *self, struct tide_job *job, struct tide_err *err)
{
    struct worker *worker = self;
    struct tide_kyc_work *work = job->context.task;
    int64_t until = job->context.deadline_ms;
    tide_kyc_rollback(&worker->context);
    tide_reply_reset(job->reply);
    worker->context.deadline_ms = until ? until - worker->shared->grace_ms : 0;
    worker->context.job = job;
    tide_status status = work->run(work, &worker->context, job, err);
    worker->context.job = NULL;
    worker->context.deadline_ms = 0;
    return status;
}

static bool is_lost(const void *worker)
{
    const struct tide_kyc_context *context = &((const struct worker *)worker)->context;
    return !tide_kyc_context_ready(context) || tide_pg_remedy(context->pg) == TIDE_PG_RECONNECT;
}

static bool is_worth_another(const void *worker, tide_status status)
{
    (void)worker;
    return status == TIDE_E_DB;
}

static void drop(void *worker)
{
    ((struct worker *)worker)->context.ready = false;
}

static void refuse(void *worker, struct tide_job *job, const struct tide_err *err)
{
    struct tide_kyc_context *context = &((struct worker *)worker)->context;
    struct tide_err away = { .code = TIDE_E_DB };
    if (err->code == TIDE_E_STOPPED || !tide_kyc_context_ready(context))
        tide_sql_problem(job->reply, NULL, &away);
    else
        tide_sql_problem(job->reply, context->pg, err);
    tide_kyc_rollback(context);
}

static void wipe_work(struct tide_job *job)
{
    struct tide_kyc_work *work = job->context.task;
    job->context.task = NULL;
    if (work)
        tide_sign_wipe(work, work->size);
    free(work);
}

/* --- opening ------------------------------------------------------------------------------ */

tide_status tide_kyc_pool_open(struct tide_worker_pool **out,
                               const struct tide_kyc_pool_options *options, struct tide_err *err)
{
    static const struct tide_worker_calls work = { .state_size = sizeof(struct worker),
                                                   .open = open_worker,
                                                   .close = close_worker,
                                                   .ready = is_ready,
                                                   .connect = connect_worker_state,
                                                   .report = report,
                                                   .run = run,
                                                   .lost = is_lost,
                                                   .again = is_worth_another,
                                                   .drop = drop,
                                                   .refuse = refuse,
                                                   .over = wipe_work,
                                                   .release = free };
    struct tide_kyc_pool_options *shared = malloc(sizeof *shared);
    *out = NULL;
    if (!shared)
        return tide_fail(err, TIDE_E_MEMORY, "KYC pool");
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
