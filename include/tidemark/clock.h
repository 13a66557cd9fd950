/* Time is an argument. Production passes tide_clock_system(); tests pass a clock
 * that moves only when told, so retry and staleness tests take no time. */
#ifndef TIDEMARK_CLOCK_H
#define TIDEMARK_CLOCK_H

#include "tidemark/base.h"

struct tide_clock {
    int64_t (*now_ms)(void *self);  /* monotonic, arbitrary origin */
    int64_t (*wall_ms)(void *self); /* unix time in milliseconds    */
    void (*sleep_ms)(void *self, int64_t ms);
    void *self;
};

/* now_ms counts from the start of this host, with the time that it was suspended. Every process of
 * the host reads the same value. */
const struct tide_clock *tide_clock_system(void);

#define TIDE_BOOT_BYTES 16u
/* Identifies this start of this host: values of now_ms that were stored under another one say
 * nothing. All zero when the system does not tell. */
const uint8_t *tide_boot_id(void);

#endif
