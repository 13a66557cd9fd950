/* One hash at a time, made by a helper thread while its owner goes on reading. If that thread has
 * not begun when the answer is wanted, the owner makes it.
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
