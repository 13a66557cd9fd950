/* getEvents: filters, the order of events, pages. */
#include "tidemark/meta.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tools/sim/rpc/rpc.h"

/* events of a page by default and at most; ledgers of a call; events of a ledger */
enum { PAGE_USUAL = 100, PAGE_MOST = 10000, SCAN_MOST = 10000, EVENTS_MOST = 1 << 20 };

/* --- ids ------------------------------------------------------------------------ */

/* An event's id, "%019d-%010d" as text. Ids and their texts have the same order. */
struct event_id {
    uint64_t toid;  /* ledger << 32 | transaction << 12 | operation */
    uint32_t index; /* index of the event in the operation */
};

/* Returns the event's id, as stellar-rpc forms it. Fee events have no operation: stage 0 comes
 * before all transactions, stage 1 behind the transaction, stage 2 behind all. */
static struct event_id event_id_of(uint32_t ledger, const struct tide_event *event)
{
    enum { OP_OF_STAGE_1 = 4095, TX_OF_STAGE_2 = 1048575 };
    uint64_t tx = event->tx, op = event->op;
    if (event->level == TIDE_EVENT_TX) {
        tx = event->stage == 0 ? 0 : event->stage == 1 ? event->tx : TX_OF_STAGE_2;
        op = event->stage == 1 ? OP_OF_STAGE_1 : 0;
    }
    return (struct event_id){ (uint64_t)ledger << 32 | tx << 12 | op, event->index };
}

/* Returns an id behind all events of a ledger. */
static struct event_id last_id_of(uint32_t ledger)
{
    return (struct event_id){ (uint64_t)ledger << 32 | UINT32_MAX, UINT32_MAX };
}

/* Compares two ids. */
static int compare_ids(struct event_id a, struct event_id b)
{
    if (a.toid != b.toid)
        return a.toid < b.toid ? -1 : 1;
    return (a.index > b.index) - (a.index < b.index);
}

/* Appends an id's text. */
static void put_id(struct tide_buf *out, struct event_id id)
{
    tide_buf_putf(out, "%019" PRIu64 "-%010" PRIu32, id.toid, id.index);
}

/* Parses an id's text. */
static bool event_id_read(struct event_id *id, tide_slice text)
{
    const uint8_t *dash = text.len ? memchr(text.ptr, '-', text.len) : NULL;
    uint64_t index = 0;
    if (!dash)
        return false;
    tide_slice toid = tide_slice_of(text.ptr, (size_t)(dash - text.ptr));
    tide_slice rest = tide_slice_of(dash + 1, text.len - toid.len - 1);
    if (tide_parse_u64(&id->toid, toid, INT64_MAX) != TIDE_OK ||
        tide_parse_u64(&index, rest, UINT32_MAX) != TIDE_OK)
        return false;
    id->index = (uint32_t)index;
    return true;
}

/* --- filters ------------------------------------------------------------------------ */

enum { FILTERS_MAX = 5, TYPE_SYSTEM = 1, TYPE_CONTRACT = 2 };

/* A filter of a request. */
struct event_filter {
    uint32_t types;          /* bits TYPE_SYSTEM and TYPE_CONTRACT */
    uint32_t contract_count; /* 0: any contract */
    uint8_t contracts[FILTERS_MAX][TIDE_HASH_BYTES];
};

/* The filters of a request. An event must match one of them. */
struct event_filters {
    uint32_t count; /* 0: every event matches */
    struct event_filter items[FILTERS_MAX];
};

/* Refuses the call because of a filter, with stellar-rpc's words. */
static bool refuse_filter(struct rpc_call *call, uint32_t filter, const char *why)
{
    return rpc_refuse(call, RPC_PARAMS, "filter %u invalid: %s", filter + 1, why);
}

/* Reads a filter's type. */
static bool read_type(struct rpc_call *call, uint32_t at, struct event_filter *filter,
                      const char *type)
{
    if (!*type)
        filter->types = TYPE_SYSTEM | TYPE_CONTRACT;
    else if (strcmp(type, "contract") == 0)
        filter->types = TYPE_CONTRACT;
    else if (strcmp(type, "system") == 0)
        filter->types = TYPE_SYSTEM;
    return filter->types || refuse_filter(call, at,
                                          "filter type invalid: if set, type must be either "
                                          "'system' or 'contract'");
}

