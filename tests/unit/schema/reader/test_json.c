/* JSON as the answers have it: numbers, scaled amounts, times, names that anybody can choose. */
#include "tidemark/record_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

static struct tide_buf buf;

static struct tide_json start_json(void)
{
    tide_buf_reset(&buf);
    return (struct tide_json){ .buf = &buf };
}

static void says(const char *want)
{
    tide_slice got = tide_buf_view(&buf);
    assert_false(buf.failed);
    if (!tide_slice_eq_str(got, want))
        fail_msg("%.*s, not %s", TIDE_SLICE_FMT(got), want);
}

static void test_scaled(void **state)
{
    /* clang-format off */
    static const struct { const char *raw; uint32_t decimals; const char *scaled; } rows[] = {
        { "0",         7,  "\"0.0000000\"" },
        { "1",         7,  "\"0.0000001\"" },
        { "-1",        7,  "\"-0.0000001\"" },
        { "9999999",   7,  "\"0.9999999\"" },
        { "10000000",  7,  "\"1.0000000\"" },
        { "-12345678", 7,  "\"-1.2345678\"" },
        { "123",       0,  "\"123\"" },
        { "-123",      0,  "\"-123\"" },
        { "123",       3,  "\"0.123\"" },
        { "5",         38, "\"0.00000000000000000000000000000000000005\"" },
        { "-170141183460469231731687303715884105728", 38, "\"-1.70141183460469231731687303715884105728\"" },
        { "170141183460469231731687303715884105727",  7,  "\"17014118346046923173168730371588.4105727\"" },
        { "5",         39, "null" },
        { "5",         TIDE_JSON_UNKNOWN, "null" },
    };
    /* clang-format on */
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        char want[160];
        tide_i128 v = { 0 };
        assert_int_equal(tide_i128_parse(&v, tide_slice_str(rows[i].raw)), TIDE_OK);
        struct tide_json j = start_json();
        tide_json_open(&j, '{');
        tide_json_amount(&j, "a", v.raw, rows[i].decimals);
        tide_json_bool(&j, "b", true);
        tide_json_close(&j, '}');
        snprintf(want, sizeof want, "{\"a\":\"%s\",\"aScaled\":%s,\"b\":true}", rows[i].raw,
                 rows[i].scaled);
        says(want);
    }
}

static void test_shape(void **state)
{
    struct tide_hot_name odd = { .len = 5,
                                 .text = "a\"\xff\n"
                                         "b" };
    struct tide_hot_address none = { 0 };
    (void)state;
    struct tide_json j = start_json();
    tide_json_open(&j, '{');
    tide_json_name(&j, "items");
    tide_json_open(&j, '[');
    for (int i = 0; i < 2; i++) {
        tide_json_open(&j, '{');
        tide_json_u64(&j, "big", UINT64_MAX);
        tide_json_u32(&j, "small", UINT32_MAX);
        tide_json_close(&j, '}');
    }
    tide_json_close(&j, ']');
    tide_json_name(&j, "none");
    tide_json_open(&j, '[');
    tide_json_close(&j, ']');
    tide_record_json_title(&j, "title", &odd);
    tide_record_json_address(&j, "who", &none);
    tide_json_close(&j, '}');
    says("{\"items\":[{\"big\":\"18446744073709551615\",\"small\":4294967295},"
         "{\"big\":\"18446744073709551615\",\"small\":4294967295}],\"none\":[],"
         "\"title\":\"a\\\"\xef\xbf\xbd\\nb\",\"who\":null}");
}

/* The C library's calendar must give the same times. */
static void test_times(void **state)
{
    /* clang-format off */
    static const struct { uint64_t seconds; const char *text; } ends[] = {
        { 0,            "{\"t\":\"1970-01-01T00:00:00Z\"}" },
        { 951782399,    "{\"t\":\"2000-02-28T23:59:59Z\"}" },
        { 951782400,    "{\"t\":\"2000-02-29T00:00:00Z\"}" },
        { 4107542399,   "{\"t\":\"2100-02-28T23:59:59Z\"}" },
        { 4107542400,   "{\"t\":\"2100-03-01T00:00:00Z\"}" },
        { 253402300799, "{\"t\":\"9999-12-31T23:59:59Z\"}" },
        { 253402300800, "{\"t\":\"9999-12-31T23:59:59Z\"}" },
        { UINT64_MAX,   "{\"t\":\"9999-12-31T23:59:59Z\"}" },
    };
    /* clang-format on */
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(ends); i++) {
        struct tide_json j = start_json();
        tide_json_open(&j, '{');
        tide_json_time(&j, "t", ends[i].seconds);
        tide_json_close(&j, '}');
        says(ends[i].text);
    }
    static const uint64_t untold[] = { 0, 253402300800, (uint64_t)1 << 63, UINT64_MAX };
    for (size_t i = 0; i < TIDE_COUNT(untold); i++) {
        struct tide_json j = start_json();
        tide_json_open(&j, '{');
        tide_json_stored_time(&j, "t", untold[i]);
        tide_json_stored_time(&j, "u", 253402300799);
        tide_json_close(&j, '}');
        says("{\"t\":null,\"u\":\"9999-12-31T23:59:59Z\"}");
    }
    for (int64_t t = -62135596800; t < 253402300800; t += 86400 * 11 + 4321) {
        char ours[TIDE_RFC3339_BYTES], theirs[TIDE_RFC3339_BYTES];
        struct tm tm;
        time_t seconds = (time_t)t;
        assert_non_null(gmtime_r(&seconds, &tm));
        snprintf(theirs, sizeof theirs, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900,
                 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
        tide_time_rfc3339(ours, t);
        assert_string_equal(ours, theirs);
        int64_t back = 0;
        assert_int_equal(tide_time_parse(&back, tide_slice_str(ours)), TIDE_OK);
        assert_int_equal(back, t);
    }
}

