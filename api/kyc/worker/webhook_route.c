/* POST /api/kyc/webhook/{providerKey}: the connection's thread verifies a webhook, a worker stores
 * it, then it is answered. Its content is not used: the webhook only says that the provider must be
 * asked (worker.c). */
#include "api/kyc/worker/webhook_route.h"
#include "api/kyc/worker/refused.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <stdio.h>

struct inbox_work {
    struct tide_kyc_work work;
    struct tide_kyc_refused *refused;
    uint32_t provider;
    const char *provider_key;
    struct tide_kyc_event event;
    char body_sha256[TIDE_BYTEA_BYTES(TIDE_HASH_BYTES)];
};

static void write_received(struct tide_reply *reply)
{
    reply->status = 200;
    tide_buf_str(&reply->body, "{\"received\":true}");
}

/* --- on a worker ------------------------------------------------------------------------------ */

/* Handles a webhook whose key is in the inbox already. If its bytes differ, either the provider
 * gave one key to two events, or a replay was changed. It is signed, so the provider is asked
 * again, but at most every 10 s. */
static tide_status handle_repeated(const struct inbox_work *inbox_work,
                                   const struct tide_kyc_context *context, struct tide_err *err)
{
    assert(inbox_work->event.key[0] && inbox_work->body_sha256[0]);
    struct tide_pg_rows rows;
    const char *values[] = { inbox_work->provider_key, inbox_work->event.key,
                             inbox_work->body_sha256, context->deployment_text };
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
    assert(rows.columns == 1 && rows.count <= 1);
    bool other = rows.count == 1 && !tide_pg_bool(&rows, 0, 0);
    tide_kyc_count(inbox_work->refused, inbox_work->provider, TIDE_KYC_REPEATED,
                   other ? "key_reused" : NULL);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Stores the event in the inbox. The unique key makes a repeated delivery harmless. */
static tide_status store_event(const struct inbox_work *inbox_work,
                               const struct tide_kyc_context *context, struct tide_err *err)
{
    const struct tide_kyc_event *event = &inbox_work->event;
    assert(event->key[0] && inbox_work->provider_key);
    assert(event->secret < TIDE_KYC_SECRETS_MAX);
    struct tide_pg_rows rows;
    const char *values[] = { inbox_work->provider_key,
                             event->key,
                             inbox_work->body_sha256,
                             event->occurred_ms ? TIDE_PG_NUMBER(event->occurred_ms) : NULL,
                             event->provider_id[0] ? event->provider_id : NULL,
                             event->ref[0] ? event->ref : NULL,
                             TIDE_PG_NUMBER(event->secret),
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
    assert(rows.affected <= 1);
    bool inserted = rows.affected == 1;
    tide_pg_rows_release(&rows);
    (void)TIDE_FAILPOINT("kyc.inbox_committed");
    if (!inserted)
        return handle_repeated(inbox_work, context, err);
    tide_kyc_count(inbox_work->refused, inbox_work->provider, TIDE_KYC_KEPT, NULL);
    return TIDE_OK;
}

static tide_status run_store(struct tide_kyc_work *work, struct tide_kyc_context *context,
                             struct tide_job *job, struct tide_err *err)
{
    const struct inbox_work *inbox_work = (const struct inbox_work *)work;
    tide_status status = store_event(inbox_work, context, err);
    if (status == TIDE_OK)
        write_received(job->reply);
    else
        tide_kyc_count(inbox_work->refused, inbox_work->provider, TIDE_KYC_UNKEPT, NULL);
    return status;
}

/* --- on the connection's thread --------------------------------------------------------------- */

static tide_slice find_header(void *request, const char *name, uint32_t *occurrences)
{
    return tide_request_header(request, name, occurrences);
}

/* Answers a forged webhook with 401, or 429 if there are too many. Genuine webhooks take nothing
 * from that bucket. */
static void reject_forged(const struct tide_handler_context *context, uint32_t provider,
                          const char *why, struct tide_reply *reply)
{
    struct tide_kyc_refused *refused = context->api->kyc->refused;
    const struct tide_clock *clock = context->api->clock;
    tide_kyc_count(refused, provider, TIDE_KYC_FALSE, why);
    if (tide_kyc_take_forgery_token(refused, provider, clock->now_ms(clock->self))) {
        tide_reply_problem(reply, 401, "bad_signature", "The webhook's signature is not valid.");
        return;
    }
    tide_reply_problem(reply, 429, "too_many_requests",
                       "Too many webhooks with an invalid signature.");
    reply->retry_after_s = 10;
}

static void reject_malformed(struct tide_kyc_refused *refused, uint32_t provider,
                             const char *provider_key, const char *why, struct tide_reply *reply)
{
    tide_kyc_count(refused, provider, TIDE_KYC_UNREADABLE, why ? why : "malformed");
    tide_log(TIDE_ERROR, "kyc.webhook_malformed", "provider=%s why=%s", provider_key,
             why ? why : "malformed");
    tide_reply_problem(reply, 400, "bad_body",
                       "The webhook is signed, but not in the form that its provider documents.");
}

static void queue_event(struct tide_handler_context *context, const struct tide_request *request,
                        uint32_t provider, const struct tide_kyc_event *event,
                        struct tide_reply *reply)
{
    assert(event->key[0] && provider < context->api->kyc->settings->provider_count);
    const struct tide_kyc_settings *settings = context->api->kyc->settings;
    struct inbox_work *inbox_work =
        tide_kyc_later(context, sizeof *inbox_work, TIDE_KYC_POOL_HOOKS, run_store, reply);
    uint8_t hash[TIDE_HASH_BYTES];
    if (!inbox_work)
        return;
    inbox_work->refused = context->api->kyc->refused;
    inbox_work->provider = provider;
    inbox_work->provider_key = settings->providers[provider].key;
    inbox_work->event = *event;
    tide_sha256(hash, request->body);
    tide_bytea_text(inbox_work->body_sha256, tide_slice_of(hash, sizeof hash));
}

const struct tide_kyc_provider *tide_kyc_webhook_provider(const struct tide_kyc *kyc,
                                                          const struct tide_request *request,
                                                          struct tide_reply *reply)
{
    const struct tide_kyc_provider *provider = tide_kyc_provider_of(
        kyc->settings, tide_request_param(request, TIDE_PARAM_providerKey)->text);
    if (!provider)
        tide_reply_problem(reply, 404, "no_provider", "This server has no provider with that key.");
    return provider;
}

/* Verifies on the connection's thread, so that forged webhooks occupy no worker. */
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
    assert(index < settings->provider_count);
    struct tide_kyc_event event = { 0 };
    struct tide_kyc_hook hook = { .body = request->body,
                                  .header = find_header,
                                  .self = (void *)(uintptr_t)request,
                                  .now = (int64_t)(context->now_ms / 1000) };
    switch (tide_kyc_verify(provider, &hook, &event)) {
    case TIDE_KYC_GENUINE:
        queue_event(context, request, index, &event, reply);
        break;
    case TIDE_KYC_IRRELEVANT:
        tide_kyc_count(refused, index, TIDE_KYC_NOT_OURS, event.why);
        write_received(reply);
        break;
    case TIDE_KYC_MALFORMED:
        reject_malformed(refused, index, provider->key, event.why, reply);
        break;
    case TIDE_KYC_FORGED:
        reject_forged(context, index, event.why ? event.why : "signature", reply);
        break;
    }
}
