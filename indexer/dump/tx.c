/* Writes the line of a transaction. */
#include "indexer/dump/dump_impl.h"

#include "tidemark/strkey.h"
#include "tidemark/text.h"

static const char *result_name(int32_t code)
{
    static const char *const names[] = {
        "txFEE_BUMP_INNER_SUCCESS",
        "txSUCCESS",
        "txFAILED",
        "txTOO_EARLY",
        "txTOO_LATE",
        "txMISSING_OPERATION",
        "txBAD_SEQ",
        "txBAD_AUTH",
        "txINSUFFICIENT_BALANCE",
        "txNO_ACCOUNT",
        "txINSUFFICIENT_FEE",
        "txBAD_AUTH_EXTRA",
        "txINTERNAL_ERROR",
        "txNOT_SUPPORTED",
        "txFEE_BUMP_INNER_FAILED",
        "txBAD_SPONSORSHIP",
        "txBAD_MIN_SEQ_AGE_OR_GAP",
        "txMALFORMED",
        "txSOROBAN_INVALID",
        "txFROZEN_KEY_ACCESSED",
    };
    assert(code <= 1 && (size_t)(1 - code) < TIDE_COUNT(names));
    return names[1 - code]; /* the walk rejects codes other than 1 .. -18 */
}

/* Writes a MuxedAccount, or the bare key of a v0 transaction, as G… or M…. */
static void put_account(struct tide_json *j, const char *name, tide_slice account,
                        const uint8_t *key)
{
    if (account.len != 44) {
        dump_put_strkey(j, name, TIDE_STRKEY_ACCOUNT, key);
        return;
    }
    uint8_t payload[40];
    char text[TIDE_STRKEY_TEXT_MAX];
    memcpy(payload, account.ptr + 12, 32);
    memcpy(payload + 32, account.ptr + 4, 8);
    size_t len = tide_strkey_encode(text, TIDE_STRKEY_MUXED, tide_slice_of(payload, 40));
    tide_json_name(j, name);
    tide_json_plain(j, tide_slice_of(text, len));
}

static void put_numbers(struct tide_json *j, const char *name, const uint32_t *numbers,
                        uint32_t count)
{
    tide_json_name(j, name);
    tide_json_open(j, '[');
    for (uint32_t i = 0; i < count; i++)
        tide_json_number(j, NULL, numbers[i]);
    tide_json_close(j, ']');
}

static void put_soroban_data(struct tide_json *j, const struct tide_envelope *e)
{
    if (!e->has_soroban) {
        tide_json_null(j, "sorobanData");
        return;
    }
    tide_json_name(j, "sorobanData");
    tide_json_open(j, '{');
    tide_json_number(j, "instructions", e->instructions);
    tide_json_i64(j, "resourceFee", e->resource_fee);
    tide_json_number(j, "readOnly", e->read_only_count);
    tide_json_number(j, "readWrite", e->read_write_count);
    tide_json_number(j, "ext", e->soroban_ext);
    tide_json_close(j, '}');
}

/* Writes null for all members that come from the envelope. */
static void put_no_envelope(struct tide_json *j)
{
    static const char *const names[] = { "envelopeType", "feeSource", "source",     "seqNum",
                                         "maxFee",       "opTypes",   "sorobanData" };
    for (size_t i = 0; i < TIDE_COUNT(names); i++)
        tide_json_null(j, names[i]);
}

/* Writes the members that come from the envelope, or null for each if it is not known. */
static void put_envelope(struct tide_json *j, tide_slice span)
{
    struct tide_envelope e;
    struct tide_xdr x;
    if (span.len == 0 || tide_envelope_read(&e, span, &x) != TIDE_OK) {
        put_no_envelope(j);
        return;
    }
    tide_json_number(j, "envelopeType", e.type);
    put_account(j, "feeSource", e.fee_source, e.fee_source_key);
    put_account(j, "source", e.source, e.source_key);
    tide_json_i64(j, "seqNum", e.seq_num);
    if (e.type == 5)
        tide_json_i64(j, "maxFee", e.fee);
    else
        tide_json_number(j, "maxFee", (uint64_t)e.fee);
    uint32_t types[TIDE_OPS_PER_TX_MAX];
    assert(e.op_count <= TIDE_OPS_PER_TX_MAX);
    for (uint32_t i = 0; i < e.op_count; i++)
        types[i] = e.op_types[i];
    put_numbers(j, "opTypes", types, e.op_count);
    put_soroban_data(j, &e);
}

