#include "schema/rule/exact_impl.h"

#define IMPACT_MAX_BPS 100

struct side {
    tide_raw_i128 in, out; /* reserve of the token sold, and of the token bought */
};

static struct side side_of(const struct tide_hot_pool *pool, bool a_to_b)
{
    tide_raw_i128 a = tide_hot_i128(pool->reserve_a), b = tide_hot_i128(pool->reserve_b);
    return a_to_b ? (struct side){ a, b } : (struct side){ b, a };
}

enum tide_refusal tide_rule_spot(tide_raw_i128 *out, const struct tide_hot_pool *pool, bool a_to_b)
{
    enum tide_refusal why = TIDE_REFUSED_NOTHING;
    if (!pool)
        return TIDE_REFUSED_NO_POOL;
    struct side side = side_of(pool, a_to_b);
    *out = exact_mul_div(&why, side.out, RULE_WAD, side.in);
    return why;
}

bool tide_rule_shown(tide_raw_i128 *out, const struct tide_hot_pool *pool, bool a_to_b,
                     uint32_t decimals_a, uint32_t decimals_b)
{
    enum { SHOWN = 7 };
    assert(decimals_a <= TIDE_DECIMALS_MAX && decimals_b <= TIDE_DECIMALS_MAX);
    struct side side = side_of(pool, a_to_b);
    int more = (int)decimals_a - (int)decimals_b; /* if A is the token sold */
    tide_i128 price = { 0 };
    if (tide_i128_div_shifted(&price, (tide_i128){ side.out }, (tide_i128){ side.in },
                              SHOWN + (a_to_b ? more : -more)) != TIDE_OK)
        return false;
    *out = price.raw;
    return true;
}

/* Computes what the contract's quote says. */
static enum tide_refusal quote(tide_raw_i128 *out, const struct tide_hot_pool *pool,
                               tide_raw_i128 amount_in, bool a_to_b)
{
    enum tide_refusal why = TIDE_REFUSED_NOTHING;
    if (!pool)
        return TIDE_REFUSED_NO_POOL;
    struct side side = side_of(pool, a_to_b);
    tide_raw_i128 fee = exact_mul_div(&why, amount_in, tide_hot_i128(pool->fee_tier), RULE_BPS);
    tide_raw_i128 net = exact_sub(&why, amount_in, fee);
    *out = exact_div(&why, exact_mul(&why, side.out, net), exact_add(&why, side.in, net));
    return why;
}

enum tide_refusal tide_rule_swap(struct tide_swap *out, const struct tide_hot_pool *pool,
                                 tide_raw_i128 protocol_fee_bps, tide_raw_i128 amount_in,
                                 bool a_to_b)
{
    *out = (struct tide_swap){ 0 };
    enum tide_refusal why = quote(&out->out, pool, amount_in, a_to_b);
    if (why != TIDE_REFUSED_NOTHING)
        return why;
    out->fee = exact_mul_div(&why, amount_in, tide_hot_i128(pool->fee_tier), RULE_BPS);
    out->protocol_fee = exact_mul_div(&out->trap, out->fee, protocol_fee_bps, RULE_BPS);
    out->impact_bps = exact_mul_div(&out->trap, out->out, RULE_BPS, side_of(pool, a_to_b).out);
    out->paused = pool->paused != 0;
    out->nothing_in = amount_in <= 0;
    out->too_large = out->trap == TIDE_REFUSED_NOTHING && out->impact_bps > IMPACT_MAX_BPS;
    return why;
}

static tide_raw_i128 sum_since(struct tide_hot_amount now, struct tide_hot_amount then)
{
    enum tide_refusal why = TIDE_REFUSED_NOTHING;
    return exact_sub(&why, tide_hot_i128(now), tide_hot_i128(then));
}

void tide_rule_window(struct tide_window *out, const struct tide_hot_pool *pool,
                      const struct tide_hot_trade *trade, const struct tide_hot_tick *start)
{
    static const struct tide_hot_tick none; /* stands for a pool without swaps before the window */
    const struct tide_hot_tick *from = start ? start : &none;
    const struct tide_hot_trade *now = trade ? trade : &none.trade, *then = &from->trade;
    *out = (struct tide_window){ .whole = start != NULL,
                                 .swaps = now->swaps - then->swaps,
                                 .traded_a = sum_since(now->traded_a, then->traded_a),
                                 .traded_b = sum_since(now->traded_b, then->traded_b),
                                 .fees_a = sum_since(now->fees_a, then->fees_a),
                                 .fees_b = sum_since(now->fees_b, then->fees_b) };
    struct tide_hot_pool before = { .reserve_a = from->reserve_a, .reserve_b = from->reserve_b };
    out->then = before;
    out->priced = tide_rule_spot(&out->price_then, &before, true) == TIDE_REFUSED_NOTHING &&
                  tide_rule_spot(&out->price_now, pool, true) == TIDE_REFUSED_NOTHING &&
                  tide_rule_spot(&out->price_b_then, &before, false) == TIDE_REFUSED_NOTHING &&
                  tide_rule_spot(&out->price_b_now, pool, false) == TIDE_REFUSED_NOTHING;
}
