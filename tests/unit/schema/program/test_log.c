/* Log lines: for a value of any content and length, a line stays one line of logfmt or of JSON. */
#include "tidemark/json_read.h"
#include "tidemark/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { LINE_ROOM = 40000 };

/* Captures the line that tide_log writes to stderr. */
static void logged(char out[LINE_ROOM], bool json, const char *value)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    int before = dup(STDERR_FILENO);
    assert_int_equal(dup2(fileno(file), STDERR_FILENO), STDERR_FILENO);
    tide_log_json_set(json);
    tide_log(TIDE_ERROR, "test.event", "n=1 text=%s", value);
    tide_log_json_set(false);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    out[fread(out, 1, LINE_ROOM - 1, file)] = '\0';
    fclose(file);
}

/* Copies the field "text" of a JSON line, which must be one object on one line. */
static void text_of(char out[LINE_ROOM], const char *line)
{
    json_error_t error;
    size_t len = strlen(line);
    assert_true(len > 0 && strchr(line, '\n') == line + len - 1);
    json_t *root = tide_json_load(tide_slice_of(line, len), JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("%s: %s", error.text, line);
    assert_string_equal(json_string_value(json_object_get(root, "event")), "test.event");
    assert_string_equal(json_string_value(json_object_get(root, "n")), "1");
    snprintf(out, LINE_ROOM, "%s", json_string_value(json_object_get(root, "text")));
    json_decref(root);
}

static void values_survive_json(void **state)
{
    static const struct {
        const char *value, *want;
    } cases[] = {
        { "plain", "plain" },
        { "two words", "two words" },
        { "a \"quote\" and a \\", "a \"quote\" and a \\" },
        { "one\ntwo\rthree\tfour\x01"
          "five\x1b[31m",
          "one two three four five [31m" },
        { "not UTF-8: \xff.", "not UTF-8: \xef\xbf\xbd." },
        { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
    };
    static char line[LINE_ROOM], text[LINE_ROOM];
    char quoted[200];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        logged(line, true, tide_log_quote(quoted, sizeof quoted, cases[i].value));
        text_of(text, line);
        assert_string_equal(text, cases[i].want);
    }
}

/* The limit of a line may cut a value at any byte: inside the value, before its closing quote,
 * inside an escape or inside a character. */
static void a_line_that_is_cut_stays_whole(void **state)
{
    static const char *const endings[] = { "x", "\"", "\\", "\xc3\xbc", "\x02" };
    static char value[5000], quoted[10100], line[LINE_ROOM], text[LINE_ROOM];
    (void)state;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        for (size_t len = 4070; len < 4100; len++) {
            memset(value, 'v', len);
            value[len] = '\0';
            for (size_t n = 0, at = len; n < 20; n++, at = strlen(value))
                snprintf(value + at, sizeof value - at, "%s", endings[i]);
            logged(line, true, tide_log_quote(quoted, sizeof quoted, value));
            text_of(text, line);
            assert_true(strlen(text) >= 4060);
            logged(line, false, quoted);
            assert_int_equal(line[strlen(line) - 2], '"');
            assert_int_not_equal(line[strlen(line) - 3] == '\\' && line[strlen(line) - 4] != '\\',
                                 1);
        }
    }
}

int test_log(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_survive_json),
        cmocka_unit_test(a_line_that_is_cut_stays_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
