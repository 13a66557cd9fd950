/* The server: callbacks of libmicrohttpd, opening, starting, stopping and closing. */
#include "api/http/server/server_impl.h"
#include "tidemark/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

enum { JOIN_MS = 5 }; /* between two looks whether a worker has ended */

/* --- callbacks of the library, all on the worker's thread ------------------------------- */

static struct server_conn *conn_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/* Returns the connection's socket. The library's information is only valid until the next one is
 * requested. */
static int socket_of(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    assert(info); /* every connection has a socket */
    return info->connect_fd;
}

static struct tide_peer peer_of(struct MHD_Connection *mhd)
{
    struct tide_peer peer;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    tide_peer_of_socket(&peer, info ? info->client_addr : NULL);
    return peer;
}

static void open_connection(struct server_worker *worker, struct MHD_Connection *mhd, void **memory)
{
    static const struct tide_request_fault too_many = {
        503, "too_many_connections", "this node has too many connections; retry in a second"
    };
    struct tide_server *server = worker->server;
    int fd = socket_of(mhd);
    struct tide_peer peer = peer_of(mhd);
    struct server_conn *conn = server_conn_open(worker, mhd, fd, &peer);
    *memory = conn; /* becomes the connection's socket_context */
    if (!conn) {
        shutdown(fd, SHUT_RDWR);
        return;
    }
    server_guard_head(conn);
    struct tide_peer key = tide_peer_key(&peer);
    conn->counted =
        tide_conn_limit_enter(server->limit, &key, tide_peer_is_proxy(&server->proxies, &peer));
    if (!conn->counted) {
        server_add(&worker->totals.refused, 1);
        server_send_problem(conn, &too_many, "Retry-After: 1\r\n");
        server_cut(conn);
    }
}

static void on_connection(void *self, struct MHD_Connection *mhd, void **memory,
                          enum MHD_ConnectionNotificationCode code)
{
    server_moved(self);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        open_connection(self, mhd, memory);
    } else if (*memory) {
        server_guard_unread(*memory);
        server_guard_closed(*memory);
        server_linger_begin(*memory);
        server_conn_close(*memory);
    }
}

/* Keeps the target as received: later the library gives it only split and decoded. The returned
 * pointer becomes the request's memory. */
static void *on_target(void *self, const char *target, struct MHD_Connection *mhd)
{
    (void)self;
    struct server_conn *conn = conn_of(mhd);
    if (!conn)
        return NULL;
    server_moved(conn->worker);
    size_t len = target ? strlen(target) : 0;
    conn->head.target_len = len < sizeof conn->head.target ? len : sizeof conn->head.target;
    if (conn->head.target_len)
        memcpy(conn->head.target, target, conn->head.target_len);
    conn->head.start_us = tide_monotonic_us();
    server_set_state(conn, STATE_HEAD);
    server_guard_head(conn);
    return conn;
}

/* Leaves the target's escapes: tide_route_match decodes them. */
static size_t leave_escapes(void *self, struct MHD_Connection *mhd, char *text)
{
    (void)self;
    (void)mhd;
    return strlen(text);
}

/* One call of the library about a request. */
struct request_call {
    struct server_conn *conn;
    const char *method, *version;
    bool failed; /* the library shall end the connection */
};

/* Each of the following steps handles one state (request_steps). Each returns false if the call
 * ends: the library shall call again, the connection is suspended, or the answer is queued. */
static bool begin_step(struct request_call *call)
{
    server_request_begin(call->conn, call->method, call->version);
    return call->conn->early;
}

static bool run_step(struct request_call *call)
{
    return server_request_run(call->conn);
}

/* Hands an answer to the encoder that turned out to be large when it was complete. */
static bool encode_step(struct request_call *call)
{
    if (server_guard_once_more(call->conn))
        return false;
    server_encoder_submit(call->conn);
    return true;
}

static bool suspend_step(struct request_call *call)
{
    server_suspend(call->conn);
    return false;
}

static bool answer_step(struct request_call *call)
{
    call->failed = !server_answer(call->conn);
    return false;
}

