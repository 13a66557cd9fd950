/* A whole simulated chain, read by the walk, with every hash recomputed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tidemark/meta.h"
#include "tidemark/tx.h"
#include "tools/sim/chain/chain.h"
#include "tools/sim/hostile/hostile.h"

enum { ENVELOPES_MAX = 4096 }; /* envelopes of a ledger */

/* `tools/test all` tries more seeds on longer chains; with sanitizers they take a minute. */
static bool is_long(void)
{
    return getenv("TIDE_LONG") != NULL;
}

struct seen {
    uint8_t network[TIDE_HASH_BYTES];
    uint8_t previous[TIDE_HASH_BYTES];
    uint32_t ledgers, txs, refused, verified, created, restored, removed, evicted, diagnostics;
    uint64_t op_events;
    uint32_t envelopes;
    uint8_t (*hashes)[TIDE_HASH_BYTES];
    struct tide_buf results;
    uint8_t result_hash[TIDE_HASH_BYTES];
};

static tide_status on_header(void *self, const struct tide_ledger_header *header)
{
    struct seen *seen = self;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_sha256(hash, header->header_xdr);
    assert_memory_equal(hash, header->hash, TIDE_HASH_BYTES);
    assert_memory_equal(seen->previous, header->previous_hash, TIDE_HASH_BYTES);
    memcpy(seen->previous, hash, TIDE_HASH_BYTES);
    memcpy(seen->result_hash, header->result_hash, TIDE_HASH_BYTES);
    seen->envelopes = 0;
    seen->ledgers++;
    return TIDE_OK;
}

static tide_status on_envelope(void *self, const struct tide_envelope *envelope)
{
    struct seen *seen = self;
    assert_true(seen->envelopes < ENVELOPES_MAX);
    tide_envelope_hash(seen->hashes[seen->envelopes++], envelope, seen->network);
    return TIDE_OK;
}

static tide_status on_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    struct seen *seen = self;
    bool found = false;
    for (uint32_t i = 0; i < seen->envelopes && !found; i++)
        found = memcmp(seen->hashes[i], tx->hash, TIDE_HASH_BYTES) == 0;
    assert_true(found);
    tide_buf_slice(&seen->results, tx->result_pair);
    *inside = true;
    seen->txs++;
    seen->refused += !tx->successful;
    return TIDE_OK;
}

static tide_status on_event(void *self, const struct tide_tx *tx, const struct tide_event *event)
{
    (void)tx;
    struct seen *seen = self;
    seen->op_events += event->level == TIDE_EVENT_OP;
    seen->diagnostics += event->level == TIDE_EVENT_DIAGNOSTIC;
    return TIDE_OK;
}

static tide_status on_change(void *self, const struct tide_tx *tx, const struct tide_change *change)
{
    (void)tx;
    struct seen *seen = self;
    seen->created += change->kind == TIDE_CHANGE_CREATED;
    seen->restored += change->kind == TIDE_CHANGE_RESTORED;
    seen->removed += change->kind == TIDE_CHANGE_REMOVED;
    return TIDE_OK;
}

static tide_status on_tx_end(void *self, const struct tide_tx *tx)
{
    struct seen *seen = self;
    uint8_t hash[TIDE_HASH_BYTES];
    struct tide_sha256 h;
    if (!tx->invoke_hash)
        return TIDE_OK;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tx->return_value);
    tide_sha256_update(&h, tx->op_events);
    tide_sha256_final(&h, hash);
    assert_memory_equal(hash, tx->invoke_hash, TIDE_HASH_BYTES);
    seen->verified++;
    return TIDE_OK;
}

static tide_status on_evicted(void *self, tide_slice key)
{
    (void)key;
    ((struct seen *)self)->evicted++;
    return TIDE_OK;
}

