/* Statuses and latency buckets of the server's counters. */
#include "api/http/server/metrics.h"

static const uint16_t codes[TIDE_METRIC_STATUS_COUNT] = {
    200, 201, 202, 204, 303, 304, 400, 401, 403, 404, 405, 406, 408, 409,
    410, 411, 413, 414, 415, 417, 422, 429, 431, 500, 501, 502, 503, 0,
};

static const uint64_t bounds[TIDE_METRIC_BUCKET_COUNT] = {
    50,    100,   250,    500,    1000,   2500,    5000,    10000,
    25000, 50000, 100000, 250000, 500000, 1000000, 2500000, UINT64_MAX,
};

size_t tide_metric_status_of(uint16_t code)
{
    size_t i = 0;
    while (codes[i] != code && codes[i])
        i++;
    return i;
}

uint64_t tide_metric_bound_us(size_t bucket)
{
    assert(bucket < TIDE_COUNT(bounds));
    return bounds[bucket];
}

/* The search ends at the last bound, which is UINT64_MAX. */
size_t tide_metric_bucket_of(uint64_t us)
{
    size_t i = 0;
    while (us > bounds[i])
        i++;
    return i;
}

void tide_metric_requests(struct tide_buf *out, enum tide_metric family,
                          const struct tide_route_table *table, const struct tide_metrics *m)
{
    char labels[96], code[8];
    tide_metric_family(out, family);
    for (size_t r = 0; r < m->route_count; r++)
        for (size_t s = 0; s < TIDE_METRIC_STATUS_COUNT; s++) {
            if (m->routes[r].status[s] == 0)
                continue;
            snprintf(code, sizeof code, "%u", codes[s]);
            int len = snprintf(labels, sizeof labels, "route=\"%s\",status=\"%s\"",
                               r < table->count ? table->routes[r].id : "none",
                               codes[s] ? code : "other");
            assert(len > 0 && (size_t)len < sizeof labels); /* ids of routes are short */
            tide_metric_u64(out, family, labels, m->routes[r].status[s]);
        }
}
