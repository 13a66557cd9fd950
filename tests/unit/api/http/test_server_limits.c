/* Checks that run before the routes of tidemark-api, each by itself: the form of a request, the
 * client's address, rate limits, connection limits and counters. */
#include "api/http/route.h"
#include "api/http/server/conn_limit.h"
#include "api/http/server/metrics.h"
#include "api/http/server/rate.h"
#include "api/http/server/request_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <arpa/inet.h>
#include <pthread.h>

#include <cmocka.h>

#define OK(call) assert_int_equal((call), TIDE_OK)

/* --- form ------------------------------------------------------------------------------------- */

/* Checks headers given as lines "Name: value" separated by '\n', as libmicrohttpd passes them. */
static const struct tide_request_fault *
read_head(struct tide_request_head *head, const char *version, const char *lines, size_t bytes)
{
    const struct tide_request_fault *wrong = NULL;
    tide_request_check_begin(head);
    while (!wrong && *lines) {
        size_t len = strcspn(lines, "\n"), name = strcspn(lines, ":\n");
        assert_true(name < len);
        char *text = malloc(len); /* so that reading beyond it is seen */
        assert_non_null(text);
        memcpy(text, lines, len);
        wrong = tide_request_check_line(head, tide_slice_of(text, name),
                                        tide_slice_of(text + name + 1, len - name - 1));
        free(text);
        lines += len + (lines[len] == '\n');
    }
    return wrong ? wrong : tide_request_check_end(head, tide_slice_str(version), bytes);
}

static const struct {
    const char *why;
    const char *version;
    const char *lines;
    uint16_t status;
} heads[] = {
    { "a request", "HTTP/1.1", "Host: x", 0 },
    { "no blank behind the colon", "HTTP/1.1", "Host:x", 0 },
    { "an empty value", "HTTP/1.1", "Host:x\nX:", 0 },
    { "HTTP/1.0 without Host", "HTTP/1.0", "", 0 },
    { "HTTP/1.1 without Host", "HTTP/1.1", "", 400 },
    { "another version", "HTTP/1.2", "Host: x", 400 },
    { "no version", "", "Host: x", 400 },
    { "two Hosts", "HTTP/1.1", "Host: x\nhost: y", 400 },
    { "a blank before the colon", "HTTP/1.1", "Host : x", 400 },
    { "no name", "HTTP/1.1", "Host: x\n: y", 400 },
    { "a control in a value", "HTTP/1.1", "Host: x\x01", 400 },
    { "a return in a value", "HTTP/1.1", "Host: x\ry", 400 },
    { "DEL in a value", "HTTP/1.1", "Host: x\x7fy", 400 },
    { "a control in a name", "HTTP/1.1", "Ho\x01st: x", 400 },
    { "a tab in a value", "HTTP/1.1", "Host: x\ty", 0 },
    { "bytes above ASCII in a value", "HTTP/1.1", "Host: x\nX: \xc3\xa4\xff", 0 },
    { "bytes above ASCII in a name", "HTTP/1.1", "Host: x\nX\xc3: y", 400 },
    { "a length", "HTTP/1.1", "Host: x\nContent-Length: 12", 0 },
    { "two lengths", "HTTP/1.1", "Host: x\nContent-Length: 1\ncontent-length: 1", 400 },
    { "a signed length", "HTTP/1.1", "Host: x\nContent-Length: +1", 400 },
    { "a length of nothing", "HTTP/1.1", "Host: x\nContent-Length:", 400 },
    { "a length beyond all bounds", "HTTP/1.1",
      "Host: x\nContent-Length: 99999999999999999999999999", 400 },
    { "chunked", "HTTP/1.1", "Host: x\nTransfer-Encoding: Chunked", 411 },
    { "chunked in HTTP/1.0", "HTTP/1.0", "Transfer-Encoding: chunked", 400 },
    { "another coding", "HTTP/1.1", "Host: x\nTransfer-Encoding: gzip", 400 },
    { "two codings", "HTTP/1.1", "Host: x\nTransfer-Encoding: gzip, chunked", 400 },
    { "both", "HTTP/1.1", "Host: x\nContent-Length: 1\nTransfer-Encoding: chunked", 400 },
    { "both, the other way", "HTTP/1.1", "Host: x\nTransfer-Encoding: chunked\nContent-Length: 1",
      400 },
    { "a content coding", "HTTP/1.1", "Host: x\nContent-Encoding: gzip", 0 },
    { "two content codings", "HTTP/1.1", "Host: x\nContent-Encoding: gzip\nContent-Encoding: br",
      400 },
    { "two types", "HTTP/1.1", "Host: x\nContent-Type: a\nContent-Type: b", 400 },
    { "an expectation", "HTTP/1.1", "Host: x\nExpect: 100-Continue", 0 },
    { "another expectation", "HTTP/1.1", "Host: x\nExpect: 200-ok", 417 },
};

