/* The threads that watch for changes and send notifications, and their metrics. */
#include "api/base/clocks.h"
#include "api/kyc/notify/notify_impl.h"
#include "api/metrics/metrics.h"
#include "tidemark/hot.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"

enum {
    CONNECT_MS = 4000,
    EXCHANGE_MS = 10000,
    STALL_S = 5,
    IDLE_POLL_MS = 1000,
    WATCH_POLL_MS = 200,
    BUSY_POLL_MS = 20,
    FIGURES_LAST_MS = 60000 /* figures older than this are left out of /metrics */
};

bool notify_is_closing(void *notify)
{
    return atomic_load(&((struct tide_notify *)notify)->closing);
}

tide_status notify_clocks_agree(struct notify_thread *t, bool *agree, struct tide_err *err)
{
    const struct tide_notify_options *options = &t->all->options;
    struct tide_clocks clocks;
    tide_status status =
        tide_clocks_read(&clocks, t->context.pg, options->clock, t->context.deployment, err);
    *agree = status == TIDE_OK &&
             tide_clocks_judge(&clocks, options->config->clock_skew_s) == TIDE_CLOCKS_AGREE;
    return status;
}

/* Connects if needed. A lost connection has lost the watcher's lock, so its state is forgotten.
 * Senders listen for new deliveries. */
static tide_status connect_now(struct notify_thread *t, struct tide_err *err)
{
    if (tide_kyc_context_ready(&t->context) && t->listening)
        return TIDE_OK;
    t->listening = false;
    if (t->index == 0)
        notify_watch_forget(t->all);
    tide_status status = tide_kyc_context_connect(&t->context, err);
    if (status == TIDE_OK && t->index != 0)
        status = tide_pg_listen(t->context.pg, "tidemark_hook_delivery", err);
    t->listening = status == TIDE_OK;
    return status;
}

/* Sleeps in short slices, so that closing need not wait. */
static void pause_thread(struct notify_thread *t, uint32_t ms)
{
    const struct tide_clock *clock = t->all->options.clock;
    for (uint32_t done = 0; done < ms && !notify_is_closing(t->all); done += 50)
        clock->sleep_ms(clock->self, 50);
}

/* Logs the first failure in a row, chooses whether to reconnect, and pauses longer with each
 * failure. */
static void handle_database_error(struct notify_thread *t, tide_status status,
                                  const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    if (status == TIDE_OK)
        t->db_failures = 0;
    if (status == TIDE_OK || status == TIDE_E_STOPPED)
        return;
    tide_kyc_rollback(&t->context);
    bool passes = status == TIDE_E_DB || status == TIDE_E_NO_PRIMARY;
    if (t->db_failures == 0)
        tide_log(passes ? TIDE_WARN : TIDE_ERROR, "notify.failed", "thread=%u text=%s", t->index,
                 tide_log_quote(quoted, sizeof quoted, err->text));
    if (t->context.pg && tide_pg_remedy(t->context.pg) != TIDE_PG_AGAIN)
        t->listening = false;
    pause_thread(t, tide_retry_pause_ms(&t->retry, 250, 10000, t->db_failures++));
}

/* Returns how long the thread waits for a notification of PostgreSQL before its next turn. */
static uint32_t poll_ms(const struct notify_thread *t)
{
    if (t->busy)
        return BUSY_POLL_MS;
    return t->index == 0 && t->all->watch.leads ? WATCH_POLL_MS : IDLE_POLL_MS;
}

/* A thread's loop: connect, take a turn, wait for a notification. Thread 0 watches, the others
 * send. */
static void *run_thread(void *self)
{
    struct notify_thread *t = self;
    struct tide_err err;
    tide_liveness_begin("notify", TIDE_LIVENESS_WAITS_MS);
    while (!notify_is_closing(t->all)) {
        bool more = false, notified;
        tide_liveness_mark();
        tide_status status = connect_now(t, &err);
        if (status == TIDE_OK)
            status = t->index == 0 ? notify_watch_turn(t, &more, &err)
                                   : notify_send_turn(t, &more, &err);
        if (status == TIDE_OK && !more)
            status = tide_pg_wait(t->context.pg, poll_ms(t), &notified, &err);
        handle_database_error(t, status, &err);
    }
    tide_liveness_end();
    return NULL;
}

/* --- life --------------------------------------------------------------------------------- */

