/* Webhooks of providers: their published test vectors, and which webhooks each adapter accepts. */
#include "api/kyc/providers/provider_impl.h"
#include "tests/unit/api/kyc/kyc_settings.h"
#include "tidemark/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include <cmocka.h>

#define REF "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567" /* in the form of Tidemark's references */

enum { NOW = 1780000000 }; /* 2026-05-28; the former secrets end on 2026-06-01 */

/* --- vectors ---------------------------------------------------------------------------------- */

#define ONFIDO                                                                                   \
    "{\"payload\":{\"resource_type\":\"workflow_task\",\"action\":\"workflow_task.started\","    \
    "\"object\":{\"id\":\"profile_1eb92\",\"task_spec_id\":\"profile_1eb92\","                   \
    "\"task_def_id\":\"profile_data\","                                                          \
    "\"workflow_run_id\":\"bc77c6e5-753a-4580-96a6-aaed3e5a8d19\",\"status\":\"started\","       \
    "\"started_at_iso8601\":\"2024-07-10T12:49:09Z\",\"href\":\"https://api.eu.onfido.com/v3.6/" \
    "workflow_runs/bc77c6e5-753a-4580-96a6-aaed3e5a8d19/tasks/profile_1eb92\"},\"resource\":{"   \
    "\"created_at\":\"2024-07-10T12:49:09Z\",\"id\":\"profile_1eb92\","                          \
    "\"workflow_run_id\":\"bc77c6e5-753a-4580-96a6-aaed3e5a8d19\","                              \
    "\"updated_at\":\"2024-07-10T12:49:09Z\",\"input\":{},\"task_def_version\":null,"            \
    "\"task_def_id\":\"profile_data\",\"output\":null}}}"

/* clang-format off */
static const struct {
    const char *key, *message, *hex;
    enum tide_hmac algorithm;
} vectors[] = {
    { "9d7e80c0f169ab94d34392d64617b7517fb07c40",
      "{\"type\":\"verification_approved\",\"data\":{\"level\":\"basic\",\"user_id\":\"b5c5a2cd-643e-444b-9591-e7b25fec997d\","
      "\"timestamp\":\"2020-10-09T10:50:32Z\"}}", "9e581dd775e5ba87e9839b595d6eb0d784ecfdb6", TIDE_HMAC_SHA1 },
    { "SUP3RS3CR3T", "my-payload", "6a89633e5f131bfb5f0b5826b33b3bab4bf52068", TIDE_HMAC_SHA1 },
    { "YKOC6mkBxi6yK2zlUIrLMvsJMFEZObP5", ONFIDO,
      "c95a5b785484f6fa1bc25f381b5595d66bf85cb442eefb06aa007802ee6a4dfa", TIDE_HMAC_SHA256 },
    { "SoMe_SeCrEt_KeY", "someTextToSign",
      "b0a5eb2b75f74312528ef1730b1c6046d7a15c2071d6a8e805a5e4a6b64de71a", TIDE_HMAC_SHA256 },
};
/* clang-format on */

static void published_digests_are_ours(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(vectors); i++) {
        uint8_t mac[TIDE_HMAC_BYTES_MAX];
        char hex[2 * TIDE_HMAC_BYTES_MAX + 1] = "";
        size_t len = tide_hmac(vectors[i].algorithm, mac, tide_slice_str(vectors[i].key),
                               tide_slice_str(vectors[i].message));
        tide_hex(hex, tide_slice_of(mac, len));
        assert_string_equal(hex, vectors[i].hex);
    }
}

