/* CORS headers: which pages may read an answer. */
#include "api/http/server/answer.h"
#include "api/http/server/server_impl.h"

#include <microhttpd.h>

enum { ORIGIN_MAX = 512 };

static const char exposed[] =
    "RateLimit, RateLimit-Policy, Retry-After, ETag, Link, Ledger-Sequence, "
    "Ledger-Closed-At, Proven-Through, History-From, Data-Age-Ms, Price-Age-Seconds, "
    "Twap-Age-Seconds, Network, Request-Id";

/* Returns the class of the request's route, or of a route with the same path, or NULL. */
static const struct tide_route_class *class_of(const struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route ? conn->request.route : conn->head.near;
    return route ? route->class : NULL;
}

/* Header lines that a page may send: any. Those that the server does not read change nothing, and a
 * page with tracing adds its own (traceparent, baggage, sentry-trace…). "*" means all but
 * Authorization, and no cookies: the API has none. The names before it are for browsers that do not
 * know "*". */
static const char allowed[] =
    "Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, X-API-Key, X-Request-Id, "
    "Request-Id, Cache-Control, traceparent, tracestate, baggage, sentry-trace, *";

static void add_cors(struct MHD_Response *response, const struct server_conn *conn,
                     const char *origin)
{
    MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
    MHD_add_response_header(response, "Access-Control-Expose-Headers", exposed);
    if (conn->reply.status != 204) /* not a preflight */
        return;
    MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
    MHD_add_response_header(response, "Access-Control-Allow-Headers", allowed);
    MHD_add_response_header(response, "Access-Control-Max-Age", "600");
}

/* Adds the CORS headers if the class's executor knows the page's origin. */
static void add_cors_if_known(struct MHD_Response *response, const struct server_conn *conn,
                              const struct tide_route_class *class)
{
    const struct tide_executor *executor = server_executor(conn, class->executor);
    tide_slice from = conn->head.fields.origin;
    char origin[ORIGIN_MAX];
    MHD_add_response_header(response, "Vary", "Origin");
    if (!executor || !executor->knows_origin || from.len == 0 || from.len >= sizeof origin ||
        !executor->knows_origin(executor->self, from))
        return;
    memcpy(origin, from.ptr, from.len);
    origin[from.len] = 0;
    add_cors(response, conn, origin);
}

void server_origin_add(struct MHD_Response *response, const struct server_conn *conn)
{
    const struct tide_route_class *class = class_of(conn);
    enum tide_origins origins = class ? class->origins : TIDE_ORIGINS_ANY;
    if (origins == TIDE_ORIGINS_ANY)
        add_cors(response, conn, "*");
    else if (origins == TIDE_ORIGINS_KNOWN)
        add_cors_if_known(response, conn, class);
}
