#include "schema/program/cli_impl.h"
#include "schema/program/config_impl.h"

enum { TEXT_COLUMN = 22, COMMAND_COLUMN = 14, CODE_COLUMN = 8 };

bool tide_exit_code_text(struct tide_buf *out, int code)
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

static void exit_codes_help(struct tide_buf *out)
{
    struct tide_buf text;
    tide_buf_init(&text, 2048);
    for (int code = 0; code < TIDE_EXIT_CODES_MAX; code++) {
        char left[16];
        tide_buf_reset(&text);
        if (!tide_exit_code_text(&text, code))
            continue;
        tide_buf_u8(&text, 0);
        snprintf(left, sizeof left, "%d", code);
        tide_help_entry(out, CODE_COLUMN, left, (const char *)text.ptr);
    }
    tide_buf_release(&text);
}

/* --- commands ----------------------------------------------------------------------------- */

void tide_cli_option_text(struct tide_buf *out, const struct tide_cli_row *row)
{
    assert(row->kind != TIDE_CLI_COMMAND && row->kind != TIDE_CLI_EXAMPLE);
    tide_buf_putf(out, "--%s", row->name);
    if (row->kind == TIDE_CLI_OPTIONAL)
        tide_buf_putf(out, " [%s]", row->value);
    else if (row->kind != TIDE_CLI_FLAG)
        tide_buf_putf(out, " %s", row->value);
}

const struct tide_cli_row *tide_cli_next(const struct tide_cli *cli, const struct tide_cli_row *row)
{
    assert(row >= cli->rows && row < cli->rows + cli->count);
    return ++row < cli->rows + cli->count && row->kind != TIDE_CLI_COMMAND ? row : NULL;
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

static void put_usage(const struct tide_cli *cli, const struct tide_cli_row *command,
                      struct tide_buf *out)
{
    struct tide_buf line;
    tide_buf_init(&line, 2048);
    tide_cli_usage(cli, command, &line);
    tide_buf_u8(&line, 0);
    assert(!line.failed);
    tide_buf_str(out, "usage: ");
    tide_help_wrap(out, strlen("usage: "), (const char *)line.ptr);
    tide_buf_release(&line);
}

static void put_options(const struct tide_cli *cli, const struct tide_cli_row *command,
                        struct tide_buf *out)
{
    bool first = true;
    for (const struct tide_cli_row *r = command; (r = tide_cli_next(cli, r));) {
        struct tide_buf left;
        if (r->kind == TIDE_CLI_EXAMPLE)
            continue;
        tide_buf_init(&left, 256);
        tide_cli_option_text(&left, r);
        tide_buf_u8(&left, 0);
        tide_buf_str(out, first ? "\nOptions:\n" : "");
        tide_help_entry(out, TEXT_COLUMN, (const char *)left.ptr, r->text);
        tide_buf_release(&left);
        first = false;
    }
}

static void put_examples(const struct tide_cli *cli, const struct tide_cli_row *command,
                         struct tide_buf *out)
{
    bool first = true;
    for (const struct tide_cli_row *r = command; (r = tide_cli_next(cli, r));) {
        if (r->kind != TIDE_CLI_EXAMPLE)
            continue;
        tide_buf_putf(out, "%s  %s\n", first ? "\nExample:\n" : "", r->text);
        first = false;
    }
}

/* Writes the paragraphs of a text, which empty lines separate. */
static void put_paragraphs(struct tide_buf *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t len = end ? (size_t)(end - text) : strlen(text);
        char part[1024];
        assert(len < sizeof part);
        memcpy(part, text, len);
        part[len] = '\0';
        tide_help_wrap(out, 0, part);
        tide_buf_str(out, end ? "\n" : "");
        text += len + (end ? 2 : 0);
    }
}

void tide_cli_command_page(const struct tide_cli *cli, const struct tide_cli_row *command,
                           struct tide_buf *out)
{
    assert(command->kind == TIDE_CLI_COMMAND);
    put_usage(cli, command, out);
    tide_buf_u8(out, '\n');
    put_paragraphs(out, *command->name ? command->text : cli->text);
    put_options(cli, command, out);
    put_examples(cli, command, out);
    if (*command->settings) {
        tide_buf_str(
            out, "\nSettings it reads: --KEY VALUE, or TIDEMARK_KEY in the environment, or a line\n"
                 "\"key = value\" of the file (--config FILE, TIDEMARK_CONFIG):\n");
        tide_config_help(out, command->settings);
    }
}

void tide_cli_page(const struct tide_cli *cli, struct tide_buf *out)
{
    const struct tide_cli_row *only = tide_cli_command(cli, "");
    if (only) {
        tide_cli_command_page(cli, only, out);
        return;
    }
    tide_buf_putf(out, "usage: %s %s [OPTION]... [--SETTING VALUE]...\n\n", cli->program,
                  cli->implied ? "[COMMAND]" : "COMMAND");
    put_paragraphs(out, cli->text);
    tide_buf_str(out, "\nCommands:\n");
    for (size_t i = 0; i < cli->count; i++)
        if (cli->rows[i].kind == TIDE_CLI_COMMAND)
            tide_help_entry(out, COMMAND_COLUMN, cli->rows[i].name, cli->rows[i].text);
    if (cli->implied)
        tide_buf_putf(out, "Without a command: %s.\n", cli->implied);
    tide_buf_putf(out,
                  "\n  %s COMMAND --help    its options and settings, an example\n"
                  "  %s --help all        all commands, every setting, exit codes\n"
                  "  man %s, man tidemark.conf\n",
                  cli->program, cli->program, cli->program);
}

void tide_cli_all(const struct tide_cli *cli, struct tide_buf *out)
{
    for (size_t i = 0; i < cli->count; i++) {
        if (cli->rows[i].kind != TIDE_CLI_COMMAND)
            continue;
        put_usage(cli, &cli->rows[i], out);
        tide_buf_u8(out, '\n');
        put_paragraphs(out, *cli->rows[i].name ? cli->rows[i].text : cli->text);
        put_options(cli, &cli->rows[i], out);
        tide_buf_u8(out, '\n');
    }
    tide_buf_str(out,
                 "Settings of all programs: --KEY VALUE, or TIDEMARK_KEY in the environment, or "
                 "a line\n\"key = value\" of the file (--config FILE, TIDEMARK_CONFIG). The option "
                 "comes before the\nenvironment, and that before the file:\n");
    tide_config_help(out, NULL);
    tide_buf_str(out, "\nExit codes:\n");
    exit_codes_help(out);
}
