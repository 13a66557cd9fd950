/* A history archive's state of one checkpoint (HAS): the hashes of all buckets. The text is read
 * strictly; nothing in it is signed, so the caller proves the hashes against a header. */
#ifndef INDEXER_ARCHIVE_HISTORY_STATE_H
#define INDEXER_ARCHIVE_HISTORY_STATE_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

#define HISTORY_LEVELS      11u /* levels of each list; stellar-core's constant */
#define HISTORY_STATE_BYTES (64u << 10)

/* SHA-256 of a bucket's bytes. All zero: the bucket is empty, and no file is stored for it. */
struct history_level {
    uint8_t curr[TIDE_HASH_BYTES], snap[TIDE_HASH_BYTES];
};

struct history_state {
    uint32_t version;        /* 1, or 2 with the hot archive's list */
    uint32_t current_ledger; /* the checkpoint */
    char passphrase[256];    /* "" if version 1 does not say it */
    struct history_level live[HISTORY_LEVELS];
    struct history_level hot[HISTORY_LEVELS]; /* all zero in version 1 */
};

/* Reads a HAS. TIDE_E_DECODE names the member; TIDE_E_LIMIT: more than HISTORY_STATE_BYTES;
 * TIDE_E_UNKNOWN: another version. */
tide_status history_state_parse(struct history_state *out, tide_slice json,
                                struct tide_err *err) TIDE_MUST_USE;

/* Computes the hash of the bucket lists that the header's bucketListHash must equal. Version 1: the
 * hash of the live list; version 2: the hash of both lists' hashes. */
void history_state_hash(uint8_t out[TIDE_HASH_BYTES], const struct history_state *state);

#endif
