/* Ed25519: the vectors of RFC 8032, and a transaction signed by another program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "literal.h"
#include "tidemark/hash.h"
#include "tidemark/sign.h"
#include "tidemark/strkey.h"

/* RFC 8032, section 7.1, tests 1 to 3. */
static const char *const vectors[] = {
    "@seed 9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60 "
    "@key d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a "
    "@sig e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
    "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b @message @end",
    "@seed 4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb "
    "@key 3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c "
    "@sig 92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00 @message 72 @end",
    "@seed c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7 "
    "@key fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025 "
    "@sig 6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
    "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a @message af82 @end",
};

static void seeds_sign_as_the_rfc_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(vectors); i++) {
        struct literal l;
        struct tide_sign *key;
        uint8_t signature[TIDE_SIGNATURE_BYTES];
        literal_open(&l, vectors[i]);
        tide_slice message = literal_between(&l, "message", "end");
        assert_int_equal(tide_sign_open(&key, l.buf.ptr + literal_at(&l, "seed")), TIDE_OK);
        assert_memory_equal(tide_sign_public(key), l.buf.ptr + literal_at(&l, "key"), 32);
        for (int twice = 0; twice < 2; twice++) {
            memset(signature, 0, sizeof signature);
            tide_sign(key, signature, message);
            assert_memory_equal(signature, l.buf.ptr + literal_at(&l, "sig"), sizeof signature);
        }
        tide_sign_close(key);
        literal_close(&l);
    }
}

static void a_signature_holds_for_its_own_message_alone(void **state)
{
    (void)state;
    struct literal l;
    literal_open(&l, vectors[1]);
    const uint8_t *key = l.buf.ptr + literal_at(&l, "key");
    tide_slice sig = literal_between(&l, "sig", "message");
    tide_slice message = literal_between(&l, "message", "end");
    assert_true(tide_ed25519_holds(key, sig, message));
    assert_false(tide_ed25519_holds(key, sig, (tide_slice){ 0 }));
    assert_false(tide_ed25519_holds(key, tide_slice_of(sig.ptr, 63), message));
    for (size_t bit = 0; bit < 512; bit += 37) {
        l.buf.ptr[literal_at(&l, "sig") + bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(tide_ed25519_holds(key, sig, message));
        l.buf.ptr[literal_at(&l, "sig") + bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    l.buf.ptr[literal_at(&l, "key")] ^= 1;
    assert_false(tide_ed25519_holds(key, sig, message));
    literal_close(&l);
}

static void a_wiped_seed_is_gone(void **state)
{
    (void)state;
    uint8_t seed[TIDE_SEED_BYTES], zero[TIDE_SEED_BYTES] = { 0 };
    memset(seed, 0x5a, sizeof seed);
    tide_sign_wipe(seed, sizeof seed);
    assert_memory_equal(seed, zero, sizeof seed);
    tide_sign_close(NULL);
}

/* Returns the text after "name": in a flat JSON file, or an empty slice. */
static tide_slice field(const char *json, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": \"", name);
    const char *at = strstr(json, quoted);
    if (!at)
        return (tide_slice){ 0 };
    at += strlen(quoted);
    return tide_slice_of(at, strcspn(at, "\""));
}

static bool read_vector(char *out, size_t size)
{
    char path[512];
    const char *shared = getenv("TIDE_SHARED");
    snprintf(path, sizeof path, "%s/fixtures/vectors/tx-invoke.json",
             shared ? shared : "../shared");
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t len = fread(out, 1, size - 1, file);
    out[len] = 0;
    fclose(file);
    return len > 0;
}

/* The signature made here over the recorded hash equals the recorded signature byte for byte. */
static void a_recorded_transaction_is_signed_the_same(void **state)
{
    (void)state;
    static char json[65536];
    uint8_t seed[TIDE_STRKEY_PAYLOAD_MAX], hash[TIDE_HASH_BYTES], signature[TIDE_SIGNATURE_BYTES];
    uint8_t want[TIDE_SIGNATURE_BYTES];
    char text[TIDE_STRKEY_TEXT_MAX];
    struct tide_buf payload;
    struct tide_sign *key;
    enum tide_strkey kind;
    size_t len;
    if (!read_vector(json, sizeof json)) {
        puts("skipped: no fixtures/vectors/tx-invoke.json in TIDE_SHARED or ../shared");
        skip();
    }
    assert_int_equal(tide_strkey_decode(&kind, seed, &len, field(json, "secretSeed")), TIDE_OK);
    assert_int_equal(kind, TIDE_STRKEY_SEED);
    assert_int_equal(tide_sign_open(&key, seed), TIDE_OK);
    len = tide_strkey_encode(text, TIDE_STRKEY_ACCOUNT, tide_slice_of(tide_sign_public(key), 32));
    assert_true(tide_slice_eq(tide_slice_of(text, len), field(json, "source")));
    tide_slice hex = field(json, "signaturePayloadHex");
    tide_buf_init(&payload, hex.len);
    assert_non_null(tide_buf_room(&payload, hex.len / 2));
    assert_int_equal(tide_hex_decode(payload.ptr, hex.len / 2, hex), TIDE_OK);
    tide_sha256(hash, tide_slice_of(payload.ptr, hex.len / 2));
    tide_sign(key, signature, tide_slice_of(hash, sizeof hash));
    assert_int_equal(tide_hex_decode(want, sizeof want, field(json, "signatureHex")), TIDE_OK);
    assert_memory_equal(signature, want, sizeof want);
    tide_buf_release(&payload);
    tide_sign_close(key);
}

int test_sign(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_sign_as_the_rfc_says),
        cmocka_unit_test(a_signature_holds_for_its_own_message_alone),
        cmocka_unit_test(a_wiped_seed_is_gone),
        cmocka_unit_test(a_recorded_transaction_is_signed_the_same),
    };
    return cmocka_run_group_tests_name("sign", tests, NULL, NULL);
}
