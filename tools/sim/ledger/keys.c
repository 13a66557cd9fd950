/* Ed25519 signatures of simulated keys with one nonce a key. */
#include "tools/sim/ledger/keys.h"
#include "tidemark/hash.h"
#include "tidemark/i128.h"

#include <search.h>

/* --- numbers modulo the order of the group, RFC 8032 section 5.1 ------------------ */

/* The group's order: 2^252 + 27742317777372353535851937790883648493. Numbers in this file have
 * their least significant word first. */
static const uint64_t order[4] = { 0x5812631a5cf5d3ed, 0x14def9dea2f79cd6, 0, 0x1000000000000000 };
static_assert(sizeof order == TIDE_HASH_BYTES, "a number fills one half of a signature");
static_assert(TIDE_SIGNATURE_BYTES == 2 * TIDE_HASH_BYTES, "nonce's point, then the number");

static bool at_least_order(const uint64_t n[4])
{
    for (int i = 3; i >= 0; i--) {
        if (n[i] != order[i])
            return n[i] > order[i];
    }
    return true;
}

/* Subtracts the order once. */
static void subtract_order(uint64_t n[4])
{
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        tide_raw_u128 left = (tide_raw_u128)n[i] - order[i] - borrow;
        n[i] = (uint64_t)left;
        borrow = (uint64_t)(left >> 64) & 1;
    }
}

/* Computes n mod order. The upper 252 bits are less than the order; the lower bits join one by
 * one. */
static void reduce_mod_order(uint64_t out[4], const uint64_t n[8])
{
    for (int i = 0; i < 4; i++)
        out[i] = n[i + 4] >> 4 | (i < 3 ? n[i + 5] << 60 : 0);
    for (int bit = 259; bit >= 0; bit--) {
        for (int i = 3; i > 0; i--)
            out[i] = out[i] << 1 | out[i - 1] >> 63;
        out[0] = out[0] << 1 | (n[bit / 64] >> bit % 64 & 1);
        if (at_least_order(out))
            subtract_order(out);
    }
    assert(!at_least_order(out));
}

/* Computes a * b + c mod order. */
static void multiply_add(uint64_t out[4], const uint64_t a[4], const uint64_t b[4],
                         const uint64_t c[4])
{
    uint64_t product[8] = { c[0], c[1], c[2], c[3] };
    for (int i = 0; i < 4; i++) {
        tide_raw_u128 carry = 0;
        for (int j = 0; j < 4; j++) {
            carry += (tide_raw_u128)a[i] * b[j] + product[i + j];
            product[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
        product[i + 4] = (uint64_t)carry;
    }
    reduce_mod_order(out, product);
}

/* Hashes a and b to a number mod order. The hash is little-endian: so are the machine's words. */
static void hash_number(uint64_t out[4], tide_slice a, tide_slice b)
{
    uint64_t n[8];
    tide_sha512((uint8_t *)n, a, b);
    reduce_mod_order(out, n);
}

/* --- pairs ---------------------------------------------------------------------- */

/* Orders pairs, which begin with their public key. */
static int by_public(const void *a, const void *b)
{
    return memcmp(a, b, TIDE_HASH_BYTES);
}

tide_status keys_add(struct keys *keys, const uint8_t seed[TIDE_SEED_BYTES],
                     uint8_t public[TIDE_HASH_BYTES])
{
    struct tide_sign *key;
    tide_status status = tide_sign_open(&key, seed);
    if (status != TIDE_OK)
        return status;
    memcpy(public, tide_sign_public(key), TIDE_HASH_BYTES);
    tide_sign_close(key);
    if (tfind(public, &keys->pairs, by_public))
        return TIDE_OK;
    struct keys_pair *pair = calloc(1, sizeof *pair);
    if (!pair)
        return TIDE_E_MEMORY;
    memcpy(pair->public, public, TIDE_HASH_BYTES);
    memcpy(pair->seed, seed, TIDE_SEED_BYTES);
    if (tsearch(pair, &keys->pairs, by_public))
        return TIDE_OK;
    free(pair);
    return TIDE_E_MEMORY;
}

void keys_close(struct keys *keys)
{
    tdestroy(keys->pairs, free);
    keys->pairs = NULL;
}

/* Computes the key's secret scalar and a nonce. The nonce is the one of the key's RFC 8032
 * signature over the empty message, so its curve point is the first half of that signature. */
static bool make_ready(struct keys_pair *pair)
{
    uint8_t secret[64], signature[TIDE_SIGNATURE_BYTES];
    struct tide_sign *key;
    if (tide_sign_open(&key, pair->seed) != TIDE_OK)
        return false;
    tide_sign(key, signature, (tide_slice){ 0 });
    tide_sign_close(key);
    memcpy(pair->point, signature, TIDE_HASH_BYTES);
    tide_sha512(secret, tide_slice_of(pair->seed, TIDE_SEED_BYTES), (tide_slice){ 0 });
    hash_number(pair->nonce, tide_slice_of(secret + 32, 32), (tide_slice){ 0 });
    /* The clamping of RFC 8032. */
    secret[0] &= 0xf8;
    secret[31] = (uint8_t)((secret[31] & 0x7f) | 0x40);
    memcpy(pair->scalar, secret, sizeof pair->scalar);
    return pair->ready = true;
}

bool keys_sign(struct keys *keys, uint8_t out[TIDE_SIGNATURE_BYTES],
               const uint8_t public[TIDE_HASH_BYTES], const uint8_t hash[TIDE_HASH_BYTES])
{
    void *const *node = tfind(public, &keys->pairs, by_public);
    struct keys_pair *pair = node ? *node : NULL;
    if (!pair || (!pair->ready && !make_ready(pair)))
        return false;
    uint8_t head[2 * TIDE_HASH_BYTES];
    uint64_t challenge[4], answer[4];
    memcpy(head, pair->point, TIDE_HASH_BYTES);
    memcpy(head + TIDE_HASH_BYTES, public, TIDE_HASH_BYTES);
    /* A signature is the nonce's point and challenge * scalar + nonce. */
    hash_number(challenge, tide_slice_of(head, sizeof head), tide_slice_of(hash, TIDE_HASH_BYTES));
    multiply_add(answer, challenge, pair->scalar, pair->nonce);
    memcpy(out, pair->point, TIDE_HASH_BYTES);
    memcpy(out + TIDE_HASH_BYTES, answer, sizeof answer);
    return true;
}
