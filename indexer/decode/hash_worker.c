/* A thread that makes one hash at a time. */
#include "indexer/decode/hash_worker.h"

#include "tidemark/hash.h"

#include <pthread.h>
#include <stdlib.h>

/* IDLE: no hash was requested. ASKED: requested, and the thread has not begun. TAKEN: the thread is
 * hashing. MADE: the hash is ready. */
enum stage { IDLE, ASKED, TAKEN, MADE };

struct hash_worker {
    pthread_t thread;
    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t asked, made;
    bool closing;
    enum stage stage;
    tide_slice head, tail;
    uint8_t hash[TIDE_HASH_BYTES];
};

static void digest(const struct hash_worker *a, uint8_t hash[TIDE_HASH_BYTES])
{
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, a->head);
    tide_sha256_update(&h, a->tail);
    tide_sha256_final(&h, hash);
}

static void *run_worker(void *self)
{
    struct hash_worker *a = self;
    pthread_mutex_lock(&a->lock);
    while (!a->closing) {
        if (a->stage != ASKED) {
            pthread_cond_wait(&a->asked, &a->lock);
            continue;
        }
        a->stage = TAKEN;
        pthread_mutex_unlock(&a->lock);
        digest(a, a->hash);
        pthread_mutex_lock(&a->lock);
        assert(a->stage == TAKEN);
        a->stage = MADE;
        pthread_mutex_unlock(&a->lock);
        /* The signal is sent without the lock, so that the waiting owner gets the lock at once. */
        pthread_cond_signal(&a->made);
        pthread_mutex_lock(&a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

struct hash_worker *hash_worker_open(void)
{
    struct hash_worker *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->asked, NULL);
    pthread_cond_init(&a->made, NULL);
    if (pthread_create(&a->thread, NULL, run_worker, a) == 0)
        return a;
    pthread_cond_destroy(&a->made);
    pthread_cond_destroy(&a->asked);
    pthread_mutex_destroy(&a->lock);
    free(a);
    return NULL;
}

void hash_worker_close(struct hash_worker *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->closing = true;
    pthread_cond_signal(&a->asked);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    pthread_cond_destroy(&a->made);
    pthread_cond_destroy(&a->asked);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

void hash_worker_begin(struct hash_worker *a, tide_slice head, tide_slice tail)
{
    pthread_mutex_lock(&a->lock);
    assert(a->stage == IDLE);
    assert(!a->closing);
    a->head = head;
    a->tail = tail;
    a->stage = ASKED;
    pthread_mutex_unlock(&a->lock);
    pthread_cond_signal(&a->asked);
}

bool hash_worker_end(struct hash_worker *a, uint8_t hash[TIDE_HASH_BYTES])
{
    pthread_mutex_lock(&a->lock);
    enum stage stage = a->stage;
    while (stage == TAKEN) {
        pthread_cond_wait(&a->made, &a->lock);
        stage = a->stage;
    }
    assert(stage != TAKEN);
    a->stage = IDLE;
    memcpy(hash, a->hash, TIDE_HASH_BYTES);
    pthread_mutex_unlock(&a->lock);
    /* The thread had not begun: hash here instead of waiting for it to be scheduled. */
    if (stage == ASKED)
        digest(a, hash);
    return stage != IDLE;
}
