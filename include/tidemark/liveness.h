/* The progress of this process's watched threads. The watchdog is fed only while all make some.
 *
 * A watched thread says that it came by, at least as often as its limit. One that waits for work
 * wakes up in between. Of the whole process, like the log: threads of many modules are watched, and
 * one place asks.
 * Threads  begin, mark and end: the thread that is watched. stalled: any. */
#ifndef TIDEMARK_LIVENESS_H
#define TIDEMARK_LIVENESS_H

#include "tidemark/base.h"

#define TIDE_LIVENESS_THREADS 256u /* watched at the same time; more are not watched */

/* The limit of threads that wait for databases and servers: longer than the time limits of one turn
 * together. */
#define TIDE_LIVENESS_WAITS_MS 300000
/* The limit of one statement that no time-out ends, such as an index of a full partition. */
#define TIDE_LIVENESS_LONG_MS 21600000

/* The calling thread is watched from now on. name: static. limit_ms: longest silence. */
void tide_liveness_begin(const char *name, int64_t limit_ms);
/* Notes that the calling thread makes progress. Does nothing in a thread that is not watched. */
void tide_liveness_mark(void);
/* The calling thread begins, or ends, work whose statements may take as long as what is stored is
 * large. Meanwhile its limit is TIDE_LIVENESS_LONG_MS at least. Nothing happens in a thread that is
 * not watched. */
void tide_liveness_long(bool begins);
/* Before it ends. */
void tide_liveness_end(void);

/* The name of a thread that has been silent for longer than its limit, and for how long; NULL when
 * there is none. */
const char *tide_liveness_stalled(int64_t *silent_ms);

#endif
