/* Deployment of the protocol in its published order, then the first funds and liquidity. */
#include "tidemark/i128.h"
#include "tools/sim/workload/workload.h"

enum { MINTS_PER_LEDGER = 40 }; /* keeps the ledgers of large populations small */

static const long long token_unit = 10000000; /* seven decimals */

typedef bool deploy_step(struct workload *workload, uint32_t i, struct workload_call *call);

/* A step makes its i-th call. It returns false behind the last one. */

/* Creates the contracts of USDC and XLM. */
static bool deploy_assets(struct workload *workload, uint32_t i, struct workload_call *call)
{
    (void)workload;
    if (i >= 2)
        return false;
    workload_begin(call, PARTY_DEPLOYER, PARTY_USDC + i, "");
    call->create = true;
    return true;
}

/* Issues USDC to users and wallet contracts. */
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

/* Issues USDC to the partners. */
static bool fund_partners(struct workload *workload, uint32_t i, struct workload_call *call)
{
    if (i >= PARTY_PARTNERS_MAX)
        return false;
    workload_begin(call, PARTY_ISSUER, PARTY_USDC, "mint");
    workload_args(workload, call, "ai", (int)(PARTY_PARTNER + i), 5000 * token_unit);
    return true;
}

/* Owners send XLM to their wallet contracts, which no genesis account entry can give them. */
static bool fund_wallets(struct workload *workload, uint32_t i, struct workload_call *call)
{
    if (i >= PARTY_WALLETS)
        return false;
    const struct workload_user *wallet = &workload->users[workload->parties->user_count + i];
    workload_begin(call, wallet->source, PARTY_XLM, "transfer");
    workload_args(workload, call, "aai", (int)wallet->source, wallet->ref, 300000 * token_unit);
    return true;
}

/* Creates the protocol's contracts and the tokens. */
static bool create_contracts(struct workload *workload, uint32_t i, struct workload_call *call)
{
    static const uint32_t order[] = {
        PARTY_COMPLIANCE, PARTY_ORACLE,    PARTY_ENGINE,    PARTY_POOL,
        PARTY_STABILITY,  PARTY_PARTNERS,  PARTY_EARNINGS,  PARTY_DAO,
        PARTY_TOKEN + 0,  PARTY_TOKEN + 1, PARTY_TOKEN + 2, PARTY_TOKEN + 3,
    };
    if (i >= TIDE_COUNT(order))
        return false;
    workload_begin(call, PARTY_DEPLOYER, order[i], "");
    call->create = true;
    if (i % 2) /* a constructor with arguments, which the model ignores */
        workload_args(workload, call, "as", PARTY_ADMIN, "constructor");
    call->ledger_end = i % 4 == 3;
    return true;
}

