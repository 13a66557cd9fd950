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
    put_webhooks(out, settings, refused);
    put_efforts(out, settings, workers);
    put_turns(out, settings, workers, now_ms);
    tide_kyc_workers_figures(workers, out, now_ms);
}

void tide_kyc_put_keys(struct tide_buf *out, struct tide_kyc_keys *keys)
{
    struct tide_kyc_keys_figures f = tide_kyc_keys_figures(keys);
    tide_metric_gauge(out, TIDE_M_kyc_integrators, (double)f.integrators);
    tide_metric_gauge(out, TIDE_M_kyc_keys, (double)f.keys);
    tide_metric_gauge(out, TIDE_M_kyc_keys_age_seconds,
                      f.age_ms < 0 ? -1 : (double)f.age_ms / 1000);
}
