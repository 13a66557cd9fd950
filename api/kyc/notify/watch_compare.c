/* Compares the index with the states that endpoints were last notified of. */
#include "api/kyc/base/token.h"
#include "api/kyc/notify/secret.h"
#include "api/kyc/notify/watch_impl.h"
#include "tidemark/answer.h"
#include "tidemark/cache_meta.h"
#include "tidemark/failpoint.h"
#include "tidemark/history_lookup.h"

#include <stdlib.h>

enum {
    BATCH = 64,
    SHARE = 16, /* rows of one endpoint in a batch */
    SUMMARY_BYTES = 257,
    DATA_MAX = 4096
};

/* --- the index ---------------------------------------------------------------------------- */

bool notify_cache_open(struct notify_watch *w, struct tide_reader *reader)
{
    const struct tide_clock *clock = w->api.clock;
    struct tide_handler_context context = { .api = &w->api,
                                            .now_ms = (uint64_t)clock->wall_ms(clock->self),
                                            .host_ms = clock->now_ms(clock->self) };
    const struct tide_hot_meta *meta;
    struct tide_reply reply;
    struct tide_err err;
    bool trusted = false;
    if (tide_hot_begin(w->reader, &meta, &err) != TIDE_OK)
        return false;
    *reader = tide_reader_of(w->reader, meta, tide_cache_now(meta, (int64_t)context.now_ms));
    reader->age_ms = tide_cache_age_ms(meta, context.host_ms);
    tide_reply_init(&reply);
    if (meta->deployment == w->context.deployment && meta->ledger >= w->ledger &&
        tide_deployment_select_allows(w->api.select, meta->protocol) &&
        reader->age_ms <= w->api.config->stale_after_ms)
        trusted = tide_reader_trusted(reader, &context, &reply);
    tide_reply_release(&reply);
    if (!trusted)
        (void)!tide_hot_end(w->reader);
    return trusted;
}

/* --- addresses ---------------------------------------------------------------------------- */

/* Reads the next batch of addresses to compare, and locks their rows. */
static tide_status read_due(struct notify_watch *w, struct tide_pg_rows *rows, struct tide_err *err)
{
    tide_status status = tide_pg_query(
        w->context.pg, rows, "SELECT * FROM kyc.hook_due($1::smallint, $2::integer, $3::integer)",
        (const char *[]){ w->context.deployment_text, TIDE_PG_NUMBER(SHARE),
                          TIDE_PG_NUMBER(BATCH) },
        3, err);
    if (status == TIDE_OK && rows->count > BATCH)
        status = tide_fail(err, TIDE_E_DB, "kyc.hook_due returned %u rows instead of at most %d",
                           rows->count, BATCH);
    return status;
}

/* The current answer about an address: the summary that is compared, the notification's data, and
 * the time of the next comparison. */
struct finding {
    char summary[SUMMARY_BYTES];
    struct tide_buf data;
    uint64_t due; /* unix seconds of the next comparison; 0: only after a change */
    /* Parameters of kyc.hook_since, if the answer is another one: hashes of the keys of the
     * address's entries and of its jurisdiction's block, and the reason's code. */
    uint32_t ledger;
    char keys[3][TIDE_KEY_TEXT];
    const char *reason;
};

/* Computes the parameters by which kyc.hook_since finds the change that caused the answer. */
static tide_status name_cause(struct finding *out, const struct tide_reader *reader,
                              const struct tide_hot_address *who, uint32_t jurisdiction,
                              struct tide_err *err)
{
    const struct tide_hot_address *registry =
        &reader->meta->contracts[TIDE_ROLE_compliance_registry];
    const struct tide_entry_key keys[] = {
        { *registry, "ComplianceRec", 1, { TIDE_PART_ADDRESS(*who) }, false },
        { *registry, "Frozen", 1, { TIDE_PART_ADDRESS(*who) }, false },
        { *registry, "BlockedJurisdiction", 1, { TIDE_PART_U32(jurisdiction) }, false },
    };
    static_assert(TIDE_COUNT(keys) == TIDE_COUNT(out->keys), "a hash of each key");
    tide_status status = TIDE_OK;
    out->ledger = reader->meta->ledger;
    for (size_t i = 0; i < TIDE_COUNT(keys) && status == TIDE_OK; i++)
        status = tide_history_key(out->keys[i], &keys[i], err);
    return status;
}

