/* A partition on its way from empty to full, and which ranges count as committed. */
#include "indexer/write/load/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct tide_batch batch; /* large; only ledgers and hashes are set */

static const struct tide_batch *batch_of(uint32_t from, uint32_t to)
{
    batch.from = from;
    batch.to = to;
    memset(batch.previous_hash, (int)(from - 1), TIDE_HASH_BYTES);
    memset(batch.hash, (int)to, TIDE_HASH_BYTES);
    batch.closed_ms = to * 5;
    return &batch;
}

static void range_takes_what_continues_it(void **state)
{
    struct load_range r = load_range_of(100, 200);
    (void)state;
    assert_true(load_range_takes(&r, batch_of(100, 110)));
    assert_true(load_range_takes(&r, batch_of(150, 160))); /* the first one may begin anywhere */
    assert_false(load_range_takes(&r, batch_of(99, 99)));
    assert_false(load_range_takes(&r, batch_of(200, 201)));
    load_range_add(&r, batch_of(110, 120));
    assert_true(load_range_takes(&r, batch_of(121, 121)));
    assert_false(load_range_takes(&r, batch_of(120, 121)));
    assert_false(load_range_takes(&r, batch_of(122, 123)));
    r.active = false;
    assert_false(load_range_takes(&r, batch_of(121, 121)));
}

static void range_keeps_its_first_and_last_hash(void **state)
{
    struct load_range r = load_range_of(100, 200);
    (void)state;
    load_range_add(&r, batch_of(110, 120));
    load_range_add(&r, batch_of(121, 130));
    assert_int_equal(r.first, 110);
    assert_int_equal(r.last, 130);
    assert_int_equal(r.previous_hash[0], 109);
    assert_int_equal(r.hash[31], 130);
    assert_int_equal(r.closed_ms, 650);
}

static void full_range_need_not_be_whole(void **state)
{
    struct load_range r = load_range_of(100, 200), whole = load_range_of(100, 200);
    (void)state;
    assert_false(load_range_is_full(&r));
    load_range_add(&r, batch_of(150, 198));
    assert_false(load_range_is_full(&r));
    load_range_add(&r, batch_of(199, 199));
    assert_true(load_range_is_full(&r));
    assert_false(load_range_is_whole(&r)); /* ledgers 100 to 149 may come */
    load_range_add(&whole, batch_of(100, 199));
    assert_true(load_range_is_full(&whole) && load_range_is_whole(&whole));
}

static void spare_is_wanted_at_two_thirds(void **state)
{
    struct load_range r = load_range_of(100, 200);
    (void)state;
    load_range_add(&r, batch_of(100, 165));
    assert_false(load_range_wants_spare(&r));
    load_range_add(&r, batch_of(166, 166));
    assert_true(load_range_wants_spare(&r));
}

static void attaching_moves_the_cursor_of_a_range_that_continues_it(void **state)
{
    struct write_cursor cursor = { .ledger = 0 };
    struct load_range r = load_range_of(100, 200);
    (void)state;
    assert_false(load_attach_moves(&cursor, &r)); /* nothing is loaded */
    load_range_add(&r, batch_of(100, 199));
    assert_true(load_attach_moves(&cursor, &r)); /* the first ledgers of all */
    cursor.ledger = 99;
    assert_true(load_attach_moves(&cursor, &r));
    cursor.ledger = 500;
    assert_false(load_attach_moves(&cursor, &r)); /* an earlier range */
}

static void loaded(struct load_range *r, uint32_t from, uint32_t first, uint32_t last)
{
    *r = load_range_of(from, from + 100);
    load_range_add(r, batch_of(first, last));
}

static void ranges_that_follow_each_other_count_as_committed(void **state)
{
    static struct write_main m;
    struct write_load load;
    const struct load_build_options build = { NULL, 1 };
    (void)state;
    write_load_init(&load, &m, NULL, &build);
    assert_false(write_load_is_active(&load));
    assert_null(write_load_onward(&load));
    m.cursor.ledger = 99;
    loaded(&load.full[0].range, 100, 100, 199);
    loaded(&load.full[1].range, 200, 200, 299);
    load.full_count = 2;
    assert_true(write_load_is_active(&load));
    assert_ptr_equal(write_load_onward(&load), &load.full[1].range);
    load.loading = load_range_of(300, 400); /* empty */
    assert_ptr_equal(write_load_onward(&load), &load.full[1].range);
    load_range_add(&load.loading, batch_of(300, 310));
    assert_ptr_equal(write_load_onward(&load), &load.loading);
    m.cursor.ledger = 50; /* ledgers 51 to 99 are missing */
    assert_null(write_load_onward(&load));
    write_load_close(&load);
}

int test_write_load(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_takes_what_continues_it),
        cmocka_unit_test(range_keeps_its_first_and_last_hash),
        cmocka_unit_test(full_range_need_not_be_whole),
        cmocka_unit_test(spare_is_wanted_at_two_thirds),
        cmocka_unit_test(attaching_moves_the_cursor_of_a_range_that_continues_it),
        cmocka_unit_test(ranges_that_follow_each_other_count_as_committed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
