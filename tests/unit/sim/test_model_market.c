/* Pools, vaults, liquidations, the stability pool, epochs: amounts worked out by hand. */
#include "tests/unit/sim/model_world.h"

static const struct sim_outcome *swap(struct world *w, uint32_t user, sim_amount in,
                                      uint32_t partner)
{
    return PASS(w, POOL, "swap_exact_in", U(user), sim_sym("P"), sim_bool(true), sim_i128(in),
                sim_i128(0), sim_u32(partner));
}

static void swap_refused(struct world *w, const char *reason, sim_amount in, uint32_t partner)
{
    REFUSE(w, reason, POOL, "swap_exact_in", U(1), sim_sym("P"), sim_bool(true), sim_i128(in),
           sim_i128(0), sim_u32(partner));
}

static sim_amount held(struct world *w, uint8_t token, sim_val who)
{
    return ASK(w, token, "balance", who).i128;
}

/* 100 in: fee 0.3, of it 5 % for the protocol; out = 1e13 * 997000000 / (1e13 + 997000000). */
static void test_swap(void **state)
{
    struct world *w = *state;
    world_pool(w);
    const struct sim_outcome *out =
        PASS(w, POOL, "swap_exact_in", U(1), sim_sym("P"), sim_bool(true), sim_i128(1000000000),
             sim_i128(996900609), sim_u32(0));
    assert_amount(out->ret.i128, 996900609);
    assert_int_equal(out->event_count, 5);
    assert_event(w, 3, "revenue_received");
    assert_event(w, 4, "swap");
    sim_val pool = ASK(w, POOL, "get_pool", sim_sym("P"));
    assert_amount(sim_field_i128(&pool, "reserve_a"), UNITS(1000000) + 1000000000);
    assert_amount(sim_field_i128(&pool, "reserve_b"), UNITS(1000000) - 996900609);
    assert_amount(sim_field_i128(&pool, "fee_a_accum"), 285000);
    assert_amount(sim_field_i128(&pool, "fee_b_accum"), 0);
    assert_amount(held(w, XLM, C(EARNINGS)), 150000);
    sim_val fees = ASK(w, POOL, "claimable_fees", sim_sym("P"), U(0));
    assert_amount(fees.vec[0].i128, 2849999); /* of the locked thousand shares nobody claims */
}

/* 101 bps of the reserve is the first that is refused. */
static void test_impact(void **state)
{
    struct world *w = *state;
    world_pool(w);
    PASS(w, POOL, "set_protocol_fee", A(DAOWALLET), sim_i128(0));
    REFUSE(w, "price impact too high", POOL, "swap_exact_in", U(1), sim_sym("P"), sim_bool(true),
           sim_i128(102337520695), sim_i128(0), sim_u32(0));
    PASS(w, POOL, "swap_exact_in", U(1), sim_sym("P"), sim_bool(true), sim_i128(102337520694),
         sim_i128(100999999999), sim_u32(0));
}

static void test_liquidity(void **state)
{
    struct world *w = *state;
    world_pool(w);
    sim_val first = ASK(w, POOL, "get_lp_position", sim_sym("P"), U(0));
    assert_amount(sim_field_i128(&first, "shares"), UNITS(1000000) - 1000);
    /* the poorer side counts, both are paid in full */
    const struct sim_outcome *out = PASS(w, POOL, "add_liquidity", U(1), sim_sym("P"),
                                         sim_i128(UNITS(10)), sim_i128(UNITS(20)), sim_i128(0));
    assert_amount(out->ret.i128, UNITS(10));
    REFUSE(w, "insufficient shares", POOL, "remove_liquidity", U(1), sim_sym("P"),
           sim_i128(UNITS(10) + 1), sim_i128(0), sim_i128(0));
    out = PASS(w, POOL, "remove_liquidity", U(1), sim_sym("P"), sim_i128(UNITS(10)), sim_i128(0),
               sim_i128(0));
    /* 1e8 * 10000200000000 / 10000100000000 on the richer side */
    assert_amount(out->ret.vec[0].i128, 100000000);
    assert_amount(out->ret.vec[1].i128, 100000999);
    sim_val empty = ASK(w, POOL, "get_lp_position", sim_sym("P"), U(1));
    assert_amount(sim_field_i128(&empty, "shares"), 0);
    /* nothing removed is still a removal where the token passes zero */
    out = PASS(w, POOL, "remove_liquidity", U(1), sim_sym("P"), sim_i128(0), sim_i128(0),
               sim_i128(0));
    assert_int_equal(out->event_count, 3);
}

