/* The commands of tidemark-indexer. Each stands in command.def and is one function
 * tide_NAME_main in a file of its own.
 *
 * A command gets the configuration, read and checked; its own options, as command.def declares
 * them; and in argv[1 .. argc - 1] its operands. It returns the exit code of the process:
 * tide_command_end. */
#ifndef INDEXER_COMMANDS_COMMAND_H
#define INDEXER_COMMANDS_COMMAND_H

#include "tidemark/cli.h"
#include "tidemark/stop.h"

typedef int tide_command_fn(const struct tide_config *config, const struct tide_option *options,
                            int argc, char **argv);

#define TIDE_COMMAND(name, operands, text, settings) tide_command_fn tide_##name##_main;
#define TIDE_OPTION(kind, name, value, text)
#define TIDE_EXAMPLE(line)
#include "indexer/commands/command.def"
#undef TIDE_COMMAND
#undef TIDE_OPTION
#undef TIDE_EXAMPLE

/* The command line of the program, and the function of one of its commands. */
const struct tide_cli *tide_indexer_cli(void);
tide_command_fn *tide_command_function(const char *name);

/* Says on stderr how a command ended, unless well, and returns the exit code. TIDE_E_IO because
 * the reader of its output went away is no error: quiet, and 0. */
int tide_command_end(const char *name, tide_status status, const struct tide_err *err);

#endif
