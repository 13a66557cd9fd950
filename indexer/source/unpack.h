/* One object of a lake, decompressed. With `ahead` a thread of its own does it, a few pieces before
 * its reader: the reader's work and the decompression take place at the same time.
 *
 * Memory   a decompression window; with `ahead` UNPACK_AHEAD bytes beside it.
 * Threads  the functions below are for one thread. */
#ifndef INDEXER_SOURCE_UNPACK_H
#define INDEXER_SOURCE_UNPACK_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

enum { UNPACK_AHEAD = 4 << 20 };

struct unpack;

tide_status unpack_open(struct unpack **out) TIDE_MUST_USE; /* TIDE_E_MEMORY */
void unpack_close(struct unpack *u);                        /* NULL is fine  */

/* Begins with another object. packed is borrowed until unpack_end; call it in between. Without
 * memory or a thread to spare it is not done ahead. */
void unpack_begin(struct unpack *u, tide_slice packed, bool ahead);

/* Lets go of the object. */
void unpack_end(struct unpack *u);

/* size bytes to out; *made tells how many. Fewer: the object ended, or it failed there.
 * TIDE_E_DECODE, TIDE_E_LIMIT, TIDE_E_MEMORY as from tide_unzstd_read; asked again, again. */
tide_status unpack_read(struct unpack *u, uint8_t *out, size_t size, size_t *made,
                        const char **what) TIDE_MUST_USE;

/* So many bytes are read without waiting. */
size_t unpack_ready(struct unpack *u);

/* All has been read, and the last frame was whole. */
bool unpack_exhausted(struct unpack *u);

#endif
