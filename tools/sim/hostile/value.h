/* Contract values at their limits, as XDR: every arm, deep nesting, long content, strings that are
 * no text.
 *
 * Valid    The contract host accepts these values: maps strictly ascending, symbols of its letters,
 *          no absent Vec or Map, at most 100 levels. Events, entries and return values are valid.
 * Wild     XDR allows these values and the host refuses them. They occur in arguments of refused
 *          calls, because the network keeps the envelope of a failed call. */
#ifndef SIM_HOSTILE_VALUE_H
#define SIM_HOSTILE_VALUE_H

#include "tidemark/buf.h"

/* --- the attackers' random numbers: a stream apart from those of the workload and the strangers --- */

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

/* --- values ------------------------------------------------------------------------ */

/* Levels of nesting. */
enum { HOSTILE_DEPTH_VALID = 90, HOSTILE_DEPTH_WILD = 240 };

/* Bounds of a value. */
struct hostile_bounds {
    uint32_t bytes; /* most bytes of XDR, roughly */
    uint32_t depth; /* levels of nesting that are left */
    bool wild;      /* wild values are allowed */
};

/* Appends one random value. */
void hostile_value(struct dice *d, struct tide_buf *out, struct hostile_bounds bounds);

/* Return integers near the ends of their types, near powers of ten, or random ones. */
uint32_t hostile_u32(struct dice *d);
uint64_t hostile_u64(struct dice *d);
/* Appends both halves of an i128, without the arm. */
void hostile_put_i128(struct dice *d, struct tide_buf *out);
/* Appends a string of at most max bytes, with length and padding. The bytes need not be UTF-8. */
void hostile_put_text(struct dice *d, struct tide_buf *out, uint32_t max);
/* Appends a symbol's content: the letter, then up to 31 letters that the host allows. */
void hostile_put_symbol(struct dice *d, struct tide_buf *out, char letter);
/* Appends opaque bytes with length and padding: random or zero. */
void hostile_put_bytes(struct dice *d, struct tide_buf *out, uint32_t len);

#endif
