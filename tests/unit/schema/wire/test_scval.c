/* ScVal: every union arm as JSON, every refusal, and the XDR primitives under them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "literal.h"
#include "tidemark/scval.h"

#define CONTRACT_11 "CAIRCEIRCEIRCEIRCEIRCEIRCEIRCEIRCEIRCEIRCEIRCEIRCEIRDB3V"

static tide_status json_of(struct tide_buf *json, const char *hex)
{
    struct literal l;
    literal_open(&l, hex);
    tide_buf_reset(json);
    tide_status status = tide_scval_json(json, tide_buf_view(&l.buf));
    /* the skipper must accept exactly what the printer accepts */
    struct tide_xdr x = tide_xdr_of(tide_buf_view(&l.buf));
    tide_scval_skip(&x);
    assert_int_equal(tide_xdr_end(&x), status);
    literal_close(&l);
    return status;
}

struct json_case {
    const char *hex;
    const char *json;
};

static void check_cases(const struct json_case *cases, size_t count)
{
    struct tide_buf json;
    tide_buf_init(&json, 1 << 20);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(json_of(&json, cases[i].hex), TIDE_OK);
        tide_buf_u8(&json, 0);
        if (strcmp((const char *)json.ptr, cases[i].json) != 0)
            print_message("case %zu: %s\n", i, cases[i].hex);
        assert_string_equal((const char *)json.ptr, cases[i].json);
    }
    tide_buf_release(&json);
}

static void every_arm_has_its_json(void **state)
{
    (void)state;
    static const struct json_case cases[] = {
        { "00000000 00000001", "true" },
        { "00000000 00000000", "false" },
        { "00000001", "null" },
        { "00000002 00000000 00000007", "{\"error\":{\"type\":0,\"code\":7}}" },
        { "00000002 00000009 00000009", "{\"error\":{\"type\":9,\"code\":9}}" },
        { "00000003 ffffffff", "4294967295" },
        { "00000004 80000000", "-2147483648" },
        { "00000005 ffffffffffffffff", "\"18446744073709551615\"" },
        { "00000006 8000000000000000", "\"-9223372036854775808\"" },
        { "00000007 000000006553f100", "\"1700000000\"" },
        { "00000008 000000000000003c", "\"60\"" },
        { "00000009 16*ff", "\"340282366920938463463374607431768211455\"" },
        { "0000000a 80 15*00", "\"-170141183460469231731687303715884105728\"" },
        { "0000000a 7f 15*ff", "\"170141183460469231731687303715884105727\"" },
        { "0000000b 32*ff",
          "\"115792089237316195423570985008687907853269984665640564039457584007913129639935\"" },
        { "0000000c 80 31*00",
          "\"-57896044618658097711785492504343953926634992332820282019728792003956564819968\"" },
        { "0000000c 32*ff", "\"-1\"" },
        { "0000000b 32*00", "\"0\"" },
        { "0000000d 00000003 01abff00", "\"01abff\"" },
        { "0000000d 00000000", "\"\"" },
        { "0000000e 00000006 68c3a9220a3c 0000", "\"h\xc3\xa9\\\"\\n<\"" },
        { "0000000e 00000003 61ff6200", "{\"hex\":\"61ff62\"}" },
        { "0000000e 00000003 61006200", "{\"hex\":\"610062\"}" },
        { "0000000f 00000001 ff000000", "{\"hex\":\"ff\"}" },
        { "0000000f 00000000", "\"\"" },
        { "0000000f 00000005 5f5a617a39 000000", "\"_Zaz9\"" },
        { "00000010 00000000", "null" },
        { "00000010 00000001 00000000", "[]" },
        { "00000010 00000001 00000002 00000003 00000001 00000001", "[1,null]" },
        { "00000012 00000001 32*11", "\"" CONTRACT_11 "\"" },
        { "00000013 00000001 00000000",
          "{\"executable\":\"contractExecutableStellarAsset\",\"storage\":{}}" },
        { "00000013 00000001 00000001 00000002 0000000f 00000001 61000000 00000001"
          " 00000010 00000001 00000001 0000000f 00000001 61000000 00000001",
          "{\"executable\":\"contractExecutableStellarAsset\",\"storage\":"
          "{\"a\":null,\"[\\\"a\\\"]\":null}}" },
        { "00000013 00000001 00000001 00000001 00000003 00000007 00000001",
          "{\"executable\":\"contractExecutableStellarAsset\",\"storage\":[[7,null]]}" },
        { "00000014", "\"LedgerKeyContractInstance\"" },
        { "00000015 ffffffffffffffff", "{\"nonce\":\"-1\"}" },
        { "00000016 00000002 61620000", "\"ab\"" },
    };
    check_cases(cases, TIDE_COUNT(cases));
}

