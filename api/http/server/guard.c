/* Guards against faults of libmicrohttpd, of which 0.9.75 (Debian 12) and 1.0 (Debian 13) are
 * supported. What a fault does, and which part of this file answers it:
 *
 *  0.9.75 ends a request, or the connection, without an answer if the head's pairs do not fit its
 *         memory: "answers for lost heads"
 *  0.9.75 forgets a connection that it closes in the turn that accepts it: "nudge"
 *  0.9.75 takes a half-closed client for an aborted one when it resumes the connection:
 *         server_guard_once_more
 *  both   may miss an event, if very many come at once: a socket with unread bytes, or one that was
 *         shut down, is then forgotten: "lost sockets"
 *  both   may turn or wait for ever in a call: "lost threads"
 *
 * Other files: loop.c waits in poll, because the loop of 0.9.75 sleeps with undelivered answers
 * when 128 events are ready at once. request_check.c refuses chunks, with which 0.9.75 loses a
 * thread. */
#include "api/http/server/server_impl.h"
#include "tidemark/log.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    NUDGE_S = 3600,        /* timeout of a connection, too long to expire */
    PROGRESS_EVERY = 10,   /* sweeps between two checks of the sockets */
    PROGRESS_UNREAD = 3,   /* checks that find unread bytes, before the connection is cut */
    PROGRESS_OVERDUE = 40, /* sweeps after which a cut connection should have been closed */
    /* Time for the stop of a stalled server: it cannot answer requests, so the grace is short
     * unless only single connections stay. */
    STALL_GRACE_MS = 3000,
    KEPT_GRACE_MS = TIDE_SERVER_STOP_MS + 5000,
    IPPROTO_OF_TCP = 6 /* IPPROTO_TCP: netinet/in.h conflicts with linux/tcp.h */
};

/* --- answers for lost heads ------------------------------------------------------------- */

/* Returns the bytes written to the connection's socket, 0 if the system does not say. Adds those
 * read from it to *moved. */
static uint64_t bytes_sent(const struct server_conn *conn, uint64_t *moved)
{
    struct tcp_info info = { 0 };
    socklen_t size = sizeof info;
    int waiting = 0, unread = 0;
    *moved = 0;
    if (getsockopt(conn->fd, IPPROTO_OF_TCP, TCP_INFO, &info, &size) != 0 ||
        ioctl(conn->fd, SIOCOUTQ, &waiting) != 0 || ioctl(conn->fd, SIOCINQ, &unread) != 0)
        return 0;
    uint64_t sent = info.tcpi_bytes_acked + (uint64_t)waiting;
    *moved = sent + info.tcpi_bytes_received - (uint64_t)unread;
    return sent;
}

/* Answers with the fault of a head that the library rejected. If the library did not read the
 * head to its end, only the target is known. */
static void reject_head(struct server_conn *conn)
{
    static const struct tide_request_fault large = {
        431, "headers_too_large", "request line and headers are too large or have too many parts"
    };
    struct tide_request_head none = { 0 };
    const struct tide_request_fault *wrong =
        tide_request_check_target(&none, tide_slice_of(conn->head.target, conn->head.target_len));
    if (conn->cut)
        return;
    server_send_problem(conn, wrong ? wrong : &large, "");
    server_add(&conn->worker->totals.malformed, 1);
}

void server_guard_early(struct server_conn *conn)
{
    uint64_t moved;
    conn->guard.sent = bytes_sent(conn, &moved);
}

/* A head with many pairs can leave the library no memory for the answer's header lines: the
 * early answer was queued but nothing was sent. */
void server_guard_unsent(struct server_conn *conn)
{
    uint64_t moved;
    if (conn->early && conn->state == STATE_WRITE && conn->guard.sent == bytes_sent(conn, &moved))
        reject_head(conn);
}

/* Returns whether a first request came whose request line did not fit the library's memory:
 * bytes were read, none sent. */
static bool is_line_lost(const struct server_conn *conn)
{
    uint64_t moved;
    return conn->requests == 0 && bytes_sent(conn, &moved) == 0 && moved > 0;
}

void server_guard_unread(struct server_conn *conn)
{
    if (conn->state == STATE_HEAD && !conn->cut &&
        (conn->head.target_len > 0 || is_line_lost(conn)))
        reject_head(conn);
}

bool server_guard_once_more(struct server_conn *conn)
{
    bool first = !conn->guard.asked_again;
    conn->guard.asked_again = true;
    return first;
}

/* --- nudge ------------------------------------------------------------------------------ */

void server_guard_head(struct server_conn *conn)
{
    if (conn->guard.nudge == NUDGE_NONE)
        conn->guard.nudge = NUDGE_DUE;
}

