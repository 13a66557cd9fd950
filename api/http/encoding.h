/* Content codings of answers (RFC 9110, 8.4): chooses one by Accept-Encoding, and compresses.
 *
 * Threads  any. */
#ifndef API_HTTP_ENCODING_H
#define API_HTTP_ENCODING_H

#include "tidemark/buf.h"

/* In ascending order of preference. */
enum tide_encoding {
    TIDE_ENCODING_NONE, /* "identity": uncompressed */
    TIDE_ENCODING_GZIP,
    TIDE_ENCODING_ZSTD,
    TIDE_ENCODING_COUNT
};

/* Returns the name as Content-Encoding has it: "gzip"; "identity" for NONE. Static. */
const char *tide_encoding_name(enum tide_encoding encoding);

/* Returns the coding that an Accept-Encoding line prefers among those offered (bits 1 <<
 * tide_encoding), and of two equal ones the better. Returns NONE without a line, or if it
 * accepts none of them: the uncompressed answer is sent even for "identity;q=0", because a
 * client that asks for data should get data. Malformed parts count as absent. Pure. */
enum tide_encoding tide_encoding_choose(tide_slice accept, unsigned offered);

/* Appends the compressed bytes of in to out. Fast rather than small: 256 KiB of JSON become a
 * seventh in about 1.5 ms (gzip) or 0.5 ms (zstd). Fails with TIDE_E_LIMIT if out has too little
 * room (tide_encoding_room), or TIDE_E_MEMORY. */
tide_status tide_encoding_make(struct tide_buf *out, tide_slice in,
                               enum tide_encoding encoding) TIDE_MUST_USE;
/* Returns the room that tide_encoding_make needs for that many bytes. */
size_t tide_encoding_room(size_t bytes);

#endif
