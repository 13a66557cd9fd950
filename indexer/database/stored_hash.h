/* Hashes of indexed ledgers, read from the tables. */
#ifndef INDEXER_DATABASE_STORED_HASH_H
#define INDEXER_DATABASE_STORED_HASH_H

#include "tidemark/pg.h"

/* Reads a ledger's hash over a connection of its own: sources call this from their threads, which
 * may not use the writer's connection. Called rarely. TIDE_E_MISSING if the ledger's row is not
 * visible, TIDE_E_DB if the database does not answer. */
tide_status tide_stored_hash(const char *conninfo, uint32_t deployment, uint32_t ledger,
                             uint8_t hash[TIDE_HASH_BYTES]) TIDE_MUST_USE;

/* Reads the hashes of at most *count ledgers from `from` on, up to the first that is missing.
 * *count becomes their number. */
tide_status tide_stored_hashes_so_far(struct tide_pg *pg, uint32_t deployment, uint32_t from,
                                      uint32_t *count, uint8_t (*out)[TIDE_HASH_BYTES],
                                      struct tide_err *err) TIDE_MUST_USE;
/* Reads the hashes of `count` ledgers from `from` on. TIDE_E_CONFLICT if one is missing. */
tide_status tide_stored_hashes(struct tide_pg *pg, uint32_t deployment, uint32_t from,
                               uint32_t count, uint8_t (*out)[TIDE_HASH_BYTES],
                               struct tide_err *err) TIDE_MUST_USE;

#endif
