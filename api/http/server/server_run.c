/* Runs the handler of a complete request, on the worker or on an executor's thread. Counts and
 * logs the request when its answer is out. */
#include "api/http/server/server_impl.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <time.h>

enum { SAMPLE = 1000 }; /* the access log "sampled" has one request of so many */

/* --- running ----------------------------------------------------------------------------- */

/* Runs on the executor's thread when the job is done. Afterwards the worker owns the connection. */
static void job_done(struct tide_job *job)
{
    struct server_conn *conn =
        (struct server_conn *)(void *)((char *)job - offsetof(struct server_conn, job));
    server_complete(conn, true);
    tide_server_wake(&conn->wake);
}

/* Returns the context of a handler or job. The deadline limits how long a job may wait. */
static struct tide_handler_context context_of(struct server_conn *conn)
{
    struct server_worker *worker = conn->worker;
    return (struct tide_handler_context){
        .api = worker->server->options.api,
        .thread = worker->state,
        .now_ms = worker->wall_ms,
        .host_ms = worker->now_ms,
        .deadline_ms = worker->now_ms + worker->server->options.config->api_request_ms,
        .wake = &conn->wake,
        .client = tide_slice_str(conn->client),
    };
}

static void make_job(struct server_conn *conn)
{
    conn->job = (struct tide_job){ .request = &conn->request,
                                   .reply = &conn->reply,
                                   .context = context_of(conn),
                                   .client = conn->client_key,
                                   .done = job_done };
    server_step(conn, STEP_WAIT);
}

static void reject_overload(struct server_conn *conn)
{
    server_add(&conn->worker->totals.shed, 1);
    tide_reply_problem(&conn->reply, 503, "overloaded",
                       "too many requests wait for the database; retry in a second");
    conn->reply.retry_after_s = 1;
    server_step(conn, STEP_ANSWER);
}

static void reject_client_share(struct server_conn *conn)
{
    server_add(&conn->worker->totals.limited, 1);
    tide_reply_problem(&conn->reply, 429, "too_many_queries_of_client",
                       "too many queries of this client run or wait; retry in a second");
    conn->reply.retry_after_s = 1;
    server_step(conn, STEP_ANSWER);
}

/* Hands the request to the executor. From TIDE_JOB_QUEUED on, the executor's thread uses conn
 * until job_done. */
static void submit_job(struct server_conn *conn, const struct tide_executor *executor)
{
    make_job(conn);
    switch (executor->submit(executor->self, &conn->job)) {
    case TIDE_JOB_ANSWERED:
        server_step(conn, STEP_ANSWER);
        break;
    case TIDE_JOB_QUEUED:
        server_add(&conn->worker->totals.waiting, 1);
        break;
    case TIDE_JOB_QUEUE_FULL:
        reject_overload(conn);
        break;
    case TIDE_JOB_CLIENT_FULL:
        reject_client_share(conn);
        break;
    }
}

const struct tide_executor *server_executor_of(const struct server_conn *conn)
{
    const struct tide_route_class *class = conn->request.route->class;
    int index = class->executor;
    if (class->past_executor != index) {
        const struct tide_param_value *ledger =
            tide_request_param(&conn->request, TIDE_PARAM_ledger);
        index = ledger && ledger->given ? class->past_executor : index;
    }
    return server_executor(conn, index);
}

bool server_request_waits(const struct server_conn *conn)
{
    return !conn->refused && server_executor_of(conn);
}

