/* StellarValue: what validators agree on for a ledger, as its header and their votes hold it. */
#ifndef TIDEMARK_STELLAR_VALUE_H
#define TIDEMARK_STELLAR_VALUE_H

#include "tidemark/xdr.h"

/* StellarValueType. The last two have the close time in milliseconds, too (CAP-88). */
enum tide_stellar_value_type {
    TIDE_VALUE_BASIC,
    TIDE_VALUE_SIGNED,
    TIDE_VALUE_EMPTY_TX_SET,
    TIDE_VALUE_SIGNED_MS,
    TIDE_VALUE_EMPTY_TX_SET_MS,
};
static_assert(TIDE_VALUE_EMPTY_TX_SET_MS == 4, "XDR's numbers");

#define TIDE_VALUE_SIGNED_BYTES 84u /* longest message that a proposer signs */

/* Slices and pointers borrow from the bytes. */
struct tide_stellar_value {
    enum tide_stellar_value_type type;
    const uint8_t *tx_set_hash; /* 32 bytes; all zero if `previous` is set             */
    uint64_t close_time;        /* unix seconds: the clock of contracts and time bounds */
    uint32_t close_ms;          /* milliseconds after close_time, below 1000; 0 in values
                                   without milliseconds                                 */
    uint32_t upgrade_count;
    tide_slice upgrades; /* each a length and so many bytes                             */
    /* An EMPTY_TX_SET value replaces a set that was not downloaded. It names the hash of the ledger
     * before by itself, other values by their transaction set. NULL in those. */
    const uint8_t *previous;
    const uint8_t *signed_hash; /* the set's hash that the proposer signed              */
    const uint8_t *node;        /* the proposer's key; NULL: the value is not signed    */
    tide_slice signature;
};

/* Reads one value. A failure stays in the cursor: TIDE_E_UNKNOWN for a type of a newer protocol,
 * TIDE_E_DECODE for milliseconds of another second than close_time, as for other malformed
 * bytes. */
void tide_stellar_value_read(struct tide_xdr *x, struct tide_stellar_value *out);

/* Reads bytes that are exactly one value. */
tide_status tide_stellar_value_of(struct tide_stellar_value *out, tide_slice bytes) TIDE_MUST_USE;

/* Writes the message that the proposer of a signed value signs, raw and not hashed, and returns its
 * length: network id, ENVELOPE_TYPE_SCPVALUE, signed_hash, close time, and in a value with
 * milliseconds the close time in milliseconds. */
size_t tide_stellar_value_signed(uint8_t out[TIDE_VALUE_SIGNED_BYTES],
                                 const struct tide_stellar_value *value,
                                 const uint8_t network_id[TIDE_HASH_BYTES]);

#endif
