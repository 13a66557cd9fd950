/* Lines of an export: JSON objects and RFC 4180 records of the same columns. */
#include "indexer/export/row.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[] = { "ledger", "role", "data", "ret", NULL };

/* Returns one line with every kind of value and one with few. The caller frees the text. */
static char *written(enum tide_export_format format)
{
    char *text = NULL;
    size_t size;
    struct tide_err err;
    struct tide_export_row row;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    tide_export_row_open(&row, to, format, names);
    tide_export_row_number(&row, 0, 812);
    tide_export_row_text(&row, 1, TIDE_SLICE("a \"b\",\nc"));
    tide_export_row_json(&row, 2, TIDE_SLICE("{\"x\":[1,\"2\"]}"));
    tide_export_row_json(&row, 3, TIDE_SLICE("null"));
    assert_int_equal(tide_export_row_end(&row, &err), TIDE_OK);
    tide_export_row_text(&row, 1, TIDE_SLICE(""));
    tide_export_row_number(&row, 0, 0);
    assert_int_equal(tide_export_row_end(&row, &err), TIDE_OK);
    assert_int_equal(row.rows, 2);
    tide_export_row_close(&row);
    fclose(to);
    return text;
}

static void json_leaves_out_what_is_not_set(void **state)
{
    (void)state;
    char *text = written(TIDE_EXPORT_JSONL);
    assert_string_equal(text, "{\"ledger\":812,\"role\":\"a \\\"b\\\",\\nc\","
                              "\"data\":{\"x\":[1,\"2\"]},\"ret\":null}\n"
                              "{\"ledger\":0,\"role\":\"\"}\n");
    free(text);
}

static void csv_quotes_and_keeps_the_columns(void **state)
{
    (void)state;
    char *text = written(TIDE_EXPORT_CSV);
    assert_string_equal(text, "ledger,role,data,ret\r\n"
                              "812,\"a \"\"b\"\",\nc\",\"{\"\"x\"\":[1,\"\"2\"\"]}\",\r\n"
                              "0,\"\",,\r\n");
    free(text);
}

/* A text chosen by a contract must not run as a formula in a spreadsheet. Numbers (also negative
 * ones) and JSON are unchanged. */
static void csv_texts_are_no_formulas(void **state)
{
    (void)state;
    static const struct {
        const char *value, *text;
    } cases[] = {
#define TIDE_CSV_CASE(value, text) { value, text },
#include "tests/unit/indexer/export/formula.def"
        /* The dashboard shows numbers as texts, so it leaves these. */
        { "-5", "'-5" },
        { "+1.5", "'+1.5" },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        char *text = NULL, want[256];
        size_t size;
        struct tide_err err;
        struct tide_export_row row;
        FILE *to = open_memstream(&text, &size);
        assert_non_null(to);
        tide_export_row_open(&row, to, TIDE_EXPORT_CSV, names);
        tide_export_row_text(&row, 1, tide_slice_str(cases[i].value));
        tide_export_row_json(&row, 2, TIDE_SLICE("-5"));
        assert_int_equal(tide_export_row_end(&row, &err), TIDE_OK);
        tide_export_row_close(&row);
        fclose(to);
        snprintf(want, sizeof want, "ledger,role,data,ret\r\n,%s,-5,\r\n", cases[i].text);
        assert_string_equal(text, want);
        free(text);
    }
}

static void a_full_disk_is_said(void **state)
{
    (void)state;
    struct tide_err err;
    struct tide_export_row row;
    FILE *to = fopen("/dev/full", "w");
    if (!to)
        skip();
    setvbuf(to, NULL, _IONBF, 0);
    tide_export_row_open(&row, to, TIDE_EXPORT_JSONL, names);
    tide_export_row_number(&row, 0, 1);
    assert_int_equal(tide_export_row_end(&row, &err), TIDE_E_IO);
    assert_non_null(strstr(err.text, "cannot write"));
    tide_export_row_close(&row);
    fclose(to);
}

int test_export_row(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_leaves_out_what_is_not_set),
        cmocka_unit_test(csv_quotes_and_keeps_the_columns),
        cmocka_unit_test(csv_texts_are_no_formulas),
        cmocka_unit_test(a_full_disk_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
