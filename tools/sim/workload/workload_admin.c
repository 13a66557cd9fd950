/* Prices, partners, earnings, switches, and calls that can only fail. */
#include "tools/sim/ledger/lcm.h"
#include "tools/sim/workload/workload.h"

/* A partner lists its catalogs in one entry, and the network keeps no entry over 64 KiB. */
enum { CATALOGS = 1000 };

void story_move_prices(struct story *story)
{
    static const int64_t homes[STORY_FEEDS] = { 11013326, 39679865, 6899949,
                                                24737500, 9984005,  4053210 };
    for (uint32_t i = 0; i < STORY_FEEDS; i++) {
        int64_t reach = i == FEED_USDC ? 10 : i == FEED_XLM ? 220 : 120; /* hundredths of 1 % */
        int64_t step = story_between(story, -reach, reach);
        step += (homes[i] - story->price[i]) * 600 / story->price[i];
        if (i != FEED_USDC && story_once_in(story, i == FEED_XLM ? 14 : 90))
            step -= story_between(story, 700, 1400);
        story->price[i] += story->price[i] * step / 10000;
        if (story->price[i] < homes[i] / 3)
            story->price[i] = homes[i] / 3;
    }
}

/* One provider's batch of all prices, each a little beside the true one. */
void story_prices(struct story *story, struct story_call *call)
{
    uint32_t feed = CAST_FEED + --story->round;
    story_begin(call, feed, CAST_ORACLE, "submit_prices");
    story_args(story, call, "a", (int)feed);
    story_vec(call, STORY_FEEDS);
    for (uint32_t i = 0; i < STORY_FEEDS; i++)
        lcm_put_symbol(&call->args, story_feed_names[i]);
    story_vec(call, STORY_FEEDS);
    for (uint32_t i = 0; i < STORY_FEEDS; i++)
        story_put(story, call, 'i',
                  story->price[i] + story->price[i] * story_between(story, -8, 8) / 10000);
}

void story_oracle(struct story *story, struct story_call *call)
{
    uint32_t asset = story_pick(story, STORY_FEEDS), luck = story_pick(story, 20);
    const char *name = story_once_in(story, 15) ? "NOPE" : story_feed_names[asset];
    if (luck < 7) {
        /* mostly where no market looks: a mean over a pause of days puts its price far off */
        if (!story_once_in(story, 8) && strcmp(name, "NOPE") != 0)
            name = story_feed_names[story_once_in(story, 2) ? FEED_OIL : FEED_USDC];
        story_begin(call, story->users[story_free_user(story)].source, CAST_ORACLE, "update_twap");
        story_args(story, call, "s", name);
    } else if (luck < 10) {
        story_begin(call, story->users[story_free_user(story)].source, CAST_ORACLE, "aggregate");
        story_args(story, call, "s", name);
    } else {
        uint32_t feed = CAST_FEED + story_pick(story, CAST_FEEDS);
        int64_t price = story->price[asset];
        if (luck > 15)
            price = luck == 16 ? 0 : luck == 17 ? price * 2 : luck == 18 ? price / 2 : -5;
        story_begin(call, feed, CAST_ORACLE, "submit_price");
        story_args(story, call, "asi", (int)feed, name, (long long)price);
    }
}

static void new_partner(struct story *story, struct story_call *call)
{
    bool self = story_once_in(story, 3);
    uint32_t owner = self ? story->users[story_free_user(story)].source
                          : CAST_PARTNER + story_pick(story, CAST_PARTNERS_MAX);
    tide_slice name = story_text(story);
    story_begin(call, self ? owner : CAST_DAOWALLET, CAST_PARTNERS,
                self ? "self_register" : "register_partner");
    if (!self)
        story_args(story, call, "a", CAST_DAOWALLET);
    story_args(story, call, "ax", (int)owner, &name);
    /* the registry's DAO is the DAO contract; the recorded network let its wallet speak for it */
    if (!self)
        call->auth = cast_contract(CAST_DAO);
    call->note = NOTE_PARTNER;
}

