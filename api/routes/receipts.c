/* Signed receipts of answers, and GET /.well-known/jwks.json. */
#include "api/routes/receipts.h"
#include "api/routes/handlers.h"
#include "api/routes/receipt_keys.h"

enum {
    PAYLOAD_MAX = 64 << 10,
    /* Bytes of claims beside the answer; nearly always enough for a single allocation */
    CLAIMS_BYTES = 1536
};

static void reject_receipt(struct tide_reply *reply)
{
    tide_reply_problem(reply, 406, "no_receipts",
                       "This server does not sign receipts: ask for application/json.");
}

bool tide_receipt_begin(struct tide_receipt_making *making, enum tide_receipt_kind kind,
                        const struct tide_handler_context *context,
                        const struct tide_request *request, struct tide_reply *reply)
{
    making->asked = request->form != TIDE_FORM_PLAIN;
    if (TIDE_LIKELY(!making->asked))
        return true;
    making->receipt = (struct tide_receipt){ .kind = kind };
    if (tide_receipt_keys_may_sign(context->api->receipts))
        return true;
    making->asked = false;
    if (request->form == TIDE_FORM_SECOND)
        reject_receipt(reply);
    return request->form != TIDE_FORM_SECOND;
}

/* Copies the request into the receipt: the variable part of the path, and the given parameters. */
static void copy_request(struct tide_receipt *receipt, const struct tide_request *request)
{
    assert(request->param_count);
    receipt->subject = request->params[0].text;
    for (uint32_t i = 1; i < request->param_count; i++) {
        const struct tide_param_value *param = &request->params[i];
        if (!param->given || param->id == TIDE_PARAM_receipt)
            continue;
        assert(receipt->query_count < TIDE_RECEIPT_QUERY);
        receipt->query[receipt->query_count].name = tide_param_of(param->id)->name;
        receipt->query[receipt->query_count++].text = param->text;
    }
}

static void set_expiry(struct tide_receipt_making *making,
                       const struct tide_handler_context *context,
                       const struct tide_request *request)
{
    const struct tide_config *config = context->api->config;
    const struct tide_param_value *asked = tide_request_param(request, TIDE_PARAM_maxAgeMs);
    struct tide_receipt_limits limits = { config->stale_after_ms, config->compliance_age_s,
                                          config->clock_skew_s };
    if (asked && asked->given && asked->number < limits.stale_after_ms)
        limits.stale_after_ms = asked->number;
    tide_receipt_end(&making->receipt, &limits, context->now_ms, making->holds_until);
}

/* Replaces the body by the signed payload. Without memory the body is marked as failed, and the
 * answer becomes 503. */
static void sign_body(struct tide_buf *body, const struct tide_receipt *receipt,
                      const struct tide_receipt_set *set, const struct tide_sign *signer)
{
    assert(set->header.len > 0 && body->len > 2); /* the body is an object */
    struct tide_buf payload;
    tide_buf_init(&payload, PAYLOAD_MAX);
    (void)tide_buf_room(&payload, body->len + CLAIMS_BYTES);
    tide_receipt_write(&payload, receipt, tide_buf_view(body));
    tide_buf_reset(body);
    if (payload.failed)
        body->failed = true;
    else
        tide_jws_sign(body, signer, tide_buf_view(&set->header), tide_buf_view(&payload));
    tide_buf_release(&payload);
}

/* The keys may have changed since tide_receipt_begin, so the signer is checked again. */
void tide_receipt_seal(struct tide_receipt_making *making,
                       const struct tide_handler_context *context,
                       const struct tide_request *request, struct tide_reply *reply)
{
    if (!making->asked || reply->status != 200 || reply->body.failed)
        return;
    struct tide_receipt_set *set = tide_receipt_keys_use(context->api->receipts);
    const struct tide_sign *signer = tide_receipt_set_signer(set);
    if (signer) {
        making->receipt.issuer = tide_slice_str(context->api->config->api_receipt_issuer);
        making->receipt.proven = reply->at.proven;
        copy_request(&making->receipt, request);
        set_expiry(making, context, request);
        sign_body(&reply->body, &making->receipt, set, signer);
        reply->content_from = 0;
        reply->content_type = "application/jwt";
        reply->cache_control = "no-store";
    } else {
        reject_receipt(reply);
    }
    tide_receipt_keys_release(context->api->receipts, set);
}

void tide_route_jwks(struct tide_handler_context *context, const struct tide_request *request,
                     struct tide_reply *reply)
{
    (void)request;
    if (tide_receipt_keys_put_jwks(context->api->receipts, context->host_ms, &reply->body))
        return;
    tide_reply_problem(
        reply, 503, "stale",
        "Withdrawn keys are not known, because the database does not answer. Retry in a second.");
    reply->retry_after_s = 1;
}
