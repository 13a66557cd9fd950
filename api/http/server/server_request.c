#include "api/http/server/server_impl.h"
#include "api/http/weight.h"

#include <strings.h>

enum { QUERY_COST_LEAST = 5 };

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
    /* A client must not get a secret seed into the log as an id. */
    return text.len < 32 || text.ptr[0] != 'S';
}

void server_request_name(struct server_conn *conn)
{
    static const char digits[] = "0123456789abcdef";
    char *id = conn->request.id;
    uint64_t ours = conn->worker->ids;
    conn->worker->ids += 0x9e3779b97f4a7c15u; /* odd: no value comes twice */
    for (int i = 0; i < 16; i++)
        id[i] = digits[ours >> (60 - 4 * i) & 15];
    id[16] = 0;
}

static void name_request(struct server_conn *conn)
{
    tide_slice theirs = conn->head.request_id;
    if (!is_id(theirs)) {
        server_request_name(conn);
        return;
    }
    memcpy(conn->request.id, theirs.ptr, theirs.len);
    conn->request.id[theirs.len] = 0;
}

static void ask_key(struct server_conn *conn, struct tide_rate_client *who,
                    const struct tide_peer *from)
{
    const struct tide_server *server = conn->worker->server;
    const struct tide_key_check *keys = &server->options.keys;
    if (keys->check)
        keys->check(keys->self, &conn->key, conn->request.route, conn->head.api_key, from);
    if (!conn->key.known || conn->key.status)
        return; /* who guesses keys does so on the account of the address */
    who->peer = conn->key.print;
    who->keyed = true;
    who->factor = server->options.config->api_key_factor;
    who->rate = conn->key.rate;
    who->burst = conn->key.burst;
}

static bool within_rate(struct server_conn *conn, uint32_t cost)
{
    struct tide_server *server = conn->worker->server;
    struct tide_rate_client who = { .peer = conn->peer, .factor = 1 };
    if (TIDE_UNLIKELY(server->proxies.count && conn->head.forwarded_for.ptr))
        who.peer = tide_peer_behind(&server->proxies, &conn->peer, conn->head.forwarded_for);
    struct tide_peer from = who.peer;
    who.peer = tide_peer_key(&who.peer);
    conn->request.client = who.peer;
    if (conn->request.route && conn->request.route->class->stream)
        tide_peer_text(conn->client, &who.peer);
    if (TIDE_UNLIKELY(conn->head.api_key.ptr))
        ask_key(conn, &who, &from);
    conn->client_key = who.peer;
    conn->rate = tide_rate_take(server->rate, &who, conn->class, cost, conn->worker->now_ms);
    return !conn->rate.refused;
}

/* --- the head ---------------------------------------------------------------------------- */

/* The answer is known before the body is read. A small body is read and dropped, and the connection
 * goes on. With a large one it ends, and lingers until the client has the answer. */
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

static const struct tide_route_table *routes_of(const struct server_conn *conn)
{
    return conn->worker->server->options.routes;
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
    conn->near = tide_route_at(routes_of(conn), target_of(conn, (tide_slice){ 0 }).path);
    conn->reply.status = 204;
    conn->reply.cache_control = "no-store";
    answer_early(conn);
}

static bool find_route(struct server_conn *conn, tide_slice method)
{
    struct tide_target target = target_of(conn, method);
    target.likely = conn->likely;
    bool matched =
        tide_route_match(&conn->request, &conn->reply, routes_of(conn), &target, conn->scratch);
    if (TIDE_UNLIKELY(!conn->request.route))
        conn->near = tide_route_at(routes_of(conn), target.path);
    conn->likely = conn->request.route;
    return matched;
}

/* A person who follows a bad link to a page gets a page that says so. */
static void show_page(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    if (!route || !route->class->page || strcmp(route->method, "GET") != 0)
        return;
    const struct tide_executor *executor = server_executor(conn, route->class->executor);
    if (executor && executor->show_problem)
        executor->show_problem(executor->self, &conn->reply);
}

static bool is_type(tide_slice type, const char *want)
{
    size_t len = strlen(want);
    return type.len >= len && strncasecmp((const char *)type.ptr, want, len) == 0 &&
           (type.len == len || type.ptr[len] == ';' || type.ptr[len] == ' ');
}

/* The buttons of a page work without scripts too. */
static bool type_fits(const struct tide_route *route, tide_slice type)
{
    return is_type(type, "application/json") ||
           (route->class->page && is_type(type, "application/x-www-form-urlencoded"));
}

