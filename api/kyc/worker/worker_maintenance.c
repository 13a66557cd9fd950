/* Periodic work: writes refused webhooks into the audit, deletes old rows, repairs times. */
#include "api/kyc/sessions/session_store.h"
#include "api/kyc/worker/worker_impl.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <stdio.h>

enum {
    REPORT_MS = 60 * 1000,
    REPAIR_MS = 60 * 1000,
    PRUNE_MS = 600 * 1000,
    FORGOTTEN_MS = 60 * 1000,
    FIGURES_MS = 10 * 1000
};

/* --- the audit -------------------------------------------------------------------------------- */

static tide_status write_refusal(struct worker *w, const struct tide_kyc_count_line *line,
                                 struct tide_err *err)
{
    assert(line->count > 0 && line->why && w->provider);
    return tide_pg_query(w->context.pg, NULL,
                         "SELECT kyc.note('webhook', 'webhook.' || $1::text, $2,"
                         "  jsonb_build_object('why', $3::text, 'count', $4::bigint))",
                         (const char *[]){ tide_kyc_fate_text(line->fate), w->provider->key,
                                           line->why, TIDE_PG_NUMBER(line->count) },
                         4, err);
}

/* Writes one audit row a minute for each reason, with the number of webhooks. If the database
 * fails, the count is reported later. */
static tide_status report_refused(struct worker *w, struct tide_err *err)
{
    struct tide_kyc_refused *refused = w->all->refused;
    struct tide_kyc_count_line line;
    tide_status status = TIDE_OK;
    while (
        status == TIDE_OK &&
        tide_kyc_next_report(refused, w->index, tide_kyc_now_ms(&w->context), REPORT_MS, &line)) {
        status = write_refusal(w, &line, err);
        if (status == TIDE_OK)
            tide_log(TIDE_WARN, "kyc.webhooks_refused", "provider=%s fate=%s why=%s count=%" PRIu64,
                     w->provider->key, tide_kyc_fate_text(line.fate), line.why, line.count);
        else
            tide_kyc_undo_report(refused, w->index, &line);
    }
    return status;
}

tide_status worker_note_settings(struct worker *w, struct tide_err *err)
{
    if (w->index != 0 || w->settings_noted)
        return TIDE_OK;
    const struct tide_kyc_settings *settings = w->all->options.settings;
    assert(settings->provider_count <= TIDE_KYC_PROVIDERS_MAX);
    char digest[2 * sizeof settings->digest + 1];
    tide_hex(digest, tide_slice_of(settings->digest, sizeof settings->digest));
    digest[sizeof digest - 1] = 0;
    tide_status status = tide_pg_query(
        w->context.pg, NULL,
        "SELECT kyc.note('api', 'settings_opened', 'kyc_file', jsonb_build_object('digest',"
        "  $1::text, 'providers', $2::integer))",
        (const char *[]){ digest, TIDE_PG_NUMBER(settings->provider_count) }, 2, err);
    w->settings_noted = status == TIDE_OK;
    return status;
}

/* --- pruning ---------------------------------------------------------------------------------- */

/* Deletes handled webhooks after 30 days, old challenges, links of ended pages, and client networks
 * that no limit counts any more. A webhook repeated after that is handled again; its session then
 * shows no change. LIMIT keeps each transaction short. Challenges go an hour later, because another
 * node's clock may be behind. */
static const char *const prune_sql[] = {
    "DELETE FROM kyc.inbox WHERE (deployment, provider, event_key) IN"
    " (SELECT deployment, provider, event_key FROM kyc.inbox"
    "  WHERE received_at < statement_timestamp() - interval '30 days' AND state <> 'new'"
    "  ORDER BY received_at LIMIT 10000)",
    "DELETE FROM kyc.challenge WHERE expires_at < statement_timestamp() - interval '1 hour'",
    "UPDATE kyc.session SET hosted_url = NULL, hosted_until = NULL WHERE id IN"
    " (SELECT id FROM kyc.session WHERE hosted_url IS NOT NULL"
    "   AND hosted_until < statement_timestamp() ORDER BY hosted_until LIMIT 10000)",
    "UPDATE kyc.session SET network = NULL WHERE id IN (SELECT id FROM kyc.session"
    "  WHERE network IS NOT NULL AND created_at < statement_timestamp() - interval '1 hour'"
    "  ORDER BY created_at LIMIT 10000)",
};

static tide_status prune_rows(struct worker *w, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < TIDE_COUNT(prune_sql) && status == TIDE_OK; i++)
        status = tide_pg_query(w->context.pg, NULL, prune_sql[i], NULL, 0, err);
    return status;
}

