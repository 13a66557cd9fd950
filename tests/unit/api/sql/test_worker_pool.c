/* The worker pool with a few threads and a short queue. A slow dependency occupies only the
 * threads of its bulkhead and never the last thread. Each client has a share of the queue.
 * label: threads */
#include "api/sql/worker_pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { JOBS = 64 };

/* A job of the tests, with the instructions for the worker that runs it. */
struct task {
    struct tide_job job;
    struct tide_reply reply;
    struct fixture *fixture;
    uint32_t bulkhead; /* 0: none */
    bool waits;        /* waits until released, without a bulkhead */
    uint32_t runs;     /* times that it was run */
    uint32_t order;
    enum tide_worker_pool_room room;
    bool over;
};

struct fixture {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool released;     /* jobs inside a bulkhead wait until this is true */
    uint32_t releases; /* each releases one waiting job while `released` is false */
    uint32_t inside, most, passed, done, back, workers;
    struct task tasks[JOBS];
};

struct worker {
    struct fixture *fixture;
    struct tide_worker_pool *pool;
};

static tide_status open_worker(void *self, void *owner, struct tide_worker_pool *pool,
                               struct tide_err *err)
{
    struct worker *worker = self;
    (void)err;
    *worker = (struct worker){ .fixture = owner, .pool = pool };
    worker->fixture->workers++;
    return TIDE_OK;
}

static void close_worker(void *self)
{
    ((struct worker *)self)->fixture->workers--;
}

static bool is_ready(const void *worker)
{
    (void)worker;
    return true;
}

static void wait_for_release(struct fixture *h)
{
    h->inside++;
    h->most = h->inside > h->most ? h->inside : h->most;
    while (!h->released && !h->releases)
        pthread_cond_wait(&h->wake, &h->mutex);
    h->releases -= !h->released;
    h->inside--;
}

static tide_status run_task(void *self, struct tide_job *job, struct tide_err *err)
{
    struct worker *worker = self;
    struct fixture *h = worker->fixture;
    struct task *task = (struct task *)(void *)job;
    (void)err;
    pthread_mutex_lock(&h->mutex);
    task->runs++;
    pthread_mutex_unlock(&h->mutex);
    enum tide_worker_pool_room room =
        task->bulkhead ? tide_worker_pool_enter(worker->pool, job, task->bulkhead)
                       : TIDE_BULKHEAD_ENTERED;
    pthread_mutex_lock(&h->mutex);
    if (room == TIDE_BULKHEAD_BACK)
        h->back++; /* do not touch the task: another thread may run it by now */
    else
        task->room = room;
    if (task->waits || (task->bulkhead && room == TIDE_BULKHEAD_ENTERED)) {
        wait_for_release(h);
        task->order = h->passed++;
    }
    pthread_mutex_unlock(&h->mutex);
    return TIDE_OK;
}

static void done(struct tide_job *job)
{
    struct task *task = (struct task *)(void *)job;
    struct fixture *h = task->fixture;
    pthread_mutex_lock(&h->mutex);
    task->over = true;
    h->done++;
    pthread_cond_broadcast(&h->wake);
    pthread_mutex_unlock(&h->mutex);
}

static const struct tide_worker_calls work = {
    .state_size = sizeof(struct worker),
    .open = open_worker,
    .close = close_worker,
    .ready = is_ready,
    .run = run_task,
};

static struct tide_worker_pool *begin_with(struct fixture *h,
                                           struct tide_worker_pool_options options)
{
    struct tide_worker_pool *pool;
    struct tide_err err;
    *h = (struct fixture){ 0 };
    options.name = "test";
    options.work = &work;
    options.owner = h;
    options.clock = tide_clock_system();
    pthread_mutex_init(&h->mutex, NULL);
    pthread_cond_init(&h->wake, NULL);
    assert_int_equal(tide_worker_pool_open(&pool, &options, &err), TIDE_OK);
    assert_int_equal(tide_worker_pool_start(pool, &err), TIDE_OK);
    return pool;
}

static struct tide_worker_pool *open_pool(struct fixture *h, uint32_t threads,
                                          uint32_t bulkhead_threads, uint32_t queue)
{
    return begin_with(h, (struct tide_worker_pool_options){ .threads = threads,
                                                            .queue = queue,
                                                            .bulkhead_threads = bulkhead_threads,
                                                            .bulkhead_queue = (queue + 1) / 2 });
}

static struct task *submit_task(struct fixture *h, struct tide_worker_pool *pool, uint32_t at,
                                uint32_t bulkhead)
{
    struct task *task = &h->tasks[at];
    *task = (struct task){ .fixture = h, .bulkhead = bulkhead };
    tide_reply_init(&task->reply);
    task->job = (struct tide_job){ .reply = &task->reply, .done = done };
    assert_int_equal(tide_worker_pool_submit(pool, &task->job), TIDE_JOB_QUEUED);
    return task;
}

