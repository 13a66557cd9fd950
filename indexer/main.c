/* tidemark-indexer: ledgers in, PostgreSQL tables out. Read this first: every step is one call.
 *
 *   arguments -> command     indexer/commands/command.def, one line each
 *   file, environment        the configuration, checked before anything is touched
 *   the command              run: source -> decode -> write (indexer/commands/run.c)
 *   status -> exit code      include/tidemark/status.def */
#include "indexer/commands/command.h"
#include "tidemark/log.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAPPED_BYTES = 128 << 10 };

/* Large buffers get mappings of their own, so that what is freed is the system's again. By itself
 * the C library moves that limit up with each large buffer that is freed; from then on they live in
 * the heaps of the threads, whose holes nobody gets back. */
static void settle_memory(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
#endif
}

static void print_help(void)
{
    size_t count;
    const struct tide_command *commands = tide_commands(&count);
    printf("usage: tidemark-indexer COMMAND [option]...\n\ncommands:\n");
    for (size_t i = 0; i < count; i++)
        printf("  %s%s%s\n               %s\n", commands[i].name, *commands[i].usage ? " " : "",
               commands[i].usage, commands[i].summary);
    struct tide_buf settings;
    tide_buf_init(&settings, 64u << 10);
    tide_config_help(&settings);
    printf("\nsettings: lines \"key = value\" of a file (--config FILE, or TIDEMARK_CONFIG), "
           "variables\n"
           "TIDEMARK_KEY over it, --key value over that. Memory follows from prefetch_mib and one "
           "object\n"
           "(object_max_mib), the largest ledger, and queue_batches + 2 times batch_mib; it does "
           "not grow\n"
           "with the chain.\n");
    printf("\n%.*s", TIDE_SLICE_FMT(tide_buf_view(&settings)));
    tide_buf_release(&settings);
    printf("\nexit codes:\n");
    for (int code = 0; code < 128; code++)
        for (int s = 0; s < (int)TIDE_STATUS_COUNT; s++)
            if (tide_status_exit((tide_status)s) == code && s != TIDE_E_EOF && s != TIDE_E_STOPPED)
                printf("  %3d  %s\n", code, tide_status_text((tide_status)s));
}

/* A word in the usage line that is neither an option nor its value. */
static bool takes_operands(const char *usage)
{
    for (const char *at = usage; *at; at += strspn(at, " ")) {
        if (*at != '[' && *at != '-')
            return true;
        if (*at == '-')
            at += strcspn(at, " ") + 1;
        at += strcspn(at, *at == '[' ? "]" : " ");
        at += *at == ']';
    }
    return false;
}

/* Reads everything that can be wrong before the command touches the world. */
static int run_command(const struct tide_command *command, int argc, char **argv)
{
    static struct tide_config config; /* large; written once, here */
    struct tide_option options[TIDE_COMMAND_OPTIONS_MAX + 1];
    char names[TIDE_COMMAND_USAGE_MAX];
    struct tide_err err;
    bool declared = tide_command_options(options, names, command->usage);
    assert(declared);
    tide_status status = tide_config_load(&config, &argc, argv, options, getenv, &err);
    if (status == TIDE_OK && argc > 1 && !takes_operands(command->usage))
        status = tide_fail(&err, TIDE_E_USAGE, "\"%.100s\" is no option; see --help", argv[1]);
    if (!declared || status != TIDE_OK)
        return tide_command_end(command->name, status, &err);
    tide_log_level_set((enum tide_log_level)config.log_level);
    tide_log_json_set(config.log_format == 1);
    tide_config_strays(environ);
    tide_stop_install();
    settle_memory();
    return command->run(&config, options, argc, argv);
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help();
        return argc < 2 ? tide_status_exit(TIDE_E_USAGE) : 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tidemark-indexer %s\n", TIDE_VERSION);
        return 0;
    }
    const struct tide_command *command = tide_command_find(argv[1]);
    if (!command) {
        fprintf(stderr, "tidemark-indexer: no command \"%s\"; see --help\n", argv[1]);
        return tide_status_exit(TIDE_E_USAGE);
    }
    if (argc > 2 && strcmp(argv[2], "--help") == 0) {
        printf("usage: tidemark-indexer %s %s\n%s; settings: tidemark-indexer --help\n",
               command->name, command->usage, command->summary);
        return 0;
    }
    return run_command(command, argc - 1, argv + 1);
}
