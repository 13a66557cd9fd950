/* verify against getEvents: compares the ids of the deployment's events that are stored with those
 * that a server lists, and the content of those that are stored raw. Servers have lost events
 * before, and the index could. */
#include "indexer/database/query.h"
#include "indexer/decode/redecode.h"
#include "indexer/verify/verify.h"
#include "tidemark/clock.h"
#include "tidemark/limits.h"
#include "tidemark/rpc.h"
#include "tidemark/stop.h"
#include "tidemark/text.h"

enum {
    CHUNK = 256, /* ledgers compared at once */
    PAGE = 1000, /* events of one answer */
    FILTERS = 5, /* contracts of one filter; the server's limit */
    RETRY_MS = 500,
    GROUP = 25, /* contracts of one request: five filters */
    /* Transaction and operation numbers of an id that stand for fee events and events of
     * transactions. */
    TX_MAX = 1048575,
    OP_STAGE = 4095, /* an event of a transaction, not of an operation */
    SURPLUS = 4000,  /* more events of a ledger than are stored: the list is not read on */
    RAW_BYTES_MAX = 256 << 20,
};
static_assert(GROUP % FILTERS == 0, "a request has whole filters");
static_assert(((TX_MAX + 1) & TX_MAX) == 0 && ((OP_STAGE + 1) & OP_STAGE) == 0, "masks of an id");

/* Events of one ledger: their number, and a sum of their hashes, which does not depend on order. */
struct tally {
    uint64_t count, sum;
};

/* An event that is stored raw: its position and a hash of its topics and value. */
struct raw_event {
    uint32_t ledger, place[3];
    uint64_t content;
};

struct comparing {
    struct tide_verify *check;
    struct tide_rpc_client *client;
    struct tide_range range; /* ledgers of the present chunk */
    char filters[2048], contracts[2048];
    char last_id[48]; /* id of the newest event seen; an event at or before it is a repetition */
    bool past;        /* an event behind the range came, or too many: the list is not read on */
    uint64_t events;
    struct tally listed[CHUNK], stored[CHUNK];
    uint32_t seen[CHUNK]; /* events listed of the ledger, those that are not compared too */
    struct tide_buf raw;  /* struct raw_event of the group in the chunk, by position */
    struct tide_buf xdr;  /* one of them */
    uint64_t raw_events;  /* raw events whose content was compared */
};

/* The FNV-1a hash, continued over more bytes. */
static const uint64_t hash_start = 14695981039346656037u;

static uint64_t hash_on(uint64_t h, tide_slice bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        h = (h ^ bytes.ptr[i]) * 1099511628211u;
    return h;
}

/* Returns a hash of an event's position and contract. */
static uint64_t hash_of(const uint32_t place[3], tide_slice contract)
{
    uint64_t h = hash_start;
    for (size_t i = 0; i < 3; i++)
        h = (h ^ place[i]) * 1099511628211u;
    h = hash_on(h, contract);
    return h ^ h >> 29;
}

static void count_event(struct tally *tally, const uint32_t place[3], tide_slice contract)
{
    tally->count++;
    tally->sum += hash_of(place, contract);
}

/* Reads ledger, transaction, operation and index of an id "TOID-INDEX". */
static bool read_id(tide_slice id, uint32_t *ledger, uint32_t place[3])
{
    uint64_t toid = 0, index = 0;
    const uint8_t *dash = memchr(id.ptr, '-', id.len);
    size_t len = dash ? (size_t)(dash - id.ptr) : 0;
    if (!dash || tide_parse_u64(&toid, tide_slice_of(id.ptr, len), INT64_MAX) ||
        tide_parse_u64(&index, tide_slice_of(dash + 1, id.len - len - 1), UINT32_MAX))
        return false;
    *ledger = (uint32_t)(toid >> 32);
    place[0] = (uint32_t)(toid >> 12) & TX_MAX;
    place[1] = (uint32_t)toid & OP_STAGE;
    place[2] = (uint32_t)index;
    return true;
}

