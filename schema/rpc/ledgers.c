/* getLedgers and getEvents. */
#include "schema/rpc/answer.h"
#include "tidemark/meta.h"

/* --- getLedgers --------------------------------------------------------------------------- */

/* Checks a ledger against its own header. */
static void check_ledger(struct json_scan *s, struct rpc_ledger *l)
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
static void put_ledger(struct json_scan *s, struct rpc_page *page, const struct rpc_ledger *l)
{
    uint32_t at = page->count;
    while (at && page->ledgers[at - 1].sequence >= l->sequence)
        at--;
    const struct rpc_ledger *there = at < page->count ? &page->ledgers[at] : NULL;
    if (there && there->sequence == l->sequence) {
        if (!tide_slice_eq(there->lcm, l->lcm))
            json_scan_fault(s, "a ledger comes twice, and not as the same");
        return;
    }
    if (page->count == RPC_PAGE_MAX) {
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
        { "sequence", JSON_SCAN_U32, true, .at = offsetof(struct rpc_ledger, sequence) },
        { "hash", JSON_SCAN_HASH, true, .at = offsetof(struct rpc_ledger, hash) },
        { "metadataXdr", JSON_SCAN_BASE64, true, .at = offsetof(struct rpc_ledger, lcm) },
    };
    struct rpc_ledger l = { 0 };
    json_scan_members(s, members, TIDE_COUNT(members),
                      "a ledger lacks sequence, hash or metadataXdr", &l);
    if (!s->fault)
        check_ledger(s, &l);
    if (!s->fault)
        put_ledger(s, out, &l);
}

static const struct json_scan_member page_members[] = {
    { "ledgers", JSON_SCAN_ITEMS, true, .read = read_ledger },
    { "latestLedger", JSON_SCAN_U32, true, .at = offsetof(struct rpc_page, latest) },
    { "oldestLedger", JSON_SCAN_U32, .at = offsetof(struct rpc_page, oldest) },
};
const struct rpc_question rpc_ledgers_question = { "getLedgers",
                                                   page_members,
                                                   TIDE_COUNT(page_members),
                                                   "no ledgers or no latestLedger",
                                                   offsetof(struct rpc_page, ledgers),
                                                   NULL };

size_t rpc_answer_bytes_max(const struct rpc_client *client)
{
    return (size_t)client->options.config->rpc_page_max_mib << 20;
}

static size_t page_bytes_max(const struct rpc_client *c, uint32_t ledgers)
{
    size_t several = rpc_answer_bytes_max(c);
    return ledgers == 1 && several < RPC_LEDGER_ANSWER_BYTES ? RPC_LEDGER_ANSWER_BYTES : several;
}

tide_status rpc_client_page(struct rpc_client *client, const struct rpc_page_request *request,
                            struct rpc_page *out, struct tide_buf *body, struct tide_err *err)
{
    char params[128];
    snprintf(params, sizeof params, "{\"startLedger\":%u,\"pagination\":{\"limit\":%u}}",
             request->start, request->limit);
    tide_buf_limit(body, page_bytes_max(client, request->limit));
    return rpc_ask(client, &rpc_ledgers_question, tide_slice_str(params), body, out, err);
}

tide_status rpc_client_one(struct rpc_client *client, uint32_t ledger, struct rpc_one *out,
                           struct tide_err *err)
{
    const struct rpc_page_request request = { ledger, 1 };
    struct tide_buf body;
    struct rpc_page *page = malloc(sizeof *page);
    *out = (struct rpc_one){ 0 };
    if (!page)
        return tide_fail(err, TIDE_E_MEMORY, "%s: out of memory", client->name);
    tide_buf_init(&body, 0);
    tide_status status = rpc_client_page(client, &request, page, &body, err);
    const struct rpc_error *e = &client->last.error;
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
    struct rpc_event *event = out;
    if (event->topic_count == RPC_TOPICS_MAX)
        json_scan_fault(s, "more topics than an event may have");
    else
        event->topics[event->topic_count++] = json_scan_base64(s);
}

static void read_event(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = {
        { "ledger", JSON_SCAN_U32, true, .at = offsetof(struct rpc_event, ledger) },
        { "id", JSON_SCAN_RAW, true, .at = offsetof(struct rpc_event, id) },
        { "contractId", JSON_SCAN_RAW, .at = offsetof(struct rpc_event, contract) },
        { "txHash", JSON_SCAN_RAW, .at = offsetof(struct rpc_event, transaction) },
        { "topic", JSON_SCAN_ITEMS, .read = read_topic },
        { "value", JSON_SCAN_BASE64, true, .at = offsetof(struct rpc_event, value) },
    };
    static const char lacks[] = "an event lacks ledger, id or value";
    struct rpc_events *events = out;
    struct rpc_event event = { 0 };
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
    { "cursor", JSON_SCAN_TEXT, false, offsetof(struct rpc_events, cursor),
      sizeof((struct rpc_events *)0)->cursor, NULL },
};
const struct rpc_question rpc_events_question = { "getEvents",
                                                  events_members,
                                                  TIDE_COUNT(events_members),
                                                  "no events",
                                                  offsetof(struct rpc_events, each),
                                                  NULL };

tide_status rpc_client_events(struct rpc_client *client, const struct rpc_events_request *request,
                              struct rpc_events *out, struct tide_err *err)
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
    tide_status status =
        rpc_ask(client, &rpc_events_question, tide_slice_of(params, (size_t)len), NULL, out, err);
    if (out->status) {
        *err = out->why;
        return out->status;
    }
    return status;
}
