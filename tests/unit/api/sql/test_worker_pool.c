/* A few threads and their queue: bulkheads. A slow dependency holds some of the threads, and
 * never the last one. Clients have shares. label: threads */
#include "api/sql/worker_pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { JOBS = 64 };

/* What a job is to do, in the place of a handler's context. */
struct task {
    struct tide_job job;
    struct tide_reply reply;
    struct house *house;
    uint32_t bulkhead; /* 0: none */
    bool waits;        /* at the door, without a bulkhead */
    uint32_t runs;     /* times that it was run */
    uint32_t order;
    enum tide_worker_pool_room room;
    bool over;
};

struct house {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool open;        /* the bulkheads' door: who is in one waits for it */
    uint32_t tickets; /* for one job each, while the door is closed */
    uint32_t inside, most, passed, done, back, workers;
    struct task tasks[JOBS];
};

struct worker {
    struct house *house;
    struct tide_worker_pool *pool;
};

static tide_status open_worker(void *self, void *owner, struct tide_worker_pool *pool,
                               struct tide_err *err)
{
    struct worker *worker = self;
    (void)err;
    *worker = (struct worker){ .house = owner, .pool = pool };
    worker->house->workers++;
    return TIDE_OK;
}

static void close_worker(void *self)
{
    ((struct worker *)self)->house->workers--;
}

static bool is_ready(const void *worker)
{
    (void)worker;
    return true;
}

static void wait_at_door(struct house *h)
{
    h->inside++;
    h->most = h->inside > h->most ? h->inside : h->most;
    while (!h->open && !h->tickets)
        pthread_cond_wait(&h->wake, &h->mutex);
    h->tickets -= !h->open;
    h->inside--;
}

static tide_status run(void *self, struct tide_job *job, struct tide_err *err)
{
    struct worker *worker = self;
    struct house *h = worker->house;
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
        h->back++; /* the task is another thread's already, perhaps */
    else
        task->room = room;
    if (task->waits || (task->bulkhead && room == TIDE_BULKHEAD_ENTERED)) {
        wait_at_door(h);
        task->order = h->passed++;
    }
    pthread_mutex_unlock(&h->mutex);
    return TIDE_OK;
}

static void done(struct tide_job *job)
{
    struct task *task = (struct task *)(void *)job;
    struct house *h = task->house;
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
    .run = run,
};

