/* The ledgers that a simulated server keeps: storing, finding and dropping them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tidemark/meta.h"
#include "tools/sim/chain/chain.h"
#include "tools/sim/ledger/ledger_store.h"

enum { FIRST = 300, LEDGERS = 60, KEPT = 9, HASHES = 4000 };

struct world {
    struct chain chain;
    struct ledger_store *store;
    struct tide_buf ledgers[LEDGERS];
    uint8_t hashes[HASHES][TIDE_HASH_BYTES];
    uint32_t of_hash[HASHES];
    uint32_t hash_count;
    uint32_t ledger;
};

static tide_status on_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    struct world *w = self;
    const uint8_t *both[] = { tx->hash, tx->inner_hash };
    *inside = false;
    for (size_t i = 0; i < 2; i++) {
        if (!both[i])
            continue;
        assert_true(w->hash_count < HASHES);
        memcpy(w->hashes[w->hash_count], both[i], TIDE_HASH_BYTES);
        w->of_hash[w->hash_count++] = w->ledger;
    }
    return TIDE_OK;
}

/* Makes the next ledger and adds it. The test keeps a copy. */
static void add_ledger(struct world *w, uint32_t i)
{
    tide_slice lcm;
    struct tide_err err;
    const struct tide_walk walk = { .self = w, .tx = on_tx };
    assert_int_equal(chain_ledger(&w->chain, &lcm), TIDE_OK);
    tide_buf_init(&w->ledgers[i], 64u << 20);
    tide_buf_slice(&w->ledgers[i], lcm);
    w->ledger = FIRST + i;
    assert_int_equal(tide_ledger_walk(&walk, lcm, &err), TIDE_OK);
    assert_int_equal(ledger_store_add(w->store, lcm, &err), TIDE_OK);
}

static void check_store(struct world *w, uint32_t newest)
{
    struct tide_buf lcm;
    struct ledger_info oldest, latest, info;
    uint32_t first = newest - FIRST + 1 > KEPT ? newest - KEPT + 1 : FIRST;
    assert_true(ledger_store_range(w->store, &oldest, &latest));
    assert_int_equal(oldest.sequence, first);
    assert_int_equal(latest.sequence, newest);
    tide_buf_init(&lcm, 64u << 20);
    for (uint32_t s = FIRST - 1; s <= newest + 1; s++) {
        bool there = s >= first && s <= newest;
        tide_buf_reset(&lcm);
        assert_int_equal(ledger_store_read(w->store, s, &lcm, &info), there);
        assert_int_equal(ledger_store_info(w->store, s, &info), there);
        if (!there)
            continue;
        assert_int_equal(info.sequence, s);
        assert_true(tide_slice_eq(tide_buf_view(&lcm), tide_buf_view(&w->ledgers[s - FIRST])));
        assert_memory_equal(lcm.ptr + info.entry_at, info.hash, TIDE_HASH_BYTES);
    }
    tide_buf_release(&lcm);
    for (uint32_t i = 0; i < w->hash_count; i++) {
        uint32_t want = w->of_hash[i] >= first ? w->of_hash[i] : 0;
        assert_int_equal(ledger_store_find(w->store, w->hashes[i]), want);
    }
}

static void keeps_and_forgets(void **state)
{
    (void)state;
    struct tide_err err;
    struct ledger_info oldest, latest;
    static struct world w;
    const struct chain_options options = { .seed = 3,
                                           .passphrase = "a test",
                                           .version = 2,
                                           .first_ledger = FIRST,
                                           .start_time = 1767225600,
                                           .close_step = 5,
                                           .txs = 12,
                                           .noise = 20,
                                           .life = 1200 };
    assert_int_equal(chain_open(&w.chain, &options), TIDE_OK);
    assert_int_equal(ledger_store_open(&w.store, KEPT, &err), TIDE_OK);
    assert_false(ledger_store_range(w.store, &oldest, &latest));
    assert_int_equal(ledger_store_find(w.store, w.hashes[0]), 0);
    for (uint32_t i = 0; i < LEDGERS; i++) {
        add_ledger(&w, i);
        if (i % 7 == 0 || i + 1 == LEDGERS)
            check_store(&w, FIRST + i);
    }
    assert_true(w.hash_count > 500);
    /* a ledger that does not follow the newest one is refused and changes nothing */
    assert_int_equal(ledger_store_add(w.store, tide_buf_view(&w.ledgers[3]), &err), TIDE_E_CHAIN);
    assert_int_equal(ledger_store_add(w.store, TIDE_SLICE("nonsense"), &err), TIDE_E_UNKNOWN);
    check_store(&w, FIRST + LEDGERS - 1);
    for (uint32_t i = 0; i < LEDGERS; i++)
        tide_buf_release(&w.ledgers[i]);
    ledger_store_close(w.store);
    chain_close(&w.chain);
}

int test_ledger_store(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(keeps_and_forgets) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
