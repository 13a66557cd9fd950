/* Prints a program's --help, --version and completion. */
#include "schema/program/cli_impl.h"
#include "schema/program/config_impl.h"

enum { TEXT_COLUMN = 22, COMMAND_COLUMN = 14, CODE_COLUMN = 8 };

/* --- commands ----------------------------------------------------------------------------- */

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

static void put_page(const struct tide_cli *cli, struct tide_buf *out)
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

static void put_code(struct tide_buf *out, const char *code, const char *text)
{
    tide_help_entry(out, CODE_COLUMN, code, text);
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
    tide_exit_codes(out, put_code);
}

/* --- completion for bash ------------------------------------------------------------------- */

static void put_dashed(struct tide_buf *out, const char *name)
{
    tide_buf_str(out, " --");
    for (; *name; name++)
        tide_buf_u8(out, *name == '_' ? '-' : (uint8_t)*name);
}

static void put_completions(struct tide_buf *out, const struct tide_cli *cli,
                            const struct tide_cli_row *command)
{
    tide_buf_putf(out, "    %s) words=\"--help --config", *command->name ? command->name : "*");
    for (const struct tide_cli_row *r = command; (r = tide_cli_next(cli, r));)
        if (r->kind != TIDE_CLI_EXAMPLE)
            put_dashed(out, r->name);
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++)
        if (tide_settings[i].kind != TIDE_SETTING_GROUP &&
            tide_setting_is_in(command->settings, tide_settings[i].name))
            put_dashed(out, tide_settings[i].name);
    tide_buf_str(out, "\" ;;\n");
}

/* Completes the value of an option: the choices of an enum, or files. */
static void put_values(struct tide_buf *out)
{
    tide_buf_str(out, "    case $previous in\n    --config");
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++)
        if (tide_settings[i].kind == TIDE_SETTING_PATH) {
            tide_buf_str(out, " |");
            put_dashed(out, tide_settings[i].name);
        }
    tide_buf_str(
        out, ")\n        COMPREPLY=($(compgen -f -- \"$current\"))\n        return\n        ;;\n");
    for (size_t i = 0; i < TIDE_SETTING_COUNT; i++) {
        if (tide_settings[i].kind != TIDE_SETTING_ENUM)
            continue;
        tide_buf_str(out, "   ");
        put_dashed(out, tide_settings[i].name);
        tide_buf_str(out, ")\n        COMPREPLY=($(compgen -W \"");
        for (const char *p = tide_settings[i].unit; *p; p++)
            tide_buf_u8(out, *p == '|' ? ' ' : (uint8_t)*p);
        tide_buf_str(out, "\" -- \"$current\"))\n        return\n        ;;\n");
    }
    tide_buf_str(out, "    esac\n");
}

void tide_cli_completion(const struct tide_cli *cli, struct tide_buf *out)
{
    char name[64];
    assert(strlen(cli->program) + 1 < sizeof name);
    snprintf(name, sizeof name, "_%s", cli->program);
    for (char *p = name; *p; p++)
        *p = *p == '-' ? '_' : *p;
    tide_buf_putf(out,
                  "# bash completion for %s\n%s()\n{\n    local current=${COMP_WORDS[COMP_CWORD]} "
                  "previous=${COMP_WORDS[COMP_CWORD - 1]} command=%s word words\n",
                  cli->program, name, cli->implied ? cli->implied : "");
    tide_buf_str(out, "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
                      "        case $word in\n        ");
    const char *gap = "";
    for (size_t i = 0; i < cli->count; i++)
        if (cli->rows[i].kind == TIDE_CLI_COMMAND && *cli->rows[i].name) {
            tide_buf_putf(out, "%s%s", gap, cli->rows[i].name);
            gap = " | ";
        }
    tide_buf_str(out, *gap ? ") command=$word && break ;;\n        esac\n    done\n"
                           : "'') ;;\n        esac\n    done\n");
    put_values(out);
    tide_buf_str(out, "    case $command in\n");
    for (size_t i = 0; i < cli->count; i++)
        if (cli->rows[i].kind == TIDE_CLI_COMMAND)
            put_completions(out, cli, &cli->rows[i]);
    tide_buf_str(out, "    esac\n");
    if (*gap) {
        tide_buf_str(out, "    [ \"$COMP_CWORD\" != 1 ] || words=\"--help --version");
        for (size_t i = 0; i < cli->count; i++)
            if (cli->rows[i].kind == TIDE_CLI_COMMAND)
                tide_buf_putf(out, " %s", cli->rows[i].name);
        tide_buf_str(out, cli->implied ? " $words\"\n" : "\"\n");
    }
    tide_buf_putf(out,
                  "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n}\n"
                  "complete -o default -F %s %s\n",
                  name, cli->program);
}

