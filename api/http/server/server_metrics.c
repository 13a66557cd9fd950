/* Adds up the counters of all workers. The sums may miss what happens meanwhile. */
#include "api/http/server/server_impl.h"

static uint64_t read_counter(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Adds one worker's counters of a route. */
static void add_route(struct tide_metric_route *out, const struct server_counters *counters)
{
    for (size_t i = 0; i < TIDE_METRIC_STATUS_COUNT; i++)
        out->status[i] += read_counter(&counters->status[i]);
    for (size_t i = 0; i < TIDE_METRIC_BUCKET_COUNT; i++)
        out->bucket[i] += read_counter(&counters->bucket[i]);
    out->us += read_counter(&counters->us);
}

void tide_server_metrics(struct tide_server *server, struct tide_metrics *out)
{
    struct tide_metric_route *routes = out->routes;
    size_t max = out->route_max, count = server->options.routes->count + 1;
    *out = (struct tide_metrics){ .routes = routes, .route_max = max };
    out->route_count = count < max ? count : max;
    out->waits_connections = tide_conn_limit_waits(server->limit);
    memset(routes, 0, out->route_count * sizeof *routes);
    for (uint32_t w = 0; w < server->worker_count; w++) {
        const struct server_worker *worker = &server->workers[w];
#define TIDE_METRIC_FIELD(name) out->name += read_counter(&worker->totals.name);
        TIDE_METRIC_COUNTERS(TIDE_METRIC_FIELD)
        TIDE_METRIC_GAUGES(TIDE_METRIC_FIELD)
#undef TIDE_METRIC_FIELD
        out->waits_wake += atomic_load_explicit(&worker->waits, memory_order_relaxed);
        for (size_t i = 0; i < out->route_count; i++)
            add_route(&routes[i], &worker->routes[i]);
    }
}
