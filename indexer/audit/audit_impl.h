/* The parts of an audit. Only the files of this folder include it. */
#ifndef INDEXER_AUDIT_AUDIT_IMPL_H
#define INDEXER_AUDIT_AUDIT_IMPL_H

#include "indexer/archive/checkpoint.h"
#include "indexer/archive/key_filter.h"
#include "indexer/archive/snapshot.h"
#include "indexer/audit/audit.h"
#include "indexer/database/temp_rows.h"
#include "indexer/decode/decode.h"
#include "tidemark/pg.h"

enum audit_table {
    AUDIT_FOUND,  /* entries of the buckets */
    AUDIT_TTL,    /* TTLs of the buckets */
    AUDIT_CODE,   /* code of the buckets */
    AUDIT_STORED, /* entries of the tables as of the ledger */
    AUDIT_STORED_TTL,
    AUDIT_STORED_CODE,
    AUDIT_TABLES
};

struct audit {
    const struct tide_config *config;
    struct tide_pg *read; /* a snapshot of the index */
    struct tide_pg *temp; /* owns the temporary tables */
    struct archive *archive;
    uint16_t deployment;
    struct tide_deployment *contracts;
    struct tide_decode *decode;
    struct tide_batch *batch;
    uint32_t ledger;                                     /* the checkpoint's */
    uint32_t from_ledger;                                /* the first one that the index covers */
    uint8_t hashes[CHECKPOINT_LEDGERS][TIDE_HASH_BYTES]; /* stored ones, from that ledger on */
    uint32_t hash_count;
    uint32_t protocol;
    struct snapshot snapshot;
    struct key_filter keys; /* filter for the keys of stored and found entries */
    struct temp_rows rows[AUDIT_TABLES];
};

/* Creates the temporary tables, and the buffers of their rows. */
tide_status audit_rows_open(struct audit *a, struct tide_err *err) TIDE_MUST_USE;
void audit_rows_close(struct audit *a);
/* Call after each row that was appended: sends the rows if there are many. */
tide_status audit_rows_added(struct audit *a, enum audit_table table,
                             struct tide_err *err) TIDE_MUST_USE;
tide_status audit_rows_flush(struct audit *a, struct tide_err *err) TIDE_MUST_USE;
/* Drops the rows of the bucket that is being read, which turned out to be damaged. */
tide_status audit_rows_drop_bucket(struct audit *a, struct tide_err *err) TIDE_MUST_USE;

/* Hashes what a row of a history table says of its entry: all columns but those that say which
 * version it is. TIDE_E_SCHEMA if the tuple does not have the table's columns. */
tide_status audit_row_hash(uint8_t out[TIDE_HASH_BYTES], const struct tide_table *table,
                           tide_slice tuple, struct tide_err *err) TIDE_MUST_USE;

/* Callback of bucket_reader: notes an entry of the deployment, or a TTL or code that may be one's.
 * self is a struct audit. */
tide_status audit_found_entry(void *self, enum bucket_entry_kind kind,
                              const struct tide_change *change, struct tide_err *err) TIDE_MUST_USE;

/* Notes the entries, TTLs and code of the tables as of the ledger. */
tide_status audit_stored_read(struct audit *a, struct tide_err *err) TIDE_MUST_USE;

/* Compares both sides and reports. TIDE_E_CONFLICT if they differ. */
tide_status audit_compare(struct audit *a, struct tide_err *err) TIDE_MUST_USE;

#endif