/* Computes the answer about an address at the snapshot. An attestation that ends makes the address
 * due one second after its end. An unreadable address stays as it was. */
static tide_status compare_address(struct finding *out, struct tide_reader *reader,
                                   const char *address, const char *previous, struct tide_err *err)
{
    struct tide_json j = { .buf = &out->data };
    struct tide_standing s;
    struct tide_param_value who;
    const struct tide_hot_person *person;
    char why[TIDE_PARAM_WHY];
    tide_buf_reset(&out->data);
    if (!tide_param_read(&who, TIDE_PARAM_address, tide_slice_str(address), why)) {
        snprintf(out->summary, sizeof out->summary, "%s", previous);
        out->due = 0;
        return TIDE_OK;
    }
    tide_lookup_standing(reader, &who.address, &s, &person);
    out->due = s.valid_until && s.compliant ? s.valid_until + 1 : 0;
    snprintf(out->summary, sizeof out->summary, "%s %s %s %" PRIu64, s.compliant ? "yes" : "no",
             tide_standing_status_name(s.status), tide_standing_reason_code(s.reason),
             s.valid_until);
    tide_json_open(&j, '{');
    tide_json_word(&j, "address", address);
    tide_json_bool(&j, "compliant", s.compliant);
    if (*previous)
        tide_json_bool(&j, "previouslyCompliant", strncmp(previous, "yes ", 4) == 0);
    else
        tide_json_null(&j, "previouslyCompliant");
    tide_answer_reason(&j, &s);
    tide_json_u64(&j, "ledger", reader->meta->ledger);
    tide_json_time_ms(&j, "closedAt", tide_cache_closed_ms(reader->meta));
    tide_json_close(&j, '}');
    tide_buf_u8(&out->data, 0);
    out->reason = tide_standing_reason_code(s.reason);
    return strcmp(out->summary, previous) == 0
               ? TIDE_OK
               : name_cause(out, reader, &who.address, person ? person->jurisdiction : 0, err);
}

/* Disables endpoints whose queue is full. Runs in a transaction of its own, because the order of
 * locks is endpoints before addresses. */
static tide_status limit_queues(struct notify_watch *w, const struct tide_pg_rows *rows,
                                struct tide_err *err)
{
    assert(rows->count <= BATCH);
    char list[BATCH * TIDE_KYC_SESSION_BYTES + 2];
    size_t at = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%c%s", i ? ',' : '{',
                               tide_pg_text(rows, i, 0));
    snprintf(list + at, sizeof list - at, "}");
    return tide_pg_query(w->context.pg, NULL, "SELECT kyc.hook_limit($1::text[])",
                         (const char *[]){ list }, 1, err);
}

/* Queues the notification. Its cause is the change of the chain since which the answer is what it
 * is, together with the time at which the endpoint began to watch the address: the first answer
 * after that is news. */
static tide_status emit_finding(struct notify_watch *w, const struct tide_pg_rows *rows, uint32_t i,
                                const struct finding *f, struct tide_err *err)
{
    char blind[2 * TIDE_HASH_BYTES + 1];
    tide_notify_blind(blind, w->context.settings, tide_pg_text(rows, i, 0),
                      tide_pg_text(rows, i, 1));
    const char *values[] = { w->context.deployment_text,
                             tide_pg_text(rows, i, 0),
                             tide_pg_text(rows, i, 1),
                             (const char *)f->data.ptr,
                             tide_pg_text(rows, i, 4),
                             f->summary,
                             TIDE_PG_NUMBER(f->ledger),
                             f->keys[0],
                             f->keys[1],
                             f->keys[2],
                             f->reason,
                             blind };
    static_assert(TIDE_COUNT(values) == 12, "$1 to $12");
    return tide_pg_query(
        w->context.pg, NULL,
        "SELECT kyc.hook_emit($1::smallint, 'compliance.updated', $3, ARRAY[$5, $6,"
        "  coalesce(kyc.hook_since($1::smallint, $7::integer, $8::bytea, $9::bytea, $10::bytea,"
        "   $11), ''), $12], $4::json, NULL, $2)",
        values, TIDE_COUNT(values), err);
}

