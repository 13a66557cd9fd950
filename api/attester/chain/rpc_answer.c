/* What is asked, and what is read of the answers. */
#include "api/attester/chain/rpc.h"
#include "api/attester/chain/rpc_impl.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

/* --- bytes of an answer ----------------------------------------------------------------------- */

/* Bytes of one answer. What is there and is no base64 makes it malformed: never "not there". */
struct taker {
    struct tide_buf *hold;
    bool good;
};

/* Room for all of them was made with the answer, so what borrows from hold stays where it is.
 * Empty: there is none. */
static tide_slice take(struct taker *t, const json_t *text)
{
    size_t from = t->hold->len;
    if (!text || json_is_null(text))
        return (tide_slice){ 0 };
    const char *base64 = json_string_value(text);
    if (!base64 || tide_buf_base64_decode(t->hold, tide_slice_str(base64)) != TIDE_OK) {
        t->hold->len = from;
        t->good = false;
        return (tide_slice){ 0 };
    }
    return tide_slice_of(t->hold->ptr + from, t->hold->len - from);
}

/* The same of what has to be there. */
static tide_slice take_some(struct taker *t, const json_t *text)
{
    tide_slice bytes = take(t, text);
    t->good &= bytes.len > 0;
    return bytes;
}

static tide_status ask(struct att_rpc *rpc, json_t **result, const char *method,
                       struct tide_err *err)
{
    return rpc_ask_any(rpc, result, method, false, err);
}

static void put_base64_text(struct tide_buf *out, tide_slice bytes)
{
    tide_buf_str(out, "\"");
    tide_buf_base64(out, bytes);
    tide_buf_str(out, "\"");
}

static void put_transaction(struct att_rpc *rpc, tide_slice envelope)
{
    struct tide_buf *params = rpc_params(rpc);
    tide_buf_str(params, "{\"transaction\":");
    put_base64_text(params, envelope);
    tide_buf_str(params, "}");
}

/* --- ledgers and entries ---------------------------------------------------------------------- */

tide_status att_rpc_tip(struct att_rpc *rpc, struct att_tip *out, struct tide_err *err)
{
    json_t *result;
    uint64_t ledger = 0;
    static const uint8_t none[TIDE_HASH_BYTES];
    tide_buf_str(rpc_params(rpc), "{}");
    tide_status status = ask(rpc, &result, "getLatestLedger", err);
    if (status != TIDE_OK)
        return status;
    bool known = rpc_number(result, "sequence", UINT32_MAX, &ledger) &&
                 rpc_number(result, "closeTime", INT64_MAX, &out->close_time);
    out->ledger = (uint32_t)ledger;
    json_decref(result);
    if (known && !rpc_is_now(rpc, out->close_time))
        return att_rpc_distrust(rpc, "getLatestLedger: its newest ledger is not of now", err);
    if (known)
        return TIDE_OK;
    struct att_found found; /* older servers tell the time there alone */
    status = att_rpc_find(rpc, &found, none, err);
    *out = (struct att_tip){ .ledger = found.latest, .close_time = found.close_time };
    return status;
}

/* Each entry is one that was asked for, once: one that is overlooked would count as not there. */
static void take_entry(struct taker *t, struct att_entries *out, const tide_slice *keys,
                       size_t count, const json_t *item)
{
    uint64_t modified = 0;
    size_t at = 0;
    tide_slice key = take_some(t, json_object_get(item, "key"));
    tide_slice data = take_some(t, json_object_get(item, "xdr"));
    while (at < count && !tide_slice_eq(key, keys[at]))
        at++;
    t->good &= at < count && out->data[at].len == 0;
    if (!t->good)
        return;
    out->data[at] = data;
    rpc_number(item, "lastModifiedLedgerSeq", UINT32_MAX, &modified);
    out->modified[at] = (uint32_t)modified;
}

