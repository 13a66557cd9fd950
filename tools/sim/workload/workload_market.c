/* Calls of users: swaps, liquidity, vaults, stability pool deposits, token transfers. */
#include "tidemark/i128.h"
#include "tools/sim/workload/workload.h"

/* Returns a random part of an amount, from low to high basis points. */
static int64_t random_share(struct workload *workload, int64_t whole, int64_t low_bps,
                            int64_t high_bps)
{
    int64_t share = whole / 10000 * workload_between(workload, low_bps, high_bps);
    return share + workload_between(workload, 0, 99);
}

/* Returns a random pool that has liquidity, as far as the workload knows. */
static uint32_t pick_pool(struct workload *workload)
{
    uint32_t pool = workload_pick(workload, WORKLOAD_POOLS);
    return workload->pools[pool].made && workload->pools[pool].a > 0 ? pool : POOL_XLM;
}

/* Returns the oracle's price of the pool's token a in its token b, 7 decimals. */
static int64_t fair_price(const struct workload *workload, uint32_t pool)
{
    static const uint32_t feeds[WORKLOAD_POOLS] = { FEED_XLM, FEED_GOLD, FEED_BTC, FEED_TSLA };
    return workload->price[feeds[pool]];
}

/* Returns true if the swap sells token a. 72 % of the swaps move the pool toward the oracle's
 * price, so pools stay near it. */
static bool choose_direction(struct workload *workload, uint32_t pool)
{
    const struct workload_pool *p = &workload->pools[pool];
    int64_t spot = p->a > 1000 ? (int64_t)((tide_raw_i128)p->b * 10000000 / p->a) : 0;
    bool toward = spot > fair_price(workload, pool);
    return workload_pick(workload, 100) < 72 ? toward : !toward;
}

/* Makes a swap; some are too large, empty, negative, or demand more than the pool gives. */
void workload_trade(struct workload *workload, struct workload_call *call)
{
    uint32_t at = workload_free_user(workload);
    const struct workload_user *user = &workload->users[at];
    uint32_t pool = pick_pool(workload);
    const struct workload_pool *p = &workload->pools[pool];
    bool a_to_b = choose_direction(workload, pool);
    int64_t most = workload->profile == WORKLOAD_SWAPS ? 8 : 60;
    int64_t in = random_share(workload, a_to_b ? p->a : p->b, 1, most);
    if (workload_once_in(workload, 25))
        in *= most == 60 ? 3 : 40; /* mostly more than the price impact allows */
    if (workload_once_in(workload, 120))
        in = workload_between(workload, -1, 9); /* -1 to 9 units */
    /* A user who lacks the token to sell mostly sells USDC instead. */
    if (a_to_b && pool != POOL_XLM && user->synth[workload_pool_market[pool]] < in &&
        !workload_once_in(workload, 12)) {
        a_to_b = false;
        in = random_share(workload, p->b, 1, most);
    }
    int64_t least = workload_once_in(workload, 30) ? in * 9 : 0;
    int partner = workload_once_in(workload, 3) ? (int)workload_pick(workload, 4) : 0;
    if (workload_once_in(workload, 200))
        partner = 9;
    workload_begin(call, user->source, PARTY_POOL, "swap_exact_in");
    workload_args(workload, call, "asbiiu", user->ref, workload_pool_names[pool], a_to_b,
                  (long long)in, (long long)least, partner);
    call->auth = user->ref;
    call->note = NOTE_SWAP;
    call->party = at;
    call->what = pool;
    call->flag = a_to_b;
    call->amount = in;
}

