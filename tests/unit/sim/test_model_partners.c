/* Partners, revenue and its splits, checks that come late, and what a pause does not stop. */
#include "tests/unit/sim/model_world.h"

static void partner(struct world *w, uint32_t user)
{
    PASS(w, PARTNERS, "register_partner", U(5), U(user), sim_string(TIDE_SLICE("p")));
}

/* Revenue in USDC from user 1, whom nobody asked. */
static const struct sim_outcome *revenue(struct world *w, sim_amount amount, uint32_t id)
{
    return PASS(w, EARNINGS, "receive_revenue", U(1), C(USDC), sim_i128(amount), sim_sym("gift"),
                sim_u32(id));
}

static sim_amount usdc(struct world *w, sim_val who)
{
    return ASK(w, USDC, "balance", who).i128;
}

/* --- catalogs ------------------------------------------------------------------------- */

struct catalog {
    const char *symbol;
    sim_amount min_cr, liq_cr, penalty, ceiling;
};

#define CATALOG(c)                                                                             \
    U(2), sim_sym((c).symbol), C(SGOLD), sim_sym("OIL"), sim_sym("XLM"), sim_i128((c).min_cr), \
        sim_i128((c).liq_cr), sim_i128((c).penalty), sim_i128(7), sim_i128((c).ceiling)

static void test_catalog(void **state)
{
    struct world *w = *state;
    struct catalog bad = { "OIL", 12000, 12000, 1501, 10000000000001 };
    REFUSE(w, "address is not a registered partner", PARTNERS, "register_partner_asset",
           CATALOG(bad));
    partner(w, 2);
    PASS(w, PARTNERS, "deactivate_partner", U(5), sim_u32(0));
    REFUSE(w, "partner is not active", PARTNERS, "register_partner_asset", CATALOG(bad));
    REFUSE(w, "partner is not active", PARTNERS, "claim_revenue", U(2));
    REFUSE(w, "address already registered as partner", PARTNERS, "register_partner", U(5), U(2),
           sim_string(TIDE_SLICE("again")));
    const struct sim_outcome *out = PASS(w, PARTNERS, "reactivate_partner", U(5), sim_u32(0));
    assert_int_equal(out->event_count, 0);
    /* all four are wrong: one after the other is put right */
    REFUSE(w, "debt ceiling too high", PARTNERS, "register_partner_asset", CATALOG(bad));
    bad.ceiling--;
    REFUSE(w, "min CR must exceed liquidation CR", PARTNERS, "register_partner_asset",
           CATALOG(bad));
    bad.min_cr++;
    REFUSE(w, "liquidation penalty too high", PARTNERS, "register_partner_asset", CATALOG(bad));
    bad.penalty--;
    out = PASS(w, PARTNERS, "register_partner_asset", CATALOG(bad));
    assert_event(w, 0, "preg_asset");
    REFUSE(w, "asset already registered", PARTNERS, "register_partner_asset", CATALOG(bad));
    sim_val asset = ASK(w, PARTNERS, "get_partner_asset", sim_sym("OIL"));
    assert_false(sim_field_bool(&asset, "live"));
    assert_int_equal(asset.len, 7); /* ratios and the collateral's feed are not kept */
    assert_int_equal(ASK(w, PARTNERS, "get_partner_assets", sim_u32(0)).len, 1);
    const struct sim_outcome *none =
        sim_view(&w->h, contract(PARTNERS), "get_partner_assets", SIM_VALS(sim_u32(1)));
    assert_false(none->ok);
}

/* --- revenue ---------------------------------------------------------------------------- */

/* 1001: half is 500, the odd one stays with the protocol. */
static void test_partner_share(void **state)
{
    struct world *w = *state;
    partner(w, 2);
    partner(w, 3);
    const struct sim_outcome *out = revenue(w, 1001, 1);
    static const char *const order[] = { "transfer", "transfer", "preg_fwd",
                                         "partner_revenue_forwarded", "revenue_received" };
    assert_int_equal(out->event_count, TIDE_COUNT(order));
    for (uint32_t i = 0; i < TIDE_COUNT(order); i++)
        assert_event(w, i, order[i]);
    assert_amount(sim_field_i128(&out->events[4].data, "amount"), 1001);
    assert_amount(ASK(w, EARNINGS, "get_partner_epoch_revenue", sim_u64(0), sim_u32(1)).i128, 500);
    assert_amount(ASK(w, EARNINGS, "get_epoch_revenue", sim_u64(0), C(USDC)).i128, 501);
    PASS(w, PARTNERS, "set_partner_share", U(5), sim_u32(1), sim_i128(3333));
    revenue(w, 1000, 1); /* 333 */
    PASS(w, PARTNERS, "set_partner_share", U(5), sim_u32(1), sim_i128(0));
    revenue(w, 1000, 1); /* 0 means the usual half */
    sim_val stored = ASK(w, PARTNERS, "get_partner", sim_u32(1));
    assert_amount(sim_field_i128(&stored, "pending_revenue"), 1333);
    assert_amount(ASK(w, PARTNERS, "get_epoch_revenue", sim_u32(1), sim_u64(0)).i128, 1333);
    sim_amount before = usdc(w, U(3));
    assert_amount(PASS(w, PARTNERS, "claim_revenue", U(3))->ret.i128, 1333);
    assert_amount(usdc(w, U(3)) - before, 1333);
    REFUSE(w, "no revenue to claim", PARTNERS, "claim_revenue", U(3));
    stored = ASK(w, PARTNERS, "get_partner", sim_u32(1));
    assert_amount(sim_field_i128(&stored, "total_earned"), 1333);
    revenue(w, 1000, 0); /* partner 0 cannot be named: nobody's */
    stored = ASK(w, PARTNERS, "get_partner", sim_u32(0));
    assert_amount(sim_field_i128(&stored, "total_earned"), 0);
}

