/* Challenges that an account signs to prove that it belongs to the client: accepted ones, and every
 * way in which one is refused. */
#include "api/kyc/sessions/account.h"
#include "api/kyc/sessions/challenge.h"

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

static void write_challenge(struct world *w, struct tide_sign *server)
{
    uint8_t nonce[TIDE_KYC_NONCE_BYTES];
    memset(nonce, 9, sizeof nonce);
    tide_buf_reset(&w->envelope);
    assert_int_equal(tide_kyc_challenge_write(&w->envelope, &w->who, tide_sign_public(w->alice),
                                              nonce, NOW, server),
                     TIDE_OK);
}

/* Signs as a wallet does: signs the hash and appends the signature to the others. */
static void sign(struct world *w, struct tide_sign *key, uint8_t count)
{
    uint8_t hash[TIDE_HASH_BYTES], signature[TIDE_SIGNATURE_BYTES];
    static const uint8_t kind[4] = { 0, 0, 0, 2 };
    struct tide_sha256 sha;
    /* Each earlier signature is a hint, a length and the bytes; their count precedes them. */
    size_t end = w->envelope.len - 72u * (count - 1) - 4;
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, tide_slice_of(w->network, sizeof w->network));
    tide_sha256_update(&sha, tide_slice_of(kind, sizeof kind));
    tide_sha256_update(&sha, tide_slice_of(w->envelope.ptr + 4, end - 4));
    tide_sha256_final(&sha, hash);
    tide_sign(key, signature, tide_slice_of(hash, sizeof hash));
    w->envelope.ptr[end + 3] = count;
    tide_buf_put(&w->envelope, tide_sign_public(key) + 28, 4);
    tide_buf_be32(&w->envelope, sizeof signature);
    tide_buf_put(&w->envelope, signature, sizeof signature);
}

static struct tide_kyc_signers alone(const struct tide_sign *key)
{
    struct tide_kyc_signers signers = { .count = 1, .list[0].weight = 1 };
    memcpy(signers.list[0].key, tide_sign_public(key), TIDE_HASH_BYTES);
    return signers;
}

/* Returns NULL if the challenge proves the account, else the reason. The account has no signer but
 * its own key. */
static const char *check_challenge(struct world *w, const struct tide_sign *account,
                                   tide_slice envelope, uint64_t now)
{
    struct tide_kyc_proof proof;
    struct tide_kyc_signers signers = alone(account);
    const char *wrong =
        tide_kyc_challenge_read(&proof, &w->who, tide_sign_public(account), envelope, now);
    return wrong ? wrong : tide_kyc_proof_weigh(&proof, &signers);
}

static const char *read_at(struct world *w, uint64_t now)
{
    return check_challenge(w, w->alice, tide_buf_view(&w->envelope), now);
}

static void test_taken(void **state)
{
    struct world *w = *state;
    write_challenge(w, w->server);
    sign(w, w->alice, 2);
    assert_null(read_at(w, NOW));
    assert_null(read_at(w, NOW + TIDE_KYC_CHALLENGE_S));
    assert_string_equal(read_at(w, NOW + TIDE_KYC_CHALLENGE_S + 1), "it has expired");
    assert_string_equal(read_at(w, NOW - 1), "it has expired");
}

static void test_signatures(void **state)
{
    struct world *w = *state;
    write_challenge(w, w->server);
    assert_non_null(read_at(w, NOW)); /* unsigned by the account, as the server sent it */
    sign(w, w->mallory, 2);
    assert_non_null(read_at(w, NOW));
    write_challenge(w, w->server);
    sign(w, w->server, 2);
    assert_non_null(read_at(w, NOW)); /* signed twice by the server */
    write_challenge(w, w->server);
    sign(w, w->alice, 2);
    sign(w, w->mallory, 3);
    assert_non_null(read_at(w, NOW)); /* one signature too many */
    write_challenge(w, w->server);
    sign(w, w->alice, 2);
    sign(w, w->alice, 3);
    assert_non_null(read_at(w, NOW));
    write_challenge(w, w->mallory); /* forged: not signed by the server */
    sign(w, w->alice, 2);
    assert_non_null(read_at(w, NOW));
}

static void test_others(void **state)
{
    struct world *w = *state;
    write_challenge(w, w->server);
    sign(w, w->alice, 2);
    w->network[0] ^= 1;
    assert_non_null(read_at(w, NOW)); /* signed for another network */
    w->network[0] ^= 1;
    w->who.home_domain = "other.example";
    assert_string_equal(read_at(w, NOW), "its first operation is not this account's");
    w->who.home_domain = "kyc.example";
    w->who.web_domain = "other.example";
    assert_string_equal(read_at(w, NOW), "its second operation is not this server's");
    w->who.web_domain = "auth.kyc.example";
    assert_non_null(check_challenge(w, w->mallory, tide_buf_view(&w->envelope), NOW));
    assert_non_null(check_challenge(w, w->server, tide_buf_view(&w->envelope), NOW));
}

