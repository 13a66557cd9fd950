/* The worker pool: workers, queue and bulkheads. */
#include "api/sql/worker_pool.h"
#include "tidemark/clock.h"
#include "tidemark/liveness.h"
#include "tidemark/lock.h"
#include "tidemark/pg.h"

#include <pthread.h>
#include <stdatomic.h>

enum { RETRY_MS = 500 }; /* between attempts to connect */

struct worker {
    struct tide_worker_pool *pool;
    void *state;
    pthread_t thread;
    bool counted; /* counted in stats.connected */
};

/* Jobs inside, and jobs that wait for room. The bulkhead of a client is free when both are 0. */
struct bulkhead {
    uint32_t inside, waiting;
    struct tide_peer client;
};

struct tide_worker_pool {
    struct tide_worker_pool_options options;
    uint32_t opened, started;
    char *states;
    pthread_mutex_t mutex; /* guards all members below */
    pthread_cond_t wake;
    struct tide_job *first, *last;
    struct tide_worker_pool_stats stats;
    struct bulkhead *bulkheads; /* bulkhead_count + 1 elements; a job with bulkhead 0 is in none */
    uint32_t bulkhead_count;
    bool connecting; /* a worker is connecting */
    bool down;       /* the last attempt to connect failed */
    int64_t retry_ms;
    atomic_bool closing; /* also read while a statement runs */
    atomic_ullong waits; /* times that submit had to wait for the mutex */
    struct worker workers[];
};

static int64_t now_ms(const struct tide_worker_pool *pool)
{
    const struct tide_clock *clock = pool->options.clock;
    return clock->now_ms(clock->self);
}

bool tide_worker_pool_is_closing(void *self)
{
    struct tide_worker_pool *pool = self;
    return atomic_load(&pool->closing);
}

/* --- the connection --------------------------------------------------------------------- */

/* Returns whether this worker may try to connect now. Needs the mutex. */
static bool may_connect(struct tide_worker_pool *pool)
{
    if (!pool->down)
        return true;
    return !pool->connecting && now_ms(pool) >= pool->retry_ms;
}

/* Updates stats.connected. Needs the mutex. */
static void count_connected(struct worker *worker, bool connected)
{
    assert(worker->pool->stats.connected >= worker->counted);
    struct tide_worker_pool_stats *stats = &worker->pool->stats;
    stats->connected = stats->connected + connected - worker->counted;
    worker->counted = connected;
}

static bool connect_worker(struct worker *worker)
{
    struct tide_worker_pool *pool = worker->pool;
    struct tide_err err;
    pthread_mutex_lock(&pool->mutex);
    bool may = may_connect(pool);
    if (may)
        pool->connecting = true;
    pthread_mutex_unlock(&pool->mutex);
    if (!may)
        return false;
    bool there = pool->options.work->connect(worker->state, &err) == TIDE_OK;
    pthread_mutex_lock(&pool->mutex);
    bool news = pool->down == there;
    pool->connecting = false;
    pool->down = !there;
    pool->retry_ms = now_ms(pool) + RETRY_MS;
    pool->stats.connects += there;
    pool->stats.no_primary = !there && err.code == TIDE_E_NO_PRIMARY;
    count_connected(worker, there);
    pthread_mutex_unlock(&pool->mutex);
    if (news)
        pool->options.work->report(worker->state, there, &err);
    return there;
}

static void count_lost(struct worker *worker)
{
    pthread_mutex_lock(&worker->pool->mutex);
    count_connected(worker, false);
    pthread_mutex_unlock(&worker->pool->mutex);
}

/* --- jobs ------------------------------------------------------------------------------- */

static bool is_late(const struct tide_worker_pool *pool, const struct tide_job *job)
{
    return job->context.deadline_ms != 0 && now_ms(pool) > job->context.deadline_ms;
}

/* Runs a job, and runs it once more after a lost connection, or if the failure may be temporary. */
static tide_status attempt_job(struct worker *worker, struct tide_job *job, struct tide_err *err)
{
    const struct tide_worker_calls *work = worker->pool->options.work;
    for (int round = 0;; round++) {
        if (!work->ready(worker->state) && !connect_worker(worker))
            return tide_fail(err, TIDE_E_DB, "not connected");
        tide_reply_reset(job->reply);
        tide_status status = work->run(worker->state, job, err);
        if (status == TIDE_OK)
            return status;
        enum tide_worker_verdict verdict = work->judge(worker->state, status);
        if (verdict == TIDE_WORKER_LOST)
            count_lost(worker);
        if (verdict == TIDE_WORKER_FAILED || round == 1 || is_late(worker->pool, job) ||
            tide_worker_pool_is_closing(worker->pool))
            return status;
    }
}

