/* How the protocol comes to the ledger: the order of rules.md, then its first money. */
#include "tools/sim/workload/workload.h"

enum { MINTS_PER_LEDGER = 40 };

static const long long token_unit = 10000000;

typedef bool deploy_step(struct story *story, uint32_t i, struct story_call *call);

/* Each step answers its i-th call, false behind the last one. */

static bool deploy_assets(struct story *story, uint32_t i, struct story_call *call)
{
    (void)story;
    if (i >= 2)
        return false;
    story_begin(call, CAST_DEPLOYER, CAST_USDC + i, "");
    call->create = true;
    return true;
}

static bool fund_users(struct story *story, uint32_t i, struct story_call *call)
{
    if (i >= story->user_count)
        return false;
    story_begin(call, CAST_ISSUER, CAST_USDC, "mint");
    bool wallet = story->users[i].ref < 0;
    story_args(story, call, "ai", story->users[i].ref, (wallet ? 100000 : 3000000) * token_unit);
    call->ledger_end = i % MINTS_PER_LEDGER == MINTS_PER_LEDGER - 1;
    return true;
}

static bool fund_partners(struct story *story, uint32_t i, struct story_call *call)
{
    if (i >= CAST_PARTNERS_MAX)
        return false;
    story_begin(call, CAST_ISSUER, CAST_USDC, "mint");
    story_args(story, call, "ai", (int)(CAST_PARTNER + i), 5000 * token_unit);
    return true;
}

static bool fund_wallets(struct story *story, uint32_t i, struct story_call *call)
{
    if (i >= CAST_WALLETS)
        return false;
    const struct story_user *wallet = &story->users[story->cast->user_count + i];
    story_begin(call, wallet->source, CAST_XLM, "transfer");
    story_args(story, call, "aai", (int)wallet->source, wallet->ref, 300000 * token_unit);
    return true;
}

static bool create_contracts(struct story *story, uint32_t i, struct story_call *call)
{
    static const uint32_t order[] = {
        CAST_COMPLIANCE, CAST_ORACLE,    CAST_ENGINE,    CAST_POOL,
        CAST_STABILITY,  CAST_PARTNERS,  CAST_EARNINGS,  CAST_DAO,
        CAST_TOKEN + 0,  CAST_TOKEN + 1, CAST_TOKEN + 2, CAST_TOKEN + 3,
    };
    (void)story;
    if (i >= TIDE_COUNT(order))
        return false;
    story_begin(call, CAST_DEPLOYER, order[i], "");
    call->create = true;
    call->ledger_end = i % 4 == 3;
    return true;
}

static bool initialize_contracts(struct story *story, uint32_t i, struct story_call *call)
{
    enum {
        POOL = -1 - CAST_POOL,
        ENGINE = -1 - CAST_ENGINE,
        SAVE = -1 - CAST_STABILITY,
        COMPL = -1 - CAST_COMPLIANCE,
        PARTS = -1 - CAST_PARTNERS,
        EARN = -1 - CAST_EARNINGS,
        ORACLE = -1 - CAST_ORACLE,
        DAO = -1 - CAST_DAO,
        USDC = -1 - CAST_USDC
    };
    /* clang-format off */
    static const struct {
        uint32_t contract;
        const char *fn;
        int count;
        int parties[6];
    } calls[] = {
        { CAST_COMPLIANCE, "initialize", 2, { CAST_ADMIN, CAST_DAOWALLET } },
        { CAST_ORACLE,     "initialize", 2, { CAST_ADMIN, DAO } },
        { CAST_ENGINE,     "initialize", 5, { CAST_ADMIN, ORACLE, COMPL, EARN, CAST_DAOWALLET } },
        { CAST_POOL,       "initialize", 4, { CAST_ADMIN, CAST_DAOWALLET, EARN, COMPL } },
        { CAST_STABILITY,  "initialize", 5, { CAST_ADMIN, USDC, ENGINE, CAST_DAOWALLET, COMPL } },
        { CAST_PARTNERS,   "initialize", 5, { CAST_ADMIN, DAO, USDC, ENGINE, EARN } },
        { CAST_EARNINGS,   "initialize", 6, { CAST_ADMIN, CAST_TREASURY, CAST_DEVFUND, SAVE, CAST_DAOWALLET, PARTS } },
        { CAST_EARNINGS,   "register_lp", 2, { CAST_ADMIN, POOL } },
        { CAST_ENGINE,     "set_stability_pool", 2, { CAST_ADMIN, SAVE } },
        { CAST_DAO,        "initialize", 2, { CAST_DAOWALLET, ENGINE } },
        { CAST_DAO,        "set_protocol_config", 6, { CAST_DAOWALLET, CAST_DAOWALLET, POOL, PARTS, EARN, SAVE } },
        { CAST_DAO,        "set_compliance", 2, { CAST_DAOWALLET, COMPL } },
        { CAST_DAO,        "set_oracle", 2, { CAST_DAOWALLET, ORACLE } },
    };
    /* clang-format on */
    if (i >= TIDE_COUNT(calls))
        return false;
    uint32_t source = (uint32_t)calls[i].parties[0];
    story_begin(call, source, calls[i].contract, calls[i].fn);
    for (int p = 0; p < calls[i].count; p++)
        story_args(story, call, "a", calls[i].parties[p]);
    if (calls[i].contract == CAST_ORACLE)
        story_args(story, call, "t", 0LL);
    call->ledger_end = i == 8;
    return true;
}

