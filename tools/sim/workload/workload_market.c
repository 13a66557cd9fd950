/* Trading, liquidity, vaults, savings, tokens: what users do with money. */
#include "tidemark/i128.h"
#include "tools/sim/workload/workload.h"

static int64_t share_of(struct story *story, int64_t whole, int64_t low_bps, int64_t high_bps)
{
    return whole / 10000 * story_between(story, low_bps, high_bps) + story_between(story, 0, 99);
}

static uint32_t pick_pool(struct story *story)
{
    uint32_t pool = story_pick(story, STORY_POOLS);
    return story->pools[pool].made && story->pools[pool].a > 0 ? pool : POOL_XLM;
}

/* What token a of the pool is worth in the pool's other token, 7 decimals. */
static int64_t fair_price(const struct story *story, uint32_t pool)
{
    static const uint32_t feeds[STORY_POOLS] = { FEED_XLM, FEED_GOLD, FEED_BTC, FEED_TSLA };
    return story->price[feeds[pool]];
}

/* Mostly toward the fair price, so that pools hover about it. */
static bool sells_a(struct story *story, uint32_t pool)
{
    const struct story_pool *p = &story->pools[pool];
    int64_t spot = p->a > 1000 ? (int64_t)((tide_raw_i128)p->b * 10000000 / p->a) : 0;
    bool toward = spot > fair_price(story, pool);
    return story_pick(story, 100) < 72 ? toward : !toward;
}

void story_trade(struct story *story, struct story_call *call)
{
    uint32_t at = story_free_user(story);
    const struct story_user *user = &story->users[at];
    uint32_t pool = pick_pool(story);
    const struct story_pool *p = &story->pools[pool];
    bool a_to_b = sells_a(story, pool);
    int64_t most = story->profile == STORY_SWAPS ? 8 : 60;
    int64_t in = share_of(story, a_to_b ? p->a : p->b, 1, most);
    if (story_once_in(story, 25))
        in *= most == 60 ? 3 : 40; /* often beyond what one swap may move */
    if (story_once_in(story, 120))
        in = story_between(story, -1, 9); /* nothing, less, or dust */
    if (a_to_b && pool != POOL_XLM && user->synth[story_pool_market[pool]] < in &&
        !story_once_in(story, 12)) {
        a_to_b = false;
        in = share_of(story, p->b, 1, most);
    }
    int64_t least = story_once_in(story, 30) ? in * 9 : 0;
    int partner = story_once_in(story, 3) ? (int)story_pick(story, 4) : 0;
    if (story_once_in(story, 200))
        partner = 9;
    story_begin(call, user->source, CAST_POOL, "swap_exact_in");
    story_args(story, call, "asbiiu", user->ref, story_pool_names[pool], a_to_b, (long long)in,
               (long long)least, partner);
    call->auth = user->ref;
    call->note = NOTE_SWAP;
    call->who = at;
    call->what = pool;
    call->flag = a_to_b;
    call->amount = in;
}

static void add_liquidity(struct story *story, struct story_call *call, uint32_t at, uint32_t pool)
{
    const struct story_user *user = &story->users[at];
    const struct story_pool *p = &story->pools[pool];
    int64_t a = share_of(story, p->a, 20, 400), b = a;
    if (p->a == 0) {
        a = 50000000;
        b = fair_price(story, pool) * 5;
    } else {
        b = (int64_t)((tide_raw_i128)a * p->b / p->a) + story_between(story, 0, 5);
    }
    uint32_t market = story_pool_market[pool];
    if (market < CAST_MARKETS && user->synth[market] > 0 && user->synth[market] < a && p->a > 0) {
        a = user->synth[market] / 2 + 1;
        b = (int64_t)((tide_raw_i128)a * p->b / p->a);
    }
    story_begin(call, user->source, CAST_POOL, "add_liquidity");
    story_args(story, call, "asiii", user->ref, story_pool_names[pool], (long long)a, (long long)b,
               story_once_in(story, 25) ? (long long)a * 9 : 0LL);
    call->note = NOTE_ADD;
    call->amount = a;
    call->other = b;
}

