/* Ratios taken in one run: two things are timed turn by turn for some rounds, and
 * the median of the per-round ratios is what counts, with their quartiles as noise.
 * Times are the thread's or process's wall clock; the machine may be shared. */
#ifndef TIDEMARK_PERF_RATIO_H
#define TIDEMARK_PERF_RATIO_H

#include "tidemark/base.h"

enum { ROUNDS_MAX = 64 };

struct ratio {
    uint32_t rounds;
    double ours[ROUNDS_MAX];   /* seconds */
    double theirs[ROUNDS_MAX]; /* seconds */
};

/* Seconds since an arbitrary moment. */
double perf_now(void);
/* theirs / ours of each round: >= 1 means we are at least as fast. */
void ratio_add(struct ratio *r, double ours, double theirs);
double ratio_median(const struct ratio *r);
/* Distance between the quartiles. */
double ratio_spread(const struct ratio *r);
double median(const double *values, uint32_t count);
/* One line of JSON: {"name", "value", "spread", "ours_s", "theirs_s", "rounds", "detail"}. */
void ratio_print(const struct ratio *r, const char *name, const char *detail);

#endif
