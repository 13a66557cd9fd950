/* Reports the process's state to systemd through NOTIFY_SOCKET: "READY=1", "STOPPING=1",
 * "STATUS=…". If the process was not started by systemd, or systemd does not listen, the functions
 * do nothing. */
#ifndef TIDEMARK_NOTIFY_H
#define TIDEMARK_NOTIFY_H

#include "tidemark/base.h"

/* Sends the state to the socket at path (a path, or @name for an abstract socket). NULL: does
 * nothing. */
void tide_notify(const char *path, const char *state);

/* systemd's watchdog (WATCHDOG_USEC). A ping is sent at least twice in its period if the thread
 * calls tide_watchdog_ping often enough. One thread uses it. Zeroed: there is no watchdog. */
struct tide_watchdog {
    const char *path; /* borrowed */
    int64_t every_ms, last_ms;
};
/* usec and pid are the values of WATCHDOG_USEC and WATCHDOG_PID, or NULL if not set. */
void tide_watchdog_init(struct tide_watchdog *dog, const char *path, const char *usec,
                        const char *pid);
void tide_watchdog_ping(struct tide_watchdog *dog, int64_t now_ms);

#endif
