/* The parts of a start. Only the files of this folder include it. */
#ifndef INDEXER_START_START_IMPL_H
#define INDEXER_START_START_IMPL_H

#include "indexer/archive/checkpoint.h"
#include "indexer/archive/key_filter.h"
#include "indexer/archive/snapshot.h"
#include "indexer/database/temp_rows.h"
#include "indexer/decode/redecode.h"
#include "indexer/start/start.h"
#include "tidemark/pg.h"

enum start_table {
    START_FOUND, /* entries of the contracts */
    START_TTL,   /* TTLs that may be theirs */
    START_TABLES
};

/* A header of the archive, and the hashes of the ledgers after it. */
struct start_chain {
    uint32_t first, last; /* hashes[i] is of ledger first + i */
    uint8_t hashes[CHECKPOINT_LEDGERS + 1][TIDE_HASH_BYTES];
    uint8_t previous_hash[TIDE_HASH_BYTES], bucket_hash[TIDE_HASH_BYTES]; /* in `first`'s header */
    uint64_t closed_ms;
    uint32_t protocol;
};

struct start {
    const struct tide_start_options *options;
    struct archive *archive;
    uint32_t ledger; /* the checkpoint */
    struct start_chain chain;
    struct checkpoint_proof proof; /* ledger 0: linked alone */
    struct snapshot snapshot;
    struct key_filter keys; /* filter for the keys of found entries */
    struct tide_pg *temp;   /* owns the temporary tables */
    struct temp_rows rows[START_TABLES];
    uint64_t noted; /* entries since the writer's session last spoke */
    struct tide_decode *decode;
    struct tide_batch *piece;
    struct tide_buf seen; /* rows of chain.contract_seen */
    size_t seen_distinct; /* bytes of them when repeated rows were dropped last */
    uint64_t seen_count, entries, archived;
};

/* found.c: the temporary tables. */
tide_status start_found_open(struct start *s, struct tide_err *err) TIDE_MUST_USE;
void start_found_close(struct start *s);
/* Reads all buckets, and keeps the entries of the contracts that s->decode knows. */
tide_status start_found_read(struct start *s, struct tide_err *err) TIDE_MUST_USE;
/* Gives the version of each entry that counts, in the order of the keys. */
typedef tide_status start_entry_fn(struct start *s, const struct tide_redecode_entry *entry,
                                   void *self, struct tide_err *err);
tide_status start_found_each(struct start *s, start_entry_fn *entry, void *self,
                             struct tide_err *err) TIDE_MUST_USE;

/* rows.c: finds all contracts: reads the buckets until no further one is named. */
tide_status start_rows_open(struct start *s, struct tide_err *err) TIDE_MUST_USE;
void start_rows_close(struct start *s);
tide_status start_rows_find(struct start *s, struct tide_err *err) TIDE_MUST_USE;
/* Gives all rows to the writer, see struct tide_start. self is a struct start. */
tide_status start_rows_give(void *self,
                            tide_status (*put)(void *put_self, const struct tide_batch *piece,
                                               struct tide_err *err),
                            void *put_self, struct tide_err *err) TIDE_MUST_USE;

#endif
