/* The watcher's turn, and its life. */
#include "api/base/clocks.h"
#include "api/kyc/notify/watch_impl.h"
#include "api/metrics/metrics.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"

#include <stdlib.h>

enum {
    CHANGES_MAX = 4096,
    MAINTAIN_MS = 60 * 1000,
    COUNT_MS = 10 * 1000,
    FIGURES_LAST_MS = 60 * 1000, /* figures older than this are left out of /metrics */
    IDLE_POLL_MS = 1000,
    WATCH_POLL_MS = 200
};

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
static tide_status mark_due(struct notify_watch *w, struct changes *c, bool all,
                            struct tide_err *err)
{
    if (!all && c->count == 0)
        return TIDE_OK;
    tide_buf_str(&c->list, c->count ? "}" : "{}");
    tide_buf_u8(&c->list, 0);
    if (c->list.failed)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: notifications");
    return tide_pg_query(w->context.pg, NULL,
                         "UPDATE kyc.hook_watch AS w SET due_at = '-infinity'"
                         " FROM (SELECT o.hook, o.address FROM kyc.hook_watch AS o"
                         "   WHERE o.deployment = $1::smallint"
                         "     AND ($3::boolean OR o.address = ANY ($2::text[]))"
                         "     AND EXISTS (SELECT FROM kyc.hook AS h WHERE h.id = o.hook"
                         "       AND h.state = 'enabled')"
                         "   ORDER BY o.address, o.hook FOR UPDATE) AS l"
                         " WHERE w.hook = l.hook AND w.address = l.address",
                         (const char *[]){ w->context.deployment_text,
                                           all ? "{}" : (const char *)c->list.ptr,
                                           TIDE_PG_BOOL(all) },
                         3, err);
}

/* Collects the addresses that changed since the last compared ledger, and ends the snapshot. *all:
 * the cache does not know all of them, or there are too many. */
static tide_status collect_changes(struct notify_watch *w, const struct tide_reader *reader,
                                   struct changes *c, bool *all, struct tide_err *err)
{
    const struct tide_hot_meta *meta = reader->meta;
    struct tide_hot_key prefix = tide_hot_key(TIDE_HOT_CHANGED),
                        from = tide_hot_key_u32(TIDE_HOT_CHANGED, w->ledger + 1);
    *all = w->ledger == 0 || meta->changes_from == 0 || w->ledger < meta->changes_from ||
           w->ledger < meta->blocked_at;
    if (!*all)
        tide_hot_scan(w->reader, &prefix, &from, collect_change, c);
    *all |= c->count > CHANGES_MAX;
    if (tide_hot_end(w->reader) != TIDE_OK)
        return tide_fail(err, TIDE_E_DB,
                         "the cache has a damaged record, or reading it took too long");
    return TIDE_OK;
}

/* --- a turn ------------------------------------------------------------------------------- */

/* Begins anew: the lock and what was compared under it are lost. */
static void forget_lead(void *self)
{
    struct notify_watch *w = self;
    atomic_store(&w->leads, false);
    w->feeds.count = w->markets.count = 0;
    w->ledger = 0;
    w->baseline = false;
}

