/* Votes of validators: which ones count, and what the values that they vote for bind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "indexer/archive/tx_set.h"
#include "indexer/archive/votes.h"
#include "tidemark/hash.h"
#include "tidemark/sign.h"
#include "tidemark/stellar_value.h"

enum { VALIDATORS = 4, FIRST = 64, LAST = 127 };

struct world {
    struct tide_sign *keys[VALIDATORS + 1]; /* the last one is in no quorum set */
    struct tide_quorum quorum;
    uint8_t network[TIDE_HASH_BYTES], other[TIDE_HASH_BYTES];
    struct votes *votes;
};

/* Three of four validators must sign. */
static void open_world(struct world *w)
{
    memset(w, 0, sizeof *w);
    tide_network_id(w->network, TIDE_SLICE("this"));
    tide_network_id(w->other, TIDE_SLICE("other"));
    w->quorum.set_count = 1;
    w->quorum.sets[0].threshold = 3;
    for (uint8_t i = 0; i <= VALIDATORS; i++) {
        uint8_t seed[TIDE_SEED_BYTES] = { i };
        assert_int_equal(tide_sign_open(&w->keys[i], seed), TIDE_OK);
        if (i < VALIDATORS)
            memcpy(w->quorum.validators[w->quorum.count++].key, tide_sign_public(w->keys[i]),
                   TIDE_HASH_BYTES);
    }
    const struct votes_options options = { &w->quorum, w->network, FIRST, LAST, FIRST };
    assert_int_equal(votes_open(&w->votes, &options), TIDE_OK);
    votes_begin_file(w->votes);
}

static void close_world(struct world *w)
{
    votes_close(w->votes);
    for (size_t i = 0; i <= VALIDATORS; i++)
        tide_sign_close(w->keys[i]);
}

enum kind { CONFIRM = 1, EXTERNALIZE = 2 };

static void put_statement(struct tide_buf *b, const struct tide_sign *key, uint32_t slot,
                          enum kind kind, tide_slice value)
{
    static const uint8_t zero[TIDE_HASH_BYTES];
    tide_buf_be32(b, 0);
    tide_buf_put(b, tide_sign_public(key), TIDE_HASH_BYTES);
    tide_buf_be64(b, slot);
    tide_buf_be32(b, kind);
    tide_buf_be32(b, 1);
    tide_xdr_put_var(b, value);
    for (int i = kind == CONFIRM ? 3 : 1; i > 0; i--)
        tide_buf_be32(b, 7);
    tide_buf_put(b, zero, sizeof zero);
}

/* Appends an envelope that key signs on the network. */
static void put_envelope(struct tide_buf *b, const uint8_t *network, const struct tide_sign *key,
                         uint32_t slot, enum kind kind, tide_slice value)
{
    struct tide_buf signed_bytes;
    uint8_t signature[TIDE_SIGNATURE_BYTES];
    tide_buf_init(&signed_bytes, 1 << 12);
    tide_buf_put(&signed_bytes, network, TIDE_HASH_BYTES);
    tide_buf_be32(&signed_bytes, 1);
    put_statement(&signed_bytes, key, slot, kind, value);
    tide_sign(key, signature, tide_buf_view(&signed_bytes));
    put_statement(b, key, slot, kind, value);
    tide_xdr_put_var(b, tide_slice_of(signature, sizeof signature));
    tide_buf_release(&signed_bytes);
}

/* Gives the votes an SCPHistoryEntry with the envelopes in b, and empties b. */
static tide_status give_entry(struct world *w, struct tide_buf *b, uint32_t count)
{
    struct tide_buf entry;
    struct tide_err err;
    tide_buf_init(&entry, 1 << 16);
    tide_buf_be32(&entry, 0);
    tide_buf_be32(&entry, 1); /* one quorum set, with an inner one */
    tide_buf_be32(&entry, 1);
    tide_buf_be32(&entry, 0);
    tide_buf_be32(&entry, 1);
    for (int i = 0; i < 3; i++)
        tide_buf_be32(&entry, 0);
    tide_buf_be32(&entry, 1000); /* ledgerSeq: no vote relies on it */
    tide_buf_be32(&entry, count);
    tide_buf_slice(&entry, tide_buf_view(b));
    assert_false(entry.failed);
    tide_buf_reset(b);
    tide_status status = scp_entry_walk(tide_buf_view(&entry), votes_add, w->votes, &err);
    tide_buf_release(&entry);
    return status;
}

