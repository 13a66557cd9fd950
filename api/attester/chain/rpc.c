/* Choice of servers, transport, and the checks that every answer passes. */
#include "api/attester/chain/rpc.h"
#include "api/attester/chain/rpc_impl.h"
#include "tidemark/http.h"
#include "tidemark/json_read.h"
#include "tidemark/log.h"
#include "tidemark/retry.h"
#include "tidemark/text.h"

#include <stdlib.h>

enum { SERVERS_MAX = 8, ANSWER_MAX = 8 << 20 /* bytes of an answer */ };
/* JUMP_LEDGERS and LEDGERS_MS bound how far one server's newest ledger may move forward: 10 000
 * ledgers, and one more for each 10 ms since its last report. A report that its server does not
 * reach again is forgotten after FORGET_MS. If the index sets a floor, the floor keeps out answers
 * from the past, and FORGET_INDEXED_MS is enough. */
enum { NAME_BYTES = 160, JUMP_LEDGERS = 10000, LEDGERS_MS = 10 };
enum { FORGET_MS = 600 * 1000, FORGET_INDEXED_MS = 30 * 1000 };

struct server {
    char url[TIDE_CONFIG_TEXT_MAX];
    char name[NAME_BYTES];   /* for messages */
    bool known;              /* the deployment's network answered */
    bool foreign;            /* another network answered */
    bool excluded;           /* excluded until att_rpc_include_all */
    int64_t paused_until_ms; /* monotonic; not called before */
    uint32_t failures;       /* failures since the last success */
    uint32_t after_ms;       /* Retry-After of its last answer; 0: none */
    uint32_t latest;         /* newest ledger that it reported */
    int64_t latest_ms;       /* monotonic; time of that report */
};

struct att_rpc {
    struct att_rpc_options options;
    struct tide_http *http;
    struct server servers[SERVERS_MAX];
    uint32_t count;
    uint32_t current; /* called first: the server that answered last, or was selected since */
    uint32_t first;   /* first excluded server */
    uint32_t sender;  /* gets the next transaction */
    uint64_t id;
    struct tide_retry retry;
    char failure[TIDE_ERR_TEXT_MAX]; /* last failure of any server, for messages */
    uint32_t floor, ceiling;         /* lowest and highest plausible newest ledger; 0: none */
    struct tide_buf params, request, body, decoded;
};

struct tide_buf *rpc_params(struct att_rpc *rpc)
{
    tide_buf_reset(&rpc->params);
    return &rpc->params;
}

struct tide_buf *rpc_decoded(struct att_rpc *rpc)
{
    return &rpc->decoded;
}

/* One lying server alone cannot raise the result: the second highest report counts. */
uint32_t att_rpc_latest(const struct att_rpc *rpc)
{
    uint32_t first = 0, second = 0;
    for (uint32_t i = 0; i < rpc->count; i++) {
        uint32_t reported = rpc->servers[i].latest;
        second = reported > first ? first : reported > second ? reported : second;
        first = reported > first ? reported : first;
    }
    return second ? second : first;
}

uint32_t att_rpc_newest(const struct att_rpc *rpc)
{
    assert(rpc->current < rpc->count);
    uint32_t reported = rpc->servers[rpc->current].latest, latest = att_rpc_latest(rpc);
    return reported > latest ? reported : latest;
}

void att_rpc_limit_ledgers(struct att_rpc *rpc, uint32_t floor, uint32_t ceiling)
{
    rpc->floor = floor;
    rpc->ceiling = ceiling;
}

void att_rpc_forget_ledgers(struct att_rpc *rpc)
{
    for (uint32_t i = 0; i < rpc->count; i++) {
        rpc->servers[i].latest = 0;
        rpc->servers[i].known = false;
    }
}

/* --- which answers count ---------------------------------------------------------------------- */

/* True if the server is neither paused nor excluded. */
static bool can_call(const struct att_rpc *rpc, uint32_t at, int64_t now)
{
    assert(at < rpc->count);
    const struct server *server = &rpc->servers[at];
    return server->paused_until_ms <= now && !server->excluded;
}

static int64_t now_of(const struct att_rpc *rpc)
{
    return rpc->options.clock->now_ms(rpc->options.clock->self);
}

