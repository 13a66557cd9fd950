/* The JSON reader: accepted texts, and refusals with their offsets. */
#include "schema/rpc/json_scan.h"
#include "tidemark/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* clang-format off */
static const struct {
    const char *text;
    bool ok;
    const char *why;
} values[] = {
    { "0",                                          true,  "a number"                     },
    { " \t\r\n-12.50e+7 ",                          true,  "a number with everything"     },
    { "123456789012345678901234567890e99999",       true,  "a huge number, stepped over"  },
    { "\"\"",                                       true,  "an empty string"              },
    { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD834\\uDD1E\"", true, "every escape"         },
    { "[]",                                         true,  "an empty array"               },
    { "{}",                                         true,  "an empty object"              },
    { "[{},[],{\"a\":[1,{\"b\":null}]},true,false]", true, "nesting"                      },
    { "\"1234567\\\"89\\u0041bcdefghijk\"",         true,  "escapes across words"         },
    { "",                                           false, "nothing"                      },
    { " ",                                          false, "space alone"                  },
    { "1 2",                                        false, "two values"                   },
    { "{}{}",                                       false, "two objects"                  },
    { "{} x",                                       false, "rubbish after it"             },
    { "<html>",                                     false, "a web page"                   },
    { "nul",                                        false, "half a word"                  },
    { "nulll",                                      false, "more than a word"             },
    { "-",                                          false, "a sign alone"                 },
    { "01",                                         false, "a leading zero"               },
    { "1.",                                         false, "no fraction after the point"  },
    { "1e",                                         false, "no exponent"                  },
    { "+1",                                         false, "a plus"                       },
    { ".5",                                         false, "a point first"                },
    { "NaN",                                        false, "no such number"               },
    { "\"abc",                                      false, "ends within a string"         },
    { "\"ab\\",                                     false, "ends within an escape"        },
    { "\"\\x\"",                                    false, "no such escape"               },
    { "\"\\u12g4\"",                                false, "no hexadecimal"               },
    { "\"\\u123\"",                                 false, "too few digits"               },
    { "\"a\nb\"",                                   false, "a control character"          },
    { "\"12345678\x01\"",                           false, "a control character later"    },
    { "[1,]",                                       false, "a comma too many"             },
    { "[,1]",                                       false, "a comma too early"            },
    { "[1 2]",                                      false, "a comma too few"              },
    { "[1",                                         false, "ends within an array"         },
    { "{\"a\":1,}",                                 false, "a comma too many in an object" },
    { "{\"a\" 1}",                                  false, "no colon"                     },
    { "{\"a\":}",                                   false, "no value"                     },
    { "{a:1}",                                      false, "a name without quotes"        },
    { "{1:1}",                                      false, "a number for a name"          },
    { "{\"a\":1]",                                  false, "the wrong bracket"            },
    { "[1}",                                        false, "the other wrong bracket"      },
    { "]",                                          false, "no bracket to close"          },
    { "\xef\xbb\xbf{}",                             false, "a byte order mark"            },
    { "// x\n1",                                    false, "a comment"                    },
};

static const struct {
    const char *text;
    uint64_t want;
    bool ok;
} numbers[] = {
    { "0", 0, true },           { "\"0\"", 0, true },      { "100", 100, true },
    { "\"100\"", 100, true },   { " 7 ", 7, true },        { "101", 0, false },
    { "\"101\"", 0, false },    { "1.0", 0, false },       { "1e1", 0, false },
    { "-1", 0, false },         { "\"-1\"", 0, false },    { "007", 0, false },
    { "\"\"", 0, false },       { "\" 1\"", 0, false },    { "\"1", 0, false },
    { "\"1 \"", 0, false },     { "true", 0, false },      { "null", 0, false },
    { "[1]", 0, false },        { "18446744073709551616", 0, false },
    { "99999999999999999999999999999999999999999999999999", 0, false },
};

static const struct {
    const char *text, *want;
} texts[] = {
    { "\"plain\"",                      "plain"                 },
    { "\"a\\u0026b\\/\\\"\\\\\\n\"",    "a&b/\"\\\n"            },
    { "\"\\u00e9\\u20ac\\ud834\\udd1e\"", "\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e" },
    { "\"\\ud834x\"",                   "\xef\xbf\xbdx"         },
    { "\"\\udd1e\"",                    "\xef\xbf\xbd"          },
    { "\"0123456789012345678901234\"",  "0123456789012345678"   },
};
/* clang-format on */

/* Returns a scan of a copy that ends where its memory ends, so that a sanitizer reports a read past
 * it. */
static struct json_scan scan_copy(uint8_t **copy, const char *text)
{
    size_t len = strlen(text);
    *copy = malloc(len + !len);
    assert_non_null(*copy);
    memcpy(*copy, text, len);
    return json_scan_of(*copy, len);
}

