/* The progress of this process's watched threads. The watchdog is fed only while all of them make
 * progress.
 *
 * A watched thread calls tide_liveness_mark at least as often as its limit says, also while it
 * waits for work. The state belongs to the whole process, like the log: threads of many modules are
 * watched, and one place asks for the result.
 * Threads  begin, mark and end: the thread that is watched. stalled: any. */
#ifndef TIDEMARK_LIVENESS_H
#define TIDEMARK_LIVENESS_H

#include "tidemark/base.h"

/* threads watched at the same time; further ones are not watched */
#define TIDE_LIVENESS_THREADS 256u

/* The limit of threads that wait for databases and servers: longer than all time limits of one turn
 * added up. */
#define TIDE_LIVENESS_WAITS_MS 300000
/* The limit of a statement without a timeout, such as an index of a full partition. */
#define TIDE_LIVENESS_LONG_MS 21600000
static_assert(TIDE_LIVENESS_LONG_MS > TIDE_LIVENESS_WAITS_MS, "a long statement may take longer");

/* Starts to watch the calling thread. name must be static. limit_ms is the longest allowed
 * silence. */
void tide_liveness_begin(const char *name, int64_t limit_ms);
/* Notes that the calling thread makes progress. Does nothing in a thread that is not watched. */
void tide_liveness_mark(void);
/* Notes that the calling thread begins or ends statements whose duration grows with the stored
 * data. Meanwhile its limit is at least TIDE_LIVENESS_LONG_MS. Does nothing in a thread that is not
 * watched. */
void tide_liveness_long(bool begins);
/* Ends the watching. Call before the thread ends. */
void tide_liveness_end(void);

/* Returns the name of a thread that has been silent for longer than its limit, and sets *silent_ms;
 * NULL if there is none. */
const char *tide_liveness_stalled(int64_t *silent_ms);

#endif
