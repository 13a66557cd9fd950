/* Adapter for Didit. Didit returns an unfinished session again for the same person. Of its three
 * signatures only X-Signature covers all bytes of the body, including the time. */
#include "api/kyc/providers/provider_impl.h"
#include "tidemark/text.h"

static bool sign_request(const struct tide_kyc_call *call, const struct tide_kyc_question *question,
                         struct tide_kyc_lines *out)
{
    (void)question;
    tide_kyc_line(out, "x-api-key: %s", call->provider->api_key);
    return true;
}

/* Repeating is safe: Didit returns the unfinished session of the same vendor_data. */
static tide_status create_page(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                               struct tide_kyc_page *out, struct tide_err *err)
{
    struct tide_buf body;
    json_t *root = NULL;
    uint32_t code;
    tide_buf_init(&body, TIDE_KYC_BODY_MAX);
    tide_buf_u8(&body, '{');
    tide_kyc_put(&body, (const char *const[]){ "workflow_id", call->provider->level, "vendor_data",
                                               order->ref, "callback", order->return_url, NULL });
    tide_buf_u8(&body, '}');
    tide_status status = tide_kyc_post(
        call, (struct tide_kyc_question){ .adapter = &tide_kyc_didit, .path = "/v3/session/" },
        &body, &root, &code, err);
    if (!status)
        status = tide_kyc_page_of(call, out, tide_kyc_at(root, "session_id"),
                                  tide_kyc_at(root, "url"), err);
    tide_json_wipe(root);
    return status;
}

/* --- verify ------------------------------------------------------------------------------- */

/* True if the time is current. X-Timestamp is not signed, but timestamp in the body is: both must
 * be equal. */
static bool is_now(json_t *root, tide_slice header, int64_t now)
{
    const json_t *said = json_object_get(root, "timestamp");
    uint64_t seconds;
    return json_is_integer(said) && tide_parse_u64(&seconds, header, INT64_MAX) == TIDE_OK &&
           (json_int_t)seconds == json_integer_value(said) &&
           tide_kyc_is_near((int64_t)seconds, now);
}

static enum tide_kyc_verdict read_event(const struct tide_kyc_provider *provider,
                                        const struct tide_kyc_hook *hook, json_t *root,
                                        struct tide_kyc_event *out)
{
    char key[TIDE_KYC_ID_BYTES];
    static_assert(sizeof out->key == sizeof key, "copied whole");
    tide_slice time;
    if (!tide_kyc_header(hook, "X-Timestamp", &time) || !is_now(root, time, hook->now)) {
        out->why = "time";
        return TIDE_KYC_FORGED;
    }
    if (!tide_kyc_take_id(key, json_object_get(root, "event_id")))
        return tide_kyc_malformed(out, "no_event");
    if (*key)
        memcpy(out->key, key, sizeof key);
    out->occurred_ms = json_integer_value(json_object_get(root, "timestamp")) * 1000;
    tide_slice kind = tide_kyc_text_at(root, "webhook_type");
    if (!tide_slice_eq_str(kind, "status.updated") && !tide_slice_eq_str(kind, "data.updated"))
        return tide_kyc_irrelevant(out, "event");
    const struct tide_kyc_named named = { root, json_object_get(root, "session_id"),
                                          json_object_get(root, "vendor_data") };
    return tide_kyc_concerns(provider, &named, out);
}

/* Verifies X-Signature only. X-Signature-V2 has changed its meaning, and X-Signature-Simple does
 * not cover the decision. */
static const char *check_webhook(const struct tide_kyc_provider *provider,
                                 const struct tide_kyc_hook *hook, struct tide_kyc_event *out)
{
    tide_slice signature, time;
    if (!tide_kyc_header(hook, "X-Signature", &signature))
        return "no_signature";
    if (!tide_kyc_header(hook, "X-Timestamp", &time))
        return "time";
    struct tide_kyc_signed what = { .algorithm = TIDE_HMAC_SHA256 };
    return tide_kyc_signature(provider, hook, what, signature, &out->secret) ? NULL : "signature";
}

/* --- fetch -------------------------------------------------------------------------------- */

static void map_status(struct tide_kyc_decision *out, tide_slice status)
{
    static const struct tide_kyc_word words[] = {
        { "Not Started", TIDE_KYC_CREATED },
        { "In Progress", TIDE_KYC_PENDING },
        { "In Review", TIDE_KYC_REVIEW },
        { "Approved", TIDE_KYC_APPROVED },
        { "Declined", TIDE_KYC_DECLINED },
        { "Abandoned", TIDE_KYC_EXPIRED },
        { "Expired", TIDE_KYC_EXPIRED },
        { "Kyc Expired", TIDE_KYC_EXPIRED },
        { "Resubmitted", TIDE_KYC_ACTION_REQUIRED },
        { "Awaiting User", TIDE_KYC_ACTION_REQUIRED },
        { NULL, TIDE_KYC_REVIEW },
    };
    tide_kyc_map(out, words, status);
}

static bool is_information(const json_t *warning)
{
    return tide_slice_eq_str(tide_kyc_label_of(json_object_get(warning, "log_type")),
                             "information");
}

/* Adds the reasons of one feature's warnings, without those for information. Returns false if a
 * warning gives no reason. */
static bool add_warnings(struct tide_kyc_decision *out, const json_t *warnings)
{
    static const struct tide_kyc_label shown[] = {
        { "DOCUMENT_EXPIRED", "document_expired" },
        { "DOCUMENT_NOT_SUPPORTED_FOR_APPLICATION", "document_unsupported" },
        { "PORTRAIT_IMAGE_NOT_DETECTED", "document_unreadable" },
        { "MRZ_NOT_DETECTED", "document_unreadable" },
        { "QR_NOT_DETECTED", "document_unreadable" },
        { "BARCODE_NOT_DETECTED", "document_unreadable" },
        { NULL, NULL },
    };
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const json_t *warning = json_array_get(warnings, i);
        if (is_information(warning))
            continue;
        tide_kyc_because(out, shown, tide_kyc_label_of(json_object_get(warning, "risk")));
        if (!out->reason)
            return false;
    }
    return true;
}

void tide_kyc_didit_because(struct tide_kyc_decision *out, json_t *root)
{
    const char *name;
    json_t *feature;
    json_object_foreach(root, name, feature)
    {
        for (size_t i = 0; i < json_array_size(feature); i++)
            if (!add_warnings(out, json_object_get(json_array_get(feature, i), "warnings")))
                return;
    }
}

static tide_slice map_decision(struct tide_kyc_decision *out, json_t *root)
{
    json_t *documents = json_object_get(root, "id_verifications");
    map_status(out, tide_kyc_text_at(root, "status"));
    tide_kyc_didit_because(out, root);
    tide_kyc_ends_each(out, documents, "expiration_date");
    return tide_kyc_country_each(documents, "issuing_state");
}

const struct tide_kyc_adapter tide_kyc_didit = { .type = "didit",
                                                 .link_s = 86400,
                                                 .create = create_page,
                                                 .check = check_webhook,
                                                 .read = read_event,
                                                 .sign = sign_request,
                                                 .path = "/v3/session/",
                                                 .path_end = "/decision/",
                                                 .decision = "",
                                                 .id = "session_id",
                                                 .ref = "vendor_data",
                                                 .level = "workflow_id",
                                                 .map = map_decision };
