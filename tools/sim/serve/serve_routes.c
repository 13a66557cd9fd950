/* The paths of the server. rpc/ answers JSON-RPC itself. */
#include "tidemark/clock.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tools/sim/rpc/rpc.h"
#include "tools/sim/serve/serve.h"

/* bytes of a control answer; ledgers of one POST /close; age of a healthy tip; wait for a
 * funding */
enum { JSON_MAX = 1 << 20, CLOSE_MOST = 100000, HEALTHY_MS = 30000, FUND_WAIT_MS = 30000 };

const char serve_routes_help[] =
    "  POST /            JSON-RPC 2.0 as Stellar RPC speaks it; other methods get 405\n"
    "  GET /friendbot?addr=G…  a new account with XLM, a trustline and USDC; answers when a "
    "ledger\n"
    "                    has it\n"
    "From this machine alone, and from no browser:\n"
    "  GET /stats        requests by method, ledgers closed\n"
    "  POST /close       closes as many ledgers as the body says (1)\n"
    "  POST /hold        keeps waiting transactions out of as many ledgers as the body says (all)\n"
    "  DELETE /hold      takes them again\n"
    "  POST /faults      one fault a line, as with --fault; GET lists them, DELETE clears them\n";

static const char type_json[] = "application/json";
static const char type_text[] = "text/plain; charset=utf-8";

/* --- the RPC ----------------------------------------------------------------------- */

/* Callback of the RPC: sleeps. */
static void pause_call(void *self, uint64_t ms)
{
    serve_http_pause(((struct serve *)self)->http, ms);
}

tide_status serve_routes_open(struct serve *serve, struct tide_err *err)
{
    struct rpc *rpc = calloc(1, sizeof *rpc);
    serve->rpc = rpc;
    if (!rpc)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the RPC");
    rpc->store = serve->store;
    rpc->faults = serve->faults;
    rpc->node = serve->node;
    rpc->lock = &serve->lock;
    rpc->passphrase = serve->options.chain.passphrase;
    rpc->retention = (uint32_t)serve->options.retention;
    /* With --close-ms 0 ledgers close on request, so an old tip is healthy. */
    if (serve->options.close_ms)
        rpc->healthy_ms = HEALTHY_MS > (int64_t)serve->options.close_ms * 6
                              ? HEALTHY_MS
                              : (int64_t)serve->options.close_ms * 6;
    rpc->self = serve;
    rpc->pause = pause_call;
    rpc->other = serve_other_store;
    serve_routes_closed(serve);
    return TIDE_OK;
}

void serve_routes_close(struct serve *serve)
{
    free(serve->rpc);
}

void serve_routes_listening(struct serve *serve, const char *url)
{
    snprintf(serve->rpc->friendbot, sizeof serve->rpc->friendbot, "%s/friendbot", url);
}

void serve_routes_closed(struct serve *serve)
{
    if (serve->rpc)
        atomic_store(&serve->rpc->closed_ms, tide_now_ms());
}

/* --- answers -------------------------------------------------------------------------- */

/* Sets a text as the answer. */
static void set_text(struct serve_reply *reply, unsigned status, const char *text)
{
    reply->status = status;
    reply->type = type_text;
    tide_buf_reset(&reply->body);
    reply->body.max = JSON_MAX;
    tide_buf_str(&reply->body, text);
}

/* Returns the body of a JSON answer, which the caller fills. */
static struct tide_buf *set_json(struct serve_reply *reply)
{
    reply->type = type_json;
    reply->body.max = JSON_MAX;
    return &reply->body;
}

static bool text_eq(const char *text, const char *other)
{
    return strcmp(text, other) == 0;
}

static void deny_method(struct serve_reply *reply, const char *allow)
{
    set_text(reply, 405, "Method not allowed\n");
    reply->allow = allow;
}

/* --- faults that HTTP carries out ------------------------------------------------------------ */

