/* The table of commands, made from command.def. */
#include "indexer/commands/command.h"

#include <string.h>

static const struct tide_cli_row rows[] = {
#define TIDE_CLI_COMMANDS "indexer/commands/command.def"
#include "tidemark/cli_rows.def"
};

static const struct {
    const char *name;
    tide_command_fn *run;
} functions[] = {
#define TIDE_COMMAND(name, operands, text, settings) { #name, tide_##name##_main },
#define TIDE_OPTION(kind, name, value, text)
#define TIDE_EXAMPLE(line)
#include "indexer/commands/command.def"
#undef TIDE_COMMAND
#undef TIDE_OPTION
#undef TIDE_EXAMPLE
};

const struct tide_cli *tide_indexer_cli(void)
{
    static_assert(TIDE_COUNT(rows) > TIDE_COUNT(functions), "a command has its row");
    static const struct tide_cli cli = {
        .program = "tidemark-indexer",
        .version = TIDE_VERSION,
        .summary = "follow a synthetic-asset protocol on Stellar into PostgreSQL",
        .text = "Reads the ledgers of a Stellar network and writes what concerns one deployment of "
                "the protocol into PostgreSQL tables.",
        .rows = rows,
        .count = TIDE_COUNT(rows),
    };
    return &cli;
}

tide_command_fn *tide_command_function(const char *name)
{
    for (size_t i = 0; i < TIDE_COUNT(functions); i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].run;
    return NULL;
}
