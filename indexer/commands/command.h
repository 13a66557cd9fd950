/* The commands of tidemark-indexer. Each is a row of command.def and a function tide_NAME_main in a
 * file of its own. A command gets the checked configuration, its own options as command.def
 * declares them, and its operands in argv[1 .. argc - 1]. It returns the exit code that
 * tide_command_end gives. */
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

/* Return the command line of the program, and the function of a command (NULL: no such command). */
const struct tide_cli *tide_indexer_cli(void);
tide_command_fn *tide_command_function(const char *name);

/* Prints on stderr why a command failed, and returns the exit code. If the reader of standard
 * output went away (TIDE_E_IO), the command ends quietly with 0. */
int tide_command_end(const char *name, tide_status status, const struct tide_err *err);

#endif
