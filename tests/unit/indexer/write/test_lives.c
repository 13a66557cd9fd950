/* Lifetimes that are stored with a version of their entry, and which version that is. */
#include "indexer/base/copy.h"
#include "indexer/database/words.h"
#include "indexer/write/rows/lives.h"
#include "tidemark/catalogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TEMPORARY, PERSISTENT, RAW = TIDE_TABLE_HISTORY_RAW, TTL = TIDE_TABLE_HISTORY_TTL };
enum { ALONE = 0, CARRIED = TIDE_WORDS_LEAVE_OUT };

struct lot {
    struct tide_batch *batch;
    struct write_plan plan;
    struct write_lives lives;
    uint32_t typed; /* a history table of persistent entries */
};

static void put_common(struct tide_rows *rows, char key, uint32_t tx, uint32_t seq, bool removed,
                       uint16_t columns)
{
    uint8_t hash[TIDE_HASH_BYTES] = { (uint8_t)key };
    char address[57];
    memset(address, 'C', sizeof address);
    tide_copy_row(&rows->copy, columns);
    tide_copy_int2(&rows->copy, 1);
    tide_copy_bytes(&rows->copy, hash, sizeof hash);
    tide_copy_int4(&rows->copy, 7);
    tide_copy_int4(&rows->copy, (int32_t)tx);
    tide_copy_int4(&rows->copy, (int32_t)seq);
    tide_copy_time(&rows->copy, INT64_C(1700000000000));
    tide_copy_bytes(&rows->copy, address, 56);
    tide_copy_bool(&rows->copy, removed);
    rows->count++;
}

static void put_version(struct lot *l, uint32_t table, char key, uint32_t tx, uint32_t seq,
                        bool removed)
{
    struct tide_rows *rows = &l->batch->rows[table];
    put_common(rows, key, tx, seq, removed, table == RAW ? 9 : 8);
    if (table == RAW)
        tide_copy_int2(&rows->copy, PERSISTENT);
}

enum what { LIVE, REMOVED, EVICTED };
static void put_life(struct lot *l, char key, uint32_t tx, uint32_t seq, enum what what,
                     int64_t live_until, int16_t durability)
{
    struct tide_rows *rows = &l->batch->rows[TTL];
    put_common(rows, key, tx, seq, what == REMOVED, 11);
    tide_copy_int2(&rows->copy, durability);
    if (what == LIVE)
        tide_copy_int8(&rows->copy, live_until);
    else
        tide_copy_null(&rows->copy);
    tide_copy_bool(&rows->copy, what == EVICTED);
}

static void match_lives(struct lot *l)
{
    struct tide_err err;
    assert_int_equal(write_lives_match(&l->lives, &l->plan, l->batch, &err), TIDE_OK);
}

static int64_t life_of(const struct lot *l, uint32_t table, size_t row)
{
    return write_lives_of(&l->lives, table)[row];
}

static void a_lifetime_goes_to_the_last_version_of_its_transaction(void **state)
{
    struct lot *l = *state;
    put_version(l, l->typed, 'a', 1, 3, false);
    put_version(l, l->typed, 'a', 1, 5, false);
    put_version(l, l->typed, 'a', 2, 1, false);
    put_life(l, 'a', 1, 9, LIVE, UINT32_MAX, PERSISTENT);
    match_lives(l);
    assert_int_equal(life_of(l, l->typed, 0), 0);
    assert_int_equal(life_of(l, l->typed, 1), (int64_t)(UINT64_C(0xffffffff00000009)));
    assert_int_equal(life_of(l, l->typed, 2), 0);
    assert_int_equal(life_of(l, TTL, 0), CARRIED);
    assert_int_equal(l->lives.alone, 0);
}

