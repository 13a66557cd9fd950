/* Pages of KYC: inserted values stay text, and only the origins that the settings list for the
 * session's integrator may frame a page. */
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
    "  \"providers\": [ { \"key\": \"p1\", \"type\": \"veriff\", \"name\": \"Veriff\","
    "     \"baseUrl\": \"https://stationapi.veriff.com\", \"apiKey\": \"k\", \"apiSecret\": \"s\","
    "     \"webhookSecrets\": [{ \"secret\": \"0123456789abcdef\", \"notAfter\": null }],"
    "     \"hosts\": [\"magic.veriff.me\"], \"frameHosts\": [\"magic.veriff.me\"],"
    "     \"environment\": \"sandbox\" } ] }";

struct sheet {
    struct tide_kyc_settings *settings;
    struct tide_kyc_keys *keys;
    struct tide_kyc_texts *texts;
    struct tide_kyc_visit visit;
    struct tide_kyc_session session;
    struct tide_reply reply;
};

static void register_integrators(struct sheet *s)
{
    struct tide_err err;
    const struct tide_clock *clock = tide_clock_system();
    struct tide_kyc_directory *d = tide_kyc_directory_new();
    assert_non_null(d);
    d->integrator_count = 2;
    d->integrators[0] =
        (struct tide_kyc_integrator){ .id = "acme",
                                      .name = "Acme <b>&\"",
                                      .origins = { "https://a.example", "https://b.example:8443" },
                                      .origin_count = 2,
                                      .brand = { .color = "#7a2048",
                                                 .logo = "https://a.example/logo.svg" },
                                      .branded = true };
    d->integrators[1] = (struct tide_kyc_integrator){ .id = "silent", .name = "S" };
    assert_int_equal(tide_kyc_keys_open(&s->keys, NULL, clock, &err), TIDE_OK);
    tide_kyc_keys_take(s->keys, d, clock->now_ms(clock->self));
}

