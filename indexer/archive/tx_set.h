/* The hash of the ledger before, as a ledger's transaction set names it. The set is believed if it
 * has the signed hash. */
#ifndef INDEXER_ARCHIVE_TX_SET_H
#define INDEXER_ARCHIVE_TX_SET_H

#include "tidemark/buf.h"
#include "tidemark/status.h"

/* Reads a TransactionHistoryEntry. *ledger is its sequence; *previous borrows 32 bytes from it, and
 * is NULL if the set does not have that hash. TIDE_E_DECODE. */
tide_status tx_set_previous(tide_slice entry, const uint8_t hash[TIDE_HASH_BYTES],
                            const uint8_t **previous) TIDE_MUST_USE;

/* Returns whether a set without transactions, after the ledger with the hash `previous`, has that
 * hash, in the form of any protocol. */
bool tx_set_is_empty(const uint8_t previous[TIDE_HASH_BYTES], const uint8_t hash[TIDE_HASH_BYTES]);

/* Returns the previous hash that a GeneralizedTransactionSet names, 32 bytes of it, or NULL if it
 * does not have that hash. */
const uint8_t *tx_set_names(tide_slice set, const uint8_t hash[TIDE_HASH_BYTES]);

/* Appends the generalized set without transactions that has that hash. Returns false, with nothing
 * appended, if there is none. */
bool tx_set_put_empty(struct tide_buf *out, const uint8_t previous[TIDE_HASH_BYTES],
                      const uint8_t hash[TIDE_HASH_BYTES]);

#endif