/* --- which of them the arguments ask for --------------------------------------------------- */

static int print_text(struct tide_buf *text, FILE *to, int exit_code)
{
    assert(!text->failed);
    fprintf(to, "%.*s", TIDE_SLICE_FMT(tide_buf_view(text)));
    tide_buf_release(text);
    return exit_code;
}

static int refuse_command(const struct tide_cli *cli, const char *word)
{
    struct tide_err err;
    tide_cli_no_command(cli, word, &err);
    fprintf(stderr, "%s: %s\n", cli->program, err.text);
    return tide_status_exit(TIDE_E_USAGE);
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Returns whether --help is among the arguments before "--". */
static bool asks_help(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "help") == 0)
        return true;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (is_help(argv[i]))
            return true;
    return false;
}

/* Prints the help that was asked for by `run --help`, `--help run`, `help run` or `--help all`. */
static int print_help(const struct tide_cli *cli, int argc, char **argv)
{
    struct tide_buf out;
    const char *word = "";
    for (int i = 1; i < argc && !*word; i++)
        if (!is_help(argv[i]) && (i > 1 || strcmp(argv[i], "help") != 0))
            word = argv[i];
    const struct tide_cli_row *command = *word ? tide_cli_command(cli, word) : NULL;
    bool all = strcmp(word, "all") == 0;
    if (*word && *word != '-' && !command && !all && !tide_cli_command(cli, ""))
        return refuse_command(cli, word);
    tide_buf_init(&out, 256u << 10);
    if (all)
        tide_cli_all(cli, &out);
    else if (command)
        tide_cli_command_page(cli, command, &out);
    else
        put_page(cli, &out);
    return print_text(&out, stdout, 0);
}

bool tide_cli_answer(const struct tide_cli *cli, int argc, char **argv, int *exit_code)
{
    struct tide_buf out;
    const char *word = argc > 1 ? argv[1] : "";
    *exit_code = 0;
    tide_buf_init(&out, 256u << 10);
    if (asks_help(argc, argv)) {
        *exit_code = print_help(cli, argc, argv);
    } else if (argc == 2 && strcmp(word, "--version") == 0) {
        printf("%s %s\n", cli->program, cli->version);
    } else if (argc == 2 && strcmp(word, "--man") == 0) {
        tide_cli_man(cli, &out);
        *exit_code = print_text(&out, stdout, 0);
    } else if (argc == 3 && strcmp(word, "--man") == 0 && strcmp(argv[2], "tidemark.conf") == 0) {
        tide_config_man(&out, cli->version);
        *exit_code = print_text(&out, stdout, 0);
    } else if (argc == 3 && strcmp(word, "--completion") == 0 && strcmp(argv[2], "bash") == 0) {
        tide_cli_completion(cli, &out);
        *exit_code = print_text(&out, stdout, 0);
    } else if (!*word && !cli->implied) {
        put_page(cli, &out);
        *exit_code = print_text(&out, stderr, tide_status_exit(TIDE_E_USAGE));
    } else if (!cli->implied && !tide_cli_command(cli, word)) {
        *exit_code = refuse_command(cli, word);
    } else {
        return false;
    }
    return true;
}
