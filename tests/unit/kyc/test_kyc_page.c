/* Pages of KYC: what is written into them stays text, and who may frame them is what the file says
 * of the session's integrator. */
#include "api/http/static_files.h"
#include "api/kyc/pages/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define K "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define L "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define M "2123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define N "3123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char file[] =
    "{ \"publicUrl\": \"https://kyc.example\","
    "  \"challengeSeed\": \"SD4RSF3YLHG5S4JL7VVT77DCWWHDSBMYZQXTYF3FIJVVJPPZ72JX6T6F\","
    "  \"referenceKey\": \"" K "\", \"metadataKey\": \"" L "\", \"tokenKey\": \"" M
    "\", \"intentKey\": \"" N "\","
    "  \"integrators\": [ { \"id\": \"acme\", \"name\": \"Acme <b>&\\\"\","
    "     \"keys\": [\"" K "\"],"
    "     \"origins\": [\"https://a.example\", \"https://b.example:8443\"] },"
    "   { \"id\": \"silent\", \"name\": \"S\", \"keys\": [\"" L "\"], \"origins\": [] } ],"
    "  \"providers\": [ { \"key\": \"p1\", \"type\": \"veriff\", \"name\": \"Veriff\","
    "     \"baseUrl\": \"https://stationapi.veriff.com\", \"apiKey\": \"k\", \"apiSecret\": \"s\","
    "     \"webhookSecrets\": [{ \"secret\": \"0123456789abcdef\", \"notAfter\": null }],"
    "     \"hosts\": [\"magic.veriff.me\"], \"frameHosts\": [\"magic.veriff.me\"],"
    "     \"environment\": \"sandbox\" } ] }";

struct sheet {
    struct tide_kyc_settings *settings;
    struct tide_kyc_session session;
    struct tide_reply reply;
};

static int set_up(void **state)
{
    struct tide_err err;
    struct sheet *s = calloc(1, sizeof *s);
    assert_non_null(s);
    if (tide_kyc_settings_parse(&s->settings, tide_slice_str(file), &err) != TIDE_OK)
        fail_msg("%s", err.text);
    s->session = (struct tide_kyc_session){
        .id = "0123456789abcdef0123456789abcdef",
        .address = "GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF",
        .provider = "p1",
        .integrator = "acme",
    };
    tide_reply_init(&s->reply);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct sheet *s = *state;
    tide_kyc_settings_release(s->settings);
    tide_reply_release(&s->reply);
    free(s);
    return 0;
}

static bool holds(const struct sheet *s, const char *part)
{
    return memmem(s->reply.body.ptr, s->reply.body.len, part, strlen(part)) != NULL;
}

static void show(struct sheet *s, enum tide_kyc_framing framing)
{
    tide_reply_reset(&s->reply);
    tide_kyc_page_session(&s->reply, s->settings, &s->session, framing, false);
    assert_false(s->reply.body.failed);
}

static const char *line(const struct sheet *s, const char *name)
{
    const char *value = tide_reply_header_of(&s->reply, name);
    return value ? value : "(none)";
}

static const char *ancestors(const struct sheet *s)
{
    const char *at = strstr(line(s, "Content-Security-Policy"), "frame-ancestors");
    assert_non_null(at);
    return at;
}

static void what_is_written_into_it_stays_text(void **state)
{
    struct sheet *s = *state;
    show(s, TIDE_KYC_FRAMED_NEVER);
    assert_true(holds(s, "Acme &lt;b&gt;&amp;\\&quot;"));
    assert_false(holds(s, "<b>&"));
    assert_true(holds(s, "&quot;id&quot;:&quot;0123456789abcdef0123456789abcdef&quot;"));
    assert_true(holds(s, "/kyc/start/0123456789abcdef0123456789abcdef."));
    assert_false(holds(s, "content=\"{}\""));
    assert_true(holds(s, "</html>"));
    assert_string_equal(s->reply.cache_control, "no-store");
    assert_non_null(strstr(s->reply.content_type, "text/html"));
}

