/* A connection: opening and closing, its state and deadline, the memory that it holds, sleep and
 * waking. Knows neither requests nor answers. */
#include "api/http/server/server_impl.h"
#include "tidemark/lock.h"
#include "tidemark/text.h"

#include <errno.h>
#include <microhttpd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CUT_MS = 2000 }; /* after a shutdown, the library should close the connection so soon */

/* --- states and deadlines --------------------------------------------------------------- */

#define TO(name) (1u << STATE_##name)

/* The states that each state allows next, as bits. A request can end in each state except
 * STATE_WAIT: the library does not close a suspended connection. */
static const unsigned next_states[STATE_COUNT] = {
    /* The request line restarts the deadline of a new connection. */
    [STATE_HEAD] = TO(HEAD) | TO(BODY) | TO(ANSWER) | TO(IDLE),
    [STATE_BODY] = TO(WAIT) | TO(ENCODE) | TO(ANSWER) | TO(IDLE),
    [STATE_WAIT] = TO(ANSWER),
    [STATE_ENCODE] = TO(WAIT) | TO(ANSWER) | TO(IDLE),
    [STATE_ANSWER] = TO(WRITE) | TO(STREAM) | TO(IDLE),
    [STATE_WRITE] = TO(IDLE),
    /* Each read restarts the deadline. */
    [STATE_STREAM] = TO(STREAM) | TO(IDLE),
    [STATE_IDLE] = TO(HEAD),
};

bool server_state_may(enum server_state from, enum server_state to)
{
    assert(from < STATE_COUNT && to < STATE_COUNT);
    return next_states[from] >> to & 1;
}

void server_state_move(enum server_state *state, enum server_state to)
{
    assert(server_state_may(*state, to));
    *state = to;
}

int64_t server_request_ms(const struct server_worker *worker)
{
    return worker->server->options.config->api_idle_ms / 3 * 2;
}

/* Returns the time that a connection may stay in the state, in ms; 0: any. */
static int64_t time_limit(const struct server_worker *worker, enum server_state state)
{
    uint32_t idle_ms = worker->server->options.config->api_idle_ms;
    switch (state) {
    case STATE_HEAD:
        return idle_ms / 3;
    case STATE_BODY:
        return server_request_ms(worker);
    case STATE_WRITE:
    case STATE_STREAM:
        return 2 * (int64_t)idle_ms;
    case STATE_IDLE:
        return idle_ms;
    case STATE_WAIT:
    case STATE_ENCODE:
    case STATE_ANSWER:
    case STATE_COUNT:
        break;
    }
    return 0;
}

void server_set_state(struct server_conn *conn, enum server_state state)
{
    int64_t limit = time_limit(conn->worker, state);
    server_state_move(&conn->state, state);
    if (!conn->cut) /* otherwise the deadline is that for closing */
        conn->deadline_ms = limit ? conn->worker->now_ms + limit : INT64_MAX;
}

/* Shuts the socket down instead of closing it: the library owns the descriptor, sees the end,
 * and closes the connection. */
void server_cut(struct server_conn *conn)
{
    assert(conn->fd >= 0);
    conn->cut = true;
    conn->deadline_ms = conn->worker->now_ms + CUT_MS;
    shutdown(conn->fd, SHUT_RDWR);
}

/* --- sleep and waking ------------------------------------------------------------------- */

void server_wake_loop(struct server_worker *worker)
{
    uint64_t one = 1;
    atomic_store_explicit(&worker->called, true, memory_order_relaxed);
    ssize_t written = write(worker->event_fd, &one, sizeof one);
    assert(written == sizeof one || errno == EAGAIN);
    (void)written;
}

void tide_server_wake(struct tide_wake *wake)
{
    struct server_worker *worker = wake->conn->worker;
    pthread_mutex_lock(&worker->mutex);
    bool listed = wake->listed, first = !worker->woken;
    if (!listed) {
        wake->listed = true;
        wake->next = worker->woken;
        worker->woken = wake;
    }
    pthread_mutex_unlock(&worker->mutex);
    if (!listed && first)
        server_wake_loop(worker);
}