bool rpc_number(const json_t *object, const char *name, uint64_t max, uint64_t *out)
{
    const json_t *value = json_object_get(object, name);
    const char *text = json_string_value(value);
    if (text)
        return tide_parse_u64(out, tide_slice_str(text), max) == TIDE_OK;
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *out = (uint64_t)json_integer_value(value);
    return *out <= max;
}

/* --- one exchange ----------------------------------------------------------------------------- */

/* Posts one JSON-RPC request; the answer is in rpc->body. *connected tells that a new connection
 * was made, whose network is not known yet. */
static tide_status post_call(struct att_rpc *rpc, struct server *server, const char *method,
                             tide_slice params, bool *connected, struct tide_err *err)
{
    const char *headers[3] = { "Content-Type: application/json" };
    struct tide_http_answer answer = { 0 };
    if (rpc->options.config->rpc_header[0])
        headers[1] = rpc->options.config->rpc_header;
    tide_buf_reset(&rpc->request);
    tide_buf_reset(&rpc->body);
    tide_buf_putf(
        &rpc->request,
        "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"method\":\"%s\",\"params\":", ++rpc->id, method);
    tide_buf_slice(&rpc->request, params);
    tide_buf_str(&rpc->request, "}");
    if (rpc->request.failed)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for a request");
    const struct tide_http_request request = { .method = TIDE_HTTP_POST,
                                               .url = server->url,
                                               .headers = headers,
                                               .body = tide_buf_view(&rpc->request),
                                               .cancelled = rpc->options.cancelled,
                                               .self = rpc->options.self };
    tide_status status =
        rpc->options.call ? rpc->options.call(rpc->options.self, &request, &rpc->body, &answer, err)
                          : tide_http_call(rpc->http, &request, &rpc->body, &answer, err);
    *connected = answer.connected;
    server->after_ms = answer.after_ms;
    if (status == TIDE_OK && answer.code != 200)
        return tide_fail(err, TIDE_E_IO, "the server answered %u", answer.code);
    return status;
}

/* Parses rpc->body. Fails with TIDE_E_IO and the server's message if the answer is an error or
 * not the answer to this request. */
static tide_status read_result(struct att_rpc *rpc, json_t **result, struct tide_err *err)
{
    json_error_t why;
    json_t *whole = tide_json_load(tide_buf_view(&rpc->body), JSON_REJECT_DUPLICATES, &why);
    const json_t *error = json_object_get(whole, "error");
    const char *message = json_string_value(json_object_get(error, "message"));
    uint64_t id = 0;
    *result = json_object_get(whole, "result");
    tide_status status = TIDE_OK;
    if (message) {
        char quoted[200];
        status = tide_fail(err, TIDE_E_IO, "error %lld: %s",
                           (long long)json_integer_value(json_object_get(error, "code")),
                           tide_log_quote(quoted, sizeof quoted, message));
    } else if (!json_is_object(*result) || !rpc_number(whole, "id", UINT64_MAX, &id) ||
               id != rpc->id) {
        status = tide_fail(err, TIDE_E_IO, "the answer is not JSON-RPC");
    }
    *result = status == TIDE_OK ? json_incref(*result) : NULL;
    json_decref(whole);
    return status;
}

/* Asks the server for its network. Fails with TIDE_E_CHAIN if it is not the deployment's. */
static tide_status check_network(struct att_rpc *rpc, struct server *server, struct tide_err *err)
{
    bool connected;
    json_t *result = NULL;
    tide_status status = post_call(rpc, server, "getNetwork", TIDE_SLICE("{}"), &connected, err);
    if (status == TIDE_OK)
        status = read_result(rpc, &result, err);
    if (status != TIDE_OK)
        return status;
    const char *reported = json_string_value(json_object_get(result, "passphrase"));
    server->known = reported && strcmp(reported, rpc->options.passphrase) == 0;
    server->foreign = reported && !server->known;
    json_decref(result);
    if (server->known)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_CHAIN,
                     "the server belongs to another network than the deployment");
}

/* Stores the newest ledger of an answer. Fails with TIDE_E_IO if the answer is older than known
 * ledgers, which would show a past state as the present one, or names a ledger that cannot exist
 * yet. */
