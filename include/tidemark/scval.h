/* ScVal, the one value type of contracts: topics, data, keys, entries, arguments. */
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

/* Steps over one value, checking it whole. */
void tide_scval_skip(struct tide_xdr *x);
/* Steps over one SCAddress. */
void tide_scaddress_skip(struct tide_xdr *x);
/* Steps over one SCError. */
void tide_scerror_skip(struct tide_xdr *x);

/* The span of the value at the cursor, which moves behind it. */
static inline tide_slice tide_scval_span(struct tide_xdr *x)
{
    const uint8_t *mark = x->cur;
    tide_scval_skip(x);
    return tide_xdr_span(x, mark);
}

/* The value's arm without moving; -1 when there are no four bytes. */
static inline int tide_scval_type_of(tide_slice value)
{
    return value.len >= 4 ? (int)tide_be32(value.ptr) : -1;
}

/* A value as JSON in the form of the fixtures: integers over 32 bits and all
 * amounts are strings, bytes lower-case hex, addresses strkeys, symbols and
 * strings text ({"hex": "…"} when not UTF-8 or with a NUL), void null, vec an array, error
 * {"error": {"type": …, "code": …}}, nonce key {"nonce": "…"},
 * LedgerKeyContractInstance that word, an instance {executable, wasm, storage}.
 * A map is an object when its keys are all symbols, or all strings, of valid text in
 * ascending order, which is how the host makes them; in an instance's storage a vec of one
 * symbol is such a key too, named by its JSON text. Any other map is a list of pairs:
 * [[key, value], …].
 * The text's length is linear in the value's: at most 8 times its XDR and 64 bytes.
 * TIDE_E_DECODE / TIDE_E_UNKNOWN / TIDE_E_LIMIT when xdr is not exactly one value;
 * json then holds a partial text the caller drops. */
tide_status tide_scval_json(struct tide_buf *json, tide_slice xdr) TIDE_MUST_USE;

/* A string's or symbol's bytes as that JSON: text, or {"hex": "…"}. */
void tide_scval_json_string(struct tide_buf *json, tide_slice bytes);

#define TIDE_STORED_JSON_MAX   (64u << 10) /* bytes */
#define TIDE_STORED_JSON_DEPTH 64u
#define TIDE_STORED_JSON_SPARE 64u /* bytes */

/* Appends count values, comma-separated, as the same JSON, for a column of the database. False,
 * with nothing appended, when the value is to be stored as XDR instead:
 *   - the text would be longer than twice the XDR and TIDE_STORED_JSON_SPARE bytes, or than
 *     TIDE_STORED_JSON_MAX;
 *   - it nests deeper than TIDE_STORED_JSON_DEPTH, where common JSON parsers give up;
 *   - values is not exactly count values.
 * True when json has failed: ask it once, at the end. */
bool tide_scval_json_stored(struct tide_buf *json, tide_slice values, uint32_t count) TIDE_MUST_USE;

#endif
