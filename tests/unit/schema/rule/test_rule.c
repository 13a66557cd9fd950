/* Rules at the limits of their arguments, which the recordings do not contain. */
#include "tidemark/rule.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define AMOUNT(v) tide_hot_amount((tide_raw_i128)(v))
#define MOST      (((tide_raw_u128)1 << 127) - 1)

static void expect_standing(const struct tide_hot_person *person, bool blocked, uint64_t now,
                            enum tide_standing_status status, enum tide_standing_reason reason,
                            bool needs_kyc)
{
    struct tide_standing at;
    tide_rule_standing(&at, person, blocked, now);
    assert_int_equal(at.status, status);
    assert_int_equal(at.reason, reason);
    assert_int_equal(at.needs_kyc, needs_kyc);
    assert_int_equal(at.compliant, reason == TIDE_REASON_COMPLIANT);
}

static void test_standing(void **state)
{
    struct tide_hot_person p = { .recorded = 1, .status = 2, .expires_at = 100 };
    (void)state;
    expect_standing(NULL, false, 1, TIDE_STANDING_UNKNOWN, TIDE_REASON_NO_RECORD, true);
    expect_standing(NULL, true, 1, TIDE_STANDING_UNKNOWN, TIDE_REASON_NO_RECORD, true);
    expect_standing(&p, false, 100, TIDE_STANDING_VERIFIED, TIDE_REASON_COMPLIANT, false);
    expect_standing(&p, false, 101, TIDE_STANDING_EXPIRED, TIDE_REASON_LAPSED, true);
    expect_standing(&p, true, 100, TIDE_STANDING_RESTRICTED, TIDE_REASON_JURISDICTION, false);
    expect_standing(&p, true, 101, TIDE_STANDING_EXPIRED, TIDE_REASON_LAPSED, false);
    p.expires_at = 0;
    expect_standing(&p, false, UINT64_MAX, TIDE_STANDING_VERIFIED, TIDE_REASON_COMPLIANT, false);
    static const struct {
        uint32_t stored;
        enum tide_standing_status status;
        enum tide_standing_reason reason;
        bool needs_kyc;
    } rows[] = { { 0, TIDE_STANDING_UNKNOWN, TIDE_REASON_REVOKED, true },
                 { 1, TIDE_STANDING_PENDING, TIDE_REASON_PENDING, true },
                 { 3, TIDE_STANDING_SUSPENDED, TIDE_REASON_SUSPENDED, false },
                 { 4, TIDE_STANDING_SANCTIONED, TIDE_REASON_SANCTIONED, false },
                 { 5, TIDE_STANDING_EXPIRED, TIDE_REASON_EXPIRED, true },
                 { 6, TIDE_STANDING_UNKNOWN, TIDE_REASON_UNDEFINED, false } };
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        p.status = rows[i].stored;
        expect_standing(&p, false, 5, rows[i].status, rows[i].reason, rows[i].needs_kyc);
        p.frozen = 1;
        expect_standing(&p, false, 5, TIDE_STANDING_FROZEN, TIDE_REASON_FROZEN, false);
        p.frozen = 0;
    }
    p = (struct tide_hot_person){ .frozen = 1 };
    expect_standing(&p, false, 5, TIDE_STANDING_FROZEN, TIDE_REASON_FROZEN, false);
    p = (struct tide_hot_person){ .whitelisted = 1 };
    expect_standing(&p, false, 5, TIDE_STANDING_UNKNOWN, TIDE_REASON_NO_RECORD, true);
}

static void test_valid_until(void **state)
{
    struct tide_standing at;
    struct tide_hot_person p = { .recorded = 1, .status = 2, .expires_at = 100 };
    (void)state;
    tide_rule_standing(&at, &p, false, 50);
    assert_int_equal(at.valid_until, 100);
    tide_rule_standing(&at, &p, false, 101);
    assert_int_equal(at.valid_until, 0);
}

static void test_gate(void **state)
{
    struct tide_standing no = { .compliant = false }, yes = { .compliant = true };
    struct tide_hot_person listed = { .whitelisted = 1, .frozen = 1 }, other = { .recorded = 1 };
    (void)state;
    assert_true(tide_rule_gate(&no, &listed, &listed));
    assert_false(tide_rule_gate(&no, &listed, &other));
    assert_false(tide_rule_gate(&no, &other, &listed));
    assert_false(tide_rule_gate(&no, NULL, NULL));
    assert_true(tide_rule_gate(&yes, NULL, NULL));
}

static void test_prices(void **state)
{
    struct tide_hot_feed feed = { .latest_ts = 1000, .twap_ts = 1000 };
    (void)state;
    assert_false(tide_rule_twap_stale(&feed, 1600));
    assert_true(tide_rule_twap_stale(&feed, 1601));
    assert_false(tide_rule_stale(&feed, 1300));
    assert_true(tide_rule_stale(&feed, 1301));
    assert_true(tide_rule_stale(NULL, 0));
    assert_false(tide_rule_stale(&feed, 999)); /* a price of the future is not old */
}