static tide_status note_ledger(struct att_rpc *rpc, struct server *server, const json_t *result,
                               struct tide_err *err)
{
    uint64_t latest = 0;
    int64_t now = now_of(rpc);
    if (!json_object_get(result, "latestLedger"))
        return TIDE_OK;
    if (!rpc_number(result, "latestLedger", UINT32_MAX, &latest))
        return tide_fail(err, TIDE_E_IO, "latestLedger is not a ledger number");
    bool behind = latest < server->latest;
    int64_t forget_ms = rpc->floor ? FORGET_INDEXED_MS : FORGET_MS;
    if (latest < rpc->floor || (behind && now - server->latest_ms < forget_ms))
        return tide_fail(err, TIDE_E_IO, "the server is at ledger %u, behind %u", (unsigned)latest,
                         latest < rpc->floor ? rpc->floor : server->latest);
    if ((rpc->ceiling && latest > rpc->ceiling) ||
        (server->latest && !behind &&
         latest - server->latest > JUMP_LEDGERS + (uint64_t)(now - server->latest_ms) / LEDGERS_MS))
        return tide_fail(err, TIDE_E_IO, "latestLedger %u is ahead of the clock or of the index",
                         (unsigned)latest);
    server->latest = (uint32_t)latest;
    server->latest_ms = now;
    return TIDE_OK;
}

/* Reserves the room for all decoded bytes of the answer in body, so that slices stay valid while
 * more is decoded. Decoded bytes are fewer than the characters of the text. */
static tide_status reserve_decoded(struct att_rpc *rpc, struct tide_err *err)
{
    return tide_buf_grow(&rpc->decoded, rpc->body.len)
               ? TIDE_OK
               : tide_fail(err, TIDE_E_MEMORY, "no memory for an answer");
}

/* Calls method on one server. A connection that the HTTP client replaced during the call may
 * lead to another server behind the same name, so its network is checked before the answer is
 * used. */
static tide_status call_server(struct att_rpc *rpc, struct server *server, json_t **result,
                               const char *method, struct tide_err *err)
{
    bool connected = false;
    *result = NULL;
    tide_status status = server->known ? TIDE_OK : check_network(rpc, server, err);
    if (status == TIDE_OK)
        status = post_call(rpc, server, method, tide_buf_view(&rpc->params), &connected, err);
    if (status == TIDE_OK)
        status = read_result(rpc, result, err);
    /* check_network reads its own answer into body. */
    if (status == TIDE_OK)
        status = reserve_decoded(rpc, err);
    if (status == TIDE_OK && connected)
        status = check_network(rpc, server, err);
    if (status == TIDE_OK)
        status = note_ledger(rpc, server, *result, err);
    if (status != TIDE_OK) {
        json_decref(*result);
        *result = NULL;
    }
    return status;
}

/* --- the servers ------------------------------------------------------------------------------ */

/* Pauses the server for the longer of the doubled pause and the one that the server asked for. */
static void pause_server(struct att_rpc *rpc, struct server *server)
{
    const struct tide_config *config = rpc->options.config;
    uint32_t pause = tide_retry_pause_ms(&rpc->retry, config->rpc_retry_ms,
                                         config->rpc_retry_ms_max, server->failures++);
    server->known = false;
    server->paused_until_ms = now_of(rpc) + (server->after_ms > pause ? server->after_ms : pause);
}

static tide_status note_failure(struct att_rpc *rpc, tide_status status, const struct tide_err *err)
{
    assert(status != TIDE_OK && err->code == status);
    static_assert(sizeof rpc->failure == sizeof err->text, "copied whole");
    memcpy(rpc->failure, err->text, sizeof rpc->failure);
    return status;
}

int64_t att_rpc_rest_ms(const struct att_rpc *rpc)
{
    int64_t now = now_of(rpc), least = INT64_MAX;
    for (uint32_t i = 0; i < rpc->count; i++)
        if (rpc->servers[i].paused_until_ms - now < least)
            least = rpc->servers[i].paused_until_ms - now;
    return least > 0 ? least : 0;
}

