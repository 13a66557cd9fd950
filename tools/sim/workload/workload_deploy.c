/* How the protocol comes to the ledger: the order of rules.md, then its first money. */
#include "tools/sim/workload/workload.h"

enum { MINTS_PER_LEDGER = 40 };

static const long long token_unit = 10000000;

typedef bool deploy_step(struct workload *workload, uint32_t i, struct workload_call *call);

/* Each step answers its i-th call, false behind the last one. */

static bool deploy_assets(struct workload *workload, uint32_t i, struct workload_call *call)
{
    (void)workload;
    if (i >= 2)
        return false;
    workload_begin(call, PARTY_DEPLOYER, PARTY_USDC + i, "");
    call->create = true;
    return true;
}

static bool fund_users(struct workload *workload, uint32_t i, struct workload_call *call)
{
    if (i >= workload->user_count)
        return false;
    workload_begin(call, PARTY_ISSUER, PARTY_USDC, "mint");
    bool wallet = workload->users[i].ref < 0;
    workload_args(workload, call, "ai", workload->users[i].ref,
                  (wallet ? 100000 : 3000000) * token_unit);
    call->ledger_end = i % MINTS_PER_LEDGER == MINTS_PER_LEDGER - 1;
    return true;
}

static bool fund_partners(struct workload *workload, uint32_t i, struct workload_call *call)
{
    if (i >= PARTY_PARTNERS_MAX)
        return false;
    workload_begin(call, PARTY_ISSUER, PARTY_USDC, "mint");
    workload_args(workload, call, "ai", (int)(PARTY_PARTNER + i), 5000 * token_unit);
    return true;
}

static bool fund_wallets(struct workload *workload, uint32_t i, struct workload_call *call)
{
    if (i >= PARTY_WALLETS)
        return false;
    const struct workload_user *wallet = &workload->users[workload->parties->user_count + i];
    workload_begin(call, wallet->source, PARTY_XLM, "transfer");
    workload_args(workload, call, "aai", (int)wallet->source, wallet->ref, 300000 * token_unit);
    return true;
}

static bool create_contracts(struct workload *workload, uint32_t i, struct workload_call *call)
{
    static const uint32_t order[] = {
        PARTY_COMPLIANCE, PARTY_ORACLE,    PARTY_ENGINE,    PARTY_POOL,
        PARTY_STABILITY,  PARTY_PARTNERS,  PARTY_EARNINGS,  PARTY_DAO,
        PARTY_TOKEN + 0,  PARTY_TOKEN + 1, PARTY_TOKEN + 2, PARTY_TOKEN + 3,
    };
    (void)workload;
    if (i >= TIDE_COUNT(order))
        return false;
    workload_begin(call, PARTY_DEPLOYER, order[i], "");
    call->create = true;
    call->ledger_end = i % 4 == 3;
    return true;
}

