/* JSON-RPC 2.0: parsing a request, finding its method, framing the answer, faults of the answer. */
#include "tools/sim/rpc/rpc.h"
#include "tidemark/json_read.h"
#include "tidemark/text.h"

/* The methods by their number. */
static const struct {
    const char *name;
    rpc_method *run;
} methods[] = {
#define RPC_ROW(name) { #name, rpc_##name },
    RPC_METHODS(RPC_ROW)
#undef RPC_ROW
};

const char *rpc_method_name(uint32_t method)
{
    return methods[method].name;
}

/* --- answers ------------------------------------------------------------------------ */

/* Appends an id as the request has it; null if it has none. */
static void put_id(struct tide_buf *out, const json_t *id)
{
    char number[32];
    if (json_is_string(id)) {
        tide_buf_json_string(out, tide_slice_of(json_string_value(id), json_string_length(id)));
    } else if (json_is_integer(id)) {
        tide_buf_putf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
    } else if (json_is_real(id)) {
        snprintf(number, sizeof number, "%.17g", json_real_value(id));
        tide_buf_str(out, number);
    } else {
        tide_buf_str(out, "null");
    }
}

/* Appends an error answer. */
static void put_error(struct tide_buf *out, const json_t *id, int code, const char *message)
{
    tide_buf_str(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    put_id(out, id);
    tide_buf_putf(out, ",\"error\":{\"code\":%d,\"message\":", code);
    tide_buf_json_string(out, tide_slice_str(message));
    tide_buf_str(out, "}}");
}

/* Cuts the buffer back to a length. A failed buffer stays failed. */
static void cut_back(struct tide_buf *out, size_t len)
{
    if (!out->failed)
        out->len = len;
}

/* --- faults --------------------------------------------------------------------------- */

/* Returns true if HTTP answers in place of the call, which then does not run. */
static bool is_replaced_by_http(const struct sim_fault_hit *hit)
{
    static const enum sim_fault_kind kinds[] = { SIM_FAULT_HANG, SIM_FAULT_STATUS, SIM_FAULT_BUSY,
                                                 SIM_FAULT_HTML, SIM_FAULT_EMPTY };
    for (size_t i = 0; i < TIDE_COUNT(kinds); i++) {
        if (sim_fault_on(hit, kinds[i]))
            return true;
    }
    return sim_fault_on(hit, SIM_FAULT_CLOSE) && strcmp(hit->text, "before") == 0;
}

/* Sets an error in place of the call. Returns false if no fault demands one. */
static bool set_fault_error(struct rpc_call *call, const char *method)
{
    const struct sim_fault_hit *hit = call->hit;
    if (sim_fault_on(hit, SIM_FAULT_RPC_ERROR)) {
        char *text = NULL;
        int code = (int)strtol(hit->text, &text, 10);
        rpc_refuse(call, code, "%s", text + 1);
    } else if (sim_fault_on(hit, SIM_FAULT_QUEUE)) {
        rpc_refuse(call, RPC_QUEUE, "rpc queue for %s surpassed queue limit of 1000 requests",
                   method);
    } else {
        return false;
    }
    return true;
}

/* Replaces the digits behind some names by more than any integer holds. from: where the result
 * begins. */
static void make_huge(struct tide_buf *out, size_t from)
{
    static const char *const names[] = { "\"latestLedger\":", "\"sequence\":", "\"ledger\":" };
    static const char huge[] = "99999999999999999999999999999999999999999";
    struct tide_buf copy;
    tide_buf_init(&copy, out->max);
    assert(out->ptr && from <= out->len);
    tide_slice rest = tide_slice_of(out->ptr + from, out->len - from);
    while (rest.len > 0) {
        size_t skip = 1;
        for (size_t i = 0; i < TIDE_COUNT(names); i++) {
            size_t len = strlen(names[i]);
            if (rest.len <= len || memcmp(rest.ptr, names[i], len) != 0)
                continue;
            tide_buf_str(&copy, names[i]);
            tide_buf_str(&copy, huge);
            for (skip = len; skip < rest.len && rest.ptr[skip] >= '0' && rest.ptr[skip] <= '9';)
                skip++;
            break;
        }
        if (skip == 1)
            tide_buf_u8(&copy, *rest.ptr);
        rest = tide_slice_of(rest.ptr + skip, rest.len - skip);
    }
    cut_back(out, from);
    tide_buf_slice(out, tide_buf_view(&copy));
    out->failed |= copy.failed;
    tide_buf_release(&copy);
}

/* --- one call --------------------------------------------------------------------------- */

/* Sets the ledgers that the call sees. Returns false if there is no ledger yet. */
static bool open_view(struct rpc_call *call)
{
    const struct sim_fault_hit *hit = call->hit;
    call->store = call->rpc->store;
    if (sim_fault_on(hit, SIM_FAULT_RESET)) {
        struct ledger_store *other = call->rpc->other(call->rpc->self);
        call->store = other ? other : call->store;
    }
    if (!ledger_store_range(call->store, &call->oldest, &call->latest))
        return false;
    uint32_t first = call->oldest.sequence, last = call->latest.sequence;
    uint64_t lag = hit->number[SIM_FAULT_LAG], kept = hit->number[SIM_FAULT_RETENTION];
    if (sim_fault_on(hit, SIM_FAULT_LAG)) {
        last = lag < last - first ? last - (uint32_t)lag : first;
        ledger_store_info(call->store, last, &call->latest);
    }
    if (sim_fault_on(hit, SIM_FAULT_RETENTION) && kept && kept < last - first)
        ledger_store_info(call->store, last - (uint32_t)kept + 1, &call->oldest);
    return true;
}

/* Returns true if the method needs state. */
static bool needs_node(uint32_t method)
{
    return method == RPC_getLedgerEntries || method == RPC_simulateTransaction ||
           method == RPC_sendTransaction;
}

/* Runs the method. Returns false if the call is refused. */
static bool run_method(struct rpc_call *call, uint32_t method)
{
    if (sim_fault_on(call->hit, SIM_FAULT_DELAY))
        call->rpc->pause(call->rpc->self, call->hit->number[SIM_FAULT_DELAY]);
    if (set_fault_error(call, methods[method].name))
        return false;
    if (!open_view(call))
        return rpc_refuse(call, RPC_INTERNAL, "data stores are not initialized: DB is empty");
    if (!call->rpc->node && needs_node(method))
        return rpc_refuse(call, RPC_INTERNAL, "the ledgers are recorded: there is no state");
    if (!methods[method].run(call))
        return false;
    if (call->out->failed)
        return rpc_refuse(call, RPC_INTERNAL, "the answer is too large");
    return true;
}

/* Runs the method and appends its answer, or its error. */
static void answer_call(struct rpc *rpc, const json_t *request, uint32_t method,
                        struct rpc_reply *reply)
{
    struct sim_fault_hit hit;
    struct tide_buf *out = &reply->body;
    size_t from = out->len;
    const json_t *id = json_object_get(request, "id");
    sim_faults_match(rpc->faults, methods[method].name, &hit);
    reply->hit = hit;
    if (is_replaced_by_http(&hit))
        return;
    struct rpc_call call = {
        .rpc = rpc, .params = json_object_get(request, "params"), .hit = &hit, .out = out
    };
    if (json_is_null(call.params))
        call.params = NULL;
    tide_buf_str(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (sim_fault_on(&hit, SIM_FAULT_WRONG_ID))
        tide_buf_str(out, "\"an id that was not asked\"");
    else
        put_id(out, id);
    tide_buf_str(out, ",\"result\":");
    size_t result = out->len;
    /* An error replaces all that the method appended. */
    bool good = run_method(&call, method);
    if (!good) {
        out->len = from;
        out->failed = false;
        put_error(out, id, call.code, call.message);
        return;
    }
    if (sim_fault_on(&hit, SIM_FAULT_NULL_RESULT)) {
        cut_back(out, result);
        tide_buf_str(out, "null");
    }
    if (sim_fault_on(&hit, SIM_FAULT_HUGE))
        make_huge(out, result);
    tide_buf_str(out, "}");
}

/* Returns true for the types of an id that JSON-RPC allows. */
static bool id_fits(const json_t *id)
{
    return !id || json_is_null(id) || json_is_string(id) || json_is_number(id);
}

/* Returns the number of the request's method. Returns -1 and sets code and message if the request
 * is invalid. */
static int method_of(const json_t *request, int *code, const char **message)
{
    const json_t *name = json_object_get(request, "method");
    const json_t *params = json_object_get(request, "params");
    const char *version = json_string_value(json_object_get(request, "jsonrpc"));
    *code = RPC_REQUEST;
    *message = "invalid request value";
    if (!json_is_object(request) || !id_fits(json_object_get(request, "id")))
        return -1;
    *message = "invalid version marker";
    if (!version || strcmp(version, "2.0") != 0)
        return -1;
    *message = "empty method name";
    if (!json_is_string(name) || json_string_length(name) == 0)
        return -1;
    *code = RPC_NO_METHOD;
    *message = "method not found";
    uint32_t method = 0;
    while (method < RPC_METHOD_COUNT && strcmp(methods[method].name, json_string_value(name)) != 0)
        method++;
    if (method == RPC_METHOD_COUNT)
        return -1;
    *code = RPC_PARAMS;
    *message = "invalid parameters: an object is expected";
    return params && !json_is_object(params) && !json_is_null(params) ? -1 : (int)method;
}

/* Answers one request. A notification, which has no id, runs but has no answer. */
static void answer_one(struct rpc *rpc, const json_t *request, struct rpc_reply *reply)
{
    int code = 0;
    const char *message = NULL;
    size_t from = reply->body.len;
    const json_t *id = json_object_get(request, "id");
    int method = method_of(request, &code, &message);
    if (method >= 0) {
        atomic_fetch_add(&rpc->calls[method], 1);
        answer_call(rpc, request, (uint32_t)method, reply);
    } else {
        rpc->unknown += code == RPC_NO_METHOD;
        put_error(&reply->body, id_fits(id) ? id : NULL, code, message);
    }
    if (method >= 0 && !id)
        cut_back(&reply->body, from);
}

void rpc_answer(struct rpc *rpc, tide_slice request, struct rpc_reply *reply)
{
    json_error_t error;
    json_t *root = tide_json_load(request, JSON_DECODE_ANY, &error);
    struct tide_buf *out = &reply->body;
    if (!root) {
        put_error(out, NULL, RPC_PARSE, "parse error");
    } else if (json_is_array(root)) {
        put_error(out, NULL, RPC_REQUEST, "this simulated network takes no batches");
    } else {
        answer_one(rpc, root, reply);
        reply->nothing = out->len == 0 && reply->hit.on == 0;
    }
    json_decref(root);
    /* The answer did not fit: the buffer is emptied for the error. */
    if (out->failed) {
        out->len = 0;
        out->failed = false;
        put_error(out, NULL, RPC_INTERNAL, "the answer is too large");
    }
}
