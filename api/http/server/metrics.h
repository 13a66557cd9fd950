/* The server's counters. Each worker writes its own counters without locks; a reader adds them
 * up. A sum may miss what happens meanwhile, and never decreases. */
#ifndef API_HTTP_SERVER_METRICS_H
#define API_HTTP_SERVER_METRICS_H

#include "api/http/route.h"
#include "api/metrics/metrics.h"

enum {
    TIDE_METRIC_STATUS_COUNT = 28, /* statuses with a counter of their own, and all others */
    TIDE_METRIC_BUCKET_COUNT = 16  /* buckets of latency; the last counts longer requests */
};

/* The counters of one route. */
struct tide_metric_route {
    uint64_t status[TIDE_METRIC_STATUS_COUNT]; /* answers */
    uint64_t bucket[TIDE_METRIC_BUCKET_COUNT]; /* answers, not cumulative */
    uint64_t us;                               /* sum of all latencies, microseconds */
};

/* Counters and gauges of the server. Each is api_<name>(_total) of api/metrics/metrics.def. */
/* clang-format off */
#define TIDE_METRIC_COUNTERS(X) \
    X(accepted) X(refused) X(cut_idle) X(cut_slow_request) X(cut_slow_reader) X(aborted) \
    X(malformed) X(limited) X(shed) X(bytes) X(streams)
#define TIDE_METRIC_GAUGES(X) X(connections) X(waiting) X(streaming)
/* clang-format on */

struct tide_metrics {
#define TIDE_METRIC_FIELD(name) uint64_t name;
    TIDE_METRIC_COUNTERS(TIDE_METRIC_FIELD)
    TIDE_METRIC_GAUGES(TIDE_METRIC_FIELD)
#undef TIDE_METRIC_FIELD
    /* Times that a worker waited for a lock: of conn_limit, and of its list of connections to
     * wake. */
    uint64_t waits_connections, waits_wake;
    /* By index in the table of routes; the last is for requests without a route. The array is
     * the caller's, with room for route_max; route_count is the number filled. */
    struct tide_metric_route *routes;
    size_t route_max, route_count;
};

/* Returns the index of a status code: the last one if it has no counter of its own. */
size_t tide_metric_status_of(uint16_t code);
/* Return the upper bound of a bucket in microseconds (UINT64_MAX for the last), and the bucket of a
 * duration. A request lasts from its request line to the last byte of its answer. Streams are not
 * timed. */
uint64_t tide_metric_bound_us(size_t bucket);
size_t tide_metric_bucket_of(uint64_t us);

/* Writes the answers by route and status. Those without a route count as "none". */
void tide_metric_requests(struct tide_buf *out, enum tide_metric family,
                          const struct tide_route_table *table, const struct tide_metrics *m);

#endif