static void test_refused_revenue(void **state)
{
    struct world *w = *state;
    partner(w, 2);
    partner(w, 3);
    REFUSE(w, "amount must be positive", EARNINGS, "receive_revenue", U(1), C(USDC), sim_i128(0),
           sim_sym("x"), sim_u32(0));
    REFUSE(w, "unauthorised", PARTNERS, "credit_partner_revenue", U(1), sim_u32(1), sim_i128(1),
           sim_u64(0));
    PASS(w, PARTNERS, "deactivate_partner", U(5), sim_u32(1));
    sim_amount before = usdc(w, U(1));
    REFUSE(w, "partner is not active", EARNINGS, "receive_revenue", U(1), C(USDC), sim_i128(2),
           sim_sym("x"), sim_u32(1));
    assert_amount(usdc(w, U(1)), before);
    revenue(w, 1, 1); /* too little for a cut: nobody asks whether the partner is active */
}

/* Two pools of liquidity and two tokens, in the order in which the tokens came. */
static void test_split(void **state)
{
    struct world *w = *state;
    PASS(w, EARNINGS, "register_lp", A(ADMIN), C(POOL));
    PASS(w, EARNINGS, "receive_revenue", U(1), C(XLM), sim_i128(10003), sim_sym("a"), sim_u32(0));
    revenue(w, 3, 0);
    revenue(w, 4, 0);
    assert_int_equal(ASK(w, EARNINGS, "get_epoch_tokens", sim_u64(0)).len, 2);
    later(w, 604800);
    const struct sim_outcome *out = pass(w, EARNINGS, "finalize_epoch", SIM_NONE);
    /* XLM 10003: 1000, 500, 2000, twice 3000 / 2; USDC 7: 0, 0, 1, twice 2 / 2 */
    static const int64_t amounts[] = { 1000, 500, 2000, 1500, 1500, 1, 1, 1 };
    assert_int_equal(out->event_count, TIDE_COUNT(amounts) + 2);
    for (uint32_t i = 0; i < TIDE_COUNT(amounts); i++) {
        assert_amount(out->events[i].data.i128, amounts[i]);
        assert_true(sim_addr_eq(out->events[i].contract->address, contract(i < 5 ? XLM : USDC)));
    }
    assert_event(w, 8, "epoch_closed");
    assert_event(w, 9, "epoch_opened");
    assert_amount(ASK(w, XLM, "balance", C(EARNINGS)).i128, 10003 - 6500);
    /* plain transfers: nobody's books but the token's change */
    assert_amount(ask(w, STABILITY, "get_total_deposits", SIM_NONE).i128, 0);
    refuse(w, "epoch not yet complete", EARNINGS, "finalize_epoch", SIM_NONE);
}

/* A share is of the deposit of now, however small it was when the epoch closed. */
static void test_claim_of_now(void **state)
{
    struct world *w = *state;
    PASS(w, STABILITY, "deposit", U(2), sim_i128(100));
    revenue(w, 10000, 0);
    later(w, 604800);
    pass(w, EARNINGS, "finalize_epoch", SIM_NONE);
    PASS(w, STABILITY, "deposit", U(3), sim_i128(1000));
    sim_val epoch = sim_u64(0);
    sim_amount before = usdc(w, U(3));
    const struct sim_outcome *out = PASS(w, EARNINGS, "claim", U(3), list(&epoch, 1));
    assert_amount(out->ret.i128, 35000); /* 3500 * 10000 * 1000 / (100 * 10000) */
    assert_int_equal(out->event_count, 1);
    assert_event(w, 0, "revenue_claimed");
    assert_amount(usdc(w, U(3)), before); /* no tokens move */
    assert_true(ASK(w, EARNINGS, "has_claimed", U(3), sim_u64(0)).b);
}

