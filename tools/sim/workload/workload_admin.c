/* Prices, partners, earnings, pauses, heals, and calls that can only fail. */
#include "tools/sim/ledger/lcm.h"
#include "tools/sim/workload/workload.h"

/* Most catalogs to register. A partner lists its catalogs in one entry, and the network stores no
 * entry over 64 KiB. */
enum { CATALOGS = 1000 };

/* Returns true if this move of prices belongs to a slump, in which XLM falls by about a fifth. The
 * TWAP needs the moves behind it to follow, and vaults near their limit can be liquidated. */
static bool in_slump(const struct workload *workload)
{
    enum { EVERY = 190, FIRST = 80, MOVES = 10 };
    return !workload->even && workload->moves >= FIRST && (workload->moves - FIRST) % EVERY < MOVES;
}

/* Moves each price by some hundredths of a percent, and slowly back toward its home. */
static void move_showcase_prices(struct workload *workload)
{
    static const int64_t reaches[WORKLOAD_FEEDS] = { 25, 12, 20, 30, 1, 35 };
    for (uint32_t i = 0; i < WORKLOAD_FEEDS; i++) {
        int64_t home = workload_home_price(workload, i), price = workload->price[i];
        int64_t step = workload_between(workload, -reaches[i], reaches[i]);
        workload->price[i] += price / 10000 * step + (home - price) / 120;
    }
    if (in_slump(workload))
        workload->price[FEED_XLM] -= workload->price[FEED_XLM] / 45;
    workload->moves++;
}

/* Moves each price at random but back toward its home, with a crash now and then. A third of the
 * home is the floor. */
void workload_move_prices(struct workload *workload)
{
    if (workload->profile == WORKLOAD_SHOWCASE) {
        move_showcase_prices(workload);
        return;
    }
    for (uint32_t i = 0; i < WORKLOAD_FEEDS; i++) {
        int64_t home = workload_home_price(workload, i);
        /* hundredths of a percent */
        int64_t reach = i == FEED_USDC ? 10 : i == FEED_XLM ? 220 : 120;
        int64_t step = workload_between(workload, -reach, reach);
        step += (home - workload->price[i]) * 600 / workload->price[i];
        if (i != FEED_USDC && workload_once_in(workload, i == FEED_XLM ? 14 : 90))
            step -= workload_between(workload, 700, 1400);
        workload->price[i] += workload->price[i] * step / 10000;
        if (workload->price[i] < home / 3)
            workload->price[i] = home / 3;
    }
}

/* Makes the batch of prices of one provider, each slightly off the true price. */
void workload_prices(struct workload *workload, struct workload_call *call)
{
    uint32_t feed = PARTY_FEED + --workload->round;
    workload_begin(call, feed, PARTY_ORACLE, "submit_prices");
    workload_args(workload, call, "a", (int)feed);
    workload_vec(call, WORKLOAD_FEEDS);
    for (uint32_t i = 0; i < WORKLOAD_FEEDS; i++)
        lcm_put_symbol(&call->args, workload_feed_names[i]);
    workload_vec(call, WORKLOAD_FEEDS);
    for (uint32_t i = 0; i < WORKLOAD_FEEDS; i++)
        workload_put(workload, call, 'i',
                     workload->price[i] +
                         workload->price[i] * workload_between(workload, -8, 8) / 10000);
}

