/* The command fork: shows the fork that stopped the index, or forgets it. */
#include "indexer/commands/command.h"
#include "indexer/database/query.h"

/* Prints the fork, the last ledger that is proven, and both ways out. */
static void print_fork(const struct tide_pg_rows *rows)
{
    printf("ledger     %s is the first that is known to differ\n"
           "index      %s\n"
           "signed     %s\n"
           "signed by  %s\n"
           "found at   %s\n"
           "proven     %s\n",
           tide_pg_text(rows, 0, 0), tide_pg_text(rows, 0, 1), tide_pg_text(rows, 0, 2),
           tide_pg_text(rows, 0, 3), tide_pg_text(rows, 0, 4), tide_pg_text(rows, 0, 5));
    printf("If the validators are right, the source of the index served ledgers that are not of "
           "this network: use\nanother source and begin a new index beside this one, with "
           "`tidemark-indexer reset --confirm`.\nIf `validators` of the deployment file were "
           "wrong, correct them: `tidemark-indexer fork --dismiss`.\n");
}

static tide_status show_fork(struct tide_pg *pg, const char *deployment, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        pg, &rows,
        "SELECT f.ledger, encode(f.hash, 'hex'), encode(f.signed_hash, 'hex'),"
        " array_to_string(f.signed_by, ' '), chain.rfc3339(f.found_at), coalesce((SELECT"
        " max(k.ledger) FROM chain.checkpoint AS k WHERE k.deployment = f.deployment AND k.ledger"
        " < f.ledger)::text, 'no ledger before it') FROM chain.fork AS f WHERE f.deployment ="
        " $1::integer",
        (const char *[]){ deployment }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count)
        print_fork(&rows);
    else
        printf("no fork: no signature contradicts the index\n");
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static tide_status dismiss_fork(struct tide_pg *pg, const char *deployment, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(pg, &rows, "DELETE FROM chain.fork WHERE deployment = $1::integer",
                      (const char *[]){ deployment }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.affected)
        printf("the fork is forgotten: `tidemark-indexer run` goes on, and finds it again if the "
               "validators of the deployment file still sign it\n");
    else
        status = tide_fail(err, TIDE_E_MISSING, "no fork: there is nothing to forget");
    tide_pg_rows_release(&rows);
    return status;
}

int tide_fork_main(const struct tide_config *config, const struct tide_option *options, int argc,
                   char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    uint16_t id = 0;
    char deployment[8];
    bool dismiss = tide_option_given(options, "dismiss");
    (void)argc;
    tide_status status = tide_query_connect(&pg, config, "tidemark-fork", dismiss, &err);
    if (!status)
        status = tide_query_deployment(pg, config, &id, &err);
    snprintf(deployment, sizeof deployment, "%u", id);
    if (!status)
        status = dismiss ? dismiss_fork(pg, deployment, &err) : show_fork(pg, deployment, &err);
    fflush(stdout);
    tide_pg_close(pg);
    return tide_command_end(argv[0], status, &err);
}