static void the_digest_of_standard_webhooks_is_ours(void **state)
{
    (void)state;
    struct tide_buf key, text;
    uint8_t mac[TIDE_HMAC_BYTES_MAX];
    tide_buf_init(&key, 64);
    tide_buf_init(&text, 64);
    assert_int_equal(tide_buf_base64_decode(&key, TIDE_SLICE("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")),
                     TIDE_OK);
    size_t len =
        tide_hmac(TIDE_HMAC_SHA256, mac, tide_buf_view(&key),
                  TIDE_SLICE("msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}"));
    tide_buf_base64(&text, tide_slice_of(mac, len));
    assert_true(
        tide_slice_eq_str(tide_buf_view(&text), "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    tide_buf_release(&key);
    tide_buf_release(&text);
}

/* The example in Sumsub's documentation. */
static void a_request_to_sumsub_is_signed_as_documented(void **state)
{
    (void)state;
    struct tide_buf message;
    tide_buf_init(&message, 512);
    const struct tide_kyc_question question = {
        .method = TIDE_HTTP_POST,
        .path = "/resources/accessTokens?userId=cfd20712-24a2-4c7d-9ab0-146f3c142335"
                "&levelName=basic-kyc-level&ttlInSecs=600"
    };
    tide_kyc_sumsub_message(&message, 1607551635, (tide_slice){ 0 }, &question);
    assert_true(tide_slice_eq_str(
        tide_buf_view(&message),
        "1607551635POST/resources/accessTokens?userId=cfd20712-24a2-4c7d-9ab0-146f3c142335"
        "&levelName=basic-kyc-level&ttlInSecs=600"));
    tide_buf_release(&message);
}

/* --- a webhook, made as the provider makes it ------------------------------------------------- */

struct world {
    struct tide_kyc_settings *settings;
    const struct tide_kyc_provider *provider;
    struct {
        const char *name;
        char value[512];
        uint32_t times;
    } headers[4];
    uint32_t count;
    struct tide_kyc_event event;
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    struct tide_err err;
    if (tide_kyc_settings_parse(&w->settings, tide_slice_str(KYC_FILE), &err))
        return -1;
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    tide_kyc_settings_release(w->settings);
    free(w);
    return 0;
}

static tide_slice header(void *self, const char *name, uint32_t *occurrences)
{
    struct world *w = self;
    *occurrences = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        if (strcasecmp(w->headers[i].name, name) == 0) {
            *occurrences = w->headers[i].times;
            return tide_slice_str(w->headers[i].value);
        }
    }
    return (tide_slice){ 0 };
}

static void begin_webhook(struct world *w, enum tide_kyc_type type)
{
    w->provider = &w->settings->providers[type];
    w->count = 0;
}

static char *add_header(struct world *w, const char *name, const char *value)
{
    w->headers[w->count].name = name;
    w->headers[w->count].times = 1;
    snprintf(w->headers[w->count].value, sizeof w->headers[0].value, "%s", value);
    return w->headers[w->count++].value;
}

/* Writes the HMAC of `before` followed by the body as hex. */
static void put_mac(char *out, enum tide_hmac algorithm, const char *secret, const char *before,
                    const char *body)
{
    char message[2048];
    uint8_t mac[TIDE_HMAC_BYTES_MAX];
    snprintf(message, sizeof message, "%s%s", before, body);
    size_t len = tide_hmac(algorithm, mac, tide_slice_str(secret), tide_slice_str(message));
    tide_hex(out, tide_slice_of(mac, len));
    out[2 * len] = '\0';
}

static enum tide_kyc_verdict verify_at(struct world *w, const char *body, int64_t now)
{
    const struct tide_kyc_hook hook = {
        .body = tide_slice_str(body), .header = header, .self = w, .now = now
    };
    memset(&w->event, 0, sizeof w->event);
    return tide_kyc_verify(w->provider, &hook, &w->event);
}

static enum tide_kyc_verdict verify_webhook(struct world *w, const char *body)
{
    return verify_at(w, body, NOW);
}

static void assert_forged(struct world *w, const char *body, const char *why)
{
    assert_int_equal(verify_webhook(w, body), TIDE_KYC_FORGED);
    assert_string_equal(w->event.why, why);
    assert_string_equal(w->event.provider_id, "");
    assert_string_equal(w->event.ref, "");
}

/* --- sumsub ----------------------------------------------------------------------------------- */

#define SUMSUB_BODY                                                                 \
    "{\"applicantId\":\"5cb56e8e0a975a35f333cb83\",\"externalUserId\":\"" REF "\"," \
    "\"type\":\"applicantReviewed\",\"sandboxMode\":true,"                          \
    "\"createdAtMs\":\"2021-05-14 16:00:25.032\"}"

static char *sign_sumsub(struct world *w, const char *secret, const char *body)
{
    begin_webhook(w, TIDE_KYC_SUMSUB);
    char *digest = add_header(w, "x-payload-digest", "");
    put_mac(digest, TIDE_HMAC_SHA256, secret, "", body);
    add_header(w, "X-Payload-Digest-Alg", "HMAC_SHA256_HEX");
    return digest;
}

static void sumsub_is_believed_by_its_secrets(void **state)
{
    struct world *w = *state;
    sign_sumsub(w, "sumsub-webhook", SUMSUB_BODY);
    assert_int_equal(verify_webhook(w, SUMSUB_BODY), TIDE_KYC_GENUINE);
    assert_string_equal(w->event.provider_id, "5cb56e8e0a975a35f333cb83");
    assert_string_equal(w->event.ref, REF);
    assert_int_equal(w->event.occurred_ms, 1621008025032);
    assert_int_equal(w->event.secret, 0);
    assert_int_equal(strlen(w->event.key), 64);
    sign_sumsub(w, "sumsub-former", SUMSUB_BODY);
    assert_int_equal(verify_webhook(w, SUMSUB_BODY), TIDE_KYC_GENUINE);
    assert_int_equal(w->event.secret, 1);
    assert_int_equal(verify_at(w, SUMSUB_BODY, 1780272000), TIDE_KYC_GENUINE);
    assert_int_equal(verify_at(w, SUMSUB_BODY, 1780272001), TIDE_KYC_FORGED);
    sign_sumsub(w, "persona-secret", SUMSUB_BODY);
    assert_forged(w, SUMSUB_BODY, "signature");
}

static void sumsub_signatures_are_whole_and_single(void **state)
{
    struct world *w = *state;
    char *digest = sign_sumsub(w, "sumsub-webhook", SUMSUB_BODY);
    for (size_t i = 0; i < 64; i++) {
        char was = digest[i];
        digest[i] = was == '0' ? '1' : '0';
        assert_forged(w, SUMSUB_BODY, "signature");
        digest[i] = 'g';
        assert_forged(w, SUMSUB_BODY, "signature");
        digest[i] = was;
    }
    for (char *c = digest; *c; c++)
        *c = (char)(*c >= 'a' ? *c - 32 : *c);
    assert_int_equal(verify_webhook(w, SUMSUB_BODY), TIDE_KYC_GENUINE);
    assert_forged(w, SUMSUB_BODY " ", "signature");
    assert_forged(w, "", "signature");
    snprintf(digest + 64, 2, "0");
    assert_forged(w, SUMSUB_BODY, "signature");
    digest[63] = '\0';
    assert_forged(w, SUMSUB_BODY, "signature");
    digest[0] = '\0';
    assert_forged(w, SUMSUB_BODY, "no_signature");
    sign_sumsub(w, "sumsub-webhook", SUMSUB_BODY);
    w->headers[0].times = 2;
    assert_forged(w, SUMSUB_BODY, "no_signature");
    w->headers[0].times = 1;
    w->headers[1].times = 2;
    assert_forged(w, SUMSUB_BODY, "algorithm");
    w->count = 1;
    assert_forged(w, SUMSUB_BODY, "algorithm");
}

/* The signature is right, but by an algorithm that the settings do not allow. */
static void sumsub_cannot_choose_the_algorithm(void **state)
{
    struct world *w = *state;
    begin_webhook(w, TIDE_KYC_SUMSUB);
    put_mac(add_header(w, "X-Payload-Digest", ""), TIDE_HMAC_SHA1, "sumsub-webhook", "",
            SUMSUB_BODY);
    add_header(w, "X-Payload-Digest-Alg", "HMAC_SHA1_HEX");
    assert_forged(w, SUMSUB_BODY, "algorithm");
    snprintf(w->headers[1].value, sizeof w->headers[1].value, "HMAC_SHA256_HEX");
    assert_forged(w, SUMSUB_BODY, "signature");
    w->settings->providers[TIDE_KYC_SUMSUB].algorithm = TIDE_KYC_SHA1;
    snprintf(w->headers[1].value, sizeof w->headers[1].value, "HMAC_SHA1_HEX");
    assert_int_equal(verify_webhook(w, SUMSUB_BODY), TIDE_KYC_GENUINE);
    w->settings->providers[TIDE_KYC_SUMSUB].algorithm = TIDE_KYC_SHA512;
    put_mac(w->headers[0].value, TIDE_HMAC_SHA512, "sumsub-webhook", "", SUMSUB_BODY);
    assert_forged(w, SUMSUB_BODY, "algorithm");
    snprintf(w->headers[1].value, sizeof w->headers[1].value, "HMAC_SHA512_HEX");
    assert_int_equal(verify_webhook(w, SUMSUB_BODY), TIDE_KYC_GENUINE);
}

static void what_is_genuine_may_still_be_nothing(void **state)
{
    struct world *w = *state;
    static const struct {
        const char *body;
        enum tide_kyc_verdict want;
    } rows[] = {
        { "{", TIDE_KYC_MALFORMED },
        { "[]", TIDE_KYC_MALFORMED },
        { "7", TIDE_KYC_MALFORMED },
        { "{\"applicantId\":\"a\",\"applicantId\":\"b\"}", TIDE_KYC_MALFORMED },
        { "{\"applicantId\":\"../../x\"}", TIDE_KYC_MALFORMED },
        { "{\"applicantId\":\"..\"}", TIDE_KYC_MALFORMED },
        { "{\"applicantId\":\"a b\"}", TIDE_KYC_MALFORMED },
        { "{\"applicantId\":\"a\\u0000b\"}", TIDE_KYC_MALFORMED },
        { "{\"applicantId\":7}", TIDE_KYC_IRRELEVANT },
        { "{}", TIDE_KYC_IRRELEVANT },
        { "{\"applicantId\":\"a\",\"sandboxMode\":false}", TIDE_KYC_IRRELEVANT },
        { "{\"applicantId\":\"a\",\"sandboxMode\":\"true\"}", TIDE_KYC_IRRELEVANT },
        { "{\"applicantId\":\"a\"}", TIDE_KYC_GENUINE },
        { "{\"externalUserId\":\"" REF "\"}", TIDE_KYC_GENUINE },
        { "{\"applicantId\":\"a\",\"externalUserId\":\"" REF "\"}", TIDE_KYC_GENUINE },
        { "{\"applicantId\":\"a\",\"externalUserId\":null}", TIDE_KYC_GENUINE },
        { "{\"applicantId\":\"a\",\"externalUserId\":\"\"}", TIDE_KYC_GENUINE },
        { "{\"applicantId\":\"a b\",\"externalUserId\":\"" REF "\"}", TIDE_KYC_MALFORMED },
        { "{\"applicantId\":\"a\",\"externalUserId\":\"user@example.com\"}", TIDE_KYC_IRRELEVANT },
        { "{\"applicantId\":\"a b\",\"externalUserId\":\"user@example.com\"}",
          TIDE_KYC_IRRELEVANT },
        { "{\"applicantId\":\"a\",\"externalUserId\":\"" REF "A\"}", TIDE_KYC_IRRELEVANT },
        { "{\"applicantId\":\"a\",\"externalUserId\":7}", TIDE_KYC_IRRELEVANT },
    };
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        sign_sumsub(w, "sumsub-webhook", rows[i].body);
        enum tide_kyc_verdict got = verify_webhook(w, rows[i].body);
        if (got != rows[i].want)
            fail_msg("%s: %d", rows[i].body, got);
        assert_true(got == TIDE_KYC_GENUINE || w->event.why);
    }
}

