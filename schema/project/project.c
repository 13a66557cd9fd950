/* How the rows of each source change records. */
#include "tidemark/project.h"
#include "tidemark/table.h"
#include "tidemark/text.h"

/* --- pools and their trades ----------------------------------------------------------------- */

/* Writes the sums, and the pool's state at the close of a ledger, for sliding windows. */
static tide_status put_trade(struct project_row *row, const struct tide_hot_symbol *id,
                             const struct tide_hot_trade *trade, struct tide_err *err)
{
    struct tide_hot_pool pool;
    struct tide_hot_key pool_key = tide_hot_key_symbol(TIDE_HOT_POOL, id);
    struct tide_hot_key trade_key = tide_hot_key_symbol(TIDE_HOT_TRADE, id);
    struct tide_hot_key tick_key = tide_hot_key_tick(id, row->close_time);
    tide_status status = project_get(row, &pool_key, &pool, err);
    struct tide_hot_tick tick = { .time = row->close_time,
                                  .reserve_a = pool.reserve_a,
                                  .reserve_b = pool.reserve_b,
                                  .trade = *trade };
    if (status == TIDE_OK)
        status = project_put(row, &trade_key, trade, err);
    return status == TIDE_OK ? project_put(row, &tick_key, &tick, err) : status;
}

static tide_status get_trade(struct project_row *row, const struct tide_hot_symbol *id,
                             struct tide_hot_trade *trade, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_TRADE, id);
    return project_get(row, &key, trade, err);
}

static tide_status put_pool(struct project_row *row, const struct tide_hot_key *key,
                            struct tide_err *err)
{
    struct tide_hot_pool pool = { .ledger = row->ledger, .id = project_symbol(row, 0) };
    pool.paused = project_bool(row, 1);
    pool.token_a = project_address(row, 2);
    pool.token_b = project_address(row, 3);
    pool.reserve_a = project_amount(row, 4);
    pool.reserve_b = project_amount(row, 5);
    pool.total_shares = project_amount(row, 6);
    pool.fee_tier = project_amount(row, 7);
    pool.fee_a_accum = project_amount(row, 8);
    pool.fee_b_accum = project_amount(row, 9);
    pool.cumulative_vol_a = project_amount(row, 10);
    pool.cumulative_vol_b = project_amount(row, 11);
    return project_put(row, key, &pool, err);
}

/* The trade of a pool outlives its entry: the entry may be written again within the window. */
static tide_status apply_pool(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_symbol id = project_symbol(row, 0);
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_POOL, &id);
    struct tide_hot_trade trade;
    tide_status status = row->removed ? project_drop(row, &key, err) : put_pool(row, &key, err);
    if (status == TIDE_OK)
        status = get_trade(row, &id, &trade, err);
    return status == TIDE_OK ? put_trade(row, &id, &trade, err) : status;
}

static void add_amount(struct tide_hot_amount *sum, tide_raw_i128 v)
{
    tide_i128 out = { tide_hot_i128(*sum) };
    (void)!tide_i128_add(&out, out, (tide_i128){ v });
    *sum = tide_hot_amount(out.raw);
}

/* Returns v * numerator / denominator, or 0 if that is undefined or overflows. */
static tide_raw_i128 scaled(tide_raw_i128 v, tide_raw_i128 numerator, tide_raw_i128 denominator)
{
    tide_i128 out = { 0 };
    if (tide_i128_mul(&out, (tide_i128){ v }, (tide_i128){ numerator }) != TIDE_OK ||
        tide_i128_div_trunc(&out, out, (tide_i128){ denominator }) != TIDE_OK)
        return 0;
    return out.raw;
}

