/* Reads a JSON text once, from front to back, without building a tree: for answers of a known
 * shape. The caller walks objects and arrays, reads what it knows and steps over the rest.
 *
 *   struct json_scan s = json_scan_of(text, len);
 *   tide_slice name;
 *   for (bool first = json_scan_enter(&s, '{'); json_scan_name(&s, &first, &name);)
 *       if (tide_slice_eq_str(name, "latestLedger")) latest = json_scan_u64(&s, UINT32_MAX);
 *       else json_scan_skip(&s);
 *   json_scan_end(&s);
 *   if (s.fault) …
 *
 * Failure  the first fault is stored with its place. Every later call does nothing and returns
 *          zero, so loops end, and one check at the end suffices.
 * Strict   RFC 8259, one value and nothing after it, at most JSON_SCAN_DEPTH levels. A whole number
 *          may be written as a string of its digits, because servers differ in that.
 * Memory   none; slices borrow from the text. json_scan_base64 decodes within the text. */
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

/* Steps into '{' or '['. Pass the result as the first argument `first` of json_scan_name or
 * json_scan_item. */
bool json_scan_enter(struct json_scan *s, char bracket);
/* Read the next member's name (with escapes unresolved), or step to the next item. At the end they
 * step over the bracket and return false. They clear *first. */
bool json_scan_name(struct json_scan *s, bool *first, tide_slice *name);
bool json_scan_item(struct json_scan *s, bool *first);

bool json_scan_null(struct json_scan *s); /* steps over null; false if another value follows */
uint64_t json_scan_u64(struct json_scan *s, uint64_t max);
int64_t json_scan_i64(struct json_scan *s); /* integer within ±2^53 */
/* Returns the bytes between the quotes, with escapes unresolved. */
tide_slice json_scan_raw(struct json_scan *s);
/* Copies the string with escapes resolved to out, cut to fit and always ended by a NUL. */
void json_scan_text(struct json_scan *s, char *out, size_t size);
/* Returns the bytes of a base64 string, decoded in place. */
tide_slice json_scan_base64(struct json_scan *s);
void json_scan_skip(struct json_scan *s); /* steps over any value */
void json_scan_end(struct json_scan *s);  /* a fault if anything but white space is left */

#endif