static void test_heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(heads); i++) {
        struct tide_request_head head;
        const struct tide_request_fault *wrong =
            read_head(&head, heads[i].version, heads[i].lines, 200);
        if ((wrong ? wrong->status : 0) != heads[i].status)
            fail_msg("%s: %s", heads[i].why, wrong ? wrong->detail : "accepted");
    }
}

static void add_line(struct tide_request_head *head, const char *name, const char *value)
{
    assert_null(tide_request_check_line(head, tide_slice_str(name), tide_slice_str(value)));
}

static void test_sizes_of_heads(void **state)
{
    const tide_slice version = TIDE_SLICE("HTTP/1.1");
    struct tide_request_head head;
    (void)state;
    tide_request_check_begin(&head);
    add_line(&head, "Host", "x");
    assert_null(tide_request_check_end(&head, version, TIDE_HEAD_BYTES_MAX));
    assert_int_equal(tide_request_check_end(&head, version, TIDE_HEAD_BYTES_MAX + 1)->status, 431);
    while (head.count < TIDE_HEAD_LINES_MAX)
        add_line(&head, "X", "y");
    assert_null(tide_request_check_end(&head, version, 500));
    assert_int_equal(tide_request_check_line(&head, TIDE_SLICE("X"), TIDE_SLICE("y"))->status, 431);
}

static void test_what_a_head_says(void **state)
{
    struct tide_request_head head;
    (void)state;
    tide_request_check_begin(&head);
    add_line(&head, "Host", "x");
    add_line(&head, "content-LENGTH", "512 ");
    add_line(&head, "X-Forwarded-For", " 1.2.3.4");
    add_line(&head, "If-None-Match", "\"a\"");
    assert_null(tide_request_check_end(&head, TIDE_SLICE("HTTP/1.1"), 100));
    assert_int_equal(head.length, 512);
    assert_int_equal(head.count, 4);
    assert_true(tide_slice_eq_str(head.forwarded_for, "1.2.3.4"));
    assert_true(tide_slice_eq_str(head.if_none_match, "\"a\""));
    assert_false(head.chunked || head.http_1_0 || head.expects);
}

/* Each header is found by its name. */
static void test_lines(void **state)
{
    struct tide_request request = { 0 };
    struct tide_request_head head;
    uint32_t times;
    (void)state;
    tide_request_check_begin(&head);
    assert_null(tide_request_head_find(&head, "Host", &times).ptr);
    add_line(&head, "Host", "x");
    add_line(&head, "X-Sig", "  ab ");
    add_line(&head, "x-SIG", " cd");
    add_line(&head, "Empty", "");
    add_line(&head, "Last", " z");
    assert_null(tide_request_check_end(&head, TIDE_SLICE("HTTP/1.1"), 100));
    assert_null(tide_request_header(&request, "Host", &times).ptr);
    request.head = &head;
    assert_true(tide_slice_eq_str(tide_request_header(&request, "x-sig", &times), "ab"));
    assert_int_equal(times, 2);
    assert_true(tide_slice_eq_str(tide_request_header(&request, "LAST", &times), "z"));
    assert_int_equal(times, 1);
    assert_int_equal(tide_request_header(&request, "empty", &times).len, 0);
    assert_int_equal(times, 1);
    assert_null(tide_request_header(&request, "X-Si", &times).ptr);
    assert_int_equal(times, 0);
}

