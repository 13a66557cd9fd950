/* A JSON text read from front to back, once, without building anything: for answers of a known
 * shape. The caller walks objects and arrays, takes what it knows and steps over the rest.
 *
 *   struct json_scan s = json_scan_of(text, len);
 *   tide_slice name;
 *   for (bool first = json_scan_enter(&s, '{'); json_scan_name(&s, &first, &name);)
 *       if (tide_slice_eq_str(name, "latestLedger")) latest = json_scan_u64(&s, UINT32_MAX);
 *       else json_scan_skip(&s);
 *   json_scan_end(&s);
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
void json_scan_fault(struct json_scan *s, const char *what);

/* Steps into '{' or '['. The result is the first argument of json_scan_name or json_scan_item. */
bool json_scan_enter(struct json_scan *s, char bracket);
/* The next member's name (raw, escapes as they stand) or item; false at the end, which is
 * stepped over. *first is cleared. */
bool json_scan_name(struct json_scan *s, bool *first, tide_slice *name);
bool json_scan_item(struct json_scan *s, bool *first);

bool json_scan_null(struct json_scan *s); /* steps over a null; false when it is something else */
bool json_scan_is(struct json_scan *s, char begin); /* does the next value begin so? */
uint64_t json_scan_u64(struct json_scan *s, uint64_t max);
int64_t json_scan_i64(struct json_scan *s); /* within ±2^53 */
/* Returns the bytes between the quotes, with escapes unresolved. */
tide_slice json_scan_raw(struct json_scan *s);
/* The same with escapes resolved, into out, cut to fit, always ended by a NUL. */
void json_scan_text(struct json_scan *s, char *out, size_t size);
/* Bytes that a string tells in base64, decoded where they stand. */
tide_slice json_scan_base64(struct json_scan *s);
void json_scan_skip(struct json_scan *s); /* any value */
void json_scan_end(struct json_scan *s);  /* nothing but space may be left */

#endif
