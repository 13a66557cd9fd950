/* JSON bodies: the object, and the faults of its members. */
#include "api/http/body.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static bool says(const struct tide_reply *reply, const char *text)
{
    return memmem(reply->body.ptr, reply->body.len, text, strlen(text)) != NULL;
}

static void a_body_must_be_an_object_without_repeated_members(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "[1]", "is not a JSON object" },
        { "{\"a\":", "is not JSON" },
        { "{\"a\":{\"b\":1,\"b\":2}}", "has a member twice" },
    };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct tide_reply reply = { 0 };
        tide_reply_init(&reply);
        assert_null(tide_body_object(tide_slice_str(cases[i].text), 0, "bad_body", &reply));
        assert_int_equal(reply.status, 400);
        assert_true(says(&reply, cases[i].says));
        tide_reply_release(&reply);
    }
}

static void every_fault_is_listed_under_one_problem(void **state)
{
    struct tide_reply reply = { 0 };
    (void)state;
    tide_reply_init(&reply);
    struct tide_body_faults faults = { .reply = &reply };
    tide_body_reject(&faults, "/url", "must be given");
    assert_true(faults.failed);
    tide_body_reject(&faults, "/events", "must be a list");
    tide_body_reject_unknown(&faults, "colour");
    assert_int_equal(reply.status, 400);
    assert_true(says(&reply, "\"bad_body\""));
    assert_true(says(&reply, "/url") && says(&reply, "must be given"));
    assert_true(says(&reply, "/events") && says(&reply, "must be a list"));
    assert_true(says(&reply, "/colour"));
    tide_reply_release(&reply);
}

int test_body(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_must_be_an_object_without_repeated_members),
        cmocka_unit_test(every_fault_is_listed_under_one_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