/* The states in which the library calls. It does not call while it sends or between requests. */
static bool (*const request_steps[STATE_COUNT])(struct request_call *) = {
    [STATE_HEAD] = begin_step,   [STATE_BODY] = run_step,      [STATE_ENCODE] = encode_step,
    [STATE_WAIT] = suspend_step, [STATE_ANSWER] = answer_step,
};

/* Calls the step function for the connection's state. Returns whether another step follows. */
static bool walk_on(struct request_call *call)
{
    bool (*step)(struct request_call *) = request_steps[call->conn->state];
    assert(step);
    return step(call);
}

/* Handles a request. The library calls it once with the head, then with each part of the body,
 * then without data until an answer is queued or the connection is suspended, and again after it
 * is resumed. */
/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd dictates the parameters */
static enum MHD_Result on_request(void *self, struct MHD_Connection *mhd, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **memory)
{
    (void)self;
    (void)mhd;
    (void)url;
    struct server_conn *conn = *memory;
    struct request_call call = { .conn = conn, .method = method, .version = version };
    if (TIDE_UNLIKELY(!conn || conn->cut))
        return MHD_NO;
    server_moved(conn->worker);
    if (conn->state != STATE_HEAD && *size) {
        server_request_body(conn, tide_slice_of(data, *size));
        *size = 0;
        return MHD_YES;
    }
    while (walk_on(&call))
        ;
    return call.failed ? MHD_NO : MHD_YES;
}

static void on_end(void *self, struct MHD_Connection *mhd, void **memory,
                   enum MHD_RequestTerminationCode code)
{
    (void)self;
    (void)mhd;
    struct server_conn *conn = *memory;
    *memory = NULL;
    if (!conn)
        return;
    server_moved(conn->worker);
    if (code == MHD_REQUEST_TERMINATED_WITH_ERROR)
        server_guard_unsent(conn);
    server_request_end(conn, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
}

/* --- opening ---------------------------------------------------------------------------- */

static tide_status read_address(const char *text, struct sockaddr_storage *out,
                                struct tide_err *err)
{
    const char *colon = strrchr(text, ':');
    char host[64];
    uint64_t port;
    size_t len = colon ? (size_t)(colon - text) : 0;
    *out = (struct sockaddr_storage){ 0 };
    if (!colon || len >= sizeof host ||
        tide_parse_u64(&port, tide_slice_str(colon + 1), 65535) != TIDE_OK)
        return tide_fail(err, TIDE_E_CONFIG, "api_listen: %s is not \"address:port\"", text);
    size_t bracketed = len > 2 && text[0] == '[' && text[len - 1] == ']';
    memcpy(host, text + bracketed, len - 2 * bracketed);
    host[len - 2 * bracketed] = 0;
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
    if (!bracketed && inet_pton(AF_INET, host, &in.sin_addr) == 1)
        memcpy(out, &in, sizeof in);
    else if (bracketed && inet_pton(AF_INET6, host, &in6.sin6_addr) == 1)
        memcpy(out, &in6, sizeof in6);
    else
        return tide_fail(err, TIDE_E_CONFIG, "api_listen: %s is not an IP address", host);
    return TIDE_OK;
}

/* Rejects a short key: it could be guessed. */
static tide_status check_metrics_key(const char *key, struct tide_err *err)
{
    size_t len = strlen(key);
    return len == 0 || len >= 16
               ? TIDE_OK
               : tide_fail(err, TIDE_E_CONFIG, "api_metrics_key must have at least 16 characters");
}

static tide_status open_limits(struct tide_server *server, const struct tide_config *config,
                               struct tide_err *err)
{
    const uint32_t quota[] = {
        [TIDE_RATE_LOOKUP] = config->api_rate_lookup,
        [TIDE_RATE_QUERY] = config->api_rate_query,
    };
    if (getrandom(&server->seed, sizeof server->seed, 0) != sizeof server->seed)
        return tide_fail(err, TIDE_E_IO, "no random numbers: %s", strerror(errno));
    tide_status status = tide_peer_proxies_parse(&server->proxies, config->api_proxies, err);
    if (status == TIDE_OK)
        status = check_metrics_key(config->api_metrics_key, err);
    if (status == TIDE_OK)
        status = tide_rate_open(&server->rate, quota, server->seed, err);
    return status == TIDE_OK ? tide_conn_limit_open(&server->limit, config->api_connections,
                                                    config->api_connections_per_ip,
                                                    (size_t)config->api_answers_mib << 20, err)
                             : status;
}

static struct MHD_Daemon *start_daemon(struct server_worker *worker,
                                       const struct sockaddr_storage *address)
{
    const struct tide_server *server = worker->server;
    /* The server writes Date once a second (loop.c). 0.9.75 would add its own beside it. */
    unsigned flags =
        MHD_USE_EPOLL | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_SUPPRESS_DATE_NO_CLOCK;
    if (address->ss_family == AF_INET6)
        flags |= MHD_USE_IPv6;
    /* The server's own limit answers 503. The library would leave further connections waiting
     * without an answer, so its limit is higher. */
    unsigned limit = server->options.config->api_connections + 1024;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, worker, MHD_OPTION_SOCK_ADDR,
        (const struct sockaddr *)address, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
        MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)SERVER_POOL_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, 0u, MHD_OPTION_STRICT_FOR_CLIENT,
        1, MHD_OPTION_URI_LOG_CALLBACK, on_target, worker, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_escapes, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, worker,
        MHD_OPTION_NOTIFY_COMPLETED, on_end, worker, MHD_OPTION_END);
}

