/* The methods that a reader of entries and a sender of transactions needs. */
#include "schema/rpc/answer.h"
#include "tidemark/meta.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

#define QUESTION(name, type, method, lacks, check)                             \
    const struct tide_rpc_question tide_##name = { method,                     \
                                                   name##_members,             \
                                                   TIDE_COUNT(name##_members), \
                                                   lacks,                      \
                                                   sizeof(struct tide_##type), \
                                                   check }

/* --- params ------------------------------------------------------------------------------- */

static void put_base64(struct tide_buf *out, tide_slice bytes)
{
    tide_buf_str(out, "\"");
    tide_buf_base64(out, bytes);
    tide_buf_str(out, "\"");
}

void tide_rpc_params_keys(struct tide_buf *out, const tide_slice *keys, size_t count)
{
    assert(count > 0 && count <= TIDE_RPC_KEYS_MAX); /* the first key opens the list */
    for (size_t i = 0; i < count; i++) {
        tide_buf_str(out, i ? "," : "{\"keys\":[");
        put_base64(out, keys[i]);
    }
    tide_buf_str(out, "]}");
}

void tide_rpc_params_tx(struct tide_buf *out, tide_slice envelope)
{
    tide_buf_str(out, "{\"transaction\":");
    put_base64(out, envelope);
    tide_buf_str(out, "}");
}

void tide_rpc_params_hash(struct tide_buf *out, const uint8_t hash[TIDE_HASH_BYTES])
{
    tide_buf_str(out, "{\"hash\":\"");
    tide_buf_hex(out, tide_slice_of(hash, TIDE_HASH_BYTES));
    tide_buf_str(out, "\"}");
}

/* --- the network and its newest ledger ---------------------------------------------------- */

static const struct json_scan_member rpc_get_network_members[] = {
    { "passphrase", JSON_SCAN_TEXT, true, offsetof(struct tide_rpc_network, passphrase),
      TIDE_RPC_TEXT_MAX, NULL },
    { "friendbotUrl", JSON_SCAN_TEXT, false, offsetof(struct tide_rpc_network, friendbot),
      sizeof((struct tide_rpc_network *)0)->friendbot, NULL },
};
QUESTION(rpc_get_network, rpc_network, "getNetwork", "no passphrase", NULL);

static const struct json_scan_member rpc_latest_ledger_members[] = {
    { "id", JSON_SCAN_HASH, true, .at = offsetof(struct tide_rpc_latest, hash) },
    { "sequence", JSON_SCAN_U32, true, .at = offsetof(struct tide_rpc_latest, sequence) },
    { "closeTime", JSON_SCAN_U64, .at = offsetof(struct tide_rpc_latest, close_time) },
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
    struct tide_rpc_entries *entries = out;
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
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct tide_rpc_entries, ledger) },
    { "entries", JSON_SCAN_ITEMS, true, .read = read_entry },
};
const struct tide_rpc_question tide_rpc_ledger_entries = { "getLedgerEntries",
                                                           rpc_ledger_entries_members,
                                                           TIDE_COUNT(rpc_ledger_entries_members),
                                                           "no entries or no latestLedger",
                                                           offsetof(struct tide_rpc_entries, keys),
                                                           NULL };

/* --- simulating --------------------------------------------------------------------------- */

