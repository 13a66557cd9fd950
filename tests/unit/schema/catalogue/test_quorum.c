/* The quorum set of a deployment file: what is refused, with the place, and who satisfies it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "schema/catalogue/quorum_read.h"
#include "tidemark/buf.h"
#include "tidemark/strkey.h"

/* Writes text with the keys of validators 1, 2 … in the places of the digits in "<1>". */
static void put_text(struct tide_buf *b, const char *text)
{
    for (; *text; text++) {
        if (*text != '<') {
            tide_buf_u8(b, (uint8_t)*text);
            continue;
        }
        uint8_t key[TIDE_HASH_BYTES] = { (uint8_t)text[1] };
        char strkey[TIDE_STRKEY_TEXT_MAX];
        size_t len =
            tide_strkey_encode(strkey, TIDE_STRKEY_ACCOUNT, tide_slice_of(key, sizeof key));
        tide_buf_u8(b, '"');
        tide_buf_put(b, strkey, len);
        tide_buf_u8(b, '"');
        text += 2;
    }
}

static tide_status read_text(struct tide_quorum *quorum, const char *text, struct tide_err *err)
{
    struct tide_buf b;
    json_error_t where;
    tide_buf_init(&b, 1 << 20);
    put_text(&b, text);
    json_t *root = tide_json_load(tide_buf_view(&b), JSON_DECODE_ANY, &where);
    assert_non_null(root);
    tide_status status = tide_quorum_read(quorum, root, err);
    json_decref(root);
    tide_buf_release(&b);
    return status;
}

static void sets_that_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "[]", "/validators: expected a quorum set" },
        { "{}", "/validators/threshold: the set has no members" },
        { "{\"threshold\":0,\"validators\":[<1>]}", "/validators/threshold: expected 1 to 1" },
        { "{\"threshold\":2,\"validators\":[<1>]}", "/validators/threshold: expected 1 to 1" },
        { "{\"threshold\":-1,\"validators\":[<1>]}", "/validators/threshold: expected 1 to 1" },
        { "{\"threshold\":\"1\",\"validators\":[<1>]}", "/validators/threshold: expected 1 to 1" },
        { "{\"threshold\":1,\"validators\":<1>}", "/validators/threshold: the set has no members" },
        { "{\"threshold\":1,\"validators\":[\"GA\"]}", "/validators/validators/0: expected a" },
        { "{\"threshold\":1,\"validators\":[7]}", "/validators/validators/0: expected a" },
        { "{\"threshold\":1,\"validators\":[<1>,<1>]}",
          "/validators/validators/1: the key occurs" },
        { "{\"threshold\":1,\"validators\":[<1>],\"innerSets\":[{\"threshold\":1,"
          "\"validators\":[<2>,<1>]}]}",
          "/validators/innerSets/0/validators/1: the key occurs" },
        { "{\"threshold\":1,\"validators\":[<1>],\"innerSets\":[{\"threshold\":1}]}",
          "/validators/innerSets/0/threshold: the set has no members" },
        { "{\"threshold\":1,\"validators\":[<1>],\"quorum\":1}", "/validators/quorum: unknown" },
        { "{\"threshold\":1,\"innerSets\":[{\"threshold\":1,\"innerSets\":[{\"threshold\":1,"
          "\"innerSets\":[{\"threshold\":1,\"innerSets\":[{\"threshold\":1,\"innerSets\":["
          "{\"threshold\":1,\"validators\":[<1>]}]}]}]}]}]}",
          "nested deeper than 4 levels" },
    };
    static struct tide_quorum quorum;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct tide_err err = { 0 };
        assert_int_equal(read_text(&quorum, cases[i].text, &err), TIDE_E_CONFIG);
        if (!strstr(err.text, cases[i].message))
            fail_msg("%s: %s", cases[i].text, err.text);
    }
}

static void too_many_validators_are_refused(void **state)
{
    (void)state;
    static struct tide_quorum quorum;
    struct tide_err err;
    json_t *root = json_pack("{s:i,s:[]}", "threshold", 1, "validators");
    for (uint32_t i = 0; i <= TIDE_VALIDATORS_MAX; i++) {
        uint8_t key[TIDE_HASH_BYTES] = { (uint8_t)(i >> 8), (uint8_t)i };
        char text[TIDE_STRKEY_TEXT_MAX];
        size_t len = tide_strkey_encode(text, TIDE_STRKEY_ACCOUNT, tide_slice_of(key, sizeof key));
        assert_int_equal(quorum.count == TIDE_VALIDATORS_MAX, i == TIDE_VALIDATORS_MAX);
        json_array_append_new(json_object_get(root, "validators"), json_stringn(text, len));
        if (i + 1 < TIDE_VALIDATORS_MAX)
            continue;
        assert_int_equal(tide_quorum_read(&quorum, root, &err),
                         i < TIDE_VALIDATORS_MAX ? TIDE_OK : TIDE_E_CONFIG);
    }
    assert_non_null(strstr(err.text, "more than 1000 validators"));
    json_decref(root);
}

/* 2 of: validator 1, 2 of {2, 3, 4}, 1 of {2 of {5, 6}, 7}. */
static void inner_sets_have_one_vote(void **state)
{
    (void)state;
    static const char text[] =
        "{\"threshold\":2,\"validators\":[<1>],\"innerSets\":[{\"threshold\":2,\"validators\":[<2>,"
        "<3>,<4>]},{\"threshold\":1,\"validators\":[<7>],\"innerSets\":[{\"threshold\":2,"
        "\"validators\":[<5>,<6>]}]}]}";
    static const struct {
        const char *signers;
        bool satisfied;
    } cases[] = {
        { "", false },     { "1", false },      { "234", false }, { "123", true },
        { "12", false },   { "17", true },      { "156", true },  { "15", false },
        { "2356", true },  { "2456", true },    { "3456", true }, { "567", false },
        { "2567", false }, { "1234567", true },
    };
    static struct tide_quorum quorum;
    struct tide_err err;
    assert_int_equal(read_text(&quorum, text, &err), TIDE_OK);
    assert_int_equal(quorum.count, 7);
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct tide_signers signers = { { 0 } };
        for (const char *digit = cases[i].signers; *digit; digit++) {
            const uint8_t key[TIDE_HASH_BYTES] = { (uint8_t)*digit };
            int found = tide_quorum_find(&quorum, key);
            assert_true(found >= 0);
            tide_signers_add(&signers, (uint32_t)found);
        }
        if (tide_quorum_satisfied(&quorum, &signers) != cases[i].satisfied)
            fail_msg("signers %s", cases[i].signers);
    }
    static const struct tide_quorum none;
    struct tide_signers all = { { UINT64_MAX } };
    assert_false(tide_quorum_satisfied(&none, &all));
}

int test_quorum(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_that_are_refused),
        cmocka_unit_test(too_many_validators_are_refused),
        cmocka_unit_test(inner_sets_have_one_vote),
    };
    return cmocka_run_group_tests_name("quorum", tests, NULL, NULL);
}