static void walk_ledger(struct seen *seen, tide_slice lcm)
{
    struct tide_err err = { 0 };
    struct tide_walk walk = { .self = seen,
                              .header = on_header,
                              .envelope = on_envelope,
                              .tx = on_tx,
                              .event = on_event,
                              .change = on_change,
                              .tx_end = on_tx_end,
                              .evicted = on_evicted,
                              .diagnostics = true };
    uint8_t hash[TIDE_HASH_BYTES];
    seen->results.len = 0;
    uint32_t before = seen->txs;
    tide_buf_be32(&seen->results, 0);
    if (tide_ledger_walk(&walk, lcm, &err) != TIDE_OK)
        fail_msg("%s", err.text);
    uint32_t count = __builtin_bswap32(seen->txs - before);
    memcpy(seen->results.ptr, &count, sizeof count);
    tide_sha256(hash, tide_buf_view(&seen->results));
    assert_memory_equal(hash, seen->result_hash, TIDE_HASH_BYTES);
}

static struct chain_options options_of(uint32_t version)
{
    return (struct chain_options){ .seed = 11,
                                   .passphrase = "Test chain",
                                   .version = version,
                                   .first_ledger = 1000,
                                   .start_time = 1767225600,
                                   .close_step = 5,
                                   .txs = 6,
                                   .noise = 30,
                                   .life = 60,
                                   .diagnostics = true };
}

static void run_chain_with(struct seen *seen, const struct chain_options *options,
                           const struct hostile_options *hostile, uint32_t ledgers)
{
    struct hostile *attackers;
    struct chain *chain = malloc(sizeof *chain);
    *seen = (struct seen){ .hashes = calloc(ENVELOPES_MAX, TIDE_HASH_BYTES) };
    tide_buf_init(&seen->results, 4u << 20);
    assert_non_null(chain);
    assert_int_equal(chain_open(chain, options), TIDE_OK);
    assert_int_equal(hostile_open(&attackers, chain, hostile), TIDE_OK);
    tide_network_id(seen->network, tide_slice_str(options->passphrase));
    for (uint32_t i = 0; i < ledgers; i++) {
        tide_slice lcm;
        assert_int_equal(chain_ledger(chain, &lcm), TIDE_OK);
        walk_ledger(seen, lcm);
    }
    assert_int_equal(seen->txs, chain->txs);
    if (options->version == 2)
        assert_int_equal(seen->op_events, chain->events);
    hostile_close(attackers);
    chain_close(chain);
    free(seen->hashes);
    tide_buf_release(&seen->results);
    free(chain);
}

static void run_chain(struct seen *seen, const struct chain_options *options, uint32_t ledgers)
{
    run_chain_with(seen, options, &(struct hostile_options){ 0 }, ledgers);
}

static void every_ledger_holds_what_its_hashes_say(void **state)
{
    (void)state;
    for (uint32_t version = 1; version <= 2; version++) {
        struct seen seen;
        struct chain_options options = options_of(version);
        run_chain(&seen, &options, 260);
        assert_int_equal(seen.ledgers, 260);
        assert_true(seen.txs > 1000);
        assert_true(seen.verified > 100);
        assert_true(seen.refused > 50);
        assert_true(seen.created > 100);
        assert_true(seen.restored > 0);
        assert_true(seen.evicted > 0);
        assert_true(seen.removed > 0);
        assert_true(seen.diagnostics > 50);
    }
}

static void the_same_options_give_the_same_bytes(void **state)
{
    (void)state;
    uint8_t last[3][TIDE_HASH_BYTES];
    for (uint32_t go = 0; go < 3; go++) {
        struct seen seen;
        struct chain_options options = options_of(2);
        options.seed = go < 2 ? 5 : 6;
        run_chain(&seen, &options, 120);
        memcpy(last[go], seen.previous, TIDE_HASH_BYTES);
    }
    assert_memory_equal(last[0], last[1], TIDE_HASH_BYTES);
    assert_memory_not_equal(last[0], last[2], TIDE_HASH_BYTES);
}

