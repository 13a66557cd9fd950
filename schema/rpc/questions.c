/* The methods that a reader of entries and a sender of transactions needs. */
#include "schema/rpc/answer.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

#define QUESTION(name, type, method, lacks, check)                                              \
    const struct rpc_question name = { method, name##_members,      TIDE_COUNT(name##_members), \
                                       lacks,  sizeof(struct type), check }

/* --- params ------------------------------------------------------------------------------- */

static void put_base64(struct tide_buf *out, tide_slice bytes)
{
    tide_buf_str(out, "\"");
    tide_buf_base64(out, bytes);
    tide_buf_str(out, "\"");
}

void rpc_params_keys(struct tide_buf *out, const tide_slice *keys, size_t count)
{
    assert(count > 0 && count <= RPC_KEYS_MAX); /* the first key opens the list */
    for (size_t i = 0; i < count; i++) {
        tide_buf_str(out, i ? "," : "{\"keys\":[");
        put_base64(out, keys[i]);
    }
    tide_buf_str(out, "]}");
}

void rpc_params_tx(struct tide_buf *out, tide_slice envelope)
{
    tide_buf_str(out, "{\"transaction\":");
    put_base64(out, envelope);
    tide_buf_str(out, "}");
}

void rpc_params_hash(struct tide_buf *out, const uint8_t hash[TIDE_HASH_BYTES])
{
    tide_buf_str(out, "{\"hash\":\"");
    tide_buf_hex(out, tide_slice_of(hash, TIDE_HASH_BYTES));
    tide_buf_str(out, "\"}");
}

/* --- the network and its newest ledger ---------------------------------------------------- */

static const struct json_scan_member rpc_get_network_members[] = {
    { "passphrase", JSON_SCAN_TEXT, true, offsetof(struct rpc_network, passphrase), RPC_TEXT_MAX,
      NULL },
    { "friendbotUrl", JSON_SCAN_TEXT, false, offsetof(struct rpc_network, friendbot),
      sizeof((struct rpc_network *)0)->friendbot, NULL },
};
QUESTION(rpc_get_network, rpc_network, "getNetwork", "no passphrase", NULL);

static const struct json_scan_member rpc_latest_ledger_members[] = {
    { "id", JSON_SCAN_HASH, true, .at = offsetof(struct rpc_latest, hash) },
    { "sequence", JSON_SCAN_U32, true, .at = offsetof(struct rpc_latest, sequence) },
    { "closeTime", JSON_SCAN_U64, .at = offsetof(struct rpc_latest, close_time) },
};
QUESTION(rpc_latest_ledger, rpc_latest, "getLatestLedger", "no id or no sequence", NULL);

/* --- entries ------------------------------------------------------------------------------ */

struct entry {
    tide_slice key, data;
    uint32_t modified;
};

static void read_entry(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = {
        { "key", JSON_SCAN_BASE64, true, .at = offsetof(struct entry, key) },
        { "xdr", JSON_SCAN_BASE64, true, .at = offsetof(struct entry, data) },
        { "lastModifiedLedgerSeq", JSON_SCAN_U32, .at = offsetof(struct entry, modified) },
    };
    struct rpc_entries *entries = out;
    struct entry e = { 0 };
    size_t at = 0;
    json_scan_members(s, members, TIDE_COUNT(members), "an entry lacks key or xdr", &e);
    while (at < entries->count && !tide_slice_eq(e.key, entries->keys[at]))
        at++;
    if (at == entries->count || entries->data[at].len || !e.data.len) {
        json_scan_fault(s, "an entry that is empty, was not asked for or comes twice");
        return;
    }
    entries->data[at] = e.data;
    entries->modified[at] = e.modified;
}

static const struct json_scan_member rpc_ledger_entries_members[] = {
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct rpc_entries, ledger) },
    { "entries", JSON_SCAN_ITEMS, true, .read = read_entry },
};
const struct rpc_question rpc_ledger_entries = { "getLedgerEntries",
                                                 rpc_ledger_entries_members,
                                                 TIDE_COUNT(rpc_ledger_entries_members),
                                                 "no entries or no latestLedger",
                                                 offsetof(struct rpc_entries, keys),
                                                 NULL };

/* --- simulating --------------------------------------------------------------------------- */

