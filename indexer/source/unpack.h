/* Decompresses one object of a lake. With `ahead` a thread does it a few pieces before the reader,
 * so that both work at the same time. Memory: a decompression window, and with `ahead` UNPACK_AHEAD
 * bytes. One thread at a time may call these functions. */
#ifndef INDEXER_SOURCE_UNPACK_H
#define INDEXER_SOURCE_UNPACK_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

enum { UNPACK_AHEAD = 4 << 20 };

struct unpack;

tide_status unpack_open(struct unpack **out) TIDE_MUST_USE; /* TIDE_E_MEMORY */
void unpack_close(struct unpack *u);                        /* NULL is allowed */

/* Begins another object. packed is borrowed until unpack_end, which must be called before the bytes
 * end. Without memory or a thread, nothing is decompressed ahead. */
void unpack_begin(struct unpack *u, tide_slice packed, bool ahead);

/* Ends the object: its bytes are no longer read. */
void unpack_end(struct unpack *u);

/* Reads size bytes; *made is how many there are. Fewer: the object ended or failed. Every later
 * call returns the same status. TIDE_E_DECODE, TIDE_E_LIMIT, TIDE_E_MEMORY as from
 * tide_unzstd_read. */
tide_status unpack_read(struct unpack *u, uint8_t *out, size_t size, size_t *made,
                        const char **what) TIDE_MUST_USE;

/* Returns how many bytes can be read without waiting. */
size_t unpack_ready(struct unpack *u);

/* Returns true if everything was read, and the last frame was complete. */
bool unpack_exhausted(struct unpack *u);

#endif