static bool found_dao(struct story *story, uint32_t i, struct story_call *call)
{
    if (i >= 5)
        return false;
    if (i == 0) {
        story_begin(call, CAST_DAOWALLET, CAST_DAO, "create_multisig");
        story_args(story, call, "au", CAST_DAOWALLET, 3);
        story_vec(call, 5);
        for (int gov = 0; gov < 5; gov++)
            story_put(story, call, 'a', CAST_GOV + gov);
        story_args(story, call, "u", 0);
    } else {
        story_begin(call, CAST_DAOWALLET, CAST_DAO, "add_oracle_provider");
        story_args(story, call, "aa", CAST_DAOWALLET, (int)(CAST_FEED + i - 1));
    }
    return true;
}

static bool initialize_tokens(struct story *story, uint32_t i, struct story_call *call)
{
    if (i >= CAST_MARKETS)
        return false;
    tide_slice title = tide_slice_str(cast_markets[i].title);
    tide_slice symbol = tide_slice_str(cast_markets[i].symbol);
    story_begin(call, CAST_ADMIN, CAST_TOKEN + i, "initialize");
    story_args(story, call, "aaxxu", CAST_ADMIN, cast_contract(CAST_ENGINE), &title, &symbol, 7);
    return true;
}

static bool found_registry(struct story *story, uint32_t i, struct story_call *call)
{
    if (i >= 9)
        return false;
    if (i < 4) {
        story_begin(call, CAST_DAOWALLET, CAST_COMPLIANCE, i < 3 ? "add_verifier" : "set_verifier");
        story_args(story, call, "aa", CAST_DAOWALLET, (int)(CAST_VERIFIER + i % 3));
    } else if (i < 6) {
        uint32_t verifier = CAST_VERIFIER + i - 4;
        story_begin(call, verifier, CAST_COMPLIANCE, "register_signer");
        story_args(story, call, "aa", (int)verifier, (int)(CAST_SIGNER + i - 4));
    } else {
        static const uint32_t listed[] = { CAST_ENGINE, CAST_POOL, CAST_STABILITY };
        story_begin(call, CAST_ADMIN, CAST_COMPLIANCE, "set_whitelist");
        story_args(story, call, "aab", CAST_ADMIN, cast_contract(listed[i - 6]), 1);
    }
    return true;
}

static void market(struct story *story, struct story_call *call, uint32_t m, long long fee)
{
    static const struct {
        long long min, liq, penalty, fee;
    } terms[CAST_MARKETS] = {
        { 15000, 12500, 1000, 50 }, { 17500, 14000, 1300, 0 }, { 13000, 11000, 800, 10 }, { 0 }
    };
    story_begin(call, CAST_DAOWALLET, CAST_ENGINE, "register_asset");
    story_args(story, call, "asassiiiii", CAST_DAOWALLET, cast_markets[m].symbol,
               cast_contract(CAST_TOKEN + m), cast_markets[m].feed, "XLM", terms[m].min,
               terms[m].liq, terms[m].penalty, fee < 0 ? terms[m].fee : fee, 900000000000000LL);
}

static bool found_markets(struct story *story, uint32_t i, struct story_call *call)
{
    static const long long tiers[] = { 30, 100, 5, 42 };
    if (i >= 9)
        return false;
    if (i < 3) {
        market(story, call, i, 0);
    } else if (i < 5) {
        story_begin(call, CAST_DAOWALLET, CAST_ENGINE, "set_collateral_allowed");
        story_args(story, call, "aab", CAST_DAOWALLET, cast_contract(i == 3 ? CAST_XLM : CAST_USDC),
                   1);
    } else {
        uint32_t pool = i - 5;
        uint32_t m = story_pool_market[pool];
        story_begin(call, CAST_DAOWALLET, CAST_POOL, "create_pool");
        story_args(story, call, "asaai", CAST_DAOWALLET, story_pool_names[pool],
                   cast_contract(m == CAST_MARKETS ? CAST_XLM : CAST_TOKEN + m),
                   cast_contract(CAST_USDC), tiers[pool]);
        call->note = NOTE_POOL_MADE; /* the last tier is refused: its pool comes by proposal */
        call->what = pool;
    }
    return true;
}

static bool first_partners(struct story *story, uint32_t i, struct story_call *call)
{
    if (i >= 3)
        return false;
    tide_slice name = story_text(story);
    story_begin(call, CAST_DAOWALLET, CAST_PARTNERS, "register_partner");
    story_args(story, call, "aax", CAST_DAOWALLET, (int)(CAST_PARTNER + i), &name);
    call->auth = cast_contract(CAST_DAO);
    call->note = NOTE_PARTNER;
    return true;
}

