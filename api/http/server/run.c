/* Runs the handler of a complete request, on the worker or on an executor's thread. Counts and
 * logs the request when its answer is out. */
#include "api/http/server/server_impl.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

enum { SAMPLE = 1000 }; /* the access log "sampled" has one of this many requests */

/* --- running ---------------------------------------------------------------------------- */

/* Runs on the executor's thread when the job is done. Afterwards the worker owns the connection. */
static void job_done(struct tide_job *job)
{
    struct server_conn *conn =
        (struct server_conn *)(void *)((char *)job - offsetof(struct server_conn, job));
    if (server_complete(conn))
        server_compress(conn);
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
        .deadline_ms = worker->now_ms + server_request_ms(worker),
        .wake = &conn->wake,
        .client = tide_slice_str(conn->head.client),
    };
}

static void reject_client_share(struct server_conn *conn)
{
    server_add(&conn->worker->totals.limited, 1);
    tide_reply_problem(&conn->reply, 429, "too_many_queries_of_client",
                       "too many queries of this client run or wait; retry in a second");
    conn->reply.retry_after_s = 1;
}

/* Hands the request to its executor, if it has one. From TIDE_JOB_QUEUED on, the executor's
 * thread uses request, reply, variant and job until job_done. */
static void submit_job(struct server_conn *conn)
{
    const struct tide_executor *executor = server_executor_of(conn);
    if (!executor)
        return;
    conn->job = (struct tide_job){ .request = &conn->request,
                                   .reply = &conn->reply,
                                   .context = context_of(conn),
                                   .client = conn->head.client_key,
                                   .done = job_done };
    switch (executor->submit(executor->self, &conn->job)) {
    case TIDE_JOB_QUEUED:
        server_set_state(conn, STATE_WAIT);
        server_add(&conn->worker->totals.waiting, 1);
        return;
    case TIDE_JOB_QUEUE_FULL:
        server_overloaded(conn, "too many requests wait for the database; retry in a second");
        break;
    case TIDE_JOB_CLIENT_FULL:
        reject_client_share(conn);
        break;
    case TIDE_JOB_ANSWERED:
        break;
    }
    server_set_state(conn, STATE_ANSWER);
}

/* Answers a rejected request, which only waited for the rest of its body. */
static void answer_rejected(struct server_conn *conn)
{
    if (conn->refused)
        server_set_state(conn, STATE_ANSWER);
}

/* Rejects a body that is not text, unless the route accepts any bytes. */
static void check_text(struct server_conn *conn)
{
    tide_slice body = tide_buf_view(&conn->body);
    if (body.len == 0 || conn->request.route->class->any_bytes ||
        (tide_utf8_valid(body) && !memchr(body.ptr, 0, body.len)))
        return;
    tide_reply_problem(&conn->reply, 400, "malformed_body",
                       "the body is not UTF-8 text, or contains a NUL");
    server_add(&conn->worker->totals.malformed, 1);
    server_set_state(conn, STATE_ANSWER);
}

/* Gives the handler its view of head and body. */
static void fill_request(struct server_conn *conn)
{
    conn->request.body = tide_buf_view(&conn->body);
    conn->request.head = &conn->head.fields;
    conn->request.last_event_id = conn->head.fields.last_event_id;
}

static void run_handler(struct server_conn *conn)
{
    struct tide_handler_context context = context_of(conn);
    conn->request.route->handle(&context, &conn->request, &conn->reply);
    server_set_state(conn, server_complete(conn) ? STATE_ENCODE : STATE_ANSWER);
}

bool server_request_run(struct server_conn *conn)
{
    /* The steps in their order. The one that leaves STATE_BODY is the last. */
    static void (*const steps[])(struct server_conn *) = {
        answer_rejected, check_text, fill_request, submit_job, run_handler,
    };
    assert(conn->state == STATE_BODY);
    bool waits = !conn->refused && server_executor_of(conn);
    if (!conn->early && waits && server_guard_once_more(conn))
        return false;
    for (size_t i = 0; i < TIDE_COUNT(steps) && conn->state == STATE_BODY; i++)
        steps[i](conn);
    assert(conn->state != STATE_BODY);
    return true;
}

/* --- the end ---------------------------------------------------------------------------- */

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
    uint64_t us = tide_monotonic_us() - conn->head.start_us;
    server_stream_end(conn);
    server_hold_end(conn);
    if (!whole)
        server_add(&conn->worker->totals.aborted, 1);
    if (conn->state == STATE_WRITE || conn->state == STATE_STREAM) {
        count_request(conn, us);
        log_request(conn, us);
    }
    conn->unended = conn->early || conn->state == STATE_HEAD;
    tide_reply_reset(&conn->reply);
    shrink_buffer(&conn->reply.body);
    shrink_buffer(&conn->reply.lines);
    shrink_buffer(&conn->body);
    conn->request.route = NULL;
    conn->early = conn->guard.asked_again = conn->refused = false;
    conn->variant = (struct server_variant){ 0 };
    conn->head.target_len = 0;
    server_set_state(conn, STATE_IDLE);
}