static void a_map_is_an_object_or_a_list_of_pairs(void **state)
{
    (void)state;
    static const struct json_case cases[] = {
        { "00000011 00000000", "null" },
        { "00000011 00000001 00000000", "{}" },
        { "00000011 00000001 00000002 0000000f 00000001 61000000 00000003 00000005"
          " 0000000f 00000001 62000000 00000001",
          "{\"a\":5,\"b\":null}" },
        { "00000011 00000001 00000001 00000003 00000007 00000000 00000001", "[[7,true]]" },
        { "00000011 00000001 00000001 00000010 00000001 00000001 0000000f 00000001 61000000 "
          "00000001",
          "[[[\"a\"],null]]" },
        /* two keys whose texts would be equal */
        { "00000011 00000001 00000002 00000001 00000003 00000001 00000001 00000003 00000002",
          "[[null,1],[null,2]]" },
        { "00000011 00000001 00000002 0000000f 00000001 61000000 00000001"
          " 0000000f 00000001 61000000 00000001",
          "[[\"a\",null],[\"a\",null]]" },
        { "00000011 00000001 00000002 0000000f 00000001 61000000 00000001"
          " 0000000e 00000001 61000000 00000001",
          "[[\"a\",null],[\"a\",null]]" },
        { "00000011 00000001 00000002 0000000f 00000001 62000000 00000001"
          " 0000000f 00000001 61000000 00000001",
          "[[\"b\",null],[\"a\",null]]" },
        { "00000011 00000001 00000002 0000000f 00000001 61000000 00000001"
          " 0000000f 00000002 61620000 00000001",
          "{\"a\":null,\"ab\":null}" },
        { "00000011 00000001 00000002 0000000e 00000001 fe000000 00000001"
          " 0000000e 00000001 ff000000 00000001",
          "[[{\"hex\":\"fe\"},null],[{\"hex\":\"ff\"},null]]" },
    };
    check_cases(cases, TIDE_COUNT(cases));
}

static void what_is_not_one_value_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *hex;
        tide_status status;
    } cases[] = {
        { "", TIDE_E_DECODE },
        { "00000000", TIDE_E_DECODE },
        { "00000000 00000002", TIDE_E_DECODE },                   /* boolean 2            */
        { "00000001 00", TIDE_E_DECODE },                         /* trailing             */
        { "00000002 0000000a 00000000", TIDE_E_UNKNOWN },         /* error type 10        */
        { "00000002 00000001 0000000a", TIDE_E_UNKNOWN },         /* error code 10        */
        { "0000000d 00000003 01020301", TIDE_E_DECODE },          /* padding              */
        { "0000000d ffffffff 01020300", TIDE_E_DECODE },          /* longer than the rest */
        { "0000000f 00000021 36*61", TIDE_E_DECODE },             /* symbol of 33         */
        { "00000010 00000002 00000000", TIDE_E_DECODE },          /* optional 2           */
        { "00000010 00000001 ffffffff 00000001", TIDE_E_DECODE }, /* count                */
        { "00000011 00000001 00000001 00000001", TIDE_E_DECODE }, /* key without value    */
        { "00000012 00000006 40*00", TIDE_E_UNKNOWN },            /* address arm 6        */
        { "00000012 00000000 00000001 32*00", TIDE_E_UNKNOWN },   /* key type 1           */
        { "00000013 00000003", TIDE_E_UNKNOWN },                  /* executable 3         */
        { "00000017", TIDE_E_UNKNOWN },                           /* arm 23               */
        { "ffffffff", TIDE_E_UNKNOWN },
    };
    struct tide_buf json;
    tide_buf_init(&json, 1 << 20);
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        if (json_of(&json, cases[i].hex) != cases[i].status)
            print_message("case %zu: %s\n", i, cases[i].hex);
        assert_int_equal(json_of(&json, cases[i].hex), cases[i].status);
    }
    tide_buf_release(&json);
}

