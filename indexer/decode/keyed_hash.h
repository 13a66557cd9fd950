/* Places of hashes in hash tables, by a secret of the process: strangers choose what is hashed, and
 * must not be able to choose hashes that collide. */
#ifndef INDEXER_DECODE_KEYED_HASH_H
#define INDEXER_DECODE_KEYED_HASH_H

#include "tidemark/i128.h"

#include <string.h>
#include <sys/random.h>

/* Draws a seed. Returns false if the system has no random numbers now. */
TIDE_INLINE bool keyed_hash_seed(uint64_t *seed)
{
    return getrandom(seed, sizeof *seed, 0) == sizeof *seed;
}

/* Returns both halves of the product in one. */
TIDE_INLINE uint64_t keyed_hash_fold(uint64_t a, uint64_t b)
{
    tide_raw_u128 product = (tide_raw_u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Two products: with one, some seeds put words that grow in equal steps beside each other.
 * hash: its first eight bytes count. table: tells apart equal hashes of different tables. */
TIDE_INLINE uint64_t keyed_hash(uint64_t seed, const uint8_t *hash, uint32_t table)
{
    uint64_t word;
    memcpy(&word, hash, sizeof word);
    uint64_t secret = (seed ^ UINT64_C(0x9e3779b97f4a7c15) * table) | 1;
    return keyed_hash_fold(keyed_hash_fold(word ^ seed, secret) ^ seed,
                           UINT64_C(0x9e3779b97f4a7c15));
}

#endif