/* Orders raw events by ledger, transaction, operation and index. */
static int compare_places(const void *a, const void *b)
{
    const struct raw_event *x = a, *y = b;
    if (x->ledger != y->ledger)
        return x->ledger < y->ledger ? -1 : 1;
    for (size_t i = 0; i < 3; i++)
        if (x->place[i] != y->place[i])
            return x->place[i] < y->place[i] ? -1 : 1;
    return 0;
}

/* Compares the content of an event that is stored raw. */
static void compare_raw(struct comparing *c, const struct tide_rpc_event *event,
                        const uint32_t place[3])
{
    const struct raw_event wanted = { .ledger = event->ledger,
                                      .place = { place[0], place[1], place[2] } };
    const struct raw_event *raw = NULL;
    assert(c->raw.len % sizeof *raw == 0);
    if (c->raw.len)
        raw = bsearch(&wanted, c->raw.ptr, c->raw.len / sizeof *raw, sizeof *raw, compare_places);
    if (!raw)
        return;
    uint64_t content = hash_start ^ event->topic_count;
    for (uint32_t i = 0; i < event->topic_count; i++)
        content = hash_on(content, event->topics[i]);
    c->raw_events++;
    if (hash_on(content, event->value) != raw->content)
        tide_verify_report(c->check,
                           "event.raw: ledger %u, transaction %u, operation %u, event %u: altered, "
                           "getEvents of %s lists another content",
                           event->ledger, place[0], place[1], place[2], c->client->name);
}

/* Ends the reading if the server lists over SURPLUS more events of a ledger than are stored. */
static void count_seen(struct comparing *c, uint32_t ledger)
{
    assert(ledger >= c->range.from && ledger <= c->range.to);
    uint32_t at = ledger - c->range.from;
    assert(at < CHUNK);
    if (++c->seen[at] <= c->stored[at].count + SURPLUS)
        return;
    c->past = true;
    tide_verify_report(c->check,
                       "event.log: ledger %u: %" PRIu64
                       " events, getEvents of %s lists more than %u; the rest is not read",
                       ledger, c->stored[at].count, c->client->name, c->seen[at] - 1);
}

/* Counts an event that the server listed, if it is in the range, new, and of an operation. */
static tide_status count_listed(void *self, const struct tide_rpc_event *event,
                                struct tide_err *err)
{
    struct comparing *c = self;
    uint32_t ledger, place[3];
    if (event->id.len >= sizeof c->last_id || !read_id(event->id, &ledger, place) ||
        ledger != event->ledger)
        return tide_fail(err, TIDE_E_DECODE, "getEvents: the event id %.*s does not fit ledger %u",
                         event->id.len > 60 ? 60 : (int)event->id.len, (const char *)event->id.ptr,
                         event->ledger);
    if (tide_slice_cmp(event->id, tide_slice_str(c->last_id)) <= 0)
        return TIDE_OK;
    memcpy(c->last_id, event->id.ptr, event->id.len);
    c->last_id[event->id.len] = '\0';
    if (ledger > c->range.to)
        c->past = true;
    if (ledger < c->range.from || ledger > c->range.to || c->past)
        return TIDE_OK;
    count_seen(c, ledger);
    if (place[0] == 0 || place[0] == TX_MAX || place[1] == OP_STAGE)
        return TIDE_OK;
    compare_raw(c, event, place);
    count_event(&c->listed[ledger - c->range.from], place, event->contract);
    c->events++;
    return TIDE_OK;
}

