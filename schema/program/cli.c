#include "tidemark/cli.h"
#include "tidemark/nearest.h"

const struct tide_cli_row *tide_cli_command(const struct tide_cli *cli, const char *name)
{
    for (size_t i = 0; i < cli->count; i++)
        if (cli->rows[i].kind == TIDE_CLI_COMMAND && strcmp(cli->rows[i].name, name) == 0)
            return &cli->rows[i];
    return NULL;
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
    const struct tide_cli_row *end = cli->rows + cli->count;
    for (const struct tide_cli_row *row = command + 1; row < end; row++) {
        if (row->kind == TIDE_CLI_COMMAND)
            break;
        if (row->kind == TIDE_CLI_NEEDED && !tide_option_given(options, row->name))
            return tide_fail(err, TIDE_E_USAGE, "--%s %s is missing; \"%s %s --help\" explains it",
                             row->name, row->value, cli->program, command->name);
    }
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

/* --- help, version, manual and completion ------------------------------------------------- */

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
        tide_cli_page(cli, &out);
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
        tide_cli_page(cli, &out);
        *exit_code = print_text(&out, stderr, tide_status_exit(TIDE_E_USAGE));
    } else if (!cli->implied && !tide_cli_command(cli, word)) {
        *exit_code = refuse_command(cli, word);
    } else {
        return false;
    }
    return true;
}
