/* The params of each method, and the decoding of its answer. */
#include "api/attester/chain/rpc.h"
#include "api/attester/chain/rpc_impl.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

/* --- bytes of an answer ----------------------------------------------------------------------- */

/* Decodes the base64 members of one answer into hold. A member that is present but not base64
 * makes the whole answer malformed. It never counts as absent: an absent entry means that a
 * person has no record. */
struct decoder {
    struct tide_buf *hold;
    bool good; /* false: the answer is malformed */
};

/* Returns the decoded bytes, or an empty slice if the member is absent. rpc.c reserved the room,
 * so earlier slices stay valid. */
static tide_slice decode_field(struct decoder *t, const json_t *text)
{
    size_t from = t->hold->len;
    if (!text || json_is_null(text))
        return (tide_slice){ 0 };
    const uint8_t *room = t->hold->ptr;
    const char *base64 = json_string_value(text);
    if (!base64 || tide_buf_base64_decode(t->hold, tide_slice_str(base64)) != TIDE_OK) {
        t->hold->len = from;
        t->good = false;
        return (tide_slice){ 0 };
    }
    assert(t->hold->ptr == room);
    return tide_slice_of(t->hold->ptr + from, t->hold->len - from);
}

/* Returns the decoded bytes of a member that must be present and not empty. */
static tide_slice decode_required(struct decoder *t, const json_t *text)
{
    tide_slice bytes = decode_field(t, text);
    t->good &= bytes.len > 0;
    return bytes;
}

static tide_status call_any(struct att_rpc *rpc, json_t **result, const char *method,
                            struct tide_err *err)
{
    return rpc_call_any(rpc, result, method, false, err);
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
    tide_status status = call_any(rpc, &result, "getLatestLedger", err);
    if (status != TIDE_OK)
        return status;
    bool known = rpc_number(result, "sequence", UINT32_MAX, &ledger) &&
                 rpc_number(result, "closeTime", INT64_MAX, &out->close_time);
    out->ledger = (uint32_t)ledger;
    json_decref(result);
    if (known && !rpc_is_now(rpc, out->close_time))
        return att_rpc_distrust(
            rpc,
            "getLatestLedger: the newest ledger is too far from this host's time (clock_skew_s)",
            err);
    if (known)
        return TIDE_OK;
    struct att_found found; /* older servers report the close time only in getTransaction */
    status = att_rpc_find(rpc, &found, none, err);
    *out = (struct att_tip){ .ledger = found.latest, .close_time = found.close_time };
    return status;
}

/* Stores an entry at the index of its key. An unknown key, or one that occurs twice, makes the
 * answer malformed: the entry that was asked for would count as absent. */
static void read_entry(struct decoder *t, struct att_entries *out, const tide_slice *keys,
                       size_t count, const json_t *item)
{
    uint64_t modified = 0;
    size_t at = 0;
    tide_slice key = decode_required(t, json_object_get(item, "key"));
    tide_slice data = decode_required(t, json_object_get(item, "xdr"));
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
    assert(count > 0 && count <= ATT_KEYS_MAX); /* the first key opens the list */
    *out = (struct att_entries){ 0 };
    struct tide_buf *params = rpc_params(rpc);
    for (size_t i = 0; i < count; i++) {
        tide_buf_str(params, i ? "," : "{\"keys\":[");
        put_base64_text(params, keys[i]);
    }
    tide_buf_str(params, "]}");
    tide_status status = call_any(rpc, &result, "getLedgerEntries", err);
    if (status != TIDE_OK)
        return status;
    const json_t *list = json_object_get(result, "entries");
    struct decoder t = { rpc_decoded(rpc), true };
    t.good = rpc_number(result, "latestLedger", UINT32_MAX, &ledger) &&
             (json_is_array(list) || json_is_null(list)) && json_array_size(list) <= count;
    for (size_t i = 0; t.good && i < json_array_size(list); i++)
        read_entry(&t, out, keys, count, json_array_get(list, i));
    out->ledger = (uint32_t)ledger;
    json_decref(result);
    return t.good ? TIDE_OK
                  : att_rpc_distrust(rpc, "getLedgerEntries: the answer is malformed", err);
}

/* --- simulating ------------------------------------------------------------------------------- */

/* Decodes the authorisations. hold is contiguous, so the entries form one slice. */
static void read_auth(struct decoder *t, struct att_simulated *out, const json_t *list)
{
    out->auth_count = (uint32_t)json_array_size(list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        tide_slice entry = decode_required(t, json_array_get(list, i));
        if (!out->auth.ptr)
            out->auth.ptr = entry.ptr;
        out->auth.len += entry.len;
    }
}

static void read_changes(struct decoder *t, struct att_simulated *out, const json_t *list)
{
    /* calls of this program change fewer entries */
    t->good &= json_array_size(list) <= ATT_LIST_MAX;
    for (size_t i = 0; t->good && i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        assert(out->change_count < ATT_LIST_MAX);
        struct att_change *change = &out->changes[out->change_count++];
        change->key = decode_required(t, json_object_get(item, "key"));
        change->before = decode_field(t, json_object_get(item, "before"));
        change->after = decode_field(t, json_object_get(item, "after"));
    }
}

