/* The bucket lists of a simulated network: the state of each ledger as stellar-core hashes and
 * archives it, in a live list and a hot archive of 11 levels each.
 *
 * Use      bucket_list_add for each ledger, in order, from the first on. Then bucket_list_hash is
 *          that ledger's bucketListHash, and bucket_list_at gives the buckets.
 * Like     spills, merges and the order of keys are stellar-core's. Merges are made at once.
 * Unlike   entries of the genesis (accounts, trustlines) are in no bucket until they change.
 * Source   the changes and evicted keys of the finished ledger, as any node reads them.
 * Memory   all buckets, and a copy of each entry that may be evicted.
 * Threads  one thread uses a list. */
#ifndef SIM_BUCKET_LIST_H
#define SIM_BUCKET_LIST_H

#include "tidemark/hash.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

#define BUCKET_LEVELS 11u

struct bucket_list; /* both lists */

/* The place of a bucket: a list, a level, and its half. */
struct bucket_place {
    bool hot;
    uint32_t level;
    bool snap;
};

tide_status bucket_list_open(struct bucket_list **out, uint32_t protocol) TIDE_MUST_USE;
void bucket_list_close(struct bucket_list *list); /* NULL is allowed */

/* Adds a ledger, a whole LedgerCloseMeta. Returns TIDE_E_MEMORY, or a walk's error. */
tide_status bucket_list_add(struct bucket_list *list, uint32_t ledger, tide_slice lcm,
                            struct tide_err *err) TIDE_MUST_USE;

/* Computes the header's hash of both lists. */
void bucket_list_hash(const struct bucket_list *list, uint8_t out[TIDE_HASH_BYTES]);

/* Returns the bytes of a bucket, empty if it has none, and writes its hash (zeros if empty). They
 * borrow until the next bucket_list_add. */
tide_slice bucket_list_at(const struct bucket_list *list, struct bucket_place place,
                          uint8_t hash[TIDE_HASH_BYTES]);

#endif
