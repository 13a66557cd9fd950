/* Adapter for Sumsub. A person is an applicant, identified by Tidemark's reference. Sumsub signs no
 * delivery time, so webhooks are deduplicated by the hash of their body. */
#include "api/kyc/providers/provider_impl.h"
#include "tidemark/text.h"
#include "tidemark/url.h"

enum { LINK_S = 86400, PATH_BYTES = 600 }; /* LINK_S: the link is asked for that long */
static_assert(PATH_BYTES >=
                  sizeof "/resources/applicants?levelName=" + (size_t)3 * TIDE_KYC_TEXT_BYTES,
              "any level fits, also if each byte is escaped");

/* --- calls -------------------------------------------------------------------------------- */

void tide_kyc_sumsub_message(struct tide_buf *out, int64_t now, tide_slice base,
                             const struct tide_kyc_question *question)
{
    assert(question->path);
    tide_buf_putf(out, "%" PRId64 "%s", now, question->method == TIDE_HTTP_POST ? "POST" : "GET");
    tide_buf_slice(out, base);
    tide_buf_str(out, question->path);
    tide_buf_slice(out, question->body);
}

static bool sign_request(const struct tide_kyc_call *call, const struct tide_kyc_question *question,
                         struct tide_kyc_lines *out)
{
    struct tide_kyc_url base;
    struct tide_buf message;
    uint8_t mac[TIDE_HMAC_BYTES_MAX];
    char hex[2 * TIDE_HASH_BYTES + 1] = "";
    if (!tide_kyc_url_read(&base, tide_slice_str(call->provider->base_url)))
        return false;
    tide_buf_init(&message, TIDE_KYC_BODY_MAX);
    tide_kyc_sumsub_message(&message, call->now, base.rest, question);
    bool good = !message.failed;
    if (good)
        tide_hmac(TIDE_HMAC_SHA256, mac, tide_slice_str(call->provider->api_secret),
                  tide_buf_view(&message));
    tide_hex(hex, tide_slice_of(mac, good ? TIDE_HASH_BYTES : 0));
    tide_buf_release(&message);
    tide_kyc_line(out, "X-App-Token: %s", call->provider->api_key);
    tide_kyc_line(out, "X-App-Access-Ts: %" PRId64, call->now);
    tide_kyc_line(out, "X-App-Access-Sig: %s", hex);
    return good;
}

static void put_percent(struct tide_buf *buf, const char *text)
{
    for (; *text; text++) {
        uint8_t c = (uint8_t)*text;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~", c);
        tide_buf_putf(buf, plain ? "%c" : "%%%02X", c);
    }
}

/* --- create ------------------------------------------------------------------------------- */

/* Fetches the existing applicant of a reference. */
static tide_status find_applicant(const struct tide_kyc_call *call, const char *ref, json_t **out,
                                  struct tide_err *err)
{
    char path[PATH_BYTES];
    uint32_t code;
    snprintf(path, sizeof path, "/resources/applicants/-;externalUserId=%s/one", ref);
    const struct tide_kyc_question question = {
        .adapter = &tide_kyc_sumsub, .method = TIDE_HTTP_GET, .path = path, .about = ref
    };
    return tide_kyc_ask(call, &question, out, &code, err);
}

/* Creates the applicant before the link, so that its id is known even if the person never opens the
 * page. 409: the applicant exists already. */
static tide_status make_applicant(const struct tide_kyc_call *call, const char *ref, json_t **out,
                                  bool *known, struct tide_err *err)
{
    struct tide_buf path, body;
    uint32_t code = 0;
    tide_buf_init(&path, PATH_BYTES);
    tide_buf_init(&body, PATH_BYTES);
    tide_buf_str(&path, "/resources/applicants?levelName=");
    put_percent(&path, call->provider->level);
    tide_buf_u8(&path, '\0');
    tide_buf_u8(&body, '{');
    tide_kyc_put(&body, (const char *const[]){ "externalUserId", ref, NULL });
    tide_buf_u8(&body, '}');
    body.failed |= path.failed;
    tide_status status = tide_kyc_post(call,
                                       (struct tide_kyc_question){ .adapter = &tide_kyc_sumsub,
                                                                   .path = (const char *)path.ptr,
                                                                   .accept = 409 },
                                       &body, out, &code, err);
    tide_buf_release(&path);
    *known = !status && code == 409;
    return *known ? find_applicant(call, ref, out, err) : status;
}

