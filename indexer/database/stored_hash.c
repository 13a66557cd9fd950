/* One query over a connection that is opened and closed for it. */
#include "indexer/database/stored_hash.h"
#include "tidemark/pg.h"

tide_status tide_stored_hash(const char *conninfo, uint32_t deployment, uint32_t ledger,
                             uint8_t hash[TIDE_HASH_BYTES])
{
    const struct tide_pg_options options = { .conninfo = conninfo,
                                             .application = "tidemark-indexer" };
    struct tide_pg *pg = NULL;
    struct tide_pg_rows rows = { 0 };
    struct tide_err ignored;
    char id[12], sequence[12];
    if (tide_pg_open(&pg, &options, &ignored) != TIDE_OK)
        return TIDE_E_DB;
    snprintf(id, sizeof id, "%u", deployment);
    snprintf(sequence, sizeof sequence, "%u", ledger);
    tide_status status = tide_pg_query(
        pg, &rows,
        "SELECT hash FROM chain.ledger WHERE deployment = $1::integer AND ledger = $2::integer",
        (const char *[]){ id, sequence }, 2, &ignored);
    if (status != TIDE_OK)
        status = TIDE_E_DB;
    else if (rows.count != 1 || !tide_pg_bytes(&rows, 0, 0, hash, TIDE_HASH_BYTES))
        status = TIDE_E_MISSING;
    tide_pg_rows_release(&rows);
    tide_pg_close(pg);
    return status;
}
