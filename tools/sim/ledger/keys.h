/* Key pairs of simulated accounts, found by their public keys.
 *
 * The keys are public knowledge, so signatures must hold but need no secrecy. keys_sign uses one
 * nonce for all messages of a key. That makes a signature ten times as cheap, and would reveal a
 * real key: programs that sign for real accounts use tide_sign. */
#ifndef SIM_KEYS_H
#define SIM_KEYS_H

#include "tidemark/sign.h"

struct keys_pair {
    uint8_t public[TIDE_HASH_BYTES];
    uint8_t seed[TIDE_SEED_BYTES];
    bool ready;                     /* what follows is there */
    uint8_t point[TIDE_HASH_BYTES]; /* of the nonce: the first half of every signature */
    uint64_t nonce[4], scalar[4];   /* least significant word first */
};

/* Zeros: no key. */
struct keys {
    struct keys_pair *pairs;
    uint32_t *table; /* place in pairs + 1, by the key's first bytes; 0: free */
    uint32_t count, max;
};

/* Adds the pair of a seed (once), and tells its public key. TIDE_E_MEMORY. */
tide_status keys_add(struct keys *keys, const uint8_t seed[TIDE_SEED_BYTES],
                     uint8_t public[TIDE_HASH_BYTES]) TIDE_MUST_USE;
void keys_close(struct keys *keys);

/* The signature over a hash, deterministic; false when the key is a stranger's. */
bool keys_sign(struct keys *keys, uint8_t out[TIDE_SIGNATURE_BYTES],
               const uint8_t public[TIDE_HASH_BYTES], const uint8_t hash[TIDE_HASH_BYTES]);

#endif
