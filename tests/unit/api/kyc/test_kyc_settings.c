/* The KYC file: accepted values, refusals with their texts, and the integrator of a key and of an
 * origin. */
#include "api/kyc/base/settings.h"
#include "tests/unit/api/kyc/kyc_settings.h"
#include "tidemark/text.h"
#include "tidemark/url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct tide_kyc_settings *parse_settings(const char *text)
{
    struct tide_kyc_settings *s = NULL;
    struct tide_err err = { 0 };
    if (tide_kyc_settings_parse(&s, tide_slice_str(text), &err))
        fail_msg("%s", err.text);
    return s;
}

static void a_file_is_read(void **state)
{
    (void)state;
    struct tide_kyc_settings *s = parse_settings(KYC_FILE);
    assert_string_equal(s->public_url, "https://kyc.example");
    assert_string_equal(s->home_domain, "kyc.example");
    assert_non_null(s->challenge);
    assert_int_equal(s->reference_key[31], 0x11);
    assert_int_equal(s->metadata_key[0], 0x22);
    assert_int_equal(s->token_key[7], 0x33);
    assert_false(s->open);
    assert_int_equal(s->attestation_days, 365);
    assert_int_equal(s->sessions_per_address_day, 5);
    assert_int_equal(s->revocations_per_hour, 20);
    assert_int_equal(s->provider_count, TIDE_KYC_TYPE_COUNT);
    for (int type = 0; type < TIDE_KYC_TYPE_COUNT; type++)
        assert_int_equal(s->providers[type].type, type);
    tide_kyc_settings_release(s);
}

static void providers_are_completed(void **state)
{
    (void)state;
    struct tide_kyc_settings *s = parse_settings(KYC_FILE);
    const struct tide_kyc_provider *p = s->providers;
    assert_string_equal(p[TIDE_KYC_SANDBOX].hosts[0], "kyc.example");
    assert_string_equal(p[TIDE_KYC_SUMSUB].base_url, "https://api.sumsub.com");
    assert_int_equal(p[TIDE_KYC_SUMSUB].algorithm, TIDE_KYC_SHA256);
    assert_int_equal(p[TIDE_KYC_SUMSUB].secret_count, 2);
    assert_int_equal(p[TIDE_KYC_SUMSUB].secrets[0].not_after, 0);
    assert_int_equal(p[TIDE_KYC_SUMSUB].secrets[1].not_after, 1780272000);
    assert_string_equal(p[TIDE_KYC_SUMSUB].frame_hosts[0], "in.sumsub.com");
    assert_string_equal(p[TIDE_KYC_PERSONA].frame_hosts[0], "inquiry.withpersona.com");
    assert_false(p[TIDE_KYC_PERSONA].live);
    assert_true(p[TIDE_KYC_VERIFF].live);
    assert_string_equal(p[TIDE_KYC_VERIFF].secrets[0].text, "veriff-shared");
    assert_int_equal(p[TIDE_KYC_VERIFF].timeout_ms, 2000);
    assert_int_equal(p[TIDE_KYC_DIDIT].timeout_ms, 10000);
    assert_int_equal(p[TIDE_KYC_DIDIT].secrets[0].not_after, 0);
    assert_ptr_equal(tide_kyc_provider_of(s, TIDE_SLICE("didit")), &p[TIDE_KYC_DIDIT]);
    assert_null(tide_kyc_provider_of(s, TIDE_SLICE("didi")));
    assert_null(tide_kyc_provider_of(s, TIDE_SLICE("")));
    tide_kyc_settings_release(s);
}

#define PROVIDERS(list) KYC_HEAD "\"providers\":[" list "]}"
#define SUMSUB(members)                                                                         \
    PROVIDERS("{\"key\":\"s\",\"type\":\"sumsub\",\"name\":\"S\",\"apiKey\":\"PLANTED\","       \
              "\"apiSecret\":\"PLANTED\",\"environment\":\"live\",\"hosts\":[\"a.b\"]," members \
              "}")
#define HOOKS "\"webhookSecrets\":[{\"secret\":\"PLANTED-1\"}]"

