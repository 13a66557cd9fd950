/* Reads of chain.ledger. */
#include "indexer/database/stored_hash.h"

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

tide_status tide_stored_hashes(struct tide_pg *pg, uint32_t deployment, uint32_t from,
                               uint32_t count, uint8_t (*out)[TIDE_HASH_BYTES],
                               struct tide_err *err)
{
    char id[12], first[12], last[12];
    struct tide_pg_rows rows;
    assert(count > 0);
    snprintf(id, sizeof id, "%u", deployment);
    snprintf(first, sizeof first, "%u", from);
    snprintf(last, sizeof last, "%u", from + count - 1);
    tide_status status = tide_pg_query(
        pg, &rows,
        "SELECT hash FROM chain.ledger WHERE deployment = $1::integer AND ledger BETWEEN"
        " $2::integer AND $3::integer ORDER BY ledger",
        (const char *[]){ id, first, last }, 3, err);
    if (status != TIDE_OK)
        return status;
    bool good = rows.count == count;
    for (uint32_t i = 0; good && i < count; i++)
        good = tide_pg_bytes(&rows, i, 0, out[i], TIDE_HASH_BYTES);
    tide_pg_rows_release(&rows);
    return good ? TIDE_OK
                : tide_fail(err, TIDE_E_CONFLICT, "chain.ledger: hashes of %s to %s are missing",
                            first, last);
}
