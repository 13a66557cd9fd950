#include "tidemark/json.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

struct json_writer {
    struct tide_json json;
    struct tide_xdr x;
};

static void json_value(struct json_writer *w);

static bool going(const struct json_writer *w)
{
    return w->x.status == TIDE_OK && !w->json.buf->failed;
}

/* Returns whether the bytes are UTF-8 without NUL, which PostgreSQL can return as text. */
static bool is_text(tide_slice s)
{
    return tide_utf8_valid(s) && (s.len == 0 || !memchr(s.ptr, 0, s.len));
}

static bool ascends(tide_slice a, tide_slice b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;
    return order < 0 || (order == 0 && a.len < b.len);
}

static void json_128(struct json_writer *w, bool is_signed)
{
    uint64_t hi = tide_xdr_u64(&w->x);
    uint64_t lo = tide_xdr_u64(&w->x);
    char text[TIDE_I128_TEXT_MAX];
    size_t len = is_signed ? tide_i128_text(text, tide_i128_from_parts((int64_t)hi, lo))
                           : tide_u128_text(text, hi, lo);
    assert(len > 0 && len <= sizeof text);
    tide_json_plain(&w->json, tide_slice_of(text, len));
}

/* Writes a 256-bit number in decimal by repeated division of its eight 32-bit limbs. Such numbers
 * are rare, so the code is simple. */
static void json_256(struct json_writer *w, bool is_signed)
{
    uint32_t limb[8];
    for (int i = 0; i < 8; i++)
        limb[i] = tide_xdr_u32(&w->x);
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
    assert(at > 0);
    if (negative)
        digits[--at] = '-';
    tide_json_plain(&w->json, tide_slice_of(digits + at, sizeof digits - at));
}

static void json_address(struct json_writer *w)
{
    const uint8_t *mark = w->x.cur;
    tide_scaddress_skip(&w->x);
    tide_slice span = tide_xdr_span(&w->x, mark);
    if (span.len == 0)
        return;
    char text[TIDE_STRKEY_ADDRESS_MAX];
    size_t len = tide_strkey_from_address(text, span);
    assert(len > 0 && len <= sizeof text);
    tide_json_plain(&w->json, tide_slice_of(text, len));
}

/* Writes text as a JSON string and other bytes as {"hex": …}. A replacement character would make
 * different values equal, and PostgreSQL's JSON functions refuse an escaped NUL. */
static void json_string(struct tide_json *json, tide_slice s)
{
    if (is_text(s)) {
        tide_json_text(json, NULL, s);
        return;
    }
    tide_json_open(json, '{');
    tide_json_hex(json, "hex", s);
    tide_json_close(json, '}');
}

void tide_scval_json_string(struct tide_buf *json, tide_slice s)
{
    json_string(&(struct tide_json){ .buf = json }, s);
}

static void json_vec(struct json_writer *w)
{
    if (!tide_xdr_bool(&w->x)) {
        tide_json_null(&w->json, NULL);
        return;
    }
    uint32_t count = tide_xdr_count(&w->x, UINT32_MAX, 4);
    tide_json_open(&w->json, '[');
    for (uint32_t i = 0; i < count && going(w); i++)
        json_value(w);
    tide_json_close(&w->json, ']');
}

static bool is_symbol(tide_slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = s.ptr[i];
        if (c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z'))
            return false;
    }
    return true;
}

/* A map's key that may become the name of a member. */
struct key {
    int arm; /* arm of the key; -1: not fit for a name */
    tide_slice name;
};

/* Reads a vec of one symbol, as contracts write the keys of an enum. */
static struct key read_variant(struct tide_xdr *x)
{
    struct key key = { .arm = -1 };
    if (!tide_xdr_bool(x) || tide_xdr_u32(x) != 1 || tide_xdr_u32(x) != TIDE_SCV_SYMBOL)
        return key;
    key.name = tide_xdr_var(x, 32);
    key.arm = is_symbol(key.name) ? TIDE_SCV_VEC : -1;
    return key;
}

/* Reads a key. In an instance's storage a vec of one symbol is a name too, written as its JSON
 * text. */
