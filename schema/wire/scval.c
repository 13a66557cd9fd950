#include "tidemark/scval.h"

#include "tidemark/strkey.h"
#include "tidemark/text.h"

void tide_scaddress_skip(struct tide_xdr *x)
{
    uint32_t arm = tide_xdr_u32(x);
    switch (arm) {
    case 0: /* account: PublicKey */
    case 3: /* claimable balance */
        if (tide_xdr_u32(x) != 0)
            tide_xdr_refuse(x, TIDE_E_UNKNOWN,
                            arm == 0 ? "PublicKey arm" : "ClaimableBalanceID arm", 0);
        tide_xdr_skip(x, 32);
        return;
    case 1: /* contract */
    case 4: /* liquidity pool */
        tide_xdr_skip(x, 32);
        return;
    case 2: /* muxed account */
        tide_xdr_skip(x, 40);
        return;
    default:
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "SCAddress arm", arm);
    }
}

static void skip_error(struct tide_xdr *x)
{
    uint32_t type = tide_xdr_u32(x);
    uint32_t code = tide_xdr_u32(x);
    if (type > 9)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "SCError type", type);
    else if (type > 0 && code > 9)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "SCErrorCode", code);
}

static void skip_map_entries(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 8);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++) {
        tide_scval_skip(x);
        tide_scval_skip(x);
    }
}

static void skip_vec(struct tide_xdr *x)
{
    if (!tide_xdr_bool(x))
        return;
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 4);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        tide_scval_skip(x);
}

static void skip_instance(struct tide_xdr *x)
{
    uint32_t executable = tide_xdr_u32(x);
    if (executable == 0)
        tide_xdr_skip(x, 32);
    else if (executable == 2) {
        tide_scaddress_skip(x);
        tide_xdr_var(x, UINT32_MAX);
    } else if (executable != 1)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "ContractExecutable arm", executable);
    if (tide_xdr_bool(x))
        skip_map_entries(x);
}

static void skip_nested(struct tide_xdr *x, uint32_t arm)
{
    if (!tide_xdr_enter(x))
        return;
    if (arm == TIDE_SCV_VEC)
        skip_vec(x);
    else if (arm == TIDE_SCV_MAP) {
        if (tide_xdr_bool(x))
            skip_map_entries(x);
    } else
        skip_instance(x);
    tide_xdr_leave(x);
}

void tide_scval_skip(struct tide_xdr *x)
{
    /* Bytes of the arms that are of fixed size and free of checks, the arm included. */
    static const uint8_t fixed[] = { 0,  4, 0, 8, 8, 12, 12, 12, 12, 20, 20, 36,
                                     36, 0, 0, 0, 0, 0,  0,  0,  4,  12, 0 };
    size_t left = tide_xdr_left(x);
    uint32_t peek = left >= 4 ? tide_be32(x->cur) : 0;
    if (peek < TIDE_COUNT(fixed) && fixed[peek] && fixed[peek] <= left) {
        x->cur += fixed[peek];
        return;
    }
    uint32_t arm = tide_xdr_u32(x);
    switch (arm) {
    case TIDE_SCV_BOOL:
        tide_xdr_bool(x);
        return;
    case TIDE_SCV_VOID:
    case TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE:
        return;
    case TIDE_SCV_ERROR:
        skip_error(x);
        return;
    case TIDE_SCV_U32:
    case TIDE_SCV_I32:
        tide_xdr_skip(x, 4);
        return;
    case TIDE_SCV_U64:
    case TIDE_SCV_I64:
    case TIDE_SCV_TIMEPOINT:
    case TIDE_SCV_DURATION:
    case TIDE_SCV_LEDGER_KEY_NONCE:
        tide_xdr_skip(x, 8);
        return;
    case TIDE_SCV_U128:
    case TIDE_SCV_I128:
        tide_xdr_skip(x, 16);
        return;
    case TIDE_SCV_U256:
    case TIDE_SCV_I256:
        tide_xdr_skip(x, 32);
        return;
    case TIDE_SCV_BYTES:
    case TIDE_SCV_STRING:
    case TIDE_SCV_EXECUTABLE_TAG:
        tide_xdr_var(x, UINT32_MAX);
        return;
    case TIDE_SCV_SYMBOL:
        tide_xdr_var(x, 32);
        return;
    case TIDE_SCV_VEC:
    case TIDE_SCV_MAP:
    case TIDE_SCV_CONTRACT_INSTANCE:
        skip_nested(x, arm);
        return;
    case TIDE_SCV_ADDRESS:
        tide_scaddress_skip(x);
        return;
    default:
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "SCVal arm", arm);
    }
}

/* ---- JSON ---- */

static void json_value(struct tide_buf *json, struct tide_xdr *x);

static void json_u64(struct tide_buf *json, uint64_t v, bool quoted)
{
    char text[24];
    size_t at = 0;
    if (quoted)
        text[at++] = '"';
    at += tide_u64_text(text + at, v);
    if (quoted)
        text[at++] = '"';
    tide_buf_put(json, text, at);
}

