/* The start of commands that read: a connection whose schema is this build's, a snapshot, and the
 * deployment that the command is about. */
#ifndef INDEXER_DATABASE_QUERY_H
#define INDEXER_DATABASE_QUERY_H

#include "indexer/database/range.h"
#include "tidemark/config.h"
#include "tidemark/deployment.h"
#include "tidemark/pg.h"

/* Compresses long values with LZ4 in this session, if the server has it: PGLZ, its default, takes
 * eight times as long for lists of ids and of hashes. */
#define TIDE_COMPRESSION_SQL                                                        \
    "SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings" \
    " WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals);"

/* Connects and checks the schema. The caller closes *out, also on failure (NULL is allowed). */
tide_status tide_query_connect(struct tide_pg **out, const struct tide_config *config,
                               const char *application, bool writable,
                               struct tide_err *err) TIDE_MUST_USE;

/* Connects, checks the schema and begins a read-only transaction with one snapshot. The caller
 * closes *out, also on failure (NULL is allowed). */
tide_status tide_query_open(struct tide_pg **out, const struct tide_config *config,
                            const char *application, struct tide_err *err) TIDE_MUST_USE;

/* Finds the only deployment, or the one of the deployment file. TIDE_E_MISSING if there is none;
 * TIDE_E_CONFIG if there are several and no file says which. */
tide_status tide_query_deployment(struct tide_pg *pg, const struct tide_config *config,
                                  uint16_t *out, struct tide_err *err) TIDE_MUST_USE;

/* Reads the deployment from the database: the file's contracts, and the discovered ones whose rows
 * are complete from ledger `before` on (discovered before it, or their past was read:
 * chain.contract_coverage). It has no accounts. The caller frees *out. */
tide_status tide_query_contracts(struct tide_pg *pg, uint16_t deployment, uint32_t before,
                                 struct tide_deployment **out, struct tide_err *err) TIDE_MUST_USE;

/* Keeps partitions from being detached until the transaction ends. A snapshot does not: a table
 * that is read first after a partition was detached lacks its rows, whatever the snapshot says of
 * chain.archive. Call it before the transaction's first query, which takes the snapshot.
 * tide_query_open does. */
tide_status tide_query_hold(struct tide_pg *pg, struct tide_err *err) TIDE_MUST_USE;

/* Fails with TIDE_E_MISSING, naming the range, if events, calls and transactions of some of these
 * ledgers are archived (chain.archive): output without them would look complete. */
tide_status tide_query_whole(struct tide_pg *pg, uint16_t deployment, uint32_t from, uint32_t to,
                             struct tide_err *err) TIDE_MUST_USE;

/* Chooses a range of ledgers that are indexed without a gap. asked: its first and last ledger, 0
 * where none is given. What is not given becomes an end of the range that holds the other; with
 * neither, the whole range that a run follows is chosen. TIDE_E_MISSING, naming what is indexed, if
 * no range has all of it. */
tide_status tide_query_covered(struct tide_pg *pg, uint16_t deployment, struct tide_range asked,
                               struct tide_range *out, struct tide_err *err) TIDE_MUST_USE;

/* Returns TIDE_E_CHAIN, with the ledger and both hashes, if the deployment has a fork: a quorum
 * of the named validators signed another hash than the stored one (chain.fork). It stops the
 * indexer, and tidemark-api answers nothing about the chain, until an operator acts (the command
 * fork). */
tide_status tide_fork_reject(struct tide_pg *pg, uint32_t deployment,
                             struct tide_err *err) TIDE_MUST_USE;

/* Hashes of indexed ledgers, read from the tables. */

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