static void what_no_version_implies_stays_alone(void **state)
{
    struct lot *l = *state;
    put_version(l, l->typed, 'a', 1, 1, false);
    put_version(l, l->typed, 'b', 1, 2, true);
    put_version(l, l->typed, 'c', 1, 3, false);
    put_version(l, l->typed, 'd', 1, 4, false);
    put_life(l, 'a', 2, 1, LIVE, 900, PERSISTENT); /* another transaction extends it */
    put_life(l, 'b', 1, 5, LIVE, 900, PERSISTENT); /* the version says that it is gone */
    put_life(l, 'c', 1, 6, LIVE, 900, TEMPORARY);  /* its table says that it is persistent */
    put_life(l, 'd', 1, 7, LIVE, 0, PERSISTENT);   /* 0 stands for none */
    put_life(l, 'e', 1, 8, EVICTED, 0, PERSISTENT);
    match_lives(l);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(life_of(l, l->typed, i), 0);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(life_of(l, TTL, i), ALONE);
    assert_int_equal(l->lives.alone, 5);
}

static void of_several_the_last_goes(void **state)
{
    struct lot *l = *state;
    put_version(l, l->typed, 'a', 1, 1, false);
    put_life(l, 'a', 1, 2, LIVE, 900, PERSISTENT);
    put_life(l, 'a', 1, 3, LIVE, 901, PERSISTENT);
    match_lives(l);
    assert_int_equal(life_of(l, l->typed, 0), tide_life(901, 3));
    assert_int_equal(life_of(l, TTL, 0), ALONE);
    assert_int_equal(life_of(l, TTL, 1), CARRIED);
    assert_int_equal(l->lives.alone, 1);
}

static void removals_and_archived_entries_of_a_checkpoint_go_too(void **state)
{
    struct lot *l = *state;
    put_version(l, l->typed, 'a', 1, 1, true);
    put_version(l, l->typed, 'b', 0, 2, false);
    put_life(l, 'a', 1, 3, REMOVED, 0, PERSISTENT);
    put_life(l, 'b', 0, 4, EVICTED, 0, PERSISTENT);
    match_lives(l);
    assert_int_equal(life_of(l, l->typed, 0), tide_life(0, 3));
    assert_int_equal(life_of(l, l->typed, 1), tide_life(0, 4));
    assert_int_equal(l->lives.alone, 0);
}

static void the_raw_row_of_a_version_carries_it(void **state)
{
    struct lot *l = *state;
    put_version(l, RAW, 'a', 1, 1, false);
    put_version(l, l->typed, 'a', 1, 1, false);
    put_life(l, 'a', 1, 2, LIVE, 900, PERSISTENT);
    match_lives(l);
    assert_int_equal(life_of(l, RAW, 0), tide_life(900, 2));
    assert_int_equal(life_of(l, l->typed, 0), 0);
    tide_batch_reset(l->batch);
    match_lives(l); /* a batch without lifetimes */
    assert_null(write_lives_of(&l->lives, RAW));
}

static int make_lot(void **state)
{
    struct lot *l = calloc(1, sizeof *l);
    struct tide_err err;
    assert_non_null(l);
    l->batch = malloc(sizeof *l->batch);
    assert_non_null(l->batch);
    tide_batch_init(l->batch);
    l->plan.tables = tide_tables(&l->plan.table_count);
    l->typed = (uint32_t)tide_entries()[TIDE_EN_oracle_feed].table;
    assert_int_equal(write_lives_open(&l->lives, &err), TIDE_OK);
    *state = l;
    return 0;
}

static int drop_lot(void **state)
{
    struct lot *l = *state;
    write_lives_close(&l->lives);
    tide_batch_release(l->batch);
    free(l->batch);
    free(l);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_lot, drop_lot)

int test_lives(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_lifetime_goes_to_the_last_version_of_its_transaction),
        TEST(what_no_version_implies_stays_alone),
        TEST(of_several_the_last_goes),
        TEST(removals_and_archived_entries_of_a_checkpoint_go_too),
        TEST(the_raw_row_of_a_version_carries_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
