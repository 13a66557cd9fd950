/* A lake behind a web server that misbehaves: the server has one thread for each connection and a
 * list of faults. label: threads */
#include "tests/unit/indexer/source/lake_fixture.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum fault {
    NONE,
    NOT_THERE,
    BROKEN,      /* 500 */
    BUSY,        /* 429 and Retry-After: 1 */
    FORBIDDEN,   /* 403 */
    CUT,         /* half of what Content-Length says */
    SHORT,       /* half, without a length */
    STALL,       /* some bytes, then nothing */
    HTML,        /* 200 with another document */
    ELSEWHERE,   /* 302 */
    LOOP,        /* 302 to itself */
    HUGE_LENGTH, /* Content-Length of a terabyte */
    HANG_UP,     /* closes without an answer */
};

struct server {
    int fd;
    uint16_t port;
    pthread_t thread;
    pthread_mutex_t lock;
    struct {
        char path[96];
        uint8_t *bytes;
        size_t len;
        enum fault fault;
        int times; /* the fault shows this often, -1 for ever */
    } objects[192];
    size_t count;
    atomic_int absent;                        /* FORBIDDEN: what is not there is answered by 403 */
    atomic_int latency_ms, asked, most_asked; /* highest count of waiting requests */
    /* The listening thread alone raises the last two: no later store lowers the highest count, and
     * stop_server() waits for each connection, also for one whose thread has not begun. */
    atomic_int requests, connections, live, most_live;
};

struct connection {
    struct server *server;
    int fd;
};

static void send_all(int fd, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    while (len) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        p += n;
        len -= (size_t)n;
    }
}

static void send_head(int fd, const char *status, const char *more, long long length)
{
    char head[256];
    int len = length < 0
                  ? snprintf(head, sizeof head, "HTTP/1.1 %s\r\n%s\r\n", status, more)
                  : snprintf(head, sizeof head, "HTTP/1.1 %s\r\n%sContent-Length: %lld\r\n\r\n",
                             status, more, length);
    send_all(fd, head, (size_t)len);
}

/* Answers one request. Returns false if the connection must be closed. */
static bool answer_request(struct server *s, int fd, const char *path, bool head)
{
    enum fault fault = NOT_THERE;
    uint8_t *bytes = NULL;
    size_t len = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->objects[i].path, path) != 0)
            continue;
        fault = s->objects[i].times ? s->objects[i].fault : NONE;
        if (s->objects[i].times > 0)
            s->objects[i].times--;
        bytes = s->objects[i].bytes;
        len = s->objects[i].len;
    }
    pthread_mutex_unlock(&s->lock);
    char where[160];
    switch (fault) {
    case NOT_THERE:
        send_head(fd, atomic_load(&s->absent) == FORBIDDEN ? "403 No" : "404 Not Found", "", 0);
        return true;
    case BROKEN:
        send_head(fd, "500 Oops", "", 0);
        return true;
    case BUSY:
        send_head(fd, "429 Slow Down", "Retry-After: 1\r\n", 0);
        return true;
    case FORBIDDEN:
        send_head(fd, "403 No", "", 0);
        return true;
    case HUGE_LENGTH:
        send_head(fd, "200 OK", "", 1000000000000);
        return false;
    case HANG_UP:
        return false;
    case HTML:
        send_head(fd, "200 OK", "", 6);
        send_all(fd, "<html>", head ? 0 : 6);
        return true;
    case ELSEWHERE:
    case LOOP:
        snprintf(where, sizeof where, "Location: %s%s\r\n", fault == LOOP ? "" : "/moved", path);
        send_head(fd, "302 Found", where, 0);
        return true;
    case SHORT:
        send_head(fd, "200 OK", "Connection: close\r\n", -1);
        send_all(fd, bytes, len / 2);
        return false;
    case NONE:
    case CUT:
    case STALL:
        send_head(fd, "200 OK", "", (long long)len);
        send_all(fd, bytes, head ? 0 : fault == NONE ? len : len / 2);
        break;
    }
    char byte;
    if (fault == STALL)
        while (recv(fd, &byte, 1, 0) > 0)
            ;
    return fault == NONE;
}

static void wait_latency(struct server *s)
{
    int asked = ++s->asked, most = s->most_asked;
    while (asked > most && !atomic_compare_exchange_weak(&s->most_asked, &most, asked))
        ;
    if (s->latency_ms)
        nanosleep(&(struct timespec){ .tv_nsec = s->latency_ms * 1000000L }, NULL);
    s->asked--;
}

