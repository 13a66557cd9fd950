/* POST /api/sdk/kyc/session: opens a session and answers with its four links. */
#include "api/hot/reader.h"
#include "api/http/param.h"
#include "api/kyc/sessions/account.h"
#include "api/kyc/sessions/claim.h"
#include "api/kyc/sessions/hosted_page.h"
#include "tidemark/json.h"
#include "tidemark/lookup.h"

/* --- the answer ------------------------------------------------------------------------- */

static void put_link(struct tide_json *j, const char *name,
                     const struct tide_kyc_settings *settings, const char *path, const char *token)
{
    char url[TIDE_KYC_URL_BYTES + TIDE_KYC_TOKEN_BYTES + 32];
    int len = snprintf(url, sizeof url, "%s%s%s", settings->public_url, path, token);
    assert(len > 0 && (size_t)len < sizeof url);
    (void)len;
    tide_json_text(j, name, tide_slice_str(url));
}

static void put_links(struct tide_json *j, const struct tide_kyc_settings *settings,
                      const struct tide_kyc_session *session)
{
    char token[TIDE_KYC_TOKEN_BYTES];
    tide_kyc_token(token, settings, TIDE_KYC_FOR_START, session->id);
    put_link(j, "startUrl", settings, "/kyc/start/", token);
    if (session->hosted_url[0])
        tide_json_text(j, "directLink", tide_slice_str(session->hosted_url));
    else
        tide_json_null(j, "directLink");
    tide_kyc_token(token, settings, TIDE_KYC_FOR_EMBED, session->id);
    put_link(j, "embedUrl", settings, "/kyc?embed=1&s=", token);
    tide_kyc_token(token, settings, TIDE_KYC_FOR_RETURN, session->id);
    put_link(j, "callbackUrl", settings, "/kyc/return/", token);
}

static void write_session(const struct tide_kyc_settings *settings,
                          const struct tide_kyc_session *session,
                          const struct tide_kyc_session_request *ask, struct tide_reply *reply)
{
    struct tide_json j = { .buf = &reply->body };
    tide_json_open(&j, '{');
    tide_json_word(&j, "sessionId", session->id);
    tide_json_word(&j, "state", tide_kyc_public_state(session->state));
    put_links(&j, settings, session);
    tide_json_time(&j, "expiresAt", (uint64_t)session->expires_at);
    if (session->hosted_until)
        tide_json_time(&j, "directLinkExpiresAt", (uint64_t)session->hosted_until);
    else
        tide_json_null(&j, "directLinkExpiresAt");
    if (ask->renewal == TIDE_KYC_RENEWAL_UNKNOWN)
        tide_json_null(&j, "alreadyCompliant");
    else
        tide_json_bool(&j, "alreadyCompliant", ask->renewal == TIDE_KYC_RENEWAL_YES);
    tide_json_close(&j, '}');
}

/* --- on a worker ------------------------------------------------------------------------ */

static void reject_unknown_signers(struct tide_reply *reply)
{
    tide_reply_problem(reply, 503, "signers_unknown",
                       "No Stellar RPC server names this account's signers now. Try again.");
    reply->retry_after_s = 5;
}

/* Fetches the account's signers if a challenge must be weighed. A forged challenge causes no
 * request to the network. If *known is false, the reply holds the problem, or the job was queued
 * again until there is room. */
static tide_status fetch_signers(struct tide_kyc_context *context,
                                 struct tide_kyc_session_request *ask, bool *known,
                                 struct tide_reply *reply, struct tide_err *err)
{
    struct tide_kyc_challenger who = tide_kyc_challenger_of(context);
    struct tide_kyc_proof proof;
    *known = true;
    if (ask->envelope_len == 0 || ask->claimed || ask->signers.count ||
        tide_kyc_challenge_read(&proof, &who, ask->key,
                                tide_slice_of(ask->envelope, ask->envelope_len),
                                (uint64_t)tide_kyc_now(context)))
        return TIDE_OK;
    enum tide_worker_pool_room room = tide_kyc_context_enter(context, ask->provider);
    *known = room == TIDE_BULKHEAD_ENTERED;
    if (room == TIDE_BULKHEAD_FULL)
        reject_unknown_signers(reply);
    if (!*known)
        return TIDE_OK;
    tide_status status = tide_kyc_signers_fetch(context, ask->key, &ask->signers, err);
    if (status == TIDE_OK || status == TIDE_E_DB || status == TIDE_E_DB_FATAL ||
        status == TIDE_E_MEMORY)
        return status;
    reject_unknown_signers(reply);
    *known = false;
    return TIDE_OK;
}