/* Updates of the mean, aggregations, and single prices, some of which the oracle refuses. */
void workload_oracle(struct workload *workload, struct workload_call *call)
{
    uint32_t asset = workload_pick(workload, WORKLOAD_FEEDS), luck = workload_pick(workload, 20);
    const char *name = workload_once_in(workload, 15) ? "NOPE" : workload_feed_names[asset];
    if (luck < 7) {
        /* Most updates are of feeds that no vault uses: after a pause of days, the mean is far off
         * the price. */
        if (!workload_once_in(workload, 8) && strcmp(name, "NOPE") != 0)
            name = workload_feed_names[workload_once_in(workload, 2) ? FEED_OIL : FEED_USDC];
        workload_begin(call, workload->users[workload_free_user(workload)].source, PARTY_ORACLE,
                       "update_twap");
        workload_args(workload, call, "s", name);
    } else if (luck < 10) {
        workload_begin(call, workload->users[workload_free_user(workload)].source, PARTY_ORACLE,
                       "aggregate");
        workload_args(workload, call, "s", name);
    } else {
        uint32_t feed = PARTY_FEED + workload_pick(workload, PARTY_FEEDS);
        int64_t price = workload->price[asset];
        if (luck > 15)
            price = luck == 16 ? 0 : luck == 17 ? price * 2 : luck == 18 ? price / 2 : -5;
        workload_begin(call, feed, PARTY_ORACLE, "submit_price");
        workload_args(workload, call, "asi", (int)feed, name, (long long)price);
    }
}

/* Registers a partner, by the DAO or by itself. */
static void register_partner(struct workload *workload, struct workload_call *call)
{
    bool self = workload_once_in(workload, 3);
    uint32_t owner = self ? workload->users[workload_free_user(workload)].source
                          : PARTY_PARTNER + workload_pick(workload, PARTY_PARTNERS_MAX);
    tide_slice name = workload_partner_name(workload);
    workload_begin(call, self ? owner : PARTY_DAOWALLET, PARTY_PARTNERS,
                   self ? "self_register" : "register_partner");
    if (!self)
        workload_args(workload, call, "a", PARTY_DAOWALLET);
    workload_args(workload, call, "ax", (int)owner, &name);
    /* The registry's DAO is the DAO contract. The recorded network accepted a
     * signature of the DAO's wallet instead. */
    if (!self)
        call->auth = parties_contract(PARTY_DAO);
    call->note = NOTE_PARTNER;
}

/* Registers a partner's asset. PS0 is taken, some terms are out of bounds. */
static void register_catalog(struct workload *workload, struct workload_call *call)
{
    char symbol[16];
    uint32_t owner = PARTY_PARTNER + workload_pick(workload, PARTY_PARTNERS_MAX);
    bool taken = workload_once_in(workload, 6) || workload->catalog >= CATALOGS;
    snprintf(symbol, sizeof symbol, "PS%u", taken ? 0 : workload->catalog++);
    int64_t ceiling = workload_between(workload, 1, 1100);
    workload_begin(call, owner, PARTY_PARTNERS, "register_partner_asset");
    workload_args(
        workload, call, "asassiiiii", (int)owner, symbol,
        parties_contract(workload->catalog_native ? PARTY_XLM : PARTY_TOKEN + PARTY_MARKETS - 1),
        "OIL", "XLM", 20000LL, workload_once_in(workload, 10) ? 21000LL : 15000LL, 1000LL, 0LL,
        (long long)ceiling * 10000000000LL);
}

/* The DAO activates, deactivates or changes a partner or its asset, sometimes one that does not
 * exist. */
static void administer_partner(struct workload *workload, struct workload_call *call)
{
    static const char *const names[] = { "deactivate_partner", "reactivate_partner" };
    char symbol[16];
    uint32_t luck = workload_pick(workload, 9);
    int id = (int)workload_pick(workload,
                                workload_once_in(workload, 2) ? 4 : workload->partner_count + 1);
    if (luck < 4) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_PARTNERS, names[luck > 0]);
        workload_args(workload, call, "au", PARTY_DAOWALLET, id);
    } else if (luck < 6) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_PARTNERS, "set_partner_share");
        workload_args(workload, call, "aui", PARTY_DAOWALLET, id,
                      (long long)workload_between(workload, -1, 8400));
    } else if (luck < 8) {
        snprintf(symbol, sizeof symbol, "PS%u", workload_pick(workload, workload->catalog + 1));
        workload_begin(call, PARTY_DAOWALLET, PARTY_PARTNERS, "activate_partner_asset");
        workload_args(workload, call, "as", PARTY_DAOWALLET, symbol);
    } else {
        workload_begin(call, PARTY_DAOWALLET, PARTY_PARTNERS, "set_open_registration");
        workload_args(workload, call, "ab", PARTY_DAOWALLET, !workload_once_in(workload, 4));
    }
    call->auth = parties_contract(PARTY_DAO);
}

