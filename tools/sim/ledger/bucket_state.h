/* Keeps what a bucket list must know of each key beyond its buckets: whether the entry is live, and
 * the value of one that may be evicted. */
#ifndef SIM_BUCKET_STATE_H
#define SIM_BUCKET_STATE_H

#include "tidemark/slice.h"

/* A key that has occurred. */
struct bucket_fact {
    uint8_t key_hash[TIDE_HASH_BYTES]; /* SHA-256 of the LedgerKey */
    bool used;                         /* the place in the table is taken */
    bool live, archived;
    uint8_t *entry; /* LedgerEntry of contract data or code; owned, NULL for other types */
    size_t entry_len;
};

struct bucket_state {
    struct bucket_fact *facts; /* open addressing; places is a power of two, or 0 */
    uint32_t places, count;
};

/* Returns the key's fact, a new one if need be; NULL without memory. It stays valid until the next
 * call. */
struct bucket_fact *bucket_state_find(struct bucket_state *state,
                                      const uint8_t key_hash[TIDE_HASH_BYTES]);
/* Stores a copy of the entry. Returns false without memory. */
bool bucket_fact_set(struct bucket_fact *fact, tide_slice entry);
void bucket_state_release(struct bucket_state *state);

#endif
