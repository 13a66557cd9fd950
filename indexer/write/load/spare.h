/* The tables of the next partition, made by a thread while this one loads. */
#ifndef INDEXER_WRITE_LOAD_SPARE_H
#define INDEXER_WRITE_LOAD_SPARE_H

#include "indexer/write/session/main_session.h"

struct load_spare; /* opaque */

/* Starts the thread, which makes the partition that begins at `from`. Returns NULL without memory
 * or thread; the writer's session then makes the tables later. */
struct load_spare *load_spare_begin(struct write_main *m, uint32_t from);
/* Waits for the thread and frees the spare. stop: the thread ends as soon as it can. NULL is
 * allowed. */
void load_spare_end(struct write_main *m, struct load_spare *spare, bool stop);

#endif
