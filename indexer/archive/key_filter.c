#include "indexer/archive/key_filter.h"

#include <stdlib.h>

/* 32 MiB. With four bits a key, 10 million keys let one stranger in 2 500 pass. */
enum { BITS_LOG = 28, WORDS = 1 << (BITS_LOG - 6), PROBES = 4 };
static_assert(WORDS * UINT64_C(64) == UINT64_C(1) << BITS_LOG, "each bit has its place");
static_assert(PROBES * sizeof(uint64_t) <= TIDE_HASH_BYTES, "each probe reads bytes of its own");

tide_status key_filter_open(struct key_filter *filter, struct tide_err *err)
{
    filter->words = calloc(WORDS, sizeof *filter->words);
    return filter->words ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "the filter of key hashes");
}

void key_filter_close(struct key_filter *filter)
{
    free(filter->words);
    filter->words = NULL;
}

/* Returns the n-th bit of a key: a SHA-256 has enough independent bits for all of them. */
static uint32_t bit_of(const uint8_t *key_hash, uint32_t n)
{
    uint64_t word;
    assert(n < PROBES);
    memcpy(&word, key_hash + n * sizeof word, sizeof word);
    return (uint32_t)(word & ((1u << BITS_LOG) - 1));
}

void key_filter_add(struct key_filter *filter, const uint8_t key_hash[TIDE_HASH_BYTES])
{
    for (uint32_t n = 0; n < PROBES; n++) {
        uint32_t bit = bit_of(key_hash, n);
        filter->words[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

bool key_filter_has(const struct key_filter *filter, const uint8_t key_hash[TIDE_HASH_BYTES])
{
    for (uint32_t n = 0; n < PROBES; n++) {
        uint32_t bit = bit_of(key_hash, n);
        if (!(filter->words[bit / 64] >> bit % 64 & 1))
            return false;
    }
    return true;
}
