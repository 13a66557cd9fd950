/* The contracts of a deployment, as of a ledger, for the cache. */
#include "tidemark/hash.h"
#include "tidemark/project.h"

#include <stdio.h>

/* Reads each contract with its completeness at ledger $2. A contract is whole if
 * - the covered range that contains the ledger begins at or before the contract's creation,
 * - the contract was followed in all of that range (a discovered one is not, until its past has
 *   been read), and
 * - at that ledger no newest version of its entries is stored raw.
 * A whole contract is complete.
 *
 * In the published contracts any account can make itself the DAO and replace the code of
 * dao_governance, oracle and partner_registry, and so write anything into these three. Their raw
 * entries are therefore reported, but do not make them incomplete. The same holds for discovered
 * tokens. */
static const char contracts_sql[] =
    "SELECT k.address, k.name, k.role, d.passphrase, s.created, coalesce(v.from_ledger <= "
    "s.created,"
    " false) AND CASE WHEN k.named AND k.role NOT IN ('dao_governance', 'oracle',"
    " 'partner_registry') THEN NOT chain.undecoded(d.id, k.address, k.role, $2::integer) ELSE true"
    " END"
    " AND NOT EXISTS (SELECT FROM chain.contract_coverage AS g WHERE"
    " g.deployment = d.id AND g.contract = k.address AND g.next_ledger <= g.to_ledger),"
    " d.first_ledger, k.named, d.dao_wallet, o.ledger + 1,"
    " chain.unix(o.closed_at) FROM chain.deployment AS d"
    " LEFT JOIN chain.start AS o ON o.deployment = d.id"
    " LEFT JOIN chain.coverage AS v ON v.deployment ="
    " d.id AND $2 BETWEEN v.from_ledger AND v.to_ledger,"
    " LATERAL (SELECT name, role, address, true AS named FROM jsonb_to_recordset(d.contracts) AS"
    " x(name text, role"
    " text, address text) UNION SELECT max(n.name), min(n.role), n.contract, false FROM "
    "chain.contract_seen"
    " AS n WHERE n.deployment = d.id AND n.what IN ('discovered', 'asset') AND NOT"
    " chain.followed_after(d.id, n.contract, $2::integer)"
    " AND NOT EXISTS (SELECT FROM jsonb_to_recordset(d.contracts) AS"
    " y(address text) WHERE y.address = n.contract) GROUP BY n.contract) AS k,"
    " LATERAL (SELECT min(n.ledger) AS created FROM chain.contract_seen AS n WHERE n.deployment ="
    " d.id AND n.contract = k.address AND n.what = 'created') AS s WHERE d.id = $1";

static tide_status put_contract(struct tide_hot_sink *sink, const struct tide_pg_rows *rows,
                                uint32_t at, struct tide_hot_meta *meta, struct tide_err *err)
{
    struct tide_hot_address address;
    struct tide_hot_contract contract;
    bool found;
    if (!tide_hot_address_parse(&address, tide_pg_slice(rows, at, 0)))
        return tide_fail(err, TIDE_E_SCHEMA, "contract \"%.60s\"", tide_pg_text(rows, at, 0));
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_CONTRACT, &address);
    tide_status status = sink->get(sink->self, &key, &contract, &found, err);
    contract.role = (uint8_t)tide_role_of_contract(tide_pg_text(rows, at, 2));
    snprintf(contract.name, sizeof contract.name, "%s", tide_pg_text(rows, at, 1));
    snprintf(contract.role_name, sizeof contract.role_name, "%s", tide_pg_text(rows, at, 2));
    contract.created = (uint32_t)tide_pg_u64(rows, at, 4);
    if (!tide_hot_address_parse(&meta->dao_wallet, tide_pg_slice(rows, at, 8)))
        meta->dao_wallet = (struct tide_hot_address){ 0 }; /* the deployment file names none */
    bool whole = tide_pg_bool(rows, at, 5);
    contract.complete = whole;
    if (contract.role < TIDE_ROLE_synth_token)
        meta->contracts[contract.role] = address;
    bool matters = contract.role != TIDE_ROLE_wallet && contract.role != TIDE_ROLE_stellar_asset;
    /* an incomplete discovered token affects only its own market */
    bool named = tide_pg_bool(rows, at, 7);
    contract.watched = named || whole;
    if (named && matters && !contract.complete)
        meta->complete = 0;
    if (contract.role == TIDE_ROLE_compliance_registry && whole)
        meta->compliance_complete = 1;
    return status == TIDE_OK ? sink->put(sink->self, &key, &contract, err) : status;
}

tide_status project_contracts(struct tide_pg *pg, uint16_t deployment, uint32_t ledger,
                              struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_pg_rows rows;
    struct tide_hot_meta meta;
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    bool found;
    const char *const values[] = { TIDE_PG_NUMBER(deployment), TIDE_PG_NUMBER(ledger) };
    tide_status status = tide_pg_query(pg, &rows, contracts_sql, values, TIDE_COUNT(values), err);
    if (status != TIDE_OK)
        return status;
    status = sink->get(sink->self, &key, &meta, &found, err);
    meta.complete = rows.count > 0;
    meta.compliance_complete = 0;
    memset(meta.contracts, 0, sizeof meta.contracts);
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        status = put_contract(sink, &rows, i, &meta, err);
    if (rows.count) {
        snprintf(meta.passphrase, sizeof meta.passphrase, "%s", tide_pg_text(&rows, 0, 3));
        tide_network_id(meta.network_id, tide_slice_str(tide_pg_text(&rows, 0, 3)));
        meta.history_from = (uint32_t)tide_pg_u64(&rows, 0, 9);
        meta.history_since = tide_pg_u64(&rows, 0, 10);
        meta.start_from = meta.complete ? 0 : (uint32_t)tide_pg_u64(&rows, 0, 6);
    }
    tide_pg_rows_release(&rows);
    return status == TIDE_OK ? sink->put(sink->self, &key, &meta, err) : status;
}
