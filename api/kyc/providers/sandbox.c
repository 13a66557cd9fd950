/* Adapter for the sandbox, Tidemark's own provider for test networks. Its API is the table
 * kyc.sandbox and its pages are Tidemark's. It sends webhooks like the other providers:
 *
 *   POST …/api/kyc/webhook/{key}      X-Sandbox-Signature: hex of HMAC-SHA256(secret, t "." body)
 *   {"event":"decided","id":…,"ref":…,"timestamp":t}      t in unix seconds */
#include "api/kyc/providers/provider_impl.h"
#include "tidemark/pg.h"
#include "tidemark/text.h"

/* Derives the id from the order, so that a repeated order is the same person. */
static void id_of(char out[TIDE_KYC_ID_BYTES], const struct tide_kyc_order *order)
{
    struct tide_sha256 h;
    uint8_t hash[TIDE_HASH_BYTES];
    static_assert(4 + 32 < TIDE_KYC_ID_BYTES && sizeof hash >= 16, "the id fits");
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(order->ref, strlen(order->ref) + 1));
    tide_sha256_update(&h, tide_slice_str(order->session_id));
    tide_sha256_final(&h, hash);
    memcpy(out, "sbx_", 4);
    tide_hex(out + 4, tide_slice_of(hash, 16));
    out[4 + 32] = '\0';
}

static tide_status create_page(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                               struct tide_kyc_page *out, struct tide_err *err)
{
    id_of(out->provider_id, order);
    int len = snprintf(out->url, sizeof out->url, "%s/kyc/sandbox/%s", call->settings->public_url,
                       out->provider_id);
    assert(len > 0 && (size_t)len < sizeof out->url);
    (void)len;
    if (!tide_kyc_host_allowed(call->provider, out->url))
        return tide_fail(err, TIDE_E_CONFIG,
                         "the host of /publicUrl is not in the sandbox provider's hosts");
    return tide_pg_query(call->pg, NULL,
                         "INSERT INTO kyc.sandbox (id, ref) VALUES ($1, $2) ON CONFLICT (id) DO "
                         "NOTHING",
                         (const char *[]){ out->provider_id, order->ref }, 2, err);
}

/* --- verify ------------------------------------------------------------------------------- */

/* Finds the timestamp's digits in the body, which is not yet verified. Returns "" without one. */
static tide_slice time_of(tide_slice body)
{
    static const char name[] = "\"timestamp\":";
    const uint8_t *at = body.len ? memmem(body.ptr, body.len, name, sizeof name - 1) : NULL;
    if (!at)
        return (tide_slice){ 0 };
    at += sizeof name - 1;
    const uint8_t *end = body.ptr + body.len;
    while (at < end && *at == ' ')
        at++;
    size_t len = 0;
    while (at + len < end && at[len] >= '0' && at[len] <= '9')
        len++;
    return tide_slice_of(at, len);
}

/* The parsed time must be the one that was signed. */
static enum tide_kyc_verdict read_event(const struct tide_kyc_provider *provider,
                                        const struct tide_kyc_hook *hook, json_t *root,
                                        struct tide_kyc_event *out)
{
    (void)hook;
    if (json_integer_value(json_object_get(root, "timestamp")) != out->occurred_ms / 1000)
        return tide_kyc_malformed(out, "time");
    if (tide_slice_eq_str(tide_kyc_text_at(root, "event"), "ping"))
        return tide_kyc_irrelevant(out, "event");
    const struct tide_kyc_named named = { root, json_object_get(root, "id"),
                                          json_object_get(root, "ref") };
    return tide_kyc_concerns(provider, &named, out);
}

/* The time must be read from the unverified body, because it is part of the signed text. */
static const char *check_webhook(const struct tide_kyc_provider *provider,
                                 const struct tide_kyc_hook *hook, struct tide_kyc_event *out)
{
    tide_slice signature, t = time_of(hook->body);
    char before[24];
    uint64_t time;
    if (!tide_kyc_header(hook, "X-Sandbox-Signature", &signature))
        return "no_signature";
    if (tide_parse_u64(&time, t, INT64_MAX / 1000) != TIDE_OK || t.len + 1 >= sizeof before)
        return "time";
    assert(t.ptr && t.len > 0); /* the text was parsed as a number */
    memcpy(before, t.ptr, t.len);
    before[t.len] = '.';
    struct tide_kyc_signed what = { TIDE_HMAC_SHA256, tide_slice_of(before, t.len + 1) };
    if (!tide_kyc_signature(provider, hook, what, signature, &out->secret))
        return "signature";
    out->occurred_ms = (int64_t)time * 1000;
    return tide_kyc_is_near((int64_t)time, hook->now) ? NULL : "time";
}

/* --- fetch -------------------------------------------------------------------------------- */

static const struct tide_kyc_word words[] = {
    { "pending", TIDE_KYC_PENDING },   { "approved", TIDE_KYC_APPROVED },
    { "declined", TIDE_KYC_DECLINED }, { "resubmit", TIDE_KYC_ACTION_REQUIRED },
    { "expired", TIDE_KYC_EXPIRED },   { NULL, TIDE_KYC_REVIEW },
};

/* The reasons that the sandbox's page offers. */
static const struct tide_kyc_label labels[] = {
    { "document_unreadable", "document_unreadable" },
    { "document_expired", "document_expired" },
    { "document_unsupported", "document_unsupported" },
    { "face_unclear", "face_unclear" },
    { "details_differ", "details_differ" },
    { NULL, NULL },
};

/* Reads the decision from the table, like an adapter that calls an API. */
static tide_status fetch_decision(const struct tide_kyc_call *call, const char *provider_id,
                                  struct tide_kyc_decision *out, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        call->pg, &rows,
        "SELECT decision, country, (1000 * extract(epoch FROM decided_at))::bigint, ref,"
        " coalesce(reason, '')"
        " FROM kyc.sandbox WHERE id = $1",
        (const char *[]){ provider_id }, 1, err);
    if (status)
        return status;
    assert(rows.columns == 5 && rows.count <= 1);
    *out = (struct tide_kyc_decision){ 0 };
    if (rows.count == 0) {
        status = tide_fail(err, TIDE_E_MISSING, "the sandbox has no such check");
    } else {
        tide_kyc_map(out, words, tide_pg_slice(&rows, 0, 0));
        out->decided_ms = (int64_t)tide_pg_u64(&rows, 0, 2);
        snprintf(out->ref, sizeof out->ref, "%s", tide_pg_text(&rows, 0, 3));
        tide_kyc_because(out, labels, tide_pg_slice(&rows, 0, 4));
        tide_kyc_settle(out, call->provider, NULL, tide_pg_slice(&rows, 0, 1));
    }
    tide_pg_rows_release(&rows);
    return status;
}

const struct tide_kyc_adapter tide_kyc_sandbox = { .type = "sandbox",
                                                   .link_s = 86400,
                                                   .create = create_page,
                                                   .check = check_webhook,
                                                   .read = read_event,
                                                   .fetch = fetch_decision };
