/* A hash made aside: by a thread of its own while its owner goes on reading, or by the owner when
 * that thread had no time for it before the answer was wanted. One at a time.
 *
 * Threads  the functions below are for one thread. */
#ifndef INDEXER_DECODE_HASH_WORKER_H
#define INDEXER_DECODE_HASH_WORKER_H

#include "tidemark/slice.h"

struct hash_worker;

struct hash_worker *hash_worker_open(void);    /* NULL: no memory, or no thread */
void hash_worker_close(struct hash_worker *a); /* NULL is fine */

/* SHA-256 of head, then tail; both are borrowed until hash_worker_end. */
void hash_worker_begin(struct hash_worker *a, tide_slice head, tide_slice tail);
/* False when nothing was begun. */
bool hash_worker_end(struct hash_worker *a, uint8_t hash[TIDE_HASH_BYTES]);

#endif
