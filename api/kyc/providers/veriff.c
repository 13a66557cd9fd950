/* Adapter for Veriff. A session keeps its URL after a resubmission. Decision webhooks and event
 * webhooks may both arrive at this address. */
#include "api/kyc/providers/provider_impl.h"
#include "tidemark/text.h"

enum { LINK_S = 7 * 86400, PATH_BYTES = 256 };
static_assert(PATH_BYTES >= sizeof "/v1/sessions//decision" + TIDE_KYC_ID_BYTES, "any id fits");

/* Signs and sends a request. Veriff wants the session's id signed for a GET, the body for a
 * POST. */
static tide_status call_api(const struct tide_kyc_call *call, struct tide_kyc_question question,
                            tide_slice message, json_t **out, struct tide_err *err)
{
    char client[TIDE_KYC_SECRET_BYTES + 32], signature[96] = "X-HMAC-SIGNATURE: ";
    uint8_t mac[TIDE_HMAC_BYTES_MAX];
    uint32_t code;
    size_t at = strlen(signature);
    static_assert(sizeof client >= sizeof "X-AUTH-CLIENT: " + TIDE_KYC_SECRET_BYTES - 1,
                  "any key fits");
    snprintf(client, sizeof client, "X-AUTH-CLIENT: %s", call->provider->api_key);
    size_t len =
        tide_hmac(TIDE_HMAC_SHA256, mac, tide_slice_str(call->provider->api_secret), message);
    assert(at + 2 * len < sizeof signature);
    tide_hex(signature + at, tide_slice_of(mac, len));
    signature[at + 2 * len] = '\0';
    question.headers = (const char *const[]){ client, signature, NULL };
    tide_status status = tide_kyc_ask(call, &question, out, &code, err);
    tide_sign_wipe(client, sizeof client);
    return status;
}

static tide_status create_page(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                               struct tide_kyc_page *out, struct tide_err *err)
{
    struct tide_buf body;
    json_t *root = NULL;
    tide_buf_init(&body, TIDE_KYC_BODY_MAX);
    tide_buf_str(&body, "{\"verification\":{");
    tide_kyc_put(&body, (const char *const[]){ "callback", order->return_url, "vendorData",
                                               order->ref, NULL });
    tide_buf_str(&body, "}}");
    struct tide_kyc_question question = { .method = TIDE_HTTP_POST,
                                          .path = "/v1/sessions",
                                          .body = tide_buf_view(&body) };
    tide_status status = body.failed ? tide_fail(err, TIDE_E_MEMORY, "out of memory")
                                     : call_api(call, question, tide_buf_view(&body), &root, err);
    tide_buf_release(&body);
    if (!status)
        status = tide_kyc_page_of(call, out, tide_kyc_at(root, "verification.id"),
                                  tide_kyc_at(root, "verification.url"), err);
    out->expires_at = call->now + LINK_S;
    tide_json_wipe(root);
    return status;
}

/* --- verify ------------------------------------------------------------------------------- */

/* Reads a verified webhook: a decision has an object "verification", an event (started, submitted)
 * has the members at the top. */
static enum tide_kyc_verdict read_event(const struct tide_kyc_provider *provider, json_t *root,
                                        struct tide_kyc_event *out)
{
    json_t *about = json_object_get(root, "verification");
    if (!json_is_object(about))
        about = root;
    out->occurred_ms = tide_kyc_ms(tide_kyc_text_at(about, "decisionTime"));
    const struct tide_kyc_named named = { root, json_object_get(about, "id"),
                                          json_object_get(about, "vendorData") };
    return tide_kyc_concerns(provider, &named, out);
}

static bool is_our_client(const struct tide_kyc_provider *provider, tide_slice client)
{
    size_t len = strlen(provider->api_key);
    return client.len == len && tide_same_secret(client.ptr, provider->api_key, len);
}

/* Verifies X-HMAC-SIGNATURE. The older X-SIGNATURE is ignored. */
static enum tide_kyc_verdict verify_webhook(const struct tide_kyc_provider *provider,
                                            const struct tide_kyc_hook *hook,
                                            struct tide_kyc_event *out)
{
    tide_slice client, signature;
    if (!tide_kyc_header(hook, "X-AUTH-CLIENT", &client) || !is_our_client(provider, client))
        return tide_kyc_forged(out, "client");
    if (!tide_kyc_header(hook, "X-HMAC-SIGNATURE", &signature))
        return tide_kyc_forged(out, "no_signature");
    struct tide_kyc_signed what = { .algorithm = TIDE_HMAC_SHA256 };
    if (!tide_kyc_signature(provider, hook, what, signature, &out->secret))
        return tide_kyc_forged(out, "signature");
    json_t *root = tide_kyc_hook_json(hook, out);
    enum tide_kyc_verdict verdict =
        root ? read_event(provider, root, out) : tide_kyc_malformed(out, "json");
    tide_json_wipe(root);
    return verdict;
}

