/* The transaction of a decision: the session, the intent for the chain, the audit row and the end
 * of the webhook are written together or not at all. */
#include "api/base/intent.h"
#include "api/kyc/worker/worker_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/text.h"

#include <stdio.h>

enum { SOON_S = 10, META_BYTES = WORKER_META_BYTES };

/* The locked session's row, and the content of another approval of its address. */
struct session_row {
    struct tide_kyc_standing standing;
    char deployment[WORKER_NUMBER_BYTES];
    char address[64];
    char provider_id[TIDE_KYC_ID_BYTES];
    uint32_t rev;
    struct {
        char id[WORKER_SESSION_BYTES]; /* id of the other approval's session */
        int64_t jurisdiction, expires_at;
        char meta[META_BYTES];
    } other;
    char recalled[META_BYTES]; /* hash of the approval's attestation on the chain; "": none */
};

static int64_t number(const struct tide_pg_rows *rows, uint32_t column)
{
    return (int64_t)tide_pg_u64(rows, 0, column);
}

/* Takes the address's lock until the end of the transaction, so that what it reads of other
 * sessions of the address stays true. Taken before any row lock, so no deadlock is possible. */
static tide_status lock_address(struct worker *w, const struct worker_session *session,
                                struct tide_err *err)
{
    return tide_pg_query(w->context.pg, NULL,
                         "SELECT pg_advisory_xact_lock(7024, hashtext(deployment || ref))"
                         " FROM kyc.session WHERE id = $1",
                         (const char *[]){ session->id }, 1, err);
}

/* Reads and locks the session's row. TIDE_E_CONFLICT: the row names another person than the one
 * that the provider was asked about. */
static tide_status read_row(struct worker *w, const struct worker_session *session,
                            struct session_row *out, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        w->context.pg, &rows,
        "SELECT state, reason, round(extract(epoch FROM decision_at) * 1000)::bigint, jurisdiction,"
        "  extract(epoch FROM valid_until)::bigint, extract(epoch FROM attested_until)::bigint,"
        "  extract(epoch FROM created_at)::bigint, extract(epoch FROM expires_at)::bigint,"
        "  EXISTS (SELECT FROM kyc.outbox AS o WHERE o.session_id = s.id AND o.action = 'attest'"
        "          AND o.state <> 'superseded'),"
        "  decision_rev, deployment, address, provider_id,"
        "  (SELECT round(extract(epoch FROM max(r.ordered_at)) * 1000)::bigint"
        "   FROM kyc.revocation AS r JOIN kyc.session AS b ON b.id = r.session_id"
        "   WHERE b.deployment = s.deployment AND b.address = s.address)"
        " FROM kyc.session AS s WHERE id = $1 FOR UPDATE",
        (const char *[]){ session->id }, 1, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.columns == 14 && rows.count <= 1);
    struct tide_kyc_standing *s = &out->standing;
    if (rows.count != 1 || !tide_kyc_state_of(tide_pg_slice(&rows, 0, 0), &s->state)) {
        tide_pg_rows_release(&rows);
        return tide_fail(err, TIDE_E_MISSING, "kyc: session %s no longer exists", session->id);
    }
    worker_copy_text(s->reason, sizeof s->reason, &rows, 1);
    s->decided_ms = number(&rows, 2);
    s->jurisdiction = (uint32_t)number(&rows, 3);
    s->valid_until = number(&rows, 4);
    s->attested_until = number(&rows, 5);
    s->created_at = number(&rows, 6);
    s->expires_at = number(&rows, 7);
    s->attested = tide_pg_bool(&rows, 0, 8);
    out->rev = (uint32_t)tide_pg_u64(&rows, 0, 9);
    worker_copy_text(out->deployment, sizeof out->deployment, &rows, 10);
    worker_copy_text(out->address, sizeof out->address, &rows, 11);
    worker_copy_text(out->provider_id, sizeof out->provider_id, &rows, 12);
    s->ordered_ms = number(&rows, 13);
    tide_pg_rows_release(&rows);
    bool same = strcmp(out->address, session->address) == 0 &&
                (!out->provider_id[0] || strcmp(out->provider_id, session->provider_id) == 0);
    return same ? TIDE_OK
                : tide_fail(err, TIDE_E_CONFLICT,
                            "kyc: session %s got another person at the provider", session->id);
}

