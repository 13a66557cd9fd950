/* The watcher's turn: compares the index with the states that endpoints were last notified of. */
#include "api/hot/reader.h"
#include "api/kyc/base/token.h"
#include "api/kyc/notify/notify_impl.h"
#include "api/kyc/notify/secret.h"
#include "tidemark/answer.h"
#include "tidemark/cache_meta.h"
#include "tidemark/failpoint.h"
#include "tidemark/history_lookup.h"

#include <stdlib.h>

enum {
    BATCH = 64,
    SHARE = 16, /* rows of one endpoint in a batch */
    CHANGES_MAX = 4096,
    MAINTAIN_MS = 60 * 1000,
    COUNT_MS = 10 * 1000,
    SUMMARY_BYTES = 257,
    DATA_MAX = 4096
};

/* --- the index ---------------------------------------------------------------------------- */

/* Opens a snapshot of the cache. Returns false, with nothing open, if nothing may be concluded from
 * the cache now: it is stale, incomplete, or behind the ledger that another node has compared. Such
 * a cache would take back notified changes and miss later ones. */
static bool open_reader(struct notify_thread *t, struct tide_reader *reader)
{
    struct tide_notify *all = t->all;
    const struct tide_clock *clock = all->options.clock;
    struct tide_handler_context context = { .api = &all->api,
                                            .now_ms = (uint64_t)clock->wall_ms(clock->self),
                                            .host_ms = clock->now_ms(clock->self) };
    const struct tide_hot_meta *meta;
    struct tide_reply reply;
    struct tide_err err;
    bool trusted = false;
    if (tide_hot_begin(all->watch.reader, &meta, &err) != TIDE_OK)
        return false;
    *reader =
        tide_reader_of(all->watch.reader, meta, tide_cache_now(meta, (int64_t)context.now_ms));
    reader->age_ms = tide_cache_age_ms(meta, context.host_ms);
    tide_reply_init(&reply);
    if (meta->deployment == t->context.deployment && meta->ledger >= all->watch.ledger &&
        tide_deployment_select_allows(all->options.select, meta->protocol) &&
        reader->age_ms <= all->options.config->stale_after_ms)
        trusted = tide_reader_trusted(reader, &context, &reply);
    tide_reply_release(&reply);
    if (!trusted)
        (void)!tide_hot_end(all->watch.reader);
    return trusted;
}

/* --- addresses ---------------------------------------------------------------------------- */

/* Reads the next batch of addresses to compare, and locks their rows. */
static tide_status read_due(struct notify_thread *t, struct tide_pg_rows *rows,
                            struct tide_err *err)
{
    char share[16], batch[16];
    snprintf(share, sizeof share, "%d", SHARE);
    snprintf(batch, sizeof batch, "%d", BATCH);
    tide_status status = tide_pg_query(
        t->context.pg, rows, "SELECT * FROM kyc.hook_due($1::smallint, $2::integer, $3::integer)",
        (const char *[]){ t->context.deployment_text, share, batch }, 3, err);
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
static tide_status limit_queues(struct notify_thread *t, const struct tide_pg_rows *rows,
                                struct tide_err *err)
{
    assert(rows->count <= BATCH);
    char list[BATCH * TIDE_KYC_SESSION_BYTES + 2];
    size_t at = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%c%s", i ? ',' : '{',
                               tide_pg_text(rows, i, 0));
    snprintf(list + at, sizeof list - at, "}");
    return tide_pg_query(t->context.pg, NULL, "SELECT kyc.hook_limit($1::text[])",
                         (const char *[]){ list }, 1, err);
}

/* Queues the notification. Its cause is the change of the chain since which the answer is what it
 * is, together with the time at which the endpoint began to watch the address: the first answer
 * after that is news. */
