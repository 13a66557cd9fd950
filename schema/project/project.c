#include "tidemark/project.h"
#include "tidemark/table.h"
#include "tidemark/text.h"

/* clang-format off */
const struct project_source project_sources[PROJECT_SOURCE_COUNT] = {
    [PROJECT_POOL] = { "liquidity_pool_pool", "pool_id, paused, token_a, token_b, reserve_a, reserve_b, total_shares,"
                      " fee_tier, fee_a_accum, fee_b_accum, cumulative_vol_a, cumulative_vol_b", 12, project_pool },
    [PROJECT_SWAP] = { "liquidity_pool_swap", "pool_id, a_to_b, amount_in, amount_out,"
                      " (SELECT h.fee_tier FROM history.liquidity_pool_pool AS h"
                      " WHERE h.deployment = liquidity_pool_swap.deployment"
                      " AND h.ledger = liquidity_pool_swap.ledger AND h.tx = liquidity_pool_swap.tx"
                      " AND h.pool_id_key = liquidity_pool_swap.pool_id_key AND NOT h.removed"
                      " ORDER BY h.seq DESC LIMIT 1)", 5, project_swap },
    [PROJECT_REC] = { "compliance_registry_compliance_rec",
                     "address, status, jurisdiction, expires_at, updated_at, provider, reason", 7, project_rec },
    [PROJECT_FROZEN] = { "compliance_registry_frozen", "address", 1, project_frozen },
    [PROJECT_WHITELIST] = { "compliance_registry_whitelist", "address", 1, project_whitelist },
    [PROJECT_BLOCKED] = { "compliance_registry_blocked_jurisdiction", "code", 1, project_blocked },
    [PROJECT_VERIFIER] = { "compliance_registry_verifier", "address", 1, project_verifier },
    [PROJECT_FEED] = { "oracle_feed", "asset, latest_price, latest_ts, twap_price, twap_ts, observation_count", 6,
                      project_feed },
    [PROJECT_PROVIDER] = { "oracle_provider", "address", 1, project_provider },
    [PROJECT_MARKET] = { "synthetic_engine_asset_config", "symbol, enabled, token, oracle_symbol, coll_oracle_sym,"
                        " min_coll_ratio, liq_ratio, liq_penalty, stab_fee_bps, debt_ceiling", 10, project_market },
    [PROJECT_DEBT] = { "synthetic_engine_debt_total", "synth, value", 2, project_debt },
    [PROJECT_VAULT] = { "synthetic_engine_vault",
                       "synth, key_owner, collateral_tok, collateral, debt, opened_at, last_update", 7, project_vault },
    [PROJECT_COLLATERAL] = { "synthetic_engine_collateral_allowed", "token", 1, project_collateral },
    [PROJECT_PARTNER] = { "partner_registry_partner", "key_id, active, owner, name, revenue_share, pending_revenue,"
                         " total_earned, total_volume, registered_at", 9, project_partner },
    [PROJECT_CATALOG] = { "partner_registry_partner_asset",
                         "key_symbol, partner_id, live, token, oracle_symbol, debt_ceiling, deployed_at", 7,
                         project_catalog },
    [PROJECT_REGISTRY] = { "compliance_registry_instance", "verifier, travel_rule_count", 2, project_registry },
    [PROJECT_POOLS] = { "liquidity_pool_instance", "protocol_fee", 1, project_pools },
    [PROJECT_ENGINE] = { "synthetic_engine_instance", "paused", 1, project_engine },
    [PROJECT_EARNINGS] = { "earnings_distributor_instance", "epoch", 1, project_earnings },
    [PROJECT_GOVERNANCE] = { "dao_governance_instance", "liquidity_pool, engine, stability_pool, compliance,"
                            " partner_registry, earnings, oracle, multisig_wallet, dao", 9, project_governance },
    [PROJECT_TOKEN] = { "synth_token_instance", "coalesce(name, convert_to(metadata ->> 'name', 'UTF8')),"
                       " coalesce(symbol, convert_to(metadata ->> 'symbol', 'UTF8')),"
                       " chain.token_decimals(decimals, metadata), paused", 4, project_token },
    [PROJECT_ASSET] = { "stellar_asset_instance", "metadata ->> 'name', metadata ->> 'symbol',"
                       " chain.decimals(metadata ->> 'decimal'), admin", 4, project_asset },
};
/* clang-format on */

tide_status project_apply(enum project_source_id source, struct project_row *row,
                          struct tide_err *err)
{
    assert(source < PROJECT_SOURCE_COUNT && project_sources[source].apply);
    assert(row->sink && row->rows);
    tide_status status = project_sources[source].apply(row, err);
    if (status == TIDE_OK && row->bad)
        status = tide_fail(err, TIDE_E_SCHEMA, "%s: %s of ledger %u does not fit",
                           project_sources[source].name, row->bad, row->ledger);
    return status;
}

bool project_null(const struct project_row *row, uint32_t column)
{
    return tide_pg_is_null(row->rows, row->at, row->first + column);
}

tide_slice project_text(const struct project_row *row, uint32_t column)
{
    return tide_pg_slice(row->rows, row->at, row->first + column);
}

static void refuse_column(struct project_row *row, uint32_t column)
{
    (void)column;
    if (!row->bad)
        row->bad = "a value";
}

uint64_t project_u64(struct project_row *row, uint32_t column)
{
    uint64_t v = 0;
    if (!project_null(row, column) &&
        tide_parse_u64(&v, project_text(row, column), UINT64_MAX) != TIDE_OK)
        refuse_column(row, column);
    return v;
}

bool project_bool(struct project_row *row, uint32_t column)
{
    tide_slice text = project_text(row, column);
    bool yes = tide_slice_eq_str(text, "t") || tide_slice_eq_str(text, "true");
    if (!yes && text.len && !tide_slice_eq_str(text, "f") && !tide_slice_eq_str(text, "false"))
        refuse_column(row, column);
    return yes;
}

struct tide_hot_amount project_amount(struct project_row *row, uint32_t column)
{
    tide_i128 v = { 0 };
    if (!project_null(row, column) && tide_i128_parse(&v, project_text(row, column)) != TIDE_OK)
        refuse_column(row, column);
    return tide_hot_amount(v.raw);
}

struct tide_hot_address project_address(struct project_row *row, uint32_t column)
{
    struct tide_hot_address address;
    (void)tide_hot_address_parse(&address, project_text(row, column));
    return address;
}

struct tide_hot_symbol project_symbol(struct project_row *row, uint32_t column)
{
    struct tide_hot_symbol symbol;
    if (!tide_hot_symbol_of(&symbol, project_text(row, column)))
        refuse_column(row, column);
    return symbol;
}

static size_t cut_length(size_t len)
{
    return len < TIDE_HOT_NAME_MAX ? len : TIDE_HOT_NAME_MAX;
}

struct tide_hot_name project_name(struct project_row *row, uint32_t column)
{
    struct tide_hot_name name = { 0 };
    tide_slice text = project_text(row, column);
    if (text.len == 0)
        return name;
    if (text.len < 2 || text.ptr[0] != '\\' || text.ptr[1] != 'x') {
        refuse_column(row, column);
        return name;
    }
    size_t len = (text.len - 2) / 2;
    name.len = (uint16_t)(len < UINT16_MAX ? len : UINT16_MAX);
    if (tide_hex_decode(name.text, cut_length(len),
                        tide_slice_of(text.ptr + 2, 2 * cut_length(len))) != TIDE_OK)
        refuse_column(row, column);
    return name;
}
