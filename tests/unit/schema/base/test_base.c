/* i128 text, hex, base64, UTF-8 and buffer, as tables of cases. */
#include "tidemark/buf.h"
#include "tidemark/i128.h"
#include "tidemark/text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* clang-format off */
static const struct {
    const char *text;
    tide_status want;
    const char *why;
} i128_rows[] = {
    { "0",                                        TIDE_OK,       "zero"                   },
    { "1",                                        TIDE_OK,       "one"                    },
    { "-1",                                       TIDE_OK,       "smallest negative step" },
    { "18446744073709551616",                     TIDE_OK,       "first beyond 64 bits"   },
    { "100000000000000000000000000000000000000",  TIDE_OK,       "inner zeros"            },
    { "170141183460469231731687303715884105727",  TIDE_OK,       "largest value"          },
    { "-170141183460469231731687303715884105728", TIDE_OK,       "smallest value"         },
    { "170141183460469231731687303715884105728",  TIDE_E_RANGE,  "one past the largest"   },
    { "-170141183460469231731687303715884105729", TIDE_E_RANGE,  "one past the smallest"  },
    { "9999999999999999999999999999999999999999", TIDE_E_RANGE,  "forty digits"           },
    { "",                                         TIDE_E_DECODE, "nothing"                },
    { "-",                                        TIDE_E_DECODE, "sign only"              },
    { "-0",                                       TIDE_E_DECODE, "zero has one spelling"  },
    { "007",                                      TIDE_E_DECODE, "no leading zeros"       },
    { "1e9",                                      TIDE_E_DECODE, "no exponent"            },
};
/* clang-format on */

static void i128_text_goes_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(i128_rows); i++) {
        tide_i128 v = { 0 };
        tide_slice text = tide_slice_str(i128_rows[i].text);
        if (tide_i128_parse(&v, text) != i128_rows[i].want)
            fail_msg("%s: %s", i128_rows[i].text, i128_rows[i].why);
        if (i128_rows[i].want != TIDE_OK)
            continue;
        char out[TIDE_I128_TEXT_MAX];
        size_t len = tide_i128_text(out, v);
        assert_true(tide_slice_eq(tide_slice_of(out, len), text));
    }
}

static void i128_arithmetic_refuses_what_does_not_fit(void **state)
{
    (void)state;
    tide_i128 max, min, out = { 42 };
    tide_i128 one = { 1 }, minus = { -1 }, zero = { 0 };
    assert_int_equal(tide_i128_parse(&max, TIDE_SLICE("170141183460469231731687303715884105727")),
                     TIDE_OK);
    assert_int_equal(tide_i128_parse(&min, TIDE_SLICE("-170141183460469231731687303715884105728")),
                     TIDE_OK);
    assert_int_equal(tide_i128_add(&out, max, one), TIDE_E_RANGE);
    assert_int_equal(tide_i128_sub(&out, min, one), TIDE_E_RANGE);
    assert_int_equal(tide_i128_mul(&out, min, minus), TIDE_E_RANGE);
    assert_int_equal(tide_i128_div_trunc(&out, min, minus), TIDE_E_RANGE);
    assert_int_equal(tide_i128_div_trunc(&out, one, zero), TIDE_E_RANGE);
    assert_true(out.raw == 42);
    assert_int_equal(tide_i128_mul(&out, min, one), TIDE_OK);
    assert_true(out.raw == min.raw);
    assert_int_equal(tide_i128_div_trunc(&out, (tide_i128){ -7 }, (tide_i128){ 2 }), TIDE_OK);
    assert_true(out.raw == -3);
}

static void base64_is_strict(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bytes;
        bool ok;
    } rows[] = { { "", "", true },          { "Zg==", "f", true }, { "Zm8=", "fo", true },
                 { "Zm9v", "foo", true },   { "Zm9", "", false },  { "Zh==", "", false },
                 { "Zm9=", "", false },     { "Z===", "", false }, { "Zm 9", "", false },
                 { "Zg==Zg==", "", false }, { "====", "", false } };
    struct tide_buf buf;
    tide_buf_init(&buf, 1024);
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        tide_buf_reset(&buf);
        bool ok = tide_buf_base64_decode(&buf, tide_slice_str(rows[i].text)) == TIDE_OK;
        assert_int_equal(ok, rows[i].ok);
        if (!ok)
            continue;
        assert_true(tide_slice_eq_str(tide_buf_view(&buf), rows[i].bytes));
        tide_buf_reset(&buf);
        tide_buf_base64(&buf, tide_slice_str(rows[i].bytes));
        assert_true(tide_slice_eq_str(tide_buf_view(&buf), rows[i].text));
    }
    tide_buf_release(&buf);
}