static void who_may_frame_it_is_what_the_file_says(void **state)
{
    struct sheet *s = *state;
    show(s, TIDE_KYC_FRAMED_BY_THEM);
    assert_string_equal(ancestors(s), "frame-ancestors https://a.example https://b.example:8443");
    assert_string_equal(line(s, "X-Frame-Options"), "");
    assert_string_equal(line(s, "Cross-Origin-Opener-Policy"), "same-origin-allow-popups");
    show(s, TIDE_KYC_FRAMED_BY_BOTH);
    assert_string_equal(ancestors(s),
                        "frame-ancestors 'self' https://a.example https://b.example:8443");
    show(s, TIDE_KYC_FRAMED_NEVER);
    assert_string_equal(ancestors(s), "frame-ancestors 'none'");
    assert_string_equal(line(s, "X-Frame-Options"), "DENY");
    static const char *const others[] = { "", "silent", "gone" };
    for (size_t i = 0; i < TIDE_COUNT(others); i++) {
        snprintf(s->session.integrator, sizeof s->session.integrator, "%s", others[i]);
        show(s, TIDE_KYC_FRAMED_BY_THEM);
        assert_string_equal(ancestors(s), "frame-ancestors 'none'");
        assert_string_equal(line(s, "X-Frame-Options"), "DENY");
    }
}

static void the_camera_goes_on_to_the_provider_alone(void **state)
{
    struct sheet *s = *state;
    show(s, TIDE_KYC_FRAMED_BY_THEM);
    assert_non_null(
        strstr(line(s, "Permissions-Policy"), "camera=(self \"https://magic.veriff.me\")"));
    const char *policy = line(s, "Content-Security-Policy");
    assert_non_null(strstr(policy, "frame-src 'self' https://magic.veriff.me;"));
    assert_non_null(strstr(policy, "default-src 'none'"));
    assert_non_null(strstr(policy, "form-action 'none'"));
    assert_null(strstr(policy, "unsafe"));
    assert_null(strchr(policy, '*'));
}

static void a_bad_link_is_about_no_session(void **state)
{
    struct sheet *s = *state;
    tide_kyc_page_gone(&s->reply, s->settings, 404);
    assert_int_equal(s->reply.status, 404);
    assert_true(holds(s, "{&quot;gone&quot;:true}"));
    assert_string_equal(ancestors(s), "frame-ancestors 'none'");
    assert_string_equal(line(s, "X-Frame-Options"), "DENY");
}

/* Inside of a frame too: a person may be there when the provider does not answer. */
static void a_provider_that_is_away_is_told_in_words(void **state)
{
    struct sheet *s = *state;
    tide_reply_problem(&s->reply, 502, "provider_unavailable", "what programs are told");
    tide_kyc_page_away(&s->reply, s->settings, &s->session);
    assert_int_equal(s->reply.status, 503);
    assert_int_equal(s->reply.retry_after_s, 5);
    assert_true(holds(s, "{&quot;away&quot;:true}"));
    assert_false(holds(s, "provider_unavailable"));
    assert_string_equal(ancestors(s),
                        "frame-ancestors 'self' https://a.example https://b.example:8443");
    assert_string_equal(line(s, "X-Frame-Options"), "");
}

/* Each has one place for what it is about, and runs nothing that stands in it. */
static void each_page_has_its_place(void **state)
{
    (void)state;
    static const char *const pages[] = { "/kyc", "/kyc/sandbox" };
    static const char place[] = "<meta name=\"kyc\" content=\"{}\">";
    for (size_t i = 0; i < TIDE_COUNT(pages); i++) {
        tide_slice text = tide_static_file_of(pages[i])->text;
        const uint8_t *at = memmem(text.ptr, text.len, place, sizeof place - 1);
        assert_non_null(at);
        size_t rest = text.len - (size_t)(at - text.ptr) - 1;
        assert_null(memmem(at + 1, rest, place, sizeof place - 1));
    }
}

int test_kyc_page(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_into_it_stays_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_may_frame_it_is_what_the_file_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_camera_goes_on_to_the_provider_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_bad_link_is_about_no_session, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_provider_that_is_away_is_told_in_words, set_up,
                                        tear_down),
        cmocka_unit_test(each_page_has_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