/* Requests the link to the WebSDK page, which is valid for LINK_S. */
static tide_status make_link(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                             json_t **out, struct tide_err *err)
{
    struct tide_buf body;
    uint32_t code;
    tide_buf_init(&body, TIDE_KYC_BODY_MAX);
    tide_buf_u8(&body, '{');
    tide_kyc_put(&body, (const char *const[]){ "levelName", call->provider->level, "userId",
                                               order->ref, NULL });
    tide_buf_putf(&body, ",\"ttlInSecs\":%d,\"redirect\":{", LINK_S);
    tide_kyc_put(&body, (const char *const[]){ "successUrl", order->return_url, "rejectUrl",
                                               order->return_url, NULL });
    tide_buf_str(&body, "}}");
    return tide_kyc_post(
        call,
        (struct tide_kyc_question){ .adapter = &tide_kyc_sumsub,
                                    .path = "/resources/sdkIntegrations/levels/-/websdkLink" },
        &body, out, &code, err);
}

static tide_status create_page(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                               struct tide_kyc_page *out, struct tide_err *err)
{
    json_t *applicant = NULL, *link = NULL;
    tide_status status = make_applicant(call, order->ref, &applicant, &out->known, err);
    if (!status)
        status = make_link(call, order, &link, err);
    if (!status)
        status = tide_kyc_page_of(call, out, tide_kyc_at(applicant, "id"), tide_kyc_at(link, "url"),
                                  err);
    tide_json_wipe(applicant);
    tide_json_wipe(link);
    return status;
}

/* --- verify ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    enum tide_hmac hmac;
} algorithms[] = {
    [TIDE_KYC_SHA256] = { "HMAC_SHA256_HEX", TIDE_HMAC_SHA256 },
    [TIDE_KYC_SHA1] = { "HMAC_SHA1_HEX", TIDE_HMAC_SHA1 },
    [TIDE_KYC_SHA512] = { "HMAC_SHA512_HEX", TIDE_HMAC_SHA512 },
};

static_assert(TIDE_COUNT(algorithms) == TIDE_KYC_SHA512 + 1, "a row for each algorithm");

static enum tide_kyc_verdict read_event(const struct tide_kyc_provider *provider,
                                        const struct tide_kyc_hook *hook, json_t *root,
                                        struct tide_kyc_event *out)
{
    (void)hook;
    out->occurred_ms = tide_kyc_ms(tide_kyc_text_at(root, "createdAtMs"));
    const struct tide_kyc_named named = { root, tide_kyc_at(root, "applicantId"),
                                          tide_kyc_at(root, "externalUserId") };
    return tide_kyc_concerns(provider, &named, out);
}

/* The KYC file pins the digest's algorithm, so that a forged header cannot choose a weaker one. */
static const char *check_webhook(const struct tide_kyc_provider *provider,
                                 const struct tide_kyc_hook *hook, struct tide_kyc_event *out)
{
    tide_slice digest, algorithm;
    assert(provider->algorithm < TIDE_COUNT(algorithms));
    if (!tide_kyc_header(hook, "X-Payload-Digest", &digest))
        return "no_signature";
    if (!tide_kyc_header(hook, "X-Payload-Digest-Alg", &algorithm) ||
        !tide_slice_eq_str(algorithm, algorithms[provider->algorithm].name))
        return "algorithm";
    struct tide_kyc_signed what = { .algorithm = algorithms[provider->algorithm].hmac };
    return tide_kyc_signature(provider, hook, what, digest, &out->secret) ? NULL : "signature";
}

/* --- fetch -------------------------------------------------------------------------------- */