/* Closes an epoch or claims its revenue. */
static void use_earnings(struct workload *workload, struct workload_call *call)
{
    uint32_t by = workload->users[workload_free_user(workload)].source;
    if (workload_once_in(workload, 4)) {
        workload_begin(call, by, PARTY_EARNINGS, "finalize_epoch");
        return;
    }
    uint32_t count = 1 + workload_pick(workload, 4);
    workload_begin(call, by, PARTY_EARNINGS, "claim");
    workload_args(workload, call, "a", (int)by);
    workload_vec(call, count);
    for (uint32_t i = 0; i < count; i++)
        workload_put(workload, call, 't', workload_pick(workload, 12));
}

void workload_partners(struct workload *workload, struct workload_call *call)
{
    enum { SHOWCASE_PARTNERS = 6, SHOWCASE_ASSETS = 4, EARNINGS = 14 };
    uint32_t luck = workload_pick(workload, 20);
    if (workload->profile == WORKLOAD_SHOWCASE &&
        (luck < 3 ? workload->partner_count >= SHOWCASE_PARTNERS
                  : luck < 6 && workload->catalog >= SHOWCASE_ASSETS))
        luck = EARNINGS;
    if (luck < 3) {
        register_partner(workload, call);
    } else if (luck < 6) {
        register_catalog(workload, call);
    } else if (luck < 10) {
        uint32_t owner = PARTY_PARTNER + workload_pick(workload, PARTY_PARTNERS_MAX);
        workload_begin(call, owner, PARTY_PARTNERS, "claim_revenue");
        workload_args(workload, call, "a", (int)owner);
    } else if (luck < EARNINGS) {
        administer_partner(workload, call);
    } else {
        use_earnings(workload, call);
    }
}

/* Pauses a contract; a heal unpauses it. */
static void pause_contract(struct workload *workload, struct workload_call *call)
{
    uint32_t luck = workload_pick(workload, 4), ledgers = 1 + workload_pick(workload, 4);
    uint32_t place[] = { PARTY_ENGINE, PARTY_STABILITY, PARTY_POOL, PARTY_TOKEN };
    workload_begin(call, PARTY_ADMIN, place[luck], "set_paused");
    if (luck == 2)
        workload_args(workload, call, "asb", PARTY_ADMIN, workload_pool_names[POOL_XLM], 1);
    else
        workload_args(workload, call, "ab", PARTY_ADMIN, 1);
    uint32_t heal[] = { HEAL_ENGINE, HEAL_SAVINGS, HEAL_POOL, HEAL_TOKEN };
    workload_heal_later(workload, heal[luck], 0, ledgers);
}

/* Disables a market or changes its debt ceiling; a heal reverts it. */
static void change_market(struct workload *workload, struct workload_call *call)
{
    uint32_t market = workload_pick(workload, 3);
    if (workload_once_in(workload, 2)) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_ENGINE, "set_asset_enabled");
        workload_args(workload, call, "asb", PARTY_DAOWALLET, party_markets[market].symbol, 0);
        workload_heal_later(workload, HEAL_MARKET, market, 2 + workload_pick(workload, 6));
    } else {
        workload_begin(call, PARTY_DAOWALLET, PARTY_ENGINE, "set_debt_ceiling");
        workload_args(workload, call, "asi", PARTY_DAOWALLET, party_markets[market].symbol,
                      (long long)workload_between(workload, 1, 90000) * 10000000000LL);
        workload_heal_later(workload, HEAL_CEILING, market, 5 + workload_pick(workload, 30));
    }
}

/* Replaces a contract's code. Its storage stays. The hash is the only one that the network is known
 * to have. */
