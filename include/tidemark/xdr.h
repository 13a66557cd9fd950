/* A cursor over XDR bytes (RFC 4506). Its first failure is permanent: every later read returns zero
 * or an empty slice, so a decoder reads a whole structure and checks the status once, at the end.
 * After a failure the cursor stands at its end, so that no loop continues.
 *
 * Refused   truncation, non-zero padding, booleans and optionals other than 0 or 1, counts that the
 *           remaining bytes cannot hold, unknown union arms, nesting deeper than
 *           TIDE_XDR_DEPTH_MAX. tide_xdr_end refuses trailing bytes.
 * Slices    borrow from the input and are valid as long as it is. */
#ifndef TIDEMARK_XDR_H
#define TIDEMARK_XDR_H

#include "tidemark/i128.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

#define TIDE_XDR_DEPTH_MAX 1500u /* nested types, as stellar-core allows */

struct tide_xdr {
    const uint8_t *cur;
    const uint8_t *end;
    const uint8_t *base;
    tide_status status; /* TIDE_OK, TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_LIMIT */
    uint32_t depth;     /* nested types that are entered and not left */
    const char *what;   /* static text of the first failure: "padding", "SCVal arm", … */
    size_t fail_at;     /* byte offset from base of the first failure */
    uint32_t value;     /* the refused discriminant or count, if there is one */
    bool truncated;     /* the first failure was the end of the input */
};

static inline struct tide_xdr tide_xdr_of(tide_slice in)
{
    static const uint8_t none; /* an empty slice may have no pointer to count from */
    const uint8_t *base = in.ptr ? in.ptr : &none;
    return (struct tide_xdr){ .cur = base, .end = base + in.len, .base = base };
}

/* Records the first failure. what is static text; value as above. The function is never inlined: it
 * is the cold path. */
void tide_xdr_refuse(struct tide_xdr *x, tide_status status, const char *what, uint32_t value);
void tide_xdr_refuse_short(struct tide_xdr *x);

/* Returns TIDE_OK if nothing failed and no bytes are left. */
tide_status tide_xdr_end(struct tide_xdr *x) TIDE_MUST_USE;

/* Fills err with the failure as a text: "SCVal arm 99 at byte 1234". Returns its code. */
tide_status tide_xdr_error(const struct tide_xdr *x, struct tide_err *err, const char *context);

static inline size_t tide_xdr_left(const struct tide_xdr *x)
{
    return (size_t)(x->end - x->cur);
}

static inline size_t tide_xdr_offset(const struct tide_xdr *x)
{
    return (size_t)(x->cur - x->base);
}

TIDE_INLINE bool tide_xdr_need(struct tide_xdr *x, size_t n)
{
    if (TIDE_UNLIKELY(tide_xdr_left(x) < n)) {
        tide_xdr_refuse_short(x);
        return false;
    }
    return true;
}

TIDE_INLINE uint32_t tide_be32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return __builtin_bswap32(v);
}

TIDE_INLINE uint64_t tide_be64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return __builtin_bswap64(v);
}

TIDE_INLINE uint32_t tide_xdr_u32(struct tide_xdr *x)
{
    if (!tide_xdr_need(x, 4))
        return 0;
    uint32_t v = tide_be32(x->cur);
    x->cur += 4;
    return v;
}

TIDE_INLINE int32_t tide_xdr_i32(struct tide_xdr *x)
{
    return (int32_t)tide_xdr_u32(x);
}

TIDE_INLINE uint64_t tide_xdr_u64(struct tide_xdr *x)
{
    if (!tide_xdr_need(x, 8))
        return 0;
    uint64_t v = tide_be64(x->cur);
    x->cur += 8;
    return v;
}

TIDE_INLINE int64_t tide_xdr_i64(struct tide_xdr *x)
{
    return (int64_t)tide_xdr_u64(x);
}

