/* Adapter for Persona. A completed inquiry is not an approval. A webhook is signed together with
 * the time of sending, and has two signatures while its secret is being changed. */
#include "api/kyc/providers/provider_impl.h"
#include "tidemark/text.h"

enum { PATH_BYTES = 256, KEY_BYTES = 128 };
static_assert(PATH_BYTES >= sizeof "/api/v1/inquiries//generate-one-time-link" + TIDE_KYC_ID_BYTES,
              "any id fits");
static_assert(KEY_BYTES >= 64 + 1 + 20 + 1, "a session's id, \"-\", a time");

/* The default case of the keys in answers is a setting of the API key. */
static bool sign_request(const struct tide_kyc_call *call, const struct tide_kyc_question *question,
                         struct tide_kyc_lines *out)
{
    tide_kyc_line(out, "Authorization: Bearer %s", call->provider->api_key);
    tide_kyc_line(out, "Persona-Version: %s", call->provider->api_version);
    tide_kyc_line(out, "Key-Inflection: kebab");
    if (question->method == TIDE_HTTP_POST)
        tide_kyc_line(out, "Idempotency-Key: %s", question->about);
    return true;
}

/* --- create ------------------------------------------------------------------------------- */

/* The session's id is the idempotency key, so a repeated request returns the same inquiry. */
static tide_status make_inquiry(const struct tide_kyc_call *call,
                                const struct tide_kyc_order *order, json_t **out,
                                struct tide_err *err)
{
    struct tide_buf body;
    tide_buf_init(&body, TIDE_KYC_BODY_MAX);
    tide_buf_str(&body, "{\"data\":{\"attributes\":{");
    tide_kyc_put(&body, (const char *const[]){ "inquiry-template-id", call->provider->level,
                                               "reference-id", order->ref, "redirect-uri",
                                               order->return_url, NULL });
    tide_buf_str(&body, "}},\"meta\":{\"auto-create-account\":true,");
    tide_kyc_put(&body,
                 (const char *const[]){ "auto-create-account-reference-id", order->ref, NULL });
    tide_buf_str(&body, "}}");
    uint32_t code;
    return tide_kyc_post(call,
                         (struct tide_kyc_question){ .adapter = &tide_kyc_persona,
                                                     .path = "/api/v1/inquiries",
                                                     .about = order->session_id },
                         &body, out, &code, err);
}

/* Requests a one-time link. The idempotency key contains the time, because a used link must be
 * followed by a new one. Persona itself returns an unused link again. */
static tide_status make_link(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                             const char *inquiry, json_t **out, struct tide_err *err)
{
    char path[PATH_BYTES], key[KEY_BYTES];
    struct tide_buf body;
    uint32_t code;
    snprintf(path, sizeof path, "/api/v1/inquiries/%s/generate-one-time-link", inquiry);
    snprintf(key, sizeof key, "%.64s-%" PRId64, order->session_id, call->now);
    tide_buf_init(&body, 8);
    tide_buf_str(&body, "{}");
    return tide_kyc_post(
        call,
        (struct tide_kyc_question){ .adapter = &tide_kyc_persona, .path = path, .about = key },
        &body, out, &code, err);
}

static tide_status create_page(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                               struct tide_kyc_page *out, struct tide_err *err)
{
    json_t *inquiry = NULL, *link = NULL;
    char id[TIDE_KYC_ID_BYTES];
    tide_status status = make_inquiry(call, order, &inquiry, err);
    if (!status && (!tide_kyc_take_id(id, tide_kyc_at(inquiry, "data.id")) || !*id))
        status = tide_kyc_odd(err, "no id that could be one");
    if (!status)
        status = make_link(call, order, id, &link, err);
    if (!status)
        status = tide_kyc_page_of(call, out, tide_kyc_at(inquiry, "data.id"),
                                  tide_kyc_at(link, "meta.one-time-link"), err);
    tide_json_wipe(inquiry);
    tide_json_wipe(link);
    return status;
}

/* --- verify ------------------------------------------------------------------------------- */

/* Splits "t=…,v1=…" in any order and ignores other schemes. Returns false if t or v1 is missing. */
static bool split_set(tide_slice set, tide_slice *t, tide_slice *v1)
{
    *t = *v1 = (tide_slice){ 0 };
    for (size_t at = 0; at < set.len;) {
        const uint8_t *comma = memchr(set.ptr + at, ',', set.len - at);
        size_t end = comma ? (size_t)(comma - set.ptr) : set.len;
        tide_slice part = tide_slice_of(set.ptr + at, end - at);
        if (part.len > 2 && memcmp(part.ptr, "t=", 2) == 0)
            *t = tide_slice_of(part.ptr + 2, part.len - 2);
        else if (part.len > 3 && memcmp(part.ptr, "v1=", 3) == 0)
            *v1 = tide_slice_of(part.ptr + 3, part.len - 3);
        at = end + 1;
    }
    return t->len && v1->len;
}

/* True if one set's signature is valid and its time is current. out->why becomes "time" if only the
 * time is wrong. */
static bool set_is_valid(const struct tide_kyc_provider *provider, const struct tide_kyc_hook *hook,
                         tide_slice set, struct tide_kyc_event *out)
{
    tide_slice t, v1;
    uint64_t seconds;
    char before[24];
    if (!split_set(set, &t, &v1) || tide_parse_u64(&seconds, t, INT64_MAX) != TIDE_OK ||
        t.len >= sizeof before)
        return false;
    /* The signature covers the time's text, so the text is used unchanged. */
    assert(t.len > 0 && t.len + 1 <= sizeof before);
    memcpy(before, t.ptr, t.len);
    before[t.len] = '.';
    struct tide_kyc_signed what = { TIDE_HMAC_SHA256, tide_slice_of(before, t.len + 1) };
    if (!tide_kyc_signature(provider, hook, what, v1, &out->secret))
        return false;
    if (tide_kyc_is_near((int64_t)seconds, hook->now))
        return true;
    out->why = "time";
    return false;
}

