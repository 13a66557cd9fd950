#include "api/kyc/worker/figures.h"
#include "api/http/metrics_text.h"

#include <stdio.h>

enum { LABELS_BYTES = 192 };

/* Keys of providers and our own words need no escape. */
static void put_webhooks(struct tide_buf *out, const struct tide_kyc_settings *settings,
                         struct tide_kyc_refused *refused)
{
    struct tide_kyc_count_line lines[TIDE_KYC_REFUSED_WORDS];
    char labels[LABELS_BYTES];
    tide_metric_family(out, "kyc_webhooks_total", "counter",
                       "Webhooks that came, by provider, by what became of them, and why.");
    for (uint32_t p = 0; p < settings->provider_count; p++) {
        uint32_t count = tide_kyc_counted(refused, p, lines);
        for (uint32_t i = 0; i < count; i++) {
            snprintf(labels, sizeof labels, "provider=\"%s\",fate=\"%s\",why=\"%s\"",
                     settings->providers[p].key, tide_kyc_fate_text(lines[i].fate),
                     lines[i].why ? lines[i].why : "");
            tide_metric_u64(out, "kyc_webhooks_total", labels, lines[i].count);
        }
    }
}

static void put_family(struct tide_buf *out, const struct tide_kyc_settings *settings,
                       const uint64_t values[TIDE_KYC_PROVIDERS_MAX], const char *name,
                       const char *help)
{
    char labels[LABELS_BYTES];
    tide_metric_family(out, name, strstr(name, "_total") ? "counter" : "gauge", help);
    for (uint32_t p = 0; p < settings->provider_count; p++) {
        snprintf(labels, sizeof labels, "provider=\"%s\"", settings->providers[p].key);
        tide_metric_u64(out, name, labels, values[p]);
    }
}

static void put_efforts(struct tide_buf *out, const struct tide_kyc_settings *settings,
                        struct tide_kyc_workers *workers)
{
    struct tide_kyc_effort efforts[TIDE_KYC_PROVIDERS_MAX];
    uint64_t values[TIDE_KYC_PROVIDERS_MAX];
    for (uint32_t p = 0; p < settings->provider_count; p++)
        tide_kyc_workers_effort(workers, p, &efforts[p]);
#define PUT(field, name, help)                                  \
    do {                                                        \
        for (uint32_t p = 0; p < settings->provider_count; p++) \
            values[p] = efforts[p].field;                       \
        put_family(out, settings, values, name, help);          \
    } while (0)
    PUT(webhooks, "kyc_webhooks_done_total", "Webhooks brought to an end.");
    PUT(strangers, "kyc_webhooks_ignored_total", "Of these, of no session.");
    PUT(asked, "kyc_decisions_asked_total", "Times that a provider was asked for a decision.");
    PUT(failed, "kyc_decisions_failed_total", "Of these, without an answer.");
    PUT(moved, "kyc_sessions_moved_total", "Sessions that a decision, or time, changed.");
    PUT(stale, "kyc_decisions_stale_total", "Answers older than what was known.");
    PUT(found, "kyc_sessions_found_total", "Changes that no webhook had told of.");
    PUT(away, "kyc_provider_away", "1: the provider failed last and is left alone for a while.");
    PUT(waits, "kyc_clocks_differ",
        "1: host, database and chain differ on the time; nothing is decided.");
#undef PUT
}

static void put_sessions(struct tide_buf *out, const struct tide_kyc_figures *f)
{
    char labels[LABELS_BYTES];
    tide_metric_family(out, "kyc_sessions", "gauge", "Sessions, by state.");
    for (int s = 0; s < (int)TIDE_KYC_STATE_COUNT; s++) {
        snprintf(labels, sizeof labels, "state=\"%s\"",
                 tide_kyc_state_text((enum tide_kyc_state)s));
        tide_metric_u64(out, "kyc_sessions", labels, f->sessions[s]);
    }
}

static void put_queues(struct tide_buf *out, const struct tide_kyc_figures *f, int64_t now_ms)
{
    double ago = (double)(now_ms - f->asked_ms) / 1000;
    tide_metric_gauge(out, "kyc_figures_age_seconds",
                      "How old the figures of queues and sessions are.", ago);
    tide_metric_gauge(out, "kyc_inbox_new", "Webhooks that wait to be worked on.",
                      (double)f->inbox_new);
    tide_metric_gauge(out, "kyc_inbox_failed", "Webhooks that were given up.",
                      (double)f->inbox_failed);
    tide_metric_gauge(out, "kyc_inbox_oldest_seconds", "Since the oldest that waits came.",
                      f->inbox_new ? f->inbox_oldest_s + ago : 0);
    put_sessions(out, f);
    tide_metric_family(out, "kyc_outbox", "gauge",
                       "Intents for the chain not at their end, by state.");
    tide_metric_u64(out, "kyc_outbox", "state=\"queued\"", f->outbox_queued);
    tide_metric_u64(out, "kyc_outbox", "state=\"signed\"", f->outbox_signed);
    tide_metric_u64(out, "kyc_outbox", "state=\"submitted\"", f->outbox_submitted);
    tide_metric_u64(out, "kyc_outbox", "state=\"parked\"", f->outbox_parked);
    bool any = f->outbox_queued + f->outbox_signed + f->outbox_submitted != 0;
    tide_metric_gauge(out, "kyc_outbox_oldest_seconds",
                      "Since the oldest that is not parked was decided.",
                      any ? f->outbox_oldest_s + ago : 0);
}

