/* Writes JSON in one pass into a buffer: answers, dumps, exports, stored values.
 *
 * Shape     calls come in the document's order. The writer puts commas, the caller puts brackets.
 * Members   a name and a value. Names are literals of the program and are not escaped. A NULL name
 *           writes an item of a list.
 * Amounts   "name":"raw units" and, if the decimals are known, "nameScaled":"units"
 * Numbers   64 bits and more are strings, 32 bits are numbers; times are RFC 3339 in UTC
 * Failure   a full buffer sets buf->failed; the caller checks it once, at the end
 * Threads   one thread at a time uses a writer */
#ifndef TIDEMARK_JSON_H
#define TIDEMARK_JSON_H

#include "tidemark/buf.h"
#include "tidemark/i128.h"
#include "tidemark/text.h"

#define TIDE_JSON_UNKNOWN UINT32_MAX /* decimals: not known */

struct tide_json {
    struct tide_buf *buf;
    bool comma; /* the next name or value needs a comma before it */
};

/* bracket is '{' or '['. */
TIDE_INLINE void tide_json_open(struct tide_json *j, char bracket)
{
    if (j->comma)
        tide_buf_u8(j->buf, ',');
    tide_buf_u8(j->buf, (uint8_t)bracket);
    j->comma = false;
}

/* bracket is '}' or ']'. */
TIDE_INLINE void tide_json_close(struct tide_json *j, char bracket)
{
    tide_buf_u8(j->buf, (uint8_t)bracket);
    j->comma = true;
}

/* Writes "name": after a comma if one is needed. A value or a bracket must follow. Does nothing for
 * NULL. */
TIDE_INLINE void tide_json_name(struct tide_json *j, const char *name)
{
    if (!name)
        return;
    size_t len = strlen(name);
    uint8_t *to = tide_buf_room(j->buf, len + 4);
    if (!to)
        return;
    if (j->comma)
        *to++ = ',';
    *to++ = '"';
    memcpy(to, name, len);
    memcpy(to + len, "\":", 2);
    j->buf->len = (size_t)(to - j->buf->ptr) + len + 2;
    j->comma = false;
}

/* Writes a value as it is, without quotes or escapes. */
TIDE_INLINE void tide_json_raw(struct tide_json *j, tide_slice value)
{
    if (j->comma)
        tide_buf_u8(j->buf, ',');
    tide_buf_slice(j->buf, value);
    j->comma = true;
}

/* Writes a string that needs no escape: a constant, an address, a number. */
TIDE_INLINE void tide_json_plain(struct tide_json *j, tide_slice text)
{
    uint8_t *to = tide_buf_room(j->buf, text.len + 3);
    if (!to)
        return;
    if (j->comma)
        *to++ = ',';
    *to++ = '"';
    if (text.len)
        memcpy(to, text.ptr, text.len);
    to[text.len] = '"';
    j->buf->len = (size_t)(to - j->buf->ptr) + text.len + 1;
    j->comma = true;
}

/* --- members: a name and a value -------------------------------------------------------- */

TIDE_INLINE void tide_json_word(struct tide_json *j, const char *name, const char *word)
{
    tide_json_name(j, name);
    tide_json_plain(j, tide_slice_str(word));
}

TIDE_INLINE void tide_json_bool(struct tide_json *j, const char *name, bool v)
{
    tide_json_name(j, name);
    tide_json_raw(j, v ? TIDE_SLICE("true") : TIDE_SLICE("false"));
}

TIDE_INLINE void tide_json_null(struct tide_json *j, const char *name)
{
    tide_json_name(j, name);
    tide_json_raw(j, TIDE_SLICE("null"));
}

/* Begins a value. The caller then appends the whole value to buf. */
void tide_json_value(struct tide_json *j, const char *name);
/* Writes any bytes as a string. Control characters are escaped; bytes that are not UTF-8 become
 * U+FFFD. */
void tide_json_text(struct tide_json *j, const char *name, tide_slice text);
void tide_json_u32(struct tide_json *j, const char *name, uint32_t v);
void tide_json_i32(struct tide_json *j, const char *name, int32_t v);
/* Writes a JSON number. Only for counts, which stay far below 2^53. */
void tide_json_number(struct tide_json *j, const char *name, uint64_t v);
/* Write strings: "123". */
void tide_json_u64(struct tide_json *j, const char *name, uint64_t v);
void tide_json_i64(struct tide_json *j, const char *name, int64_t v);
void tide_json_hex(struct tide_json *j, const char *name, tide_slice bytes);
void tide_json_base64(struct tide_json *j, const char *name, tide_slice bytes);
/* Writes unix seconds as RFC 3339. */
void tide_json_time(struct tide_json *j, const char *name, uint64_t seconds);
/* The same of unix milliseconds, with a fraction unless it is a whole second. */
void tide_json_time_ms(struct tide_json *j, const char *name, uint64_t ms);
/* Writes a time that a contract stored, which may be any number. Null for 0, and for times after
 * the year 9999, as analyst.at has it: contracts write the largest number for "never". */
void tide_json_stored_time(struct tide_json *j, const char *name, uint64_t seconds);
/* Writes raw units as a string. */
void tide_json_i128(struct tide_json *j, const char *name, tide_raw_i128 v);
/* Writes "amountScaled":"0.0012345" of the name "amount", which is not NULL: the one place where C
 * scales. The value is null above 38 decimals, so of TIDE_JSON_UNKNOWN too. */
void tide_json_scaled(struct tide_json *j, const char *name, tide_raw_i128 v, uint32_t decimals);
/* Writes raw units and scaled units: "amount":"12345","amountScaled":"0.0012345". */
void tide_json_amount(struct tide_json *j, const char *name, tide_raw_i128 v, uint32_t decimals);

#endif