void story_liquidity(struct story *story, struct story_call *call)
{
    uint32_t at = story_free_user(story);
    struct story_user *user = &story->users[at];
    uint32_t pool = pick_pool(story);
    uint32_t luck = story_pick(story, 10);
    /* its pool comes by proposal: somebody tries now and then whether it is there */
    if (story->pools[POOL_TSLA].a == 0 && user->synth[1] > 100000000 && story_once_in(story, 3)) {
        pool = POOL_TSLA;
        luck = 0;
    }
    if (luck < 4) {
        add_liquidity(story, call, at, pool);
    } else if (luck < 7) {
        int64_t shares = user->shares[pool] / (int64_t)(1 + story_pick(story, 3));
        if (shares <= 0)
            shares = story_between(story, 0, 1000);
        story_begin(call, user->source, CAST_POOL, "remove_liquidity");
        story_args(story, call, "asiii", user->ref, story_pool_names[pool], (long long)shares,
                   story_once_in(story, 20) ? (long long)shares * 99 : 0LL, 0LL);
        call->note = NOTE_REMOVE;
        call->amount = shares;
    } else {
        story_begin(call, user->source, CAST_POOL, "claim_fees");
        story_args(story, call, "as", user->ref, story_pool_names[pool]);
    }
    call->auth = user->ref;
    call->who = at;
    call->what = pool;
}

/* How much of a synth this collateral (XLM) carries at the given ratio, in basis points. */
static int64_t mintable(const struct story *story, int64_t collateral, uint32_t market,
                        int64_t ratio)
{
    static const uint32_t feeds[CAST_MARKETS] = { FEED_GOLD, FEED_TSLA, FEED_BTC, FEED_OIL };
    tide_raw_i128 worth = (tide_raw_i128)collateral * story->price[FEED_XLM];
    return (int64_t)(worth * 10000 / ratio / story->price[feeds[market]]);
}

static void open_vault(struct story *story, struct story_call *call, uint32_t at, uint32_t market)
{
    const struct story_user *user = &story->users[at];
    uint32_t coll = story_once_in(story, 8) ? CAST_USDC : CAST_XLM;
    if (story_once_in(story, 40))
        coll = CAST_TOKEN;
    int64_t amount = story_between(story, 1000, 60000) * 10000000;
    story_begin(call, user->source, CAST_ENGINE, "open_vault");
    story_args(story, call, "asai", user->ref, cast_markets[market].symbol, cast_contract(coll),
               (long long)amount);
    call->note = NOTE_OPEN;
    call->amount = amount;
}

/* The market is call->what. */
static void vault_amount(struct story *story, struct story_call *call, uint32_t at, const char *fn,
                         int64_t amount)
{
    const struct story_user *user = &story->users[at];
    uint32_t market = call->what;
    story_begin(call, user->source, CAST_ENGINE, fn);
    story_args(story, call, "asi", user->ref, cast_markets[market].symbol, (long long)amount);
    call->amount = amount;
}

static void liquidate(struct story *story, struct story_call *call, uint32_t at, uint32_t market)
{
    const struct story_user *user = &story->users[at];
    if (user->synth[market] <= 0)
        user = &story->users[at = 0];
    uint32_t owner = story_pick(story, story->user_count);
    int64_t worst = 0;
    for (uint32_t tries = 0; tries < 24; tries++) {
        uint32_t other = story_pick(story, story->user_count);
        const struct story_user *o = &story->users[other];
        int64_t carried = mintable(story, o->collateral[market] + 1, market, 10000);
        int64_t strain = o->debt[market] > 0 ? o->debt[market] * 100 / (carried + 1) : 0;
        if (strain > worst) {
            worst = strain;
            owner = other;
        }
    }
    int64_t offer =
        story_once_in(story, 3) ? story->users[owner].debt[market] / 2 + 1 : (int64_t)1000000000000;
    story_begin(call, user->source, CAST_ENGINE, "liquidate");
    story_args(story, call, "aasi", user->ref, story->users[owner].ref, cast_markets[market].symbol,
               (long long)offer);
    call->note = NOTE_LIQUIDATE;
    call->who = at;
    call->other = owner;
    call->amount = offer;
}

/* Minimum ratios that the markets were founded with, in basis points. */
static const int64_t least_ratio[CAST_MARKETS] = { 15000, 17500, 13000, 20000 };

