/* Records in memory, in the order of their keys: of a few entries, or as of a ledger. */
#ifndef TIDEMARK_RECORD_SET_H
#define TIDEMARK_RECORD_SET_H

#include "tidemark/hot_sink.h"

struct record_slot {
    struct tide_hot_key key;
    void *record; /* malloc'd */
};

struct record_set {
    struct record_slot *slots; /* in the order of the keys */
    uint32_t count, max;
};

void record_set_release(struct record_set *set);
struct tide_hot_sink record_set_sink(struct record_set *set);
/* The record, or NULL. It stays where it is until it is dropped; a later row changes it there. */
const void *record_set_find(const struct record_set *set, const struct tide_hot_key *key);
/* As tide_hot_scan and tide_hot_floor. each may add records, and drop none. */
void record_set_scan(const struct record_set *set, const struct tide_hot_key *prefix,
                     bool (*each)(void *self, tide_slice key, const void *record), void *self);
const void *record_set_floor(const struct record_set *set, const struct tide_hot_key *key,
                             size_t prefix_len);

#endif
