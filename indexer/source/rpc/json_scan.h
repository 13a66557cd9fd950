/* A JSON text read from front to back, once, without building anything: for answers of a known
 * shape. The caller walks objects and arrays, takes what it knows and steps over the rest.
 *
 *   struct json_scan s = json_scan_of(text, len);
 *   tide_slice name;
 *   for (bool first = json_enter(&s, '{'); json_name(&s, &first, &name);)
 *       if (tide_slice_eq_str(name, "latestLedger")) latest = json_u64(&s, UINT32_MAX);
 *       else json_skip(&s);
 *   json_end(&s);
 *   if (s.fault) …
 *
 * Failure  the first fault is kept with its place; every later call does nothing and gives zero,
 *          so loops end and one look at the end is enough.
 * Strict   RFC 8259, one value and nothing after it, at most JSON_SCAN_DEPTH nested. A whole
 *          number may be written as a string of its digits, as servers differ in that.
 * Memory   none; slices borrow from the text. json_base64 decodes within the text. */
#ifndef INDEXER_SOURCE_RPC_JSON_SCAN_H
#define INDEXER_SOURCE_RPC_JSON_SCAN_H

#include "tidemark/slice.h"

enum { JSON_SCAN_DEPTH = 32 };

struct json_scan {
    uint8_t *cur, *end;
    const uint8_t *begin;
    const char *fault; /* static text; NULL: none so far */
    size_t fault_at;   /* byte of the text */
    uint32_t depth;
};

struct json_scan json_scan_of(uint8_t *text, size_t len);
void json_fault(struct json_scan *s, const char *what);

/* Steps into '{' or '['. The result is the first argument of json_name or json_item. */
bool json_enter(struct json_scan *s, char bracket);
/* The next member's name (raw, escapes as they stand) or item; false at the end, which is
 * stepped over. *first is cleared. */
bool json_name(struct json_scan *s, bool *first, tide_slice *name);
bool json_item(struct json_scan *s, bool *first);

bool json_null(struct json_scan *s); /* steps over a null; false when it is something else */
bool json_is(struct json_scan *s, char begin); /* does the next value begin so? */
uint64_t json_u64(struct json_scan *s, uint64_t max);
int64_t json_i64(struct json_scan *s); /* within ±2^53 */
/* What stands between the quotes, escapes as they are. */
tide_slice json_raw(struct json_scan *s);
/* The same with escapes resolved, into out, cut to fit, always ended by a NUL. */
void json_text(struct json_scan *s, char *out, size_t size);
/* Bytes that a string tells in base64, decoded where they stand. */
tide_slice json_base64(struct json_scan *s);
void json_skip(struct json_scan *s); /* any value */
void json_end(struct json_scan *s);  /* nothing but space may be left */

#endif