/* Nothing here unpacks a body. */
static bool coding_fits(struct server_conn *conn)
{
    tide_slice coding = conn->head.content_encoding;
    if (!server_has_body(conn) || coding.len == 0 || is_type(coding, "identity"))
        return true;
    tide_reply_problem(&conn->reply, 415, "unsupported_encoding",
                       "the body must come without Content-Encoding");
    tide_reply_header(&conn->reply, "Accept-Encoding", "identity");
    return false;
}

static void refuse_large_body(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    tide_reply_problem(&conn->reply, 413, "body_too_large",
                       route->body_max ? "%s takes a body of %u bytes at most" : "%s takes no body",
                       route->id, route->body_max);
}

/* What its route says of a body; false with a problem in the reply. */
static bool body_fits(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    const struct tide_executor *executor = server_executor(conn, route->class->executor);
    if (executor && executor->accept &&
        !executor->accept(executor->self, &conn->request, &conn->reply))
        return false;
    if (conn->head.length > route->body_max) {
        refuse_large_body(conn);
        return false;
    }
    if (!coding_fits(conn))
        return false;
    if (route->body_max && !type_fits(route, conn->head.content_type)) {
        tide_reply_problem(&conn->reply, 415, "unsupported_media_type",
                           "the body must be application/json");
        return false;
    }
    tide_buf_limit(&conn->body, route->body_max);
    return true;
}

/* A look-up as of a ledger: an executor runs it, so it costs what a query does. */
static bool is_past_lookup(const struct server_conn *conn)
{
    return conn->request.route->class->lookup && server_executor_of(conn);
}

bool server_has_form(const struct server_conn *conn)
{
    const struct tide_route_form *form = routes_of(conn)->form;
    return form && conn->request.route && tide_request_param(&conn->request, form->param);
}

/* The form of the answer that is asked for: by its parameter, whatever Accept says, or by it. */
static enum tide_form choose_form(const struct server_conn *conn)
{
    const struct tide_route_form *form = routes_of(conn)->form;
    struct tide_accept accept = TIDE_ACCEPT_NOTHING;
    if (!server_has_form(conn))
        return TIDE_FORM_PLAIN;
    if (tide_request_param(&conn->request, form->param)->given)
        return TIDE_FORM_SECOND;
    for (uint32_t i = 0; i < conn->head.count; i++)
        if (tide_header_is(conn->head.lines[i].name, "accept"))
            tide_accept_read(&accept, conn->head.lines[i].value, form->media_type);
    return tide_accept_form(&accept);
}

static bool key_fits(struct server_conn *conn)
{
    const struct tide_key_answer *key = &conn->key;
    if (!key->status)
        return true;
    tide_reply_problem(&conn->reply, key->status, key->code, "%s", key->detail);
    conn->reply.retry_after_s = key->retry_after_s;
    return false;
}

static bool may_ask(struct server_conn *conn, bool matched)
{
    const struct tide_route *route = conn->request.route;
    uint32_t cost = matched ? route->cost : 1;
    conn->request.form = matched ? choose_form(conn) : TIDE_FORM_PLAIN;
    if (conn->request.form != TIDE_FORM_PLAIN)
        cost += routes_of(conn)->form->cost;
    conn->class = TIDE_RATE_LOOKUP;
    if (matched && (route->class->query || is_past_lookup(conn))) {
        conn->class = TIDE_RATE_QUERY;
        cost = cost < QUERY_COST_LEAST ? QUERY_COST_LEAST : cost;
    }
    if (cost == 0 || within_rate(conn, cost))
        return key_fits(conn);
    tide_reply_problem(&conn->reply, 429, "too_many_requests",
                       "the limit is %u tokens in %u s; come again in %u s", conn->rate.quota,
                       conn->rate.window_s, conn->rate.reset_s);
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
    const struct tide_config *config = conn->worker->server->options.config;
    conn->requests++;
    conn->worker->requests++;
    conn->rate = (struct tide_rate_answer){ 0 };
    conn->key = (struct tide_key_answer){ 0 };
    conn->request.route = NULL;
    conn->near = NULL;
    conn->head_only = tide_slice_eq_str(method, "HEAD");
    conn->close |=
        conn->head.http_1_0 || conn->worker->stopping || conn->requests >= config->api_requests;
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

/* The head's check has limited the length already. */
static void take_body(struct server_conn *conn, tide_slice part)
{
    bool room = hold_body(conn, part);
    if (room)
        tide_buf_slice(&conn->body, part);
    assert(conn->body.len <= conn->request.route->body_max);
    if (room && !conn->body.failed)
        return;
    conn->refused = true;
    refuse_to_hold_body(conn);
}

void server_request_body(struct server_conn *conn, tide_slice part)
{
    if (conn->step != STEP_BODY)
        return;
    if (!conn->refused)
        take_body(conn, part);
}
