/* A growing byte buffer with a maximum that the owner must give. An append that exceeds the
 * maximum, or gets no memory, sets failed and leaves the contents unchanged. Every later append
 * does nothing, so callers check failed once, at the end.
 *
 * Memory   malloc, grown by doubling, kept by reset, freed by release. */
#ifndef TIDEMARK_BUF_H
#define TIDEMARK_BUF_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

struct tide_buf {
    uint8_t *ptr;
    size_t len;
    size_t cap;
    size_t max;  /* maximum in bytes; always len <= cap <= max. 0: the buffer stays empty */
    bool failed; /* the maximum was exceeded or memory failed; stays set until reset */
    bool full;   /* failed, and the maximum was exceeded */
};

void tide_buf_init(struct tide_buf *buf, size_t max);
void tide_buf_release(struct tide_buf *buf);
/* Empties the buffer and sets another maximum. If the capacity exceeds it, the memory is freed.
 * Never assign max directly: a buffer whose capacity exceeds its maximum takes too much. */
void tide_buf_limit(struct tide_buf *buf, size_t max);
/* Makes room for `more` bytes. Returns false and sets failed if they exceed the maximum, or without
 * memory. */
bool tide_buf_grow(struct tide_buf *buf, size_t more);
/* Returns the capacity that `more` bytes, which the maximum allows, make the buffer have. */
size_t tide_buf_cap_for(const struct tide_buf *buf, size_t more);
void tide_buf_putf(struct tide_buf *buf, const char *format, ...) TIDE_PRINTF(2, 3);

static inline void tide_buf_reset(struct tide_buf *buf)
{
    assert(buf->len <= buf->cap && buf->cap <= buf->max);
    buf->len = 0;
    buf->failed = buf->full = false;
}

/* Returns room for n bytes at the end, or NULL. The caller writes them and adds to len. */
TIDE_INLINE uint8_t *tide_buf_room(struct tide_buf *buf, size_t n)
{
    if (TIDE_UNLIKELY(buf->cap - buf->len < n || buf->failed) && !tide_buf_grow(buf, n))
        return NULL;
    return buf->ptr + buf->len;
}

TIDE_INLINE void tide_buf_put(struct tide_buf *buf, const void *bytes, size_t len)
{
    uint8_t *to = tide_buf_room(buf, len);
    if (to && len) {
        assert(bytes);
        memcpy(to, bytes, len);
        buf->len += len;
    }
}

TIDE_INLINE void tide_buf_slice(struct tide_buf *buf, tide_slice s)
{
    tide_buf_put(buf, s.ptr, s.len);
}

TIDE_INLINE void tide_buf_str(struct tide_buf *buf, const char *text)
{
    tide_buf_put(buf, text, strlen(text));
}

TIDE_INLINE void tide_buf_u8(struct tide_buf *buf, uint8_t v)
{
    tide_buf_put(buf, &v, 1);
}

/* Big-endian integers: XDR's and PostgreSQL's byte order. */
TIDE_INLINE void tide_buf_be16(struct tide_buf *buf, uint16_t v)
{
    v = __builtin_bswap16(v);
    tide_buf_put(buf, &v, 2);
}

TIDE_INLINE void tide_buf_be32(struct tide_buf *buf, uint32_t v)
{
    v = __builtin_bswap32(v);
    tide_buf_put(buf, &v, 4);
}

TIDE_INLINE void tide_buf_be64(struct tide_buf *buf, uint64_t v)
{
    v = __builtin_bswap64(v);
    tide_buf_put(buf, &v, 8);
}

static inline tide_slice tide_buf_view(const struct tide_buf *buf)
{
    assert(buf->len <= buf->cap && (buf->ptr || buf->len == 0));
    return (tide_slice){ buf->ptr, buf->len };
}

#endif