/* True if one of at most SETS_MAX sets, separated by spaces, is valid. */
static bool any_set_is_valid(const struct tide_kyc_provider *provider,
                             const struct tide_kyc_hook *hook, tide_slice sets,
                             struct tide_kyc_event *out)
{
    enum { SETS_MAX = 4 };
    size_t at = 0;
    for (uint32_t n = 0; n < SETS_MAX && at < sets.len; n++) {
        const uint8_t *space = memchr(sets.ptr + at, ' ', sets.len - at);
        size_t end = space ? (size_t)(space - sets.ptr) : sets.len;
        if (set_is_valid(provider, hook, tide_slice_of(sets.ptr + at, end - at), out))
            return true;
        at = end + 1;
    }
    return false;
}

/* Returns the member with the first of the names that it has. The case of a webhook's keys is a
 * setting of that webhook. */
static json_t *member_of(json_t *attributes, const char *const names[3])
{
    json_t *value = NULL;
    for (size_t i = 0; i < 3 && !value; i++)
        value = json_object_get(attributes, names[i]);
    return value;
}

/* Only events of inquiries matter. */
static enum tide_kyc_verdict read_event(const struct tide_kyc_provider *provider,
                                        const struct tide_kyc_hook *hook, json_t *root,
                                        struct tide_kyc_event *out)
{
    (void)hook;
    static const char *const created_names[] = { "created-at", "created_at", "createdAt" };
    static const char *const reference_names[] = { "reference-id", "reference_id", "referenceId" };
    json_t *event = tide_kyc_at(root, "data"), *about;
    char key[TIDE_KYC_ID_BYTES];
    if (!tide_slice_eq_str(tide_kyc_text_at(event, "type"), "event") ||
        !tide_kyc_take_id(key, tide_kyc_at(event, "id")) || !*key)
        return tide_kyc_malformed(out, "no_event");
    static_assert(sizeof out->key == sizeof key, "copied whole");
    memcpy(out->key, key, sizeof key);
    about = tide_kyc_at(event, "attributes.payload.data");
    json_t *created = member_of(tide_kyc_at(event, "attributes"), created_names);
    out->occurred_ms = tide_kyc_ms(tide_kyc_label_of(created));
    tide_slice name = tide_kyc_text_at(event, "attributes.name");
    if (name.len < 8 || memcmp(name.ptr, "inquiry.", 8) != 0)
        return tide_kyc_irrelevant(out, "event");
    const struct tide_kyc_named named = {
        root, tide_kyc_at(about, "id"), member_of(tide_kyc_at(about, "attributes"), reference_names)
    };
    return tide_kyc_concerns(provider, &named, out);
}

static const char *check_webhook(const struct tide_kyc_provider *provider,
                                 const struct tide_kyc_hook *hook, struct tide_kyc_event *out)
{
    tide_slice sets;
    if (!tide_kyc_header(hook, "Persona-Signature", &sets))
        return "no_signature";
    out->why = "signature";
    return any_set_is_valid(provider, hook, sets, out) ? NULL : out->why;
}

/* --- fetch -------------------------------------------------------------------------------- */

static void map_status(struct tide_kyc_decision *out, tide_slice status)
{
    static const struct tide_kyc_word words[] = {
        { "created", TIDE_KYC_CREATED },
        { "pending", TIDE_KYC_PENDING },
        { "completed", TIDE_KYC_PENDING },
        { "needs_review", TIDE_KYC_REVIEW },
        { "approved", TIDE_KYC_APPROVED },
        { "declined", TIDE_KYC_DECLINED },
        { "failed", TIDE_KYC_ACTION_REQUIRED },
        { "expired", TIDE_KYC_EXPIRED },
        { NULL, TIDE_KYC_REVIEW },
    };
    tide_kyc_map(out, words, status);
}

/* Returns the country where the person lives, if the template asks for it, else the document's
 * country. */
static tide_slice country_of(json_t *fields)
{
    static const char *const names[] = { "address-country-code", "issuing-country",
                                         "selected-country-code" };
    for (size_t i = 0; i < TIDE_COUNT(names); i++) {
        json_t *field = json_object_get(fields, names[i]);
        tide_slice country = tide_kyc_country_at(json_is_object(field) ? field : fields,
                                                 json_is_object(field) ? "value" : names[i]);
        if (country.len)
            return country;
    }
    return (tide_slice){ 0 };
}

static tide_slice map_decision(struct tide_kyc_decision *out, json_t *inquiry)
{
    json_t *fields = tide_kyc_at(inquiry, "attributes.fields");
    json_t *end = json_object_get(fields, "expiration-date");
    map_status(out, tide_kyc_text_at(inquiry, "attributes.status"));
    tide_kyc_ends(out, json_is_object(end) ? json_object_get(end, "value") : end);
    return country_of(fields);
}

const struct tide_kyc_adapter tide_kyc_persona = {
    .type = "persona",
    .link_s = 86400,
    .create = create_page,
    .check = check_webhook,
    .read = read_event,
    .sign = sign_request,
    .path = "/api/v1/inquiries/",
    .path_end = "",
    .decision = "data",
    .id = "id",
    .ref = "attributes.reference-id",
    .decided = "attributes.decisioned-at",
    .level = "relationships.inquiry-template.data.id",
    .gone = "attributes.redacted-at",
    .map = map_decision,
};
