/* Choosing the next call of the workload, and recording the outcome of each call. */
#include "tools/sim/workload/workload.h"
#include "tidemark/scval.h"
#include "tidemark/xdr.h"

/* clang-format off */
typedef void workload_action(struct workload *workload, struct workload_call *call);

/* Families of calls with their weights in each profile. */
static const struct {
    workload_action *act;
    uint32_t weights[WORKLOAD_SHOWCASE + 1];
} actions[] = {
    { workload_trade,     { 300, 2000, 420 } },
    { workload_liquidity, { 80,  20,   60 } },
    { workload_vault,     { 220, 20,   180 } },
    { workload_saving,    { 80,  5,    60 } },
    { workload_token,     { 80,  20,   60 } },
    { workload_oracle,    { 22,  2,    0 } }, /* after a pause, update_twap is far off the price */
    { workload_people,    { 90,  40,   70 } },
    { workload_registry,  { 20,  2,    4 } },
    { workload_partners,  { 45,  3,    40 } },
    { workload_admin,     { 20,  1,    2 } },
    { workload_mistake,   { 20,  1,    0 } },
    { workload_dao,       { 100, 5,    30 } },
};
/* clang-format on */

enum { PRICE_EVERY_S = 90 }; /* seconds between rounds of prices */

/* Users send their own calls. A wallet contract's calls are sent by its owner. */
static void open_users(struct workload *workload)
{
    for (uint32_t i = 0; i < workload->user_count; i++) {
        struct workload_user *user = &workload->users[i];
        if (i < workload->parties->user_count) {
            user->source = PARTY_USER + i;
            user->ref = (party_ref)user->source;
        } else {
            uint32_t wallet = i - workload->parties->user_count;
            user->source = parties_owner(workload->parties, wallet);
            user->ref = parties_contract(PARTY_TOKEN + PARTY_MARKETS + wallet);
        }
    }
}

tide_status workload_open(struct workload *workload, const struct parties *parties, uint64_t seed,
                          enum workload_profile profile, uint32_t founders)
{
    *workload = (struct workload){
        .parties = parties, .profile = profile, .random = seed, .founders = founders
    };
    workload->user_count = parties->user_count + PARTY_WALLETS;
    workload->users = calloc(workload->user_count, sizeof *workload->users);
    workload->busy_at = calloc(parties->account_count, sizeof *workload->busy_at);
    if (!workload->users || !workload->busy_at) {
        workload_close(workload);
        return TIDE_E_MEMORY;
    }
    open_users(workload);
    for (uint32_t i = 0; i < WORKLOAD_FEEDS; i++)
        workload->price[i] = workload_home_price(workload, i);
    /* XLM falls in the first hours of a showcase, so that some vaults are liquidated. */
    if (profile == WORKLOAD_SHOWCASE)
        workload->price[FEED_XLM] += workload->price[FEED_XLM] * 3 / 10;
    return TIDE_OK;
}

void workload_close(struct workload *workload)
{
    free(workload->users);
    free(workload->busy_at);
    workload->users = NULL;
    workload->busy_at = NULL;
}

/* Pauses of days let epochs of revenue end, attestations expire and prices become stale. */
uint32_t workload_pause(struct workload *workload, uint32_t close_step)
{
    if (workload->profile == WORKLOAD_SHOWCASE)
        return workload->even || !workload_once_in(workload, 30)
                   ? close_step
                   : 7200 + workload_pick(workload, 28800);
    uint32_t luck = workload_pick(workload, workload->profile == WORKLOAD_SWAPS ? 8000 : 1400);
    if (luck < 4)
        return 86400 * 7 + workload_pick(workload, 86400 * 3);
    if (luck < 14)
        return 86400 + workload_pick(workload, 86400 * 3);
    if (luck < 40)
        return 300 + workload_pick(workload, 7200);
    return close_step;
}

/* Four of five providers send prices in a round. */
void workload_ledger(struct workload *workload, uint32_t ledger, uint64_t now)
{
    workload->ledger = ledger;
    workload->now = now;
    workload->calm = false;
    if (now - workload->priced_at >= PRICE_EVERY_S && workload->round == 0) {
        workload_move_prices(workload);
        workload->priced_at = now;
        workload->round = 4;
    }
}

