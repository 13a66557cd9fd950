/* The prover: while `run` follows, it looks for signatures of the named validators in history
 * archives, and stores what they prove.
 *
 * Order    of each checkpoint that the index has, once, and the last one again after a restart: the
 *          newest one first, because its proof proves all ledgers before it. If neither the newest
 *          nor the one before is there, the oldest one without proof follows.
 * Proven   a row of chain.checkpoint.
 * Delay    files or signatures that are missing are no error. The proof is late when a whole
 *          further checkpoint has been indexed: chain.prover says why, and the log when it begins
 *          and ends.
 * Fork     a quorum signed another hash than the stored one: a row of chain.fork, and
 *          tide_prover_check fails.
 * Session  the prover's own; only its thread uses it. It shares no lock with the writer, and the
 *          database's rows that it writes are its own. Between checkpoints it runs no statement:
 *          it waits until the owner reports a ledger that the next checkpoint may prove.
 * Threads  the thread that opens the prover owns it and calls all functions. */
#ifndef INDEXER_PROVE_PROVER_H
#define INDEXER_PROVE_PROVER_H

#include "tidemark/config.h"
#include "tidemark/deployment.h"

struct tide_prover; /* opaque */

/* Starts the thread. deployment has its id; what is needed of both arguments is copied.
 * TIDE_E_CONFIG: the deployment names no validators, or a place of `archive` is malformed.
 * TIDE_E_MEMORY. */
tide_status tide_prover_open(struct tide_prover **out, const struct tide_config *config,
                             const struct tide_deployment *deployment,
                             struct tide_err *err) TIDE_MUST_USE;
/* Ends the thread and what it reads. NULL is allowed. */
void tide_prover_close(struct tide_prover *prover);

/* Tells the newest ledger that is indexed. Returns TIDE_E_CHAIN after a fork was stored, with both
 * hashes. Costs two atomic accesses. NULL is allowed. */
tide_status tide_prover_check(struct tide_prover *prover, uint32_t ledger,
                              struct tide_err *err) TIDE_MUST_USE;
/* Proves what can be proven of all ledgers that are indexed now, ends the thread, and returns like
 * tide_prover_check. NULL is allowed. */
tide_status tide_prover_finish(struct tide_prover *prover, struct tide_err *err) TIDE_MUST_USE;

#endif
