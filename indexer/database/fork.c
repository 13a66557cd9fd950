#include "indexer/database/fork.h"

tide_status tide_fork_reject(struct tide_pg *pg, uint32_t deployment, struct tide_err *err)
{
    char id[12];
    struct tide_pg_rows rows;
    snprintf(id, sizeof id, "%u", deployment);
    tide_status status = tide_pg_query(
        pg, &rows,
        "SELECT f.ledger, encode(f.signed_hash, 'hex'), encode(f.hash, 'hex') FROM chain.fork AS f"
        " WHERE f.deployment = $1::integer",
        (const char *[]){ id }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count)
        status = tide_fail(err, TIDE_E_CHAIN,
                           "forked: ledger %s: a quorum of the named validators signed the hash "
                           "%s, the index has %s; `tidemark-indexer fork` says what to do",
                           tide_pg_text(&rows, 0, 0), tide_pg_text(&rows, 0, 1),
                           tide_pg_text(&rows, 0, 2));
    tide_pg_rows_release(&rows);
    return status;
}
