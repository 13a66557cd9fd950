/* When a thread of the server counts as stalled. Judged by repeated observations, not by a clock: a
 * machine that was paused has made no observation meanwhile.
 * Pure. */
#ifndef API_HTTP_SERVER_STALL_H
#define API_HTTP_SERVER_STALL_H

#include "tidemark/base.h"

#define TIDE_STALL_EVERY_MS 500 /* between observations                              */
#define TIDE_STALL_CUT      12u /* observations without progress: connections are cut */
#define TIDE_STALL_REPORT   16u /* and then still none: the server says that it is unhealthy */

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

/* moved: a count that the thread raises with each progress, and with each turn that had nothing to
 * do. keeps: it has a connection that was cut and that does not go. Each step is returned once
 * until the thread moves again. */
enum tide_stall_step tide_stall_observe(struct tide_stall *stall, uint64_t moved, bool keeps);

#endif