static void test_targets(void **state)
{
    const struct tide_request_head none = { 0 };
    char large[TIDE_TARGET_MAX + 1];
    (void)state;
    memset(large, 'a', sizeof large);
    large[0] = '/';
    assert_null(tide_request_check_target(&none, TIDE_SLICE("/healthz?a=%00")));
    assert_null(tide_request_check_target(&none, tide_slice_of(large, TIDE_TARGET_MAX)));
    assert_int_equal(tide_request_check_target(&none, tide_slice_of(large, sizeof large))->status,
                     414);
    assert_int_equal(tide_request_check_target(&none, TIDE_SLICE(""))->status, 400);
    assert_int_equal(tide_request_check_target(&none, TIDE_SLICE("http://x/"))->status, 400);
    assert_int_equal(tide_request_check_target(&none, TIDE_SLICE("*"))->status, 400);
    assert_int_equal(tide_request_check_target(&none, TIDE_SLICE("/a b"))->status, 400);
    assert_int_equal(tide_request_check_target(&none, TIDE_SLICE("/\xc3\xa4"))->status, 400);
    assert_int_equal(tide_request_check_target(&none, TIDE_SLICE("/\x7f"))->status, 400);
}

/* libmicrohttpd allocates memory for each pair of a query and of cookies, so their number is
 * limited. */
static void test_pairs(void **state)
{
    struct tide_request_head head;
    char query[2 * TIDE_HEAD_PAIRS_MAX + 2] = "/?";
    (void)state;
    for (size_t pairs = 1; pairs <= TIDE_HEAD_PAIRS_MAX; pairs++)
        memcpy(query + 2 * pairs - 1, pairs == 1 ? "?a" : "&a", 2);
    tide_request_check_begin(&head);
    assert_null(tide_request_check_target(&head, tide_slice_of(query, sizeof query - 1)));
    add_line(&head, "Cookie", "a=b");
    assert_int_equal(
        tide_request_check_target(&head, tide_slice_of(query, sizeof query - 1))->status, 431);
    assert_null(tide_request_check_target(&head, tide_slice_of(query, sizeof query - 3)));
    add_line(&head, "cookie", "a=b; c");
    assert_int_equal(
        tide_request_check_target(&head, tide_slice_of(query, sizeof query - 3))->status, 431);
    query[sizeof query - 1] = '&';
    tide_request_check_begin(&head);
    assert_int_equal(tide_request_check_target(&head, tide_slice_of(query, sizeof query))->status,
                     414);
}

/* Each byte at each offset of targets of several lengths. The check adds words of eight bytes, so
 * the neighbours are bytes into which a sum could carry. */
static void test_bytes_of_targets(void **state)
{
    static const char around[] = { '!', 'a', '~' };
    const struct tide_request_head none = { 0 };
    char text[26];
    (void)state;
    for (size_t n = 0; n < sizeof around; n++)
        for (size_t len = 2; len <= sizeof text; len++)
            for (size_t at = 1; at < len; at++)
                for (unsigned c = 0; c < 256; c++) {
                    memset(text, around[n], sizeof text);
                    text[0] = '/';
                    text[at] = (char)c;
                    assert_true((tide_request_check_target(&none, tide_slice_of(text, len)) ==
                                 NULL) == (c > ' ' && c < 0x7f));
                }
}

/* --- who -------------------------------------------------------------------------------------- */

static struct tide_peer peer_of(const char *text)
{
    struct tide_peer peer;
    struct sockaddr_in in = { .sin_family = AF_INET };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
    if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
        assert_true(tide_peer_of_socket(&peer, (const struct sockaddr *)(void *)&in));
    else {
        assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
        assert_true(tide_peer_of_socket(&peer, (const struct sockaddr *)(void *)&in6));
    }
    return peer;
}

