/* A session belongs to one thread at a time; the plan says where partitions begin. No database: a
 * session that is not connected has text and an owner, too. */
#include "indexer/write/session/main_session.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct tide_table tables[] = { { .schema = "event", .name = "a", .partitioned = true },
                                            { .schema = "chain", .name = "contract_seen" } };
static const struct write_plan plan = {
    .tables = tables, .table_count = 2, .deployment = 7, .partition_ledgers = 100
};

static void partitions_begin_at_multiples(void **state)
{
    (void)state;
    assert_int_equal(write_plan_partition(&plan, 1), 0);
    assert_int_equal(write_plan_partition(&plan, 99), 0);
    assert_int_equal(write_plan_partition(&plan, 100), 100);
    assert_true(write_plan_fits(&plan, INT32_MAX - 100));
    assert_false(write_plan_fits(&plan, INT32_MAX - 99));
}

static void next_partition_is_made_in_the_last_tenth(void **state)
{
    (void)state;
    assert_int_equal(write_plan_ahead(&plan, 189), 0);
    assert_int_equal(write_plan_ahead(&plan, 190), 200);
    assert_int_equal(write_plan_ahead(&plan, 199), 200);
    assert_int_equal(write_plan_ahead(&plan, 200), 0);
}

/* A start from a checkpoint cuts its partition: the lower part ends where the upper one begins. */
static void cut_partition_has_two_parts(void **state)
{
    (void)state;
    struct write_plan cut = plan;
    cut.cut = 150;
    assert_int_equal(write_plan_partition(&cut, 149), 100);
    assert_int_equal(write_plan_end(&cut, 149), 150);
    assert_int_equal(write_plan_partition(&cut, 150), 150);
    assert_int_equal(write_plan_partition(&cut, 199), 150);
    assert_int_equal(write_plan_end(&cut, 150), 200);
    assert_int_equal(write_plan_partition(&cut, 200), 200);
    assert_int_equal(write_plan_end(&cut, 99), 100);
    assert_int_equal(write_plan_ahead(&cut, 145), 150);
    assert_int_equal(write_plan_ahead(&cut, 195), 200);
    assert_false(write_plan_holds(&cut, 1));
    cut.held_before = 150;
    assert_true(write_plan_holds(&cut, 149));
    assert_false(write_plan_holds(&cut, 150));
}

static void catalogue_is_told_from_own_tables(void **state)
{
    struct write_plan own = plan;
    (void)state;
    own.table_count = 1;
    assert_true(write_plan_has_contracts(&plan));
    assert_false(write_plan_has_contracts(&own));
}

static void text_names_the_partition(void **state)
{
    struct write_session s;
    struct tide_err err;
    (void)state;
    write_session_init(&s, &plan, WRITE_OWNER_SPARE);
    write_sql(&s, "dropped");
    write_sql(&s, "COPY ");
    write_sql_leaf(&s, &tables[0], 100);
    write_sql_more(&s, " %u;", 5u);
    assert_int_equal(write_sql_sealed(&s, &err), TIDE_OK);
    assert_string_equal((const char *)s.sql.ptr, "COPY event.\"a_p7_100\" 5;");
    write_session_close(&s);
}

static void fence_names_writer_moves_ledger_and_hash(void **state)
{
    const struct write_cursor cursor = {
        .writer = "w", .moves = 41, .ledger = 9, .hash = { 0xab }
    };
    struct write_session s;
    struct tide_err err;
    (void)state;
    write_session_init(&s, &plan, WRITE_OWNER_WRITER);
    write_sql(&s, "%s", "");
    write_sql_fence(&s, &cursor);
    assert_int_equal(write_sql_sealed(&s, &err), TIDE_OK);
    assert_non_null(strstr((const char *)s.sql.ptr, "deployment = 7 AND writer = 'w' AND moves = 41"
                                                    " AND ledger = 9 AND hash = '\\xab00"));
    write_session_close(&s);
}