/* Writes the Soroban part of the meta. V3 always has a return value, V4 may have none. */
static void put_soroban_meta(struct tide_json *j, const struct tide_tx *tx)
{
    if (tx->soroban_ext.len == 0)
        return;
    if (tx->return_value.len)
        tide_json_base64(j, "returnValue", tx->return_value);
    else
        tide_json_null(j, "returnValue");
    uint32_t arm = tide_be32(tx->soroban_ext.ptr);
    tide_json_number(j, "sorobanMetaExt", arm);
    if (arm != 1)
        return;
    assert(tx->soroban_ext.len >= 32);
    const uint8_t *fees = tx->soroban_ext.ptr + 8;
    tide_json_name(j, "sorobanFees");
    tide_json_open(j, '{');
    tide_json_i64(j, "nonRefundable", (int64_t)tide_be64(fees));
    tide_json_i64(j, "refundable", (int64_t)tide_be64(fees + 8));
    tide_json_i64(j, "rent", (int64_t)tide_be64(fees + 16));
    tide_json_close(j, '}');
}

/* Writes the result of the call's hash check; nothing for transactions without a successful
 * call. */
static void put_proof(struct tide_json *j, const struct tide_tx *tx, enum tide_call_proof proof)
{
    static const char *const names[] = { NULL, "verified", "rewritten", "unverified" };
    if (proof == TIDE_CALL_NONE)
        return;
    assert((size_t)proof < TIDE_COUNT(names));
    tide_json_hex(j, "invokeSuccessHash", tide_slice_of(tx->invoke_hash, TIDE_HASH_BYTES));
    tide_json_bool(j, "preimageMatches", proof == TIDE_CALL_VERIFIED);
    dump_put_text(j, "proof", names[proof]);
}

/* Returns the number of event lists in the meta: V4 has one for each operation, V3 one for a
 * contract call. */
static uint32_t op_event_lists(const struct tide_tx *tx)
{
    if (tx->meta_version == 4)
        return tx->op_count < TIDE_OPS_PER_TX_MAX ? tx->op_count : TIDE_OPS_PER_TX_MAX;
    return tx->meta_version == 3 && tx->soroban_ext.len > 0;
}

void dump_put_tx(struct dump_sink *s, const struct tide_tx *tx, enum tide_call_proof proof)
{
    struct tide_json *j = &s->json;
    tide_json_number(j, "ledger", s->header.sequence);
    tide_json_number(j, "index", tx->index);
    tide_json_hex(j, "hash", tide_slice_of(tx->hash, TIDE_HASH_BYTES));
    if (tx->inner_hash)
        tide_json_hex(j, "innerHash", tide_slice_of(tx->inner_hash, TIDE_HASH_BYTES));
    else
        tide_json_null(j, "innerHash");
    tide_json_bool(j, "successful", tx->successful);
    dump_put_text(j, "resultCode", result_name(tx->result_code));
    dump_put_text(j, "innerResultCode", tx->inner_hash ? result_name(tx->inner_result_code) : NULL);
    tide_json_i64(j, "feeCharged", tx->fee_charged);
    tide_json_number(j, "metaVersion", tx->meta_version);
    tide_json_number(j, "opMetaCount", tx->op_count);
    put_envelope(j, tide_proof_find(s->verify, tx->hash));
    put_numbers(j, "opEventCounts", s->op_events, op_event_lists(tx));
    tide_json_number(j, "txEventCount", s->tx_events);
    tide_json_number(j, "diagnosticEventCount", s->diagnostics);
    put_soroban_meta(j, tx);
    put_proof(j, tx, proof);
}
