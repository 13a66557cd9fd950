/* Connections that the library does not read or does not close. */
#ifndef API_HTTP_SERVER_PROGRESS_H
#define API_HTTP_SERVER_PROGRESS_H

#include "tidemark/base.h"

struct server_conn;
struct server_worker;

/* Makes the library check a connection whose head does not arrive (server_progress.c). */
enum server_nudge { NUDGE_NONE, NUDGE_DUE, NUDGE_SET };

/* The connection's part of the checks. */
struct server_progress {
    enum server_nudge nudge;
    uint64_t bytes; /* bytes that had moved over the socket at the last check */
    /* Consecutive checks with unread bytes; sweeps since the connection should have closed */
    uint32_t unread, overdue;
};

/* Cuts connections whose bytes the library leaves unread. In each sweep. */
void server_progress(struct server_worker *worker);
/* Makes the library check the connection. In the two sweeps after a head begins. */
void server_progress_nudge(struct server_conn *conn);
/* Counts the sweeps of a connection that was cut SERVER_CUT_MS ago and is still there. */
void server_progress_overdue(struct server_conn *conn);
void server_progress_closed(const struct server_conn *conn);

#endif
