/* getLedgerEntries, simulateTransaction, sendTransaction: methods that use the node, under its
 * lock. */
#include "tidemark/text.h"
#include "tools/sim/rpc/rpc.h"

enum { KEYS_MOST = 200 }; /* keys of a request */

/* Returns the newest ledger while the lock is held, unless a fault shows another one. */
static struct ledger_info newest_ledger(const struct rpc_call *call)
{
    struct ledger_info oldest, latest = call->latest;
    const struct sim_fault_hit *hit = call->hit;
    if (!sim_fault_on(hit, SIM_FAULT_LAG) && !sim_fault_on(hit, SIM_FAULT_RESET))
        ledger_store_range(call->store, &oldest, &latest);
    return latest;
}

/* --- getLedgerEntries -------------------------------------------------------------- */

/* Appends one entry. An unknown key is skipped; a malformed one refuses the call. */
static bool put_entry(struct rpc_call *call, const char *text, size_t at, struct tide_buf *key,
                      bool *any)
{
    struct node_entry entry;
    struct tide_buf *out = call->out;
    tide_buf_reset(key);
    tide_status status = TIDE_E_DECODE;
    if (text && tide_buf_base64_decode(key, tide_slice_str(text)) == TIDE_OK)
        status = node_entry(call->rpc->node, tide_buf_view(key), &entry);
    if (status == TIDE_E_MISSING)
        return true;
    if (status == TIDE_E_USAGE)
        return rpc_refuse(call, RPC_PARAMS, "ledger ttl entries cannot be queried directly");
    if (status != TIDE_OK)
        return rpc_refuse(call, RPC_PARAMS, "cannot unmarshal key value %.300s at index %zu",
                          text ? text : "", at);
    tide_buf_str(out, *any ? ",{" : "{");
    *any = true;
    rpc_put_xdr(out, "key", tide_buf_view(key));
    rpc_put_xdr(out, "xdr", entry.data);
    tide_buf_putf(out, "\"lastModifiedLedgerSeq\":%u,", entry.modified);
    if (entry.has_ttl)
        tide_buf_putf(out, "\"liveUntilLedgerSeq\":%u,", entry.live_until);
    tide_buf_str(out, "\"extXdr\":\"AAAAAA==\"}");
    return true;
}

bool rpc_getLedgerEntries(struct rpc_call *call)
{
    const json_t *keys = NULL;
    bool any = false;
    struct tide_buf key;
    if (!rpc_array(call, call->params, "keys", &keys) || !rpc_format(call))
        return false;
    size_t count = json_array_size(keys);
    if (count > KEYS_MOST)
        return rpc_refuse(call, RPC_PARAMS, "key count (%zu) exceeds maximum supported (%d)", count,
                          KEYS_MOST);
    tide_buf_init(&key, RPC_REQUEST_BYTES_MAX);
    tide_buf_str(call->out, "{\"entries\":[");
    bool good = true;
    /* The lock makes all entries and the tip those of one ledger. */
    pthread_mutex_lock(call->rpc->lock);
    for (size_t i = 0; good && i < count; i++)
        good = put_entry(call, json_string_value(json_array_get(keys, i)), i, &key, &any);
    tide_buf_putf(call->out, "],\"latestLedger\":%u}", newest_ledger(call).sequence);
    pthread_mutex_unlock(call->rpc->lock);
    tide_buf_release(&key);
    return good;
}

/* --- simulateTransaction ------------------------------------------------------------- */

/* Appends an array of base64 texts and a comma. */
static void put_texts(struct tide_buf *out, const char *name, const struct node_list *list)
{
    tide_buf_putf(out, "\"%s\":[", name);
    for (uint32_t i = 0; i < list->count; i++) {
        if (i)
            tide_buf_u8(out, ',');
        rpc_put_base64(out, list->items[i]);
    }
    tide_buf_str(out, "],");
}

/* Appends an entry of a state change, or null. */
static void put_state(struct tide_buf *out, const char *name, tide_slice entry)
{
    tide_buf_putf(out, ",\"%s\":", name);
    if (entry.len)
        rpc_put_base64(out, entry);
    else
        tide_buf_str(out, "null");
}

/* Appends the state changes. */
static void put_changes(struct tide_buf *out, const struct node_simulated *done)
{
    static const char *const types[] = { "", "created", "updated", "deleted" };
    tide_buf_str(out, "\"stateChanges\":[");
    for (uint32_t i = 0; i < done->change_count; i++) {
        const struct node_change *change = &done->changes[i];
        tide_buf_putf(out, "%s{\"type\":\"%s\",\"key\":", i ? "," : "", types[change->type]);
        rpc_put_base64(out, change->key);
        put_state(out, "before", change->before);
        put_state(out, "after", change->after);
        tide_buf_str(out, "}");
    }
    tide_buf_str(out, "],");
}