/* Claims the session, obtains its page, and writes the answer. Each step is repeatable, because the
 * pool may run the work twice. */
static tide_status run_session(struct tide_kyc_work *work, struct tide_kyc_context *context,
                               struct tide_job *job, struct tide_err *err)
{
    struct tide_kyc_session_request *ask = (struct tide_kyc_session_request *)(void *)work;
    struct tide_reply *reply = job->reply;
    struct tide_kyc_session session;
    enum tide_kyc_claim how;
    bool obtained = true, known;
    tide_status status = fetch_signers(context, ask, &known, reply, err);
    if (status != TIDE_OK || !known)
        return status;
    status = tide_kyc_claim(context, ask, &session, &how, reply, err);
    if (status != TIDE_OK || how == TIDE_KYC_CLAIM_REFUSED)
        return status;
    assert(strcmp(session.id, ask->id) == 0); /* a repeated run answers with the same session */
    if (tide_kyc_is_open(session.state))
        status = tide_kyc_hosted_page(context, ask->reconcile_s, &session, &obtained, reply, err);
    if (status != TIDE_OK || !obtained)
        return status;
    reply->status = how == TIDE_KYC_CLAIM_MADE ? 201 : 200;
    write_session(context->settings, &session, ask, reply);
    return TIDE_OK;
}

/* --- on the connection's thread --------------------------------------------------------- */

/* Tells whether the address is already compliant. For information only: an attestation may be
 * renewed. Unknown if the cache cannot answer. */
static enum tide_kyc_renewal renewal_of(struct tide_handler_context *context,
                                        const struct tide_request *request, const char *address)
{
    struct tide_param_value who;
    struct tide_standing standing;
    const struct tide_hot_person *person;
    char why[TIDE_PARAM_WHY];
    struct tide_reader reader;
    struct tide_reply scratch;
    enum tide_kyc_renewal renewal = TIDE_KYC_RENEWAL_UNKNOWN;
    if (!tide_param_read(&who, TIDE_PARAM_address, tide_slice_str(address), why))
        return renewal;
    tide_reply_init(&scratch);
    if (tide_reader_open(&reader, context, request, &scratch)) {
        if (tide_reader_trusted(&reader, context, &scratch)) {
            tide_lookup_standing(&reader, &who.address, &standing, &person);
            renewal = standing.compliant ? TIDE_KYC_RENEWAL_YES : TIDE_KYC_RENEWAL_NO;
        }
        tide_reader_close(&reader, &scratch);
        if (scratch.status != 200)
            renewal = TIDE_KYC_RENEWAL_UNKNOWN;
    }
    tide_reply_release(&scratch);
    return renewal;
}

/* Draws the session's id before it queues the work, so that a repeated run uses the same id. */
void tide_route_kyc_session(struct tide_handler_context *context,
                            const struct tide_request *request, struct tide_reply *reply)
{
    struct tide_kyc_session_request read, *ask;
    if (!tide_kyc_session_request_read(&read, context->api->kyc, request, reply))
        return;
    if (!tide_kyc_new_session_id(read.id)) {
        tide_reply_problem(reply, 503, "no_memory", "The system provides no random numbers now.");
        reply->retry_after_s = 1;
        return;
    }
    read.renewal = renewal_of(context, request, read.address);
    read.reconcile_s = context->api->config->kyc_reconcile_s;
    ask = tide_kyc_later(context, sizeof *ask, TIDE_KYC_POOL_SESSIONS, run_session, reply);
    if (!ask)
        return;
    read.work = ask->work;
    *ask = read;
}
