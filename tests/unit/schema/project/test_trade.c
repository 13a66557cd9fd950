/* Pools and swaps as records: trade of a window over removals of the pool's entry. Metadata of
 * tokens as records. */
#include "schema/postgres/pg_impl.h"
#include "schema/project/record_set.h"
#include "tidemark/project.h"
#include "tidemark/rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define TOKEN "CAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAD2KM"

enum { COLUMNS = 12 };

struct world {
    struct record_set set;
    struct tide_hot_symbol id;
    struct tide_err err;
};

/* Applies a row of the source at a close time. values: text of its first columns. */
static void apply_row(struct world *w, enum project_source_id source, uint64_t time, bool removed,
                      const char *const *values, int count)
{
    static char name[] = "v";
    PGresAttDesc columns[COLUMNS] = { 0 };
    struct tide_hot_sink sink = record_set_sink(&w->set);
    PGresult *result = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    for (int i = 0; i < COLUMNS; i++)
        columns[i].name = name;
    assert_int_equal(PQsetResultAttrs(result, COLUMNS, columns), 1);
    for (int i = 0; i < COLUMNS; i++)
        assert_int_equal(PQsetvalue(result, 0, i, i < count ? (char *)(uintptr_t)values[i] : NULL,
                                    i < count ? (int)strlen(values[i]) : -1),
                         1);
    struct tide_pg_rows rows = { .result = result, .count = 1, .columns = COLUMNS };
    struct project_row row = { .sink = &sink,
                               .rows = &rows,
                               .ledger = 7,
                               .close_time = time,
                               .removed = removed,
                               .contract = TIDE_SLICE(TOKEN) };
    assert_int_equal(project_apply(source, &row, &w->err), TIDE_OK);
    PQclear(result);
}

static void put_pool(struct world *w, uint64_t time, const char *reserve_b)
{
    const char *values[] = { "P", "f", "", "", "100", reserve_b, "0", "30" };
    apply_row(w, PROJECT_POOL, time, false, values, TIDE_COUNT(values));
}

static void remove_pool(struct world *w, uint64_t time)
{
    apply_row(w, PROJECT_POOL, time, true, (const char *[]){ "P" }, 1);
}

/* Sells a of A for b of B. fee_tier: NULL without a version of the pool. */
static void put_swap(struct world *w, uint64_t time, const char *a, const char *b,
                     const char *fee_tier)
{
    const char *values[] = { "P", "t", a, b, fee_tier };
    apply_row(w, PROJECT_SWAP, time, false, values, fee_tier ? 5 : 4);
}

static struct tide_window window(struct world *w, uint64_t start)
{
    struct tide_hot_key pool = tide_hot_key_symbol(TIDE_HOT_POOL, &w->id);
    struct tide_hot_key trade = tide_hot_key_symbol(TIDE_HOT_TRADE, &w->id);
    struct tide_hot_key tick = tide_hot_key_tick(&w->id, start);
    struct tide_window out;
    assert_non_null(record_set_find(&w->set, &pool));
    tide_rule_window(&out, record_set_find(&w->set, &pool), record_set_find(&w->set, &trade),
                     record_set_floor(&w->set, &tick, 1 + sizeof w->id));
    return out;
}

static int open_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    *state = w;
    return w && tide_hot_symbol_of(&w->id, tide_slice_str("P")) ? 0 : -1;
}

static int close_world(void **state)
{
    struct world *w = *state;
    record_set_release(&w->set);
    free(w);
    return 0;
}

