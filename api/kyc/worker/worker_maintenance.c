/* Periodic work: writes refused webhooks into the audit, deletes old rows, reads figures. */
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
    FIGURES_MS = 10 * 1000,
    /* pause after ended sessions were counted: this many times as long as counting took, at most
     * ENDED_MS_MAX */
    ENDED_SHARE = 100,
    ENDED_MS_MAX = 60 * 1000
};

/* --- the audit -------------------------------------------------------------------------------- */

static tide_status write_refusal(struct worker *w, const struct tide_kyc_count_line *line,
                                 struct tide_err *err)
{
    assert(line->count > 0 && line->why && w->provider);
    char count[WORKER_NUMBER_BYTES];
    snprintf(count, sizeof count, "%" PRIu64, line->count);
    return tide_pg_query(
        w->context.pg, NULL,
        "SELECT kyc.note('webhook', 'webhook.' || $1::text, $2,"
        "  jsonb_build_object('why', $3::text, 'count', $4::bigint))",
        (const char *[]){ tide_kyc_fate_text(line->fate), w->provider->key, line->why, count }, 4,
        err);
}

/* Writes one audit row a minute for each reason, with the number of webhooks. If the database
 * fails, the count is reported later. */
static tide_status report_refused(struct worker *w, struct tide_err *err)
{
    struct tide_kyc_refused *refused = w->all->options.refused;
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
    char digest[2 * sizeof settings->digest + 1], providers[WORKER_NUMBER_BYTES];
    tide_hex(digest, tide_slice_of(settings->digest, sizeof settings->digest));
    digest[sizeof digest - 1] = 0;
    snprintf(providers, sizeof providers, "%" PRIu32, settings->provider_count);
    tide_status status = tide_pg_query(
        w->context.pg, NULL,
        "SELECT kyc.note('api', 'settings_opened', 'kyc_file', jsonb_build_object('digest',"
        "  $1::text, 'providers', $2::integer))",
        (const char *[]){ digest, providers }, 2, err);
    w->settings_noted = status == TIDE_OK;
    return status;
}

/* --- pruning ---------------------------------------------------------------------------------- */

/* Deletes handled webhooks after 30 days, old challenges, links of ended pages, and client networks
 * that no limit counts any more. A webhook repeated after that is handled again; its session then
 * shows no change. LIMIT keeps each transaction short. */
