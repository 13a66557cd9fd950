/* Reads a ledger's hash from the tables over a connection of its own: sources call this from their
 * threads, which may not use the writer's connection. Called rarely. */
#ifndef INDEXER_DATABASE_STORED_HASH_H
#define INDEXER_DATABASE_STORED_HASH_H

#include "tidemark/status.h"

/* Returns TIDE_E_MISSING if the ledger's row is not visible, TIDE_E_DB if the database does not
 * answer. */
tide_status tide_stored_hash(const char *conninfo, uint32_t deployment, uint32_t ledger,
                             uint8_t hash[TIDE_HASH_BYTES]) TIDE_MUST_USE;

#endif
