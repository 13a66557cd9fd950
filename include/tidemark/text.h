/* Text forms of bytes, numbers and times. */
#ifndef TIDEMARK_TEXT_H
#define TIDEMARK_TEXT_H

#include "tidemark/buf.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

/* Lower-case hex of in; out has room for 2 * in.len bytes. No NUL. */
void tide_hex(char *out, tide_slice in);
/* Exactly 2 * len hex digits (either case) into out. */
tide_status tide_hex_decode(uint8_t *out, size_t len, tide_slice text) TIDE_MUST_USE;
void tide_buf_hex(struct tide_buf *buf, tide_slice in);
/* Writes in as PostgreSQL reads a bytea: "\x", lower-case hex, NUL. out has room for
 * TIDE_BYTEA_BYTES(in.len). */
#define TIDE_BYTEA_BYTES(len) (2 * (len) + 3)
void tide_bytea_text(char *out, tide_slice in);

/* RFC 4648 with padding. Decoding is strict: length, alphabet, padding, zero spare bits. */
void tide_buf_base64(struct tide_buf *buf, tide_slice in);
tide_status tide_buf_base64_decode(struct tide_buf *buf, tide_slice text) TIDE_MUST_USE;
/* The same in the alphabet for addresses (- and _), without padding. */
void tide_buf_base64url(struct tide_buf *buf, tide_slice in);
tide_status tide_buf_base64url_decode(struct tide_buf *buf, tide_slice text) TIDE_MUST_USE;
/* RFC 4648 with padding, in two steps, for text whose end is not known yet. Decodes the whole
 * groups of four digits that text begins with; returns the bytes of text used, *made those
 * written. out has room for text.len / 4 * 3, and may be text.ptr: the text is written over. */
size_t tide_base64_groups(uint8_t *out, tide_slice text, size_t *made);
/* A last group of four bytes, padded or not: 1..3 bytes into out, 0 when it is malformed. */
size_t tide_base64_last(uint8_t *out, const uint8_t *group);

/* Decimal digits only, no sign, no space; TIDE_E_RANGE above max. */
tide_status tide_parse_u64(uint64_t *out, tide_slice text, uint64_t max) TIDE_MUST_USE;
/* Decimal of v, returns the length (<= 20). No NUL. */
size_t tide_u64_text(char *out, uint64_t v);

/* Well-formed UTF-8 (no overlong, no surrogate, nothing above U+10FFFF). NUL is well-formed. */
bool tide_utf8_valid(tide_slice text);
/* Fit to be a name that a person reads: well-formed, with a visible character, without controls,
 * marks of direction, characters of no width, private use. */
bool tide_text_is_name(tide_slice text);
/* Replaces each byte that is not printable ASCII by '?'. For a text that may quote a stranger and
 * goes into a column of the database, which refuses other bytes. */
void tide_text_make_ascii(char *text);

/* A JSON string with its quotes. Control characters are escaped; bytes that are not
 * UTF-8 come out as U+FFFD, one each, so the output is always valid JSON. */
void tide_buf_json_string(struct tide_buf *buf, tide_slice text);

/* "2026-05-02T09:14:07Z" (20 bytes and a NUL) of unix seconds. */
#define TIDE_RFC3339_BYTES 32u
void tide_time_rfc3339(char out[TIDE_RFC3339_BYTES], int64_t unix_seconds);

/* Unix seconds of an RFC 3339 time, "2026-05-02T09:14:07Z", "…07.25+02:00": the first whole second
 * that is not before it. TIDE_E_DECODE for any other text, or a day that no month has. */
tide_status tide_time_parse(int64_t *unix_seconds, tide_slice text) TIDE_MUST_USE;

#endif