/* Stores the new summary and, if it differs, queues the notification, in one transaction. A crash
 * therefore loses no notification and repeats none. */
static tide_status store_finding(struct notify_watch *w, const struct tide_pg_rows *rows,
                                 uint32_t i, const struct finding *f, struct tide_err *err)
{
    assert(i < rows->count && i < BATCH);
    const char *hook = tide_pg_text(rows, i, 0), *address = tide_pg_text(rows, i, 1);
    tide_status status =
        tide_pg_query(w->context.pg, NULL,
                      "UPDATE kyc.hook_watch SET told = $3,"
                      "  due_at = to_timestamp(nullif($4::double precision, 0))"
                      " WHERE hook = $1 AND address = $2",
                      (const char *[]){ hook, address, f->summary,
                                        TIDE_PG_NUMBER(f->due <= TIDE_TIME_LAST ? f->due : 0) },
                      4, err);
    if (status != TIDE_OK || strcmp(f->summary, tide_pg_text(rows, i, 2)) == 0 ||
        !tide_pg_bool(rows, i, 3))
        return status;
    return emit_finding(w, rows, i, f, err);
}

/* Compares all rows in one snapshot. *trusted is false if nothing may be concluded now. */
static tide_status compare_rows(struct notify_watch *w, const struct tide_pg_rows *rows,
                                struct finding *findings, bool *trusted, struct tide_err *err)
{
    assert(rows->count <= BATCH); /* read_due fails otherwise */
    struct tide_reader reader;
    tide_status status = TIDE_OK;
    *trusted = notify_cache_open(w, &reader);
    if (!*trusted)
        return TIDE_OK;
    for (uint32_t i = 0; i < rows->count && status == TIDE_OK; i++)
        status = compare_address(&findings[i], &reader, tide_pg_text(rows, i, 1),
                                 tide_pg_text(rows, i, 2), err);
    *trusted = tide_hot_end(w->reader) == TIDE_OK;
    return status;
}

tide_status notify_compare_addresses(struct notify_watch *w, bool *more, struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    struct finding *findings = calloc(BATCH, sizeof *findings);
    bool trusted = false;
    *more = false;
    if (!findings)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: notifications");
    for (uint32_t i = 0; i < BATCH; i++)
        tide_buf_init(&findings[i].data, DATA_MAX);
    tide_status status = tide_kyc_begin(&w->context, err);
    if (status == TIDE_OK)
        status = read_due(w, &rows, err);
    if (status == TIDE_OK && rows.count)
        status = compare_rows(w, &rows, findings, &trusted, err);
    for (uint32_t i = 0; i < rows.count && trusted && status == TIDE_OK; i++)
        if (!findings[i].data.failed)
            status = store_finding(w, &rows, i, &findings[i], err);
    if (rows.count)
        (void)TIDE_FAILPOINT("notify.compared");
    if (status == TIDE_OK)
        status = tide_kyc_commit(&w->context, err);
    if (status != TIDE_OK)
        tide_kyc_rollback(&w->context);
    else
        *more = trusted && rows.count >= SHARE; /* below SHARE, no endpoint was cut off */
    if (status == TIDE_OK && trusted && rows.count)
        status = limit_queues(w, &rows, err);
    tide_pg_rows_release(&rows);
    for (uint32_t i = 0; i < BATCH; i++)
        tide_buf_release(&findings[i].data);
    free(findings);
    return status;
}

/* --- prices and markets ------------------------------------------------------------------- */

/* A part of the feeds or markets: up to NOTIFY_WINDOW of them in the order of symbols, from `from`
 * on. */