/* Appends a job to the queue and wakes a worker. Needs the mutex. */
static void append_job(struct tide_worker_pool *pool, struct tide_job *job)
{
    assert(!pool->last == !pool->first);
    assert(!pool->first == !pool->stats.waiting && !job->back);
    job->next = NULL;
    if (pool->last)
        pool->last->next = job;
    else
        pool->first = job;
    pool->last = job;
    pool->stats.waiting++;
    pthread_cond_signal(&pool->wake);
}

/* Leaves the job's bulkhead. Wakes another worker for a job that waits for the room, in case
 * this one takes another job. Needs the mutex. */
static void leave_bulkhead(struct tide_worker_pool *pool, struct tide_job *job)
{
    assert(!job->bulkhead || pool->bulkheads[job->bulkhead].inside > 0);
    if (!job->bulkhead)
        return;
    pool->bulkheads[job->bulkhead].inside--;
    if (pool->bulkheads[job->bulkhead].waiting)
        pthread_cond_signal(&pool->wake);
}

static void put_back(struct tide_worker_pool *pool, struct tide_job *job)
{
    pthread_mutex_lock(&pool->mutex);
    job->back = false;
    assert(pool->stats.busy > 0 && job->bulkhead > 0);
    pool->stats.busy--;
    append_job(pool, job);
    pthread_mutex_unlock(&pool->mutex);
}

static void run_job(struct worker *worker, struct tide_job *job)
{
    struct tide_worker_pool *pool = worker->pool;
    const struct tide_worker_calls *work = pool->options.work;
    struct tide_err err;
    bool late = is_late(pool, job), failed = false;
    if (late) {
        tide_reply_problem(job->reply, 503, "overloaded",
                           "The request waited too long in the queue. Retry in a second.");
        job->reply->retry_after_s = 1;
    } else if (attempt_job(worker, job, &err) != TIDE_OK) {
        failed = true;
        work->refuse(worker->state, job, &err);
    } else if (job->back) {
        put_back(pool, job);
        return;
    }
    if (work->over)
        work->over(job);
    job->next = NULL;
    pthread_mutex_lock(&pool->mutex);
    assert(pool->stats.busy > 0);
    pool->stats.busy--;
    pool->stats.jobs++;
    pool->stats.late += late;
    pool->stats.failed += failed;
    leave_bulkhead(pool, job);
    pthread_mutex_unlock(&pool->mutex);
    job->done(job); /* the job belongs to the caller from here on */
}

/* Waits for a job, at most RETRY_MS, so that a worker without a connection tries to connect
 * again. */
static void wait_for_work(struct tide_worker_pool *pool)
{
    struct timespec until = tide_monotonic_in(RETRY_MS);
    pthread_cond_timedwait(&pool->wake, &pool->mutex, &until);
}

#define NO_ROOM UINT32_MAX

/* Returns the job's rank; lower ones run first. A late job needs no room, because it only gets
 * its 503. Needs the mutex. */
static uint32_t rank_of(struct tide_worker_pool *pool, const struct tide_job *job)
{
    assert(job->bulkhead <= pool->bulkhead_count);
    uint32_t inside = job->bulkhead ? pool->bulkheads[job->bulkhead].inside : 0;
    if (!job->bulkhead || inside < pool->options.bulkhead_threads)
        return pool->options.by_client ? inside : 0;
    return is_late(pool, job) || tide_worker_pool_is_closing(pool) ? 0 : NO_ROOM;
}

/* Returns the first job of the lowest rank, or NULL; *before precedes it in the queue. Needs the
 * mutex. */
static struct tide_job *choose_job(struct tide_worker_pool *pool, struct tide_job **before)
{
    struct tide_job *chosen = NULL, *previous = NULL;
    uint32_t lowest = NO_ROOM;
    for (struct tide_job *job = pool->first; job && lowest > 0; job = job->next) {
        uint32_t rank = rank_of(pool, job);
        if (rank < lowest) {
            chosen = job;
            *before = previous;
            lowest = rank;
        }
        previous = job;
    }
    return chosen;
}