/* Sends a request, again if the server is busy, up to http_tries times. */
static tide_status request_events(struct comparing *c,
                                  const struct tide_rpc_events_request *request,
                                  struct tide_rpc_events *events, struct tide_err *err)
{
    assert(request->limit > 0);
    const struct tide_clock *clock = tide_clock_system();
    const struct tide_config *config = c->client->options.config;
    for (uint32_t n = 1;; n++) {
        tide_status status = tide_rpc_client_events(c->client, request, events, err);
        bool again = status == TIDE_E_IO || status == TIDE_E_DECODE;
        if (!again || n >= config->http_tries || tide_stop_asked(NULL))
            return status;
        uint32_t ms = RETRY_MS * n < config->retry_ms_max ? RETRY_MS * n : config->retry_ms_max;
        uint32_t asked_ms = c->client->last.after_ms;
        clock->sleep_ms(clock->self, asked_ms > ms ? asked_ms : ms);
    }
}

/* Fails if the cursor does not go on: a page that is not full ends at a later ledger than the one
 * before, and a full one at a later event. reached: the ledger of the cursor before. */
static tide_status check_progress(const struct comparing *c, const struct tide_rpc_events *events,
                                  const char *before, uint32_t ledger, uint32_t reached,
                                  struct tide_err *err)
{
    bool later = tide_slice_cmp(tide_slice_str(events->cursor), tide_slice_str(before)) > 0;
    if (later && (ledger > reached || events->count >= PAGE))
        return TIDE_OK;
    return tide_fail(err, TIDE_E_DECODE,
                     "%s: getEvents: the cursor does not go on from \"%s\": \"%s\"",
                     c->client->name, before, events->cursor);
}

/* Reads all events of a group of contracts in the chunk, page by page. */
static tide_status read_listed(struct comparing *c, struct tide_err *err)
{
    assert(c->range.from <= c->range.to && c->filters[0]);
    struct tide_rpc_events events = { .each = count_listed, .self = c };
    struct tide_rpc_events_request request = {
        .start = c->range.from, .end = c->range.to + 1, .filters = c->filters, .limit = PAGE
    };
    char cursor[sizeof events.cursor] = "";
    uint32_t reached = 0;
    c->last_id[0] = '\0';
    c->past = false;
    for (;;) {
        if (tide_stop_asked(NULL))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        tide_status status = request_events(c, &request, &events, err);
        uint32_t ledger = 0, ignored[3];
        if (status || c->past)
            return status;
        /* The cursor shows how far the server searched. A page may have no events and yet not be
         * the last. */
        bool known = read_id(tide_slice_str(events.cursor), &ledger, ignored);
        if (!known || strcmp(cursor, events.cursor) == 0 ||
            (ledger > c->range.to || (ledger == c->range.to && events.count < PAGE)))
            return TIDE_OK;
        status = check_progress(c, &events, cursor, ledger, reached, err);
        if (status)
            return status;
        reached = ledger;
        snprintf(cursor, sizeof cursor, "%s", events.cursor);
        request.cursor = cursor;
    }
}

/* Keeps the position and content of a raw event; content 0 if its bytes are no event. */
static tide_status keep_raw(struct comparing *c, uint32_t ledger, const uint32_t place[3],
                            tide_slice hex, struct tide_err *err)
{
    struct raw_event raw = { .ledger = ledger, .place = { place[0], place[1], place[2] } };
    struct tide_raw_event event;
    tide_buf_reset(&c->xdr);
    if (tide_raw_event_hex(&event, &c->xdr, hex)) {
        raw.content = hash_on(hash_start ^ event.topic_count, event.topics);
        raw.content = hash_on(raw.content, event.data);
    }
    tide_buf_put(&c->raw, &raw, sizeof raw);
    return c->raw.failed || c->xdr.failed ? tide_fail(err, TIDE_E_MEMORY, "verify: raw events")
                                          : TIDE_OK;
}

static tide_status count_stored(void *self, const struct tide_pg_rows *row, struct tide_err *err)
{
    struct comparing *c = self;
    uint32_t ledger = (uint32_t)tide_pg_u64(row, 0, 0);
    const uint32_t place[3] = { (uint32_t)tide_pg_u64(row, 0, 1), (uint32_t)tide_pg_u64(row, 0, 2),
                                (uint32_t)tide_pg_u64(row, 0, 3) };
    assert(ledger >= c->range.from && ledger <= c->range.to);
    count_event(&c->stored[ledger - c->range.from], place, tide_pg_slice(row, 0, 4));
    return tide_pg_is_null(row, 0, 5) ? TIDE_OK
                                      : keep_raw(c, ledger, place, tide_pg_slice(row, 0, 5), err);
}