/* Appends nested vecs, `depth` levels deep, with void inside. */
static void put_nested(struct tide_buf *b, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) {
        tide_buf_be32(b, TIDE_SCV_VEC);
        tide_buf_be32(b, 1);
        tide_buf_be32(b, 1);
    }
    tide_buf_be32(b, TIDE_SCV_VOID);
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    static const uint32_t depths[] = { 1, 500, TIDE_XDR_DEPTH_MAX, TIDE_XDR_DEPTH_MAX + 1, 200000 };
    for (size_t i = 0; i < TIDE_COUNT(depths); i++) {
        struct tide_buf b;
        struct tide_buf json;
        tide_buf_init(&b, 8 << 20);
        tide_buf_init(&json, 8 << 20);
        put_nested(&b, depths[i]);
        tide_status want = depths[i] <= TIDE_XDR_DEPTH_MAX ? TIDE_OK : TIDE_E_LIMIT;
        assert_int_equal(tide_scval_json(&json, tide_buf_view(&b)), want);
        struct tide_xdr x = tide_xdr_of(tide_buf_view(&b));
        tide_scval_skip(&x);
        assert_int_equal(tide_xdr_end(&x), want);
        tide_buf_release(&b);
        tide_buf_release(&json);
    }
}

/* Appends maps whose key is a map whose key is …, `depth` maps deep. */
static void put_keys(struct tide_buf *b, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) {
        tide_buf_be32(b, TIDE_SCV_MAP);
        tide_buf_be32(b, 1);
        tide_buf_be32(b, 1);
    }
    for (uint32_t i = 0; i <= depth; i++)
        tide_buf_be32(b, TIDE_SCV_VOID);
}

static void keys_within_keys_grow_linearly(void **state)
{
    (void)state;
    static const uint32_t depths[] = { 1, 45, 400, TIDE_XDR_DEPTH_MAX };
    struct tide_buf b, json;
    tide_buf_init(&b, 1 << 20);
    tide_buf_init(&json, 1 << 20);
    for (size_t i = 0; i < TIDE_COUNT(depths); i++) {
        tide_buf_reset(&b);
        tide_buf_reset(&json);
        put_keys(&b, depths[i]);
        assert_int_equal(tide_scval_json(&json, tide_buf_view(&b)), TIDE_OK);
        assert_int_equal(json.len, depths[i] * strlen("[[,null]]") + strlen("null"));
    }
    tide_buf_release(&b);
    tide_buf_release(&json);
}

/* Each kind of value is repeated in a vec, to find the one with the longest text for its XDR. */
static void the_text_is_at_most_eight_times_the_xdr(void **state)
{
    (void)state;
    static const char *const values[] = {
        "00000000 00000000",
        "00000001",
        "00000002 00000000 ffffffff",
        "00000004 80000000",
        "00000006 8000000000000000",
        "0000000a 80 15*00",
        "0000000c 80 31*00",
        "0000000d 00000000",
        "0000000e 00000004 01010101",
        "0000000e 00000004 00000000",
        "00000010 00000000",
        "00000011 00000001 00000000",
        "00000012 00000002 40*ff",
        "00000013 00000001 00000000",
        "00000014",
        "00000015 8000000000000000",
    };
    struct tide_buf b, json;
    struct literal l;
    tide_buf_init(&b, 1 << 20);
    tide_buf_init(&json, 1 << 20);
    for (size_t i = 0; i < TIDE_COUNT(values); i++) {
        enum { TIMES = 500 }; /* well within TIDE_STORED_JSON_MAX */
        tide_buf_reset(&b);
        tide_buf_reset(&json);
        tide_buf_be32(&b, TIDE_SCV_VEC);
        tide_buf_be32(&b, 1);
        tide_buf_be32(&b, TIMES);
        literal_open(&l, values[i]);
        for (int at = 0; at < TIMES; at++)
            tide_buf_slice(&b, tide_buf_view(&l.buf));
        literal_close(&l);
        assert_int_equal(tide_scval_json(&json, tide_buf_view(&b)), TIDE_OK);
        assert_true(json.len <= 8 * b.len + 64);
        bool stored = tide_scval_json_stored(&json, tide_buf_view(&b), 1);
        size_t whole = json.len;
        tide_buf_reset(&json);
        assert_int_equal(tide_scval_json(&json, tide_buf_view(&b)), TIDE_OK);
        assert_int_equal(stored, json.len <= 2 * b.len + TIDE_STORED_JSON_SPARE);
        assert_int_equal(whole, stored ? 2 * json.len : json.len); /* nothing appended */
    }
    tide_buf_release(&b);
    tide_buf_release(&json);
}

