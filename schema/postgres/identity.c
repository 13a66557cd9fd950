#include "tidemark/identity.h"

#include "tidemark/text.h"

enum { JSON_MAX = 1 << 20 };

/* The query compares the contracts of file and index both ways: by name, then by address. */
static const char check_sql[] =
    "WITH both_lists AS MATERIALIZED (SELECT d.contracts AS stored, $3::jsonb AS given FROM"
    " chain.deployment AS d JOIN chain.cursor AS c ON c.deployment = d.id WHERE d.network_id ="
    " $1::bytea AND d.contracts_hash = $2::bytea AND (c.ledger > 0 OR c.moves > 0)),"
    " stored AS (SELECT s.* FROM both_lists AS b, jsonb_to_recordset(b.stored) AS s(name text,"
    " role text, address text)),"
    " given AS (SELECT g.* FROM (SELECT given FROM both_lists LIMIT 1) AS b,"
    " jsonb_to_recordset(b.given) AS g(name text, role text, address text))"
    " SELECT g.name, g.address, s.address, 1 FROM given AS g JOIN stored AS s ON s.name = g.name"
    " WHERE s.address <> g.address AND s.role <> 'wallet'"
    " UNION ALL SELECT g.address, g.name, s.name, 2 FROM given AS g JOIN stored AS s ON s.address"
    " = g.address WHERE s.role <> g.role OR s.name <> g.name AND s.role <> 'wallet'"
    " ORDER BY 4, 1 LIMIT 1";

static void put_contracts(struct tide_buf *out, const struct tide_deployment *d)
{
    tide_buf_u8(out, '[');
    for (uint32_t i = 0; i < d->contract_count; i++) {
        const struct tide_contract *c = &d->contracts[i];
        tide_buf_str(out, i ? ",{\"name\":" : "{\"name\":");
        tide_buf_json_string(out, tide_slice_str(c->name));
        tide_buf_str(out, ",\"role\":");
        tide_buf_json_string(out, tide_slice_str(c->role_name));
        tide_buf_str(out, ",\"address\":");
        tide_buf_json_string(out, tide_slice_str(c->address));
        tide_buf_u8(out, '}');
    }
    tide_buf_u8(out, ']');
}

tide_status tide_identity_make(struct tide_identity *out, const struct tide_deployment *file,
                               struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_deployment_hash(hash, file);
    static_assert(sizeof out->contracts == TIDE_BYTEA_BYTES(sizeof hash) &&
                      sizeof out->network == TIDE_BYTEA_BYTES(TIDE_HASH_BYTES),
                  "bytea literals of hashes");
    tide_bytea_text(out->contracts, tide_slice_of(hash, sizeof hash));
    tide_bytea_text(out->network, tide_slice_of(file->network_id, TIDE_HASH_BYTES));
    tide_buf_init(&out->json, JSON_MAX);
    put_contracts(&out->json, file);
    tide_buf_u8(&out->json, 0);
    return out->json.failed ? tide_fail(err, TIDE_E_LIMIT, "deployment: too many contracts")
                            : TIDE_OK;
}

void tide_identity_release(struct tide_identity *identity)
{
    tide_buf_release(&identity->json);
}

tide_status tide_identity_check(struct tide_pg *pg, const struct tide_identity *identity,
                                struct tide_err *err)
{
    struct tide_pg_rows rows;
    const char *values[] = { identity->network, identity->contracts,
                             (const char *)identity->json.ptr };
    tide_status status = tide_pg_query(pg, &rows, check_sql, values, TIDE_COUNT(values), err);
    if (status != TIDE_OK)
        return status;
    if (rows.count)
        status = tide_fail(err, TIDE_E_CONFLICT,
                           "deployment: %.64s is %.64s in the file, and %.64s in the index: "
                           "correct the file. Roles of a deployment never change; other roles "
                           "need another database",
                           tide_pg_text(&rows, 0, 0), tide_pg_text(&rows, 0, 1),
                           tide_pg_text(&rows, 0, 2));
    tide_pg_rows_release(&rows);
    return status;
}

tide_status tide_identity_check_file(struct tide_pg *pg, const struct tide_deployment *file,
                                     struct tide_err *err)
{
    struct tide_identity identity;
    tide_status status = tide_identity_make(&identity, file, err);
    if (status == TIDE_OK)
        status = tide_identity_check(pg, &identity, err);
    tide_identity_release(&identity);
    return status;
}
