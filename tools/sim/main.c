/* The program tidemark-sim: calls the command that is named first. */
#include "tidemark/config.h"
#include "tidemark/nearest.h"
#include "tools/sim/options/command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The commands and their usage lines. */
static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage;
} commands[] = {
    { "write", sim_write_command,
      "write --lake DIR | --stream FILE|- [options] (--help lists all)" },
    { "tx", sim_tx_command, "tx CALL [--rpc URL] [options] (--help lists all)" },
    { "keys", sim_keys_command, "keys [--seed N] [--name NAME]" },
    { "serve", sim_serve_command,
      "serve [--listen 127.0.0.1:PORT] [--lake DIR] [options] (--help lists all)" },
};

int main(int argc, char **argv)
{
    const unsigned count = sizeof(commands) / sizeof(commands[0]);
    for (unsigned i = 0; argc > 1 && i < count; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            /* Warns of TIDEMARK_… variables that no setting reads: one may be misspelt. */
            tide_config_strays(environ);
            return commands[i].run(argc - 2, argv + 2);
        }
    }
    struct tide_nearest near = tide_nearest_of(tide_slice_str(argc > 1 ? argv[1] : ""));
    for (unsigned i = 0; i < count; i++)
        tide_nearest_try(&near, commands[i].name);
    bool asked = argc > 1 && strcmp(argv[1], "--help") == 0;
    if (argc > 1 && !asked)
        fprintf(stderr, "tidemark-sim: no command \"%s\"%s%s%s\n", argv[1],
                near.found ? "; did you mean \"" : "", near.found ? near.found : "",
                near.found ? "\"?" : "");
    for (unsigned i = 0; i < count; i++)
        fprintf(asked ? stdout : stderr, "usage: tidemark-sim %s\n", commands[i].usage);
    return asked ? 0 : 64;
}