static void a_value_is_taken_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(values); i++) {
        uint8_t *copy;
        struct json_scan s = scan_copy(&copy, values[i].text);
        json_scan_skip(&s);
        json_scan_end(&s);
        if (!s.fault != values[i].ok)
            fail_msg("%s: %s", values[i].why, s.fault ? s.fault : "taken");
        assert_int_equal(s.depth * !s.fault, 0);
        free(copy);
    }
}

static void numbers_come_plain_or_quoted(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(numbers); i++) {
        uint8_t *copy;
        struct json_scan s = scan_copy(&copy, numbers[i].text);
        uint64_t v = json_scan_u64(&s, 100);
        json_scan_end(&s);
        if (!s.fault != numbers[i].ok || v != numbers[i].want)
            fail_msg("%s: %" PRIu64 " %s", numbers[i].text, v, s.fault ? s.fault : "taken");
        free(copy);
    }
    uint8_t *copy;
    struct json_scan s = scan_copy(&copy, "-32603");
    assert_int_equal(json_scan_i64(&s), -32603);
    assert_null(s.fault);
    free(copy);
}

static void texts_lose_their_escapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(texts); i++) {
        uint8_t *copy;
        char out[20];
        struct json_scan s = scan_copy(&copy, texts[i].text);
        json_scan_text(&s, out, sizeof out);
        json_scan_end(&s);
        assert_null(s.fault);
        assert_string_equal(out, texts[i].want);
        free(copy);
    }
}

static void depth_has_a_limit(void **state)
{
    (void)state;
    static const char brackets[2][2] = { { '[', ']' }, { '{', '}' } };
    for (int kind = 0; kind < 2; kind++) {
        for (size_t depth = JSON_SCAN_DEPTH; depth <= JSON_SCAN_DEPTH + 1; depth++) {
            char text[8 * JSON_SCAN_DEPTH] = "";
            size_t len = 0;
            for (size_t i = 0; i < depth; i++)
                len += (size_t)snprintf(text + len, sizeof text - len, "%s%c",
                                        kind && i ? "\"a\":" : "", brackets[kind][0]);
            for (size_t i = 0; i < depth; i++)
                text[len++] = brackets[kind][1];
            struct json_scan s = json_scan_of((uint8_t *)text, len);
            json_scan_skip(&s);
            json_scan_end(&s);
            assert_int_equal(s.fault == NULL, depth == JSON_SCAN_DEPTH);
        }
    }
    size_t many = 100000;
    uint8_t *deep = malloc(many);
    memset(deep, '[', many);
    struct json_scan s = json_scan_of(deep, many);
    json_scan_skip(&s);
    assert_string_equal(s.fault, "nested too deeply");
    assert_true(s.fault_at <= JSON_SCAN_DEPTH + 1);
    free(deep);
}

/* Texts of each length up to twice the eight-digit step are decoded in place and compared with the
 * encoder. Each byte that is not a digit is tried at each offset. */
static void base64_is_decoded_where_it_stands(void **state)
{
    (void)state;
    uint8_t bytes[40], copy[80];
    struct tide_buf text;
    tide_buf_init(&text, 128);
    for (size_t len = 0; len <= sizeof bytes; len++) {
        for (size_t i = 0; i < len; i++)
            bytes[i] = (uint8_t)(i * 37 + len * 101);
        tide_buf_reset(&text);
        tide_buf_u8(&text, '"');
        tide_buf_base64(&text, tide_slice_of(bytes, len));
        tide_buf_u8(&text, '"');
        memcpy(copy, text.ptr, text.len);
        struct json_scan s = json_scan_of(copy, text.len);
        tide_slice out = json_scan_base64(&s);
        json_scan_end(&s);
        if (s.fault)
            fail_msg("%zu bytes: %s", len, s.fault);
        assert_true(tide_slice_eq(out, tide_slice_of(bytes, len)));
        for (size_t at = 1; at + 1 < text.len; at++) {
            static const char wrong[] = "\"=\\-_ \n\x80";
            for (size_t w = 0; w < sizeof wrong; w++) {
                /* padding at the last two offsets may be valid */
                if (wrong[w] == (char)text.ptr[at] || (wrong[w] == '=' && at + 3 >= text.len))
                    continue;
                memcpy(copy, text.ptr, text.len);
                copy[at] = (uint8_t)wrong[w];
                s = json_scan_of(copy, text.len);
                json_scan_base64(&s);
                json_scan_end(&s);
                if (!s.fault)
                    fail_msg("%zu bytes, %d at %zu: taken", len, wrong[w], at);
            }
        }
    }
    tide_buf_release(&text);
}

int test_json_scan(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_taken_or_refused),
        cmocka_unit_test(numbers_come_plain_or_quoted),
        cmocka_unit_test(texts_lose_their_escapes),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(base64_is_decoded_where_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
