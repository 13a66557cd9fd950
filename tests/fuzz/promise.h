/* What a fuzz target says must hold of whatever it was given. */
#ifndef TESTS_PROMISE_H
#define TESTS_PROMISE_H

#include "tests/fuzz/fuzz.h"
#include "tidemark/base.h"
#include "tidemark/slice.h"

#include <stdlib.h>

/* Like assert, but also in builds without: a broken promise must stop the engine. */
#define PROMISE(holds) \
    do {               \
        if (!(holds))  \
            abort();   \
    } while (0)

/* Reads every byte of an answer, so that a slice that points astray is caught. */
static inline uint32_t touch(tide_slice bytes)
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