static void *serve_connection(void *self)
{
    struct connection c = *(struct connection *)self;
    free(self);
    char text[2048];
    size_t len = 0;
    for (bool on = true; on;) {
        ssize_t n = recv(c.fd, text + len, sizeof text - 1 - len, 0);
        if (n <= 0)
            break;
        len += (size_t)n;
        text[len] = '\0';
        if (!strstr(text, "\r\n\r\n"))
            continue;
        char verb[8], path[160];
        assert_int_equal(sscanf(text, "%7s %159s", verb, path), 2);
        c.server->requests++;
        wait_latency(c.server);
        on = answer_request(c.server, c.fd, path, strcmp(verb, "HEAD") == 0);
        len = 0;
    }
    close(c.fd);
    c.server->live--;
    return NULL;
}

static void *listen_on(void *self)
{
    struct server *s = self;
    for (;;) {
        int fd = accept(s->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        s->connections++;
        int live = ++s->live;
        if (live > s->most_live)
            s->most_live = live;
        struct connection *c = malloc(sizeof *c);
        *c = (struct connection){ s, fd };
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, serve_connection, c), 0);
        pthread_detach(thread);
    }
}

static void start_server(struct server *s)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof a;
    s->fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(s->fd >= 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(s->fd, 64), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&a, &len), 0);
    s->port = ntohs(a.sin_port);
    pthread_mutex_init(&s->lock, NULL);
    assert_int_equal(pthread_create(&s->thread, NULL, listen_on, s), 0);
}

