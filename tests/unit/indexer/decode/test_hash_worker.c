/* A worker thread hashes large transaction sets; the findings are the same as without it.
 * label: threads */
#include "indexer/decode/proof.h"
#include "tidemark/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SET_BYTES = 200000, SMALL_BYTES = 1000 };

/* A transaction set of `len` bytes, after a header that has its hash. */
struct ledger {
    struct tide_ledger_header header;
    uint8_t set_hash[TIDE_HASH_BYTES], result_hash[TIDE_HASH_BYTES];
    uint8_t *set;
    size_t len;
};

static void make_set(struct ledger *l, uint32_t version, size_t len)
{
    static const uint8_t none[4];
    *l = (struct ledger){ .len = len, .set = malloc(len) };
    for (size_t i = 0; i < len; i++)
        l->set[i] = (uint8_t)(i * 31 + i / 251);
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(l->set, version ? len : 32));
    if (!version)
        tide_sha256_update(&h, tide_slice_of(l->set + 36, len - 36));
    tide_sha256_final(&h, l->set_hash);
    tide_sha256(l->result_hash, tide_slice_of(none, 4));
    l->header = (struct tide_ledger_header){ .lcm_version = version };
    l->header.tx_set_hash = l->set_hash;
    l->header.result_hash = l->result_hash;
    l->header.hash = l->header.previous_hash = l->set_hash;
}

static void begin_proof(struct tide_proof_check *verify, const struct ledger *l)
{
    tide_proof_header(verify, &l->header);
    tide_proof_tx_set(verify, tide_slice_of(l->set, l->len));
}

static enum tide_check found(struct tide_proof_check *verify, const struct ledger *l)
{
    begin_proof(verify, l);
    tide_proof_end(verify);
    assert_int_equal(tide_proof_findings(verify)->results, TIDE_CHECK_HOLDS);
    return tide_proof_findings(verify)->tx_set;
}

static void each_altered_byte_is_caught(void **state)
{
    (void)state;
    struct tide_proof_check *verify;
    assert_int_equal(tide_proof_open(&verify, TIDE_PROOF_RESULTS, NULL), TIDE_OK);
    tide_proof_use_worker(verify);
    for (uint32_t version = 0; version <= 2; version++) {
        for (size_t len = SMALL_BYTES; len <= SET_BYTES; len += SET_BYTES - SMALL_BYTES) {
            struct ledger l;
            make_set(&l, version, len);
            assert_int_equal(found(verify, &l), TIDE_CHECK_HOLDS);
            for (size_t at = 0; at < len; at += 7919) {
                bool counted = version == 0 && at >= 32 && at < 36; /* not hashed by the old set */
                l.set[at] ^= 1;
                assert_int_equal(found(verify, &l), counted ? TIDE_CHECK_HOLDS : TIDE_CHECK_FAILS);
                l.set[at] ^= 1;
            }
            assert_int_equal(found(verify, &l), TIDE_CHECK_HOLDS);
            free(l.set);
        }
    }
    tide_proof_close(verify);
}

/* After a drop the worker no longer reads the set, and the dropped set does not affect the next
 * one. */
static void a_ledger_given_up_is_forgotten(void **state)
{
    (void)state;
    struct tide_proof_check *verify;
    assert_int_equal(tide_proof_open(&verify, TIDE_PROOF_EVENTS, NULL), TIDE_OK);
    tide_proof_use_worker(verify);
    for (int i = 0; i < 200; i++) {
        struct ledger given_up, next;
        make_set(&given_up, 1, SET_BYTES);
        make_set(&next, 1, i % 2 ? SET_BYTES : SMALL_BYTES);
        begin_proof(verify, &given_up);
        tide_proof_drop(verify);
        memset(given_up.set, 0xff, given_up.len);
        free(given_up.set);
        tide_proof_drop(verify); /* no ledger was begun: does nothing */
        assert_int_equal(found(verify, &next), TIDE_CHECK_HOLDS);
        free(next.set);
    }
    tide_proof_close(verify);
}

int test_hash_worker(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_altered_byte_is_caught),
        cmocka_unit_test(a_ledger_given_up_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