/* Appends the answer of a simulation: an error with its events, or the data to send. */
static void put_simulated(struct tide_buf *out, const struct node_simulated *done)
{
    if (done->error.len) {
        tide_buf_str(out, "\"error\":");
        tide_buf_json_string(out, done->error);
        tide_buf_str(out, ",");
        if (done->events.count)
            put_texts(out, "events", &done->events);
        return;
    }
    rpc_put_xdr(out, "transactionData", done->data);
    tide_buf_putf(out, "\"minResourceFee\":\"%" PRId64 "\",", done->min_resource_fee);
    put_texts(out, "events", &done->events);
    tide_buf_str(out, "\"results\":[{");
    put_texts(out, "auth", &done->auth);
    tide_buf_str(out, "\"xdr\":");
    rpc_put_base64(out, done->result);
    tide_buf_str(out, "}],");
    if (done->change_count)
        put_changes(out, done);
}

/* Error text of stellar-rpc 28 between two ledgers. It contains no HostError, so clients must not
 * take it for a contract's. */
static const char unready[] = "setting ContractComputeV0 is not present in the snapshot\n\n"
                              "Stack backtrace:\n   0: <unknown>\n   1: <unknown>";

/* Refusals by a contract are part of the result, not errors of the call. */
bool rpc_simulateTransaction(struct rpc_call *call)
{
    const char *text = "", *wrong = NULL;
    struct tide_buf envelope;
    struct node_simulated done = { 0 };
    if (!rpc_text(call, call->params, "transaction", &text) || !rpc_format(call))
        return false;
    tide_buf_init(&envelope, RPC_REQUEST_BYTES_MAX);
    if (sim_fault_on(call->hit, SIM_FAULT_REFUSES))
        wrong = call->hit->text;
    else if (sim_fault_on(call->hit, SIM_FAULT_UNREADY))
        wrong = unready;
    else if (tide_buf_base64_decode(&envelope, tide_slice_str(text)) != TIDE_OK)
        wrong = "Could not unmarshal transaction";
    pthread_mutex_lock(call->rpc->lock);
    if (!wrong && node_simulate(call->rpc->node, tide_buf_view(&envelope), &done) != TIDE_OK)
        wrong = "Could not unmarshal transaction";
    if (wrong)
        done = (struct node_simulated){ .error = tide_slice_str(wrong) };
    tide_buf_str(call->out, "{");
    put_simulated(call->out, &done);
    tide_buf_putf(call->out, "\"latestLedger\":%u}", newest_ledger(call).sequence);
    pthread_mutex_unlock(call->rpc->lock);
    tide_buf_release(&envelope);
    return true;
}

/* --- sendTransaction -------------------------------------------------------------------- */

/* Appends the answer of sendTransaction. */
static void put_sent(struct rpc_call *call, const char *status, const uint8_t *hash,
                     tide_slice result)
{
    struct ledger_info latest = newest_ledger(call);
    tide_buf_putf(call->out, "{\"status\":\"%s\",\"hash\":\"", status);
    tide_buf_hex(call->out, tide_slice_of(hash, TIDE_HASH_BYTES));
    tide_buf_str(call->out, "\",");
    if (result.len)
        rpc_put_xdr(call->out, "errorResultXdr", result);
    tide_buf_putf(call->out, "\"latestLedger\":%u,\"latestLedgerCloseTime\":\"%" PRIu64 "\"}",
                  latest.sequence, latest.close_time);
}

/* Appends the status that a fault demands, in place of the true one. */
static void put_false_status(struct rpc_call *call, const uint8_t *hash)
{
    char word[SIM_FAULT_WORD];
    int32_t code;
    struct tide_buf result;
    tide_buf_init(&result, 16);
    if (sim_fault_word(call->hit->text, word, &code) && code) {
        tide_buf_be64(&result, 0); /* fee */
        lcm_words(&result, (uint32_t)code, 0);
    }
    put_sent(call, word, hash, tide_buf_view(&result));
    tide_buf_release(&result);
}

bool rpc_sendTransaction(struct rpc_call *call)
{
    const char *text = "";
    struct tide_buf envelope;
    struct node_sent sent = { 0 };
    /* The fault `says` answers without sending; the fault `claims` sends and then answers. */
    bool says = sim_fault_on(call->hit, SIM_FAULT_SAYS);
    if (!rpc_text(call, call->params, "transaction", &text) || !rpc_format(call))
        return false;
    tide_buf_init(&envelope, RPC_REQUEST_BYTES_MAX);
    tide_status status = tide_buf_base64_decode(&envelope, tide_slice_str(text));
    pthread_mutex_lock(call->rpc->lock);
    if (status == TIDE_OK && !says)
        status = node_send(call->rpc->node, tide_buf_view(&envelope), &sent);
    if (status == TIDE_OK && (says || sim_fault_on(call->hit, SIM_FAULT_CLAIMS)))
        put_false_status(call, sent.hash);
    else if (status == TIDE_OK)
        put_sent(call, node_status_name(sent.status), sent.hash, sent.result);
    pthread_mutex_unlock(call->rpc->lock);
    tide_buf_release(&envelope);
    return status == TIDE_OK || rpc_refuse(call, RPC_PARAMS, "invalid_xdr");
}