static struct tide_job *take_job(struct tide_worker_pool *pool)
{
    struct tide_job *before = NULL, *job = choose_job(pool, &before);
    if (!job)
        return NULL;
    *(before ? &before->next : &pool->first) = job->next;
    if (pool->last == job)
        pool->last = before;
    assert(pool->stats.waiting > 0 && !pool->first == !pool->last);
    pool->stats.waiting--;
    pool->stats.busy++;
    if (job->bulkhead) {
        assert(pool->bulkheads[job->bulkhead].waiting > 0);
        pool->bulkheads[job->bulkhead].waiting--;
        pool->bulkheads[job->bulkhead].inside++;
    }
    return job;
}

enum tide_worker_pool_room tide_worker_pool_enter(struct tide_worker_pool *pool,
                                                  struct tide_job *job, uint32_t bulkhead)
{
    enum tide_worker_pool_room room = TIDE_BULKHEAD_ENTERED;
    assert(!pool->options.by_client);
    assert(bulkhead && bulkhead <= TIDE_BULKHEADS_MAX &&
           (!job->bulkhead || job->bulkhead == bulkhead));
    if (!pool->options.bulkhead_threads || job->bulkhead)
        return room;
    pthread_mutex_lock(&pool->mutex);
    struct bulkhead *of = &pool->bulkheads[bulkhead];
    if (of->inside < pool->options.bulkhead_threads || tide_worker_pool_is_closing(pool))
        of->inside++;
    else
        room = of->waiting < pool->options.bulkhead_queue ? TIDE_BULKHEAD_BACK : TIDE_BULKHEAD_FULL;
    of->waiting += room == TIDE_BULKHEAD_BACK;
    job->back = room == TIDE_BULKHEAD_BACK;
    job->bulkhead = room == TIDE_BULKHEAD_FULL ? 0 : bulkhead;
    pthread_mutex_unlock(&pool->mutex);
    return room;
}

static void *run_worker(void *self)
{
    struct worker *worker = self;
    struct tide_worker_pool *pool = worker->pool;
    bool over = false;
    tide_liveness_begin(pool->options.name, TIDE_LIVENESS_WAITS_MS);
    while (!over) {
        tide_liveness_mark();
        pthread_mutex_lock(&pool->mutex);
        bool idle = pool->options.work->ready(worker->state) || !may_connect(pool);
        struct tide_job *job = take_job(pool);
        if (!job && idle && !tide_worker_pool_is_closing(pool)) {
            wait_for_work(pool);
            job = take_job(pool);
        }
        over = !job && tide_worker_pool_is_closing(pool);
        pthread_mutex_unlock(&pool->mutex);
        if (job)
            run_job(worker, job);
        else if (!over && !pool->options.work->ready(worker->state))
            (void)connect_worker(worker);
    }
    tide_liveness_end();
    return NULL;
}

/* Returns the client's bulkhead, or a free one. There are as many as jobs, so one is free. Needs
 * the mutex, and room in the queue. */
static uint32_t bulkhead_of_client(const struct tide_worker_pool *pool,
                                   const struct tide_peer *client)
{
    uint32_t spare = 0;
    for (uint32_t i = 1; i <= pool->bulkhead_count; i++) {
        const struct bulkhead *bulkhead = &pool->bulkheads[i];
        bool used = bulkhead->inside || bulkhead->waiting;
        if (used && memcmp(&bulkhead->client, client, sizeof *client) == 0)
            return i;
        if (!used && !spare)
            spare = i;
    }
    assert(spare);
    return spare;
}

/* Reserves a place in the client's bulkhead. Needs the mutex. */
static enum tide_job_submitted enter_client(struct tide_worker_pool *pool, struct tide_job *job)
{
    assert(job->bulkhead == 0);
    assert(pool->stats.waiting < pool->options.queue);
    const struct tide_worker_pool_options *options = &pool->options;
    uint32_t at = bulkhead_of_client(pool, &job->client);
    struct bulkhead *bulkhead = &pool->bulkheads[at];
    if (bulkhead->inside + bulkhead->waiting >= options->bulkhead_threads + options->bulkhead_queue)
        return TIDE_JOB_CLIENT_FULL;
    bulkhead->client = job->client;
    bulkhead->waiting++;
    job->bulkhead = at;
    return TIDE_JOB_QUEUED;
}

