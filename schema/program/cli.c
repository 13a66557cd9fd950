/* The rows of a command line, and what they say about a call. */
#include "schema/program/cli_impl.h"
#include "tidemark/nearest.h"

enum { EXIT_CODES_MAX = 128 };

const struct tide_cli_row *tide_cli_command(const struct tide_cli *cli, const char *name)
{
    for (size_t i = 0; i < cli->count; i++)
        if (cli->rows[i].kind == TIDE_CLI_COMMAND && strcmp(cli->rows[i].name, name) == 0)
            return &cli->rows[i];
    return NULL;
}

const struct tide_cli_row *tide_cli_next(const struct tide_cli *cli, const struct tide_cli_row *row)
{
    assert(row >= cli->rows && row < cli->rows + cli->count);
    return ++row < cli->rows + cli->count && row->kind != TIDE_CLI_COMMAND ? row : NULL;
}

static bool is_option(enum tide_cli_kind kind)
{
    return kind != TIDE_CLI_COMMAND && kind != TIDE_CLI_EXAMPLE;
}

void tide_cli_options(const struct tide_cli *cli, const struct tide_cli_row *command,
                      struct tide_option out[TIDE_CLI_OPTIONS_MAX + 1])
{
    const struct tide_cli_row *end = cli->rows + cli->count;
    size_t count = 0;
    for (const struct tide_cli_row *row = command ? command + 1 : cli->rows; row < end; row++) {
        if (command && row->kind == TIDE_CLI_COMMAND)
            break;
        if (!is_option(row->kind))
            continue;
        assert(count < TIDE_CLI_OPTIONS_MAX);
        out[count++] = (struct tide_option){ .name = row->name,
                                             .flag = row->kind == TIDE_CLI_FLAG,
                                             .optional = row->kind == TIDE_CLI_OPTIONAL };
    }
    out[count] = (struct tide_option){ .name = NULL };
}

tide_status tide_cli_check(const struct tide_cli *cli, const struct tide_cli_row *command,
                           const struct tide_option *options, int argc, char **argv,
                           struct tide_err *err)
{
    assert(command->kind == TIDE_CLI_COMMAND);
    for (const struct tide_cli_row *row = command; (row = tide_cli_next(cli, row));)
        if (row->kind == TIDE_CLI_NEEDED && !tide_option_given(options, row->name))
            return tide_fail(err, TIDE_E_USAGE, "--%s %s is missing; \"%s %s --help\" explains it",
                             row->name, row->value, cli->program, command->name);
    if (argc > 1 && !*command->value)
        return tide_fail(err, TIDE_E_USAGE, "\"%.100s\" is no option; \"%s%s%s --help\" lists them",
                         argv[1], cli->program, *command->name ? " " : "", command->name);
    return TIDE_OK;
}

tide_status tide_cli_no_command(const struct tide_cli *cli, const char *word, struct tide_err *err)
{
    struct tide_nearest near = tide_nearest_of(tide_slice_str(word));
    for (size_t i = 0; i < cli->count; i++)
        if (cli->rows[i].kind == TIDE_CLI_COMMAND)
            tide_nearest_try(&near, cli->rows[i].name);
    return tide_fail(err, TIDE_E_USAGE, "no command \"%.100s\"; %s%s%s\"%s --help\" lists them",
                     word, near.found ? "did you mean \"" : "", near.found ? near.found : "",
                     near.found ? "\"? " : "", cli->program);
}

/* --- texts that help and man page share ---------------------------------------------------- */

void tide_cli_option_text(struct tide_buf *out, const struct tide_cli_row *row)
{
    assert(row->kind != TIDE_CLI_COMMAND && row->kind != TIDE_CLI_EXAMPLE);
    tide_buf_putf(out, "--%s", row->name);
    if (row->kind == TIDE_CLI_OPTIONAL)
        tide_buf_putf(out, " [%s]", row->value);
    else if (row->kind != TIDE_CLI_FLAG)
        tide_buf_putf(out, " %s", row->value);
}

void tide_cli_usage(const struct tide_cli *cli, const struct tide_cli_row *command,
                    struct tide_buf *out)
{
    tide_buf_putf(out, "%s%s%s", cli->program, *command->name ? " " : "", command->name);
    for (const struct tide_cli_row *r = command; (r = tide_cli_next(cli, r));) {
        if (r->kind == TIDE_CLI_EXAMPLE)
            continue;
        bool needed = r->kind == TIDE_CLI_NEEDED;
        tide_buf_str(out, needed ? " " : " [");
        tide_cli_option_text(out, r);
        tide_buf_str(out, needed ? "" : "]");
    }
    if (*command->settings)
        tide_buf_str(out, " [--SETTING VALUE]...");
    if (*command->value)
        tide_buf_putf(out, " %s", command->value);
}

/* Appends the texts of all outcomes with that exit code; false if there are none. */
static bool put_outcomes(struct tide_buf *out, int code)
{
    bool found = false;
    for (tide_status s = 0; s < TIDE_STATUS_COUNT; s++) {
        if (tide_status_exit(s) != code || s == TIDE_E_EOF || s == TIDE_E_STOPPED)
            continue;
        tide_buf_putf(out, "%s%s", found ? "; " : "", tide_status_text(s));
        found = true;
    }
    return found;
}

void tide_exit_codes(struct tide_buf *out,
                     void (*put)(struct tide_buf *out, const char *code, const char *text))
{
    struct tide_buf text;
    tide_buf_init(&text, 2048);
    for (int code = 0; code < EXIT_CODES_MAX; code++) {
        char digits[16];
        tide_buf_reset(&text);
        if (!put_outcomes(&text, code))
            continue;
        tide_buf_u8(&text, 0);
        assert(!text.failed);
        snprintf(digits, sizeof digits, "%d", code);
        put(out, digits, (const char *)text.ptr);
    }
    tide_buf_release(&text);
}
