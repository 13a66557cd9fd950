/* The end of connections whose clients may still send. Closing a socket with unread bytes resets
 * the connection, and the reset destroys an answer that the client has not read yet. So a
 * duplicate of the descriptor stays open after the library closed its own: incoming bytes are
 * discarded until the client closes, the limit is reached, or the time is up. Also the answers
 * that are written to the socket directly, where the library lets none pass. */
#include "api/http/server/server_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINGER_MOST = 1024,      /* connections of one worker; further ones are closed at once */
    LINGER_BYTES = 16 << 20, /* discarded bytes of one connection */
    LINGER_READ = 1 << 20,   /* discarded bytes of one connection before the next one */
    LINGER_EVENTS = 64,
    IPPROTO_OF_TCP = 6 /* IPPROTO_TCP: netinet/in.h conflicts with linux/tcp.h */
};

/* --- answers beside the library -------------------------------------------------------------- */

/* Writes a problem to the socket, without waiting. lines: further header lines. */
static void send_problem(struct server_conn *conn, const struct tide_request_fault *problem,
                         const char *lines)
{
    const char *title = MHD_get_reason_phrase_for(problem->status);
    char body[512], answer[1536];
    if (conn->state != STATE_BODY) /* in STATE_BODY the request has its id */
        server_request_make_id(conn);
    int body_len = snprintf(body, sizeof body,
                            "{\"type\":\"urn:tidemark:problem:%s\",\"title\":\"%s\","
                            "\"status\":%u,\"code\":\"%s\",\"detail\":\"%s\",\"requestId\":\"%s\"}",
                            problem->code, title, problem->status, problem->code, problem->detail,
                            conn->request.id);
    int len = snprintf(answer, sizeof answer,
                       "HTTP/1.1 %u %s\r\nDate: %s\r\nRequest-Id: %s\r\n"
                       "Content-Type: application/problem+json; charset=utf-8\r\n"
                       "Cache-Control: no-store\r\nAccess-Control-Allow-Origin: *\r\n"
                       "Access-Control-Expose-Headers: Request-Id, Retry-After\r\n"
                       "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
                       "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
                       "Referrer-Policy: no-referrer\r\n%s"
                       "Connection: close\r\nContent-Length: %d\r\n\r\n%s",
                       problem->status, title, conn->worker->date, conn->request.id, lines,
                       body_len, body);
    assert(body_len < (int)sizeof body && len < (int)sizeof answer);
    (void)!send(conn->fd, answer, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void server_reject_connection(struct server_conn *conn)
{
    static const struct tide_request_fault problem = {
        503, "too_many_connections", "this node has too many connections; retry in a second"
    };
    send_problem(conn, &problem, "Retry-After: 1\r\n");
    server_cut(conn);
}

void server_time_out(struct server_conn *conn)
{
    static const struct tide_request_fault problem = { 408, "request_timeout",
                                                       "the request was not received in time" };
    bool begun = conn->head.target_len > 0;
    if (begun && (conn->state == STATE_HEAD || conn->state == STATE_BODY))
        send_problem(conn, &problem, "");
    server_cut(conn);
}

uint64_t server_bytes_sent(const struct server_conn *conn)
{
    struct tcp_info info = { 0 };
    socklen_t size = sizeof info;
    int waiting = 0;
    if (getsockopt(conn->fd, IPPROTO_OF_TCP, TCP_INFO, &info, &size) != 0 ||
        ioctl(conn->fd, SIOCOUTQ, &waiting) != 0)
        return 0;
    return info.tcpi_bytes_acked + (uint64_t)waiting;
}

uint64_t server_bytes_moved(const struct server_conn *conn)
{
    struct tcp_info info = { 0 };
    socklen_t size = sizeof info;
    int unread = 0;
    if (getsockopt(conn->fd, IPPROTO_OF_TCP, TCP_INFO, &info, &size) != 0 ||
        ioctl(conn->fd, SIOCINQ, &unread) != 0)
        return 0;
    return info.tcpi_bytes_received - (uint64_t)unread + server_bytes_sent(conn);
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
    send_problem(conn, wrong ? wrong : &large, "");
    server_add(&conn->worker->totals.malformed, 1);
}

/* A head with many pairs can leave the library no memory for the answer's header lines: the
 * early answer was queued but nothing was sent. */
void server_answer_unsent(struct server_conn *conn)
{
    if (conn->ending.early && conn->state == STATE_WRITE &&
        conn->ending.sent == server_bytes_sent(conn))
        reject_head(conn);
}

/* Returns whether a first request came whose request line did not fit the library's memory:
 * bytes were read, none sent. */
static bool is_line_lost(const struct server_conn *conn)
{
    return conn->requests == 0 && server_bytes_moved(conn) > 0 && server_bytes_sent(conn) == 0;
}

/* 0.9.75 closes the connection without ending the request if the pairs do not fit its memory. */
void server_answer_unread(struct server_conn *conn)
{
    if (conn->state == STATE_HEAD && !conn->cut &&
        (conn->head.target_len > 0 || is_line_lost(conn)))
        reject_head(conn);
}

/* --- lingering ---------------------------------------------------------------------------- */

struct server_lingering {
    struct server_lingering *next, *prev; /* the worker's list */
    int fd;
    int64_t deadline_ms;
    size_t left;          /* bytes that may still be discarded */
    struct tide_peer key; /* the address, counted in conn_limit until the end */
    bool counted;
};

tide_status server_linger_open(struct server_worker *worker, struct tide_err *err)
{
    worker->linger_fd = epoll_create1(EPOLL_CLOEXEC);
    return worker->linger_fd >= 0
               ? TIDE_OK
               : tide_fail(err, TIDE_E_IO, "no descriptor for a worker: %s", strerror(errno));
}

static void end_linger(struct server_worker *worker, struct server_lingering *one)
{
    assert(worker->lingering_count > 0);
    assert(one->prev ? one->prev->next == one : worker->lingering == one);
    if (one->counted)
        tide_conn_limit_leave(worker->server->limit, &one->key);
    if (one->prev)
        one->prev->next = one->next;
    else
        worker->lingering = one->next;
    if (one->next)
        one->next->prev = one->prev;
    worker->lingering_count--;
    close(one->fd);
    free(one);
}

/* Returns whether the client may still send: it has not closed, and its request is incomplete or
 * unread bytes wait. */
static bool may_send(const struct server_conn *conn)
{
    char byte;
    if (conn->cut)
        return false;
    ssize_t got = recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got > 0 ||
           (got < 0 && errno == EAGAIN && (conn->ending.unended || conn->state == STATE_HEAD));
}

void server_linger_begin(struct server_conn *conn)
{
    struct server_worker *worker = conn->worker;
    if (!may_send(conn) || worker->lingering_count >= LINGER_MOST)
        return;
    struct server_lingering *one = calloc(1, sizeof *one);
    int fd = one ? fcntl(conn->fd, F_DUPFD_CLOEXEC, 0) : -1;
    struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP, .data = { .ptr = one } };
    if (fd < 0 || epoll_ctl(worker->linger_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        if (fd >= 0)
            close(fd);
        free(one);
        return;
    }
    shutdown(fd, SHUT_WR); /* the client sees the end after the answer */
    *one = (struct server_lingering){
        .next = worker->lingering,
        .fd = fd,
        .deadline_ms = worker->now_ms + worker->server->options.config->api_request_ms,
        .left = LINGER_BYTES,
        .key = tide_peer_key(&conn->peer),
        .counted = conn->counted,
    };
    conn->counted = false; /* the lingering descriptor counts from here on */
    if (one->next)
        one->next->prev = one;
    worker->lingering = one;
    worker->lingering_count++;
}

/* Discards received bytes. With MSG_TRUNC Linux discards TCP bytes without a buffer (tcp(7)). */
static void discard_bytes(struct server_worker *worker, struct server_lingering *one)
{
    size_t most = one->left < LINGER_READ ? one->left : LINGER_READ;
    ssize_t got = recv(one->fd, NULL, most, MSG_TRUNC | MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN)
        return;
    one->left -= got > 0 ? (size_t)got : one->left;
    if (one->left == 0)
        end_linger(worker, one);
}

void server_linger_read(struct server_worker *worker)
{
    struct epoll_event events[LINGER_EVENTS];
    int count = worker->lingering ? epoll_wait(worker->linger_fd, events, LINGER_EVENTS, 0) : 0;
    for (int i = 0; i < count; i++)
        discard_bytes(worker, events[i].data.ptr);
    if (count > 0)
        server_moved(worker);
}

void server_linger_sweep(struct server_worker *worker)
{
    for (struct server_lingering *one = worker->lingering, *next; one; one = next) {
        next = one->next;
        if (one->deadline_ms <= worker->now_ms)
            end_linger(worker, one);
    }
}

void server_linger_close(struct server_worker *worker)
{
    while (worker->lingering) {
        assert(!worker->lingering->prev); /* the first of the list has none before it */
        end_linger(worker, worker->lingering);
    }
    if (worker->linger_fd >= 0)
        close(worker->linger_fd);
    worker->linger_fd = -1;
}