/* --- persona ---------------------------------------------------------------------------------- */

#define PERSONA_BODY                                                                          \
    "{\"data\":{\"type\":\"event\",\"id\":\"evt_1\",\"attributes\":{\"name\":"                \
    "\"inquiry.approved\",\"created-at\":\"2026-05-28T20:00:00.250Z\",\"payload\":{\"data\":" \
    "{\"id\":\"inq_1\",\"attributes\":{\"status\":\"approved\",\"reference-id\":\"" REF "\"}}}}}}"

/* Appends a set (time and signature) made with that secret. */
static void add_set(char *header_value, const char *secret, int64_t t)
{
    char before[32], mac[129];
    size_t at = strlen(header_value);
    snprintf(before, sizeof before, "%" PRId64 ".", t);
    put_mac(mac, TIDE_HMAC_SHA256, secret, before, PERSONA_BODY);
    snprintf(header_value + at, 512 - at, "%st=%" PRId64 ",v1=%s", at ? " " : "", t, mac);
}

static char *persona(struct world *w)
{
    begin_webhook(w, TIDE_KYC_PERSONA);
    return add_header(w, "Persona-Signature", "");
}

static void persona_is_believed_by_any_set_with_its_own_time(void **state)
{
    struct world *w = *state;
    add_set(persona(w), "wbhsec_persona", NOW);
    assert_int_equal(verify_webhook(w, PERSONA_BODY), TIDE_KYC_GENUINE);
    assert_string_equal(w->event.key, "evt_1");
    assert_string_equal(w->event.provider_id, "inq_1");
    assert_string_equal(w->event.ref, REF);
    assert_int_equal(w->event.occurred_ms, 1779998400250);
    assert_null(w->event.why);
    char *value = persona(w); /* the first set is signed with an unknown secret */
    add_set(value, "nobody-knows-this", NOW - 5);
    add_set(value, "wbhsec_persona", NOW - 7);
    assert_int_equal(verify_webhook(w, PERSONA_BODY), TIDE_KYC_GENUINE);
    value = persona(w);
    add_set(value, "wbhsec_former", NOW - 5);
    assert_int_equal(verify_webhook(w, PERSONA_BODY), TIDE_KYC_GENUINE);
    assert_int_equal(w->event.secret, 1);
    value = persona(w); /* a valid but old set, then a valid new one */
    add_set(value, "wbhsec_former", NOW - 3600);
    add_set(value, "wbhsec_persona", NOW);
    assert_int_equal(verify_webhook(w, PERSONA_BODY), TIDE_KYC_GENUINE);
    assert_null(w->event.why);
}

