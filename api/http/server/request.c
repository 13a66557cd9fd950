/* A request's head and body: id, key, rate limit, route, limits of the body. Knows no answers but
 * the problems that it writes into the reply. */
#include "api/http/header.h"
#include "api/http/server/server_impl.h"

#include <microhttpd.h>

#include <strings.h>

enum {
    QUERY_COST_LEAST = 5, /* tokens */
    REQUESTS_OF_CONNECTION = 10000,
    KEY_FACTOR = 10, /* limits of a key without a rate of its own, in those of an address */
    /* Bytes of a rejected request's body that are read and discarded. A longer body ends the
     * connection. */
    DROP_BYTES = 256 << 10
};

/* --- id, key and rate limit ------------------------------------------------------------- */

static bool is_request_id(tide_slice text)
{
    if (text.len == 0 || text.len >= TIDE_REQUEST_ID_BYTES)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i], lower = c | 0x20;
        if (!((lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
            return false;
    }
    /* Reject what may be a Stellar secret seed: ids are logged. */
    return text.len < 32 || text.ptr[0] != 'S';
}

static void set_request_id(struct server_conn *conn)
{
    tide_slice theirs = conn->head.fields.request_id;
    if (!is_request_id(theirs)) {
        server_make_id(conn);
        return;
    }
    memcpy(conn->request.id, theirs.ptr, theirs.len);
    conn->request.id[theirs.len] = 0;
}

/* Finds the client behind proxies. Its bodies, answers and statements are counted as its own, also
 * those of requests that cost no token. */
static void set_client(struct server_conn *conn)
{
    const struct tide_peer_proxies *proxies = &conn->worker->server->proxies;
    tide_slice forwarded_for = conn->head.fields.forwarded_for;
    conn->head.from = conn->peer;
    if (TIDE_UNLIKELY(proxies->count && forwarded_for.ptr))
        conn->head.from = tide_peer_behind(proxies, &conn->peer, forwarded_for);
    conn->request.client = conn->head.client_key = tide_peer_key(&conn->head.from);
}

/* Asks the key's checker. A known key replaces the address as the rate limit's identity. */
static void check_key(struct server_conn *conn, struct tide_rate_client *who)
{
    const struct tide_key_check *keys = &conn->worker->server->options.keys;
    struct tide_key_answer *key = &conn->head.key;
    if (keys->check)
        keys->check(keys->self, key, conn->request.route, conn->head.fields.api_key,
                    &conn->head.from);
    if (!key->known || key->status)
        return; /* a client that guesses keys spends the tokens of its address */
    *who = (struct tide_rate_client){ .peer = key->print,
                                      .keyed = true,
                                      .factor = KEY_FACTOR,
                                      .rate = key->rate,
                                      .burst = key->burst };
}

/* Takes the request's tokens. Returns false if the client is over its limit. */
static bool within_rate(struct server_conn *conn, uint32_t cost)
{
    struct tide_rate_client who = { .peer = conn->request.client, .factor = 1 };
    if (conn->request.route && conn->request.route->class->stream)
        tide_peer_text(conn->head.client, &who.peer);
    if (TIDE_UNLIKELY(conn->head.fields.api_key.ptr))
        check_key(conn, &who);
    conn->head.client_key = who.peer;
    conn->head.rate = tide_rate_take(conn->worker->server->rate, &who, conn->head.class, cost,
                                     conn->worker->now_ms);
    return !conn->head.rate.refused;
}

/* --- the head --------------------------------------------------------------------------- */

/* Decides how a request ends that is answered before its body is read. A small body is read and
 * discarded, and the connection continues. With a large one the connection ends, and lingers
 * until the client has the answer. */
static void answer_early(struct server_conn *conn)
{
    const struct tide_request_head *fields = &conn->head.fields;
    bool discard = false;
    if (!conn->early && conn->head.fields.length > 0) {
        discard = !fields->expects && fields->length <= DROP_BYTES;
        conn->refused = true;
        conn->early = !discard;
        conn->close |= !discard;
    }
    server_set_state(conn, discard ? STATE_BODY : STATE_ANSWER);
}

static const struct tide_route_table *routes_of(const struct server_conn *conn)
{
    return conn->worker->server->options.routes;
}

static struct tide_target target_of(const struct server_conn *conn, tide_slice method)
{
    tide_slice target = { (const uint8_t *)conn->head.target, conn->head.target_len };
    const uint8_t *mark = memchr(target.ptr, '?', target.len);
    size_t path = mark ? (size_t)(mark - target.ptr) : target.len;
    return (struct tide_target){
        .method = method,
        .path = { target.ptr, path },
        .query = mark ? (tide_slice){ mark + 1, target.len - path - 1 } : (tide_slice){ 0 },
    };
}

/* Takes one token and reports the limit, but never rejects: a preflight sends no key, and a
 * request with a faulty form is cut anyway. */
static void charge_one_token(struct server_conn *conn)
{
    conn->head.class = TIDE_RATE_LOOKUP;
    (void)within_rate(conn, 1);
}

/* Rejects a head with a fault in its form. The end of the request is uncertain, so the connection
 * ends at once. */
static bool check_form(struct server_conn *conn)
{
    if (TIDE_LIKELY(!conn->head.fault))
        return true;
    conn->early = conn->close = true;
    charge_one_token(conn);
    tide_reply_problem(&conn->reply, conn->head.fault->status, conn->head.fault->code, "%s",
                       conn->head.fault->detail);
    return false;
}

/* Answers a preflight. */
static bool check_method(struct server_conn *conn)
{
    if (TIDE_LIKELY(!tide_slice_eq_str(conn->head.method, "OPTIONS")))
        return true;
    charge_one_token(conn);
    conn->head.near = tide_route_at(routes_of(conn), target_of(conn, (tide_slice){ 0 }).path);
    conn->reply.status = 204;
    conn->reply.cache_control = "no-store";
    return false;
}

/* Finds the route and reads the parameters. If they are wrong, the problem is in the reply, but
 * the rate limit comes first. */
static bool find_route(struct server_conn *conn)
{
    struct tide_target target = target_of(conn, conn->head.method);
    target.likely = conn->head.likely;
    conn->head.matched = tide_route_match(&conn->request, &conn->reply, routes_of(conn), &target,
                                          conn->head.scratch);
    if (TIDE_UNLIKELY(!conn->request.route))
        conn->head.near = tide_route_at(routes_of(conn), target.path);
    conn->head.likely = conn->request.route;
    return true;
}

/* Rejects a request without a route or with wrong parameters. A person who followed a bad link to
 * a page gets the problem as a readable page. */
static bool check_match(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    if (!conn->head.matched && route && route->class->page && strcmp(route->method, "GET") == 0) {
        const struct tide_executor *executor = server_executor(conn, route->class->executor);
        if (executor && executor->show_problem)
            executor->show_problem(executor->self, &conn->reply);
    }
    return conn->head.matched;
}

static bool is_media_type(tide_slice type, const char *want)
{
    size_t len = strlen(want);
    return type.len >= len && strncasecmp((const char *)type.ptr, want, len) == 0 &&
           (type.len == len || type.ptr[len] == ';' || type.ptr[len] == ' ');
}

/* Returns whether the route accepts the body's type. Pages accept forms: their buttons work
 * without scripts. */
static bool accepts_type(const struct tide_route *route, tide_slice type)
{
    return is_media_type(type, "application/json") ||
           (route->class->page && is_media_type(type, "application/x-www-form-urlencoded"));
}

/* Asks the route's executor whether it accepts the request. */
static bool check_acceptance(struct server_conn *conn)
{
    const struct tide_executor *executor =
        server_executor(conn, conn->request.route->class->executor);
    return !executor || !executor->accept ||
           executor->accept(executor->self, &conn->request, &conn->reply);
}

static bool check_length(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    if (conn->head.fields.length <= route->body_max)
        return true;
    tide_reply_problem(&conn->reply, 413, "body_too_large",
                       route->body_max ? "%s accepts a body of at most %u bytes"
                                       : "%s accepts no body",
                       route->id, route->body_max);
    return false;
}

/* Rejects an encoded body: the server does not decompress. */
static bool check_coding(struct server_conn *conn)
{
    tide_slice coding = conn->head.fields.content_encoding;
    if (conn->head.fields.length == 0 || coding.len == 0 || is_media_type(coding, "identity"))
        return true;
    tide_reply_problem(&conn->reply, 415, "unsupported_encoding",
                       "send the body without Content-Encoding");
    tide_reply_header(&conn->reply, "Accept-Encoding", "identity");
    return false;
}

static bool check_type(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    if (!route->body_max || accepts_type(route, conn->head.fields.content_type))
        return true;
    tide_reply_problem(&conn->reply, 415, "unsupported_media_type",
                       "the body must be application/json");
    return false;
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

/* Returns whether the request is a look-up as of a past ledger. An executor runs it, so it costs
 * as much as a query. */
static bool is_past_lookup(const struct server_conn *conn)
{
    return conn->request.route->class->lookup && server_executor_of(conn);
}

bool server_has_form(const struct server_conn *conn)
{
    const struct tide_route_form *form = routes_of(conn)->form;
    return form && conn->request.route && tide_request_param(&conn->request, form->param);
}

/* Returns the requested form of the answer: by its parameter if given, otherwise by Accept. */
static enum tide_form choose_form(const struct server_conn *conn)
{
    const struct tide_route_form *form = routes_of(conn)->form;
    struct tide_accept accept = TIDE_ACCEPT_NOTHING;
    if (!server_has_form(conn))
        return TIDE_FORM_PLAIN;
    if (tide_request_param(&conn->request, form->param)->given)
        return TIDE_FORM_SECOND;
    for (uint32_t i = 0; i < conn->head.fields.count; i++)
        if (tide_header_is(conn->head.fields.lines[i].name, "accept"))
            tide_accept_read(&accept, conn->head.fields.lines[i].value, form->media_type);
    return tide_accept_form(&accept);
}

/* Chooses the form of the answer, and sets the class of the rate limit. Returns the request's
 * cost in tokens. */
static uint32_t cost_of(struct server_conn *conn)
{
    const struct tide_route *route = conn->request.route;
    uint32_t cost = conn->head.matched ? route->cost : 1;
    conn->request.form = conn->head.matched ? choose_form(conn) : TIDE_FORM_PLAIN;
    if (conn->request.form != TIDE_FORM_PLAIN)
        cost += routes_of(conn)->form->cost;
    conn->head.class = TIDE_RATE_LOOKUP;
    if (conn->head.matched && (route->class->query || is_past_lookup(conn))) {
        conn->head.class = TIDE_RATE_QUERY;
        cost = cost < QUERY_COST_LEAST ? QUERY_COST_LEAST : cost;
    }
    return cost;
}

/* Charges the request's cost. Fails if the client is over its limit. */
static bool check_rate(struct server_conn *conn)
{
    uint32_t cost = cost_of(conn);
    if (cost == 0 || within_rate(conn, cost))
        return true;
    tide_reply_problem(&conn->reply, 429, "too_many_requests",
                       "the limit is %u tokens in %u s; retry in %u s", conn->head.rate.quota,
                       conn->head.rate.window_s, conn->head.rate.reset_s);
    conn->reply.retry_after_s = conn->head.rate.reset_s;
    server_add(&conn->worker->totals.limited, 1);
    return false;
}

/* Rejects the request if the key's checker rejected its key (check_key). */
static bool check_key_answer(struct server_conn *conn)
{
    const struct tide_key_answer *key = &conn->head.key;
    if (!key->status)
        return true;
    tide_reply_problem(&conn->reply, key->status, key->code, "%s", key->detail);
    conn->reply.retry_after_s = key->retry_after_s;
    return false;
}

/* The checks of a head in their order. Each returns false with an answer in the reply, which then
 * is the request's. */
static bool (*const head_checks[])(struct server_conn *) = {
    check_form,  check_method,     find_route,   check_rate,   check_key_answer,
    check_match, check_acceptance, check_length, check_coding, check_type,
};

static bool counts_as_malformed(uint16_t status)
{
    return status == 400 || status == 413 || status == 414 || status == 415 || status == 431;
}

struct head_reader {
    struct tide_request_head *head;
    const struct tide_request_fault *wrong;
};

/* Checks one header line; stops the iteration at the first fault. */
static enum MHD_Result on_line(void *self, enum MHD_ValueKind kind, const char *name,
                               size_t name_len, const char *value, size_t value_len)
{
    struct head_reader *reader = self;
    assert(kind == MHD_HEADER_KIND);
    reader->wrong = tide_request_check_line(reader->head, tide_slice_of(name, name_len),
                                            tide_slice_of(value, value_len));
    return reader->wrong ? MHD_NO : MHD_YES;
}

static const struct tide_request_fault *read_head(struct server_conn *conn, const char *version)
{
    struct head_reader reader = { .head = &conn->head.fields };
    const union MHD_ConnectionInfo *size =
        MHD_get_connection_info(conn->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    tide_request_check_begin(&conn->head.fields);
    MHD_get_connection_values_n(conn->mhd, MHD_HEADER_KIND, on_line, &reader);
    if (!reader.wrong)
        reader.wrong = tide_request_check_end(&conn->head.fields, tide_slice_str(version),
                                              size ? size->header_size : 0);
    /* Check the target itself: one that did not fit conn->head.target shows by its length that it
     * is too long. */
    return reader.wrong
               ? reader.wrong
               : tide_request_check_target(&conn->head.fields,
                                           tide_slice_of(conn->head.target, conn->head.target_len));
}

/* Resets the parts of the connection that the checks set. */
static void begin_head(struct server_conn *conn, const char *method)
{
    conn->requests++;
    conn->worker->requests++;
    conn->head.rate = (struct tide_rate_answer){ 0 };
    conn->head.key = (struct tide_key_answer){ 0 };
    conn->request.route = NULL;
    conn->head.near = NULL;
    conn->head.method = tide_slice_str(method);
    conn->head.bodiless = tide_slice_eq_str(conn->head.method, "HEAD");
    conn->close |= conn->head.fields.http_1_0 || conn->worker->stopping ||
                   conn->requests >= REQUESTS_OF_CONNECTION;
    set_request_id(conn);
    set_client(conn);
}

static void check_all(struct server_conn *conn)
{
    size_t passed = 0;
    while (passed < TIDE_COUNT(head_checks) && head_checks[passed](conn))
        passed++;
    if (passed == TIDE_COUNT(head_checks)) {
        tide_buf_limit(&conn->body, conn->request.route->body_max);
        server_set_state(conn, STATE_BODY);
        return;
    }
    if (conn->head.fault || counts_as_malformed(conn->reply.status))
        server_add(&conn->worker->totals.malformed, 1);
    answer_early(conn);
}

/* With "Expect: 100-continue" and no body the library would send 100 and close. It sends no 100 if
 * the answer is queued in this first call, which however ends the connection. */
void server_request_begin(struct server_conn *conn, const char *method, const char *version)
{
    conn->head.fault = read_head(conn, version);
    begin_head(conn, method);
    check_all(conn);
    if (conn->state == STATE_BODY && conn->head.fields.expects && conn->head.fields.length == 0)
        conn->early = conn->close = true;
    if (TIDE_UNLIKELY(conn->early))
        server_guard_early(conn);
}

/* Counts a body that is larger than a connection's own buffer, once, with the memory that its
 * Content-Length will take. Counting its route's limit would let a few small webhooks, of a route
 * with a large limit, use up the room of all bodies. */
static bool hold_body(struct server_conn *conn, tide_slice part)
{
    const struct tide_buf *bytes = &conn->body;
    assert(bytes->len + part.len <= conn->head.fields.length);
    return conn->held[TIDE_CONN_LIMIT_BODY] || bytes->len + part.len <= SERVER_KEEP_BYTES ||
           server_hold(conn, TIDE_CONN_LIMIT_BODY,
                       tide_buf_cap_for(bytes, conn->head.fields.length - bytes->len));
}

/* Appends a part of the body, or rejects the request at the memory limit. check_length has limited
 * the length. */
static void append_body(struct server_conn *conn, tide_slice part)
{
    bool room = hold_body(conn, part);
    if (room)
        tide_buf_slice(&conn->body, part);
    assert(conn->body.len <= conn->request.route->body_max);
    if (room && !conn->body.failed)
        return;
    conn->refused = true;
    tide_buf_release(&conn->body);
    server_overloaded(conn, "too many large bodies and answers are in memory; retry in a second");
}

void server_request_body(struct server_conn *conn, tide_slice part)
{
    if (conn->state != STATE_BODY)
        return;
    if (!conn->refused)
        append_body(conn, part);
}
