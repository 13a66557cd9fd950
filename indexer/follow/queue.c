/* The queue: a ring under one lock. */
#include "indexer/follow/queue.h"
#include "tidemark/clock.h"

#include <errno.h>
#include <string.h>

void tide_queue_init(struct tide_queue *queue)
{
    memset(queue, 0, sizeof *queue);
    pthread_mutex_init(&queue->lock, NULL);
    (void)tide_cond_init(&queue->changed);
}

void tide_queue_release(struct tide_queue *queue)
{
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
}

bool tide_queue_put(struct tide_queue *queue, void *item)
{
    pthread_mutex_lock(&queue->lock);
    bool open = !queue->closed;
    if (open) {
        assert(queue->count < TIDE_QUEUE_MAX);
        queue->items[(queue->first + queue->count++) % TIDE_QUEUE_MAX] = item;
        pthread_cond_signal(&queue->changed);
    }
    pthread_mutex_unlock(&queue->lock);
    return open;
}

void *tide_queue_take(struct tide_queue *queue, int64_t timeout_ms)
{
    struct timespec until = tide_monotonic_in(timeout_ms < 0 ? 0 : timeout_ms);
    void *item = NULL;
    int waited = 0;
    pthread_mutex_lock(&queue->lock);
    while (queue->count == 0 && !queue->closed && waited != ETIMEDOUT) {
        if (timeout_ms < 0)
            pthread_cond_wait(&queue->changed, &queue->lock);
        else
            waited = pthread_cond_timedwait(&queue->changed, &queue->lock, &until);
    }
    /* A closed queue still gives the items that are in it. */
    if (queue->count) {
        item = queue->items[queue->first];
        queue->first = (queue->first + 1) % TIDE_QUEUE_MAX;
        queue->count--;
    }
    pthread_mutex_unlock(&queue->lock);
    return item;
}

void tide_queue_close(struct tide_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}