static void read_auth(struct json_scan *s, void *out)
{
    struct rpc_simulated *simulated = out;
    if (simulated->auth_count == RPC_LIST_MAX) {
        json_scan_fault(s, "more authorisations than a call may need");
        return;
    }
    tide_slice auth = json_scan_base64(s);
    if (!auth.len)
        json_scan_fault(s, "an empty authorisation");
    simulated->auth[simulated->auth_count++] = auth;
}

/* Authorisations are read of the first result: a transaction of a contract has one operation. */
static void read_simulated_result(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = { { "auth", JSON_SCAN_ITEMS,
                                                         .read = read_auth } };
    struct rpc_simulated *simulated = out;
    if (simulated->result_count++)
        json_scan_skip(s);
    else
        json_scan_members(s, members, TIDE_COUNT(members), NULL, simulated);
}

static void read_change(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = {
        { "key", JSON_SCAN_BASE64, true, .at = offsetof(struct rpc_change, key) },
        { "before", JSON_SCAN_BASE64, .at = offsetof(struct rpc_change, before) },
        { "after", JSON_SCAN_BASE64, .at = offsetof(struct rpc_change, after) },
    };
    struct rpc_simulated *simulated = out;
    if (simulated->change_count == RPC_LIST_MAX) { /* calls of our programs change fewer entries */
        json_scan_fault(s, "more changes than a call may make");
        return;
    }
    struct rpc_change *change = &simulated->changes[simulated->change_count++];
    json_scan_members(s, members, TIDE_COUNT(members), "a change lacks its key", change);
    if (!change->key.len)
        json_scan_fault(s, "a change lacks its key");
}

static void read_first_event(struct json_scan *s, void *out)
{
    struct rpc_simulated *simulated = out;
    if (simulated->event.len)
        json_scan_skip(s);
    else if (!json_scan_null(s))
        simulated->event = json_scan_base64(s);
}

static void check_simulated(struct json_scan *s, void *out)
{
    struct rpc_simulated *simulated = out;
    simulated->error[strcspn(simulated->error, "\r\n")] = '\0';
    tide_text_make_ascii(simulated->error);
    if (!*simulated->error && (!simulated->data.len || !simulated->resource_fee))
        json_scan_fault(s, "neither an error nor transactionData and minResourceFee");
}

static const struct json_scan_member rpc_simulation_members[] = {
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct rpc_simulated, ledger) },
    { "error", JSON_SCAN_TEXT, false, offsetof(struct rpc_simulated, error),
      sizeof((struct rpc_simulated *)0)->error, NULL },
    { "transactionData", JSON_SCAN_BASE64, .at = offsetof(struct rpc_simulated, data) },
    { "minResourceFee", JSON_SCAN_U32, .at = offsetof(struct rpc_simulated, resource_fee) },
    { "results", JSON_SCAN_ITEMS, .read = read_simulated_result },
    { "stateChanges", JSON_SCAN_ITEMS, .read = read_change },
    { "events", JSON_SCAN_ITEMS, .read = read_first_event },
};
QUESTION(rpc_simulation, rpc_simulated, "simulateTransaction", "no latestLedger", check_simulated);

/* --- sending ------------------------------------------------------------------------------ */

/* Reads a text that is one of the names, and returns its index. */
static uint32_t read_name(struct json_scan *s, const char *const *names, uint32_t count)
{
    tide_slice text = json_scan_raw(s);
    for (uint32_t i = 0; i < count; i++)
        if (tide_slice_eq_str(text, names[i]))
            return i;
    json_scan_fault(s, "an unknown status");
    return 0;
}

static void read_sent_status(struct json_scan *s, void *out)
{
    static const char *const names[] = { "PENDING", "DUPLICATE", "TRY_AGAIN_LATER", "ERROR" };
    static_assert(TIDE_COUNT(names) == RPC_ERROR + 1, "a name for each status");
    ((struct rpc_sent *)out)->status = (enum rpc_sent_status)read_name(s, names, TIDE_COUNT(names));
}

/* Finds the result code. TransactionResult is fee (8 bytes) and code (4). A fee bump then has the
 * hash of its inner transaction (32), and the fee and code of that one. */
static void find_code(struct json_scan *s, void *out)
{
    enum { INNER_FAILED = -13, INNER_SUCCESS = 1 };
    struct rpc_sent *sent = out;
    (void)s;
    if (sent->error.len >= 12)
        sent->code = (int32_t)tide_be32(sent->error.ptr + 8);
    if ((sent->code == INNER_FAILED || sent->code == INNER_SUCCESS) && sent->error.len >= 56)
        sent->code = (int32_t)tide_be32(sent->error.ptr + 52);
}

