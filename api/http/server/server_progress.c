/* A worker looks here whether the library makes progress with its connections: bytes may stay
 * unread, and connections that were cut may stay. Cheap while all is well: connections are looked
 * at once a second, and only if the worker has had no turn without work since the last look. */
#include "api/http/server/server_impl.h"

#include <microhttpd.h>
#include <poll.h>

#define NUDGE_S 3600u

enum {
    PROGRESS_EVERY = 10,  /* sweeps between looks at sockets */
    PROGRESS_UNREAD = 3,  /* looks at a connection whose bytes stay unread, before it is cut */
    PROGRESS_OVERDUE = 40 /* sweeps after which a connection that was cut should have gone */
};

/* The library has something to read there: bytes, or the end. */
static bool is_readable(const struct server_conn *conn)
{
    struct pollfd fd = { .fd = conn->fd, .events = POLLIN | POLLRDHUP };
    return poll(&fd, 1, 0) == 1;
}

static bool is_reading(const struct server_conn *conn)
{
    return !conn->cut && !conn->suspended &&
           (conn->step == STEP_HEAD || conn->step == STEP_BODY || conn->step == STEP_IDLE);
}

/* True if bytes went over the connection since the last look. Without count, that is looked at only
 * where bytes wait. */
static bool look_at_socket(struct server_conn *conn, bool count)
{
    bool waits = is_reading(conn) && is_readable(conn);
    uint64_t bytes = waits || count ? server_bytes_moved(conn) : conn->bytes;
    bool moved = bytes != conn->bytes;
    conn->bytes = bytes;
    conn->unread = waits && !moved ? conn->unread + 1 : 0;
    if (conn->unread >= PROGRESS_UNREAD) {
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
        moved |= look_at_socket(conn, count == worker->moved_seen);
    if (moved)
        server_moved(worker);
    worker->moved_seen = atomic_load_explicit(&worker->moved, memory_order_relaxed);
}

/* A head that leaves no memory with the first bytes ends its connection in the library's turn that
 * accepts it (0.9.75), and nothing asks for that connection again, since no event of it comes. The
 * library looks at each connection that has a timeout of its own in every turn. So one whose head
 * has not come within a sweep has such a timeout until the next: too long to be reached. */
void server_progress_nudge(struct server_conn *conn)
{
    if (conn->nudge == NUDGE_DUE)
        MHD_set_connection_option(conn->mhd, MHD_CONNECTION_OPTION_TIMEOUT, NUDGE_S);
    else if (conn->nudge == NUDGE_SET)
        MHD_set_connection_option(conn->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    conn->nudge = conn->nudge == NUDGE_DUE ? NUDGE_SET : NUDGE_NONE;
}

/* The library's own timeout ends a connection of which it does not see the end. */
void server_progress_overdue(struct server_conn *conn)
{
    if (++conn->overdue == 1)
        MHD_set_connection_option(conn->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 1u);
    if (conn->overdue == PROGRESS_OVERDUE)
        server_add(&conn->worker->kept, 1);
}

void server_progress_closed(const struct server_conn *conn)
{
    if (conn->overdue >= PROGRESS_OVERDUE)
        server_add(&conn->worker->kept, -1);
}
