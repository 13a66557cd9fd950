#include "tidemark/project.h"
#include "tidemark/text.h"

/* --- settings that live in the one record of the cache itself -------------------- */

static tide_status get_meta(struct project_row *row, struct tide_hot_meta *meta,
                            struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    bool found;
    return row->sink->get(row->sink->self, &key, meta, &found, err);
}

static tide_status put_meta(struct project_row *row, tide_status status,
                            const struct tide_hot_meta *meta, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    return status == TIDE_OK ? row->sink->put(row->sink->self, &key, meta, err) : status;
}

tide_status project_registry(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_meta meta;
    tide_status status = get_meta(row, &meta, err);
    meta.canonical_verifier = project_address(row, 0);
    meta.travel_rule_count = project_u64(row, 1);
    return put_meta(row, status, &meta, err);
}

tide_status project_pools(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_meta meta;
    tide_status status = get_meta(row, &meta, err);
    meta.protocol_fee = project_amount(row, 0);
    return put_meta(row, status, &meta, err);
}

tide_status project_engine(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_meta meta;
    tide_status status = get_meta(row, &meta, err);
    meta.engine_paused = project_bool(row, 0);
    return put_meta(row, status, &meta, err);
}

tide_status project_earnings(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_meta meta;
    tide_status status = get_meta(row, &meta, err);
    meta.epoch = project_u64(row, 0);
    return put_meta(row, status, &meta, err);
}

tide_status project_governance(struct project_row *row, struct tide_err *err)
{
    static const enum tide_role named[] = {
        TIDE_ROLE_liquidity_pool,   TIDE_ROLE_synthetic_engine,
        TIDE_ROLE_stability_pool,   TIDE_ROLE_compliance_registry,
        TIDE_ROLE_partner_registry, TIDE_ROLE_earnings_distributor,
        TIDE_ROLE_oracle,
    };
    struct tide_hot_meta meta;
    tide_status status = get_meta(row, &meta, err);
    for (uint32_t i = 0; i < TIDE_COUNT(named); i++)
        meta.dao_named[named[i]] = project_address(row, i);
    meta.multisig_wallet = project_address(row, project_null(row, 7) ? 8 : 7);
    return put_meta(row, status, &meta, err);
}

/* --- tokens ------------------------------------------------------------------------ */

static tide_status get_contract(struct project_row *row, struct tide_hot_key *key,
                                struct tide_hot_contract *contract, struct tide_err *err)
{
    struct tide_hot_address address;
    bool found;
    if (!tide_hot_address_parse(&address, row->contract))
        return tide_fail(err, TIDE_E_SCHEMA, "contract \"%.*s\"", TIDE_SLICE_FMT(row->contract));
    *key = tide_hot_key_address(TIDE_HOT_CONTRACT, &address);
    tide_status status = row->sink->get(row->sink->self, key, contract, &found, err);
    if (status != TIDE_OK)
        return status;
    contract->ledger = row->removed ? 0 : row->ledger;
    contract->has_instance = !row->removed;
    return TIDE_OK;
}

/* Stores the contract. Drops it if it has neither instance nor name: a cache that is built anew has
 * no such record. */
static tide_status put_instance(struct project_row *row, const struct tide_hot_key *key,
                                const struct tide_hot_contract *contract, struct tide_err *err)
{
    bool empty = !contract->has_instance && !*contract->name;
    return empty ? row->sink->drop(row->sink->self, key, err)
                 : row->sink->put(row->sink->self, key, contract, err);
}

/* Reads the token's decimals from a text: any contract may store any metadata. What is no number
 * up to 38 counts as absent, and does not stop the cache (chain.decimals says the same). */
static void take_decimals(struct tide_hot_contract *contract, tide_slice text)
{
    uint64_t decimals = 0;
    tide_status status = tide_parse_u64(&decimals, text, TIDE_DECIMALS_MAX);
    contract->has_decimals = status == TIDE_OK;
    contract->decimals = contract->has_decimals ? (uint32_t)decimals : 0;
}

tide_status project_token(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_contract contract;
    tide_status status = get_contract(row, &key, &contract, err);
    if (status != TIDE_OK)
        return status;
    if (!row->removed)
        contract.role = TIDE_ROLE_synth_token;
    contract.title = project_name(row, 0);
    contract.symbol = project_name(row, 1);
    take_decimals(&contract, project_text(row, 2));
    contract.paused = project_bool(row, 3);
    return put_instance(row, &key, &contract, err);
}

static struct tide_hot_name plain_name(tide_slice text)
{
    struct tide_hot_name name = { 0 };
    size_t kept = text.len < TIDE_HOT_NAME_MAX ? text.len : TIDE_HOT_NAME_MAX;
    name.len = (uint16_t)(text.len < UINT16_MAX ? text.len : UINT16_MAX);
    if (kept)
        memcpy(name.text, text.ptr, kept);
    return name;
}

tide_status project_asset(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_contract contract;
    tide_status status = get_contract(row, &key, &contract, err);
    if (status != TIDE_OK)
        return status;
    if (!row->removed)
        contract.role = TIDE_ROLE_stellar_asset;
    contract.title = plain_name(project_text(row, 0));
    contract.symbol = plain_name(project_text(row, 1));
    take_decimals(&contract, project_text(row, 2));
    contract.issuer = project_address(row, 3);
    return put_instance(row, &key, &contract, err);
}
