/* The end of connections whose clients may still send. Closing a socket with unread bytes resets
 * the connection, and the reset destroys an answer that the client has not read yet. So a
 * duplicate of the descriptor stays open after the library closed its own: incoming bytes are
 * discarded until the client closes, the limit is reached, or the time is up. Also the answers
 * that are written to the socket directly, where the library lets none pass. */
#include "api/http/server/server_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINGER_MOST = 1024,      /* connections of one worker; further ones are closed at once */
    LINGER_BYTES = 16 << 20, /* discarded bytes of one connection */
    LINGER_READ = 1 << 20,   /* discarded bytes of one connection before the next one */
    LINGER_EVENTS = 64
};

void server_send_problem(struct server_conn *conn, const struct tide_request_fault *problem,
                         const char *lines)
{
    const char *title = MHD_get_reason_phrase_for(problem->status);
    char body[512], answer[1536];
    if (conn->state != STATE_BODY) /* in STATE_BODY the request has its id */
        server_make_id(conn);
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
    return got > 0 || (got < 0 && errno == EAGAIN && (conn->unended || conn->state == STATE_HEAD));
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
        .deadline_ms = worker->now_ms + server_request_ms(worker),
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