/* Reads a filter's contracts. */
static bool read_contracts(struct rpc_call *call, uint32_t at, struct event_filter *filter,
                           const json_t *ids)
{
    char why[64];
    if (json_array_size(ids) > FILTERS_MAX)
        return refuse_filter(call, at, "maximum 5 contract IDs per filter");
    for (size_t i = 0; i < json_array_size(ids); i++) {
        enum tide_strkey kind;
        uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
        size_t len = 0;
        const char *text = json_string_value(json_array_get(ids, i));
        if (!text)
            return rpc_refuse(call, RPC_PARAMS, "invalid parameters: contractIds");
        if (tide_strkey_decode(&kind, payload, &len, tide_slice_str(text)) != TIDE_OK ||
            kind != TIDE_STRKEY_CONTRACT) {
            snprintf(why, sizeof why, "contract ID %zu invalid", i + 1);
            return refuse_filter(call, at, why);
        }
        memcpy(filter->contracts[filter->contract_count++], payload, TIDE_HASH_BYTES);
    }
    return true;
}

/* Reads one filter. */
static bool read_filter(struct rpc_call *call, uint32_t at, struct event_filter *filter,
                        const json_t *given)
{
    const char *type = "";
    const json_t *contracts = NULL;
    if (!json_is_object(given))
        return rpc_refuse(call, RPC_PARAMS, "invalid parameters: filters");
    if (json_array_size(json_object_get(given, "topics")) > 0)
        return refuse_filter(call, at, "this simulated network does not filter by topics");
    return rpc_text(call, given, "type", &type) &&
           rpc_array(call, given, "contractIds", &contracts) && read_type(call, at, filter, type) &&
           read_contracts(call, at, filter, contracts);
}

/* Reads all filters. */
static bool read_filters(struct rpc_call *call, struct event_filters *filters)
{
    const json_t *given = NULL;
    if (!rpc_array(call, call->params, "filters", &given))
        return false;
    if (json_array_size(given) > FILTERS_MAX)
        return rpc_refuse(call, RPC_PARAMS, "maximum 5 filters per request");
    for (uint32_t i = 0; i < json_array_size(given); i++) {
        if (!read_filter(call, i, &filters->items[i], json_array_get(given, i)))
            return false;
        filters->count++;
    }
    return true;
}

/* Returns true if the event has the filter's type and contract. */
static bool filter_matches(const struct event_filter *filter, const struct tide_event *event)
{
    if (!(filter->types & (event->type == 0 ? TYPE_SYSTEM : TYPE_CONTRACT)))
        return false;
    bool matches = filter->contract_count == 0;
    for (uint32_t i = 0; i < filter->contract_count && event->contract; i++)
        matches |= memcmp(filter->contracts[i], event->contract, TIDE_HASH_BYTES) == 0;
    return matches;
}

/* Returns true if one of the filters matches. */
static bool filters_match(const struct event_filters *filters, const struct tide_event *event)
{
    bool matches = filters->count == 0;
    for (uint32_t i = 0; i < filters->count && !matches; i++)
        matches = filter_matches(&filters->items[i], event);
    return matches;
}

/* --- events of a ledger, in the order of their ids ------------------------------------ */

/* An event that matches. It borrows from the ledger's bytes. */
struct found {
    struct event_id id;
    struct tide_event event;
    const uint8_t *tx_hash;
    bool successful;
};

/* State of a call over its ledgers. */
struct scan {
    struct rpc_call *call;
    struct event_filters filters;
    struct event_id after; /* events up to this id are left out */
    uint32_t limit;
    uint32_t ledger;
    uint32_t given; /* events in the answer */
    uint64_t close_time;
    struct tide_buf found; /* struct found of the present ledger */
    struct tide_buf lcm;
    struct event_id last; /* id of the last event in the answer */
    uint64_t matched;     /* events that matched, for the fault drop-events */
    bool duplicated;      /* the fault duplicate has happened */
};

/* Collects a matching event. Diagnostic events have no id. */
static tide_status on_event(void *self, const struct tide_tx *tx, const struct tide_event *event)
{
    struct scan *scan = self;
    struct found found = { .id = event_id_of(scan->ledger, event),
                           .event = *event,
                           .tx_hash = tx->hash,
                           .successful = tx->successful };
    if (event->level == TIDE_EVENT_DIAGNOSTIC || event->type > 1 ||
        compare_ids(found.id, scan->after) <= 0 || !filters_match(&scan->filters, event))
        return TIDE_OK;
    tide_buf_put(&scan->found, &found, sizeof found);
    return scan->found.failed ? TIDE_E_LIMIT : TIDE_OK;
}

