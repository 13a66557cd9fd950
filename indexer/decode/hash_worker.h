/* A hash made aside: by a thread of its own while its owner goes on reading, or by the owner when
 * that thread had no time for it before the answer was wanted. One at a time.
 *
 * Threads  the functions below are for one thread. */
#ifndef INDEXER_DECODE_HASH_WORKER_H
#define INDEXER_DECODE_HASH_WORKER_H

#include "tidemark/slice.h"

struct aside;

struct aside *aside_open(void);    /* NULL: no memory, or no thread */
void aside_close(struct aside *a); /* NULL is fine */

/* SHA-256 of head, then tail; both are borrowed until aside_end. */
void aside_begin(struct aside *a, tide_slice head, tide_slice tail);
/* False when nothing was begun. */
bool aside_end(struct aside *a, uint8_t hash[TIDE_HASH_BYTES]);

#endif