/* Makes a deposit in the pool's ratio, or a first one at the oracle's price. */
static void add_liquidity(struct workload *workload, struct workload_call *call, uint32_t at,
                          uint32_t pool)
{
    const struct workload_user *user = &workload->users[at];
    const struct workload_pool *p = &workload->pools[pool];
    int64_t a = random_share(workload, p->a, 20, 400), b;
    if (p->a == 0) {
        a = 50000000;
        b = fair_price(workload, pool) * 5;
    } else {
        b = (int64_t)((tide_raw_i128)a * p->b / p->a) + workload_between(workload, 0, 5);
    }
    uint32_t market = workload_pool_market[pool];
    if (market < PARTY_MARKETS && user->synth[market] > 0 && user->synth[market] < a && p->a > 0) {
        a = user->synth[market] / 2 + 1;
        b = (int64_t)((tide_raw_i128)a * p->b / p->a);
    }
    workload_begin(call, user->source, PARTY_POOL, "add_liquidity");
    workload_args(workload, call, "asiii", user->ref, workload_pool_names[pool], (long long)a,
                  (long long)b, workload_once_in(workload, 25) ? (long long)a * 9 : 0LL);
    call->note = NOTE_ADD;
    call->amount = a;
    call->other = b;
}

/* Deposits, withdraws, or claims fees of a pool. */
void workload_liquidity(struct workload *workload, struct workload_call *call)
{
    uint32_t at = workload_free_user(workload);
    struct workload_user *user = &workload->users[at];
    uint32_t pool = pick_pool(workload);
    uint32_t luck = workload_pick(workload, 10);
    /* A proposal creates the TSLA pool at an unknown time: users with its token try a deposit now
     * and then. */
    if (workload->pools[POOL_TSLA].a == 0 && user->synth[1] > 100000000 &&
        workload_once_in(workload, 3)) {
        pool = POOL_TSLA;
        luck = 0;
    }
    if (luck < 4) {
        add_liquidity(workload, call, at, pool);
    } else if (luck < 7) {
        int64_t shares = user->shares[pool] / (int64_t)(1 + workload_pick(workload, 3));
        if (shares <= 0)
            shares = workload_between(workload, 0, 1000);
        workload_begin(call, user->source, PARTY_POOL, "remove_liquidity");
        workload_args(workload, call, "asiii", user->ref, workload_pool_names[pool],
                      (long long)shares,
                      workload_once_in(workload, 20) ? (long long)shares * 99 : 0LL, 0LL);
        call->note = NOTE_REMOVE;
        call->amount = shares;
    } else {
        workload_begin(call, user->source, PARTY_POOL, "claim_fees");
        workload_args(workload, call, "as", user->ref, workload_pool_names[pool]);
    }
    call->auth = user->ref;
    call->party = at;
    call->what = pool;
}

/* Returns how much of a synthetic asset this collateral in XLM may carry at a ratio in basis
 * points. */
static int64_t mintable(const struct workload *workload, int64_t collateral, uint32_t market,
                        int64_t ratio)
{
    static const uint32_t feeds[PARTY_MARKETS] = { FEED_GOLD, FEED_TSLA, FEED_BTC, FEED_OIL };
    tide_raw_i128 worth = (tide_raw_i128)collateral * workload->price[FEED_XLM];
    return (int64_t)(worth * 10000 / ratio / workload->price[feeds[market]]);
}

/* Opens a vault, mostly with XLM as collateral; one in forty with a token that is not allowed. */
static void open_vault(struct workload *workload, struct workload_call *call, uint32_t at,
                       uint32_t market)
{
    const struct workload_user *user = &workload->users[at];
    uint32_t coll = workload_once_in(workload, 8) ? PARTY_USDC : PARTY_XLM;
    if (workload_once_in(workload, 40))
        coll = PARTY_TOKEN;
    int64_t amount = workload_between(workload, 1000, 60000) * 10000000;
    workload_begin(call, user->source, PARTY_ENGINE, "open_vault");
    workload_args(workload, call, "asai", user->ref, party_markets[market].symbol,
                  parties_contract(coll), (long long)amount);
    call->note = NOTE_OPEN;
    call->amount = amount;
}

/* Starts a call of a vault function with an amount. The market is call->what, which the start of a
 * call clears. */
static void call_vault(struct workload *workload, struct workload_call *call, uint32_t at,
                       const char *fn, int64_t amount)
{
    const struct workload_user *user = &workload->users[at];
    uint32_t market = call->what;
    workload_begin(call, user->source, PARTY_ENGINE, fn);
    workload_args(workload, call, "asi", user->ref, party_markets[market].symbol,
                  (long long)amount);
    call->amount = amount;
}