static const struct {
    const char *peer, *header, *client;
} hops[] = {
    { "198.51.100.1", "203.0.113.9", "198.51.100.1" }, /* only a proxy's header counts */
    { "10.1.2.3", "203.0.113.9", "203.0.113.9" },
    /* the rightmost address that is no proxy */
    { "10.1.2.3", "6.6.6.6, 203.0.113.9", "203.0.113.9" },
    { "10.1.2.3", "6.6.6.6, 203.0.113.9 ,10.0.0.7", "203.0.113.9" },
    { "10.1.2.3", "10.0.0.8, 10.0.0.7", "10.0.0.8" },
    { "10.1.2.3", "unknown", "10.1.2.3" },
    { "10.1.2.3", "203.0.113.9, unknown", "10.1.2.3" },
    { "10.1.2.3", "", "10.1.2.3" },
    { "2001:db8::1", "2001:db9::7", "2001:db9::7" },
    { "2001:dc8::1", "2001:db9::7", "2001:dc8::1" },
};

static void test_proxies(void **state)
{
    struct tide_peer_proxies proxies;
    struct tide_err err;
    char text[TIDE_PEER_TEXT];
    (void)state;
    OK(tide_peer_proxies_parse(&proxies, " 10.0.0.0/8 ,2001:db8::/33", &err));
    assert_int_equal(proxies.count, 2);
    for (size_t i = 0; i < TIDE_COUNT(hops); i++) {
        struct tide_peer peer = peer_of(hops[i].peer);
        struct tide_peer got = tide_peer_behind(&proxies, &peer, tide_slice_str(hops[i].header));
        assert_string_equal(tide_peer_text(text, &got), hops[i].client);
    }
    OK(tide_peer_proxies_parse(&proxies, "", &err));
    assert_int_equal(proxies.count, 0);
    static const char *const bad[] = { "10.0.0.0/33", "x", "10.0.0.0/", "::/129", ",", "1.2.3" };
    for (size_t i = 0; i < TIDE_COUNT(bad); i++)
        assert_int_equal(tide_peer_proxies_parse(&proxies, bad[i], &err), TIDE_E_CONFIG);
}

static void test_neighbours_are_one(void **state)
{
    (void)state;
    struct tide_peer a = peer_of("2001:db8:1:2:3::4"), b = peer_of("2001:db8:1:2:ffff::"),
                     c = peer_of("2001:db8:1:3::"), d = peer_of("192.0.2.1"),
                     e = peer_of("192.0.2.2");
    a = tide_peer_key(&a), b = tide_peer_key(&b), c = tide_peer_key(&c), d = tide_peer_key(&d),
    e = tide_peer_key(&e);
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_not_equal(&a, &c, sizeof a);
    assert_memory_not_equal(&d, &e, sizeof d);
}

/* --- how often ----------------------------------------------------------------------------------
 * */

static struct tide_rate *rate_of(uint32_t lookup, uint32_t query)
{
    const uint32_t quota[TIDE_RATE_CLASS_COUNT] = { lookup, query };
    struct tide_rate *rate;
    struct tide_err err;
    OK(tide_rate_open(&rate, quota, 42, &err));
    return rate;
}

static void test_buckets(void **state)
{
    struct tide_rate *rate = rate_of(60, 10);
    struct tide_rate_client who = { .peer = peer_of("192.0.2.1"), .factor = 1 };
    struct tide_rate_answer a;
    (void)state;
    for (int i = 0; i < 60; i++) {
        a = tide_rate_take(rate, &who, TIDE_RATE_LOOKUP, 1, 1000);
        assert_false(a.refused);
        assert_int_equal(a.remaining, 59 - i);
        assert_int_equal(a.reset_s, i + 1);
    }
    a = tide_rate_take(rate, &who, TIDE_RATE_LOOKUP, 1, 1999);
    assert_true(a.refused && a.remaining == 0 && a.reset_s == 1);
    a = tide_rate_take(rate, &who, TIDE_RATE_LOOKUP, 1, 2000); /* one second gives one token */
    assert_false(a.refused);
    /* an earlier time gives no token */
    assert_true(tide_rate_take(rate, &who, TIDE_RATE_LOOKUP, 1, 1500).refused);
    assert_false(tide_rate_take(rate, &who, TIDE_RATE_QUERY, 7, 2000).refused);
    a = tide_rate_take(rate, &who, TIDE_RATE_QUERY, 7, 2000);
    assert_true(a.refused && a.remaining == 3 && a.reset_s == 24); /* four tokens, ten a minute */
    assert_false(tide_rate_take(rate, &who, TIDE_RATE_QUERY, 7, 26000).refused);
    assert_false(
        /* a full window of another client may be reused */
        tide_rate_take(rate, &who, TIDE_RATE_QUERY, 99, 200000).refused);
    who.peer = peer_of("192.0.2.2");
    assert_int_equal(tide_rate_take(rate, &who, TIDE_RATE_LOOKUP, 1, 2000).remaining, 59);
    who.keyed = true;
    who.factor = 10;
    assert_int_equal(tide_rate_take(rate, &who, TIDE_RATE_LOOKUP, 1, 2000).remaining, 599);
    tide_rate_close(rate);
}

