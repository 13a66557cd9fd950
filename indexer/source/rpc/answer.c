#include "indexer/source/rpc/answer.h"
#include "indexer/source/ledger_peek.h"
#include "indexer/source/rpc/json_scan.h"
#include "tidemark/text.h"

/* An answer while it is read. */
struct answer {
    struct json_scan scan;
    uint64_t id;
    struct rpc_error *error;
    void (*result)(struct json_scan *s, void *out);
    void *out;
};

/* --- what every answer has in common ------------------------------------------------------ */

/* Returns the decimal that follows `words` in text, or 0 if they are not in it. */
static uint32_t number_after(const char *text, const char *words, const char **rest)
{
    const char *at = strstr(text, words);
    uint64_t v = 0;
    if (!at)
        return 0;
    at += strlen(words);
    size_t len = strspn(at, "0123456789");
    *rest = at + len;
    return tide_parse_u64(&v, tide_slice_of(at, len), UINT32_MAX) == TIDE_OK ? (uint32_t)v : 0;
}

/* Reads the range from a message: "… between the oldest ledger: 12 and the latest ledger: 90 …", or
 * "… ledger range: 12 - 90". */
static void find_range(struct rpc_error *e)
{
    const char *rest = e->message;
    e->oldest = number_after(e->message, "oldest ledger: ", &rest);
    e->latest = number_after(e->message, "latest ledger: ", &rest);
    if (e->oldest || e->latest)
        return;
    e->oldest = number_after(e->message, "ledger range: ", &rest);
    e->latest = e->oldest ? number_after(rest, " - ", &rest) : 0;
}

static void read_error(struct json_scan *s, struct rpc_error *e)
{
    tide_slice name;
    bool given = false;
    for (bool first = json_scan_enter(s, '{'); json_scan_name(s, &first, &name);) {
        if (tide_slice_eq_str(name, "code")) {
            e->code = json_scan_i64(s);
            given = true;
        } else if (tide_slice_eq_str(name, "message")) {
            json_scan_text(s, e->message, sizeof e->message);
        } else {
            json_scan_skip(s);
        }
    }
    if (!given || e->code == 0)
        json_scan_fault(s, "an error without a code");
    find_range(e);
}

/* Notes that the field occurred. A second occurrence is a fault. */
static void once(struct json_scan *s, bool *seen)
{
    if (*seen)
        json_scan_fault(s, "a field comes twice");
    *seen = true;
}

static void read_envelope(struct answer *a)
{
    struct json_scan *s = &a->scan;
    tide_slice name;
    bool has_id = false, nameless = true, has_result = false, has_error = false;
    for (bool first = json_scan_enter(s, '{'); json_scan_name(s, &first, &name);) {
        if (tide_slice_eq_str(name, "id")) {
            once(s, &has_id);
            nameless = json_scan_null(s);
            if (!nameless && json_scan_u64(s, UINT64_MAX) != a->id)
                json_scan_fault(s, "an answer to another question");
        } else if (tide_slice_eq_str(name, "result") && !json_scan_null(s)) {
            once(s, &has_result);
            a->result(s, a->out);
        } else if (tide_slice_eq_str(name, "error") && !json_scan_null(s)) {
            once(s, &has_error);
            read_error(s, a->error);
        } else if (!tide_slice_eq_str(name, "result") && !tide_slice_eq_str(name, "error")) {
            json_scan_skip(s);
        }
    }
    json_scan_end(s);
    if (!s->fault && has_result == has_error)
        json_scan_fault(s, has_result ? "both a result and an error"
                                      : "neither a result nor an error");
    if (!s->fault && nameless && !has_error)
        json_scan_fault(s, "an answer without an id");
    if (nameless) /* perhaps about another question: no range is read from it */
        a->error->oldest = a->error->latest = 0;
}

static tide_status read_answer(struct answer *a, uint8_t *body, size_t len, struct tide_err *err)
{
    a->scan = json_scan_of(body, len);
    *a->error = (struct rpc_error){ 0 };
    read_envelope(a);
    if (!a->scan.fault)
        return TIDE_OK;
    *a->error = (struct rpc_error){ 0 };
    return tide_fail(err, TIDE_E_DECODE, "byte %zu of the answer: %s", a->scan.fault_at,
                     a->scan.fault);
}

