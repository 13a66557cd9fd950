/* Finds the entry of a proof in the buckets that the proof names.
 *
 * Order    the live list from its youngest bucket to the first one that has the key: a value, or
 *          its removal. Without a value there the hot archive's list, where an evicted entry is.
 * Proven   each bucket that is read hashes to its name, whole: the other keys in it show that this
 *          one was not left out. An entry is absent if no bucket of the two lists has a value.
 * Memory   a piece of a file and one record, whatever the buckets' size, and the value. */
#ifndef INDEXER_VERIFY_PROOF_BUCKETS_H
#define INDEXER_VERIFY_PROOF_BUCKETS_H

#include "indexer/archive/archive.h"
#include "indexer/archive/bucket.h"
#include "indexer/verify/proof_check.h"

enum proof_place {
    PROOF_PLACE_NONE,     /* the entry does not exist */
    PROOF_PLACE_LIVE,     /* the entry exists; its time to live, another entry, is not read */
    PROOF_PLACE_ARCHIVED, /* the entry was evicted with this value; a call may restore it */
};

struct proof_entry {
    enum proof_place place;
    struct tide_buf value;  /* SCVal; empty without an entry */
    uint32_t last_modified; /* the ledger that the bucket says; 0 without an entry */
    enum bucket_list list;  /* with `rank`: the bucket that decided */
    uint32_t rank;          /* its age, 0 is the youngest; UINT32_MAX: no bucket has the key */
    uint32_t buckets;       /* buckets that were read */
    uint64_t bytes;         /* bytes of these buckets */
};

/* Finds the entry of a claim of the kind PROOF_ENTRY. The caller releases `value` in any case.
 * TIDE_E_MISSING: no place has a bucket that is needed. TIDE_E_CHAIN, TIDE_E_DECODE: it is damaged
 * everywhere. Or what archive_read returns. */
tide_status proof_find_entry(struct proof_entry *out, const struct proof_claim *claim,
                             struct archive *archive, struct tide_err *err) TIDE_MUST_USE;

#endif
