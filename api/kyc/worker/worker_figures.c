/* Reads the database's figures for /metrics, and writes them: queues, sessions, the attester. */
#include "api/kyc/worker/worker_impl.h"
#include "api/metrics/metrics.h"

/* Pause after ended sessions were counted: this many times as long as counting took, at most
 * ENDED_MS_MAX. */
enum { ENDED_SHARE = 100, ENDED_MS_MAX = 60 * 1000 };

/* A column's unit. Ages are in milliseconds, and grow until the next reading. */
enum unit {
    COUNT,
    AGE,
    WAIT, /* an age; NULL: nothing waits, which is 0 */
    STROOPS
};

/* A sample for each column of the queries below, in their order. A column without a value is left
 * out. */
static const struct {
    enum tide_metric metric;
    enum unit unit;
    const char *labels;
} samples[] = {
    { TIDE_M_kyc_inbox_new, COUNT, "" },
    { TIDE_M_kyc_inbox_oldest_seconds, WAIT, "" },
    { TIDE_M_kyc_inbox_failed, COUNT, "" },
    { TIDE_M_kyc_sessions, COUNT, "state=\"created\"" },
    { TIDE_M_kyc_sessions, COUNT, "state=\"pending\"" },
    { TIDE_M_kyc_sessions, COUNT, "state=\"review\"" },
    { TIDE_M_kyc_sessions, COUNT, "state=\"action_required\"" },
    { TIDE_M_kyc_sessions, COUNT, "state=\"approved\"" },
    { TIDE_M_kyc_sessions, COUNT, "state=\"declined\"" },
    { TIDE_M_kyc_sessions, COUNT, "state=\"expired\"" },
    { TIDE_M_kyc_sessions, COUNT, "state=\"revoked\"" },
    { TIDE_M_kyc_outbox, COUNT, "state=\"queued\"" },
    { TIDE_M_kyc_outbox, COUNT, "state=\"signed\"" },
    { TIDE_M_kyc_outbox, COUNT, "state=\"submitted\"" },
    { TIDE_M_kyc_outbox, COUNT, "state=\"parked\"" },
    { TIDE_M_kyc_outbox_oldest_seconds, WAIT, "" },
    { TIDE_M_attester_attention, COUNT, "" },
    { TIDE_M_attester_state, COUNT, "state=\"working\"" },
    { TIDE_M_attester_state, COUNT, "state=\"waiting\"" },
    { TIDE_M_attester_state, COUNT, "state=\"stopped\"" },
    { TIDE_M_attester_heartbeat_age_seconds, AGE, "" },
    { TIDE_M_attester_ledger, COUNT, "" },
    { TIDE_M_attester_balance_xlm, STROOPS, "" },
    { TIDE_M_attester_sent_total, COUNT, "" },
    { TIDE_M_attester_confirmed_total, COUNT, "" },
    { TIDE_M_attester_parked_total, COUNT, "" },
    { TIDE_M_attester_failures_total, COUNT, "" },
    { TIDE_M_attester_standing, COUNT, "" },
    { TIDE_M_attester_confirmed_timestamp_seconds, COUNT, "" },
    { TIDE_M_attester_failed_timestamp_seconds, COUNT, "" },
};
static_assert(TIDE_COUNT(samples) == WORKER_FIGURES, "room for each");

/* Each part uses an index of just its rows, because the tables are large. */
static const char inbox_sql[] =
    "SELECT n.*, f.* FROM (SELECT count(*),"
    "   max(greatest(0, (1000 * extract(epoch FROM clock_timestamp() - received_at))::bigint))"
    "   FROM kyc.inbox WHERE deployment = $1::smallint AND state = 'new') AS n,"
    " (SELECT count(*) FROM kyc.inbox WHERE deployment = $1::smallint AND state = 'failed') AS f";
static const char open_sql[] =
    "SELECT count(*) FILTER (WHERE state = 'created'), count(*) FILTER (WHERE state = 'pending'),"
    " count(*) FILTER (WHERE state = 'review'), count(*) FILTER (WHERE state = 'action_required')"
    " FROM kyc.session WHERE deployment = $1::smallint"
    " AND state IN ('created', 'pending', 'review', 'action_required')";
static const char ended_sql[] =
    "SELECT count(*) FILTER (WHERE state = 'approved'), count(*) FILTER (WHERE state = 'declined'),"
    " count(*) FILTER (WHERE state = 'expired'), count(*) FILTER (WHERE state = 'revoked')"
    " FROM kyc.session WHERE deployment = $1::smallint"
    " AND state IN ('approved', 'declined', 'expired', 'revoked')";
static const char outbox_sql[] =
    "SELECT o.queued, o.signed, o.submitted, p.*, o.oldest FROM"
    " (SELECT count(*) FILTER (WHERE state = 'queued') AS queued,"
    "   count(*) FILTER (WHERE state = 'signed') AS signed,"
    "   count(*) FILTER (WHERE state = 'submitted') AS submitted,"
    "   max(greatest(0, (1000 * extract(epoch FROM clock_timestamp() - created_at))::bigint))"
    "   AS oldest FROM kyc.outbox WHERE deployment = $1::smallint"
    "   AND state IN ('queued', 'signed', 'submitted')) AS o,"
    " (SELECT count(*) FROM kyc.outbox WHERE deployment = $1::smallint AND state = 'parked') AS p";
