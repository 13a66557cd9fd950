#include "tidemark/liveness.h"

#include <stdatomic.h>
#include <time.h>

struct slot {
    atomic_bool taken;
    const char *_Atomic name; /* NULL: no thread is watched in this slot */
    atomic_llong limit_ms, marked_ms;
    atomic_bool is_long;
};

static struct slot slots[TIDE_LIVENESS_THREADS];
static _Thread_local struct slot *mine;

/* Returns the time to a few milliseconds, without a system call. */
static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct slot *take_slot(void)
{
    for (size_t i = 0; i < TIDE_LIVENESS_THREADS; i++)
        if (!atomic_exchange(&slots[i].taken, true))
            return &slots[i];
    return NULL;
}

void tide_liveness_begin(const char *name, int64_t limit_ms)
{
    assert(name && limit_ms > 0 && !mine);
    mine = take_slot();
    if (!mine)
        return;
    atomic_store(&mine->marked_ms, now_ms()); /* before the limit, as in tide_liveness_long */
    atomic_store(&mine->limit_ms, limit_ms);
    atomic_store(&mine->is_long, false);
    atomic_store(&mine->name, name);
}

void tide_liveness_mark(void)
{
    if (mine)
        atomic_store_explicit(&mine->marked_ms, now_ms(), memory_order_relaxed);
}

void tide_liveness_long(bool begins)
{
    tide_liveness_mark();
    if (mine)
        atomic_store(&mine->is_long, begins);
}

static int64_t limit_of(const struct slot *slot)
{
    int64_t limit_ms = atomic_load(&slot->limit_ms);
    bool is_long = atomic_load(&slot->is_long);
    return is_long && limit_ms < TIDE_LIVENESS_LONG_MS ? TIDE_LIVENESS_LONG_MS : limit_ms;
}

void tide_liveness_end(void)
{
    if (!mine)
        return;
    assert(atomic_load(&mine->taken)); /* a free slot could be another thread's by now */
    atomic_store(&mine->name, NULL);
    atomic_store(&mine->taken, false);
    mine = NULL;
}

const char *tide_liveness_stalled(int64_t *silent_ms)
{
    int64_t now = now_ms();
    for (size_t i = 0; i < TIDE_LIVENESS_THREADS; i++) {
        const char *name = atomic_load(&slots[i].name);
        /* The limit is read before the mark: a thread marks before it shortens its limit, so that
         * no shorter limit is applied to the silence before it. */
        int64_t limit_ms = limit_of(&slots[i]);
        *silent_ms = now - atomic_load(&slots[i].marked_ms);
        if (name && *silent_ms > limit_ms)
            return name;
    }
    *silent_ms = 0;
    return NULL;
}