static tide_status emit_finding(struct notify_thread *t, const struct tide_pg_rows *rows,
                                uint32_t i, const struct finding *f, struct tide_err *err)
{
    char ledger[16], blind[2 * TIDE_HASH_BYTES + 1];
    snprintf(ledger, sizeof ledger, "%" PRIu32, f->ledger);
    tide_notify_blind(blind, t->all->options.settings, tide_pg_text(rows, i, 0),
                      tide_pg_text(rows, i, 1));
    const char *values[] = { t->context.deployment_text,
                             tide_pg_text(rows, i, 0),
                             tide_pg_text(rows, i, 1),
                             (const char *)f->data.ptr,
                             tide_pg_text(rows, i, 4),
                             f->summary,
                             ledger,
                             f->keys[0],
                             f->keys[1],
                             f->keys[2],
                             f->reason,
                             blind };
    static_assert(TIDE_COUNT(values) == 12, "$1 to $12");
    return tide_pg_query(
        t->context.pg, NULL,
        "SELECT kyc.hook_emit($1::smallint, 'compliance.updated', $3, ARRAY[$5, $6,"
        "  coalesce(kyc.hook_since($1::smallint, $7::integer, $8::bytea, $9::bytea, $10::bytea,"
        "   $11), ''), $12], $4::json, NULL, $2)",
        values, TIDE_COUNT(values), err);
}

/* Stores the new summary and, if it differs, queues the notification, in one transaction. A crash
 * therefore loses no notification and repeats none. */
static tide_status store_finding(struct notify_thread *t, const struct tide_pg_rows *rows,
                                 uint32_t i, const struct finding *f, struct tide_err *err)
{
    assert(i < rows->count && i < BATCH);
    char due[24];
    const char *hook = tide_pg_text(rows, i, 0), *address = tide_pg_text(rows, i, 1);
    snprintf(due, sizeof due, "%" PRIu64, f->due);
    tide_status status = tide_pg_query(
        t->context.pg, NULL,
        "UPDATE kyc.hook_watch SET told = $3,"
        "  due_at = to_timestamp(nullif($4::double precision, 0))"
        " WHERE hook = $1 AND address = $2",
        (const char *[]){ hook, address, f->summary, f->due <= TIDE_TIME_LAST ? due : "0" }, 4,
        err);
    if (status != TIDE_OK || strcmp(f->summary, tide_pg_text(rows, i, 2)) == 0 ||
        !tide_pg_bool(rows, i, 3))
        return status;
    return emit_finding(t, rows, i, f, err);
}

/* Compares all rows in one snapshot. *trusted is false if nothing may be concluded now. */
static tide_status compare_addresses(struct notify_thread *t, const struct tide_pg_rows *rows,
                                     struct finding *findings, bool *trusted, struct tide_err *err)
{
    assert(rows->count <= BATCH); /* read_due fails otherwise */
    struct tide_reader reader;
    tide_status status = TIDE_OK;
    *trusted = open_reader(t, &reader);
    if (!*trusted)
        return TIDE_OK;
    for (uint32_t i = 0; i < rows->count && status == TIDE_OK; i++)
        status = compare_address(&findings[i], &reader, tide_pg_text(rows, i, 1),
                                 tide_pg_text(rows, i, 2), err);
    *trusted = tide_hot_end(t->all->watch.reader) == TIDE_OK;
    return status;
}

/* Compares one batch of due addresses in one transaction. *more: an endpoint may have further
 * rows. */
static tide_status compare_batch(struct notify_thread *t, bool *more, struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    struct finding *findings = calloc(BATCH, sizeof *findings);
    bool trusted = false;
    *more = false;
    if (!findings)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: notifications");
    for (uint32_t i = 0; i < BATCH; i++)
        tide_buf_init(&findings[i].data, DATA_MAX);
    tide_status status = tide_kyc_begin(&t->context, err);
    if (status == TIDE_OK)
        status = read_due(t, &rows, err);
    if (status == TIDE_OK && rows.count)
        status = compare_addresses(t, &rows, findings, &trusted, err);
    for (uint32_t i = 0; i < rows.count && trusted && status == TIDE_OK; i++)
        if (!findings[i].data.failed)
            status = store_finding(t, &rows, i, &findings[i], err);
    if (rows.count)
        (void)TIDE_FAILPOINT("notify.compared");
    if (status == TIDE_OK)
        status = tide_kyc_commit(&t->context, err);
    if (status != TIDE_OK)
        tide_kyc_rollback(&t->context);
    else
        *more = trusted && rows.count >= SHARE; /* below SHARE, no endpoint was cut off */
    if (status == TIDE_OK && trusted && rows.count)
        status = limit_queues(t, &rows, err);
    tide_pg_rows_release(&rows);
    for (uint32_t i = 0; i < BATCH; i++)
        tide_buf_release(&findings[i].data);
    free(findings);
    return status;
}