static void use_vault(struct story *story, struct story_call *call, uint32_t at, uint32_t market)
{
    const struct story_user *user = &story->users[at];
    uint32_t luck = story_pick(story, 16);
    uint32_t keep = market;
    if (luck >= 6 && luck < 9 && user->debt[market] == 0 && !story_once_in(story, 6))
        luck = 0;
    call->what = market;
    if (luck < 6) {
        int64_t least = least_ratio[market];
        int64_t most = story_once_in(story, 2) ? least * 11 / 10 : least * 2;
        int64_t carried = mintable(story, user->collateral[market], market,
                                   story_between(story, least - 50, most));
        int64_t room = carried - user->debt[market];
        if (room <= 0 && !story_once_in(story, 25)) {
            vault_amount(story, call, at, "deposit_collateral", user->collateral[market] / 8 + 1);
            call->note = NOTE_DEPOSIT;
        } else {
            vault_amount(story, call, at, "mint_synth", room > 0 ? room : 1000000);
            call->note = NOTE_MINT;
        }
    } else if (luck < 9) {
        vault_amount(story, call, at, "burn_synth",
                     story_once_in(story, 4) ? (int64_t)1 << 50
                                             : share_of(story, user->debt[market], 500, 9000));
        call->note = NOTE_BURN;
    } else if (luck < 12) {
        vault_amount(story, call, at, "deposit_collateral",
                     story_between(story, 10, 5000) * 10000000);
        call->note = NOTE_DEPOSIT;
    } else if (luck < 14) {
        vault_amount(story, call, at, "withdraw_collateral",
                     share_of(story, user->collateral[market], 100, 4000));
        call->note = NOTE_WITHDRAW;
    } else {
        liquidate(story, call, at, market);
        at = call->who;
    }
    call->what = keep;
    call->who = at;
}

void story_vault(struct story *story, struct story_call *call)
{
    uint32_t at = story_free_user(story);
    const struct story_user *user = &story->users[at];
    uint32_t market = story_pick(story, CAST_MARKETS);
    if (market == CAST_MARKETS - 1 && !story_once_in(story, 3))
        market = 0;
    if (!user->vault[market] && !story_once_in(story, 5)) {
        open_vault(story, call, at, market);
    } else {
        use_vault(story, call, at, market);
        at = call->who;
    }
    call->auth = story->users[at].ref;
    call->who = at;
    call->what = market;
}

void story_saving(struct story *story, struct story_call *call)
{
    uint32_t at = story_free_user(story);
    const struct story_user *user = &story->users[at];
    uint32_t luck = story_pick(story, 20);
    int64_t amount = story_between(story, 1, 9000) * 10000000;
    if (luck < 8) {
        story_begin(call, user->source, CAST_STABILITY, "deposit");
        story_args(story, call, "ai", user->ref, (long long)amount);
        call->note = NOTE_SAVE;
    } else if (luck < 12) {
        amount = user->saved > 0 ? share_of(story, user->saved, 500, 12000) : amount;
        story_begin(call, user->source, CAST_STABILITY, "withdraw");
        story_args(story, call, "ai", user->ref, (long long)amount);
        call->note = NOTE_UNSAVE;
    } else if (luck < 17) {
        story_begin(call, user->source, CAST_STABILITY, "claim_gains");
        story_args(story, call, "a", user->ref);
    } else {
        /* the engine never calls it; whoever holds its authority may */
        story_begin(call, CAST_ADMIN, CAST_STABILITY, "absorb_liquidation");
        story_args(story, call, "aiia", cast_contract(CAST_ENGINE), (long long)amount / 20,
                   (long long)amount / 100, cast_contract(CAST_XLM));
        call->auth = cast_contract(CAST_ENGINE);
        return;
    }
    call->auth = user->ref;
    call->who = at;
    call->amount = amount;
}

static void pay_synth(struct story *story, struct story_call *call, uint32_t at, uint32_t market)
{
    const struct story_user *user = &story->users[at];
    uint32_t to = story_pick(story, story->user_count);
    int64_t amount = share_of(story, user->synth[market], 50, 3000) + 1;
    story_begin(call, user->source, CAST_TOKEN + market, "transfer");
    story_args(story, call, "aai", user->ref, story->users[to].ref, (long long)amount);
    call->note = NOTE_PAY;
    call->other = to;
    call->amount = amount;
}

