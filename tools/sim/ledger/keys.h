/* Key pairs of simulated accounts, found by their public keys.
 *
 * The seeds are public, so signatures must be valid but protect nothing. keys_sign uses one nonce
 * for all messages of a key. That makes a signature ten times as cheap, and would reveal a real
 * key: programs that sign for real accounts use tide_sign. */
#ifndef SIM_KEYS_H
#define SIM_KEYS_H

#include "tidemark/sign.h"

/* A key pair. The fields behind `ready` are computed at the key's first signature. */
struct keys_pair {
    uint8_t public[TIDE_HASH_BYTES]; /* the first field: the tree's key */
    uint8_t seed[TIDE_SEED_BYTES];
    bool ready; /* the fields below are set */
    /* curve point of the nonce: the first half of every signature */
    uint8_t point[TIDE_HASH_BYTES];
    uint64_t nonce[4], scalar[4]; /* modulo the group's order; least significant word first */
};

/* A set of pairs. Zeros: no key. One thread uses it at a time. */
struct keys {
    void *pairs; /* tree of search.h, by public key */
};

/* Adds the pair of a seed unless it is there, and returns its public key. Returns TIDE_E_MEMORY. */
tide_status keys_add(struct keys *keys, const uint8_t seed[TIDE_SEED_BYTES],
                     uint8_t public[TIDE_HASH_BYTES]) TIDE_MUST_USE;
void keys_close(struct keys *keys);

/* Signs a hash; the same inputs give the same signature. Returns false if the key is not in the
 * set. */
bool keys_sign(struct keys *keys, uint8_t out[TIDE_SIGNATURE_BYTES],
               const uint8_t public[TIDE_HASH_BYTES], const uint8_t hash[TIDE_HASH_BYTES]);

#endif