/* The fee is that of the pool's version that the swap's transaction wrote. */
static tide_status apply_swap(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_symbol id = project_symbol(row, 0);
    struct tide_hot_trade trade;
    tide_status status = get_trade(row, &id, &trade, err);
    if (status != TIDE_OK)
        return status;
    bool a_to_b = project_bool(row, 1);
    tide_raw_i128 in = tide_hot_i128(project_amount(row, 2));
    tide_raw_i128 out = tide_hot_i128(project_amount(row, 3));
    tide_raw_i128 fee = scaled(in, tide_hot_i128(project_amount(row, 4)), 10000);
    tide_raw_i128 fee_bought = scaled(fee, out, in);
    trade.swaps++;
    add_amount(&trade.traded_a, a_to_b ? in : out);
    add_amount(&trade.traded_b, a_to_b ? out : in);
    add_amount(&trade.fees_a, a_to_b ? fee : fee_bought);
    add_amount(&trade.fees_b, a_to_b ? fee_bought : fee);
    return put_trade(row, &id, &trade, err);
}

/* --- people -------------------------------------------------------------------- */

/* Reads the person of the row. An address that is neither G nor C cannot be asked for, so *skip is
 * set. */
static tide_status begin_person(struct project_row *row, struct tide_hot_key *key,
                                struct tide_hot_person *person, bool *skip, struct tide_err *err)
{
    struct tide_hot_address address = project_address(row, 0);
    *skip = address.kind == 0;
    *key = tide_hot_key_address(TIDE_HOT_PERSON, &address);
    return *skip ? TIDE_OK : project_get(row, key, person, err);
}

/* Moves the person's CHANGED record to the row's ledger. Does nothing while changes_from is 0:
 * while a generation is built, and for records of the past. */
static tide_status note_change(struct project_row *row, const struct tide_hot_key *key,
                               struct tide_hot_person *person, struct tide_err *err)
{
    assert(key->bytes[0] == TIDE_HOT_PERSON);
    struct tide_hot_meta meta;
    struct tide_hot_address address;
    struct tide_hot_key at = tide_hot_key(TIDE_HOT_META);
    memcpy(&address, key->bytes + 1, sizeof address);
    tide_status status = project_get(row, &at, &meta, err);
    if (status != TIDE_OK || meta.changes_from == 0)
        return status;
    if (person->changed) {
        at = tide_hot_key_changed(person->changed, &address);
        status = project_drop(row, &at, err);
    }
    person->changed = row->ledger;
    at = tide_hot_key_changed(row->ledger, &address);
    const struct tide_hot_changed mark = { 0 };
    return status == TIDE_OK ? project_put(row, &at, &mark, err) : status;
}

static tide_status put_person(struct project_row *row, const struct tide_hot_key *key,
                              struct tide_hot_person *person, struct tide_err *err)
{
    tide_status status = note_change(row, key, person, err);
    if (status != TIDE_OK)
        return status;
    if (!person->recorded && !person->frozen && !person->whitelisted)
        return project_drop(row, key, err);
    return project_put(row, key, person, err);
}

static tide_status apply_rec(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_person person;
    bool skip;
    tide_status status = begin_person(row, &key, &person, &skip, err);
    if (status != TIDE_OK || skip)
        return status;
    struct tide_hot_person now = { .frozen = person.frozen,
                                   .whitelisted = person.whitelisted,
                                   .changed = person.changed };
    if (!row->removed) {
        now.recorded = 1;
        now.ledger = row->ledger;
        now.status = (uint32_t)project_u64(row, 1);
        now.jurisdiction = (uint32_t)project_u64(row, 2);
        now.expires_at = project_u64(row, 3);
        now.updated_at = project_u64(row, 4);
        now.provider = project_address(row, 5);
        now.reason = project_symbol(row, 6);
    }
    return put_person(row, &key, &now, err);
}

static tide_status apply_frozen(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_person person;
    bool skip;
    tide_status status = begin_person(row, &key, &person, &skip, err);
    person.frozen = !row->removed;
    return status != TIDE_OK || skip ? status : put_person(row, &key, &person, err);
}

static tide_status apply_whitelist(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_person person;
    bool skip;
    tide_status status = begin_person(row, &key, &person, &skip, err);
    person.whitelisted = !row->removed;
    return status != TIDE_OK || skip ? status : put_person(row, &key, &person, err);
}

/* --- marks: present or not --------------------------------------------------------- */

