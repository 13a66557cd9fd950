/* Comparison of the clocks of node, database and ledger: which one is wrong. */
#include "api/base/clocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define T     INT64_C(1800000000000) /* some moment */
#define YEARS INT64_C(63072000000)   /* two of them */

static void each_wrong_clock_has_its_verdict(void **state)
{
    static const struct {
        const char *name;
        struct tide_clocks clocks;
        enum tide_clocks_verdict verdict;
    } cases[] = {
        { "all the same", { T, 5, T, T - 6000, 9 }, TIDE_CLOCKS_AGREE },
        { "no index", { T, 5, T, 0, 0 }, TIDE_CLOCKS_AGREE },
        { "just within", { T, 0, T + 120000, T - 120000, 9 }, TIDE_CLOCKS_AGREE },
        { "the database is ahead", { T, 5, T + 120001, T, 9 }, TIDE_CLOCKS_DATABASE },
        { "the database is behind", { T, 5, T - 121000, T, 9 }, TIDE_CLOCKS_DATABASE },
        { "a slow answer is no wrong clock", { T, 60000, T - 170000, T, 9 }, TIDE_CLOCKS_AGREE },
        { "this host is two years ahead", { T + YEARS, 5, T, T, 9 }, TIDE_CLOCKS_DATABASE },
        { "host and database are two years ahead",
          { T + YEARS, 5, T + YEARS, T, 9 },
          TIDE_CLOCKS_AFTER_CHAIN },
        { "host and database are two years behind",
          { T - YEARS, 5, T - YEARS, T, 9 },
          TIDE_CLOCKS_BEFORE_CHAIN },
        { "the index stands still", { T, 5, T, T - 600000, 9 }, TIDE_CLOCKS_AFTER_CHAIN },
    };
    char text[TIDE_CLOCKS_TEXT_BYTES];
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        enum tide_clocks_verdict verdict = tide_clocks_judge(&cases[i].clocks, 120);
        if (verdict != cases[i].verdict)
            fail_msg("%s: %s, expected %s", cases[i].name, tide_clocks_name(verdict),
                     tide_clocks_name(cases[i].verdict));
        tide_clocks_say(text, &cases[i].clocks, verdict);
        assert_in_range(strlen(text), 10, sizeof text - 1);
    }
}

static void the_difference_is_reported(void **state)
{
    const struct tide_clocks c = { T + YEARS, 5, T + YEARS, T, 77 };
    char text[TIDE_CLOCKS_TEXT_BYTES];
    (void)state;
    tide_clocks_say(text, &c, TIDE_CLOCKS_AFTER_CHAIN);
    assert_string_equal(text, "this host's clock is 63072000 s ahead of ledger 77, the newest "
                              "indexed: the clock is wrong, or the index is late");
}

int test_clocks(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_wrong_clock_has_its_verdict),
        cmocka_unit_test(the_difference_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