static void a_quorum_decides_a_ledger(void **state)
{
    (void)state;
    struct world w;
    struct tide_buf b;
    open_world(&w);
    tide_buf_init(&b, 1 << 14);
    for (size_t i = 0; i < 3; i++) {
        assert_null(votes_decided(w.votes, 100));
        put_envelope(&b, w.network, w.keys[i], 100, EXTERNALIZE, TIDE_SLICE("value"));
        assert_int_equal(give_entry(&w, &b, 1), TIDE_OK);
    }
    const struct vote_value *value = votes_decided(w.votes, 100);
    assert_non_null(value);
    assert_true(tide_slice_eq_str(tide_slice_of(value->bytes, value->len), "value"));
    assert_true(tide_signers_has(&value->signers, 2) && !tide_signers_has(&value->signers, 3));
    assert_int_equal(votes_highest(w.votes, LAST), 100);
    assert_int_equal(votes_highest(w.votes, 99), 0);
    assert_null(votes_decided(w.votes, 101));
    tide_buf_release(&b);
    close_world(&w);
}

/* One validator signs twenty values of a ledger before the others sign theirs. */
static void a_validator_keeps_no_value_out(void **state)
{
    (void)state;
    struct world w;
    struct tide_buf b;
    open_world(&w);
    tide_buf_init(&b, 1 << 14);
    for (uint8_t i = 0; i < 20; i++) {
        const uint8_t value[] = { 'n', 'o', i };
        put_envelope(&b, w.network, w.keys[0], 100, EXTERNALIZE,
                     tide_slice_of(value, sizeof value));
    }
    assert_int_equal(give_entry(&w, &b, 20), TIDE_OK);
    for (size_t i = 1; i < VALIDATORS; i++)
        put_envelope(&b, w.network, w.keys[i], 100, EXTERNALIZE, TIDE_SLICE("value"));
    assert_int_equal(give_entry(&w, &b, VALIDATORS - 1), TIDE_OK);
    const struct vote_value *value = votes_decided(w.votes, 100);
    assert_non_null(value);
    assert_true(tide_slice_eq_str(tide_slice_of(value->bytes, value->len), "value"));
    assert_int_equal(tide_signers_count(&value->signers), 3);
    tide_buf_release(&b);
    close_world(&w);
}

/* Two votes hold; each case adds two envelopes that must not make the third. */
static void votes_that_do_not_count(void **state)
{
    (void)state;
    static const struct {
        const char *why;
        unsigned key;
        uint32_t slot;
        enum kind kind;
        bool other_network;
        const char *value;
        bool spoil; /* a byte of the envelope is changed behind the signing */
    } cases[] = {
        { "a repeated vote", 0, 100, EXTERNALIZE, false, "value", false },
        { "an unknown key", VALIDATORS, 100, EXTERNALIZE, false, "value", false },
        { "another network", 2, 100, EXTERNALIZE, true, "value", false },
        { "another slot", 2, 99, EXTERNALIZE, false, "value", false },
        { "the value of the ledger before", 2, 100, EXTERNALIZE, false, "before", false },
        { "not final yet", 2, 100, CONFIRM, false, "value", false },
        { "a changed byte", 2, 100, EXTERNALIZE, false, "value", true },
        { "a checkpoint before", 2, FIRST - 1, EXTERNALIZE, false, "value", false },
        { "a checkpoint behind", 2, LAST + 1, EXTERNALIZE, false, "value", false },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct world w;
        struct tide_buf b;
        open_world(&w);
        tide_buf_init(&b, 1 << 14);
        for (size_t k = 0; k < 2; k++)
            put_envelope(&b, w.network, w.keys[k], 100, EXTERNALIZE, TIDE_SLICE("value"));
        for (size_t k = 0; k < 2; k++) {
            put_envelope(&b, cases[i].other_network ? w.other : w.network, w.keys[cases[i].key],
                         cases[i].slot, cases[i].kind, tide_slice_str(cases[i].value));
            if (cases[i].spoil)
                b.ptr[b.len - 1] ^= 1;
        }
        assert_int_equal(give_entry(&w, &b, 4), TIDE_OK);
        if (votes_decided(w.votes, 100) || votes_most(w.votes) != 2)
            fail_msg("%s counts", cases[i].why);
        put_envelope(&b, w.network, w.keys[3], 100, EXTERNALIZE, TIDE_SLICE("value"));
        assert_int_equal(give_entry(&w, &b, 1), TIDE_OK);
        assert_non_null(votes_decided(w.votes, 100));
        tide_buf_release(&b);
        close_world(&w);
    }
}

