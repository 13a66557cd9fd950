#include "api/chosen.h"

#include <stdio.h>

static void read_chosen(struct tide_chosen *out, const struct tide_pg_rows *rows)
{
    struct tide_sha256 sha;
    out->id = (uint16_t)tide_pg_u64(rows, 0, 0);
    snprintf(out->text, sizeof out->text, "%u", out->id);
    out->standby = tide_pg_bool(rows, 0, 1);
    tide_sha256_init(&sha);
    for (uint32_t column = 2; column < rows->columns; column++) {
        tide_sha256_update(&sha, tide_pg_slice(rows, 0, column));
        tide_sha256_update(&sha, TIDE_SLICE("\n"));
    }
    tide_sha256_final(&sha, out->identity);
}

tide_status tide_chosen_connect(struct tide_pg **pg, const struct tide_pg_options *to,
                                uint16_t wanted, struct tide_chosen *out, struct tide_err *err)
{
    struct tide_pg_rows rows;
    char id[8];
    snprintf(id, sizeof id, "%u", wanted);
    tide_status status = *pg ? tide_pg_reopen(*pg, err) : tide_pg_open(pg, to, err);
    if (status == TIDE_OK)
        status = tide_pg_query(*pg, &rows,
                               "SELECT id, pg_is_in_recovery(), network_id, epoch, contracts_hash"
                               " FROM chain.deployment WHERE $1::smallint IN (0, id)",
                               (const char *[]){ id }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count == 1)
        read_chosen(out, &rows);
    else
        status = tide_fail(err, rows.count ? TIDE_E_CONFIG : TIDE_E_MISSING,
                           "the database holds %u deployments to choose from", rows.count);
    tide_pg_rows_release(&rows);
    return status;
}
