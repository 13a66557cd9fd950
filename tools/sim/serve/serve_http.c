/* The HTTP server over libmicrohttpd: requests, answers, and the shapes that faults give them. */
#include "tools/sim/serve/serve_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 256 };

/* A running server. */
struct serve_http {
    struct serve_http_options options;
    struct MHD_Daemon *daemon;
    uint16_t port;
    atomic_bool stopped; /* all waiting ends */
};

/* A request that is being received. */
struct intake {
    struct tide_buf body;
    bool too_large;
};

/* An answer with a shape, while it is sent. */
struct outlet {
    struct serve_http *http;
    int socket;
    struct tide_buf body;
    enum serve_shape shape;
    uint64_t cut;     /* bytes of the answer that are sent */
    uint64_t dripped; /* bytes sent so far, one a second */
};

/* longest sleep without a look at the connection; wait of a request without answer */
enum { SLICE_MS = 20, UNKNOWN_FATE_MS = 3600000 };

/* --- waiting -------------------------------------------------------------------- */

/* Ends all waiting: threads that sleep because of a fault return at once. Any thread may call
 * it. */
static void end_waiting(struct serve_http *http)
{
    atomic_store(&http->stopped, true);
}

/* Returns true if the client has gone or the server is being closed. socket -1: there is no
 * client. */
static bool is_over(const struct serve_http *http, int socket)
{
    struct pollfd fd = { .fd = socket, .events = POLLRDHUP };
    if (socket >= 0 && poll(&fd, 1, 0) > 0 && fd.revents & (POLLRDHUP | POLLHUP | POLLERR))
        return true;
    return atomic_load(&http->stopped);
}

/* Waits. Returns true if the whole time has passed with the client still connected. */
static bool wait_for_client(const struct serve_http *http, int socket, uint64_t ms)
{
    while (ms > 0 && !is_over(http, socket)) {
        uint64_t part = ms < SLICE_MS ? ms : SLICE_MS;
        poll(NULL, 0, (int)part);
        ms -= part;
    }
    return ms == 0;
}

void serve_http_pause(struct serve_http *http, uint64_t ms)
{
    wait_for_client(http, -1, ms);
}

/* Returns the connection's socket, or -1. */
static int socket_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/* --- answers ---------------------------------------------------------------------- */

/* Callback of libmicrohttpd: returns the next bytes of the body, in the shape of the answer. */
static ssize_t read_body(void *self, uint64_t at, char *to, size_t room)
{
    struct outlet *o = self;
    if (o->shape == SERVE_SILENCE) {
        wait_for_client(o->http, o->socket, UNKNOWN_FATE_MS);
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (o->shape == SERVE_DRIP) {
        if (o->dripped++ && !wait_for_client(o->http, o->socket, 1000))
            return MHD_CONTENT_READER_END_WITH_ERROR;
        room = 1;
    }
    if (at >= o->cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (room > o->cut - at)
        room = (size_t)(o->cut - at);
    if (at < o->body.len) {
        room = room < o->body.len - at ? room : o->body.len - (size_t)at;
        memcpy(to, o->body.ptr + at, room);
    } else {
        memset(to, ' ', room);
    }
    return (ssize_t)room;
}

static void free_outlet(void *self)
{
    struct outlet *o = self;
    tide_buf_release(&o->body);
    free(o);
}

/* Makes a response with a shape. The body moves to it. */
static struct MHD_Response *make_shaped_response(struct serve_http *http, int socket,
                                                 struct serve_reply *reply)
{
    struct outlet *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    *o = (struct outlet){ .http = http,
                          .socket = socket,
                          .body = reply->body,
                          .shape = reply->shape,
                          .cut = reply->body.len };
    uint64_t length = reply->body.len;
    if (reply->shape == SERVE_LONG)
        length += reply->number;
    if (reply->shape == SERVE_PADDED)
        length = o->cut = length + reply->number;
    if (reply->shape == SERVE_CUT && reply->number < o->cut)
        o->cut = reply->number;
    tide_buf_init(&reply->body, 1);
    struct MHD_Response *response =
        MHD_create_response_from_callback(length, 32768, read_body, o, free_outlet);
    if (!response)
        free_outlet(o);
    return response;
}

/* Makes the response. The body moves to it. */
static struct MHD_Response *make_response(struct serve_http *http, int socket,
                                          struct serve_reply *reply)
{
    if (reply->shape != SERVE_WHOLE)
        return make_shaped_response(http, socket, reply);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(reply->body.len, reply->body.ptr, MHD_RESPMEM_MUST_FREE);
    if (response)
        tide_buf_init(&reply->body, 1);
    return response;
}

/* Sets the response's headers. X-Simulated marks every answer as simulated. */
static void add_headers(struct MHD_Response *response, const struct serve_reply *reply)
{
    char number[16];
    if (reply->type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
    if (reply->allow)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, reply->allow);
    snprintf(number, sizeof number, "%u", reply->retry_after);
    if (reply->retry_after)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, number);
    if (reply->open) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, "*");
        MHD_add_response_header(response, "Access-Control-Allow-Headers", "*");
        MHD_add_response_header(response, "Access-Control-Allow-Methods", "POST, GET, HEAD");
    }
    MHD_add_response_header(response, "X-Simulated", "tidemark-sim");
}

