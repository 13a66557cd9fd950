#include "tidemark/buf.h"

#include <stdarg.h>
#include <stdlib.h>

enum { CAP_FIRST = 256 };

void tide_buf_init(struct tide_buf *buf, size_t max)
{
    *buf = (struct tide_buf){ .max = max };
}

void tide_buf_release(struct tide_buf *buf)
{
    free(buf->ptr);
    *buf = (struct tide_buf){ .max = buf->max };
}

void tide_buf_limit(struct tide_buf *buf, size_t max)
{
    if (buf->cap > max)
        tide_buf_release(buf);
    tide_buf_reset(buf);
    buf->max = max;
    assert(buf->len == 0 && buf->cap <= buf->max);
}

size_t tide_buf_cap_for(const struct tide_buf *buf, size_t more)
{
    assert(buf->len <= buf->cap && buf->cap <= buf->max);
    assert(more <= buf->max - buf->len);
    size_t need = buf->len + more; /* at most max, so the loop ends */
    size_t cap = buf->cap ? buf->cap : buf->max < CAP_FIRST ? buf->max : CAP_FIRST;
    while (cap < need)
        cap = cap > buf->max / 2 ? buf->max : cap * 2;
    assert(need <= cap && cap <= buf->max);
    return cap;
}

bool tide_buf_grow(struct tide_buf *buf, size_t more)
{
    assert(buf->len <= buf->cap && buf->cap <= buf->max);
    if (buf->failed)
        return false;
    if (more <= buf->cap - buf->len)
        return true;
    if (more > buf->max - buf->len) {
        buf->failed = buf->full = true;
        return false;
    }
    size_t cap = tide_buf_cap_for(buf, more);
    uint8_t *ptr = realloc(buf->ptr, cap);
    if (!ptr) {
        buf->failed = true;
        return false;
    }
    buf->ptr = ptr;
    buf->cap = cap;
    return true;
}

void tide_buf_putf(struct tide_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int need = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (need >= 0) {
        uint8_t *to = tide_buf_room(buf, (size_t)need + 1);
        if (to) {
            vsnprintf((char *)to, (size_t)need + 1, format, again);
            buf->len += (size_t)need;
            assert(buf->len < buf->cap); /* vsnprintf has written its NUL behind len */
        }
    }
    va_end(again);
}