static tide_status put_mark(struct project_row *row, const struct tide_hot_key *key,
                            struct tide_err *err)
{
    struct tide_hot_verifier record = { .ledger = row->ledger };
    _Static_assert(sizeof(struct tide_hot_verifier) == sizeof(struct tide_hot_provider) &&
                       sizeof(struct tide_hot_verifier) == sizeof(struct tide_hot_collateral) &&
                       sizeof(struct tide_hot_verifier) == sizeof(struct tide_hot_blocked),
                   "marks are alike");
    return row->removed ? project_drop(row, key, err) : project_put(row, key, &record, err);
}

static tide_status mark_address(struct project_row *row, enum tide_hot_kind kind,
                                struct tide_err *err)
{
    assert(kind == TIDE_HOT_VERIFIER || kind == TIDE_HOT_PROVIDER || kind == TIDE_HOT_COLLATERAL);
    struct tide_hot_address address = project_address(row, 0);
    struct tide_hot_key key = tide_hot_key_address(kind, &address);
    return address.kind ? put_mark(row, &key, err) : TIDE_OK;
}

static tide_status apply_verifier(struct project_row *row, struct tide_err *err)
{
    return mark_address(row, TIDE_HOT_VERIFIER, err);
}

static tide_status apply_provider(struct project_row *row, struct tide_err *err)
{
    return mark_address(row, TIDE_HOT_PROVIDER, err);
}

static tide_status apply_collateral(struct project_row *row, struct tide_err *err)
{
    return mark_address(row, TIDE_HOT_COLLATERAL, err);
}

static tide_status apply_blocked(struct project_row *row, struct tide_err *err)
{
    uint32_t code = (uint32_t)project_u64(row, 0);
    struct tide_hot_key key = tide_hot_key_u32(TIDE_HOT_BLOCKED, code);
    tide_status status = put_mark(row, &key, err);
    if (status != TIDE_OK)
        return status;
    struct tide_hot_meta meta;
    key = tide_hot_key(TIDE_HOT_META);
    status = project_get(row, &key, &meta, err);
    uint8_t bit = (uint8_t)(1u << code % 8);
    if (meta.changes_from)
        meta.blocked_at = row->ledger;
    if (code < TIDE_HOT_CODES && row->removed)
        meta.blocked[code / 8] &= (uint8_t)~bit;
    else if (code < TIDE_HOT_CODES)
        meta.blocked[code / 8] |= bit;
    return status == TIDE_OK ? project_put(row, &key, &meta, err) : status;
}

/* --- markets, vaults, prices, partners ------------------------------------------------------ */

static tide_status get_market(struct project_row *row, struct tide_hot_key *key,
                              struct tide_hot_market *market, struct tide_err *err)
{
    struct tide_hot_symbol symbol = project_symbol(row, 0);
    *key = tide_hot_key_symbol(TIDE_HOT_MARKET, &symbol);
    tide_status status = project_get(row, key, market, err);
    market->symbol = symbol;
    return status;
}