static bool initialize_contracts(struct workload *workload, uint32_t i, struct workload_call *call)
{
    enum {
        POOL = -1 - PARTY_POOL,
        ENGINE = -1 - PARTY_ENGINE,
        SAVE = -1 - PARTY_STABILITY,
        COMPL = -1 - PARTY_COMPLIANCE,
        PARTS = -1 - PARTY_PARTNERS,
        EARN = -1 - PARTY_EARNINGS,
        ORACLE = -1 - PARTY_ORACLE,
        DAO = -1 - PARTY_DAO,
        USDC = -1 - PARTY_USDC
    };
    /* clang-format off */
    static const struct {
        uint32_t contract;
        const char *fn;
        int count;
        int parties[6];
    } calls[] = {
        { PARTY_COMPLIANCE, "initialize", 2, { PARTY_ADMIN, PARTY_DAOWALLET } },
        { PARTY_ORACLE,     "initialize", 2, { PARTY_ADMIN, DAO } },
        { PARTY_ENGINE,     "initialize", 5, { PARTY_ADMIN, ORACLE, COMPL, EARN, PARTY_DAOWALLET } },
        { PARTY_POOL,       "initialize", 4, { PARTY_ADMIN, PARTY_DAOWALLET, EARN, COMPL } },
        { PARTY_STABILITY,  "initialize", 5, { PARTY_ADMIN, USDC, ENGINE, PARTY_DAOWALLET, COMPL } },
        { PARTY_PARTNERS,   "initialize", 5, { PARTY_ADMIN, DAO, USDC, ENGINE, EARN } },
        { PARTY_EARNINGS,   "initialize", 6, { PARTY_ADMIN, PARTY_TREASURY, PARTY_DEVFUND, SAVE, PARTY_DAOWALLET, PARTS } },
        { PARTY_EARNINGS,   "register_lp", 2, { PARTY_ADMIN, POOL } },
        { PARTY_ENGINE,     "set_stability_pool", 2, { PARTY_ADMIN, SAVE } },
        { PARTY_DAO,        "initialize", 2, { PARTY_DAOWALLET, ENGINE } },
        { PARTY_DAO,        "set_protocol_config", 6, { PARTY_DAOWALLET, PARTY_DAOWALLET, POOL, PARTS, EARN, SAVE } },
        { PARTY_DAO,        "set_compliance", 2, { PARTY_DAOWALLET, COMPL } },
        { PARTY_DAO,        "set_oracle", 2, { PARTY_DAOWALLET, ORACLE } },
    };
    /* clang-format on */
    if (i >= TIDE_COUNT(calls))
        return false;
    uint32_t source = (uint32_t)calls[i].parties[0];
    workload_begin(call, source, calls[i].contract, calls[i].fn);
    for (int p = 0; p < calls[i].count; p++)
        workload_args(workload, call, "a", calls[i].parties[p]);
    if (calls[i].contract == PARTY_ORACLE)
        workload_args(workload, call, "t", 0LL);
    call->ledger_end = i == 8;
    return true;
}

static bool found_dao(struct workload *workload, uint32_t i, struct workload_call *call)
{
    if (i >= 5)
        return false;
    if (i == 0) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_DAO, "create_multisig");
        workload_args(workload, call, "au", PARTY_DAOWALLET, 3);
        workload_vec(call, 5);
        for (int gov = 0; gov < 5; gov++)
            workload_put(workload, call, 'a', PARTY_GOV + gov);
        workload_args(workload, call, "u", 0);
    } else {
        workload_begin(call, PARTY_DAOWALLET, PARTY_DAO, "add_oracle_provider");
        workload_args(workload, call, "aa", PARTY_DAOWALLET, (int)(PARTY_FEED + i - 1));
    }
    return true;
}

static bool initialize_tokens(struct workload *workload, uint32_t i, struct workload_call *call)
{
    if (i >= PARTY_MARKETS)
        return false;
    tide_slice title = tide_slice_str(party_markets[i].title);
    tide_slice symbol = tide_slice_str(party_markets[i].symbol);
    workload_begin(call, PARTY_ADMIN, PARTY_TOKEN + i, "initialize");
    workload_args(workload, call, "aaxxu", PARTY_ADMIN, parties_contract(PARTY_ENGINE), &title,
                  &symbol, 7);
    return true;
}

static bool found_registry(struct workload *workload, uint32_t i, struct workload_call *call)
{
    if (i >= 9)
        return false;
    if (i < 4) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_COMPLIANCE,
                       i < 3 ? "add_verifier" : "set_verifier");
        workload_args(workload, call, "aa", PARTY_DAOWALLET, (int)(PARTY_VERIFIER + i % 3));
    } else if (i < 6) {
        uint32_t verifier = PARTY_VERIFIER + i - 4;
        workload_begin(call, verifier, PARTY_COMPLIANCE, "register_signer");
        workload_args(workload, call, "aa", (int)verifier, (int)(PARTY_SIGNER + i - 4));
    } else {
        static const uint32_t listed[] = { PARTY_ENGINE, PARTY_POOL, PARTY_STABILITY };
        workload_begin(call, PARTY_ADMIN, PARTY_COMPLIANCE, "set_whitelist");
        workload_args(workload, call, "aab", PARTY_ADMIN, parties_contract(listed[i - 6]), 1);
    }
    return true;
}

