/* Reports this process to systemd from a thread of its own, which waits for nothing else.
 *
 * Watchdog  fed only while all watched threads make progress (liveness.h). The thread that calls
 *           open is watched, too. It may be silent for a third of the watchdog's period
 *           (WATCHDOG_USEC), so systemd ends the process between one period and one and a third
 *           after the thread's last sign.
 * Stop      "STOPPING=1" is sent once, as soon as a signal asks for a stop (tidemark/stop.h).
 * Threads   open and close: the thread that is watched. stopping: any. */
#ifndef INDEXER_BASE_SUPERVISE_H
#define INDEXER_BASE_SUPERVISE_H

#include "tidemark/status.h"

struct tide_supervise; /* opaque */

/* Starts the thread and watches the calling thread under that static name. *out is NULL without
 * NOTIFY_SOCKET: systemd did not start this process. TIDE_E_MEMORY. */
tide_status tide_supervise_open(struct tide_supervise **out, const char *name,
                                struct tide_err *err) TIDE_MUST_USE;
/* Sends "STOPPING=1", unless it was sent already. The watchdog is still fed. NULL is allowed. */
void tide_supervise_stopping(struct tide_supervise *supervise);
void tide_supervise_close(struct tide_supervise *supervise); /* NULL is allowed */

#endif