/* Votes about earlier ledgers count without a signature that holds, those from checked_from on do
 * not. */
static void signatures_count_from_a_ledger_on(void **state)
{
    (void)state;
    struct world w;
    struct tide_buf b;
    open_world(&w);
    votes_close(w.votes);
    const struct votes_options options = { &w.quorum, w.network, FIRST, LAST, LAST };
    assert_int_equal(votes_open(&w.votes, &options), TIDE_OK);
    votes_begin_file(w.votes);
    tide_buf_init(&b, 1 << 14);
    for (size_t i = 0; i < 3; i++) {
        put_envelope(&b, w.other, w.keys[i], LAST - 1, EXTERNALIZE, TIDE_SLICE("value"));
        put_envelope(&b, w.other, w.keys[i], LAST, EXTERNALIZE, TIDE_SLICE("value"));
    }
    assert_int_equal(give_entry(&w, &b, 6), TIDE_OK);
    assert_non_null(votes_decided(w.votes, LAST - 1));
    assert_null(votes_decided(w.votes, LAST));
    tide_buf_release(&b);
    close_world(&w);
}

static void a_flood_of_votes_ends(void **state)
{
    (void)state;
    struct world w;
    struct tide_buf b;
    tide_status status = TIDE_OK;
    open_world(&w);
    tide_buf_init(&b, 1 << 14);
    unsigned given = 0;
    for (; status == TIDE_OK && given < 10000; given++) {
        put_envelope(&b, w.other, w.keys[0], 100, EXTERNALIZE, TIDE_SLICE("value"));
        status = give_entry(&w, &b, 1);
    }
    assert_int_equal(status, TIDE_E_LIMIT);
    assert_true(given > 4 * VALIDATORS * 64 && given < 5 * VALIDATORS * 64);
    votes_begin_file(w.votes);
    put_envelope(&b, w.network, w.keys[0], 100, EXTERNALIZE, TIDE_SLICE("value"));
    assert_int_equal(give_entry(&w, &b, 1), TIDE_OK);
    assert_int_equal(votes_most(w.votes), 1);
    tide_buf_release(&b);
    close_world(&w);
}

static bool names_previous(uint32_t arm)
{
    return arm == TIDE_VALUE_EMPTY_TX_SET || arm == TIDE_VALUE_EMPTY_TX_SET_MS;
}

static void put_value(struct tide_buf *b, uint32_t arm, uint64_t ms)
{
    uint8_t bytes[TIDE_HASH_BYTES];
    memset(bytes, names_previous(arm) ? 0 : 1, sizeof bytes);
    tide_buf_put(b, bytes, sizeof bytes);
    tide_buf_be64(b, 1234);
    tide_buf_be32(b, 1); /* one upgrade */
    tide_xdr_put_var(b, TIDE_SLICE("12345"));
    tide_buf_be32(b, arm);
    if (arm >= TIDE_VALUE_SIGNED_MS)
        tide_buf_be64(b, ms);
    if (names_previous(arm)) {
        memset(bytes, 2, sizeof bytes);
        tide_buf_put(b, bytes, sizeof bytes);
        memset(bytes, 3, sizeof bytes);
        tide_buf_put(b, bytes, sizeof bytes);
        tide_buf_be32(b, 28);
    }
    if (arm > 0) {
        tide_buf_be32(b, 0);
        tide_buf_put(b, bytes, sizeof bytes);
        tide_xdr_put_var(b, TIDE_SLICE("signature"));
    }
}

