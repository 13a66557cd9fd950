/* Writes KYC's part of /metrics. */
#include "api/kyc/worker/figures.h"
#include "api/kyc/keys/keys.h"
#include "api/metrics/metrics.h"

#include <stdio.h>

enum { LABELS_BYTES = 192 };

/* Appends webhooks by provider, fate and reason. Labels need no escape: keys and reasons are plain
 * words. */
static void put_webhooks(struct tide_buf *out, const struct tide_kyc_settings *settings,
                         struct tide_kyc_refused *refused)
{
    struct tide_kyc_count_line lines[TIDE_KYC_REFUSED_WORDS];
    char labels[LABELS_BYTES];
    tide_metric_family(out, TIDE_M_kyc_webhooks_total);
    for (uint32_t p = 0; p < settings->provider_count; p++) {
        uint32_t count = tide_kyc_counted(refused, p, lines);
        assert(count <= TIDE_KYC_REFUSED_WORDS);
        for (uint32_t i = 0; i < count; i++) {
            int len = snprintf(labels, sizeof labels, "provider=\"%s\",fate=\"%s\",why=\"%s\"",
                               settings->providers[p].key, tide_kyc_fate_text(lines[i].fate),
                               lines[i].why ? lines[i].why : "");
            assert(len > 0 && (size_t)len < sizeof labels);
            (void)len;
            tide_metric_u64(out, TIDE_M_kyc_webhooks_total, labels, lines[i].count);
        }
    }
}

/* Appends a metric with one value for each provider. */
static void put_family(struct tide_buf *out, const struct tide_kyc_settings *settings,
                       const uint64_t values[TIDE_KYC_PROVIDERS_MAX], enum tide_metric metric)
{
    assert(settings->provider_count <= TIDE_KYC_PROVIDERS_MAX);
    char labels[LABELS_BYTES];
    tide_metric_family(out, metric);
    for (uint32_t p = 0; p < settings->provider_count; p++) {
        snprintf(labels, sizeof labels, "provider=\"%s\"", settings->providers[p].key);
        tide_metric_u64(out, metric, labels, values[p]);
    }
}

static void put_efforts(struct tide_buf *out, const struct tide_kyc_settings *settings,
                        struct tide_kyc_workers *workers)
{
    assert(settings->provider_count <= TIDE_KYC_PROVIDERS_MAX);
    struct tide_kyc_effort efforts[TIDE_KYC_PROVIDERS_MAX];
    uint64_t values[TIDE_KYC_PROVIDERS_MAX] = { 0 };
    for (uint32_t p = 0; p < settings->provider_count; p++)
        tide_kyc_workers_effort(workers, p, &efforts[p]);
#define PUT(field, metric)                                      \
    do {                                                        \
        for (uint32_t p = 0; p < settings->provider_count; p++) \
            values[p] = efforts[p].field;                       \
        put_family(out, settings, values, metric);              \
    } while (0)
    PUT(webhooks, TIDE_M_kyc_webhooks_done_total);
    PUT(strangers, TIDE_M_kyc_webhooks_ignored_total);
    PUT(asked, TIDE_M_kyc_decisions_asked_total);
    PUT(failed, TIDE_M_kyc_decisions_failed_total);
    PUT(moved, TIDE_M_kyc_sessions_moved_total);
    PUT(stale, TIDE_M_kyc_decisions_stale_total);
    PUT(found, TIDE_M_kyc_sessions_found_total);
    PUT(away, TIDE_M_kyc_provider_away);
    PUT(waits, TIDE_M_kyc_clocks_differ);
#undef PUT
}

static void put_sessions(struct tide_buf *out, const struct tide_kyc_figures *f)
{
    char labels[LABELS_BYTES];
    tide_metric_family(out, TIDE_M_kyc_sessions);
    for (int s = 0; s < (int)TIDE_KYC_STATE_COUNT; s++) {
        snprintf(labels, sizeof labels, "state=\"%s\"",
                 tide_kyc_state_text((enum tide_kyc_state)s));
        tide_metric_u64(out, TIDE_M_kyc_sessions, labels, f->sessions[s]);
    }
}

/* Appends the figures of the database. Ages grow with the time since the figures were read. */
static void put_queues(struct tide_buf *out, const struct tide_kyc_figures *f, int64_t now_ms)
{
    assert(f->known);
    double ago = (double)(now_ms - f->asked_ms) / 1000;
    tide_metric_gauge(out, TIDE_M_kyc_figures_age_seconds, ago);
    tide_metric_gauge(out, TIDE_M_kyc_inbox_new, (double)f->inbox_new);
    tide_metric_gauge(out, TIDE_M_kyc_inbox_failed, (double)f->inbox_failed);
    tide_metric_gauge(out, TIDE_M_kyc_inbox_oldest_seconds,
                      f->inbox_new ? f->inbox_oldest_s + ago : 0);
    put_sessions(out, f);
    tide_metric_family(out, TIDE_M_kyc_outbox);
    tide_metric_u64(out, TIDE_M_kyc_outbox, "state=\"queued\"", f->outbox_queued);
    tide_metric_u64(out, TIDE_M_kyc_outbox, "state=\"signed\"", f->outbox_signed);
    tide_metric_u64(out, TIDE_M_kyc_outbox, "state=\"submitted\"", f->outbox_submitted);
    tide_metric_u64(out, TIDE_M_kyc_outbox, "state=\"parked\"", f->outbox_parked);
    bool any = f->outbox_queued + f->outbox_signed + f->outbox_submitted != 0;
    tide_metric_gauge(out, TIDE_M_kyc_outbox_oldest_seconds, any ? f->outbox_oldest_s + ago : 0);
}

