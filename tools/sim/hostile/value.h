/* Contract values at their limits, as XDR: every arm, deep, long, with text that is none.
 *
 * Valid    what the contract host accepts: maps strictly ascending, symbols of its letters, no
 *          absent vec or map, at most 100 levels. Events, entries and return values are so.
 * Wild     what XDR allows and the host refuses: such arguments stand in refused calls, since
 *          the network keeps the envelope of a call that failed. */
#ifndef SIM_HOSTILE_VALUE_H
#define SIM_HOSTILE_VALUE_H

#include "tidemark/buf.h"
#include "tools/sim/hostile/dice.h"

enum { HOSTILE_DEPTH_VALID = 90, HOSTILE_DEPTH_WILD = 240 };

/* What a value may be. */
struct hostile_bounds {
    uint32_t bytes; /* about as many bytes of XDR at most */
    uint32_t depth; /* levels of nesting left */
    bool wild;
};

/* Appends one value. */
void hostile_value(struct dice *d, struct tide_buf *out, struct hostile_bounds bounds);

/* Integers near the ends of their types, near powers of ten, or anywhere. */
uint32_t hostile_u32(struct dice *d);
uint64_t hostile_u64(struct dice *d);
/* Appends the two halves of an i128, without the arm. */
void hostile_put_i128(struct dice *d, struct tide_buf *out);
/* Appends a string of at most max bytes that need not be text, with its length and padding. */
void hostile_put_text(struct dice *d, struct tide_buf *out, uint32_t max);
/* Appends a symbol's content: letter first, then up to 31 of the host's letters. */
void hostile_put_symbol(struct dice *d, struct tide_buf *out, char letter);
/* Appends random opaque bytes with length and padding. */
void hostile_put_bytes(struct dice *d, struct tide_buf *out, uint32_t len);

#endif