static void test_partner_tag(void **state)
{
    struct world *w = *state;
    world_pool(w);
    PASS(w, PARTNERS, "register_partner", A(ADMIN), U(4), sim_string(TIDE_SLICE("zero")));
    PASS(w, PARTNERS, "register_partner", A(ADMIN), U(5), sim_string(TIDE_SLICE("one")));
    swap_refused(w, "partner not found", 1000000000, 7);
    const struct sim_outcome *out = swap(w, 1, 1000000000, 1);
    static const char *const order[] = { "transfer",         "transfer",
                                         "transfer",         "transfer",
                                         "preg_fwd",         "partner_revenue_forwarded",
                                         "revenue_received", "swap" };
    assert_int_equal(out->event_count, TIDE_COUNT(order));
    for (uint32_t i = 0; i < TIDE_COUNT(order); i++)
        assert_event(w, i, order[i]);
    sim_val one = ASK(w, PARTNERS, "get_partner", sim_u32(1));
    assert_amount(sim_field_i128(&one, "pending_revenue"), 75000);
    REFUSE(w, "Ok(Contract(10))", PARTNERS, "claim_revenue", U(5)); /* it is owed USDC, holds XLM */
    PASS(w, PARTNERS, "deactivate_partner", A(ADMIN), sim_u32(1));
    swap_refused(w, "partner is not active", 1000000000, 1);
    swap(w, 1, 1000000000, 0);
}

static void test_dust_skips_partner(void **state)
{
    struct world *w = *state;
    world_pool(w);
    /* fee 9999 * 30 / 10000 = 29, protocol's 29 * 500 / 10000 = 1, the partner's half 0 */
    swap(w, 1, 9999, 7);
    swap_refused(w, "partner not found", 13334, 7);
}

/* --- vaults ---------------------------------------------------------------------------- */

static void open_vault(struct world *w, uint32_t user, sim_amount collateral, sim_amount debt)
{
    PASS(w, ENGINE, "open_vault", U(user), sim_sym("sGOLD"), C(XLM), sim_i128(collateral));
    if (debt)
        PASS(w, ENGINE, "mint_synth", U(user), sim_sym("sGOLD"), sim_i128(debt));
}

static void test_vault(void **state)
{
    struct world *w = *state;
    world_market(w, 0);
    price(w, "XLM", 10000000);
    price(w, "GOLD", 20000000);
    open_vault(w, 0, UNITS(300), UNITS(100)); /* 300 against 200: exactly 150 % */
    assert_amount(ASK(w, ENGINE, "get_cr_bps", U(0), sim_sym("sGOLD")).i128, 15000);
    REFUSE(w, "collateral ratio too low", ENGINE, "mint_synth", U(0), sim_sym("sGOLD"),
           sim_i128(1));
    REFUSE(w, "collateral ratio too low", ENGINE, "withdraw_collateral", U(0), sim_sym("sGOLD"),
           sim_i128(1));
    const struct sim_outcome *out =
        PASS(w, ENGINE, "burn_synth", U(0), sim_sym("sGOLD"), sim_i128(UNITS(1000)));
    assert_amount(sim_field_i128(&out->events[1].data, "amount"), UNITS(100));
    REFUSE(w, "amount must be positive", ENGINE, "burn_synth", U(0), sim_sym("sGOLD"),
           sim_i128(5)); /* debt 0: the token refuses a burn of nothing */
    assert_amount(ASK(w, ENGINE, "get_debt_total", sim_sym("sGOLD")).i128, 0);
}