/* Returns true if a heal is due in this ledger. */
static bool heal_due(const struct workload *workload)
{
    for (uint32_t i = 0; i < workload->heal_count; i++) {
        if (workload->heals[i].due <= workload->ledger)
            return true;
    }
    return false;
}

/* Schedules heals that restore the first verifiers and the signers, which a client that has just
 * come expects. */
static void restore_roles(struct workload *workload)
{
    for (uint32_t i = 0; i + 1 < PARTY_VERIFIERS; i++)
        workload_heal_later(workload, HEAL_VERIFIER, PARTY_VERIFIER + i, 0);
    for (uint32_t i = 0; i < PARTY_SIGNERS; i++)
        workload_heal_later(workload, HEAL_SIGNER, i, 1);
}

void workload_keep_calm(struct workload *workload, bool wait)
{
    if (workload->calm_until <= workload->ledger)
        workload->calm_until = workload->ledger + 1;
    for (uint32_t i = 0; i < workload->heal_count; i++)
        workload->heals[i].due = workload->ledger + wait;
    /* Clients were not active in the ledger before: they have just come. */
    if (workload->clients_at + 1 != workload->ledger)
        restore_roles(workload);
    workload->clients_at = workload->ledger;
    workload->calm = !wait;
}

bool workload_urgent(const struct workload *workload)
{
    return workload->round > 0 || (workload->calm && heal_due(workload));
}

/* Chooses a family of calls by its weight. */
static workload_action *choose_action(struct workload *workload)
{
    uint32_t total = 0;
    for (size_t i = 0; i < TIDE_COUNT(actions); i++)
        total += actions[i].weights[workload->profile];
    uint32_t luck = workload_pick(workload, total);
    for (size_t i = 0;; i++) {
        assert(i < TIDE_COUNT(actions) && "luck is less than the sum of the weights");
        uint32_t share = actions[i].weights[workload->profile];
        if (luck < share)
            return actions[i].act;
        luck -= share;
    }
}

/* Prices come first: other calls would fail on stale ones. Due heals come next. */
void workload_next(struct workload *workload, struct workload_call *call)
{
    if (workload->round > 0)
        workload_prices(workload, call);
    else if (heal_due(workload))
        workload_heal_now(workload, call);
    else
        choose_action(workload)(workload, call);
    assert(call->source < workload->parties->account_count && call->contract < PARTY_CONTRACTS);
    workload->busy_at[call->source] = workload->ledger;
}

/* Reads the low half of an i128, or a u64 or u32; the workload's amounts fit. Returns 0 for another
 * type. */
static int64_t number_of(struct tide_xdr *x)
{
    uint32_t type = tide_xdr_u32(x);
    if (type == TIDE_SCV_I128) {
        tide_xdr_u64(x);
        return tide_xdr_i64(x);
    }
    if (type == TIDE_SCV_U64)
        return tide_xdr_i64(x);
    return type == TIDE_SCV_U32 ? (int64_t)tide_xdr_u32(x) : 0;
}

/* Reads an answer of one number, or of a Vec with two numbers. */
static void read_answer(tide_slice answer, int64_t out[2])
{
    struct tide_xdr x = tide_xdr_of(answer);
    out[0] = out[1] = 0;
    if (tide_scval_type_of(answer) != TIDE_SCV_VEC) {
        out[0] = number_of(&x);
        return;
    }
    tide_xdr_skip(&x, 12); /* Vec: type, present, length */
    out[0] = number_of(&x);
    out[1] = number_of(&x);
}

/* Records a pool's new reserves, and the provider's shares. */
static void record_pool(struct workload *workload, const struct workload_call *call,
                        const int64_t answer[2])
{
    assert(call->what < WORKLOAD_POOLS && call->party < workload->user_count);
    struct workload_pool *pool = &workload->pools[call->what];
    struct workload_user *user = &workload->users[call->party];
    int64_t sign = call->note == NOTE_ADD ? 1 : -1;
    if (call->note == NOTE_POOL_MADE) {
        pool->made = true;
    } else if (call->note == NOTE_SWAP) {
        pool->a += call->flag ? call->amount : -answer[0];
        pool->b += call->flag ? -answer[0] : call->amount;
    } else {
        pool->a += sign * (call->note == NOTE_ADD ? call->amount : answer[0]);
        pool->b += sign * (call->note == NOTE_ADD ? call->other : answer[1]);
        user->shares[call->what] += call->note == NOTE_ADD ? answer[0] : -call->amount;
    }
}

