/* The command audit: compares the state with a history archive's buckets. */
#include "indexer/audit/audit.h"
#include "indexer/commands/command.h"

int tide_audit_main(const struct tide_config *config, const struct tide_option *options, int argc,
                    char **argv)
{
    struct tide_err err;
    struct tide_audit_options audit = { .config = config };
    (void)argc, (void)argv;
    tide_status status = tide_option_u32(tide_option_find(options, "checkpoint"), 1, INT32_MAX,
                                         &audit.checkpoint, &err);
    if (status == TIDE_OK && !*config->archive)
        status = tide_fail(&err, TIDE_E_CONFIG, "archive: no history archive is set");
    if (status == TIDE_OK)
        status = tide_audit(&audit, &err);
    fflush(stdout);
    return tide_command_end("audit", status, &err);
}
