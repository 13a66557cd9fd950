#include "tools/sim/host/arena.h"

#include <stdlib.h>
#include <string.h>

#if TIDE_ASAN
#include <sanitizer/asan_interface.h>
#define REDZONE            ((size_t)32)
#define POISON(ptr, len)   ASAN_POISON_MEMORY_REGION(ptr, len)
#define UNPOISON(ptr, len) ASAN_UNPOISON_MEMORY_REGION(ptr, len)
#else
#define REDZONE            ((size_t)0)
#define POISON(ptr, len)   ((void)(ptr), (void)(len))
#define UNPOISON(ptr, len) ((void)(ptr), (void)(len))
#endif

static_assert(REDZONE % 16 == 0, "the gap must not disturb alignment");

tide_status tide_arena_open(struct tide_arena *arena, size_t size)
{
    uint8_t *block = malloc(size);
    if (!block)
        return TIDE_E_MEMORY;
    *arena = (struct tide_arena){ .cur = block, .base = block, .end = block + size };
    POISON(block, size);
    return TIDE_OK;
}

void tide_arena_close(struct tide_arena *arena)
{
    if (arena->base)
        UNPOISON(arena->base, (size_t)(arena->end - arena->base));
    free(arena->base);
    *arena = (struct tide_arena){ 0 };
}

void tide_arena_reset(struct tide_arena *arena)
{
    assert(arena->base <= arena->cur && arena->cur <= arena->end);
    arena->cur = arena->base;
    arena->full = false;
    if (arena->base)
        POISON(arena->base, (size_t)(arena->end - arena->base));
}

void *tide_arena_alloc(struct tide_arena *arena, size_t size, size_t align, size_t count)
{
    assert(size > 0);
    assert(align > 0 && (align & (align - 1)) == 0);
    assert(arena->base <= arena->cur && arena->cur <= arena->end);
    size_t padding = (-(uintptr_t)arena->cur & (align - 1)) + REDZONE;
    size_t room = (size_t)(arena->end - arena->cur);
    /* Divide, never multiply, until the product is known to fit. */
    if (arena->full || padding > room || count > (room - padding) / size) {
        arena->full = true;
        return NULL;
    }
    uint8_t *object = arena->cur + padding;
    arena->cur = object + size * count;
    assert(arena->cur <= arena->end);
    UNPOISON(object, size * count);
    return memset(object, 0, size * count);
}
