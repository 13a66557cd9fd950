/* Reads of chain.ledger. */
#include "indexer/database/stored_hash.h"

tide_status tide_stored_hashes_so_far(struct tide_pg *pg, uint32_t deployment, uint32_t from,
                                      uint32_t *count, uint8_t (*out)[TIDE_HASH_BYTES],
                                      struct tide_err *err)
{
    char id[12], first[12], last[12];
    struct tide_pg_rows rows;
    assert(*count > 0);
    snprintf(id, sizeof id, "%u", deployment);
    snprintf(first, sizeof first, "%u", from);
    snprintf(last, sizeof last, "%u", from + *count - 1);
    *count = 0;
    tide_status status = tide_pg_query(
        pg, &rows,
        "SELECT ledger, hash FROM chain.ledger WHERE deployment = $1::integer AND ledger BETWEEN"
        " $2::integer AND $3::integer ORDER BY ledger",
        (const char *[]){ id, first, last }, 3, err);
    for (uint32_t i = 0; status == TIDE_OK && i < rows.count; i++)
        if (*count == i && tide_pg_u64(&rows, i, 0) == from + i &&
            tide_pg_bytes(&rows, i, 1, out[i], TIDE_HASH_BYTES))
            ++*count;
    tide_pg_rows_release(&rows);
    return status;
}

tide_status tide_stored_hashes(struct tide_pg *pg, uint32_t deployment, uint32_t from,
                               uint32_t count, uint8_t (*out)[TIDE_HASH_BYTES],
                               struct tide_err *err)
{
    uint32_t there = count;
    tide_status status = tide_stored_hashes_so_far(pg, deployment, from, &there, out, err);
    if (status != TIDE_OK || there == count)
        return status;
    return tide_fail(err, TIDE_E_CONFLICT, "chain.ledger: hashes of %u to %u are missing", from,
                     from + count - 1);
}

tide_status tide_stored_hash(const char *conninfo, uint32_t deployment, uint32_t ledger,
                             uint8_t hash[TIDE_HASH_BYTES])
{
    const struct tide_pg_options options = { .conninfo = conninfo,
                                             .application = "tidemark-indexer" };
    struct tide_pg *pg = NULL;
    struct tide_err ignored;
    uint8_t found[1][TIDE_HASH_BYTES];
    uint32_t count = 1;
    if (tide_pg_open(&pg, &options, &ignored) != TIDE_OK)
        return TIDE_E_DB;
    tide_status status = tide_stored_hashes_so_far(pg, deployment, ledger, &count, found, &ignored);
    tide_pg_close(pg);
    if (status != TIDE_OK)
        return TIDE_E_DB;
    if (count == 0)
        return TIDE_E_MISSING;
    memcpy(hash, found[0], TIDE_HASH_BYTES);
    return TIDE_OK;
}
