/* The watch over threads that must make progress. label: threads */
#include "tidemark/liveness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include <cmocka.h>

enum { LIMIT_MS = 50 };

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

struct watched {
    const char *name;
    atomic_bool silent, ended;
};

static void *come_by(void *self)
{
    struct watched *w = self;
    tide_liveness_begin(w->name, LIMIT_MS);
    while (!atomic_load(&w->ended)) {
        if (!atomic_load(&w->silent))
            tide_liveness_mark();
        nap();
    }
    tide_liveness_end();
    return NULL;
}

static const char *stalled(void)
{
    int64_t silent_ms;
    return tide_liveness_stalled(&silent_ms);
}

/* Waits until the watch reports the thread `name` as stalled; NULL: until it reports none. */
static void wait_for(const char *name)
{
    for (int i = 0; i < 5000; i++, nap()) {
        const char *now = stalled();
        if (name ? now && strcmp(now, name) == 0 : !now)
            return;
    }
    fail_msg("%s is not told", name ? name : "that all come by");
}

static void each_silent_thread_is_named(void **state)
{
    struct watched watched[] = { { .name = "first" }, { .name = "second" }, { .name = "third" } };
    pthread_t threads[TIDE_COUNT(watched)];
    (void)state;
    tide_liveness_mark(); /* a thread that is not watched: no effect */
    assert_null(stalled());
    for (size_t i = 0; i < TIDE_COUNT(watched); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_by, &watched[i]), 0);
    for (size_t i = 0; i < TIDE_COUNT(watched); i++) {
        atomic_store(&watched[i].silent, true);
        wait_for(watched[i].name);
        atomic_store(&watched[i].silent, false);
        wait_for(NULL);
    }
    atomic_store(&watched[1].silent, true);
    wait_for("second");
    for (size_t i = 0; i < TIDE_COUNT(watched); i++) {
        atomic_store(&watched[i].ended, true);
        pthread_join(threads[i], NULL);
    }
    assert_null(stalled()); /* a thread that ended is not missed */
}

int test_liveness(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_silent_thread_is_named) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
