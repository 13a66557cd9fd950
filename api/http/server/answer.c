/* From a complete reply to the library's response: header lines, CORS, bodies, files, streams, and
 * the memory that answers hold. */
#include "api/http/server/server_impl.h"
#include "tidemark/text.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    FILE_BYTES = 1 << 16, /* bytes that one read of a file returns at most */
    STREAM_BYTES = 4096   /* bytes that one read of a stream returns at most */
};

static const char json_type[] = "application/json; charset=utf-8";
/* The Content-Security-Policy of answers that are not pages: nothing may be loaded. */
static const char closed_policy[] = "default-src 'none'; frame-ancestors 'none'";

/* --- the reply's bytes ------------------------------------------------------------------ */

/* Adds the request's id to a problem, as the last member of its object. */
static void put_request_id(struct server_conn *conn)
{
    struct tide_buf *body = &conn->reply.body;
    assert(body->len > 2 && body->ptr[body->len - 1] == '}');
    body->len--;
    tide_buf_putf(body, ",\"requestId\":\"%s\"}", conn->request.id);
}

static bool is_problem(const struct tide_reply *reply)
{
    return reply->content_type && strncmp(reply->content_type, "application/problem+json", 24) == 0;
}

static tide_slice reply_bytes(const struct server_conn *conn)
{
    const struct tide_reply *reply = &conn->reply;
    if (!reply->fixed.ptr)
        return tide_buf_view(&reply->body);
    return conn->variant.encoding ? reply->encoded[conn->variant.encoding] : reply->fixed;
}

/* --- header lines ----------------------------------------------------------------------- */

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
    if (*value)
        MHD_add_response_header(response, name, value);
}

static void add_number(struct MHD_Response *response, const char *name, uint64_t number)
{
    char text[24];
    text[tide_u64_text(text, number)] = 0;
    add_header(response, name, text);
}

/* Adds the headers that say as of which ledger the answer is. */
static void add_ledger(struct MHD_Response *response, const struct server_conn *conn)
{
    const struct tide_answer_at *at = &conn->reply.at;
    char closed[TIDE_RFC3339_BYTES];
    if (!at->known)
        return;
    tide_time_rfc3339_ms(closed, (int64_t)at->closed_ms);
    add_number(response, "Ledger-Sequence", at->ledger);
    add_header(response, "Ledger-Closed-At", closed);
    add_number(response, "Data-Age-Ms", at->age_ms);
    if (at->proven)
        add_number(response, "Proven-Through", at->proven);
    if (at->history_from)
        add_number(response, "History-From", at->history_from);
}

/* Adds a header of the rate limit: the class, and two numbers behind their names. Each answer has
 * two of them, so they are written without a format. */
static void add_limit(struct MHD_Response *response, const struct server_conn *conn,
                      const char *name, const char *names, const uint32_t numbers[2])
{
    char text[64], *at = text;
    at = stpcpy(at, conn->head.class == TIDE_RATE_LOOKUP ? "\"lookup\"" : "\"query\"");
    for (int i = 0; i < 2; i++) {
        *at++ = ';';
        *at++ = names[i];
        *at++ = '=';
        at += tide_u64_text(at, numbers[i]);
    }
    *at = 0;
    MHD_add_response_header(response, name, text);
}

static void add_rate(struct MHD_Response *response, const struct server_conn *conn)
{
    const struct tide_rate_answer *rate = &conn->head.rate;
    if (rate->quota == 0)
        return;
    add_limit(response, conn, "RateLimit-Policy", "qw",
              (const uint32_t[]){ rate->quota, rate->window_s });
    add_limit(response, conn, "RateLimit", "rt",
              (const uint32_t[]){ rate->remaining, rate->reset_s });
}

enum { ORIGIN_MAX = 512 };

static const char exposed[] =
    "RateLimit, RateLimit-Policy, Retry-After, ETag, Link, Ledger-Sequence, "
    "Ledger-Closed-At, Proven-Through, History-From, Data-Age-Ms, Price-Age-Seconds, "
    "Twap-Age-Seconds, Network, Request-Id";

/* Returns the class of the request's route, or of a route with the same path, or NULL. */
static const struct tide_route_class *class_of(const struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route ? conn->request.route : conn->head.near;
    return route ? route->class : NULL;
}