/* Reads a boolean, or the flag of an optional: 0 or 1. Other values are refused. */
TIDE_INLINE bool tide_xdr_bool(struct tide_xdr *x)
{
    uint32_t v = tide_xdr_u32(x);
    if (TIDE_UNLIKELY(v > 1))
        tide_xdr_refuse(x, TIDE_E_DECODE, "boolean", v);
    return v == 1;
}

/* Reads exactly n bytes and their zero padding. */
TIDE_INLINE tide_slice tide_xdr_opaque(struct tide_xdr *x, uint32_t n)
{
    size_t padded = ((size_t)n + 3) & ~(size_t)3;
    if (!tide_xdr_need(x, padded))
        return (tide_slice){ 0 };
    tide_slice s = { x->cur, n };
    uint32_t pad = 0;
    for (size_t i = n; i < padded; i++)
        pad |= x->cur[i];
    if (TIDE_UNLIKELY(pad)) {
        tide_xdr_refuse(x, TIDE_E_DECODE, "padding", pad);
        return (tide_slice){ 0 };
    }
    x->cur += padded;
    return s;
}

/* Reads a u32 length of at most max, the bytes and their zero padding. */
TIDE_INLINE tide_slice tide_xdr_var(struct tide_xdr *x, uint32_t max)
{
    uint32_t n = tide_xdr_u32(x);
    if (TIDE_UNLIKELY(n > max)) {
        tide_xdr_refuse(x, TIDE_E_DECODE, "length", n);
        return (tide_slice){ 0 };
    }
    return tide_xdr_opaque(x, n);
}

/* Reads a count of elements that take at least element_min bytes each. Returns 0 after a
 * failure. */
TIDE_INLINE uint32_t tide_xdr_count(struct tide_xdr *x, uint32_t max, uint32_t element_min)
{
    assert(element_min > 0);
    uint32_t n = tide_xdr_u32(x);
    if (TIDE_UNLIKELY(n > max || n > tide_xdr_left(x) / element_min)) {
        if (n > max)
            tide_xdr_refuse(x, TIDE_E_DECODE, "count", n);
        else
            tide_xdr_refuse_short(x);
        return 0;
    }
    return n;
}

TIDE_INLINE void tide_xdr_skip(struct tide_xdr *x, size_t n)
{
    if (tide_xdr_need(x, n))
        x->cur += n;
}

/* Call enter and leave around every recursive type. enter refuses and returns false at the depth
 * limit. */
TIDE_INLINE bool tide_xdr_enter(struct tide_xdr *x)
{
    if (TIDE_UNLIKELY(x->depth >= TIDE_XDR_DEPTH_MAX)) {
        tide_xdr_refuse(x, TIDE_E_LIMIT, "nesting", x->depth);
        return false;
    }
    x->depth++;
    return true;
}

TIDE_INLINE void tide_xdr_leave(struct tide_xdr *x)
{
    assert(x->depth > 0);
    x->depth--;
}

/* Returns the bytes from mark (an earlier x->cur) to the cursor; empty after a failure. */
TIDE_INLINE tide_slice tide_xdr_span(const struct tide_xdr *x, const uint8_t *mark)
{
    assert(x->base <= mark && mark <= x->cur);
    return x->status == TIDE_OK ? (tide_slice){ mark, (size_t)(x->cur - mark) } : (tide_slice){ 0 };
}

/* Functions that write XDR, beside tide_buf_be32 and tide_buf_be64. */
#include "tidemark/buf.h"

static inline void tide_xdr_put_opaque(struct tide_buf *buf, tide_slice bytes)
{
    static const uint8_t zero[4];
    tide_buf_slice(buf, bytes);
    tide_buf_put(buf, zero, -bytes.len & 3);
}

static inline void tide_xdr_put_var(struct tide_buf *buf, tide_slice bytes)
{
    assert(bytes.len <= UINT32_MAX);
    tide_buf_be32(buf, (uint32_t)bytes.len);
    tide_xdr_put_opaque(buf, bytes);
}

#endif