static void text_that_is_too_long_is_refused(void **state)
{
    struct write_session s;
    struct tide_err err;
    (void)state;
    write_session_init(&s, &plan, WRITE_OWNER_WRITER);
    write_sql(&s, "%s", "");
    for (uint32_t i = 0; i <= WRITE_SQL_MAX / 1000; i++)
        write_sql_more(&s, "%1000u", i);
    assert_int_equal(write_sql_sealed(&s, &err), TIDE_E_LIMIT);
    write_session_close(&s);
}

static void *use_session(void *self)
{
    struct write_session *s = self;
    assert_false(write_session_is_mine(s));
    write_session_take(s);
    assert_true(write_session_is_mine(s));
    assert_null(write_pg(s));
    write_session_give(s);
    return NULL;
}

static void given_session_moves_to_another_thread_and_back(void **state)
{
    struct write_session s;
    pthread_t thread;
    (void)state;
    write_session_init(&s, &plan, WRITE_OWNER_BUILD);
    assert_true(write_session_is_mine(&s));
    write_session_give(&s);
    assert_false(write_session_is_mine(&s));
    assert_int_equal(pthread_create(&thread, NULL, use_session, &s), 0);
    pthread_join(thread, NULL);
    assert_false(write_session_is_mine(&s));
    write_session_take(&s);
    assert_true(write_session_is_mine(&s));
    write_session_close(&s);
}

/* Returns whether use(arg) ends a child process by SIGABRT, as a failed assertion does. */
static bool aborts(void *(*use)(void *arg), void *arg)
{
    int how = 0;
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        use(arg);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &how, 0) == child);
    return WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT;
}

static void *reach_connection(void *s)
{
    (void)write_pg(s);
    return NULL;
}

static void *reach_from_another_thread(void *s)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, reach_connection, s) == 0)
        pthread_join(thread, NULL);
    return NULL;
}

static void *take_twice(void *s)
{
    write_session_take(s);
    return NULL;
}

static void use_by_another_thread_ends_the_process(void **state)
{
    struct write_session s;
    (void)state;
    write_session_init(&s, &plan, WRITE_OWNER_BUILD);
    assert_false(aborts(reach_connection, &s));
    assert_true(aborts(reach_from_another_thread, &s));
    assert_true(aborts(take_twice, &s));
    write_session_give(&s);
    assert_true(aborts(reach_connection, &s));
    write_session_close(&s);
}

static void *go_back(void *m)
{
    write_main_advance(m, 10, (const uint8_t[TIDE_HASH_BYTES]){ 0 });
    return NULL;
}

static void cursor_only_advances(void **state)
{
    struct write_main m = { .spoke_ms = 0 };
    const uint8_t hash[TIDE_HASH_BYTES] = { 9 };
    (void)state;
    assert_true(write_cursor_continues(&m.cursor, 500));
    write_main_advance(&m, 10, hash);
    assert_int_equal(m.cursor.ledger, 10);
    assert_memory_equal(m.cursor.hash, hash, sizeof hash);
    assert_true(write_cursor_continues(&m.cursor, 11));
    assert_false(write_cursor_continues(&m.cursor, 12));
    assert_false(write_cursor_continues(&m.cursor, 10));
    assert_true(aborts(go_back, &m));
}

int test_write_session(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partitions_begin_at_multiples),
        cmocka_unit_test(next_partition_is_made_in_the_last_tenth),
        cmocka_unit_test(cut_partition_has_two_parts),
        cmocka_unit_test(catalogue_is_told_from_own_tables),
        cmocka_unit_test(text_names_the_partition),
        cmocka_unit_test(fence_names_writer_moves_ledger_and_hash),
        cmocka_unit_test(text_that_is_too_long_is_refused),
        cmocka_unit_test(given_session_moves_to_another_thread_and_back),
        cmocka_unit_test(use_by_another_thread_ends_the_process),
        cmocka_unit_test(cursor_only_advances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