tide_status att_rpc_entries(struct att_rpc *rpc, struct att_entries *out, const tide_slice *keys,
                            size_t count, struct tide_err *err)
{
    json_t *result;
    uint64_t ledger = 0;
    assert(count <= ATT_KEYS_MAX);
    *out = (struct att_entries){ 0 };
    struct tide_buf *params = rpc_params(rpc);
    for (size_t i = 0; i < count; i++) {
        tide_buf_str(params, i ? "," : "{\"keys\":[");
        put_base64_text(params, keys[i]);
    }
    tide_buf_str(params, "]}");
    tide_status status = ask(rpc, &result, "getLedgerEntries", err);
    if (status != TIDE_OK)
        return status;
    const json_t *list = json_object_get(result, "entries");
    struct taker t = { rpc_hold(rpc), true };
    t.good = rpc_number(result, "latestLedger", UINT32_MAX, &ledger) &&
             (json_is_array(list) || json_is_null(list)) && json_array_size(list) <= count;
    for (size_t i = 0; t.good && i < json_array_size(list); i++)
        take_entry(&t, out, keys, count, json_array_get(list, i));
    out->ledger = (uint32_t)ledger;
    json_decref(result);
    return t.good ? TIDE_OK
                  : att_rpc_distrust(rpc, "getLedgerEntries: the answer is malformed", err);
}

/* --- simulating ------------------------------------------------------------------------------- */

/* Entries back to back: they are decoded one behind the other. */
static void take_auth(struct taker *t, struct att_simulated *out, const json_t *list)
{
    out->auth_count = (uint32_t)json_array_size(list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        tide_slice entry = take_some(t, json_array_get(list, i));
        if (!out->auth.ptr)
            out->auth.ptr = entry.ptr;
        out->auth.len += entry.len;
    }
}

static void take_changes(struct taker *t, struct att_simulated *out, const json_t *list)
{
    t->good &= json_array_size(list) <= ATT_LIST_MAX; /* a call of ours changes a handful */
    for (size_t i = 0; t->good && i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        struct att_change *change = &out->changes[out->change_count++];
        change->key = take_some(t, json_object_get(item, "key"));
        change->before = take(t, json_object_get(item, "before"));
        change->after = take(t, json_object_get(item, "after"));
    }
}

tide_status att_rpc_simulate(struct att_rpc *rpc, struct att_simulated *out, tide_slice envelope,
                             struct tide_err *err)
{
    json_t *result;
    uint64_t ledger = 0, fee = 0;
    *out = (struct att_simulated){ 0 };
    put_transaction(rpc, envelope);
    tide_status status = ask(rpc, &result, "simulateTransaction", err);
    if (status != TIDE_OK)
        return status;
    const char *error = json_string_value(json_object_get(result, "error"));
    const json_t *first = json_array_get(json_object_get(result, "results"), 0);
    if (error)
        snprintf(out->error, sizeof out->error, "%.*s", (int)strcspn(error, "\r\n"), error);
    struct taker t = { rpc_hold(rpc), true };
    out->data = take(&t, json_object_get(result, "transactionData"));
    take_auth(&t, out, json_object_get(first, "auth"));
    take_changes(&t, out, json_object_get(result, "stateChanges"));
    bool good = t.good && rpc_number(result, "latestLedger", UINT32_MAX, &ledger);
    if (good && !out->error[0])
        good = out->data.len && rpc_number(result, "minResourceFee", UINT32_MAX, &fee);
    json_decref(result);
    out->ledger = (uint32_t)ledger;
    out->resource_fee = (int64_t)fee;
    return good ? TIDE_OK
                : att_rpc_distrust(rpc, "simulateTransaction: the answer is malformed", err);
}

/* --- sending ---------------------------------------------------------------------------------- */

/* TransactionResult: fee, code; of a bump that failed inside: the inner pair's hash, fee, code. */
static int32_t code_of(tide_slice result)
{
    enum { INNER_FAILED = -13, INNER_SUCCESS = 1 };
    int32_t code = result.len >= 12 ? (int32_t)tide_be32(result.ptr + 8) : 0;
    if ((code == INNER_FAILED || code == INNER_SUCCESS) && result.len >= 56)
        code = (int32_t)tide_be32(result.ptr + 52);
    return code;
}

static bool status_of(const json_t *result, const char *const *names, uint32_t count, uint32_t *out)
{
    const char *text = json_string_value(json_object_get(result, "status"));
    for (*out = 0; text && *out < count; (*out)++)
        if (strcmp(text, names[*out]) == 0)
            return true;
    return false;
}

