/* The course of the story: who is next, and what is remembered of an answer. */
#include "tools/sim/workload/workload.h"
#include "tidemark/scval.h"
#include "tidemark/xdr.h"

/* clang-format off */
const char *const story_pool_names[STORY_POOLS] = { "XLMUSDC", "SGOLDUSDC", "SBTCUSDC", "STSLAUSDC" };
const uint32_t story_pool_market[STORY_POOLS] = { CAST_MARKETS, 0, 2, 1 };
const char *const story_feed_names[STORY_FEEDS] = { "BTC", "GOLD", "OIL", "TSLA", "USDC", "XLM" };
static const int64_t first_prices[STORY_FEEDS] = { 11013326, 39679865, 6899949, 24737500, 9984005, 4053210 };

typedef void story_action(struct story *story, struct story_call *call);

static const struct {
    story_action *act;
    uint32_t mixed; /* shares of all calls */
    uint32_t swaps;
} actions[] = {
    { story_trade,     300, 2000 },
    { story_liquidity, 80,  20 },
    { story_vault,     220, 20 },
    { story_saving,    80,  5 },
    { story_token,     80,  20 },
    { story_oracle,    22,  2 },
    { story_people,    90,  40 },
    { story_registry,  20,  2 },
    { story_partners,  45,  3 },
    { story_admin,     20,  1 },
    { story_mistake,   20,  1 },
    { story_dao,       100, 5 },
};
/* clang-format on */

enum { PRICE_EVERY_S = 90 };

static void open_users(struct story *story)
{
    for (uint32_t i = 0; i < story->user_count; i++) {
        struct story_user *user = &story->users[i];
        if (i < story->cast->user_count) {
            user->source = CAST_USER + i;
            user->ref = (cast_ref)user->source;
        } else {
            uint32_t wallet = i - story->cast->user_count;
            user->source = cast_owner(story->cast, wallet);
            user->ref = cast_contract(CAST_TOKEN + CAST_MARKETS + wallet);
        }
    }
}

tide_status story_open(struct story *story, const struct cast *cast, uint64_t seed,
                       enum story_profile profile)
{
    *story = (struct story){ .cast = cast, .profile = profile, .random = seed };
    story->user_count = cast->user_count + CAST_WALLETS;
    story->users = calloc(story->user_count, sizeof *story->users);
    story->busy_at = calloc(cast->account_count, sizeof *story->busy_at);
    if (!story->users || !story->busy_at) {
        story_close(story);
        return TIDE_E_MEMORY;
    }
    open_users(story);
    memcpy(story->price, first_prices, sizeof story->price);
    return TIDE_OK;
}

void story_close(struct story *story)
{
    free(story->users);
    free(story->busy_at);
    story->users = NULL;
    story->busy_at = NULL;
}

uint32_t story_pause(struct story *story, uint32_t close_step)
{
    uint32_t luck = story_pick(story, story->profile == STORY_SWAPS ? 8000 : 1400);
    if (luck < 4)
        return 86400 * 7 + story_pick(story, 86400 * 3);
    if (luck < 14)
        return 86400 + story_pick(story, 86400 * 3);
    if (luck < 40)
        return 300 + story_pick(story, 7200);
    return close_step;
}

void story_ledger(struct story *story, uint32_t ledger, uint64_t now)
{
    story->ledger = ledger;
    story->now = now;
    story->calm = false;
    if (now - story->priced_at >= PRICE_EVERY_S && story->round == 0) {
        story_move_prices(story);
        story->priced_at = now;
        story->round = 4;
    }
}

static bool heal_due(const struct story *story)
{
    for (uint32_t i = 0; i < story->heal_count; i++) {
        if (story->heals[i].due <= story->ledger)
            return true;
    }
    return false;
}

/* Somebody came: the first verifiers and the signers are as a stranger would expect them. */
static void set_in_order(struct story *story)
{
    for (uint32_t i = 0; i + 1 < CAST_VERIFIERS; i++)
        story_heal_later(story, HEAL_VERIFIER, CAST_VERIFIER + i, 0);
    for (uint32_t i = 0; i < CAST_SIGNERS; i++)
        story_heal_later(story, HEAL_SIGNER, i, 1);
}

