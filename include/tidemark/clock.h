/* Clocks are arguments where a test moves one itself, so that tests of staleness take no time.
 * Programs pass tide_clock_system(). */
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

/* Returns the system's clock. Its now_ms counts from the start of this host and includes the time
 * in which the host was suspended. All processes of the host read the same value. */
const struct tide_clock *tide_clock_system(void);
/* Return now_ms of the system's clock, and sleep by it. A signal ends the sleep early. */
int64_t tide_now_ms(void);
void tide_sleep_ms(int64_t ms);

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
/* Returns an id of this start of the host. A stored value of now_ms means nothing if it was stored
 * under another id. All zero if the system gives none. */
const uint8_t *tide_boot_id(void);

#endif