static void read_auth(struct json_scan *s, void *out)
{
    struct tide_rpc_simulated *simulated = out;
    if (simulated->auth_count == TIDE_RPC_LIST_MAX) {
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
    struct tide_rpc_simulated *simulated = out;
    if (simulated->result_count++)
        json_scan_skip(s);
    else
        json_scan_members(s, members, TIDE_COUNT(members), NULL, simulated);
}

static void read_change(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = {
        { "key", JSON_SCAN_BASE64, true, .at = offsetof(struct tide_rpc_change, key) },
        { "before", JSON_SCAN_BASE64, .at = offsetof(struct tide_rpc_change, before) },
        { "after", JSON_SCAN_BASE64, .at = offsetof(struct tide_rpc_change, after) },
    };
    struct tide_rpc_simulated *simulated = out;
    if (simulated->change_count ==
        TIDE_RPC_LIST_MAX) { /* calls of our programs change fewer entries */
        json_scan_fault(s, "more changes than a call may make");
        return;
    }
    struct tide_rpc_change *change = &simulated->changes[simulated->change_count++];
    json_scan_members(s, members, TIDE_COUNT(members), "a change lacks its key", change);
    if (!change->key.len)
        json_scan_fault(s, "a change lacks its key");
}

static void read_first_event(struct json_scan *s, void *out)
{
    struct tide_rpc_simulated *simulated = out;
    if (simulated->event.len)
        json_scan_skip(s);
    else if (!json_scan_null(s))
        simulated->event = json_scan_base64(s);
}

static void check_simulated(struct json_scan *s, void *out)
{
    struct tide_rpc_simulated *simulated = out;
    simulated->error[strcspn(simulated->error, "\r\n")] = '\0';
    tide_text_make_ascii(simulated->error);
    if (!*simulated->error && (!simulated->data.len || !simulated->resource_fee))
        json_scan_fault(s, "neither an error nor transactionData and minResourceFee");
}

static const struct json_scan_member rpc_simulation_members[] = {
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct tide_rpc_simulated, ledger) },
    { "error", JSON_SCAN_TEXT, false, offsetof(struct tide_rpc_simulated, error),
      sizeof((struct tide_rpc_simulated *)0)->error, NULL },
    { "transactionData", JSON_SCAN_BASE64, .at = offsetof(struct tide_rpc_simulated, data) },
    { "minResourceFee", JSON_SCAN_U32, .at = offsetof(struct tide_rpc_simulated, resource_fee) },
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
    static_assert(TIDE_COUNT(names) == TIDE_RPC_ERROR + 1, "a name for each status");
    ((struct tide_rpc_sent *)out)->status =
        (enum tide_rpc_sent_status)read_name(s, names, TIDE_COUNT(names));
}

/* Finds the result code. TransactionResult is fee (8 bytes) and code (4). A fee bump then has the
 * hash of its inner transaction (32), and the fee and code of that one. */
static void find_code(struct json_scan *s, void *out)
{
    enum { INNER_FAILED = -13, INNER_SUCCESS = 1 };
    struct tide_rpc_sent *sent = out;
    (void)s;
    if (sent->error.len >= 12)
        sent->code = (int32_t)tide_be32(sent->error.ptr + 8);
    if ((sent->code == INNER_FAILED || sent->code == INNER_SUCCESS) && sent->error.len >= 56)
        sent->code = (int32_t)tide_be32(sent->error.ptr + 52);
}

static const struct json_scan_member rpc_sending_members[] = {
    { "status", JSON_SCAN_VALUE, true, .read = read_sent_status },
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct tide_rpc_sent, latest) },
    { "errorResultXdr", JSON_SCAN_BASE64, .at = offsetof(struct tide_rpc_sent, error) },
};
QUESTION(rpc_sending, rpc_sent, "sendTransaction", "no status or no latestLedger", find_code);

/* --- finding ------------------------------------------------------------------------------ */

static void read_found_status(struct json_scan *s, void *out)
{
    static const char *const names[] = { "NOT_FOUND", "SUCCESS", "FAILED" };
    static_assert(TIDE_COUNT(names) == TIDE_RPC_FAILED + 1, "a name for each status");
    ((struct tide_rpc_found *)out)->status =
        (enum tide_rpc_found_status)read_name(s, names, TIDE_COUNT(names));
}

