/* The line of a transaction. */
#include "indexer/dump/sink.h"

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
    return names[1 - code]; /* the walk lets 1 .. -18 through */
}

/* A MuxedAccount span, or the bare key of a v0 transaction, as G… or M…. */
static void put_account(struct tide_buf *b, const char *name, tide_slice account,
                        const uint8_t *key)
{
    if (account.len != 44) {
        dump_put_strkey(b, name, TIDE_STRKEY_ACCOUNT, key);
        return;
    }
    uint8_t payload[40];
    char text[TIDE_STRKEY_TEXT_MAX];
    memcpy(payload, account.ptr + 12, 32);
    memcpy(payload + 32, account.ptr + 4, 8);
    dump_put_name(b, name);
    tide_buf_u8(b, '"');
    tide_buf_put(b, text, tide_strkey_encode(text, TIDE_STRKEY_MUXED, tide_slice_of(payload, 40)));
    tide_buf_u8(b, '"');
}

static void put_numbers(struct tide_buf *b, const char *name, const uint32_t *numbers,
                        uint32_t count)
{
    dump_put_name(b, name);
    tide_buf_u8(b, '[');
    for (uint32_t i = 0; i < count; i++)
        tide_buf_putf(b, "%s%" PRIu32, i ? "," : "", numbers[i]);
    tide_buf_u8(b, ']');
}

static void put_soroban_data(struct tide_buf *b, const struct tide_envelope *e)
{
    if (!e->has_soroban) {
        dump_put_null(b, "sorobanData");
        return;
    }
    dump_put_name(b, "sorobanData");
    tide_buf_u8(b, '{');
    dump_put_u64(b, "instructions", e->instructions);
    dump_put_i64_text(b, "resourceFee", e->resource_fee);
    dump_put_u64(b, "readOnly", e->read_only_count);
    dump_put_u64(b, "readWrite", e->read_write_count);
    dump_put_u64(b, "ext", e->soroban_ext);
    tide_buf_u8(b, '}');
}

static void put_no_envelope(struct tide_buf *b)
{
    static const char *const names[] = { "envelopeType", "feeSource", "source",     "seqNum",
                                         "maxFee",       "opTypes",   "sorobanData" };
    for (size_t i = 0; i < TIDE_COUNT(names); i++)
        dump_put_null(b, names[i]);
}

static void put_envelope(struct tide_buf *b, tide_slice span)
{
    struct tide_envelope e;
    struct tide_xdr x;
    if (span.len == 0 || tide_envelope_read(&e, span, &x) != TIDE_OK) {
        put_no_envelope(b);
        return;
    }
    dump_put_u64(b, "envelopeType", e.type);
    put_account(b, "feeSource", e.fee_source, e.fee_source_key);
    put_account(b, "source", e.source, e.source_key);
    dump_put_i64_text(b, "seqNum", e.seq_num);
    if (e.type == 5)
        dump_put_i64_text(b, "maxFee", e.fee);
    else
        dump_put_u64(b, "maxFee", (uint64_t)e.fee);
    uint32_t types[TIDE_OPS_PER_TX_MAX];
    for (uint32_t i = 0; i < e.op_count; i++)
        types[i] = e.op_types[i];
    put_numbers(b, "opTypes", types, e.op_count);
    put_soroban_data(b, &e);
}

/* The soroban part of the meta: V3's has always a value, V4's may have none. */
static void put_soroban_meta(struct tide_buf *b, const struct tide_tx *tx)
{
    if (tx->soroban_ext.len == 0)
        return;
    if (tx->return_value.len)
        dump_put_base64(b, "returnValue", tx->return_value);
    else
        dump_put_null(b, "returnValue");
    uint32_t arm = tide_be32(tx->soroban_ext.ptr);
    dump_put_u64(b, "sorobanMetaExt", arm);
    if (arm != 1)
        return;
    const uint8_t *fees = tx->soroban_ext.ptr + 8;
    dump_put_name(b, "sorobanFees");
    tide_buf_u8(b, '{');
    dump_put_i64_text(b, "nonRefundable", (int64_t)tide_be64(fees));
    dump_put_i64_text(b, "refundable", (int64_t)tide_be64(fees + 8));
    dump_put_i64_text(b, "rent", (int64_t)tide_be64(fees + 16));
    tide_buf_u8(b, '}');
}

static void put_proof(struct tide_buf *b, const struct tide_tx *tx, enum tide_call_proof proof)
{
    static const char *const names[] = { NULL, "verified", "rewritten", "unverified" };
    if (proof == TIDE_CALL_NONE)
        return;
    dump_put_hex(b, "invokeSuccessHash", tide_slice_of(tx->invoke_hash, TIDE_HASH_BYTES));
    dump_put_bool(b, "preimageMatches", proof == TIDE_CALL_VERIFIED);
    dump_put_text(b, "proof", names[proof]);
}

static uint32_t op_event_lists(const struct tide_tx *tx)
{
    if (tx->meta_version == 4)
        return tx->op_count < TIDE_OPS_PER_TX_MAX ? tx->op_count : TIDE_OPS_PER_TX_MAX;
    return tx->meta_version == 3 && tx->soroban_ext.len > 0;
}

void dump_put_tx(struct dump_sink *s, const struct tide_tx *tx, enum tide_call_proof proof)
{
    struct tide_buf *b = &s->line;
    dump_put_u64(b, "ledger", s->header.sequence);
    dump_put_u64(b, "index", tx->index);
    dump_put_hex(b, "hash", tide_slice_of(tx->hash, TIDE_HASH_BYTES));
    if (tx->inner_hash)
        dump_put_hex(b, "innerHash", tide_slice_of(tx->inner_hash, TIDE_HASH_BYTES));
    else
        dump_put_null(b, "innerHash");
    dump_put_bool(b, "successful", tx->successful);
    dump_put_text(b, "resultCode", result_name(tx->result_code));
    dump_put_text(b, "innerResultCode", tx->inner_hash ? result_name(tx->inner_result_code) : NULL);
    dump_put_i64_text(b, "feeCharged", tx->fee_charged);
    dump_put_u64(b, "metaVersion", tx->meta_version);
    dump_put_u64(b, "opMetaCount", tx->op_count);
    put_envelope(b, tide_proof_find(s->verify, tx->hash));
    put_numbers(b, "opEventCounts", s->op_events, op_event_lists(tx));
    dump_put_u64(b, "txEventCount", s->tx_events);
    dump_put_u64(b, "diagnosticEventCount", s->diagnostics);
    put_soroban_meta(b, tx);
    put_proof(b, tx, proof);
}
