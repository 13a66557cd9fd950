/* Zstandard as a stream: any number of frames one after the other, in pieces of any size.
 *
 * Memory   one decompression window, at most 1 << TIDE_ZSTD_WINDOW_LOG_MAX bytes, whatever
 *          the frame asks for; more is TIDE_E_LIMIT. Kept by reset.
 * Threads  one object belongs to one thread. */
#ifndef TIDEMARK_ZSTD_H
#define TIDEMARK_ZSTD_H

#include "tidemark/buf.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

#define TIDE_ZSTD_WINDOW_LOG_MAX 25 /* 32 MiB */

struct tide_unzstd;

tide_status tide_unzstd_open(struct tide_unzstd **out) TIDE_MUST_USE; /* TIDE_E_MEMORY */
void tide_unzstd_close(struct tide_unzstd *z);                        /* NULL is fine  */
void tide_unzstd_reset(struct tide_unzstd *z);

/* Decompresses from *in, which moves on by what was read, to at most size bytes at out; *made
 * tells how many. Nothing made and *in empty: more input is needed.
 * TIDE_E_DECODE malformed or checksum wrong, TIDE_E_LIMIT window too large; what says why
 * (static text). After a failure only reset and close are allowed. */
tide_status tide_unzstd_read(struct tide_unzstd *z, tide_slice *in, uint8_t *out, size_t size,
                             size_t *made, const char **what) TIDE_MUST_USE;

/* True between frames: an input that ends here is not cut short. */
bool tide_unzstd_complete(const struct tide_unzstd *z);

/* True when bytes begin as a zstd frame (or a skippable one) does. */
bool tide_zstd_magic(tide_slice bytes);

/* Appends in as one frame with checksum and content size. TIDE_E_LIMIT when buf is full. */
tide_status tide_zstd_compress(struct tide_buf *buf, tide_slice in, int level) TIDE_MUST_USE;

#endif
