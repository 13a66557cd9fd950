/* What a worker reads and writes. Each change of a session is one transaction, with the intent for
 * the chain, the audit's row and the end of the webhook that led to it. */
#include "api/kyc/worker_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/text.h"

#include <stdio.h>

enum { SOON_S = 10 };

static void copy_text(char *to, size_t size, const struct tide_pg_rows *rows, uint32_t column)
{
    snprintf(to, size, "%s", tide_pg_text(rows, 0, column));
}

/* --- taking ---------------------------------------------------------------------------------- */

tide_status worker_take_event(struct worker *w, struct worker_event *out, bool *found,
                              struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        w->place.pg, &rows,
        "UPDATE kyc.inbox SET attempts = attempts + 1,"
        "  next_try = clock_timestamp() + interval '1 s' * least(900, 5 * 2 ^ least(attempts, 8))"
        " WHERE (provider, event_key) = (SELECT provider, event_key FROM kyc.inbox"
        "   WHERE provider = $1 AND state = 'new' AND next_try <= clock_timestamp()"
        "   ORDER BY next_try LIMIT 1 FOR UPDATE SKIP LOCKED)"
        " RETURNING event_key, provider_id, ref, attempts",
        (const char *[]){ w->provider->key }, 1, err);
    if (status != TIDE_OK)
        return status;
    *found = rows.count == 1;
    if (*found) {
        copy_text(out->key, sizeof out->key, &rows, 0);
        copy_text(out->provider_id, sizeof out->provider_id, &rows, 1);
        copy_text(out->ref, sizeof out->ref, &rows, 2);
        out->attempts = (uint32_t)tide_pg_u64(&rows, 0, 3);
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Columns: id, provider_id, clock_timestamp(), attempts. */
static void read_session(struct worker_session *out, const struct tide_pg_rows *rows)
{
    copy_text(out->id, sizeof out->id, rows, 0);
    copy_text(out->provider_id, sizeof out->provider_id, rows, 1);
    copy_text(out->taken_at, sizeof out->taken_at, rows, 2);
    out->attempts = (uint32_t)tide_pg_u64(rows, 0, 3);
}

tide_status worker_take_session(struct worker *w, struct worker_session *out, bool *found,
                                struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(w->place.pg, &rows,
                                       "UPDATE kyc.session SET attempts = attempts + 1, next_check "
                                       "= clock_timestamp() + interval '15 s'"
                                       " WHERE id = (SELECT id FROM kyc.session WHERE provider = "
                                       "$1 AND next_check <= clock_timestamp()"
                                       "   ORDER BY next_check LIMIT 1 FOR UPDATE SKIP LOCKED)"
                                       " RETURNING id, provider_id, clock_timestamp(), attempts",
                                       (const char *[]){ w->provider->key }, 1, err);
    if (status != TIDE_OK)
        return status;
    *found = rows.count == 1;
    if (*found)
        read_session(out, &rows);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

tide_status worker_find_session(struct worker *w, const struct worker_event *event,
                                struct worker_session *out, bool *found, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        w->place.pg, &rows,
        "SELECT id, coalesce(provider_id, $2), clock_timestamp(), attempts FROM kyc.session"
        " WHERE provider = $1 AND (provider_id = $2 OR ref = $3)"
        " ORDER BY provider_id IS NOT DISTINCT FROM $2 DESC, created_at DESC LIMIT 1",
        (const char *[]){ w->provider->key, event->provider_id[0] ? event->provider_id : NULL,
                          event->ref[0] ? event->ref : NULL },
        3, err);
    if (status != TIDE_OK)
        return status;
    *found = rows.count == 1;
    if (*found)
        read_session(out, &rows);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

tide_status worker_lock(struct worker *w, const struct worker_session *session, bool *held,
                        struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(w->place.pg, &rows, "SELECT pg_try_advisory_lock(7022, hashtext($1))",
                      (const char *[]){ session->id }, 1, err);
    if (status != TIDE_OK)
        return status;
    *held = tide_pg_bool(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

tide_status worker_unlock(struct worker *w, const struct worker_session *session,
                          struct tide_err *err)
{
    return tide_pg_query(w->place.pg, NULL, "SELECT pg_advisory_unlock(7022, hashtext($1))",
                         (const char *[]){ session->id }, 1, err);
}

/* --- putting off ------------------------------------------------------------------------------ */

tide_status worker_put_off_event(struct worker *w, const struct worker_event *event,
                                 uint32_t after_ms, const char *why, bool given_up,
                                 struct tide_err *err)
{
    char ms[WORKER_NUMBER_BYTES];
    snprintf(ms, sizeof ms, "%" PRIu32, after_ms);
    return tide_pg_query(
        w->place.pg, NULL,
        "UPDATE kyc.inbox SET state = CASE WHEN $5::boolean THEN 'failed' ELSE state END, "
        "last_error = $4,"
        "  next_try = clock_timestamp() + interval '1 ms' * $3::integer"
        " WHERE provider = $1 AND event_key = $2 AND state = 'new'",
        (const char *[]){ w->provider->key, event->key, ms, why, given_up ? "true" : "false" }, 5,
        err);
}

tide_status worker_put_off_session(struct worker *w, const struct worker_session *session,
                                   uint32_t after_ms, const char *why, struct tide_err *err)
{
    char ms[WORKER_NUMBER_BYTES];
    snprintf(ms, sizeof ms, "%" PRIu32, after_ms);
    return tide_pg_query(w->place.pg, NULL,
                         "UPDATE kyc.session SET last_error = $3,"
                         "  next_check = clock_timestamp() + interval '1 ms' * $2::integer"
                         " WHERE id = $1",
                         (const char *[]){ session->id, ms, why }, 3, err);
}

/* Ends the transaction: commits what went well, undoes the rest. */
static tide_status finish(struct worker *w, tide_status status, struct tide_err *err)
{
    if (status == TIDE_OK)
        status = tide_kyc_commit(&w->place, err);
    if (status != TIDE_OK)
        tide_kyc_rollback(&w->place);
    return status;
}

tide_status worker_ignore(struct worker *w, const struct worker_event *event, struct tide_err *err)
{
    tide_status status = tide_kyc_begin(&w->place, err);
    if (status == TIDE_OK)
        status = tide_pg_query(w->place.pg, NULL,
                               "UPDATE kyc.inbox SET state = 'ignored', last_error = 'no_session'"
                               " WHERE provider = $1 AND event_key = $2",
                               (const char *[]){ w->provider->key, event->key }, 2, err);
    if (status == TIDE_OK)
        status = tide_pg_query(
            w->place.pg, NULL,
            "SELECT kyc.note('worker', 'webhook.ignored', $1,"
            "                jsonb_build_object('event', $2::text, 'why', 'no_session'))",
            (const char *[]){ w->provider->key, event->key }, 2, err);
    return finish(w, status, err);
}

/* --- applying --------------------------------------------------------------------------------- */

/* The session's row, locked. */
struct row {
    struct tide_kyc_standing standing;
    char deployment[WORKER_NUMBER_BYTES];
    char address[64];
    uint32_t rev;
};

static int64_t number(const struct tide_pg_rows *rows, uint32_t column)
{
    return (int64_t)tide_pg_u64(rows, 0, column);
}

static tide_status read_row(struct worker *w, const struct worker_session *session, struct row *out,
                            struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        w->place.pg, &rows,
        "SELECT state, reason, round(extract(epoch FROM decision_at) * 1000)::bigint, jurisdiction,"
        "  extract(epoch FROM valid_until)::bigint, extract(epoch FROM attested_until)::bigint,"
        "  extract(epoch FROM created_at)::bigint, extract(epoch FROM expires_at)::bigint,"
        "  EXISTS (SELECT FROM kyc.outbox AS o WHERE o.session_id = s.id AND o.action = 'attest'"
        "          AND o.state <> 'superseded'),"
        "  decision_rev, deployment, address"
        " FROM kyc.session AS s WHERE id = $1 FOR UPDATE",
        (const char *[]){ session->id }, 1, err);
    if (status != TIDE_OK)
        return status;
    struct tide_kyc_standing *s = &out->standing;
    if (rows.count != 1 || !tide_kyc_state_of(tide_pg_slice(&rows, 0, 0), &s->state)) {
        tide_pg_rows_release(&rows);
        return tide_fail(err, TIDE_E_MISSING, "kyc: session %s is gone", session->id);
    }
    copy_text(s->reason, sizeof s->reason, &rows, 1);
    s->decided_ms = number(&rows, 2);
    s->jurisdiction = (uint32_t)number(&rows, 3);
    s->valid_until = number(&rows, 4);
    s->attested_until = number(&rows, 5);
    s->created_at = number(&rows, 6);
    s->expires_at = number(&rows, 7);
    s->attested = tide_pg_bool(&rows, 0, 8);
    out->rev = (uint32_t)tide_pg_u64(&rows, 0, 9);
    copy_text(out->deployment, sizeof out->deployment, &rows, 10);
    copy_text(out->address, sizeof out->address, &rows, 11);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* NULL for 0. */
static const char *decimal(char out[WORKER_NUMBER_BYTES], int64_t value)
{
    snprintf(out, WORKER_NUMBER_BYTES, "%" PRId64, value);
    return value ? out : NULL;
}

struct texts {
    char n[8][WORKER_NUMBER_BYTES];
};

static tide_status write_session(struct worker *w, const struct worker_session *session,
                                 const struct row *row, const struct tide_kyc_plan *plan,
                                 uint32_t wait_s, struct tide_err *err)
{
    struct texts t;
    bool moved = plan->outcome == TIDE_KYC_MOVED;
    const char *values[] = {
        session->id,
        tide_kyc_state_text(plan->state),
        plan->reason[0] ? plan->reason : NULL,
        decimal(t.n[0], row->rev + moved),
        decimal(t.n[1], plan->decided_ms),
        decimal(t.n[2], plan->jurisdiction),
        decimal(t.n[3], plan->valid_until),
        decimal(t.n[4], plan->attested_until),
        session->provider_id[0] ? session->provider_id : NULL,
        decimal(t.n[5], wait_s),
        moved ? "true" : "false",
    };
    return tide_pg_query(
        w->place.pg, NULL,
        "UPDATE kyc.session SET state = $2, reason = $3, decision_rev = coalesce($4::integer, 0),"
        "  decision_at = to_timestamp($5::bigint / 1000.0), jurisdiction = $6::integer,"
        "  valid_until = to_timestamp($7::bigint), attested_until = to_timestamp($8::bigint),"
        "  provider_id = coalesce(provider_id, $9),"
        "  next_check = clock_timestamp() + interval '1 s' * $10::integer,"
        "  attempts = 0, last_error = NULL,"
        "  updated_at = CASE WHEN $11::boolean THEN clock_timestamp() ELSE updated_at END"
        " WHERE id = $1",
        values, TIDE_COUNT(values), err);
}

/* What the attester is to do, if anything. A revocation repeats what it takes back. */
static tide_status write_intent(struct worker *w, const struct worker_session *session,
                                const struct row *row, const struct tide_kyc_plan *plan,
                                struct tide_err *err)
{
    struct texts t;
    uint8_t hash[TIDE_HASH_BYTES];
    char meta[2 * TIDE_HASH_BYTES + 3] = "\\x";
    bool attest = plan->action == TIDE_KYC_ATTEST;
    if (plan->action == TIDE_KYC_NO_ACTION)
        return TIDE_OK;
    tide_kyc_meta_hash(hash, w->all->options.settings->metadata_key, w->provider->key,
                       session->provider_id, row->rev + 1);
    tide_hex(meta + 2, tide_slice_of(hash, sizeof hash));
    meta[sizeof meta - 1] = 0;
    int64_t country = attest ? plan->jurisdiction : row->standing.jurisdiction;
    const char *values[] = {
        row->deployment,
        row->address,
        session->id,
        decimal(t.n[0], row->rev + 1),
        attest ? "attest" : "revoke",
        decimal(t.n[1], country),
        decimal(t.n[2], plan->attested_until),
        meta,
    };
    return tide_pg_query(w->place.pg, NULL,
                         "INSERT INTO kyc.outbox (deployment, subject, session_id, decision_rev,"
                         "  action, jurisdiction, expires_at, meta_hash)"
                         " VALUES ($1, $2, $3, $4::integer, $5, $6::integer, $7::bigint, $8)",
                         values, TIDE_COUNT(values), err);
}

static const char *outcome_text(enum tide_kyc_outcome outcome)
{
    static const char *const texts[] = { "same", "stale", "moved" };
    return texts[outcome];
}

/* What was decided; never where somebody lives. */
static tide_status write_note(struct worker *w, const struct worker_session *session,
                              const struct worker_event *event, const struct row *row,
                              const struct tide_kyc_plan *plan, struct tide_err *err)
{
    static const char *const actions[] = { NULL, "attest", "revoke" };
    char rev[WORKER_NUMBER_BYTES];
    bool moved = plan->outcome == TIDE_KYC_MOVED;
    if (!event && !moved)
        return TIDE_OK;
    snprintf(rev, sizeof rev, "%" PRIu32, row->rev + moved);
    const char *values[] = { session->id,
                             tide_kyc_state_text(row->standing.state),
                             tide_kyc_state_text(plan->state),
                             plan->reason[0] ? plan->reason : NULL,
                             rev,
                             actions[plan->action],
                             event ? event->key : NULL,
                             moved ? "decision" : "webhook",
                             outcome_text(plan->outcome) };
    return tide_pg_query(
        w->place.pg, NULL,
        "SELECT kyc.note('worker', $8::text || '.' || $9::text, $1, "
        "jsonb_strip_nulls(jsonb_build_object("
        "  'from', $2::text, 'to', $3::text, 'reason', $4::text, 'rev', $5::integer,"
        "  'action', $6::text, 'event', $7::text)))",
        values, TIDE_COUNT(values), err);
}

/* The webhook is at its end, and so are those of the same person that came before we asked. */
static tide_status end_events(struct worker *w, const struct worker_session *session,
                              const struct worker_event *event, struct tide_err *err)
{
    return tide_pg_query(
        w->place.pg, NULL,
        "UPDATE kyc.inbox SET state = 'done', last_error = NULL WHERE provider = $1"
        "  AND (event_key = $2 OR state = 'new' AND provider_id = $3 AND received_at < "
        "$4::timestamptz)",
        (const char *[]){ w->provider->key, event ? event->key : NULL,
                          session->provider_id[0] ? session->provider_id : NULL,
                          session->taken_at },
        4, err);
}

tide_status worker_apply(struct worker *w, const struct worker_session *session,
                         const struct worker_event *event, const struct tide_kyc_decision *decision,
                         struct tide_kyc_plan *plan, struct tide_err *err)
{
    struct row row;
    const struct tide_kyc_workers_options *options = &w->all->options;
    int64_t now = worker_wall_s(w);
    tide_status status = tide_kyc_begin(&w->place, err);
    if (status == TIDE_OK)
        status = read_row(w, session, &row, err);
    if (status == TIDE_OK) {
        tide_kyc_weigh(plan, &row.standing, decision, options->settings->attestation_days * 86400u,
                       now);
        uint32_t wait =
            tide_kyc_ask_again(plan, &row.standing, options->reconcile_s, worker_chance(w), now);
        bool lags = event && plan->outcome == TIDE_KYC_SAME && tide_kyc_is_open(plan->state);
        wait = lags && wait > SOON_S ? SOON_S : wait;
        status = write_session(w, session, &row, plan, wait, err);
    }
    if (status == TIDE_OK)
        status = write_intent(w, session, &row, plan, err);
    (void)TIDE_FAILPOINT("kyc.decision_half");
    if (status == TIDE_OK)
        status = write_note(w, session, event, &row, plan, err);
    if (status == TIDE_OK && (event || decision))
        status = end_events(w, session, event, err);
    return finish(w, status, err);
}