/* Replaces the answer if a fault demands it. Returns false if none does. */
static bool replace_answer(const struct sim_fault_hit *hit, struct serve_reply *reply)
{
    if (sim_fault_on(hit, SIM_FAULT_HANG)) {
        reply->shape = SERVE_HANG;
    } else if (sim_fault_on(hit, SIM_FAULT_CLOSE)) {
        reply->shape = SERVE_CLOSE;
    } else if (sim_fault_on(hit, SIM_FAULT_STATUS)) {
        set_text(reply, (unsigned)hit->number[SIM_FAULT_STATUS], "a fault on purpose\n");
    } else if (sim_fault_on(hit, SIM_FAULT_BUSY)) {
        set_text(reply, 429, "too many requests, on purpose\n");
        reply->retry_after = (uint32_t)hit->number[SIM_FAULT_BUSY];
    } else if (sim_fault_on(hit, SIM_FAULT_HTML)) {
        set_text(reply, 200, "<!DOCTYPE html><html><body>A page, on purpose.</body></html>\n");
        reply->type = "text/html";
    } else if (sim_fault_on(hit, SIM_FAULT_EMPTY)) {
        set_text(reply, 200, "");
        reply->type = type_json;
    } else {
        return false;
    }
    return true;
}

/* Replaces the answer by open brackets. */
static void put_nesting(struct tide_buf *out, uint64_t depth)
{
    tide_buf_reset(out);
    out->max = RPC_ANSWER_BYTES_MAX;
    for (uint64_t i = 0; i < (depth ? depth : 100000); i++)
        tide_buf_u8(out, '[');
}

/* Damages an answer that exists. */
static void damage_answer(const struct sim_fault_hit *hit, struct serve_reply *reply)
{
    static const struct {
        enum sim_fault_kind kind;
        enum serve_shape shape;
    } shapes[] = { { SIM_FAULT_SILENCE, SERVE_SILENCE },
                   { SIM_FAULT_DRIP, SERVE_DRIP },
                   { SIM_FAULT_CUT, SERVE_CUT },
                   { SIM_FAULT_LENGTH, SERVE_LONG },
                   { SIM_FAULT_OVERSIZE, SERVE_PADDED } };
    struct tide_buf *body = &reply->body;
    if (sim_fault_on(hit, SIM_FAULT_TWO)) {
        /* The answer twice, one behind the other. */
        tide_slice once = tide_buf_view(body);
        if (tide_buf_grow(body, once.len))
            tide_buf_put(body, body->ptr, once.len);
    }
    if (sim_fault_on(hit, SIM_FAULT_NESTING))
        put_nesting(body, hit->number[SIM_FAULT_NESTING]);
    if (sim_fault_on(hit, SIM_FAULT_TRUNCATE) && hit->number[SIM_FAULT_TRUNCATE] < body->len)
        body->len = (size_t)hit->number[SIM_FAULT_TRUNCATE];
    for (size_t i = 0; i < TIDE_COUNT(shapes); i++) {
        if (!sim_fault_on(hit, shapes[i].kind))
            continue;
        reply->shape = shapes[i].shape;
        reply->number = hit->number[shapes[i].kind];
    }
    if (reply->shape == SERVE_PADDED)
        reply->number *= 1 << 20;
}

/* --- JSON-RPC ------------------------------------------------------------------------------ */

/* Returns true for application/json, with or without parameters. */
static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    if (!type || strncasecmp(type, json, sizeof json - 1) != 0)
        return false;
    char next = type[sizeof json - 1];
    return next == 0 || next == ';' || next == ' ';
}

/* Answers POST / by JSON-RPC. */
static void handle_rpc(struct serve *serve, const struct serve_request *request,
                       struct serve_reply *reply)
{
    struct rpc_reply answer = { .nothing = false };
    if (!text_eq(request->method, "POST")) {
        deny_method(reply, "POST");
        tide_buf_str(&reply->body, "This is a SIMULATED network: nothing here happened anywhere. "
                                   "POST JSON-RPC 2.0, as to Stellar RPC.\n");
        return;
    }
    if (!is_json(request->content_type)) {
        set_text(reply, 415, "Unsupported media type: application/json is needed\n");
        return;
    }
    if (request->too_large) {
        set_text(reply, 413, "Request body too large\n");
        return;
    }
    tide_buf_init(&answer.body, RPC_ANSWER_BYTES_MAX);
    rpc_answer(serve->rpc, request->body, &answer);
    if (replace_answer(&answer.hit, reply)) {
        tide_buf_release(&answer.body);
        return;
    }
    reply->body = answer.body;
    reply->status = answer.nothing ? 204 : 200;
    reply->type = answer.nothing ? NULL : type_json;
    damage_answer(&answer.hit, reply);
}

