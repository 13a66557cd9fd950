/* A cursor over XDR bytes (RFC 4506) that fails once and stays failed. Every
 * read after the first failure returns zero or an empty slice, so a decoder
 * reads a whole structure straight through and asks once, at the end. After a
 * failure the cursor stands at its end, so no loop runs on.
 *
 * Refused   truncation, non-zero padding, booleans and optionals other than 0
 *           or 1, counts the rest cannot hold, unknown union arms, nesting past
 *           TIDE_XDR_DEPTH_MAX. Trailing bytes: tide_xdr_end.
 * Slices    borrow from the input and live as long as it does. */
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
    uint32_t depth;     /* nested types entered and not left */
    const char *what;   /* static text of the first failure: "padding", "SCVal arm", … */
    size_t fail_at;     /* byte offset from base of the first failure */
    uint32_t value;     /* the refused discriminant or count, where there is one */
    bool truncated;     /* the first failure was the end of the input */
};

static inline struct tide_xdr tide_xdr_of(tide_slice in)
{
    static const uint8_t none; /* an empty slice may have no pointer to count from */
    const uint8_t *base = in.ptr ? in.ptr : &none;
    return (struct tide_xdr){ .cur = base, .end = base + in.len, .base = base };
}

/* Records the first failure. what is static text; value as above. Never inlined: cold. */
void tide_xdr_refuse(struct tide_xdr *x, tide_status status, const char *what, uint32_t value);
void tide_xdr_refuse_short(struct tide_xdr *x);

/* TIDE_OK when nothing failed and nothing is left. */
tide_status tide_xdr_end(struct tide_xdr *x) TIDE_MUST_USE;

/* The failure as a sentence: "SCVal arm 99 at byte 1234". */
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

/* 0 or 1, for bool and for optional; anything else is refused. */
TIDE_INLINE bool tide_xdr_bool(struct tide_xdr *x)
{
    uint32_t v = tide_xdr_u32(x);
    if (TIDE_UNLIKELY(v > 1))
        tide_xdr_refuse(x, TIDE_E_DECODE, "boolean", v);
    return v == 1;
}

/* Exactly n bytes and their zero padding. */
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

/* u32 length (at most max), bytes, zero padding. */
TIDE_INLINE tide_slice tide_xdr_var(struct tide_xdr *x, uint32_t max)
{
    uint32_t n = tide_xdr_u32(x);
    if (TIDE_UNLIKELY(n > max)) {
        tide_xdr_refuse(x, TIDE_E_DECODE, "length", n);
        return (tide_slice){ 0 };
    }
    return tide_xdr_opaque(x, n);
}

/* A count of elements of at least element_min bytes each; 0 after a failure. */
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

/* Call around every recursive type. enter returns false (and refuses) past the limit. */
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

/* The bytes from mark (an earlier x->cur) to here; empty after a failure. */
TIDE_INLINE tide_slice tide_xdr_span(const struct tide_xdr *x, const uint8_t *mark)
{
    assert(x->base <= mark && mark <= x->cur);
    return x->status == TIDE_OK ? (tide_slice){ mark, (size_t)(x->cur - mark) } : (tide_slice){ 0 };
}

/* Writing: tide_buf_be32/be64 and these. */
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