struct window {
    struct notify_list seen;
    /* next: first symbol of the following window, unless at_end */
    struct tide_hot_symbol from, next;
    bool at_end;
    uint64_t now;
};

/* Returns the slot for one more item, or NULL if the window is full; v->next is then set. */
static struct notify_seen *next_seen(struct window *v, tide_slice key)
{
    assert(v->seen.count <= NOTIFY_WINDOW);
    struct tide_hot_symbol symbol;
    memcpy(&symbol, key.ptr + 1, sizeof symbol);
    if (v->seen.count == NOTIFY_WINDOW) {
        v->next = symbol;
        v->at_end = false;
        return NULL;
    }
    struct notify_seen *seen = &v->seen.items[v->seen.count];
    seen->symbol = symbol;
    return seen;
}

static bool collect_feed(void *self, tide_slice key, const void *record)
{
    struct window *v = self;
    struct notify_seen *seen = next_seen(v, key);
    if (!seen)
        return false;
    const struct tide_hot_feed *feed = record;
    seen->state = tide_rule_stale(feed, v->now);
    seen->since = seen->state ? feed->latest_ts : 0;
    v->seen.count++;
    return true;
}

/* Counts the market only if it is listed. */
static bool collect_market(void *self, tide_slice key, const void *record)
{
    struct window *v = self;
    const struct tide_hot_market *market = record;
    struct notify_seen *seen = next_seen(v, key);
    if (!seen)
        return false;
    seen->state = true;
    seen->since = 0;
    v->seen.count += market->listed;
    return true;
}

