/* Tokens and ids in URLs of KYC, references by which providers know a person, and the stored names
 * of states. */
#include "api/kyc/sessions/session_store.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define ID "0123456789abcdef0123456789abcdef"

static struct tide_kyc_settings *settings_of(uint8_t key)
{
    static struct tide_kyc_settings settings;
    memset(settings.token_key, key, sizeof settings.token_key);
    memset(settings.reference_key, key + 1, sizeof settings.reference_key);
    return &settings;
}

static bool opens(const char *token, enum tide_kyc_purpose purpose)
{
    char id[TIDE_KYC_SESSION_BYTES] = "";
    bool opened = tide_kyc_token_read(id, settings_of(1), purpose, tide_slice_str(token));
    assert_true(!opened || strcmp(id, ID) == 0);
    return opened;
}

/* The digest was computed with Python's hmac of b"start\0" + id, with 32 times the byte 01 as the
 * key. */
static void test_known(void **state)
{
    char token[TIDE_KYC_TOKEN_BYTES];
    (void)state;
    tide_kyc_token(token, settings_of(1), TIDE_KYC_FOR_START, ID);
    assert_string_equal(token, ID ".wu7GcD4SdImTTob0PLhZrRTEHcZZVYycPWRXwMHyLus");
}

static void test_one_purpose(void **state)
{
    char token[TIDE_KYC_TOKEN_BYTES];
    (void)state;
    for (int made = 0; made < TIDE_KYC_PURPOSE_COUNT; made++)
        for (int asked = 0; asked < TIDE_KYC_PURPOSE_COUNT; asked++) {
            tide_kyc_token(token, settings_of(1), (enum tide_kyc_purpose)made, ID);
            assert_int_equal(opens(token, (enum tide_kyc_purpose)asked), made == asked);
        }
}

static void test_any_change(void **state)
{
    char token[TIDE_KYC_TOKEN_BYTES], longer[TIDE_KYC_TOKEN_BYTES + 1];
    (void)state;
    for (size_t i = 0; i < TIDE_KYC_TOKEN_LEN; i++) {
        tide_kyc_token(token, settings_of(1), TIDE_KYC_FOR_EMBED, ID);
        token[i] = token[i] == 'a' ? 'b' : 'a';
        assert_false(opens(token, TIDE_KYC_FOR_EMBED));
    }
    tide_kyc_token(token, settings_of(2), TIDE_KYC_FOR_EMBED, ID);
    assert_false(opens(token, TIDE_KYC_FOR_EMBED)); /* made with another key */
    tide_kyc_token(token, settings_of(1), TIDE_KYC_FOR_EMBED, ID);
    snprintf(longer, sizeof longer, "%sA", token);
    assert_false(opens(longer, TIDE_KYC_FOR_EMBED));
    token[TIDE_KYC_TOKEN_LEN - 1] = 0;
    assert_false(opens(token, TIDE_KYC_FOR_EMBED));
    assert_false(opens("", TIDE_KYC_FOR_EMBED));
    assert_false(opens(ID, TIDE_KYC_FOR_EMBED));
}

static void test_ids(void **state)
{
    char one[TIDE_KYC_SESSION_BYTES], other[TIDE_KYC_SESSION_BYTES];
    (void)state;
    assert_true(tide_kyc_new_session_id(one) && tide_kyc_new_session_id(other));
    assert_true(tide_kyc_is_session_id(tide_slice_str(one)));
    assert_string_not_equal(one, other);
    assert_false(tide_kyc_is_session_id(TIDE_SLICE("0123456789ABCDEF0123456789ABCDEF")));
    assert_false(tide_kyc_is_session_id(TIDE_SLICE("0123456789abcdef0123456789abcde")));
    assert_false(tide_kyc_is_session_id(TIDE_SLICE("0123456789abcdef0123456789abcdefg")));
}