/* Orders events by id for qsort. */
static int by_id(const void *a, const void *b)
{
    return compare_ids(((const struct found *)a)->id, ((const struct found *)b)->id);
}

/* --- writing ---------------------------------------------------------------------------- */

/* Appends the topics. */
static void put_topics(struct tide_buf *out, const struct tide_event *event)
{
    struct tide_xdr x = tide_xdr_of(event->topics);
    tide_buf_str(out, "\"topic\":[");
    for (uint32_t i = 0; i < event->topic_count; i++) {
        if (i)
            tide_buf_u8(out, ',');
        rpc_put_base64(out, tide_scval_span(&x));
    }
    tide_buf_str(out, "],");
}

/* Appends an event as a JSON object. */
static void put_event(const struct scan *scan, struct tide_buf *out, const struct found *found)
{
    char closed[TIDE_RFC3339_BYTES], contract[TIDE_STRKEY_TEXT_MAX];
    const struct tide_event *event = &found->event;
    size_t len = 0;
    if (event->contract)
        len = tide_strkey_encode(contract, TIDE_STRKEY_CONTRACT,
                                 tide_slice_of(event->contract, TIDE_HASH_BYTES));
    tide_time_rfc3339(closed, (int64_t)scan->close_time);
    tide_buf_putf(out,
                  "{\"type\":\"%s\",\"ledger\":%u,\"ledgerClosedAt\":\"%s\",\"contractId\":\"%.*s\""
                  ",\"id\":\"",
                  event->type == 0 ? "system" : "contract", scan->ledger, closed, (int)len,
                  contract);
    put_id(out, found->id);
    tide_buf_putf(out, "\",\"operationIndex\":%u,\"transactionIndex\":%u,\"txHash\":\"",
                  (uint32_t)(found->id.toid & 4095), (uint32_t)(found->id.toid >> 12 & 1048575));
    tide_buf_hex(out, tide_slice_of(found->tx_hash, TIDE_HASH_BYTES));
    tide_buf_putf(out, "\",\"inSuccessfulContractCall\":%s,", found->successful ? "true" : "false");
    put_topics(out, event);
    tide_buf_str(out, "\"value\":");
    rpc_put_base64(out, event->data);
    tide_buf_str(out, "}");
}

/* Returns true if the fault drop-events removes this event. */
static bool is_dropped(struct scan *scan)
{
    const struct sim_fault_hit *hit = scan->call->hit;
    uint64_t every = hit->number[SIM_FAULT_DROP_EVENTS];
    scan->matched++;
    return sim_fault_on(hit, SIM_FAULT_DROP_EVENTS) && scan->matched % (every ? every : 2) == 0 &&
           sim_faults_strike(scan->call->rpc->faults, hit, SIM_FAULT_DROP_EVENTS);
}

/* Returns true if the fault duplicate repeats this event; once a page. */
static bool is_doubled(struct scan *scan)
{
    const struct sim_fault_hit *hit = scan->call->hit;
    uint64_t ledger = hit->number[SIM_FAULT_DUPLICATE];
    if (scan->duplicated || !sim_fault_on(hit, SIM_FAULT_DUPLICATE) ||
        (ledger && ledger != scan->ledger))
        return false;
    scan->duplicated = sim_faults_strike(scan->call->rpc->faults, hit, SIM_FAULT_DUPLICATE);
    return scan->duplicated;
}

/* Appends the ledger's events in the order of their ids, until the page is full. */
static void put_found(struct scan *scan)
{
    struct tide_buf *out = scan->call->out;
    struct found *found = (struct found *)(void *)scan->found.ptr;
    size_t count = scan->found.len / sizeof *found;
    if (count)
        qsort(found, count, sizeof *found, by_id);
    for (size_t i = 0; i < count && scan->given < scan->limit; i++) {
        scan->last = found[i].id;
        if (is_dropped(scan))
            continue;
        if (scan->given++)
            tide_buf_u8(out, ',');
        put_event(scan, out, &found[i]);
        if (is_doubled(scan)) {
            tide_buf_u8(out, ',');
            put_event(scan, out, &found[i]);
        }
    }
}

