/* The host of the model: undo, lifetimes of entries, authorisation, order and XDR of values. */
#include "tests/unit/tools/sim/model_world.h"
#include "tidemark/text.h"

static const struct sim_touch *touch_of(const struct sim_outcome *out, const char *variant)
{
    for (uint32_t i = 0; i < out->touch_count; i++) {
        const struct sim_touch *touch = &out->touches[i];
        if (touch->kind == SIM_TOUCH_DATA && touch->entry->key.len > 20 + strlen(variant) &&
            memcmp(touch->entry->key.ptr + 20, variant, strlen(variant)) == 0)
            return touch;
    }
    fail_msg("no entry %s", variant);
    abort(); /* fail_msg does not return */
}

static void test_value_order(void **state)
{
    (void)state;
    sim_val parts[] = { sim_sym("a") };
    const sim_val rising[] = {
        sim_bool(false),
        sim_bool(true),
        sim_u32(1),
        sim_u64(0),
        sim_i128(-5),
        sim_i128(3),
        sim_sym("ADMIN"),
        sim_sym("Z"),
        sim_sym("Za"),
        { .type = TIDE_SCV_VEC, .len = 1, .vec = parts },
        A(1),
        C(0),
    };
    for (size_t i = 0; i + 1 < TIDE_COUNT(rising); i++) {
        assert_true(sim_val_cmp(&rising[i], &rising[i + 1]) < 0);
        assert_true(sim_val_cmp(&rising[i + 1], &rising[i]) > 0);
        assert_int_equal(sim_val_cmp(&rising[i], &rising[i]), 0);
    }
}

/* Bytes of the wire format, typed by hand. */
static void test_value_xdr(void **state)
{
    (void)state;
    static const char want[] = "0000001100000001"
                               "00000003"
                               "0000000f0000000161000000"
                               "0000000affffffffffffffffffffffffffffffff"
                               "0000000f00000002626200000000000500000000000000ff"
                               "0000000f000000036363630000000010000000010000000000";
    struct tide_arena arena;
    assert_int_equal(tide_arena_open(&arena, 1 << 16), TIDE_OK);
    sim_val map =
        sim_struct(&arena, SIM_FIELDS({ "ccc", { .type = TIDE_SCV_VEC } }, { "a", sim_i128(-1) },
                                      { "gone", sim_void() }, { "bb", sim_u64(255) }));
    struct tide_buf xdr;
    tide_buf_init(&xdr, 1 << 16);
    sim_val_xdr(&xdr, &map);
    uint8_t bytes[(sizeof(want) - 2) / 2];
    assert_int_equal(tide_hex_decode(bytes, sizeof(bytes), tide_slice_of(want, sizeof(bytes) * 2)),
                     TIDE_OK);
    assert_int_equal(xdr.len, sizeof(bytes));
    assert_memory_equal(xdr.ptr, bytes, sizeof(bytes));
    sim_val back = sim_val_read(&arena, tide_buf_view(&xdr));
    assert_int_equal(sim_val_cmp(&map, &back), 0);
    tide_buf_release(&xdr);
    tide_arena_close(&arena);
}

static void test_saturation(void **state)
{
    (void)state;
    assert_true(sim_sat_add(SIM_I128_MAX, 1) == SIM_I128_MAX);
    assert_true(sim_sat_add(-SIM_I128_MAX, -5) == -SIM_I128_MAX - 1);
    assert_true(sim_sat_mul(SIM_I128_MAX, -2) == -SIM_I128_MAX - 1);
    assert_true(sim_sat_mul(-SIM_I128_MAX, -2) == SIM_I128_MAX);
    assert_true(sim_sat_mul(-3, 2) == -6);
}