void tide_kyc_sumsub_because(struct tide_kyc_decision *out, json_t *labels)
{
    static const struct tide_kyc_label shown[] = {
        { "UNSATISFACTORY_PHOTOS", "document_unreadable" },
        { "LOW_QUALITY", "document_unreadable" },
        { "BLACK_AND_WHITE", "document_unreadable" },
        { "SCREENSHOTS", "document_unreadable" },
        { "INCOMPLETE_DOCUMENT", "document_incomplete" },
        { "DOCUMENT_PAGE_MISSING", "document_incomplete" },
        { "FRONT_SIDE_MISSING", "document_incomplete" },
        { "BACK_SIDE_MISSING", "document_incomplete" },
        { "EXPIRATION_DATE", "document_expired" },
        { "DOCUMENT_DAMAGED", "document_damaged" },
        { "NOT_DOCUMENT", "document_unsupported" },
        { "BAD_SELFIE", "face_unclear" },
        { "BAD_VIDEO_SELFIE", "face_unclear" },
        { "PROBLEMATIC_APPLICANT_DATA", "details_differ" },
        { "WRONG_ADDRESS", "details_differ" },
        { NULL, NULL },
    };
    for (size_t i = 0; i < json_array_size(labels) && (i == 0 || out->reason); i++)
        tide_kyc_because(out, shown, tide_kyc_label_of(json_array_get(labels, i)));
}

/* Maps a completed review: GREEN, or RED with RETRY or FINAL. Other combinations are doubtful. */
static void map_completed(struct tide_kyc_decision *out, json_t *root)
{
    tide_slice answer = tide_kyc_text_at(root, "review.reviewResult.reviewAnswer");
    tide_slice kind = tide_kyc_text_at(root, "review.reviewResult.reviewRejectType");
    bool red = tide_slice_eq_str(answer, "RED");
    if (tide_slice_eq_str(answer, "GREEN"))
        out->state = TIDE_KYC_APPROVED;
    else if (red && tide_slice_eq_str(kind, "RETRY"))
        out->state = TIDE_KYC_ACTION_REQUIRED;
    else if (red && tide_slice_eq_str(kind, "FINAL"))
        out->state = TIDE_KYC_DECLINED;
    else
        tide_kyc_unknown(out);
    tide_kyc_sumsub_because(out, tide_kyc_at(root, "review.reviewResult.rejectLabels"));
}

static void map_status(struct tide_kyc_decision *out, json_t *root)
{
    static const struct tide_kyc_word words[] = {
        { "init", TIDE_KYC_CREATED },
        { "pending", TIDE_KYC_PENDING },
        { "queued", TIDE_KYC_PENDING },
        { "prechecked", TIDE_KYC_PENDING },
        { "awaitingService", TIDE_KYC_PENDING }, /* also beside a GREEN answer */
        { "awaitingUser", TIDE_KYC_ACTION_REQUIRED },
        { "onHold", TIDE_KYC_REVIEW },
        { NULL, TIDE_KYC_REVIEW },
    };
    tide_slice status = tide_kyc_text_at(root, "review.reviewStatus");
    if (tide_slice_eq_str(status, "completed")) {
        map_completed(out, root);
        return;
    }
    tide_kyc_map(out, words, status);
}

/* Returns the country where the person lives, if the level asks for it, else the document's
 * country. */
static tide_slice map_decision(struct tide_kyc_decision *out, json_t *root)
{
    json_t *documents = tide_kyc_at(root, "info.idDocs");
    tide_slice home = tide_kyc_country_at(root, "info.addresses.0.country");
    tide_slice issued = tide_kyc_country_each(documents, "country");
    map_status(out, root);
    tide_kyc_ends_each(out, documents, "validUntil");
    return home.len ? home : issued.len ? issued : tide_kyc_country_at(root, "info.country");
}

const struct tide_kyc_adapter tide_kyc_sumsub = { .type = "sumsub",
                                                  .link_s = LINK_S,
                                                  .create = create_page,
                                                  .check = check_webhook,
                                                  .read = read_event,
                                                  .sign = sign_request,
                                                  .path = "/resources/applicants/",
                                                  .path_end = "/one",
                                                  .decision = "",
                                                  .id = "id",
                                                  .ref = "externalUserId",
                                                  .decided = "review.reviewDate",
                                                  .level = "review.levelName",
                                                  .gone = "deleted",
                                                  .map = map_decision };