static void read_hash(struct json_scan *s, uint8_t out[TIDE_HASH_BYTES])
{
    if (tide_hex_decode(out, TIDE_HASH_BYTES, json_scan_raw(s)) != TIDE_OK)
        json_scan_fault(s, "a hash is not 64 hexadecimal digits");
}

/* --- getLedgers --------------------------------------------------------------------------- */

static void read_ledger(struct json_scan *s, struct rpc_ledger *l)
{
    tide_slice name;
    bool sequence = false, hash = false, meta = false;
    for (bool first = json_scan_enter(s, '{'); json_scan_name(s, &first, &name);) {
        if (tide_slice_eq_str(name, "sequence")) {
            once(s, &sequence);
            l->sequence = (uint32_t)json_scan_u64(s, UINT32_MAX);
        } else if (tide_slice_eq_str(name, "hash")) {
            once(s, &hash);
            read_hash(s, l->hash);
        } else if (tide_slice_eq_str(name, "metadataXdr")) {
            once(s, &meta);
            l->lcm = json_scan_base64(s);
        } else {
            json_scan_skip(s);
        }
    }
    struct ledger_peek peek;
    if (s->fault)
        return;
    if (!sequence || !hash || !meta) {
        json_scan_fault(s, "a ledger lacks sequence, hash or metadataXdr");
        return;
    }
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

/* Inserts a ledger into the page in ascending order. Pages arrive sorted, so this costs one
 * comparison a ledger. */
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

static void read_page(struct json_scan *s, void *out)
{
    struct rpc_page *page = out;
    tide_slice name;
    bool ledgers = false, latest = false;
    for (bool first = json_scan_enter(s, '{'); json_scan_name(s, &first, &name);) {
        if (tide_slice_eq_str(name, "ledgers")) {
            once(s, &ledgers);
            if (json_scan_null(s)) /* some servers send null for an empty list */
                continue;
            for (bool none = json_scan_enter(s, '['); json_scan_item(s, &none);) {
                struct rpc_ledger l = { 0 };
                read_ledger(s, &l);
                if (!s->fault)
                    put_ledger(s, page, &l);
            }
        } else if (tide_slice_eq_str(name, "latestLedger")) {
            once(s, &latest);
            page->latest = (uint32_t)json_scan_u64(s, UINT32_MAX);
        } else if (tide_slice_eq_str(name, "oldestLedger")) {
            page->oldest = (uint32_t)json_scan_u64(s, UINT32_MAX);
        } else {
            json_scan_skip(s);
        }
    }
    if (!ledgers || !latest)
        json_scan_fault(s, "no ledgers or no latestLedger");
}

tide_status rpc_answer_page(struct rpc_page *out, uint8_t *body, size_t len, uint64_t id,
                            struct tide_err *err)
{
    struct answer a = { .id = id, .error = &out->error, .result = read_page, .out = out };
    out->count = out->latest = out->oldest = 0;
    tide_status status = read_answer(&a, body, len, err);
    if (status)
        out->count = 0;
    return status;
}

/* --- the small ones ----------------------------------------------------------------------- */

static void read_network(struct json_scan *s, void *out)
{
    struct rpc_network *network = out;
    tide_slice name;
    bool given = false;
    for (bool first = json_scan_enter(s, '{'); json_scan_name(s, &first, &name);) {
        if (tide_slice_eq_str(name, "passphrase")) {
            once(s, &given);
            json_scan_text(s, network->passphrase, sizeof network->passphrase);
        } else {
            json_scan_skip(s);
        }
    }
    if (!given)
        json_scan_fault(s, "no passphrase");
}

tide_status rpc_answer_network(struct rpc_network *out, uint8_t *body, size_t len, uint64_t id,
                               struct tide_err *err)
{
    struct answer a = { .id = id, .error = &out->error, .result = read_network, .out = out };
    out->passphrase[0] = '\0';
    return read_answer(&a, body, len, err);
}

static void read_latest(struct json_scan *s, void *out)
{
    struct rpc_latest *latest = out;
    tide_slice name;
    bool id = false, sequence = false;
    for (bool first = json_scan_enter(s, '{'); json_scan_name(s, &first, &name);) {
        if (tide_slice_eq_str(name, "id")) {
            once(s, &id);
            read_hash(s, latest->hash);
        } else if (tide_slice_eq_str(name, "sequence")) {
            once(s, &sequence);
            latest->sequence = (uint32_t)json_scan_u64(s, UINT32_MAX);
        } else {
            json_scan_skip(s);
        }
    }
    if (!id || !sequence)
        json_scan_fault(s, "no id or no sequence");
}

tide_status rpc_answer_latest(struct rpc_latest *out, uint8_t *body, size_t len, uint64_t id,
                              struct tide_err *err)
{
    struct answer a = { .id = id, .error = &out->error, .result = read_latest, .out = out };
    out->sequence = 0;
    return read_answer(&a, body, len, err);
}

/* --- getEvents ---------------------------------------------------------------------------- */

struct event_reading {
    struct rpc_events *events;
    tide_status status; /* status that each() returned */
    struct tide_err *err;
};

static void read_topics(struct json_scan *s, struct rpc_event *event)
{
    for (bool first = json_scan_enter(s, '['); json_scan_item(s, &first);) {
        if (event->topic_count == RPC_TOPICS_MAX)
            json_scan_fault(s, "more topics than an event may have");
        else
            event->topics[event->topic_count++] = json_scan_base64(s);
    }
}

static void read_event(struct json_scan *s, struct rpc_event *event)
{
    tide_slice name;
    bool ledger = false, topics = false, value = false;
    for (bool first = json_scan_enter(s, '{'); json_scan_name(s, &first, &name);) {
        if (tide_slice_eq_str(name, "ledger")) {
            once(s, &ledger);
            event->ledger = (uint32_t)json_scan_u64(s, UINT32_MAX);
        } else if (tide_slice_eq_str(name, "id")) {
            event->id = json_scan_raw(s);
        } else if (tide_slice_eq_str(name, "contractId")) {
            event->contract = json_scan_raw(s);
        } else if (tide_slice_eq_str(name, "txHash")) {
            event->transaction = json_scan_raw(s);
        } else if (tide_slice_eq_str(name, "topic") && !json_scan_null(s)) {
            once(s, &topics);
            read_topics(s, event);
        } else if (tide_slice_eq_str(name, "value")) {
            once(s, &value);
            event->value = json_scan_base64(s);
        } else {
            json_scan_skip(s);
        }
    }
    if (!ledger || !value || !event->id.len)
        json_scan_fault(s, "an event lacks ledger, id or value");
}

static void read_events(struct json_scan *s, void *out)
{
    struct event_reading *reading = out;
    tide_slice name;
    bool events = false;
    for (bool first = json_scan_enter(s, '{'); json_scan_name(s, &first, &name);) {
        if (tide_slice_eq_str(name, "cursor")) {
            json_scan_text(s, reading->events->cursor, sizeof reading->events->cursor);
        } else if (tide_slice_eq_str(name, "events")) {
            once(s, &events);
            if (json_scan_null(s))
                continue;
            for (bool none = json_scan_enter(s, '['); json_scan_item(s, &none);) {
                struct rpc_event event = { 0 };
                read_event(s, &event);
                if (s->fault)
                    break;
                reading->events->count++;
                reading->status =
                    reading->events->each(reading->events->self, &event, reading->err);
                if (reading->status)
                    json_scan_fault(s, "refused");
            }
        } else {
            json_scan_skip(s);
        }
    }
    if (!events)
        json_scan_fault(s, "no events");
}

tide_status rpc_answer_events(struct rpc_events *out, uint8_t *body, size_t len, uint64_t id,
                              struct tide_err *err)
{
    struct tide_err refused;
    struct event_reading reading = { .events = out, .err = &refused };
    struct answer a = { .id = id, .error = &out->error, .result = read_events, .out = &reading };
    out->count = 0;
    out->cursor[0] = '\0';
    tide_status status = read_answer(&a, body, len, err);
    if (!reading.status)
        return status;
    *err = refused;
    return reading.status;
}
