/* The command erase: deletes the identity checks that are stored for an address. Only the owner of
 * the tables may run it. No daemon that reads requests has the right to delete a session. */
#include "indexer/commands/command.h"
#include "indexer/database/query.h"
#include "tidemark/strkey.h"

/* Fails with TIDE_E_USAGE unless the text is the address of an account or a contract. */
static tide_status check_address(const char *text, struct tide_err *err)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    if (tide_strkey_decode(&kind, payload, &len, tide_slice_str(text)) == TIDE_OK &&
        (kind == TIDE_STRKEY_ACCOUNT || kind == TIDE_STRKEY_CONTRACT))
        return TIDE_OK;
    return tide_fail(err, TIDE_E_USAGE, "expected an account (G) or a contract (C)");
}

int tide_erase_main(const struct tide_config *config, const struct tide_option *options, int argc,
                    char **argv)
{
    struct tide_err err;
    struct tide_pg *pg = NULL;
    bool approved = tide_option_given(options, "although-approved");
    tide_status status = argc == 2 ? check_address(argv[1], &err)
                                   : tide_fail(&err, TIDE_E_USAGE, "expected one address");
    if (!status)
        status = tide_query_connect(&pg, config, "tidemark-erase", true, &err);
    if (!status)
        status = tide_pg_query(pg, NULL, "CALL kyc.erase($1, $2::boolean)",
                               (const char *[]){ argv[1], approved ? "true" : "false" }, 2, &err);
    if (!status)
        printf("erased; the audit has a row for each session\n");
    tide_pg_close(pg);
    return tide_command_end(argv[0], status, &err);
}