/* Liquidates the vault with the highest debt for its collateral among 24 random ones. Most
 * liquidations are refused, because the vault is not below its ratio. */
static void liquidate_vault(struct workload *workload, struct workload_call *call, uint32_t at,
                            uint32_t market)
{
    const struct workload_user *user = &workload->users[at];
    /* A liquidator pays with the asset. The first user always has some. */
    if (user->synth[market] <= 0)
        user = &workload->users[at = 0];
    uint32_t owner = workload_pick(workload, workload->user_count);
    int64_t worst = 0;
    for (uint32_t tries = 0; tries < 24; tries++) {
        uint32_t other = workload_pick(workload, workload->user_count);
        const struct workload_user *o = &workload->users[other];
        int64_t carried = mintable(workload, o->collateral[market] + 1, market, 10000);
        int64_t strain = o->debt[market] > 0 ? o->debt[market] * 100 / (carried + 1) : 0;
        if (strain > worst) {
            worst = strain;
            owner = other;
        }
    }
    int64_t offer = workload_once_in(workload, 3) ? workload->users[owner].debt[market] / 2 + 1
                                                  : (int64_t)1000000000000;
    workload_begin(call, user->source, PARTY_ENGINE, "liquidate");
    workload_args(workload, call, "aasi", user->ref, workload->users[owner].ref,
                  party_markets[market].symbol, (long long)offer);
    call->note = NOTE_LIQUIDATE;
    call->party = at;
    call->other = owner;
    call->amount = offer;
}

/* Minimum ratios of the markets in basis points, as the deployment registers them. */
static const int64_t least_ratio[PARTY_MARKETS] = { 15000, 17500, 13000, 20000 };

/* Mints, burns, deposits, withdraws or liquidates. Without debt, a burn mostly becomes a mint.
 * Mints aim at ratios close to the minimum, so prices bring some vaults below it. */
static void use_vault(struct workload *workload, struct workload_call *call, uint32_t at,
                      uint32_t market)
{
    const struct workload_user *user = &workload->users[at];
    uint32_t luck = workload_pick(workload, 16);
    uint32_t keep = market;
    assert(at < workload->user_count && market < PARTY_MARKETS);
    if (luck >= 6 && luck < 9 && user->debt[market] == 0 && !workload_once_in(workload, 6))
        luck = 0;
    call->what = market;
    if (luck < 6) {
        int64_t least = least_ratio[market];
        int64_t most = workload_once_in(workload, 2) ? least * 11 / 10 : least * 2;
        int64_t carried = mintable(workload, user->collateral[market], market,
                                   workload_between(workload, least - 50, most));
        int64_t room = carried - user->debt[market];
        if (room <= 0 && !workload_once_in(workload, 25)) {
            call_vault(workload, call, at, "deposit_collateral", user->collateral[market] / 8 + 1);
            call->note = NOTE_DEPOSIT;
        } else {
            call_vault(workload, call, at, "mint_synth", room > 0 ? room : 1000000);
            call->note = NOTE_MINT;
        }
    } else if (luck < 9) {
        call_vault(workload, call, at, "burn_synth",
                   workload_once_in(workload, 4)
                       ? (int64_t)1 << 50 /* more than any debt: repays all */
                       : random_share(workload, user->debt[market], 500, 9000));
        call->note = NOTE_BURN;
    } else if (luck < 12) {
        call_vault(workload, call, at, "deposit_collateral",
                   workload_between(workload, 10, 5000) * 10000000);
        call->note = NOTE_DEPOSIT;
    } else if (luck < 14) {
        call_vault(workload, call, at, "withdraw_collateral",
                   random_share(workload, user->collateral[market], 100, 4000));
        call->note = NOTE_WITHDRAW;
    } else {
        liquidate_vault(workload, call, at, market);
        at = call->party;
    }
    call->what = keep;
    call->party = at;
}

