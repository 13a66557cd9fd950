/* Ratios measured in one run. Ours and theirs are timed in turn, round by round. The result is the
 * median of the ratios of all rounds; the distance of the quartiles shows the noise. The times are
 * wall-clock times or CPU times, as the caller measured them: other programs may run on the
 * machine. */
#ifndef TIDEMARK_PERF_RATIO_H
#define TIDEMARK_PERF_RATIO_H

#include "tidemark/base.h"

enum { ROUNDS_MAX = 64 };

/* Times of each round, in seconds. Zeros: no round yet. */
struct ratio {
    uint32_t rounds;
    double ours[ROUNDS_MAX];   /* seconds */
    double theirs[ROUNDS_MAX]; /* seconds */
};

/* Returns seconds of the monotonic clock, counted from an arbitrary moment. */
double perf_now(void);
/* Adds a round. Its ratio is theirs / ours: 1 or more means that ours is at least as fast. Asserts
 * that there are less than ROUNDS_MAX rounds. */
void ratio_add(struct ratio *r, double ours, double theirs);
/* Returns the median of the values, of which there are 1 to ROUNDS_MAX, in any order. */
double median(const double *values, uint32_t count);
/* Prints one line of JSON: {"name", "value", "spread", "ours_s", "theirs_s", "rounds", "detail"}.
 * ours_s and theirs_s are medians in seconds. */
void ratio_print(const struct ratio *r, const char *name, const char *detail);

#endif
