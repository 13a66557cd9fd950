/* Conditions under which a thread of the server counts as stalled. */
#include "api/http/server/server_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Returns the number of observations without progress until tide_stall_observe() returns `step`. */
static uint32_t until(struct tide_stall *stall, enum tide_stall_step step)
{
    for (uint32_t n = 1; n < 1000; n++)
        if (tide_stall_observe(stall, stall->moved, false) == step)
            return n;
    return 0;
}

static void test_steps(void **state)
{
    struct tide_stall stall = { 0 };
    (void)state;
    assert_int_equal(tide_stall_observe(&stall, 1, false), TIDE_STALL_NONE);
    assert_int_equal(until(&stall, TIDE_STALL_CUT_NOW), TIDE_STALL_CUT);
    assert_int_equal(until(&stall, TIDE_STALL_REPORT_NOW), TIDE_STALL_REPORT - TIDE_STALL_CUT);
    assert_int_equal(until(&stall, TIDE_STALL_REPORT_NOW), 0);
    assert_true(TIDE_STALL_EVERY_MS * TIDE_STALL_REPORT < 10000); /* found within 10 s */
}

static void test_progress_begins_anew(void **state)
{
    struct tide_stall stall = { 0 };
    uint64_t moved = 0;
    (void)state;
    for (uint32_t n = 0; n < 1000; n++) {
        bool moves = n % TIDE_STALL_CUT == 0;
        assert_int_equal(tide_stall_observe(&stall, moved += moves, false), TIDE_STALL_NONE);
    }
    assert_int_equal(tide_stall_observe(&stall, ++moved, false), TIDE_STALL_NONE);
    assert_int_equal(until(&stall, TIDE_STALL_CUT_NOW), TIDE_STALL_CUT);
    /* the thread makes progress again after the cut */
    assert_int_equal(tide_stall_observe(&stall, ++moved, false), TIDE_STALL_NONE);
    assert_int_equal(until(&stall, TIDE_STALL_CUT_NOW), TIDE_STALL_CUT);
}

/* A thread that makes progress may still hold a connection that was cut. The stall is reported
 * until the connection closes. */
static void test_kept_connection(void **state)
{
    struct tide_stall stall = { 0 };
    (void)state;
    assert_int_equal(tide_stall_observe(&stall, 1, true), TIDE_STALL_REPORT_NOW);
    assert_int_equal(tide_stall_observe(&stall, 2, true), TIDE_STALL_REPORT_NOW);
    assert_int_equal(tide_stall_observe(&stall, 3, false), TIDE_STALL_NONE);
}

int test_stall(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_progress_begins_anew),
        cmocka_unit_test(test_kept_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
