/* The commands of tidemark-indexer. Each is one line of command.def and one function
 * tide_NAME_main in a file of its own.
 *
 * A command gets the configuration, read and checked; its own options as its usage line
 * declares them; and in argv[1 .. argc - 1] what is neither. It returns the exit code of the
 * process: tide_command_end. */
#ifndef INDEXER_COMMANDS_COMMAND_H
#define INDEXER_COMMANDS_COMMAND_H

#include "tidemark/config.h"
#include "tidemark/status.h"

struct tide_command {
    const char *name;
    const char *usage;   /* options and operands; "[--json]" is a flag, "[--from N]" has a value */
    const char *summary; /* one line of --help */
    int (*run)(const struct tide_config *config, const struct tide_option *options, int argc,
               char **argv);
};

#define TIDE_COMMAND(name, usage, summary)                                                      \
    int tide_##name##_main(const struct tide_config *config, const struct tide_option *options, \
                           int argc, char **argv);
#include "indexer/commands/command.def"
#undef TIDE_COMMAND

/* All commands in the order of --help. */
const struct tide_command *tide_commands(size_t *count);
/* NULL when there is none of that name. */
const struct tide_command *tide_command_find(const char *name);

/* Says on stderr how a command ended, unless well, and returns the exit code. TIDE_E_IO because
 * the reader of its output went away is no error: quiet, and 0. */
int tide_command_end(const char *name, tide_status status, const struct tide_err *err);

/* The options that usage declares, unset; ends with a NULL name. names keeps their text.
 * False when there are more than TIDE_COMMAND_OPTIONS_MAX: a bug in command.def. */
#define TIDE_COMMAND_OPTIONS_MAX 16u
#define TIDE_COMMAND_USAGE_MAX   512u
bool tide_command_options(struct tide_option out[TIDE_COMMAND_OPTIONS_MAX + 1],
                          char names[TIDE_COMMAND_USAGE_MAX], const char *usage);

/* The option of that name (it must be declared), for tide_option_u32 and the like. */
const struct tide_option *tide_option_find(const struct tide_option *options, const char *name);
bool tide_option_given(const struct tide_option *options, const char *name);

/* The only mutable state outside main: a stop asked for by SIGTERM or SIGINT. */
void tide_stop_install(void);
bool tide_stop_asked(void *ignored);

#endif