static void stop_server(struct server *s)
{
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
    for (int i = 0; i < 3000 && s->live; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    assert_int_equal(s->live, 0);
    for (size_t i = 0; i < s->count; i++)
        free(s->objects[i].bytes);
    pthread_mutex_destroy(&s->lock);
}

/* --- tests ------------------------------------------------------------------------------- */

struct fixture {
    struct server server;
    struct tide_config config;
    struct tide_source_options options;
    struct tide_source source;
    struct tide_err err;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    start_server(&f->server);
    tide_config_defaults(&f->config);
    snprintf(f->config.lake, sizeof f->config.lake, "http://127.0.0.1:%u/lake/", f->server.port);
    f->config.retry_ms_max = 1000;
    f->config.http_tries = 3;
    f->config.http_timeout_ms =
        360000; /* a server's thread that the system suspends does not stall */
    f->config.lake_batches_per_partition = 1;
    f->config.lake_ledgers_per_batch = 4;
    f->options.config = &f->config;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    if (f->source.ops)
        f->source.ops->close(f->source.self);
    stop_server(&f->server);
    free(f);
    return 0;
}

/* Serves the ledgers start .. start + 3 under the object's name in a lake. */
static size_t serve_object(struct fixture *f, uint32_t start, const char *prefix, enum fault fault,
                           int times)
{
    struct tide_buf plain, packed;
    tide_buf_init(&plain, 1u << 20);
    tide_buf_init(&packed, 1u << 20);
    put_batch(&plain, start ? start : 2, start + 3, start ? start : 2, start + 3, 50);
    assert_int_equal(tide_zstd_compress(&packed, tide_buf_view(&plain), 1), TIDE_OK);
    tide_buf_release(&plain);
    pthread_mutex_lock(&f->server.lock);
    size_t i = f->server.count++;
    assert_true(i < TIDE_COUNT(f->server.objects));
    snprintf(f->server.objects[i].path, sizeof f->server.objects[i].path,
             "%s/lake/%08X--%u-%u.xdr.zst", prefix, UINT32_MAX - start, start, start + 3);
    f->server.objects[i].bytes = packed.ptr;
    f->server.objects[i].len = packed.len;
    f->server.objects[i].fault = fault;
    f->server.objects[i].times = times;
    pthread_mutex_unlock(&f->server.lock);
    return i;
}

static void open_lake(struct fixture *f, uint32_t first)
{
    if (tide_source_open(&f->source, &f->options, &f->err) ||
        f->source.ops->seek(f->source.self, first, 0, &f->err))
        fail_msg("%s", f->err.text);
}

static void expect_drain(struct fixture *f, tide_status want, uint32_t count)
{
    uint32_t got = 0, last = 0;
    tide_status status = drain(&f->source, &got, &last, &f->err);
    if (status != want || got != count)
        fail_msg("status %s after %u ledgers: %s", tide_status_name(status), got, f->err.text);
}

static void several_objects_are_in_flight_and_come_in_order(void **state)
{
    struct fixture *f = *state;
    for (uint32_t start = 0; start < 640; start += 4)
        serve_object(f, start, "", NONE, 0);
    open_lake(f, 2);
    expect_drain(f, TIDE_E_EOF, 638);
    assert_true(f->server.most_live > 1);
    /* The client reuses connections: there are far fewer connections than requests. */
    assert_true(f->server.connections <= 33);
    assert_true(f->server.requests >= 160);
    serve_object(f, 640, "", NONE, 0);
    expect_drain(f, TIDE_E_EOF, 4);
    uint32_t first = 0, last = 0;
    assert_int_equal(f->source.ops->range(f->source.self, &first, &last, &f->err), TIDE_OK);
    assert_int_equal(first, 643); /* ledger 644 does not exist, ledger 643 does */
    assert_int_equal(last, 643);
    assert_int_equal(f->source.ops->seek(f->source.self, 30, 0, &f->err), TIDE_OK);
    assert_int_equal(f->source.ops->range(f->source.self, &first, &last, &f->err), TIDE_OK);
    assert_int_equal(first, 30);
    assert_int_equal(last, 643);
}

/* clang-format off */
static const struct {
    enum fault fault;
    int times;
    tide_status want;
    const char *message;
    const char *why;
} faults[] = {
    { BROKEN,      2,  TIDE_E_EOF,    "not there yet",       "500 twice"                  },
    { BROKEN,      -1, TIDE_E_IO,     "answered 500",        "500 for ever"               },
    { BUSY,        1,  TIDE_E_EOF,    "not there yet",       "429 once"                   },
    { CUT,         2,  TIDE_E_EOF,    "not there yet",       "cut twice"                  },
    { CUT,         -1, TIDE_E_IO,     "given up after 3",    "cut for ever"               },
    { SHORT,       1,  TIDE_E_EOF,    "not there yet",       "half without a length"      },
    { SHORT,       -1, TIDE_E_DECODE, "FFFFFFF7--8-11",      "half, and half again"       },
    { STALL,       1,  TIDE_E_EOF,    "not there yet",       "stalls once"                },
    { HTML,        1,  TIDE_E_EOF,    "not there yet",       "a page instead"             },
    { HTML,        -1, TIDE_E_DECODE, "not a zstd frame",    "a page for ever"            },
    { ELSEWHERE,   -1, TIDE_E_EOF,    "not there yet",       "moved"                      },
    { LOOP,        -1, TIDE_E_IO,     "FFFFFFF7--8-11",      "moved to itself"            },
    { HUGE_LENGTH, -1, TIDE_E_LIMIT,  "object_max_mib",      "a terabyte"                 },
    { HANG_UP,     2,  TIDE_E_EOF,    "not there yet",       "closes twice"               },
    { FORBIDDEN,   -1, TIDE_E_IO,     "forbidden",           "403"                        },
    { NOT_THERE,   -1, TIDE_E_MISSING, "ledger 12 is there", "a hole"                     },
};
/* clang-format on */

static void faults_are_healed_or_reported_by_name(void **state)
{
    struct fixture *f = *state;
    serve_object(f, 4, "", NONE, 0);
    size_t bad = serve_object(f, 8, "", NONE, 0);
    serve_object(f, 8, "/moved", NONE, 0);
    serve_object(f, 12, "", NONE, 0);
    f->config.http_timeout_ms = 18000;
    f->config.stop_at_end = true;
    open_lake(f, 4);
    for (size_t i = 0; i < TIDE_COUNT(faults); i++) {
        pthread_mutex_lock(&f->server.lock);
        f->server.objects[bad].fault = faults[i].fault;
        f->server.objects[bad].times = faults[i].times;
        pthread_mutex_unlock(&f->server.lock);
        assert_int_equal(f->source.ops->seek(f->source.self, 4, 0, &f->err), TIDE_OK);
        uint32_t count = 0, last = 0;
        tide_status status = drain(&f->source, &count, &last, &f->err);
        if (status != faults[i].want || !strstr(f->err.text, faults[i].message))
            fail_msg("%s: %s %s", faults[i].why, tide_status_name(status), f->err.text);
        bool healed = status == TIDE_E_EOF;
        /* The first half of a short answer may hold complete ledgers. */
        if (healed ? count != 12 : count < 4 || count > 7)
            fail_msg("%s: %u ledgers", faults[i].why, count);
    }
}

/* A bucket that may not be listed answers 403 for what is not there. */
static void forbidden_behind_the_newest_object_is_the_tip(void **state)
{
    struct fixture *f = *state;
    char said[TIDE_ERR_TEXT_MAX];
    serve_object(f, 4, "", NONE, 0);
    serve_object(f, 8, "", NONE, 0);
    open_lake(f, 4);
    atomic_store(&f->server.absent, FORBIDDEN);
    expect_drain(f, TIDE_E_EOF, 8);
    assert_int_equal(f->source.ops->trouble(f->source.self, said, sizeof said), 0);
    /* Polls are cheap: the lake is searched only now and then. */
    int before = f->server.requests;
    for (int i = 0; i < 20; i++)
        expect_drain(f, TIDE_E_EOF, 0);
    assert_in_range(f->server.requests - before, 20, 60);
    serve_object(f, 12, "", NONE, 0);
    expect_drain(f, TIDE_E_EOF, 4);
    /* A hole of two objects. */
    size_t bad = serve_object(f, 24, "", NONE, 0);
    assert_int_equal(f->source.ops->seek(f->source.self, 16, 0, &f->err), TIDE_OK);
    expect_drain(f, TIDE_E_IO, 0);
    assert_true(f->source.ops->trouble(f->source.self, said, sizeof said) > 0);
    assert_non_null(strstr(said, "ledger 16 is forbidden (403), but the object of ledger 24"));
    assert_int_equal(f->source.ops->ahead(f->source.self), 24);
    pthread_mutex_lock(&f->server.lock);
    f->server.objects[bad].fault = FORBIDDEN;
    f->server.objects[bad].times = -1;
    pthread_mutex_unlock(&f->server.lock);
    /* Neither this object nor the one before may be read. */
    assert_int_equal(f->source.ops->seek(f->source.self, 24, 0, &f->err), TIDE_OK);
    expect_drain(f, TIDE_E_IO, 0);
    assert_non_null(strstr(f->err.text, "403"));
    assert_true(f->source.ops->trouble(f->source.self, said, sizeof said) > 0);
}

static void retry_after_is_obeyed(void **state)
{
    struct fixture *f = *state;
    serve_object(f, 4, "", BUSY, 1);
    open_lake(f, 4);
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    expect_drain(f, TIDE_E_EOF, 4);
    clock_gettime(CLOCK_MONOTONIC, &b);
    int64_t ms = (b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000;
    assert_true(ms >= 990);
}

/* Reads the ledgers up to `last`, with a pause of `ms` milliseconds for each object. */
static void read_slowly(struct fixture *f, uint32_t last, int ms)
{
    tide_slice lcm;
    uint32_t sequence = 0;
    while (sequence < last) {
        if (f->source.ops->next(f->source.self, &lcm, &sequence, &f->err))
            fail_msg("%s", f->err.text);
        if (ms && sequence % 4 == 0)
            nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
    }
}

/* A server with a long latency gets more requests at once, up to the bound. A near server gets few,
 * because objects arrive while one is read. When the reader slows down, the number falls again. The
 * ratio of the times counts: they are long against those for which the system suspends a thread. */
static void latency_says_how_many_are_in_flight(void **state)
{
    struct fixture *f = *state;
    for (uint32_t start = 0; start < 288; start += 4)
        serve_object(f, start, "", NONE, 0);
    f->server.latency_ms = 600;
    open_lake(f, 2);
    read_slowly(f, 119, 0);
    assert_in_range(f->server.most_asked, 12, 32);
    f->server.latency_ms = 0;
    read_slowly(f, 267, 200);
    /* 67 objects were read. Objects that had been fetched further ahead were consumed since, so at
     * most 5 more were requested. */
    assert_in_range(f->server.requests, 67, 67 + 5);
}

static void one_object_more_than_the_bound_is_held(void **state)
{
    struct fixture *f = *state;
    /* Each object has 200 KiB of noise. Together they exceed the bound by far, so only the oldest
     * object is held. */
    struct tide_buf noise;
    tide_buf_init(&noise, 8u << 20);
    for (uint32_t start = 4; start < 44; start += 4) {
        size_t i = serve_object(f, start, "", NONE, 0);
        /* a skippable frame at the start makes the object large */
        tide_buf_reset(&noise);
        tide_buf_put(&noise, "\x50\x2a\x4d\x18\x00\x00\x0c\x00", 8);
        put_zeros(&noise, 0x0c0000);
        tide_buf_put(&noise, f->server.objects[i].bytes, f->server.objects[i].len);
        free(f->server.objects[i].bytes);
        f->server.objects[i].len = noise.len;
        f->server.objects[i].bytes = malloc(noise.len);
        memcpy(f->server.objects[i].bytes, noise.ptr, noise.len);
    }
    tide_buf_release(&noise);
    f->config.batch_mib = 1;
    open_lake(f, 4);
    expect_drain(f, TIDE_E_EOF, 40);
}

static void no_server(void **state)
{
    struct fixture *f = *state;
    struct tide_source source;
    snprintf(f->config.lake, sizeof f->config.lake, "http://127.0.0.1:1/lake");
    assert_int_equal(tide_source_open(&source, &f->options, &f->err), TIDE_E_IO);
    assert_non_null(strstr(f->err.text, "127.0.0.1"));
}

#define HTTP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int test_lake_http(void)
{
    const struct CMUnitTest tests[] = {
        HTTP_TEST(several_objects_are_in_flight_and_come_in_order),
        HTTP_TEST(forbidden_behind_the_newest_object_is_the_tip),
        HTTP_TEST(faults_are_healed_or_reported_by_name),
        HTTP_TEST(retry_after_is_obeyed),
        HTTP_TEST(latency_says_how_many_are_in_flight),
        HTTP_TEST(one_object_more_than_the_bound_is_held),
        HTTP_TEST(no_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