/* Returns the index of the first item whose symbol is not below this one. */
static uint32_t position_of(const struct notify_list *list, const struct tide_hot_symbol *symbol)
{
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (memcmp(&list->items[middle].symbol, symbol, sizeof *symbol) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_known(const struct notify_list *list, const struct notify_seen *seen)
{
    uint32_t position = position_of(list, &seen->symbol);
    return position < list->count && list->items[position].state == seen->state &&
           list->items[position].since == seen->since &&
           memcmp(&list->items[position].symbol, &seen->symbol, sizeof seen->symbol) == 0;
}

/* Replaces the list's items of the window's range by the window's items. */
static tide_status replace_window(struct notify_list *list, const struct window *v,
                                  struct tide_err *err)
{
    uint32_t from = position_of(list, &v->from);
    uint32_t to = v->at_end ? list->count : position_of(list, &v->next);
    assert(from <= to && to <= list->count); /* the window's begin lies before its end */
    uint32_t behind = list->count - to, count = from + v->seen.count + behind;
    if (count > list->max) {
        uint32_t max = count + NOTIFY_WINDOW;
        struct notify_seen *items = realloc(list->items, max * sizeof *items);
        if (!items)
            return tide_fail(err, TIDE_E_MEMORY,
                             "out of memory: notifications of %u feeds or markets", count);
        list->items = items;
        list->max = max;
    }
    if (behind)
        memmove(&list->items[from + v->seen.count], &list->items[to], behind * sizeof *list->items);
    if (v->seen.count)
        memcpy(&list->items[from], v->seen.items, v->seen.count * sizeof *list->items);
    list->count = count;
    return TIDE_OK;
}

/* Stores a new state of a feed or market in the database, which notifies if that state is news.
 * Another node may have stored it already. */
static tide_status store_seen(struct notify_watch *w, const struct notify_seen *seen, bool market,
                              uint32_t ledger, struct tide_err *err)
{
    const char *event = market ? "market.listed" : seen->state ? "price.stale" : "price.fresh";
    tide_slice symbol = tide_hot_symbol_slice(&seen->symbol);
    assert(symbol.len < 64); /* fits name */
    char name[64];
    snprintf(name, sizeof name, "%.*s", TIDE_SLICE_FMT(symbol));
    return tide_pg_query(
        w->context.pg, NULL,
        "SELECT kyc.hook_saw($1::smallint, $2, $3, $4, $7, $4, json_build_object($2::text,"
        " $3::text, 'ledger', $5::text), $6::boolean)",
        (const char *[]){ w->context.deployment_text, market ? "market" : "asset", name, event,
                          TIDE_PG_NUMBER(ledger), TIDE_PG_BOOL(market && w->baseline),
                          seen->since ? TIDE_PG_NUMBER(seen->since) : "" },
        7, err);
}

/* Reads a window from the cache. Returns false if nothing may be concluded from the cache now. */
static bool read_window(struct notify_watch *w, struct window *v, enum tide_hot_kind kind,
                        uint32_t *ledger)
{
    assert(kind == TIDE_HOT_MARKET || kind == TIDE_HOT_FEED);
    struct tide_hot_key prefix = tide_hot_key(kind), from = tide_hot_key_symbol(kind, &v->from);
    struct tide_reader reader;
    v->at_end = true;
    if (!notify_cache_open(w, &reader))
        return false;
    v->now = reader.now;
    *ledger = reader.meta->ledger;
    tide_hot_scan(w->reader, &prefix, &from,
                  kind == TIDE_HOT_MARKET ? collect_market : collect_feed, v);
    return tide_hot_end(w->reader) == TIDE_OK;
}

/* Compares the window that begins at *from. *from becomes the start of the next window, or zero
 * after the last one. */
static tide_status compare_window(struct notify_watch *w, struct notify_list *list,
                                  enum tide_hot_kind kind, struct tide_hot_symbol *from,
                                  struct tide_err *err)
{
    struct window v = { .seen.items = calloc(NOTIFY_WINDOW, sizeof *v.seen.items), .from = *from };
    tide_status status = TIDE_OK;
    uint32_t ledger = 0;
    if (!v.seen.items)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: notifications");
    bool consistent = read_window(w, &v, kind, &ledger);
    for (uint32_t i = 0; i < v.seen.count && consistent && status == TIDE_OK; i++)
        if (!is_known(list, &v.seen.items[i]))
            status = store_seen(w, &v.seen.items[i], kind == TIDE_HOT_MARKET, ledger, err);
    if (consistent && status == TIDE_OK)
        status = replace_window(list, &v, err);
    *from = (struct tide_hot_symbol){ 0 };
    if (consistent && status == TIDE_OK && !v.at_end)
        *from = v.next;
    free(v.seen.items);
    return status;
}

tide_status notify_compare_feeds(struct notify_watch *w, struct tide_err *err)
{
    return compare_window(w, &w->feeds, TIDE_HOT_FEED, &w->next_feed, err);
}

tide_status notify_compare_markets(struct notify_watch *w, struct tide_err *err)
{
    static const struct tide_hot_symbol none;
    struct tide_hot_symbol from = none;
    tide_status status;
    do
        status = compare_window(w, &w->markets, TIDE_HOT_MARKET, &from, err);
    while (status == TIDE_OK && memcmp(&from, &none, sizeof none) != 0);
    return status;
}

/* --- proposals ---------------------------------------------------------------------------- */

tide_status notify_compare_proposals(struct notify_watch *w, uint32_t ledger, struct tide_err *err)
{
    return tide_pg_query(
        w->context.pg, NULL,
        "SELECT kyc.hook_saw($1::smallint, 'proposal', p.key_id::text, p.status,"
        "  concat_ws('.', p.ledger, p.tx, p.seq), CASE p.status WHEN 'Passed' THEN "
        "'proposal.queued'"
        "    WHEN 'Executed' THEN 'proposal.executed' END,"
        "  json_build_object('proposalId', p.key_id::text, 'status', p.status,"
        "    'executeAfter', p.execute_after::text, 'ledger', p.ledger::text), $3::boolean)"
        " FROM (SELECT * FROM history.dao_governance_proposal WHERE deployment = $1::smallint"
        "   AND ledger > $2::bigint AND ledger <= $4::bigint AND NOT removed"
        "   ORDER BY ledger, tx, seq) AS p",
        (const char *[]){ w->context.deployment_text, TIDE_PG_NUMBER(w->ledger),
                          TIDE_PG_BOOL(w->baseline), TIDE_PG_NUMBER(ledger) },
        4, err);
}
