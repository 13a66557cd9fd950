/* Connections, snapshots and lookups for commands that read the database. */
#include "indexer/database/query.h"
#include "indexer/database/migrate.h"
#include "tidemark/hash.h"
#include "tidemark/identity.h"
#include "tidemark/stop.h"
#include "tidemark/strkey.h"

#include <stdlib.h>

tide_status tide_query_connect(struct tide_pg **out, const struct tide_config *config,
                               const char *application, bool writable, struct tide_err *err)
{
    struct tide_pg_options to = { .conninfo = config->database_url,
                                  .application = application,
                                  .server = writable ? TIDE_PG_WRITABLE : TIDE_PG_ANY_SERVER,
                                  .silence_ms = config->db_silence_ms,
                                  .stopped = tide_stop_asked };
    *out = NULL;
    tide_status status = tide_pg_open(out, &to, err);
    if (status == TIDE_OK)
        status = tide_migrate_check(*out, tide_migrations, tide_migration_count, err);
    return status;
}

tide_status tide_query_open(struct tide_pg **out, const struct tide_config *config,
                            const char *application, struct tide_err *err)
{
    tide_status status = tide_query_connect(out, config, application, false, err);
    if (status == TIDE_OK)
        status = tide_pg_run(*out, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN", err);
    return status == TIDE_OK ? tide_query_hold(*out, err) : status;
}

tide_status tide_query_hold(struct tide_pg *pg, struct tide_err *err)
{
    assert(tide_pg_in_transaction(pg)); /* the lock ends with it */
    return tide_pg_run(pg, "LOCK TABLE chain.archive IN ACCESS SHARE MODE", "LOCK TABLE", err);
}

/* Reads the ids of the deployments that have all contracts of the file, or of all deployments
 * without a file; of each network the latest epoch only. Deployments without a single indexed
 * ledger, which a wrong file leaves behind, count only if there are no others. */
static tide_status find_deployments(struct tide_pg *pg, const struct tide_deployment *file,
                                    struct tide_pg_rows *rows, struct tide_err *err)
{
    struct tide_buf list;
    tide_buf_init(&list, 64u << 10);
    tide_buf_u8(&list, '{');
    for (uint32_t i = 0; file && i < file->contract_count; i++)
        tide_buf_putf(&list, "%s%s", i ? "," : "", file->contracts[i].address);
    tide_buf_put(&list, "}", 2);
    tide_status status =
        list.failed
            ? tide_fail(err, TIDE_E_LIMIT, "deployment: too many contracts")
            : tide_pg_query(
                  pg, rows,
                  "WITH named AS (SELECT id, EXISTS (SELECT FROM chain.coverage AS v WHERE"
                  " v.deployment = d.id) AS covered FROM chain.deployment AS d WHERE"
                  " $1::text[] <@ (SELECT coalesce(array_agg(c ->> 'address'), '{}') FROM"
                  " jsonb_array_elements(d.contracts) AS c) AND d.epoch = (SELECT max(epoch) FROM"
                  " chain.deployment AS o WHERE o.network_id = d.network_id)) SELECT id FROM named"
                  " WHERE covered OR NOT EXISTS (SELECT FROM named WHERE covered) ORDER BY id",
                  (const char *[]){ (const char *)list.ptr }, 1, err);
    tide_buf_release(&list);
    return status;
}

tide_status tide_query_deployment(struct tide_pg *pg, const struct tide_config *config,
                                  uint16_t *out, struct tide_err *err)
{
    struct tide_deployment *file = NULL;
    struct tide_pg_rows rows = { 0 };
    tide_status status = TIDE_OK;
    if (config->deployment[0])
        status = tide_deployment_read(&file, config->deployment, err);
    if (status == TIDE_OK && file)
        status = tide_identity_check_file(pg, file, err);
    if (status == TIDE_OK)
        status = find_deployments(pg, file, &rows, err);
    free(file);
    if (status != TIDE_OK)
        return status;
    if (rows.count == 1)
        *out = (uint16_t)tide_pg_u64(&rows, 0, 0);
    else if (rows.count == 0)
        status = tide_fail(err, TIDE_E_MISSING,
                           "the database has no such deployment: nothing is indexed");
    else
        status = tide_fail(err, TIDE_E_CONFIG,
                           "the database holds %u deployments: say which with --deployment FILE",
                           rows.count);
    tide_pg_rows_release(&rows);
    return status;
}

/* Fails, naming what is indexed and what was asked for. */
static tide_status fail_uncovered(const char *ranges, struct tide_range asked, struct tide_err *err)
{
    if (!ranges[0])
        return tide_fail(err, TIDE_E_MISSING, "nothing is indexed yet");
    uint32_t first = asked.from ? asked.from : asked.to;
    if (asked.to <= first)
        return tide_fail(err, TIDE_E_MISSING, "ledgers %s are indexed, not %u", ranges, first);
    return tide_fail(err, TIDE_E_MISSING, "ledgers %s are indexed, not %u to %u", ranges, first,
                     asked.to);
}

tide_status tide_query_covered(struct tide_pg *pg, uint16_t deployment, struct tide_range asked,
                               struct tide_range *out, struct tide_err *err)
{
    struct tide_pg_rows rows;
    char id[8], named[16];
    snprintf(id, sizeof id, "%u", deployment);
    snprintf(named, sizeof named, "%u", asked.from ? asked.from : asked.to);
    tide_status status = tide_pg_query(
        pg, &rows,
        "WITH range AS MATERIALIZED (SELECT v.from_ledger, CASE WHEN c.ledger BETWEEN v.from_ledger"
        " AND v.to_ledger THEN c.ledger ELSE v.to_ledger END AS to_ledger, c.ledger FROM"
        " chain.coverage AS v JOIN chain.cursor AS c ON c.deployment = v.deployment WHERE"
        " v.deployment = $1) SELECT f.from_ledger, f.to_ledger, (SELECT coalesce(string_agg("
        "n.from_ledger || ' to ' || n.to_ledger, ', ' ORDER BY n.from_ledger), '') FROM (SELECT *"
        " FROM range ORDER BY from_ledger DESC LIMIT 12) AS n) FROM (SELECT 1) AS one LEFT JOIN"
        " range AS f ON coalesce(nullif($2::bigint, 0), f.ledger) BETWEEN f.from_ledger AND"
        " f.to_ledger",
        (const char *[]){ id, named }, 2, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.count == 1); /* ranges do not overlap */
    bool found = !tide_pg_is_null(&rows, 0, 0);
    if (found) {
        struct tide_range whole = { .from = (uint32_t)tide_pg_u64(&rows, 0, 0),
                                    .to = (uint32_t)tide_pg_u64(&rows, 0, 1) };
        *out = (struct tide_range){ asked.from ? asked.from : whole.from,
                                    asked.to ? asked.to : whole.to };
        found = out->from >= whole.from && out->to <= whole.to && out->from <= out->to;
    }
    if (!found)
        status = fail_uncovered(tide_pg_text(&rows, 0, 2), asked, err);
    tide_pg_rows_release(&rows);
    return status;
}

tide_status tide_query_whole(struct tide_pg *pg, uint16_t deployment, uint32_t from, uint32_t to,
                             struct tide_err *err)
{
    struct tide_pg_rows rows;
    char id[8], first[16], last[16];
    snprintf(id, sizeof id, "%u", deployment);
    snprintf(first, sizeof first, "%u", from);
    snprintf(last, sizeof last, "%u", to);
    tide_status status = tide_pg_query(
        pg, &rows,
        "SELECT min(from_ledger), max(end_ledger) - 1 FROM chain.archive WHERE deployment = $1"
        " AND from_ledger <= $3::bigint AND end_ledger > $2::bigint",
        (const char *[]){ id, first, last }, 3, err);
    if (status == TIDE_OK && !tide_pg_is_null(&rows, 0, 0))
        status = tide_fail(err, TIDE_E_MISSING,
                           "events of ledgers %s to %s are archived: choose other ledgers, or"
                           " attach them again (CALL chain.attach_partition)",
                           tide_pg_text(&rows, 0, 0), tide_pg_text(&rows, 0, 1));
    tide_pg_rows_release(&rows);
    return status;
}

/* Returns false if the text does not fit. */
static bool copy_text(char *out, size_t size, const char *text)
{
    int n = snprintf(out, size, "%s", text);
    return n >= 0 && (size_t)n < size;
}

static tide_status add_contract(struct tide_deployment *d, const struct tide_pg_rows *rows,
                                uint32_t at, struct tide_err *err)
{
    struct tide_contract contract = { .role = tide_role_of_contract(tide_pg_text(rows, at, 1)) };
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    enum tide_strkey kind;
    if (tide_strkey_decode(&kind, payload, &len, tide_pg_slice(rows, at, 0)) != TIDE_OK ||
        kind != TIDE_STRKEY_CONTRACT ||
        !copy_text(contract.role_name, sizeof contract.role_name, tide_pg_text(rows, at, 1)) ||
        !copy_text(contract.name, sizeof contract.name, tide_pg_text(rows, at, 2)))
        return tide_fail(err, TIDE_E_SCHEMA, "chain.deployment: contract \"%.60s\"",
                         tide_pg_text(rows, at, 0));
    assert(len == TIDE_HASH_BYTES && contract.role < TIDE_ROLE_COUNT);
    memcpy(contract.id, payload, TIDE_HASH_BYTES);
    contract.discovered = tide_pg_u64(rows, at, 4) != 0;
    contract.market_ledger = contract.discovered ? (uint32_t)tide_pg_u64(rows, at, 6) : 0;
    contract.unsettled = contract.discovered && !tide_pg_bool(rows, at, 5);
    tide_status status = tide_deployment_add(d, &contract);
    return status == TIDE_OK ? TIDE_OK
                             : tide_fail(err, status, "contract %.60s", tide_pg_text(rows, at, 0));
}

tide_status tide_query_contracts(struct tide_pg *pg, uint16_t deployment, uint32_t before,
                                 struct tide_deployment **out, struct tide_err *err)
{
    struct tide_pg_rows rows;
    char id[8], ledger[16];
    snprintf(id, sizeof id, "%u", deployment);
    snprintf(ledger, sizeof ledger, "%u", before);
    tide_status status = tide_pg_query(
        pg, &rows,
        "SELECT DISTINCT ON (x.address) x.address, x.role, x.name, x.passphrase, x.later,"
        " EXISTS (SELECT FROM chain.contract_seen AS t WHERE t.deployment = $1 AND t.contract ="
        " x.address AND t.what IN ('asset', 'token')),"
        " (SELECT coalesce(min(t.ledger), 0) FROM chain.contract_seen AS t WHERE t.deployment = $1"
        " AND t.contract = x.address AND t.what = 'market') FROM ("
        " SELECT c ->> 'address' AS address, c ->> 'role' AS role, c ->> 'name' AS name,"
        " d.passphrase, 0 AS later FROM chain.deployment AS d, jsonb_array_elements(d.contracts) "
        "AS c"
        " WHERE d.id = $1 UNION ALL SELECT s.contract, s.role, s.name, d.passphrase, 1 FROM"
        " chain.contract_seen AS s JOIN chain.deployment AS d ON d.id = s.deployment"
        " WHERE s.deployment = $1 AND s.what IN ('discovered', 'asset') AND "
        "(s.ledger < $2::bigint OR EXISTS"
        " (SELECT FROM chain.contract_coverage AS c WHERE c.deployment = $1 AND c.contract ="
        " s.contract) AND NOT EXISTS (SELECT FROM chain.contract_coverage AS c WHERE c.deployment ="
        " $1 AND c.contract = s.contract AND c.next_ledger <= c.to_ledger))) AS x"
        " ORDER BY x.address, x.later, x.role",
        (const char *[]){ id, ledger }, 2, err);
    if (status != TIDE_OK)
        return status;
    struct tide_deployment *d = calloc(1, sizeof *d);
    if (!d)
        status = tide_fail(err, TIDE_E_MEMORY, "deployment");
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        status = add_contract(d, &rows, i, err);
    if (status == TIDE_OK && rows.count) {
        assert(d);
        d->id = deployment;
        copy_text(d->passphrase, sizeof d->passphrase, tide_pg_text(&rows, 0, 3));
        tide_network_id(d->network_id, tide_slice_str(d->passphrase));
    }
    tide_pg_rows_release(&rows);
    if (status != TIDE_OK)
        free(d);
    else
        *out = d;
    return status;
}

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

/* --- stored hashes ---------------------------------------------------------------------- */

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