/* A rejected request only waited for the rest of its body. */
void server_request_run(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    tide_slice body = tide_buf_view(&conn->body);
    if (conn->refused) {
        server_step(conn, STEP_ANSWER);
        return;
    }
    if (body.len && !route->class->any_bytes &&
        (!tide_utf8_valid(body) || memchr(body.ptr, 0, body.len))) {
        tide_reply_problem(&conn->reply, 400, "malformed_body",
                           "the body is not UTF-8 text, or contains a NUL");
        server_add(&conn->worker->totals.malformed, 1);
        server_step(conn, STEP_ANSWER);
        return;
    }
    conn->request.body = body;
    conn->request.head = &conn->head;
    conn->request.last_event_id = conn->head.last_event_id;
    const struct tide_executor *executor = server_executor_of(conn);
    if (executor) {
        submit_job(conn, executor);
        return;
    }
    struct tide_handler_context context = context_of(conn);
    route->handle(&context, &conn->request, &conn->reply);
    server_step(conn, STEP_ANSWER);
    server_complete(conn, false);
}

/* --- the end ----------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Logs the request as api_access_log demands. Failures are always logged, except with "none". */
static void log_request(struct server_conn *conn, uint64_t us)
{
    enum { NONE, ERRORS, SAMPLED, ALL };
    const struct tide_reply *reply = &conn->reply;
    uint32_t wanted = conn->worker->server->options.config->api_access_log;
    bool failed = reply->status >= 500;
    if (wanted == NONE || (wanted == ERRORS && !failed))
        return;
    if (wanted == SAMPLED && !failed && ++conn->worker->sampled % SAMPLE != 1)
        return;
    char client[TIDE_PEER_TEXT];
    tide_log(failed ? TIDE_WARN : TIDE_INFO, "request.done",
             "route=%s status=%u us=%" PRIu64 " bytes=%zu client=%s id=%s",
             conn->request.route ? conn->request.route->id : "none", reply->status, us,
             reply->body.len + reply->fixed.len, tide_peer_text(client, &conn->peer),
             conn->request.id);
}

struct server_counters *server_counters_of(struct server_conn *conn)
{
    const struct tide_server *server = conn->worker->server;
    const struct tide_route *route = conn->request.route;
    size_t index =
        route ? (size_t)(route - server->options.routes->routes) : server->options.routes->count;
    assert(index <= server->options.routes->count);
    return &conn->worker->routes[index];
}

/* Counts status and latency. Streams have no latency: they last as long as the client stays. */
static void count_request(struct server_conn *conn, uint64_t us)
{
    struct server_worker *worker = conn->worker;
    struct server_counters *counters = server_counters_of(conn);
    server_add(&counters->status[tide_metric_status_of(conn->reply.status)], 1);
    if (conn->request.route && conn->request.route->class->stream)
        return;
    server_add(&counters->bucket[tide_metric_bucket_of(us)], 1);
    server_add(&counters->us, (int64_t)us);
    server_add(&worker->totals.bytes, (int64_t)(conn->reply.body.len + conn->reply.fixed.len));
}

/* Empties a buffer, and frees it if it is larger than a connection keeps. */
static void shrink_buffer(struct tide_buf *buf)
{
    if (buf->cap > SERVER_KEEP_BYTES)
        tide_buf_release(buf);
    tide_buf_reset(buf);
}

void server_request_end(struct server_conn *conn, bool whole)
{
    uint64_t us = (now_ns() - conn->start_ns) / 1000;
    server_stream_end(conn);
    server_hold_end(conn);
    if (!whole)
        server_add(&conn->worker->totals.aborted, 1);
    if (conn->step == STEP_WRITE || conn->step == STEP_STREAM) {
        count_request(conn, us);
        log_request(conn, us);
    }
    conn->unended = conn->early || conn->step == STEP_HEAD;
    tide_reply_reset(&conn->reply);
    shrink_buffer(&conn->reply.body);
    shrink_buffer(&conn->reply.lines);
    shrink_buffer(&conn->body);
    conn->request.route = NULL;
    conn->early = conn->asked_again = conn->refused = conn->completed = conn->varies = false;
    conn->tag[0] = 0;
    conn->encoding = TIDE_ENCODING_NONE;
    conn->target_len = 0;
    server_step(conn, STEP_IDLE);
}
