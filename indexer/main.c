/* tidemark-indexer: ledgers in, PostgreSQL tables out. Read this first: every step is one call.
 *
 *   arguments -> command     indexer/commands/command.def, one line each
 *   file, environment        the configuration, checked before anything is touched
 *   the command              run: source -> decode -> write (indexer/commands/run.c)
 *   status -> exit code      include/tidemark/status.def */
#include "indexer/commands/command.h"
#include "tidemark/log.h"

#include <malloc.h>
#include <string.h>
#include <unistd.h>

enum { MAPPED_BYTES = 128 << 10 };

/* Makes the C library map large buffers separately, so that freed ones return to the system. By
 * default the library raises the threshold with each large buffer that is freed; buffers then live
 * in the heaps of threads, whose holes never return to the system. */
static void limit_heaps(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
#endif
}

/* Installs the signal handlers. A writer may be stopped at any time with exit code 0: the database
 * rolls its open transaction back. Other commands did not do what was asked and fail. */
static void install_stop(const char *command)
{
    if (strcmp(command, "run") == 0 || strcmp(command, "backfill") == 0)
        tide_stop_install("tidemark-indexer: the batch in flight was dropped to stop in time\n",
                          tide_status_exit(TIDE_E_STOPPED));
    else
        tide_stop_install("tidemark-indexer: stopped while something did not answer\n",
                          tide_status_exit(TIDE_E_IO));
}

/* Checks configuration and operands before the command does anything. */
static int run_command(const struct tide_cli_row *command, int argc, char **argv)
{
    static struct tide_config config; /* large; written once, here */
    struct tide_option options[TIDE_CLI_OPTIONS_MAX + 1];
    struct tide_err err;
    tide_cli_options(tide_indexer_cli(), command, options);
    tide_status status = tide_config_load(&config, &argc, argv, options, getenv, &err);
    if (status == TIDE_OK)
        status = tide_cli_check(tide_indexer_cli(), command, options, argc, argv, &err);
    if (status != TIDE_OK)
        return tide_command_end(command->name, status, &err);
    tide_log_level_set((enum tide_log_level)config.log_level);
    tide_log_json_set(config.log_format == 1);
    tide_config_strays(environ);
    install_stop(command->name);
    limit_heaps();
    return tide_command_function(command->name)(&config, options, argc, argv);
}

int main(int argc, char **argv)
{
    int exit_code;
    if (tide_cli_answer(tide_indexer_cli(), argc, argv, &exit_code))
        return exit_code;
    return run_command(tide_cli_command(tide_indexer_cli(), argv[1]), argc - 1, argv + 1);
}
