/* POST /api/kyc/webhook/{providerKey}: verified on its connection's thread, stored by a
 * worker, answered. What it
 * says is not looked at any further: it only tells that the provider is to be asked (worker.c). */
#include "api/kyc/worker/webhook_route.h"
#include "api/kyc/worker/refused.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <stdio.h>

enum { NUMBER_BYTES = 24, BYTEA_BYTES = 2 * TIDE_HASH_BYTES + 3 };

struct keep {
    struct tide_kyc_work work;
    struct tide_kyc_refused *refused;
    uint32_t provider;
    const char *provider_key;
    struct tide_kyc_event event;
    char body_sha256[BYTEA_BYTES];
};

static void answer_taken(struct tide_reply *reply)
{
    reply->status = 200;
    tide_buf_str(&reply->body, "{\"received\":true}");
}

/* --- on a worker ------------------------------------------------------------------------------ */

/* An event's name with other bytes than before: a replay with changes, or the provider gives one
 * name to two things. It is signed, so the provider is asked again, but not too often. */
static tide_status judge_repeated(const struct keep *keep, const struct tide_kyc_context *context,
                                  struct tide_err *err)
{
    struct tide_pg_rows rows;
    const char *values[] = { keep->provider_key, keep->event.key, keep->body_sha256,
                             context->deployment_text };
    tide_status status = tide_pg_query(
        context->pg, &rows,
        "WITH again AS (UPDATE kyc.inbox SET state = 'new', body_sha256 = $3, attempts = 0,"
        "    next_try = clock_timestamp(), received_at = clock_timestamp()"
        "  WHERE deployment = $4::smallint AND provider = $1 AND event_key = $2"
        "    AND body_sha256 <> $3 AND state <> 'new'"
        "    AND received_at < clock_timestamp() - interval '10 s')"
        " SELECT body_sha256 = $3 FROM kyc.inbox"
        "  WHERE deployment = $4::smallint AND provider = $1 AND event_key = $2",
        values, TIDE_COUNT(values), err);
    if (status != TIDE_OK)
        return status;
    bool other = rows.count == 1 && !tide_pg_bool(&rows, 0, 0);
    tide_kyc_count(keep->refused, keep->provider, TIDE_KYC_REPEATED, other ? "key_reused" : NULL);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static tide_status keep_event(const struct keep *keep, const struct tide_kyc_context *context,
                              struct tide_err *err)
{
    const struct tide_kyc_event *event = &keep->event;
    struct tide_pg_rows rows;
    char occurred[NUMBER_BYTES], secret[NUMBER_BYTES];
    snprintf(occurred, sizeof occurred, "%" PRId64, event->occurred_ms);
    snprintf(secret, sizeof secret, "%" PRIu32, event->secret);
    const char *values[] = { keep->provider_key,
                             event->key,
                             keep->body_sha256,
                             event->occurred_ms ? occurred : NULL,
                             event->provider_id[0] ? event->provider_id : NULL,
                             event->ref[0] ? event->ref : NULL,
                             secret,
                             context->deployment_text };
    tide_status status = tide_pg_query(
        context->pg, &rows,
        "INSERT INTO kyc.inbox (provider, event_key, body_sha256, occurred_at, provider_id, ref, "
        "sig_key, deployment)"
        " VALUES ($1, $2, $3, to_timestamp($4::bigint / 1000.0), $5, $6, $7::smallint, "
        "$8::smallint)"
        " ON CONFLICT (deployment, provider, event_key) DO NOTHING",
        values, TIDE_COUNT(values), err);
    if (status != TIDE_OK)
        return status;
    bool kept = rows.affected == 1;
    tide_pg_rows_release(&rows);
    (void)TIDE_FAILPOINT("kyc.inbox_committed");
    if (!kept)
        return judge_repeated(keep, context, err);
    tide_kyc_count(keep->refused, keep->provider, TIDE_KYC_KEPT, NULL);
    return TIDE_OK;
}

static tide_status run(struct tide_kyc_work *work, struct tide_kyc_context *context,
                       struct tide_job *job, struct tide_err *err)
{
    const struct keep *keep = (const struct keep *)work;
    tide_status status = keep_event(keep, context, err);
    if (status == TIDE_OK)
        answer_taken(job->reply);
    else
        tide_kyc_count(keep->refused, keep->provider, TIDE_KYC_UNKEPT, NULL);
    return status;
}

/* --- on the connection's thread --------------------------------------------------------------- */

static tide_slice find_header(void *request, const char *name, uint32_t *occurrences)
{
    return tide_request_header(request, name, occurrences);
}

/* Refusals have a bucket of their own: genuine webhooks take nothing from it. */
static void refuse_forged(const struct tide_handler_context *context, uint32_t provider,
                          const char *why, struct tide_reply *reply)
{
    struct tide_kyc_refused *refused = context->api->kyc->refused;
    const struct tide_clock *clock = context->api->clock;
    tide_kyc_count(refused, provider, TIDE_KYC_FALSE, why);
    if (tide_kyc_has_patience(refused, provider, clock->now_ms(clock->self))) {
        tide_reply_problem(reply, 401, "bad_signature", "The webhook's signature does not hold.");
        return;
    }
    tide_reply_problem(reply, 429, "too_many_requests",
                       "Too many webhooks with a wrong signature.");
    reply->retry_after_s = 10;
}

static void refuse_malformed(struct tide_kyc_refused *refused, uint32_t provider,
                             const char *provider_key, const char *why, struct tide_reply *reply)
{
    tide_kyc_count(refused, provider, TIDE_KYC_UNREADABLE, why ? why : "malformed");
    tide_log(TIDE_ERROR, "kyc.webhook_malformed", "provider=%s why=%s", provider_key,
             why ? why : "malformed");
    tide_reply_problem(reply, 400, "bad_body",
                       "The webhook is signed, and not what its provider documents.");
}

static void keep_later(struct tide_handler_context *context, const struct tide_request *request,
                       uint32_t provider, const struct tide_kyc_event *event,
                       struct tide_reply *reply)
{
    const struct tide_kyc_settings *settings = context->api->kyc->settings;
    struct keep *keep = tide_kyc_later(context, sizeof *keep, TIDE_KYC_POOL_HOOKS, run, reply);
    uint8_t hash[TIDE_HASH_BYTES];
    if (!keep)
        return;
    keep->refused = context->api->kyc->refused;
    keep->provider = provider;
    keep->provider_key = settings->providers[provider].key;
    keep->event = *event;
    tide_sha256(hash, request->body);
    memcpy(keep->body_sha256, "\\x", 2);
    tide_hex(keep->body_sha256 + 2, tide_slice_of(hash, sizeof hash));
}

const struct tide_kyc_provider *tide_kyc_webhook_provider(const struct tide_kyc *kyc,
                                                          const struct tide_request *request,
                                                          struct tide_reply *reply)
{
    const struct tide_kyc_provider *provider = tide_kyc_provider_of(
        kyc->settings, tide_request_param(request, TIDE_PARAM_providerKey)->text);
    if (!provider)
        tide_reply_problem(reply, 404, "no_provider", "There is no provider of that key here.");
    return provider;
}

void tide_route_kyc_webhook(struct tide_handler_context *context,
                            const struct tide_request *request, struct tide_reply *reply)
{
    struct tide_kyc *kyc = context->api->kyc;
    const struct tide_kyc_settings *settings = kyc->settings;
    struct tide_kyc_refused *refused = kyc->refused;
    const struct tide_kyc_provider *provider = tide_kyc_webhook_provider(kyc, request, reply);
    if (!provider)
        return;
    uint32_t index = (uint32_t)(provider - settings->providers);
    struct tide_kyc_event event = { 0 };
    struct tide_kyc_hook hook = { .body = request->body,
                                  .header = find_header,
                                  .self = (void *)(uintptr_t)request,
                                  .now = (int64_t)(context->now_ms / 1000) };
    switch (tide_kyc_adapter_of(provider->type)->verify(provider, &hook, &event)) {
    case TIDE_KYC_GENUINE:
        keep_later(context, request, index, &event, reply);
        break;
    case TIDE_KYC_IRRELEVANT:
        tide_kyc_count(refused, index, TIDE_KYC_NOT_OURS, event.why);
        answer_taken(reply);
        break;
    case TIDE_KYC_MALFORMED:
        refuse_malformed(refused, index, provider->key, event.why, reply);
        break;
    case TIDE_KYC_FORGED:
        refuse_forged(context, index, event.why ? event.why : "signature", reply);
        break;
    }
}