/* Which functions look at a price, and when. */
static void test_stale_prices(void **state)
{
    struct world *w = *state;
    world_market(w, 0);
    open_vault(w, 0, UNITS(300), 0); /* never had a price */
    PASS(w, ENGINE, "deposit_collateral", U(0), sim_sym("sGOLD"), sim_i128(UNITS(1)));
    PASS(w, ENGINE, "withdraw_collateral", U(0), sim_sym("sGOLD"), sim_i128(UNITS(1)));
    REFUSE(w, "no price feed for asset", ENGINE, "mint_synth", U(0), sim_sym("sGOLD"), sim_i128(1));
    REFUSE(w, "no price feed for asset", ENGINE, "liquidate", U(1), U(0), sim_sym("sGOLD"),
           sim_i128(1));
    price(w, "XLM", 10000000);
    price(w, "GOLD", 20000000);
    PASS(w, ENGINE, "mint_synth", U(0), sim_sym("sGOLD"), sim_i128(UNITS(10)));
    later(w, 600);
    PASS(w, ENGINE, "mint_synth", U(0), sim_sym("sGOLD"), sim_i128(1)); /* 600 s still answers */
    later(w, 1);
    REFUSE(w, "TWAP is stale", ENGINE, "withdraw_collateral", U(0), sim_sym("sGOLD"), sim_i128(1));
    PASS(w, ENGINE, "burn_synth", U(0), sim_sym("sGOLD"), sim_i128(UNITS(5)));
}

/* Collateral 250, debt 100 at 2.2: 113.63 %. Repaid whole: 220 + 22 = 242 seized, 8 to the pool. */
static void test_liquidation(void **state)
{
    struct world *w = *state;
    world_market(w, 0);
    price(w, "XLM", 10000000);
    price(w, "GOLD", 16666666);
    open_vault(w, 0, UNITS(250), UNITS(100));
    open_vault(w, 1, UNITS(1000), UNITS(100));
    REFUSE(w, "vault is not undercollateralised", ENGINE, "liquidate", U(1), U(0), sim_sym("sGOLD"),
           sim_i128(1));
    price(w, "GOLD", 19999999);
    price(w, "GOLD", 22000000);
    sim_amount before = held(w, XLM, U(1));
    const struct sim_outcome *out =
        PASS(w, ENGINE, "liquidate", U(1), U(0), sim_sym("sGOLD"), sim_i128(UNITS(500)));
    assert_int_equal(out->event_count, 4);
    assert_event(w, 0, "burn");
    assert_event(w, 1, "transfer");
    assert_event(w, 2, "transfer");
    assert_event(w, 3, "liq");
    assert_amount(held(w, XLM, U(1)) - before, UNITS(242));
    assert_amount(held(w, XLM, C(STABILITY)), UNITS(8));
    assert_int_equal(ASK(w, ENGINE, "get_vault", U(0), sim_sym("sGOLD")).type, TIDE_SCV_VOID);
    assert_amount(ASK(w, ENGINE, "get_debt_total", sim_sym("sGOLD")).i128, UNITS(100));
    /* the list is a log */
    open_vault(w, 0, UNITS(1), 0);
    assert_int_equal(ASK(w, ENGINE, "get_vaults_by_owner", U(0)).len, 2);
}

/* So deep that the seized part is all there is: debt stays without collateral. */
static void test_bad_debt(void **state)
{
    struct world *w = *state;
    world_market(w, 0);
    price(w, "XLM", 10000000);
    price(w, "GOLD", 10000000);
    open_vault(w, 0, UNITS(150), UNITS(100));
    open_vault(w, 1, UNITS(1000), UNITS(100));
    for (sim_amount p = 12000000; p < 20000000; p = p * 12 / 10)
        price(w, "GOLD", p);
    PASS(w, ENGINE, "liquidate", U(1), U(0), sim_sym("sGOLD"), sim_i128(UNITS(90)));
    sim_val vault = ASK(w, ENGINE, "get_vault", U(0), sim_sym("sGOLD"));
    assert_amount(sim_field_i128(&vault, "collateral"), 0);
    assert_amount(sim_field_i128(&vault, "debt"), UNITS(10));
}

