/* Ratios of timed rounds: median, spread, and the line of JSON that tools/bench reads. */
#include "ratio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double perf_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void ratio_add(struct ratio *r, double ours, double theirs)
{
    assert(r->rounds < ROUNDS_MAX);
    r->ours[r->rounds] = ours;
    r->theirs[r->rounds] = theirs;
    r->rounds++;
}

/* Orders doubles for qsort. */
static int by_value(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

/* Returns the q-quantile of the values (0 to 1), interpolated linearly between neighbours. */
static double quantile(const double *values, uint32_t count, double q)
{
    assert(count > 0 && count <= ROUNDS_MAX);
    double sorted[ROUNDS_MAX];
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, by_value);
    double at = q * (count - 1);
    uint32_t low = (uint32_t)at;
    uint32_t high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

double median(const double *values, uint32_t count)
{
    return quantile(values, count, 0.5);
}

/* Writes the ratio of each round to out, which has room for ROUNDS_MAX values. */
static void ratios(const struct ratio *r, double *out)
{
    for (uint32_t i = 0; i < r->rounds; i++)
        out[i] = r->theirs[i] / r->ours[i];
}

static double ratio_median(const struct ratio *r)
{
    double all[ROUNDS_MAX];
    ratios(r, all);
    return median(all, r->rounds);
}

static double ratio_spread(const struct ratio *r)
{
    double all[ROUNDS_MAX];
    ratios(r, all);
    return quantile(all, r->rounds, 0.75) - quantile(all, r->rounds, 0.25);
}

void ratio_print(const struct ratio *r, const char *name, const char *detail)
{
    assert(r->rounds > 0 && r->rounds <= ROUNDS_MAX);
    printf("{\"name\":\"%s\",\"value\":%.3f,\"spread\":%.3f,\"ours_s\":%.6f,\"theirs_s\":%.6f,"
           "\"rounds\":%u,\"detail\":\"%s\"}\n",
           name, ratio_median(r), ratio_spread(r), median(r->ours, r->rounds),
           median(r->theirs, r->rounds), r->rounds, detail);
    fflush(stdout);
}
