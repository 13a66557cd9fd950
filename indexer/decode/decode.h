/* The decoder turns one ledger's bytes into its rows: walk, chain check, proofs, catalogue and COPY
 * encoding in one pass. No SQL, no clock, no I/O: the same bytes give the same rows.
 *
 * Deployment's  transactions that call or create a contract of the deployment, that carry an event
 *               or an entry change of one (a router called it; strangers' transactions too), and
 *               failed ones that list one in their footprint. A Stellar asset belongs to the whole
 *               network: a transaction that reaches only Stellar assets counts if an address that
 *               the deployment names takes part. All events of followed tokens in such a
 *               transaction are stored.
 * Mirrored      all entries of the deployment's contracts, except nonces, wallets' own entries, and
 *               balances that a Stellar asset keeps for contracts that the deployment does not
 *               name.
 * Raw           events and entries that the catalogue does not know, or whose values do not fit:
 *               stored as XDR with the reason, and counted.
 * Numbers       a row's numbers depend on its ledger alone, not on which contracts are known.
 * Roles         come from the deployment file. The chain gives no contract a role.
 * Discovered    tokens of the engine's markets, and tokens that live entries in partners' catalogs
 *               name first, up to discovered_max. chain.contract_seen says since when, or that the
 *               limit was reached. After a restart the writer adds them to the deployment.
 * Settled       a discovered token is a Stellar asset's contract or another one; its first event or
 *               its instance shows which. It is followed from the next ledger on (batch.settled).
 *               The caller reads the earlier ledgers again with a decoder that knows the token from
 *               the start, so all rows are as if the deployment file named it. For the same reason
 *               the address of a settled token that is no Stellar asset's counts as one that the
 *               file names, whichever entry listed it. */
#ifndef INDEXER_DECODE_DECODE_H
#define INDEXER_DECODE_DECODE_H

#include "indexer/decode/batch.h"
#include "indexer/decode/proof.h"
#include "tidemark/deployment.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

/* Tokens that markets name, of TIDE_CONTRACTS_MAX contracts. The DAO makes markets. */
#define TIDE_MARKET_TOKENS_MAX 1024u

struct tide_decode_options {
    const struct tide_deployment *deployment; /* copied */
    enum tide_proof proof;
    bool history_only; /* true: no rows of the schema state */
    /* true: rows of event.log too, which is a view of the rows that are written for events' kinds.
     * The writer takes none. */
    bool with_log;
    /* Limit on tokens that are followed because partners' catalogs alone name them. Anyone may fill
     * a catalog, hence the limit. Tokens that markets name have a limit of their own,
     * TIDE_MARKET_TOKENS_MAX. 0 for ledgers after a gap: an earlier ledger in the gap may name
     * other tokens first. */
    uint32_t discovered_max;
    bool known_only; /* true if these ledgers were indexed before: then no token is discovered */
    /* Contract ids, copied. If there are any, only ledgers whose bytes contain one of them give
     * rows. Other ledgers are checked and counted. */
    const uint8_t (*mentioned)[TIDE_HASH_BYTES];
    uint32_t mentioned_count;
};

struct tide_decode; /* owns its buffers and hash tables; one thread at a time */

tide_status tide_decode_open(struct tide_decode **out, const struct tide_decode_options *options,
                             struct tide_err *err) TIDE_MUST_USE;
void tide_decode_close(struct tide_decode *decode);

/* Sets which ledger must come next. previous_hash is NULL if it is not known, before the first
 * ledger of an index. */
void tide_decode_expect(struct tide_decode *decode, uint32_t next_sequence,
                        const uint8_t *previous_hash);

/* Appends one ledger's rows to batch. On failure the batch is as before the call.
 * TIDE_E_CHAIN   hash, link, sequence or (depending on proof) a set's or an events hash is wrong
 * TIDE_E_RANGE   sequence or close time out of range
 * TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_LIMIT   from the walk, with ledger and byte offset
 * TIDE_E_MEMORY  no memory */
tide_status tide_decode_ledger(struct tide_decode *decode, struct tide_batch *batch, tide_slice lcm,
                               struct tide_err *err) TIDE_MUST_USE;

/* Call before the batch is handed to the writer: of each key's rows in the state tables only the
 * newest stays. The next ledger begins a new batch. */
void tide_decode_batch_end(struct tide_decode *decode, struct tide_batch *batch);

#endif