/* --- friendbot ------------------------------------------------------------------------------- */

/* Waits until a ledger contains the transaction; closes one if ledgers close on request. Returns
 * false after FUND_WAIT_MS. */
static bool wait_for_tx(struct serve *serve, const uint8_t hash[TIDE_HASH_BYTES])
{
    struct tide_err err;
    if (serve->options.close_ms == 0 && serve_close_ledgers(serve, 1, &err) != TIDE_OK)
        return false;
    for (uint32_t ms = 0; ms < FUND_WAIT_MS; ms += 20) {
        if (ledger_store_find(serve->store, hash))
            return true;
        serve_http_pause(serve->http, 20);
    }
    return false;
}

/* Sets an error in the form of the network's friendbot. */
static void set_friendbot_error(struct serve_reply *reply, unsigned status, const char *detail)
{
    struct tide_buf *out = set_json(reply);
    reply->status = status;
    tide_buf_putf(out, "{\"status\":%u,\"detail\":\"%s\"}\n", status, detail);
}

/* Funds an account and answers once a ledger contains the transaction. */
static void handle_friendbot(struct serve *serve, const struct serve_request *request,
                             struct serve_reply *reply)
{
    enum tide_strkey kind;
    uint8_t key[TIDE_STRKEY_PAYLOAD_MAX], hash[TIDE_HASH_BYTES];
    size_t len = 0;
    const char *addr = request->addr ? request->addr : "";
    if (tide_strkey_decode(&kind, key, &len, tide_slice_str(addr)) != TIDE_OK ||
        kind != TIDE_STRKEY_ACCOUNT) {
        set_friendbot_error(reply, 400, "addr is no account");
        return;
    }
    if (!serve->node) {
        set_friendbot_error(reply, 503, "the ledgers are recorded: no account can be made");
        return;
    }
    pthread_mutex_lock(&serve->lock);
    tide_status status = node_fund(serve->node, key, hash);
    pthread_mutex_unlock(&serve->lock);
    if (status == TIDE_E_CONFLICT) {
        set_friendbot_error(reply, 400, "account already funded to starting balance");
    } else if (status != TIDE_OK) {
        set_friendbot_error(reply, 503, "the queue is full");
    } else if (!wait_for_tx(serve, hash)) {
        set_friendbot_error(reply, 504, "no ledger took it in time");
    } else {
        struct tide_buf *out = set_json(reply);
        tide_buf_str(out, "{\"successful\":true,\"simulated\":true,\"hash\":\"");
        tide_buf_hex(out, tide_slice_of(hash, sizeof hash));
        tide_buf_str(out, "\"}\n");
    }
}

/* --- control --------------------------------------------------------------------------------- */

/* Appends counts of ledgers and requests. */
static void put_stats(struct serve *serve, struct tide_buf *out)
{
    struct ledger_info oldest = { 0 }, latest = { 0 };
    ledger_store_range(serve->store, &oldest, &latest);
    tide_buf_putf(out,
                  "{\"simulated\":true,\"latestLedger\":%u,\"oldestLedger\":%u,\"closed\":%llu,"
                  "\"http\":%llu,\"unknown\":%llu,\"requests\":{",
                  latest.sequence, oldest.sequence, atomic_load(&serve->closed),
                  atomic_load(&serve->served), atomic_load(&serve->rpc->unknown));
    for (uint32_t i = 0; i < RPC_METHOD_COUNT; i++)
        tide_buf_putf(out, "%s\"%s\":%llu", i ? "," : "", rpc_method_name(i),
                      atomic_load(&serve->rpc->calls[i]));
    tide_buf_str(out, "}}\n");
}

/* Reads the number in the body; usual if the body is empty. Returns false for another body. */
static bool body_number(const struct serve_request *request, uint64_t usual, uint64_t most,
                        uint64_t *number)
{
    tide_slice body = request->body;
    while (body.len && (body.ptr[body.len - 1] == '\n' || body.ptr[body.len - 1] == ' '))
        body.len--;
    *number = usual;
    return body.len == 0 || tide_parse_u64(number, body, most) == TIDE_OK;
}

