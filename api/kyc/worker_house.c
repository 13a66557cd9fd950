/* What is done now and then: refused webhooks into the audit, old ones out, and figures. */
#include "api/kyc/worker_impl.h"
#include "tidemark/log.h"

#include <stdio.h>

enum {
    TELL_MS = 60 * 1000,
    PRUNE_MS = 600 * 1000,
    FORGOTTEN_MS = 60 * 1000,
    FIGURES_MS = 10 * 1000
};

/* --- the audit -------------------------------------------------------------------------------- */

static tide_status tell(struct worker *w, const struct tide_kyc_count_line *line,
                        struct tide_err *err)
{
    char count[WORKER_NUMBER_BYTES];
    snprintf(count, sizeof count, "%" PRIu64, line->count);
    return tide_pg_query(
        w->place.pg, NULL,
        "SELECT kyc.note('webhook', 'webhook.' || $1::text, $2,"
        "  jsonb_build_object('why', $3::text, 'count', $4::bigint))",
        (const char *[]){ tide_kyc_fate_text(line->fate), w->provider->key, line->why, count }, 4,
        err);
}

/* One row a minute for each reason, however many there were. */
static tide_status tell_refused(struct worker *w, struct tide_err *err)
{
    struct tide_kyc_refused *refused = w->all->options.refused;
    struct tide_kyc_count_line line;
    tide_status status = TIDE_OK;
    while (status == TIDE_OK &&
           tide_kyc_to_tell(refused, w->index, worker_now_ms(w), TELL_MS, &line)) {
        status = tell(w, &line, err);
        if (status == TIDE_OK)
            tide_log(TIDE_WARN, "kyc.webhooks_refused", "provider=%s fate=%s why=%s count=%" PRIu64,
                     w->provider->key, tide_kyc_fate_text(line.fate), line.why, line.count);
        else
            tide_kyc_untold(refused, w->index, &line);
    }
    return status;
}

/* --- pruning ---------------------------------------------------------------------------------- */

/* A provider that says it again after a month is asked again; its session knows what it knew. */
static tide_status prune(struct worker *w, struct tide_err *err)
{
    tide_status status = tide_pg_query(
        w->place.pg, NULL,
        "DELETE FROM kyc.inbox WHERE (provider, event_key) IN (SELECT provider, event_key FROM "
        "kyc.inbox"
        "  WHERE received_at < clock_timestamp() - interval '30 days' AND state <> 'new'"
        "  ORDER BY received_at LIMIT 10000)",
        NULL, 0, err);
    if (status == TIDE_OK)
        status = tide_pg_query(w->place.pg, NULL,
                               "DELETE FROM kyc.challenge WHERE expires_at < clock_timestamp()"
                               " - interval '1 hour'", /* another node's clock may be behind */
                               NULL, 0, err);
    return status;
}

/* Sessions that never got to a provider are looked at when they are over, like the others. */
static tide_status find_forgotten(struct worker *w, struct tide_err *err)
{
    return tide_pg_query(w->place.pg, NULL,
                         "UPDATE kyc.session SET next_check = clock_timestamp()"
                         " WHERE state IN ('created', 'pending', 'review', 'action_required')"
                         "   AND next_check IS NULL AND expires_at < clock_timestamp()",
                         NULL, 0, err);
}

/* --- figures ---------------------------------------------------------------------------------- */

static double seconds(const struct tide_pg_rows *rows, uint32_t column)
{
    return (double)tide_pg_u64(rows, 0, column) / 1000;
}

static tide_status count_queues(struct worker *w, struct tide_kyc_figures *f, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        w->place.pg, &rows,
        "SELECT i.*, o.* FROM"
        " (SELECT count(*) FILTER (WHERE state = 'new'), count(*) FILTER (WHERE state = 'failed'),"
        "   greatest(0, (1000 * extract(epoch FROM clock_timestamp()"
        "     - min(received_at) FILTER (WHERE state = 'new')))::bigint) FROM kyc.inbox) AS i,"
        " (SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = "
        "'signed'),"
        "   count(*) FILTER (WHERE state = 'submitted'), count(*) FILTER (WHERE state = 'parked'),"
        "   greatest(0, (1000 * extract(epoch FROM clock_timestamp() - min(created_at)"
        "     FILTER (WHERE state <> 'parked')))::bigint)"
        "  FROM kyc.outbox WHERE state IN ('queued', 'signed', 'submitted', 'parked')) AS o",
        NULL, 0, err);
    if (status != TIDE_OK)
        return status;
    f->inbox_new = tide_pg_u64(&rows, 0, 0);
    f->inbox_failed = tide_pg_u64(&rows, 0, 1);
    f->inbox_oldest_s = seconds(&rows, 2);
    f->outbox_queued = tide_pg_u64(&rows, 0, 3);
    f->outbox_signed = tide_pg_u64(&rows, 0, 4);
    f->outbox_submitted = tide_pg_u64(&rows, 0, 5);
    f->outbox_parked = tide_pg_u64(&rows, 0, 6);
    f->outbox_oldest_s = seconds(&rows, 7);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static tide_status count_sessions(struct worker *w, struct tide_kyc_figures *f,
                                  struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        w->place.pg, &rows, "SELECT state, count(*) FROM kyc.session GROUP BY state", NULL, 0, err);
    if (status != TIDE_OK)
        return status;
    for (uint32_t i = 0; i < rows.count; i++) {
        enum tide_kyc_state state;
        if (tide_kyc_state_of(tide_pg_slice(&rows, i, 0), &state))
            f->sessions[state] = tide_pg_u64(&rows, i, 1);
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static tide_status read_figures(struct worker *w, struct tide_err *err)
{
    struct tide_kyc_figures f = { .known = true, .asked_ms = worker_now_ms(w) };
    tide_status status = count_queues(w, &f, err);
    if (status == TIDE_OK)
        status = count_sessions(w, &f, err);
    if (status == TIDE_OK)
        status = worker_read_attester(w, &f.attester, err);
    if (status != TIDE_OK)
        return status;
    pthread_mutex_lock(&w->all->mutex);
    w->all->figures = f;
    pthread_mutex_unlock(&w->all->mutex);
    return TIDE_OK;
}

/* --- all -------------------------------------------------------------------------------------- */

static bool is_due(int64_t *last_ms, int64_t now_ms, int64_t every_ms)
{
    bool due = *last_ms == 0 || now_ms - *last_ms >= every_ms;
    if (due)
        *last_ms = now_ms;
    return due;
}

tide_status worker_house(struct worker *w, struct tide_err *err)
{
    int64_t now = worker_now_ms(w);
    tide_status status = tell_refused(w, err);
    pthread_mutex_lock(&w->all->mutex);
    w->effort.turned_ms = now;
    pthread_mutex_unlock(&w->all->mutex);
    if (w->index != 0)
        return status;
    if (status == TIDE_OK && is_due(&w->pruned_ms, now, PRUNE_MS))
        status = prune(w, err);
    if (status == TIDE_OK && is_due(&w->forgotten_ms, now, FORGOTTEN_MS))
        status = find_forgotten(w, err);
    if (status == TIDE_OK && is_due(&w->figures_ms, now, FIGURES_MS))
        status = read_figures(w, err);
    return status;
}
