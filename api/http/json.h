/* JSON as answers are written: one pass, straight into the buffer, no allocation beyond its growth.
 *
 * Names    are literals of ours and are not escaped; values are
 * Amounts  "name":"raw units" and, where decimals are known, "nameScaled":"units"
 * Times    RFC 3339 in UTC; 64-bit numbers are strings, 32-bit ones numbers
 * Commas   put themselves: an object or list begins without one */
#ifndef API_HTTP_JSON_H
#define API_HTTP_JSON_H

#include "tidemark/buf.h"
#include "tidemark/hot_record.h"
#include "tidemark/text.h"

#define TIDE_JSON_UNKNOWN UINT32_MAX /* decimals that nobody knows */

struct tide_json {
    struct tide_buf *buf;
    bool comma; /* before what comes next */
};

/* A token that must be in its place: "{", "}", "[", "]", and after a name a value. */
TIDE_INLINE void tide_json_open(struct tide_json *j, char bracket)
{
    if (j->comma)
        tide_buf_u8(j->buf, ',');
    tide_buf_u8(j->buf, (uint8_t)bracket);
    j->comma = false;
}

TIDE_INLINE void tide_json_close(struct tide_json *j, char bracket)
{
    tide_buf_u8(j->buf, (uint8_t)bracket);
    j->comma = true;
}

/* "name": with the comma before it; a bracket may follow. */
TIDE_INLINE void tide_json_name(struct tide_json *j, const char *name)
{
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

/* A string of ours, or an address: nothing in it needs an escape. */
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

/* A string, whatever is in it. */
void tide_json_text(struct tide_json *j, const char *name, tide_slice text);
void tide_json_u32(struct tide_json *j, const char *name, uint32_t v);
/* "123": of 64 bits, and ledgers. */
void tide_json_u64(struct tide_json *j, const char *name, uint64_t v);
/* Unix seconds. */
void tide_json_time(struct tide_json *j, const char *name, uint64_t seconds);
/* Null for none. */
void tide_json_address(struct tide_json *j, const char *name,
                       const struct tide_hot_address *address);
void tide_json_symbol(struct tide_json *j, const char *name, const struct tide_hot_symbol *symbol);
/* The bytes that were kept of a name. */
void tide_json_title(struct tide_json *j, const char *name, const struct tide_hot_name *title);
/* Raw units as a string. */
void tide_json_i128(struct tide_json *j, const char *name, tide_raw_i128 v);
/* The same, and scaled: "amount":"12345","amountScaled":"0.0012345". decimals at most 38, else
 * TIDE_JSON_UNKNOWN: then the second is null. */
void tide_json_amount(struct tide_json *j, const char *name, tide_raw_i128 v, uint32_t decimals);

#endif
