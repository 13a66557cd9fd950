/* Reads a JSON text once, from front to back, without building a tree: for answers of a known
 * shape. The caller walks objects and arrays, reads what it knows and steps over the rest.
 *
 *   struct json_scan s = json_scan_of(text, len);
 *   json_scan_members(&s, members, TIDE_COUNT(members), "no latestLedger", &out);
 *   json_scan_end(&s);
 *   if (s.fault) …
 *
 * Failure  the first fault is stored with its place. Every later call does nothing and returns
 *          zero, so loops end, and one check at the end suffices.
 * Strict   RFC 8259, one value and nothing after it, at most JSON_SCAN_DEPTH levels. A whole number
 *          may be written as a string of its digits, because servers differ in that.
 * Memory   none; slices borrow from the text. json_scan_base64 decodes within the text. */
#ifndef SCHEMA_RPC_JSON_SCAN_H
#define SCHEMA_RPC_JSON_SCAN_H

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

/* Steps into '{' or '['. Pass the result as the first argument `first` of json_scan_item. */
bool json_scan_enter(struct json_scan *s, char bracket);
/* Steps to the next item. At the end it steps over the bracket and returns false. It clears
 * *first. */
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

/* --- objects by a table ------------------------------------------------------------------- */

/* How a member's value is read, and to what: a uint32_t, a uint64_t up to INT64_MAX, an int64_t
 * within ±2^53, a NUL-ended text, a tide_slice of a text, a tide_slice of decoded base64,
 * TIDE_HASH_BYTES of a text in hex. VALUE and ITEMS call `read` with the whole struct: for the
 * value, and for each item of an array. */
enum json_scan_kind {
    JSON_SCAN_U32,
    JSON_SCAN_U64,
    JSON_SCAN_I64,
    JSON_SCAN_TEXT,
    JSON_SCAN_RAW,
    JSON_SCAN_BASE64,
    JSON_SCAN_HASH,
    JSON_SCAN_VALUE,
    JSON_SCAN_ITEMS,
};

struct json_scan_member {
    const char *name;
    enum json_scan_kind kind;
    bool needed;
    size_t at, size; /* offset in the struct; bytes of a TEXT */
    void (*read)(struct json_scan *s, void *out);
};

/* Reads an object. A member that comes twice is a fault, and so is one that is needed and not there
 * (`lacks` says so). null is as good as no member, and an empty array. */
void json_scan_members(struct json_scan *s, const struct json_scan_member *members, size_t count,
                       const char *lacks, void *out);

#endif