static bool first_prices(struct story *story, uint32_t i, struct story_call *call)
{
    if (i == 0)
        story->round = 3;
    if (story->round == 0)
        return false;
    story_prices(story, call);
    story->priced_at = story->now;
    return true;
}

/* Nine users in ten are attested; wallets but the last. */
static bool first_attestations(struct story *story, uint32_t i, struct story_call *call)
{
    static const int countries[] = { 392, 756, 702, 36, 826, 124 };
    static const long long days[] = { 0, 400, 3, 20 };
    uint8_t bytes[32];
    if (i >= story->user_count - 1)
        return false;
    memset(bytes, (int)i, sizeof bytes);
    tide_slice metadata = tide_slice_of(bytes, i % 10 == 9 ? 0 : sizeof bytes);
    uint32_t verifier = CAST_VERIFIER + i % 3;
    long long until = days[i % 4] ? (long long)story->now + days[i % 4] * 86400 : 0;
    story_begin(call, verifier, CAST_COMPLIANCE, "attest");
    story_args(story, call, "aauty", (int)verifier, story->users[i].ref,
               i % 10 == 9 ? 840 : countries[i % 6], until, &metadata);
    call->note = NOTE_ATTEST;
    call->who = i;
    call->ledger_end = i % MINTS_PER_LEDGER == MINTS_PER_LEDGER - 1;
    return true;
}

static void seed_pool(struct story *story, struct story_call *call, uint32_t at, uint32_t pool,
                      long long a, long long b)
{
    story_begin(call, story->users[at].source, CAST_POOL, "add_liquidity");
    story_args(story, call, "asiii", story->users[at].ref, story_pool_names[pool], a, b, 0LL);
    call->note = NOTE_ADD;
    call->who = at;
    call->what = pool;
    call->amount = a;
    call->other = b;
}

/* Liquidity, vaults, and the engine's own synths that its mint fees are paid from. */
static bool first_money(struct story *story, uint32_t i, struct story_call *call)
{
    static const uint32_t markets[] = { 0, 2 };
    enum { STEPS = 6 };
    if (i < 2) {
        seed_pool(story, call, i, POOL_XLM, 1000000 * token_unit, 405321 * token_unit);
        return true;
    }
    uint32_t step = (i - 2) % STEPS, m = (i - 2) / STEPS < 2 ? markets[(i - 2) / STEPS] : 0;
    if ((i - 2) / STEPS >= 2)
        return false;
    const struct story_user *user = &story->users[0];
    long long minted = m == 0 ? 20000 * token_unit : 60000 * token_unit;
    call->ledger_end = false;
    if (step == 0) {
        story_begin(call, user->source, CAST_ENGINE, "open_vault");
        story_args(story, call, "asai", user->ref, cast_markets[m].symbol, cast_contract(CAST_XLM),
                   700000 * token_unit);
        call->note = NOTE_OPEN;
        call->amount = 700000 * token_unit;
    } else if (step == 1) {
        story_begin(call, user->source, CAST_ENGINE, "mint_synth");
        story_args(story, call, "asi", user->ref, cast_markets[m].symbol, minted);
        call->note = NOTE_MINT;
        call->amount = minted;
    } else if (step == 2) {
        story_begin(call, user->source, CAST_TOKEN + m, "transfer");
        story_args(story, call, "aai", user->ref, cast_contract(CAST_ENGINE), 4000 * token_unit);
    } else if (step == 3) {
        market(story, call, m, -1);
    } else if (step == 4) {
        int64_t price = story->price[m == 0 ? FEED_GOLD : FEED_BTC];
        seed_pool(story, call, 0, m == 0 ? POOL_GOLD : POOL_BTC, minted / 2,
                  minted / 2 / token_unit * price);
    } else {
        story_begin(call, user->source, CAST_STABILITY, "deposit");
        story_args(story, call, "ai", user->ref, 50000 * token_unit);
        call->note = NOTE_SAVE;
        call->amount = 50000 * token_unit;
    }
    call->who = 0;
    if (step != 4)
        call->what = m;
    call->auth = user->ref;
    return true;
}

bool story_deploy(struct story *story, uint64_t now, struct story_call *call)
{
    static deploy_step *const steps[] = {
        deploy_assets,        fund_users,   fund_partners,      fund_wallets,   create_contracts,
        initialize_contracts, found_dao,    initialize_tokens,  found_registry, found_markets,
        first_partners,       first_prices, first_attestations, first_money,
    };
    story->now = now;
    while (story->step < TIDE_COUNT(steps)) {
        if (steps[story->step](story, story->part, call)) {
            story->part++;
            return true;
        }
        story->step++;
        story->part = 0;
        call->ledger_end = true;
        if (story->step < TIDE_COUNT(steps)) {
            story_begin(call, 0, 0, "");
            call->ledger_end = true;
            return true; /* an empty call: only the ledger ends */
        }
    }
    return false;
}