/* A quota of few tokens refills at its rate even if the client asks every millisecond. */
static void test_asking_does_not_hold_it_up(void **state)
{
    struct tide_rate *rate = rate_of(7, 0);
    struct tide_rate_client who = { .peer = peer_of("192.0.2.1"), .factor = 1 };
    int served = 0;
    (void)state;
    for (int64_t ms = 1; ms <= 120000; ms++)
        served += !tide_rate_take(rate, &who, TIDE_RATE_LOOKUP, 1, ms).refused;
    assert_in_range(served, 7 + 13, 7 + 14);
    assert_int_equal(tide_rate_take(rate, &who, TIDE_RATE_QUERY, 1, 1).quota, 0);
    tide_rate_close(rate);
}

/* Several threads take tokens at once; each token is given to one thread. (label: threads) */
static void *take_many(void *self)
{
    struct tide_rate *rate = self;
    struct tide_rate_client who = { .peer = peer_of("192.0.2.1"), .factor = 1 };
    uintptr_t served = 0;
    for (int i = 0; i < 20000; i++)
        served += !tide_rate_take(rate, &who, TIDE_RATE_LOOKUP, 1, 60000).refused;
    return (void *)served;
}

static void test_many_at_once(void **state)
{
    struct tide_rate *rate = rate_of(30000, 0);
    pthread_t threads[3];
    uintptr_t all = 0;
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_many, rate), 0);
    for (size_t i = 0; i < TIDE_COUNT(threads); i++) {
        void *served;
        assert_int_equal(pthread_join(threads[i], &served), 0);
        all += (uintptr_t)served;
    }
    assert_int_equal(all, 30000);
    tide_rate_close(rate);
}

enum { NEW_CLIENTS = 4000, NEW_QUOTA = 6 };

struct newcomers {
    struct tide_rate *rate;
    pthread_barrier_t start; /* passed once for each client */
};

static void *take_as_newcomers(void *self)
{
    struct newcomers *all = self;
    struct tide_rate_client who = { .peer = peer_of("192.0.2.1"), .factor = 1 };
    uintptr_t served = 0;
    for (uint32_t client = 0; client < NEW_CLIENTS; client++) {
        memcpy(who.peer.ip + 12, &client, sizeof client);
        (void)pthread_barrier_wait(&all->start);
        for (int i = 0; i < NEW_QUOTA; i++)
            served += !tide_rate_take(all->rate, &who, TIDE_RATE_LOOKUP, 1, 60000).refused;
    }
    return (void *)served;
}

/* The first requests of a client, which come at once, share one bucket. (label: threads) */
static void test_newcomers_at_once(void **state)
{
    struct newcomers all = { .rate = rate_of(NEW_QUOTA, 0) };
    pthread_t threads[3];
    uintptr_t served = 0;
    (void)state;
    assert_int_equal(pthread_barrier_init(&all.start, NULL, TIDE_COUNT(threads)), 0);
    for (size_t i = 0; i < TIDE_COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_as_newcomers, &all), 0);
    for (size_t i = 0; i < TIDE_COUNT(threads); i++) {
        void *own;
        assert_int_equal(pthread_join(threads[i], &own), 0);
        served += (uintptr_t)own;
    }
    assert_int_equal(served, NEW_CLIENTS * NEW_QUOTA);
    pthread_barrier_destroy(&all.start);
    tide_rate_close(all.rate);
}