/* clang-format off */
static const struct {
    const char *text, *message;
} refused[] = {
    { "",                                                   "line" },
    { "[]",                                                 "/: expected an object" },
    { "{\"open\":PLANTED}",                                 "line 1: not JSON" },
    { "{\"open\":true,\"open\":true}",                      "line 1: not JSON, or an object with a member twice" },
    { "{}",                                                 "/publicUrl: is missing" },
    { "{\"PLANTED secret\":1}",                             "/?: no such member here" },
    { "{\"publicURL\":1}",                                  "/publicURL: no such member here" },
    { "{\"publicUrl\":\"http://kyc.example\"}",             "/publicUrl: expected https://" },
    { "{\"publicUrl\":\"https://kyc.example/a\"}",          "/publicUrl: expected scheme and host only" },
    { "{\"publicUrl\":\"https://kyc.example\"," KYC_KEYS "}", "/providers: is missing" },
    { "{\"publicUrl\":\"https://kyc.example\",\"challengeSeed\":\"SPLANTED\"}", "/challengeSeed: expected a secret seed" },
    { "{\"publicUrl\":\"https://kyc.example\",\"challengeSeed\":\"" KYC_SEED "\",\"referenceKey\":\"PLANTED\"}",
                                                            "/referenceKey: expected 64 hexadecimal digits" },
    { "{\"publicUrl\":\"https://kyc.example\",\"challengeSeed\":\"" KYC_SEED "\",\"referenceKey\":" KYC_KEY("11")
      ",\"metadataKey\":" KYC_KEY("22") ",\"tokenKey\":" KYC_KEY("44") ",\"intentKey\":" KYC_KEY("44") ",\"providers\":[" KYC_SANDBOX "]}",
                                                            "two of them are the same" },
    { PROVIDERS(""),                                        "/providers: expected a list of 1..8" },
    { PROVIDERS("7"),                                       "/providers/0: expected an object" },
    { PROVIDERS("{}"),                                      "/providers/0/type: expected sandbox" },
    { PROVIDERS("{\"type\":\"onfido\"}"),                   "/providers/0/type: expected sandbox" },
    { PROVIDERS(KYC_SANDBOX "," KYC_SANDBOX),               "/providers/1/key: another provider has it" },
    { PROVIDERS("{\"type\":\"sandbox\",\"apiKey\":\"PLANTED\"}"), "/providers/0/apiKey: no such member here" },
    { PROVIDERS("{\"type\":\"sandbox\",\"key\":\"PLANTED\"}"), "/providers/0/key: expected 1..32 of a-z" },
    { SUMSUB(HOOKS),                                        "/providers/0/level: is missing" },
    { SUMSUB(HOOKS ",\"level\":\"a\\nb\""),                 "/providers/0/level: expected a text of 1..128 bytes" },
    { SUMSUB(HOOKS ",\"level\":\"l\",\"algorithm\":\"md5\""), "/providers/0/algorithm: expected sha1, sha256 or sha512" },
    { SUMSUB(HOOKS ",\"level\":\"l\",\"timeoutMs\":50"),    "/providers/0/timeoutMs: expected a whole number, 100..30000" },
    { SUMSUB(HOOKS ",\"level\":\"l\",\"timeoutMs\":\"PLANTED\""), "/providers/0/timeoutMs: expected a whole number" },
    { SUMSUB(HOOKS ",\"level\":\"l\",\"baseUrl\":\"https://a@b\""), "/providers/0/baseUrl: expected https://" },
    { SUMSUB(HOOKS ",\"level\":\"l\",\"baseUrl\":\"https://a/\""), "/providers/0/baseUrl: expected a URL without query" },
    { SUMSUB("\"level\":\"l\""),                            "/providers/0/webhookSecrets: is missing" },
    { SUMSUB("\"level\":\"l\",\"webhookSecrets\":[]"),      "/providers/0/webhookSecrets: expected a list of 1..3" },
    { SUMSUB("\"level\":\"l\",\"webhookSecrets\":[\"PLANTED\"]"), "/providers/0/webhookSecrets/0: expected an object" },
    { SUMSUB("\"level\":\"l\",\"webhookSecrets\":[{\"secret\":\"short\"}]"), "/providers/0/webhookSecrets/0: expected a secret of 8" },
    { SUMSUB("\"level\":\"l\",\"webhookSecrets\":[{\"secret\":\"PLANTED 1\"}]"), "/providers/0/webhookSecrets/0/secret: expected ASCII" },
    { SUMSUB("\"level\":\"l\",\"webhookSecrets\":[{\"secret\":\"PLANTED1\",\"notAfter\":\"soon\"}]"),
                                                            "/providers/0/webhookSecrets/0/notAfter: expected an RFC 3339 time" },
    { PROVIDERS("{\"key\":\"s\",\"type\":\"sumsub\",\"name\":\"S\",\"apiKey\":\"sbx:PLANTED\",\"level\":\"l\","
      "\"apiSecret\":\"PLANTED\",\"environment\":\"live\",\"hosts\":[\"a.b\"]," HOOKS "}"), "/providers/0/environment: the apiKey" },
    { KYC_HEAD "\"providers\":[" KYC_SANDBOX "],\"integrators\":[]}", "/integrators: no such member here: see tidemark-indexer integrator" },
};
/* clang-format on */

