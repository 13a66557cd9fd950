/* An arena holds the values of one call. There is no free: the call ends with tide_arena_reset, and
 * every pointer into the arena dies at once.
 *
 * Memory   The block is taken once by tide_arena_open and never grows.
 * Full     Allocation returns NULL and the arena stays full until reset.
 * Threads  One arena belongs to one thread.
 * Checked  Under AddressSanitizer every object is followed by a poisoned gap, and reset poisons the
 *          block: an overrun, or a pointer kept past its call, is caught. */
#ifndef TOOLS_SIM_HOST_ARENA_H
#define TOOLS_SIM_HOST_ARENA_H

#include "tidemark/base.h"
#include "tidemark/status.h"

struct tide_arena {
    uint8_t *cur;  /* next free byte                                     */
    uint8_t *end;  /* one past the block                                 */
    uint8_t *base; /* first byte                                         */
    bool full;     /* an allocation failed since the last reset          */
};

/* Takes a block of size bytes from malloc. TIDE_E_MEMORY when there is none. */
tide_status tide_arena_open(struct tide_arena *arena, size_t size) TIDE_MUST_USE;
void tide_arena_close(struct tide_arena *arena);
void tide_arena_reset(struct tide_arena *arena);

/* count zeroed objects of size bytes, or NULL (see Full above). align is a power of two. */
void *tide_arena_alloc(struct tide_arena *arena, size_t size, size_t align,
                       size_t count) TIDE_MUST_USE;

#define tide_new(arena, type, count) \
    ((type *)tide_arena_alloc((arena), sizeof(type), _Alignof(type), (count)))

#endif
