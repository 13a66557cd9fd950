/* How many ledgers a server is asked for at once: less after a refusal, more only slowly. */
#include "indexer/source/rpc/size.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 100, FIRST = 8, PLENTY = 1 << 20 };

/* A server that gives at most `limit` ledgers at once. Returns how many of `pages` pages it
 * refused. */
static uint32_t ask_pages(struct rpc_size *size, uint32_t limit, uint32_t pages)
{
    uint32_t refused = 0;
    while (pages--) {
        uint32_t asked = size->next;
        assert_in_range(asked, 1, MOST);
        if (asked > limit) {
            assert_true(rpc_size_refused(size, asked));
            refused++;
        } else {
            rpc_size_given(size, asked, asked, PLENTY);
        }
    }
    return refused;
}

static void a_page_doubles_up_to_the_most(void **state)
{
    (void)state;
    struct rpc_size size = rpc_size_of(FIRST, MOST);
    assert_int_equal(ask_pages(&size, MOST, 5), 0);
    assert_int_equal(size.next, MOST);
    rpc_size_given(&size, MOST, MOST, 7); /* large ledgers */
    assert_int_equal(size.next, 7);
    rpc_size_given(&size, 7, 7, 0);
    assert_int_equal(size.next, 1);
    size = rpc_size_of(FIRST, 3);
    assert_int_equal(size.next, 3);
}

static void each_limit_is_found_and_remembered(void **state)
{
    (void)state;
    for (uint32_t limit = 1; limit < MOST; limit++) {
        struct rpc_size size = rpc_size_of(FIRST, MOST);
        assert_in_range(ask_pages(&size, limit, 12), limit < FIRST ? 1 : 0, 7);
        assert_in_range(size.next, limit / 2 ? limit / 2 : 1, limit);
        /* About 16 pages lie between two attempts at more, then 32, 64 … */
        assert_in_range(ask_pages(&size, limit, 10000), 1, 20);
    }
}

static void a_limit_that_goes_away_is_forgotten(void **state)
{
    (void)state;
    struct rpc_size size = rpc_size_of(FIRST, MOST);
    ask_pages(&size, 2, 500);
    assert_in_range(size.next, 1, 2);
    ask_pages(&size, MOST, 10);
    assert_in_range(size.next, 1, 4);
    ask_pages(&size, MOST, 3000);
    assert_int_equal(size.next, MOST);
}

/* A server that is away refuses one ledger, too. When it is back, nothing slows the way up. */
static void an_outage_is_no_limit(void **state)
{
    (void)state;
    struct rpc_size size = rpc_size_of(FIRST, MOST);
    ask_pages(&size, MOST, 5);
    while (rpc_size_refused(&size, size.next))
        ;
    assert_false(rpc_size_refused(&size, size.next));
    assert_int_equal(ask_pages(&size, MOST, 7), 0);
    assert_int_equal(size.next, MOST);
}

/* At the tip pages hold one ledger, whatever was asked for: they say nothing about large ones. */
static void pages_at_the_tip_do_not_count(void **state)
{
    (void)state;
    struct rpc_size size = rpc_size_of(FIRST, MOST);
    ask_pages(&size, 10, 12);
    uint32_t next = size.next;
    for (int i = 0; i < 1000; i++)
        rpc_size_given(&size, size.next, 1, PLENTY);
    assert_in_range(size.next, next, 10);
    rpc_size_limit(&size, 2);
    assert_int_equal(size.next, 2);
    rpc_size_limit(&size, 0);
    assert_int_equal(size.next, 2);
}

int test_rpc_size(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_doubles_up_to_the_most),
        cmocka_unit_test(each_limit_is_found_and_remembered),
        cmocka_unit_test(a_limit_that_goes_away_is_forgotten),
        cmocka_unit_test(an_outage_is_no_limit),
        cmocka_unit_test(pages_at_the_tip_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
