/* GET /api/sdk/kyc/session/{sessionId}: how far it is, for each client that knows its id. Nothing
 * of a person is told. Ledger and transaction, which lead to the address, are told to the
 * integrator that opened the session (X-API-Key) and to the holder of one of its links (s) until it
 * ends. */
#include "api/http/param.h"
#include "api/kyc/base/handler.h"
#include "api/kyc/keys/keys.h"
#include "api/kyc/sessions/session_store.h"
#include "tidemark/json.h"

struct look {
    struct tide_kyc_work work;
    char id[TIDE_KYC_SESSION_BYTES];
    bool linked;                          /* s is of one of its links */
    char integrator[TIDE_KYC_WORD_BYTES]; /* that asks; "": none */
};

static void tell_missing(struct tide_reply *reply)
{
    tide_reply_problem(reply, 404, "no_session", "There is no such session.");
}

/* Words of the outbox's states for who asks. */
static const char *attestation_of(const char *state)
{
    static const char *const words[][2] = {
        { "queued", "queued" },       { "signed", "submitted" },     { "submitted", "submitted" },
        { "confirmed", "confirmed" }, { "parked", "manual_review" },
    };
    for (size_t i = 0; i < TIDE_COUNT(words); i++)
        if (strcmp(state, words[i][0]) == 0)
            return words[i][1];
    return "none";
}

static void put_or_null(struct tide_json *j, const char *name, const char *text)
{
    if (*text)
        tide_json_word(j, name, text);
    else
        tide_json_null(j, name);
}

/* Columns from the fifth on: state, action, ledger, hash. */
static void put_attestation(struct tide_json *j, const struct tide_pg_rows *rows, bool knows)
{
    const char *state = attestation_of(tide_pg_text(rows, 0, 5));
    bool sent = strcmp(state, "submitted") == 0 || strcmp(state, "confirmed") == 0;
    tide_json_name(j, "attestation");
    tide_json_open(j, '{');
    tide_json_word(j, "state", state);
    put_or_null(j, "action", tide_pg_text(rows, 0, 6));
    put_or_null(j, "ledger", knows ? tide_pg_text(rows, 0, 7) : "");
    put_or_null(j, "txHash", knows && sent ? tide_pg_text(rows, 0, 8) : "");
    tide_json_close(j, '}');
}

/* Of a session that ended otherwise than by an approval, or that waits for the person. */
static void put_reason(struct tide_json *j, enum tide_kyc_state state, const char *reason)
{
    bool told = state != TIDE_KYC_APPROVED && tide_kyc_reason_shown(tide_slice_str(reason));
    put_or_null(j, "reason", told ? reason : "");
}

static bool may_know(const struct look *look, const struct tide_pg_rows *rows, bool over)
{
    if (look->linked && !over)
        return true;
    return look->integrator[0] && tide_slice_eq_str(tide_pg_slice(rows, 0, 9), look->integrator);
}

static void answer(const struct tide_kyc_context *context, const struct look *look,
                   const struct tide_pg_rows *rows, struct tide_reply *reply)
{
    struct tide_kyc_session session = { .expires_at = (int64_t)tide_pg_u64(rows, 0, 4) };
    bool over = session.expires_at <= tide_kyc_now(context);
    struct tide_json j = { .buf = &reply->body };
    if (!tide_kyc_state_of(tide_pg_slice(rows, 0, 0), &session.state))
        session.state = TIDE_KYC_REVIEW;
    if (tide_kyc_session_unused(&session, tide_kyc_now(context)))
        session.state = TIDE_KYC_EXPIRED;
    tide_json_open(&j, '{');
    tide_json_word(&j, "sessionId", look->id);
    tide_json_word(&j, "state", tide_kyc_public_state(session.state));
    tide_json_word(&j, "providerKey", tide_pg_text(rows, 0, 1));
    tide_json_word(&j, "mode", tide_pg_text(rows, 0, 2));
    put_reason(&j, session.state, tide_pg_text(rows, 0, 10));
    put_attestation(&j, rows, may_know(look, rows, over));
    tide_json_time(&j, "updatedAt", tide_pg_u64(rows, 0, 3));
    tide_json_time(&j, "expiresAt", (uint64_t)session.expires_at);
    tide_json_close(&j, '}');
}

static tide_status run(struct tide_kyc_work *work, struct tide_kyc_context *context,
                       struct tide_job *job, struct tide_err *err)
{
    const struct look *look = (const struct look *)(const void *)work;
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        context->pg, &rows,
        "SELECT s.state, s.provider, s.mode,"
        " extract(epoch FROM greatest(s.updated_at, o.updated_at))::bigint,"
        " extract(epoch FROM s.expires_at)::bigint, o.state, o.action, o.confirmed_ledger,"
        " encode(o.tx_hash, 'hex'), s.integrator, s.reason"
        " FROM kyc.session AS s LEFT JOIN LATERAL (SELECT * FROM kyc.outbox AS x"
        "   WHERE x.session_id = s.id AND x.state <> 'superseded'"
        "   ORDER BY x.decision_rev DESC LIMIT 1) AS o ON true"
        " WHERE s.id = $1 AND s.deployment = $2::smallint",
        (const char *[]){ look->id, context->deployment_text }, 2, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count)
        answer(context, look, &rows, job->reply);
    else
        tell_missing(job->reply);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static bool is_linked(const struct tide_kyc_settings *settings, tide_slice token, const char *id)
{
    char of[TIDE_KYC_SESSION_BYTES];
    for (int purpose = 0; purpose < TIDE_KYC_PURPOSE_COUNT; purpose++)
        if (tide_kyc_token_read(of, settings, (enum tide_kyc_purpose)purpose, token) &&
            strcmp(of, id) == 0)
            return true;
    return false;
}

void tide_route_kyc_progress(struct tide_handler_context *context,
                             const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_param_value *id = tide_request_param(request, TIDE_PARAM_sessionId);
    if (!tide_kyc_is_session_id(id->text)) {
        tell_missing(reply);
        return;
    }
    struct look *look = tide_kyc_later(context, sizeof *look, TIDE_KYC_POOL_READS, run, reply);
    if (!look)
        return;
    const struct tide_kyc_settings *settings = context->api->kyc->settings;
    const struct tide_param_value *token = tide_request_param(request, TIDE_PARAM_s);
    uint32_t times;
    tide_slice key = tide_request_header(request, "X-API-Key", &times);
    memcpy(look->id, id->text.ptr, sizeof look->id - 1);
    look->linked = token->given && is_linked(settings, token->text, look->id);
    struct tide_kyc_key_use use;
    if (times && tide_kyc_keys_check(context->api->kyc->keys, &use, key, NULL) == TIDE_KYC_KEY_GOOD)
        memcpy(look->integrator, use.integrator, sizeof look->integrator);
}