tide_status att_rpc_distrust(struct att_rpc *rpc, const char *problem, struct tide_err *err)
{
    assert(rpc->current < rpc->count);
    struct server *server = &rpc->servers[rpc->current];
    pause_server(rpc, server);
    att_rpc_select_next(rpc); /* the server answers fast and would be called first again */
    return note_failure(rpc, tide_fail(err, TIDE_E_IO, "%s: %s", server->name, problem), err);
}

static tide_status try_server(struct att_rpc *rpc, uint32_t at, json_t **result, const char *method,
                              struct tide_err *err)
{
    assert(at < rpc->count);
    struct server *server = &rpc->servers[at];
    tide_status status = call_server(rpc, server, result, method, err);
    if (status == TIDE_OK) {
        rpc->current = at;
        server->failures = 0;
        return TIDE_OK;
    }
    /* A stop and a lack of memory are not the server's fault. */
    if (status != TIDE_E_STOPPED && status != TIDE_E_MEMORY)
        pause_server(rpc, server);
    return note_failure(rpc, tide_fail_context(err, "%s: %s", server->name, method), err);
}

tide_status rpc_call_any(struct att_rpc *rpc, json_t **result, const char *method, bool once,
                         struct tide_err *err)
{
    assert(rpc->count > 0 && rpc->current < rpc->count && rpc->sender < rpc->count);
    int64_t now = now_of(rpc);
    uint32_t called = 0, foreign = 0, first = once ? rpc->sender : rpc->current;
    tide_status status = tide_fail(
        err, TIDE_E_IO, "%s: every server failed a moment ago, the last: %s", method, rpc->failure);
    *result = NULL;
    tide_buf_reset(&rpc->decoded);
    if (rpc->params.failed)
        return tide_fail(err, TIDE_E_MEMORY, "%s: no memory for a request", method);
    for (uint32_t i = 0; i < rpc->count && !(once && called); i++) {
        uint32_t at = (first + i) % rpc->count;
        if (!can_call(rpc, at, now))
            continue;
        called++;
        if (once)
            rpc->sender = (at + 1) % rpc->count;
        status = try_server(rpc, at, result, method, err);
        if (status == TIDE_OK || status == TIDE_E_STOPPED || status == TIDE_E_MEMORY)
            return status;
    }
    if (once && called) /* a failed sending moves on to another server */
        rpc->current = rpc->sender;
    for (uint32_t i = 0; i < rpc->count; i++)
        foreign += rpc->servers[i].foreign;
    /* TIDE_E_CHAIN ends the program, so it needs the agreement of every server. */
    err->code = status == TIDE_E_CHAIN && foreign == rpc->count ? TIDE_E_CHAIN : TIDE_E_IO;
    return err->code;
}

uint32_t att_rpc_server_count(const struct att_rpc *rpc)
{
    return rpc->count;
}

bool att_rpc_exclude_current(struct att_rpc *rpc)
{
    assert(rpc->current < rpc->count);
    int64_t now = now_of(rpc);
    bool first = true;
    for (uint32_t i = 0; i < rpc->count; i++)
        first &= !rpc->servers[i].excluded;
    /* rpc->first is the server whose answer is checked: the one that is excluded first. */
    if (first)
        rpc->first = rpc->current;
    rpc->servers[rpc->current].excluded = true;
    for (uint32_t i = 0; i < rpc->count; i++)
        if (can_call(rpc, i, now))
            return true;
    return false;
}

void att_rpc_select_first(struct att_rpc *rpc)
{
    assert(rpc->first < rpc->count);
    rpc->current = rpc->first;
}

void att_rpc_include_all(struct att_rpc *rpc)
{
    for (uint32_t i = 0; i < rpc->count; i++)
        rpc->servers[i].excluded = false;
}

void att_rpc_select_next(struct att_rpc *rpc)
{
    assert(rpc->count > 0);
    rpc->current = (rpc->current + 1) % rpc->count;
}

void att_rpc_select_after_first(struct att_rpc *rpc)
{
    assert(rpc->count > 0 && rpc->first < rpc->count);
    rpc->current = (rpc->first + 1) % rpc->count;
}

