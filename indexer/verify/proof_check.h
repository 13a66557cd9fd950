/* Checks a proof of a transaction, as GET /api/proof/{hash} gives it. The proof needs no trust in
 * its source: only in the validators that the caller's quorum set names.
 *
 * Layout, in XDR without padding; each length is a multiple of 4:
 *
 *   opaque magic[8]              "TIDEPRF1"
 *   LedgerHeader headers<>       as opaque<>: of the transaction's ledger, then of each next one
 *   GeneralizedTransactionSet*   as opaque<>: the set of the signed ledger, behind the last
 *                                header; none if the signed value names that header's hash itself
 *   SCPEnvelope envelopes<>      as opaque<>: EXTERNALIZE votes about the signed ledger, all for
 *                                one value; each of the caller's validators once
 *   opaque hash[32]              of the transaction
 *   TransactionResultSet         as opaque<>: of the transaction's ledger
 *   InvokeHostFunctionSuccessPreImage*  as opaque<>: the call's answer and events
 *
 * Proves   that a quorum signed a value which names the last header's hash; that the headers follow
 *          one another; that the results are those of the first header; that the transaction is
 *          one of them; that answer and events are those that its result hashes.
 * Refused  everything else: a byte too many, votes of strangers alone, a vote that does not hold.
 *          Envelopes of validators that the quorum set does not name are read and do not count.
 * Threads  any; no state. Memory: none. */
#ifndef INDEXER_VERIFY_PROOF_CHECK_H
#define INDEXER_VERIFY_PROOF_CHECK_H

#include "tidemark/meta.h"
#include "tidemark/quorum.h"

#define PROOF_BYTES_MAX (32u << 20)

/* Slices borrow from the proof. */
struct proof_claim {
    struct tide_ledger_header header; /* header of the transaction's ledger; its hash is not set */
    uint8_t hash[TIDE_HASH_BYTES];    /* hash of that header */
    uint32_t signed_ledger;           /* votes about it prove the ledger before it */
    struct tide_signers signers;
    struct tide_tx tx; /* the result; index and count are those of the result set */
    bool has_events;
    tide_slice answer; /* SCVal; empty without events */
    uint32_t event_count;
    tide_slice events; /* ContractEvent, one after another: tide_event_read */
};

/* Checks the proof. TIDE_E_DECODE, TIDE_E_UNKNOWN or TIDE_E_LIMIT: the bytes are no proof.
 * TIDE_E_CONFLICT: they prove nothing, and err says why. */
tide_status proof_check(tide_slice proof, const struct tide_quorum *quorum,
                        const uint8_t network_id[TIDE_HASH_BYTES], struct proof_claim *out,
                        struct tide_err *err) TIDE_MUST_USE;

#endif
