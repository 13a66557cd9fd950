/* Adapter for Veriff. A session keeps its URL after a resubmission. Decision webhooks and event
 * webhooks may both arrive at this address. */
#include "api/kyc/providers/provider_impl.h"
#include "tidemark/text.h"

/* Veriff wants the session's id signed for a GET, the body for a POST. */
static bool sign_request(const struct tide_kyc_call *call, const struct tide_kyc_question *question,
                         struct tide_kyc_lines *out)
{
    uint8_t mac[TIDE_HMAC_BYTES_MAX];
    char hex[2 * TIDE_HMAC_BYTES_MAX + 1] = "";
    bool post = question->method == TIDE_HTTP_POST;
    size_t len = tide_hmac(TIDE_HMAC_SHA256, mac, tide_slice_str(call->provider->api_secret),
                           post ? question->body : tide_slice_str(question->about));
    tide_hex(hex, tide_slice_of(mac, len));
    tide_kyc_line(out, "X-AUTH-CLIENT: %s", call->provider->api_key);
    tide_kyc_line(out, "X-HMAC-SIGNATURE: %s", hex);
    return true;
}

static tide_status create_page(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                               struct tide_kyc_page *out, struct tide_err *err)
{
    struct tide_buf body;
    json_t *root = NULL;
    uint32_t code;
    tide_buf_init(&body, TIDE_KYC_BODY_MAX);
    tide_buf_str(&body, "{\"verification\":{");
    tide_kyc_put(&body, (const char *const[]){ "callback", order->return_url, "vendorData",
                                               order->ref, NULL });
    tide_buf_str(&body, "}}");
    tide_status status = tide_kyc_post(
        call, (struct tide_kyc_question){ .adapter = &tide_kyc_veriff, .path = "/v1/sessions" },
        &body, &root, &code, err);
    if (!status)
        status = tide_kyc_page_of(call, out, tide_kyc_at(root, "verification.id"),
                                  tide_kyc_at(root, "verification.url"), err);
    tide_json_wipe(root);
    return status;
}

/* --- verify ------------------------------------------------------------------------------- */

/* A decision has an object "verification", an event (started, submitted) has the members at the
 * top. */
static enum tide_kyc_verdict read_event(const struct tide_kyc_provider *provider,
                                        const struct tide_kyc_hook *hook, json_t *root,
                                        struct tide_kyc_event *out)
{
    (void)hook;
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
static const char *check_webhook(const struct tide_kyc_provider *provider,
                                 const struct tide_kyc_hook *hook, struct tide_kyc_event *out)
{
    tide_slice client, signature;
    if (!tide_kyc_header(hook, "X-AUTH-CLIENT", &client) || !is_our_client(provider, client))
        return "client";
    if (!tide_kyc_header(hook, "X-HMAC-SIGNATURE", &signature))
        return "no_signature";
    struct tide_kyc_signed what = { .algorithm = TIDE_HMAC_SHA256 };
    return tide_kyc_signature(provider, hook, what, signature, &out->secret) ? NULL : "signature";
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

static tide_slice map_decision(struct tide_kyc_decision *out, json_t *v)
{
    map_status(out, tide_kyc_text_at(v, "status"), json_integer_value(json_object_get(v, "code")));
    tide_kyc_veriff_because(out, json_object_get(v, "reasonCode"));
    tide_kyc_ends(out, tide_kyc_at(v, "document.validUntil"));
    return tide_kyc_country_at(v, "document.country");
}

const struct tide_kyc_adapter tide_kyc_veriff = { .type = "veriff",
                                                  .link_s = 7 * 86400,
                                                  .create = create_page,
                                                  .check = check_webhook,
                                                  .read = read_event,
                                                  .sign = sign_request,
                                                  .path = "/v1/sessions/",
                                                  .path_end = "/decision",
                                                  .decision = "verification",
                                                  .waits = true,
                                                  .id = "id",
                                                  .ref = "vendorData",
                                                  .decided = "decisionTime",
                                                  .map = map_decision };