static void test_pool(void **state)
{
    struct tide_hot_pool pool = { .reserve_a = AMOUNT(1000000),
                                  .reserve_b = AMOUNT(4000000),
                                  .fee_tier = AMOUNT(30) };
    struct tide_swap swap;
    tide_raw_i128 v = 0;
    (void)state;
    assert_int_equal(tide_rule_spot(&v, &pool, true), TIDE_REFUSED_NOTHING);
    assert_true(v == 40000000);
    assert_int_equal(tide_rule_spot(&v, &pool, false), TIDE_REFUSED_NOTHING);
    assert_true(v == 2500000);
    assert_int_equal(tide_rule_swap(&swap, NULL, 500, 1, true), TIDE_REFUSED_NO_POOL);
    assert_int_equal(tide_rule_swap(&swap, &pool, 500, (tide_raw_i128)MOST, true),
                     TIDE_REFUSED_OVERFLOW);
    assert_int_equal(tide_rule_swap(&swap, &pool, 500, 10000, true), TIDE_REFUSED_NOTHING);
    assert_true(swap.out == 4000000 * (tide_raw_i128)9970 / 1009970);
    assert_false(swap.too_large);
    assert_true(swap.fee == 30 && swap.protocol_fee == 1);
    assert_int_equal(tide_rule_swap(&swap, &pool, 500, 12000, true), TIDE_REFUSED_NOTHING);
    assert_true(swap.too_large);
    pool.reserve_a = AMOUNT(0);
    assert_int_equal(tide_rule_spot(&v, &pool, true), TIDE_REFUSED_DIVIDED_BY_ZERO);
    assert_int_equal(tide_rule_swap(&swap, &pool, 500, 0, true), TIDE_REFUSED_DIVIDED_BY_ZERO);
}

/* In a pool without liquidity, the contract's quote returns 0 and its swap fails. */
static void test_empty_pool(void **state)
{
    struct tide_hot_pool pool = { .fee_tier = AMOUNT(30) };
    struct tide_swap swap;
    (void)state;
    assert_int_equal(tide_rule_swap(&swap, &pool, 500, 10000, true), TIDE_REFUSED_NOTHING);
    assert_true(swap.out == 0 && swap.fee == 30);
    assert_int_equal(swap.trap, TIDE_REFUSED_DIVIDED_BY_ZERO);
    assert_false(swap.too_large);
    assert_int_equal(tide_rule_swap(&swap, &pool, 500, 0, true), TIDE_REFUSED_DIVIDED_BY_ZERO);
}

/* If the amount exceeds 2^127 / 10000, the price impact overflows in a swap, but not in a quote. */
static void test_large_quote(void **state)
{
    tide_raw_i128 most = (tide_raw_i128)MOST / 10000;
    struct tide_hot_pool pool = { .reserve_b = tide_hot_amount(most) };
    struct tide_swap swap;
    (void)state;
    assert_int_equal(tide_rule_swap(&swap, &pool, 500, 10000, true), TIDE_REFUSED_NOTHING);
    assert_true(swap.out == most);
    pool.reserve_b = tide_hot_amount(most + 1);
    assert_int_equal(tide_rule_swap(&swap, &pool, 500, 1000, true), TIDE_REFUSED_NOTHING);
    assert_int_equal(swap.trap, TIDE_REFUSED_OVERFLOW);
}

static void test_window(void **state)
{
    struct tide_hot_pool pool = { .reserve_a = AMOUNT(100), .reserve_b = AMOUNT(300) };
    struct tide_hot_trade trade = { .swaps = 9, .traded_a = AMOUNT(50), .fees_b = AMOUNT(7) };
    struct tide_hot_tick tick = { .reserve_a = AMOUNT(100),
                                  .reserve_b = AMOUNT(200),
                                  .trade = {
                                      .swaps = 4, .traded_a = AMOUNT(20), .fees_b = AMOUNT(2) } };
    struct tide_window w;
    (void)state;
    tide_rule_window(&w, &pool, &trade, &tick);
    assert_true(w.whole && w.priced && w.swaps == 5 && w.traded_a == 30 && w.fees_b == 5);
    assert_true(w.price_then == 20000000 && w.price_now == 30000000);
    tide_rule_window(&w, &pool, &trade, NULL);
    assert_true(!w.whole && !w.priced && w.swaps == 9 && w.traded_a == 50);
    tide_rule_window(&w, &pool, NULL, NULL);
    assert_true(w.swaps == 0 && w.traded_a == 0);
}

static void test_savings(void **state)
{
    const tide_raw_i128 one = 1000000000000;
    struct tide_stability state_now = { .p = one / 2 };
    struct tide_saving saving = { .initial_value = 1000, .p_value = one };
    struct tide_epoch epoch = { .finalized = true,
                                .staker_snapshot = 1000,
                                .protocol_revenue = 10000 };
    tide_raw_i128 v;
    (void)state;
    assert_int_equal(tide_rule_compounded(&v, &state_now, &saving), TIDE_REFUSED_NOTHING);
    assert_true(v == 500);
    assert_int_equal(tide_rule_compounded(&v, NULL, NULL), TIDE_REFUSED_NOT_STARTED);
    assert_int_equal(tide_rule_compounded(&v, &state_now, NULL), TIDE_REFUSED_NOTHING);
    saving.epoch = 1;
    assert_int_equal(tide_rule_compounded(&v, &state_now, &saving), TIDE_REFUSED_NOTHING);
    assert_true(v == 0);
    assert_int_equal(tide_rule_epoch_share(&v, &epoch, 500, false), TIDE_REFUSED_NOTHING);
    assert_true(v == 1750);
    assert_int_equal(tide_rule_epoch_share(&v, &epoch, 500, true), TIDE_REFUSED_NOTHING);
    assert_true(v == 0);
}

int test_rule(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standing),    cmocka_unit_test(test_valid_until),
        cmocka_unit_test(test_gate),        cmocka_unit_test(test_prices),
        cmocka_unit_test(test_pool),        cmocka_unit_test(test_empty_pool),
        cmocka_unit_test(test_large_quote), cmocka_unit_test(test_window),
        cmocka_unit_test(test_savings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
