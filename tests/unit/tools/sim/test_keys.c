/* Every verifier accepts the simulator's cheap signatures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tidemark/hash.h"
#include "tools/sim/ledger/keys.h"

static void every_signature_holds_and_is_the_same_twice(void **state)
{
    (void)state;
    struct keys keys = { 0 };
    uint8_t seed[TIDE_SEED_BYTES] = { 0 }, public[700][TIDE_HASH_BYTES];
    uint8_t hash[TIDE_HASH_BYTES], sig[2][TIDE_SIGNATURE_BYTES];
    for (uint32_t i = 0; i < TIDE_COUNT(public); i++) {
        memcpy(seed, &i, sizeof i);
        assert_int_equal(keys_add(&keys, seed, public[i]), TIDE_OK);
        assert_int_equal(keys_add(&keys, seed, public[i]), TIDE_OK); /* once */
    }
    for (uint32_t i = 0; i < 2 * TIDE_COUNT(public); i++) {
        const uint8_t *key = public[i % TIDE_COUNT(public)];
        tide_sha256(hash, tide_slice_of(&i, sizeof i));
        for (int twice = 0; twice < 2; twice++)
            assert_true(keys_sign(&keys, sig[twice], key, hash));
        assert_memory_equal(sig[0], sig[1], TIDE_SIGNATURE_BYTES);
        tide_slice signature = tide_slice_of(sig[0], TIDE_SIGNATURE_BYTES);
        assert_true(tide_ed25519_holds(key, signature, tide_slice_of(hash, TIDE_HASH_BYTES)));
        hash[3] ^= 1;
        assert_false(tide_ed25519_holds(key, signature, tide_slice_of(hash, TIDE_HASH_BYTES)));
    }
    memset(hash, 7, sizeof hash);
    assert_false(keys_sign(&keys, sig[0], hash, hash));
    keys_close(&keys);
}

int test_keys(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_signature_holds_and_is_the_same_twice),
    };
    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
