/* Time is an argument. Production passes tide_clock_system(); tests pass a clock
 * that moves only when told, so retry and staleness tests take no time. */
#ifndef TIDEMARK_CLOCK_H
#define TIDEMARK_CLOCK_H

#include "tidemark/base.h"

#include <pthread.h>
#include <time.h>

struct tide_clock {
    int64_t (*now_ms)(void *self);  /* monotonic, arbitrary origin */
    int64_t (*wall_ms)(void *self); /* unix time in milliseconds    */
    void (*sleep_ms)(void *self, int64_t ms);
    void *self;
};

/* now_ms counts from the start of this host, with the time that it was suspended. Every process of
 * the host reads the same value. */
const struct tide_clock *tide_clock_system(void);
/* Returns now_ms of the system's clock. */
int64_t tide_now_ms(void);

/* The functions below read CLOCK_MONOTONIC, which stands still while the host is suspended. A
 * change of the wall clock does not move it. */

/* Returns microseconds, for durations. */
uint64_t tide_monotonic_us(void);
/* Returns the time in ms (0 or more) from now: the end of a pthread_cond_timedwait on a condition
 * of tide_cond_init. */
struct timespec tide_monotonic_in(int64_t ms);
/* Returns the time ms (0 or more) after t. */
struct timespec tide_timespec_later(struct timespec t, int64_t ms);
/* Initialises a condition whose timed waits end by CLOCK_MONOTONIC. Returns false if the system
 * refused; the condition is then not initialised. */
bool tide_cond_init(pthread_cond_t *cond);

#define TIDE_BOOT_BYTES 16u
/* Identifies this start of this host: values of now_ms that were stored under another one say
 * nothing. All zero when the system does not tell. */
const uint8_t *tide_boot_id(void);

#endif
