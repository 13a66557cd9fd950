#include "tidemark/clock.h"

#include <errno.h>
#include <time.h>

static int64_t read_ms(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t now_ms(void *self)
{
    (void)self;
    return read_ms(CLOCK_MONOTONIC);
}

static int64_t wall_ms(void *self)
{
    (void)self;
    return read_ms(CLOCK_REALTIME);
}

static void sleep_ms(void *self, int64_t ms)
{
    (void)self;
    if (ms <= 0)
        return;
    struct timespec t = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };
    nanosleep(&t, NULL); /* a signal ends it early, which is what a stop wants */
}

const struct tide_clock *tide_clock_system(void)
{
    static const struct tide_clock clock = { now_ms, wall_ms, sleep_ms, NULL };
    return &clock;
}
