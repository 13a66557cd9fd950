/* What the server counts. Each worker writes its own counters without waiting; a reader adds them
 * up, so a sum may miss what happens meanwhile, and never goes back. */
#ifndef API_HTTP_SERVER_METRICS_H
#define API_HTTP_SERVER_METRICS_H

#include "tidemark/base.h"

/* clang-format off */
/* Statuses with a counter of their own; the rest is OTHER. */
#define TIDE_METRIC_STATUSES(X) \
    X(200) X(201) X(202) X(204) X(303) X(304) X(400) X(401) X(403) X(404) X(405) X(406) \
    X(408) X(409) X(410) X(411) X(413) X(414) X(415) X(417) X(422) X(429) X(431) \
    X(500) X(501) X(502) X(503)

/* Upper bounds of the latency buckets, microseconds; one more counts what took longer. A request
 * lasts from its request line to the last byte of its answer; streams are not timed. */
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

/* Of one route. */
struct tide_metric_route {
    uint64_t status[TIDE_METRIC_STATUS_COUNT]; /* answers */
    uint64_t bucket[TIDE_METRIC_BUCKET_COUNT]; /* answers, not cumulative */
    uint64_t us;                               /* all of them together */
};

/* Of the server: what counts up, and what is so now. Each is api_<name>(_total) of
 * api/metrics/metrics.def. */
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
    /* How often a worker waited for a lock: where connections are counted, where it is woken. */
    uint64_t waits_connections, waits_wake;
    /* By index in the table of routes; one more, the last, for requests without a route. The
     * array is the caller's, of route_max; route_count is how many were filled. */
    struct tide_metric_route *routes;
    size_t route_max, route_count;
};

/* 200 of TIDE_METRIC_200, 0 of TIDE_METRIC_OTHER; the index back. */
uint16_t tide_metric_status_code(enum tide_metric_status status);
enum tide_metric_status tide_metric_status_of(uint16_t code);
/* Upper bound in microseconds, UINT64_MAX of TIDE_METRIC_LONGER; the bucket of a time. */
uint64_t tide_metric_bound_us(enum tide_metric_bucket bucket);
enum tide_metric_bucket tide_metric_bucket_of(uint64_t us);

#endif