static struct tide_worker_pool *begin_with(struct house *h, struct tide_worker_pool_options options)
{
    struct tide_worker_pool *pool;
    struct tide_err err;
    *h = (struct house){ 0 };
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

static struct tide_worker_pool *begin(struct house *h, uint32_t threads, uint32_t bulkhead_threads,
                                      uint32_t queue)
{
    return begin_with(h, (struct tide_worker_pool_options){ .threads = threads,
                                                            .queue = queue,
                                                            .bulkhead_threads = bulkhead_threads,
                                                            .bulkhead_queue = (queue + 1) / 2 });
}

static struct task *give(struct house *h, struct tide_worker_pool *pool, uint32_t at,
                         uint32_t bulkhead)
{
    struct task *task = &h->tasks[at];
    *task = (struct task){ .house = h, .bulkhead = bulkhead };
    tide_reply_init(&task->reply);
    task->job = (struct tide_job){ .reply = &task->reply, .done = done };
    assert_int_equal(tide_worker_pool_submit(pool, &task->job), TIDE_JOB_QUEUED);
    return task;
}

/* Until that many are over, that many stand at the door, and that many were sent back. */
static void await_back(struct house *h, uint32_t over, uint32_t inside, uint32_t back)
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

static void open_door(struct house *h)
{
    pthread_mutex_lock(&h->mutex);
    h->open = true;
    pthread_cond_broadcast(&h->wake);
    pthread_mutex_unlock(&h->mutex);
}

static void end(struct house *h, struct tide_worker_pool *pool)
{
    tide_worker_pool_close(pool);
    assert_int_equal(h->workers, 0);
    for (uint32_t i = 0; i < JOBS; i++)
        if (h->tasks[i].house)
            tide_reply_release(&h->tasks[i].reply);
    pthread_cond_destroy(&h->wake);
    pthread_mutex_destroy(&h->mutex);
}

static void await(struct house *h, uint32_t over, uint32_t inside)
{
    await_back(h, over, inside, 0);
}

/* Ten wait in one bulkhead of three; everybody else goes through at once, and so does another bulkhead. */
static void test_lane_leaves_a_thread(void **state)
{
    (void)state;
    static struct house h;
    struct tide_worker_pool *pool = begin(&h, 4, 3, 64);
    for (uint32_t i = 0; i < 10; i++)
        give(&h, pool, i, 1);
    await(&h, 0, 3);
    for (uint32_t i = 10; i < 30; i++)
        give(&h, pool, i, 0);
    await(&h, 20, 3);
    give(&h, pool, 30, 2);
    await(&h, 20, 4);
    for (uint32_t i = 0; i < 10; i++)
        assert_false(h.tasks[i].over);
    open_door(&h);
    await(&h, 31, 0);
    assert_int_equal(h.most, 4);
    for (uint32_t i = 0; i < 10; i++) {
        assert_in_range(h.tasks[i].runs, 1, 2); /* once to find no room, once with it */
        assert_int_equal(h.tasks[i].room, TIDE_BULKHEAD_ENTERED);
    }
    end(&h, pool);
}

/* Who was sent back comes in the order in which they came. */
static void test_order(void **state)
{
    (void)state;
    static struct house h;
    struct tide_worker_pool *pool = begin(&h, 2, 1, 64);
    for (uint32_t i = 0; i < 8; i++) {
        give(&h, pool, i, 3);
        await_back(&h, 0, 1, i);
    }
    open_door(&h);
    await(&h, 8, 0);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(h.tasks[i].order, i);
    end(&h, pool);
}

/* Half of the queue is one bulkhead's at most. */
static void test_full(void **state)
{
    (void)state;
    static struct house h;
    struct tide_worker_pool *pool = begin(&h, 2, 1, 10);
    uint32_t full = 0;
    for (uint32_t i = 0; i < 20; i++) {
        give(&h, pool, i, 1);
        await(&h, i < 6 ? 0 : i - 5, 1); /* one inside, five behind him, the rest are told */
    }
    struct task *other = give(&h, pool, 20, 0);
    await(&h, 15, 1);
    assert_true(other->over);
    for (uint32_t i = 0; i < 20; i++)
        full += h.tasks[i].over && h.tasks[i].room == TIDE_BULKHEAD_FULL;
    assert_int_equal(full, 14);
    open_door(&h);
    await(&h, 21, 0);
    end(&h, pool);
}

/* Late ones are told so, with no room in their bulkhead. */
static void test_late(void **state)
{
    (void)state;
    static struct house h;
    struct tide_worker_pool *pool = begin(&h, 2, 1, 64);
    const struct tide_clock *clock = tide_clock_system();
    give(&h, pool, 0, 1);
    await(&h, 0, 1);
    struct task *late = &h.tasks[1];
    *late = (struct task){ .house = &h, .bulkhead = 1 };
    tide_reply_init(&late->reply);
    late->job = (struct tide_job){ .reply = &late->reply, .done = done };
    late->job.context.deadline_ms = clock->now_ms(clock->self) + 200;
    assert_int_equal(tide_worker_pool_submit(pool, &late->job), TIDE_JOB_QUEUED);
    await(&h, 1, 1);
    assert_true(late->over);
    assert_int_equal(late->reply.status, 503);
    open_door(&h);
    await(&h, 2, 0);
    end(&h, pool);
}

/* A job that waits in a bulkhead is answered before the pool is closed. */
static void test_closing(void **state)
{
    (void)state;
    static struct house h;
    struct tide_worker_pool *pool = begin(&h, 3, 1, 64);
    for (uint32_t i = 0; i < 12; i++)
        give(&h, pool, i, 1 + i % 2);
    await(&h, 0, 2);
    open_door(&h);
    tide_worker_pool_close(pool);
    assert_int_equal(h.done, 12);
    assert_int_equal(h.workers, 0);
    for (uint32_t i = 0; i < 12; i++)
        tide_reply_release(&h.tasks[i].reply);
}

static enum tide_job_submitted ask(struct house *h, struct tide_worker_pool *pool, uint32_t at,
                                   uint8_t client, bool waits)
{
    struct task *task = &h->tasks[at];
    *task = (struct task){ .house = h, .waits = waits };
    tide_reply_init(&task->reply);
    task->job = (struct tide_job){ .reply = &task->reply, .done = done };
    task->job.client.ip[15] = client;
    return tide_worker_pool_submit(pool, &task->job);
}

/* A client's jobs hold all threads but one, and its share of the queue; the rest is refused. Others
 * are answered meanwhile, and may fill the queue. */
static void test_client_leaves_a_thread(void **state)
{
    (void)state;
    static struct house h;
    struct tide_worker_pool_stats stats;
    struct tide_worker_pool *pool =
        begin_with(&h, (struct tide_worker_pool_options){ .threads = 4,
                                                          .queue = 16,
                                                          .by_client = true,
                                                          .bulkhead_threads = 3,
                                                          .bulkhead_queue = 4 });
    for (uint32_t i = 0; i < 7; i++)
        assert_int_equal(ask(&h, pool, i, 1, true), TIDE_JOB_QUEUED);
    await(&h, 0, 3);
    assert_int_equal(ask(&h, pool, 7, 1, true), TIDE_JOB_CLIENT_FULL);
    for (uint32_t i = 8; i < 40; i++) { /* each another client */
        assert_int_equal(ask(&h, pool, i, (uint8_t)i, false), TIDE_JOB_QUEUED);
        await(&h, i - 7, 3);
    }
    assert_int_equal(ask(&h, pool, 40, 1, true), TIDE_JOB_CLIENT_FULL);
    for (uint32_t i = 0; i < 7; i++)
        assert_false(h.tasks[i].over);
    tide_worker_pool_stats(pool, &stats);
    assert_int_equal(stats.busy, 3);
    assert_int_equal(stats.waiting, 4);
    assert_int_equal(stats.full, 0);
    open_door(&h);
    await(&h, 39, 0);
    assert_int_equal(h.most, 3);
    assert_int_equal(ask(&h, pool, 41, 1, true), TIDE_JOB_QUEUED);
    await(&h, 40, 0);
    end(&h, pool);
}

/* Two clients hold all threads and wait for more. The next free thread takes the job of a third,
 * which came last. */
static void test_clients_take_turns(void **state)
{
    (void)state;
    static struct house h;
    struct tide_worker_pool *pool =
        begin_with(&h, (struct tide_worker_pool_options){ .threads = 4,
                                                          .queue = 32,
                                                          .by_client = true,
                                                          .bulkhead_threads = 2,
                                                          .bulkhead_queue = 8 });
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(ask(&h, pool, i, 1, true), TIDE_JOB_QUEUED);
    await(&h, 0, 2);
    for (uint32_t i = 10; i < 19; i++)
        assert_int_equal(ask(&h, pool, i, 2, true), TIDE_JOB_QUEUED);
    await(&h, 0, 4);
    assert_int_equal(ask(&h, pool, 19, 3, true), TIDE_JOB_QUEUED);
    pthread_mutex_lock(&h.mutex);
    h.tickets = 1;
    pthread_cond_broadcast(&h.wake);
    pthread_mutex_unlock(&h.mutex);
    await(&h, 1, 4);
    assert_int_equal(h.tasks[19].runs, 1);
    open_door(&h);
    await(&h, 20, 0);
    end(&h, pool);
}

int test_worker_pool(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lane_leaves_a_thread),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_closing),
        cmocka_unit_test(test_client_leaves_a_thread),
        cmocka_unit_test(test_clients_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