static void upgrade_contract(struct workload *workload, struct workload_call *call)
{
    static const uint8_t hash[TIDE_HASH_BYTES] = {
        0x93, 0xa4, 0x4b, 0xbb, 0x96, 0xc7, 0x51, 0x21, 0x8e, 0x4c, 0x00,
        0xd4, 0x79, 0xe4, 0xc1, 0x43, 0x58, 0x12, 0x2a, 0x38, 0x9a, 0xcc,
        0xa1, 0x62, 0x05, 0xb1, 0xe4, 0xd0, 0xdc, 0x5f, 0x94, 0x76,
    };
    static const uint32_t places[] = { PARTY_POOL,       PARTY_ENGINE,   PARTY_STABILITY,
                                       PARTY_COMPLIANCE, PARTY_EARNINGS, PARTY_ORACLE,
                                       PARTY_PARTNERS,   PARTY_DAO,      PARTY_TOKEN };
    uint32_t place = places[workload_pick(workload, TIDE_COUNT(places))];
    uint32_t by = place == PARTY_TOKEN ? PARTY_ADMIN : PARTY_DAOWALLET;
    /* 31 bytes are refused */
    tide_slice bytes = tide_slice_of(hash, workload_once_in(workload, 5) ? 31 : 32);
    workload_begin(call, by, place, "upgrade");
    workload_args(workload, call, "ay", (int)by, &bytes);
}

/* Disturbances are made only when one may begin. */
void workload_admin(struct workload *workload, struct workload_call *call)
{
    uint32_t luck = workload_pick(workload, 10);
    if (luck < 6 && !workload_may_disturb(workload))
        luck = 6 + workload_pick(workload, 4);
    if (luck < 3) {
        pause_contract(workload, call);
    } else if (luck < 6) {
        change_market(workload, call);
    } else if (luck < 8 && workload_once_in(workload, 6)) {
        upgrade_contract(workload, call);
    } else if (luck < 8) {
        int64_t fee = (int64_t)workload_pick(workload, 8) * 100;
        if (workload_once_in(workload, 9))
            fee = 2600; /* above the greatest fee: refused */
        workload_begin(call, PARTY_DAOWALLET, PARTY_POOL, "set_protocol_fee");
        workload_args(workload, call, "ai", PARTY_DAOWALLET, (long long)fee);
        workload_heal_later(workload, HEAL_FEE, 0, 10 + workload_pick(workload, 60));
    } else if (luck < 9) {
        uint32_t allowed = workload_pick(workload, 2);
        workload_begin(call, PARTY_DAOWALLET, PARTY_ENGINE, "set_collateral_allowed");
        workload_args(workload, call, "aab", PARTY_DAOWALLET,
                      parties_contract(PARTY_TOKEN + workload_pick(workload, 3)), (int)allowed);
    } else {
        workload_begin(call, PARTY_ADMIN, PARTY_EARNINGS, "register_lp");
        workload_args(workload, call, "aa",
                      workload_once_in(workload, 40) ? PARTY_ADMIN : PARTY_OUTSIDER,
                      parties_contract(PARTY_POOL));
    }
}

/* Makes a call that must be refused: wrong types, an unknown function, a wrong caller, an unknown
 * pool. */
void workload_mistake(struct workload *workload, struct workload_call *call)
{
    uint32_t by = workload->users[workload_free_user(workload)].source;
    uint32_t luck = workload_pick(workload, 7);
    tide_slice text = workload_text(workload);
    workload_begin(call, by, PARTY_POOL, "swap_exact_in");
    if (luck == 0) {
        workload_args(workload, call, "xs", &text, "XLMUSDC");
    } else if (luck == 1) {
        workload_begin(call, by, PARTY_ENGINE, "no_such_function");
        workload_args(workload, call, "ax", (int)by, &text);
    } else if (luck == 2) {
        workload_begin(call, by, PARTY_COMPLIANCE, "freeze_account");
        workload_args(workload, call, "aas", (int)by, (int)PARTY_ADMIN, "mine");
    } else if (luck == 3) {
        workload_begin(call, by, PARTY_POOL, "extend_ttl");
    } else if (luck == 4) {
        workload_begin(call, by, PARTY_ENGINE, "initialize");
        workload_args(workload, call, "aaaaa", (int)by, (int)by, (int)by, (int)by, (int)by);
    } else if (luck == 5) {
        workload_begin(call, by, PARTY_DAO, "propose");
        workload_args(workload, call, "ayyy", (int)by, &text, &text, &text);
    } else {
        workload_args(workload, call, "asbiiu", (int)by, "NOPOOL", 1, 100000LL, 0LL, 0);
    }
}