static const struct json_scan_member rpc_sending_members[] = {
    { "status", JSON_SCAN_VALUE, true, .read = read_sent_status },
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct rpc_sent, latest) },
    { "errorResultXdr", JSON_SCAN_BASE64, .at = offsetof(struct rpc_sent, error) },
};
QUESTION(rpc_sending, rpc_sent, "sendTransaction", "no status or no latestLedger", find_code);

/* --- finding ------------------------------------------------------------------------------ */

static void read_found_status(struct json_scan *s, void *out)
{
    static const char *const names[] = { "NOT_FOUND", "SUCCESS", "FAILED" };
    static_assert(TIDE_COUNT(names) == RPC_FAILED + 1, "a name for each status");
    ((struct rpc_found *)out)->status =
        (enum rpc_found_status)read_name(s, names, TIDE_COUNT(names));
}

/* Reads an item of a list, or steps over it once the list is full. null is an empty item. */
static void read_listed(struct json_scan *s, tide_slice *list, uint32_t *count)
{
    if (*count == RPC_LIST_MAX)
        json_scan_skip(s);
    else if (json_scan_null(s))
        list[(*count)++] = (tide_slice){ 0 };
    else
        list[(*count)++] = json_scan_base64(s);
}

static void read_diagnostic(struct json_scan *s, void *out)
{
    struct rpc_found *found = out;
    read_listed(s, found->diagnostics, &found->diagnostic_count);
}

/* Contract events come as a list for each operation; the transactions that are sought have one. */
static void read_operation_events(struct json_scan *s, void *out)
{
    struct rpc_found *found = out;
    bool null = json_scan_null(s), later = found->list_count++ > 0;
    if (later && !null)
        json_scan_skip(s);
    if (later || null)
        return;
    for (bool first = json_scan_enter(s, '['); json_scan_item(s, &first);)
        read_listed(s, found->events, &found->event_count);
}

static void read_found_events(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = { { "contractEventsXdr", JSON_SCAN_ITEMS,
                                                         .read = read_operation_events } };
    json_scan_members(s, members, TIDE_COUNT(members), NULL, out);
}

static void check_found(struct json_scan *s, void *out)
{
    struct rpc_found *found = out;
    found->fee = found->result.len >= 8 ? (int64_t)tide_be64(found->result.ptr) : 0;
    if (!found->close_time)
        json_scan_fault(s, "no close time");
    if (found->status == RPC_NOT_FOUND)
        found->ledger = 0;
    else if (!found->ledger || found->ledger > found->latest)
        json_scan_fault(s, "a transaction without its ledger");
}

static const struct json_scan_member rpc_get_transaction_members[] = {
    { "status", JSON_SCAN_VALUE, true, .read = read_found_status },
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct rpc_found, latest) },
    { "latestLedgerCloseTime", JSON_SCAN_U64, true, .at = offsetof(struct rpc_found, close_time) },
    { "oldestLedger", JSON_SCAN_U32, true, .at = offsetof(struct rpc_found, oldest) },
    { "ledger", JSON_SCAN_U32, .at = offsetof(struct rpc_found, ledger) },
    { "envelopeXdr", JSON_SCAN_BASE64, .at = offsetof(struct rpc_found, envelope) },
    { "resultXdr", JSON_SCAN_BASE64, .at = offsetof(struct rpc_found, result) },
    { "resultMetaXdr", JSON_SCAN_BASE64, .at = offsetof(struct rpc_found, meta) },
    { "diagnosticEventsXdr", JSON_SCAN_ITEMS, .read = read_diagnostic },
    { "events", JSON_SCAN_VALUE, .read = read_found_events },
};
QUESTION(rpc_get_transaction, rpc_found, "getTransaction",
         "no status, latestLedger, latestLedgerCloseTime or oldestLedger", check_found);

/* --- fees --------------------------------------------------------------------------------- */

static void read_soroban_fees(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = { { "p90", JSON_SCAN_U32,
                                                         .at = offsetof(struct rpc_fees, p90) } };
    json_scan_members(s, members, TIDE_COUNT(members), NULL, out);
}

static const struct json_scan_member rpc_fee_stats_members[] = {
    { "sorobanInclusionFee", JSON_SCAN_VALUE, .read = read_soroban_fees },
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct rpc_fees, latest) },
};
QUESTION(rpc_fee_stats, rpc_fees, "getFeeStats", "no latestLedger", NULL);