static void new_catalog(struct story *story, struct story_call *call)
{
    char symbol[16];
    uint32_t owner = CAST_PARTNER + story_pick(story, CAST_PARTNERS_MAX);
    bool taken = story_once_in(story, 6) || story->catalog >= CATALOGS;
    snprintf(symbol, sizeof symbol, "PS%u", taken ? 0 : story->catalog++);
    story_begin(call, owner, CAST_PARTNERS, "register_partner_asset");
    story_args(story, call, "asassiiiii", (int)owner, symbol,
               cast_contract(story->catalog_native ? CAST_XLM : CAST_TOKEN + CAST_MARKETS - 1),
               "OIL", "XLM", 20000LL, story_once_in(story, 10) ? 21000LL : 15000LL, 1000LL, 0LL,
               (long long)story_between(story, 1, 1100) * 10000000000LL);
}

static void direct_partner(struct story *story, struct story_call *call)
{
    static const char *const names[] = { "deactivate_partner", "reactivate_partner" };
    char symbol[16];
    uint32_t luck = story_pick(story, 9);
    int id = (int)story_pick(story, story_once_in(story, 2) ? 4 : story->partner_count + 1);
    if (luck < 4) {
        story_begin(call, CAST_DAOWALLET, CAST_PARTNERS, names[luck > 0]);
        story_args(story, call, "au", CAST_DAOWALLET, id);
    } else if (luck < 6) {
        story_begin(call, CAST_DAOWALLET, CAST_PARTNERS, "set_partner_share");
        story_args(story, call, "aui", CAST_DAOWALLET, id,
                   (long long)story_between(story, -1, 8400));
    } else if (luck < 8) {
        snprintf(symbol, sizeof symbol, "PS%u", story_pick(story, story->catalog + 1));
        story_begin(call, CAST_DAOWALLET, CAST_PARTNERS, "activate_partner_asset");
        story_args(story, call, "as", CAST_DAOWALLET, symbol);
    } else {
        story_begin(call, CAST_DAOWALLET, CAST_PARTNERS, "set_open_registration");
        story_args(story, call, "ab", CAST_DAOWALLET, !story_once_in(story, 4));
    }
    call->auth = cast_contract(CAST_DAO);
}

static void earnings(struct story *story, struct story_call *call)
{
    uint32_t by = story->users[story_free_user(story)].source;
    if (story_once_in(story, 4)) {
        story_begin(call, by, CAST_EARNINGS, "finalize_epoch");
        return;
    }
    uint32_t count = 1 + story_pick(story, 4);
    story_begin(call, by, CAST_EARNINGS, "claim");
    story_args(story, call, "a", (int)by);
    story_vec(call, count);
    for (uint32_t i = 0; i < count; i++)
        story_put(story, call, 't', story_pick(story, 12));
}

void story_partners(struct story *story, struct story_call *call)
{
    uint32_t luck = story_pick(story, 20);
    if (luck < 3) {
        new_partner(story, call);
    } else if (luck < 6) {
        new_catalog(story, call);
    } else if (luck < 10) {
        uint32_t owner = CAST_PARTNER + story_pick(story, CAST_PARTNERS_MAX);
        story_begin(call, owner, CAST_PARTNERS, "claim_revenue");
        story_args(story, call, "a", (int)owner);
    } else if (luck < 14) {
        direct_partner(story, call);
    } else {
        earnings(story, call);
    }
}

static void pause_something(struct story *story, struct story_call *call)
{
    uint32_t luck = story_pick(story, 4), ledgers = 1 + story_pick(story, 4);
    uint32_t place[] = { CAST_ENGINE, CAST_STABILITY, CAST_POOL, CAST_TOKEN };
    story_begin(call, CAST_ADMIN, place[luck], "set_paused");
    if (luck == 2)
        story_args(story, call, "asb", CAST_ADMIN, story_pool_names[POOL_XLM], 1);
    else
        story_args(story, call, "ab", CAST_ADMIN, 1);
    uint32_t heal[] = { HEAL_ENGINE, HEAL_SAVINGS, HEAL_POOL, HEAL_TOKEN };
    story_heal_later(story, heal[luck], 0, ledgers);
}