/* --- the stability pool near its floor --------------------------------------------------------- */

static void absorb(struct world *w, sim_amount debt)
{
    PASS(w, STABILITY, "absorb_liquidation", C(ENGINE), sim_i128(debt), sim_i128(0), C(XLM));
}

/* p from 10^12 to 1500, to 1351 and below 1000; every step truncates. */
static void test_small_p(void **state)
{
    struct world *w = *state;
    PASS(w, STABILITY, "deposit", U(2), sim_i128(1000000000000));
    absorb(w, 999999998500);
    assert_amount(ASK(w, STABILITY, "get_compounded_deposit", U(2)).i128, 1500);
    PASS(w, STABILITY, "deposit", U(3), sim_i128(1000000000000));
    absorb(w, 100000000000); /* loss 99999999850 of 10^12; p less 149 */
    sim_val now = ask(w, STABILITY, "get_state", SIM_NONE);
    assert_amount(sim_field_i128(&now, "p"), 1351);
    assert_int_equal(sim_field_u64(&now, "epoch"), 0);
    assert_amount(ASK(w, STABILITY, "get_compounded_deposit", U(3)).i128, 900666666666);
    absorb(w, 450000000750); /* half of what is left: loss 5 * 10^11, p 676 */
    now = ask(w, STABILITY, "get_state", SIM_NONE);
    assert_int_equal(sim_field_u64(&now, "epoch"), 1);
    assert_int_equal(sim_field_u64(&now, "total_liq_count"), 3);
    assert_amount(sim_field_i128(&now, "total_deposits"), 450000000750);
    assert_amount(ASK(w, STABILITY, "get_compounded_deposit", U(3)).i128, 0);
    PASS(w, STABILITY, "deposit", U(3), sim_i128(1)); /* with the new snapshot all counts again */
    assert_amount(ASK(w, STABILITY, "get_compounded_deposit", U(3)).i128, 1000000000001);
}

/* --- the order of checks -------------------------------------------------------------------- */

static void test_late_checks(void **state)
{
    struct world *w = *state;
    world_pool(w);
    sim_val pool = sim_sym("P"), in = sim_i128(1000000000), much = sim_i128(996900610);
    REFUSE(w, "slippage: output below minimum", POOL, "swap_exact_in", U(1), pool, sim_bool(true),
           in, much, sim_u32(0));
    /* the partner is looked for before the minimum */
    REFUSE(w, "partner not found", POOL, "swap_exact_in", U(1), pool, sim_bool(true), in, much,
           sim_u32(4));
    sim_val after = ASK(w, POOL, "get_pool", pool);
    assert_amount(sim_field_i128(&after, "reserve_a"), UNITS(1000000));
    assert_amount(ASK(w, XLM, "balance", C(EARNINGS)).i128, 0);
    assert_amount(ASK(w, XLM, "balance", C(POOL)).i128, UNITS(1000000));
    PASS(w, POOL, "set_paused", A(ADMIN), pool, sim_bool(true));
    PASS(w, REGISTRY, "freeze_account", A(ADMIN), U(1), sim_sym("x"));
    REFUSE(w, "account is frozen", POOL, "swap_exact_in", U(1), sim_sym("NO"), sim_bool(true),
           sim_i128(0), much, sim_u32(0));
    REFUSE(w, "pool not found", POOL, "swap_exact_in", U(2), sim_sym("NO"), sim_bool(true),
           sim_i128(0), much, sim_u32(0));
    REFUSE(w, "pool is paused", POOL, "swap_exact_in", U(2), pool, sim_bool(true), sim_i128(0),
           much, sim_u32(0));
    PASS(w, POOL, "set_paused", A(ADMIN), pool, sim_bool(false));
    REFUSE(w, "amount_in must be positive", POOL, "swap_exact_in", U(2), pool, sim_bool(true),
           sim_i128(0), much, sim_u32(0));
}