/* Initialises the contracts and connects them with each other. */
static bool initialize_contracts(struct workload *workload, uint32_t i, struct workload_call *call)
{
    enum { /* each a party_ref of a contract, as constant expressions */
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
    /* The first argument of every call is its caller. */
    uint32_t source = (uint32_t)calls[i].parties[0];
    workload_begin(call, source, calls[i].contract, calls[i].fn);
    for (int p = 0; p < calls[i].count; p++)
        workload_args(workload, call, "a", calls[i].parties[p]);
    if (calls[i].contract == PARTY_ORACLE) /* the TWAP window: the default */
        workload_args(workload, call, "t", 0LL);
    call->ledger_end = i == 8;
    return true;
}

/* Creates the governance wallet with three of five signers, and registers the oracle's
 * providers. */
static bool set_up_dao(struct workload *workload, uint32_t i, struct workload_call *call)
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

/* Initialises the tokens with the engine as their minter. */
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

/* Registers verifiers and signers, and whitelists the contracts that hold users' funds. */
static bool set_up_registry(struct workload *workload, uint32_t i, struct workload_call *call)
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

/* Registers a market. fee < 0: the stability fee of the market's terms. The first registration has
 * no fee, because the engine cannot pay it before it holds tokens. */
static void register_market(struct workload *workload, struct workload_call *call, uint32_t m,
                            long long fee)
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

/* Registers markets and collateral, and creates the pools. */
static bool set_up_markets(struct workload *workload, uint32_t i, struct workload_call *call)
{
    static const long long tiers[] = { 30, 100, 5, 42 };
    if (i >= 9)
        return false;
    if (i < 3) {
        register_market(workload, call, i, 0);
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
        /* the last pool's fee tier is refused: a proposal creates the pool later */
        call->note = NOTE_POOL_MADE;
        call->what = pool;
    }
    return true;
}

/* Registers the first partners in the name of the DAO contract. */
static bool first_partners(struct workload *workload, uint32_t i, struct workload_call *call)
{
    if (i >= 3)
        return false;
    tide_slice name = workload_partner_name(workload);
    workload_begin(call, PARTY_DAOWALLET, PARTY_PARTNERS, "register_partner");
    workload_args(workload, call, "aax", PARTY_DAOWALLET, (int)(PARTY_PARTNER + i), &name);
    call->auth = parties_contract(PARTY_DAO);
    call->note = NOTE_PARTNER;
    return true;
}

/* Three providers send prices: a quorum. */
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

/* Attests the founders and all wallet contracts but the last. One founder in ten has a blocked
 * country and is refused. Other users ask for attestation later. */
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

/* Adds liquidity to a pool in the name of user `at`. */
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

/* Returns how much the first user mints: in the showcase about half of what its collateral
 * carries. */
static long long first_mint(const struct workload *workload, uint32_t market)
{
    if (workload->profile == WORKLOAD_SHOWCASE)
        return market == 0 ? 24 * token_unit : token_unit;
    return market == 0 ? 20000 * token_unit : 60000 * token_unit;
}

/* Freezes a user for good, so that the showcase has one. */
static void freeze_one(struct workload *workload, struct workload_call *call)
{
    assert(WORKLOAD_FROZEN < workload->parties->user_count);
    workload_begin(call, PARTY_ADMIN, PARTY_COMPLIANCE, "freeze_account");
    workload_args(workload, call, "aas", PARTY_ADMIN, workload->users[WORKLOAD_FROZEN].ref,
                  "court");
}

/* Adds liquidity, opens vaults of the first user, and transfers synthetic tokens to the engine,
 * which pays its mint fees from them. */
static bool first_money(struct workload *workload, uint32_t i, struct workload_call *call)
{
    static const uint32_t markets[] = { 0, 2 };
    enum { STEPS = 6 };
    if (i < 2) {
        seed_pool(workload, call, i, POOL_XLM, 1000000 * token_unit, 405321 * token_unit);
        return true;
    }
    uint32_t step = (i - 2) % STEPS, m = (i - 2) / STEPS < 2 ? markets[(i - 2) / STEPS] : 0;
    if (i == 2 + 2 * STEPS && workload->profile == WORKLOAD_SHOWCASE) {
        freeze_one(workload, call);
        return true;
    }
    if ((i - 2) / STEPS >= 2)
        return false;
    const struct workload_user *user = &workload->users[0];
    long long minted = first_mint(workload, m);
    bool showcase = workload->profile == WORKLOAD_SHOWCASE;
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
                      showcase ? minted / 8 : 4000 * token_unit);
    } else if (step == 3) {
        register_market(workload, call, m, -1);
    } else if (step == 4) {
        int64_t price = workload->price[m == 0 ? FEED_GOLD : FEED_BTC];
        seed_pool(workload, call, 0, m == 0 ? POOL_GOLD : POOL_BTC, minted / 2,
                  (long long)((tide_raw_i128)(minted / 2) * price / token_unit));
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
        deploy_assets,        fund_users,   fund_partners,      fund_wallets,    create_contracts,
        initialize_contracts, set_up_dao,   initialize_tokens,  set_up_registry, set_up_markets,
        first_partners,       first_prices, first_attestations, first_money,
    };
    workload->now = now;
    while (workload->step < TIDE_COUNT(steps)) {
        /* A step's calls end with the end of their ledger. */
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
            return true; /* no call: only the ledger ends */
        }
    }
    return false;
}
