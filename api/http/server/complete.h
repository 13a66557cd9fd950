/* ETag, 304 and compression of a reply. */
#ifndef API_HTTP_SERVER_COMPLETE_H
#define API_HTTP_SERVER_COMPLETE_H

#include "api/http/encoding.h"

struct server_conn;

enum { SERVER_TAG_BYTES = 40 }; /* an ETag: W/, quotes, 32 hex digits, NUL */

/* The variant of the reply that this client gets. */
struct server_variant {
    char tag[SERVER_TAG_BYTES];  /* empty: the answer has no ETag */
    enum tide_encoding encoding; /* Content-Encoding of the reply */
    bool completed;              /* server_complete has set tag and encoding */
    bool varies;                 /* the answer depends on Accept-Encoding */
};

/* Sets the tag, turns the reply into a 304 if the client has it, and chooses the encoding.
 * Returns whether the body must still be compressed for that encoding. Once for each request, on
 * the worker or on the executor's thread. */
bool server_complete(struct server_conn *conn);
/* Compresses the body with the chosen encoding, or clears that if the result is not smaller. Any
 * thread. */
void server_compress(struct server_conn *conn);
/* Returns the value of the answer's Cache-Control. */
const char *server_cache_control(const struct server_conn *conn);

#endif
