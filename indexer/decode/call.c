/* The rows of a transaction itself: chain.tx, chain.call and chain.preimage. */
#include "indexer/decode/decode_impl.h"

#include "indexer/base/copy.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

#include <string.h>

enum { TX_COLUMNS = 13, CALL_COLUMNS = 19, PREIMAGE_COLUMNS = 4 };

static void put_source(struct tide_buf *out, const uint8_t *key)
{
    char text[TIDE_STRKEY_ADDRESS_MAX];
    size_t len = tide_strkey_encode(text, TIDE_STRKEY_ACCOUNT, tide_slice_of(key, TIDE_HASH_BYTES));
    assert(len > 0 && len <= sizeof text);
    tide_copy_bytes(out, text, len);
}

/* Appends the id of a multiplexed account, or NULL. */
static void put_muxed_id(struct tide_buf *out, tide_slice account)
{
    uint64_t id;
    if (tide_muxed_id(&id, account))
        tide_copy_u64(out, id);
    else
        tide_copy_null(out);
}

/* Appends the row of chain.tx. */
static void put_tx(struct tide_decode *d, const struct tide_tx *tx)
{
    uint8_t inner[TIDE_HASH_BYTES];
    struct tide_rows *rows = decode_rows(d, TIDE_TABLE_TX);
    tide_copy_row(&rows->copy, TX_COLUMNS);
    tide_copy_int2(&rows->copy, (int16_t)d->deployment->id);
    tide_copy_int4(&rows->copy, (int32_t)d->header.sequence);
    tide_copy_int4(&rows->copy, (int32_t)tx->index);
    tide_copy_bytes(&rows->copy, tx->hash, TIDE_HASH_BYTES);
    tide_copy_time(&rows->copy, d->closed_ms);
    put_source(&rows->copy, d->envelope.source_key);
    tide_copy_bool(&rows->copy, tx->successful);
    tide_copy_int4(&rows->copy, tx->result_code);
    tide_copy_int8(&rows->copy, tx->fee_charged);
    put_source(&rows->copy, d->envelope.fee_source_key);
    if (tide_envelope_inner_hash(inner, &d->envelope, d->deployment->network_id))
        tide_copy_bytes(&rows->copy, inner, sizeof inner);
    else
        tide_copy_null(&rows->copy);
    put_muxed_id(&rows->copy, d->envelope.source);
    put_muxed_id(&rows->copy, d->envelope.fee_source);
    rows->count++;
}

/* Appends the called function's name. A failed call may carry any bytes as its name: bytes that are
 * no UTF-8 text are written as hex behind 0x. */
static void put_function(struct tide_buf *out, tide_slice name)
{
    if (tide_utf8_valid(name) && (name.len == 0 || !memchr(name.ptr, 0, name.len))) {
        tide_copy_bytes(out, name.ptr, name.len);
        return;
    }
    size_t at = tide_copy_open(out);
    tide_buf_str(out, "0x");
    tide_buf_hex(out, name);
    tide_copy_close(out, at);
}

/* Appends the arguments as a JSON array. Returns false, with a NULL column, if the JSON does not
 * fit the column: the caller then stores the XDR. */
static bool put_args(struct tide_buf *out, const struct tide_envelope *e)
{
    size_t at = tide_copy_open(out);
    tide_buf_u8(out, '[');
    bool fits = tide_scval_json_stored(out, e->args, e->arg_count);
    tide_buf_u8(out, ']');
    if (fits) {
        tide_copy_close(out, at);
        return true;
    }
    out->len = at;
    tide_copy_null(out);
    return false;
}

/* Appends the returned value as JSON, or NULL if there is none. Returns false, with a NULL column,
 * if the JSON does not fit the column: the caller then stores the XDR. */
static bool put_return(struct tide_buf *out, tide_slice value)
{
    size_t at = tide_copy_open(out);
    if (value.len && tide_scval_json_stored(out, value, 1)) {
        tide_copy_close(out, at);
        return true;
    }
    out->len = at;
    tide_copy_null(out);
    return value.len == 0;
}

static void put_args_xdr(struct tide_buf *out, const struct tide_envelope *e)
{
    size_t at = tide_copy_open(out);
    tide_buf_be32(out, e->arg_count);
    tide_buf_slice(out, e->args);
    tide_copy_close(out, at);
}

