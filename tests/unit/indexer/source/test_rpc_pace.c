/* How often the client asks for the tip, and how late it sees a ledger, on clocks that the test
 * moves. */
#include "indexer/source/rpc/pace.h"
#include "tidemark/rpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LEDGERS = 2000, SETTLED = 100 };

struct outcome {
    uint32_t most, polls; /* requests for one ledger; for all after SETTLED */
    uint32_t count;
    double late[LEDGERS]; /* in ms, after SETTLED; sorted at the end */
};

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint32_t next_chance(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Simulates ledgers every `interval` ± `jitter`; one of a hundred is late by half an interval. Each
 * request takes `trip_ms`. */
static void follow_ledgers(struct outcome *out, int64_t interval, int64_t jitter, int64_t trip_ms)
{
    struct rpc_pace pace = { 0 };
    uint32_t chance = 7, polls = 0;
    int64_t now = 1000, due = now + interval / 3;
    *out = (struct outcome){ 0 };
    for (uint32_t n = 0; n < LEDGERS;) {
        now += rpc_pace_wait(&pace, now) + trip_ms;
        polls++;
        if (now < due) {
            rpc_pace_miss(&pace, now);
            continue;
        }
        uint32_t count = 0;
        int64_t first = due;
        for (; due <= now; count++) {
            int64_t off =
                jitter ? (int64_t)(next_chance(&chance) % (2 * (uint32_t)jitter)) - jitter : 0;
            due += interval + off + (next_chance(&chance) % 100 == 0 ? interval / 2 : 0);
        }
        rpc_pace_hit(&pace, now, count);
        n += count;
        if (n > SETTLED) {
            out->late[out->count++] = (double)(now - first);
            out->polls += polls;
            out->most = polls > out->most ? polls : out->most;
        }
        polls = 0;
    }
    qsort(out->late, out->count, sizeof out->late[0], compare_numbers);
}

/* clang-format off */
static const struct {
    int64_t interval, jitter, trip;
    double p50, p99; /* ms, at most */
} rows[] = {
    { 200,  0,   1,  12,  60  },
    { 200,  20,  2,  20,  70  },
    { 600,  0,   1,  12,  60  },
    { 600,  10,  2,  20,  80  },
    { 600,  50,  5,  40,  130 },
    { 600,  90,  5,  60,  150 },
    { 1000, 0,   1,  12,  60  },
    { 1000, 100, 5,  60,  200 },
    { 5000, 0,   1,  12,  650 },
    { 5000, 50,  20, 60,  650 },
    { 5000, 400, 20, 250, 800 },
};
/* clang-format on */

static void few_questions_and_soon(void **state)
{
    static struct outcome o;
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        follow_ledgers(&o, rows[i].interval, rows[i].jitter, rows[i].trip);
        double p50 = o.late[o.count / 2], p99 = o.late[o.count * 99 / 100];
        double polls = (double)o.polls / o.count;
        printf("every %d ms, jitter %d, trip %d: late p50 %.0f, p99 %.0f ms, %.2f questions (most "
               "%u)\n",
               (int)rows[i].interval, (int)rows[i].jitter, (int)rows[i].trip, p50, p99, polls,
               o.most);
        assert_true(p50 <= rows[i].p50);
        assert_true(p99 <= rows[i].p99);
        assert_true(polls <= 2.5);
        assert_true(o.most <= RPC_PACE_POLLS);
    }
}

/* After a change of the interval the client adapts within a few ledgers, within the bound. */
static void a_new_rhythm_is_learnt(void **state)
{
    (void)state;
    struct rpc_pace pace = { 0 };
    int64_t now = 0, due = 500;
    uint32_t polls = 0, most = 0;
    for (int n = 0; n < 300; polls = 0) {
        int64_t interval = n < 100 ? 1000 : n < 200 ? 200 : 5000;
        for (;;) {
            now += rpc_pace_wait(&pace, now) + 1;
            polls++;
            if (now >= due)
                break;
            rpc_pace_miss(&pace, now);
        }
        uint32_t count = 0;
        for (; due <= now; count++, n++)
            due += interval;
        rpc_pace_hit(&pace, now, count);
        if (n % 100 > 20) {
            most = polls > most ? polls : most;
            assert_true(pace.interval_ms > 0.8 * (double)interval &&
                        pace.interval_ms < 1.2 * (double)interval);
        }
    }
    assert_true(most <= RPC_PACE_POLLS);
}

static void a_chain_that_stands_still_is_asked_once_a_second(void **state)
{
    (void)state;
    struct rpc_pace pace = { 0 };
    int64_t now = 0;
    uint32_t polls = 0;
    while (now < 600000) {
        now += rpc_pace_wait(&pace, now);
        rpc_pace_miss(&pace, now);
        polls++;
    }
    assert_true(polls < 640);
    assert_true(polls > 500);
}

/* Requests pile up after a pause, and the client asks as often as it may. In any window of a second
 * a server sees at most the rate, and the full rate if enough requests wait. */
static void never_more_than_the_rate_in_any_second(void **state)
{
    enum { MOST = 4000 };
    static const uint32_t rates[] = { 1, 3, 10, 50 };
    static int64_t asked[MOST];
    (void)state;
    for (size_t r = 0; r < TIDE_COUNT(rates); r++) {
        struct tide_rpc_rate rate;
        uint32_t count = 0, most = 0;
        assert_int_equal(tide_rpc_rate_init(&rate, rates[r]), TIDE_OK);
        for (int64_t now = 0; now < 60000; now += 1 + (now / 7000 % 2) * 300) {
            int64_t wait = 0;
            while (count < MOST && (wait = tide_rpc_rate_take(&rate, now)) == 0)
                asked[count++] = now;
            assert_true(wait > 0);
        }
        for (uint32_t first = 0, last = 0; last < count; last++) {
            while (asked[last] - asked[first] >= 1000)
                first++;
            most = last - first + 1 > most ? last - first + 1 : most;
        }
        assert_int_equal(most, rates[r]);
        assert_true(count >= 50 * rates[r]);
        tide_rpc_rate_destroy(&rate);
    }
}

int test_rpc_pace(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_questions_and_soon),
        cmocka_unit_test(a_new_rhythm_is_learnt),
        cmocka_unit_test(a_chain_that_stands_still_is_asked_once_a_second),
        cmocka_unit_test(never_more_than_the_rate_in_any_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
