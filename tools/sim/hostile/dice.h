/* The attackers' random numbers: a stream apart from those of the workload and the strangers. */
#ifndef SIM_HOSTILE_DICE_H
#define SIM_HOSTILE_DICE_H

#include "tidemark/status.h"

#include <stdbool.h>
#include <stdint.h>

/* State of the generator. */
struct dice {
    uint64_t state;
};

/* Returns a random number. The generator is splitmix64. */
static inline uint64_t dice_u64(struct dice *d)
{
    uint64_t z = (d->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Returns a random number from 0 to n - 1; n is not 0. */
static inline uint32_t dice_of(struct dice *d, uint32_t n)
{
    return (uint32_t)(dice_u64(d) % n);
}

/* Returns true with that probability. */
static inline bool dice_percent(struct dice *d, uint32_t percent)
{
    return dice_of(d, 100) < percent;
}

/* Returns a random number from low to high; small ones are likelier. */
static inline uint32_t dice_size(struct dice *d, uint32_t low, uint32_t high)
{
    uint32_t range = high - low + 1;
    return low + dice_of(d, 1 + dice_of(d, range));
}

#endif