static void test_mint_fee(void **state)
{
    struct world *w = *state;
    world_market(w, 50);
    price(w, "XLM", 10000000);
    price(w, "GOLD", 10000000);
    PASS(w, ENGINE, "open_vault", U(0), sim_sym("sGOLD"), C(XLM), sim_i128(UNITS(1000)));
    /* the engine owns no synth: the fee path fails */
    REFUSE(w, "insufficient balance", ENGINE, "mint_synth", U(0), sim_sym("sGOLD"),
           sim_i128(UNITS(100)));
    PASS(w, ENGINE, "mint_synth", U(0), sim_sym("sGOLD"), sim_i128(19999)); /* fee 0 */
    PASS(w, SGOLD, "transfer", U(0), C(ENGINE), sim_i128(10000));
    const struct sim_outcome *out =
        PASS(w, ENGINE, "mint_synth", U(0), sim_sym("sGOLD"), sim_i128(UNITS(10)));
    static const char *const order[] = { "mint", "burn", "transfer", "revenue_received", "mint" };
    assert_int_equal(out->event_count, TIDE_COUNT(order));
    for (uint32_t i = 0; i < TIDE_COUNT(order); i++)
        assert_event(w, i, order[i]);
    assert_amount(held(w, SGOLD, C(EARNINGS)), 5000); /* 1e8 * 50 / 1e6 */
    assert_amount(held(w, SGOLD, U(0)), 9999 + 100000000 - 5000);
}

/* --- stability pool, epochs ---------------------------------------------------------------- */

static void test_absorb(void **state)
{
    struct world *w = *state;
    PASS(w, XLM, "transfer", U(5), C(ENGINE), sim_i128(UNITS(1000)));
    PASS(w, STABILITY, "deposit", U(0), sim_i128(UNITS(100)));
    PASS(w, STABILITY, "deposit", U(1), sim_i128(UNITS(300)));
    REFUSE(w, "insufficient stability pool depth", STABILITY, "absorb_liquidation", C(ENGINE),
           sim_i128(UNITS(400) + 1), sim_i128(0), C(XLM));
    PASS(w, STABILITY, "absorb_liquidation", C(ENGINE), sim_i128(UNITS(100)), sim_i128(UNITS(40)),
         C(XLM));
    /* a quarter is gone; a tenth of a unit of collateral for each deposited */
    assert_amount(ASK(w, STABILITY, "get_compounded_deposit", U(0)).i128, UNITS(75));
    assert_amount(ASK(w, STABILITY, "get_collateral_gain", U(1)).i128, UNITS(30));
    /* the snapshot is reset before compounding: the whole is paid, as published */
    const struct sim_outcome *out = PASS(w, STABILITY, "withdraw", U(0), sim_i128(UNITS(1000)));
    assert_amount(out->ret.i128, UNITS(100));
    assert_event(w, 0, "claim");
    assert_event(w, 1, "transfer");
    assert_event(w, 2, "withdraw");
    REFUSE(w, "nothing to withdraw", STABILITY, "withdraw", U(0), sim_i128(1));
}

/* All is taken: p falls to 0, a new epoch begins. */
static void test_stability_epoch(void **state)
{
    struct world *w = *state;
    PASS(w, XLM, "transfer", U(5), C(ENGINE), sim_i128(UNITS(1000)));
    PASS(w, STABILITY, "deposit", U(0), sim_i128(UNITS(100)));
    PASS(w, STABILITY, "absorb_liquidation", C(ENGINE), sim_i128(UNITS(100)), sim_i128(UNITS(9)),
         C(XLM));
    sim_val now = ask(w, STABILITY, "get_state", SIM_NONE);
    assert_int_equal(sim_field_u64(&now, "epoch"), 1);
    assert_amount(sim_field_i128(&now, "p"), 1000000000000);
    assert_amount(sim_field_i128(&now, "sum_coll"), 0);
    assert_amount(sim_field_i128(&now, "total_coll_gained"), UNITS(9));
    assert_amount(ASK(w, STABILITY, "get_compounded_deposit", U(0)).i128, 0);
    /* what he had counts again once his snapshot is reset: more than the pool holds */
    REFUSE(w, "Ok(Contract(10))", STABILITY, "withdraw", U(0), sim_i128(UNITS(100)));
}

