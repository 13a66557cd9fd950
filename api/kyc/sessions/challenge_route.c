/* GET /api/sdk/kyc/challenge/{address}: the transaction that an account signs to open its own
 * session. */
#include "api/http/param.h"
#include "api/kyc/sessions/session_request.h"
#include "tidemark/json.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

#include <sys/random.h>

struct new_challenge {
    struct tide_kyc_work work;
    struct tide_kyc *kyc;
    uint8_t key[TIDE_HASH_BYTES];
    uint8_t nonce[TIDE_KYC_NONCE_BYTES];
};

struct tide_kyc_challenger tide_kyc_challenger_of(const struct tide_kyc_context *context)
{
    const struct tide_kyc_settings *settings = context->settings;
    const char *host = strstr(settings->public_url, "://");
    return (struct tide_kyc_challenger){ .home_domain = settings->home_domain,
                                         .web_domain = host ? host + 3 : settings->public_url,
                                         .network_id = context->network_id,
                                         .server = tide_sign_public(settings->challenge) };
}

static void write_challenge(const struct tide_kyc_context *context, tide_slice envelope,
                            uint64_t now, struct tide_reply *reply)
{
    struct tide_json j = { .buf = &reply->body };
    tide_json_open(&j, '{');
    tide_json_name(&j, "transaction");
    tide_buf_u8(&reply->body, '"');
    tide_buf_base64(&reply->body, envelope);
    tide_buf_u8(&reply->body, '"');
    j.comma = true;
    tide_json_text(&j, "networkPassphrase", tide_slice_str(context->passphrase));
    tide_json_time(&j, "expiresAt", now + TIDE_KYC_CHALLENGE_S);
    tide_json_close(&j, '}');
}

/* Signs the challenge on a worker: only a connected worker knows the deployment's network. */
static tide_status run_challenge(struct tide_kyc_work *work, struct tide_kyc_context *context,
                                 struct tide_job *job, struct tide_err *err)
{
    struct new_challenge *new_challenge = (struct new_challenge *)(void *)work;
    struct tide_kyc_challenger who = tide_kyc_challenger_of(context);
    uint64_t now = (uint64_t)tide_kyc_now(context);
    struct tide_buf envelope;
    tide_buf_init(&envelope, TIDE_KYC_ENVELOPE_MAX);
    pthread_mutex_lock(&new_challenge->kyc->signing);
    tide_status status =
        tide_kyc_challenge_write(&envelope, &who, new_challenge->key, new_challenge->nonce, now,
                                 context->settings->challenge);
    pthread_mutex_unlock(&new_challenge->kyc->signing);
    if (status == TIDE_OK)
        write_challenge(context, tide_buf_view(&envelope), now, job->reply);
    else
        status = tide_fail(err, status, "out of memory: challenge");
    tide_buf_release(&envelope);
    return status;
}

/* Draws the nonce here, where a failure can be answered without a worker. */
void tide_route_kyc_challenge(struct tide_handler_context *context,
                              const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_param_value *who = tide_request_param(request, TIDE_PARAM_address);
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    if (tide_strkey_decode(&kind, payload, &len, who->text) != TIDE_OK ||
        kind != TIDE_STRKEY_ACCOUNT) {
        tide_reply_problem(reply, 400, "invalid_parameters",
                           "A contract has no key that could sign a challenge.");
        tide_reply_problem_field(reply, "{address}", "must be an account (G)");
        return;
    }
    struct new_challenge *new_challenge =
        tide_kyc_later(context, sizeof *new_challenge, TIDE_KYC_POOL_READS, run_challenge, reply);
    if (!new_challenge)
        return;
    new_challenge->kyc = context->api->kyc;
    assert(len == sizeof new_challenge->key);
    memcpy(new_challenge->key, payload, sizeof new_challenge->key);
    if (getrandom(new_challenge->nonce, sizeof new_challenge->nonce, 0) !=
        sizeof new_challenge->nonce) {
        context->task = NULL;
        free(new_challenge);
        tide_reply_problem(reply, 503, "no_memory", "The system provides no random numbers now.");
        reply->retry_after_s = 1;
    }
}
