#include "tidemark/i128.h"

#include <string.h>

tide_status tide_i128_add(tide_i128 *out, tide_i128 a, tide_i128 b)
{
    tide_raw_i128 sum;
    if (__builtin_add_overflow(a.raw, b.raw, &sum))
        return TIDE_E_RANGE;
    out->raw = sum;
    return TIDE_OK;
}

tide_status tide_i128_sub(tide_i128 *out, tide_i128 a, tide_i128 b)
{
    tide_raw_i128 difference;
    if (__builtin_sub_overflow(a.raw, b.raw, &difference))
        return TIDE_E_RANGE;
    out->raw = difference;
    return TIDE_OK;
}

/* Multiplies the magnitudes and checks the range. __builtin_mul_overflow on the signed type is not
 * used: clang turns it into a call of a runtime routine that gcc's library lacks. */
tide_status tide_i128_mul(tide_i128 *out, tide_i128 a, tide_i128 b)
{
    bool negative = (a.raw < 0) != (b.raw < 0);
    tide_raw_u128 x = a.raw < 0 ? -(tide_raw_u128)a.raw : (tide_raw_u128)a.raw;
    tide_raw_u128 y = b.raw < 0 ? -(tide_raw_u128)b.raw : (tide_raw_u128)b.raw;
    tide_raw_u128 limit = ((tide_raw_u128)1 << 127) - (negative ? 0 : 1);
    if (x && y > limit / x)
        return TIDE_E_RANGE;
    tide_raw_u128 product = x * y;
    out->raw = (tide_raw_i128)(negative ? -product : product);
    return TIDE_OK;
}

tide_status tide_i128_div_trunc(tide_i128 *out, tide_i128 a, tide_i128 b)
{
    const tide_raw_i128 least = (tide_raw_i128)((tide_raw_u128)1 << 127);
    if (b.raw == 0 || (a.raw == least && b.raw == -1))
        return TIDE_E_RANGE;
    out->raw = a.raw / b.raw;
    return TIDE_OK;
}

/* Returns the next decimal digit of a long division, and *rest times ten without it. Both are below
 * by, which is at most 2^127, so no sum overflows. */
static unsigned next_digit(tide_raw_u128 *rest, tide_raw_u128 by)
{
    tide_raw_u128 sum = 0;
    unsigned digit = 0;
    for (int i = 0; i < 10; i++) {
        sum += *rest;
        if (sum >= by) {
            sum -= by;
            digit++;
        }
    }
    *rest = sum;
    return digit;
}

static tide_raw_u128 magnitude(tide_i128 v)
{
    return v.raw < 0 ? -(tide_raw_u128)v.raw : (tide_raw_u128)v.raw;
}

tide_status tide_i128_div_shifted(tide_i128 *out, tide_i128 a, tide_i128 b, int power)
{
    assert(power >= -99 && power <= 99);
    const tide_raw_u128 most = ~(tide_raw_u128)0 >> 1, by = magnitude(b);
    if (by == 0)
        return TIDE_E_RANGE;
    tide_raw_u128 quotient = magnitude(a) / by, rest = magnitude(a) % by;
    for (; power < 0; power++)
        quotient /= 10;
    for (; power > 0; power--) {
        unsigned digit = next_digit(&rest, by);
        if (quotient > (most - digit) / 10)
            return TIDE_E_RANGE;
        quotient = quotient * 10 + digit;
    }
    if (quotient > most)
        return TIDE_E_RANGE;
    out->raw = (a.raw < 0) == (b.raw < 0) ? (tide_raw_i128)quotient : -(tide_raw_i128)quotient;
    return TIDE_OK;
}

static size_t magnitude_text(char *out, tide_raw_u128 v)
{
    char digits[TIDE_I128_TEXT_MAX];
    size_t at = sizeof digits;
    /* Splits off 19 digits at a time: divisions of 64-bit numbers are ten times cheaper. */
    while (v >> 64) {
        tide_raw_u128 rest = v / 10000000000000000000u;
        uint64_t low = (uint64_t)(v - rest * 10000000000000000000u);
        for (int i = 0; i < 19; i++) {
            digits[--at] = (char)('0' + low % 10);
            low /= 10;
        }
        v = rest;
    }
    uint64_t small = (uint64_t)v;
    if (small || at == sizeof digits) {
        do {
            digits[--at] = (char)('0' + small % 10);
            small /= 10;
        } while (small);
    }
    memcpy(out, digits + at, sizeof digits - at);
    assert(at < sizeof digits);
    return sizeof digits - at;
}

size_t tide_i128_text(char *out, tide_i128 v)
{
    if (v.raw >= 0)
        return magnitude_text(out, (tide_raw_u128)v.raw);
    *out = '-';
    return 1 + magnitude_text(out + 1, -(tide_raw_u128)v.raw);
}

size_t tide_u128_text(char *out, uint64_t hi, uint64_t lo)
{
    return magnitude_text(out, ((tide_raw_u128)hi << 64) | lo);
}

tide_status tide_i128_parse(tide_i128 *out, tide_slice text)
{
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = negative;
    if (at == text.len || (text.ptr[at] == '0' && (text.len > at + 1 || negative)))
        return TIDE_E_DECODE;
    tide_raw_u128 limit = ((tide_raw_u128)1 << 127) - (negative ? 0 : 1);
    tide_raw_u128 v = 0;
    for (; at < text.len; at++) {
        if (text.ptr[at] < '0' || text.ptr[at] > '9')
            return TIDE_E_DECODE;
        unsigned digit = (unsigned)(text.ptr[at] - '0');
        if (v > (limit - digit) / 10)
            return TIDE_E_RANGE;
        v = v * 10 + digit;
    }
    out->raw = (tide_raw_i128)(negative ? -v : v);
    return TIDE_OK;
}
