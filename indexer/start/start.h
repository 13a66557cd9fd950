/* A start from a checkpoint: fills an empty index with the state of the deployment's contracts at a
 * checkpoint of a history archive, so that `run` follows from the next ledger on without the past.
 *
 * Proven    the buckets hash to the bucketListHash of the checkpoint's header. If the deployment
 *           file names validators, a quorum of them signed a ledger that follows from that header
 *           ("signed"); otherwise the archive is believed if the source of ledgers has the same
 *           header ("linked").
 * Stored    each entry as one version as of the checkpoint's ledger, with its time to live,
 *           archived ones too, and the tokens that markets and catalogs name. When an entry was
 *           written is not known.
 * Complete  rows, chain.start and cursor in one transaction.
 * Memory    pieces of rows; entries wait in temporary tables of the server. */
#ifndef INDEXER_START_START_H
#define INDEXER_START_START_H

#include "indexer/write/writer.h"
#include "tidemark/config.h"

struct tide_start_options {
    const struct tide_config *config;         /* archive, database, deployment file */
    const struct tide_deployment *deployment; /* has the id that the writer found; borrowed */
    struct tide_writer *writer;               /* writer of an empty index */
    uint32_t checkpoint; /* to begin with; 0: the newest, with validators the newest provable */
    /* Reads the hash that the source of ledgers says a ledger has. TIDE_E_MISSING: the source has
     * neither this ledger nor the next. Called if no validators are named. */
    tide_status (*source_hash)(void *self, uint32_t ledger, uint8_t hash[TIDE_HASH_BYTES],
                               struct tide_err *err);
    void *source_self;
};

/* Fills the index. TIDE_E_MISSING: the archive lacks a file, or not enough validators signed.
 * TIDE_E_CHAIN: validators signed another header, the source has another one, or the buckets are
 * not the header's. And what archive_read, source_hash and tide_writer_start return. */
tide_status tide_start(const struct tide_start_options *options,
                       struct tide_err *err) TIDE_MUST_USE;

#endif
