/* GET /metrics: figures of the console, without personal data, for programs on this host. The proxy
 * passes on /console only, and a request that came through a proxy gets 404. */
#include "api/metrics/metrics.h"
#include "api/console/console.h"
#include "api/http/server/server.h"

#include <stdlib.h>

/* The server counts requests that match no route in the slot after the routes. */
static void put_server(struct tide_buf *out, struct tide_server *server)
{
    size_t count = console_route_table.count;
    struct tide_metrics m = { .routes = calloc(count + 1, sizeof *m.routes),
                              .route_max = count + 1 };
    if (!m.routes) {
        out->failed = true;
        return;
    }
    tide_server_metrics(server, &m);
    assert(m.route_count <= m.route_max);
    tide_metric_requests(out, TIDE_M_console_requests_total, &console_route_table, &m);
    tide_metric_gauge(out, TIDE_M_console_connections, (double)m.connections);
    free(m.routes);
}

static void put_pool(struct tide_buf *out, struct tide_worker_pool *pool)
{
    struct tide_worker_pool_stats s;
    tide_worker_pool_stats(pool, &s);
    tide_metric_gauge(out, TIDE_M_console_pool_connected, s.connected);
    tide_metric_gauge(out, TIDE_M_console_pool_busy, s.busy);
    tide_metric_gauge(out, TIDE_M_console_pool_waiting, s.waiting);
    tide_metric_counter(out, TIDE_M_console_pool_failed_total, s.failed);
}

void console_metrics(struct console *console, const struct tide_request *request,
                     struct tide_reply *reply)
{
    uint32_t passed, forwarded;
    struct tide_buf *out = &reply->body;
    (void)tide_request_header(request, "X-Console-Proxy", &passed);
    (void)tide_request_header(request, "X-Forwarded-For", &forwarded);
    if (passed || forwarded) {
        tide_reply_problem(reply, 404, "not_found", "There is no such route.");
        return;
    }
    reply->content_type = TIDE_METRICS_TYPE;
    put_server(out, console->server);
    put_pool(out, console->pool);
    tide_metric_counter(out, TIDE_M_console_refused_total, atomic_load(&console->refused));
    tide_metric_counter(out, TIDE_M_console_other_origin_total, atomic_load(&console->others));
    tide_metric_counter(out, TIDE_M_console_actions_total, atomic_load(&console->actions));
    tide_metric_counter(out, TIDE_M_console_actions_refused_total,
                        atomic_load(&console->actions_refused));
}
