/* Finds connections with which the library makes no progress: received bytes stay unread, or a
 * connection that was cut is not closed. The checks are cheap: sockets are checked once a
 * second, and only if the worker had work in every turn since the last check. */
#include "api/http/server/server_impl.h"

#include <microhttpd.h>
#include <poll.h>

#define NUDGE_S 3600u

enum {
    PROGRESS_EVERY = 10,  /* sweeps between two checks of the sockets */
    PROGRESS_UNREAD = 3,  /* checks that find unread bytes, before the connection is cut */
    PROGRESS_OVERDUE = 40 /* sweeps after which a cut connection should have been closed */
};

/* Returns whether the socket has bytes or an end that the library should read. */
static bool is_readable(const struct server_conn *conn)
{
    struct pollfd fd = { .fd = conn->fd, .events = POLLIN | POLLRDHUP };
    return poll(&fd, 1, 0) == 1;
}

/* Returns whether the connection is in a state in which the library should read from it. */
static bool is_reading(const struct server_conn *conn)
{
    return !conn->cut && !conn->suspended &&
           (conn->state == STATE_HEAD || conn->state == STATE_BODY || conn->state == STATE_IDLE);
}

/* Returns whether bytes moved over the connection since the last check. Unless `count` is set,
 * the counters are read only where bytes wait. */
static bool check_socket(struct server_conn *conn, bool count)
{
    bool waits = is_reading(conn) && is_readable(conn);
    uint64_t bytes = waits || count ? server_bytes_moved(conn) : conn->progress.bytes;
    bool moved = bytes != conn->progress.bytes;
    conn->progress.bytes = bytes;
    conn->progress.unread = waits && !moved ? conn->progress.unread + 1 : 0;
    if (conn->progress.unread >= PROGRESS_UNREAD) {
        server_add(&conn->worker->totals.cut_slow_request, 1);
        server_cut(conn);
    }
    return moved;
}

void server_progress(struct server_worker *worker)
{
    bool slept = worker->slept != worker->slept_seen, moved = false;
    if (++worker->sweeps % PROGRESS_EVERY != 0)
        return;
    worker->slept_seen = worker->slept;
    uint64_t count = atomic_load_explicit(&worker->moved, memory_order_relaxed);
    for (struct server_conn *conn = slept ? NULL : worker->conns; conn; conn = conn->next)
        moved |= check_socket(conn, count == worker->moved_seen);
    if (moved)
        server_moved(worker);
    worker->moved_seen = atomic_load_explicit(&worker->moved, memory_order_relaxed);
}

/* Sets, and in the next sweep removes, a timeout of the connection, too long to expire. In
 * 0.9.75, a head whose first bytes exhaust the library's memory ends the connection in the turn
 * that accepts it, and no event follows, so the library never closes it. The library checks
 * connections with their own timeout in every turn. */
void server_progress_nudge(struct server_conn *conn)
{
    if (conn->progress.nudge == NUDGE_DUE)
        MHD_set_connection_option(conn->mhd, MHD_CONNECTION_OPTION_TIMEOUT, NUDGE_S);
    else if (conn->progress.nudge == NUDGE_SET)
        MHD_set_connection_option(conn->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    conn->progress.nudge = conn->progress.nudge == NUDGE_DUE ? NUDGE_SET : NUDGE_NONE;
}

/* Gives the connection a timeout of 1 s, so that the library closes it although it missed the
 * end. After PROGRESS_OVERDUE sweeps the connection counts as kept. */
void server_progress_overdue(struct server_conn *conn)
{
    if (++conn->progress.overdue == 1)
        MHD_set_connection_option(conn->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 1u);
    if (conn->progress.overdue == PROGRESS_OVERDUE)
        server_add(&conn->worker->kept, 1);
}

void server_progress_closed(const struct server_conn *conn)
{
    if (conn->progress.overdue >= PROGRESS_OVERDUE)
        server_add(&conn->worker->kept, -1);
}