/* Reads an item of a list, or steps over it once the list is full. null is an empty item. */
static void read_listed(struct json_scan *s, tide_slice *list, uint32_t *count)
{
    if (*count == TIDE_RPC_LIST_MAX)
        json_scan_skip(s);
    else if (json_scan_null(s))
        list[(*count)++] = (tide_slice){ 0 };
    else
        list[(*count)++] = json_scan_base64(s);
}

static void read_diagnostic(struct json_scan *s, void *out)
{
    struct tide_rpc_found *found = out;
    read_listed(s, found->diagnostics, &found->diagnostic_count);
}

/* Contract events come as a list for each operation; the transactions that are sought have one. */
static void read_operation_events(struct json_scan *s, void *out)
{
    struct tide_rpc_found *found = out;
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
    struct tide_rpc_found *found = out;
    found->fee = found->result.len >= 8 ? (int64_t)tide_be64(found->result.ptr) : 0;
    if (!found->close_time)
        json_scan_fault(s, "no close time");
    if (found->status == TIDE_RPC_NOT_FOUND)
        found->ledger = 0;
    else if (!found->ledger || found->ledger > found->latest)
        json_scan_fault(s, "a transaction without its ledger");
}

static const struct json_scan_member rpc_get_transaction_members[] = {
    { "status", JSON_SCAN_VALUE, true, .read = read_found_status },
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct tide_rpc_found, latest) },
    { "latestLedgerCloseTime", JSON_SCAN_U64, true,
      .at = offsetof(struct tide_rpc_found, close_time) },
    { "oldestLedger", JSON_SCAN_U32, true, .at = offsetof(struct tide_rpc_found, oldest) },
    { "ledger", JSON_SCAN_U32, .at = offsetof(struct tide_rpc_found, ledger) },
    { "envelopeXdr", JSON_SCAN_BASE64, .at = offsetof(struct tide_rpc_found, envelope) },
    { "resultXdr", JSON_SCAN_BASE64, .at = offsetof(struct tide_rpc_found, result) },
    { "resultMetaXdr", JSON_SCAN_BASE64, .at = offsetof(struct tide_rpc_found, meta) },
    { "diagnosticEventsXdr", JSON_SCAN_ITEMS, .read = read_diagnostic },
    { "events", JSON_SCAN_VALUE, .read = read_found_events },
};
QUESTION(rpc_get_transaction, rpc_found, "getTransaction",
         "no status, latestLedger, latestLedgerCloseTime or oldestLedger", check_found);

/* --- fees --------------------------------------------------------------------------------- */

static void read_soroban_fees(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = {
        { "p90", JSON_SCAN_U32, .at = offsetof(struct tide_rpc_fees, p90) }
    };
    json_scan_members(s, members, TIDE_COUNT(members), NULL, out);
}

static const struct json_scan_member rpc_fee_stats_members[] = {
    { "sorobanInclusionFee", JSON_SCAN_VALUE, .read = read_soroban_fees },
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct tide_rpc_fees, latest) },
};
QUESTION(rpc_fee_stats, rpc_fees, "getFeeStats", "no latestLedger", NULL);

/* --- ledgers and events ----------------------------------------------------------------- */

/* --- getLedgers --------------------------------------------------------------------------- */

/* Checks a ledger against its own header. */
static void check_ledger(struct json_scan *s, struct tide_rpc_ledger *l)
{
    struct ledger_peek peek;
    tide_status status = ledger_peek(&peek, l->lcm);
    l->unknown = status == TIDE_E_UNKNOWN;
    if (l->unknown)
        return; /* the decoder reports it with the ledger's number */
    if (status)
        json_scan_fault(s, "metadataXdr is no ledger");
    else if (peek.sequence != l->sequence || memcmp(peek.hash, l->hash, TIDE_HASH_BYTES) != 0)
        json_scan_fault(s, "a ledger's sequence or hash is not the one in its metadataXdr");
    else
        memcpy(l->previous, peek.previous, TIDE_HASH_BYTES);
}

