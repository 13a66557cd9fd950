/* The HTTP client against a server that misbehaves in the way that the requested path names.
 * label: threads */
#include "tidemark/http.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENT_S = 60 };

struct fixture {
    int fd;
    uint16_t port;
    pthread_t thread;
    atomic_int connections;
    struct tide_http *http;
    struct tide_buf body;
    struct tide_err err;
};

static void send_text(int fd, const char *text)
{
    send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void say_echo(int fd, const char *request, const char *content)
{
    char out[4096];
    const char *key = strstr(request, "X-Key: ");
    const char *method = request;
    snprintf(out, sizeof out, "%.*s|%.*s|%s", (int)strcspn(method, " "), method,
             key ? (int)strcspn(key, "\r") : 0, key ? key : "", content);
    char head[128];
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", strlen(out));
    send_text(fd, head);
    send_text(fd, out);
}

static void linger(int fd)
{
    char byte;
    while (recv(fd, &byte, 1, 0) > 0)
        ;
}

/* Answers the path's case. Returns false if the connection must be closed. */
static bool answer_request(struct fixture *f, int fd, const char *request, const char *content)
{
    const char *path = strchr(request, ' ') + 1;
    char text[256];
    if (strncmp(path, "/echo ", 6) == 0) {
        say_echo(fd, request, content);
    } else if (strncmp(path, "/a/../typed?x=%2f ", 18) == 0) {
        send_text(fd, "HTTP/1.1 200 OK\r\nContent-Type: Application/JSON; charset=utf-8\r\n"
                      "Content-Length: 2\r\n\r\n{}");
    } else if (strncmp(path, "/busy ", 6) == 0) {
        send_text(fd, "HTTP/1.1 429 No\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nwait");
    } else if (strncmp(path, "/gone ", 6) == 0) {
        send_text(fd, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
    } else if (strncmp(path, "/moved ", 7) == 0) {
        send_text(fd, "HTTP/1.1 302 Over there\r\nLocation: /echo\r\nContent-Length: 0\r\n\r\n");
    } else if (strncmp(path, "/file ", 6) == 0) {
        send_text(fd, "HTTP/1.1 302 Over there\r\nLocation: file:///etc/passwd\r\n"
                      "Content-Length: 0\r\n\r\n");
    } else if (strncmp(path, "/secure ", 8) == 0) {
        snprintf(text, sizeof text,
                 "HTTP/1.1 302 Over there\r\nLocation: https://127.0.0.1:%u/echo\r\n"
                 "Content-Length: 0\r\n\r\n",
                 f->port);
        send_text(fd, text);
    } else if (strncmp(path, "/huge ", 6) == 0) {
        send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\nx");
        return false;
    } else if (strncmp(path, "/endless ", 9) == 0) {
        send_text(fd, "HTTP/1.1 200 OK\r\n\r\n");
        memset(text, 'x', sizeof text);
        while (send(fd, text, sizeof text, MSG_NOSIGNAL) > 0)
            ;
        return false;
    } else if (strncmp(path, "/cut ", 5) == 0) {
        send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        return false;
    } else if (strncmp(path, "/silent ", 8) == 0) {
        linger(fd);
        return false;
    } else if (strncmp(path, "/stall ", 7) == 0) {
        send_text(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        linger(fd);
        return false;
    } else {
        return false;
    }
    return true;
}

static void *serve_connections(void *self)
{
    struct fixture *f = self;
    for (int fd; (fd = accept(f->fd, NULL, NULL)) >= 0; close(fd)) {
        f->connections++;
        char text[4096];
        size_t len = 0;
        for (bool on = true; on;) {
            ssize_t n = recv(fd, text + len, sizeof text - 1 - len, 0);
            if (n <= 0)
                break;
            len += (size_t)n;
            text[len] = '\0';
            const char *end = strstr(text, "\r\n\r\n");
            const char *length = strstr(text, "Content-Length: ");
            size_t want = length ? strtoul(length + 16, NULL, 10) : 0;
            if (!end || len < (size_t)(end + 4 - text) + want)
                continue;
            on = answer_request(f, fd, text, end + 4);
            len = 0;
        }
    }
    return NULL;
}

/* Opens the client. Only a case of a stall has a short limit: the system may suspend the server's
 * thread. */
static void open_client(struct fixture *f, uint32_t stall_s)
{
    const struct tide_http_options options = {
        .agent = "test", .connect_ms = 60000, .timeout_ms = 60000, .stall_s = stall_s
    };
    assert_int_equal(tide_http_open(&f->http, &options, &f->err), TIDE_OK);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof a;
    if (!f)
        return -1;
    f->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(f->fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(f->fd, 16), 0);
    assert_int_equal(getsockname(f->fd, (struct sockaddr *)&a, &len), 0);
    f->port = ntohs(a.sin_port);
    assert_int_equal(pthread_create(&f->thread, NULL, serve_connections, f), 0);
    open_client(f, PATIENT_S);
    tide_buf_init(&f->body, 1u << 16);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tide_http_close(f->http);
    shutdown(f->fd, SHUT_RDWR);
    pthread_join(f->thread, NULL);
    close(f->fd);
    tide_buf_release(&f->body);
    free(f);
    return 0;
}

static tide_status call_path(struct fixture *f, const char *path, struct tide_http_request r,
                             struct tide_http_answer *answer)
{
    char url[256];
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", f->port, path);
    r.url = url;
    tide_buf_reset(&f->body);
    return tide_http_call(f->http, &r, &f->body, answer, &f->err);
}

static void assert_body(struct fixture *f, const char *want)
{
    if (!tide_slice_eq_str(tide_buf_view(&f->body), want))
        fail_msg("body \"%.*s\", wanted \"%s\"", TIDE_SLICE_FMT(tide_buf_view(&f->body)), want);
}

static void a_request_goes_out_as_it_was_given(void **state)
{
    struct fixture *f = *state;
    struct tide_http_answer a;
    const char *const headers[] = { "X-Key: secret", "Content-Type: application/json", NULL };
    const struct tide_http_request post = { .method = TIDE_HTTP_POST,
                                            .headers = headers,
                                            .body = TIDE_SLICE("{\"id\":1}") };
    assert_int_equal(call_path(f, "/echo", post, &a), TIDE_OK);
    assert_int_equal(a.code, 200);
    assert_body(f, "POST|X-Key: secret|{\"id\":1}");
    assert_true(a.connected);
    /* Headers and body of one request are not sent with the next one. */
    assert_int_equal(call_path(f, "/echo", (struct tide_http_request){ 0 }, &a), TIDE_OK);
    assert_body(f, "GET||");
    assert_false(a.connected);
    const struct tide_http_request empty = { .method = TIDE_HTTP_POST };
    assert_int_equal(call_path(f, "/echo", empty, &a), TIDE_OK);
    assert_body(f, "POST||");
    const struct tide_http_request head = { .method = TIDE_HTTP_HEAD };
    assert_int_equal(call_path(f, "/gone", head, &a), TIDE_OK);
    assert_int_equal(a.code, 404);
    assert_false(a.again);
    assert_int_equal(f->connections, 1);
}

static void a_path_goes_out_as_it_is_written(void **state)
{
    struct fixture *f = *state;
    struct tide_http_answer a;
    assert_int_equal(call_path(f, "/a/../typed?x=%2f", (struct tide_http_request){ 0 }, &a),
                     TIDE_OK);
    assert_int_equal(a.code, 200);
    assert_string_equal(a.type, "application/json");
    assert_int_equal(call_path(f, "/echo", (struct tide_http_request){ 0 }, &a), TIDE_OK);
    assert_string_equal(a.type, "");
}

static void an_error_comes_with_what_it_says(void **state)
{
    struct fixture *f = *state;
    struct tide_http_answer a;
    assert_int_equal(call_path(f, "/busy", (struct tide_http_request){ 0 }, &a), TIDE_OK);
    assert_int_equal(a.code, 429);
    assert_int_equal(a.after_ms, 7000);
    assert_true(a.again);
    assert_body(f, "wait");
}

static void a_redirect_stays_in_its_scheme(void **state)
{
    struct fixture *f = *state;
    struct tide_http_answer a;
    const struct tide_http_request follow = { .follow = true };
    assert_int_equal(call_path(f, "/moved", (struct tide_http_request){ 0 }, &a), TIDE_OK);
    assert_int_equal(a.code, 302);
    assert_int_equal(call_path(f, "/moved", follow, &a), TIDE_OK);
    assert_int_equal(a.code, 200);
    assert_body(f, "GET||");
    assert_int_not_equal(call_path(f, "/file", follow, &a), TIDE_OK);
    assert_int_equal(f->body.len, 0);
    assert_int_not_equal(call_path(f, "/secure", follow, &a), TIDE_OK);
}

/* clang-format off */
static const struct {
    const char *path;
    tide_status want;
    uint32_t stall_s;
    const char *why;
} bad[] = {
    { "/huge",    TIDE_E_LIMIT, PATIENT_S, "a terabyte is announced"     },
    { "/endless", TIDE_E_LIMIT, PATIENT_S, "it does not end"             },
    { "/cut",     TIDE_E_IO,    PATIENT_S, "less than announced"         },
    { "/close",   TIDE_E_IO,    PATIENT_S, "no answer"                   },
    { "/stall",   TIDE_E_IO,    1,         "half of it, then silence"    },
};
/* clang-format on */

static void what_is_no_answer_is_refused(void **state)
{
    struct fixture *f = *state;
    struct tide_http_answer a;
    for (size_t i = 0; i < TIDE_COUNT(bad); i++) {
        tide_http_close(f->http);
        open_client(f, bad[i].stall_s);
        tide_status status = call_path(f, bad[i].path, (struct tide_http_request){ 0 }, &a);
        if (status != bad[i].want)
            fail_msg("%s: %s %s", bad[i].why, tide_status_name(status), f->err.text);
        assert_true(f->body.cap <= f->body.max);
        assert_null(strstr(f->err.text, bad[i].path));
    }
    const struct tide_http_request brief = { .timeout_ms = 200 };
    assert_int_equal(call_path(f, "/silent", brief, &a), TIDE_E_IO);
}

static bool always(void *self)
{
    (void)self;
    return true;
}

static bool no_room(void *self, size_t total)
{
    *(size_t *)self = total;
    return false;
}

static void it_stops_when_asked_to(void **state)
{
    struct fixture *f = *state;
    struct tide_http_answer a;
    size_t total = 0;
    const struct tide_http_request stop = { .cancelled = always };
    assert_int_equal(call_path(f, "/endless", stop, &a), TIDE_E_STOPPED);
    const struct tide_http_request small = { .room = no_room, .self = &total };
    tide_buf_release(&f->body);
    assert_int_equal(call_path(f, "/echo", small, &a), TIDE_E_IO);
    assert_true(a.no_room);
    assert_int_equal(total, 5);
}

static void addresses(void **state)
{
    struct fixture *f = *state;
    static const char *const wrong[] = {
        "",         "127.0.0.1",         "ftp://127.0.0.1/", "file:///etc/passwd",
        "https:/x", "HTTP://127.0.0.1/", "http://"
    };
    for (size_t i = 0; i < TIDE_COUNT(wrong); i++) {
        struct tide_http_answer a;
        const struct tide_http_request r = { .url = wrong[i] };
        tide_status status = tide_http_call(f->http, &r, &f->body, &a, &f->err);
        if (status != TIDE_E_CONFIG)
            fail_msg("%s: %s %s", wrong[i], tide_status_name(status), f->err.text);
    }
    char name[64];
    tide_http_name(name, sizeof name, "https://me:word@host:8000/key?token=1");
    assert_string_equal(name, "https://host:8000");
    tide_http_name(name, sizeof name, "http://host?token=1");
    assert_string_equal(name, "http://host");
    struct tide_http *none;
    const struct tide_http_options options = { .agent = "test", .ca_file = "/nowhere" };
    assert_int_equal(tide_http_open(&none, &options, &f->err), TIDE_E_CONFIG);
}

/* The resolver refuses a label of more than 63 bytes itself, without asking a server. What libcurl
 * keeps of each name is found by the address sanitizer. */
static void names_without_an_address(void **state)
{
    struct fixture *f = *state;
    char url[256];
    snprintf(url, sizeof url, "http://%070d.invalid/", 0);
    struct tide_http_answer a;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tide_http_call(f->http, &(struct tide_http_request){ .url = url },
                                        &f->body, &a, &f->err),
                         TIDE_E_IO);
        assert_false(a.reached);
        assert_true(a.again);
    }
    assert_int_equal(call_path(f, "/echo", (struct tide_http_request){ 0 }, &a), TIDE_OK);
    assert_body(f, "GET||");
}

#define HTTP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int test_http(void)
{
    const struct CMUnitTest tests[] = {
        HTTP_TEST(a_request_goes_out_as_it_was_given),
        HTTP_TEST(a_path_goes_out_as_it_is_written),
        HTTP_TEST(an_error_comes_with_what_it_says),
        HTTP_TEST(a_redirect_stays_in_its_scheme),
        HTTP_TEST(what_is_no_answer_is_refused),
        HTTP_TEST(it_stops_when_asked_to),
        HTTP_TEST(addresses),
        HTTP_TEST(names_without_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