static void market(struct workload *workload, struct workload_call *call, uint32_t m, long long fee)
{
    static const struct {
        long long min, liq, penalty, fee;
    } terms[PARTY_MARKETS] = {
        { 15000, 12500, 1000, 50 }, { 17500, 14000, 1300, 0 }, { 13000, 11000, 800, 10 }, { 0 }
    };
    workload_begin(call, PARTY_DAOWALLET, PARTY_ENGINE, "register_asset");
    workload_args(workload, call, "asassiiiii", PARTY_DAOWALLET, party_markets[m].symbol,
                  parties_contract(PARTY_TOKEN + m), party_markets[m].feed, "XLM", terms[m].min,
                  terms[m].liq, terms[m].penalty, fee < 0 ? terms[m].fee : fee, 900000000000000LL);
}

static bool found_markets(struct workload *workload, uint32_t i, struct workload_call *call)
{
    static const long long tiers[] = { 30, 100, 5, 42 };
    if (i >= 9)
        return false;
    if (i < 3) {
        market(workload, call, i, 0);
    } else if (i < 5) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_ENGINE, "set_collateral_allowed");
        workload_args(workload, call, "aab", PARTY_DAOWALLET,
                      parties_contract(i == 3 ? PARTY_XLM : PARTY_USDC), 1);
    } else {
        uint32_t pool = i - 5;
        uint32_t m = workload_pool_market[pool];
        workload_begin(call, PARTY_DAOWALLET, PARTY_POOL, "create_pool");
        workload_args(workload, call, "asaai", PARTY_DAOWALLET, workload_pool_names[pool],
                      parties_contract(m == PARTY_MARKETS ? PARTY_XLM : PARTY_TOKEN + m),
                      parties_contract(PARTY_USDC), tiers[pool]);
        call->note = NOTE_POOL_MADE; /* the last tier is refused: its pool comes by proposal */
        call->what = pool;
    }
    return true;
}

static bool first_partners(struct workload *workload, uint32_t i, struct workload_call *call)
{
    if (i >= 3)
        return false;
    tide_slice name = workload_text(workload);
    workload_begin(call, PARTY_DAOWALLET, PARTY_PARTNERS, "register_partner");
    workload_args(workload, call, "aax", PARTY_DAOWALLET, (int)(PARTY_PARTNER + i), &name);
    call->auth = parties_contract(PARTY_DAO);
    call->note = NOTE_PARTNER;
    return true;
}

static bool first_prices(struct workload *workload, uint32_t i, struct workload_call *call)
{
    if (i == 0)
        workload->round = 3;
    if (workload->round == 0)
        return false;
    workload_prices(workload, call);
    workload->priced_at = workload->now;
    return true;
}

/* Nine founders in ten are attested; wallets but the last. Other users are strangers to the verifiers. */
static bool first_attestations(struct workload *workload, uint32_t i, struct workload_call *call)
{
    static const int countries[] = { 392, 756, 702, 36, 826, 124 };
    static const long long days[] = { 0, 400, 3, 20 };
    uint8_t bytes[32];
    if (i >= workload->founders + PARTY_WALLETS - 1)
        return false;
    uint32_t at =
        i < workload->founders ? i : i - workload->founders + workload->parties->user_count;
    memset(bytes, (int)i, sizeof bytes);
    tide_slice metadata = tide_slice_of(bytes, i % 10 == 9 ? 0 : sizeof bytes);
    uint32_t verifier = PARTY_VERIFIER + i % 3;
    long long until = days[i % 4] ? (long long)workload->now + days[i % 4] * 86400 : 0;
    workload_begin(call, verifier, PARTY_COMPLIANCE, "attest");
    workload_args(workload, call, "aauty", (int)verifier, workload->users[at].ref,
                  i % 10 == 9 ? 840 : countries[i % 6], until, &metadata);
    call->note = NOTE_ATTEST;
    call->party = at;
    call->ledger_end = i % MINTS_PER_LEDGER == MINTS_PER_LEDGER - 1;
    return true;
}