/* Makes a call of a vault; the last market has no registration at first, so few calls name it. */
void workload_vault(struct workload *workload, struct workload_call *call)
{
    uint32_t at = workload_free_user(workload);
    const struct workload_user *user = &workload->users[at];
    uint32_t market = workload_pick(workload, PARTY_MARKETS);
    if (market == PARTY_MARKETS - 1 && !workload_once_in(workload, 3))
        market = 0;
    if (!user->vault[market] && !workload_once_in(workload, 5)) {
        open_vault(workload, call, at, market);
    } else {
        use_vault(workload, call, at, market);
        at = call->party;
    }
    call->auth = workload->users[at].ref;
    call->party = at;
    call->what = market;
}

/* Deposits in the stability pool, withdraws, claims gains, or absorbs a liquidation. */
void workload_saving(struct workload *workload, struct workload_call *call)
{
    uint32_t at = workload_free_user(workload);
    const struct workload_user *user = &workload->users[at];
    uint32_t luck = workload_pick(workload, 20);
    int64_t amount = workload_between(workload, 1, 9000) * 10000000;
    if (luck < 8) {
        workload_begin(call, user->source, PARTY_STABILITY, "deposit");
        workload_args(workload, call, "ai", user->ref, (long long)amount);
        call->note = NOTE_SAVE;
    } else if (luck < 12) {
        amount = user->saved > 0 ? random_share(workload, user->saved, 500, 12000) : amount;
        workload_begin(call, user->source, PARTY_STABILITY, "withdraw");
        workload_args(workload, call, "ai", user->ref, (long long)amount);
        call->note = NOTE_UNSAVE;
    } else if (luck < 17) {
        workload_begin(call, user->source, PARTY_STABILITY, "claim_gains");
        workload_args(workload, call, "a", user->ref);
    } else {
        /* The engine itself never calls this function; a signature in its name does. */
        workload_begin(call, PARTY_ADMIN, PARTY_STABILITY, "absorb_liquidation");
        workload_args(workload, call, "aiia", parties_contract(PARTY_ENGINE),
                      (long long)amount / 20, (long long)amount / 100, parties_contract(PARTY_XLM));
        call->auth = parties_contract(PARTY_ENGINE);
        return;
    }
    call->auth = user->ref;
    call->party = at;
    call->amount = amount;
}

/* Transfers synthetic tokens to a random user. */
static void transfer_synth(struct workload *workload, struct workload_call *call, uint32_t at,
                           uint32_t market)
{
    const struct workload_user *user = &workload->users[at];
    uint32_t to = workload_pick(workload, workload->user_count);
    int64_t amount = random_share(workload, user->synth[market], 50, 3000) + 1;
    workload_begin(call, user->source, PARTY_TOKEN + market, "transfer");
    workload_args(workload, call, "aai", user->ref, workload->users[to].ref, (long long)amount);
    call->note = NOTE_PAY;
    call->other = to;
    call->amount = amount;
}

/* Spends a part of a recent allowance, or more than all of it, by a transfer or by burning. */
static void spend_allowance(struct workload *workload, struct workload_call *call)
{
    uint32_t count = workload->allowance_count < WORKLOAD_ALLOWANCES
                         ? workload->allowance_count
                         : (uint32_t)WORKLOAD_ALLOWANCES;
    assert(count > 0 && "the caller has seen an allowance");
    const struct workload_allowance *a = &workload->allowances[workload_pick(workload, count)];
    const struct workload_user *spender = &workload->users[a->spender];
    long long amount = a->amount / 5 + (workload_once_in(workload, 4) ? a->amount : 1);
    bool burn = workload_once_in(workload, 4);
    workload_begin(call, spender->source, PARTY_TOKEN + a->market,
                   burn ? "burn_from" : "transfer_from");
    if (burn)
        workload_args(workload, call, "aai", spender->ref, workload->users[a->owner].ref, amount);
    else
        workload_args(workload, call, "aaai", spender->ref, workload->users[a->owner].ref,
                      workload->users[workload_pick(workload, workload->user_count)].ref, amount);
}

