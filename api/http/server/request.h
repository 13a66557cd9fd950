/* A request's head and body, until the request is complete. */
#ifndef API_HTTP_SERVER_REQUEST_H
#define API_HTTP_SERVER_REQUEST_H

#include "api/http/key.h"
#include "api/http/route.h"
#include "api/http/server/rate.h"
#include "api/http/server/request_check.h"

struct server_conn;

/* The head of a request, and the results of its checks. */
struct server_head {
    uint64_t start_ns;               /* monotonic, start of the request */
    bool bodiless;                   /* the method is HEAD */
    const struct tide_route *likely; /* route of the previous request, tried first */
    /* A route of this path with another method, for CORS headers; set only if no route matched */
    const struct tide_route *near;
    struct tide_peer client_key; /* identity for the rate limit: an address, or a key's digest */
    struct tide_rate_answer rate;
    struct tide_key_answer key;
    enum tide_rate_class class;
    struct tide_request_head fields; /* the header lines */
    char client[TIDE_PEER_TEXT];
    size_t target_len;
    /* One byte more than allowed, to detect a target that is too long */
    char target[TIDE_TARGET_MAX + 1];
    char scratch[TIDE_ROUTE_SCRATCH];
};

/* The body of a request. */
struct server_body {
    struct tide_buf bytes;
    bool refused; /* the reply is a problem, and the rest of the body is discarded */
};

/* Checks the head, its rate and its key, and finds the route. wrong: NULL, or the fault in the
 * head's form. Afterwards the state is STATE_BODY, or STATE_ANSWER with a reply in conn->reply. */
void server_request_begin(struct server_conn *conn, tide_slice method,
                          const struct tide_request_fault *wrong);
/* Returns whether the request's route has a second form (struct tide_route_form): its answers
 * vary by Accept. */
bool server_has_form(const struct server_conn *conn);
/* Sets a request id of the server's own. */
void server_request_make_id(struct server_conn *conn);
/* Stores a part of the body, or discards it if the request was rejected. */
void server_request_body(struct server_conn *conn, tide_slice part);

#endif