void story_keep_calm(struct story *story, bool wait)
{
    if (story->calm_until <= story->ledger)
        story->calm_until = story->ledger + 1;
    for (uint32_t i = 0; i < story->heal_count; i++)
        story->heals[i].due = story->ledger + wait;
    if (story->company_at + 1 != story->ledger)
        set_in_order(story);
    story->company_at = story->ledger;
    story->calm = !wait;
}

bool story_urgent(const struct story *story)
{
    return story->round > 0 || (story->calm && heal_due(story));
}

static story_action *choose(struct story *story)
{
    uint32_t total = 0;
    for (size_t i = 0; i < TIDE_COUNT(actions); i++)
        total += story->profile == STORY_SWAPS ? actions[i].swaps : actions[i].mixed;
    uint32_t luck = story_pick(story, total);
    for (size_t i = 0;; i++) {
        uint32_t share = story->profile == STORY_SWAPS ? actions[i].swaps : actions[i].mixed;
        if (luck < share)
            return actions[i].act;
        luck -= share;
    }
}

void story_next(struct story *story, struct story_call *call)
{
    if (story->round > 0)
        story_prices(story, call);
    else if (heal_due(story))
        story_heal_now(story, call);
    else
        choose(story)(story, call);
    story->busy_at[call->source] = story->ledger;
}

/* The low half of an i128, or a u64 or u32: what the story counts with. 0 for anything else. */
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

/* One or two numbers. */
static void read_answer(tide_slice answer, int64_t out[2])
{
    struct tide_xdr x = tide_xdr_of(answer);
    out[0] = out[1] = 0;
    if (tide_scval_type_of(answer) != TIDE_SCV_VEC) {
        out[0] = number_of(&x);
        return;
    }
    tide_xdr_skip(&x, 12);
    out[0] = number_of(&x);
    out[1] = number_of(&x);
}

static void told_pool(struct story *story, const struct story_call *call, const int64_t answer[2])
{
    struct story_pool *pool = &story->pools[call->what];
    struct story_user *user = &story->users[call->who];
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

static void told_vault(struct story *story, const struct story_call *call)
{
    struct story_user *user = &story->users[call->who];
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
        struct story_user *owner = &story->users[call->other];
        int64_t paid = call->amount < owner->debt[m] ? call->amount : owner->debt[m];
        user->synth[m] -= paid;
        owner->debt[m] -= paid;
        owner->collateral[m] /= 2; /* nobody told how much was seized */
        owner->vault[m] = owner->debt[m] > 0;
    }
}

static void told_proposal(struct story *story, uint64_t id)
{
    uint32_t slot = story->proposal_count++ % STORY_PROPOSALS;
    story->proposals[slot] = (struct story_proposal){ .id = id, .made_at = story->now };
}

static void told_attestation(struct story_user *user, const struct story_call *call)
{
    user->attested = true;
    user->until = call->amount;
}

static void told_other(struct story *story, const struct story_call *call, const int64_t answer[2])
{
    struct story_user *user = &story->users[call->who];
    if (call->note == NOTE_SAVE)
        user->saved += call->amount;
    else if (call->note == NOTE_UNSAVE)
        user->saved -= answer[0];
    else if (call->note == NOTE_ATTEST)
        told_attestation(user, call);
    else if (call->note == NOTE_SUBMIT_TX)
        story->msig_tx = (uint64_t)answer[0] + 1;
    else if (call->note == NOTE_PARTNER)
        story->partner_count = (uint32_t)answer[0] + 1;
}

void story_told(struct story *story, const struct story_call *call, bool passed, tide_slice answer)
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
        told_pool(story, call, numbers);
        break;
    case NOTE_OPEN:
    case NOTE_DEPOSIT:
    case NOTE_MINT:
    case NOTE_BURN:
    case NOTE_WITHDRAW:
    case NOTE_LIQUIDATE:
        told_vault(story, call);
        break;
    case NOTE_PAY:
        story->users[call->who].synth[call->what] -= call->amount;
        story->users[call->other].synth[call->what] += call->amount;
        break;
    case NOTE_PROPOSE:
        told_proposal(story, (uint64_t)numbers[0]);
        if (call->flag)
            story->msig_tx = (uint64_t)numbers[1] + 1;
        break;
    case NOTE_NOTHING:
    case NOTE_SAVE:
    case NOTE_UNSAVE:
    case NOTE_ATTEST:
    case NOTE_SUBMIT_TX:
    case NOTE_PARTNER:
        told_other(story, call, numbers);
        break;
    }
}
