/* From a complete reply to the library's response: header lines, bodies, files, and the memory
 * that answers hold. */
#include "api/http/server/answer.h"
#include "api/http/server/server_impl.h"
#include "tidemark/text.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <unistd.h>

static const char json_type[] = "application/json; charset=utf-8";
/* The Content-Security-Policy of answers that are not pages: nothing may be loaded. */
static const char closed_policy[] = "default-src 'none'; frame-ancestors 'none'";

/* --- the reply's bytes ----------------------------------------------------------------------- */

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

/* --- header lines ------------------------------------------------------------------------ */

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

static const char *class_name(const struct server_conn *conn)
{
    return conn->head.class == TIDE_RATE_LOOKUP ? "lookup" : "query";
}

/* Writes the value of RateLimit, or an empty text without a limit. */
static void write_rate(char text[64], const struct server_conn *conn)
{
    char *at = text;
    *at = 0;
    if (conn->head.rate.quota == 0)
        return;
    *at++ = '"';
    at = stpcpy(at, class_name(conn));
    at = stpcpy(at, "\";r=");
    at += tide_u64_text(at, conn->head.rate.remaining);
    at = stpcpy(at, ";t=");
    at += tide_u64_text(at, conn->head.rate.reset_s);
    *at = 0;
}

/* Returns the value of RateLimit-Policy. The worker keeps one text for each class, and rewrites
 * it if the quota differs. */
static const char *policy_text(const struct server_conn *conn)
{
    struct server_worker *worker = conn->worker;
    char *text = worker->policy[conn->head.class];
    /* Otherwise a key's own quota, whose text is not reused */
    bool usual = conn->head.rate.window_s == TIDE_RATE_WINDOW_S;
    if (!usual || worker->policy_quota[conn->head.class] != conn->head.rate.quota)
        snprintf(text, sizeof worker->policy[0], "\"%s\";q=%u;w=%u", class_name(conn),
                 conn->head.rate.quota, conn->head.rate.window_s);
    worker->policy_quota[conn->head.class] = usual ? conn->head.rate.quota : 0;
    return text;
}

static void add_rate(struct MHD_Response *response, const struct server_conn *conn)
{
    char text[64];
    if (conn->head.rate.quota == 0)
        return;
    add_header(response, "RateLimit-Policy", policy_text(conn));
    write_rate(text, conn);
    add_header(response, "RateLimit", text);
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
    server_origin_add(response, conn);
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
    return !conn->ending.close ||
           MHD_add_response_header(response, "Connection", "close") == MHD_YES;
}

/* --- response and memory
 * ------------------------------------------------------------------------- */

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
        fd ? MHD_create_response_from_callback(file->size, SERVER_FILE_BYTES, read_file, fd,
                                               close_file)
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
        return server_stream_response(conn);
    if (reply->file.size)
        return file_response(&reply->file);
    tide_slice body = reply_bytes(conn);
    /* The library never writes to it, but its type lacks const. */
    return MHD_create_response_from_buffer(body.len, (void *)(uintptr_t)body.ptr,
                                           MHD_RESPMEM_PERSISTENT);
}

/* Bytes of large bodies and answers are counted until the client has received the answer, with a
 * limit for all and a share for each address. The number of connections bounds the small ones. */
bool server_hold(struct server_conn *conn, enum tide_conn_limit_bytes what, size_t bytes)
{
    struct tide_peer key = tide_peer_key(&conn->peer);
    if (!tide_conn_limit_hold(conn->worker->server->limit, &key, what, bytes))
        return false;
    conn->held[what] += bytes;
    return true;
}

static bool hold_answer(struct server_conn *conn)
{
    const struct tide_reply *reply = &conn->reply;
    return reply->body.cap <= SERVER_KEEP_BYTES || reply->stream.read ||
           server_hold(conn, TIDE_CONN_LIMIT_ANSWER, reply->body.cap);
}

void server_hold_end(struct server_conn *conn)
{
    struct tide_peer key = tide_peer_key(&conn->peer);
    for (enum tide_conn_limit_bytes what = TIDE_CONN_LIMIT_BODY; what <= TIDE_CONN_LIMIT_ANSWER;
         what++) {
        if (conn->held[what])
            tide_conn_limit_drop(conn->worker->server->limit, &key, what, conn->held[what]);
        conn->held[what] = 0;
    }
}

static void reject_overload(struct server_conn *conn)
{
    tide_buf_release(&conn->reply.body);
    tide_reply_problem(&conn->reply, 503, "overloaded",
                       "too many answers wait for slow clients; retry in a second");
    conn->reply.retry_after_s = 1;
    conn->variant.tag[0] = 0;
    conn->variant.encoding = TIDE_ENCODING_NONE;
    server_add(&conn->worker->totals.shed, 1);
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
