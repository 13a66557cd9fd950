/* Pauses between attempts: they double, stay within their limits, and differ between clients. */
#include "tidemark/retry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void a_pause_doubles_up_to_its_limit(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 1000; seed++) {
        struct tide_retry retry = { seed };
        for (uint32_t failures = 0; failures < 100; failures++) {
            uint64_t whole = failures < 7 ? 100u << failures : 10000;
            uint32_t ms = tide_retry_pause_ms(&retry, 100, 10000, failures);
            assert_in_range(ms, whole / 2, whole);
        }
    }
}

static void chance_uses_the_whole_range(void **state)
{
    struct tide_retry retry = { 1 };
    uint32_t least = UINT32_MAX, most = 0;
    (void)state;
    for (int i = 0; i < 10000; i++) {
        uint32_t ms = tide_retry_pause_ms(&retry, 1000, 1000, 0);
        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
    }
    assert_in_range(least, 500, 505);
    assert_in_range(most, 995, 1000);
}

static void limits_are_kept_at_their_edges(void **state)
{
    static const struct {
        uint32_t first, most, failures, from, to;
    } cases[] = {
        { 0, 0, 0, 0, 0 },
        { 0, 1000, 5, 0, 0 },
        { 1, 1, 9, 1, 1 },
        { 1000, 10, 0, 5, 10 },
        { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX / 2, UINT32_MAX },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tide_retry retry = { (uint32_t)i };
        for (int n = 0; n < 100; n++)
            assert_in_range(
                tide_retry_pause_ms(&retry, cases[i].first, cases[i].most, cases[i].failures),
                cases[i].from, cases[i].to);
    }
}

int test_retry(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pause_doubles_up_to_its_limit),
        cmocka_unit_test(chance_uses_the_whole_range),
        cmocka_unit_test(limits_are_kept_at_their_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
