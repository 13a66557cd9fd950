/* Pauses between attempts. They double with each failure, and chance shortens them by up to half:
 * clients that failed together do not come back together. */
#ifndef TIDEMARK_RETRY_H
#define TIDEMARK_RETRY_H

#include <stdint.h>

/* State of a small generator, seeded with any number. One thread uses it. */
struct tide_retry {
    uint32_t chance;
};

/* Seeds it from the time, the process and number: what fails together draws other pauses. */
void tide_retry_init(struct tide_retry *retry, int64_t now_ms, uint32_t number);

/* Milliseconds to wait after `failures` earlier failures in a row (0: this is the first): at least
 * half of, at most, first_ms << failures, and never more than most_ms. */
uint32_t tide_retry_pause_ms(struct tide_retry *retry, uint32_t first_ms, uint32_t most_ms,
                             uint32_t failures);

/* The generator's next number, below 1 << 24. Not for secrets. */
uint32_t tide_retry_chance(struct tide_retry *retry);

#endif
