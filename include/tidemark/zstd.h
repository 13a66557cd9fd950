/* Zstandard as a stream: any number of frames one after the other, in pieces of any size.
 *
 * Memory   one decompression window of at most 1 << TIDE_ZSTD_WINDOW_LOG_MAX bytes, which reset
 *          keeps. A frame that asks for more is TIDE_E_LIMIT.
 * Threads  one object belongs to one thread. */
#ifndef TIDEMARK_ZSTD_H
#define TIDEMARK_ZSTD_H

#include "tidemark/buf.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

#define TIDE_ZSTD_WINDOW_LOG_MAX 25 /* 32 MiB */

struct tide_unzstd;

tide_status tide_unzstd_open(struct tide_unzstd **out) TIDE_MUST_USE; /* TIDE_E_MEMORY */
void tide_unzstd_close(struct tide_unzstd *z);                        /* NULL is allowed */
void tide_unzstd_reset(struct tide_unzstd *z);

/* Decompresses at most size bytes to out and advances *in by the bytes read. *made is the number
 * written. If *made is 0 and *in is empty, more input is needed. TIDE_E_DECODE: malformed, or a
 * wrong checksum. TIDE_E_LIMIT: the window is too large. *what is the reason, a static text. After
 * a failure only reset and close are allowed. */
tide_status tide_unzstd_read(struct tide_unzstd *z, tide_slice *in, uint8_t *out, size_t size,
                             size_t *made, const char **what) TIDE_MUST_USE;

/* Returns true between frames: input that ends here is complete. */
bool tide_unzstd_complete(const struct tide_unzstd *z);

/* Returns whether bytes begin like a zstd frame or a skippable frame. */
bool tide_zstd_magic(tide_slice bytes);

/* Appends `in` as one frame with checksum and content size. TIDE_E_LIMIT if buf is full. */
tide_status tide_zstd_compress(struct tide_buf *buf, tide_slice in, int level) TIDE_MUST_USE;

#endif