static void persona_s_time_is_signed_and_near(void **state)
{
    struct world *w = *state;
    for (int64_t off = -302; off <= 302; off++) {
        add_set(persona(w), "wbhsec_persona", NOW + off);
        if (off < -300 || off > 300)
            assert_forged(w, PERSONA_BODY, "time");
        else
            assert_int_equal(verify_webhook(w, PERSONA_BODY), TIDE_KYC_GENUINE);
    }
    char *value = persona(w); /* the time of one set with the signature of another */
    add_set(value, "wbhsec_persona", NOW - 3600);
    memcpy(value + 2, "1780000000", 10);
    assert_forged(w, PERSONA_BODY, "signature");
}

static void persona_s_header_is_read_strictly(void **state)
{
    struct world *w = *state;
    static const char *const odd[] = { "t=1780000000",
                                       "v1=00",
                                       "t=,v1=",
                                       "t=1780000000,v1=",
                                       "t=-1,v1=00",
                                       "t=a,v1=00",
                                       " ",
                                       ",",
                                       "t=1780000000 v1=00",
                                       "t=99999999999999999999,v1=00",
                                       "=",
                                       "v1=,t=,,,",
                                       "x",
                                       "t=1780000000,v0=00" };
    for (size_t i = 0; i < TIDE_COUNT(odd); i++) {
        begin_webhook(w, TIDE_KYC_PERSONA);
        add_header(w, "Persona-Signature", odd[i]);
        assert_forged(w, PERSONA_BODY, "signature");
    }
    char *value = persona(w);
    add_set(value, "wbhsec_persona", NOW);
    w->headers[0].times = 2;
    assert_forged(w, PERSONA_BODY, "no_signature");
    w->count = 0;
    assert_forged(w, PERSONA_BODY, "no_signature");
    value = persona(w); /* a signature of the body alone, which no provider makes */
    snprintf(value, 512, "t=%d,v1=", NOW);
    put_mac(value + strlen(value), TIDE_HMAC_SHA256, "wbhsec_persona", "", PERSONA_BODY);
    assert_forged(w, PERSONA_BODY, "signature");
}