/* Sends the answer, or none. MHD_NO closes the connection. */
static enum MHD_Result send_reply(struct serve_http *http, struct MHD_Connection *connection,
                                  struct serve_reply *reply)
{
    int socket = socket_of(connection);
    enum MHD_Result sent = MHD_NO;
    if (reply->shape == SERVE_HANG)
        wait_for_client(http, socket, UNKNOWN_FATE_MS);
    if (reply->shape != SERVE_HANG && reply->shape != SERVE_CLOSE) {
        struct MHD_Response *response = make_response(http, socket, reply);
        if (response) {
            add_headers(response, reply);
            sent = MHD_queue_response(connection, reply->status, response);
            MHD_destroy_response(response);
        }
    }
    tide_buf_release(&reply->body);
    return sent;
}

/* --- requests ------------------------------------------------------------------------ */

/* Returns true for an address of this machine. */
static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof in);
        return ntohl(in.sin_addr.s_addr) >> 24 == 127;
    }
    struct sockaddr_in6 in6;
    memcpy(&in6, address, sizeof in6);
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

/* Returns true if the client is on this machine. */
static bool from_loopback(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info && is_loopback(info->client_addr);
}

/* Appends a part of the body. A body that is too large is dropped. */
static void append_data(struct serve_http *http, struct intake *intake, const char *data,
                        size_t len)
{
    intake->too_large |= intake->body.len + len > http->options.body_max;
    if (!intake->too_large)
        tide_buf_put(&intake->body, data, len);
    intake->too_large |= intake->body.failed;
    if (intake->too_large)
        tide_buf_reset(&intake->body);
}

/* Returns a header of the request, or NULL. */
static const char *find_header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Callback of libmicrohttpd: called once with the headers, then with each part of the body, then
 * without data. An answer may be queued only in the last call, otherwise the connection is not
 * reused. */
/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd dictates the parameters */
static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **memory)
{
    (void)version;
    struct serve_http *http = self;
    struct intake *intake = *memory;
    if (!intake) {
        *memory = intake = calloc(1, sizeof *intake);
        if (intake)
            tide_buf_init(&intake->body, http->options.body_max);
        return intake ? MHD_YES : MHD_NO;
    }
    if (*size) {
        append_data(http, intake, data, *size);
        *size = 0;
        return MHD_YES;
    }
    const struct serve_request request = {
        .method = method,
        .path = url,
        .addr = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "addr"),
        .content_type = find_header(connection, MHD_HTTP_HEADER_CONTENT_TYPE),
        .origin = find_header(connection, MHD_HTTP_HEADER_ORIGIN),
        .body = tide_buf_view(&intake->body),
        .too_large = intake->too_large,
        .loopback = from_loopback(connection),
    };
    struct serve_reply reply = { .status = MHD_HTTP_OK };
    tide_buf_init(&reply.body, 1);
    http->options.handle(http->options.self, &request, &reply);
    return send_reply(http, connection, &reply);
}

/* Callback of libmicrohttpd: frees a request, whatever became of it. */
static void on_end(void *self, struct MHD_Connection *connection, void **memory,
                   enum MHD_RequestTerminationCode code)
{
    (void)self;
    (void)connection;
    (void)code;
    struct intake *intake = *memory;
    if (!intake)
        return;
    tide_buf_release(&intake->body);
    free(intake);
    *memory = NULL;
}

/* --- opening ---------------------------------------------------------------------------- */

/* Parses the address to listen on. Returns false if it is none. */
static bool read_address(const struct serve_http_options *o, struct sockaddr_storage *out)
{
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(o->port) };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(o->port) };
    const char *host = strcmp(o->host, "localhost") == 0 ? "127.0.0.1" : o->host;
    *out = (struct sockaddr_storage){ 0 };
    if (inet_pton(AF_INET, host, &in.sin_addr) == 1)
        memcpy(out, &in, sizeof in);
    else if (inet_pton(AF_INET6, host, &in6.sin6_addr) == 1)
        memcpy(out, &in6, sizeof in6);
    return out->ss_family != 0;
}

/* Starts the threads. libmicrohttpd's epoll mode may stall; a thread for each connection never uses
 * it. */
static struct MHD_Daemon *start_daemon(struct serve_http *http,
                                       const struct sockaddr_storage *address)
{
    unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL;
    if (address->ss_family == AF_INET6)
        flags |= MHD_USE_IPv6;
    return MHD_start_daemon(flags, http->options.port, NULL, NULL, on_request, http,
                            MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)address,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                            MHD_OPTION_CONNECTION_TIMEOUT, 120u, MHD_OPTION_NOTIFY_COMPLETED,
                            on_end, NULL, MHD_OPTION_END);
}

tide_status serve_http_open(struct serve_http **out, const struct serve_http_options *options,
                            struct tide_err *err)
{
    struct sockaddr_storage address;
    *out = NULL;
    if (!read_address(options, &address))
        return tide_fail(err, TIDE_E_USAGE, "%s is no address to listen on", options->host);
    if (!options->public && !is_loopback((const struct sockaddr *)&address))
        return tide_fail(err, TIDE_E_USAGE,
                         "%s is beyond this machine: a simulated network is opened to others with "
                         "--public alone",
                         options->host);
    struct serve_http *http = calloc(1, sizeof *http);
    if (!http)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the server");
    http->options = *options;
    errno = 0;
    http->daemon = start_daemon(http, &address);
    const union MHD_DaemonInfo *info =
        http->daemon ? MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info) {
        serve_http_close(http);
        return tide_fail(err, TIDE_E_IO, "cannot listen on %s port %u: %s", options->host,
                         options->port, strerror(errno));
    }
    http->port = info->port;
    *out = http;
    return TIDE_OK;
}

uint16_t serve_http_port(const struct serve_http *http)
{
    return http->port;
}

void serve_http_close(struct serve_http *http)
{
    if (!http)
        return;
    end_waiting(http);
    if (http->daemon)
        MHD_stop_daemon(http->daemon);
    free(http);
}
