/* The command verify: checks the tables, a receipt, or a proof. */
#include "indexer/commands/command.h"
#include "indexer/database/query.h"
#include "indexer/verify/proof_file.h"
#include "indexer/verify/receipt.h"
#include "indexer/verify/verify.h"

/* Reads the range from the options; by default all that is covered. Fails if a part of it is not
 * indexed or archived. */
static tide_status read_range(struct tide_verify *check, const struct tide_option *options,
                              struct tide_err *err)
{
    struct tide_range asked = { 0, 0 };
    tide_status status =
        tide_option_u32(tide_option_find(options, "from"), 1, INT32_MAX, &asked.from, err);
    if (status == TIDE_OK)
        status = tide_option_u32(tide_option_find(options, "to"), 1, INT32_MAX, &asked.to, err);
    if (status == TIDE_OK)
        status = tide_query_covered(check->pg, check->deployment, asked, &check->range, err);
    if (status != TIDE_OK)
        return status;
    check->part = asked.from || asked.to;
    return tide_query_whole(check->pg, check->deployment, check->range.from, check->range.to, err);
}

/* Runs all checks that the configuration allows. Differences do not end a check; they are counted
 * and make the command fail. */
static tide_status verify_tables(struct tide_verify *check, const struct tide_config *config,
                                 struct tide_err *err)
{
    tide_status status = tide_verify_stored(check, err);
    if (status == TIDE_OK && !check->part)
        status = tide_verify_rollups(check, config, err);
    if (status == TIDE_OK && (*config->lake || *config->stream || *config->rpc))
        status = tide_verify_source(check, config, err);
    else if (status == TIDE_OK)
        printf("source  none configured (--lake, --rpc, --stream): rows were not derived again\n");
    if (status == TIDE_OK && *config->rpc)
        status = tide_verify_events(check, config, err);
    if (status == TIDE_OK && *config->archive)
        status = tide_verify_signatures(check, config, err);
    if (status == TIDE_OK && check->wrong)
        status = tide_fail(err, TIDE_E_CONFLICT, "%" PRIu64 " differences", check->wrong);
    return status;
}

static tide_status verify_receipt(const struct tide_verify *check,
                                  const struct tide_option *options, struct tide_err *err)
{
    const struct tide_option *jwks = tide_option_find(options, "jwks");
    struct tide_verify_receipt of = { .pg = check->pg,
                                      .deployment = check->deployment,
                                      .path = tide_option_find(options, "receipt")->value,
                                      .jwks = jwks ? jwks->value : NULL };
    return tide_verify_receipt(&of, err);
}

static tide_status verify_rows(struct tide_verify *check, const struct tide_config *config,
                               const struct tide_option *options, struct tide_err *err)
{
    tide_status status = read_range(check, options, err);
    return status == TIDE_OK ? verify_tables(check, config, err) : status;
}

/* Checks a proof, which needs no database. */
static int verify_offline(const char *proof, const struct tide_config *config)
{
    struct tide_err err;
    tide_status status = tide_verify_proof(proof, config, &err);
    fflush(stdout);
    return tide_command_end("verify", status, &err);
}

int tide_verify_main(const struct tide_config *config, const struct tide_option *options, int argc,
                     char **argv)
{
    struct tide_err err;
    struct tide_verify check = { 0 };
    (void)argc, (void)argv;
    const char *proof = tide_option_find(options, "proof")->value;
    if (proof)
        return verify_offline(proof, config);
    tide_status status = tide_query_open(&check.pg, config, "tidemark-verify", &err);
    if (status == TIDE_OK)
        status = tide_query_deployment(check.pg, config, &check.deployment, &err);
    if (status == TIDE_OK)
        status = tide_option_find(options, "receipt")->value
                     ? verify_receipt(&check, options, &err)
                     : verify_rows(&check, config, options, &err);
    fflush(stdout);
    tide_pg_close(check.pg);
    return tide_command_end("verify", status, &err);
}