/* Inserts a ledger into the page in ascending order; once, if it comes twice and as the same. Pages
 * arrive sorted, so this costs one comparison a ledger. */
static void put_ledger(struct json_scan *s, struct tide_rpc_page *page,
                       const struct tide_rpc_ledger *l)
{
    uint32_t at = page->count;
    while (at && page->ledgers[at - 1].sequence >= l->sequence)
        at--;
    const struct tide_rpc_ledger *there = at < page->count ? &page->ledgers[at] : NULL;
    if (there && there->sequence == l->sequence) {
        if (!tide_slice_eq(there->lcm, l->lcm))
            json_scan_fault(s, "a ledger comes twice, and not as the same");
        return;
    }
    if (page->count == TIDE_RPC_PAGE_MAX) {
        json_scan_fault(s, "more ledgers than may be asked for");
        return;
    }
    memmove(&page->ledgers[at + 1], &page->ledgers[at], (page->count - at) * sizeof *l);
    page->ledgers[at] = *l;
    page->count++;
}

static void read_ledger(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = {
        { "sequence", JSON_SCAN_U32, true, .at = offsetof(struct tide_rpc_ledger, sequence) },
        { "hash", JSON_SCAN_HASH, true, .at = offsetof(struct tide_rpc_ledger, hash) },
        { "metadataXdr", JSON_SCAN_BASE64, true, .at = offsetof(struct tide_rpc_ledger, lcm) },
    };
    struct tide_rpc_ledger l = { 0 };
    json_scan_members(s, members, TIDE_COUNT(members),
                      "a ledger lacks sequence, hash or metadataXdr", &l);
    if (!s->fault)
        check_ledger(s, &l);
    if (!s->fault)
        put_ledger(s, out, &l);
}

static const struct json_scan_member page_members[] = {
    { "ledgers", JSON_SCAN_ITEMS, true, .read = read_ledger },
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct tide_rpc_page, latest) },
    { "oldestLedger", JSON_SCAN_U32, .at = offsetof(struct tide_rpc_page, oldest) },
};
const struct tide_rpc_question tide_rpc_ledgers_question = { "getLedgers",
                                                             page_members,
                                                             TIDE_COUNT(page_members),
                                                             "no ledgers or no latestLedger",
                                                             offsetof(struct tide_rpc_page,
                                                                      ledgers),
                                                             NULL };

size_t tide_rpc_answer_bytes_max(const struct tide_rpc_client *client)
{
    return (size_t)client->options.config->object_max_mib << 20;
}

static size_t page_bytes_max(const struct tide_rpc_client *c, uint32_t ledgers)
{
    size_t several = tide_rpc_answer_bytes_max(c);
    return ledgers == 1 && several < TIDE_RPC_LEDGER_ANSWER_BYTES ? TIDE_RPC_LEDGER_ANSWER_BYTES
                                                                  : several;
}

tide_status tide_rpc_client_page(struct tide_rpc_client *client,
                                 const struct tide_rpc_page_request *request,
                                 struct tide_rpc_page *out, struct tide_buf *body,
                                 struct tide_err *err)
{
    char params[128];
    snprintf(params, sizeof params, "{\"startLedger\":%u,\"pagination\":{\"limit\":%u}}",
             request->start, request->limit);
    tide_buf_limit(body, page_bytes_max(client, request->limit));
    return tide_rpc_ask(client, &tide_rpc_ledgers_question, tide_slice_str(params), body, out, err);
}

