/* Makes one SHA-256 at a time in a helper thread, while its owner goes on reading. If the thread
 * has not begun when the owner asks for the hash, the owner makes it. One thread at a time may call
 * these functions. */
#ifndef INDEXER_DECODE_HASH_WORKER_H
#define INDEXER_DECODE_HASH_WORKER_H

#include "tidemark/slice.h"

struct hash_worker;

struct hash_worker *hash_worker_open(void);    /* NULL: no memory, or no thread */
void hash_worker_close(struct hash_worker *a); /* NULL is allowed */

/* Begins the SHA-256 of head followed by tail. Both are borrowed until hash_worker_end. At most one
 * hash may be begun. */
void hash_worker_begin(struct hash_worker *a, tide_slice head, tide_slice tail);
/* Waits for the hash. Returns false if none was begun. */
bool hash_worker_end(struct hash_worker *a, uint8_t hash[TIDE_HASH_BYTES]);

#endif