/* Counts the stored events of the group in the chunk. */
static tide_status read_stored(struct comparing *c, struct tide_err *err)
{
    assert(c->range.from <= c->range.to && c->contracts[0]);
    char id[8], from[12], to[12];
    snprintf(id, sizeof id, "%u", c->check->deployment);
    snprintf(from, sizeof from, "%u", c->range.from);
    snprintf(to, sizeof to, "%u", c->range.to);
    const struct tide_pg_sink sink = { .row = count_stored, .self = c };
    const char *values[] = { id, from, to, c->contracts };
    tide_buf_reset(&c->raw);
    tide_status status = tide_pg_stream(
        c->check->pg, &sink,
        "SELECT ledger, tx, op, event, contract, NULL FROM event.log"
        " WHERE deployment = $1 AND ledger BETWEEN $2 AND $3 AND contract = ANY ($4::text[])"
        " UNION ALL SELECT ledger, tx, op, event, contract, encode(xdr, 'hex') FROM event.raw"
        " WHERE deployment = $1 AND ledger BETWEEN $2 AND $3 AND contract = ANY ($4::text[])",
        values, TIDE_COUNT(values), err);
    if (!status && c->raw.len)
        qsort(c->raw.ptr, c->raw.len / sizeof(struct raw_event), sizeof(struct raw_event),
              compare_places);
    return status;
}

static void compare_chunk(struct comparing *c)
{
    assert(c->range.from <= c->range.to && c->range.to - c->range.from < CHUNK);
    for (uint32_t l = c->range.from; l <= c->range.to; l++) {
        const struct tally *listed = &c->listed[l - c->range.from];
        const struct tally *stored = &c->stored[l - c->range.from];
        if (listed->count != stored->count || listed->sum != stored->sum)
            tide_verify_report(c->check,
                               "event.log: ledger %u: %" PRIu64
                               " events, getEvents of %s lists %" PRIu64,
                               l, stored->count, c->client->name, listed->count);
    }
}

/* Removes Stellar assets: the index stores only those of their events that concern the deployment,
 * so a comparison would differ. */
static void drop_assets(struct tide_deployment *d)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->contract_count; i++)
        if (d->contracts[i].role != TIDE_ROLE_stellar_asset)
            d->contracts[kept++] = d->contracts[i];
    d->contract_count = kept;
}

/* Writes at most GROUP contracts from index `first` on, as getEvents filters and as an SQL
 * array. */
static void name_group(struct comparing *c, const struct tide_deployment *d, uint32_t first)
{
    assert(first < d->contract_count);
    /* The comparison's own memory: a lack of memory cannot leave a contract out. */
    struct tide_buf filters = { .ptr = (uint8_t *)c->filters,
                                .cap = sizeof c->filters,
                                .max = sizeof c->filters };
    struct tide_buf contracts = { .ptr = (uint8_t *)c->contracts,
                                  .cap = sizeof c->contracts,
                                  .max = sizeof c->contracts };
    tide_buf_str(&filters, "[");
    for (uint32_t i = first; i < d->contract_count && i < first + GROUP; i++) {
        bool begins = (i - first) % FILTERS == 0;
        tide_buf_putf(&filters, "%s%s\"%s\"", begins ? i > first ? "]},{" : "{" : ",",
                      begins ? "\"contractIds\":[" : "", d->contracts[i].address);
        tide_buf_putf(&contracts, "%s%s", i > first ? "," : "{", d->contracts[i].address);
    }
    tide_buf_put(&filters, "]}]", 4); /* with the NUL */
    tide_buf_put(&contracts, "}", 2);
    assert(!filters.failed && !contracts.failed);
}

