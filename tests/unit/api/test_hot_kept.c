/* The table of people looked up before gives what the map gives, whatever changes between. */
#include "schema/store/hot.h"
#include "tidemark/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define OK(call) assert_int_equal((call), TIDE_OK)

enum { PEOPLE = 400, STEPS = 3000, GETS = 24 };

struct change {
    uint32_t who, status; /* status 0: dropped */
    bool pool;            /* something else instead */
    uint32_t contract;    /* not 0: that contract gets the role status, or is dropped */
};

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static struct tide_hot_key key_of(uint32_t i)
{
    struct tide_hot_address a = { .kind = 48 };
    for (uint32_t k = 0; k < 32; k++)
        a.key[k] = (uint8_t)((i * 2654435761u + k * 40503u) >> 7);
    memcpy(a.key + 20, &i, sizeof i);
    return tide_hot_key_address(TIDE_HOT_PERSON, &a);
}

static struct tide_hot_key contract_key(uint32_t i)
{
    struct tide_hot_address a = { .kind = 16, .key = { (uint8_t)i } };
    return tide_hot_key_address(TIDE_HOT_CONTRACT, &a);
}

static tide_status apply(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    const struct change *c = self;
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    struct tide_hot_meta meta = { .ledger = c->who };
    struct tide_hot_person person = { .recorded = 1, .status = c->status };
    struct tide_hot_pool pool = { .ledger = c->status };
    struct tide_hot_symbol name = { "p" };
    /* A feeder that writes meta anew takes nothing from it. */
    tide_status status = sink->put(sink->self, &key, &meta, err);
    if (status != TIDE_OK)
        return status;
    if (c->pool && !c->contract) {
        key = tide_hot_key_symbol(TIDE_HOT_POOL, &name);
        return sink->put(sink->self, &key, &pool, err);
    }
    if (c->contract) {
        struct tide_hot_contract contract = { .role = (uint8_t)(c->status % 3) };
        key = contract_key(c->contract);
        return c->status ? sink->put(sink->self, &key, &contract, err)
                         : sink->drop(sink->self, &key, err);
    }
    key = key_of(c->who);
    return c->status ? sink->put(sink->self, &key, &person, err)
                     : sink->drop(sink->self, &key, err);
}

static void expect_same(struct tide_hot_reader *keeps, struct tide_hot_reader *plain,
                        uint32_t *seed)
{
    const void *had[GETS], *want[GETS];
    const struct tide_hot_meta *meta, *other;
    struct tide_err err;
    OK(tide_hot_begin(keeps, &meta, &err));
    OK(tide_hot_begin(plain, &other, &err));
    assert_int_equal(meta->ledger, other->ledger);
    for (int i = 0; i < GETS; i++) {
        struct tide_hot_key key = key_of(next(seed) % PEOPLE);
        had[i] = tide_hot_get(keeps, &key);
        want[i] = tide_hot_get(plain, &key);
    }
    /* Only now: what a snapshot was given stays until its end. */
    for (int i = 0; i < GETS; i++) {
        assert_true((had[i] == NULL) == (want[i] == NULL));
        if (had[i])
            assert_memory_equal(had[i], want[i], sizeof(struct tide_hot_person));
    }
    OK(tide_hot_end(keeps));
    OK(tide_hot_end(plain));
}

static void same_as_the_map(size_t bytes, bool mostly_pools, uint64_t *hits, uint64_t *misses)
{
    char dir[] = "/tmp/tide-kept-XXXXXX", command[64];
    assert_non_null(mkdtemp(dir));
    struct tide_hot_options options = { .dir = dir, .map_first = 1 << 22 };
    struct tide_hot_reader *keeps, *plain;
    struct tide_hot *hot;
    struct tide_err err;
    uint32_t seed = 5;
    bool mine;
    OK(tide_hot_open(&hot, &options, &err));
    OK(tide_hot_reader_open(&keeps, hot, &err));
    OK(tide_hot_reader_open(&plain, hot, &err));
    OK(tide_hot_lock(hot, &mine, &err));
    tide_hot_reader_keep(keeps, bytes);
    OK(tide_hot_rebuild(hot, apply, &(struct change){ .who = 1, .status = 1 }, &err));
    for (int i = 0; i < STEPS; i++) {
        struct change c = { .who = next(&seed) % PEOPLE, .status = next(&seed) % 4 };
        c.pool = mostly_pools && next(&seed) % 64;
        c.contract = next(&seed) % 16 == 0 ? 1 + next(&seed) % 5 : 0;
        if (next(&seed) % 8 == 0)
            OK(tide_hot_update(hot, apply, &c, &err));
        if (next(&seed) % 1024 == 0)
            OK(tide_hot_rebuild(hot, apply, &c, &err));
        expect_same(keeps, plain, &seed);
    }
    tide_hot_reader_kept(keeps, hits, misses);
    tide_hot_reader_close(keeps);
    tide_hot_reader_close(plain);
    tide_hot_close(hot);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

static void test_same_answers(void **state)
{
    uint64_t hits, misses;
    (void)state;
    same_as_the_map(1 << 20, true, &hits, &misses);
    assert_true(hits > misses);
    same_as_the_map(1 << 20, false, &hits, &misses);
    assert_true(hits > 0 && misses > 0);
}

static void test_a_small_table(void **state)
{
    uint64_t hits, misses;
    (void)state;
    same_as_the_map(2000, true, &hits, &misses); /* seven buckets of two */
    assert_true(hits > 0 && misses > hits);
    same_as_the_map(0, true, &hits, &misses);
    assert_true(hits == 0 && misses == 0);
}

int test_hot_kept(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_answers),
        cmocka_unit_test(test_a_small_table),
    };
    tide_log_level_set(TIDE_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
