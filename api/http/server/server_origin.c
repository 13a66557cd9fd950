#include "api/http/server/server_impl.h"
#include "api/kyc/kyc.h"

#include <microhttpd.h>

/* What is on the chain is everybody's. Sessions of KYC are an integrator's: from his own pages, and
 * from no other's. Pages of ours are nobody's to read, and webhooks come from no page. */
enum origin { ORIGIN_ANY, ORIGIN_KNOWN, ORIGIN_NONE };

static const char exposed[] =
    "RateLimit, RateLimit-Policy, Retry-After, ETag, Link, Ledger-Sequence, "
    "Ledger-Closed-At, Data-Age-Ms, Network, Request-Id";

static enum origin origin_of(const struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route ? conn->request.route : conn->near;
    if (!route || (route->kind != TIDE_ROUTE_KYC && route->kind != TIDE_ROUTE_HOOK))
        return ORIGIN_ANY;
    bool api = route->kind == TIDE_ROUTE_KYC && strncmp(route->path, "/api/", 5) == 0;
    return api ? ORIGIN_KNOWN : ORIGIN_NONE;
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

void server_origin_add(struct MHD_Response *response, const struct server_conn *conn)
{
    char origin[TIDE_KYC_TEXT_BYTES];
    const struct tide_kyc *kyc = conn->worker->server->api->kyc;
    tide_slice from = conn->head.origin;
    enum origin who = origin_of(conn);
    if (who == ORIGIN_ANY) {
        allow(response, conn, "*");
        return;
    }
    if (who == ORIGIN_NONE)
        return;
    MHD_add_response_header(response, "Vary", "Origin");
    if (!kyc || from.len == 0 || from.len >= sizeof origin ||
        !tide_kyc_origin_known(tide_kyc_settings(kyc), from))
        return;
    memcpy(origin, from.ptr, from.len);
    origin[from.len] = 0;
    allow(response, conn, origin);
}