/* A challenge with one bit changed, one byte less or one byte more is refused. */
static void test_every_byte(void **state)
{
    struct world *w = *state;
    write_challenge(w, w->server);
    sign(w, w->alice, 2);
    for (size_t i = 0; i < w->envelope.len; i++) {
        uint8_t *copy = malloc(i ? i : 1); /* exact size: a sanitizer sees a read past the end */
        memcpy(copy, w->envelope.ptr, i);
        assert_non_null(check_challenge(w, w->alice, tide_slice_of(copy, i), NOW));
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

/* The weights of the signers add up, each signer once, and must reach the medium threshold. */
static void test_weights(void **state)
{
    struct world *w = *state;
    struct tide_kyc_proof proof;
    struct tide_kyc_signers signers = alone(w->alice);
    write_challenge(w, w->server);
    sign(w, w->alice, 2);
    assert_null(tide_kyc_challenge_read(&proof, &w->who, tide_sign_public(w->alice),
                                        tide_buf_view(&w->envelope), NOW));
    assert_null(tide_kyc_proof_weigh(&proof, &signers));
    signers.medium = 2;
    assert_non_null(tide_kyc_proof_weigh(&proof, &signers));
    signers.list[0].weight = 2;
    assert_null(tide_kyc_proof_weigh(&proof, &signers));
    signers.medium = signers.list[0].weight = 0; /* the own key was given up */
    assert_non_null(tide_kyc_proof_weigh(&proof, &signers));
    signers = alone(w->alice);
    memcpy(signers.list[1].key, tide_sign_public(w->mallory), TIDE_HASH_BYTES);
    signers.list[1].weight = 1;
    signers.count = 2;
    signers.medium = 2;
    assert_non_null(tide_kyc_proof_weigh(&proof, &signers));
    sign(w, w->mallory, 3);
    assert_null(tide_kyc_challenge_read(&proof, &w->who, tide_sign_public(w->alice),
                                        tide_buf_view(&w->envelope), NOW));
    assert_int_equal(proof.count, 2);
    assert_null(tide_kyc_proof_weigh(&proof, &signers));
    proof.signatures[1] = proof.signatures[0]; /* the same one twice */
    assert_non_null(tide_kyc_proof_weigh(&proof, &signers));
    signers.count = 0;
    assert_non_null(tide_kyc_proof_weigh(&proof, &signers));
}

/* Account entries as RPC returns them: the whole entry of that account is accepted, every shorter
 * one is refused. */
static void test_account_entries(void **state)
{
    struct world *w = *state;
    const uint8_t *alice = tide_sign_public(w->alice);
    struct tide_kyc_signers signers;
    struct tide_err err;
    struct tide_buf entry;
    static const uint8_t thresholds[4] = { 9, 1, 7, 8 };
    tide_buf_init(&entry, 1024);
    tide_buf_be32(&entry, 0);
    tide_buf_be32(&entry, 0);
    tide_buf_put(&entry, alice, TIDE_HASH_BYTES);
    tide_buf_be64(&entry, 1);
    tide_buf_be64(&entry, 2);
    tide_buf_be32(&entry, 2);
    tide_buf_be32(&entry, 1); /* an inflation destination */
    tide_buf_be32(&entry, 0);
    tide_buf_put(&entry, alice, TIDE_HASH_BYTES);
    tide_buf_be32(&entry, 0);
    tide_buf_be32(&entry, 3); /* home domain "a.b" */
    tide_buf_put(&entry, "a.b", 4);
    tide_buf_put(&entry, thresholds, 4);
    tide_buf_be32(&entry, 2);
    tide_buf_be32(&entry, 1); /* signer: hash of a transaction, which signs no challenge */
    tide_buf_put(&entry, alice, TIDE_HASH_BYTES);
    tide_buf_be32(&entry, 5);
    tide_buf_be32(&entry, 0);
    tide_buf_put(&entry, tide_sign_public(w->mallory), TIDE_HASH_BYTES);
    tide_buf_be32(&entry, 6);
    assert_int_equal(tide_kyc_signers_read(&signers, alice, tide_buf_view(&entry), &err), TIDE_OK);
    assert_int_equal(signers.medium, 7);
    assert_int_equal(signers.count, 2);
    assert_int_equal(signers.list[0].weight, 9);
    assert_int_equal(signers.list[1].weight, 6);
    assert_memory_equal(signers.list[1].key, tide_sign_public(w->mallory), TIDE_HASH_BYTES);
    assert_int_equal(
        tide_kyc_signers_read(&signers, tide_sign_public(w->mallory), tide_buf_view(&entry), &err),
        TIDE_E_DECODE);
    for (size_t len = 0; len < entry.len; len++) {
        uint8_t *copy = malloc(len ? len : 1);
        memcpy(copy, entry.ptr, len);
        assert_int_equal(tide_kyc_signers_read(&signers, alice, tide_slice_of(copy, len), &err),
                         TIDE_E_DECODE);
        free(copy);
    }
    tide_buf_release(&entry);
}

int test_kyc_challenge(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_taken, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_signatures, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_others, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_every_byte, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_weights, open_world, close_world),
        cmocka_unit_test_setup_teardown(test_account_entries, open_world, close_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
