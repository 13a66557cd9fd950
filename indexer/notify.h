/* Tells systemd, when it started us (NOTIFY_SOCKET), how we are: "READY=1", "STOPPING=1",
 * "STATUS=…". Without it, or when it does not listen, nothing happens. */
#ifndef INDEXER_NOTIFY_H
#define INDEXER_NOTIFY_H

/* Sends to the socket named by path (a path, or @name for the abstract space); NULL: nowhere. */
void tide_notify(const char *path, const char *state);

#endif