/* Spends some of an approval, by a transfer or by burning. */
static void draw(struct story *story, struct story_call *call)
{
    uint32_t count = story->allowance_count < STORY_ALLOWANCES ? story->allowance_count
                                                               : (uint32_t)STORY_ALLOWANCES;
    const struct story_allowance *a = &story->allowances[story_pick(story, count)];
    const struct story_user *spender = &story->users[a->spender];
    long long amount = a->amount / 5 + (story_once_in(story, 4) ? a->amount : 1);
    bool burn = story_once_in(story, 4);
    story_begin(call, spender->source, CAST_TOKEN + a->market,
                burn ? "burn_from" : "transfer_from");
    if (burn)
        story_args(story, call, "aai", spender->ref, story->users[a->owner].ref, amount);
    else
        story_args(story, call, "aaai", spender->ref, story->users[a->owner].ref,
                   story->users[story_pick(story, story->user_count)].ref, amount);
}

static void allow_synth(struct story *story, struct story_call *call, uint32_t at, uint32_t market)
{
    const struct story_user *user = &story->users[at];
    cast_ref other = story->users[(at + 1) % story->user_count].ref;
    uint32_t luck = story_pick(story, 8);
    int64_t amount = story_between(story, 0, 900000000);
    if (luck < 4) {
        story_begin(call, user->source, CAST_TOKEN + market, "approve");
        story_args(story, call, "aaiu", user->ref, other, (long long)amount,
                   (int)(story->ledger + story_pick(story, 20000)));
        story->allowances[story->allowance_count++ % STORY_ALLOWANCES] =
            (struct story_allowance){ at, (at + 1) % story->user_count, market, amount };
    } else if (luck < 6 && story->allowance_count > 0) {
        draw(story, call);
    } else if (luck < 7) {
        story_begin(call, user->source, CAST_TOKEN + market, "burn_from");
        story_args(story, call, "aai", user->ref, other,
                   story_once_in(story, 3) ? -(long long)amount / 1000 : (long long)amount / 20);
    } else {
        story_begin(call, user->source, CAST_TOKEN + market, "burn");
        story_args(story, call, "ai", user->ref, (long long)amount / 50);
    }
}

static void police_token(struct story *story, struct story_call *call, uint32_t market)
{
    uint32_t at = story_pick(story, story->user_count);
    cast_ref who = story->users[at].ref;
    uint32_t luck = story_pick(story, 8);
    for (uint32_t i = 0; i < story->heal_count && luck >= 5; i++) {
        if (story->heals[i].kind == HEAL_HOLDER && story->heals[i].what >> 24 == market)
            who = story->users[story->heals[i].what & 0xffffff].ref;
    }
    story_begin(call, CAST_ADMIN, CAST_TOKEN + market, luck < 5 ? "set_frozen" : "clawback");
    if (luck < 5)
        story_args(story, call, "aab", CAST_ADMIN, who, luck < 3);
    if (luck < 3)
        story_heal_later(story, HEAL_HOLDER, market << 24 | at, 5 + story_pick(story, 30));
    if (luck >= 5)
        story_args(story, call, "aai", CAST_ADMIN, who,
                   (long long)story_between(story, 0, 100000000));
}

void story_token(struct story *story, struct story_call *call)
{
    uint32_t at = story_free_user(story);
    uint32_t market = story_pick(story, 3);
    uint32_t luck = story_pick(story, 20);
    const struct story_user *user = &story->users[at];
    if (luck < 7) {
        for (uint32_t i = 0; i < 12 && story->users[at].synth[market] <= 0; i++)
            at = story_free_user(story);
        user = &story->users[at];
        pay_synth(story, call, at, market);
    } else if (luck < 12) {
        allow_synth(story, call, at, market);
    } else if (luck < 14) {
        police_token(story, call, market);
        return;
    } else if (luck < 16) {
        story_begin(call, CAST_ISSUER, CAST_USDC, "mint");
        story_args(story, call, "ai", user->ref, 5000000000000LL);
        return;
    } else {
        uint32_t asset = luck < 18 ? CAST_USDC : CAST_XLM;
        cast_ref to = story->users[story_pick(story, story->user_count)].ref;
        if (story_once_in(story, 4))
            to = cast_contract(CAST_ENGINE);
        story_begin(call, user->source, asset, "transfer");
        story_args(story, call, "aai", user->ref, to,
                   (long long)story_between(story, story_once_in(story, 6) ? -5 : 0, 900000000));
    }
    call->auth = user->ref;
    call->who = at;
    call->what = market;
}
