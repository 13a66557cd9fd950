/* A request as a handler sees it: it matched a route, and its parameters fit their types. */
#ifndef API_HTTP_REQUEST_H
#define API_HTTP_REQUEST_H

#include "api/http/accept.h"
#include "api/http/param.h"
#include "api/http/peer.h"

#define TIDE_ROUTE_PARAMS_MAX 12u
#define TIDE_REQUEST_ID_BYTES 33u

struct tide_route;
struct tide_request_head;

/* Valid until the handler returns; a request that waits for an executor, until its job is over. */
struct tide_request {
    const struct tide_route *route;
    struct tide_param_value params[TIDE_ROUTE_PARAMS_MAX]; /* of the route, path first */
    uint32_t param_count;
    enum tide_form form;                  /* of a route with a second form       */
    tide_slice body;                      /* of POST: at most the route's, UTF-8 but of HOOK */
    tide_slice last_event_id;             /* of STREAM                           */
    const struct tide_request_head *head; /* for tide_request_header              */
    struct tide_peer client;              /* behind proxies; the /64 of an IPv6 one */
    char id[TIDE_REQUEST_ID_BYTES];       /* NUL-terminated, ours or the client's  */
};

/* The value of a header line, of any case of its name; how often it came (the value is the first's,
 * ptr NULL when it did not). As long as the request, on whatever thread. */
tide_slice tide_request_header(const struct tide_request *request, const char *name,
                               uint32_t *occurrences);

/* The parameter of that name, NULL when the route has none such. */
const struct tide_param_value *tide_request_param(const struct tide_request *request,
                                                  enum tide_param_id id);

#endif
