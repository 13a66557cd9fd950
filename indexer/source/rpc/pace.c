#include "indexer/source/rpc/pace.h"

enum {
    ODD_MOST = 3,  /* ledgers that do not fit the interval, before a new one is assumed */
    LONG_RUN = 32, /* ledgers over which the interval is averaged */
    DOUBLE_MOST = 6,
};

static const double idle_ms = 1000;
static const double first_ms = 40; /* first pause while the interval is unknown */
static const double least_ms = 8;  /* least jitter: a request itself takes some milliseconds */
static const double early = 1.0, step = 1.2, growth = 1.7, first_growth = 1.3;

static double absolute(double v)
{
    return v < 0 ? -v : v;
}

static double least_jitter(const struct rpc_pace *pace)
{
    return pace->jitter_ms > least_ms ? pace->jitter_ms : least_ms;
}

void rpc_pace_miss(struct rpc_pace *pace, int64_t now_ms)
{
    pace->miss_ms = (double)now_ms;
    pace->misses++;
}

static void begin_rhythm(struct rpc_pace *pace, double interval)
{
    pace->interval_ms = interval;
    pace->jitter_ms = interval / 8;
    pace->odd = pace->count = 0;
}

/* Updates the mean interval. Request times have some jitter, but their mean distance has not. A
 * single ledger that does not fit (late, or several at once) is ignored. */
static void learn_interval(struct rpc_pace *pace, double interval)
{
    bool odd = interval > 2.5 * pace->interval_ms || interval < 0.4 * pace->interval_ms;
    pace->odd = odd ? pace->odd + 1 : 0;
    if (pace->interval_ms <= 0 || pace->odd >= ODD_MOST) {
        begin_rhythm(pace, interval);
    } else if (!odd) {
        pace->count += pace->count < LONG_RUN - 4;
        pace->interval_ms += (interval - pace->interval_ms) / (4 + pace->count);
    }
}

/* Returns the time at which the ledger came: halfway between the last request that was too early
 * and this one. */
static double came_after_miss(struct rpc_pace *pace, double now, double due)
{
    double came = now - (now - pace->miss_ms) / 2, most = 4 * least_jitter(pace);
    double off = absolute(came - due);
    pace->first = 0;
    pace->jitter_ms += ((off < most ? off : most) - pace->jitter_ms) / 8;
    return came;
}

/* Returns a time for a ledger that was there before the first request: earlier than now, and twice
 * as much earlier with each such ledger in a row. The next request is then sent earlier. */
static double came_before(struct rpc_pace *pace, double now, double due)
{
    double back = least_jitter(pace) / 2, least = now - pace->interval_ms / 2;
    for (uint32_t i = 0; i < pace->first && i < DOUBLE_MOST; i++)
        back *= 2;
    double came = (due < now ? due : now) - back;
    if (pace->first++ == 0)
        pace->jitter_ms *= 0.98;
    return came > least ? came : least;
}

void rpc_pace_hit(struct rpc_pace *pace, int64_t now_ms, uint32_t count)
{
    double now = (double)now_ms;
    assert(count > 0);
    if (pace->begun) {
        learn_interval(pace, (now - pace->seen_ms) / count);
        double due = pace->last_ms + pace->interval_ms * count;
        pace->last_ms =
            pace->misses ? came_after_miss(pace, now, due) : came_before(pace, now, due);
    } else if (pace->misses) {
        pace->begun = true;
        pace->last_ms = now - (now - pace->miss_ms) / 2;
    }
    pace->seen_ms = now;
    pace->misses = 0;
}

void rpc_pace_forget(struct rpc_pace *pace)
{
    pace->begun = false;
    pace->misses = 0;
}

static double power(double base, uint32_t exponent)
{
    double v = 1;
    while (exponent--)
        v *= base;
    return v;
}

int64_t rpc_pace_wait(const struct rpc_pace *pace, int64_t now_ms)
{
    double wait, interval = pace->interval_ms;
    if (pace->misses + 2 > RPC_PACE_POLLS) {
        wait = interval > idle_ms ? interval : idle_ms;
    } else if (interval <= 0) {
        wait = first_ms * power(first_growth, pace->misses);
        wait = wait > idle_ms ? idle_ms : wait;
    } else if (pace->misses == 0) {
        wait = pace->last_ms + interval - early * pace->jitter_ms - (double)now_ms;
    } else {
        wait = step * least_jitter(pace) * power(growth, pace->misses - 1);
        wait = wait < interval / 8 ? wait : interval / 8;
    }
    return wait < 1 ? 1 : (int64_t)wait;
}