/* --- fetch -------------------------------------------------------------------------------- */

/* Maps status and code, which are redundant. An approval counts only if both agree. */
static void map_status(struct tide_kyc_decision *out, tide_slice status, json_int_t code)
{
    static const struct {
        const char *status;
        json_int_t code; /* 0: any code */
        enum tide_kyc_state state;
    } rows[] = {
        { "approved", 9001, TIDE_KYC_APPROVED },
        { "declined", 9102, TIDE_KYC_DECLINED },
        { "resubmission_requested", 9103, TIDE_KYC_ACTION_REQUIRED },
        { "expired", 0, TIDE_KYC_EXPIRED },
        { "abandoned", 0, TIDE_KYC_EXPIRED },
        { "review", 0, TIDE_KYC_REVIEW },
        { "created", 0, TIDE_KYC_CREATED },
        { "started", 0, TIDE_KYC_PENDING },
        { "submitted", 0, TIDE_KYC_PENDING },
    };
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        if (tide_slice_eq_str(status, rows[i].status) && (!rows[i].code || rows[i].code == code)) {
            out->state = rows[i].state;
            return;
        }
    }
    if (code == 9151 || code == 9161) /* intermediate positive results */
        out->state = TIDE_KYC_PENDING;
    else
        tide_kyc_unknown(out);
}

void tide_kyc_veriff_because(struct tide_kyc_decision *out, json_t *code)
{
    static const struct tide_kyc_label shown[] = {
        { "101", "document_unsupported" },
        { "104", "details_differ" },
        { "202", "face_unclear" },
        { "203", "document_unreadable" },
        { "204", "document_unreadable" },
        { "205", "document_damaged" },
        { "206", "document_unsupported" },
        { "207", "document_expired" },
        { "208", "face_unclear" },
        { "209", "document_incomplete" },
        { "510", "document_unsupported" },
        { "511", "document_expired" },
        { NULL, NULL },
    };
    char number[24] = "";
    if (json_is_integer(code))
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(code));
    tide_kyc_because(out, shown, *number ? tide_slice_str(number) : tide_kyc_label_of(code));
}

/* Fills the decision. "verification" is null until Veriff has decided. */
static tide_status map_decision(const struct tide_kyc_provider *provider, json_t *root,
                                const char *provider_id, struct tide_kyc_decision *out,
                                struct tide_err *err)
{
    json_t *v = json_object_get(root, "verification");
    if (json_is_null(v)) {
        out->state = TIDE_KYC_PENDING;
        return TIDE_OK;
    }
    if (!tide_slice_eq_str(tide_kyc_text_at(v, "id"), provider_id))
        return tide_kyc_odd(err, "about another person");
    map_status(out, tide_kyc_text_at(v, "status"), json_integer_value(json_object_get(v, "code")));
    tide_kyc_veriff_because(out, json_object_get(v, "reasonCode"));
    tide_kyc_about(out, tide_kyc_at(v, "vendorData"));
    out->decided_ms = tide_kyc_ms(tide_kyc_text_at(v, "decisionTime"));
    tide_kyc_ends(out, tide_kyc_at(v, "document.validUntil"));
    tide_kyc_settle(out, provider, root, tide_kyc_country_at(v, "document.country"));
    return TIDE_OK;
}

static tide_status fetch_decision(const struct tide_kyc_call *call, const char *provider_id,
                                  struct tide_kyc_decision *out, struct tide_err *err)
{
    char path[PATH_BYTES];
    json_t *root;
    snprintf(path, sizeof path, "/v1/sessions/%s/decision", provider_id);
    tide_status status =
        call_api(call, (struct tide_kyc_question){ .method = TIDE_HTTP_GET, .path = path },
                 tide_slice_str(provider_id), &root, err);
    if (status)
        return status;
    *out = (struct tide_kyc_decision){ 0 };
    status = map_decision(call->provider, root, provider_id, out, err);
    tide_json_wipe(root);
    return status;
}

const struct tide_kyc_adapter tide_kyc_veriff = { "veriff", create_page, verify_webhook,
                                                  fetch_decision };