/* --- veriff, didit, sandbox ------------------------------------------------------------------- */

#define VERIFF_BODY                                                                        \
    "{\"status\":\"success\",\"verification\":{\"id\":\"v-1\",\"vendorData\":\"" REF "\"," \
    "\"code\":9001,\"status\":\"approved\",\"decisionTime\":\"2026-05-28T20:26:40.000Z\"}}"

static void veriff_names_us_and_signs(void **state)
{
    struct world *w = *state;
    begin_webhook(w, TIDE_KYC_VERIFF);
    add_header(w, "x-auth-client", "veriff-key");
    char *mac = add_header(w, "x-hmac-signature", "");
    put_mac(mac, TIDE_HMAC_SHA256, "veriff-shared", "", VERIFF_BODY);
    assert_int_equal(verify_webhook(w, VERIFF_BODY), TIDE_KYC_GENUINE);
    assert_string_equal(w->event.provider_id, "v-1");
    assert_string_equal(w->event.ref, REF);
    assert_int_equal(w->event.occurred_ms, (int64_t)NOW * 1000);
    assert_int_equal(verify_at(w, VERIFF_BODY, (int64_t)NOW + 86400 * 30), TIDE_KYC_GENUINE);
    snprintf(w->headers[0].value, 512, "veriff-kez");
    assert_forged(w, VERIFF_BODY, "client");
    snprintf(w->headers[0].value, 512, "veriff-key");
    w->headers[0].times = 2;
    assert_forged(w, VERIFF_BODY, "client");
    w->headers[0].times = 1;
    w->headers[1].name = "x-signature"; /* the header of the former signature scheme */
    assert_forged(w, VERIFF_BODY, "no_signature");
    w->headers[1].name = "x-hmac-signature";
    const char *flat = "{\"id\":\"v-1\",\"code\":7001,\"action\":\"started\",\"vendorData\":null}";
    put_mac(mac, TIDE_HMAC_SHA256, "veriff-shared", "", flat);
    assert_int_equal(verify_webhook(w, flat), TIDE_KYC_GENUINE);
    assert_string_equal(w->event.ref, "");
}

