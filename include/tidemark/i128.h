/* Soroban amounts are signed 128-bit integers. The struct makes the compiler reject
 * `collateral + debt` written by hand: the checked arithmetic is here.
 *
 * Wire  XDR Int128Parts: hi (signed 64) then lo (unsigned 64)
 * Text  decimal, at most TIDE_I128_TEXT_MAX bytes, no NUL, no '+', no "-0"
 * SQL   numeric(39,0)
 * JSON  a string, never a number: readers that use doubles lose digits above 2^53 */
#ifndef TIDEMARK_I128_H
#define TIDEMARK_I128_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

#define TIDE_DECIMALS_MAX 38u /* decimals of a token: more count as not known */

__extension__ typedef __int128 tide_raw_i128;
__extension__ typedef unsigned __int128 tide_raw_u128;

typedef struct tide_i128 {
    tide_raw_i128 raw;
} tide_i128;

#define TIDE_I128_TEXT_MAX 40u /* sign and 39 digits */
static_assert(sizeof(tide_i128) == 16, "records and signatures store all 128 bits");

static inline tide_i128 tide_i128_from_parts(int64_t hi, uint64_t lo)
{
    return (tide_i128){ (tide_raw_i128)(((tide_raw_u128)(uint64_t)hi << 64) | lo) };
}

static inline tide_i128 tide_i128_from_i64(int64_t v)
{
    return (tide_i128){ v };
}

static inline int tide_i128_sign(tide_i128 v)
{
    return (v.raw > 0) - (v.raw < 0);
}

/* Checked arithmetic. TIDE_E_RANGE, with *out unchanged, on overflow. Division truncates toward
 * zero as the contracts do; division by zero, and of the minimum by -1, is TIDE_E_RANGE. */
tide_status tide_i128_add(tide_i128 *out, tide_i128 a, tide_i128 b) TIDE_MUST_USE;
tide_status tide_i128_sub(tide_i128 *out, tide_i128 a, tide_i128 b) TIDE_MUST_USE;
tide_status tide_i128_mul(tide_i128 *out, tide_i128 a, tide_i128 b) TIDE_MUST_USE;
tide_status tide_i128_div_trunc(tide_i128 *out, tide_i128 a, tide_i128 b) TIDE_MUST_USE;
/* Computes a * 10^power / b, truncated, with no bound between. TIDE_E_RANGE: b is 0, or the result
 * has more than 127 bits. power is -99 to 99. */
tide_status tide_i128_div_shifted(tide_i128 *out, tide_i128 a, tide_i128 b,
                                  int power) TIDE_MUST_USE;

/* Writes the decimal text, returns its length (<= TIDE_I128_TEXT_MAX). No NUL. */
size_t tide_i128_text(char *out, tide_i128 v);
/* The same for an unsigned 128-bit value given as two halves (39 digits at most). */
size_t tide_u128_text(char *out, uint64_t hi, uint64_t lo);
/* Parses the text above strictly. TIDE_E_DECODE for any other text, TIDE_E_RANGE if the number does
 * not fit. */
tide_status tide_i128_parse(tide_i128 *out, tide_slice text) TIDE_MUST_USE;

#endif