/* The watcher needs a reader of the cache; a sender needs an HTTP client for public addresses. */
static tide_status open_thread(struct notify_thread *t, struct tide_err *err)
{
    assert(t->index < NOTIFY_THREADS);
    const struct tide_notify_options *options = &t->all->options;
    struct tide_kyc_context_options context = { .settings = options->settings,
                                                .clock = options->clock,
                                                .conninfo = options->conninfo,
                                                .select = options->select,
                                                .ca_file = options->config->http_ca_file,
                                                .stopped = notify_is_closing,
                                                .stopped_self = t->all };
    struct tide_http_options http = { .agent = "tidemark-webhooks",
                                      .ca_file = options->config->http_ca_file,
                                      .connect_ms = CONNECT_MS,
                                      .timeout_ms = EXCHANGE_MS,
                                      .stall_s = STALL_S,
                                      .public_only = !options->settings->webhook_local };
    tide_retry_init(&t->retry, options->clock->wall_ms(options->clock->self), t->index);
    tide_status status = tide_kyc_context_open(&t->context, &context, err);
    t->opened = status == TIDE_OK;
    if (status == TIDE_OK && t->index == 0)
        status = tide_hot_reader_open(&t->all->watch.reader, options->hot, err);
    else if (status == TIDE_OK)
        status = tide_http_open(&t->http, &http, err);
    return status;
}

tide_status tide_notify_open(struct tide_notify **out, const struct tide_notify_options *options,
                             struct tide_err *err)
{
    struct tide_notify *all = calloc(1, sizeof *all);
    tide_status status = TIDE_OK;
    *out = NULL;
    if (!all)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: notifications");
    all->options = *options;
    all->api = (struct tide_api){ .config = options->config,
                                  .clock = options->clock,
                                  .select = options->select,
                                  .hot = options->hot };
    for (uint32_t i = 0; i < NOTIFY_THREADS && status == TIDE_OK; i++) {
        all->threads[i].all = all;
        all->threads[i].index = i;
        status = open_thread(&all->threads[i], err);
    }
    if (status == TIDE_OK)
        *out = all;
    else
        tide_notify_close(all);
    return status;
}

tide_status tide_notify_start(struct tide_notify *notify, struct tide_err *err)
{
    for (uint32_t i = 0; i < NOTIFY_THREADS; i++) {
        struct notify_thread *t = &notify->threads[i];
        t->started = pthread_create(&t->thread, NULL, run_thread, t) == 0;
        if (!t->started)
            return tide_fail(err, TIDE_E_MEMORY, "cannot start a thread for notifications");
    }
    return TIDE_OK;
}

/* Waits for each thread. A running HTTP call is cancelled by notify_is_closing. */
void tide_notify_close(struct tide_notify *notify)
{
    if (!notify)
        return;
    atomic_store(&notify->closing, true);
    for (uint32_t i = 0; i < NOTIFY_THREADS; i++) {
        struct notify_thread *t = &notify->threads[i];
        if (t->started)
            pthread_join(t->thread, NULL);
        tide_http_close(t->http);
        if (t->opened)
            tide_kyc_context_close(&t->context);
    }
    if (notify->watch.reader)
        tide_hot_reader_close(notify->watch.reader);
    free(notify->watch.feeds.items);
    free(notify->watch.markets.items);
    free(notify);
}

/* Leaves out figures that were not refreshed: old numbers would hide that the database is
 * unreachable. */
void tide_notify_metrics(const struct tide_notify *notify, struct tide_buf *out)
{
    const struct notify_figures *f = &notify->figures;
    const struct tide_clock *clock = notify->options.clock;
    int64_t asked = atomic_load(&f->asked_ms), ago = clock->now_ms(clock->self) - asked;
    tide_metric_counter(out, TIDE_M_kyc_notify_delivered_total, atomic_load(&notify->delivered));
    tide_metric_counter(out, TIDE_M_kyc_notify_failed_total, atomic_load(&notify->failed));
    tide_metric_gauge(out, TIDE_M_kyc_notify_watches, atomic_load(&notify->leads));
    if (asked == 0 || ago > FIGURES_LAST_MS)
        return;
    uint64_t oldest = atomic_load(&f->oldest_ms);
    tide_metric_gauge(out, TIDE_M_kyc_notify_waiting, (double)atomic_load(&f->waiting));
    tide_metric_gauge(out, TIDE_M_kyc_notify_oldest_seconds, (double)oldest / 1000);
    tide_metric_gauge(out, TIDE_M_kyc_notify_disabled, (double)atomic_load(&f->disabled));
    tide_metric_gauge(out, TIDE_M_kyc_notify_behind_ledgers, (double)atomic_load(&f->behind));
}