/* Returns the call's returned value. Empty for failed calls and for creations of contracts: the
 * meta then holds a placeholder. */
static tide_slice return_value_of(const struct tide_decode *d, const struct tide_tx *tx)
{
    bool answers = tx->successful && d->envelope.host_function == 0;
    return answers ? tx->return_value : (tide_slice){ 0 };
}

/* Appends the row of chain.call. */
static void put_call(struct tide_decode *d, const struct tide_tx *tx,
                     const struct tide_contract *contract, enum tide_call_proof proof)
{
    assert(contract);
    const struct tide_envelope *e = &d->envelope;
    struct tide_rows *rows = decode_rows(d, TIDE_TABLE_CALL);
    struct tide_buf *out = &rows->copy;
    tide_copy_row(out, CALL_COLUMNS);
    tide_copy_int2(out, (int16_t)d->deployment->id);
    tide_copy_int4(out, (int32_t)d->header.sequence);
    tide_copy_int4(out, (int32_t)tx->index);
    tide_copy_int4(out, 0);
    tide_copy_time(out, d->closed_ms);
    tide_copy_bytes(out, tx->hash, TIDE_HASH_BYTES);
    put_source(out, e->caller_key);
    tide_copy_bytes(out, contract->address, 56);
    if (e->host_function == 0)
        put_function(out, e->function);
    else
        tide_copy_null(out);
    bool args_fit = put_args(out, e);
    tide_copy_bool(out, tx->successful);
    tide_slice answer = return_value_of(d, tx);
    bool answer_fits = put_return(out, answer);
    tide_copy_int4(out, tx->op_result_code);
    tide_copy_int4(out, (int32_t)d->events.op_events);
    tide_copy_int4(out, (int32_t)d->entries.changed);
    tide_copy_int2(out, (int16_t)proof);
    if (args_fit)
        tide_copy_null(out);
    else
        put_args_xdr(out, e);
    if (answer_fits)
        tide_copy_null(out);
    else
        tide_copy_bytes(out, answer.ptr, answer.len);
    put_muxed_id(out, e->caller);
    rows->count++;
    d->counts.raw_calls += !args_fit || !answer_fits;
}

/* Returns whether the answer may hold a person's jurisdiction: the registry gives records to
 * callers. */
static bool answer_is_private(const struct tide_contract *called, tide_slice answer)
{
    int type = tide_scval_type_of(answer);
    return called && called->role == TIDE_ROLE_compliance_registry && type != TIDE_SCV_VOID &&
           type != TIDE_SCV_BOOL;
}

/* Appends the row of chain.preimage, if the bytes hash to the result as they stand: what exporters
 * rewrote proves nothing. What may hold a person's jurisdiction is left out. Without validators in
 * the deployment file no proof is ever given, so nothing is kept. */
static void put_preimage(struct tide_decode *d, const struct tide_tx *tx,
                         const struct tide_contract *called, enum tide_call_proof proof)
{
    if (d->deployment->quorum.count == 0 || proof != TIDE_CALL_VERIFIED ||
        d->events.private_event || answer_is_private(called, tx->return_value))
        return;
    struct tide_rows *rows = decode_rows(d, TIDE_TABLE_PREIMAGE);
    struct tide_buf *out = &rows->copy;
    tide_copy_row(out, PREIMAGE_COLUMNS);
    tide_copy_int2(out, (int16_t)d->deployment->id);
    tide_copy_int4(out, (int32_t)d->header.sequence);
    tide_copy_int4(out, (int32_t)tx->index);
    size_t at = tide_copy_open(out);
    tide_buf_slice(out, tx->return_value);
    tide_buf_slice(out, tx->op_events);
    tide_copy_close(out, at);
    rows->count++;
}

void decode_call(struct tide_decode *d, const struct tide_tx *tx, enum tide_call_proof proof)
{
    d->counts.transactions++;
    put_tx(d, tx);
    const struct tide_contract *contract = relevance_called(d);
    put_preimage(d, tx, contract, proof);
    if (!contract)
        return;
    d->counts.calls++;
    put_call(d, tx, contract, proof);
}
