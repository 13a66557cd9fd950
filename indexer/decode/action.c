/* The meaning of a DAO proposal's call_data, as JSON for people.
 *
 *   {"action":4,"name":"adjust_ratios","min_ratio":"15000","liq_penalty":"500"}
 *   {"action":99,"name":"generic","hex":"63000000…"}       unknown number, opaque by design
 *   {"action":null,"name":"none"}                          empty: does nothing
 *   {"action":9,"name":"…","undecodable":true,"hex":"…"}   known action, malformed payload;
 *                                                          action is null below four bytes
 * Numbers of 128 bits are strings, hashes are hex, addresses are strkeys. Bytes behind the payload,
 * which the contract ignores, are shown in hex as "ignored". Any input gives valid JSON. */
#include "indexer/decode/decode_impl.h"

#include "tidemark/i128.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

#include <string.h>

/* Types of a payload's fields: s symbol, n name, a address, i i128, u u32, b one byte as a boolean,
 * h 32 bytes. Integers are little-endian. Names are the JSON members. */
struct action {
    const char *name;
    const char *types;
    const char *fields[10];
};

static const struct action actions[] = {
    [0] = { "deploy_asset",
            "sasasiiiii",
            { "symbol", "token", "oracle_symbol", "collateral_token", "coll_oracle_symbol",
              "min_ratio", "liq_ratio", "liq_penalty", "stab_fee_bps", "debt_ceiling" } },
    [1] = { "deactivate_partner", "u", { "partner_id" } },
    [2] = { "retired", "", { 0 } },
    [3] = { "adjust_partner_share", "ui", { "partner_id", "share_bps" } },
    [4] = { "adjust_ratios", "ii", { "min_ratio", "liq_penalty" } },
    [5] = { "create_pool", "saai", { "pool_id", "token_a", "token_b", "fee_tier" } },
    [6] = { "add_signer", "ua", { "wallet_id", "signer" } },
    [7] = { "remove_signer", "ua", { "wallet_id", "signer" } },
    [8] = { "add_oracle_provider", "a", { "provider" } },
    [9] = { "remove_oracle_provider", "a", { "provider" } },
    [10] = { "set_oracle_quorum", "u", { "min_providers" } },
    [11] = { "add_verifier", "a", { "verifier" } },
    [12] = { "remove_verifier", "a", { "verifier" } },
    [13] = { "set_collateral_allowed", "ab", { "token", "allowed" } },
    [14] = { "register_partner", "an", { "owner", "partner_name" } },
    [15] = { "activate_partner_asset", "s", { "symbol" } },
    [16] = { "upgrade_contract", "ah", { "target", "wasm_hash" } },
};

/* LEGACY_LEN is the length of a set_param payload of the contract's first version: one byte for the
 * parameter and an i128. */
enum { SYMBOL_MAX = 32, NAME_MAX = 80, LEGACY_LEN = 17, ADJUST_RATIOS = 4 };

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t le64(const uint8_t *p)
{
    return le32(p) | (uint64_t)le32(p + 4) << 32;
}

/* Moves n bytes from the front of *in to *out. Returns false, with *in unchanged, if *in is
 * shorter. */
static bool take_bytes(tide_slice *in, size_t n, tide_slice *out)
{
    if (in->len < n)
        return false;
    *out = tide_slice_of(in->ptr, n);
    *in = tide_slice_of(in->ptr + n, in->len - n);
    return true;
}

/* Reads a string behind its length byte. */
static bool take_string(tide_slice *in, tide_slice *out)
{
    tide_slice len;
    return take_bytes(in, 1, &len) && take_bytes(in, len.ptr[0], out);
}

static bool is_symbol(tide_slice s)
{
    if (s.len > SYMBOL_MAX)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = s.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_'))
            return false;
    }
    return true;
}

/* PostgreSQL reads no member of a JSON value that holds a NUL anywhere. */
static bool is_text(tide_slice s)
{
    return tide_utf8_valid(s) && (s.len == 0 || !memchr(s.ptr, 0, s.len));
}

static bool is_address(tide_slice text)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    return tide_strkey_decode(&kind, payload, &len, text) == TIDE_OK &&
           (kind == TIDE_STRKEY_ACCOUNT || kind == TIDE_STRKEY_CONTRACT);
}

static void put_i128(struct tide_buf *json, const uint8_t *p)
{
    char text[TIDE_I128_TEXT_MAX];
    size_t len = tide_i128_text(text, tide_i128_from_parts((int64_t)le64(p + 8), le64(p)));
    tide_buf_u8(json, '"');
    tide_buf_put(json, text, len);
    tide_buf_u8(json, '"');
}

