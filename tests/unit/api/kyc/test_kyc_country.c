/* Country codes: all of ISO 3166-1 compared with Debian's iso-codes, and codes of passports that
 * are not countries. The comparison is skipped if iso-codes is not installed. */
#include "api/kyc/providers/country.h"
#include "tidemark/json_read.h"
#include "tidemark/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define ORACLE "/usr/share/iso-codes/json/iso_3166-1.json"

static uint32_t of(const char *code)
{
    return tide_kyc_country(tide_slice_str(code));
}

static json_t *read_oracle(void)
{
    json_error_t error;
    FILE *file = fopen(ORACLE, "rbe");
    if (!file) {
        print_message("%s is not there: install iso-codes\n", ORACLE);
        skip();
        return NULL;
    }
    static char text[1 << 20];
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    json_t *root = tide_json_load(tide_slice_of(text, len), 0, &error);
    assert_non_null(root);
    return root;
}

static void every_country_is_known_by_both_its_codes(void **state)
{
    (void)state;
    json_t *root = read_oracle(), *list = json_object_get(root, "3166-1");
    assert_int_equal(json_array_size(list), 249);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *one = json_array_get(list, i);
        uint64_t numeric = 0;
        tide_slice digits = tide_slice_str(json_string_value(json_object_get(one, "numeric")));
        assert_int_equal(tide_parse_u64(&numeric, digits, 999), TIDE_OK);
        const char *two = json_string_value(json_object_get(one, "alpha_2"));
        const char *three = json_string_value(json_object_get(one, "alpha_3"));
        if (of(two) != numeric || of(three) != numeric)
            fail_msg("%s %s: %u %u, not %u", two, three, of(two), of(three), (unsigned)numeric);
    }
    json_decref(root);
}

/* The number of texts of two and of three letters that are countries equals the number of codes in
 * ISO 3166-1. */
static void no_other_code_is(void **state)
{
    (void)state;
    uint32_t two = 0, three = 0;
    for (char a = 'A'; a <= 'Z'; a++) {
        for (char b = 'A'; b <= 'Z'; b++) {
            two += of((char[]){ a, b, '\0' }) != 0;
            for (char c = 'A'; c <= 'Z'; c++)
                three += of((char[]){ a, b, c, '\0' }) != 0;
        }
    }
    assert_int_equal(two, 249);
    assert_int_equal(three, 249);
}

static void what_passports_say_is_no_country(void **state)
{
    (void)state;
    static const char *const none[] = {
        "D",   "GBD", "GBN", "GBO", "GBP", "GBS", "RKS", "XKX",  "XK",  "UNO", "UNA",
        "UNK", "XOM", "XXA", "XXB", "XXC", "XXX", "EUE", "XPO",  "XBA", "XIM", "XCC",
        "XCE", "XCO", "XEC", "XMP", "XES", "XDC", "EU",  "UK",   "AN",  "ANT", "SU",
        "ZZ",  "ZZZ", "",    "ch",  "che", "Che", "756", "CHEX", "C",   "CH ", " CH",
    };
    for (size_t i = 0; i < TIDE_COUNT(none); i++)
        if (of(none[i]))
            fail_msg("%s: %u", none[i], of(none[i]));
    assert_int_equal(tide_kyc_country(tide_slice_of("C\0", 2)), 0);
    assert_int_equal(tide_kyc_country((tide_slice){ 0 }), 0);
    assert_int_equal(of("CHE"), 756);
    assert_int_equal(of("DEU"), 276);
}

int test_kyc_country(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_country_is_known_by_both_its_codes),
        cmocka_unit_test(no_other_code_is),
        cmocka_unit_test(what_passports_say_is_no_country),
    };
    return cmocka_run_group_tests_name("kyc country", tests, NULL, NULL);
}
