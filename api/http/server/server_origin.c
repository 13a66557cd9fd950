#include "api/http/server/server_impl.h"

#include <microhttpd.h>

enum { ORIGIN_MAX = 512 };

static const char exposed[] =
    "RateLimit, RateLimit-Policy, Retry-After, ETag, Link, Ledger-Sequence, "
    "Ledger-Closed-At, Data-Age-Ms, Price-Age-Seconds, Twap-Age-Seconds, Network, Request-Id";

/* Of the request's route. Without one: of a route of its path. */
static const struct tide_route_class *class_of(const struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route ? conn->request.route : conn->near;
    return route ? route->class : NULL;
}

static void allow(struct MHD_Response *response, const struct server_conn *conn, const char *origin)
{
    MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
    MHD_add_response_header(response, "Access-Control-Expose-Headers", exposed);
    if (conn->reply.status != 204)
        return;
    MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
    MHD_add_response_header(response, "Access-Control-Allow-Headers",
                            "Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, "
                            "X-API-Key, X-Request-Id");
    MHD_add_response_header(response, "Access-Control-Max-Age", "600");
}

/* Pages of an origin that the class's executor knows may read the answer. */
static void allow_known(struct MHD_Response *response, const struct server_conn *conn,
                        const struct tide_route_class *class)
{
    const struct tide_executor *executor = server_executor(conn, class->executor);
    tide_slice from = conn->head.origin;
    char origin[ORIGIN_MAX];
    MHD_add_response_header(response, "Vary", "Origin");
    if (!executor || !executor->knows_origin || from.len == 0 || from.len >= sizeof origin ||
        !executor->knows_origin(executor->self, from))
        return;
    memcpy(origin, from.ptr, from.len);
    origin[from.len] = 0;
    allow(response, conn, origin);
}

void server_origin_add(struct MHD_Response *response, const struct server_conn *conn)
{
    const struct tide_route_class *class = class_of(conn);
    enum tide_origins origins = class ? class->origins : TIDE_ORIGINS_ANY;
    if (origins == TIDE_ORIGINS_ANY)
        allow(response, conn, "*");
    else if (origins == TIDE_ORIGINS_KNOWN)
        allow_known(response, conn, class);
}
