/* Text forms of bytes, numbers and times. */
#ifndef TIDEMARK_TEXT_H
#define TIDEMARK_TEXT_H

#include "tidemark/buf.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

/* Writes lower-case hex without NUL. out has room for 2 * in.len bytes. */
void tide_hex(char *out, tide_slice in);
/* Decodes exactly 2 * len hex digits of either case. */
tide_status tide_hex_decode(uint8_t *out, size_t len, tide_slice text) TIDE_MUST_USE;
void tide_buf_hex(struct tide_buf *buf, tide_slice in);
/* Writes in as PostgreSQL reads a bytea: "\x", lower-case hex, NUL. out has room for
 * TIDE_BYTEA_BYTES(in.len). */
#define TIDE_BYTEA_BYTES(len) (2 * (len) + 3)
void tide_bytea_text(char *out, tide_slice in);

/* base64 of RFC 4648 with padding. Decoding is strict: length, alphabet, padding, zero spare
 * bits. */
void tide_buf_base64(struct tide_buf *buf, tide_slice in);
tide_status tide_buf_base64_decode(struct tide_buf *buf, tide_slice text) TIDE_MUST_USE;
/* base64url: the URL-safe alphabet (- and _), without padding. */
void tide_buf_base64url(struct tide_buf *buf, tide_slice in);
tide_status tide_buf_base64url_decode(struct tide_buf *buf, tide_slice text) TIDE_MUST_USE;
/* Decodes the whole groups of four digits at the start of text, for a text that arrives in pieces.
 * Returns the bytes of text used; *made is the number of bytes written. out has room for text.len /
 * 4 * 3 and may be text.ptr, which decodes in place. */
size_t tide_base64_groups(uint8_t *out, tide_slice text, size_t *made);
/* Decodes the last group of four digits, padded or not. Returns the 1 to 3 bytes written to out, or
 * 0 if the group is malformed. */
size_t tide_base64_last(uint8_t *out, const uint8_t *group);

/* Parses decimal digits without sign and spaces. TIDE_E_RANGE above max. */
tide_status tide_parse_u64(uint64_t *out, tide_slice text, uint64_t max) TIDE_MUST_USE;
/* Writes v in decimal without NUL. Returns the length (<= 20). */
size_t tide_u64_text(char *out, uint64_t v);

/* Returns whether text is well-formed UTF-8: nothing overlong, no surrogate, nothing above
 * U+10FFFF. NUL is allowed. */
bool tide_utf8_valid(tide_slice text);
/* Returns whether text may be shown as a name: well-formed UTF-8 with a visible character, without
 * controls, direction marks, zero-width characters and private use. */
bool tide_text_is_name(tide_slice text);
/* Replaces each byte that is not printable ASCII by '?'. For a text that may quote a stranger and
 * goes into a column of the database, which refuses other bytes. */
void tide_text_make_ascii(char *text);

/* Appends a JSON string with its quotes. Control characters are escaped. Each byte that is not
 * UTF-8 becomes U+FFFD, so the output is always valid JSON. */
void tide_buf_json_string(struct tide_buf *buf, tide_slice text);

/* Writes unix seconds as "2026-05-02T09:14:07Z" (20 bytes and a NUL). */
#define TIDE_RFC3339_BYTES 32u
#define TIDE_TIME_LAST     253402300799 /* 9999-12-31T23:59:59Z: a year has four digits */
void tide_time_rfc3339(char out[TIDE_RFC3339_BYTES], int64_t unix_seconds);
/* The same of unix milliseconds: "2026-05-02T09:14:07.250Z", without the fraction in a whole
 * second. */
void tide_time_rfc3339_ms(char out[TIDE_RFC3339_BYTES], int64_t unix_ms);

/* Parses an RFC 3339 time, "2026-05-02T09:14:07Z" or "…07.25+02:00". A fraction is rounded up to a
 * whole second. TIDE_E_DECODE for any other text, and for a day that the month does not have. */
tide_status tide_time_parse(int64_t *unix_seconds, tide_slice text) TIDE_MUST_USE;
/* The same in unix milliseconds, to which a finer fraction is rounded up. */
tide_status tide_time_parse_ms(int64_t *unix_ms, tide_slice text) TIDE_MUST_USE;

#endif
