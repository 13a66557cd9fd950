/* The worker's loop around MHD_run. libmicrohttpd runs without a thread of its own (guard.c). Here
 * poll() waits, and MHD_run() never does. */
#include "api/http/server/server_impl.h"
#include "tidemark/liveness.h"

#include <linux/filter.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    FILTER_MS = 50,  /* time for TCP handshakes to end, at the start of a stop */
    LINGER_MS = 1000 /* time after which a stop cuts idle connections */
};

/* --- stopping --------------------------------------------------------------------------- */

/* Makes the kernel ignore new SYNs, so that their retransmissions reach another process.
 * Handshakes under way are completed. */
static void ignore_new_syns(struct server_worker *worker)
{
    struct sock_filter code[] = {
        { BPF_LD | BPF_B | BPF_ABS, 0, 0, 13 }, /* load the flags of the TCP header */
        { BPF_ALU | BPF_AND | BPF_K, 0, 0, 0x12 },
        { BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0x02 }, /* SYN without ACK: drop the packet */
        { BPF_RET | BPF_K, 0, 0, 0 },
        { BPF_RET | BPF_K, 0, 0, 0xffffffff },
    };
    struct sock_fprog program = { .len = TIDE_COUNT(code), .filter = code };
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(worker->daemon, MHD_DAEMON_INFO_LISTEN_FD);
    if (info)
        setsockopt(info->listen_fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
    worker->stopping = true;
    worker->stop_ms = worker->now_ms;
}

/* Accepts the connections that wait in the kernel's queue, then closes the listening socket. */
static void close_listener(struct server_worker *worker)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    int listener = MHD_quiesce_daemon(worker->daemon), fd;
    worker->quiet = true;
    if (listener < 0)
        return;
    while ((fd = accept4(listener, (struct sockaddr *)&address, &size,
                         SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        MHD_add_connection(worker->daemon, fd, (struct sockaddr *)&address, size);
        size = sizeof address;
    }
    close(listener);
}

/* Returns whether the worker has stopped: no connection is left but those that the library does
 * not close. Cuts connections that are idle after LINGER_MS, and after TIDE_SERVER_STOP_MS
 * all except those that an executor works on. */
static bool has_stopped(struct server_worker *worker)
{
    int64_t since = worker->now_ms - worker->stop_ms;
    if (!worker->quiet && since >= FILTER_MS)
        close_listener(worker);
    if (!worker->quiet)
        return false;
    for (struct server_conn *conn = worker->conns; conn; conn = conn->next) {
        if (conn->state == STATE_WAIT || conn->cut)
            continue;
        bool idle = conn->state == STATE_IDLE;
        if (since >= TIDE_SERVER_STOP_MS || (idle && since >= LINGER_MS))
            server_cut(conn);
        if (conn->cut && conn->suspended)
            server_resume(conn);
    }
    bool lingers = worker->lingering && since < LINGER_MS;
    uint64_t kept = atomic_load_explicit(&worker->kept, memory_order_relaxed);
    return worker->conn_count <= kept && !lingers;
}

/* --- the loop --------------------------------------------------------------------------- */

/* Writes the header Date in HTTP's format. */
static void write_date(struct server_worker *worker)
{
    time_t now = (time_t)(worker->wall_ms / 1000);
    struct tm tm;
    worker->date_s = (uint64_t)now;
    if (gmtime_r(&now, &tm))
        strftime(worker->date, sizeof worker->date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
}

static void read_clock(struct server_worker *worker)
{
    const struct tide_clock *clock = worker->server->options.clock;
    int64_t wall = clock->wall_ms(clock->self);
    worker->now_ms = clock->now_ms(clock->self);
    worker->wall_ms = wall > 0 ? (uint64_t)wall : 0;
    if (worker->wall_ms / 1000 != worker->date_s)
        write_date(worker);
}

/* Returns how long the loop may wait, in ms: 0 if the library has work left. */
static int time_to_wait(struct server_worker *worker)
{
    MHD_UNSIGNED_LONG_LONG until;
    bool limited = MHD_get_timeout(worker->daemon, &until) == MHD_YES && until < SERVER_SWEEP_MS;
    return limited ? (int)until : SERVER_SWEEP_MS;
}

/* Waits for events. While requests come in it does not wait: the next turn reads the sockets
 * anyway. */
static void wait_for_work(struct server_worker *worker)
{
    bool busy = worker->requests != worker->requests_seen;
    worker->requests_seen = worker->requests;
    if (busy && !atomic_load_explicit(&worker->called, memory_order_relaxed))
        return;
    int ms = time_to_wait(worker);
    struct pollfd fds[] = { { .fd = worker->epoll_fd, .events = POLLIN },
                            { .fd = worker->event_fd, .events = POLLIN },
                            { .fd = worker->linger_fd, .events = POLLIN } };
    if (poll(fds, TIDE_COUNT(fds), ms) == 0 && ms > 0) {
        worker->slept++; /* nothing was left to do */
        server_moved(worker);
    }
    uint64_t count;
    if (!fds[1].revents)
        return; /* called stays set: the thread that set it writes to event_fd later */
    atomic_store_explicit(&worker->called, false, memory_order_relaxed);
    if (read(worker->event_fd, &count, sizeof count) == sizeof count)
        server_resume_woken(worker);
}

static void update_network(struct server_worker *worker)
{
    char network[SERVER_NETWORK_BYTES] = "";
    worker->server->options.thread->network(worker->state, network);
    if (network[0])
        memcpy(worker->network, network, sizeof worker->network);
}

/* Cuts a connection whose deadline has passed, after a 408 if a request has begun. Counts it by
 * what the connection was doing. */
static void time_out(struct server_conn *conn)
{
    static const struct tide_request_fault problem = { 408, "request_timeout",
                                                       "the request was not received in time" };
    struct server_totals *totals = &conn->worker->totals;
    bool reading = conn->state == STATE_WRITE || conn->state == STATE_STREAM;
    bool idle = conn->state == STATE_IDLE;
    server_add(idle      ? &totals->cut_idle
               : reading ? &totals->cut_slow_reader
                         : &totals->cut_slow_request,
               1);
    bool begun = conn->head.target_len > 0;
    if (begun && (conn->state == STATE_HEAD || conn->state == STATE_BODY))
        server_send_problem(conn, &problem, "");
    server_cut(conn);
}

static void sweep_all(struct server_worker *worker)
{
    if (worker->now_ms - worker->swept_ms < SERVER_SWEEP_MS)
        return;
    worker->swept_ms = worker->now_ms;
    for (struct server_conn *conn = worker->conns; conn; conn = conn->next) {
        if (conn->suspended)
            continue;
        server_guard_sweep(conn);
        if (!conn->cut && conn->deadline_ms <= worker->now_ms)
            time_out(conn);
    }
    server_linger_sweep(worker);
    server_guard_progress(worker);
    update_network(worker);
}

/* Marks liveness only if there was progress: a turn alone is not progress. */
static void mark_progress(struct server_worker *worker)
{
    uint64_t moved = atomic_load_explicit(&worker->moved, memory_order_relaxed);
    if (moved != worker->marked)
        tide_liveness_mark();
    worker->marked = moved;
}

void *server_loop(void *self)
{
    struct server_worker *worker = self;
    struct tide_server *server = worker->server;
    tide_liveness_begin("server", SERVER_HUNG_MS);
    read_clock(worker);
    update_network(worker);
    do {
        mark_progress(worker);
        wait_for_work(worker);
        read_clock(worker);
        if (!worker->stopping && atomic_load_explicit(&server->stopping, memory_order_relaxed))
            ignore_new_syns(worker);
        MHD_run(worker->daemon);
        server_linger_read(worker);
        sweep_all(worker);
    } while (!worker->stopping || !has_stopped(worker));
    MHD_stop_daemon(worker->daemon);
    worker->daemon = NULL;
    atomic_store(&worker->ended, true);
    tide_liveness_end();
    return NULL;
}
