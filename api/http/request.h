/* A request as a handler sees it: it matched a route, and its parameters have valid values. */
#ifndef API_HTTP_REQUEST_H
#define API_HTTP_REQUEST_H

#include "api/http/header.h"
#include "api/http/param.h"
#include "api/http/peer.h"

#define TIDE_ROUTE_PARAMS_MAX 12u
#define TIDE_REQUEST_ID_BYTES 33u

struct tide_route;
struct tide_request_head;

/* Valid until the handler returns, or until the job of an executor is done. */
struct tide_request {
    const struct tide_route *route;
    /* The route's parameters, those of the path first */
    struct tide_param_value params[TIDE_ROUTE_PARAMS_MAX];
    uint32_t param_count;
    enum tide_form form; /* requested form, for a route with a second form */
    /* The body of a POST: at most the route's body_max bytes; UTF-8 unless the class has
     * any_bytes. */
    tide_slice body;
    tide_slice last_event_id;             /* for STREAM routes */
    const struct tide_request_head *head; /* for tide_request_header              */
    struct tide_peer client;              /* the client behind proxies; of IPv6 only the /64 */
    char id[TIDE_REQUEST_ID_BYTES];       /* NUL-terminated, the server's or the client's */
};

/* Returns the value of the first header line with that name (in any case), or ptr NULL, and
 * counts the lines. Valid as long as the request, on any thread. */
tide_slice tide_request_header(const struct tide_request *request, const char *name,
                               uint32_t *occurrences);

/* Returns the parameter's value, or NULL if the route has no such parameter. */
const struct tide_param_value *tide_request_param(const struct tide_request *request,
                                                  enum tide_param_id id);

#endif
