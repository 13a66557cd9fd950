#include "api/http/param.h"
#include "api/http/server/server_impl.h"
#include "api/kyc/kyc.h"
#include "api/kyc/pages/page.h"
#include "tidemark/hash.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <strings.h>
#include <time.h>

enum { SQL_COST_LEAST = 5, SAMPLE = 1000 };

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- who asks ---------------------------------------------------------------------------- */

static bool is_id(tide_slice text)
{
    if (text.len == 0 || text.len >= TIDE_REQUEST_ID_BYTES)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i], lower = c | 0x20;
        if (!((lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
            return false;
    }
    /* Nobody gets a secret seed into a log by calling it an id. */
    return text.len < 32 || text.ptr[0] != 'S';
}

static void name_request(struct server_conn *conn)
{
    static const char digits[] = "0123456789abcdef";
    char *id = conn->request.id;
    tide_slice theirs = conn->head.request_id;
    if (is_id(theirs)) {
        memcpy(id, theirs.ptr, theirs.len);
        id[theirs.len] = 0;
        return;
    }
    uint64_t ours = conn->worker->ids;
    conn->worker->ids += 0x9e3779b97f4a7c15u; /* odd: no value comes twice */
    for (int i = 0; i < 16; i++)
        id[i] = digits[ours >> (60 - 4 * i) & 15];
    id[16] = 0;
}

/* Compares all keys whatever the first that fits, and digests of a fixed length. */
static bool key_of(const struct tide_server *server, tide_slice key, struct tide_peer *out)
{
    uint8_t hash[TIDE_HASH_BYTES];
    bool known = false;
    if (!key.ptr || server->key_count == 0)
        return false;
    tide_sha256(hash, key);
    for (uint32_t i = 0; i < server->key_count; i++) {
        uint8_t differ = 0;
        for (size_t at = 0; at < sizeof server->keys[i].hash; at++)
            differ |= server->keys[i].hash[at] ^ hash[at];
        known |= differ == 0;
    }
    if (known)
        memcpy(out->ip, hash, sizeof out->ip);
    return known;
}

static bool within_rate(struct server_conn *conn, uint32_t cost)
{
    struct tide_server *server = conn->worker->server;
    struct tide_rate_client who = { .peer = conn->peer, .factor = 1 };
    if (TIDE_UNLIKELY(server->proxies.count && conn->head.forwarded_for.ptr))
        who.peer = tide_peer_behind(&server->proxies, &conn->peer, conn->head.forwarded_for);
    who.peer = tide_peer_key(&who.peer);
    conn->request.client = who.peer;
    if (conn->request.route && conn->request.route->kind == TIDE_ROUTE_STREAM)
        tide_peer_text(conn->client, &who.peer);
    if (TIDE_UNLIKELY(conn->head.api_key.ptr) && key_of(server, conn->head.api_key, &who.peer)) {
        who.keyed = true;
        who.factor = server->api->config->api_key_factor;
    }
    conn->client_key = who.peer;
    conn->rate = tide_rate_take(server->rate, &who, conn->class, cost, conn->worker->now_ms);
    return !conn->rate.refused;
}

/* --- the head ---------------------------------------------------------------------------- */

/* The answer is known before the body is read. A small body is read and dropped: to close before
 * the client has sent it would take the answer from it as well. After a large one the connection
 * ends. */
static void answer_early(struct server_conn *conn)
{
    if (!server_has_body(conn)) {
        server_step(conn, STEP_ANSWER);
        return;
    }
    conn->refused = true;
    if (!conn->head.expects && conn->head.length <= SERVER_DROP_BYTES) {
        server_step(conn, STEP_BODY);
        return;
    }
    conn->early = conn->close = true;
    server_step(conn, STEP_ANSWER);
}

static struct tide_target target_of(const struct server_conn *conn, tide_slice method)
{
    tide_slice target = { (const uint8_t *)conn->target, conn->target_len };
    const uint8_t *mark = memchr(target.ptr, '?', target.len);
    size_t path = mark ? (size_t)(mark - target.ptr) : target.len;
    return (struct tide_target){
        .method = method,
        .path = { target.ptr, path },
        .query = mark ? (tide_slice){ mark + 1, target.len - path - 1 } : (tide_slice){ 0 },
    };
}

/* Told and counted, but never refused for it: a preflight names no key, and what has no form is
 * answered at once and cut. */
static void tell_rate(struct server_conn *conn)
{
    conn->class = TIDE_RATE_LOOKUP;
    (void)within_rate(conn, 1);
}

static void tell_preflight(struct server_conn *conn)
{
    tell_rate(conn);
    conn->near = tide_route_at(target_of(conn, (tide_slice){ 0 }).path);
    conn->reply.status = 204;
    conn->reply.cache_control = "no-store";
    answer_early(conn);
}

/* Handlers over PostgreSQL cost more than their look-up. */
static bool over_database(const struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    if (route->kind == TIDE_ROUTE_SQL)
        return true;
    const struct tide_param_value *ledger =
        route->kind == TIDE_ROUTE_HOT ? tide_request_param(&conn->request, TIDE_PARAM_ledger)
                                      : NULL;
    return ledger && ledger->given;
}

static bool find_route(struct server_conn *conn, tide_slice method)
{
    struct tide_target target = target_of(conn, method);
    target.likely = conn->likely;
    bool matched = tide_route_match(&conn->request, &conn->reply, &target, conn->scratch);
    if (TIDE_UNLIKELY(!conn->request.route))
        conn->near = tide_route_at(target.path);
    conn->likely = conn->request.route;
    return matched;
}

static bool is_page(const struct tide_route *route)
{
    return route->kind == TIDE_ROUTE_KYC && strncmp(route->path, "/api/", 5) != 0;
}

/* Who follows a link to a page of ours gets a page, whatever is wrong with the link. */
static void show_page(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    struct tide_kyc *kyc = conn->worker->server->api->kyc;
    if (!kyc || !route || !is_page(route) || strcmp(route->method, "GET") != 0)
        return;
    tide_reply_reset(&conn->reply);
    tide_kyc_page_gone(&conn->reply, tide_kyc_settings(kyc), 400);
}

static bool is_type(tide_slice type, const char *want)
{
    size_t len = strlen(want);
    return type.len >= len && strncasecmp((const char *)type.ptr, want, len) == 0 &&
           (type.len == len || type.ptr[len] == ';' || type.ptr[len] == ' ');
}

/* The buttons of a page of ours work without scripts too. */
static bool type_fits(const struct tide_route *route, tide_slice type)
{
    return is_type(type, "application/json") ||
           (is_page(route) && is_type(type, "application/x-www-form-urlencoded"));
}

static void refuse_large_body(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    tide_reply_problem(&conn->reply, 413, "body_too_large",
                       route->body_max ? "%s takes a body of %u bytes at most" : "%s takes no body",
                       route->id, route->body_max);
}

static bool for_kyc(const struct tide_route *route)
{
    return route->kind == TIDE_ROUTE_KYC || route->kind == TIDE_ROUTE_HOOK;
}

/* Before its body is read: whether KYC is configured, and a webhook's provider; false with a
 * problem in the reply. */
static bool kyc_fits(struct server_conn *conn)
{
    struct tide_kyc *kyc = conn->worker->server->api->kyc;
    if (!kyc)
        tide_reply_problem(&conn->reply, 404, "kyc_not_configured",
                           "this server opens no KYC sessions");
    else if (conn->request.route->kind == TIDE_ROUTE_HOOK)
        return tide_kyc_webhook_provider(kyc, &conn->request, &conn->reply) != NULL;
    return kyc != NULL;
}

/* What its route says of a body; false with a problem in the reply. */
static bool body_fits(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    if (TIDE_UNLIKELY(for_kyc(route)) && !kyc_fits(conn))
        return false;
    if (conn->head.length > route->body_max || (!route->body_max && conn->head.chunked)) {
        refuse_large_body(conn);
        return false;
    }
    if (route->body_max && !type_fits(route, conn->head.content_type)) {
        tide_reply_problem(&conn->reply, 415, "unsupported_media_type",
                           "the body must be application/json");
        return false;
    }
    tide_buf_limit(&conn->body, route->body_max);
    return true;
}

static bool may_ask(struct server_conn *conn, bool matched)
{
    const struct tide_route *route = conn->request.route;
    uint32_t cost = matched ? route->cost : 1;
    conn->class = TIDE_RATE_LOOKUP;
    bool dear = matched && (over_database(conn) || route->kind == TIDE_ROUTE_STREAM ||
                            route->kind == TIDE_ROUTE_KYC);
    if (dear) {
        conn->class = TIDE_RATE_QUERY;
        cost = cost < SQL_COST_LEAST ? SQL_COST_LEAST : cost;
    }
    if (cost == 0 || within_rate(conn, cost))
        return true;
    tide_reply_problem(&conn->reply, 429, "too_many_requests",
                       "the limit is %u tokens in %u s; come again in %u s", conn->rate.quota,
                       TIDE_RATE_WINDOW_S, conn->rate.reset_s);
    conn->reply.retry_after_s = conn->rate.reset_s;
    server_add(&conn->worker->totals.limited, 1);
    return false;
}

static bool counts_as_malformed(uint16_t status)
{
    return status == 400 || status == 413 || status == 414 || status == 415 || status == 431;
}

void server_request_begin(struct server_conn *conn, tide_slice method,
                          const struct tide_refusal_of_form *wrong)
{
    const struct tide_config *config = conn->worker->server->api->config;
    conn->requests++;
    conn->worker->requests++;
    conn->rate = (struct tide_rate_answer){ 0 };
    conn->request.route = NULL;
    conn->near = NULL;
    conn->head_only = tide_slice_eq_str(method, "HEAD");
    conn->close |= conn->head.http_1_0 || conn->head.chunked || conn->worker->stopping ||
                   conn->requests >= config->api_requests;
    name_request(conn);
    if (TIDE_UNLIKELY(wrong != NULL)) {
        conn->early = conn->close = true;
        tell_rate(conn);
        tide_reply_problem(&conn->reply, wrong->status, wrong->code, "%s", wrong->detail);
        server_add(&conn->worker->totals.malformed, 1);
        server_step(conn, STEP_ANSWER);
        return;
    }
    if (TIDE_UNLIKELY(tide_slice_eq_str(method, "OPTIONS"))) {
        tell_preflight(conn);
        return;
    }
    bool matched = find_route(conn, method);
    bool may = may_ask(conn, matched);
    if (may && !matched)
        show_page(conn);
    if (!may || !matched || !body_fits(conn)) {
        if (counts_as_malformed(conn->reply.status))
            server_add(&conn->worker->totals.malformed, 1);
        answer_early(conn);
        return;
    }
    server_step(conn, STEP_BODY);
}

/* A body beyond what each connection keeps counts with its route's limit, among the answers. */
static bool hold_body(struct server_conn *conn, tide_slice part)
{
    return conn->held[TIDE_CONN_LIMIT_BODY] || conn->body.len + part.len <= SERVER_KEEP_BYTES ||
           server_hold(conn, TIDE_CONN_LIMIT_BODY, conn->request.route->body_max);
}

static void refuse_to_hold_body(struct server_conn *conn)
{
    tide_buf_release(&conn->body);
    tide_reply_problem(&conn->reply, 503, "overloaded",
                       "too many bodies and answers are held; come again in a second");
    conn->reply.retry_after_s = 1;
    server_add(&conn->worker->totals.shed, 1);
}

/* A chunked body says nothing of its length: beyond its limit it is refused when it has ended. */
static void take_body(struct server_conn *conn, tide_slice part)
{
    if (!hold_body(conn, part)) {
        conn->refused = true;
        refuse_to_hold_body(conn);
        return;
    }
    tide_buf_slice(&conn->body, part);
    assert(conn->body.len <= conn->request.route->body_max);
    if (!conn->body.failed)
        return;
    conn->refused = true;
    refuse_large_body(conn);
    server_add(&conn->worker->totals.malformed, 1);
}

void server_request_body(struct server_conn *conn, tide_slice part)
{
    if (conn->step != STEP_BODY)
        return;
    if (!conn->refused)
        take_body(conn, part);
    conn->dropped += conn->refused ? part.len : 0;
    if (conn->dropped > SERVER_DROP_BYTES)
        server_cut(conn);
}

/* --- running ----------------------------------------------------------------------------- */

static void job_done(struct tide_job *job)
{
    struct server_conn *conn =
        (struct server_conn *)(void *)((char *)job - offsetof(struct server_conn, job));
    tide_server_wake(&conn->wake);
}

static struct tide_handler_context context_of(struct server_conn *conn)
{
    struct server_worker *worker = conn->worker;
    return (struct tide_handler_context){
        .api = worker->server->api,
        .reader = worker->reader,
        .now_ms = worker->wall_ms,
        .host_ms = worker->now_ms,
        .deadline_ms = worker->now_ms + worker->server->api->config->api_request_ms,
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

static void shed(struct server_conn *conn)
{
    server_add(&conn->worker->totals.shed, 1);
    tide_reply_problem(&conn->reply, 503, "overloaded",
                       "too many requests wait for the database; come again in a second");
    conn->reply.retry_after_s = 1;
    server_step(conn, STEP_ANSWER);
}

static void refuse_share(struct server_conn *conn)
{
    server_add(&conn->worker->totals.limited, 1);
    tide_reply_problem(&conn->reply, 429, "too_many_queries_of_client",
                       "too many queries of this client run or wait; come again in a second");
    conn->reply.retry_after_s = 1;
    server_step(conn, STEP_ANSWER);
}

static void send_to_pool(struct server_conn *conn)
{
    struct tide_sql_pool *pool = conn->worker->server->api->pool;
    if (!pool) {
        tide_reply_problem(&conn->reply, 404, "sql_not_configured",
                           "this server answers look-ups alone, without ?ledger");
        server_step(conn, STEP_ANSWER);
        return;
    }
    make_job(conn);
    conn->job.context.reader = NULL;
    switch (tide_sql_pool_submit(pool, &conn->job)) {
    case TIDE_WORKER_POOL_QUEUED:
        server_add(&conn->worker->totals.waiting, 1);
        break;
    case TIDE_WORKER_POOL_QUEUE_FULL:
        shed(conn);
        break;
    case TIDE_WORKER_POOL_CLIENT_FULL:
        refuse_share(conn);
        break;
    }
}

static void send_to_kyc(struct server_conn *conn)
{
    struct tide_kyc *kyc = conn->worker->server->api->kyc;
    make_job(conn);
    switch (tide_kyc_take(kyc, &conn->job)) {
    case TIDE_KYC_QUEUED:
        server_add(&conn->worker->totals.waiting, 1);
        break;
    case TIDE_KYC_ANSWERED:
        server_step(conn, STEP_ANSWER);
        break;
    case TIDE_KYC_FULL:
        shed(conn);
        break;
    }
}

bool server_request_waits(const struct server_conn *conn)
{
    return !conn->refused && (over_database(conn) || for_kyc(conn->request.route));
}

void server_request_run(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    tide_slice body = tide_buf_view(&conn->body);
    if (conn->refused) {
        server_step(conn, STEP_ANSWER);
        return;
    }
    /* What a provider signed is its bytes, whatever they are. */
    if (body.len && route->kind != TIDE_ROUTE_HOOK &&
        (!tide_utf8_valid(body) || memchr(body.ptr, 0, body.len))) {
        tide_reply_problem(&conn->reply, 400, "malformed_body", "the body is not UTF-8 text");
        server_add(&conn->worker->totals.malformed, 1);
        server_step(conn, STEP_ANSWER);
        return;
    }
    conn->request.body = body;
    conn->request.head = &conn->head;
    conn->request.last_event_id = conn->head.last_event_id;
    if (over_database(conn)) {
        send_to_pool(conn);
        return;
    }
    if (TIDE_UNLIKELY(for_kyc(route))) {
        send_to_kyc(conn);
        return;
    }
    struct tide_handler_context context = context_of(conn);
    route->handle(&context, &conn->request, &conn->reply);
    server_step(conn, STEP_ANSWER);
}

/* --- the end ----------------------------------------------------------------------------- */

static void log_request(struct server_conn *conn, uint64_t us)
{
    enum { NONE, ERRORS, SAMPLED, ALL };
    const struct tide_reply *reply = &conn->reply;
    uint32_t wanted = conn->worker->server->api->config->api_access_log;
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
    size_t index = route ? (size_t)(route - server->routes) : server->route_count;
    assert(index <= server->route_count);
    return &conn->worker->routes[index];
}

static void count_request(struct server_conn *conn, uint64_t us)
{
    struct server_worker *worker = conn->worker;
    struct server_counters *counters = server_counters_of(conn);
    server_add(&counters->status[tide_metric_status_of(conn->reply.status)], 1);
    if (conn->request.route && conn->request.route->kind == TIDE_ROUTE_STREAM)
        return;
    server_add(&counters->bucket[tide_metric_bucket_of(us)], 1);
    server_add(&counters->us, (int64_t)us);
    server_add(&worker->totals.bytes, (int64_t)(conn->reply.body.len + conn->reply.fixed.len));
}

static void forget(struct tide_buf *buf)
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
    tide_reply_reset(&conn->reply);
    forget(&conn->reply.body);
    forget(&conn->reply.lines);
    forget(&conn->body);
    conn->request.route = NULL;
    conn->early = conn->asked_again = conn->refused = false;
    conn->dropped = 0;
    server_step(conn, STEP_IDLE);
}