static tide_status read_value(struct tide_stellar_value *out, uint32_t arm, uint64_t ms)
{
    struct tide_buf b;
    tide_buf_init(&b, 1024);
    put_value(&b, arm, ms);
    tide_status status = tide_stellar_value_of(out, tide_buf_view(&b));
    if (!status) {
        assert_int_equal(out->close_time, 1234);
        assert_int_equal(out->tx_set_hash[0], names_previous(arm) ? 0 : 1);
        assert_int_equal(out->signed_hash[0], names_previous(arm) ? 2 : 1);
        assert_int_equal(out->previous != NULL, names_previous(arm));
        assert_true(!out->previous || out->previous[31] == 3);
        assert_int_equal(out->node != NULL, arm != TIDE_VALUE_BASIC);
        for (size_t len = 0; len < b.len; len++) {
            struct tide_stellar_value cut;
            assert_int_equal(tide_stellar_value_of(&cut, tide_slice_of(b.ptr, len)), TIDE_E_DECODE);
        }
    }
    tide_buf_release(&b);
    return status;
}

static void values_are_read(void **state)
{
    (void)state;
    struct tide_stellar_value value;
    for (uint32_t arm = 0; arm <= TIDE_VALUE_EMPTY_TX_SET_MS; arm++) {
        assert_int_equal(read_value(&value, arm, 1234567), TIDE_OK);
        assert_int_equal(value.close_ms, arm >= TIDE_VALUE_SIGNED_MS ? 567 : 0);
        tide_status status = read_value(&value, arm, 1235000); /* the next second */
        assert_int_equal(status, arm >= TIDE_VALUE_SIGNED_MS ? TIDE_E_DECODE : TIDE_OK);
    }
    assert_int_equal(read_value(&value, TIDE_VALUE_EMPTY_TX_SET_MS + 1, 0), TIDE_E_UNKNOWN);
}

/* A proposer signs the milliseconds, too, where the value has them. */
static void proposers_sign_the_milliseconds(void **state)
{
    (void)state;
    static const uint8_t network[TIDE_HASH_BYTES] = { 9 }, hash[TIDE_HASH_BYTES] = { 8 };
    uint8_t message[TIDE_VALUE_SIGNED_BYTES];
    struct tide_stellar_value value = { .type = TIDE_VALUE_SIGNED,
                                        .close_time = 1234,
                                        .close_ms = 567,
                                        .node = hash,
                                        .signed_hash = hash };
    assert_int_equal(tide_stellar_value_signed(message, &value, network), 76);
    assert_int_equal(message[0] + message[35] + message[36], 9 + 4 + 8);
    assert_int_equal(tide_be64(message + 68), 1234);
    value.type = TIDE_VALUE_SIGNED_MS;
    assert_int_equal(tide_stellar_value_signed(message, &value, network), 84);
    assert_int_equal(tide_be64(message + 76), 1234567);
}

/* A TransactionHistoryEntry of ledger 7 whose set has these bytes behind the previous hash. */
static void put_set(struct tide_buf *b, const uint8_t *previous, bool generalized,
                    const char *behind)
{
    static const uint8_t zero[TIDE_HASH_BYTES];
    tide_buf_be32(b, 7);
    tide_buf_put(b, generalized ? zero : previous, TIDE_HASH_BYTES);
    tide_buf_be32(b, generalized ? 0 : 1);
    if (generalized) {
        tide_buf_be32(b, 1);
        tide_buf_be32(b, 1);
        tide_buf_put(b, previous, TIDE_HASH_BYTES);
    }
    tide_buf_str(b, behind);
    if (!generalized)
        tide_buf_be32(b, 0);
}

