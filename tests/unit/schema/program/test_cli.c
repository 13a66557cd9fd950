/* The command line of a program, defined by rows: parsing, help, man page, completion, and the
 * suggestion for a mistyped name. */
#include "tidemark/cli.h"
#include "tidemark/nearest.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct tide_cli_row rows[] = {
    { TIDE_CLI_COMMAND, "fill", "", "Fill a range", "database_url batch_*" },
    { TIDE_CLI_NEEDED, "from", "N", "first ledger", "" },
    { TIDE_CLI_FLAG, "json", "", "as JSON", "" },
    { TIDE_CLI_OPTIONAL, "watch", "SECONDS", "again and again", "" },
    { TIDE_CLI_EXAMPLE, "", "", "program fill --from 7", "" },
    { TIDE_CLI_COMMAND, "show", "FILE...", ".Begins like a roff request", "" },
    { TIDE_CLI_VALUE, "form", "a|b", "how", "" },
};
static const struct tide_cli cli = { .program = "program",
                                     .version = "1",
                                     .summary = "a test",
                                     .text = "First.\n\nSecond paragraph.",
                                     .rows = rows,
                                     .count = TIDE_COUNT(rows) };

static void a_command_has_its_own_options(void **state)
{
    struct tide_option options[TIDE_CLI_OPTIONS_MAX + 1];
    (void)state;
    tide_cli_options(&cli, &rows[0], options);
    assert_string_equal(options[0].name, "from");
    assert_false(options[0].flag);
    assert_true(options[1].flag);
    assert_true(options[2].optional);
    assert_null(options[3].name);
    tide_cli_options(&cli, NULL, options);
    assert_string_equal(options[3].name, "form");
    assert_null(options[4].name);
    assert_ptr_equal(tide_cli_command(&cli, "show"), &rows[5]);
    assert_null(tide_cli_command(&cli, "from"));
}

static char *nothing(const char *name)
{
    (void)name;
    return NULL;
}

/* Parses these words as options of "fill" or "show". Returns the message of the refusal, or "". */
static const char *load_options(const char *command, const char *words, const char **watch,
                                struct tide_err *err)
{
    static struct tide_config config;
    static char text[256];
    struct tide_option options[TIDE_CLI_OPTIONS_MAX + 1];
    const struct tide_cli_row *row = tide_cli_command(&cli, command);
    char *argv[16] = { (char[]){ "x" } };
    int argc = 1;
    snprintf(text, sizeof text, "%s", words);
    for (char *p = text, *next; *p; p = next) {
        next = p + strcspn(p, " ");
        next += *next ? (*next = '\0', 1) : 0;
        argv[argc++] = p;
    }
    err->text[0] = '\0';
    tide_cli_options(&cli, row, options);
    tide_status status = tide_config_load(&config, &argc, argv, options, nothing, err);
    if (status == TIDE_OK)
        status = tide_cli_check(&cli, row, options, argc, argv, err);
    if (status != TIDE_OK)
        assert_int_equal(tide_status_exit(status), 64);
    *watch = strcmp(command, "fill") == 0 ? tide_option_find(options, "watch")->value : NULL;
    return err->text;
}

static void words_are_taken_or_refused(void **state)
{
    static const struct {
        const char *command, *words, *message;
    } cases[] = {
        { "fill", "--from 7", "" },
        { "fill", "--json", "--from N is missing; \"program fill --help\"" },
        { "fill", "--from 7 more", "\"more\" is no option; \"program fill --help\"" },
        { "fill", "--from", "--from needs a value" },
        { "fill", "--fron 7", "unknown option --fron; did you mean --from? --help" },
        { "fill", "--batch-mb=secret", "unknown option --batch-mb; did you mean --batch-mib?" },
        { "fill", "--quite-another-thing", "unknown option --quite-another-thing; --help" },
        { "show", "--form a one two", "" },
    };
    struct tide_err err;
    const char *watch;
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        const char *text = load_options(cases[i].command, cases[i].words, &watch, &err);
        if (*cases[i].message ? !strstr(text, cases[i].message) : *text)
            fail_msg("%s: %s", cases[i].words, text);
        assert_null(strstr(text, "secret"));
    }
    load_options("fill", "--from 7", &watch, &err);
    assert_null(watch);
    load_options("fill", "--watch --from 7", &watch, &err);
    assert_string_equal(watch, "");
    load_options("fill", "--watch 5 --from 7", &watch, &err);
    assert_string_equal(watch, "5");
    load_options("fill", "--from 7 --watch=9", &watch, &err);
    assert_string_equal(watch, "9");
}