/* A swap that fails in its last step changes nothing. */
static void test_undo(void **state)
{
    struct world *w = *state;
    world_pool(w);
    int64_t xlm = sim_classic_balance(&w->h, account(USER0 + 1), 0);
    sim_val before = ASK(w, POOL, "get_pool", sim_sym("P"));
    struct tide_buf was, is;
    tide_buf_init(&was, 1 << 20);
    tide_buf_init(&is, 1 << 20);
    sim_val_xdr(&was, &before);
    uint32_t entries = w->h.entry_count;
    REFUSE(w, "slippage: output below minimum", POOL, "swap_exact_in", U(1), sim_sym("P"),
           sim_bool(true), sim_i128(1000000000), sim_i128(996900610), sim_u32(0));
    assert_int_equal(sim_classic_balance(&w->h, account(USER0 + 1), 0), xlm);
    sim_val after = ASK(w, POOL, "get_pool", sim_sym("P"));
    sim_val_xdr(&is, &after);
    assert_true(tide_slice_eq(tide_buf_view(&was), tide_buf_view(&is)));
    assert_int_equal(ASK(w, XLM, "balance", C(EARNINGS)).i128, 0);
    struct sim_walk walk = { 0 };
    while (sim_entry_next(&w->h, &walk))
        ;
    assert_int_equal(w->h.entry_count, entries);
    tide_buf_release(&was);
    tide_buf_release(&is);
}

static void test_view_keeps_nothing(void **state)
{
    struct world *w = *state;
    price(w, "GOLD", 100);
    later(w, 60);
    (void)ASK(w, ORACLE, "update_twap", sim_sym("GOLD"));
    sim_val feed = ASK(w, ORACLE, "get_feed", sim_sym("GOLD"));
    assert_int_equal(sim_field_u64(&feed, "twap_ts"), START);
}

static void test_lives(void **state)
{
    struct world *w = *state;
    sim_ledger(&w->h, 2000, START + 10);
    const struct sim_outcome *out =
        PASS(w, REGISTRY, "freeze_account", A(ADMIN), U(1), sim_sym("x"));
    const struct sim_touch *touch = touch_of(out, "Frozen");
    assert_false(touch->existed);
    assert_int_equal(touch->entry->live_until, 2000 + 2073599);
    assert_int_equal(touch->entry->modified, 2000);
    sim_ledger(&w->h, 2001, START + 15);
    out = PASS(w, REGISTRY, "freeze_account", A(ADMIN), U(1), sim_sym("y"));
    touch = touch_of(out, "Frozen");
    assert_true(touch->existed && touch->written);
    assert_int_equal(touch->entry->live_until, 2000 + 2073599);
    assert_int_equal(touch->entry->modified, 2001);
    assert_int_equal(out->changed, 1); /* only the nonce changed: the value is the same */
    PASS(w, REGISTRY, "unfreeze_account", A(ADMIN), U(1));
    sim_ledger(&w->h, 3000, START + 20);
    out = PASS(w, REGISTRY, "freeze_account", A(ADMIN), U(1), sim_sym("z"));
    assert_int_equal(touch_of(out, "Frozen")->entry->live_until, 3000 + 2073599);
}

static void test_allowance_ends(void **state)
{
    struct world *w = *state;
    const struct sim_outcome *out =
        PASS(w, SGOLD, "approve", U(0), U(1), sim_i128(5), sim_u32(900000));
    assert_int_equal(touch_of(out, "Allowance")->entry->live_until, 1000 + 17279);
    sim_ledger(&w->h, 1000 + 17279, START + 100);
    assert_amount(ASK(w, SGOLD, "allowance", U(0), U(1)).i128, 5);
    /* approved again in its last ledger, the only case in which the requested length counts */
    out = PASS(w, SGOLD, "approve", U(0), U(1), sim_i128(6), sim_u32(900000));
    assert_int_equal(touch_of(out, "Allowance")->entry->live_until, 1000 + 17279 + 900000);
    PASS(w, SGOLD, "approve", U(0), U(2), sim_i128(5), sim_u32(3110399));
    REFUSE(w, "extension past the longest life", SGOLD, "approve", U(0), U(3), sim_i128(5),
           sim_u32(3110400));
    sim_ledger(&w->h, w->h.seq + 17280, START + 200);
    assert_amount(ASK(w, SGOLD, "allowance", U(0), U(2)).i128, 0);
}