tide_status att_rpc_send(struct att_rpc *rpc, struct att_sent *out, tide_slice envelope,
                         struct tide_err *err)
{
    static const char *const names[] = { "PENDING", "DUPLICATE", "TRY_AGAIN_LATER", "ERROR" };
    json_t *result;
    uint32_t word;
    *out = (struct att_sent){ 0 };
    put_transaction(rpc, envelope);
    tide_status status = rpc_ask_any(rpc, &result, "sendTransaction", true, err);
    if (status != TIDE_OK)
        return status;
    bool good = status_of(result, names, TIDE_COUNT(names), &word);
    out->status = (enum att_sent_status)word;
    struct taker t = { rpc_hold(rpc), true };
    out->code = code_of(take(&t, json_object_get(result, "errorResultXdr")));
    json_decref(result);
    return good && t.good ? TIDE_OK
                          : att_rpc_distrust(rpc, "sendTransaction: the answer is malformed", err);
}

static void take_list(struct taker *t, tide_slice *out, uint32_t *count, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list) && *count < ATT_LIST_MAX; i++)
        out[(*count)++] = take(t, json_array_get(list, i));
}

static bool read_found(struct att_rpc *rpc, struct att_found *out, const json_t *result)
{
    struct taker t = { rpc_hold(rpc), true };
    uint64_t latest = 0, oldest = 0, ledger = 0;
    bool good = rpc_number(result, "latestLedger", UINT32_MAX, &latest) &&
                rpc_number(result, "latestLedgerCloseTime", INT64_MAX, &out->close_time) &&
                rpc_number(result, "oldestLedger", UINT32_MAX, &oldest);
    good = good && rpc_is_now(rpc, out->close_time);
    out->latest = (uint32_t)latest;
    out->oldest = (uint32_t)oldest;
    if (!good || out->status == ATT_NOT_FOUND)
        return good;
    good = rpc_number(result, "ledger", UINT32_MAX, &ledger) && ledger && ledger <= latest;
    out->ledger = (uint32_t)ledger;
    out->envelope = take(&t, json_object_get(result, "envelopeXdr"));
    out->result = take(&t, json_object_get(result, "resultXdr"));
    out->meta = take(&t, json_object_get(result, "resultMetaXdr"));
    out->fee = out->result.len >= 8 ? (int64_t)tide_be64(out->result.ptr) : 0;
    const json_t *lists = json_object_get(json_object_get(result, "events"), "contractEventsXdr");
    take_list(&t, out->events, &out->event_count, json_array_get(lists, 0));
    take_list(&t, out->diagnostics, &out->diagnostic_count,
              json_object_get(result, "diagnosticEventsXdr"));
    return good && t.good;
}

tide_status att_rpc_find(struct att_rpc *rpc, struct att_found *out,
                         const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    static const char *const names[] = { "NOT_FOUND", "SUCCESS", "FAILED" };
    json_t *result;
    uint32_t word;
    *out = (struct att_found){ 0 };
    struct tide_buf *params = rpc_params(rpc);
    tide_buf_str(params, "{\"hash\":\"");
    tide_buf_hex(params, tide_slice_of(hash, TIDE_HASH_BYTES));
    tide_buf_str(params, "\"}");
    tide_status status = ask(rpc, &result, "getTransaction", err);
    if (status != TIDE_OK)
        return status;
    bool good = status_of(result, names, TIDE_COUNT(names), &word);
    out->status = (enum att_found_status)word;
    good = good && read_found(rpc, out, result);
    json_decref(result);
    return good ? TIDE_OK
                : att_rpc_distrust(rpc, "getTransaction: the answer is malformed, or not of now",
                                   err);
}

tide_status att_rpc_fee(struct att_rpc *rpc, int64_t *out, struct tide_err *err)
{
    json_t *result;
    uint64_t bid = 0;
    tide_buf_str(rpc_params(rpc), "{}");
    tide_status status = ask(rpc, &result, "getFeeStats", err);
    if (status != TIDE_OK)
        return status;
    rpc_number(json_object_get(result, "sorobanInclusionFee"), "p90", UINT32_MAX, &bid);
    json_decref(result);
    *out = bid < 100 ? 100 : (int64_t)bid;
    return TIDE_OK;
}