/* Times in the forms that RFC 3339 allows. A fraction of a second is rounded up to the next
 * second. */
static void test_read_times(void **state)
{
    /* clang-format off */
    static const struct { const char *text; int64_t seconds; } times[] = {
        { "1970-01-01T00:00:00Z", 0 },               { "1969-12-31T23:59:59Z", -1 },
        { "2026-05-02t09:14:07z", 1777713247 },      { "2026-05-02T09:14:07.000Z", 1777713247 },
        { "2026-05-02T09:14:07.000001Z", 1777713248 }, { "2026-05-02T11:14:07+02:00", 1777713247 },
        { "2026-05-02T03:44:07-05:30", 1777713247 }, { "2024-02-29T00:00:00Z", 1709164800 },
        { "2000-02-29T00:00:00Z", 951782400 },       { "2016-12-31T23:59:60Z", 1483228800 },
    };
    static const char *const none[] = {
        "", "2026", "2026-05-02", "2026-05-02 09:14:07Z", "2026-05-02T09:14Z", "2026-05-02T09:14:07",
        "2026-05-02T24:00:00Z", "2026-05-02T09:60:00Z", "2026-05-02T09:14:61Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "2026-05-02T09:14:07.Z", "2026-05-02T09:14:07ZZ", "2026-05-02T09:14:07+02", "2026-05-02T09:14:07+0200",
        "2026-05-02T09:14:07+24:00", "2026-05-02T09:14:07+02:60", "-2026-05-02T09:14:07Z", "2026-5-2T09:14:07Z",
        "2026-05-02T09:14:07Z ", "+026-05-02T09:14:07Z", "2026-05-02T09:14:07 02:00",
    };
    /* clang-format on */
    int64_t seconds;
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(times); i++) {
        if (tide_time_parse(&seconds, tide_slice_str(times[i].text)) != TIDE_OK)
            fail_msg("%s is refused", times[i].text);
        assert_int_equal(seconds, times[i].seconds);
    }
    for (size_t i = 0; i < TIDE_COUNT(none); i++)
        if (tide_time_parse(&seconds, tide_slice_str(none[i])) == TIDE_OK)
            fail_msg("%s is taken for %lld", none[i], (long long)seconds);
}

static void test_full(void **state)
{
    struct tide_buf small;
    struct tide_json j = { .buf = &small };
    (void)state;
    tide_buf_init(&small, 16);
    tide_json_open(&j, '{');
    tide_json_text(&j, "name", TIDE_SLICE("longer than sixteen bytes"));
    assert_true(small.failed);
    tide_buf_release(&small);
}

static void test_items(void **state)
{
    (void)state;
    struct tide_json j = start_json();
    tide_json_open(&j, '{');
    tide_json_name(&j, "list");
    tide_json_open(&j, '[');
    tide_json_hex(&j, NULL, TIDE_SLICE("\x01\xff"));
    tide_json_base64(&j, NULL, TIDE_SLICE("ab"));
    tide_json_number(&j, NULL, 7);
    tide_json_i64(&j, NULL, INT64_MIN);
    tide_json_text(&j, NULL, TIDE_SLICE("\""));
    tide_json_open(&j, '{');
    tide_json_close(&j, '}');
    tide_json_close(&j, ']');
    tide_json_i64(&j, "after", -1);
    tide_json_close(&j, '}');
    says("{\"list\":[\"01ff\",\"YWI=\",7,\"-9223372036854775808\",\"\\\"\",{}],\"after\":\"-1\"}");
}

int test_json(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),      cmocka_unit_test(test_scaled),
        cmocka_unit_test(test_shape),      cmocka_unit_test(test_times),
        cmocka_unit_test(test_read_times), cmocka_unit_test(test_full)
    };
    tide_buf_init(&buf, 4096);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tide_buf_release(&buf);
    return failed;
}
