/* Conversion of parameters, one function for each type. */
#include "api/http/param.h"
#include "tidemark/catalogue.h"
#include "tidemark/strkey.h"
#include "tidemark/table.h"
#include "tidemark/text.h"

static const struct tide_param params[] = {
#define TIDE_PARAM(name, type, min, max, def, words, help, example) \
    { #name, TIDE_PARAM_##type, min, max, def, words },
#include "api/http/param.def"
#undef TIDE_PARAM
};

static_assert(TIDE_COUNT(params) == TIDE_PARAM_COUNT, "a line for each id");
#define TIDE_PARAM(name, type, min, max, def, words, help, example)                           \
    static_assert((uint64_t)(max) - (uint64_t)(min) <= (uint64_t)(max), #name " has bounds"); \
    static_assert(sizeof #name <= 33, #name " fits the texts of problems");
#include "api/http/param.def"
#undef TIDE_PARAM
const struct tide_param *tide_param_of(enum tide_param_id id)
{
    assert((size_t)id < TIDE_COUNT(params));
    return &params[id];
}

enum tide_param_id tide_param_named(tide_slice name)
{
    static const uint8_t lens[] = {
#define TIDE_PARAM(name, type, min, max, def, words, help, example) sizeof #name - 1,
#include "api/http/param.def"
#undef TIDE_PARAM
    };
    static_assert(TIDE_COUNT(lens) == TIDE_COUNT(params), "a length for each parameter");
    for (size_t i = 0; i < TIDE_COUNT(params); i++)
        if (name.len == lens[i] && memcmp(name.ptr, params[i].name, name.len) == 0)
            return (enum tide_param_id)i;
    return TIDE_PARAM_COUNT;
}

/* Writes the reason and returns false. */
static bool reject_value(char why[TIDE_PARAM_WHY], const char *text)
{
    snprintf(why, TIDE_PARAM_WHY, "%s", text);
    return false;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(uint8_t c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* --- types ------------------------------------------------------------------------------ */

/* Rejects leading zeros: each number must have one spelling, because cursors and receipts
 * contain the text. */
static bool read_u64(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    bool padded = out->text.len > 1 && out->text.ptr[0] == '0';
    if (!padded && tide_parse_u64(&out->number, out->text, param->max) == TIDE_OK &&
        out->number >= param->min)
        return true;
    snprintf(why, TIDE_PARAM_WHY, "must be a whole number from %" PRIu64 " to %" PRIu64, param->min,
             param->max);
    return false;
}

/* Reads a time of RFC 3339, or a date alone, which is the midnight in UTC that begins
 * it. */
static bool parse_time(int64_t *ms, tide_slice text)
{
    enum { DATE_BYTES = sizeof "2026-05-02" - 1 };
    char midnight[DATE_BYTES + sizeof "T00:00:00Z"];
    if (text.len != DATE_BYTES)
        return tide_time_parse_ms(ms, text) == TIDE_OK;
    snprintf(midnight, sizeof midnight, "%.*sT00:00:00Z", TIDE_SLICE_FMT(text));
    return tide_time_parse_ms(ms, tide_slice_str(midnight)) == TIDE_OK;
}

static bool read_time(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    int64_t ms = -1;
    assert(param->max <= UINT32_MAX); /* statements and handlers take 32 bits */
    if (tide_parse_u64(&out->number, out->text, param->max) == TIDE_OK) {
        out->time_ms = out->number * 1000;
        return true;
    }
    if (parse_time(&ms, out->text) && ms >= (int64_t)param->min * 1000 &&
        ms <= (int64_t)param->max * 1000) {
        out->time_ms = (uint64_t)ms;
        out->number = out->time_ms / 1000 + (out->time_ms % 1000 > 0);
        return true;
    }
    return reject_value(
        why, "must be unix seconds, a time as 2026-05-02T09:14:07Z, or a date as 2026-05-02,"
             " from 1970 to 2106 (a + in it is %2B in a query)");
}

static bool read_amount(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    enum { DIGITS_MAX = 38 }; /* any number of 38 digits fits an i128 */
    (void)param;
    if (out->text.len <= DIGITS_MAX && tide_i128_parse(&out->amount, out->text) == TIDE_OK &&
        tide_i128_sign(out->amount) >= 0)
        return true;
    return reject_value(why, "must be a whole number of raw units, of 1 to 38 digits");
}

/* Rejects an M… or W… address with a text that names its account or contract, the first 32 bytes.
 * Contracts keep balances and records under that address alone. */
static bool reject_muxed(char *why, enum tide_strkey kind, const uint8_t *payload)
{
    bool account = kind == TIDE_STRKEY_MUXED;
    char base[TIDE_STRKEY_TEXT_MAX];
    size_t len = tide_strkey_encode(base, account ? TIDE_STRKEY_ACCOUNT : TIDE_STRKEY_CONTRACT,
                                    tide_slice_of(payload, 32));
    assert(len > 0 && len <= sizeof base);
    snprintf(why, TIDE_PARAM_WHY, "is a muxed address: ask for its %s, %.*s",
             account ? "account" : "contract", (int)len, base);
    return false;
}

/* Checks for a seed first: a text that may be one must never appear in an answer or a log. */
static bool read_address(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    (void)param;
    if (out->text.len > 50 && (out->text.ptr[0] == 'S' || out->text.ptr[0] == 's'))
        return reject_value(why, "looks like a secret seed, which controls the account;"
                                 " send the address, which begins with G or C");
    if (tide_strkey_decode(&kind, payload, &len, out->text) != TIDE_OK)
        return reject_value(why, "must be an address: G or C, then 55 characters of A-Z2-7 with a"
                                 " valid checksum");
    if (kind == TIDE_STRKEY_MUXED || kind == TIDE_STRKEY_MUXED_CONTRACT)
        return reject_muxed(why, kind, payload);
    if (kind != TIDE_STRKEY_ACCOUNT && kind != TIDE_STRKEY_CONTRACT)
        return reject_value(why, "must be an account (G) or a contract (C)");
    static_assert(sizeof out->address.key <= TIDE_STRKEY_PAYLOAD_MAX, "copied from the payload");
    assert(len == sizeof out->address.key); /* tide_strkey_decode checked it for both kinds */
    out->address.kind = (uint8_t)kind;
    memcpy(out->address.key, payload, sizeof out->address.key);
    return true;
}

static bool read_symbol(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    bool fits = out->text.len > 0 && tide_hot_symbol_of(&out->symbol, out->text);
    (void)param;
    for (size_t i = 0; fits && i < out->text.len; i++)
        fits = is_word(out->text.ptr[i]);
    return fits || reject_value(why, "must be 1 to 32 characters of A-Z, a-z, 0-9 and _");
}

static bool read_hash(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    uint8_t bytes[TIDE_HASH_BYTES];
    (void)param;
    if (tide_hex_decode(bytes, sizeof bytes, out->text) == TIDE_OK)
        return true;
    return reject_value(why, "must be 64 hexadecimal digits");
}

/* Rejects control characters, which could break a header or a log line. */
static bool read_text(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    assert(param->max > 0); /* param.def bounds every text */
    bool fits = out->text.len >= param->min && out->text.len <= param->max;
    for (size_t i = 0; fits && i < out->text.len; i++)
        fits = out->text.ptr[i] >= ' ' && out->text.ptr[i] != 0x7f;
    if (fits && tide_utf8_valid(out->text))
        return true;
    if (param->min == param->max)
        snprintf(why, TIDE_PARAM_WHY, "must be %" PRIu64 " characters", param->max);
    else
        snprintf(why, TIDE_PARAM_WHY,
                 "must be %" PRIu64 " to %" PRIu64 " bytes of UTF-8 without control characters",
                 param->min, param->max);
    return false;
}

/* Reads an address if the text is longer than any symbol. */
static bool read_token(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    return out->text.len > param->max ? read_address(out, param, why) : read_text(out, param, why);
}

/* Returns the index of the text among "a|b|c", or -1. */
static int word_index(const char *words, tide_slice text)
{
    int index = 0;
    for (const char *at = words;; index++) {
        size_t len = strcspn(at, "|");
        if (tide_slice_eq(text, tide_slice_of(at, len)))
            return index;
        if (!at[len])
            return -1;
        at += len + 1;
    }
}

static bool read_word(struct tide_param_value *out, const char *words, char *why)
{
    int index = word_index(words, out->text);
    if (index < 0) {
        snprintf(why, TIDE_PARAM_WHY, "must be one of: %s", words);
        return false;
    }
    out->number = (uint64_t)index;
    return true;
}

static bool read_choice(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    return read_word(out, param->words, why);
}

static bool read_bool(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    (void)param;
    return read_word(out, "false|true", why);
}

/* The reason of a rejection lists all kinds of this release. */
static bool read_kind(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    (void)param;
    for (uint16_t kind = 0; kind < (uint16_t)TIDE_EV_COUNT; kind++) {
        out->number = kind;
        if (tide_slice_eq_str(out->text, tables[tide_events()[kind].table].name))
            return true;
    }
    size_t len = (size_t)snprintf(why, TIDE_PARAM_WHY, "must be one of:");
    for (uint16_t kind = 0; kind < TIDE_EV_COUNT && len < TIDE_PARAM_WHY; kind++)
        len += (size_t)snprintf(why + len, TIDE_PARAM_WHY - len, "%s %s", kind ? "," : "",
                                tables[tide_events()[kind].table].name);
    return false;
}

static bool are_digits(tide_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
    return true;
}

/* The limits of the first digits keep both numbers within the statement's bigint and integer. */
static bool read_event(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    enum { PLACE_DIGITS = 19, INDEX_DIGITS = 10 };
    const uint8_t *text = out->text.ptr;
    (void)param;
    if (out->text.len == PLACE_DIGITS + 1 + INDEX_DIGITS && text[PLACE_DIGITS] == '-' &&
        are_digits(tide_slice_of(text, PLACE_DIGITS)) &&
        are_digits(tide_slice_of(text + PLACE_DIGITS + 1, INDEX_DIGITS)) && text[0] <= '8' &&
        text[PLACE_DIGITS + 1] <= '1')
        return true;
    return reject_value(why, "must be an event's id as Stellar RPC writes it:"
                             " 0000004582714802176-0000000000");
}

/* Returns whether the value has min..max characters of base64url. */
static bool is_base64url(const struct tide_param_value *value, const struct tide_param *param)
{
    bool fits = value->text.len >= param->min && value->text.len <= param->max;
    for (size_t i = 0; fits && i < value->text.len; i++)
        fits = is_word(value->text.ptr[i]) || value->text.ptr[i] == '-';
    return fits;
}

static bool read_cursor(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    return is_base64url(out, param) ||
           reject_value(why, "must be the \"next\" of an earlier answer");
}

static bool read_key(struct tide_param_value *out, const struct tide_param *param, char *why)
{
    return is_base64url(out, param) || reject_value(why, "must be base64url without padding");
}

bool tide_param_read(struct tide_param_value *out, enum tide_param_id id, tide_slice text,
                     char why[TIDE_PARAM_WHY])
{
    typedef bool read_fn(struct tide_param_value *, const struct tide_param *, char *);
    static read_fn *const readers[] = {
        [TIDE_PARAM_U64] = read_u64,         [TIDE_PARAM_AMOUNT] = read_amount,
        [TIDE_PARAM_ADDRESS] = read_address, [TIDE_PARAM_SYMBOL] = read_symbol,
        [TIDE_PARAM_TOKEN] = read_token,     [TIDE_PARAM_HASH] = read_hash,
        [TIDE_PARAM_TEXT] = read_text,       [TIDE_PARAM_CHOICE] = read_choice,
        [TIDE_PARAM_BOOL] = read_bool,       [TIDE_PARAM_TIME] = read_time,
        [TIDE_PARAM_KIND] = read_kind,       [TIDE_PARAM_CURSOR] = read_cursor,
        [TIDE_PARAM_EVENT] = read_event,     [TIDE_PARAM_KEY] = read_key,
    };
    const struct tide_param *param = tide_param_of(id);
    *out = (struct tide_param_value){ .id = id, .given = true, .text = text };
    assert(param->type < TIDE_COUNT(readers) && readers[param->type]);
    return readers[param->type](out, param, why);
}

void tide_param_default(struct tide_param_value *out, enum tide_param_id id)
{
    char why[TIDE_PARAM_WHY];
    assert((size_t)id < TIDE_COUNT(params));
    const char *def = params[id].def;
    *out = (struct tide_param_value){ .id = id, .text = tide_slice_str(def) };
    if (*def) {
        bool fits = tide_param_read(out, id, tide_slice_str(def), why);
        assert(fits); /* test_route checks every line of param.def */
        (void)fits;
    }
    out->given = false;
}