/* --- the attester ----------------------------------------------------------------------------- */

static void put_said(struct tide_buf *out, const struct tide_kyc_attester *a, double ago)
{
    static const char *const states[] = { "working", "waiting", "stopped" };
    char labels[LABELS_BYTES];
    tide_metric_family(out, "attester_state", "gauge", "1 for what the attester said it does.");
    for (size_t i = 0; i < TIDE_COUNT(states); i++) {
        snprintf(labels, sizeof labels, "state=\"%s\"", states[i]);
        tide_metric_u64(out, "attester_state", labels, strcmp(a->state, states[i]) == 0);
    }
    tide_metric_gauge(out, "attester_heartbeat_age_seconds", "Since it last said something.",
                      a->heartbeat_age_s + ago);
    tide_metric_gauge(out, "attester_ledger", "Newest ledger that its servers told; 0: none.",
                      (double)a->ledger);
    if (a->funded)
        tide_metric_gauge(out, "attester_balance_xlm", "What its account has for fees.",
                          (double)a->balance / 1e7);
    tide_metric_counter(out, "attester_sent_total", "Envelopes sent, each time.", a->sent);
    tide_metric_counter(out, "attester_confirmed_total", "Intents confirmed.", a->confirmed);
    tide_metric_counter(out, "attester_parked_total", "Intents left to a person.", a->parked);
    tide_metric_counter(out, "attester_failures_total",
                        "Turns that a server or the database failed.", a->failures);
    tide_metric_gauge(out, "attester_standing",
                      "Confirmed revocations whose attestation the index still has; at most 1000.",
                      (double)a->standing);
    tide_metric_gauge(out, "attester_confirmed_timestamp_seconds",
                      "When it last confirmed one; 0: never.", (double)a->confirmed_at);
    tide_metric_gauge(out, "attester_failed_timestamp_seconds",
                      "When something failed last; 0: never.", (double)a->failed_at);
}

static void put_attester(struct tide_buf *out, const struct tide_kyc_figures *f, int64_t now_ms)
{
    tide_metric_gauge(out, "attester_attention",
                      "Confirmed intents that overwrote what they should not have, or may have, "
                      "until a person attended.",
                      (double)f->attester.attention);
    if (f->attester.known)
        put_said(out, &f->attester, (double)(now_ms - f->asked_ms) / 1000);
}

/* --- this process ----------------------------------------------------------------------------- */

/* A thread that hangs, or is gone, says nothing any more: its turns are a second apart at most. */
static void put_turns(struct tide_buf *out, const struct tide_kyc_settings *settings,
                      struct tide_kyc_workers *workers, int64_t now_ms)
{
    struct tide_kyc_effort effort;
    char labels[LABELS_BYTES];
    tide_metric_family(out, "kyc_reconciler_age_seconds", "gauge",
                       "Since the provider's thread had last looked at all that was due.");
    for (uint32_t p = 0; p < settings->provider_count; p++) {
        tide_kyc_workers_effort(workers, p, &effort);
        if (!effort.turned_ms)
            continue;
        snprintf(labels, sizeof labels, "provider=\"%s\"", settings->providers[p].key);
        tide_metric_real(out, "kyc_reconciler_age_seconds", labels,
                         (double)(now_ms - effort.turned_ms) / 1000);
    }
}

void tide_kyc_put_pools(struct tide_buf *out, const struct tide_kyc_pool_line *lines, size_t count)
{
    static const char *const what[] = { "kyc_pool_waiting",    "kyc_pool_busy",
                                        "kyc_pool_connected",  "kyc_pool_jobs_total",
                                        "kyc_pool_full_total", "kyc_pool_late_total" };
    static const char *const help[TIDE_COUNT(what)] = {
        "Requests that wait for the pool.",      "Threads of it that answer one.",
        "Threads of it with a connection.",      "Requests that it took.",
        "Requests refused: its queue was full.", "Requests whose time was over before their turn.",
    };
    char labels[LABELS_BYTES];
    for (size_t i = 0; i < TIDE_COUNT(what); i++) {
        tide_metric_family(out, what[i], strstr(what[i], "_total") ? "counter" : "gauge", help[i]);
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
