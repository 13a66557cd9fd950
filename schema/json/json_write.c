#include "tidemark/json.h"

void tide_json_value(struct tide_json *j, const char *name)
{
    tide_json_name(j, name);
    if (j->comma)
        tide_buf_u8(j->buf, ',');
    j->comma = true;
}

void tide_json_text(struct tide_json *j, const char *name, tide_slice text)
{
    tide_json_value(j, name);
    tide_buf_json_string(j->buf, text);
}

void tide_json_hex(struct tide_json *j, const char *name, tide_slice bytes)
{
    tide_json_value(j, name);
    tide_buf_u8(j->buf, '"');
    tide_buf_hex(j->buf, bytes);
    tide_buf_u8(j->buf, '"');
}

void tide_json_base64(struct tide_json *j, const char *name, tide_slice bytes)
{
    tide_json_value(j, name);
    tide_buf_u8(j->buf, '"');
    tide_buf_base64(j->buf, bytes);
    tide_buf_u8(j->buf, '"');
}

void tide_json_number(struct tide_json *j, const char *name, uint64_t v)
{
    char text[20];
    tide_json_name(j, name);
    tide_json_raw(j, tide_slice_of(text, tide_u64_text(text, v)));
}

void tide_json_u32(struct tide_json *j, const char *name, uint32_t v)
{
    tide_json_number(j, name, v);
}

/* Writes up to 20 bytes without NUL. Returns the length. */
static size_t i64_text(char *out, int64_t v)
{
    size_t sign = v < 0;
    if (sign)
        out[0] = '-';
    return sign + tide_u64_text(out + sign, sign ? -(uint64_t)v : (uint64_t)v);
}

void tide_json_i32(struct tide_json *j, const char *name, int32_t v)
{
    char text[21];
    tide_json_name(j, name);
    tide_json_raw(j, tide_slice_of(text, i64_text(text, v)));
}

void tide_json_i64(struct tide_json *j, const char *name, int64_t v)
{
    char text[21];
    tide_json_name(j, name);
    tide_json_plain(j, tide_slice_of(text, i64_text(text, v)));
}

void tide_json_u64(struct tide_json *j, const char *name, uint64_t v)
{
    char text[20];
    tide_json_name(j, name);
    tide_json_plain(j, tide_slice_of(text, tide_u64_text(text, v)));
}

void tide_json_time(struct tide_json *j, const char *name, uint64_t seconds)
{
    char text[TIDE_RFC3339_BYTES];
    tide_time_rfc3339(text, seconds > INT64_MAX ? INT64_MAX : (int64_t)seconds);
    tide_json_name(j, name);
    tide_json_plain(j, tide_slice_of(text, sizeof "0000-00-00T00:00:00Z" - 1));
}

void tide_json_stored_time(struct tide_json *j, const char *name, uint64_t seconds)
{
    if (seconds == 0 || seconds > TIDE_TIME_LAST)
        tide_json_null(j, name);
    else
        tide_json_time(j, name, seconds);
}

void tide_json_time_ms(struct tide_json *j, const char *name, uint64_t ms)
{
    char text[TIDE_RFC3339_BYTES];
    tide_time_rfc3339_ms(text, ms > INT64_MAX ? INT64_MAX : (int64_t)ms);
    tide_json_word(j, name, text);
}

void tide_json_i128(struct tide_json *j, const char *name, tide_raw_i128 v)
{
    char text[TIDE_I128_TEXT_MAX];
    tide_json_name(j, name);
    tide_json_plain(j, tide_slice_of(text, tide_i128_text(text, (tide_i128){ v })));
}

/* Inserts the decimal point: "-12345" with 7 decimals becomes "-0.0012345". */
static size_t scale(char *out, tide_slice raw, uint32_t decimals)
{
    assert(raw.len > 0 && decimals <= TIDE_DECIMALS_MAX);
    size_t at = 0, len = raw.len;
    const uint8_t *digits = raw.ptr;
    if (digits[0] == '-') {
        out[at++] = '-';
        digits++;
        len--;
    }
    size_t whole = len > decimals ? len - decimals : 0;
    assert(len > 0 && whole <= len);
    if (whole == 0)
        out[at++] = '0';
    memcpy(out + at, digits, whole);
    at += whole;
    if (decimals == 0)
        return at;
    out[at++] = '.';
    for (size_t zeros = decimals > len ? decimals - len : 0; zeros; zeros--)
        out[at++] = '0';
    memcpy(out + at, digits + whole, len - whole);
    return at + len - whole;
}

void tide_json_scaled(struct tide_json *j, const char *name, tide_raw_i128 v, uint32_t decimals)
{
    assert(name);
    char raw[TIDE_I128_TEXT_MAX], scaled[TIDE_I128_TEXT_MAX + TIDE_DECIMALS_MAX + 4];
    size_t len = tide_i128_text(raw, (tide_i128){ v });
    tide_buf_str(j->buf, j->comma ? ",\"" : "\"");
    tide_buf_str(j->buf, name);
    tide_buf_str(j->buf, "Scaled\":");
    j->comma = false;
    if (decimals > TIDE_DECIMALS_MAX)
        tide_json_raw(j, TIDE_SLICE("null"));
    else
        tide_json_plain(j, tide_slice_of(scaled, scale(scaled, tide_slice_of(raw, len), decimals)));
}

void tide_json_amount(struct tide_json *j, const char *name, tide_raw_i128 v, uint32_t decimals)
{
    tide_json_i128(j, name, v);
    tide_json_scaled(j, name, v, decimals);
}
