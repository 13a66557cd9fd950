/* Proofs of transactions and entries: valid ones prove what they say, and no changed, cut or longer
 * one proves anything. The files are those of the fuzz target: a validator's key, a network's id, a proof. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "indexer/verify/proof_check.h"

enum { FILE_MAX = 64 << 10, PROOF_AT = 2 * TIDE_HASH_BYTES };

static const char *const names[] = { "events", "failed", "empty_value", "entry" };

struct file {
    uint8_t bytes[FILE_MAX];
    size_t len; /* bytes of the proof */
    struct tide_quorum quorum;
};

static void load_file(struct file *f, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/proof/%s", TIDE_SOURCE_DIR, name);
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    size_t got = fread(f->bytes, 1, sizeof f->bytes, in);
    fclose(in);
    assert_true(got > PROOF_AT && got < sizeof f->bytes);
    f->len = got - PROOF_AT;
    f->quorum = (struct tide_quorum){ .count = 1, .set_count = 1, .sets = { { 1, 0 } } };
    memcpy(f->quorum.validators[0].key, f->bytes, TIDE_HASH_BYTES);
}

static tide_status check_bytes(const struct file *f, size_t len, struct proof_claim *claim)
{
    struct tide_err err = { 0 };
    tide_status status = proof_check(tide_slice_of(f->bytes + PROOF_AT, len), &f->quorum,
                                     f->bytes + TIDE_HASH_BYTES, claim, &err);
    assert_true(status == TIDE_OK || (*err.text && err.code == status));
    return status;
}

static void valid_proofs_prove_their_transaction(void **state)
{
    static struct file f;
    struct proof_claim claim;
    (void)state;
    load_file(&f, "events");
    assert_int_equal(check_bytes(&f, f.len, &claim), TIDE_OK);
    assert_true(claim.tx.successful && claim.has_events);
    assert_int_equal(claim.event_count, 2);
    assert_int_equal(claim.signed_ledger, claim.header.sequence + 2);
    assert_int_equal(tide_signers_count(&claim.signers), 1);
    load_file(&f, "failed");
    assert_int_equal(check_bytes(&f, f.len, &claim), TIDE_OK);
    assert_false(claim.tx.successful || claim.has_events);
    load_file(&f, "empty_value");
    assert_int_equal(check_bytes(&f, f.len, &claim), TIDE_OK);
    assert_int_equal(claim.signed_ledger, claim.header.sequence + 1);
}

static void valid_proofs_prove_the_buckets(void **state)
{
    static struct file f;
    struct proof_claim claim;
    (void)state;
    load_file(&f, "entry");
    assert_int_equal(check_bytes(&f, f.len, &claim), TIDE_OK);
    assert_int_equal(claim.kind, PROOF_ENTRY);
    assert_int_equal(claim.buckets.version, 2);
    assert_int_equal(claim.buckets.current_ledger, claim.header.sequence);
    assert_int_equal(claim.of.durability, 1);
    assert_int_equal(claim.said, PROOF_SAID_VALUE);
    assert_int_equal(claim.signed_ledger, claim.header.sequence + 1);
}

/* Returns the number of bytes that the votes cover: those before an entry's key. The key is the
 * question, and what is said of the value is compared with buckets. */
static size_t covered(struct file *f)
{
    struct proof_claim claim;
    assert_int_equal(check_bytes(f, f->len, &claim), TIDE_OK);
    return claim.kind == PROOF_ENTRY ? (size_t)(claim.key.ptr - (f->bytes + PROOF_AT)) : f->len;
}

static void a_changed_byte_proves_nothing(void **state)
{
    static struct file f;
    struct proof_claim claim;
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(names); i++) {
        load_file(&f, names[i]);
        for (size_t at = 0, end = covered(&f); at < end; at++) {
            f.bytes[PROOF_AT + at] ^= (uint8_t)(1u << at % 8);
            assert_int_not_equal(check_bytes(&f, f.len, &claim), TIDE_OK);
            f.bytes[PROOF_AT + at] ^= (uint8_t)(1u << at % 8);
        }
        assert_int_equal(check_bytes(&f, f.len, &claim), TIDE_OK);
    }
}

static void cut_and_longer_proofs_are_refused(void **state)
{
    static struct file f;
    struct proof_claim claim;
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(names); i++) {
        load_file(&f, names[i]);
        for (size_t len = 0; len < f.len; len++)
            assert_int_not_equal(check_bytes(&f, len, &claim), TIDE_OK);
        for (size_t more = 1; more <= 8; more++)
            assert_int_not_equal(check_bytes(&f, f.len + more, &claim), TIDE_OK);
    }
}

static void other_networks_and_validators_prove_nothing(void **state)
{
    static struct file f;
    struct proof_claim claim;
    (void)state;
    load_file(&f, "events");
    f.bytes[TIDE_HASH_BYTES] ^= 1;
    assert_int_equal(check_bytes(&f, f.len, &claim), TIDE_E_CONFLICT);
    load_file(&f, "events");
    f.quorum.validators[0].key[0] ^= 1;
    assert_int_equal(check_bytes(&f, f.len, &claim), TIDE_E_CONFLICT);
    load_file(&f, "events");
    f.quorum.count = 2; /* two of two must sign, and one did */
    f.quorum.sets[0].threshold = 2;
    assert_int_equal(check_bytes(&f, f.len, &claim), TIDE_E_CONFLICT);
    load_file(&f, "events");
    f.quorum.set_count = f.quorum.count = 0;
    assert_int_equal(check_bytes(&f, f.len, &claim), TIDE_E_CONFLICT);
}

/* Each word as a giant length, count or arm. */
static void giant_lengths_are_refused(void **state)
{
    static const uint8_t giants[][4] = { { 0xff, 0xff, 0xff, 0xff }, { 0x7f, 0xff, 0xff, 0xff } };
    static struct file f;
    struct proof_claim claim;
    (void)state;
    load_file(&f, "events");
    for (size_t at = 0; at + 4 <= f.len; at += 4)
        for (size_t i = 0; i < TIDE_COUNT(giants); i++) {
            uint8_t kept[4], *word = f.bytes + PROOF_AT + at;
            memcpy(kept, word, sizeof kept);
            memcpy(word, giants[i], sizeof kept);
            if (memcmp(kept, giants[i], sizeof kept) != 0)
                assert_int_not_equal(check_bytes(&f, f.len, &claim), TIDE_OK);
            memcpy(word, kept, sizeof kept);
        }
}

int test_proof_check(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_proofs_prove_their_transaction),
        cmocka_unit_test(valid_proofs_prove_the_buckets),
        cmocka_unit_test(a_changed_byte_proves_nothing),
        cmocka_unit_test(cut_and_longer_proofs_are_refused),
        cmocka_unit_test(other_networks_and_validators_prove_nothing),
        cmocka_unit_test(giant_lengths_are_refused),
    };
    return cmocka_run_group_tests_name("proof_check", tests, NULL, NULL);
}