/* Waits until `over` jobs have ended, `inside` jobs wait inside a bulkhead, and `back` jobs were
 * put back into the queue. */
static void await_back(struct fixture *h, uint32_t over, uint32_t inside, uint32_t back)
{
    for (;;) {
        pthread_mutex_lock(&h->mutex);
        bool there = h->done >= over && h->inside >= inside && h->back >= back;
        pthread_mutex_unlock(&h->mutex);
        if (there)
            return;
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
}

static void release_jobs(struct fixture *h)
{
    pthread_mutex_lock(&h->mutex);
    h->released = true;
    pthread_cond_broadcast(&h->wake);
    pthread_mutex_unlock(&h->mutex);
}

static void close_pool(struct fixture *h, struct tide_worker_pool *pool)
{
    tide_worker_pool_close(pool);
    assert_int_equal(h->workers, 0);
    for (uint32_t i = 0; i < JOBS; i++)
        if (h->tasks[i].fixture)
            tide_reply_release(&h->tasks[i].reply);
    pthread_cond_destroy(&h->wake);
    pthread_mutex_destroy(&h->mutex);
}

static void await_tasks(struct fixture *h, uint32_t over, uint32_t inside)
{
    await_back(h, over, inside, 0);
}

/* Ten jobs compete for one bulkhead of three threads. Jobs without a bulkhead, and those of another
 * bulkhead, pass at once. */
static void test_bulkhead_leaves_a_thread(void **state)
{
    (void)state;
    static struct fixture h;
    struct tide_worker_pool *pool = open_pool(&h, 4, 3, 64);
    for (uint32_t i = 0; i < 10; i++)
        submit_task(&h, pool, i, 1);
    await_tasks(&h, 0, 3);
    for (uint32_t i = 10; i < 30; i++)
        submit_task(&h, pool, i, 0);
    await_tasks(&h, 20, 3);
    submit_task(&h, pool, 30, 2);
    await_tasks(&h, 20, 4);
    for (uint32_t i = 0; i < 10; i++)
        assert_false(h.tasks[i].over);
    release_jobs(&h);
    await_tasks(&h, 31, 0);
    assert_int_equal(h.most, 4);
    for (uint32_t i = 0; i < 10; i++) {
        assert_in_range(h.tasks[i].runs, 1, 2); /* once to find no room, once with it */
        assert_int_equal(h.tasks[i].room, TIDE_BULKHEAD_ENTERED);
    }
    close_pool(&h, pool);
}

/* Jobs that were put back run in the order in which they arrived. */
static void test_order(void **state)
{
    (void)state;
    static struct fixture h;
    struct tide_worker_pool *pool = open_pool(&h, 2, 1, 64);
    for (uint32_t i = 0; i < 8; i++) {
        submit_task(&h, pool, i, 3);
        await_back(&h, 0, 1, i);
    }
    release_jobs(&h);
    await_tasks(&h, 8, 0);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(h.tasks[i].order, i);
    close_pool(&h, pool);
}

/* One bulkhead may fill at most half of the queue. */
static void test_full(void **state)
{
    (void)state;
    static struct fixture h;
    struct tide_worker_pool *pool = open_pool(&h, 2, 1, 10);
    uint32_t full = 0;
    for (uint32_t i = 0; i < 20; i++) {
        submit_task(&h, pool, i, 1);
        await_tasks(&h, i < 6 ? 0 : i - 5, 1); /* one runs, five wait, the rest are refused */
    }
    struct task *other = submit_task(&h, pool, 20, 0);
    await_tasks(&h, 15, 1);
    assert_true(other->over);
    for (uint32_t i = 0; i < 20; i++)
        full += h.tasks[i].over && h.tasks[i].room == TIDE_BULKHEAD_FULL;
    assert_int_equal(full, 14);
    release_jobs(&h);
    await_tasks(&h, 21, 0);
    close_pool(&h, pool);
}

/* A job past its deadline is answered 503 although its bulkhead has no free thread. */
static void test_late(void **state)
{
    (void)state;
    static struct fixture h;
    struct tide_worker_pool *pool = open_pool(&h, 2, 1, 64);
    const struct tide_clock *clock = tide_clock_system();
    submit_task(&h, pool, 0, 1);
    await_tasks(&h, 0, 1);
    struct task *late = &h.tasks[1];
    *late = (struct task){ .fixture = &h, .bulkhead = 1 };
    tide_reply_init(&late->reply);
    late->job = (struct tide_job){ .reply = &late->reply, .done = done };
    late->job.context.deadline_ms = clock->now_ms(clock->self) + 200;
    assert_int_equal(tide_worker_pool_submit(pool, &late->job), TIDE_JOB_QUEUED);
    await_tasks(&h, 1, 1);
    assert_true(late->over);
    assert_int_equal(late->reply.status, 503);
    release_jobs(&h);
    await_tasks(&h, 2, 0);
    close_pool(&h, pool);
}

/* A job that waits in a bulkhead is answered before the pool is closed. */
static void test_closing(void **state)
{
    (void)state;
    static struct fixture h;
    struct tide_worker_pool *pool = open_pool(&h, 3, 1, 64);
    for (uint32_t i = 0; i < 12; i++)
        submit_task(&h, pool, i, 1 + i % 2);
    await_tasks(&h, 0, 2);
    release_jobs(&h);
    tide_worker_pool_close(pool);
    assert_int_equal(h.done, 12);
    assert_int_equal(h.workers, 0);
    for (uint32_t i = 0; i < 12; i++)
        tide_reply_release(&h.tasks[i].reply);
}

static enum tide_job_submitted submit_for_client(struct fixture *h, struct tide_worker_pool *pool,
                                                 uint32_t at, uint8_t client, bool waits)
{
    struct task *task = &h->tasks[at];
    *task = (struct task){ .fixture = h, .waits = waits };
    tide_reply_init(&task->reply);
    task->job = (struct tide_job){ .reply = &task->reply, .done = done };
    task->job.client.ip[15] = client;
    return tide_worker_pool_submit(pool, &task->job);
}

/* One client's jobs occupy all threads but one and the client's share of the queue; its further
 * jobs are refused. Jobs of others are answered meanwhile, and may fill the queue. */
static void test_client_leaves_a_thread(void **state)
{
    (void)state;
    static struct fixture h;
    struct tide_worker_pool_stats stats;
    struct tide_worker_pool *pool =
        begin_with(&h, (struct tide_worker_pool_options){ .threads = 4,
                                                          .queue = 16,
                                                          .by_client = true,
                                                          .bulkhead_threads = 3,
                                                          .bulkhead_queue = 4 });
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(submit_for_client(&h, pool, i, 1, true), TIDE_JOB_QUEUED);
    await_tasks(&h, 0, 3);
    assert_int_equal(submit_for_client(&h, pool, 7, 1, true), TIDE_JOB_CLIENT_FULL);
    for (uint32_t i = 8; i < 40; i++) { /* each another client */
        assert_int_equal(submit_for_client(&h, pool, i, (uint8_t)i, false), TIDE_JOB_QUEUED);
        await_tasks(&h, i - 7, 3);
    }
    assert_int_equal(submit_for_client(&h, pool, 40, 1, true), TIDE_JOB_CLIENT_FULL);
    for (uint32_t i = 0; i < 7; i++)
        assert_false(h.tasks[i].over);
    tide_worker_pool_stats(pool, &stats);
    assert_int_equal(stats.busy, 3);
    assert_int_equal(stats.waiting, 4);
    assert_int_equal(stats.full, 0);
    release_jobs(&h);
    await_tasks(&h, 39, 0);
    assert_int_equal(h.most, 3);
    assert_int_equal(submit_for_client(&h, pool, 41, 1, true), TIDE_JOB_QUEUED);
    await_tasks(&h, 40, 0);
    close_pool(&h, pool);
}

/* Two clients occupy all threads and have more jobs waiting. The next free thread takes the job of
 * a third client, although that job came last. */
static void test_clients_take_turns(void **state)
{
    (void)state;
    static struct fixture h;
    struct tide_worker_pool *pool =
        begin_with(&h, (struct tide_worker_pool_options){ .threads = 4,
                                                          .queue = 32,
                                                          .by_client = true,
                                                          .bulkhead_threads = 2,
                                                          .bulkhead_queue = 8 });
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(submit_for_client(&h, pool, i, 1, true), TIDE_JOB_QUEUED);
    await_tasks(&h, 0, 2);
    for (uint32_t i = 10; i < 19; i++)
        assert_int_equal(submit_for_client(&h, pool, i, 2, true), TIDE_JOB_QUEUED);
    await_tasks(&h, 0, 4);
    assert_int_equal(submit_for_client(&h, pool, 19, 3, true), TIDE_JOB_QUEUED);
    pthread_mutex_lock(&h.mutex);
    h.releases = 1;
    pthread_cond_broadcast(&h.wake);
    pthread_mutex_unlock(&h.mutex);
    await_tasks(&h, 1, 4);
    assert_int_equal(h.tasks[19].runs, 1);
    release_jobs(&h);
    await_tasks(&h, 20, 0);
    close_pool(&h, pool);
}

int test_worker_pool(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bulkhead_leaves_a_thread),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_closing),
        cmocka_unit_test(test_client_leaves_a_thread),
        cmocka_unit_test(test_clients_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