/* --- what changed since the last ledger --------------------------------------------------- */

struct changes {
    struct tide_buf list; /* array literal of addresses */
    uint32_t count;
};

/* Adds the address of a key "changed, ledger, address". Returns false when there are too many. */
static bool collect_change(void *self, tide_slice key, const void *record)
{
    struct changes *c = self;
    struct tide_hot_address address;
    char text[TIDE_HOT_ADDRESS_TEXT];
    (void)record;
    memcpy(&address, key.ptr + 5, sizeof address);
    tide_hot_address_text(text, &address);
    tide_buf_putf(&c->list, "%s%s", c->count++ ? "," : "{", text);
    return c->count <= CHANGES_MAX;
}

/* Makes the rows of changed addresses due; all: makes all rows due. Locks rows in the order of
 * addresses, like every other writer. */
static tide_status mark_due(struct notify_thread *t, struct changes *c, bool all,
                            struct tide_err *err)
{
    if (!all && c->count == 0)
        return TIDE_OK;
    tide_buf_str(&c->list, c->count ? "}" : "{}");
    tide_buf_u8(&c->list, 0);
    if (c->list.failed)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: notifications");
    return tide_pg_query(t->context.pg, NULL,
                         "UPDATE kyc.hook_watch AS w SET due_at = '-infinity'"
                         " FROM (SELECT o.hook, o.address FROM kyc.hook_watch AS o"
                         "   WHERE o.deployment = $1::smallint"
                         "     AND ($3::boolean OR o.address = ANY ($2::text[]))"
                         "     AND EXISTS (SELECT FROM kyc.hook AS h WHERE h.id = o.hook"
                         "       AND h.state = 'enabled')"
                         "   ORDER BY o.address, o.hook FOR UPDATE) AS l"
                         " WHERE w.hook = l.hook AND w.address = l.address",
                         (const char *[]){ t->context.deployment_text,
                                           all ? "{}" : (const char *)c->list.ptr,
                                           all ? "true" : "false" },
                         3, err);
}

/* Collects the addresses that changed since the last compared ledger, and ends the snapshot. *all:
 * the cache does not know all of them, or there are too many. */