/* Columns of a stored intent, in the order that find_genuine needs. */
#define INTENT_COLUMNS                                                                 \
    "o.deployment, o.subject, o.session_id, o.decision_rev, o.action, o.jurisdiction," \
    " o.expires_at, o.meta_hash, o.mac"
enum { INTENT_MAC = TIDE_INTENT_FIELDS };
static_assert(INTENT_MAC == 8, "INTENT_COLUMNS has a column for each field, then the MAC");

/* Returns the first row that KYC has signed, of rows of INTENT_COLUMNS, or rows.count. A row counts
 * only with a valid MAC, because the database login can insert rows. */
static uint32_t find_genuine(const struct worker *w, const struct tide_pg_rows *rows)
{
    assert(rows->columns > INTENT_MAC);
    for (uint32_t at = 0; at < rows->count; at++) {
        const char *fields[TIDE_INTENT_FIELDS];
        uint8_t mac[TIDE_HASH_BYTES];
        for (uint32_t i = 0; i < TIDE_INTENT_FIELDS; i++)
            fields[i] = tide_pg_text(rows, at, i);
        if (tide_pg_bytes(rows, at, INTENT_MAC, mac, sizeof mac) &&
            tide_intent_genuine(mac, sizeof mac, w->context.settings->intent_key,
                                w->context.network_id, fields))
            return at;
    }
    return rows->count;
}

/* Reads the newest other approval of the address that stands. An approval stands if it has not run
 * out, its provider still knows the person, its attestation is not parked, and people have not
 * ordered to revoke it. Two sessions of one person at one provider are one check and do not count.
 * The other approval replaces this one on the chain only if the chain had it once: only then the
 * chain surely accepts it again. */
