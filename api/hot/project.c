#include "api/hot/project.h"
#include "api/sql/scope.h"
#include "tidemark/text.h"

/* clang-format off */
const struct record_source record_sources[RECORD_SOURCE_COUNT] = {
    [RECORD_POOL] = { "liquidity_pool_pool", "pool_id, paused, token_a, token_b, reserve_a, reserve_b, total_shares,"
                      " fee_tier, fee_a_accum, fee_b_accum, cumulative_vol_a, cumulative_vol_b", 12, record_pool },
    [RECORD_SWAP] = { "liquidity_pool_swap", "pool_id, a_to_b, amount_in, amount_out", 4, record_swap },
    [RECORD_REC] = { "compliance_registry_compliance_rec",
                     "address, status, jurisdiction, expires_at, updated_at, provider, reason", 7, record_rec },
    [RECORD_FROZEN] = { "compliance_registry_frozen", "address", 1, record_frozen },
    [RECORD_WHITELIST] = { "compliance_registry_whitelist", "address", 1, record_whitelist },
    [RECORD_BLOCKED] = { "compliance_registry_blocked_jurisdiction", "code", 1, record_blocked },
    [RECORD_VERIFIER] = { "compliance_registry_verifier", "address", 1, record_verifier },
    [RECORD_FEED] = { "oracle_feed", "asset, latest_price, latest_ts, twap_price, twap_ts, observation_count", 6,
                      record_feed },
    [RECORD_PROVIDER] = { "oracle_provider", "address", 1, record_provider },
    [RECORD_MARKET] = { "synthetic_engine_asset_config", "symbol, enabled, token, oracle_symbol, coll_oracle_sym,"
                        " min_coll_ratio, liq_ratio, liq_penalty, stab_fee_bps, debt_ceiling", 10, record_market },
    [RECORD_DEBT] = { "synthetic_engine_debt_total", "synth, value", 2, record_debt },
    [RECORD_VAULT] = { "synthetic_engine_vault",
                       "synth, key_owner, collateral_tok, collateral, debt, opened_at, last_update", 7, record_vault },
    [RECORD_COLLATERAL] = { "synthetic_engine_collateral_allowed", "token", 1, record_collateral },
    [RECORD_PARTNER] = { "partner_registry_partner", "key_id, active, owner, name, revenue_share, pending_revenue,"
                         " total_earned, total_volume, registered_at", 9, record_partner },
    [RECORD_CATALOG] = { "partner_registry_partner_asset",
                         "key_symbol, partner_id, live, token, oracle_symbol, debt_ceiling, deployed_at", 7,
                         record_catalog },
    [RECORD_REGISTRY] = { "compliance_registry_instance", "verifier, travel_rule_count", 2, record_registry },
    [RECORD_POOLS] = { "liquidity_pool_instance", "protocol_fee", 1, record_pools },
    [RECORD_ENGINE] = { "synthetic_engine_instance", "paused", 1, record_engine },
    [RECORD_EARNINGS] = { "earnings_distributor_instance", "epoch", 1, record_earnings },
    [RECORD_GOVERNANCE] = { "dao_governance_instance", "liquidity_pool, engine, stability_pool, compliance,"
                            " partner_registry, earnings, oracle, multisig_wallet, dao", 9, record_governance },
    [RECORD_TOKEN] = { "synth_token_instance", "name, symbol, decimals, paused", 4, record_token },
    [RECORD_ASSET] = { "stellar_asset_instance", "metadata ->> 'name', metadata ->> 'symbol',"
                       " metadata ->> 'decimal', admin", 4, record_asset },
};
/* clang-format on */

static const char *schema_of(int source)
{
    return source == RECORD_SWAP ? "event" : "state";
}

uint32_t record_unkept(const char *scope)
{
    uint32_t bits = 0;
    for (int s = 0; s < (int)RECORD_SOURCE_COUNT; s++)
        if (!tide_kept_has(scope, schema_of(s), record_sources[s].name))
            bits |= RECORD_BIT(s);
    return bits;
}

