/* Bodies of requests that are JSON objects. */
#ifndef API_HTTP_BODY_H
#define API_HTTP_BODY_H

#include "api/http/reply.h"
#include "schema/base/json_read.h"

/* The object in a body, read strictly: no member stands in any object twice. NULL: the reply has
 * the problem, 400 with that code, which names a byte and shows nothing of the text. flags:
 * JSON_ALLOW_NUL, or 0. The caller gives the object back (json_decref). Any thread. */
json_t *tide_body_object(tide_slice text, size_t flags, const char *code, struct tide_reply *reply);

#endif