static int set_up(void **state)
{
    struct tide_err err;
    struct sheet *s = calloc(1, sizeof *s);
    assert_non_null(s);
    if (tide_kyc_settings_parse(&s->settings, tide_slice_str(file), &err) != TIDE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(tide_kyc_texts_open(&s->texts, &err), TIDE_OK);
    register_integrators(s);
    s->visit = (struct tide_kyc_visit){
        .settings = s->settings,
        .keys = s->keys,
        .words = tide_kyc_words_for(s->texts, (tide_slice){ 0 }, (tide_slice){ 0 }),
    };
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
    tide_kyc_keys_close(s->keys);
    tide_kyc_settings_release(s->settings);
    tide_kyc_texts_close(s->texts);
    tide_reply_release(&s->reply);
    free(s);
    return 0;
}

static bool holds(const struct sheet *s, const char *part)
{
    return memmem(s->reply.body.ptr, s->reply.body.len, part, strlen(part)) != NULL;
}

static void show_page(struct sheet *s, enum tide_kyc_framing framing)
{
    tide_reply_reset(&s->reply);
    tide_kyc_page_session(&s->reply, s->visit, &s->session, framing, false);
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
    show_page(s, TIDE_KYC_FRAMED_NEVER);
    assert_true(holds(s, "Acme &lt;b&gt;&amp;\\&quot;"));
    assert_false(holds(s, "<b>&"));
    assert_true(holds(s, "&quot;id&quot;:&quot;0123456789abcdef0123456789abcdef&quot;"));
    assert_true(holds(s, "/kyc/start/0123456789abcdef0123456789abcdef."));
    assert_false(holds(s, "{{"));
    assert_true(holds(s, "</html>"));
    assert_string_equal(s->reply.cache_control, "no-store");
    assert_non_null(strstr(s->reply.content_type, "text/html"));
}

static void who_may_frame_it_is_what_the_file_says(void **state)
{
    struct sheet *s = *state;
    show_page(s, TIDE_KYC_FRAMED_BY_THEM);
    assert_string_equal(ancestors(s), "frame-ancestors https://a.example https://b.example:8443");
    assert_string_equal(line(s, "X-Frame-Options"), "");
    assert_string_equal(line(s, "Cross-Origin-Opener-Policy"), "same-origin-allow-popups");
    show_page(s, TIDE_KYC_FRAMED_BY_BOTH);
    assert_string_equal(ancestors(s),
                        "frame-ancestors 'self' https://a.example https://b.example:8443");
    show_page(s, TIDE_KYC_FRAMED_NEVER);
    assert_string_equal(ancestors(s), "frame-ancestors 'none'");
    assert_string_equal(line(s, "X-Frame-Options"), "DENY");
    static const char *const others[] = { "", "silent", "gone" };
    for (size_t i = 0; i < TIDE_COUNT(others); i++) {
        snprintf(s->session.integrator, sizeof s->session.integrator, "%s", others[i]);
        show_page(s, TIDE_KYC_FRAMED_BY_THEM);
        assert_string_equal(ancestors(s), "frame-ancestors 'none'");
        assert_string_equal(line(s, "X-Frame-Options"), "DENY");
    }
}

static void the_camera_goes_on_to_the_provider_alone(void **state)
{
    struct sheet *s = *state;
    show_page(s, TIDE_KYC_FRAMED_BY_THEM);
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
    tide_kyc_page_gone(&s->reply, s->visit, 404);
    assert_int_equal(s->reply.status, 404);
    assert_true(holds(s, "{&quot;gone&quot;:true}"));
    assert_string_equal(ancestors(s), "frame-ancestors 'none'");
    assert_string_equal(line(s, "X-Frame-Options"), "DENY");
}

/* The page for a provider that does not answer is shown inside a frame too. */
static void a_page_explains_that_the_provider_is_away(void **state)
{
    struct sheet *s = *state;
    tide_reply_problem(&s->reply, 502, "provider_unavailable", "what programs are told");
    tide_kyc_page_away(&s->reply, s->visit, &s->session);
    assert_int_equal(s->reply.status, 503);
    assert_int_equal(s->reply.retry_after_s, 5);
    assert_true(holds(s, "{&quot;away&quot;:true}"));
    assert_false(holds(s, "provider_unavailable"));
    assert_string_equal(ancestors(s),
                        "frame-ancestors 'self' https://a.example https://b.example:8443");
    assert_string_equal(line(s, "X-Frame-Options"), "");
}

/* The page and the texts of its script are in the visitor's language. */
static void it_is_in_the_language_of_the_visitor(void **state)
{
    struct sheet *s = *state;
    s->visit.words = tide_kyc_words_for(s->texts, TIDE_SLICE("fr"), (tide_slice){ 0 });
    show_page(s, TIDE_KYC_FRAMED_NEVER);
    assert_true(holds(s, "<html lang=\"fr\">"));
    assert_true(holds(s, "<title>Vérification d’identité</title>"));
    assert_true(holds(s, "&quot;lang&quot;:&quot;fr&quot;"));
    assert_string_equal(line(s, "Content-Language"), "fr");
    assert_false(holds(s, "Identity check"));
}

/* Colours and logo are those of the session's integrator. The logo is the only picture that may
 * come from another host. */
static void it_looks_as_the_integrator_says(void **state)
{
    struct sheet *s = *state;
    show_page(s, TIDE_KYC_FRAMED_NEVER);
    assert_true(holds(s, "&quot;color&quot;:&quot;#7a2048&quot;"));
    assert_true(holds(s, "&quot;name&quot;:&quot;Acme &lt;b&gt;"));
    assert_non_null(strstr(line(s, "Content-Security-Policy"),
                           "img-src 'self' https://a.example/logo.svg; frame-src"));
    snprintf(s->session.integrator, sizeof s->session.integrator, "silent");
    show_page(s, TIDE_KYC_FRAMED_NEVER);
    assert_true(holds(s, "&quot;name&quot;:&quot;Tidemark&quot;"));
    assert_false(holds(s, "#7a2048"));
    assert_non_null(strstr(line(s, "Content-Security-Policy"), "img-src 'self' ; frame-src"));
}

int test_kyc_page(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_into_it_stays_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_may_frame_it_is_what_the_file_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_camera_goes_on_to_the_provider_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_bad_link_is_about_no_session, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_explains_that_the_provider_is_away, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(it_is_in_the_language_of_the_visitor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_looks_as_the_integrator_says, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
