/* The decoder: one ledger's bytes in, its rows out. Walk, chain check, proofs, catalogue and COPY
 * encoding in one pass. No SQL, no clock, no I/O; the same bytes give the same rows.
 *
 * Ours      transactions that call or create a contract of the deployment, those that carry an
 *           event or an entry change of one (a router called it; strangers' too), and failed ones
 *           that list one in their footprint. A stellar asset alone makes none ours unless an
 *           address that the deployment names takes part: it is the whole network's. All events
 *           of followed tokens in such a transaction are kept.
 * Mirrored  every entry of the deployment's contracts but nonces, wallets' own and balances that
 *           a stellar asset keeps for contracts which the deployment does not name.
 * Raw       what the catalogue does not know or what does not fit it: XDR and reason, counted.
 * Number    a row's numbers depend on its ledger alone, never on which contracts are known.
 * Roles     are the deployment file's. The chain gives a role to no contract.
 * Found     tokens of the engine's markets, and those that live entries in partners' catalogs name
 *           first, up to discovered_max; chain.contract_seen says since when, or that the limit was
 *           reached. After a restart the caller puts them into the deployment (the writer does).
 * Settled   a token that was found is a Stellar asset's contract or another. Its first event or its
 *           instance shows which. It is followed from the next ledger on: batch.settled. The caller
 *           reads the ledgers until there again, by a decoder that knows it from the start; so the
 *           rows of all ledgers are those of a deployment file that names it. For the same reason a
 *           settled token's address, if it is no Stellar asset's, counts as one that the file names
 *           (see Ours), whichever entry listed it. */
#ifndef INDEXER_DECODE_DECODE_H
#define INDEXER_DECODE_DECODE_H

#include "indexer/decode/batch.h"
#include "indexer/decode/proof.h"
#include "tidemark/deployment.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

struct tide_decode_options {
    const struct tide_deployment *deployment; /* copied */
    enum tide_proof proof;
    /* true for each table index wanted (--only); NULL: all. chain.ledger always is. */
    const bool *tables;
    /* Tokens that are followed because partners' catalogs alone name them. Those that markets name
     * have a limit of their own, TIDE_MARKET_TOKENS_MAX: anyone may fill a catalog. 0 for ledgers
     * before which some are missing: what these name first is not known yet. */
    uint32_t discovered_max;
    bool known_only; /* these ledgers were indexed before: what they name is known */
    /* Contract ids, copied. If there are any, only ledgers whose bytes hold one of them give rows;
     * the others are checked and counted as read. */
    const uint8_t (*mentioned)[TIDE_HASH_BYTES];
    uint32_t mentioned_count;
};

struct tide_decode; /* holds its arena, hash tables, scratch: fixed at open */

tide_status tide_decode_open(struct tide_decode **out, const struct tide_decode_options *options,
                             struct tide_err *err) TIDE_MUST_USE;
void tide_decode_close(struct tide_decode *decode);

/* What the next ledger must follow. previous_hash NULL: unknown (the first ledger of all). */
void tide_decode_expect(struct tide_decode *decode, uint32_t next_sequence,
                        const uint8_t *previous_hash);

/* Appends one ledger to batch. On failure batch is as before (rows of this ledger are taken back).
 * TIDE_E_CHAIN   hash, link, sequence or (with proof) result set, events hash do not hold
 * TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_LIMIT   from the walk, with ledger and byte offset */
tide_status tide_decode_ledger(struct tide_decode *decode, struct tide_batch *batch, tide_slice lcm,
                               struct tide_err *err) TIDE_MUST_USE;

/* Call before a batch is handed on: of each key's rows in the state tables only the newest stay.
 * The next ledger begins a new batch. */
void tide_decode_batch_end(struct tide_decode *decode, struct tide_batch *batch);

#endif