/* The reference is the same for the same person on the same network, and differs for all others. */
static void test_reference(void **state)
{
    char known[TIDE_KYC_REF_BYTES], ref[TIDE_KYC_REF_BYTES];
    struct tide_kyc_context place = { .settings = settings_of(1) };
    (void)state;
    tide_kyc_reference(known, &place, "GALICE");
    assert_string_equal(known, "5XB2SFU7ICM2X2ZHYNQ6DSPUEWT326VZ");
    tide_kyc_reference(ref, &place, "GBOB");
    assert_string_not_equal(known, ref);
    place.network_id[31] = 1;
    tide_kyc_reference(ref, &place, "GALICE");
    assert_string_not_equal(known, ref);
    place.network_id[31] = 0;
    tide_kyc_reference(ref, &place, "GALICE");
    assert_string_equal(known, ref);
}

static void test_words(void **state)
{
    enum tide_kyc_state at;
    enum tide_kyc_mode mode;
    (void)state;
    for (int i = 0; i < TIDE_KYC_STATE_COUNT; i++) {
        const char *text = tide_kyc_state_text((enum tide_kyc_state)i);
        assert_true(tide_kyc_state_of(tide_slice_str(text), &at) && (int)at == i);
        assert_int_equal(tide_kyc_is_open(at), i < 4);
    }
    for (int i = 0; i <= TIDE_KYC_DIRECT; i++) {
        const char *text = tide_kyc_mode_text((enum tide_kyc_mode)i);
        assert_true(tide_kyc_mode_of(tide_slice_str(text), &mode) && (int)mode == i);
    }
    assert_false(tide_kyc_state_of(TIDE_SLICE("Approved"), &at));
    assert_false(tide_kyc_state_of(TIDE_SLICE(""), &at));
    assert_false(tide_kyc_mode_of(TIDE_SLICE("Iframe"), &mode));
}

/* Settings that are meant for tests are refused on the main network. */
static void test_main_network(void **state)
{
    struct tide_kyc_settings *settings = settings_of(1);
    uint8_t live[TIDE_HASH_BYTES], test[TIDE_HASH_BYTES];
    const char *what;
    (void)state;
    tide_network_id(live, TIDE_SLICE("Public Global Stellar Network ; September 2015"));
    tide_network_id(test, TIDE_SLICE("Test SDF Network ; September 2015"));
    settings->provider_count = 1;
    settings->providers[0].type = TIDE_KYC_VERIFF;
    settings->providers[0].live = true;
    assert_true(tide_kyc_network_allowed(settings, live, &what));
    settings->open = true;
    assert_false(tide_kyc_network_allowed(settings, live, &what));
    assert_string_equal(what, "\"open\"");
    assert_true(tide_kyc_network_allowed(settings, test, &what));
    settings->open = false;
    settings->providers[0].live = false; /* a real provider's test mode */
    assert_false(tide_kyc_network_allowed(settings, live, &what));
    settings->providers[0].type = TIDE_KYC_SANDBOX;
    assert_false(tide_kyc_network_allowed(settings, live, &what));
    assert_true(tide_kyc_network_allowed(settings, test, &what));
}

/* Header lines of a reply: a problem carries no header that was set before it. */
static void test_reply_lines(void **state)
{
    struct tide_reply reply;
    (void)state;
    tide_reply_init(&reply);
    assert_null(tide_reply_header_of(&reply, "Location"));
    tide_reply_header(&reply, "Location", "https://a.example/x");
    tide_reply_header(&reply, "X-Frame-Options", "");
    assert_string_equal(tide_reply_header_of(&reply, "location"), "https://a.example/x");
    assert_string_equal(tide_reply_header_of(&reply, "X-Frame-Options"), "");
    assert_null(tide_reply_header_of(&reply, "https://a.example/x"));
    tide_reply_problem(&reply, 503, "overloaded", "no");
    assert_null(tide_reply_header_of(&reply, "Location"));
    tide_reply_release(&reply);
}

int test_kyc_token(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),        cmocka_unit_test(test_one_purpose),
        cmocka_unit_test(test_any_change),   cmocka_unit_test(test_ids),
        cmocka_unit_test(test_reference),    cmocka_unit_test(test_words),
        cmocka_unit_test(test_main_network), cmocka_unit_test(test_reply_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
