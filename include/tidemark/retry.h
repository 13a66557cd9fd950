/* Pauses between attempts. A pause doubles with each failure and is shortened at random by up to
 * half, so that clients that failed together do not retry together. */
#ifndef TIDEMARK_RETRY_H
#define TIDEMARK_RETRY_H

#include <stdint.h>

/* State of a small random generator, seeded with any number. One thread uses it. */
struct tide_retry {
    uint32_t chance;
};

/* Seeds the generator from time, process and number, so that clients that fail together draw
 * different pauses. */
void tide_retry_init(struct tide_retry *retry, int64_t now_ms, uint32_t number);

/* Returns the milliseconds to wait after `failures` earlier failures in a row (0: this is the
 * first). The result is between half of first_ms << failures and that value, and never above
 * most_ms. */
uint32_t tide_retry_pause_ms(struct tide_retry *retry, uint32_t first_ms, uint32_t most_ms,
                             uint32_t failures);

/* Returns the generator's next number, below 1 << 24. Not for secrets. */
uint32_t tide_retry_chance(struct tide_retry *retry);

#endif
