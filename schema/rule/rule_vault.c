#include "schema/rule/exact_impl.h"

/* Computes the ratio of a vault that exists and has debt. Reads the collateral's price first, as
 * the contract does. */
static enum tide_refusal priced_ratio(tide_raw_i128 *bps, const struct tide_vault_inputs *in,
                                      uint64_t now)
{
    tide_raw_i128 collateral_price = 0, synth_price = 0;
    if (!in->market || !in->market->listed)
        return TIDE_REFUSED_NO_MARKET;
    enum tide_refusal why = tide_rule_twap(&collateral_price, in->collateral, now);
    if (why == TIDE_REFUSED_NOTHING)
        why = tide_rule_twap(&synth_price, in->synth, now);
    if (why != TIDE_REFUSED_NOTHING)
        return why;
    tide_raw_i128 have =
        exact_mul_div(&why, tide_hot_i128(in->vault->collateral), collateral_price, RULE_WAD);
    tide_raw_i128 scaled = exact_mul(&why, have, RULE_BPS);
    tide_raw_i128 owed = exact_mul_div(&why, tide_hot_i128(in->vault->debt), synth_price, RULE_WAD);
    *bps = exact_div(&why, scaled, owed);
    return why;
}

enum tide_refusal tide_rule_ratio(tide_raw_i128 *bps, const struct tide_vault_inputs *in,
                                  uint64_t now)
{
    if (!in->vault)
        return TIDE_REFUSED_NO_VAULT;
    if (tide_hot_i128(in->vault->debt) != 0)
        return priced_ratio(bps, in, now);
    *bps = tide_rule_infinite();
    return TIDE_REFUSED_NOTHING;
}

enum tide_refusal tide_rule_liquidatable(bool *out, const struct tide_vault_inputs *in,
                                         uint64_t now)
{
    tide_raw_i128 ratio;
    *out = false;
    if (!in->vault || tide_hot_i128(in->vault->debt) == 0)
        return TIDE_REFUSED_NOTHING;
    enum tide_refusal why = priced_ratio(&ratio, in, now);
    if (why == TIDE_REFUSED_NOTHING)
        *out = ratio < tide_hot_i128(in->market->liq_ratio);
    return why;
}
