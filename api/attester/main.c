/* tidemark-attester: sends intents from the outbox to the network. Read this file first; main calls
 * the steps in this order.
 *
 *   arguments, file, environment   the configuration, checked before anything is opened
 *   process    no core files, no ptrace by other processes: the key will be in memory
 *   program    the deployment, the key, the outbox
 *   run        until SIGTERM: each turn moves one intent one step further (work.h)
 *   status -> exit code            include/tidemark/status.def */
#include "api/attester/attester.h"
#include "api/base/program.h"
#include "tidemark/cli.h"
#include "tidemark/stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* Forbids core files and reading of this process's memory by others, before the key is read. A
 * build with AddressSanitizer stays dumpable: its leak checker attaches with ptrace. */
static tide_status protect_memory(struct tide_err *err)
{
    const struct rlimit none = { 0 };
    if (prctl(PR_SET_DUMPABLE, TIDE_ASAN) != 0 || setrlimit(RLIMIT_CORE, &none) != 0)
        return tide_fail(
            err, TIDE_E_IO,
            "cannot forbid core files and ptrace (prctl, setrlimit): the key would be readable");
    return TIDE_OK;
}

static const struct tide_cli_row rows[] = {
#define TIDE_COMMAND(name, operands, text, settings) \
    { TIDE_CLI_COMMAND, #name, operands, text, settings },
#define TIDE_OPTION(kind, name, value, text) { TIDE_CLI_##kind, name, value, text, "" },
#define TIDE_EXAMPLE(line)                   { TIDE_CLI_EXAMPLE, "", "", line, "" },
#include "api/attester/command.def"
#undef TIDE_COMMAND
#undef TIDE_OPTION
#undef TIDE_EXAMPLE
};

static const struct tide_cli cli = {
    .program = "tidemark-attester",
    .version = TIDE_VERSION,
    .summary = "send approved identity decisions to the network",
    .text = "Sends approved decisions from the outbox to the network until SIGTERM. Holds the "
            "verifier's signing key and listens on nothing.",
    .implied = "run",
    .rows = rows,
    .count = TIDE_COUNT(rows),
};

static tide_status run_command(struct att_program *p, const struct tide_option *options, int argc,
                               char **argv, struct tide_err *err)
{
    const struct att_run mode = { .once = tide_option_given(options, "once"),
                                  .dry = tide_option_given(options, "dry-run") };
    const char *command = argc > 1 ? argv[1] : "run";
    bool run = strcmp(command, "run") == 0, status = strcmp(command, "status") == 0;
    bool requeue = strcmp(command, "requeue") == 0, attended = strcmp(command, "attended") == 0;
    bool takes_id = requeue || attended; /* the command takes an intent's ID */
    if (!run && !status && !takes_id)
        return tide_cli_no_command(&cli, command, err);
    if (argc > (takes_id ? 3 : 2) || (takes_id && argc < 3) || (!run && (mode.once || mode.dry)))
        return tide_fail(err, TIDE_E_USAGE,
                         "%s: wrong arguments; \"tidemark-attester %s --help\" lists them", command,
                         command);
    tide_status outcome = att_program_open(p, run, err);
    if (outcome != TIDE_OK)
        return outcome;
    if (status)
        return att_status(p, err);
    if (takes_id)
        return requeue ? att_requeue(p, argv[2], err) : att_attended(p, argv[2], err);
    return att_run(p, &mode, err);
}

int main(int argc, char **argv)
{
    static struct tide_config config;                     /* static: too large for the stack */
    struct tide_option options[TIDE_CLI_OPTIONS_MAX + 1]; /* once and dry-run */
    int exit_code;
    struct att_program program = { .config = &config,
                                   .clock = tide_clock_system(),
                                   .stopped = tide_stop_asked };
    struct tide_err err;
    if (tide_cli_answer(&cli, argc, argv, &exit_code))
        return exit_code;
    tide_cli_options(&cli, NULL, options);
    tide_status status = protect_memory(&err);
    if (status == TIDE_OK)
        status = tide_config_load(&config, &argc, argv, options, getenv, &err);
    if (status == TIDE_OK) {
        tide_program_log(&config);
        tide_stop_install(NULL, 0);
        status = run_command(&program, options, argc, argv, &err);
    }
    /* TIDE_E_STOPPED is the normal end by a signal. */
    if (status != TIDE_OK && status != TIDE_E_STOPPED)
        fprintf(stderr, "tidemark-attester: %s\n", err.text);
    att_program_close(&program);
    return tide_status_exit(status);
}
