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

/* The faults of a body's members. Not failed yet: zero but for the reply. */
struct tide_body_faults {
    struct tide_reply *reply;
    bool failed;
};
/* Answers 400 bad_body once, and adds a fault to its errors. where is a JSON Pointer. */
void tide_body_reject(struct tide_body_faults *faults, const char *where, const char *why);
/* The same for a member that the body must not have. */
void tide_body_reject_unknown(struct tide_body_faults *faults, const char *name);

#endif
