/* JSON, written in one pass straight into a buffer: answers, dumps, exports, stored values.
 *
 * Shape     calls come in the document's order. The writer puts commas, the caller brackets.
 * Members   a name and a value. Names are literals of the program and are not escaped. A NULL name
 *           writes an item of a list.
 * Amounts   "name":"raw units" and, where the decimals are known, "nameScaled":"units"
 * Numbers   64 bits and more are strings, 32 bits are numbers; times are RFC 3339 in UTC
 * Failure   a full buffer sets buf->failed; ask it once, at the end
 * Threads   one at a time for each writer */
#ifndef TIDEMARK_JSON_H
#define TIDEMARK_JSON_H

#include "tidemark/buf.h"
#include "tidemark/i128.h"
#include "tidemark/text.h"

#define TIDE_JSON_UNKNOWN UINT32_MAX /* decimals that are not known */

struct tide_json {
    struct tide_buf *buf;
    bool comma; /* the next name or value needs one before it */
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

/* "name": with the comma before it; a value or a bracket must follow. Nothing for NULL. */
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

/* A value that is written as it stands. */
TIDE_INLINE void tide_json_raw(struct tide_json *j, tide_slice value)
{
    if (j->comma)
        tide_buf_u8(j->buf, ',');
    tide_buf_slice(j->buf, value);
    j->comma = true;
}

/* A string in which nothing needs an escape: a constant, an address, a number. */
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

/* Begins a value that the caller then appends to buf, whole. */
void tide_json_value(struct tide_json *j, const char *name);
/* Any bytes: control characters are escaped, what is not UTF-8 becomes U+FFFD. */
void tide_json_text(struct tide_json *j, const char *name, tide_slice text);
void tide_json_u32(struct tide_json *j, const char *name, uint32_t v);
void tide_json_i32(struct tide_json *j, const char *name, int32_t v);
/* A JSON number. Only for counts, which stay far below 2^53. */
void tide_json_number(struct tide_json *j, const char *name, uint64_t v);
/* Strings: "123". */
void tide_json_u64(struct tide_json *j, const char *name, uint64_t v);
void tide_json_i64(struct tide_json *j, const char *name, int64_t v);
void tide_json_hex(struct tide_json *j, const char *name, tide_slice bytes);
void tide_json_base64(struct tide_json *j, const char *name, tide_slice bytes);
/* Unix seconds. */
void tide_json_time(struct tide_json *j, const char *name, uint64_t seconds);
/* Raw units as a string. */
void tide_json_i128(struct tide_json *j, const char *name, tide_raw_i128 v);
/* The same, and scaled: "amount":"12345","amountScaled":"0.0012345". name is not NULL. decimals at
 * most 38, else TIDE_JSON_UNKNOWN: then the second is null. */
void tide_json_amount(struct tide_json *j, const char *name, tide_raw_i128 v, uint32_t decimals);

#endif