static struct key read_key(struct tide_xdr *x, bool storage)
{
    struct key key = { .arm = (int)tide_xdr_u32(x) };
    if (storage && key.arm == TIDE_SCV_VEC)
        return read_variant(x);
    if (key.arm == TIDE_SCV_SYMBOL || (!storage && key.arm == TIDE_SCV_STRING))
        key.name = tide_xdr_var(x, key.arm == TIDE_SCV_SYMBOL ? 32 : UINT32_MAX);
    else
        key.arm = -1;
    if (storage ? !is_symbol(key.name) : !is_text(key.name))
        key.arm = -1;
    return key;
}

/* Returns whether a map's keys can be member names: each is a symbol (or each a string) of valid
 * text, and they ascend as the host sorts them, so that no name occurs twice. `map` stands behind
 * the count. Each level reads ahead over its own values, so each level of nesting costs another
 * pass. */
static bool keys_are_names(struct tide_xdr map, uint32_t count, bool storage)
{
    struct key previous = { .arm = -1 };
    for (uint32_t i = 0; i < count; i++) {
        struct key key = read_key(&map, storage);
        bool further = i == 0 || (key.arm == previous.arm && ascends(previous.name, key.name)) ||
                       (storage && key.arm > previous.arm);
        if (key.arm < 0 || !further)
            return false;
        tide_scval_skip(&map);
        if (map.status != TIDE_OK)
            return false;
        previous = key;
    }
    return true;
}

static void json_pair(struct json_writer *w)
{
    tide_json_open(&w->json, '[');
    json_value(w);
    json_value(w);
    tide_json_close(&w->json, ']');
}

static void json_member(struct json_writer *w, bool storage)
{
    struct key key = read_key(&w->x, storage);
    tide_json_value(&w->json, NULL);
    if (key.arm == TIDE_SCV_VEC)
        tide_buf_putf(w->json.buf, "\"[\\\"%.*s\\\"]\"", TIDE_SLICE_FMT(key.name));
    else
        tide_buf_json_string(w->json.buf, key.name);
    tide_buf_u8(w->json.buf, ':');
    w->json.comma = false;
    json_value(w);
}

static void json_map_entries(struct json_writer *w, bool storage)
{
    uint32_t count = tide_xdr_count(&w->x, UINT32_MAX, 8);
    bool names = keys_are_names(w->x, count, storage);
    tide_json_open(&w->json, names ? '{' : '[');
    for (uint32_t i = 0; i < count && going(w); i++) {
        if (names)
            json_member(w, storage);
        else
            json_pair(w);
    }
    tide_json_close(&w->json, names ? '}' : ']');
}

static void json_instance(struct json_writer *w)
{
    struct tide_json *json = &w->json;
    uint32_t executable = tide_xdr_u32(&w->x);
    if (executable > 2) {
        tide_xdr_refuse(&w->x, TIDE_E_UNKNOWN, "ContractExecutable arm", executable);
        return;
    }
    tide_json_open(json, '{');
    if (executable == 0) {
        tide_json_word(json, "executable", "contractExecutableWasm");
        tide_json_hex(json, "wasm", tide_xdr_opaque(&w->x, 32));
    } else if (executable == 1) {
        tide_json_word(json, "executable", "contractExecutableStellarAsset");
    } else {
        tide_json_word(json, "executable", "contractExecutableExternalRef");
        tide_json_name(json, "owner");
        json_address(w);
        tide_json_name(json, "tag");
        json_string(json, tide_xdr_var(&w->x, UINT32_MAX));
    }
    tide_json_name(json, "storage");
    if (tide_xdr_bool(&w->x))
        json_map_entries(w, true);
    else
        tide_json_raw(json, TIDE_SLICE("{}"));
    tide_json_close(json, '}');
}

static void json_error(struct json_writer *w)
{
    const uint8_t *mark = w->x.cur;
    tide_scerror_skip(&w->x);
    if (w->x.status != TIDE_OK)
        return;
    tide_json_open(&w->json, '{');
    tide_json_name(&w->json, "error");
    tide_json_open(&w->json, '{');
    tide_json_u32(&w->json, "type", tide_be32(mark));
    tide_json_u32(&w->json, "code", tide_be32(mark + 4));
    tide_json_close(&w->json, '}');
    tide_json_close(&w->json, '}');
}

