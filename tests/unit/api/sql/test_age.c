/* The age of a database's contents: late replicas, stopped indexers, wrong clocks. */
#include "api/sql/age.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { NOON = 1700000000, HOUR_MS = 3600000 };
static const int64_t noon = (int64_t)NOON * 1000;

/* One reading: when the lease was renewed, and the clocks of server, node and host. */
struct look {
    int64_t renewed, server, wall, host;
    bool standby;
    uint64_t want;
};

static void expect_ages(const struct look *looks, size_t count)
{
    struct tide_age age = { 0 };
    for (size_t i = 0; i < count; i++) {
        const struct look *l = &looks[i];
        struct tide_age_sign sign = { noon + l->renewed, noon + l->server, l->standby };
        assert_int_equal(tide_age_of(&age, &sign, noon + l->wall, l->host), l->want);
    }
}
#define EXPECT(...)                                         \
    do {                                                    \
        static const struct look looks[] = { __VA_ARGS__ }; \
        expect_ages(looks, TIDE_COUNT(looks));              \
    } while (0)

static void a_renewed_lease_is_young(void **state)
{
    (void)state;
    EXPECT({ 0, 300, 300, 5000, false, 300 }, { 500, 600, 600, 5300, false, 100 });
}

static void a_dead_indexer_ages(void **state)
{
    (void)state;
    EXPECT({ 0, 300, 300, 5000, false, 300 }, { 0, 61000, 61000, 65700, false, 61000 });
    /* A process that just started. */
    EXPECT({ 0, HOUR_MS, HOUR_MS, 5000, false, HOUR_MS });
}

static void a_late_replica_ages(void **state)
{
    (void)state;
    EXPECT({ 0, 300, 300, 5000, true, 300 }, { 0, 90000, 90000, 94700, true, 90000 });
    /* The standby replays with an hour's delay: the value changes at every reading. */
    EXPECT({ 0, HOUR_MS, HOUR_MS, 5000, true, HOUR_MS },
           { 1000, HOUR_MS + 1000, HOUR_MS + 1000, 6000, true, HOUR_MS });
    /* The standby's own clock is an hour late too and the node's is right; then the other way
     * round. */
    EXPECT({ 0, 0, HOUR_MS, 5000, true, HOUR_MS });
    EXPECT({ 0, HOUR_MS, 0, 5000, true, HOUR_MS });
}

static void a_clock_set_back_makes_nothing_young(void **state)
{
    (void)state;
    /* The node's clock is set back; the server is a primary. */
    EXPECT({ 0, 61000, -HOUR_MS, 5000, false, 61000 },
           { 0, 62000, -2 * HOUR_MS, 6000, false, 62000 });
    /* The primary's clock is set back after the indexer stopped; then the same for a process that
     * reads for the first time. */
    EXPECT({ 0, 300, 300, 5000, false, 300 }, { 0, -2000, 61000, 65700, false, 60700 });
    EXPECT({ 0, -HOUR_MS, 61000, 5000, false, HOUR_MS });
    /* The primary's clock is set back while the indexer runs: the next renewal of the lease ends
     * the effect. */
    EXPECT({ 0, -HOUR_MS, 0, 5000, false, HOUR_MS },
           { -HOUR_MS + 500, -HOUR_MS + 600, 600, 5600, false, 100 });
}

static void a_node_that_is_ahead_trusts_the_primary(void **state)
{
    (void)state;
    EXPECT({ 0, 300, HOUR_MS, 5000, false, 300 });
}

static void ledgers_age_by_the_later_clock(void **state)
{
    (void)state;
    struct tide_age_sign sign = { noon, noon + 300, false };
    assert_int_equal(tide_age_closed(&sign, (NOON - 10) * INT64_C(1000) + 250, noon - HOUR_MS),
                     10050);
    assert_int_equal(tide_age_closed(&sign, (NOON - 10) * INT64_C(1000) + 250, noon + HOUR_MS),
                     HOUR_MS + 9750);
    assert_int_equal(tide_age_closed(&sign, (NOON + 10) * INT64_C(1000), noon), 0);
}

int test_age(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_renewed_lease_is_young),
        cmocka_unit_test(a_dead_indexer_ages),
        cmocka_unit_test(a_late_replica_ages),
        cmocka_unit_test(a_clock_set_back_makes_nothing_young),
        cmocka_unit_test(a_node_that_is_ahead_trusts_the_primary),
        cmocka_unit_test(ledgers_age_by_the_later_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
