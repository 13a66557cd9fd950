/* Colours and logo of an integrator: refused values, and the contrast of every accepted colour. */
#include "api/http/static_files.h"
#include "api/kyc/base/settings.h"
#include "tests/unit/api/kyc/kyc_settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define BRAND(members) KYC_HEAD "\"providers\":[" KYC_SANDBOX "],\"brand\":{" members "}}"
#define LOGO(url)      BRAND("\"logo\":\"" url "\"")

static void a_brand_is_read(void **state)
{
    (void)state;
    struct tide_kyc_settings *s;
    struct tide_err err;
    static const char file[] = KYC_HEAD "\"providers\":[" KYC_SANDBOX "],"
                                        "\"brand\":{\"color\":\"#0b5c6b\",\"name\":\"Quay\"}}";
    if (tide_kyc_settings_parse(&s, tide_slice_str(file), &err) != TIDE_OK)
        fail_msg("%s", err.text);
    assert_string_equal(s->brand.color, "#0b5c6b");
    assert_string_equal(s->brand.name, "Quay");
    assert_string_equal(s->brand.logo, "");
    tide_kyc_settings_release(s);
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } refused[] = {
        { BRAND("\"color\":\"red\""), "/brand/color: expected a colour" },
        { BRAND("\"color\":\"#12345\""), "/brand/color: expected a colour" },
        { BRAND("\"color\":\"#12345g\""), "/brand/color: expected a colour" },
        { BRAND("\"color\":\"#777777\""), "/brand/color: its contrast to #eef3f5 is 4.0" },
        { BRAND("\"color\":\"#ffffff\""), "/brand/color: its contrast" },
        { BRAND("\"colorDark\":\"#0b5c6b\""), "/brand/colorDark: its contrast to #1c272e is" },
        { BRAND("\"colour\":\"#000000\""), "/brand/colour: no such member here" },
        { LOGO("http://a.example/l.svg"), "/brand/logo: expected https://" },
        { LOGO("https://a.example/l.svg?x=1"), "/brand/logo: expected letters, digits and" },
        { LOGO("https://a.example/l.svg; script-src *"), "/brand/logo: expected letters" },
        { LOGO("https://a.example/a,b"), "/brand/logo: expected letters" },
        { LOGO("https://*.example/a"), "/brand/logo: expected letters" },
        { LOGO("javascript:alert(1)"), "/brand/logo: expected" },
    };
    for (size_t i = 0; i < TIDE_COUNT(refused); i++) {
        struct tide_kyc_settings *s = NULL;
        struct tide_err err = { 0 };
        assert_int_equal(tide_kyc_settings_parse(&s, tide_slice_str(refused[i].text), &err),
                         TIDE_E_CONFIG);
        if (!strstr(err.text, refused[i].message))
            fail_msg("%s: %s", refused[i].text, err.text);
    }
}

static void contrast_is_that_of_wcag(void **state)
{
    (void)state;
    assert_int_equal(tide_kyc_contrast("#000000", "#ffffff"), 2100);
    assert_int_equal(tide_kyc_contrast("#ffffff", "#ffffff"), 100);
    assert_int_equal(tide_kyc_contrast("#777777", "#ffffff"),
                     447); /* a known example of a contrast that is too low */
    assert_int_equal(tide_kyc_contrast("#767676", "#ffffff"),
                     454); /* the next darker grey's contrast suffices */
}

/* Copies the value of a custom property from the part of the style sheet that begins at `from`. */
static void property_of(char out[8], const char *from, const char *name)
{
    const char *at = strstr(from, name);
    assert_non_null(at);
    snprintf(out, 8, "%s", at + strlen(name) + 2);
}

/* The style sheet's backgrounds with the least contrast must be the constants that the reader
 * checks colours against. Text on such a colour must be readable, too. */
static void the_style_sheet_is_the_one_that_is_checked(void **state)
{
    (void)state;
    static const char *const surfaces[] = { "--paper", "--card", "--raised" };
    const char *light = (const char *)tide_static_file_of("/kyc/kyc.css")->text.ptr;
    const char *dark = strstr(light, "prefers-color-scheme: dark");
    assert_non_null(dark);
    char color[8];
    for (size_t i = 0; i < TIDE_COUNT(surfaces); i++) {
        property_of(color, light, surfaces[i]);
        assert_true(tide_kyc_contrast("#000000", color) >=
                    tide_kyc_contrast("#000000", tide_kyc_light_background));
        property_of(color, dark, surfaces[i]);
        assert_true(tide_kyc_contrast("#ffffff", color) >=
                    tide_kyc_contrast("#ffffff", tide_kyc_dark_background));
    }
    property_of(color, light, "--on-brand");
    assert_true(tide_kyc_contrast("#000000", color) >=
                tide_kyc_contrast("#000000", tide_kyc_light_background));
    property_of(color, dark, "--on-brand");
    assert_true(tide_kyc_contrast("#ffffff", color) >=
                tide_kyc_contrast("#ffffff", tide_kyc_dark_background));
}

int test_kyc_brand(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_brand_is_read),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(contrast_is_that_of_wcag),
        cmocka_unit_test(the_style_sheet_is_the_one_that_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