static void a_set_names_the_ledger_before(void **state)
{
    (void)state;
    for (int generalized = 0; generalized <= 1; generalized++) {
        uint8_t previous[TIDE_HASH_BYTES], hash[TIDE_HASH_BYTES];
        const uint8_t *named = NULL;
        struct tide_buf b, hashed;
        tide_buf_init(&b, 1024);
        tide_buf_init(&hashed, 1024);
        memset(previous, 9, sizeof previous);
        put_set(&b, previous, generalized, "transactions");
        if (generalized)
            tide_buf_be32(&hashed, 1);
        tide_buf_put(&hashed, previous, sizeof previous);
        tide_buf_str(&hashed, "transactions");
        tide_sha256(hash, tide_buf_view(&hashed));
        assert_int_equal(tx_set_previous(tide_buf_view(&b), hash, &named), TIDE_OK);
        assert_non_null(named);
        assert_memory_equal(named, previous, sizeof previous);
        hash[0] ^= 1;
        assert_int_equal(tx_set_previous(tide_buf_view(&b), hash, &named), TIDE_OK);
        assert_null(named);
        tide_buf_release(&b);
        tide_buf_release(&hashed);
    }
}

/* The bytes of a generalized set in the place of an old one would have the signed hash, and name
 * another ledger before. */
static void a_set_has_one_form_only(void **state)
{
    (void)state;
    uint8_t bytes[4 + TIDE_HASH_BYTES + 8] = { 0, 0, 0, 1, 9, 9, 9 }, hash[TIDE_HASH_BYTES];
    const uint8_t *named = NULL;
    struct tide_buf b;
    tide_sha256(hash, tide_slice_of(bytes, sizeof bytes));
    tide_buf_init(&b, 1024);
    put_set(&b, bytes, false, "");
    b.len -= 4;
    tide_buf_put(&b, bytes + TIDE_HASH_BYTES, sizeof bytes - TIDE_HASH_BYTES);
    tide_buf_be32(&b, 0);
    assert_int_equal(tx_set_previous(tide_buf_view(&b), hash, &named), TIDE_E_DECODE);
    assert_null(named);
    tide_buf_release(&b);
}

/* Recorded of stellar-core in protocols 19, 22 and 28: the bytes of sets without transactions. */
static void empty_sets_are_made_again(void **state)
{
    (void)state;
    uint8_t previous[TIDE_HASH_BYTES], hash[TIDE_HASH_BYTES];
    memset(previous, 0x5a, sizeof previous);
    for (int form = 0; form < 3; form++) {
        struct tide_buf b;
        tide_buf_init(&b, 256);
        if (form)
            tide_buf_be32(&b, 1);
        tide_buf_put(&b, previous, sizeof previous);
        for (int word = 0; form && word < (form == 1 ? 5 : 6); word++)
            tide_buf_be32(&b, word == 0 ? 2 : word == 3 && form == 2);
        tide_sha256(hash, tide_buf_view(&b));
        assert_true(tx_set_is_empty(previous, hash));
        hash[31] ^= 1;
        assert_false(tx_set_is_empty(previous, hash));
        tide_buf_release(&b);
    }
}

int test_votes(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quorum_decides_a_ledger),
        cmocka_unit_test(votes_that_do_not_count),
        cmocka_unit_test(a_validator_keeps_no_value_out),
        cmocka_unit_test(signatures_count_from_a_ledger_on),
        cmocka_unit_test(a_flood_of_votes_ends),
        cmocka_unit_test(values_are_read),
        cmocka_unit_test(proposers_sign_the_milliseconds),
        cmocka_unit_test(a_set_names_the_ledger_before),
        cmocka_unit_test(a_set_has_one_form_only),
        cmocka_unit_test(empty_sets_are_made_again),
    };
    return cmocka_run_group_tests_name("votes", tests, NULL, NULL);
}