/* The attester's newest heartbeat counts: a replaced key leaves its row behind. */
static const char attester_sql[] =
    "SELECT o.*, a.* FROM (SELECT count(*) FROM kyc.outbox WHERE deployment = $1::smallint"
    "   AND attention IS NOT NULL AND attended_at IS NULL) AS o LEFT JOIN LATERAL"
    " (SELECT (state = 'working')::integer, (state = 'waiting')::integer,"
    "   (state = 'stopped')::integer,"
    "   greatest(0, (1000 * extract(epoch FROM clock_timestamp() - heartbeat_at))::bigint),"
    "   ledger, balance, sent, confirmed, parked, failures, standing,"
    "   coalesce(extract(epoch FROM confirmed_at)::bigint, 0),"
    "   coalesce(extract(epoch FROM failed_at)::bigint, 0) FROM kyc.attester"
    "   WHERE deployment = $1::smallint ORDER BY heartbeat_at DESC LIMIT 1) AS a ON true";

struct query {
    const char *sql;
    uint32_t columns;
    /* Ended sessions only become more, and counting them takes ever longer. */
    bool of_ended;
};
static const struct query queries[] = { { .sql = inbox_sql, .columns = 3 },
                                        { .sql = open_sql, .columns = 4 },
                                        { .sql = ended_sql, .columns = 4, .of_ended = true },
                                        { .sql = outbox_sql, .columns = 5 },
                                        { .sql = attester_sql, .columns = 14 } };

/* A value of -1 is NULL. */
static tide_status run_query(struct worker *w, const struct query *query, int64_t *out,
                             struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(w->context.pg, &rows, query->sql,
                                       (const char *[]){ w->context.deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.count == 1 && rows.columns == query->columns);
    for (uint32_t i = 0; i < query->columns; i++)
        out[i] = tide_pg_is_null(&rows, 0, i) ? -1 : (int64_t)tide_pg_u64(&rows, 0, i);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Publishes the figures together, so that /metrics never mixes two readings. */
tide_status worker_read_figures(struct worker *w, struct tide_err *err)
{
    assert(w->index == 0);
    struct worker_figures f = w->all->figures; /* only this thread writes them */
    int64_t *at = f.values, ended_due_ms = w->ended_due_ms;
    tide_status status = TIDE_OK;
    f.known = true;
    f.asked_ms = tide_kyc_now_ms(&w->context);
    for (size_t i = 0; i < TIDE_COUNT(queries) && status == TIDE_OK; at += queries[i++].columns) {
        int64_t began = tide_kyc_now_ms(&w->context);
        if (queries[i].of_ended && began < w->ended_due_ms)
            continue;
        status = run_query(w, &queries[i], at, err);
        int64_t now = tide_kyc_now_ms(&w->context), pause = (now - began) * ENDED_SHARE;
        if (queries[i].of_ended)
            ended_due_ms = now + (pause < ENDED_MS_MAX ? pause : ENDED_MS_MAX);
    }
    assert(status != TIDE_OK || at == f.values + WORKER_FIGURES);
    if (status != TIDE_OK)
        return status; /* nothing is published, so ended sessions are due again */
    w->ended_due_ms = ended_due_ms;
    pthread_mutex_lock(&w->all->mutex);
    w->all->figures = f;
    pthread_mutex_unlock(&w->all->mutex);
    return TIDE_OK;
}

/* Returns the value for /metrics of one that was read ago_ms before. */
static double value_of(int64_t value, enum unit unit, int64_t ago_ms)
{
    if (unit == STROOPS)
        return (double)value / 1e7;
    if (unit == COUNT || value < 0)
        return value < 0 ? 0 : (double)value;
    return (double)(value + ago_ms) / 1000;
}

void tide_kyc_workers_figures(struct tide_kyc_workers *workers, struct tide_buf *out,
                              int64_t now_ms)
{
    enum tide_metric last = TIDE_METRIC_COUNT;
    pthread_mutex_lock(&workers->mutex);
    struct worker_figures f = workers->figures;
    pthread_mutex_unlock(&workers->mutex);
    if (!f.known)
        return;
    tide_metric_gauge(out, TIDE_M_kyc_figures_age_seconds, (double)(now_ms - f.asked_ms) / 1000);
    for (size_t i = 0; i < WORKER_FIGURES; i++) {
        enum tide_metric metric = samples[i].metric;
        if (f.values[i] < 0 && samples[i].unit != WAIT)
            continue;
        if (metric != last)
            tide_metric_family(out, metric);
        tide_metric_real(out, metric, samples[i].labels,
                         value_of(f.values[i], samples[i].unit, now_ms - f.asked_ms));
        last = metric;
    }
}