/* Records a vault's new collateral and debt, and the tokens minted or burnt. */
static void record_vault(struct workload *workload, const struct workload_call *call)
{
    assert(call->what < PARTY_MARKETS && call->party < workload->user_count);
    struct workload_user *user = &workload->users[call->party];
    uint32_t m = call->what;
    if (call->note == NOTE_OPEN) {
        user->vault[m] = true;
        user->collateral[m] = call->amount;
    } else if (call->note == NOTE_DEPOSIT || call->note == NOTE_WITHDRAW) {
        user->collateral[m] += call->note == NOTE_DEPOSIT ? call->amount : -call->amount;
    } else if (call->note == NOTE_MINT) {
        user->debt[m] += call->amount;
        user->synth[m] += call->amount;
    } else if (call->note == NOTE_BURN) {
        int64_t paid = call->amount < user->debt[m] ? call->amount : user->debt[m];
        user->debt[m] -= paid;
        user->synth[m] -= paid;
    } else if (call->note == NOTE_LIQUIDATE) {
        assert(call->other >= 0 && call->other < (int64_t)workload->user_count);
        struct workload_user *owner = &workload->users[call->other];
        int64_t paid = call->amount < owner->debt[m] ? call->amount : owner->debt[m];
        user->synth[m] -= paid;
        owner->debt[m] -= paid;
        /* the award is not in the answer, so half of the collateral is a guess */
        owner->collateral[m] /= 2;
        owner->vault[m] = owner->debt[m] > 0;
    }
}

/* Records a new proposal over the oldest one. */
static void record_proposal(struct workload *workload, uint64_t id, uint32_t proposer)
{
    uint32_t slot = workload->proposal_count++ % WORKLOAD_PROPOSALS;
    workload->proposals[slot] =
        (struct workload_proposal){ .id = id, .proposer = proposer, .made_at = workload->now };
}

static void record_attestation(struct workload_user *user, const struct workload_call *call)
{
    user->attested = true;
    user->until = call->amount;
}

/* Records the remaining kinds of notes. */
static void record_other(struct workload *workload, const struct workload_call *call,
                         const int64_t answer[2])
{
    struct workload_user *user = &workload->users[call->party];
    if (call->note == NOTE_SAVE)
        user->saved += call->amount;
    else if (call->note == NOTE_UNSAVE)
        user->saved -= answer[0];
    else if (call->note == NOTE_ATTEST)
        record_attestation(user, call);
    else if (call->note == NOTE_SUBMIT_TX)
        workload->msig_tx = (uint64_t)answer[0] + 1;
    else if (call->note == NOTE_PARTNER)
        workload->partner_count = (uint32_t)answer[0] + 1;
}

void workload_outcome(struct workload *workload, const struct workload_call *call, bool passed,
                      tide_slice answer)
{
    int64_t numbers[2];
    if (!passed || call->note == NOTE_NOTHING)
        return;
    read_answer(answer, numbers);
    switch (call->note) {
    case NOTE_SWAP:
    case NOTE_ADD:
    case NOTE_REMOVE:
    case NOTE_POOL_MADE:
        record_pool(workload, call, numbers);
        break;
    case NOTE_OPEN:
    case NOTE_DEPOSIT:
    case NOTE_MINT:
    case NOTE_BURN:
    case NOTE_WITHDRAW:
    case NOTE_LIQUIDATE:
        record_vault(workload, call);
        break;
    case NOTE_PAY:
        assert(call->what < PARTY_MARKETS && call->party < workload->user_count);
        assert(call->other >= 0 && call->other < (int64_t)workload->user_count);
        workload->users[call->party].synth[call->what] -= call->amount;
        workload->users[call->other].synth[call->what] += call->amount;
        break;
    case NOTE_PROPOSE:
        record_proposal(workload, (uint64_t)numbers[0], call->source);
        if (call->flag)
            workload->msig_tx = (uint64_t)numbers[1] + 1;
        break;
    case NOTE_NOTHING:
    case NOTE_SAVE:
    case NOTE_UNSAVE:
    case NOTE_ATTEST:
    case NOTE_SUBMIT_TX:
    case NOTE_PARTNER:
        record_other(workload, call, numbers);
        break;
    }
}
