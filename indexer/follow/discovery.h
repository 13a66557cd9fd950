/* Discovery reads the past of discovered contracts: the ledgers that were indexed before the index
 * knew them, once for all such contracts, and adds the rows that are missing. Afterwards the tables
 * are as if the deployment file had named the contracts from the start.
 *
 * Order     a gap is read to its end, even if the chain names further contracts meanwhile. Those
 *           are read together afterwards: markets' tokens first, then those that only catalogs
 *           name.
 * Settling  a contract that was just discovered may be a Stellar asset or another token, with other
 *           rules and tables. It is not followed until its first event or its instance shows which.
 *           Then all ledgers that are indexed are read again for it, as a gap of its own.
 * Reading   has a source and a pipeline of its own, with their threads. Only ledgers that contain
 *           the id of one of the contracts are decoded into rows.
 * Writing   uses the caller's writer, while no new ledger waits: one small transaction in each
 *           turn, with the rows and how far the contracts are covered.
 * Trouble   a source without these ledgers, archived partitions, or conflicting rows: stored,
 *           logged and tried again later. Trouble never ends the indexer.
 * Threads   all functions are for the thread that owns the writer. */
#ifndef INDEXER_FOLLOW_DISCOVERY_H
#define INDEXER_FOLLOW_DISCOVERY_H

#include "indexer/decode/proof.h"
#include "indexer/write/writer.h"
#include "tidemark/config.h"

struct tide_discovery; /* opaque */

struct tide_discovery_options {
    const struct tide_config *config; /* borrowed */
    /* Borrowed; the one to which the writer adds contracts. */
    const struct tide_deployment *deployment;
    bool (*stopped)(void *self); /* called often, by the writer's thread */
    void *stopped_self;
};

tide_status tide_discovery_open(struct tide_discovery **out,
                                const struct tide_discovery_options *options,
                                struct tide_err *err) TIDE_MUST_USE;
/* Stops the threads. Call before the writer or the deployment is closed or replaced. NULL is
 * allowed. */
void tide_discovery_close(struct tide_discovery *discovery);

/* Call after the writer committed rows of chain.contract_seen: the next turn asks the database for
 * a gap, unless one is being read. */
void tide_discovery_wake(struct tide_discovery *discovery);
/* Returns true once after a contract's kind was settled. The caller must then open decoders that
 * know the contract. Discovery reads the ledgers indexed so far again for it. */
bool tide_discovery_settled(struct tide_discovery *discovery);
/* Returns true while ledgers are being read: the caller should call the next turn soon. */
bool tide_discovery_is_reading(const struct tide_discovery *discovery);

/* Does all work that needs no waiting. Fails only with TIDE_E_FENCED or TIDE_E_STOPPED: the writer
 * cannot go on. */
tide_status tide_discovery_turn(struct tide_discovery *discovery, struct tide_writer *writer,
                                struct tide_err *err) TIDE_MUST_USE;
/* Gives places to tokens (tide_writer_promote), then runs turns until no gap is left,
 * or until there is trouble, which the log names. */
tide_status tide_discovery_finish(struct tide_discovery *discovery, struct tide_writer *writer,
                                  struct tide_err *err) TIDE_MUST_USE;

#endif
