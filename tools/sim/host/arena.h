/* An arena holds everything that lives as long as one unit of work: one ledger
 * in the indexer, one request in the API. There is no free; the unit ends with
 * tide_arena_reset and every pointer into it dies at once.
 *
 * Memory   The block is taken once by tide_arena_open and never grows.
 * Full     Allocation returns NULL and the arena stays full until reset. The
 *          unit of work fails with TIDE_E_LIMIT; the process does not.
 * Threads  One arena belongs to one thread.
 * Checked  Under AddressSanitizer every object is followed by a poisoned gap
 *          and reset poisons the block: an overrun, or a pointer kept past its
 *          unit of work, is caught and not absorbed by the neighbour. */
#ifndef TOOLS_SIM_HOST_ARENA_H
#define TOOLS_SIM_HOST_ARENA_H

#include "tidemark/base.h"
#include "tidemark/status.h"

struct tide_arena {
    uint8_t *cur;     /* next free byte                                     */
    uint8_t *end;     /* one past the block                                 */
    uint8_t *base;    /* first byte                                         */
    uint32_t fail_in; /* tests: fail the n-th allocation from now; 0 is off */
    bool full;        /* an allocation failed since the last reset          */
    bool owned;       /* base came from malloc                              */
};

/* Uses the caller's block of size bytes. */
void tide_arena_init(struct tide_arena *arena, void *block, size_t size);
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