void server_unlist(struct server_conn *conn)
{
    struct server_worker *worker = conn->worker;
    struct tide_wake *wake = &conn->wake;
    tide_lock_counted(&worker->mutex, &worker->waits);
    for (struct tide_wake **at = &worker->woken; wake->listed && *at; at = &(*at)->next)
        if (*at == wake) {
            *at = wake->next;
            break;
        }
    wake->listed = false;
    pthread_mutex_unlock(&worker->mutex);
}

void server_suspend(struct server_conn *conn)
{
    conn->suspended = true;
    conn->deadline_ms = INT64_MAX;
    MHD_suspend_connection(conn->mhd);
}

void server_resume(struct server_conn *conn)
{
    assert(conn->suspended || conn->state != STATE_WAIT);
    if (!conn->suspended)
        return;
    conn->suspended = false;
    if (conn->state == STATE_WAIT) {
        server_add(&conn->worker->totals.waiting, -1);
        server_set_state(conn, STATE_ANSWER);
    }
    MHD_resume_connection(conn->mhd);
}

/* A wake-up of a connection that is not suspended has no effect. */
void server_resume_woken(struct server_worker *worker)
{
    tide_lock_counted(&worker->mutex, &worker->waits);
    struct tide_wake *woken = worker->woken;
    worker->woken = NULL;
    for (struct tide_wake *at = woken; at; at = at->next)
        at->listed = false;
    pthread_mutex_unlock(&worker->mutex);
    while (woken) {
        struct tide_wake *next = woken->next; /* the entry may be listed again from now on */
        server_resume(woken->conn);
        woken = next;
    }
}

/* --- memory ----------------------------------------------------------------------------- */

/* Bytes of large bodies and answers are counted until the client has received the answer. The
 * number of connections bounds the small ones. */
bool server_hold(struct server_conn *conn, enum tide_conn_limit_bytes what, size_t bytes)
{
    struct tide_conn_limit *limit = conn->worker->server->limit;
    if (!tide_conn_limit_hold(limit, &conn->request.client, what, bytes))
        return false;
    conn->held[what] += bytes;
    return true;
}

void server_hold_end(struct server_conn *conn)
{
    for (enum tide_conn_limit_bytes what = TIDE_CONN_LIMIT_BODY; what <= TIDE_CONN_LIMIT_ANSWER;
         what++) {
        if (conn->held[what])
            tide_conn_limit_drop(conn->worker->server->limit, &conn->request.client, what,
                                 conn->held[what]);
        conn->held[what] = 0;
    }
}

/* --- opening and closing ---------------------------------------------------------------- */

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
    tide_buf_init(&conn->body, 0); /* each request sets the limit of its route */
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

/* The mutex keeps the thread that observes from a connection that is being freed. */
void server_conn_close(struct server_conn *conn)
{
    struct server_worker *worker = conn->worker;
    server_hold_end(conn);
    if (conn->counted) {
        struct tide_peer key = tide_peer_key(&conn->peer);
        tide_conn_limit_leave(worker->server->limit, &key);
    }
    server_unlist(conn);
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
    tide_buf_release(&conn->body);
    free(conn);
}

/* --- what the layers above share -------------------------------------------------------- */

void server_make_id(struct server_conn *conn)
{
    conn->worker->ids += 0x9e3779b97f4a7c15u; /* odd, so that no value repeats */
    tide_hex(conn->request.id, tide_slice_of(&conn->worker->ids, sizeof conn->worker->ids));
    conn->request.id[2 * sizeof conn->worker->ids] = 0;
}

void server_overloaded(struct server_conn *conn, const char *detail)
{
    tide_reply_problem(&conn->reply, 503, "overloaded", "%s", detail);
    conn->reply.retry_after_s = 1;
    server_add(&conn->worker->totals.shed, 1);
}

struct server_counters *server_counters_of(struct server_conn *conn)
{
    const struct tide_route_table *table = conn->worker->server->options.routes;
    const struct tide_route *route = conn->request.route;
    size_t index = route ? (size_t)(route - table->routes) : table->count;
    assert(index <= table->count);
    return &conn->worker->routes[index];
}