tide_status att_rpc_simulate(struct att_rpc *rpc, struct att_simulated *out, tide_slice envelope,
                             struct tide_err *err)
{
    json_t *result;
    uint64_t ledger = 0, fee = 0;
    *out = (struct att_simulated){ 0 };
    put_transaction(rpc, envelope);
    tide_status status = call_any(rpc, &result, "simulateTransaction", err);
    if (status != TIDE_OK)
        return status;
    const char *error = json_string_value(json_object_get(result, "error"));
    const json_t *first = json_array_get(json_object_get(result, "results"), 0);
    if (error)
        snprintf(out->error, sizeof out->error, "%.*s", (int)strcspn(error, "\r\n"), error);
    struct decoder t = { rpc_decoded(rpc), true };
    out->data = decode_field(&t, json_object_get(result, "transactionData"));
    read_auth(&t, out, json_object_get(first, "auth"));
    read_changes(&t, out, json_object_get(result, "stateChanges"));
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

/* Returns the result code. TransactionResult is fee (8 bytes) and code (4). A fee bump then has
 * the hash of its inner transaction (32), and the fee and code of that one. */
static int32_t code_of(tide_slice result)
{
    enum { INNER_FAILED = -13, INNER_SUCCESS = 1 };
    int32_t code = result.len >= 12 ? (int32_t)tide_be32(result.ptr + 8) : 0;
    if ((code == INNER_FAILED || code == INNER_SUCCESS) && result.len >= 56)
        code = (int32_t)tide_be32(result.ptr + 52);
    return code;
}

/* Sets *out to the index of the answer's status in names. Returns false if it is none of them. */
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
    static_assert(TIDE_COUNT(names) == ATT_ERROR + 1, "a name for each status");
    json_t *result;
    uint32_t index;
    *out = (struct att_sent){ 0 };
    put_transaction(rpc, envelope);
    tide_status status = rpc_call_any(rpc, &result, "sendTransaction", true, err);
    if (status != TIDE_OK)
        return status;
    bool good = status_of(result, names, TIDE_COUNT(names), &index);
    out->status = (enum att_sent_status)index;
    struct decoder t = { rpc_decoded(rpc), true };
    out->code = code_of(decode_field(&t, json_object_get(result, "errorResultXdr")));
    json_decref(result);
    return good && t.good ? TIDE_OK
                          : att_rpc_distrust(rpc, "sendTransaction: the answer is malformed", err);
}

/* Events beyond ATT_LIST_MAX are ignored: they are evidence only, and the index or the entries
 * decide. */
static void read_list(struct decoder *t, tide_slice *out, uint32_t *count, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list) && *count < ATT_LIST_MAX; i++)
        out[(*count)++] = decode_field(t, json_array_get(list, i));
}

/* Returns false if the answer is malformed, or its newest ledger is not current. */
static bool read_found(struct att_rpc *rpc, struct att_found *out, const json_t *result)
{
    struct decoder t = { rpc_decoded(rpc), true };
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
    out->envelope = decode_field(&t, json_object_get(result, "envelopeXdr"));
    out->result = decode_field(&t, json_object_get(result, "resultXdr"));
    out->meta = decode_field(&t, json_object_get(result, "resultMetaXdr"));
    out->fee = out->result.len >= 8 ? (int64_t)tide_be64(out->result.ptr) : 0;
    const json_t *lists = json_object_get(json_object_get(result, "events"), "contractEventsXdr");
    read_list(&t, out->events, &out->event_count, json_array_get(lists, 0));
    read_list(&t, out->diagnostics, &out->diagnostic_count,
              json_object_get(result, "diagnosticEventsXdr"));
    return good && t.good;
}

tide_status att_rpc_find(struct att_rpc *rpc, struct att_found *out,
                         const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    static const char *const names[] = { "NOT_FOUND", "SUCCESS", "FAILED" };
    static_assert(TIDE_COUNT(names) == ATT_FAILED + 1, "a name for each status");
    json_t *result;
    uint32_t index;
    *out = (struct att_found){ 0 };
    struct tide_buf *params = rpc_params(rpc);
    tide_buf_str(params, "{\"hash\":\"");
    tide_buf_hex(params, tide_slice_of(hash, TIDE_HASH_BYTES));
    tide_buf_str(params, "\"}");
    tide_status status = call_any(rpc, &result, "getTransaction", err);
    if (status != TIDE_OK)
        return status;
    bool good = status_of(result, names, TIDE_COUNT(names), &index);
    out->status = (enum att_found_status)index;
    good = good && read_found(rpc, out, result);
    json_decref(result);
    return good ? TIDE_OK
                : att_rpc_distrust(
                      rpc,
                      "getTransaction: malformed, or too far from this host's time (clock_skew_s)",
                      err);
}

tide_status att_rpc_fee(struct att_rpc *rpc, int64_t *out, struct tide_err *err)
{
    json_t *result;
    uint64_t bid = 0;
    tide_buf_str(rpc_params(rpc), "{}");
    tide_status status = call_any(rpc, &result, "getFeeStats", err);
    if (status != TIDE_OK)
        return status;
    rpc_number(json_object_get(result, "sorobanInclusionFee"), "p90", UINT32_MAX, &bid);
    json_decref(result);
    *out = bid < 100 ? 100 : (int64_t)bid;
    return TIDE_OK;
}
