/* Borrowed bytes: pointer and length. A slice is a value: copy it, return it, compare it.
 * A slice never frees and is never NUL-terminated; the comment beside each field or
 * result says what it borrows from and until when. */
#ifndef TIDEMARK_SLICE_H
#define TIDEMARK_SLICE_H

#include "tidemark/base.h"
#include <string.h>

typedef struct tide_slice {
    const uint8_t *ptr; /* may be NULL only when len is 0 */
    size_t len;         /* bytes */
} tide_slice;

#define TIDE_SLICE(literal) ((tide_slice){ (const uint8_t *)("" literal), sizeof(literal) - 1 })

/* printf of a slice as text: printf("%.*s", TIDE_SLICE_FMT(s)) */
#define TIDE_SLICE_FMT(s) (int)(s).len, (const char *)(s).ptr

static inline tide_slice tide_slice_of(const void *ptr, size_t len)
{
    return (tide_slice){ ptr, len };
}

static inline tide_slice tide_slice_str(const char *text)
{
    return (tide_slice){ (const uint8_t *)text, strlen(text) };
}

static inline bool tide_slice_eq(tide_slice a, tide_slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool tide_slice_eq_str(tide_slice a, const char *text)
{
    return tide_slice_eq(a, tide_slice_str(text));
}

/* Compares bytewise. A prefix comes before a longer slice. */
static inline int tide_slice_cmp(tide_slice a, tide_slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

#endif
