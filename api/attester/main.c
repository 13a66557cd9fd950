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
#include "api/base/secret.h"
#include "tidemark/cli.h"
#include "tidemark/sign.h"
#include "tidemark/stop.h"
#include "tidemark/text.h"

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

/* --- what the commands share ------------------------------------------------------------------ */

/* Reads the deployment file and finds its compliance registry. Fails with TIDE_E_CONFIG if
 * either is missing. */
static tide_status read_deployment(struct att_program *p, struct tide_err *err)
{
    if (!p->config->deployment[0])
        return tide_fail(
            err, TIDE_E_CONFIG,
            "deployment is not set: set it to the file that names network and contracts");
    tide_status status = tide_deployment_read(&p->deployment, p->config->deployment, err);
    for (uint32_t i = 0; status == TIDE_OK && i < p->deployment->contract_count; i++)
        if (p->deployment->contracts[i].role == TIDE_ROLE_compliance_registry)
            p->contract = &p->deployment->contracts[i];
    if (status == TIDE_OK && !p->contract)
        status =
            tide_fail(err, TIDE_E_CONFIG,
                      "%s: the deployment file names no contract with the role compliance_registry",
                      p->config->deployment);
    return status;
}

/* Opens the verifier's key under the policy of this deployment. The path is not kept. */
static tide_status open_key(struct att_program *p, struct tide_err *err)
{
    assert(p->deployment && p->contract); /* read_deployment found both */
    char path[TIDE_CONFIG_TEXT_MAX + 64];
    struct att_policy policy = { .fee_max = p->config->attester_fee_max };
    memcpy(policy.network_id, p->deployment->network_id, TIDE_HASH_BYTES);
    memcpy(policy.contract, p->contract->id, TIDE_HASH_BYTES);
    if (!tide_secret_path(path, sizeof path, p->config->attester_key, "tidemark_attester_key"))
        return tide_fail(err, TIDE_E_CONFIG,
                         "attester_key is not set: set it to the file with the verifier's seed");
    return att_signer_open(&p->signer, path, &policy, err);
}

/* Decodes attester_intent_key. The error text never quotes the value: it is a secret. */
static tide_status read_intent_key(struct att_program *p, struct tide_err *err)
{
    const char *text = p->config->attester_intent_key;
    if (!*text)
        return tide_fail(err, TIDE_E_CONFIG,
                         "attester_intent_key is not set: set it to the intentKey of the KYC file");
    if (tide_hex_decode(p->intent_key, sizeof p->intent_key, tide_slice_str(text)) != TIDE_OK)
        return tide_fail(err, TIDE_E_CONFIG, "attester_intent_key: expected 64 hexadecimal digits");
    return TIDE_OK;
}

/* Reads the deployment file, opens the keys if with_key, and prepares the outbox without
 * connecting. close_program follows also after a failure. */
static tide_status open_program(struct att_program *program, bool with_key, struct tide_err *err)
{
    static const uint8_t no_key[TIDE_HASH_BYTES];
    const struct tide_config *config = program->config;
    /* An empty string leaves the choice to libpq's environment. */
    const char *url =
        config->attester_database_url[0] ? config->attester_database_url : config->database_url;
    tide_status status = read_deployment(program, err);
    if (status == TIDE_OK && with_key)
        status = open_key(program, err);
    if (status == TIDE_OK && with_key)
        status = read_intent_key(program, err);
    if (status != TIDE_OK)
        return status;
    assert(!with_key == !program->signer); /* zeros must never name the lock */
    const struct att_outbox_options outbox = {
        .conninfo = *url ? url : NULL,
        .deployment = program->deployment,
        .contract = program->contract->address,
        /* Commands without a key take no lock, so the zeros are never used. */
        .key = program->signer ? att_signer_public(program->signer) : no_key,
        .intent_key = with_key ? program->intent_key : NULL,
        .stopped = program->stopped,
    };
    return att_outbox_open(&program->outbox, &outbox, err);
}

/* Closes the connection and wipes both keys. */
static void close_program(struct att_program *program)
{
    att_outbox_close(program->outbox);
    att_signer_close(program->signer);
    tide_sign_wipe(program->intent_key, sizeof program->intent_key);
    free(program->deployment);
}

/* --- the commands ----------------------------------------------------------------------------- */

static const struct tide_cli_row rows[] = {
#define TIDE_CLI_COMMANDS "api/attester/command.def"
#include "tidemark/cli_rows.def"
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
    tide_status outcome = open_program(p, run, err);
    if (outcome != TIDE_OK)
        return outcome;
    if (status)
        return att_status(p, err);
    if (takes_id)
        return att_review(p, argv[2], attended, err);
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
    close_program(&program);
    return tide_status_exit(status);
}
