/* The network's state at a checkpoint, as a history archive holds it: the headers, the state file,
 * and the buckets.
 *
 * Proven   the state file's bucket hashes are the header's bucketListHash, and each bucket hashes
 *          to its name. The caller proves the header.
 * Order    snapshot_read gives the oldest bucket of a list first. An entry is created together with
 *          its TTL, so a TTL never comes before all versions of its entry.
 * Memory   a piece of a file and one record. */
#ifndef INDEXER_ARCHIVE_SNAPSHOT_H
#define INDEXER_ARCHIVE_SNAPSHOT_H

#include "indexer/archive/archive.h"
#include "indexer/archive/bucket.h"
#include "indexer/archive/history_state.h"
#include "tidemark/meta.h"

/* stellar-core's constant for accelerated test networks, beside CHECKPOINT_LEDGERS. */
#define SNAPSHOT_STEP_MIN 8u

struct snapshot {
    struct archive *archive;              /* borrowed */
    uint32_t ledger;                      /* the checkpoint's */
    uint8_t bucket_hash[TIDE_HASH_BYTES]; /* bucketListHash of the checkpoint's header */
    struct history_state state;           /* filled in by snapshot_state */
    /* the bucket that is being read */
    struct bucket_reader bucket;
    uint32_t rank; /* its age: 0 is the youngest of its list */
    /* sums over all buckets that were read */
    uint32_t buckets;
    uint64_t bytes, records;
};

/* Takes what snapshot_read reads. begin: a bucket begins, perhaps again, so its entries are to be
 * dropped. end: the bucket is proven. */
struct snapshot_sink {
    tide_status (*begin)(void *self, struct tide_err *err);
    bucket_entry_fn entry;
    tide_status (*end)(void *self, struct tide_err *err);
    void *self;
};

/* Reads the archive's newest checkpoint. */
tide_status snapshot_newest(struct archive *archive, uint32_t *ledger,
                            struct tide_err *err) TIDE_MUST_USE;

/* Takes the headers of a file in their order. hash is computed from the header's bytes. begin is
 * called before each attempt, if it is not NULL, end behind the last header. */
struct snapshot_headers {
    tide_status (*begin)(void *self, struct tide_err *err);
    tide_status (*header)(void *self, const struct tide_ledger_header *header,
                          const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err);
    tide_status (*end)(void *self, struct tide_err *err);
    void *self;
};
/* Reads the headers of a checkpoint. */
tide_status snapshot_headers_read(struct archive *archive, uint32_t checkpoint,
                                  const struct snapshot_headers *headers,
                                  struct tide_err *err) TIDE_MUST_USE;

/* Reads the state file of s->ledger from a place that has the state of s->bucket_hash.
 * TIDE_E_CHAIN: no place has it. */
tide_status snapshot_state(struct snapshot *s, struct tide_err *err) TIDE_MUST_USE;

/* Reads all buckets. May be called again. */
tide_status snapshot_read(struct snapshot *s, const struct snapshot_sink *sink,
                          struct tide_err *err) TIDE_MUST_USE;

/* Reads the buckets of one list from its youngest to its oldest, until `found`, which is asked
 * behind each proven bucket, returns true. Adds to the sums, which the caller sets to 0. */
tide_status snapshot_search(struct snapshot *s, enum bucket_list list,
                            const struct snapshot_sink *sink, bool (*found)(const void *self),
                            struct tide_err *err) TIDE_MUST_USE;

#endif
