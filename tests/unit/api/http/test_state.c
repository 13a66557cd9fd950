/* The transitions between the states of a connection of the HTTP server. */
#include "api/http/server/server_impl.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The picture of api/http/server/README.md as text: a row for each state, a column for the next
 * state, both in the order of enum server_state. */
static const char *const allowed[STATE_COUNT] = {
    /* Columns: HEAD BODY WAIT ENCODE ANSWER WRITE STREAM IDLE */
    [STATE_HEAD] = "xx..x..x",   [STATE_BODY] = "..xxx..x",   [STATE_WAIT] = "....x...",
    [STATE_ENCODE] = "..x.x..x", [STATE_ANSWER] = ".....xxx", [STATE_WRITE] = ".......x",
    [STATE_STREAM] = "......xx", [STATE_IDLE] = "x.......",
};

/* Returns whether a child process that makes the transition survives it. */
static bool survives(enum server_state from, enum server_state to)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        enum server_state state = from;
        close(STDERR_FILENO); /* the assertion's message is expected */
        signal(SIGABRT, SIG_DFL);
        server_state_move(&state, to);
        _exit(state == to ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGABRT);
    return WIFEXITED(status);
}

static void test_table(void **state)
{
    (void)state;
    for (enum server_state from = 0; from < STATE_COUNT; from++) {
        assert_int_equal(strlen(allowed[from]), STATE_COUNT);
        for (enum server_state to = 0; to < STATE_COUNT; to++)
            assert_int_equal(server_state_may(from, to), allowed[from][to] == 'x');
    }
}

static void test_wrong_transition_ends_process(void **state)
{
    (void)state;
    for (enum server_state from = 0; from < STATE_COUNT; from++)
        for (enum server_state to = 0; to < STATE_COUNT; to++)
            assert_int_equal(survives(from, to), allowed[from][to] == 'x');
}

/* Each state is reached from a new connection, and leads back to STATE_IDLE. */
static void test_every_state_is_used(void **state)
{
    bool reached[STATE_COUNT] = { [STATE_HEAD] = true };
    bool returns[STATE_COUNT] = { [STATE_IDLE] = true };
    (void)state;
    for (int round = 0; round < STATE_COUNT; round++)
        for (enum server_state from = 0; from < STATE_COUNT; from++)
            for (enum server_state to = 0; to < STATE_COUNT; to++) {
                reached[to] |= reached[from] && server_state_may(from, to);
                returns[from] |= returns[to] && server_state_may(from, to);
            }
    for (enum server_state one = 0; one < STATE_COUNT; one++)
        assert_true(reached[one] && returns[one]);
}

int test_state(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_wrong_transition_ends_process),
        cmocka_unit_test(test_every_state_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