static void test_a_flood_of_addresses(void **state)
{
    struct tide_rate *rate = rate_of(60, 0);
    struct tide_rate_client who = { .peer = peer_of("192.0.2.1"), .factor = 1 }, other = who;
    (void)state;
    for (uint32_t i = 0; i < 4 * TIDE_RATE_CLIENTS; i++) {
        memcpy(other.peer.ip + 12, &i, sizeof i);
        assert_false(tide_rate_take(rate, &other, TIDE_RATE_LOOKUP, 1, 1 + i / 1000).refused);
        if (i % 1000 == 0) /* the entry of an active client is not evicted */
            (void)tide_rate_take(rate, &who, TIDE_RATE_LOOKUP, 1, 1 + i / 1000);
    }
    assert_true(tide_rate_take(rate, &who, TIDE_RATE_LOOKUP, 1, 263).refused);
    tide_rate_close(rate);
}

/* --- how many --------------------------------------------------------------------------------- */

/* Bytes of unsent answers: one client may hold a quarter of the memory, whether it has a connection
 * of its own or comes through a proxy, and no byte stays counted. */
static void test_held_answers(void **state)
{
    struct tide_conn_limit *limit;
    struct tide_err err;
    struct tide_peer a = { .ip = { 1 } }, b = { .ip = { 2 } }, proxy = { .ip = { 3 } };
    struct tide_peer behind[] = { { .ip = { 4 } }, { .ip = { 5 } }, { .ip = { 6 } } };
    (void)state;
    OK(tide_conn_limit_open(&limit, 10, 5, 1000, &err));
    assert_true(tide_conn_limit_enter(limit, &a, false));
    assert_true(tide_conn_limit_enter(limit, &proxy, true));
    assert_true(tide_conn_limit_hold(limit, &a, TIDE_CONN_LIMIT_ANSWER, 200));
    assert_false(tide_conn_limit_hold(limit, &a, TIDE_CONN_LIMIT_ANSWER, 51));
    assert_true(tide_conn_limit_hold(limit, &a, TIDE_CONN_LIMIT_ANSWER, 50));
    assert_false(tide_conn_limit_hold(limit, &a, TIDE_CONN_LIMIT_ANSWER, 1));
    for (size_t i = 0; i < TIDE_COUNT(behind); i++) {
        assert_false(tide_conn_limit_hold(limit, &behind[i], TIDE_CONN_LIMIT_ANSWER, SIZE_MAX));
        assert_true(tide_conn_limit_hold(limit, &behind[i], TIDE_CONN_LIMIT_ANSWER, 250));
    }
    assert_false(tide_conn_limit_hold(limit, &b, TIDE_CONN_LIMIT_ANSWER, 1));
    tide_conn_limit_drop(limit, &a, TIDE_CONN_LIMIT_ANSWER, 50);
    assert_false(tide_conn_limit_hold(limit, &behind[0], TIDE_CONN_LIMIT_ANSWER, 1));
    assert_true(tide_conn_limit_hold(limit, &b, TIDE_CONN_LIMIT_ANSWER, 50));
    tide_conn_limit_drop(limit, &b, TIDE_CONN_LIMIT_ANSWER, 50);
    tide_conn_limit_drop(limit, &a, TIDE_CONN_LIMIT_ANSWER, 200);
    tide_conn_limit_leave(limit, &a);
    for (size_t i = 0; i < TIDE_COUNT(behind); i++)
        tide_conn_limit_drop(limit, &behind[i], TIDE_CONN_LIMIT_ANSWER, 250);
    assert_true(tide_conn_limit_hold(limit, &behind[0], TIDE_CONN_LIMIT_ANSWER, 250));
    tide_conn_limit_drop(limit, &behind[0], TIDE_CONN_LIMIT_ANSWER, 250);
    tide_conn_limit_leave(limit, &proxy);
    tide_conn_limit_close(limit);
}

/* Request bodies may hold a quarter of the memory, one client a quarter of that quarter. Answers
 * may hold the rest. */
