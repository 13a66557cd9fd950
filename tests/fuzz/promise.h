/* Assertions of the fuzz targets about the results of the code under test. */
#ifndef TESTS_PROMISE_H
#define TESTS_PROMISE_H

#include "tests/fuzz/fuzz.h"
#include "tidemark/base.h"
#include "tidemark/slice.h"

#include <stdlib.h>

/* Like assert, but active in builds without assertions too: a broken promise must stop the
 * engine. */
#define PROMISE(holds) \
    do {               \
        if (!(holds))  \
            abort();   \
    } while (0)

/* Reads every byte of a slice, so that a sanitizer reports a slice that points outside its
 * buffer. */
static inline uint32_t sum_bytes(tide_slice bytes)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < bytes.len; i++)
        sum = sum * 31 + bytes.ptr[i];
    return sum;
}

static inline bool inside(tide_slice part, tide_slice whole)
{
    return part.len == 0 || (part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len);
}

#endif
