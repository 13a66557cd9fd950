/* Ed25519 signatures of simulated keys with one nonce a key, and the table that finds the keys. */
#include "tools/sim/ledger/keys.h"
#include "tidemark/hash.h"
#include "tidemark/i128.h"

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

/* Returns the place of the key in the table, or the free place where it belongs. The table has
 * twice as many places as pairs, so a free one always ends the search. */
static uint32_t find_place(const struct keys *keys, const uint8_t public[TIDE_HASH_BYTES])
{
    assert(keys->max > 0 && (keys->max & (keys->max - 1)) == 0 && keys->count <= keys->max);
    uint32_t at;
    memcpy(&at, public, sizeof at);
    for (;; at++) {
        at &= keys->max * 2 - 1;
        uint32_t pair = keys->table[at];
        if (!pair || memcmp(keys->pairs[pair - 1].public, public, TIDE_HASH_BYTES) == 0)
            return at;
    }
}

/* Doubles pairs and table, and enters all pairs again. */
static tide_status grow_table(struct keys *keys)
{
    uint32_t max = keys->max ? keys->max * 2 : 256;
    struct keys_pair *pairs = realloc(keys->pairs, max * sizeof *pairs);
    if (!pairs)
        return TIDE_E_MEMORY;
    keys->pairs = pairs;
    uint32_t *table = calloc((size_t)max * 2, sizeof *table);
    if (!table)
        return TIDE_E_MEMORY;
    free(keys->table);
    keys->table = table;
    keys->max = max;
    for (uint32_t i = 0; i < keys->count; i++)
        table[find_place(keys, pairs[i].public)] = i + 1;
    return TIDE_OK;
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
    if (keys->count == keys->max)
        status = grow_table(keys);
    if (status != TIDE_OK)
        return status;
    assert(keys->count < keys->max);
    uint32_t at = find_place(keys, public);
    if (keys->table[at])
        return TIDE_OK;
    struct keys_pair *pair = &keys->pairs[keys->count++];
    *pair = (struct keys_pair){ 0 };
    memcpy(pair->public, public, TIDE_HASH_BYTES);
    memcpy(pair->seed, seed, TIDE_SEED_BYTES);
    keys->table[at] = keys->count;
    return TIDE_OK;
}

void keys_close(struct keys *keys)
{
    free(keys->pairs);
    free(keys->table);
    *keys = (struct keys){ 0 };
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
    uint32_t at = keys->max ? keys->table[find_place(keys, public)] : 0;
    assert(at <= keys->count);
    struct keys_pair *pair = at ? &keys->pairs[at - 1] : NULL;
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