/* --- the attester ----------------------------------------------------------------------------- */

/* Appends the attester's last heartbeat row. */
static void put_heartbeat(struct tide_buf *out, const struct tide_kyc_attester *a, double ago)
{
    static const char *const states[] = { "working", "waiting", "stopped" };
    char labels[LABELS_BYTES];
    tide_metric_family(out, TIDE_M_attester_state);
    for (size_t i = 0; i < TIDE_COUNT(states); i++) {
        snprintf(labels, sizeof labels, "state=\"%s\"", states[i]);
        tide_metric_u64(out, TIDE_M_attester_state, labels, strcmp(a->state, states[i]) == 0);
    }
    tide_metric_gauge(out, TIDE_M_attester_heartbeat_age_seconds, a->heartbeat_age_s + ago);
    tide_metric_gauge(out, TIDE_M_attester_ledger, (double)a->ledger);
    if (a->funded)
        tide_metric_gauge(out, TIDE_M_attester_balance_xlm, (double)a->balance / 1e7);
    tide_metric_counter(out, TIDE_M_attester_sent_total, a->sent);
    tide_metric_counter(out, TIDE_M_attester_confirmed_total, a->confirmed);
    tide_metric_counter(out, TIDE_M_attester_parked_total, a->parked);
    tide_metric_counter(out, TIDE_M_attester_failures_total, a->failures);
    tide_metric_gauge(out, TIDE_M_attester_standing, (double)a->standing);
    tide_metric_gauge(out, TIDE_M_attester_confirmed_timestamp_seconds, (double)a->confirmed_at);
    tide_metric_gauge(out, TIDE_M_attester_failed_timestamp_seconds, (double)a->failed_at);
}

static void put_attester(struct tide_buf *out, const struct tide_kyc_figures *f, int64_t now_ms)
{
    tide_metric_gauge(out, TIDE_M_attester_attention, (double)f->attester.attention);
    if (f->attester.known)
        put_heartbeat(out, &f->attester, (double)(now_ms - f->asked_ms) / 1000);
}

/* --- this process ----------------------------------------------------------------------------- */

/* Appends the age of each worker's last turn. Turns are at most about a second apart, so a growing
 * age shows a thread that hangs. */
static void put_turns(struct tide_buf *out, const struct tide_kyc_settings *settings,
                      struct tide_kyc_workers *workers, int64_t now_ms)
{
    struct tide_kyc_effort effort;
    char labels[LABELS_BYTES];
    tide_metric_family(out, TIDE_M_kyc_reconciler_age_seconds);
    for (uint32_t p = 0; p < settings->provider_count; p++) {
        tide_kyc_workers_effort(workers, p, &effort);
        if (!effort.turned_ms)
            continue;
        snprintf(labels, sizeof labels, "provider=\"%s\"", settings->providers[p].key);
        tide_metric_real(out, TIDE_M_kyc_reconciler_age_seconds, labels,
                         (double)(now_ms - effort.turned_ms) / 1000);
    }
}

void tide_kyc_put_pools(struct tide_buf *out, const struct tide_kyc_pool_line *lines, size_t count)
{
    static const enum tide_metric what[] = {
        TIDE_M_kyc_pool_waiting,    TIDE_M_kyc_pool_busy,       TIDE_M_kyc_pool_connected,
        TIDE_M_kyc_pool_jobs_total, TIDE_M_kyc_pool_full_total, TIDE_M_kyc_pool_late_total
    };
    char labels[LABELS_BYTES];
    for (size_t i = 0; i < TIDE_COUNT(what); i++) {
        tide_metric_family(out, what[i]);
        for (size_t d = 0; d < count; d++) {
            const struct tide_worker_pool_stats *s = &lines[d].stats;
            const uint64_t values[TIDE_COUNT(what)] = { s->waiting, s->busy, s->connected,
                                                        s->jobs,    s->full, s->late };
            snprintf(labels, sizeof labels, "pool=\"%s\"", lines[d].name);
            tide_metric_u64(out, what[i], labels, values[i]);
        }
    }
}

void tide_kyc_put_figures(struct tide_buf *out, const struct tide_kyc_settings *settings,
                          struct tide_kyc_workers *workers, struct tide_kyc_refused *refused,
                          int64_t now_ms)
{
    struct tide_kyc_figures f;
    put_webhooks(out, settings, refused);
    put_efforts(out, settings, workers);
    put_turns(out, settings, workers, now_ms);
    tide_kyc_workers_figures(workers, &f);
    if (!f.known)
        return;
    put_queues(out, &f, now_ms);
    put_attester(out, &f, now_ms);
}

void tide_kyc_put_keys(struct tide_buf *out, struct tide_kyc_keys *keys)
{
    struct tide_kyc_keys_figures f = tide_kyc_keys_figures(keys);
    tide_metric_gauge(out, TIDE_M_kyc_integrators, (double)f.integrators);
    tide_metric_gauge(out, TIDE_M_kyc_keys, (double)f.keys);
    tide_metric_gauge(out, TIDE_M_kyc_keys_age_seconds,
                      f.age_ms < 0 ? -1 : (double)f.age_ms / 1000);
}
