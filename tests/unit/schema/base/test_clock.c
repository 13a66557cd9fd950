/* The system's clock, ends of waits, and conditions that wait by the monotonic clock. */
#include "tidemark/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int64_t ns_between(struct timespec from, struct timespec to)
{
    return (int64_t)(to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
}

static void a_later_time_carries_into_seconds(void **state)
{
    static const struct {
        struct timespec from;
        int64_t ms;
        struct timespec to;
    } cases[] = {
        { { 7, 0 }, 0, { 7, 0 } },
        { { 7, 999999999 }, 0, { 7, 999999999 } },
        { { 7, 999000000 }, 1, { 8, 0 } },
        { { 7, 999999999 }, 1, { 8, 999999 } },
        { { 7, 500 }, 999, { 7, 999000500 } },
        { { 7, 1 }, 86400000, { 86407, 1 } },
        { { 7, 600000000 }, 2500, { 10, 100000000 } },
    };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct timespec t = tide_timespec_later(cases[i].from, cases[i].ms);
        assert_int_equal(t.tv_sec, cases[i].to.tv_sec);
        assert_int_equal(t.tv_nsec, cases[i].to.tv_nsec);
    }
}

static void the_end_of_a_wait_is_by_the_monotonic_clock(void **state)
{
    struct timespec before, after;
    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &before);
    struct timespec end = tide_monotonic_in(1999);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(ns_between(before, end) >= INT64_C(1999000000));
    assert_true(ns_between(end, after) >= INT64_C(-1999000000));
}

static void microseconds_are_of_the_monotonic_clock(void **state)
{
    (void)state;
    struct timespec before = tide_monotonic_in(0);
    uint64_t us = tide_monotonic_us();
    struct timespec after = tide_monotonic_in(0);
    assert_true(us >= (uint64_t)before.tv_sec * 1000000 + (uint64_t)before.tv_nsec / 1000);
    assert_true(us <= (uint64_t)after.tv_sec * 1000000 + (uint64_t)after.tv_nsec / 1000);
}

static void now_is_of_the_systems_clock(void **state)
{
    const struct tide_clock *clock = tide_clock_system();
    (void)state;
    int64_t before = clock->now_ms(clock->self), now = tide_now_ms();
    assert_true(before <= now && now <= clock->now_ms(clock->self));
}

/* By another clock, whose zero is far away, the wait would end before its time or not at all. */
static void a_condition_waits_to_its_end(void **state)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond;
    (void)state;
    assert_true(tide_cond_init(&cond));
    struct timespec end = tide_monotonic_in(20);
    pthread_mutex_lock(&lock);
    int waited = 0;
    while (waited == 0)
        waited = pthread_cond_timedwait(&cond, &lock, &end);
    pthread_mutex_unlock(&lock);
    assert_int_equal(waited, ETIMEDOUT);
    assert_true(ns_between(end, tide_monotonic_in(0)) >= 0);
    pthread_cond_destroy(&cond);
}

int test_clock(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_later_time_carries_into_seconds),
        cmocka_unit_test(the_end_of_a_wait_is_by_the_monotonic_clock),
        cmocka_unit_test(microseconds_are_of_the_monotonic_clock),
        cmocka_unit_test(now_is_of_the_systems_clock),
        cmocka_unit_test(a_condition_waits_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
