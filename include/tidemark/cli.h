/* The command line of a program, as one list of rows. The parser's options, --help, the man page
 * and completion come from it, so they cannot differ.
 *
 * Rows       a command, then its options, then an example
 * Settings   each command names the settings of config.def that it reads: names, and prefixes that
 *            end in "*", separated by blanks
 * No command a program without commands has one whose name is ""
 * Ownership  all texts are literals; nothing is freed */
#ifndef TIDEMARK_CLI_H
#define TIDEMARK_CLI_H

#include "tidemark/config.h"

enum tide_cli_kind {
    TIDE_CLI_COMMAND,
    TIDE_CLI_FLAG,     /* --json */
    TIDE_CLI_VALUE,    /* --from N */
    TIDE_CLI_NEEDED,   /* --from N, without which the command is refused */
    TIDE_CLI_OPTIONAL, /* --watch [SECONDS] */
    TIDE_CLI_EXAMPLE,
};

struct tide_cli_row {
    enum tide_cli_kind kind;
    const char *name; /* name of a command or option; "" for an example */
    /* operands of a command, "" for none; the value's placeholder of an option */
    const char *value;
    const char *text;     /* one sentence without the full stop; for an example its command line */
    const char *settings; /* patterns of settings for a command; otherwise "" */
};

struct tide_cli {
    const char *program; /* "tidemark-indexer" */
    const char *version;
    const char *summary; /* one sentence about the program, for the man page's NAME */
    const char *text;    /* description: paragraphs, separated by an empty line */
    const char *implied; /* the command that runs if none is named; NULL: one must be named */
    const struct tide_cli_row *rows;
    size_t count;
};

#define TIDE_CLI_OPTIONS_MAX 16u

/* Handles requests about the program itself: --help, help, --version, a missing or mistyped
 * command, --man [tidemark.conf] and --completion bash. Returns false if there was none, and the
 * program goes on. */
bool tide_cli_answer(const struct tide_cli *cli, int argc, char **argv, int *exit_code);

/* Returns the command's row, or NULL if there is no command of that name. */
const struct tide_cli_row *tide_cli_command(const struct tide_cli *cli, const char *name);

/* Fills out with the options of a command (NULL: of all commands), without values. The list ends
 * with a NULL name. */
void tide_cli_options(const struct tide_cli *cli, const struct tide_cli_row *command,
                      struct tide_option out[TIDE_CLI_OPTIONS_MAX + 1]);

/* Call after tide_config_load. TIDE_E_USAGE if a required option is missing, or if words are left
 * and the command takes none. */
tide_status tide_cli_check(const struct tide_cli *cli, const struct tide_cli_row *command,
                           const struct tide_option *options, int argc, char **argv,
                           struct tide_err *err) TIDE_MUST_USE;

/* Returns TIDE_E_USAGE with the name that was probably meant. */
tide_status tide_cli_no_command(const struct tide_cli *cli, const char *word, struct tide_err *err);

/* Append what --help COMMAND, --help all, --man and --completion bash print. */
void tide_cli_command_page(const struct tide_cli *cli, const struct tide_cli_row *command,
                           struct tide_buf *out);
void tide_cli_all(const struct tide_cli *cli, struct tide_buf *out);
void tide_cli_man(const struct tide_cli *cli, struct tide_buf *out);
void tide_cli_completion(const struct tide_cli *cli, struct tide_buf *out);

/* Appends the man page tidemark.conf(5), of all settings. */
void tide_config_man(struct tide_buf *out, const char *version);

#endif