static tide_status prune_rows(struct worker *w, struct tide_err *err)
{
    tide_status status = tide_pg_query(
        w->context.pg, NULL,
        "DELETE FROM kyc.inbox WHERE (deployment, provider, event_key) IN"
        " (SELECT deployment, provider, event_key FROM kyc.inbox"
        "  WHERE received_at < statement_timestamp() - interval '30 days' AND state <> 'new'"
        "  ORDER BY received_at LIMIT 10000)",
        NULL, 0, err);
    if (status == TIDE_OK)
        status = tide_pg_query(w->context.pg, NULL,
                               "DELETE FROM kyc.challenge WHERE expires_at < statement_timestamp()"
                               /* An hour later, because another node's clock may be behind. */
                               " - interval '1 hour'",
                               NULL, 0, err);
    if (status == TIDE_OK)
        status = tide_pg_query(
            w->context.pg, NULL,
            "UPDATE kyc.session SET hosted_url = NULL, hosted_until = NULL WHERE id IN"
            " (SELECT id FROM kyc.session WHERE hosted_url IS NOT NULL"
            "   AND hosted_until < statement_timestamp() ORDER BY hosted_until LIMIT 10000)",
            NULL, 0, err);
    if (status == TIDE_OK)
        status = tide_pg_query(
            w->context.pg, NULL,
            "UPDATE kyc.session SET network = NULL WHERE id IN (SELECT id FROM kyc.session"
            "  WHERE network IS NOT NULL AND created_at < statement_timestamp() - interval '1 hour'"
            "  ORDER BY created_at LIMIT 10000)",
            NULL, 0, err);
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
static tide_status repair_inbox(struct worker *w, uint64_t *count, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        w->context.pg, &rows,
        "UPDATE kyc.inbox SET next_try = clock_timestamp(),"
        "  received_at = least(received_at, clock_timestamp())"
        " WHERE (deployment, provider, event_key) IN (SELECT deployment, provider, event_key"
        "   FROM kyc.inbox WHERE deployment = $1::smallint AND provider = $2 AND state = 'new'"
        "   AND next_try > statement_timestamp() + interval '1 hour' LIMIT 10000"
        "   FOR UPDATE SKIP LOCKED) RETURNING 1",
        (const char *[]){ w->context.deployment_text, w->provider->key }, 2, err);
    if (status != TIDE_OK)
        return status;
    *count += rows.count;
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Makes sessions of this provider due that wait longer than any pause. Sessions of the future get
 * the present time: otherwise they would count against the limits of new sessions until then. */
static tide_status repair_sessions(struct worker *w, uint64_t *count, struct tide_err *err)
{
    struct tide_pg_rows rows;
    char longest[WORKER_NUMBER_BYTES], life[WORKER_NUMBER_BYTES];
    snprintf(longest, sizeof longest, "%" PRIu32,
             tide_kyc_longest_check(w->all->options.reconcile_s));
    snprintf(life, sizeof life, "%" PRIu64, TIDE_KYC_SESSION_S);
    tide_status status = tide_pg_query(
        w->context.pg, &rows,
        "UPDATE kyc.session SET created_at = least(created_at, clock_timestamp()),"
        "  expires_at = least(expires_at, clock_timestamp() + interval '1 s' * $4::integer),"
        "  next_check = CASE WHEN next_check > clock_timestamp() + interval '1 s' * $3::integer"
        "    THEN clock_timestamp() ELSE next_check END"
        " WHERE id IN (SELECT id FROM kyc.session WHERE deployment = $1::smallint"
        "   AND provider = $2 AND (created_at > statement_timestamp() + interval '1 minute'"
        "     OR next_check > statement_timestamp() + interval '1 s' * $3::integer)"
        "   LIMIT 10000 FOR UPDATE SKIP LOCKED) RETURNING 1",
        (const char *[]){ w->context.deployment_text, w->provider->key, longest, life }, 4, err);
    if (status != TIDE_OK)
        return status;
    *count += rows.count;
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* A clock that is ahead for a moment leaves times behind that are further ahead than this program
 * ever writes. Without this, a webhook would wait until then, and a withdrawal stay unnoticed. */
static tide_status repair_times(struct worker *w, struct tide_err *err)
{
    uint64_t count = 0;
    tide_status status = repair_inbox(w, &count, err);
    if (status == TIDE_OK)
        status = repair_sessions(w, &count, err);
    if (status == TIDE_OK && count)
        tide_log(TIDE_WARN, "kyc.times_repaired", "provider=%s rows=%" PRIu64, w->provider->key,
                 count);
    return status;
}

/* --- figures ---------------------------------------------------------------------------------- */

static double seconds(const struct tide_pg_rows *rows, uint32_t column)
{
    return (double)tide_pg_u64(rows, 0, column) / 1000;
}

/* Counts the queues. Each part uses an index of just these rows, because the tables are large. */
static const char queues_sql[] =
    "SELECT n.*, x.*, o.*, p.* FROM"
    " (SELECT count(*), greatest(0, (1000 * extract(epoch FROM clock_timestamp()"
    "     - min(received_at)))::bigint) FROM kyc.inbox WHERE deployment = $1::smallint"
    "     AND state = 'new') AS n,"
    " (SELECT count(*) FROM kyc.inbox WHERE deployment = $1::smallint AND state = 'failed') AS x,"
    " (SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'signed'),"
    "   count(*) FILTER (WHERE state = 'submitted'), greatest(0, (1000 * extract(epoch FROM"
    "     clock_timestamp() - min(created_at)))::bigint)"
    "  FROM kyc.outbox WHERE deployment = $1::smallint"
    "    AND state IN ('queued', 'signed', 'submitted')) AS o,"
    " (SELECT count(*) FROM kyc.outbox WHERE deployment = $1::smallint AND state = 'parked') AS p";

static tide_status count_queues(struct worker *w, struct tide_kyc_figures *f, struct tide_err *err)
{
    enum { NEW, NEW_MS, FAILED, QUEUED, SIGNED, SUBMITTED, OPEN_MS, PARKED };
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(w->context.pg, &rows, queues_sql,
                                       (const char *[]){ w->context.deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.count == 1 && rows.columns == PARKED + 1);
    f->inbox_new = tide_pg_u64(&rows, 0, NEW);
    f->inbox_oldest_s = seconds(&rows, NEW_MS);
    f->inbox_failed = tide_pg_u64(&rows, 0, FAILED);
    f->outbox_queued = tide_pg_u64(&rows, 0, QUEUED);
    f->outbox_signed = tide_pg_u64(&rows, 0, SIGNED);
    f->outbox_submitted = tide_pg_u64(&rows, 0, SUBMITTED);
    f->outbox_oldest_s = seconds(&rows, OPEN_MS);
    f->outbox_parked = tide_pg_u64(&rows, 0, PARKED);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* States without a row count 0; a state that this program does not know is left out. */
static tide_status count_sessions(struct worker *w, const char *sql,
                                  uint64_t out[TIDE_KYC_STATE_COUNT], struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(w->context.pg, &rows, sql,
                                       (const char *[]){ w->context.deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.columns == 2);
    memset(out, 0, TIDE_KYC_STATE_COUNT * sizeof *out);
    for (uint32_t i = 0; i < rows.count; i++) {
        enum tide_kyc_state state;
        if (tide_kyc_state_of(tide_pg_slice(&rows, i, 0), &state))
            out[state] = tide_pg_u64(&rows, i, 1);
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Counts sessions by state. Ended sessions only become more, and counting them takes ever longer.
 * The pause before the next count therefore grows with the time that the last one took. */
static tide_status count_all_sessions(struct worker *w, struct tide_kyc_figures *f,
                                      struct tide_err *err)
{
    static const char open_sql[] = "SELECT state, count(*) FROM kyc.session"
                                   " WHERE deployment = $1::smallint AND state IN"
                                   " ('created', 'pending', 'review', 'action_required')"
                                   " GROUP BY state";
    static const char ended_sql[] = "SELECT state, count(*) FROM kyc.session"
                                    " WHERE deployment = $1::smallint AND state IN"
                                    " ('approved', 'declined', 'expired', 'revoked')"
                                    " GROUP BY state";
    tide_status status = count_sessions(w, open_sql, f->sessions, err);
    int64_t began = tide_kyc_now_ms(&w->context);
    if (status == TIDE_OK && began >= w->ended_due_ms) {
        status = count_sessions(w, ended_sql, w->ended, err);
        int64_t pause = (tide_kyc_now_ms(&w->context) - began) * ENDED_SHARE;
        w->ended_due_ms =
            tide_kyc_now_ms(&w->context) + (pause < ENDED_MS_MAX ? pause : ENDED_MS_MAX);
    }
    for (int s = 0; s < (int)TIDE_KYC_STATE_COUNT; s++)
        if (!tide_kyc_is_open((enum tide_kyc_state)s))
            f->sessions[s] = w->ended[s];
    return status;
}

/* Publishes the figures together, so that /metrics never mixes two readings. */
static tide_status read_figures(struct worker *w, struct tide_err *err)
{
    assert(w->index == 0);
    struct tide_kyc_figures f = { .known = true, .asked_ms = tide_kyc_now_ms(&w->context) };
    tide_status status = count_queues(w, &f, err);
    if (status == TIDE_OK)
        status = count_all_sessions(w, &f, err);
    if (status == TIDE_OK)
        status = worker_read_attester(w, &f.attester, err);
    if (status != TIDE_OK)
        return status;
    pthread_mutex_lock(&w->all->mutex);
    w->all->figures = f;
    pthread_mutex_unlock(&w->all->mutex);
    return TIDE_OK;
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
        status = read_figures(w, err);
    return status;
}
