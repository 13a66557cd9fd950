/* Named points at which a fault test makes the process fail. Compiled in with TIDE_FAILPOINTS
 * (presets asan and tsan); otherwise the macro is false.
 *
 * TIDE_FP=name=action[@n][,name=action...]   at the n-th pass (default 1):
 *   kill   SIGKILL to itself     sleep:MS  wait      error   the point returns true
 * TIDE_FP_COUNT=FILE appends the name of every point passed, for coverage counts. */
#ifndef TIDEMARK_FAILPOINT_H
#define TIDEMARK_FAILPOINT_H

#include "tidemark/base.h"

#if TIDE_FAILPOINTS
bool tide_failpoint(const char *name);
#define TIDE_FAILPOINT(name) tide_failpoint(name)
#else
#define TIDE_FAILPOINT(name) false
#endif

#endif