static void test_authorisation(void **state)
{
    struct world *w = *state;
    world_pool(w);
    const struct sim_outcome *out =
        PASS(w, POOL, "swap_exact_in", U(1), sim_sym("P"), sim_bool(true), sim_i128(1000000000),
             sim_i128(0), sim_u32(0));
    /* Two authorisations of the trader (swap, pull) and one of the pool, because the distributor
     * pulls in the pool's name. */
    assert_int_equal(out->auth_count, 3);
    assert_true(out->auths[0].first && !out->auths[1].first && out->auths[2].first);
    assert_true(sim_addr_eq(out->auths[0].party, account(USER0 + 1)));
    assert_true(sim_addr_eq(out->auths[2].party, contract(POOL)));
    assert_string_equal(out->frames[out->auths[2].frame].fn, "transfer");
    assert_string_equal(out->frames[out->frames[out->auths[2].frame].parent].fn, "receive_revenue");
    w->h.strict_auth = true;
    REFUSE(w, "not authorised", POOL, "swap_exact_in", U(1), sim_sym("P"), sim_bool(true),
           sim_i128(1000000000), sim_i128(0), sim_u32(0));
    PASS(w, POOL, "set_protocol_fee", A(DAOWALLET), sim_i128(0));
    PASS(w, POOL, "swap_exact_in", U(1), sim_sym("P"), sim_bool(true), sim_i128(1000000000),
         sim_i128(0), sim_u32(0));
}

static void test_wrong_calls(void **state)
{
    struct world *w = *state;
    REFUSE(w, "no such function", POOL, "extend_ttl", sim_u32(1));
    REFUSE(w, "arguments do not fit", POOL, "claim_fees", U(0));
    REFUSE(w, "arguments do not fit", POOL, "claim_fees", U(0), sim_u32(1));
    REFUSE(w, "no such contract", 99, "transfer", U(0));
    REFUSE(w, "already initialized", POOL, "initialize", A(ADMIN), A(ADMIN), A(ADMIN), A(ADMIN));
    REFUSE(w, "unauthorised", POOL, "set_protocol_fee", A(ADMIN), sim_i128(1));
}

static void test_asset_contract(void **state)
{
    struct world *w = *state;
    /* a transfer of zero moves nothing, but makes the receiver's entry and emits an event */
    const struct sim_outcome *out = PASS(w, USDC, "transfer", U(0), C(POOL), sim_i128(0));
    assert_int_equal(out->event_count, 1);
    assert_false(touch_of(out, "Balance")->existed);
    out = PASS(w, USDC, "transfer", C(ENGINE), C(POOL), sim_i128(0));
    assert_int_equal(out->event_count, 1);
    REFUSE(w, "Ok(Contract(10))", USDC, "transfer", C(ENGINE), C(POOL), sim_i128(1));
    REFUSE(w, "Ok(Contract(8))", USDC, "transfer", U(0), U(1), sim_i128(-1));
    REFUSE(w, "Ok(Contract(10))", USDC, "transfer", U(0), U(0), sim_i128(UNITS(3000001)));
    PASS(w, USDC, "transfer", U(0), U(0), sim_i128(UNITS(3000000)));
    /* the account cannot send its reserve: three base reserves, 1.5 XLM */
    REFUSE(w, "Ok(Contract(10))", XLM, "transfer", U(0), U(1), sim_i128(40000000000000 - 14999999));
    PASS(w, XLM, "transfer", U(0), U(1), sim_i128(40000000000000 - 15000000));
    REFUSE(w, "Ok(Contract(6))", XLM, "transfer", U(1), A(255), sim_i128(1));
    PASS(w, USDC, "transfer", U(0), A(ISSUER), sim_i128(5));
    assert_int_equal(sim_classic_balance(&w->h, account(USER0), 1), 29999999999995);
}

int test_model_host(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_value_order),  cmocka_unit_test(test_value_xdr),
        cmocka_unit_test(test_saturation),   WORLD_TEST(test_undo),
        WORLD_TEST(test_view_keeps_nothing), WORLD_TEST(test_lives),
        WORLD_TEST(test_allowance_ends),     WORLD_TEST(test_authorisation),
        WORLD_TEST(test_wrong_calls),        WORLD_TEST(test_asset_contract),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