static tide_status open_worker(struct server_worker *worker, struct sockaddr_storage *address,
                               struct tide_err *err)
{
    struct tide_server *server = worker->server;
    worker->ids = server->seed + ((uint64_t)(worker - server->workers) << 56);
    worker->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    worker->routes = calloc(server->options.routes->count + 1, sizeof *worker->routes);
    if (worker->event_fd < 0 || !worker->routes)
        return tide_fail(err, TIDE_E_MEMORY, "no memory or no descriptor for a worker");
    tide_status status = server_linger_open(worker, err);
    if (status == TIDE_OK)
        status = server->options.thread->open(&worker->state, server->options.api, err);
    if (status != TIDE_OK)
        return status;
    worker->daemon = start_daemon(worker, address);
    if (!worker->daemon)
        return tide_fail(err, TIDE_E_IO, "cannot listen on %s: %s",
                         server->options.config->api_listen, strerror(errno));
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(worker->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info ? info->port : 0;
    info = MHD_get_daemon_info(worker->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    worker->epoll_fd = info ? info->epoll_fd : -1;
    if (!server->port || worker->epoll_fd < 0)
        return tide_fail(err, TIDE_E_IO,
                         "this libmicrohttpd has no epoll, or does not tell its port");
    /* With port 0 the system chose one: the other workers listen on the same port. */
    if (address->ss_family == AF_INET)
        ((struct sockaddr_in *)(void *)address)->sin_port = htons(server->port);
    else
        ((struct sockaddr_in6 *)(void *)address)->sin6_port = htons(server->port);
    return TIDE_OK;
}

tide_status tide_server_open(struct tide_server **out, const struct tide_server_options *options,
                             struct tide_err *err)
{
    const struct tide_config *config = options->config;
    uint32_t count = config->api_threads;
    struct sockaddr_storage address;
    struct tide_server *server = calloc(1, sizeof *server + count * sizeof server->workers[0]);
    *out = NULL;
    if (!server)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the server");
    server->options = *options;
    server->worker_count = count;
    for (uint32_t i = 0; i < count; i++) {
        server->workers[i].server = server;
        server->workers[i].event_fd = server->workers[i].linger_fd = -1;
        pthread_mutex_init(&server->workers[i].mutex, NULL);
    }
    tide_status status = read_address(config->api_listen, &address, err);
    if (status == TIDE_OK)
        status = open_limits(server, config, err);
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        status = open_worker(&server->workers[i], &address, err);
    if (status != TIDE_OK) {
        tide_server_close(server);
        return status;
    }
    *out = server;
    return TIDE_OK;
}

/* --- start and stop --------------------------------------------------------------------- */

tide_status tide_server_start(struct tide_server *server, struct tide_err *err)
{
    tide_status status = server_encoder_start(&server->encoder, err);
    if (status != TIDE_OK)
        return status;
    for (uint32_t i = 0; i < server->worker_count; i++) {
        struct server_worker *worker = &server->workers[i];
        int failed = pthread_create(&worker->thread, NULL, server_loop, worker);
        if (failed)
            return tide_fail(err, TIDE_E_MEMORY, "cannot start a thread: %s", strerror(failed));
        worker->started = true;
    }
    return TIDE_OK;
}

void tide_server_drain(struct tide_server *server)
{
    atomic_store(&server->draining, true);
}

/* Waits until the worker's loop has ended, and meanwhile observes all workers: this thread may be
 * the only one that could end the process. */
static void join_worker(struct server_worker *worker)
{
    const struct tide_clock *clock = worker->server->options.clock;
    if (!worker->started)
        return;
    while (!atomic_load(&worker->ended)) {
        tide_server_observe(worker->server);
        clock->sleep_ms(clock->self, JOIN_MS);
    }
    pthread_join(worker->thread, NULL);
    worker->started = false;
}

void tide_server_stop(struct tide_server *server)
{
    tide_server_drain(server);
    atomic_store(&server->stopping, true);
    for (uint32_t i = 0; i < server->worker_count; i++)
        if (server->workers[i].started)
            server_wake_loop(&server->workers[i]);
    for (uint32_t i = 0; i < server->worker_count; i++)
        join_worker(&server->workers[i]);
    /* The workers have ended, so nothing is submitted to the encoder any more. */
    server_encoder_stop(&server->encoder);
}

void tide_server_close(struct tide_server *server)
{
    if (!server)
        return;
    tide_server_stop(server);
    for (uint32_t i = 0; i < server->worker_count; i++) {
        struct server_worker *worker = &server->workers[i];
        if (worker->daemon)
            MHD_stop_daemon(worker->daemon);
        server_linger_close(worker);
        server->options.thread->close(worker->state);
        if (worker->event_fd >= 0)
            close(worker->event_fd);
        free(worker->routes);
        pthread_mutex_destroy(&worker->mutex);
    }
    tide_rate_close(server->rate);
    tide_conn_limit_close(server->limit);
    free(server);
}

uint16_t tide_server_port(const struct tide_server *server)
{
    return server->port;
}

const char *tide_server_library(void)
{
    return MHD_get_version();
}

bool tide_server_draining(const struct tide_server *server)
{
    return atomic_load(&server->draining);
}

/* --- counters: the sums of all workers, which may miss what happens meanwhile -------------- */

static uint64_t read_counter(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Adds one worker's counters of a route. */
static void add_route(struct tide_metric_route *out, const struct server_counters *counters)
{
    for (size_t i = 0; i < TIDE_METRIC_STATUS_COUNT; i++)
        out->status[i] += read_counter(&counters->status[i]);
    for (size_t i = 0; i < TIDE_METRIC_BUCKET_COUNT; i++)
        out->bucket[i] += read_counter(&counters->bucket[i]);
    out->us += read_counter(&counters->us);
}

void tide_server_metrics(struct tide_server *server, struct tide_metrics *out)
{
    struct tide_metric_route *routes = out->routes;
    size_t max = out->route_max, count = server->options.routes->count + 1;
    *out = (struct tide_metrics){ .routes = routes, .route_max = max };
    out->route_count = count < max ? count : max;
    out->waits_connections = tide_conn_limit_waits(server->limit);
    memset(routes, 0, out->route_count * sizeof *routes);
    for (uint32_t w = 0; w < server->worker_count; w++) {
        const struct server_worker *worker = &server->workers[w];
#define TIDE_METRIC_FIELD(name) out->name += read_counter(&worker->totals.name);
        TIDE_METRIC_COUNTERS(TIDE_METRIC_FIELD)
        TIDE_METRIC_GAUGES(TIDE_METRIC_FIELD)
#undef TIDE_METRIC_FIELD
        out->waits_wake += atomic_load_explicit(&worker->waits, memory_order_relaxed);
        for (size_t i = 0; i < out->route_count; i++)
            add_route(&routes[i], &worker->routes[i]);
    }
}
