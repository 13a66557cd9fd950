/* ScVal, the only value type of contracts: topics, data, keys, entries, arguments. */
#ifndef TIDEMARK_SCVAL_H
#define TIDEMARK_SCVAL_H

#include "tidemark/buf.h"
#include "tidemark/xdr.h"

enum tide_scval_type {
    TIDE_SCV_BOOL = 0,
    TIDE_SCV_VOID,
    TIDE_SCV_ERROR,
    TIDE_SCV_U32,
    TIDE_SCV_I32,
    TIDE_SCV_U64,
    TIDE_SCV_I64,
    TIDE_SCV_TIMEPOINT,
    TIDE_SCV_DURATION,
    TIDE_SCV_U128,
    TIDE_SCV_I128,
    TIDE_SCV_U256,
    TIDE_SCV_I256,
    TIDE_SCV_BYTES,
    TIDE_SCV_STRING,
    TIDE_SCV_SYMBOL,
    TIDE_SCV_VEC,
    TIDE_SCV_MAP,
    TIDE_SCV_ADDRESS,
    TIDE_SCV_CONTRACT_INSTANCE,
    TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE,
    TIDE_SCV_LEDGER_KEY_NONCE,
    TIDE_SCV_EXECUTABLE_TAG,
};
static_assert(TIDE_SCV_I128 == 10 && TIDE_SCV_SYMBOL == 15 && TIDE_SCV_ADDRESS == 18 &&
                  TIDE_SCV_EXECUTABLE_TAG == 22,
              "SCValType's numbers");

/* Steps over one value, checking it whole. */
void tide_scval_skip(struct tide_xdr *x);
/* Steps over one SCAddress. */
void tide_scaddress_skip(struct tide_xdr *x);
/* The account or contract that an address stands for: itself, or without the id of a muxed address
 * (CAP-67, CAP-84). The host keeps balances and authorises under it alone. key is NULL for other
 * kinds of address. */
struct tide_scaddress_base {
    const uint8_t *key; /* 32 bytes, borrowed from the address */
    bool contract;
};
struct tide_scaddress_base tide_scaddress_base(tide_slice address_xdr);
/* Steps over one SCError. */
void tide_scerror_skip(struct tide_xdr *x);

/* Returns the span of the value at the cursor and moves the cursor behind it. */
static inline tide_slice tide_scval_span(struct tide_xdr *x)
{
    const uint8_t *mark = x->cur;
    tide_scval_skip(x);
    return tide_xdr_span(x, mark);
}

/* Returns the value's arm, or -1 if there are fewer than four bytes. */
static inline int tide_scval_type_of(tide_slice value)
{
    return value.len >= 4 ? (int)tide_be32(value.ptr) : -1;
}

/* Appends a value as JSON: integers over 32 bits and all amounts as strings, bytes as lower-case
 * hex, addresses as strkeys, symbols and strings as text ({"hex": "…"} if not UTF-8 or with a NUL),
 * void as null, a vec as an array, an error as {"error": {"type": …, "code": …}}, a nonce key as
 * {"nonce": "…"}, LedgerKeyContractInstance as that word, an instance as {executable, wasm,
 * storage}. A map is an object if its keys are all symbols, or all strings, of valid text in
 * ascending order, as the host makes them. In an instance's storage a vec of one symbol is such a
 * key too, named by its JSON text. Any other map is a list of pairs: [[key, value], …].
 * The text is at most 8 times as long as the value's XDR, plus 64 bytes.
 * TIDE_E_DECODE, TIDE_E_UNKNOWN or TIDE_E_LIMIT if xdr is not exactly one value; the caller then
 * drops the partial text in json. */
tide_status tide_scval_json(struct tide_buf *json, tide_slice xdr) TIDE_MUST_USE;

/* Appends the bytes of a string or symbol as that JSON: text, or {"hex": "…"}. */
void tide_scval_json_string(struct tide_buf *json, tide_slice bytes);

#define TIDE_STORED_JSON_MAX   (64u << 10) /* bytes */
#define TIDE_STORED_JSON_DEPTH 64u
#define TIDE_STORED_JSON_SPARE 64u /* bytes */
static_assert(TIDE_STORED_JSON_DEPTH < TIDE_XDR_DEPTH_MAX, "deeper values are stored as XDR");

/* Appends count values, comma-separated, as the same JSON, for a column of the database. Returns
 * false, with nothing appended, if the values must be stored as XDR instead:
 *   - the text would be longer than twice the XDR and TIDE_STORED_JSON_SPARE bytes, or than
 *     TIDE_STORED_JSON_MAX;
 *   - it nests deeper than TIDE_STORED_JSON_DEPTH, at which common JSON parsers give up;
 *   - `values` is not exactly count values.
 * Returns true if json has failed: the caller checks that once, at the end. */
bool tide_scval_json_stored(struct tide_buf *json, tide_slice values, uint32_t count) TIDE_MUST_USE;

#endif
