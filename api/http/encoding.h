/* Content codings of answers (RFC 9110, 8.4): which one a client takes, and bytes in it.
 *
 * Threads  any. */
#ifndef API_HTTP_ENCODING_H
#define API_HTTP_ENCODING_H

#include "tidemark/buf.h"

/* The better ones last. */
enum tide_encoding {
    TIDE_ENCODING_NONE, /* "identity": as it is */
    TIDE_ENCODING_GZIP,
    TIDE_ENCODING_ZSTD,
    TIDE_ENCODING_COUNT
};

/* "gzip", as Content-Encoding has it; "identity" of NONE. Static. */
const char *tide_encoding_name(enum tide_encoding encoding);

/* The coding that an Accept-Encoding line wants most, of those offered (bits 1 << tide_encoding);
 * the better of two that it wants alike. NONE without a line, and where it wants none of them: an
 * answer as it is stands for "identity;q=0" too, because a client that asks for data gets data.
 * What is malformed in the line counts as absent. Pure. */
enum tide_encoding tide_encoding_choose(tide_slice accept, unsigned offered);

/* Appends in, encoded. Fast rather than small: 256 KiB of JSON become a seventh in about
 * 1.5 ms (gzip) or 0.5 ms (zstd).
 * TIDE_E_LIMIT: out has too little room (tide_encoding_room); TIDE_E_MEMORY. */
tide_status tide_encoding_make(struct tide_buf *out, tide_slice in,
                               enum tide_encoding encoding) TIDE_MUST_USE;
/* Bytes of room that make asks for. */
size_t tide_encoding_room(size_t bytes);

#endif