/* Approves an allowance, spends one, or burns. */
static void use_allowance(struct workload *workload, struct workload_call *call, uint32_t at,
                          uint32_t market)
{
    const struct workload_user *user = &workload->users[at];
    party_ref other = workload->users[(at + 1) % workload->user_count].ref;
    uint32_t luck = workload_pick(workload, 8);
    int64_t amount = workload_between(workload, 0, 900000000);
    if (luck < 4) {
        workload_begin(call, user->source, PARTY_TOKEN + market, "approve");
        workload_args(workload, call, "aaiu", user->ref, other, (long long)amount,
                      (int)(workload->ledger + workload_pick(workload, 20000)));
        workload->allowances[workload->allowance_count++ % WORKLOAD_ALLOWANCES] =
            (struct workload_allowance){ at, (at + 1) % workload->user_count, market, amount };
    } else if (luck < 6 && workload->allowance_count > 0) {
        spend_allowance(workload, call);
    } else if (luck < 7) {
        workload_begin(call, user->source, PARTY_TOKEN + market, "burn_from");
        workload_args(workload, call, "aai", user->ref, other,
                      workload_once_in(workload, 3) ? -(long long)amount / 1000
                                                    : (long long)amount / 20);
    } else {
        workload_begin(call, user->source, PARTY_TOKEN + market, "burn");
        workload_args(workload, call, "ai", user->ref, (long long)amount / 50);
    }
}

/* Freezes or unfreezes a holder, or claws tokens back, mostly from a frozen holder. */
static void freeze_or_claw_back(struct workload *workload, struct workload_call *call,
                                uint32_t market)
{
    uint32_t at = workload_pick(workload, workload->user_count);
    party_ref party = workload->users[at].ref;
    uint32_t luck = workload_pick(workload, 8);
    for (uint32_t i = 0; i < workload->heal_count && luck >= 5; i++) {
        if (workload->heals[i].kind == HEAL_HOLDER && workload->heals[i].what >> 24 == market)
            party = workload->users[workload->heals[i].what & 0xffffff].ref;
    }
    workload_begin(call, PARTY_ADMIN, PARTY_TOKEN + market, luck < 5 ? "set_frozen" : "clawback");
    if (luck < 5)
        workload_args(workload, call, "aab", PARTY_ADMIN, party, luck < 3);
    if (luck < 3)
        workload_heal_later(workload, HEAL_HOLDER, market << 24 | at,
                            5 + workload_pick(workload, 30));
    if (luck >= 5)
        workload_args(workload, call, "aai", PARTY_ADMIN, party,
                      (long long)workload_between(workload, 0, 100000000));
}

/* Makes a call of a token: transfer, allowance, freeze, mint of USDC, transfer of USDC or XLM. */
void workload_token(struct workload *workload, struct workload_call *call)
{
    uint32_t at = workload_free_user(workload);
    uint32_t market = workload_pick(workload, 3);
    uint32_t luck = workload_pick(workload, 20);
    const struct workload_user *user = &workload->users[at];
    if (luck < 7) {
        /* Looks for a user who holds the token. */
        for (uint32_t i = 0; i < 12 && workload->users[at].synth[market] <= 0; i++)
            at = workload_free_user(workload);
        user = &workload->users[at];
        transfer_synth(workload, call, at, market);
    } else if (luck < 12) {
        use_allowance(workload, call, at, market);
    } else if (luck < 14) {
        freeze_or_claw_back(workload, call, market);
        return;
    } else if (luck < 16) {
        workload_begin(call, PARTY_ISSUER, PARTY_USDC, "mint");
        workload_args(workload, call, "ai", user->ref, 5000000000000LL);
        return;
    } else {
        uint32_t asset = luck < 18 ? PARTY_USDC : PARTY_XLM;
        party_ref to = workload->users[workload_pick(workload, workload->user_count)].ref;
        if (workload_once_in(workload, 4))
            to = parties_contract(PARTY_ENGINE);
        workload_begin(call, user->source, asset, "transfer");
        workload_args(workload, call, "aai", user->ref, to,
                      (long long)workload_between(workload, workload_once_in(workload, 6) ? -5 : 0,
                                                  900000000));
    }
    call->auth = user->ref;
    call->party = at;
    call->what = market;
}