/* Reads one ledger and appends its events. Returns false if the ledger cannot be read. */
static bool scan_ledger(struct scan *scan, uint32_t ledger)
{
    struct tide_err err;
    struct ledger_info info;
    const struct tide_walk walk = { .self = scan, .event = on_event };
    tide_buf_reset(&scan->lcm);
    tide_buf_reset(&scan->found);
    if (!ledger_store_read(scan->call->store, ledger, &scan->lcm, &info))
        return rpc_refuse(scan->call, RPC_INTERNAL, "cannot read ledger %u", ledger);
    scan->ledger = ledger;
    scan->close_time = info.close_time;
    if (tide_ledger_walk(&walk, tide_buf_view(&scan->lcm), &err) != TIDE_OK)
        return rpc_refuse(scan->call, RPC_INTERNAL, "%s", err.text);
    put_found(scan);
    return true;
}

/* --- the method ------------------------------------------------------------------------- */

/* Ledgers of a call. */
struct range {
    uint32_t start, end; /* exclusive */
};

/* Reads the cursor and the limit. A cursor and a range exclude each other. */
static bool read_cursor(struct rpc_call *call, struct scan *scan, const json_t *pagination,
                        struct range *range)
{
    const char *cursor = NULL;
    uint32_t limit = 0;
    if (!rpc_text(call, pagination, "cursor", &cursor) ||
        !rpc_u32(call, pagination, "limit", &limit))
        return false;
    if (cursor && !event_id_read(&scan->after, tide_slice_str(cursor)))
        return rpc_refuse(call, RPC_PARAMS, "invalid event id %.64s", cursor);
    if (!rpc_format(call))
        return false;
    if (cursor && (range->start || range->end))
        return rpc_refuse(call, RPC_PARAMS, "ledger ranges and cursor cannot both be set");
    if (!cursor && range->start == 0)
        return rpc_refuse(call, RPC_PARAMS, "startLedger must be positive");
    if (limit > PAGE_MOST)
        return rpc_refuse(call, RPC_PARAMS, "limit must not exceed %d", PAGE_MOST);
    if (cursor)
        range->start = (uint32_t)(scan->after.toid >> 32);
    scan->limit = limit ? limit : PAGE_USUAL;
    return true;
}

/* Reads the whole request. Limits the range to SCAN_MOST ledgers, as stellar-rpc does. */
static bool read_request(struct rpc_call *call, struct scan *scan, struct range *range)
{
    const json_t *pagination = NULL;
    uint32_t end = 0;
    *range = (struct range){ 0 };
    if (!rpc_u32(call, call->params, "startLedger", &range->start) ||
        !rpc_u32(call, call->params, "endLedger", &range->end) ||
        !rpc_object(call, call->params, "pagination", &pagination) ||
        !read_cursor(call, scan, pagination, range) || !read_filters(call, &scan->filters))
        return false;
    end = range->end;
    if (range->start < call->oldest.sequence || range->start > call->latest.sequence)
        return rpc_refuse(call, RPC_REQUEST, "startLedger must be within the ledger range: %u - %u",
                          call->oldest.sequence, call->latest.sequence);
    range->end = call->latest.sequence + 1;
    if (range->end - range->start > SCAN_MOST)
        range->end = range->start + SCAN_MOST;
    if (end && end < range->end)
        range->end = end;
    return true;
}

bool rpc_getEvents(struct rpc_call *call)
{
    struct range range;
    struct scan scan = { .call = call };
    tide_buf_init(&scan.found, EVENTS_MOST * sizeof(struct found));
    tide_buf_init(&scan.lcm, RPC_ANSWER_BYTES_MAX);
    bool good = read_request(call, &scan, &range);
    if (good)
        tide_buf_str(call->out, "{\"events\":[");
    for (uint32_t s = range.start; good && s < range.end && scan.given < scan.limit; s++)
        good = scan_ledger(&scan, s);
    if (good) {
        tide_buf_str(call->out, "],\"cursor\":\"");
        /* A full page continues behind its last event, any other behind its last ledger. */
        put_id(call->out, scan.given == scan.limit ? scan.last : last_id_of(range.end - 1));
        tide_buf_putf(
            call->out,
            "\",\"latestLedger\":%u,\"oldestLedger\":%u,\"latestLedgerCloseTime\":\"%" PRIu64
            "\",\"oldestLedgerCloseTime\":\"%" PRIu64 "\"}",
            call->latest.sequence, call->oldest.sequence, call->latest.close_time,
            call->oldest.close_time);
    }
    tide_buf_release(&scan.found);
    tide_buf_release(&scan.lcm);
    return good;
}
