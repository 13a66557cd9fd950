/* The console's file of people: accepted files, refusals with their places, and certificates in the
 * form in which nginx passes them. */
#include "api/console/people.h"
#include "tidemark/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define ONE   "1111111111111111111111111111111111111111111111111111111111111111"
#define TWO   "2222222222222222222222222222222222222222222222222222222222222222"
#define THREE "3333333333333333333333333333333333333333333333333333333333333333"
#define HEAD                                                                  \
    "{\"origin\":\"https://"                                                  \
    "console.example\",\"proxySecret\":\"hush-hush-hush-hush-hush-hush-hush-" \
    "hush\",\"people\":"

static void test_file(void **state)
{
    (void)state;
    struct console_people *people = NULL;
    struct tide_err err = { 0 };
    tide_slice text = TIDE_SLICE(
        HEAD "[{\"name\":\"ada\",\"role\":\"operator\",\"certificates\":[\"" ONE "\",\"" TWO
             "\"]},{\"name\":\"bob\",\"role\":\"viewer\",\"certificates\":[\"" THREE "\"]}]}");
    assert_int_equal(console_people_parse(&people, text, &err), TIDE_OK);
    assert_string_equal(people->origin, "https://console.example");
    assert_int_equal(people->count, 2);
    assert_string_equal(people->people[0].name, "ada");
    assert_int_equal(people->people[0].role, CONSOLE_OPERATOR);
    assert_int_equal(people->people[0].certificate_count, 2);
    assert_int_equal(people->people[0].certificates[1][31], 0x22);
    assert_int_equal(people->people[1].role, CONSOLE_VIEWER);
    free(people);
}

#define PERSON(name, role, more) \
    "{\"name\":\"" name "\",\"role\":\"" role "\",\"certificates\":[" more "]}"

static void test_refusals(void **state)
{
    static const struct {
        const char *text, *says;
    } all[] = {
        { "", "line" },
        { "[]", "expected an object" },
        { "{}", "/origin: is missing" },
        { HEAD "[]}", "/people" }, /* no person could get in */
        { HEAD "[" PERSON("ada", "admin", "\"" ONE "\"") "]}", "/people/0/role" },
        { HEAD "[" PERSON("Ada", "viewer", "\"" ONE "\"") "]}", "/people/0/name" },
        { HEAD "[" PERSON("", "viewer", "\"" ONE "\"") "]}", "/people/0/name" },
        { HEAD "[" PERSON("ada", "viewer", "") "]}", "/people/0/certificates" },
        { HEAD "[" PERSON("ada", "viewer", "\"11\"") "]}", "/people/0/certificates/0" },
        { HEAD "[" PERSON("ada", "viewer", "\"" ONE "\",\"" ONE "\"") "]}",
          "/people/0/certificates/1: is used twice" },
        { HEAD "[" PERSON("ada", "viewer", "\"" ONE "\"") "," PERSON("bob", "viewer",
                                                                     "\"" ONE "\"") "]}",
          "/people/1/certificates/0: is used twice" }, /* one person as two */
        { HEAD "[" PERSON("ada", "viewer", "\"" ONE "\"") "," PERSON("ada", "viewer",
                                                                     "\"" TWO "\"") "]}",
          "/people/1/name: is used twice" },
        { HEAD "[{\"name\":\"ada\",\"name\":\"bob\"}]}", "a member twice" },
        { HEAD "[" PERSON("ada", "viewer", "\"" ONE "\"") "],\"open\":true}", "open" },
        { "{\"origin\":\"https://console.example/x\",\"proxySecret\":\"\",\"people\":[]}",
          "/origin" },
        { "{\"origin\":\"https://console.example\",\"proxySecret\":\"hush\",\"people\":[]}",
          "/proxySecret: expected at least 32" },
    };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(all); i++) {
        struct console_people *people = (void *)&people;
        struct tide_err err = { 0 };
        tide_status status = console_people_parse(&people, tide_slice_str(all[i].text), &err);
        if (status != TIDE_E_CONFIG || people || !strstr(err.text, all[i].says))
            fail_msg("%s: %d %s", all[i].text, (int)status, err.text);
        assert_null(strstr(err.text, "hush")); /* a message shows no secret */
        assert_null(strstr(err.text, "1111"));
    }
}

/* The certificate is the text "DER", which is REVS in base64. */
static void test_certificates(void **state)
{
    static const char good[] =
        "-----BEGIN%20CERTIFICATE-----%0AREVS%0A-----END%20CERTIFICATE-----%0A";
    static const char *const bad[] = {
        "",
        "%",
        "%2",
        "%zz",
        "REVS",
        "-----BEGIN%20CERTIFICATE-----%0AREVS",
        "-----BEGIN%20CERTIFICATE-----%0A-----END%20CERTIFICATE-----%0A",
        "-----BEGIN%20CERTIFICATE-----%0ARE*S%0A-----END%20CERTIFICATE-----%0A",
        "-----BEGIN%20CERTIFICATE-----%0AREVS%0A-----END%20CERTIFICATE-----%0Ax",
        "-----BEGIN%20PRIVATE%20KEY-----%0AREVS%0A-----END%20PRIVATE%20KEY-----%0A",
        /* two certificates: nginx never passes a chain */
        ("-----BEGIN%20CERTIFICATE-----%0AREVS%0A-----END%20CERTIFICATE-----%0A-----BEGIN%20"
         "CERTIFICATE-----%0AREVS%0A-----END%20CERTIFICATE-----%0A"),
    };
    uint8_t hash[TIDE_HASH_BYTES], want[TIDE_HASH_BYTES];
    (void)state;
    tide_sha256(want, TIDE_SLICE("DER"));
    assert_true(console_fingerprint(hash, tide_slice_str(good)));
    assert_memory_equal(hash, want, sizeof want);
    for (size_t i = 0; i < TIDE_COUNT(bad); i++)
        if (console_fingerprint(hash, tide_slice_str(bad[i])))
            fail_msg("taken: %s", bad[i]);
    char *large = calloc(1, 20000);
    memset(large, 'A', 19999);
    assert_false(console_fingerprint(hash, tide_slice_str(large)));
    free(large);
}

int test_console_people(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_certificates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