/* Reads which part of the range the server still keeps; out->from 0: none. */
static tide_status read_kept_range(struct comparing *c, struct tide_range *out,
                                   struct tide_err *err)
{
    struct tide_rpc_one one;
    tide_status status = tide_rpc_client_one(c->client, 2, &one, err);
    if (status)
        return status;
    *out = c->check->range;
    out->from = out->from < one.oldest ? one.oldest : out->from;
    out->to = out->to > one.latest ? one.latest : out->to;
    if (out->from > out->to)
        out->from = 0;
    return TIDE_OK;
}

/* Compares the range chunk by chunk, each with all groups of contracts. */
static tide_status compare_all(struct comparing *c, const struct tide_deployment *d,
                               struct tide_err *err)
{
    struct tide_range kept = { 0 };
    tide_status status = read_kept_range(c, &kept, err);
    if (status)
        return status;
    for (uint32_t at = kept.from; at && at <= kept.to && !status; at += CHUNK) {
        c->range = (struct tide_range){ at, kept.to - at < CHUNK ? kept.to : at + CHUNK - 1 };
        memset(c->listed, 0, sizeof c->listed);
        memset(c->stored, 0, sizeof c->stored);
        memset(c->seen, 0, sizeof c->seen);
        for (uint32_t i = 0; i < d->contract_count && !status; i += GROUP) {
            if (tide_stop_asked(NULL))
                return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
            name_group(c, d, i);
            status = read_stored(c, err);
            if (!status)
                status = read_listed(c, err);
        }
        if (!status)
            compare_chunk(c);
    }
    if (!status && kept.from)
        printf("events  ledgers %u to %u, %" PRIu64 " events (%" PRIu64
               " raw) of %u contracts, by %s\n",
               kept.from, kept.to, c->events, c->raw_events, d->contract_count, c->client->name);
    else if (!status)
        printf("events  %s keeps none of the range\n", c->client->name);
    return status;
}

/* Compares the index with one server. */
static tide_status compare_server(struct tide_verify *check, const struct tide_config *config,
                                  const struct tide_deployment *d, const char *url,
                                  struct tide_err *err)
{
    struct tide_rpc_rate rate;
    struct tide_rpc_client client = { 0 };
    const struct tide_rpc_options options = { .config = config,
                                              .agent = "tidemark-indexer",
                                              .passphrase = d->passphrase,
                                              .rate = &rate,
                                              .cancelled = tide_stop_asked };
    struct comparing *c = calloc(1, sizeof *c);
    if (!c || tide_rpc_rate_init(&rate, config->rpc_requests_s)) {
        free(c);
        return tide_fail(err, TIDE_E_MEMORY, "verify");
    }
    c->check = check;
    c->client = &client;
    tide_buf_init(&c->raw, RAW_BYTES_MAX);
    tide_buf_init(&c->xdr, TIDE_LEDGER_BYTES_MAX);
    tide_status status = tide_rpc_client_open(&client, url, &options, err);
    if (!status)
        status = compare_all(c, d, err);
    tide_rpc_client_close(&client);
    tide_rpc_rate_destroy(&rate);
    tide_buf_release(&c->raw);
    tide_buf_release(&c->xdr);
    free(c);
    return status;
}

tide_status tide_verify_events(struct tide_verify *check, const struct tide_config *config,
                               struct tide_err *err)
{
    assert(check->range.from <= check->range.to);
    struct tide_deployment *d = NULL;
    const char *list = config->rpc;
    char url[TIDE_RPC_URL_BYTES];
    tide_status status =
        tide_query_contracts(check->pg, check->deployment, check->range.to + 1, &d, err);
    if (!status)
        drop_assets(d);
    while (!status && tide_rpc_next_url(&list, url))
        status = compare_server(check, config, d, url, err);
    free(d);
    return status;
}
