/* Adapter for Didit. Didit returns an unfinished session again for the same person. Of its three
 * signatures only X-Signature covers all bytes of the body, including the time. */
#include "api/kyc/providers/provider_impl.h"
#include "tidemark/text.h"

/* LINK_S: seconds for which the provider's page may be used */
enum { LINK_S = 86400, PATH_BYTES = 256 };
static_assert(PATH_BYTES >= sizeof "/v3/session//decision/" + TIDE_KYC_ID_BYTES, "any id fits");

static tide_status call_api(const struct tide_kyc_call *call, struct tide_kyc_question question,
                            json_t **out, struct tide_err *err)
{
    char key[TIDE_KYC_SECRET_BYTES + 16];
    static_assert(sizeof key >= sizeof "x-api-key: " + TIDE_KYC_SECRET_BYTES - 1, "any key fits");
    uint32_t code;
    snprintf(key, sizeof key, "x-api-key: %s", call->provider->api_key);
    question.headers = (const char *const[]){ key, NULL };
    tide_status status = tide_kyc_ask(call, &question, out, &code, err);
    tide_sign_wipe(key, sizeof key);
    return status;
}

/* Repeating is safe: Didit returns the unfinished session of the same vendor_data. */
static tide_status create_page(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                               struct tide_kyc_page *out, struct tide_err *err)
{
    struct tide_buf body;
    json_t *root = NULL;
    tide_buf_init(&body, TIDE_KYC_BODY_MAX);
    tide_buf_u8(&body, '{');
    tide_kyc_put(&body, (const char *const[]){ "workflow_id", call->provider->level, "vendor_data",
                                               order->ref, "callback", order->return_url, NULL });
    tide_buf_u8(&body, '}');
    struct tide_kyc_question question = { .method = TIDE_HTTP_POST,
                                          .path = "/v3/session/",
                                          .body = tide_buf_view(&body) };
    tide_status status = body.failed ? tide_fail(err, TIDE_E_MEMORY, "out of memory")
                                     : call_api(call, question, &root, err);
    tide_buf_release(&body);
    if (!status)
        status = tide_kyc_page_of(call, out, tide_kyc_at(root, "session_id"),
                                  tide_kyc_at(root, "url"), err);
    out->expires_at = call->now + LINK_S;
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

/* Reads a verified webhook. Its decision is ignored; the worker asks for it. */
static enum tide_kyc_verdict read_event(const struct tide_kyc_provider *provider, json_t *root,
                                        struct tide_kyc_event *out)
{
    char key[TIDE_KYC_ID_BYTES];
    static_assert(sizeof out->key == sizeof key, "copied whole");
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
static enum tide_kyc_verdict verify_webhook(const struct tide_kyc_provider *provider,
                                            const struct tide_kyc_hook *hook,
                                            struct tide_kyc_event *out)
{
    tide_slice signature, time;
    if (!tide_kyc_header(hook, "X-Signature", &signature))
        return tide_kyc_forged(out, "no_signature");
    if (!tide_kyc_header(hook, "X-Timestamp", &time))
        return tide_kyc_forged(out, "time");
    struct tide_kyc_signed what = { .algorithm = TIDE_HMAC_SHA256 };
    if (!tide_kyc_signature(provider, hook, what, signature, &out->secret))
        return tide_kyc_forged(out, "signature");
    json_t *root = tide_kyc_hook_json(hook, out);
    enum tide_kyc_verdict verdict = !root ? tide_kyc_malformed(out, "json")
                                    : !is_now(root, time, hook->now)
                                        ? tide_kyc_forged(out, "time")
                                        : read_event(provider, root, out);
    tide_json_wipe(root);
    return verdict;
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

/* Returns the issuing country. Documents of two countries give "?", so that a person decides. */
static tide_slice country_of(json_t *documents)
{
    tide_slice first = { 0 };
    bool differ = false;
    for (size_t i = 0; i < json_array_size(documents); i++) {
        json_t *one = json_array_get(documents, i);
        tide_slice country = tide_kyc_country_at(one, "issuing_state");
        differ |= first.len && country.len && !tide_slice_eq(first, country);
        first = first.len ? first : country;
    }
    return differ ? TIDE_SLICE("?") : first;
}

/* Fills the decision. An approval by another workflow is doubtful. */
static void map_decision(const struct tide_kyc_provider *provider, json_t *root,
                         struct tide_kyc_decision *out)
{
    map_status(out, tide_kyc_text_at(root, "status"));
    tide_kyc_didit_because(out, root);
    tide_kyc_about(out, tide_kyc_at(root, "vendor_data"));
    if (out->state == TIDE_KYC_APPROVED &&
        !tide_slice_eq_str(tide_kyc_text_at(root, "workflow_id"), provider->level))
        tide_kyc_other_level(out);
    json_t *documents = json_object_get(root, "id_verifications");
    tide_kyc_ends_each(out, documents, "expiration_date");
    tide_kyc_settle(out, provider, root, country_of(documents));
}

/* The answer must name the requested id: a mix-up would attest another person's address. */
static tide_status fetch_decision(const struct tide_kyc_call *call, const char *provider_id,
                                  struct tide_kyc_decision *out, struct tide_err *err)
{
    char path[PATH_BYTES];
    json_t *root;
    snprintf(path, sizeof path, "/v3/session/%s/decision/", provider_id);
    tide_status status = call_api(
        call, (struct tide_kyc_question){ .method = TIDE_HTTP_GET, .path = path }, &root, err);
    if (status)
        return status;
    *out = (struct tide_kyc_decision){ 0 };
    if (!tide_slice_eq_str(tide_kyc_text_at(root, "session_id"), provider_id))
        status = tide_kyc_odd(err, "about another person");
    else
        map_decision(call->provider, root, out);
    tide_json_wipe(root);
    return status;
}

const struct tide_kyc_adapter tide_kyc_didit = { "didit", create_page, verify_webhook,
                                                 fetch_decision };