#define DIDIT_BODY(time)                                                                   \
    "{\"session_id\":\"d-1\",\"status\":\"Approved\",\"webhook_type\":\"status.updated\"," \
    "\"event_id\":\"e-1\",\"vendor_data\":\"" REF "\",\"timestamp\":" time "}"

static void sign_didit(struct world *w, const char *body, const char *time)
{
    begin_webhook(w, TIDE_KYC_DIDIT);
    put_mac(add_header(w, "X-Signature", ""), TIDE_HMAC_SHA256, "didit-webhook", "", body);
    add_header(w, "X-Timestamp", time);
}

static void didit_s_times_are_the_same_and_near(void **state)
{
    struct world *w = *state;
    sign_didit(w, DIDIT_BODY("1780000300"), "1780000300");
    assert_int_equal(verify_webhook(w, DIDIT_BODY("1780000300")), TIDE_KYC_GENUINE);
    assert_string_equal(w->event.key, "e-1");
    assert_string_equal(w->event.provider_id, "d-1");
    assert_string_equal(w->event.ref, REF);
    sign_didit(w, DIDIT_BODY("1780000301"), "1780000301");
    assert_forged(w, DIDIT_BODY("1780000301"), "time");
    sign_didit(w, DIDIT_BODY("1779999699"), "1779999699");
    assert_forged(w, DIDIT_BODY("1779999699"), "time");
    sign_didit(w, DIDIT_BODY("1780000000"), "1780000001");
    assert_forged(w, DIDIT_BODY("1780000000"), "time");
    sign_didit(w, DIDIT_BODY("\"1780000000\""), "1780000000");
    assert_forged(w, DIDIT_BODY("\"1780000000\""), "time");
    sign_didit(w, DIDIT_BODY("1780000000"), "1780000000");
    w->headers[0].name = "X-Signature-V2";
    assert_forged(w, DIDIT_BODY("1780000000"), "no_signature");
    w->headers[0].name = "X-Signature-Simple";
    assert_forged(w, DIDIT_BODY("1780000000"), "no_signature");
    sign_didit(w, DIDIT_BODY("1780000000"), "1780000000");
    w->count = 1;
    assert_forged(w, DIDIT_BODY("1780000000"), "time");
}

#define SANDBOX_BODY(time) \
    "{\"event\":\"decided\",\"id\":\"sbx_1\",\"ref\":\"" REF "\",\"timestamp\": " time "}"

