/* GET /api/sdk/kyc/session/{sessionId}: the session's state, for each client that knows its id. The
 * answer has no personal data. Ledger and transaction would lead to the address. Only the
 * integrator that opened the session (X-API-Key) and, until the session ends, the holder of one of
 * its links (s) see them. */
#include "api/http/param.h"
#include "api/kyc/base/handler.h"
#include "api/kyc/keys/keys.h"
#include "api/kyc/sessions/session_store.h"
#include "tidemark/json.h"

struct progress {
    struct tide_kyc_work work;
    char id[TIDE_KYC_SESSION_BYTES];
    bool linked;                          /* true: s is the token of one of the session's links */
    char integrator[TIDE_KYC_WORD_BYTES]; /* integrator of the request's key; "": none */
};

static void reject_missing(struct tide_reply *reply)
{
    tide_reply_problem(reply, 404, "no_session", "There is no such session.");
}

/* Returns the public word of an outbox state. A failed or unknown state is "none". */
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

/* Writes the outbox row's columns: state (5), action, ledger, hash. */
static void put_attestation(struct tide_json *j, const struct tide_pg_rows *rows, bool sees_ledger)
{
    const char *state = attestation_of(tide_pg_text(rows, 0, 5));
    bool sent = strcmp(state, "submitted") == 0 || strcmp(state, "confirmed") == 0;
    tide_json_name(j, "attestation");
    tide_json_open(j, '{');
    tide_json_word(j, "state", state);
    put_or_null(j, "action", tide_pg_text(rows, 0, 6));
    put_or_null(j, "ledger", sees_ledger ? tide_pg_text(rows, 0, 7) : "");
    put_or_null(j, "txHash", sees_ledger && sent ? tide_pg_text(rows, 0, 8) : "");
    tide_json_close(j, '}');
}

/* Writes the reason, if the person may see it. An approved session has none: its reason is
 * internal. */
static void put_reason(struct tide_json *j, enum tide_kyc_state state, const char *reason)
{
    bool shown = state != TIDE_KYC_APPROVED && tide_kyc_reason_shown(tide_slice_str(reason));
    put_or_null(j, "reason", shown ? reason : "");
}

/* True for the holder of a link of a session that has not ended, and for the session's
 * integrator. */
static bool may_see_ledger(const struct progress *progress, const struct tide_pg_rows *rows,
                           bool over)
{
    if (progress->linked && !over)
        return true;
    return progress->integrator[0] &&
           tide_slice_eq_str(tide_pg_slice(rows, 0, 9), progress->integrator);
}

/* Writes the answer. A state that this program does not know is shown like a review. */
static void write_progress(const struct tide_kyc_context *context, const struct progress *progress,
                           const struct tide_pg_rows *rows, struct tide_reply *reply)
{
    struct tide_kyc_session session = { .expires_at = (int64_t)tide_pg_u64(rows, 0, 4) };
    assert(rows->count == 1 && rows->columns == 11);
    bool over = session.expires_at <= tide_kyc_now(context);
    struct tide_json j = { .buf = &reply->body };
    if (!tide_kyc_state_of(tide_pg_slice(rows, 0, 0), &session.state))
        session.state = TIDE_KYC_REVIEW;
    if (tide_kyc_session_unused(&session, tide_kyc_now(context)))
        session.state = TIDE_KYC_EXPIRED;
    tide_json_open(&j, '{');
    tide_json_word(&j, "sessionId", progress->id);
    tide_json_word(&j, "state", tide_kyc_public_state(session.state));
    tide_json_word(&j, "providerKey", tide_pg_text(rows, 0, 1));
    tide_json_word(&j, "mode", tide_pg_text(rows, 0, 2));
    put_reason(&j, session.state, tide_pg_text(rows, 0, 10));
    put_attestation(&j, rows, may_see_ledger(progress, rows, over));
    tide_json_time(&j, "updatedAt", tide_pg_u64(rows, 0, 3));
    tide_json_time(&j, "expiresAt", (uint64_t)session.expires_at);
    tide_json_close(&j, '}');
}

/* Reads the session with its newest intent that is not superseded. */
static tide_status run_progress(struct tide_kyc_work *work, struct tide_kyc_context *context,
                                struct tide_job *job, struct tide_err *err)
{
    const struct progress *progress = (const struct progress *)(const void *)work;
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
        (const char *[]){ progress->id, context->deployment_text }, 2, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count)
        write_progress(context, progress, &rows, job->reply);
    else
        reject_missing(job->reply);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* True if token belongs to one of the session's links. */
static bool is_linked(const struct tide_kyc_settings *settings, tide_slice token, const char *id)
{
    char owner[TIDE_KYC_SESSION_BYTES];
    for (int purpose = 0; purpose < TIDE_KYC_PURPOSE_COUNT; purpose++)
        if (tide_kyc_token_read(owner, settings, (enum tide_kyc_purpose)purpose, token) &&
            strcmp(owner, id) == 0)
            return true;
    return false;
}

void tide_route_kyc_progress(struct tide_handler_context *context,
                             const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_param_value *id = tide_request_param(request, TIDE_PARAM_sessionId);
    if (!tide_kyc_is_session_id(id->text)) {
        reject_missing(reply);
        return;
    }
    struct progress *progress =
        tide_kyc_later(context, sizeof *progress, TIDE_KYC_POOL_READS, run_progress, reply);
    if (!progress)
        return;
    const struct tide_kyc_settings *settings = context->api->kyc->settings;
    const struct tide_param_value *token = tide_request_param(request, TIDE_PARAM_s);
    uint32_t times;
    tide_slice key = tide_request_header(request, "X-API-Key", &times);
    assert(id->text.len == sizeof progress->id - 1);
    memcpy(progress->id, id->text.ptr, sizeof progress->id - 1);
    progress->linked = token->given && is_linked(settings, token->text, progress->id);
    struct tide_kyc_key_use use;
    static_assert(sizeof progress->integrator == sizeof use.integrator, "copied whole");
    if (times && tide_kyc_keys_check(context->api->kyc->keys, &use, key, NULL) == TIDE_KYC_KEY_GOOD)
        memcpy(progress->integrator, use.integrator, sizeof progress->integrator);
}
