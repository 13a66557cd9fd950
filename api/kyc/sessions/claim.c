/* Finds the open session of a request, or makes one within the limits. */
#include "api/kyc/sessions/claim.h"
#include "tidemark/text.h"

#define LATER_KEYS_MAX "32" /* Idempotency-Keys that a session keeps besides its first one */

struct claim {
    struct tide_kyc_context *context;
    struct tide_kyc_session_request *ask;
    struct tide_kyc_session *out;
    struct tide_reply *reply;
    enum tide_kyc_claim how;
    bool decided;
};

static void decide_claim(struct claim *c, enum tide_kyc_claim how)
{
    assert(!c->decided || (c->how == TIDE_KYC_CLAIM_FOUND && how == TIDE_KYC_CLAIM_REFUSED));
    c->how = how;
    c->decided = true;
}

/* --- proof ------------------------------------------------------------------------------ */

/* Records the challenge's hash. *stored false: it was recorded before, or its record might be
 * deleted again. A record is deleted an hour after the challenge's end, by both clocks. A challenge
 * without a record must be refused even if one of the clocks is wrong: it could be used twice. */
static tide_status store_challenge(struct claim *c, const struct tide_kyc_proof *proof,
                                   bool *stored, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(c->context->pg, NULL,
                      "DELETE FROM kyc.challenge WHERE expires_at < least(statement_timestamp(),"
                      " to_timestamp($1::bigint)) - interval '1 hour'",
                      (const char *[]){ TIDE_PG_NUMBER(tide_kyc_now(c->context)) }, 1, err);
    if (status == TIDE_OK)
        status = tide_pg_query(
            c->context->pg, &rows,
            "INSERT INTO kyc.challenge SELECT $1::bytea, to_timestamp($2::bigint) WHERE"
            " to_timestamp($2::bigint) >= statement_timestamp() - interval '1 hour'"
            " ON CONFLICT DO NOTHING",
            (const char *[]){ TIDE_PG_HASH(proof->hash), TIDE_PG_NUMBER(proof->until) }, 2, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.affected <= 1);
    *stored = rows.affected == 1;
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Verifies the challenge and records it, so that it cannot be used twice. */
static tide_status use_challenge(struct claim *c, struct tide_err *err)
{
    assert(c->ask->envelope_len <= sizeof c->ask->envelope);
    struct tide_kyc_session_request *ask = c->ask;
    struct tide_kyc_challenger who = tide_kyc_challenger_of(c->context);
    struct tide_kyc_proof proof;
    const char *wrong = tide_kyc_challenge_read(&proof, &who, ask->key,
                                                tide_slice_of(ask->envelope, ask->envelope_len),
                                                (uint64_t)tide_kyc_now(c->context));
    if (!wrong)
        wrong = tide_kyc_proof_weigh(&proof, &ask->signers);
    if (wrong) {
        tide_reply_problem(c->reply, 401, "challenge_invalid", "The challenge is refused: %s.",
                           wrong);
        decide_claim(c, TIDE_KYC_CLAIM_REFUSED);
        return TIDE_OK;
    }
    bool stored;
    tide_status status = store_challenge(c, &proof, &stored, err);
    if (status == TIDE_OK && !stored) {
        tide_reply_problem(c->reply, 401, "challenge_used",
                           "This challenge was used before, or has ended by the database's clock:"
                           " get a new one.");
        decide_claim(c, TIDE_KYC_CLAIM_REFUSED);
    }
    return status;
}

/* --- existing sessions ------------------------------------------------------------------ */

static bool is_same_request(const struct tide_kyc_session *session,
                            const struct tide_kyc_session_request *ask)
{
    return strcmp(session->address, ask->address) == 0 &&
           strcmp(session->provider, ask->provider->key) == 0 && session->mode == ask->mode;
}

/* Finds the session of the Idempotency-Key, also if that session has ended. The key with another
 * request gets 422. */
static tide_status find_by_key(struct claim *c, struct tide_err *err)
{
    const struct tide_kyc_session_query query = {
        "SELECT " TIDE_KYC_SESSION_COLUMNS
        " FROM kyc.session AS s WHERE s.deployment = $1::smallint AND (s.idempotency = $2::bytea"
        "  OR s.id = (SELECT k.session_id FROM kyc.session_key AS k"
        "    WHERE k.deployment = $1::smallint AND k.idempotency = $2::bytea))",
        (const char *[]){ c->context->deployment_text, TIDE_PG_HASH(c->ask->idempotency) }, 2
    };
    bool found;
    tide_status status = tide_kyc_session_query(c->context, &query, c->out, &found, err);
    if (status != TIDE_OK || !found)
        return status;
    decide_claim(c, TIDE_KYC_CLAIM_FOUND);
    if (!is_same_request(c->out, c->ask)) {
        tide_reply_problem(c->reply, 422, "idempotency_key_reused",
                           "This Idempotency-Key was used for another request.");
        decide_claim(c, TIDE_KYC_CLAIM_REFUSED);
    }
    return TIDE_OK;
}

/* Writes an audit row. The actor is the integrator, the address itself, or "anybody" (the file says
 * open). */
static tide_status write_audit(struct claim *c, const char *what, const char *id,
                               struct tide_err *err)
{
    const struct tide_kyc_session_request *ask = c->ask;
    char actor[16 + TIDE_KYC_WORD_BYTES];
    static_assert(sizeof "integrator " <= 16, "the actor fits");
    snprintf(actor, sizeof actor, "%s%s",
             ask->integrator[0]  ? "integrator "
             : ask->envelope_len ? "address"
                                 : "anybody",
             ask->integrator);
    return tide_pg_query(
        c->context->pg, NULL,
        "SELECT kyc.note($1, $2, $3, jsonb_build_object('provider', $4::text, 'mode', $5::text))",
        (const char *[]){ actor, what, id, ask->provider->key, tide_kyc_mode_text(ask->mode) }, 5,
        err);
}

/* Expires an open session that was not used in time. The row then no longer blocks a new
 * session. */
static tide_status close_old(struct claim *c, struct tide_err *err)
{
    tide_status status =
        tide_pg_query(c->context->pg, NULL,
                      "UPDATE kyc.session SET state = 'expired', reason = 'not_used',"
                      " hosted_url = NULL, hosted_until = NULL, next_check = NULL,"
                      " updated_at = clock_timestamp() WHERE id = $1",
                      (const char *[]){ c->out->id }, 1, err);
    return status == TIDE_OK ? write_audit(c, "session_expired", c->out->id, err) : status;
}

/* Stores the request's key for the open session that was found, so that a repetition gets the same
 * answer. Keeps only the newest keys: one session must not fill the table. */
static tide_status remember_key(struct claim *c, struct tide_err *err)
{
    assert(c->out->id[0]);
    if (!c->ask->keyed)
        return TIDE_OK;
    tide_status status =
        tide_pg_query(c->context->pg, NULL,
                      "WITH first AS (UPDATE kyc.session SET idempotency = $2::bytea"
                      "   WHERE id = $1 AND idempotency IS NULL RETURNING id)"
                      " INSERT INTO kyc.session_key (deployment, idempotency, session_id)"
                      " SELECT deployment, $2::bytea, id FROM kyc.session"
                      " WHERE id = $1 AND NOT EXISTS (SELECT FROM first)",
                      (const char *[]){ c->out->id, TIDE_PG_HASH(c->ask->idempotency) }, 2, err);
    if (status != TIDE_OK)
        return status;
    return tide_pg_query(c->context->pg, NULL,
                         "DELETE FROM kyc.session_key WHERE (deployment, idempotency) IN"
                         " (SELECT deployment, idempotency FROM kyc.session_key"
                         "  WHERE session_id = $1 ORDER BY created_at DESC OFFSET " LATER_KEYS_MAX
                         ")",
                         (const char *[]){ c->out->id }, 1, err);
}

/* Finds the open session of the same address, provider, integrator and mode, and locks its row. */
static tide_status find_open(struct claim *c, struct tide_err *err)
{
    const struct tide_kyc_session_request *ask = c->ask;
    const struct tide_kyc_session_query query = {
        "SELECT " TIDE_KYC_SESSION_COLUMNS " FROM kyc.session AS s"
        " WHERE s.deployment = $1::smallint AND s.address = $2 AND s.provider = $3"
        "  AND s.integrator = $4 AND s.mode = $5"
        "  AND s.state IN ('created', 'pending', 'review', 'action_required')"
        " FOR UPDATE",
        (const char *[]){ c->context->deployment_text, ask->address, ask->provider->key,
                          ask->integrator, tide_kyc_mode_text(ask->mode) },
        5
    };
    bool found;
    tide_status status = tide_kyc_session_query(c->context, &query, c->out, &found, err);
    if (status != TIDE_OK || !found)
        return status;
    if (tide_kyc_session_unused(c->out, tide_kyc_now(c->context)))
        return close_old(c, err);
    decide_claim(c, TIDE_KYC_CLAIM_FOUND);
    return remember_key(c, err);
}

/* --- limits ----------------------------------------------------------------------------- */

/* One limit: a query that counts new sessions, its parameters, and the largest count. */
struct budget {
    const char *sql;
    const char *of; /* $1 */
    const char *by; /* $3 */
    uint32_t limit;
};

/* Answers 429 if the budget is used up. Retry-After says when its oldest session leaves the
 * window. */
static tide_status check_budget(struct claim *c, const struct budget *b, struct tide_err *err)
{
    struct tide_pg_rows rows;
    if (c->decided)
        return TIDE_OK;
    tide_status status =
        tide_pg_query(c->context->pg, &rows, b->sql,
                      (const char *[]){ b->of, c->context->deployment_text, b->by }, 3, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.count == 1 && rows.columns == 2);
    if (tide_pg_u64(&rows, 0, 0) >= b->limit) {
        uint64_t wait = tide_pg_u64(&rows, 0, 1);
        tide_reply_problem(c->reply, 429, "too_many_sessions",
                           "The limit of %u new sessions is reached. See Retry-After.", b->limit);
        c->reply->retry_after_s = wait ? (uint32_t)wait : 1;
        decide_claim(c, TIDE_KYC_CLAIM_REFUSED);
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

#define COUNT(where, span)                                                       \
    "SELECT count(*), ceil(extract(epoch FROM min(created_at) + interval '" span \
    "' - clock_timestamp()))::bigint FROM kyc.session WHERE " where              \
    " AND deployment = $2::smallint AND created_at > statement_timestamp() - interval '" span "'"

static const char address_sql[] = COUNT("address = $1 AND integrator = $3", "1 day");
static const char integrator_sql[] = COUNT("integrator = $1 AND $3::text IS NOT NULL", "1 hour");
static const char network_sql[] = COUNT("network = $1::bytea AND integrator = $3", "1 hour");
static const char anonymous_sql[] = COUNT("provider = $1 AND integrator = $3", "1 hour");
static const char provider_sql[] = COUNT("provider = $1 AND integrator <> $3", "1 hour");

/* Checks the budgets: one for each integrator, one for sessions without an integrator, and of the
 * latter one for each client network. No client can use up the budget of another. */
static tide_status check_budgets(struct claim *c, struct tide_err *err)
{
    const struct tide_kyc_session_request *ask = c->ask;
    const struct tide_kyc_settings *settings = c->context->settings;
    const char *integrator = ask->integrator, *provider = ask->provider->key;
    char network[TIDE_BYTEA_BYTES(sizeof ask->network)];
    tide_bytea_text(network, tide_slice_of(ask->network, sizeof ask->network));
    const struct budget address = { address_sql, ask->address, integrator,
                                    settings->sessions_per_address_day };
    const struct budget integrator_budgets[] = {
        { integrator_sql, integrator, "", ask->sessions_per_hour },
        { provider_sql, provider, "", settings->sessions_per_hour },
    };
    const struct budget anonymous[] = {
        { network_sql, network, "", settings->anonymous_per_network_hour },
        { anonymous_sql, provider, "", settings->anonymous_per_hour },
    };
    static_assert(TIDE_COUNT(integrator_budgets) == TIDE_COUNT(anonymous), "one loop for both");
    const struct budget *budgets = ask->integrator[0] ? integrator_budgets : anonymous;
    tide_status status = check_budget(c, &address, err);
    for (size_t i = 0; i < TIDE_COUNT(integrator_budgets) && status == TIDE_OK; i++)
        status = check_budget(c, &budgets[i], err);
    return status;
}

/* --- a new session ---------------------------------------------------------------------- */

/* Inserts the row and reads it back as the database stored it. Only sessions without an integrator
 * keep the client's network. */
static tide_status insert_session(struct claim *c, struct tide_err *err)
{
    assert(c->ask->id[0] && c->ask->provider);
    const struct tide_kyc_session_request *ask = c->ask;
    char ref[TIDE_KYC_REF_BYTES], network[TIDE_BYTEA_BYTES(sizeof ask->network)];
    tide_kyc_reference(ref, c->context, ask->address);
    tide_bytea_text(network, tide_slice_of(ask->network, sizeof ask->network));
    const char *values[] = { ask->id,
                             c->context->deployment_text,
                             ask->address,
                             ask->provider->key,
                             ask->integrator,
                             tide_kyc_mode_text(ask->mode),
                             ref,
                             ask->keyed ? TIDE_PG_HASH(ask->idempotency) : NULL,
                             TIDE_PG_NUMBER(TIDE_KYC_SESSION_S),
                             ask->integrator[0] ? NULL : network };
    static_assert(TIDE_COUNT(values) == 10, "$1 to $10");
    tide_status status = tide_pg_query(
        c->context->pg, NULL,
        "INSERT INTO kyc.session (id, deployment, address, provider, integrator, mode, ref,"
        " idempotency, expires_at, network) VALUES ($1, $2::smallint, $3, $4, $5, $6, $7,"
        " $8::bytea, clock_timestamp() + interval '1 s' * $9::integer, $10::bytea)",
        values, TIDE_COUNT(values), err);
    if (status == TIDE_OK)
        status = write_audit(c, "session_created", ask->id, err);
    if (status == TIDE_OK)
        status = tide_kyc_session_get(c->context, ask->id, c->out, err);
    if (status == TIDE_OK)
        decide_claim(c, TIDE_KYC_CLAIM_MADE);
    return status;
}

/* Claims the session in an open transaction. The advisory lock lets one request at a time make
 * sessions, for a few statements. The limits are therefore exact, and two equal requests get one
 * session. */
static tide_status claim_in_transaction(struct claim *c, struct tide_err *err)
{
    assert(!c->decided);
    tide_status status = tide_kyc_begin(c->context, err);
    if (status == TIDE_OK)
        status = tide_pg_query(c->context->pg, NULL, "SELECT pg_advisory_xact_lock(7021, 51)", NULL,
                               0, err);
    if (status == TIDE_OK && c->ask->envelope_len)
        status = use_challenge(c, err);
    if (status == TIDE_OK && !c->decided && c->ask->keyed)
        status = find_by_key(c, err);
    if (status == TIDE_OK && !c->decided)
        status = find_open(c, err);
    if (status == TIDE_OK && !c->decided)
        status = check_budgets(c, err);
    if (status == TIDE_OK && !c->decided)
        status = insert_session(c, err);
    return status;
}

/* If an earlier run reached COMMIT, its session is read instead of claimed again. */
tide_status tide_kyc_claim(struct tide_kyc_context *context, struct tide_kyc_session_request *ask,
                           struct tide_kyc_session *out, enum tide_kyc_claim *how,
                           struct tide_reply *reply, struct tide_err *err)
{
    struct claim c = { .context = context, .ask = ask, .out = out, .reply = reply };
    *how = ask->claimed && !ask->made ? TIDE_KYC_CLAIM_FOUND : TIDE_KYC_CLAIM_MADE;
    if (ask->claimed) {
        tide_status before = tide_kyc_session_get(context, ask->id, out, err);
        if (before != TIDE_E_MISSING)
            return before;
    }
    tide_status status = claim_in_transaction(&c, err);
    *how = c.how;
    if (status != TIDE_OK)
        return status;
    assert(c.decided);
    if (c.how == TIDE_KYC_CLAIM_REFUSED) {
        tide_kyc_rollback(context); /* other requests wait for its advisory lock */
        return TIDE_OK;
    }
    /* Remember the new id before COMMIT: if the answer to COMMIT is lost, the next run looks for
     * that row. */
    ask->claimed = ask->made = c.how == TIDE_KYC_CLAIM_MADE;
    status = tide_kyc_commit(context, err);
    if (status != TIDE_OK)
        return status;
    ask->claimed = true; /* a repeated run must not ask for the challenge again */
    static_assert(sizeof ask->id == sizeof out->id, "copied whole");
    assert(strlen(out->id) == sizeof ask->id - 1); /* tide_kyc_session_query */
    memcpy(ask->id, out->id, sizeof ask->id);
    return TIDE_OK;
}