uint32_t record_sources_of(enum tide_hot_kind kind)
{
    static const uint32_t bits[TIDE_HOT_KIND_COUNT] = {
        [TIDE_HOT_PERSON] =
            RECORD_BIT(RECORD_REC) | RECORD_BIT(RECORD_FROZEN) | RECORD_BIT(RECORD_WHITELIST),
        [TIDE_HOT_BLOCKED] = RECORD_BIT(RECORD_BLOCKED),
        [TIDE_HOT_FEED] = RECORD_BIT(RECORD_FEED),
        [TIDE_HOT_POOL] = RECORD_BIT(RECORD_POOL),
        [TIDE_HOT_TICK] = RECORD_BIT(RECORD_POOL) | RECORD_BIT(RECORD_SWAP),
        [TIDE_HOT_MARKET] = RECORD_BIT(RECORD_MARKET),
        [TIDE_HOT_VAULT] = RECORD_BIT(RECORD_VAULT),
        [TIDE_HOT_PARTNER] = RECORD_BIT(RECORD_PARTNER),
        [TIDE_HOT_CATALOG] = RECORD_BIT(RECORD_CATALOG),
        [TIDE_HOT_VERIFIER] = RECORD_BIT(RECORD_VERIFIER),
        [TIDE_HOT_PROVIDER] = RECORD_BIT(RECORD_PROVIDER),
        [TIDE_HOT_COLLATERAL] = RECORD_BIT(RECORD_COLLATERAL),
    };
    return bits[kind];
}

void record_refuse(struct tide_reply *reply, uint32_t unkept)
{
    char missing[TIDE_KEPT_TEXT];
    int source = __builtin_ctz(unkept);
    snprintf(missing, sizeof missing, "%s.%s", schema_of(source), record_sources[source].name);
    tide_kept_refuse(reply, missing);
}

tide_status record_apply(enum record_source_id source, struct record_row *row, struct tide_err *err)
{
    tide_status status = record_sources[source].apply(row, err);
    if (status == TIDE_OK && row->bad)
        status = tide_fail(err, TIDE_E_SCHEMA, "%s: %s of ledger %u does not fit",
                           record_sources[source].name, row->bad, row->ledger);
    return status;
}

bool record_null(const struct record_row *row, uint32_t column)
{
    return tide_pg_is_null(row->rows, row->at, row->first + column);
}

tide_slice record_text(const struct record_row *row, uint32_t column)
{
    return tide_pg_slice(row->rows, row->at, row->first + column);
}

static void refuse(struct record_row *row, uint32_t column)
{
    (void)column;
    if (!row->bad)
        row->bad = "a value";
}

uint64_t record_u64(struct record_row *row, uint32_t column)
{
    uint64_t v = 0;
    if (!record_null(row, column) &&
        tide_parse_u64(&v, record_text(row, column), UINT64_MAX) != TIDE_OK)
        refuse(row, column);
    return v;
}

bool record_bool(struct record_row *row, uint32_t column)
{
    tide_slice text = record_text(row, column);
    bool yes = tide_slice_eq_str(text, "t") || tide_slice_eq_str(text, "true");
    if (!yes && text.len && !tide_slice_eq_str(text, "f") && !tide_slice_eq_str(text, "false"))
        refuse(row, column);
    return yes;
}

struct tide_hot_amount record_amount(struct record_row *row, uint32_t column)
{
    tide_i128 v = { 0 };
    if (!record_null(row, column) && tide_i128_parse(&v, record_text(row, column)) != TIDE_OK)
        refuse(row, column);
    return tide_hot_amount(v.raw);
}

struct tide_hot_address record_address(struct record_row *row, uint32_t column)
{
    struct tide_hot_address address;
    (void)tide_hot_address_parse(&address, record_text(row, column));
    return address;
}

struct tide_hot_symbol record_symbol(struct record_row *row, uint32_t column)
{
    struct tide_hot_symbol symbol;
    if (!tide_hot_symbol_of(&symbol, record_text(row, column)))
        refuse(row, column);
    return symbol;
}

static size_t cut(size_t len)
{
    return len < TIDE_HOT_NAME_MAX ? len : TIDE_HOT_NAME_MAX;
}

struct tide_hot_name record_name(struct record_row *row, uint32_t column)
{
    struct tide_hot_name name = { 0 };
    tide_slice text = record_text(row, column);
    if (text.len == 0)
        return name;
    if (text.len < 2 || text.ptr[0] != '\\' || text.ptr[1] != 'x') {
        refuse(row, column);
        return name;
    }
    size_t len = (text.len - 2) / 2;
    name.len = (uint16_t)(len < UINT16_MAX ? len : UINT16_MAX);
    if (tide_hex_decode(name.text, cut(len), tide_slice_of(text.ptr + 2, 2 * cut(len))) != TIDE_OK)
        refuse(row, column);
    return name;
}
