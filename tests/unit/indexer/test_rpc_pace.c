/* How often and how late the tip is asked for, on clocks that a test moves. */
#include "indexer/source/rpc/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { LEDGERS = 400, SETTLED = 100 };

struct outcome {
    uint32_t most, polls; /* of one ledger; of all after SETTLED */
    double late_sum, late_most;
};

static uint32_t next_chance(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Ledgers every interval ± jitter; each question takes trip_ms. */
static struct outcome follow(int64_t interval, int64_t jitter, int64_t trip_ms)
{
    struct rpc_pace pace = { 0 };
    struct outcome out = { 0 };
    uint32_t chance = 7, polls = 0;
    int64_t now = 1000, due = now + interval / 3;
    for (uint32_t n = 0; n < LEDGERS;) {
        now += rpc_pace_wait(&pace, now) + trip_ms;
        polls++;
        if (now < due) {
            rpc_pace_miss(&pace, now);
            continue;
        }
        uint32_t count = 0;
        int64_t first = due;
        for (; due <= now; count++)
            due += interval +
                   (jitter ? (int64_t)(next_chance(&chance) % (2 * (uint32_t)jitter)) - jitter : 0);
        rpc_pace_hit(&pace, now, count);
        n += count;
        if (n > SETTLED) {
            double late = (double)(now - first);
            out.late_sum += late;
            out.late_most = late > out.late_most ? late : out.late_most;
            out.polls += polls;
            out.most = polls > out.most ? polls : out.most;
        }
        polls = 0;
    }
    return out;
}

/* clang-format off */
static const struct {
    int64_t interval, jitter, trip;
    double mean_late; /* ms, at most */
} rows[] = {
    { 200,  0,   1,  6   },
    { 200,  5,   1,  6   },
    { 200,  20,  2,  15  },
    { 1000, 0,   1,  6   },
    { 1000, 10,  1,  8   },
    { 1000, 100, 5,  50  },
    { 5000, 0,   1,  6   },
    { 5000, 50,  20, 40  },
    { 5000, 400, 20, 150 },
    { 100,  2,   1,  6   },
};
/* clang-format on */

static void few_questions_and_soon(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        struct outcome o = follow(rows[i].interval, rows[i].jitter, rows[i].trip);
        double mean = o.late_sum / (LEDGERS - SETTLED),
               polls = (double)o.polls / (LEDGERS - SETTLED);
        printf(
            "every %d ms, jitter %d, trip %d: late %.1f (most %.0f) ms, %.1f questions (most %u)\n",
            (int)rows[i].interval, (int)rows[i].jitter, (int)rows[i].trip, mean, o.late_most, polls,
            o.most);
        assert_true(mean <= rows[i].mean_late);
        assert_true(polls <= 15);
        assert_true(o.most <= RPC_PACE_POLLS);
    }
}

/* The rhythm changes: found again within a few ledgers, within the bound. */
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

int test_rpc_pace(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_questions_and_soon),
        cmocka_unit_test(a_new_rhythm_is_learnt),
        cmocka_unit_test(a_chain_that_stands_still_is_asked_once_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