static void what_is_wrong_is_named_and_never_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(refused); i++) {
        struct tide_kyc_settings *s = NULL;
        struct tide_err err = { 0 };
        tide_status status = tide_kyc_settings_parse(&s, tide_slice_str(refused[i].text), &err);
        if (!strstr(err.text, refused[i].message) || strstr(err.text, "PLANTED"))
            fail_msg("row %zu: %s\nwanted: %s", i, err.text, refused[i].message);
        assert_int_equal(status, TIDE_E_CONFIG);
        assert_null(s);
    }
}

static void write_file(const char *path, mode_t mode)
{
    FILE *file = fopen(path, "wbe");
    assert_non_null(file);
    fputs(KYC_FILE, file);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

static void a_file_that_others_may_read_is_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/tide-kyc-XXXXXX", link[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct tide_kyc_settings *s = NULL;
    struct tide_err err = { 0 };
    static const mode_t modes[] = { 0644, 0640, 0604, 0660, 0610 };
    for (size_t i = 0; i < TIDE_COUNT(modes); i++) {
        write_file(path, modes[i]);
        assert_int_equal(tide_kyc_settings_load(&s, path, &err), TIDE_E_CONFIG);
        assert_non_null(strstr(err.text, "0600"));
    }
    write_file(path, 0600);
    assert_int_equal(tide_kyc_settings_load(&s, path, &err), TIDE_OK);
    tide_kyc_settings_release(s);
    snprintf(link, sizeof link, "%s.link", path);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(tide_kyc_settings_load(&s, link, &err), TIDE_E_CONFIG);
    unlink(link);
    unlink(path);
}

static void hosts_are_read_as_browsers_read_them(void **state)
{
    (void)state;
    static const struct {
        const char *url, *host;
        bool want;
    } rows[] = {
        { "https://verify.example/x?y=z", "verify.example", true },
        { "https://VERIFY.example", "verify.example", true },
        { "https://verify.example:443/x", "verify.example", true },
        { "https://verify.example:8443/x", "verify.example", false },
        { "https://verify.example:8443/x", "verify.example:8443", true },
        { "https://verify.example/x", "verify.example:8443", false },
        { "https://verify.example.evil/x", "verify.example", false },
        { "https://evil/verify.example", "verify.example", false },
        { "https://verify.example@evil/x", "verify.example", false },
        { "https://evil\\@verify.example/", "verify.example", false },
        { "https://evil#@verify.example/", "verify.example", false },
        { "https://verify.example\t.evil/", "verify.example", false },
        { "https:/verify.example/", "verify.example", false },
        { "https:verify.example/", "verify.example", false },
        { "//verify.example/", "verify.example", false },
        { "javascript://verify.example/%0aalert(1)", "verify.example", false },
        { "http://verify.example/", "verify.example", false },
        { "http://127.0.0.1:8080/a", "127.0.0.1", true },
        { "http://localhost/a", "localhost", true },
        { "http://localhost.evil/a", "localhost", false },
        { "https://[::1]/", "::1", false },
        { "https://verify..example/", "verify..example", false },
        { "https://verify.example:0/", "verify.example", false },
        { "https://verify.example:1/", "verify.example:1", true },
        { "https://verify.example:65535/", "verify.example:65535", true },
        { "https://verify.example:65536/", "verify.example", false },
        { "https://verify.example:99999/", "verify.example", false },
        { "https://verify.example:0443/", "verify.example", false },
        { "https://verify.example:00/", "verify.example", false },
        { "https://verify.example:/", "verify.example", false },
        { "https://verify.example:+1/", "verify.example", false },
        { "https://", "", false },
    };
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        struct tide_kyc_url url;
        bool got = tide_kyc_url_read(&url, tide_slice_str(rows[i].url)) &&
                   tide_kyc_host_is(&url, rows[i].host);
        if (got != rows[i].want)
            fail_msg("%s of %s: %d", rows[i].url, rows[i].host, got);
    }
}

int test_kyc_settings(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(providers_are_completed),
        cmocka_unit_test(what_is_wrong_is_named_and_never_shown),
        cmocka_unit_test(a_file_that_others_may_read_is_refused),
        cmocka_unit_test(hosts_are_read_as_browsers_read_them),
    };
    return cmocka_run_group_tests_name("kyc settings", tests, NULL, NULL);
}