static void json_nested(struct json_writer *w, uint32_t arm)
{
    assert(arm == TIDE_SCV_VEC || arm == TIDE_SCV_MAP || arm == TIDE_SCV_CONTRACT_INSTANCE);
    if (!tide_xdr_enter(&w->x))
        return;
    if (arm == TIDE_SCV_VEC)
        json_vec(w);
    else if (arm == TIDE_SCV_CONTRACT_INSTANCE)
        json_instance(w);
    else if (tide_xdr_bool(&w->x))
        json_map_entries(w, false);
    else
        tide_json_null(&w->json, NULL);
    tide_xdr_leave(&w->x);
}

static void json_number(struct json_writer *w, uint32_t arm)
{
    switch (arm) {
    case TIDE_SCV_U32:
        tide_json_u32(&w->json, NULL, tide_xdr_u32(&w->x));
        return;
    case TIDE_SCV_I32:
        tide_json_i32(&w->json, NULL, tide_xdr_i32(&w->x));
        return;
    case TIDE_SCV_U64:
    case TIDE_SCV_TIMEPOINT:
    case TIDE_SCV_DURATION:
        tide_json_u64(&w->json, NULL, tide_xdr_u64(&w->x));
        return;
    case TIDE_SCV_I64:
        tide_json_i64(&w->json, NULL, tide_xdr_i64(&w->x));
        return;
    case TIDE_SCV_U128:
    case TIDE_SCV_I128:
        json_128(w, arm == TIDE_SCV_I128);
        return;
    default:
        json_256(w, arm == TIDE_SCV_I256);
    }
}

static void json_value(struct json_writer *w)
{
    uint32_t arm = tide_xdr_u32(&w->x);
    switch (arm) {
    case TIDE_SCV_BOOL:
        tide_json_bool(&w->json, NULL, tide_xdr_bool(&w->x));
        return;
    case TIDE_SCV_VOID:
        tide_json_null(&w->json, NULL);
        return;
    case TIDE_SCV_ERROR:
        json_error(w);
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
        json_number(w, arm);
        return;
    case TIDE_SCV_BYTES:
        tide_json_hex(&w->json, NULL, tide_xdr_var(&w->x, UINT32_MAX));
        return;
    case TIDE_SCV_STRING:
    case TIDE_SCV_EXECUTABLE_TAG:
        json_string(&w->json, tide_xdr_var(&w->x, UINT32_MAX));
        return;
    case TIDE_SCV_SYMBOL:
        json_string(&w->json, tide_xdr_var(&w->x, 32));
        return;
    case TIDE_SCV_VEC:
    case TIDE_SCV_MAP:
    case TIDE_SCV_CONTRACT_INSTANCE:
        json_nested(w, arm);
        return;
    case TIDE_SCV_ADDRESS:
        json_address(w);
        return;
    case TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE:
        tide_json_word(&w->json, NULL, "LedgerKeyContractInstance");
        return;
    case TIDE_SCV_LEDGER_KEY_NONCE:
        tide_json_open(&w->json, '{');
        tide_json_i64(&w->json, "nonce", tide_xdr_i64(&w->x));
        tide_json_close(&w->json, '}');
        return;
    default:
        tide_xdr_refuse(&w->x, TIDE_E_UNKNOWN, "SCVal arm", arm);
    }
}

tide_status tide_scval_json(struct tide_buf *json, tide_slice xdr)
{
    struct json_writer w = { .json = { .buf = json }, .x = tide_xdr_of(xdr) };
    json_value(&w);
    tide_status status = tide_xdr_end(&w.x);
    if (status != TIDE_OK)
        return status;
    assert(w.x.depth == 0); /* each level that was entered was left */
    return json->failed ? TIDE_E_LIMIT : TIDE_OK;
}

bool tide_scval_json_stored(struct tide_buf *json, tide_slice values, uint32_t count)
{
    struct json_writer w = { .json = { .buf = json }, .x = tide_xdr_of(values) };
    size_t before = json->len;
    size_t most = 2 * values.len + TIDE_STORED_JSON_SPARE;
    /* leaves TIDE_STORED_JSON_DEPTH levels */
    w.x.depth = TIDE_XDR_DEPTH_MAX - TIDE_STORED_JSON_DEPTH;
    for (uint32_t i = 0; i < count && going(&w); i++)
        json_value(&w);
    if (json->failed)
        return true; /* the caller checks json->failed */
    assert(json->len >= before);
    size_t len = json->len - before;
    bool fits = tide_xdr_end(&w.x) == TIDE_OK && len <= most && len <= TIDE_STORED_JSON_MAX;
    if (!fits)
        json->len = before;
    return fits;
}