/* Header lines that a page may send: any. Those that the server does not read change nothing, and a
 * page with tracing adds its own (traceparent, baggage, sentry-trace…). "*" means all but
 * Authorization, and no cookies: the API has none. The names before it are for browsers that do not
 * know "*". */
static const char allowed[] =
    "Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, X-API-Key, X-Request-Id, "
    "Request-Id, Cache-Control, traceparent, tracestate, baggage, sentry-trace, *";

static void add_cors(struct MHD_Response *response, const struct server_conn *conn,
                     const char *origin)
{
    add_header(response, "Access-Control-Allow-Origin", origin);
    add_header(response, "Access-Control-Expose-Headers", exposed);
    if (conn->reply.status != 204) /* not a preflight */
        return;
    add_header(response, "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
    add_header(response, "Access-Control-Allow-Headers", allowed);
    add_header(response, "Access-Control-Max-Age", "600");
}

/* Adds the CORS headers if the class's executor knows the page's origin. */
static void add_cors_if_known(struct MHD_Response *response, const struct server_conn *conn,
                              const struct tide_route_class *class)
{
    const struct tide_executor *executor = server_executor(conn, class->executor);
    tide_slice from = conn->head.fields.origin;
    char origin[ORIGIN_MAX];
    add_header(response, "Vary", "Origin");
    if (!executor || !executor->knows_origin || from.len == 0 || from.len >= sizeof origin ||
        !executor->knows_origin(executor->self, from))
        return;
    memcpy(origin, from.ptr, from.len);
    origin[from.len] = 0;
    add_cors(response, conn, origin);
}

/* Adds the CORS headers, which decide which pages may read the answer. */
static void add_origin(struct MHD_Response *response, const struct server_conn *conn)
{
    const struct tide_route_class *class = class_of(conn);
    enum tide_origins origins = class ? class->origins : TIDE_ORIGINS_ANY;
    if (origins == TIDE_ORIGINS_ANY)
        add_cors(response, conn, "*");
    else if (origins == TIDE_ORIGINS_KNOWN)
        add_cors_if_known(response, conn, class);
}

/* Adds the server's value of a header, unless the handler set its own. */
static void add_default(struct MHD_Response *response, const struct server_conn *conn,
                        const char *name, const char *value)
{
    if (!tide_reply_header_of(&conn->reply, name))
        add_header(response, name, value);
}

/* Adds the handler's header lines: pairs of NUL-terminated name and value. */
static void add_lines(struct MHD_Response *response, const struct tide_buf *lines)
{
    if (lines->len == 0)
        return;
    const char *name = (const char *)lines->ptr, *end = name + lines->len;
    while (name < end) {
        const char *value = name + strlen(name) + 1;
        add_header(response, name, value);
        name = value + strlen(value) + 1;
    }
}

static bool add_head(struct MHD_Response *response, struct server_conn *conn)
{
    const struct tide_reply *reply = &conn->reply;
    const char *policy = reply->security_policy;
    add_header(response, "Date", conn->worker->date);
    if (reply->status != 204 && reply->status != 303) /* 204 and 303 have no body */
        add_header(response, "Content-Type", reply->content_type ? reply->content_type : json_type);
    add_header(response, "Cache-Control", server_cache_control(conn));
    if (conn->variant.varies)
        add_header(response, "Vary", "Accept-Encoding");
    if (server_has_form(conn))
        add_header(response, "Vary", "Accept");
    if (conn->variant.encoding && reply->status == 200)
        add_header(response, "Content-Encoding", tide_encoding_name(conn->variant.encoding));
    add_header(response, "ETag", conn->variant.tag);
    add_origin(response, conn);
    add_default(response, conn, "Content-Security-Policy", policy ? policy : closed_policy);
    add_header(response, "X-Content-Type-Options", "nosniff");
    add_default(response, conn, "X-Frame-Options", "DENY");
    add_header(response, "Referrer-Policy", "no-referrer");
    add_lines(response, &reply->lines);
    add_header(response, "Network", conn->worker->network);
    add_header(response, "Request-Id", conn->request.id);
    add_ledger(response, conn);
    add_rate(response, conn);
    add_header(response, "Allow", reply->allow);
    if (reply->retry_after_s)
        add_number(response, "Retry-After", reply->retry_after_s);
    return !conn->close || MHD_add_response_header(response, "Connection", "close") == MHD_YES;
}

/* --- streams: the library reads, and sleeps while there is nothing ---------------------- */

/* Reads from the stream when the socket accepts more: all earlier bytes are sent. */
static ssize_t read_stream(void *self, uint64_t at, char *to, size_t max)
{
    (void)at;
    struct server_conn *conn = self;
    const struct tide_stream_out *stream = &conn->reply.stream;
    if (conn->cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    server_moved(conn->worker);
    ptrdiff_t got = stream->read(stream->self, to, max);
    assert(got <= (ptrdiff_t)max);
    if (got < 0)
        return MHD_CONTENT_READER_END_OF_STREAM;
    server_set_state(conn, STATE_STREAM);
    if (got == 0)
        server_suspend(conn);
    server_add(&conn->worker->totals.bytes, got);
    return got;
}

void server_stream_end(struct server_conn *conn)
{
    struct tide_stream_out *stream = &conn->reply.stream;
    if (!stream->read)
        return;
    stream->close(stream->self);
    *stream = (struct tide_stream_out){ 0 };
    server_unlist(conn); /* a wake-up of this stream must not resume the next request */
    server_add(&conn->worker->totals.streaming, -1);
}

static struct MHD_Response *stream_response(struct server_conn *conn)
{
    server_add(&conn->worker->totals.streams, 1);
    server_add(&conn->worker->totals.streaming, 1);
    /* For HEAD and a body without a length, 0.9.75 would send the end of chunks */
    if (conn->head.bodiless) {
        server_stream_end(conn);
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    }
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BYTES, read_stream, conn,
                                             NULL);
}

/* --- response and memory ---------------------------------------------------------------- */

static ssize_t read_file(void *self, uint64_t at, char *to, size_t max)
{
    ssize_t got = pread(*(int *)self, to, max, (off_t)at);
    /* An end or an error: the file is shorter than the announced length. */
    return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void close_file(void *self)
{
    close(*(int *)self);
    free(self);
}

/* Makes a response of a file. On success the response owns the descriptor. Returns NULL without
 * memory. */
static struct MHD_Response *file_response(struct tide_reply_file *file)
{
    int *fd = malloc(sizeof *fd);
    struct MHD_Response *response =
        fd ? MHD_create_response_from_callback(file->size, FILE_BYTES, read_file, fd, close_file)
           : NULL;
    if (!response) {
        free(fd);
        return NULL;
    }
    *fd = file->fd;
    *file = (struct tide_reply_file){ 0 };
    return response;
}

static struct MHD_Response *make_response(struct server_conn *conn)
{
    struct tide_reply *reply = &conn->reply;
    if (reply->stream.read)
        return stream_response(conn);
    if (reply->file.size)
        return file_response(&reply->file);
    tide_slice body = reply_bytes(conn);
    /* The library never writes to it, but its type lacks const. */
    return MHD_create_response_from_buffer(body.len, (void *)(uintptr_t)body.ptr,
                                           MHD_RESPMEM_PERSISTENT);
}

static bool hold_answer(struct server_conn *conn)
{
    const struct tide_reply *reply = &conn->reply;
    return reply->body.cap <= SERVER_KEEP_BYTES || reply->stream.read ||
           server_hold(conn, TIDE_CONN_LIMIT_ANSWER, reply->body.cap);
}

static void reject_overload(struct server_conn *conn)
{
    tide_buf_release(&conn->reply.body);
    server_overloaded(conn, "too many answers wait for slow clients; retry in a second");
    conn->variant.tag[0] = 0;
    conn->variant.encoding = TIDE_ENCODING_NONE;
}

bool server_answer(struct server_conn *conn)
{
    struct tide_reply *reply = &conn->reply;
    /* The connection can no longer be suspended, so a body that is not compressed stays so. */
    if (!conn->variant.completed && server_complete(conn))
        conn->variant.encoding = TIDE_ENCODING_NONE;
    if (!hold_answer(conn))
        reject_overload(conn);
    if (is_problem(reply))
        put_request_id(conn);
    struct MHD_Response *response = make_response(conn);
    if (!response)
        return false;
    bool queued = add_head(response, conn) &&
                  MHD_queue_response(conn->mhd, reply->status, response) == MHD_YES;
    MHD_destroy_response(response);
    server_set_state(conn, reply->stream.read ? STATE_STREAM : STATE_WRITE);
    return queued;
}
