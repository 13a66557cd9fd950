/* A mutex for threads that should seldom have to wait for it; the waits are counted. */
#ifndef TIDEMARK_LOCK_H
#define TIDEMARK_LOCK_H

#include "tidemark/base.h"

#include <pthread.h>
#include <stdatomic.h>

/* Locks the mutex. *waits counts the calls that found it locked. */
static inline void tide_lock_counted(pthread_mutex_t *mutex, atomic_ullong *waits)
{
    if (TIDE_LIKELY(pthread_mutex_trylock(mutex) == 0))
        return;
    atomic_fetch_add_explicit(waits, 1, memory_order_relaxed);
    pthread_mutex_lock(mutex);
}

#endif