static void seed_pool(struct workload *workload, struct workload_call *call, uint32_t at,
                      uint32_t pool, long long a, long long b)
{
    workload_begin(call, workload->users[at].source, PARTY_POOL, "add_liquidity");
    workload_args(workload, call, "asiii", workload->users[at].ref, workload_pool_names[pool], a, b,
                  0LL);
    call->note = NOTE_ADD;
    call->party = at;
    call->what = pool;
    call->amount = a;
    call->other = b;
}

/* Liquidity, vaults, and the engine's own synths that its mint fees are paid from. */
static bool first_money(struct workload *workload, uint32_t i, struct workload_call *call)
{
    static const uint32_t markets[] = { 0, 2 };
    enum { STEPS = 6 };
    if (i < 2) {
        seed_pool(workload, call, i, POOL_XLM, 1000000 * token_unit, 405321 * token_unit);
        return true;
    }
    uint32_t step = (i - 2) % STEPS, m = (i - 2) / STEPS < 2 ? markets[(i - 2) / STEPS] : 0;
    if ((i - 2) / STEPS >= 2)
        return false;
    const struct workload_user *user = &workload->users[0];
    long long minted = m == 0 ? 20000 * token_unit : 60000 * token_unit;
    call->ledger_end = false;
    if (step == 0) {
        workload_begin(call, user->source, PARTY_ENGINE, "open_vault");
        workload_args(workload, call, "asai", user->ref, party_markets[m].symbol,
                      parties_contract(PARTY_XLM), 700000 * token_unit);
        call->note = NOTE_OPEN;
        call->amount = 700000 * token_unit;
    } else if (step == 1) {
        workload_begin(call, user->source, PARTY_ENGINE, "mint_synth");
        workload_args(workload, call, "asi", user->ref, party_markets[m].symbol, minted);
        call->note = NOTE_MINT;
        call->amount = minted;
    } else if (step == 2) {
        workload_begin(call, user->source, PARTY_TOKEN + m, "transfer");
        workload_args(workload, call, "aai", user->ref, parties_contract(PARTY_ENGINE),
                      4000 * token_unit);
    } else if (step == 3) {
        market(workload, call, m, -1);
    } else if (step == 4) {
        int64_t price = workload->price[m == 0 ? FEED_GOLD : FEED_BTC];
        seed_pool(workload, call, 0, m == 0 ? POOL_GOLD : POOL_BTC, minted / 2,
                  minted / 2 / token_unit * price);
    } else {
        workload_begin(call, user->source, PARTY_STABILITY, "deposit");
        workload_args(workload, call, "ai", user->ref, 50000 * token_unit);
        call->note = NOTE_SAVE;
        call->amount = 50000 * token_unit;
    }
    call->party = 0;
    if (step != 4)
        call->what = m;
    call->auth = user->ref;
    return true;
}

bool workload_deploy(struct workload *workload, uint64_t now, struct workload_call *call)
{
    static deploy_step *const steps[] = {
        deploy_assets,        fund_users,   fund_partners,      fund_wallets,   create_contracts,
        initialize_contracts, found_dao,    initialize_tokens,  found_registry, found_markets,
        first_partners,       first_prices, first_attestations, first_money,
    };
    workload->now = now;
    while (workload->step < TIDE_COUNT(steps)) {
        if (steps[workload->step](workload, workload->part, call)) {
            workload->part++;
            return true;
        }
        workload->step++;
        workload->part = 0;
        call->ledger_end = true;
        if (workload->step < TIDE_COUNT(steps)) {
            workload_begin(call, 0, 0, "");
            call->ledger_end = true;
            return true; /* an empty call: only the ledger ends */
        }
    }
    return false;
}