static void names_can_be_read(void **state)
{
    static const char *const good[] = { "Acme AG", "a", "\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac",
                                        "\xf0\x9f\x9b\xa2" };
    static const char *const bad[] = { "",
                                       " ",
                                       "\xe3\x80\x80",
                                       "\xcc\x81",
                                       "a\nb",
                                       "a\x7f",
                                       "\xc2\x85",
                                       "\xc2\xad",
                                       "\xe2\x80\256emca",
                                       "a\xe2\x80\x8b",
                                       "\xe2\x81\xa6x",
                                       "\xd8\x9cx",
                                       "\xef\xbb\xbf",
                                       "\xe1\x85\x9f",
                                       "\xe3\x85\xa4",
                                       "\xf3\xa0\x81\x81",
                                       "\xee\x80\x80",
                                       "x\xef\xb8\x8f",
                                       "\xc0\x80",
                                       "\xe2\xa0\x80" };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(good); i++)
        assert_true(tide_text_is_name(tide_slice_str(good[i])));
    for (size_t i = 0; i < TIDE_COUNT(bad); i++)
        assert_false(tide_text_is_name(tide_slice_str(bad[i])));
    assert_false(tide_text_is_name(TIDE_SLICE("a\0b")));
}

static void json_strings_are_always_valid_utf8(void **state)
{
    (void)state;
    struct tide_buf buf;
    tide_buf_init(&buf, 1024);
    tide_buf_json_string(&buf, TIDE_SLICE("a\"\\\n\x01\x7f\xff\xc3\xa9\xed\xa0\x80"));
    assert_true(tide_slice_eq_str(
        tide_buf_view(&buf), "\"a\\\"\\\\\\n\\u0001\x7f\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd"
                             "\xef\xbf\xbd\""));
    tide_buf_release(&buf);
    assert_true(tide_utf8_valid(TIDE_SLICE("\xf0\x9f\x9b\xa2")));
    assert_false(tide_utf8_valid(TIDE_SLICE("\xc0\x80")));
    assert_false(tide_utf8_valid(TIDE_SLICE("\xf4\x90\x80\x80")));
}

static void a_buffer_stops_at_its_ceiling_and_says_so(void **state)
{
    (void)state;
    struct tide_buf buf;
    tide_buf_init(&buf, 10);
    tide_buf_str(&buf, "12345678");
    assert_false(buf.failed);
    tide_buf_str(&buf, "abc");
    assert_true(buf.failed);
    tide_buf_str(&buf, "9");
    assert_int_equal(buf.len, 8);
    tide_buf_release(&buf);
}

/* A buffer that is used again with a lower limit accepts no more than that limit, and does not
 * loop. */
static void a_lower_ceiling_holds(void **state)
{
    static const size_t ceilings[] = { 300, 1000, 0, 8, 0, 257, 1 };
    char text[1024];
    struct tide_buf buf;
    (void)state;
    memset(text, 'a', sizeof text);
    tide_buf_init(&buf, 0);
    tide_buf_u8(&buf, 'a');
    assert_true(buf.failed);
    for (size_t i = 0; i < TIDE_COUNT(ceilings); i++) {
        tide_buf_limit(&buf, ceilings[i]);
        assert_int_equal(buf.len, 0);
        assert_false(buf.failed);
        tide_buf_put(&buf, text, ceilings[i]);
        assert_false(buf.failed);
        tide_buf_put(&buf, text, sizeof text);
        assert_true(buf.failed);
        assert_int_equal(buf.len, ceilings[i]);
        assert_true(buf.cap <= ceilings[i]);
        assert_false(tide_buf_grow(&buf, SIZE_MAX));
    }
    tide_buf_release(&buf);
}

static void a_bytea_is_hex_behind_its_prefix(void **state)
{
    char text[TIDE_BYTEA_BYTES(4)];
    (void)state;
    tide_bytea_text(text, tide_slice_of("\x00\x7f\xab\xff", 4));
    assert_string_equal(text, "\\x007fabff");
    tide_bytea_text(text, tide_slice_of("", 0));
    assert_string_equal(text, "\\x");
}

int test_base(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bytea_is_hex_behind_its_prefix),
        cmocka_unit_test(i128_text_goes_both_ways),
        cmocka_unit_test(i128_arithmetic_refuses_what_does_not_fit),
        cmocka_unit_test(base64_is_strict),
        cmocka_unit_test(names_can_be_read),
        cmocka_unit_test(json_strings_are_always_valid_utf8),
        cmocka_unit_test(a_buffer_stops_at_its_ceiling_and_says_so),
        cmocka_unit_test(a_lower_ceiling_holds),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