tide_status tide_rpc_client_one(struct tide_rpc_client *client, uint32_t ledger,
                                struct tide_rpc_one *out, struct tide_err *err)
{
    const struct tide_rpc_page_request request = { ledger, 1 };
    struct tide_buf body;
    struct tide_rpc_page *page = malloc(sizeof *page);
    *out = (struct tide_rpc_one){ 0 };
    if (!page)
        return tide_fail(err, TIDE_E_MEMORY, "%s: out of memory", client->name);
    tide_buf_init(&body, 0);
    tide_status status = tide_rpc_client_page(client, &request, page, &body, err);
    const struct tide_rpc_error *e = &client->last.error;
    if (status == TIDE_E_IO && e->code) {
        out->oldest = e->oldest;
        out->latest = e->latest;
        status = TIDE_OK;
    } else if (status == TIDE_OK) {
        out->oldest = page->oldest;
        out->latest = page->latest;
        out->given = page->count && page->ledgers[0].sequence == ledger;
        memcpy(out->hash, page->ledgers[0].hash, out->given ? TIDE_HASH_BYTES : 0);
    }
    tide_buf_release(&body);
    free(page);
    return status;
}

/* --- getEvents ---------------------------------------------------------------------------- */

static void read_topic(struct json_scan *s, void *out)
{
    struct tide_rpc_event *event = out;
    if (event->topic_count == TIDE_RPC_TOPICS_MAX)
        json_scan_fault(s, "more topics than an event may have");
    else
        event->topics[event->topic_count++] = json_scan_base64(s);
}

static void read_event(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = {
        { "ledger", JSON_SCAN_U32, true, .at = offsetof(struct tide_rpc_event, ledger) },
        { "id", JSON_SCAN_RAW, true, .at = offsetof(struct tide_rpc_event, id) },
        { "contractId", JSON_SCAN_RAW, .at = offsetof(struct tide_rpc_event, contract) },
        { "txHash", JSON_SCAN_RAW, .at = offsetof(struct tide_rpc_event, transaction) },
        { "topic", JSON_SCAN_ITEMS, .read = read_topic },
        { "value", JSON_SCAN_BASE64, true, .at = offsetof(struct tide_rpc_event, value) },
    };
    static const char lacks[] = "an event lacks ledger, id or value";
    struct tide_rpc_events *events = out;
    struct tide_rpc_event event = { 0 };
    json_scan_members(s, members, TIDE_COUNT(members), lacks, &event);
    if (!s->fault && !event.id.len)
        json_scan_fault(s, lacks);
    if (s->fault)
        return;
    events->count++;
    events->status = events->each(events->self, &event, &events->why);
    if (events->status)
        json_scan_fault(s, "refused");
}

static const struct json_scan_member events_members[] = {
    { "events", JSON_SCAN_ITEMS, true, .read = read_event },
    { "cursor", JSON_SCAN_TEXT, false, offsetof(struct tide_rpc_events, cursor),
      sizeof((struct tide_rpc_events *)0)->cursor, NULL },
};
const struct tide_rpc_question tide_rpc_events_question = { "getEvents",
                                                            events_members,
                                                            TIDE_COUNT(events_members),
                                                            "no events",
                                                            offsetof(struct tide_rpc_events, each),
                                                            NULL };

tide_status tide_rpc_client_events(struct tide_rpc_client *client,
                                   const struct tide_rpc_events_request *request,
                                   struct tide_rpc_events *out, struct tide_err *err)
{
    char params[3072];
    int len;
    if (request->cursor)
        len = snprintf(params, sizeof params,
                       "{\"filters\":%s,\"pagination\":{\"cursor\":\"%.64s\",\"limit\":%u}}",
                       request->filters, request->cursor, request->limit);
    else
        len = snprintf(params, sizeof params,
                       "{\"startLedger\":%u,\"endLedger\":%u,\"filters\":%s,"
                       "\"pagination\":{\"limit\":%u}}",
                       request->start, request->end, request->filters, request->limit);
    assert(len > 0 && (size_t)len < sizeof params);
    out->status = TIDE_OK;
    tide_status status = tide_rpc_ask(client, &tide_rpc_events_question,
                                      tide_slice_of(params, (size_t)len), NULL, out, err);
    if (out->status) {
        *err = out->why;
        return out->status;
    }
    return status;
}