static void json_i64(struct tide_buf *json, int64_t v, bool quoted)
{
    char text[24];
    size_t at = 0;
    if (quoted)
        text[at++] = '"';
    if (v < 0)
        text[at++] = '-';
    at += tide_u64_text(text + at, v < 0 ? -(uint64_t)v : (uint64_t)v);
    if (quoted)
        text[at++] = '"';
    tide_buf_put(json, text, at);
}

static void json_128(struct tide_buf *json, struct tide_xdr *x, bool is_signed)
{
    uint64_t hi = tide_xdr_u64(x);
    uint64_t lo = tide_xdr_u64(x);
    char text[TIDE_I128_TEXT_MAX + 2];
    size_t at = 1;
    text[0] = '"';
    at += is_signed ? tide_i128_text(text + 1, tide_i128_from_parts((int64_t)hi, lo))
                    : tide_u128_text(text + 1, hi, lo);
    text[at++] = '"';
    tide_buf_put(json, text, at);
}

/* Decimal by repeated division of the eight 32-bit limbs: rare, so plain. */
static void json_256(struct tide_buf *json, struct tide_xdr *x, bool is_signed)
{
    uint32_t limb[8];
    for (int i = 0; i < 8; i++)
        limb[i] = tide_xdr_u32(x);
    bool negative = is_signed && limb[0] >> 31;
    uint64_t carry = 1;
    for (int i = 7; negative && i >= 0; i--) {
        carry += (uint32_t)~limb[i];
        limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    char digits[80];
    size_t at = sizeof digits;
    uint32_t any;
    do {
        uint64_t rest = 0;
        any = 0;
        for (int i = 0; i < 8; i++) {
            rest = rest << 32 | limb[i];
            limb[i] = (uint32_t)(rest / 10);
            rest %= 10;
            any |= limb[i];
        }
        digits[--at] = (char)('0' + rest);
    } while (any);
    tide_buf_str(json, negative ? "\"-" : "\"");
    tide_buf_put(json, digits + at, sizeof digits - at);
    tide_buf_u8(json, '"');
}

static void json_address(struct tide_buf *json, struct tide_xdr *x)
{
    const uint8_t *mark = x->cur;
    tide_scaddress_skip(x);
    tide_slice span = tide_xdr_span(x, mark);
    if (span.len == 0)
        return;
    char text[TIDE_STRKEY_ADDRESS_MAX + 2];
    size_t len = tide_strkey_from_address(text + 1, span);
    text[0] = text[len + 1] = '"';
    tide_buf_put(json, text, len + 2);
}

static void json_bytes(struct tide_buf *json, tide_slice bytes)
{
    tide_buf_u8(json, '"');
    tide_buf_hex(json, bytes);
    tide_buf_u8(json, '"');
}

static void json_vec(struct tide_buf *json, struct tide_xdr *x)
{
    if (!tide_xdr_bool(x)) {
        tide_buf_str(json, "null");
        return;
    }
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 4);
    tide_buf_u8(json, '[');
    for (uint32_t i = 0; i < count && x->status == TIDE_OK && !json->failed; i++) {
        if (i)
            tide_buf_u8(json, ',');
        json_value(json, x);
    }
    tide_buf_u8(json, ']');
}

/* A member's name: symbols, strings as they are; any other key as its JSON text. */
static void json_key(struct tide_buf *json, struct tide_xdr *x)
{
    uint32_t arm = tide_xdr_left(x) >= 4 ? tide_be32(x->cur) : UINT32_MAX;
    if (arm == TIDE_SCV_SYMBOL || arm == TIDE_SCV_STRING) {
        tide_xdr_u32(x);
        tide_buf_json_string(json, tide_xdr_var(x, arm == TIDE_SCV_SYMBOL ? 32 : UINT32_MAX));
        return;
    }
    struct tide_buf inner;
    tide_buf_init(&inner, json->max);
    json_value(&inner, x);
    tide_slice text = tide_buf_view(&inner);
    /* a key whose JSON is already a string stands as it is */
    if (text.len >= 2 && text.ptr[0] == '"')
        tide_buf_slice(json, text);
    else
        tide_buf_json_string(json, text);
    json->failed |= inner.failed;
    tide_buf_release(&inner);
}

static void json_map_entries(struct tide_buf *json, struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 8);
    tide_buf_u8(json, '{');
    for (uint32_t i = 0; i < count && x->status == TIDE_OK && !json->failed; i++) {
        if (i)
            tide_buf_u8(json, ',');
        json_key(json, x);
        tide_buf_u8(json, ':');
        json_value(json, x);
    }
    tide_buf_u8(json, '}');
}