static tide_status collect_changes(struct notify_watch *watch, const struct tide_reader *reader,
                                   struct changes *c, bool *all, struct tide_err *err)
{
    const struct tide_hot_meta *meta = reader->meta;
    struct tide_hot_key prefix = tide_hot_key(TIDE_HOT_CHANGED),
                        from = tide_hot_key_u32(TIDE_HOT_CHANGED, watch->ledger + 1);
    *all = watch->ledger == 0 || meta->changes_from == 0 || watch->ledger < meta->changes_from ||
           watch->ledger < meta->blocked_at;
    if (!*all)
        tide_hot_scan(watch->reader, &prefix, &from, collect_change, c);
    *all |= c->count > CHANGES_MAX;
    if (tide_hot_end(watch->reader) != TIDE_OK)
        return tide_fail(err, TIDE_E_DB,
                         "the cache has a damaged record, or reading it took too long");
    return TIDE_OK;
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

/* Returns the slot for one more item, or NULL if the window is full; w->next is then set. */
static struct notify_seen *next_seen(struct window *w, tide_slice key)
{
    assert(w->seen.count <= NOTIFY_WINDOW);
    struct tide_hot_symbol symbol;
    memcpy(&symbol, key.ptr + 1, sizeof symbol);
    if (w->seen.count == NOTIFY_WINDOW) {
        w->next = symbol;
        w->at_end = false;
        return NULL;
    }
    struct notify_seen *seen = &w->seen.items[w->seen.count];
    seen->symbol = symbol;
    return seen;
}

static bool collect_feed(void *self, tide_slice key, const void *record)
{
    struct window *w = self;
    struct notify_seen *seen = next_seen(w, key);
    if (!seen)
        return false;
    const struct tide_hot_feed *feed = record;
    seen->state = tide_rule_stale(feed, w->now);
    seen->since = seen->state ? feed->latest_ts : 0;
    w->seen.count++;
    return true;
}

/* Counts the market only if it is listed. */
static bool collect_market(void *self, tide_slice key, const void *record)
{
    struct window *w = self;
    const struct tide_hot_market *market = record;
    struct notify_seen *seen = next_seen(w, key);
    if (!seen)
        return false;
    seen->state = true;
    seen->since = 0;
    w->seen.count += market->listed;
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
static tide_status replace_window(struct notify_list *list, const struct window *w,
                                  struct tide_err *err)
{
    uint32_t from = position_of(list, &w->from);
    uint32_t to = w->at_end ? list->count : position_of(list, &w->next);
    assert(from <= to && to <= list->count); /* the window's begin lies before its end */
    uint32_t behind = list->count - to, count = from + w->seen.count + behind;
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
        memmove(&list->items[from + w->seen.count], &list->items[to], behind * sizeof *list->items);
    if (w->seen.count)
        memcpy(&list->items[from], w->seen.items, w->seen.count * sizeof *list->items);
    list->count = count;
    return TIDE_OK;
}

/* Stores a new state of a feed or market in the database, which notifies if that state is news.
 * Another node may have stored it already. */
static tide_status store_seen(struct notify_thread *t, const struct notify_seen *seen, bool market,
                              uint32_t ledger, struct tide_err *err)
{
    const char *event = market ? "market.listed" : seen->state ? "price.stale" : "price.fresh";
    tide_slice symbol = tide_hot_symbol_slice(&seen->symbol);
    assert(symbol.len < 64); /* fits name */
    char name[64], number[16], since[24];
    snprintf(name, sizeof name, "%.*s", TIDE_SLICE_FMT(symbol));
    snprintf(number, sizeof number, "%" PRIu32, ledger);
    snprintf(since, sizeof since, "%" PRIu64, seen->since);
    return tide_pg_query(
        t->context.pg, NULL,
        "SELECT kyc.hook_saw($1::smallint, $2, $3, $4, $7, $4, json_build_object($2::text,"
        " $3::text, 'ledger', $5::text), $6::boolean)",
        (const char *[]){ t->context.deployment_text, market ? "market" : "asset", name, event,
                          number, market && t->all->watch.baseline ? "true" : "false",
                          seen->since ? since : "" },
        7, err);
}

/* Reads a window from the cache. Returns false if nothing may be concluded from the cache now. */
static bool read_window(struct notify_thread *t, struct window *w, enum tide_hot_kind kind,
                        uint32_t *ledger)
{
    assert(kind == TIDE_HOT_MARKET || kind == TIDE_HOT_FEED);
    struct tide_hot_key prefix = tide_hot_key(kind), from = tide_hot_key_symbol(kind, &w->from);
    struct tide_reader reader;
    w->at_end = true;
    if (!open_reader(t, &reader))
        return false;
    w->now = reader.now;
    *ledger = reader.meta->ledger;
    tide_hot_scan(t->all->watch.reader, &prefix, &from,
                  kind == TIDE_HOT_MARKET ? collect_market : collect_feed, w);
    return tide_hot_end(t->all->watch.reader) == TIDE_OK;
}

/* Compares the window that begins at *from. *from becomes the start of the next window, or zero
 * after the last one. */
static tide_status compare_window(struct notify_thread *t, struct notify_list *list,
                                  enum tide_hot_kind kind, struct tide_hot_symbol *from,
                                  struct tide_err *err)
{
    struct window w = { .seen.items = calloc(NOTIFY_WINDOW, sizeof *w.seen.items), .from = *from };
    tide_status status = TIDE_OK;
    uint32_t ledger = 0;
    if (!w.seen.items)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: notifications");
    bool consistent = read_window(t, &w, kind, &ledger);
    for (uint32_t i = 0; i < w.seen.count && consistent && status == TIDE_OK; i++)
        if (!is_known(list, &w.seen.items[i]))
            status = store_seen(t, &w.seen.items[i], kind == TIDE_HOT_MARKET, ledger, err);
    if (consistent && status == TIDE_OK)
        status = replace_window(list, &w, err);
    *from = (struct tide_hot_symbol){ 0 };
    if (consistent && status == TIDE_OK && !w.at_end)
        *from = w.next;
    free(w.seen.items);
    return status;
}

/* Compares all markets, so that a listing is notified together with its ledger. */
static tide_status compare_markets(struct notify_thread *t, struct tide_err *err)
{
    static const struct tide_hot_symbol none;
    struct tide_hot_symbol from = none;
    tide_status status;
    do
        status = compare_window(t, &t->all->watch.markets, TIDE_HOT_MARKET, &from, err);
    while (status == TIDE_OK && memcmp(&from, &none, sizeof none) != 0);
    return status;
}

/* --- proposals ---------------------------------------------------------------------------- */

/* Stores each version since the last compared ledger, so that no state is skipped. The tables may
 * be ahead of the cache: versions after `ledger` follow in a later turn. */
static tide_status compare_proposals(struct notify_thread *t, uint32_t ledger, struct tide_err *err)
{
    char after[16], last[16];
    snprintf(after, sizeof after, "%" PRIu32, t->all->watch.ledger);
    snprintf(last, sizeof last, "%" PRIu32, ledger);
    return tide_pg_query(
        t->context.pg, NULL,
        "SELECT kyc.hook_saw($1::smallint, 'proposal', p.key_id::text, p.status,"
        "  concat_ws('.', p.ledger, p.tx, p.seq), CASE p.status WHEN 'Passed' THEN "
        "'proposal.queued'"
        "    WHEN 'Executed' THEN 'proposal.executed' END,"
        "  json_build_object('proposalId', p.key_id::text, 'status', p.status,"
        "    'executeAfter', p.execute_after::text, 'ledger', p.ledger::text), $3::boolean)"
        " FROM (SELECT * FROM history.dao_governance_proposal WHERE deployment = $1::smallint"
        "   AND ledger > $2::bigint AND ledger <= $4::bigint AND NOT removed"
        "   ORDER BY ledger, tx, seq) AS p",
        (const char *[]){ t->context.deployment_text, after,
                          t->all->watch.baseline ? "true" : "false", last },
        4, err);
}

/* --- a turn ------------------------------------------------------------------------------- */

void notify_watch_forget(struct tide_notify *all)
{
    struct notify_watch *watch = &all->watch;
    watch->leads = false;
    atomic_store(&all->leads, false);
    watch->feeds.count = watch->markets.count = 0;
    watch->ledger = 0;
    watch->baseline = false;
}

/* Tries to become the one node that watches. The advisory lock ends with the connection. */
static tide_status try_to_lead(struct notify_thread *t, struct tide_err *err)
{
    struct notify_watch *watch = &t->all->watch;
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(t->context.pg, &rows,
                      "SELECT pg_try_advisory_lock(7033, $1::integer),"
                      " (SELECT ledger FROM kyc.hook_cursor WHERE deployment = $1::smallint)",
                      (const char *[]){ t->context.deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    notify_watch_forget(t->all);
    watch->leads = tide_pg_bool(&rows, 0, 0);
    watch->baseline = !tide_pg_is_null(&rows, 0, 1);
    watch->ledger = (uint32_t)tide_pg_u64(&rows, 0, 1);
    atomic_store(&t->all->leads, watch->leads);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static tide_status move_cursor(struct notify_thread *t, uint32_t ledger, struct tide_err *err)
{
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, ledger);
    return tide_pg_query(t->context.pg, NULL,
                         "INSERT INTO kyc.hook_cursor VALUES ($1::smallint, $2::bigint)"
                         " ON CONFLICT (deployment) DO UPDATE SET ledger = excluded.ledger",
                         (const char *[]){ t->context.deployment_text, number }, 2, err);
}

/* Makes changed addresses due and stores proposals, markets and the cursor in one transaction. */
static tide_status store_ledger(struct notify_thread *t, struct changes *c, bool all,
                                uint32_t ledger, struct tide_err *err)
{
    tide_status status = tide_kyc_begin(&t->context, err);
    if (status == TIDE_OK)
        status = mark_due(t, c, all, err);
    if (status == TIDE_OK)
        status = compare_proposals(t, ledger, err);
    if (status == TIDE_OK)
        status = compare_markets(t, err);
    if (status == TIDE_OK)
        status = move_cursor(t, ledger, err);
    (void)TIDE_FAILPOINT("notify.ledger");
    if (status == TIDE_OK)
        status = tide_kyc_commit(&t->context, err);
    return status;
}

/* Handles the cache's ledger if it is newer than the last compared one. */
static tide_status compare_ledger(struct notify_thread *t, struct tide_err *err)
{
    struct notify_watch *watch = &t->all->watch;
    struct tide_reader reader;
    struct changes c = { 0 };
    bool all;
    if (!open_reader(t, &reader))
        return TIDE_OK;
    uint32_t ledger = reader.meta->ledger;
    if (ledger <= watch->ledger) {
        (void)!tide_hot_end(watch->reader);
        return TIDE_OK;
    }
    tide_buf_init(&c.list, (size_t)(CHANGES_MAX + 8) * TIDE_HOT_ADDRESS_TEXT);
    tide_status status = collect_changes(watch, &reader, &c, &all, err);
    if (status == TIDE_OK)
        status = store_ledger(t, &c, all, ledger, err);
    tide_buf_release(&c.list);
    if (status == TIDE_OK) {
        watch->ledger = ledger;
        watch->baseline = true;
    } else {
        watch->markets.count = 0; /* their stored states were rolled back */
    }
    return status;
}

/* Deletes old rows once a minute; again at once if the function reports more to delete. Nothing is
 * deleted by a clock that differs from the others. */
static tide_status maintain_queue(struct notify_thread *t, struct tide_err *err)
{
    const struct tide_clock *clock = t->all->options.clock;
    int64_t now = clock->now_ms(clock->self);
    struct tide_pg_rows rows;
    bool agree;
    if (t->all->watch.maintained_ms && now - t->all->watch.maintained_ms < MAINTAIN_MS)
        return TIDE_OK;
    tide_status status = notify_clocks_agree(t, &agree, err);
    if (status != TIDE_OK || !agree)
        return status;
    status = tide_pg_query(t->context.pg, &rows, "SELECT kyc.hook_maintain($1::smallint)",
                           (const char *[]){ t->context.deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    t->all->watch.maintained_ms = tide_pg_bool(&rows, 0, 0) ? 0 : now;
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Refreshes the figures for /metrics. Each node does, so that nodes without the watcher show them
 * too. */
static tide_status count_queue(struct notify_thread *t, struct tide_err *err)
{
    const struct tide_clock *clock = t->all->options.clock;
    struct notify_figures *f = &t->all->figures;
    int64_t now = clock->now_ms(clock->self);
    struct tide_pg_rows rows;
    if (t->all->watch.counted_ms && now - t->all->watch.counted_ms < COUNT_MS)
        return TIDE_OK;
    tide_status status =
        tide_pg_query(t->context.pg, &rows, "SELECT * FROM kyc.hook_figures($1::smallint)",
                      (const char *[]){ t->context.deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    atomic_store(&f->waiting, tide_pg_u64(&rows, 0, 0));
    atomic_store(&f->oldest_ms, tide_pg_is_null(&rows, 0, 1) ? 0 : tide_pg_u64(&rows, 0, 1));
    atomic_store(&f->disabled, tide_pg_u64(&rows, 0, 2));
    atomic_store(&f->behind, tide_pg_is_null(&rows, 0, 3) ? 0 : tide_pg_u64(&rows, 0, 3));
    atomic_store(&f->asked_ms, now);
    t->all->watch.counted_ms = now;
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Every node refreshes its figures; only the node with the lock compares. */
tide_status notify_watch_turn(struct notify_thread *t, bool *more, struct tide_err *err)
{
    *more = false;
    tide_status status = count_queue(t, err);
    if (status == TIDE_OK && !t->all->watch.leads)
        status = try_to_lead(t, err);
    if (status != TIDE_OK || !t->all->watch.leads)
        return status;
    status = compare_ledger(t, err);
    if (status == TIDE_OK)
        status = compare_batch(t, more, err);
    if (status == TIDE_OK)
        status =
            compare_window(t, &t->all->watch.feeds, TIDE_HOT_FEED, &t->all->watch.next_feed, err);
    return status == TIDE_OK ? maintain_queue(t, err) : status;
}