static void what_is_stored_nests_no_deeper_than_parsers_read(void **state)
{
    (void)state;
    struct tide_buf b, json;
    tide_buf_init(&b, 1 << 20);
    tide_buf_init(&json, 1 << 20);
    for (uint32_t depth = TIDE_STORED_JSON_DEPTH; depth <= TIDE_STORED_JSON_DEPTH + 1; depth++) {
        tide_buf_reset(&b);
        put_nested(&b, depth);
        assert_int_equal(tide_scval_json_stored(&json, tide_buf_view(&b), 1),
                         depth <= TIDE_STORED_JSON_DEPTH);
    }
    tide_buf_reset(&json);
    assert_true(tide_scval_json_stored(&json, (tide_slice){ 0 }, 0));
    assert_false(tide_scval_json_stored(&json, (tide_slice){ 0 }, 1));
    assert_int_equal(json.len, 0);
    tide_buf_release(&b);
    tide_buf_release(&json);
}

/* The value is longer than any column may hold, even if its XDR is small. */
static void a_long_value_is_not_stored_as_json(void **state)
{
    (void)state;
    struct tide_buf b, json;
    tide_buf_init(&b, 1 << 20);
    tide_buf_init(&json, 1 << 20);
    for (uint32_t len = TIDE_STORED_JSON_MAX - 4; len <= TIDE_STORED_JSON_MAX; len += 4) {
        tide_buf_reset(&b);
        tide_buf_be32(&b, TIDE_SCV_STRING);
        tide_buf_be32(&b, len);
        for (uint32_t i = 0; i < len; i++)
            tide_buf_u8(&b, 'a');
        assert_int_equal(tide_scval_json_stored(&json, tide_buf_view(&b), 1),
                         len + 2 <= TIDE_STORED_JSON_MAX);
    }
    tide_buf_release(&b);
    tide_buf_release(&json);
}

static void a_cursor_fails_once_and_stays_failed(void **state)
{
    (void)state;
    static const uint8_t bytes[] = { 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 'a', 'b', 'c', 0 };
    struct tide_err err;
    struct tide_xdr x = tide_xdr_of(tide_slice_of(bytes, sizeof bytes));
    assert_false(tide_xdr_bool(&x)); /* 2 */
    assert_int_equal(x.status, TIDE_E_DECODE);
    assert_int_equal(tide_xdr_u32(&x), 0);
    assert_int_equal(tide_xdr_var(&x, 9).len, 0);
    assert_int_equal(tide_xdr_left(&x), 0);
    assert_int_equal(x.fail_at, 4);
    assert_false(x.truncated);
    assert_int_equal(tide_xdr_end(&x), TIDE_E_DECODE);
    assert_int_equal(tide_xdr_error(&x, &err, "test"), TIDE_E_DECODE);
    assert_string_equal(err.text, "test: boolean (2) at byte 4");

    x = tide_xdr_of(tide_slice_of(bytes, sizeof bytes));
    tide_xdr_skip(&x, 8);
    assert_true(tide_slice_eq_str(tide_xdr_var(&x, 3), "abc"));
    assert_int_equal(tide_xdr_end(&x), TIDE_OK);
    tide_xdr_u32(&x);
    assert_true(x.truncated);

    x = tide_xdr_of(tide_slice_of(bytes, sizeof bytes));
    tide_xdr_skip(&x, 8);
    assert_int_equal(tide_xdr_var(&x, 2).len, 0); /* longer than allowed */
    assert_int_equal(x.status, TIDE_E_DECODE);
    assert_false(x.truncated);

    x = tide_xdr_of(tide_slice_of(bytes, sizeof bytes));
    assert_int_equal(tide_xdr_count(&x, UINT32_MAX, 7), 0); /* 2 of at least 7 do not fit in 12 */
    assert_true(x.truncated);
}

int test_scval(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_arm_has_its_json),
        cmocka_unit_test(a_map_is_an_object_or_a_list_of_pairs),
        cmocka_unit_test(what_is_not_one_value_is_refused),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(keys_within_keys_grow_linearly),
        cmocka_unit_test(the_text_is_at_most_eight_times_the_xdr),
        cmocka_unit_test(what_is_stored_nests_no_deeper_than_parsers_read),
        cmocka_unit_test(a_long_value_is_not_stored_as_json),
        cmocka_unit_test(a_cursor_fails_once_and_stays_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