static void the_sandbox_signs_its_time(void **state)
{
    struct world *w = *state;
    begin_webhook(w, TIDE_KYC_SANDBOX);
    char *mac = add_header(w, "X-Sandbox-Signature", "");
    const char *body = SANDBOX_BODY("1780000000");
    put_mac(mac, TIDE_HMAC_SHA256, "sandbox-webhook", "1780000000.", body);
    assert_int_equal(verify_webhook(w, body), TIDE_KYC_GENUINE);
    assert_string_equal(w->event.provider_id, "sbx_1");
    assert_string_equal(w->event.ref, REF);
    assert_int_equal(verify_at(w, body, NOW + 301), TIDE_KYC_FORGED);
    put_mac(mac, TIDE_HMAC_SHA256, "sandbox-webhook", "", body);
    assert_forged(w, body, "signature");
    assert_forged(w, "{}", "time");
    /* The body has the time in another place than the one that was signed. */
    body = "{\"id\":\"sbx_1\",\"x\":{\"timestamp\":1780000000},\"timestamp\":1}";
    put_mac(mac, TIDE_HMAC_SHA256, "sandbox-webhook", "1780000000.", body);
    assert_int_equal(verify_webhook(w, body), TIDE_KYC_MALFORMED);
}

/* --- what all of them share ------------------------------------------------------------------- */

static void times_of_providers_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t want;
    } rows[] = {
        { "2021-05-14 16:00:25.032", 1621008025032 },
        { "2020-06-24 10:01:22+0000", 1592992882000 },
        { "2020-06-24T10:01:22.123456Z", 1592992882123 },
        { "2020-06-24T12:01:22+02:00", 1592992882000 },
        { "2020-06-24T10:01:22", 1592992882000 },
        { "2020-06-24", 0 },
        { "2020-06-24 10:01:22 CET", 0 },
        { "2020-06-24 10:01:22+000000", 0 },
        { "yesterday, at about six", 0 },
        { "", 0 },
    };
    for (size_t i = 0; i < TIDE_COUNT(rows); i++)
        if (tide_kyc_ms(tide_slice_str(rows[i].text)) != rows[i].want)
            fail_msg("%s: %" PRId64, rows[i].text, tide_kyc_ms(tide_slice_str(rows[i].text)));
    assert_int_equal(tide_kyc_day_end(TIDE_SLICE("2031-02-03")), 1927929600);
    assert_int_equal(tide_kyc_day_end(TIDE_SLICE("2031-02-30")), 0);
    assert_int_equal(tide_kyc_day_end(TIDE_SLICE("2031-02-03T")), 0);
}

static void pages_are_the_provider_s(void **state)
{
    struct world *w = *state;
    const struct tide_kyc_provider *p = &w->settings->providers[TIDE_KYC_DIDIT];
    assert_true(tide_kyc_host_allowed(p, "https://verify.didit.me/session/x"));
    assert_false(tide_kyc_host_allowed(p, "http://verify.didit.me/session/x"));
    assert_false(tide_kyc_host_allowed(p, "https://verify.didit.me.evil.example/"));
    assert_false(tide_kyc_host_allowed(p, "https://verify.didit.me@evil.example/"));
    assert_false(tide_kyc_host_allowed(p, "javascript:alert(1)"));
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int test_kyc_hook(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_digests_are_ours),
        cmocka_unit_test(the_digest_of_standard_webhooks_is_ours),
        cmocka_unit_test(a_request_to_sumsub_is_signed_as_documented),
        WITH(sumsub_is_believed_by_its_secrets),
        WITH(sumsub_signatures_are_whole_and_single),
        WITH(sumsub_cannot_choose_the_algorithm),
        WITH(what_is_genuine_may_still_be_nothing),
        WITH(persona_is_believed_by_any_set_with_its_own_time),
        WITH(persona_s_time_is_signed_and_near),
        WITH(persona_s_header_is_read_strictly),
        WITH(veriff_names_us_and_signs),
        WITH(didit_s_times_are_the_same_and_near),
        WITH(the_sandbox_signs_its_time),
        cmocka_unit_test(times_of_providers_are_read),
        WITH(pages_are_the_provider_s),
    };
    return cmocka_run_group_tests_name("kyc hook", tests, NULL, NULL);
}
