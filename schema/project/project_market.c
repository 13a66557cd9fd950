#include "tidemark/project.h"

static tide_status get_market(struct project_row *row, struct tide_hot_key *key,
                              struct tide_hot_market *market, struct tide_err *err)
{
    bool found;
    struct tide_hot_symbol symbol = project_symbol(row, 0);
    *key = tide_hot_key_symbol(TIDE_HOT_MARKET, &symbol);
    tide_status status = row->sink->get(row->sink->self, key, market, &found, err);
    market->symbol = symbol;
    return status;
}

/* Stores the market, or drops a record that says nothing: a new cache has none either. */
static tide_status put_market(struct project_row *row, const struct tide_hot_key *key,
                              const struct tide_hot_market *market, struct tide_err *err)
{
    bool empty = !market->listed && market->vaults == 0 && market->indebted == 0 &&
                 tide_hot_i128(market->collateral) == 0 && tide_hot_i128(market->debt_total) == 0;
    return empty ? row->sink->drop(row->sink->self, key, err)
                 : row->sink->put(row->sink->self, key, market, err);
}

/* Resets what the market's entry sets. Debts and vaults have entries of their own. */
static void reset_terms(struct tide_hot_market *market)
{
    *market = (struct tide_hot_market){ .symbol = market->symbol,
                                        .debt_total = market->debt_total,
                                        .collateral = market->collateral,
                                        .vaults = market->vaults,
                                        .indebted = market->indebted };
}

tide_status project_market(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_market market;
    tide_status status = get_market(row, &key, &market, err);
    if (status != TIDE_OK)
        return status;
    reset_terms(&market);
    if (!row->removed) {
        market.ledger = row->ledger;
        market.listed = true;
        market.enabled = project_bool(row, 1);
        market.token = project_address(row, 2);
        market.oracle_symbol = project_symbol(row, 3);
        market.coll_oracle_symbol = project_symbol(row, 4);
        market.min_coll_ratio = project_amount(row, 5);
        market.liq_ratio = project_amount(row, 6);
        market.liq_penalty = project_amount(row, 7);
        market.stab_fee_bps = project_amount(row, 8);
        market.debt_ceiling = project_amount(row, 9);
    }
    return put_market(row, &key, &market, err);
}

tide_status project_debt(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_market market;
    tide_status status = get_market(row, &key, &market, err);
    market.debt_total = row->removed ? (struct tide_hot_amount){ 0 } : project_amount(row, 1);
    return status == TIDE_OK ? put_market(row, &key, &market, err) : status;
}

/* Adds the vault to its market's sums, or subtracts it. The sums wrap, so an overflow is undone
 * when the vault is subtracted. */
static void count_vault(struct tide_hot_market *market, const struct tide_hot_vault *vault, bool in)
{
    tide_raw_u128 held = (tide_raw_u128)tide_hot_i128(market->collateral);
    tide_raw_u128 own = (tide_raw_u128)tide_hot_i128(vault->collateral);
    bool owes = tide_hot_i128(vault->debt) > 0;
    market->collateral = tide_hot_amount((tide_raw_i128)(in ? held + own : held - own));
    market->vaults += in ? 1 : -(uint64_t)1;
    market->indebted += in ? owes : -(uint64_t)owes;
}

tide_status project_vault(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_market market;
    struct tide_hot_vault vault;
    bool found;
    struct tide_hot_address owner = project_address(row, 1);
    tide_status status = get_market(row, &key, &market, err);
    if (status != TIDE_OK || owner.kind == 0)
        return status;
    struct tide_hot_key own = tide_hot_key_vault(&market.symbol, &owner);
    status = row->sink->get(row->sink->self, &own, &vault, &found, err);
    if (status != TIDE_OK)
        return status;
    if (found)
        count_vault(&market, &vault, false);
    if (row->removed) {
        status = row->sink->drop(row->sink->self, &own, err);
    } else {
        vault = (struct tide_hot_vault){ .ledger = row->ledger,
                                         .collateral_token = project_address(row, 2),
                                         .collateral = project_amount(row, 3),
                                         .debt = project_amount(row, 4),
                                         .opened_at = project_u64(row, 5),
                                         .last_update = project_u64(row, 6) };
        count_vault(&market, &vault, true);
        status = row->sink->put(row->sink->self, &own, &vault, err);
    }
    return status == TIDE_OK ? put_market(row, &key, &market, err) : status;
}

tide_status project_feed(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_symbol asset = project_symbol(row, 0);
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_FEED, &asset);
    if (row->removed)
        return row->sink->drop(row->sink->self, &key, err);
    struct tide_hot_feed feed = { .ledger = row->ledger,
                                  .latest_price = project_amount(row, 1),
                                  .latest_ts = project_u64(row, 2),
                                  .twap_price = project_amount(row, 3),
                                  .twap_ts = project_u64(row, 4),
                                  .observations = (uint32_t)project_u64(row, 5) };
    return row->sink->put(row->sink->self, &key, &feed, err);
}

tide_status project_partner(struct project_row *row, struct tide_err *err)
{
    uint32_t id = (uint32_t)project_u64(row, 0);
    struct tide_hot_key key = tide_hot_key_u32(TIDE_HOT_PARTNER, id);
    if (row->removed)
        return row->sink->drop(row->sink->self, &key, err);
    struct tide_hot_partner partner = { .ledger = row->ledger,
                                        .id = id,
                                        .active = project_bool(row, 1),
                                        .owner = project_address(row, 2),
                                        .name = project_name(row, 3),
                                        .revenue_share = project_amount(row, 4),
                                        .pending_revenue = project_amount(row, 5),
                                        .total_earned = project_amount(row, 6),
                                        .total_volume = project_amount(row, 7),
                                        .registered_at = project_u64(row, 8) };
    return row->sink->put(row->sink->self, &key, &partner, err);
}

tide_status project_catalog(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_symbol symbol = project_symbol(row, 0);
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_CATALOG, &symbol);
    if (row->removed)
        return row->sink->drop(row->sink->self, &key, err);
    struct tide_hot_catalog catalog = { .ledger = row->ledger,
                                        .symbol = symbol,
                                        .partner_id = (uint32_t)project_u64(row, 1),
                                        .live = project_bool(row, 2),
                                        .token = project_address(row, 3),
                                        .oracle_symbol = project_symbol(row, 4),
                                        .debt_ceiling = project_amount(row, 5),
                                        .deployed_at = project_u64(row, 6) };
    return row->sink->put(row->sink->self, &key, &catalog, err);
}