static void test_close_in_swap(void **state)
{
    struct world *w = *state;
    world_pool(w);
    PASS(w, STABILITY, "deposit", U(2), sim_i128(UNITS(50)));
    swap(w, 1, 1000000000, 0); /* 150000 in epoch 0 */
    later(w, 5 * 604800);
    const struct sim_outcome *out = swap(w, 1, 1000000000, 0);
    static const char *const order[] = { "transfer",         "transfer", "transfer",
                                         "revenue_received", "transfer", "transfer",
                                         "transfer",         "transfer", "epoch_closed",
                                         "epoch_opened",     "swap" };
    assert_int_equal(out->event_count, TIDE_COUNT(order));
    for (uint32_t i = 0; i < TIDE_COUNT(order); i++)
        assert_event(w, i, order[i]);
    /* 300000: treasury 10 %, developers 5 %, stability 20 %, the one pool 30 % */
    assert_amount(out->events[4].data.i128, 30000);
    assert_amount(out->events[5].data.i128, 15000);
    assert_amount(out->events[6].data.i128, 60000);
    assert_amount(out->events[7].data.i128, 90000);
    /* one epoch, however long it took */
    sim_val epoch = ASK(w, EARNINGS, "get_epoch", sim_u64(1));
    assert_int_equal(sim_field_u64(&epoch, "start_time"), START + 5 * 604800);
    assert_int_equal(ask(w, EARNINGS, "get_current_epoch", SIM_NONE).u64, 1);
    epoch = ASK(w, EARNINGS, "get_epoch", sim_u64(0));
    assert_amount(sim_field_i128(&epoch, "staker_snapshot"), UNITS(50));
    assert_amount(sim_field_i128(&epoch, "total_revenue"), 300000);
}

static sim_val ids(sim_val *items, uint32_t count)
{
    return (sim_val){ .type = TIDE_SCV_VEC, .len = count, .vec = items };
}

static void test_stakers_claim(void **state)
{
    struct world *w = *state;
    sim_val twice[] = { sim_u64(0), sim_u64(0), sim_u64(9) };
    world_pool(w);
    swap(w, 1, 1000000000, 0);
    later(w, 604800);
    swap(w, 1, 1000000000, 0); /* closes with nobody staked */
    REFUSE(w, "must have a Stability Pool deposit to claim", EARNINGS, "claim", U(2),
           ids(twice, 3));
    PASS(w, STABILITY, "deposit", U(2), sim_i128(UNITS(50)));
    const struct sim_outcome *out = PASS(w, EARNINGS, "claim", U(2), ids(twice, 3));
    assert_amount(out->ret.i128, 0);
    assert_int_equal(out->event_count, 0);
    assert_false(ASK(w, EARNINGS, "has_claimed", U(2), sim_u64(0)).b);
    later(w, 604800);
    swap(w, 1, 1000000000, 0); /* epoch 1: 150000, all of it staked by one */
    sim_val again[] = { sim_u64(1), sim_u64(1) };
    out = PASS(w, EARNINGS, "claim", U(2), ids(again, 2));
    assert_amount(out->ret.i128, 52500);
    out = PASS(w, EARNINGS, "claim", U(2), ids(again, 2));
    assert_amount(out->ret.i128, 0);
}

static void test_finalize(void **state)
{
    struct world *w = *state;
    refuse(w, "epoch not yet complete", EARNINGS, "finalize_epoch", SIM_NONE);
    later(w, 604800);
    const struct sim_outcome *out = pass(w, EARNINGS, "finalize_epoch", SIM_NONE);
    assert_int_equal(out->ret.u64, 0);
    assert_int_equal(out->event_count, 2);
    assert_int_equal(out->auth_count, 0);
}

int test_model_market(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(test_swap),
        WORLD_TEST(test_impact),
        WORLD_TEST(test_liquidity),
        WORLD_TEST(test_partner_tag),
        WORLD_TEST(test_dust_skips_partner),
        WORLD_TEST(test_vault),
        WORLD_TEST(test_stale_prices),
        WORLD_TEST(test_liquidation),
        WORLD_TEST(test_bad_debt),
        WORLD_TEST(test_mint_fee),
        WORLD_TEST(test_absorb),
        WORLD_TEST(test_stability_epoch),
        WORLD_TEST(test_close_in_swap),
        WORLD_TEST(test_stakers_claim),
        WORLD_TEST(test_finalize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