/* Makes open sessions due whose time is over although they never reached a provider. */
static tide_status wake_overdue_sessions(struct worker *w, struct tide_err *err)
{
    return tide_pg_query(w->context.pg, NULL,
                         "UPDATE kyc.session SET next_check = clock_timestamp()"
                         " WHERE deployment = $1::smallint"
                         "   AND state IN ('created', 'pending', 'review', 'action_required')"
                         "   AND next_check IS NULL AND expires_at < statement_timestamp()",
                         (const char *[]){ w->context.deployment_text }, 1, err);
}

/* --- times of a wrong clock ------------------------------------------------------------------- */

/* Makes webhooks of this provider due that wait longer than the longest pause (15 minutes). */
static const char repair_inbox_sql[] =
    "UPDATE kyc.inbox SET next_try = clock_timestamp(),"
    "  received_at = least(received_at, clock_timestamp())"
    " WHERE (deployment, provider, event_key) IN (SELECT deployment, provider, event_key"
    "   FROM kyc.inbox WHERE deployment = $1::smallint AND provider = $2 AND state = 'new'"
    "   AND next_try > statement_timestamp() + interval '1 hour' LIMIT 10000"
    "   FOR UPDATE SKIP LOCKED)";

/* Makes sessions of this provider due that wait longer than any pause. Sessions of the future get
 * the present time: otherwise they would count against the limits of new sessions until then. */
static const char repair_sessions_sql[] =
    "UPDATE kyc.session SET created_at = least(created_at, clock_timestamp()),"
    "  expires_at = least(expires_at, clock_timestamp() + interval '1 s' * $4::integer),"
    "  next_check = CASE WHEN next_check > clock_timestamp() + interval '1 s' * $3::integer"
    "    THEN clock_timestamp() ELSE next_check END"
    " WHERE id IN (SELECT id FROM kyc.session WHERE deployment = $1::smallint"
    "   AND provider = $2 AND (created_at > statement_timestamp() + interval '1 minute'"
    "     OR next_check > statement_timestamp() + interval '1 s' * $3::integer)"
    "   LIMIT 10000 FOR UPDATE SKIP LOCKED)";

/* A clock that is ahead for a moment leaves times behind that are further ahead than this program
 * ever writes. Without this, a webhook would wait until then, and a withdrawal stay unnoticed. */
static tide_status repair_times(struct worker *w, struct tide_err *err)
{
    struct tide_pg_rows inbox = { 0 }, sessions = { 0 };
    const char *const values[] = { w->context.deployment_text, w->provider->key,
                                   TIDE_PG_NUMBER(tide_kyc_longest_check(
                                       w->all->options.config->kyc_reconcile_s)),
                                   TIDE_PG_NUMBER(TIDE_KYC_SESSION_S) };
    tide_status status = tide_pg_query(w->context.pg, &inbox, repair_inbox_sql, values, 2, err);
    if (status == TIDE_OK)
        status = tide_pg_query(w->context.pg, &sessions, repair_sessions_sql, values, 4, err);
    uint64_t count = inbox.affected + sessions.affected;
    if (status == TIDE_OK && count)
        tide_log(TIDE_WARN, "kyc.times_repaired", "provider=%s rows=%" PRIu64, w->provider->key,
                 count);
    tide_pg_rows_release(&inbox);
    tide_pg_rows_release(&sessions);
    return status;
}

/* --- the maintenance -------------------------------------------------------------------------- */

/* True if every_ms have passed since *last_ms, which is then set to now_ms. */
static bool is_due(int64_t *last_ms, int64_t now_ms, int64_t every_ms)
{
    assert(every_ms > 0);
    bool due = *last_ms == 0 || now_ms - *last_ms >= every_ms;
    if (due)
        *last_ms = now_ms;
    return due;
}

/* While the clocks differ nothing is deleted or repaired, because both go by time. Once they agree
 * again, times are repaired at once. */
tide_status worker_maintain(struct worker *w, struct tide_err *err)
{
    int64_t now = tide_kyc_now_ms(&w->context);
    tide_status status = report_refused(w, err);
    if (w->clocks_differ)
        w->repaired_ms = 0;
    else if (status == TIDE_OK && is_due(&w->repaired_ms, now, REPAIR_MS))
        status = repair_times(w, err);
    pthread_mutex_lock(&w->all->mutex);
    w->effort.turned_ms = now;
    pthread_mutex_unlock(&w->all->mutex);
    if (w->index != 0)
        return status;
    if (status == TIDE_OK && !w->clocks_differ && is_due(&w->pruned_ms, now, PRUNE_MS))
        status = prune_rows(w, err);
    if (status == TIDE_OK && is_due(&w->forgotten_ms, now, FORGOTTEN_MS))
        status = wake_overdue_sessions(w, err);
    if (status == TIDE_OK && is_due(&w->figures_ms, now, FIGURES_MS))
        status = worker_read_figures(w, err);
    return status;
}