static void set_market(struct story *story, struct story_call *call)
{
    uint32_t market = story_pick(story, 3);
    if (story_once_in(story, 2)) {
        story_begin(call, CAST_DAOWALLET, CAST_ENGINE, "set_asset_enabled");
        story_args(story, call, "asb", CAST_DAOWALLET, cast_markets[market].symbol, 0);
        story_heal_later(story, HEAL_MARKET, market, 2 + story_pick(story, 6));
    } else {
        story_begin(call, CAST_DAOWALLET, CAST_ENGINE, "set_debt_ceiling");
        story_args(story, call, "asi", CAST_DAOWALLET, cast_markets[market].symbol,
                   (long long)story_between(story, 1, 90000) * 10000000000LL);
        story_heal_later(story, HEAL_CEILING, market, 5 + story_pick(story, 30));
    }
}

/* New code for a contract; its storage stays. Only this hash is known to be on the ledger. */
static void upgrade(struct story *story, struct story_call *call)
{
    static const uint8_t hash[TIDE_HASH_BYTES] = {
        0x93, 0xa4, 0x4b, 0xbb, 0x96, 0xc7, 0x51, 0x21, 0x8e, 0x4c, 0x00,
        0xd4, 0x79, 0xe4, 0xc1, 0x43, 0x58, 0x12, 0x2a, 0x38, 0x9a, 0xcc,
        0xa1, 0x62, 0x05, 0xb1, 0xe4, 0xd0, 0xdc, 0x5f, 0x94, 0x76,
    };
    static const uint32_t places[] = { CAST_POOL,       CAST_ENGINE,   CAST_STABILITY,
                                       CAST_COMPLIANCE, CAST_EARNINGS, CAST_ORACLE,
                                       CAST_PARTNERS,   CAST_DAO,      CAST_TOKEN };
    uint32_t place = places[story_pick(story, TIDE_COUNT(places))];
    uint32_t by = place == CAST_TOKEN ? CAST_ADMIN : CAST_DAOWALLET;
    tide_slice bytes = tide_slice_of(hash, story_once_in(story, 5) ? 31 : 32);
    story_begin(call, by, place, "upgrade");
    story_args(story, call, "ay", (int)by, &bytes);
}

void story_admin(struct story *story, struct story_call *call)
{
    uint32_t luck = story_pick(story, 10);
    if (luck < 6 && !story_may_disturb(story))
        luck = 6 + story_pick(story, 4);
    if (luck < 3) {
        pause_something(story, call);
    } else if (luck < 6) {
        set_market(story, call);
    } else if (luck < 8 && story_once_in(story, 6)) {
        upgrade(story, call);
    } else if (luck < 8) {
        int64_t fee = story_pick(story, 8) * 100;
        if (story_once_in(story, 9))
            fee = 2600;
        story_begin(call, CAST_DAOWALLET, CAST_POOL, "set_protocol_fee");
        story_args(story, call, "ai", CAST_DAOWALLET, (long long)fee);
        story_heal_later(story, HEAL_FEE, 0, 10 + story_pick(story, 60));
    } else if (luck < 9) {
        story_begin(call, CAST_DAOWALLET, CAST_ENGINE, "set_collateral_allowed");
        story_args(story, call, "aab", CAST_DAOWALLET,
                   cast_contract(CAST_TOKEN + story_pick(story, 3)), (int)story_pick(story, 2));
    } else {
        story_begin(call, CAST_ADMIN, CAST_EARNINGS, "register_lp");
        story_args(story, call, "aa", story_once_in(story, 40) ? CAST_ADMIN : CAST_OUTSIDER,
                   cast_contract(CAST_POOL));
    }
}