/* Stores the market, or drops a record that says nothing: a new cache has none either. */
static tide_status put_market(struct project_row *row, const struct tide_hot_key *key,
                              const struct tide_hot_market *market, struct tide_err *err)
{
    bool empty = !market->listed && market->vaults == 0 && market->indebted == 0 &&
                 tide_hot_i128(market->collateral) == 0 && tide_hot_i128(market->debt_total) == 0;
    return empty ? project_drop(row, key, err) : project_put(row, key, market, err);
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

static tide_status apply_market(struct project_row *row, struct tide_err *err)
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

static tide_status apply_debt(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_market market;
    tide_status status = get_market(row, &key, &market, err);
    market.debt_total = row->removed ? (struct tide_hot_amount){ 0 } : project_amount(row, 1);
    return status == TIDE_OK ? put_market(row, &key, &market, err) : status;
}

/* Adds a vault's collateral to a sum, or subtracts it. The sums wrap, so an overflow is undone when
 * the vault is subtracted. */
static void add_collateral(struct tide_hot_amount *sum, const struct tide_hot_vault *vault, bool in)
{
    tide_raw_u128 held = (tide_raw_u128)tide_hot_i128(*sum);
    tide_raw_u128 own = (tide_raw_u128)tide_hot_i128(vault->collateral);
    *sum = tide_hot_amount((tide_raw_i128)(in ? held + own : held - own));
}

/* Adds the vault to the sums of its market and of its collateral's token there, or subtracts it. */
static tide_status count_vault(struct project_row *row, struct tide_hot_market *market,
                               const struct tide_hot_vault *vault, bool in, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key_held(&market->symbol, &vault->collateral_token);
    struct tide_hot_held held;
    bool owes = tide_hot_i128(vault->debt) > 0;
    add_collateral(&market->collateral, vault, in);
    market->vaults += in ? 1 : -(uint64_t)1;
    market->indebted += in ? owes : -(uint64_t)owes;
    tide_status status = project_get(row, &key, &held, err);
    if (status != TIDE_OK)
        return status;
    add_collateral(&held.collateral, vault, in);
    held.vaults += in ? 1 : -(uint64_t)1;
    return held.vaults ? project_put(row, &key, &held, err) : project_drop(row, &key, err);
}

static tide_status apply_vault(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_market market;
    struct tide_hot_vault vault;
    struct tide_hot_address owner = project_address(row, 1);
    tide_status status = get_market(row, &key, &market, err);
    if (status != TIDE_OK || owner.kind == 0)
        return status;
    struct tide_hot_key own = tide_hot_key_vault(&market.symbol, &owner);
    status = project_get(row, &own, &vault, err);
    if (status != TIDE_OK)
        return status;
    if (vault.ledger) /* the cache has that vault */
        status = count_vault(row, &market, &vault, false, err);
    if (status != TIDE_OK)
        return status;
    if (row->removed) {
        status = project_drop(row, &own, err);
    } else {
        vault = (struct tide_hot_vault){ .ledger = row->ledger,
                                         .collateral_token = project_address(row, 2),
                                         .collateral = project_amount(row, 3),
                                         .debt = project_amount(row, 4),
                                         .opened_at = project_u64(row, 5),
                                         .last_update = project_u64(row, 6) };
        status = count_vault(row, &market, &vault, true, err);
        if (status == TIDE_OK)
            status = project_put(row, &own, &vault, err);
    }
    return status == TIDE_OK ? put_market(row, &key, &market, err) : status;
}

static tide_status apply_feed(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_symbol asset = project_symbol(row, 0);
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_FEED, &asset);
    if (row->removed)
        return project_drop(row, &key, err);
    struct tide_hot_feed feed = { .ledger = row->ledger,
                                  .latest_price = project_amount(row, 1),
                                  .latest_ts = project_u64(row, 2),
                                  .twap_price = project_amount(row, 3),
                                  .twap_ts = project_u64(row, 4),
                                  .observations = (uint32_t)project_u64(row, 5) };
    return project_put(row, &key, &feed, err);
}

static tide_status apply_partner(struct project_row *row, struct tide_err *err)
{
    uint32_t id = (uint32_t)project_u64(row, 0);
    struct tide_hot_key key = tide_hot_key_u32(TIDE_HOT_PARTNER, id);
    if (row->removed)
        return project_drop(row, &key, err);
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
    return project_put(row, &key, &partner, err);
}

static tide_status apply_catalog(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_symbol symbol = project_symbol(row, 0);
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_CATALOG, &symbol);
    if (row->removed)
        return project_drop(row, &key, err);
    struct tide_hot_catalog catalog = { .ledger = row->ledger,
                                        .symbol = symbol,
                                        .partner_id = (uint32_t)project_u64(row, 1),
                                        .live = project_bool(row, 2),
                                        .token = project_address(row, 3),
                                        .oracle_symbol = project_symbol(row, 4),
                                        .debt_ceiling = project_amount(row, 5),
                                        .deployed_at = project_u64(row, 6) };
    return project_put(row, &key, &catalog, err);
}

/* --- settings that live in the one record of the cache itself -------------------- */