/* Unpauses a contract. */
static void heal_pause(struct workload *workload, struct workload_call *call,
                       const struct workload_heal *heal)
{
    static const uint32_t place[] = { PARTY_ENGINE, PARTY_STABILITY, PARTY_POOL, PARTY_TOKEN };
    workload_begin(call, PARTY_ADMIN, place[heal->kind], "set_paused");
    if (heal->kind == HEAL_POOL)
        workload_args(workload, call, "asb", PARTY_ADMIN, workload_pool_names[POOL_XLM], 0);
    else
        workload_args(workload, call, "ab", PARTY_ADMIN, 0);
}

/* Enables a market, or raises its debt ceiling. */
static void heal_market(struct workload *workload, struct workload_call *call,
                        const struct workload_heal *heal)
{
    const char *symbol = party_markets[heal->what].symbol;
    bool ceiling = heal->kind == HEAL_CEILING;
    workload_begin(call, PARTY_DAOWALLET, PARTY_ENGINE,
                   ceiling ? "set_debt_ceiling" : "set_asset_enabled");
    if (ceiling)
        workload_args(workload, call, "asi", PARTY_DAOWALLET, symbol, 900000000000000LL);
    else
        workload_args(workload, call, "asb", PARTY_DAOWALLET, symbol, 1);
}

void workload_heal_now(struct workload *workload, struct workload_call *call)
{
    /* workload_next has checked that a heal is due, so the search ends. */
    uint32_t at = 0;
    while (workload->heals[at].due > workload->ledger)
        at++;
    struct workload_heal heal = workload->heals[at];
    workload->heals[at] = workload->heals[--workload->heal_count];
    if (heal.kind <= HEAL_TOKEN) {
        heal_pause(workload, call, &heal);
    } else if (heal.kind == HEAL_MARKET || heal.kind == HEAL_CEILING) {
        heal_market(workload, call, &heal);
    } else if (heal.kind == HEAL_FEE) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_POOL, "set_protocol_fee");
        /* With strict authorisation, the pool cannot pass its fee on: a swap with a protocol fee
         * fails. */
        workload_args(workload, call, "ai", PARTY_DAOWALLET, workload->strict_auth ? 0LL : 500LL);
    } else if (heal.kind == HEAL_PERSON) {
        workload_begin(call, PARTY_ADMIN, PARTY_COMPLIANCE, "unfreeze_account");
        workload_args(workload, call, "aa", PARTY_ADMIN, workload->users[heal.what].ref);
    } else if (heal.kind == HEAL_SIGNER) {
        uint32_t verifier = PARTY_VERIFIER + heal.what % (PARTY_VERIFIERS - 1);
        workload_begin(call, verifier, PARTY_COMPLIANCE, "register_signer");
        workload_args(workload, call, "aa", (int)verifier, (int)(PARTY_SIGNER + heal.what));
    } else if (heal.kind == HEAL_HOLDER) {
        workload_begin(call, PARTY_ADMIN, PARTY_TOKEN + (heal.what >> 24), "set_frozen");
        workload_args(workload, call, "aab", PARTY_ADMIN, workload->users[heal.what & 0xffffff].ref,
                      0);
    } else {
        bool country = heal.kind == HEAL_COUNTRY;
        workload_begin(call, PARTY_DAOWALLET, PARTY_COMPLIANCE,
                       country ? "unblock_jurisdiction" : "add_verifier");
        workload_args(workload, call, country ? "au" : "aa", PARTY_DAOWALLET, (int)heal.what);
    }
}
