/* The server's counters. Each worker writes its own counters without locks; a reader adds them
 * up. A sum may miss what happens meanwhile, and never decreases. */
#ifndef API_HTTP_SERVER_METRICS_H
#define API_HTTP_SERVER_METRICS_H

#include "tidemark/base.h"

/* clang-format off */
/* Statuses with their own counter; all others count as OTHER. */
#define TIDE_METRIC_STATUSES(X) \
    X(200) X(201) X(202) X(204) X(303) X(304) X(400) X(401) X(403) X(404) X(405) X(406) \
    X(408) X(409) X(410) X(411) X(413) X(414) X(415) X(417) X(422) X(429) X(431) \
    X(500) X(501) X(502) X(503)

/* Upper bounds of the latency buckets, in microseconds; one more bucket counts longer requests.
 * A request lasts from its request line to the last byte of its answer. Streams are not timed. */
#define TIDE_METRIC_BOUNDS(X) \
    X(50) X(100) X(250) X(500) X(1000) X(2500) X(5000) X(10000) X(25000) X(50000) X(100000) \
    X(250000) X(500000) X(1000000) X(2500000)
/* clang-format on */

enum tide_metric_status {
#define TIDE_METRIC_STATUS(code) TIDE_METRIC_##code,
    TIDE_METRIC_STATUSES(TIDE_METRIC_STATUS)
#undef TIDE_METRIC_STATUS
        TIDE_METRIC_OTHER,
    TIDE_METRIC_STATUS_COUNT
};

enum tide_metric_bucket {
#define TIDE_METRIC_BOUND(us) TIDE_METRIC_UNTIL_##us,
    TIDE_METRIC_BOUNDS(TIDE_METRIC_BOUND)
#undef TIDE_METRIC_BOUND
        TIDE_METRIC_LONGER,
    TIDE_METRIC_BUCKET_COUNT
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

/* Return the status code of an index (0 for TIDE_METRIC_OTHER), and the index of a code. */
uint16_t tide_metric_status_code(enum tide_metric_status status);
enum tide_metric_status tide_metric_status_of(uint16_t code);
/* Return the upper bound of a bucket in microseconds (UINT64_MAX for TIDE_METRIC_LONGER), and
 * the bucket of a duration. */
uint64_t tide_metric_bound_us(enum tide_metric_bucket bucket);
enum tide_metric_bucket tide_metric_bucket_of(uint64_t us);

#endif
