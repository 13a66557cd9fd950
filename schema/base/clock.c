#include "tidemark/clock.h"
#include "tidemark/text.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static int64_t read_ms(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t now_ms(void *self)
{
    (void)self;
    return read_ms(CLOCK_BOOTTIME);
}

static int64_t wall_ms(void *self)
{
    (void)self;
    return read_ms(CLOCK_REALTIME);
}

static void sleep_ms(void *self, int64_t ms)
{
    (void)self;
    tide_sleep_ms(ms);
}

const struct tide_clock *tide_clock_system(void)
{
    static const struct tide_clock clock = { now_ms, wall_ms, sleep_ms, NULL };
    return &clock;
}

int64_t tide_now_ms(void)
{
    return read_ms(CLOCK_BOOTTIME);
}

void tide_sleep_ms(int64_t ms)
{
    if (ms <= 0)
        return;
    struct timespec t = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };
    nanosleep(&t, NULL); /* a signal ends the sleep early, so that a stop is noticed at once */
}

/* --- waits and durations ------------------------------------------------------------------ */

uint64_t tide_monotonic_us(void)
{
    struct timespec now = tide_monotonic_in(0);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

struct timespec tide_monotonic_in(int64_t ms)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return tide_timespec_later(now, ms);
}

struct timespec tide_timespec_later(struct timespec t, int64_t ms)
{
    assert(ms >= 0);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    t.tv_sec += (time_t)(ms / 1000) + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

bool tide_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0)
        return false;
    bool good = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(cond, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return good;
}

/* --- which start of the host ------------------------------------------------------------- */

static pthread_once_t boot_once = PTHREAD_ONCE_INIT;
static uint8_t boot_id[TIDE_BOOT_BYTES];

/* Reads an id such as "3f2504e0-4f89-41d3-9a0c-0305e82c3301" without its dashes. If it cannot be
 * read, boot_id stays zero. */
static void read_boot_id(void)
{
    enum { TEXT_BYTES = 36 };
    char text[TEXT_BYTES], digits[2 * TIDE_BOOT_BYTES];
    size_t count = 0;
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t len = read(fd, text, sizeof text);
    close(fd);
    for (ssize_t i = 0; i < len && count < sizeof digits; i++)
        if (text[i] != '-')
            digits[count++] = text[i];
    if (count != sizeof digits ||
        tide_hex_decode(boot_id, sizeof boot_id, tide_slice_of(digits, count)) != TIDE_OK)
        memset(boot_id, 0, sizeof boot_id);
}

const uint8_t *tide_boot_id(void)
{
    pthread_once(&boot_once, read_boot_id);
    return boot_id;
}
