/* Records in memory in key order: of a few entries, or of a whole table as of a ledger. */
#ifndef SCHEMA_PROJECT_RECORD_SET_H
#define SCHEMA_PROJECT_RECORD_SET_H

#include "tidemark/hot_sink.h"

struct record_slot {
    struct tide_hot_key key;
    void *record; /* malloc'd */
};

struct record_set {
    struct record_slot *slots; /* sorted by key */
    uint32_t count, max;
};

void record_set_release(struct record_set *set);
struct tide_hot_sink record_set_sink(struct record_set *set);
/* Returns the record, or NULL. The record keeps its address until it is dropped; a later row
 * changes it in place. */
const void *record_set_find(const struct record_set *set, const struct tide_hot_key *key);
/* The functions below do what tide_hot_scan and tide_hot_floor do. each() may add records, but must
 * not drop any. */
void record_set_scan(const struct record_set *set, const struct tide_hot_key *prefix,
                     bool (*each)(void *self, tide_slice key, const void *record), void *self);
const void *record_set_floor(const struct record_set *set, const struct tide_hot_key *key,
                             size_t prefix_len);

#endif
