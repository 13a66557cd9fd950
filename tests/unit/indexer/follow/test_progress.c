/* Progress lines: the rate and the remaining time are printed once they are known, not before. */
#include "indexer/follow/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static int64_t now;

static int64_t now_ms(void *self)
{
    (void)self;
    return now;
}

static const struct tide_clock clock_of_test = { .now_ms = now_ms };

/* Returns the line that an addition at that time prints. */
static const char *added(struct tide_progress *p, int64_t at_ms, uint32_t ledger, uint64_t ledgers)
{
    static char text[1024];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    assert_true(kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    now = at_ms;
    tide_progress_add(p, ledger, 0, ledgers, 0);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void a_bar_shows_what_is_known(void **state)
{
    struct tide_progress p;
    (void)state;
    now = 0;
    tide_progress_start(&p, &clock_of_test, 1, 400);
    p.terminal = true;
    assert_string_equal(added(&p, 250, 0, 0), "");
    assert_string_equal(added(&p, 500, 100, 100),
                        "\r\033[K[#######.......................]  25.0 %  ledger 100 of 400");
    assert_non_null(
        strstr(added(&p, 1000, 200, 100), "ledger 200 of 400  200 ledgers/s  1 s left"));
    const char *last = added(&p, 2000, 400, 200);
    assert_non_null(strstr(last, "100.0 %"));
    assert_null(strstr(last, "left"));
}

static void a_line_shows_what_is_known(void **state)
{
    struct tide_progress p;
    (void)state;
    now = 0;
    tide_progress_start(&p, &clock_of_test, 1, 0);
    p.terminal = false;
    const char *line = added(&p, 5000, 100, 100);
    assert_non_null(strstr(line, "index.progress ledger=100 ledgers=100 events=0 rate=20\n"));
    tide_progress_start(&p, &clock_of_test, 1, 200);
    p.terminal = false;
    line = added(&p, 10000, 100, 100);
    assert_non_null(strstr(line, "ledger=100 tip=200 ledgers=100 events=0 rate=20 eta_s=5\n"));
}

int test_progress(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bar_shows_what_is_known),
        cmocka_unit_test(a_line_shows_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
