#include "schema/rule/exact.h"

#define SHARE_DEFAULT_BPS 5000
#define STAKERS_BPS       3500

enum tide_refusal tide_rule_compounded(tide_raw_i128 *out, const struct tide_stability *state,
                                       const struct tide_saving *saving)
{
    enum tide_refusal why = TIDE_REFUSED_NOTHING;
    *out = 0;
    if (!saving)
        return why;
    if (!state)
        return TIDE_REFUSED_NOT_STARTED;
    if (saving->epoch != state->epoch)
        return why;
    tide_raw_i128 then = saving->p_value > 1 ? saving->p_value : 1;
    tide_raw_i128 ratio = exact_mul_div(&why, state->p, RULE_ONE, then);
    *out = exact_mul_div(&why, saving->initial_value, ratio, RULE_ONE);
    return why;
}

enum tide_refusal tide_rule_gain(tide_raw_i128 *out, const struct tide_stability *state,
                                 const struct tide_saving *saving)
{
    enum tide_refusal why = TIDE_REFUSED_NOTHING;
    *out = 0;
    if (!saving)
        return why;
    if (!state)
        return TIDE_REFUSED_NOT_STARTED;
    if (saving->initial_value == 0)
        return why;
    tide_raw_i128 grown = exact_sub(&why, state->sum_coll, saving->sum_coll);
    *out = exact_mul_div(&why, saving->initial_value, grown, RULE_ONE);
    return why;
}

tide_raw_i128 tide_rule_partner_share(const struct tide_hot_partner *partner)
{
    tide_raw_i128 share = partner && partner->active ? tide_hot_i128(partner->revenue_share) : 0;
    return share > 0 ? share : SHARE_DEFAULT_BPS;
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

enum tide_proposal_state tide_rule_proposal(const struct tide_ballot *ballot, uint32_t threshold,
                                            uint64_t now)
{
    bool open = ballot->stored == TIDE_PROPOSAL_ACTIVE || ballot->stored == TIDE_PROPOSAL_PASSED;
    bool carried = threshold > 0 && ballot->yes_votes >= (tide_raw_i128)threshold;
    return open && carried && now >= ballot->execute_after ? TIDE_PROPOSAL_EXECUTABLE
                                                           : ballot->stored;
}

const char *tide_proposal_state_name(enum tide_proposal_state state)
{
    static const char *const names[] = { "active",   "passed",    "executable",
                                         "executed", "cancelled", "failed" };
    return names[state];
}