static const char *text_of(struct tide_buf *out)
{
    tide_buf_u8(out, 0);
    assert_false(out->failed);
    return (const char *)out->ptr;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is missing in:\n%s", part, text);
}

static void help_shows_what_belongs_to_the_command(void **state)
{
    struct tide_buf out;
    (void)state;
    tide_buf_init(&out, 1u << 20);
    tide_cli_command_page(&cli, &rows[0], &out);
    const char *text = text_of(&out);
    has(text, "usage: program fill --from N [--json] [--watch [SECONDS]] [--SETTING VALUE]...\n");
    has(text, "Example:\n  program fill --from 7\n");
    has(text, "  --database-url TEXT");
    has(text,
        "one more may be in\n                              transfer) (1..256 MiB, default 12)\n");
    assert_null(strstr(text, "--form"));
    assert_null(strstr(text, "--lake"));
    tide_buf_reset(&out);
    tide_cli_all(&cli, &out);
    text = text_of(&out);
    has(text, "--form a|b");
    has(text, "--lake TEXT");
    has(text, "  64    usage\n");
    for (const char *p = text; *p; p += strcspn(p, "\n") + 1)
        assert_true(strcspn(p, "\n") <= 80 + 8); /* bytes; 80 columns, "…" has three bytes */
    tide_buf_release(&out);
}

static void man_page_and_completion_have_the_same_rows(void **state)
{
    struct tide_buf out;
    (void)state;
    tide_buf_init(&out, 1u << 20);
    tide_cli_man(&cli, &out);
    const char *text = text_of(&out);
    has(text, ".TH \"PROGRAM\" 1 \"\" \"tidemark 1\"");
    has(text, "program \\- a test\n");
    has(text, "First.\n.PP\nSecond paragraph.");
    has(text, ".B \\-\\-watch [SECONDS]\nagain and again\n");
    has(text, "\\&.Begins like a roff request");
    has(text, ".B 64\nusage\n");
    tide_buf_reset(&out);
    tide_config_man(&out, "1");
    has(text_of(&out), ".B batch_mib = N\nrows of one transaction");
    tide_buf_reset(&out);
    tide_cli_completion(&cli, &out);
    text = text_of(&out);
    has(text, "fill) words=\"--help --config --from --json --watch --database-url");
    has(text, "complete -o default -F _program program\n");
    tide_buf_release(&out);
}

static void the_nearest_name_is_found(void **state)
{
    static const char *const names[] = { "status", "verify", "digest", "database_url", "run" };
    static const struct {
        const char *typed, *found;
    } cases[] = {
        { "stats", "status" },
        { "statsu", "status" },
        { "VERIFY", "verify" },
        { "digset", "digest" },
        { "rum", "run" },
        { "database-ulr", "database_url" },
        { "qqqqqq", NULL },
        { "", NULL },
        { "x", NULL },
        { "sttus", "status" },
        { "a_name_that_is_longer_than_forty_eight_letters_are", NULL },
    };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct tide_nearest near = tide_nearest_of(tide_slice_str(cases[i].typed));
        for (size_t j = 0; j < TIDE_COUNT(names); j++)
            tide_nearest_try(&near, names[j]);
        if (cases[i].found)
            assert_string_equal(near.found ? near.found : "nothing", cases[i].found);
        else
            assert_null(near.found);
    }
}

int test_cli(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_has_its_own_options),
        cmocka_unit_test(words_are_taken_or_refused),
        cmocka_unit_test(help_shows_what_belongs_to_the_command),
        cmocka_unit_test(man_page_and_completion_have_the_same_rows),
        cmocka_unit_test(the_nearest_name_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