static void set_timeout(struct server_conn *conn, unsigned seconds)
{
    MHD_set_connection_option(conn->mhd, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/* Sets, and in the next sweep removes, a timeout of the connection: the library checks connections
 * with their own timeout in every turn. */
static void nudge(struct server_conn *conn)
{
    bool due = conn->guard.nudge == NUDGE_DUE;
    if (conn->guard.nudge != NUDGE_NONE)
        set_timeout(conn, due ? NUDGE_S : 0);
    conn->guard.nudge = due ? NUDGE_SET : NUDGE_NONE;
}

/* --- lost sockets ----------------------------------------------------------------------- */

/* Gives a connection that was cut and is still there a timeout of 1 s, so that the library closes
 * it although it missed the end. After PROGRESS_OVERDUE sweeps the connection counts as kept. */
void server_guard_sweep(struct server_conn *conn)
{
    nudge(conn);
    if (!conn->cut || conn->deadline_ms > conn->worker->now_ms)
        return;
    if (++conn->guard.overdue == 1)
        set_timeout(conn, 1);
    if (conn->guard.overdue == PROGRESS_OVERDUE)
        server_add(&conn->worker->kept, 1);
}

void server_guard_closed(struct server_conn *conn)
{
    if (conn->guard.overdue >= PROGRESS_OVERDUE)
        server_add(&conn->worker->kept, -1);
}

/* Returns whether the socket has bytes or an end that the library should read. */
static bool is_unread(const struct server_conn *conn)
{
    struct pollfd fd = { .fd = conn->fd, .events = POLLIN | POLLRDHUP };
    return !conn->cut && !conn->suspended &&
           (conn->state == STATE_HEAD || conn->state == STATE_BODY || conn->state == STATE_IDLE) &&
           poll(&fd, 1, 0) == 1;
}

/* Returns whether bytes moved over the connection since the last check. Unless `count` is set,
 * the counters are read only where bytes wait. */
static bool check_socket(struct server_conn *conn, bool count)
{
    bool waits = is_unread(conn);
    uint64_t bytes = conn->guard.bytes;
    if (waits || count)
        (void)bytes_sent(conn, &bytes);
    bool moved = bytes != conn->guard.bytes;
    conn->guard.bytes = bytes;
    conn->guard.unread = waits && !moved ? conn->guard.unread + 1 : 0;
    if (conn->guard.unread >= PROGRESS_UNREAD) {
        server_add(&conn->worker->totals.cut_slow_request, 1);
        server_cut(conn);
    }
    return moved;
}

/* Sockets are checked once a second, and only if the worker had work in every turn since the last
 * check: the checks are cheap. */
void server_guard_progress(struct server_worker *worker)
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

/* --- lost threads --------------------------------------------------------------------------
 *
 *  6 s without progress   the worker's connections are shut down
 *  8 s                    /healthz and /readyz answer 503, and the program shall stop
 *  then                   if the stop does not end in time, the process ends
 *
 * A worker with a connection that was cut and stays is treated as after 8 s. */

enum tide_stall_step tide_stall_observe(struct tide_stall *stall, uint64_t moved, bool keeps)
{
    bool progress = moved != stall->moved;
    stall->moved = moved;
    stall->still = progress ? 0 : stall->still + 1;
    if (keeps || stall->still == TIDE_STALL_REPORT)
        return TIDE_STALL_REPORT_NOW;
    return stall->still == TIDE_STALL_CUT ? TIDE_STALL_CUT_NOW : TIDE_STALL_NONE;
}

/* Returns the worker's CPU time: it tells a busy loop from a blocked call. */
static int64_t cpu_ms(const struct server_worker *worker)
{
    clockid_t clock;
    struct timespec ran = { 0 };
    if (pthread_getcpuclockid(worker->thread, &clock) == 0)
        clock_gettime(clock, &ran);
    return (int64_t)ran.tv_sec * 1000 + ran.tv_nsec / 1000000;
}

static void log_stall(const struct server_worker *worker, const char *action)
{
    tide_log(TIDE_ERROR, "server.stalled",
             "worker=%zu action=%s still=%u kept=%" PRIuFAST64 " cpu_ms=%" PRIi64,
             (size_t)(worker - worker->server->workers), action, worker->stall.still,
             atomic_load_explicit(&worker->kept, memory_order_relaxed), cpu_ms(worker));
}

/* Shuts down all sockets of the worker. Every descriptor in the list is open: the library closes
 * it only after the connection left the list, and the mutex keeps it there. */
static void cut_connections(struct server_worker *worker)
{
    log_stall(worker, "cut");
    pthread_mutex_lock(&worker->mutex);
    for (struct server_conn *conn = worker->conns; conn; conn = conn->next)
        shutdown(conn->fd, SHUT_RDWR);
    pthread_mutex_unlock(&worker->mutex);
}

static void report_stall(struct server_worker *worker, bool keeps)
{
    struct tide_server *server = worker->server;
    if (atomic_load(&server->stalled))
        return;
    log_stall(worker, "stop");
    server->observed_left = (keeps ? KEPT_GRACE_MS : STALL_GRACE_MS) / TIDE_STALL_EVERY_MS;
    atomic_store(&server->stalled, true);
}

static void observe_worker(struct server_worker *worker)
{
    bool keeps = atomic_load_explicit(&worker->kept, memory_order_relaxed) > 0;
    uint64_t moved = atomic_load_explicit(&worker->moved, memory_order_relaxed);
    if (!worker->started || atomic_load(&worker->ended))
        return;
    switch (tide_stall_observe(&worker->stall, moved, keeps)) {
    case TIDE_STALL_CUT_NOW:
        cut_connections(worker);
        break;
    case TIDE_STALL_REPORT_NOW:
        report_stall(worker, keeps);
        break;
    case TIDE_STALL_NONE:
        break;
    }
}

/* Ends the process without freeing anything: the stalled thread cannot be joined and may still
 * use all of it. */
static void end_process(void)
{
    tide_log(TIDE_ERROR, "server.stalled", "action=end exit=%d", tide_status_exit(TIDE_E_STALLED));
    _exit(tide_status_exit(TIDE_E_STALLED));
}

bool tide_server_observe(struct tide_server *server)
{
    const struct tide_clock *clock = server->options.clock;
    int64_t now = clock->now_ms(clock->self);
    if (now - server->observed_ms < TIDE_STALL_EVERY_MS)
        return tide_server_stalled(server);
    server->observed_ms = now;
    for (uint32_t i = 0; i < server->worker_count; i++)
        observe_worker(&server->workers[i]);
    if (atomic_load(&server->stopping) && tide_server_stalled(server) &&
        server->observed_left-- == 0)
        end_process();
    return tide_server_stalled(server);
}

bool tide_server_stalled(const struct tide_server *server)
{
    return atomic_load(&server->stalled);
}
