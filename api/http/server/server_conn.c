/* Connections: opening, closing, states and deadlines. */
#include "api/http/server/answer.h"
#include "api/http/server/server_impl.h"
#include "tidemark/lock.h"

#include <sys/socket.h>
#include <unistd.h>

struct server_conn *server_conn_open(struct server_worker *worker, struct MHD_Connection *mhd,
                                     int fd, const struct tide_peer *peer)
{
    struct server_conn *conn = calloc(1, sizeof *conn);
    if (!conn)
        return NULL;
    conn->worker = worker;
    conn->mhd = mhd;
    conn->fd = fd;
    conn->peer = *peer;
    conn->wake.conn = conn;
    tide_reply_init(&conn->reply);
    tide_buf_init(&conn->body.bytes, 0); /* each request sets the limit of its route */
    tide_lock_counted(&worker->mutex, &worker->waits);
    conn->next = worker->conns;
    if (conn->next)
        conn->next->prev = conn;
    worker->conns = conn;
    pthread_mutex_unlock(&worker->mutex);
    worker->conn_count++;
    server_add(&worker->totals.accepted, 1);
    server_add(&worker->totals.connections, 1);
    server_set_state(conn, STATE_HEAD);
    return conn;
}

/* Called when the library closes the connection. The mutex keeps the watch's thread from a
 * connection that is being freed. */
void server_conn_close(struct server_conn *conn)
{
    struct server_worker *worker = conn->worker;
    server_hold_end(conn);
    server_progress_closed(conn);
    if (conn->counted) {
        struct tide_peer key = tide_peer_key(&conn->peer);
        tide_conn_limit_leave(worker->server->limit, &key);
    }
    server_unlist(&conn->wake);
    tide_lock_counted(&worker->mutex, &worker->waits);
    if (conn->prev)
        conn->prev->next = conn->next;
    else
        worker->conns = conn->next;
    if (conn->next)
        conn->next->prev = conn->prev;
    pthread_mutex_unlock(&worker->mutex);
    worker->conn_count--;
    server_add(&worker->totals.connections, -1);
    tide_reply_release(&conn->reply);
    tide_buf_release(&conn->body.bytes);
    free(conn);
}

void server_set_state(struct server_conn *conn, enum server_state state)
{
    const struct tide_config *config = conn->worker->server->options.config;
    int64_t now = conn->worker->now_ms;
    server_state_move(&conn->state, state);
    if (conn->cut)
        return; /* the deadline is that for closing */
    switch (state) {
    case STATE_HEAD:
        conn->deadline_ms = now + config->api_header_ms;
        conn->progress.nudge =
            conn->progress.nudge == NUDGE_NONE ? NUDGE_DUE : conn->progress.nudge;
        break;
    case STATE_BODY:
        conn->deadline_ms = now + config->api_request_ms;
        break;
    case STATE_WRITE:
    case STATE_STREAM:
        conn->deadline_ms = now + config->api_write_ms;
        break;
    case STATE_IDLE:
        conn->deadline_ms = now + config->api_idle_ms;
        break;
    case STATE_WAIT:
    case STATE_ENCODE:
    case STATE_ANSWER:
        conn->deadline_ms = INT64_MAX;
        break;
    case STATE_COUNT:
        break;
    }
}

/* Shuts the socket down instead of closing it: the library owns the descriptor, sees the end,
 * and closes the connection. */
void server_cut(struct server_conn *conn)
{
    assert(conn->fd >= 0);
    conn->cut = true;
    conn->deadline_ms = conn->worker->now_ms + SERVER_CUT_MS;
    shutdown(conn->fd, SHUT_RDWR);
}

/* Counts a cut by what the connection was doing. */
static void count_cut(struct server_conn *conn)
{
    struct server_totals *totals = &conn->worker->totals;
    bool reading = conn->state == STATE_WRITE || conn->state == STATE_STREAM;
    bool idle = conn->state == STATE_IDLE;
    server_add(idle      ? &totals->cut_idle
               : reading ? &totals->cut_slow_reader
                         : &totals->cut_slow_request,
               1);
}

void server_sweep(struct server_worker *worker)
{
    for (struct server_conn *conn = worker->conns; conn; conn = conn->next) {
        if (conn->suspended)
            continue;
        if (conn->progress.nudge != NUDGE_NONE)
            server_progress_nudge(conn);
        if (conn->deadline_ms > worker->now_ms)
            continue;
        if (conn->cut) {
            server_progress_overdue(conn);
            continue;
        }
        count_cut(conn);
        server_time_out(conn);
    }
}
