/* Arithmetic of the contracts: checked i128, division truncates. *why keeps the first failure;
 * later results then mean nothing. */
#ifndef SCHEMA_RULE_EXACT_IMPL_H
#define SCHEMA_RULE_EXACT_IMPL_H

#include "tidemark/rule.h"

static inline tide_raw_i128 exact_take(enum tide_refusal *why, tide_status status, tide_i128 v,
                                       bool by_zero)
{
    if (status != TIDE_OK && *why == TIDE_REFUSED_NOTHING)
        *why = by_zero ? TIDE_REFUSED_DIVIDED_BY_ZERO : TIDE_REFUSED_OVERFLOW;
    return v.raw;
}

static inline tide_raw_i128 exact_add(enum tide_refusal *why, tide_raw_i128 a, tide_raw_i128 b)
{
    tide_i128 out = { 0 };
    tide_status status = tide_i128_add(&out, (tide_i128){ a }, (tide_i128){ b });
    return exact_take(why, status, out, false);
}

static inline tide_raw_i128 exact_sub(enum tide_refusal *why, tide_raw_i128 a, tide_raw_i128 b)
{
    tide_i128 out = { 0 };
    tide_status status = tide_i128_sub(&out, (tide_i128){ a }, (tide_i128){ b });
    return exact_take(why, status, out, false);
}

static inline tide_raw_i128 exact_mul(enum tide_refusal *why, tide_raw_i128 a, tide_raw_i128 b)
{
    tide_i128 out = { 0 };
    tide_status status = tide_i128_mul(&out, (tide_i128){ a }, (tide_i128){ b });
    return exact_take(why, status, out, false);
}

static inline tide_raw_i128 exact_div(enum tide_refusal *why, tide_raw_i128 a, tide_raw_i128 b)
{
    tide_i128 out = { 0 };
    tide_status status = tide_i128_div_trunc(&out, (tide_i128){ a }, (tide_i128){ b });
    return exact_take(why, status, out, b == 0);
}

/* Returns a * b / c, computed from left to right. */
static inline tide_raw_i128 exact_mul_div(enum tide_refusal *why, tide_raw_i128 a, tide_raw_i128 b,
                                          tide_raw_i128 c)
{
    return exact_div(why, exact_mul(why, a, b), c);
}

#define RULE_WAD ((tide_raw_i128)10000000)
#define RULE_BPS ((tide_raw_i128)10000)
#define RULE_ONE ((tide_raw_i128)1000000000000)

#endif
