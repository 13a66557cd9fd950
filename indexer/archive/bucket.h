/* Reads one bucket: checks each record, the order of the keys and the hash, and hands out the
 * entries that contracts may own.
 *
 * Checked   the bytes hash to the bucket's name. Metadata comes first, once, and says the list.
 *           Keys ascend strictly, see key_order.h. Every byte of every entry is well-formed.
 * Given     contract data, contract code and TTLs. Other entries are stepped over.
 * Trust     entries are given before the hash is known. If a function fails, the caller must drop
 *           all entries that it got of this bucket.
 * Memory    a record, if it spans pieces, and the last key. */
#ifndef INDEXER_ARCHIVE_BUCKET_H
#define INDEXER_ARCHIVE_BUCKET_H

#include "indexer/archive/record_stream.h"
#include "tidemark/hash.h"
#include "tidemark/key_order.h"

/* Largest record: far above the largest entry that a vote has ever permitted. */
#define BUCKET_RECORD_MAX (8u << 20)

enum bucket_list { BUCKET_LIST_LIVE, BUCKET_LIST_HOT_ARCHIVE };

enum bucket_entry_kind {
    BUCKET_ENTRY_LIVE,     /* live list: the entry has this value (LIVEENTRY, INITENTRY) */
    BUCKET_ENTRY_DEAD,     /* live list: the entry was removed */
    BUCKET_ENTRY_ARCHIVED, /* hot archive: the entry was evicted with this value */
    BUCKET_ENTRY_RESTORED, /* hot archive: the entry was restored */
};

/* change has the fields of the entry or the key, as skip_ledger_entry and skip_ledger_key fill them
 * in. It is valid during the call. A status other than TIDE_OK ends the bucket. */
typedef tide_status (*bucket_entry_fn)(void *self, enum bucket_entry_kind kind,
                                       const struct tide_change *change, struct tide_err *err);

struct bucket_reader {
    struct record_stream records;
    struct tide_sha256 hash;
    uint8_t name[TIDE_HASH_BYTES];
    enum bucket_list list;
    uint32_t protocol; /* protocol that the metadata names; 0: no metadata */
    uint64_t count;    /* records so far */
    uint64_t bytes;
    uint32_t last_type;       /* type of the last key */
    struct tide_buf last_key; /* its fields; empty before the first key */
    bucket_entry_fn entry;
    void *self;
};

void bucket_reader_init(struct bucket_reader *reader, bucket_entry_fn entry, void *self);
void bucket_reader_release(struct bucket_reader *reader);

/* Begins a bucket, also after a failure. */
void bucket_reader_begin(struct bucket_reader *reader, enum bucket_list list,
                         const uint8_t name[TIDE_HASH_BYTES]);
/* Takes the next bytes. TIDE_E_DECODE (malformed, a key that does not ascend), TIDE_E_UNKNOWN (an
 * arm that this build does not know), TIDE_E_LIMIT (record too large, nesting too deep),
 * TIDE_E_MEMORY, or what the callback returned. */
tide_status bucket_reader_push(struct bucket_reader *reader, tide_slice bytes,
                               struct tide_err *err) TIDE_MUST_USE;
/* Ends the bucket. TIDE_E_CHAIN if it does not hash to its name. */
tide_status bucket_reader_end(struct bucket_reader *reader, struct tide_err *err) TIDE_MUST_USE;

#endif
