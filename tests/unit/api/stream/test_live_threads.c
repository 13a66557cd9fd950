/* The service behind /api/stream with many threads. label: threads */
#include "tests/unit/api/stream/live_world.h"

#include <pthread.h>

/* --- threads ------------------------------------------------------------ */

struct many {
    struct fixture *f;
    atomic_bool stop;
    atomic_uint done;
};

static bool is_stopped(void *self)
{
    return atomic_load(&((struct many *)self)->stop);
}

static void *run_service(void *self)
{
    struct many *m = self;
    tide_event_stream_run(m->f->stream);
    return NULL;
}

/* Reads for a while, disconnects and resumes, until the reader has everything. */
static void *come_and_go(void *self)
{
    struct many *m = self;
    struct tide_stream_ask ask = ask_for(TIDE_TOPIC_LEDGER | TIDE_TOPIC_EVENT | TIDE_TOPIC_PRICE);
    char after[STREAM_POSITION_TEXT] = "1:10";
    struct tide_buf got, want;
    unsigned seed = (unsigned)(uintptr_t)&seed;
    snprintf(ask.client_name, sizeof ask.client_name, "%p", (void *)&seed);
    tide_buf_init(&got, 1 << 20);
    tide_buf_init(&want, 1 << 20);
    whole(&want, 11, 60);
    while (strcmp(after, "1:60") != 0) {
        struct reader r;
        char id[STREAM_POSITION_TEXT];
        enum tide_stream_refusal refusal = subscribe(m->f, &r, &ask, after);
        /* A closed subscriber keeps its place until the service's next turn. */
        if (refusal == TIDE_STREAM_NOT_READY || refusal == TIDE_STREAM_FULL ||
            refusal == TIDE_STREAM_CLIENT_FULL)
            continue;
        assert_int_equal(refusal, TIDE_STREAM_TAKEN);
        for (int i = 0; i < 20; i++) {
            struct timespec nap = { .tv_nsec = 300000 };
            nanosleep(&nap, NULL);
            reader_read(&r, 1 + (unsigned)i * 37);
        }
        numbers(&r, &got);
        if (last_id(&r, id)[0])
            memcpy(after, id, sizeof after);
        close_reader(&r);
    }
    tide_buf_u8(&got, 0);
    assert_string_equal((const char *)got.ptr, (const char *)want.ptr);
    tide_buf_release(&got);
    tide_buf_release(&want);
    atomic_fetch_add(&m->done, 1);
    return NULL;
}

static void many_threads_get_everything_once(void **state)
{
    struct fixture *f = *state;
    struct many m = { .f = f };
    pthread_t service_thread, readers[6];
    struct tide_err err;
    f->clock = (struct tide_clock){ .now_ms = test_mono, .wall_ms = test_wall, .self = &f->world };
    struct tide_event_stream_options options = {
        .clock = &f->clock,
        .source = { &f->world, test_head, test_wait, test_read, test_people, test_blocked,
                    test_prices },
        .subscribers_max = 64,
        .per_client_max = 8,
        .buffer_max = 4096,
        .total_max = 1 << 20,
        .ring_max = 2 << 10,
        .resume_ledgers = 1000,
        .heartbeat_ms = 15000,
        .full_ms = 10000,
        .stopped = is_stopped,
        .stopped_self = &m,
    };
    assert_int_equal(tide_event_stream_open(&f->stream, &options, &err), TIDE_OK);
    assert_int_equal(pthread_create(&service_thread, NULL, run_service, &m), 0);
    for (size_t i = 0; i < TIDE_COUNT(readers); i++)
        assert_int_equal(pthread_create(&readers[i], NULL, come_and_go, &m), 0);
    for (uint32_t l = 11; l <= 60; l++) {
        struct tide_event_stream_stats stats;
        struct timespec nap = { .tv_nsec = 1000000 };
        atomic_store(&f->world.newest, l);
        nanosleep(&nap, NULL);
        tide_event_stream_stats(f->stream, &stats);
    }
    for (size_t i = 0; i < TIDE_COUNT(readers); i++)
        pthread_join(readers[i], NULL);
    atomic_store(&m.stop, true);
    pthread_join(service_thread, NULL);
    assert_int_equal(atomic_load(&m.done), TIDE_COUNT(readers));
}

int test_live_threads(void)
{
    const struct CMUnitTest tests[] = {
        STREAM_TEST(many_threads_get_everything_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
