#include "tidemark/retry.h"

enum { DOUBLINGS_MAX = 31 }; /* a uint32_t shifted so far still fits 64 bits */

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