static void test_held_bodies(void **state)
{
    struct tide_conn_limit *limit;
    struct tide_err err;
    struct tide_peer a = { .ip = { 1 } }, b = { .ip = { 2 } }, c = { .ip = { 3 } };
    (void)state;
    OK(tide_conn_limit_open(&limit, 10, 5, 1600, &err));
    assert_true(tide_conn_limit_hold(limit, &a, TIDE_CONN_LIMIT_BODY, 100));
    assert_false(tide_conn_limit_hold(limit, &a, TIDE_CONN_LIMIT_BODY, 1));
    assert_true(tide_conn_limit_hold(limit, &b, TIDE_CONN_LIMIT_BODY, 100));
    assert_true(tide_conn_limit_hold(limit, &a, TIDE_CONN_LIMIT_ANSWER, 300));
    assert_false(tide_conn_limit_hold(limit, &a, TIDE_CONN_LIMIT_ANSWER, 1));
    assert_true(tide_conn_limit_hold(limit, &c, TIDE_CONN_LIMIT_ANSWER, 400));
    tide_conn_limit_drop(limit, &a, TIDE_CONN_LIMIT_BODY, 100);
    assert_false(tide_conn_limit_hold(limit, &c, TIDE_CONN_LIMIT_BODY, 1));
    assert_true(tide_conn_limit_hold(limit, &a, TIDE_CONN_LIMIT_ANSWER, 100));
    assert_false(tide_conn_limit_hold(limit, &a, TIDE_CONN_LIMIT_BODY, 1));
    tide_conn_limit_drop(limit, &a, TIDE_CONN_LIMIT_ANSWER, 400);
    tide_conn_limit_drop(limit, &b, TIDE_CONN_LIMIT_BODY, 100);
    tide_conn_limit_drop(limit, &c, TIDE_CONN_LIMIT_ANSWER, 400);
    tide_conn_limit_close(limit);
}

static void test_many_clients(void **state)
{
    enum { STEPS = 20000, PEERS = 60 };
    struct tide_conn_limit *limit;
    struct tide_err err;
    uint32_t counts[PEERS] = { 0 }, all = 0, seed = 3;
    (void)state;
    OK(tide_conn_limit_open(&limit, 100, 5, 0, &err));
    for (int i = 0; i < STEPS; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t who = (seed >> 8) % PEERS;
        char text[32];
        snprintf(text, sizeof text, "10.0.%u.1", who);
        struct tide_peer peer = peer_of(text);
        if (seed >> 31) {
            bool alone = who == 7, room = all < 100 && (alone || counts[who] < 5);
            assert_int_equal(tide_conn_limit_enter(limit, &peer, alone), room);
            counts[who] += room;
            all += room;
        } else if (counts[who]) {
            tide_conn_limit_leave(limit, &peer);
            counts[who]--;
            all--;
        }
    }
    tide_conn_limit_close(limit);
}

/* --- counted ------------------------------------------------------------------------------------
 * */

static void test_counters(void **state)
{
    (void)state;
    assert_int_equal(tide_metric_status_of(503), TIDE_METRIC_STATUS_COUNT - 2);
    assert_int_equal(tide_metric_status_of(299), TIDE_METRIC_STATUS_COUNT - 1);
    assert_int_equal(tide_metric_status_of(200), 0);
    for (size_t i = 0; i + 1 < TIDE_METRIC_BUCKET_COUNT; i++) {
        uint64_t bound = tide_metric_bound_us(i);
        assert_int_equal(tide_metric_bucket_of(bound), i);
        assert_int_equal(tide_metric_bucket_of(bound + 1), i + 1);
    }
    assert_int_equal(tide_metric_bucket_of(UINT64_MAX), TIDE_METRIC_BUCKET_COUNT - 1);
}

int test_server_limits(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_sizes_of_heads),
        cmocka_unit_test(test_what_a_head_says),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_bytes_of_targets),
        cmocka_unit_test(test_proxies),
        cmocka_unit_test(test_neighbours_are_one),
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_asking_does_not_hold_it_up),
        cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_newcomers_at_once),
        cmocka_unit_test(test_a_flood_of_addresses),
        cmocka_unit_test(test_many_clients),
        cmocka_unit_test(test_held_answers),
        cmocka_unit_test(test_held_bodies),
        cmocka_unit_test(test_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