/* Tries to become the one node that watches. The advisory lock ends with the connection. */
static tide_status try_to_lead(struct notify_watch *w, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(w->context.pg, &rows,
                      "SELECT pg_try_advisory_lock(7033, $1::integer),"
                      " (SELECT ledger FROM kyc.hook_cursor WHERE deployment = $1::smallint)",
                      (const char *[]){ w->context.deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    forget_lead(w);
    atomic_store(&w->leads, tide_pg_bool(&rows, 0, 0));
    w->baseline = !tide_pg_is_null(&rows, 0, 1);
    w->ledger = (uint32_t)tide_pg_u64(&rows, 0, 1);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static tide_status move_cursor(struct notify_watch *w, uint32_t ledger, struct tide_err *err)
{
    return tide_pg_query(w->context.pg, NULL,
                         "INSERT INTO kyc.hook_cursor VALUES ($1::smallint, $2::bigint)"
                         " ON CONFLICT (deployment) DO UPDATE SET ledger = excluded.ledger",
                         (const char *[]){ w->context.deployment_text, TIDE_PG_NUMBER(ledger) }, 2,
                         err);
}

/* Makes changed addresses due and stores proposals, markets and the cursor in one transaction. */
static tide_status store_ledger(struct notify_watch *w, struct changes *c, bool all,
                                uint32_t ledger, struct tide_err *err)
{
    tide_status status = tide_kyc_begin(&w->context, err);
    if (status == TIDE_OK)
        status = mark_due(w, c, all, err);
    if (status == TIDE_OK)
        status = notify_compare_proposals(w, ledger, err);
    if (status == TIDE_OK)
        status = notify_compare_markets(w, err);
    if (status == TIDE_OK)
        status = move_cursor(w, ledger, err);
    (void)TIDE_FAILPOINT("notify.ledger");
    if (status == TIDE_OK)
        status = tide_kyc_commit(&w->context, err);
    return status;
}

/* Handles the cache's ledger if it is newer than the last compared one. */
static tide_status compare_ledger(struct notify_watch *w, struct tide_err *err)
{
    struct tide_reader reader;
    struct changes c = { 0 };
    bool all;
    if (!notify_cache_open(w, &reader))
        return TIDE_OK;
    uint32_t ledger = reader.meta->ledger;
    if (ledger <= w->ledger) {
        (void)!tide_hot_end(w->reader);
        return TIDE_OK;
    }
    tide_buf_init(&c.list, (size_t)(CHANGES_MAX + 8) * TIDE_HOT_ADDRESS_TEXT);
    tide_status status = collect_changes(w, &reader, &c, &all, err);
    if (status == TIDE_OK)
        status = store_ledger(w, &c, all, ledger, err);
    tide_buf_release(&c.list);
    if (status == TIDE_OK) {
        w->ledger = ledger;
        w->baseline = true;
    } else {
        w->markets.count = 0; /* their stored states were rolled back */
    }
    return status;
}

/* Deletes old rows once a minute; again at once if the function reports more to delete. Nothing is
 * deleted by a clock that differs from the others. */
static tide_status maintain_queue(struct notify_watch *w, struct tide_err *err)
{
    int64_t now = tide_kyc_now_ms(&w->context);
    uint64_t again;
    bool agree;
    if (w->maintained_ms && now - w->maintained_ms < MAINTAIN_MS)
        return TIDE_OK;
    tide_status status = notify_clocks_agree(&w->context, &agree, err);
    if (status != TIDE_OK || !agree)
        return status;
    status = tide_pg_value(w->context.pg, "SELECT kyc.hook_maintain($1::smallint)",
                           (const char *[]){ w->context.deployment_text }, 1, &again, err);
    if (status == TIDE_OK)
        w->maintained_ms = again ? 0 : now;
    return status;
}

/* Refreshes the figures for /metrics. Each node does, so that nodes without the watcher show them
 * too. */
static tide_status count_queue(struct notify_watch *w, struct tide_err *err)
{
    struct notify_figures *f = &w->figures;
    int64_t now = tide_kyc_now_ms(&w->context), asked = atomic_load(&f->asked_ms);
    struct tide_pg_rows rows;
    if (asked && now - asked < COUNT_MS)
        return TIDE_OK;
    tide_status status =
        tide_pg_query(w->context.pg, &rows, "SELECT * FROM kyc.hook_figures($1::smallint)",
                      (const char *[]){ w->context.deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    atomic_store(&f->waiting, tide_pg_u64(&rows, 0, 0));
    atomic_store(&f->oldest_ms, tide_pg_u64(&rows, 0, 1));
    atomic_store(&f->disabled, tide_pg_u64(&rows, 0, 2));
    atomic_store(&f->behind, tide_pg_u64(&rows, 0, 3));
    atomic_store(&f->asked_ms, now);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Every node refreshes its figures; only the node with the lock compares. */
static tide_status watch_turn(void *self, uint32_t *wait_ms, struct tide_err *err)
{
    struct notify_watch *w = self;
    bool more = false;
    tide_status status = count_queue(w, err);
    if (status == TIDE_OK && !w->leads)
        status = try_to_lead(w, err);
    *wait_ms = IDLE_POLL_MS;
    if (status != TIDE_OK || !w->leads)
        return status;
    status = compare_ledger(w, err);
    if (status == TIDE_OK)
        status = notify_compare_addresses(w, &more, err);
    if (status == TIDE_OK)
        status = notify_compare_feeds(w, err);
    *wait_ms = more ? 0 : WATCH_POLL_MS;
    return status == TIDE_OK ? maintain_queue(w, err) : status;
}

/* --- life --------------------------------------------------------------------------------- */

tide_status notify_clocks_agree(struct tide_kyc_context *context, bool *agree, struct tide_err *err)
{
    const struct tide_kyc_context_options *options = &context->options;
    struct tide_clocks clocks;
    tide_status status =
        tide_clocks_read(&clocks, context->pg, options->clock, context->deployment, err);
    *agree = status == TIDE_OK &&
             tide_clocks_judge(&clocks, options->config->clock_skew_s) == TIDE_CLOCKS_AGREE;
    return status;
}

static void log_failure(void *self, bool passes, const char *quoted)
{
    (void)self;
    tide_log(passes ? TIDE_WARN : TIDE_ERROR, "notify.failed", "thread=0 text=%s", quoted);
}

static const struct tide_kyc_turns turns = {
    .name = "notify", .turn = watch_turn, .connects = forget_lead, .failed = log_failure
};

tide_status notify_watch_open(struct notify_watch **out,
                              const struct tide_kyc_context_options *options, struct tide_hot *hot,
                              struct tide_err *err)
{
    struct notify_watch *w = *out = calloc(1, sizeof *w);
    if (!w)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: notifications");
    w->api = (struct tide_api){
        .config = options->config, .clock = options->clock, .select = options->select, .hot = hot
    };
    tide_status status = tide_kyc_thread_open(&w->thread, &turns, w, 0, &w->context, options, err);
    return status == TIDE_OK ? tide_hot_reader_open(&w->reader, hot, err) : status;
}

tide_status notify_watch_start(struct notify_watch *watch, struct tide_err *err)
{
    return tide_kyc_thread_start(&watch->thread, err);
}

void notify_watch_close(struct notify_watch *watch)
{
    if (!watch)
        return;
    tide_kyc_thread_close(&watch->thread);
    if (watch->reader)
        tide_hot_reader_close(watch->reader);
    free(watch->feeds.items);
    free(watch->markets.items);
    free(watch);
}

/* Leaves out figures that were not refreshed: old numbers would hide that the database is
 * unreachable. */
void notify_watch_metrics(const struct notify_watch *watch, struct tide_buf *out)
{
    const struct notify_figures *f = &watch->figures;
    int64_t asked = atomic_load(&f->asked_ms), ago = tide_kyc_now_ms(&watch->context) - asked;
    tide_metric_gauge(out, TIDE_M_kyc_notify_watches, atomic_load(&watch->leads));
    if (asked == 0 || ago > FIGURES_LAST_MS)
        return;
    tide_metric_gauge(out, TIDE_M_kyc_notify_waiting, (double)atomic_load(&f->waiting));
    tide_metric_gauge(out, TIDE_M_kyc_notify_oldest_seconds,
                      (double)atomic_load(&f->oldest_ms) / 1000);
    tide_metric_gauge(out, TIDE_M_kyc_notify_disabled, (double)atomic_load(&f->disabled));
    tide_metric_gauge(out, TIDE_M_kyc_notify_behind_ledgers, (double)atomic_load(&f->behind));
}
