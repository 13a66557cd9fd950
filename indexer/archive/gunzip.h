/* Decompresses gzip as a stream: any number of members one after the other, in pieces of any size.
 *
 * Memory   zlib's window, 32 KiB, and its state.
 * Threads  one object belongs to one thread. */
#ifndef INDEXER_ARCHIVE_GUNZIP_H
#define INDEXER_ARCHIVE_GUNZIP_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

struct gunzip;

tide_status gunzip_open(struct gunzip **out) TIDE_MUST_USE; /* TIDE_E_MEMORY */
void gunzip_close(struct gunzip *z);                        /* NULL is allowed */
void gunzip_reset(struct gunzip *z);

/* Decompresses at most size bytes to out and advances *in by the bytes read. *made is the number
 * written. If *made is 0 and *in is empty, more input is needed. TIDE_E_DECODE: malformed, a wrong
 * checksum or length, or bytes behind the last member. TIDE_E_MEMORY. *what is the reason, a static
 * text. After a failure only reset and close are allowed. */
tide_status gunzip_read(struct gunzip *z, tide_slice *in, uint8_t *out, size_t size, size_t *made,
                        const char **what) TIDE_MUST_USE;

/* Returns true behind a member: input that ends here is complete. */
bool gunzip_complete(const struct gunzip *z);

#endif