static void json_instance(struct tide_buf *json, struct tide_xdr *x)
{
    uint32_t executable = tide_xdr_u32(x);
    if (executable == 0) {
        tide_buf_str(json, "{\"executable\":\"contractExecutableWasm\",\"wasm\":");
        json_bytes(json, tide_xdr_opaque(x, 32));
    } else if (executable == 1) {
        tide_buf_str(json, "{\"executable\":\"contractExecutableStellarAsset\"");
    } else if (executable == 2) {
        tide_buf_str(json, "{\"executable\":\"contractExecutableExternalRef\",\"owner\":");
        json_address(json, x);
        tide_buf_str(json, ",\"tag\":");
        tide_buf_json_string(json, tide_xdr_var(x, UINT32_MAX));
    } else {
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "ContractExecutable arm", executable);
        return;
    }
    tide_buf_str(json, ",\"storage\":");
    if (tide_xdr_bool(x))
        json_map_entries(json, x);
    else
        tide_buf_str(json, "{}");
    tide_buf_u8(json, '}');
}

static void json_error(struct tide_buf *json, struct tide_xdr *x)
{
    const uint8_t *mark = x->cur;
    skip_error(x);
    if (x->status == TIDE_OK)
        tide_buf_putf(json, "{\"error\":{\"type\":%" PRIu32 ",\"code\":%" PRIu32 "}}",
                      tide_be32(mark), tide_be32(mark + 4));
}

static void json_nested(struct tide_buf *json, struct tide_xdr *x, uint32_t arm)
{
    if (!tide_xdr_enter(x))
        return;
    if (arm == TIDE_SCV_VEC)
        json_vec(json, x);
    else if (arm == TIDE_SCV_CONTRACT_INSTANCE)
        json_instance(json, x);
    else if (tide_xdr_bool(x))
        json_map_entries(json, x);
    else
        tide_buf_str(json, "null");
    tide_xdr_leave(x);
}

static void json_number(struct tide_buf *json, struct tide_xdr *x, uint32_t arm)
{
    switch (arm) {
    case TIDE_SCV_U32:
        json_u64(json, tide_xdr_u32(x), false);
        return;
    case TIDE_SCV_I32:
        json_i64(json, tide_xdr_i32(x), false);
        return;
    case TIDE_SCV_U64:
    case TIDE_SCV_TIMEPOINT:
    case TIDE_SCV_DURATION:
        json_u64(json, tide_xdr_u64(x), true);
        return;
    case TIDE_SCV_I64:
        json_i64(json, tide_xdr_i64(x), true);
        return;
    case TIDE_SCV_U128:
    case TIDE_SCV_I128:
        json_128(json, x, arm == TIDE_SCV_I128);
        return;
    default:
        json_256(json, x, arm == TIDE_SCV_I256);
    }
}

static void json_value(struct tide_buf *json, struct tide_xdr *x)
{
    uint32_t arm = tide_xdr_u32(x);
    switch (arm) {
    case TIDE_SCV_BOOL:
        tide_buf_str(json, tide_xdr_bool(x) ? "true" : "false");
        return;
    case TIDE_SCV_VOID:
        tide_buf_str(json, "null");
        return;
    case TIDE_SCV_ERROR:
        json_error(json, x);
        return;
    case TIDE_SCV_U32:
    case TIDE_SCV_I32:
    case TIDE_SCV_U64:
    case TIDE_SCV_I64:
    case TIDE_SCV_TIMEPOINT:
    case TIDE_SCV_DURATION:
    case TIDE_SCV_U128:
    case TIDE_SCV_I128:
    case TIDE_SCV_U256:
    case TIDE_SCV_I256:
        json_number(json, x, arm);
        return;
    case TIDE_SCV_BYTES:
        json_bytes(json, tide_xdr_var(x, UINT32_MAX));
        return;
    case TIDE_SCV_STRING:
    case TIDE_SCV_EXECUTABLE_TAG:
        tide_buf_json_string(json, tide_xdr_var(x, UINT32_MAX));
        return;
    case TIDE_SCV_SYMBOL:
        tide_buf_json_string(json, tide_xdr_var(x, 32));
        return;
    case TIDE_SCV_VEC:
    case TIDE_SCV_MAP:
    case TIDE_SCV_CONTRACT_INSTANCE:
        json_nested(json, x, arm);
        return;
    case TIDE_SCV_ADDRESS:
        json_address(json, x);
        return;
    case TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE:
        tide_buf_str(json, "\"LedgerKeyContractInstance\"");
        return;
    case TIDE_SCV_LEDGER_KEY_NONCE:
        tide_buf_str(json, "{\"nonce\":");
        json_i64(json, tide_xdr_i64(x), true);
        tide_buf_u8(json, '}');
        return;
    default:
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "SCVal arm", arm);
    }
}

tide_status tide_scval_json(struct tide_buf *json, tide_slice xdr)
{
    struct tide_xdr x = tide_xdr_of(xdr);
    json_value(json, &x);
    tide_status status = tide_xdr_end(&x);
    if (status != TIDE_OK)
        return status;
    return json->failed ? TIDE_E_LIMIT : TIDE_OK;
}