static void put_hex(struct tide_buf *json, const char *name, tide_slice bytes)
{
    tide_buf_putf(json, ",\"%s\":\"", name);
    tide_buf_hex(json, bytes);
    tide_buf_u8(json, '"');
}

/* Appends the payload's next field as a JSON value and moves *in behind it. Returns false if the
 * field is malformed; json may then hold part of a value. */
static bool put_value(struct tide_buf *json, char type, tide_slice *in)
{
    tide_slice v;
    switch (type) {
    case 's':
        if (!take_string(in, &v) || !is_symbol(v))
            return false;
        tide_buf_json_string(json, v);
        return true;
    case 'n':
        if (!take_string(in, &v) || v.len > NAME_MAX || !is_text(v))
            return false;
        tide_buf_json_string(json, v);
        return true;
    case 'a':
        if (!take_string(in, &v) || !is_address(v))
            return false;
        tide_buf_json_string(json, v);
        return true;
    case 'i':
        if (!take_bytes(in, 16, &v))
            return false;
        put_i128(json, v.ptr);
        return true;
    case 'u':
        if (!take_bytes(in, 4, &v))
            return false;
        tide_buf_putf(json, "%" PRIu32, le32(v.ptr));
        return true;
    case 'b':
        if (!take_bytes(in, 1, &v))
            return false;
        tide_buf_str(json, v.ptr[0] ? "true" : "false");
        return true;
    default:
        assert(type == 'h');
        if (!take_bytes(in, 32, &v))
            return false;
        tide_buf_u8(json, '"');
        tide_buf_hex(json, v);
        tide_buf_u8(json, '"');
        return true;
    }
}

/* Appends the members of a known action. Returns false if the payload is malformed. */
static bool put_fields(struct tide_buf *json, uint32_t action, tide_slice in)
{
    const struct action *a = &actions[action];
    for (size_t i = 0; a->types[i]; i++) {
        if (action == ADJUST_RATIOS && i == 1 && in.len < 16)
            break; /* the contract accepts a payload without the penalty and sets the ratio alone */
        tide_buf_putf(json, ",\"%s\":", a->fields[i]);
        if (!put_value(json, a->types[i], &in))
            return false;
    }
    if (in.len)
        put_hex(json, "ignored", in);
    return true;
}

/* Writes an action number that the table does not have. Payloads that look like set_param of the
 * first contract version are named; all others are opaque by the contract's design. */
static void put_unknown(struct tide_buf *json, uint32_t action, tide_slice data)
{
    static const char *const params[] = { "ParamCR", "ParamBorrowFee", "ParamLiqPenalty" };
    tide_buf_putf(json, "{\"action\":%" PRIu32 ",\"name\":", action);
    if (data.len >= LEGACY_LEN && data.ptr[0] < TIDE_COUNT(params)) {
        tide_buf_putf(json, "\"set_param\",\"param\":\"%s\",\"value\":", params[data.ptr[0]]);
        put_i128(json, data.ptr + 1);
        if (data.len > LEGACY_LEN)
            put_hex(json, "ignored", tide_slice_of(data.ptr + LEGACY_LEN, data.len - LEGACY_LEN));
    } else {
        tide_buf_str(json, "\"generic\"");
        put_hex(json, "hex", data);
    }
    tide_buf_u8(json, '}');
}

tide_status tide_action_json(struct tide_buf *json, tide_slice data)
{
    if (data.len == 0) {
        tide_buf_str(json, "{\"action\":null,\"name\":\"none\"}");
    } else if (data.len < 4) {
        tide_buf_str(json, "{\"action\":null,\"name\":\"none\",\"undecodable\":true");
        put_hex(json, "hex", data);
        tide_buf_u8(json, '}');
    } else {
        uint32_t action = le32(data.ptr);
        if (action >= TIDE_COUNT(actions)) {
            put_unknown(json, action, data);
        } else {
            tide_buf_putf(json, "{\"action\":%" PRIu32 ",\"name\":\"%s\"", action,
                          actions[action].name);
            size_t before = json->len;
            /* A malformed payload: the members written so far are removed. */
            if (!put_fields(json, action, tide_slice_of(data.ptr + 4, data.len - 4))) {
                json->len = before;
                tide_buf_str(json, ",\"undecodable\":true");
                put_hex(json, "hex", data);
            }
            tide_buf_u8(json, '}');
        }
    }
    return json->failed ? TIDE_E_LIMIT : TIDE_OK;
}
