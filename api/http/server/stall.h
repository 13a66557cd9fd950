/* Decides when a thread of the server counts as stalled: by repeated observations, not by a
 * clock. A machine that was paused makes no observations meanwhile. Pure. */
#ifndef API_HTTP_SERVER_STALL_H
#define API_HTTP_SERVER_STALL_H

#include "tidemark/base.h"

#define TIDE_STALL_EVERY_MS 500 /* between observations                              */
#define TIDE_STALL_CUT      12u /* observations without progress: connections are cut */
/* Still no progress after this many observations: the server reports that it is unhealthy */
#define TIDE_STALL_REPORT 16u

enum tide_stall_step {
    TIDE_STALL_NONE,
    TIDE_STALL_CUT_NOW,
    TIDE_STALL_REPORT_NOW,
};

/* The state of one thread; all zero at first. */
struct tide_stall {
    uint64_t moved;
    uint32_t still; /* observations since moved changed */
};

/* Notes one observation and returns the step that is due. moved: a count that the thread raises
 * with each progress, and with each turn that had nothing to do. keeps: the thread has a
 * connection that was cut and does not close. CUT_NOW and REPORT_NOW are returned once until the
 * thread moves again, except that keeps always returns REPORT_NOW. */
enum tide_stall_step tide_stall_observe(struct tide_stall *stall, uint64_t moved, bool keeps);

#endif