/* Wrong callers, wrong types, unknown functions: every one is refused. */
void story_mistake(struct story *story, struct story_call *call)
{
    uint32_t by = story->users[story_free_user(story)].source;
    uint32_t luck = story_pick(story, 7);
    tide_slice text = story_text(story);
    story_begin(call, by, CAST_POOL, "swap_exact_in");
    if (luck == 0) {
        story_args(story, call, "xs", &text, "XLMUSDC");
    } else if (luck == 1) {
        story_begin(call, by, CAST_ENGINE, "no_such_function");
        story_args(story, call, "ax", (int)by, &text);
    } else if (luck == 2) {
        story_begin(call, by, CAST_COMPLIANCE, "freeze_account");
        story_args(story, call, "aas", (int)by, (int)CAST_ADMIN, "mine");
    } else if (luck == 3) {
        story_begin(call, by, CAST_POOL, "extend_ttl");
    } else if (luck == 4) {
        story_begin(call, by, CAST_ENGINE, "initialize");
        story_args(story, call, "aaaaa", (int)by, (int)by, (int)by, (int)by, (int)by);
    } else if (luck == 5) {
        story_begin(call, by, CAST_DAO, "propose");
        story_args(story, call, "ayyy", (int)by, &text, &text, &text);
    } else {
        story_args(story, call, "asbiiu", (int)by, "NOPOOL", 1, 100000LL, 0LL, 0);
    }
}

static void heal_switch(struct story *story, struct story_call *call, const struct story_heal *heal)
{
    static const uint32_t place[] = { CAST_ENGINE, CAST_STABILITY, CAST_POOL, CAST_TOKEN };
    story_begin(call, CAST_ADMIN, place[heal->kind], "set_paused");
    if (heal->kind == HEAL_POOL)
        story_args(story, call, "asb", CAST_ADMIN, story_pool_names[POOL_XLM], 0);
    else
        story_args(story, call, "ab", CAST_ADMIN, 0);
}

static void heal_market(struct story *story, struct story_call *call, const struct story_heal *heal)
{
    const char *symbol = cast_markets[heal->what].symbol;
    bool ceiling = heal->kind == HEAL_CEILING;
    story_begin(call, CAST_DAOWALLET, CAST_ENGINE,
                ceiling ? "set_debt_ceiling" : "set_asset_enabled");
    if (ceiling)
        story_args(story, call, "asi", CAST_DAOWALLET, symbol, 900000000000000LL);
    else
        story_args(story, call, "asb", CAST_DAOWALLET, symbol, 1);
}

void story_heal_now(struct story *story, struct story_call *call)
{
    uint32_t at = 0;
    while (story->heals[at].due > story->ledger)
        at++;
    struct story_heal heal = story->heals[at];
    story->heals[at] = story->heals[--story->heal_count];
    if (heal.kind <= HEAL_TOKEN) {
        heal_switch(story, call, &heal);
    } else if (heal.kind == HEAL_MARKET || heal.kind == HEAL_CEILING) {
        heal_market(story, call, &heal);
    } else if (heal.kind == HEAL_FEE) {
        story_begin(call, CAST_DAOWALLET, CAST_POOL, "set_protocol_fee");
        story_args(story, call, "ai", CAST_DAOWALLET, story->strict_auth ? 0LL : 500LL);
    } else if (heal.kind == HEAL_PERSON) {
        story_begin(call, CAST_ADMIN, CAST_COMPLIANCE, "unfreeze_account");
        story_args(story, call, "aa", CAST_ADMIN, story->users[heal.what].ref);
    } else if (heal.kind == HEAL_SIGNER) {
        uint32_t verifier = CAST_VERIFIER + heal.what % (CAST_VERIFIERS - 1);
        story_begin(call, verifier, CAST_COMPLIANCE, "register_signer");
        story_args(story, call, "aa", (int)verifier, (int)(CAST_SIGNER + heal.what));
    } else if (heal.kind == HEAL_HOLDER) {
        story_begin(call, CAST_ADMIN, CAST_TOKEN + (heal.what >> 24), "set_frozen");
        story_args(story, call, "aab", CAST_ADMIN, story->users[heal.what & 0xffffff].ref, 0);
    } else {
        bool country = heal.kind == HEAL_COUNTRY;
        story_begin(call, CAST_DAOWALLET, CAST_COMPLIANCE,
                    country ? "unblock_jurisdiction" : "add_verifier");
        story_args(story, call, country ? "au" : "aa", CAST_DAOWALLET, (int)heal.what);
    }
}
