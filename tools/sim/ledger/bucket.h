/* One bucket: sorted records of one list. Buckets never change, and levels share them. */
#ifndef SIM_BUCKET_H
#define SIM_BUCKET_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/key_order.h"

/* BucketEntryType. In the hot archive LIVE holds an evicted entry, and DEAD says that it was
 * restored. */
enum bucket_arm { BUCKET_LIVE, BUCKET_DEAD, BUCKET_INIT };

struct bucket {
    uint32_t holders;
    struct tide_buf bytes; /* records with their marks */
    uint8_t hash[TIDE_HASH_BYTES];
};

/* The metadata that all buckets of a list share. */
struct bucket_form {
    uint32_t protocol;
    bool hot;
};

/* Begins a bucket with its metadata. NULL without memory. */
struct bucket *bucket_begin(const struct bucket_form *form);
/* Appends a record; body is a LedgerEntry, or a LedgerKey with BUCKET_DEAD. */
void bucket_put(struct bucket *bucket, enum bucket_arm arm, tide_slice body);
/* Computes the hash. Returns NULL, and releases the bucket, if there was no memory. */
struct bucket *bucket_end(struct bucket *bucket);

/* Merges a newer bucket over an older one. NULL is an empty bucket. Without `dead`, removals are
 * left out: nothing older is below. *out is NULL if both are empty. */
tide_status bucket_merge(struct bucket **out, const struct bucket_form *form,
                         const struct bucket *older, const struct bucket *newer,
                         bool dead) TIDE_MUST_USE;

void bucket_release(struct bucket *bucket);

#endif