static tide_status get_meta(struct project_row *row, struct tide_hot_meta *meta,
                            struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    return project_get(row, &key, meta, err);
}

static tide_status put_meta(struct project_row *row, tide_status status,
                            const struct tide_hot_meta *meta, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    return status == TIDE_OK ? project_put(row, &key, meta, err) : status;
}

static tide_status apply_registry(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_meta meta;
    tide_status status = get_meta(row, &meta, err);
    meta.canonical_verifier = project_address(row, 0);
    meta.travel_rule_count = project_u64(row, 1);
    return put_meta(row, status, &meta, err);
}

static tide_status apply_pools(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_meta meta;
    tide_status status = get_meta(row, &meta, err);
    meta.protocol_fee = project_amount(row, 0);
    return put_meta(row, status, &meta, err);
}

static tide_status apply_engine(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_meta meta;
    tide_status status = get_meta(row, &meta, err);
    meta.engine_paused = project_bool(row, 0);
    return put_meta(row, status, &meta, err);
}

static tide_status apply_earnings(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_meta meta;
    tide_status status = get_meta(row, &meta, err);
    meta.epoch = project_u64(row, 0);
    return put_meta(row, status, &meta, err);
}

static tide_status apply_governance(struct project_row *row, struct tide_err *err)
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
    if (!tide_hot_address_parse(&address, row->contract))
        return tide_fail(err, TIDE_E_SCHEMA, "contract \"%.*s\"", TIDE_SLICE_FMT(row->contract));
    *key = tide_hot_key_address(TIDE_HOT_CONTRACT, &address);
    tide_status status = project_get(row, key, contract, err);
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
    return empty ? project_drop(row, key, err) : project_put(row, key, contract, err);
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

static tide_status apply_token(struct project_row *row, struct tide_err *err)
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

static tide_status apply_asset(struct project_row *row, struct tide_err *err)
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

/* --- all sources ---------------------------------------------------------------------------- */

#define TIDE_SOURCE(id, apply, schema, table, columns) [PROJECT_##id] = { #table, apply_##apply },
const struct project_source project_sources[PROJECT_SOURCE_COUNT] = {
#include "tidemark/project_source.def"
};

void project_sql_begin(struct tide_buf *sql)
{
    tide_buf_reset(sql);
    tide_buf_str(sql, project_bound);
}

const char *project_sql_text(struct tide_buf *sql, struct tide_err *err)
{
    tide_buf_u8(sql, 0);
    if (!sql->failed)
        return (const char *)sql->ptr;
    tide_fail(err, TIDE_E_MEMORY, "statement");
    return NULL;
}

tide_status project_apply(enum project_source_id source, struct project_row *row,
                          struct tide_err *err)
{
    assert(source < PROJECT_SOURCE_COUNT && project_sources[source].apply);
    assert(row->sink && row->rows);
    tide_status status = project_sources[source].apply(row, err);
    if (status == TIDE_OK && row->bad)
        status = tide_fail(err, TIDE_E_SCHEMA, "%s: a value of ledger %u does not fit",
                           project_sources[source].name, row->ledger);
    return status;
}

tide_status project_apply_row(struct tide_hot_sink *sink, const struct tide_pg_rows *rows,
                              uint32_t at, struct tide_err *err)
{
    uint64_t source = tide_pg_u64(rows, at, PROJECT_ROW_SOURCE);
    struct project_row row = { .sink = sink,
                               .rows = rows,
                               .at = at,
                               .first = PROJECT_ROW_VALUES,
                               .removed = tide_pg_bool(rows, at, PROJECT_ROW_REMOVED),
                               .ledger = (uint32_t)tide_pg_u64(rows, at, PROJECT_ROW_LEDGER),
                               .close_time = tide_pg_u64(rows, at, PROJECT_ROW_TIME),
                               .contract = tide_pg_slice(rows, at, PROJECT_ROW_CONTRACT) };
    assert(source < PROJECT_SOURCE_COUNT);
    return project_apply((enum project_source_id)source, &row, err);
}
