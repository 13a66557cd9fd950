/* Statuses and latency buckets of the server's counters. */
#include "api/http/server/metrics.h"

static const uint16_t codes[] = {
#define TIDE_METRIC_STATUS(code) code,
    TIDE_METRIC_STATUSES(TIDE_METRIC_STATUS)
#undef TIDE_METRIC_STATUS
        0,
};
static_assert(TIDE_COUNT(codes) == TIDE_METRIC_STATUS_COUNT, "a code for each status");

static const uint64_t bounds[] = {
#define TIDE_METRIC_BOUND(us) us,
    TIDE_METRIC_BOUNDS(TIDE_METRIC_BOUND)
#undef TIDE_METRIC_BOUND
        UINT64_MAX,
};
static_assert(TIDE_COUNT(bounds) == TIDE_METRIC_BUCKET_COUNT, "a bound for each bucket");

uint16_t tide_metric_status_code(enum tide_metric_status status)
{
    assert((size_t)status < TIDE_COUNT(codes));
    return codes[status];
}

enum tide_metric_status tide_metric_status_of(uint16_t code)
{
    for (size_t i = 0; i < TIDE_METRIC_OTHER; i++)
        if (codes[i] == code)
            return (enum tide_metric_status)i;
    return TIDE_METRIC_OTHER;
}

uint64_t tide_metric_bound_us(enum tide_metric_bucket bucket)
{
    assert((size_t)bucket < TIDE_COUNT(bounds));
    return bounds[bucket];
}

/* The search ends at the last bound, which is UINT64_MAX. */
enum tide_metric_bucket tide_metric_bucket_of(uint64_t us)
{
    size_t i = 0;
    while (us > bounds[i])
        i++;
    return (enum tide_metric_bucket)i;
}
