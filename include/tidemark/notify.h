/* Tells systemd, when it started us (NOTIFY_SOCKET), how we are: "READY=1", "STOPPING=1",
 * "STATUS=…". Without it, or when it does not listen, nothing happens. */
#ifndef TIDEMARK_NOTIFY_H
#define TIDEMARK_NOTIFY_H

#include "tidemark/base.h"

/* Sends to the socket named by path (a path, or @name for the abstract space); NULL: nowhere. */
void tide_notify(const char *path, const char *state);

/* systemd's watchdog (WATCHDOG_USEC): a ping at least twice in its period, as long as its thread
 * comes by. Belongs to one thread. Zeroed: there is none. */
struct tide_watchdog {
    const char *path; /* borrowed */
    int64_t every_ms, last_ms;
};
/* usec, pid: WATCHDOG_USEC and WATCHDOG_PID, NULL when not set. */
void tide_watchdog_init(struct tide_watchdog *dog, const char *path, const char *usec,
                        const char *pid);
void tide_watchdog_ping(struct tide_watchdog *dog, int64_t now_ms);

#endif
