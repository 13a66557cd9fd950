/* Checks a proof of a transaction or of an entry, as GET /api/proof gives it. The proof needs no
 * trust in its source: only in the validators that the caller's quorum set names.
 *
 * Layout, in XDR without padding; each length is a multiple of 4:
 *
 *   opaque magic[8]              "TIDEPRF1": of a transaction; "TIDEPRE1": of an entry
 *   LedgerHeader headers<>       as opaque<>: of the proven ledger, then of each next one
 *   GeneralizedTransactionSet*   as opaque<>: the set of the signed ledger, behind the last
 *                                header; none if the signed value names that header's hash itself
 *   SCPEnvelope envelopes<>      as opaque<>: EXTERNALIZE votes about the signed ledger, all for
 *                                one value; each of the caller's validators once
 *
 * then, of a transaction,
 *
 *   opaque hash[32]              of the transaction
 *   TransactionResultSet         as opaque<>: of the transaction's ledger
 *   InvokeHostFunctionSuccessPreImage*  as opaque<>: the call's answer and events
 *
 * or, of an entry of contract data,
 *
 *   Hash buckets<>               22: of each level of the live list curr and snap, the youngest
 *                                first; or 44: then of the hot archive's list
 *   LedgerKey                    as opaque<>: of the entry
 *   uint32 said                  0: the server says nothing of the value; 1: there is no entry; 2:
 *   SCVal*                       as opaque<>: its value, only if said is 2
 *
 * Proves   that a quorum signed a value which names the last header's hash; that the headers follow
 *          one another. Of a transaction: that the results are those of the first header; that the
 *          transaction is one of them; that answer and events are those that its result hashes. Of
 *          an entry: that the buckets are those of the first header. The value is only what the
 *          server says: proof_buckets.h compares it.
 * Refused  everything else: a byte too many, votes of strangers alone, a vote that does not hold.
 *          Envelopes of validators that the quorum set does not name are read and do not count.
 * Threads  any; no state. Memory: none. */
#ifndef INDEXER_VERIFY_PROOF_CHECK_H
#define INDEXER_VERIFY_PROOF_CHECK_H

#include "indexer/archive/history_state.h"
#include "tidemark/meta.h"
#include "tidemark/quorum.h"

#define PROOF_BYTES_MAX (32u << 20)

enum proof_kind { PROOF_TRANSACTION, PROOF_ENTRY };
enum proof_said { PROOF_SAID_NOTHING, PROOF_SAID_ABSENT, PROOF_SAID_VALUE };

/* Slices borrow from the proof. */
struct proof_claim {
    enum proof_kind kind;
    struct tide_ledger_header header; /* header of the proven ledger; its hash is not set */
    uint8_t hash[TIDE_HASH_BYTES];    /* hash of that header */
    uint32_t signed_ledger;           /* votes about it prove the ledger before it */
    struct tide_signers signers;
    /* PROOF_TRANSACTION */
    struct tide_tx tx; /* the result; index and count are those of the result set */
    bool has_events;
    tide_slice answer; /* SCVal; empty without events */
    uint32_t event_count;
    tide_slice events; /* ContractEvent, one after another: tide_event_read */
    /* PROOF_ENTRY */
    struct history_state buckets; /* hashes alone, and the version: 1 without the hot archive */
    tide_slice key;               /* LedgerKey */
    struct tide_change of;        /* its fields: contract, key and durability */
    enum proof_said said;
    tide_slice value; /* SCVal, as the server says; empty without */
};

/* Checks the proof. TIDE_E_DECODE, TIDE_E_UNKNOWN or TIDE_E_LIMIT: the bytes are no proof.
 * TIDE_E_CONFLICT: they prove nothing, and err says why. */
tide_status proof_check(tide_slice proof, const struct tide_quorum *quorum,
                        const uint8_t network_id[TIDE_HASH_BYTES], struct proof_claim *out,
                        struct tide_err *err) TIDE_MUST_USE;

#endif
