/* Sizes and attributes that every file may use. Declares no function. */
#ifndef TIDEMARK_BASE_H
#define TIDEMARK_BASE_H

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIDE_MUST_USE     __attribute__((warn_unused_result))
#define TIDE_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define TIDE_INLINE       static inline __attribute__((always_inline))
#define TIDE_LIKELY(x)    __builtin_expect(!!(x), 1)
#define TIDE_UNLIKELY(x)  __builtin_expect(!!(x), 0)
#define TIDE_COUNT(a)     (sizeof(a) / sizeof((a)[0]))

#define TIDE_HASH_BYTES 32u

#endif