static tide_status read_other(struct worker *w, const struct worker_session *session,
                              struct session_row *row, int64_t now, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        w->context.pg, &rows,
        "SELECT " INTENT_COLUMNS ", o.state = 'confirmed'"
        " FROM kyc.session AS s JOIN kyc.session AS b ON b.deployment = s.deployment"
        "   AND b.address = s.address AND b.id <> s.id"
        " JOIN kyc.outbox AS o ON o.session_id = b.id AND o.decision_rev = b.decision_rev"
        " WHERE s.id = $1 AND b.state = 'approved' AND b.reason IS NULL"
        "   AND (b.provider, b.provider_id) IS DISTINCT FROM (s.provider, s.provider_id)"
        "   AND o.action = 'attest' AND o.state <> 'parked' AND o.expires_at > $2::bigint"
        "   AND NOT EXISTS (SELECT FROM kyc.outbox AS n WHERE n.session_id = b.id"
        "     AND n.decision_rev > o.decision_rev AND n.genuine IS NOT FALSE)"
        "   AND NOT EXISTS (SELECT FROM kyc.revocation AS r WHERE r.session_id = b.id"
        "     AND r.done_at IS NULL)"
        " ORDER BY o.genuine IS NOT FALSE DESC, o.id DESC LIMIT 16",
        (const char *[]){ session->id, TIDE_PG_NUMBER(now) }, 2, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.columns == INTENT_MAC + 2);
    uint32_t at = find_genuine(w, &rows);
    if (at < rows.count) {
        row->standing.other = tide_pg_bool(&rows, at, INTENT_MAC + 1);
        snprintf(row->other.id, sizeof row->other.id, "%s",
                 tide_pg_text(&rows, at, TIDE_INTENT_SESSION));
        row->other.jurisdiction = (int64_t)tide_pg_u64(&rows, at, TIDE_INTENT_JURISDICTION);
        row->other.expires_at = (int64_t)tide_pg_u64(&rows, at, TIDE_INTENT_EXPIRES);
        snprintf(row->other.meta, sizeof row->other.meta, "%s",
                 tide_pg_text(&rows, at, TIDE_INTENT_META));
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Finds out two things. longer: the chain may hold an attestation that another approval handed over
 * to this session while this session's own attestation never got to the chain. flood: the provider
 * has used up its revocations of this hour; orders of people have their own limit. Concurrent
 * transactions may not see each other's last revocation, so the limit can be exceeded by the number
 * of nodes. */
static tide_status read_outbox(struct worker *w, const struct worker_session *session,
                               struct session_row *row, int64_t now, struct tide_err *err)
{
    struct tide_pg_rows rows;
    const char *const values[] = {
        session->id,       row->deployment,
        row->address,      TIDE_PG_NUMBER(now),
        session->provider, TIDE_PG_NUMBER(w->all->options.settings->revocations_per_hour)
    };
    tide_status status = tide_pg_query(
        w->context.pg, &rows,
        "SELECT EXISTS (SELECT FROM kyc.outbox AS o JOIN kyc.session AS p ON p.id = o.session_id"
        " WHERE o.deployment = $2 AND o.subject = $3 AND o.session_id <> $1 AND o.action = 'attest'"
        "   AND o.state <> 'superseded' AND o.expires_at > $4::bigint"
        "   AND (p.state <> 'approved' OR p.reason IS NOT NULL)"
        "   AND NOT EXISTS (SELECT FROM kyc.outbox AS n WHERE n.deployment = o.deployment"
        "     AND n.subject = o.subject AND n.id > o.id AND n.state = 'confirmed')),"
        " (SELECT count(*) >= $6::bigint FROM (SELECT FROM kyc.outbox AS o"
        "  JOIN kyc.session AS s ON s.id = o.session_id WHERE o.action = 'revoke'"
        "   AND o.created_at > clock_timestamp() - interval '1 hour' AND o.reason IS DISTINCT FROM"
        "   'manual_review' AND o.deployment = $2 AND s.provider = $5"
        "   AND s.reason IS DISTINCT FROM 'operator' LIMIT $6::bigint) AS x)",
        values, TIDE_COUNT(values), err);
    if (status != TIDE_OK)
        return status;
    row->standing.longer = tide_pg_bool(&rows, 0, 0);
    row->standing.flood = tide_pg_bool(&rows, 0, 1);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Reads everything that a decision is weighed against. The other approvals matter only if this
 * session may change the chain. */
static tide_status read_standing(struct worker *w, const struct worker_session *session,
                                 struct session_row *row, int64_t now, struct tide_err *err)
{
    tide_status status = lock_address(w, session, err);
    if (status == TIDE_OK)
        status = read_row(w, session, row, err);
    if (status != TIDE_OK || (row->standing.state != TIDE_KYC_APPROVED && !row->standing.attested))
        return status;
    status = read_other(w, session, row, now, err);
    return status == TIDE_OK ? read_outbox(w, session, row, now, err) : status;
}

/* The number as a value of a statement; 0 is SQL NULL. */
#define NUMBER_OR_NULL(number) ((number) ? TIDE_PG_NUMBER(number) : NULL)

/* Writes the plan into the session's row. The link to the provider's page is kept only while the
 * session is open. */
static tide_status write_session(struct worker *w, const struct worker_session *session,
                                 const struct session_row *row, const struct tide_kyc_plan *plan,
                                 uint32_t wait_s, struct tide_err *err)
{
    bool moved = plan->outcome == TIDE_KYC_MOVED;
    const char *values[] = {
        session->id,
        tide_kyc_state_text(plan->state),
        plan->reason[0] ? plan->reason : NULL,
        NUMBER_OR_NULL(row->rev + moved),
        NUMBER_OR_NULL(plan->decided_ms),
        NUMBER_OR_NULL(plan->jurisdiction),
        NUMBER_OR_NULL(plan->valid_until),
        NUMBER_OR_NULL(plan->attested_until),
        session->provider_id[0] ? session->provider_id : NULL,
        NUMBER_OR_NULL(wait_s),
        TIDE_PG_BOOL(moved),
        TIDE_PG_BOOL(tide_kyc_is_open(plan->state)),
    };
    static_assert(TIDE_COUNT(values) == 12, "$1 to $12");
    return tide_pg_query(
        w->context.pg, NULL,
        "UPDATE kyc.session SET state = $2, reason = $3, decision_rev = coalesce($4::integer, 0),"
        "  decision_at = to_timestamp($5::bigint / 1000.0), jurisdiction = $6::integer,"
        "  valid_until = to_timestamp($7::bigint), attested_until = to_timestamp($8::bigint),"
        "  provider_id = coalesce(provider_id, $9),"
        "  next_check = clock_timestamp() + interval '1 s' * $10::integer,"
        "  hosted_url = CASE WHEN $12::boolean THEN hosted_url END,"
        "  hosted_until = CASE WHEN $12::boolean THEN hosted_until END,"
        "  attempts = 0, last_error = NULL,"
        "  updated_at = CASE WHEN $11::boolean THEN clock_timestamp() ELSE updated_at END"
        " WHERE id = $1",
        values, TIDE_COUNT(values), err);
}

/* Writes the keyed hash of this decision for the attestation. */
static void put_meta(char out[META_BYTES], const struct worker *w,
                     const struct worker_session *session, uint32_t rev)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_kyc_meta_hash(hash, w->all->options.settings->metadata_key, session->provider,
                       session->provider_id, rev);
    tide_bytea_text(out, tide_slice_of(hash, sizeof hash));
}

/* Signs the fields and inserts the intent. parked: why a person must release it; NULL: it is
 * queued. */
static tide_status insert_intent(struct worker *w, const char *const fields[TIDE_INTENT_FIELDS],
                                 const char *parked, struct tide_err *err)
{
    uint8_t mac[TIDE_HASH_BYTES];
    const char *values[TIDE_INTENT_FIELDS + 4];
    static_assert(TIDE_COUNT(values) == 12, "$1 to $12");
    for (uint32_t i = 0; i < TIDE_INTENT_FIELDS; i++)
        assert(fields[i]); /* the MAC covers each */
    tide_intent_mac(mac, w->context.settings->intent_key, w->context.network_id, fields);
    memcpy(values, fields, TIDE_INTENT_FIELDS * sizeof *fields);
    values[TIDE_INTENT_FIELDS] = TIDE_PG_HASH(mac);
    values[TIDE_INTENT_FIELDS + 1] = parked ? "parked" : "queued";
    values[TIDE_INTENT_FIELDS + 2] = parked ? "manual_review" : NULL;
    values[TIDE_INTENT_FIELDS + 3] = parked;
    return tide_pg_query(
        w->context.pg, NULL,
        "INSERT INTO kyc.outbox (deployment, subject, session_id, decision_rev, action,"
        "  jurisdiction, expires_at, meta_hash, mac, state, reason, last_status)"
        " VALUES ($1, $2, $3, $4::integer, $5, $6::integer, $7::bigint, $8::bytea, $9::bytea,"
        "  $10, $11, $12)",
        values, TIDE_COUNT(values), err);
}

/* Reuses the hash of the session's last intent with the same content: the attester then sends
 * nothing if the chain has that attestation already. */
static tide_status reuse_meta(struct worker *w, const struct worker_session *session,
                              const char *jurisdiction, const char *expires_at,
                              char meta[META_BYTES], struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        w->context.pg, &rows,
        "SELECT " INTENT_COLUMNS " FROM kyc.outbox AS o WHERE o.session_id = $1"
        "   AND o.action = 'attest' AND o.jurisdiction = $2::integer AND o.expires_at = $3::bigint"
        " ORDER BY o.genuine IS NOT FALSE DESC, o.decision_rev DESC LIMIT 16",
        (const char *[]){ session->id, jurisdiction, expires_at }, 3, err);
    if (status != TIDE_OK)
        return status;
    uint32_t at = find_genuine(w, &rows);
    if (at < rows.count)
        snprintf(meta, META_BYTES, "%s", tide_pg_text(&rows, at, TIDE_INTENT_META));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Writes the intent for the attester, if the plan has an action. A revocation repeats the content
 * of the attestation that it takes back. A handed-over attestation has the content and the hash of
 * the other approval, and an unchanged attestation keeps its own: the attester then sends nothing
 * if the chain already has it. A parked intent is sent only after a person releases it. */
static tide_status write_intent(struct worker *w, const struct worker_session *session,
                                const struct session_row *row, const struct tide_kyc_plan *plan,
                                struct tide_err *err)
{
    char meta[META_BYTES];
    bool hand_over = plan->action == TIDE_KYC_HAND_OVER, attest = plan->action == TIDE_KYC_ATTEST;
    if (plan->action == TIDE_KYC_NO_ACTION)
        return TIDE_OK;
    assert(plan->outcome == TIDE_KYC_MOVED);
    assert(!hand_over || row->standing.other);
    assert(!attest || plan->jurisdiction);
    int64_t country = hand_over ? row->other.jurisdiction
                      : attest  ? plan->jurisdiction
                                : row->standing.jurisdiction;
    const char *country_text = TIDE_PG_NUMBER(country),
               *end = TIDE_PG_NUMBER(hand_over ? row->other.expires_at : plan->attested_until);
    put_meta(meta, w, session, row->rev + 1);
    tide_status status = attest ? reuse_meta(w, session, country_text, end, meta, err) : TIDE_OK;
    if (attest && row->recalled[0])
        memcpy(meta, row->recalled, sizeof row->recalled);
    const char *fields[TIDE_INTENT_FIELDS] = { row->deployment,
                                               row->address,
                                               session->id,
                                               TIDE_PG_NUMBER(row->rev + 1),
                                               attest || hand_over ? "attest" : "revoke",
                                               country_text,
                                               end,
                                               hand_over ? row->other.meta : meta };
    return status == TIDE_OK ? insert_intent(w, fields, plan->parked[0] ? plan->parked : NULL, err)
                             : status;
}

/* Queues the other approval's attestation again, behind this revocation: the chain never had it. */
static tide_status write_other(struct worker *w, const struct session_row *row,
                               struct tide_err *err)
{
    assert(row->other.id[0]); /* other_follows */
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(w->context.pg, &rows,
                                       "UPDATE kyc.session SET decision_rev = decision_rev + 1"
                                       " WHERE id = $1 RETURNING decision_rev",
                                       (const char *[]){ row->other.id }, 1, err);
    if (status != TIDE_OK)
        return status;
    bool found = rows.count == 1;
    const char *rev = TIDE_PG_NUMBER(found ? number(&rows, 0) : 0);
    tide_pg_rows_release(&rows);
    const char *fields[TIDE_INTENT_FIELDS] = { row->deployment,
                                               row->address,
                                               row->other.id,
                                               rev,
                                               "attest",
                                               TIDE_PG_NUMBER(row->other.jurisdiction),
                                               TIDE_PG_NUMBER(row->other.expires_at),
                                               row->other.meta };
    return found ? insert_intent(w, fields, NULL, err) : TIDE_OK;
}

/* True if the revocation must be followed by the other approval's attestation. */
static bool other_follows(const struct session_row *row, const struct tide_kyc_plan *plan)
{
    return plan->action == TIDE_KYC_REVOKE && !plan->parked[0] && row->other.id[0];
}

static const char *outcome_text(enum tide_kyc_outcome outcome)
{
    static const char *const texts[] = { "same", "stale", "moved" };
    static_assert(TIDE_COUNT(texts) == TIDE_KYC_MOVED + 1, "a text for each outcome");
    assert(outcome < TIDE_COUNT(texts));
    return texts[outcome];
}

/* Writes the audit row. The row never contains the person's country. */
static tide_status write_audit(struct worker *w, const struct worker_session *session,
                               const struct worker_event *event, const struct session_row *row,
                               bool ordered, const struct tide_kyc_plan *plan, struct tide_err *err)
{
    static const char *const actions[] = { NULL, "attest", "revoke", "attest" };
    static_assert(TIDE_COUNT(actions) == TIDE_KYC_HAND_OVER + 1, "a text for each action");
    assert(plan->action < TIDE_COUNT(actions));
    const char *because = other_follows(row, plan)             ? "another_approval_follows"
                          : plan->action == TIDE_KYC_HAND_OVER ? "another_approval_stands"
                          : ordered                            ? "people_ordered"
                          : plan->parked[0]                    ? "a_person_decides"
                                                               : NULL;
    bool moved = plan->outcome == TIDE_KYC_MOVED;
    if (!event && !moved)
        return TIDE_OK;
    const char *values[] = { session->id,
                             tide_kyc_state_text(row->standing.state),
                             tide_kyc_state_text(plan->state),
                             plan->reason[0] ? plan->reason : NULL,
                             TIDE_PG_NUMBER(row->rev + moved),
                             actions[plan->action],
                             event ? event->key : NULL,
                             moved ? "decision" : "webhook",
                             outcome_text(plan->outcome),
                             because,
                             other_follows(row, plan) || plan->action == TIDE_KYC_HAND_OVER
                                 ? row->other.id
                                 : NULL };
    return tide_pg_query(
        w->context.pg, NULL,
        "SELECT kyc.note('worker', $8::text || '.' || $9::text, $1, "
        "jsonb_strip_nulls(jsonb_build_object("
        "  'from', $2::text, 'to', $3::text, 'reason', $4::text, 'rev', $5::integer,"
        "  'action', $6::text, 'event', $7::text, 'because', $10::text, 'other', $11::text)))",
        values, TIDE_COUNT(values), err);
}

/* Ends the webhook, and all webhooks about the same person that arrived before the provider was
 * asked: the answer covers them. */
static tide_status end_events(struct worker *w, const struct worker_session *session,
                              const struct worker_event *event, struct tide_err *err)
{
    return tide_pg_query(
        w->context.pg, NULL,
        "UPDATE kyc.inbox SET state = 'done', last_error = NULL WHERE deployment = $5::smallint"
        "  AND provider = $1 AND (event_key = $2 OR state = 'new' AND provider_id = $3"
        "    AND received_at < $4::timestamptz)",
        (const char *[]){ w->provider->key, event ? event->key : NULL,
                          session->provider_id[0] ? session->provider_id : NULL, session->taken_at,
                          w->context.deployment_text },
        5, err);
}

static tide_status end_order(struct worker *w, const struct worker_session *session,
                             struct tide_err *err)
{
    return tide_pg_query(w->context.pg, NULL, "SELECT kyc.revocation_done($1)",
                         (const char *[]){ session->id }, 1, err);
}

/* Makes the other sessions of the same person due: news about one concerns all. */
static tide_status wake_siblings(struct worker *w, const struct worker_session *session,
                                 struct tide_err *err)
{
    return tide_pg_query(w->context.pg, NULL,
                         "UPDATE kyc.session AS b SET next_check = clock_timestamp()"
                         " FROM kyc.session AS s WHERE s.id = $1 AND b.provider = s.provider"
                         "   AND b.provider_id = s.provider_id AND b.address = s.address"
                         "   AND b.deployment = s.deployment AND b.id <> s.id"
                         "   AND b.state IN ('created', 'pending', 'review', 'action_required',"
                         "                   'approved')",
                         (const char *[]){ session->id }, 1, err);
}

/* The failpoint in the middle lets a test kill the process there: nothing may be half written. */
tide_status worker_apply(struct worker *w, const struct worker_session *session,
                         const struct worker_event *event, const struct tide_kyc_decision *decision,
                         struct tide_kyc_plan *plan, struct tide_err *err)
{
    struct session_row row;
    const struct tide_kyc_context_options *options = &w->all->options;
    int64_t now = tide_kyc_now(&w->context);
    bool ordered = decision == &tide_kyc_ordered;
    tide_status status = tide_kyc_begin(&w->context, err);
    row = (struct session_row){ 0 };
    if (status == TIDE_OK)
        status = read_standing(w, session, &row, now, err);
    if (status == TIDE_OK) {
        tide_kyc_weigh(plan, &row.standing, decision, options->settings->attestation_days * 86400u,
                       now);
        status = worker_recall(w, session, plan, row.recalled, now, err);
    }
    if (status == TIDE_OK) {
        uint32_t wait = tide_kyc_next_check(plan, &row.standing, options->config->kyc_reconcile_s,
                                            tide_retry_chance(&w->thread.retry), now);
        /* A webhook announced news that the provider does not show yet: ask again soon. */
        bool lags = event && plan->outcome == TIDE_KYC_SAME && tide_kyc_is_open(plan->state);
        wait = lags && wait > SOON_S ? SOON_S : wait;
        status = write_session(w, session, &row, plan, wait, err);
    }
    if (status == TIDE_OK)
        status = write_intent(w, session, &row, plan, err);
    if (status == TIDE_OK && other_follows(&row, plan))
        status = write_other(w, &row, err);
    (void)TIDE_FAILPOINT("kyc.decision_half");
    if (status == TIDE_OK)
        status = write_audit(w, session, event, &row, ordered, plan, err);
    if (status == TIDE_OK && ordered)
        status = end_order(w, session, err);
    if (status == TIDE_OK && (event || plan->outcome == TIDE_KYC_MOVED))
        status = wake_siblings(w, session, err);
    if (status == TIDE_OK && (event || (decision && decision != &tide_kyc_gone && !ordered)))
        status = end_events(w, session, event, err);
    if (status == TIDE_OK)
        status = tide_kyc_commit(&w->context, err);
    if (status != TIDE_OK)
        tide_kyc_rollback(&w->context);
    return status;
}
