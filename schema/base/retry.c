#include "tidemark/retry.h"

#include <unistd.h>

enum { DOUBLINGS_MAX = 31 }; /* a uint32_t shifted by this many bits fits 64 bits */

void tide_retry_init(struct tide_retry *retry, int64_t now_ms, uint32_t number)
{
    /* 2^32 divided by the golden ratio: spreads seeds that differ little */
    const uint32_t mix = 2654435761u;
    retry->chance = ((uint32_t)now_ms ^ (uint32_t)getpid() << 16 ^ number << 8) * mix;
}

uint32_t tide_retry_chance(struct tide_retry *retry)
{
    retry->chance = retry->chance * 1664525u + 1013904223u;
    return retry->chance >> 8;
}

uint32_t tide_retry_pause_ms(struct tide_retry *retry, uint32_t first_ms, uint32_t most_ms,
                             uint32_t failures)
{
    uint64_t ms = (uint64_t)first_ms << (failures < DOUBLINGS_MAX ? failures : DOUBLINGS_MAX);
    if (ms > most_ms)
        ms = most_ms;
    uint64_t least = (ms + 1) / 2;
    return (uint32_t)(least + (tide_retry_chance(retry) * (ms - least + 1) >> 24));
}