static void trade_outlives_the_pool_s_entry(void **state)
{
    struct world *w = *state;
    put_pool(w, 10, "200");
    put_swap(w, 10, "1000", "5", "30");
    put_swap(w, 20, "2000", "50", "30");
    remove_pool(w, 30);
    put_pool(w, 40, "300");
    put_swap(w, 40, "4000", "500", "30");
    struct tide_window all = window(w, 5), late = window(w, 10), gone = window(w, 35);
    assert_true(all.swaps == 3 && all.traded_a == 7000 && all.traded_b == 555);
    assert_true(late.swaps == 2 && late.traded_a == 6000 && late.traded_b == 550);
    assert_true(late.fees_a == 6 + 12);
    assert_true(late.priced && late.price_then == 20000000 && late.price_now == 30000000);
    /* The window begins while the pool has no entry: it has no price then. */
    assert_true(gone.swaps == 1 && gone.traded_a == 4000 && !gone.priced);
}

static void a_swap_counts_without_an_entry(void **state)
{
    struct world *w = *state;
    put_swap(w, 10, "1000", "5", NULL);
    put_pool(w, 20, "200");
    struct tide_window all = window(w, 5);
    assert_true(all.swaps == 1 && all.traded_a == 1000 && all.fees_a == 0);
}

static void a_swap_s_fee_is_of_its_own_version(void **state)
{
    struct world *w = *state;
    put_pool(w, 10, "200"); /* 30 */
    put_swap(w, 20, "1000", "5", "100");
    assert_true(window(w, 10).fees_a == 10);
}

/* A token's metadata is content of the chain: a decimal that is no number, or too large a one, must
 * not stop the cache. It counts as absent. */
static void a_decimal_that_is_no_number_is_absent(void **state)
{
    static const struct {
        const char *decimal;
        uint32_t decimals;
    } cases[] = { { "7", 7 }, { "many", 0 }, { "-1", 0 }, { "4294967303", 0 }, { "{}", 0 } };
    struct tide_hot_address address;
    (void)state;
    assert_true(tide_hot_address_parse(&address, TIDE_SLICE(TOKEN)));
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_CONTRACT, &address);
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct world w = { 0 };
        const char *values[] = { "name", "symbol", cases[i].decimal };
        apply_row(&w, PROJECT_ASSET, 1, false, values, TIDE_COUNT(values));
        const struct tide_hot_contract *token = record_set_find(&w.set, &key);
        assert_non_null(token);
        assert_int_equal(token->decimals, cases[i].decimals);
        record_set_release(&w.set);
    }
}

/* A cache that is fed has what a new one has, which finds no row of a removed instance. */
static void a_removed_instance_leaves_nothing(void **state)
{
    static const enum project_source_id sources[] = { PROJECT_TOKEN, PROJECT_ASSET };
    const char *values[] = { "\\x41", "\\x41", "7", "f" };
    struct tide_hot_address address;
    (void)state;
    assert_true(tide_hot_address_parse(&address, TIDE_SLICE(TOKEN)));
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_CONTRACT, &address);
    for (size_t i = 0; i < TIDE_COUNT(sources); i++) {
        struct world w = { 0 };
        struct tide_hot_sink sink = record_set_sink(&w.set);
        struct tide_hot_contract followed = { .role = TIDE_ROLE_synth_token, .name = "token_x" };
        apply_row(&w, sources[i], 1, false, values, 4);
        assert_non_null(record_set_find(&w.set, &key));
        apply_row(&w, sources[i], 2, true, NULL, 0);
        assert_null(record_set_find(&w.set, &key));
        assert_int_equal(sink.put(sink.self, &key, &followed, &w.err), TIDE_OK);
        apply_row(&w, sources[i], 3, false, values, 4);
        apply_row(&w, sources[i], 4, true, NULL, 0);
        const struct tide_hot_contract *token = record_set_find(&w.set, &key);
        assert_true(token && !token->has_instance && token->ledger == 0);
        assert_string_equal(token->name, followed.name);
        record_set_release(&w.set);
    }
}

int test_trade(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_world, close_world)
    const struct CMUnitTest tests[] = {
        TEST(trade_outlives_the_pool_s_entry),    TEST(a_swap_counts_without_an_entry),
        TEST(a_swap_s_fee_is_of_its_own_version), TEST(a_decimal_that_is_no_number_is_absent),
        TEST(a_removed_instance_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
