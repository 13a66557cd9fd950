#include "indexer/source/rpc/pace.h"

/* The window around the expected moment holds WINDOW_POLLS questions, as many jitters wide to
 * each side; after it the pauses grow, so that the rest of the questions reaches far. */
enum { WINDOW_POLLS = 10, IDLE_MS = 1000, FIRST_MS = 40, LEAST_MS = 2 };

static const double window_jitters = 2.5, growth = 1.6, first_growth = 1.3;

static double absolute(double v)
{
    return v < 0 ? -v : v;
}

void rpc_pace_miss(struct rpc_pace *pace, int64_t now_ms)
{
    pace->miss_ms = (double)now_ms;
    pace->misses++;
}

/* The moment lies between the last question that was too early and this one. */
static void learn(struct rpc_pace *pace, double came, double doubt, uint32_t count)
{
    double interval = (came - pace->last_ms) / count;
    double off = absolute(interval - pace->interval_ms);
    if (pace->interval_ms <= 0 || off > pace->interval_ms) {
        pace->interval_ms = interval;
        pace->jitter_ms = doubt > interval / 8 ? doubt : interval / 8;
        return;
    }
    pace->interval_ms += (interval - pace->interval_ms) / 6;
    pace->jitter_ms += ((off > doubt ? off : doubt) - pace->jitter_ms) / 4;
}

void rpc_pace_hit(struct rpc_pace *pace, int64_t now_ms, uint32_t count)
{
    double now = (double)now_ms, came = now;
    assert(count > 0);
    if (pace->misses) {
        double doubt = (now - pace->miss_ms) / 2;
        came = now - doubt;
        if (pace->begun && came > pace->last_ms)
            learn(pace, came, doubt, count);
    } else if (pace->begun && pace->interval_ms > 0) {
        /* It was there already: the next question comes earlier. */
        double due = pace->last_ms + pace->interval_ms * count;
        double most = (now - pace->last_ms) / count;
        came = due < now ? due : now;
        if (count > 1 && most < pace->interval_ms)
            pace->interval_ms = most;
        pace->jitter_ms = pace->jitter_ms * 3 / 2 + 1;
    }
    pace->begun = pace->begun || pace->misses > 0;
    pace->last_ms = came;
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
    double wait, interval = pace->interval_ms, half = window_jitters * pace->jitter_ms;
    if (pace->misses + 2 > RPC_PACE_POLLS) {
        wait = interval > IDLE_MS ? interval : IDLE_MS;
    } else if (interval <= 0) {
        wait = FIRST_MS * power(first_growth, pace->misses);
        wait = wait > IDLE_MS ? IDLE_MS : wait;
    } else if (pace->misses == 0) {
        wait = pace->last_ms + interval - half - (double)now_ms;
    } else {
        double step = 2 * half / WINDOW_POLLS;
        step = step < LEAST_MS ? LEAST_MS : step;
        wait =
            pace->misses < WINDOW_POLLS ? step : step * power(growth, pace->misses - WINDOW_POLLS);
        if (wait > interval)
            wait = interval;
    }
    return wait < 1 ? 1 : (int64_t)wait;
}
