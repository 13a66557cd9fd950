/* Search for the newest row of each key of a batch: keys chosen to collide cost no more than
 * others. */
#include "indexer/decode/decode_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 20000, TABLE = 3, RUN_MAX = 64, SEEDS = 128 };

static uint32_t longest_run(const struct latest_map *map)
{
    uint32_t longest = 0, run = 0;
    for (uint32_t i = 0; i < 2 * map->slot_count; i++) {
        run = map->slots[i & (map->slot_count - 1)] ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void note_keys(struct latest_map *map, struct tide_rows *rows)
{
    uint8_t hash[TIDE_HASH_BYTES] = { 0 };
    latest_begin_ledger(map);
    for (uint32_t i = 0; i < KEYS; i++) {
        memcpy(hash + 4, &i, sizeof i);
        tide_buf_be32(&rows->copy, i);
        assert_true(latest_note(map, hash, TABLE, rows, rows->copy.len - 4));
    }
}

static void find_keys(const struct latest_map *map, const struct tide_rows *rows)
{
    uint8_t hash[TIDE_HASH_BYTES] = { 0 };
    for (uint32_t i = 0; i < KEYS; i++) {
        memcpy(hash + 4, &i, sizeof i);
        const uint8_t *row = latest_row(map, hash, TABLE, rows);
        assert_non_null(row);
        assert_int_equal(tide_be32(row), i);
        assert_null(latest_row(map, hash, TABLE + 1, rows));
    }
}

/* An attacker can search for keys whose hashes begin with the same bytes. Each map has a seed of
 * its own: a weak hash puts such keys beside each other with some seeds only. */
static void chosen_keys_do_not_collide(void **state)
{
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct latest_map map = { 0 };
        struct tide_rows rows = { 0 };
        tide_buf_init(&rows.copy, 1 << 20);
        note_keys(&map, &rows);
        assert_in_range(longest_run(&map), 1, RUN_MAX);
        find_keys(&map, &rows);
        latest_release(&map);
        tide_buf_release(&rows.copy);
    }
}

int test_latest(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(chosen_keys_do_not_collide) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
