/* The validators that an operator believes: a quorum set, as in stellar-core's configuration.
 *
 *   { "threshold": N, "validators": ["G…", …], "innerSets": [ … ] }
 *
 * Threshold of the members must have signed: each validator and each inner set is one member. Sets
 * nest up to 4 levels below the first, as stellar-core allows.
 *
 * Refused: unknown members, a threshold of 0 or above the number of members, a set without members,
 * a key that occurs twice anywhere, more than TIDE_VALIDATORS_MAX keys. */
#ifndef TIDEMARK_QUORUM_H
#define TIDEMARK_QUORUM_H

#include "tidemark/status.h"

#define TIDE_VALIDATORS_MAX  1000u
#define TIDE_QUORUM_SETS_MAX 1000u

struct tide_quorum {
    uint32_t count;     /* number of validators; 0: the operator names none */
    uint32_t set_count; /* set 0 is the outermost; a set comes before the sets in it */
    struct tide_quorum_set {
        uint16_t threshold, parent; /* parent is the number of the set around it */
    } sets[TIDE_QUORUM_SETS_MAX];
    struct tide_validator {
        uint8_t key[TIDE_HASH_BYTES]; /* Ed25519 */
        uint16_t set;                 /* number of the set that names it */
    } validators[TIDE_VALIDATORS_MAX];
};
static_assert(TIDE_QUORUM_SETS_MAX <= UINT16_MAX && TIDE_VALIDATORS_MAX <= UINT16_MAX,
              "set, parent and threshold hold each number");

/* A set of validators: bit i stands for validator i. */
#define TIDE_SIGNERS_WORDS ((TIDE_VALIDATORS_MAX + 63) / 64)
struct tide_signers {
    uint64_t bits[TIDE_SIGNERS_WORDS];
};

static inline bool tide_signers_has(const struct tide_signers *signers, uint32_t i)
{
    assert(i < TIDE_VALIDATORS_MAX);
    return signers->bits[i / 64] >> i % 64 & 1;
}

static inline void tide_signers_add(struct tide_signers *signers, uint32_t i)
{
    assert(i < TIDE_VALIDATORS_MAX);
    signers->bits[i / 64] |= UINT64_C(1) << i % 64;
}

/* Returns the number of signers. */
uint32_t tide_signers_count(const struct tide_signers *signers);

/* Returns whether the signers satisfy the quorum set; false if the set has no validators. */
bool tide_quorum_satisfied(const struct tide_quorum *quorum, const struct tide_signers *signers);

/* Returns the number of the validator with that key, or -1. */
int tide_quorum_find(const struct tide_quorum *quorum, const uint8_t key[TIDE_HASH_BYTES]);

#endif