/* A digest of the ordinary population's transactions: the position and the hash of each. */
struct tx_digest {
    struct tide_sha256 h;
    uint8_t digest[TIDE_HASH_BYTES];
    uint32_t txs;
};

static void add_transaction(void *self, const struct chain_tx *tx)
{
    struct tx_digest *tx_digest = self;
    uint8_t place[] = { (uint8_t)(tx->ledger >> 8), (uint8_t)tx->ledger, (uint8_t)tx->index,
                        tx->outcome->ok };
    tide_sha256_update(&tx_digest->h, tide_slice_of(place, sizeof place));
    tide_sha256_update(&tx_digest->h, tide_slice_of(tx->hash, TIDE_HASH_BYTES));
    tx_digest->txs++;
}

static struct tx_digest run_attacked(uint32_t version, struct hostile_options hostile,
                                     uint32_t ledgers, uint32_t *txs)
{
    struct seen seen;
    struct tx_digest tx_digest = { .txs = 0 };
    struct chain_options options = options_of(version);
    options.observer = (struct chain_observer){ .self = &tx_digest, .tx = add_transaction };
    tide_sha256_init(&tx_digest.h);
    run_chain_with(&seen, &options, &hostile, ledgers);
    tide_sha256_final(&tx_digest.h, tx_digest.digest);
    *txs = seen.txs;
    return tx_digest;
}

/* The hashes of ledgers with attacks are valid too (run_chain). The transactions of ordinary people
 * are the same, at the same positions. */
static void attackers_change_nothing_of_what_people_do(void **state)
{
    (void)state;
    for (uint32_t version = 1; version <= 2; version++) {
        uint32_t quiet, attacked;
        struct tx_digest base = run_attacked(version, (struct hostile_options){ 0 }, 150, &quiet);
        for (uint64_t seed = 1; seed <= (is_long() ? 3 : 1); seed++) {
            struct hostile_options hostile = { .seed = seed, .all_from = 1120 };
            struct tx_digest same = run_attacked(version, hostile, 150, &attacked);
            assert_int_equal(base.txs, same.txs);
            assert_memory_equal(base.digest, same.digest, TIDE_HASH_BYTES);
            assert_true(attacked > quiet + 200);
        }
    }
}

static void every_attack_is_made(void **state)
{
    (void)state;
    struct tide_err err;
    uint32_t quiet, attacked, bits;
    uint32_t ledgers = is_long() ? 150 : 90;
    run_attacked(2, (struct hostile_options){ 0 }, ledgers, &quiet);
    for (uint32_t i = 0; i < HOSTILE_ATTACKS; i++) {
        /* the attack "lives" needs entries that another attack made */
        uint32_t with = i == HOSTILE_lives ? 1u << HOSTILE_entries : 0;
        run_attacked(
            2, (struct hostile_options){ .seed = 9, .all_from = 1060, .attacks = 1u << i | with },
            ledgers, &attacked);
        /* the attacks "bulk" and "flood" are a few large transactions */
        bool few = i == HOSTILE_bulk || i == HOSTILE_flood;
        assert_true(attacked > quiet + (few ? 0 : 20));
    }
    assert_int_equal(hostile_parse(&bits, "refused,scorch", &err), TIDE_OK);
    assert_int_equal(bits, 1u << HOSTILE_refused | 1u << HOSTILE_scorch);
    assert_int_equal(hostile_parse(&bits, "refused,refuse", &err), TIDE_E_USAGE);
}

int test_lcm_chain(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ledger_holds_what_its_hashes_say),
        cmocka_unit_test(the_same_options_give_the_same_bytes),
        cmocka_unit_test(attackers_change_nothing_of_what_people_do),
        cmocka_unit_test(every_attack_is_made),
    };
    return cmocka_run_group_tests_name("lcm_chain", tests, NULL, NULL);
}
