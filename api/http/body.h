/* Bodies of requests that are JSON objects. */
#ifndef API_HTTP_BODY_H
#define API_HTTP_BODY_H

#include "api/http/reply.h"
#include "tidemark/json_read.h"

/* Returns the object in a body, read strictly: no member may occur twice in any object. Returns
 * NULL with a problem in the reply: 400 with that code, which names a byte and quotes nothing of
 * the text. flags: JSON_ALLOW_NUL or 0. The caller releases the object (json_decref). Any
 * thread. */
json_t *tide_body_object(tide_slice text, size_t flags, const char *code, struct tide_reply *reply);

#endif
