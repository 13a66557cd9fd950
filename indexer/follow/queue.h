/* A bounded queue of pointers between two threads, under one lock. A closed queue gives the items
 * that are left, then NULL. */
#ifndef INDEXER_FOLLOW_QUEUE_H
#define INDEXER_FOLLOW_QUEUE_H

#include "tidemark/base.h"

#include <pthread.h>

#define TIDE_QUEUE_MAX 72u

struct tide_queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *items[TIDE_QUEUE_MAX];
    uint32_t first, count;
    bool closed;
};

void tide_queue_init(struct tide_queue *queue);
void tide_queue_release(struct tide_queue *queue);
/* Returns false if the queue is closed. The caller must never put more than TIDE_QUEUE_MAX
 * items. */
bool tide_queue_put(struct tide_queue *queue, void *item);
/* Returns the oldest item, or NULL after timeout_ms (negative: no limit) or if the queue is closed
 * and empty. */
void *tide_queue_take(struct tide_queue *queue, int64_t timeout_ms);
void tide_queue_close(struct tide_queue *queue);

#endif
