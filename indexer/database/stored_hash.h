/* The hash of a ledger in the tables, over a connection of its own: for sources, whose threads
 * know nothing of the writer. Asked rarely. */
#ifndef INDEXER_DATABASE_STORED_HASH_H
#define INDEXER_DATABASE_STORED_HASH_H

#include "tidemark/status.h"

/* TIDE_E_MISSING when the ledger is not visible in the tables, TIDE_E_DB when the database does not
 * answer. */
tide_status tide_stored_hash(const char *conninfo, uint32_t deployment, uint32_t ledger,
                             uint8_t hash[TIDE_HASH_BYTES]) TIDE_MUST_USE;

#endif