bool rpc_is_now(const struct att_rpc *rpc, uint64_t close_time)
{
    int64_t now = rpc->options.clock->wall_ms(rpc->options.clock->self) / 1000;
    int64_t skew = rpc->options.config->clock_skew_s;
    return close_time <= INT64_MAX && (int64_t)close_time <= now + skew &&
           (int64_t)close_time >= now - skew;
}

/* --- life ------------------------------------------------------------------------------------- */

static bool is_loopback(const char *url)
{
    static const char *const hosts[] = { "http://127.", "http://localhost:", "http://localhost/",
                                         "http://[::1]" };
    for (size_t i = 0; i < TIDE_COUNT(hosts); i++)
        if (strncmp(url, hosts[i], strlen(hosts[i])) == 0)
            return true;
    return false;
}

static tide_status check_server(const struct att_rpc *rpc, const struct server *server,
                                struct tide_err *err)
{
    bool plain = strncmp(server->url, "http://", 7) == 0;
    if (!plain && strncmp(server->url, "https://", 8) != 0)
        return tide_fail(err, TIDE_E_CONFIG, "rpc: expected http(s)://host/path");
    if (plain && rpc->options.config->rpc_header[0] && !is_loopback(server->url))
        return tide_fail(err, TIDE_E_CONFIG,
                         "rpc_header would be sent to %s in plain text; use https", server->name);
    return TIDE_OK;
}

static tide_status read_servers(struct att_rpc *rpc, struct tide_err *err)
{
    const char *list = rpc->options.config->rpc;
    for (list += strspn(list, ", "); *list; list += strspn(list, ", ")) {
        size_t len = strcspn(list, ", ");
        if (rpc->count == SERVERS_MAX)
            return tide_fail(err, TIDE_E_CONFIG, "rpc: at most %d servers", SERVERS_MAX);
        struct server *server = &rpc->servers[rpc->count++];
        static_assert(sizeof server->url >= sizeof rpc->options.config->rpc, "no address is cut");
        snprintf(server->url, sizeof server->url, "%.*s", (int)len, list);
        tide_http_name(server->name, sizeof server->name, server->url);
        for (uint32_t i = 0; i + 1 < rpc->count; i++)
            if (strcmp(rpc->servers[i].url, server->url) == 0)
                return tide_fail(err, TIDE_E_CONFIG,
                                 "rpc: %s is listed twice; servers confirm each other, so list"
                                 " each once",
                                 server->name);
        tide_status status = check_server(rpc, server, err);
        if (status != TIDE_OK)
            return status;
        list += len;
    }
    if (rpc->count == 0)
        return tide_fail(err, TIDE_E_CONFIG,
                         "rpc is not set: set it to the address of a Stellar RPC server");
    return TIDE_OK;
}

tide_status att_rpc_open(struct att_rpc **out, const struct att_rpc_options *options,
                         struct tide_err *err)
{
    assert(options->clock && options->passphrase);
    const struct tide_config *config = options->config;
    const struct tide_http_options http = { .agent = "tidemark-attester",
                                            .ca_file = config->http_ca_file,
                                            .connect_ms = config->http_connect_ms,
                                            .timeout_ms = config->rpc_timeout_ms,
                                            .stall_s = config->http_stall_s };
    struct att_rpc *rpc = calloc(1, sizeof *rpc);
    if (!rpc)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the rpc client");
    rpc->options = *options;
    struct tide_buf *all[] = { &rpc->params, &rpc->request, &rpc->body, &rpc->decoded };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_init(all[i], ANSWER_MAX);
    tide_status status = read_servers(rpc, err);
    if (status == TIDE_OK && !options->call)
        status = tide_http_open(&rpc->http, &http, err);
    if (status != TIDE_OK) {
        att_rpc_close(rpc);
        return status;
    }
    assert(rpc->count > 0 && rpc->count <= SERVERS_MAX);
    tide_retry_init(&rpc->retry, options->clock->wall_ms(options->clock->self), 0);
    *out = rpc;
    return TIDE_OK;
}

void att_rpc_close(struct att_rpc *rpc)
{
    if (!rpc)
        return;
    struct tide_buf *all[] = { &rpc->params, &rpc->request, &rpc->body, &rpc->decoded };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_release(all[i]);
    tide_http_close(rpc->http);
    free(rpc);
}
