/* A Bloom filter of key hashes: says "no" for almost all keys of strangers, whatever their number.
 * A TTL entry names its entry by the hash alone, and a network has millions of them. Its memory is
 * fixed. With more keys than it is made for, it lets more strangers pass, which cost rows of a
 * temporary table and change no result. */
#ifndef INDEXER_ARCHIVE_KEY_FILTER_H
#define INDEXER_ARCHIVE_KEY_FILTER_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

struct key_filter {
    uint64_t *words;
};

tide_status key_filter_open(struct key_filter *filter, struct tide_err *err) TIDE_MUST_USE;
void key_filter_close(struct key_filter *filter);

void key_filter_add(struct key_filter *filter, const uint8_t key_hash[TIDE_HASH_BYTES]);
/* Returns true for every hash that was added, and for few others. */
bool key_filter_has(const struct key_filter *filter, const uint8_t key_hash[TIDE_HASH_BYTES]);

#endif
