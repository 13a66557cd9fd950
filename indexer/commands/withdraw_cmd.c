/* The command withdraw: withdraws a receipt key, so that its receipts no longer count. The API's
 * nodes read the table through their caches. */
#include "indexer/commands/command.h"
#include "indexer/database/query.h"

enum { KID_BYTES = 43 };

static tide_status check_kid(const char *kid, struct tide_err *err)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    return strlen(kid) == KID_BYTES && strspn(kid, digits) == KID_BYTES
               ? TIDE_OK
               : tide_fail(err, TIDE_E_USAGE,
                           "expected a kid of /.well-known/jwks.json: 43 characters");
}

/* The row is never deleted: a withdrawn key stays withdrawn. */
static tide_status withdraw_key(struct tide_pg *pg, const char *kid, const char *reason,
                                struct tide_err *err)
{
    tide_status status = tide_pg_query(pg, NULL,
                                       "INSERT INTO chain.withdrawn_key (kid, reason)"
                                       " VALUES ($1, coalesce($2, '')) ON CONFLICT DO NOTHING",
                                       (const char *[]){ kid, reason }, 2, err);
    if (status == TIDE_OK)
        printf("withdrawn: API nodes drop it within seconds, clients five minutes later. Put "
               "another key first in api_receipt_keys\n");
    return status;
}

static tide_status list_keys(struct tide_pg *pg, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(pg, &rows,
                                       "SELECT kid, chain.rfc3339(withdrawn_at), withdrawn_by,"
                                       " reason FROM chain.withdrawn_key"
                                       " ORDER BY withdrawn_at, kid",
                                       NULL, 0, err);
    if (status != TIDE_OK)
        return status;
    for (uint32_t i = 0; i < rows.count; i++)
        printf("%s  %s  %s  %s\n", tide_pg_text(&rows, i, 0), tide_pg_text(&rows, i, 1),
               tide_pg_text(&rows, i, 2), tide_pg_text(&rows, i, 3));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

int tide_withdraw_main(const struct tide_config *config, const struct tide_option *options,
                       int argc, char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    const char *reason = tide_option_find(options, "reason")->value;
    tide_status status = TIDE_OK;
    if (argc > 2)
        status = tide_fail(&err, TIDE_E_USAGE, "expected one kid, or none");
    if (!status && argc == 2)
        status = check_kid(argv[1], &err);
    if (!status)
        status = tide_query_connect(&pg, config, "tidemark-withdraw", argc == 2, &err);
    if (!status)
        status = argc == 2 ? withdraw_key(pg, argv[1], reason, &err) : list_keys(pg, &err);
    tide_pg_close(pg);
    return tide_command_end(argv[0], status, &err);
}