enum tide_job_submitted tide_worker_pool_submit(struct tide_worker_pool *pool, struct tide_job *job)
{
    assert(job->done && job->reply);
    enum tide_job_submitted submitted = TIDE_JOB_QUEUED;
    tide_lock_counted(&pool->mutex, &pool->waits);
    job->bulkhead = 0;
    job->back = false;
    if (tide_worker_pool_is_closing(pool) || pool->stats.waiting >= pool->options.queue)
        submitted = TIDE_JOB_QUEUE_FULL;
    else if (pool->options.by_client)
        submitted = enter_client(pool, job);
    if (submitted == TIDE_JOB_QUEUED)
        append_job(pool, job);
    pool->stats.full += submitted == TIDE_JOB_QUEUE_FULL;
    pthread_mutex_unlock(&pool->mutex);
    return submitted;
}

/* --- open and close -------------------------------------------------------------------------- */

void tide_worker_pool_stats(struct tide_worker_pool *pool, struct tide_worker_pool_stats *out)
{
    *out = (struct tide_worker_pool_stats){ 0 };
    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    *out = pool->stats;
    out->threads = pool->options.threads;
    out->waits = atomic_load(&pool->waits);
    pthread_mutex_unlock(&pool->mutex);
}

static tide_status open_workers(struct tide_worker_pool *pool, struct tide_err *err)
{
    const struct tide_worker_pool_options *options = &pool->options;
    size_t size = options->work->state_size;
    tide_status status = TIDE_OK;
    pool->bulkhead_count =
        options->by_client ? options->queue + options->threads : TIDE_BULKHEADS_MAX;
    pool->bulkheads = calloc(pool->bulkhead_count + 1, sizeof pool->bulkheads[0]);
    pool->states = calloc(options->threads, size);
    if (!pool->states || !pool->bulkheads)
        return tide_fail(err, TIDE_E_MEMORY, "worker pool");
    for (uint32_t i = 0; i < options->threads && status == TIDE_OK; i++) {
        void *state = pool->states + i * size;
        pool->workers[i] = (struct worker){ .pool = pool, .state = state };
        status = options->work->open(state, options->owner, pool, err);
        pool->opened += status == TIDE_OK;
    }
    return status;
}

static void release_owner(const struct tide_worker_pool_options *options)
{
    if (options->work->release)
        options->work->release(options->owner);
}

tide_status tide_worker_pool_open(struct tide_worker_pool **out,
                                  const struct tide_worker_pool_options *options,
                                  struct tide_err *err)
{
    assert(options->threads > 0 && options->clock);
    assert(options->work->open && options->work->ready && options->work->run);
    assert(!options->by_client || options->bulkhead_threads > 0); /* else no job would run */
    struct tide_worker_pool *pool =
        calloc(1, sizeof *pool + options->threads * sizeof pool->workers[0]);
    *out = NULL;
    if (!pool) {
        release_owner(options);
        return tide_fail(err, TIDE_E_MEMORY, "worker pool");
    }
    pool->options = *options;
    (void)tide_cond_init(&pool->wake);
    pthread_mutex_init(&pool->mutex, NULL);
    tide_status status = open_workers(pool, err);
    if (status == TIDE_OK)
        *out = pool;
    else
        tide_worker_pool_close(pool);
    return status;
}

tide_status tide_worker_pool_start(struct tide_worker_pool *pool, struct tide_err *err)
{
    for (; pool->started < pool->opened; pool->started++) {
        struct worker *worker = &pool->workers[pool->started];
        if (pthread_create(&worker->thread, NULL, run_worker, worker) != 0)
            return tide_fail(err, TIDE_E_MEMORY, "worker pool: cannot start a thread");
    }
    return TIDE_OK;
}

void tide_worker_pool_close(struct tide_worker_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->closing, true);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    assert(pool->stats.busy == 0 && (pool->started == 0 || !pool->first));
    for (uint32_t i = 0; i < pool->opened; i++)
        pool->options.work->close(pool->workers[i].state);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    release_owner(&pool->options);
    free(pool->bulkheads);
    free(pool->states);
    free(pool);
}