/* So little goes in that nothing comes out: the token decides whether that passes. */
static void test_nothing_out(void **state)
{
    struct world *w = *state;
    world_market(w, 0);
    price(w, "XLM", 10000000);
    price(w, "GOLD", 10000000);
    PASS(w, ENGINE, "open_vault", U(0), sim_sym("sGOLD"), C(XLM), sim_i128(UNITS(1000)));
    PASS(w, ENGINE, "mint_synth", U(0), sim_sym("sGOLD"), sim_i128(UNITS(100)));
    PASS(w, POOL, "create_pool", A(ADMIN), sim_sym("G"), C(SGOLD), C(XLM), sim_i128(5));
    PASS(w, POOL, "add_liquidity", U(0), sim_sym("G"), sim_i128(UNITS(50)), sim_i128(UNITS(200)),
         sim_i128(0));
    REFUSE(w, "amount must be positive", POOL, "swap_exact_in", U(1), sim_sym("G"), sim_bool(false),
           sim_i128(3), sim_i128(0), sim_u32(0));
    REFUSE(w, "amount must be positive", POOL, "remove_liquidity", U(0), sim_sym("G"), sim_i128(0),
           sim_i128(0), sim_i128(0));
    world_pool(w);
    const struct sim_outcome *out = PASS(w, POOL, "swap_exact_in", U(1), sim_sym("P"),
                                         sim_bool(true), sim_i128(1), sim_i128(0), sim_u32(0));
    assert_amount(out->ret.i128, 0);
    assert_int_equal(out->event_count, 3);
}

static void test_pauses(void **state)
{
    struct world *w = *state;
    world_pool(w);
    world_market(w, 0);
    sim_val pool = sim_sym("P"), gold = sim_sym("sGOLD"), one = sim_i128(UNITS(1));
    price(w, "XLM", 10000000);
    price(w, "GOLD", 10000000);
    PASS(w, ENGINE, "open_vault", U(0), gold, C(XLM), sim_i128(UNITS(10)));
    PASS(w, ENGINE, "mint_synth", U(0), gold, one);
    PASS(w, STABILITY, "deposit", U(0), one);
    PASS(w, POOL, "set_paused", A(ADMIN), pool, sim_bool(true));
    PASS(w, ENGINE, "set_paused", A(ADMIN), sim_bool(true));
    PASS(w, STABILITY, "set_paused", A(ADMIN), sim_bool(true));
    REFUSE(w, "pool is paused", POOL, "add_liquidity", U(0), pool, one, one, sim_i128(0));
    PASS(w, POOL, "remove_liquidity", U(0), pool, one, sim_i128(0), sim_i128(0));
    PASS(w, POOL, "claim_fees", U(0), pool);
    REFUSE(w, "protocol is paused", ENGINE, "deposit_collateral", U(0), gold, one);
    REFUSE(w, "protocol is paused", ENGINE, "withdraw_collateral", U(0), gold, one);
    REFUSE(w, "protocol is paused", ENGINE, "liquidate", U(1), U(0), gold, one);
    PASS(w, ENGINE, "burn_synth", U(0), gold, one);
    REFUSE(w, "stability pool is paused", STABILITY, "deposit", U(0), one);
    REFUSE(w, "amount must be positive", STABILITY, "deposit", U(0), sim_i128(0));
    PASS(w, STABILITY, "withdraw", U(0), one);
    assert_amount(PASS(w, STABILITY, "claim_gains", U(0))->ret.i128, 0);
}

/* Whoever is not the stored admin or DAO, with the argument and without. */
static void test_wrong_hands(void **state)
{
    struct world *w = *state;
    world_pool(w);
    REFUSE(w, "unauthorised", STABILITY, "set_paused", A(DAOWALLET), sim_bool(true));
    REFUSE(w, "unauthorised", STABILITY, "set_compliance", A(ADMIN), C(ORACLE));
    REFUSE(w, "unauthorised", EARNINGS, "register_lp", A(DAOWALLET), C(POOL));
    REFUSE(w, "unauthorised", PARTNERS, "set_dao", A(DAOWALLET), U(0));
    REFUSE(w, "unauthorised", STABILITY, "absorb_liquidation", C(POOL), sim_i128(0), sim_i128(0),
           C(XLM));
    REFUSE(w, "already initialized", STABILITY, "initialize", U(0), C(USDC), C(ENGINE), U(0),
           C(REGISTRY));
    REFUSE(w, "already initialized", PARTNERS, "initialize", U(0), U(0), C(USDC), C(ENGINE),
           C(EARNINGS));
    /* the partners' DAO signs whatever stands in the argument */
    const struct sim_outcome *out =
        PASS(w, PARTNERS, "set_open_registration", U(3), sim_bool(true));
    assert_true(sim_addr_eq(out->auths[0].who, contract(DAO)));
    PASS(w, PARTNERS, "set_dao", A(ADMIN), U(4));
    out = PASS(w, PARTNERS, "set_open_registration", U(3), sim_bool(false));
    assert_true(sim_addr_eq(out->auths[0].who, account(USER0 + 4)));
}

int test_model_partners(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(test_catalog),         WORLD_TEST(test_partner_share),
        WORLD_TEST(test_refused_revenue), WORLD_TEST(test_split),
        WORLD_TEST(test_claim_of_now),    WORLD_TEST(test_small_p),
        WORLD_TEST(test_late_checks),     WORLD_TEST(test_nothing_out),
        WORLD_TEST(test_pauses),          WORLD_TEST(test_wrong_hands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
