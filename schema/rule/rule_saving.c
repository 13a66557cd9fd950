#include "schema/rule/exact_impl.h"

#define STAKERS_BPS 3500

enum tide_refusal tide_rule_compounded(tide_raw_i128 *out, const struct tide_stability *state,
                                       const struct tide_saving *saving)
{
    enum tide_refusal why = TIDE_REFUSED_NOTHING;
    *out = 0;
    if (!state)
        return TIDE_REFUSED_NOT_STARTED;
    if (!saving)
        return why;
    if (saving->epoch != state->epoch)
        return why;
    tide_raw_i128 then = saving->p_value > 1 ? saving->p_value : 1;
    tide_raw_i128 ratio = exact_mul_div(&why, state->p, RULE_ONE, then);
    *out = exact_mul_div(&why, saving->initial_value, ratio, RULE_ONE);
    return why;
}

enum tide_refusal tide_rule_epoch_share(tide_raw_i128 *out, const struct tide_epoch *epoch,
                                        tide_raw_i128 deposit, bool claimed)
{
    enum tide_refusal why = TIDE_REFUSED_NOTHING;
    *out = 0;
    if (!epoch || claimed || !epoch->finalized || epoch->staker_snapshot == 0 || deposit <= 0)
        return why;
    tide_raw_i128 part = exact_mul(&why, STAKERS_BPS, epoch->protocol_revenue);
    tide_raw_i128 whole = exact_mul(&why, epoch->staker_snapshot, RULE_BPS);
    tide_raw_i128 share = exact_div(&why, exact_mul(&why, part, deposit), whole);
    *out = share > 0 ? share : 0;
    return why;
}
