#include "indexer/base/copy.h"

#include <string.h>

enum { DIGITS_MAX = 10 }; /* digits of 2^128 to the base 10000 */
static_assert(DIGITS_MAX * 4 >= TIDE_I128_TEXT_MAX - 1, "four decimal digits each");

static void put16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

/* Writes a numeric in binary form: digit count, weight of the first digit, sign, scale, and digits
 * to the base 10000 without zeros at either end. digit[0] is the lowest. If count > 0, the highest
 * digit must not be 0. */
static void put_numeric(struct tide_buf *buf, const uint16_t *digit, int count, bool negative)
{
    assert(count >= 0 && count <= DIGITS_MAX);
    assert(count == 0 || digit[count - 1] != 0);
    int low = 0;
    while (low < count && digit[low] == 0)
        low++;
    int used = count - low;
    size_t len = 8 + 2 * (size_t)used;
    uint8_t *p = tide_buf_room(buf, 4 + len);
    if (!p)
        return;
    put16(p, 0);
    put16(p + 2, (uint16_t)len);
    put16(p + 4, (uint16_t)used);
    put16(p + 6, (uint16_t)(used ? count - 1 : 0));
    put16(p + 8, negative ? 0x4000 : 0);
    put16(p + 10, 0);
    for (int i = 0; i < used; i++)
        put16(p + 12 + (ptrdiff_t)2 * i, digit[count - 1 - i]);
    buf->len += 4 + len;
    assert(buf->len <= buf->cap);
}

static int split64(uint16_t *digit, uint64_t v)
{
    int count = 0;
    while (v) {
        digit[count++] = (uint16_t)(v % 10000);
        v /= 10000;
    }
    return count;
}

static int split128(uint16_t *digit, tide_raw_u128 v)
{
    const uint64_t chunk = UINT64_C(10000000000000000); /* 10000^4 */
    int count = 0;
    while (v >> 64) {
        tide_raw_u128 rest = v / chunk;
        uint64_t low = (uint64_t)(v - rest * chunk);
        for (int i = 0; i < 4; i++) {
            digit[count++] = (uint16_t)(low % 10000);
            low /= 10000;
        }
        v = rest;
    }
    return count + split64(digit + count, (uint64_t)v);
}

void tide_copy_i128(struct tide_buf *buf, tide_i128 v)
{
    uint16_t digit[DIGITS_MAX];
    bool negative = v.raw < 0;
    tide_raw_u128 magnitude = negative ? -(tide_raw_u128)v.raw : (tide_raw_u128)v.raw;
    put_numeric(buf, digit, split128(digit, magnitude), negative);
}

void tide_copy_u64(struct tide_buf *buf, uint64_t v)
{
    uint16_t digit[DIGITS_MAX];
    put_numeric(buf, digit, split64(digit, v), false);
}

size_t tide_copy_open(struct tide_buf *buf)
{
    size_t at = buf->len;
    tide_buf_be32(buf, 0);
    return at;
}

void tide_copy_close(struct tide_buf *buf, size_t at)
{
    if (buf->failed)
        return;
    assert(at + 4 <= buf->len && buf->len - at - 4 <= INT32_MAX);
    uint32_t len = __builtin_bswap32((uint32_t)(buf->len - at - 4));
    memcpy(buf->ptr + at, &len, 4);
}

struct tide_copy_array tide_copy_array_begin(struct tide_buf *buf, enum tide_copy_oid element,
                                             uint32_t count)
{
    struct tide_copy_array array = { tide_copy_open(buf) };
    tide_buf_be32(buf, count ? 1 : 0); /* number of dimensions */
    tide_buf_be32(buf, 0);             /* no NULLs */
    tide_buf_be32(buf, (uint32_t)element);
    if (count) {
        tide_buf_be32(buf, count);
        tide_buf_be32(buf, 1); /* lower bound */
    }
    return array;
}

void tide_copy_array_end(struct tide_buf *buf, struct tide_copy_array array)
{
    tide_copy_close(buf, array.at);
}
