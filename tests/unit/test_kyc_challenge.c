/* Challenges: written, signed by the account, and taken; and every way in which they are not. */
#include "api/kyc/challenge.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { NOW = 1800000000 };

struct world {
    struct tide_sign *server, *alice, *mallory;
    uint8_t network[TIDE_HASH_BYTES];
    struct tide_kyc_challenger who;
    struct tide_buf envelope;
};

static struct tide_sign *key_of(uint8_t seed)
{
    uint8_t bytes[TIDE_SEED_BYTES];
    struct tide_sign *key;
    memset(bytes, seed, sizeof bytes);
    assert_int_equal(tide_sign_open(&key, bytes), TIDE_OK);
    return key;
}

static int open_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    w->server = key_of(1);
    w->alice = key_of(2);
    w->mallory = key_of(3);
    memset(w->network, 7, sizeof w->network);
    w->who = (struct tide_kyc_challenger){ .home_domain = "kyc.example",
                                           .web_domain = "auth.kyc.example",
                                           .network_id = w->network,
                                           .server = tide_sign_public(w->server) };
    tide_buf_init(&w->envelope, TIDE_KYC_ENVELOPE_MAX);
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    struct world *w = *state;
    tide_sign_close(w->server);
    tide_sign_close(w->alice);
    tide_sign_close(w->mallory);
    tide_buf_release(&w->envelope);
    free(w);
    return 0;
}

static void write(struct world *w, struct tide_sign *server)
{
    uint8_t nonce[TIDE_KYC_NONCE_BYTES];
    memset(nonce, 9, sizeof nonce);
    tide_buf_reset(&w->envelope);
    assert_int_equal(tide_kyc_challenge_write(&w->envelope, &w->who, tide_sign_public(w->alice),
                                              nonce, NOW, server),
                     TIDE_OK);
}

/* As a wallet does: the hash, a signature behind the others. */
static void sign(struct world *w, struct tide_sign *key, uint8_t count)
{
    uint8_t hash[TIDE_HASH_BYTES], signature[TIDE_SIGNATURE_BYTES];
    static const uint8_t kind[4] = { 0, 0, 0, 2 };
    struct tide_sha256 sha;
    /* Each signature so far is hint, length, bytes; before them their count. */
    size_t end = w->envelope.len - 72u * (count - 1) - 4;
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, tide_slice_of(w->network, sizeof w->network));
    tide_sha256_update(&sha, tide_slice_of(kind, sizeof kind));
    tide_sha256_update(&sha, tide_slice_of(w->envelope.ptr + 4, end - 4));
    tide_sha256_final(&sha, hash);
    assert_int_equal(tide_sign(key, signature, tide_slice_of(hash, sizeof hash)), TIDE_OK);
    w->envelope.ptr[end + 3] = count;
    tide_buf_put(&w->envelope, tide_sign_public(key) + 28, 4);
    tide_buf_be32(&w->envelope, sizeof signature);
    tide_buf_put(&w->envelope, signature, sizeof signature);
}

static const char *read_at(struct world *w, uint64_t now)
{
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t until;
    return tide_kyc_challenge_read(hash, &until, &w->who, tide_sign_public(w->alice),
                                   tide_buf_view(&w->envelope), now);
}

static void test_taken(void **state)
{
    struct world *w = *state;
    write(w, w->server);
    sign(w, w->alice, 2);
    assert_null(read_at(w, NOW));
    assert_null(read_at(w, NOW + TIDE_KYC_CHALLENGE_S));
    assert_string_equal(read_at(w, NOW + TIDE_KYC_CHALLENGE_S + 1), "it has expired");
    assert_string_equal(read_at(w, NOW - 1), "it has expired");
}

static void test_signatures(void **state)
{
    struct world *w = *state;
    write(w, w->server);
    assert_non_null(read_at(w, NOW)); /* as we gave it out */
    sign(w, w->mallory, 2);
    assert_non_null(read_at(w, NOW));
    write(w, w->server);
    sign(w, w->server, 2);
    assert_non_null(read_at(w, NOW)); /* ours twice */
    write(w, w->server);
    sign(w, w->alice, 2);
    sign(w, w->mallory, 3);
    assert_non_null(read_at(w, NOW)); /* one too many */
    write(w, w->server);
    sign(w, w->alice, 2);
    sign(w, w->alice, 3);
    assert_non_null(read_at(w, NOW));
    write(w, w->mallory); /* forged: not our signature */
    sign(w, w->alice, 2);
    assert_non_null(read_at(w, NOW));
}

static void test_others(void **state)
{
    struct world *w = *state;
    write(w, w->server);
    sign(w, w->alice, 2);
    w->network[0] ^= 1;
    assert_non_null(read_at(w, NOW)); /* of another network */
    w->network[0] ^= 1;
    w->who.home_domain = "other.example";
    assert_string_equal(read_at(w, NOW), "its first operation is not this account's");
    w->who.home_domain = "kyc.example";
    w->who.web_domain = "other.example";
    assert_string_equal(read_at(w, NOW), "its second operation is not this server's");
    w->who.web_domain = "auth.kyc.example";
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t until;
    assert_non_null(tide_kyc_challenge_read(hash, &until, &w->who, tide_sign_public(w->mallory),
                                            tide_buf_view(&w->envelope), NOW));
    assert_non_null(tide_kyc_challenge_read(hash, &until, &w->who, tide_sign_public(w->server),
                                            tide_buf_view(&w->envelope), NOW));
}

/* No bit can be another, no byte be missing or too many. */
static void test_every_byte(void **state)
{
    struct world *w = *state;
    write(w, w->server);
    sign(w, w->alice, 2);
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t until;
    for (size_t i = 0; i < w->envelope.len; i++) {
        uint8_t *copy = malloc(i ? i : 1); /* exact: the sanitizer sees a byte too far */
        memcpy(copy, w->envelope.ptr, i);
        assert_non_null(tide_kyc_challenge_read(hash, &until, &w->who, tide_sign_public(w->alice),
                                                tide_slice_of(copy, i), NOW));
        free(copy);
        for (int bit = 0; bit < 8; bit++) {
            w->envelope.ptr[i] ^= (uint8_t)(1 << bit);
            assert_non_null(read_at(w, NOW));
            w->envelope.ptr[i] ^= (uint8_t)(1 << bit);
        }
    }
    assert_null(read_at(w, NOW));
    tide_buf_u8(&w->envelope, 0);
    assert_non_null(read_at(w, NOW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_taken, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_signatures, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_others, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_every_byte, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
