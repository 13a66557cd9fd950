/* Reads the past of contracts that were discovered: the ledgers that were indexed before the
 * index knew them, once for all of them, and adds the rows that they lack. Afterwards the tables
 * are as if the deployment file had named the contracts from the start.
 *
 * Order     a gap is read to its end, whatever the chain names or shows meanwhile. What was found
 *          by then is read together: markets' tokens first, then those that only catalogs name.
 *          Readings of the latter rest for as long as they took, so what a catalog lists takes at
 *          most half of the time.
 * Settling  a contract that was just discovered may be a Stellar asset's or another token's: rules
 *          and tables differ. Until an event of it or its instance shows which, it is not followed.
 *          Then all that is indexed is read again for it, from the first ledger on, as a gap of its
 *          own.
 *
 * Reading  a source and a pipeline of its own, in threads of their own. Only ledgers that hold the
 *          id of one of the contracts are decoded into rows.
 * Writing  by the caller's writer, while no new ledger is waiting: one small transaction a turn,
 *          with the rows and how far the contracts are covered.
 * Trouble  a source without these ledgers, archived partitions, rows in the way: stored, logged and
 *          tried again later. It never ends the indexer.
 * Threads  all functions are for the thread that owns the writer. */
#ifndef INDEXER_FOLLOW_DISCOVERY_H
#define INDEXER_FOLLOW_DISCOVERY_H

#include "indexer/decode/proof.h"
#include "indexer/write/writer.h"
#include "tidemark/config.h"

struct tide_discovery; /* opaque */

struct tide_discovery_options {
    const struct tide_config *config;         /* borrowed */
    const struct tide_deployment *deployment; /* borrowed; the one that the writer adds to */
    const bool *tables;                       /* as tide_decode_options.tables; borrowed */
    bool (*stopped)(void *self);              /* asked again and again by the writer's thread */
    void *stopped_self;
};

tide_status tide_discovery_open(struct tide_discovery **out,
                                const struct tide_discovery_options *options,
                                struct tide_err *err) TIDE_MUST_USE;
/* Stops the threads. Must be called before the writer or the deployment change. NULL is allowed. */
void tide_discovery_close(struct tide_discovery *discovery);

/* The writer committed contracts that were seen: the next turn asks the database, unless a gap is
 * being read. */
void tide_discovery_wake(struct tide_discovery *discovery);
/* True once after the past showed what a contract is. The ledgers that are indexed so far are to be
 * read again for it, and those to come by a decoder that adopted it. */
bool tide_discovery_settled(struct tide_discovery *discovery);
/* True while ledgers are being read: the next turn is wanted soon. */
bool tide_discovery_is_reading(const struct tide_discovery *discovery);

/* Does what can be done without waiting. TIDE_E_FENCED, TIDE_E_STOPPED: the writer cannot go on. */
tide_status tide_discovery_turn(struct tide_discovery *discovery, struct tide_writer *writer,
                                struct tide_err *err) TIDE_MUST_USE;
/* Gives free places to tokens that wait (tide_writer_promote), then turns until nothing is left or
 * there is trouble, which the log names. */
tide_status tide_discovery_finish(struct tide_discovery *discovery, struct tide_writer *writer,
                                  struct tide_err *err) TIDE_MUST_USE;

#endif