/* POST /close: closes ledgers now. */
static void handle_close(struct serve *serve, const struct serve_request *request,
                         struct serve_reply *reply)
{
    uint64_t count = 0;
    struct tide_err err;
    if (!text_eq(request->method, "POST"))
        deny_method(reply, "POST");
    else if (!body_number(request, 1, CLOSE_MOST, &count))
        set_text(reply, 400, "the body is how many ledgers to close\n");
    else if (serve_close_ledgers(serve, (uint32_t)count, &err) != TIDE_OK)
        set_text(reply, 500, err.text);
    else
        put_stats(serve, set_json(reply));
}

/* POST and DELETE /hold: keep the queue out of ledgers, or end that. */
static void handle_hold(struct serve *serve, const struct serve_request *request,
                        struct serve_reply *reply)
{
    uint64_t count = 0;
    bool take = text_eq(request->method, "DELETE");
    if (!take && !text_eq(request->method, "POST")) {
        deny_method(reply, "POST, DELETE");
        return;
    }
    if (!take && !body_number(request, UINT32_MAX, UINT32_MAX, &count)) {
        set_text(reply, 400, "the body is how many ledgers take no transaction\n");
        return;
    }
    if (!serve->node) {
        set_text(reply, 409, "the ledgers are recorded: nothing waits\n");
        return;
    }
    pthread_mutex_lock(&serve->lock);
    node_hold(serve->node, (uint32_t)count);
    pthread_mutex_unlock(&serve->lock);
    set_text(reply, 200, take ? "taken\n" : "held\n");
}

/* Sets the fault of each line. The first wrong line ends it with an error; faults of lines before
 * it stay. */
static void add_faults(struct serve *serve, tide_slice lines, struct serve_reply *reply)
{
    struct tide_err err;
    set_text(reply, 200, "set\n");
    while (lines.len > 0) {
        const uint8_t *end = memchr(lines.ptr, '\n', lines.len);
        tide_slice line = tide_slice_of(lines.ptr, end ? (size_t)(end - lines.ptr) : lines.len);
        if (line.len && sim_faults_add(serve->faults, line, &err) != TIDE_OK) {
            set_text(reply, 400, err.text);
            return;
        }
        size_t used = line.len + (end != NULL);
        lines = tide_slice_of(lines.ptr + used, lines.len - used);
    }
}

/* GET, POST and DELETE /faults. */
static void handle_faults(struct serve *serve, const struct serve_request *request,
                          struct serve_reply *reply)
{
    if (text_eq(request->method, "GET")) {
        sim_faults_list(serve->faults, set_json(reply));
    } else if (text_eq(request->method, "POST")) {
        add_faults(serve, request->body, reply);
    } else if (text_eq(request->method, "DELETE")) {
        sim_faults_clear(serve->faults);
        set_text(reply, 200, "cleared\n");
    } else {
        deny_method(reply, "GET, POST, DELETE");
    }
}

/* Paths that control the server. Other machines and browsers may not use them: a web page could
 * post to this machine. */
static void handle_control(struct serve *serve, const struct serve_request *request,
                           struct serve_reply *reply)
{
    if (!request->loopback || request->origin)
        set_text(reply, 403, "only from this machine, and from no browser\n");
    else if (text_eq(request->path, "/faults"))
        handle_faults(serve, request, reply);
    else if (text_eq(request->path, "/close"))
        handle_close(serve, request, reply);
    else if (text_eq(request->path, "/hold"))
        handle_hold(serve, request, reply);
    else if (text_eq(request->path, "/stats"))
        put_stats(serve, set_json(reply));
    else
        set_text(reply, 404, "no such path\n");
}

void serve_handle(void *self, const struct serve_request *request, struct serve_reply *reply)
{
    struct serve *serve = self;
    if (!atomic_load(
            &serve->listening)) { /* the main thread holds the lock while it opens the server */
        pthread_mutex_lock(&serve->lock);
        pthread_mutex_unlock(&serve->lock);
    }
    atomic_fetch_add(&serve->served, 1);
    /* Like Stellar RPC, the server lets pages of any origin use these paths. */
    reply->open = text_eq(request->path, "/") || text_eq(request->path, "/friendbot");
    if (reply->open && text_eq(request->method, "OPTIONS"))
        reply->status = 204;
    else if (text_eq(request->path, "/"))
        handle_rpc(serve, request, reply);
    else if (text_eq(request->path, "/friendbot"))
        handle_friendbot(serve, request, reply);
    else
        handle_control(serve, request, reply);
}
