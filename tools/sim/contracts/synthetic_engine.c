/* The engine of synthetic assets: vaults that hold collateral and owe synthetic tokens, and their
 * liquidation. */
#include "tools/sim/host/host.h"

#define EV(id) SIM_EVENT(synthetic_engine, id)
#define EN(id) SIM_ENTRY(synthetic_engine, id)
#define ID(id) TIDE_EN_synthetic_engine_##id

#define WAD             ((sim_amount)10000000) /* fixed point of prices */
#define BPS             10000                  /* basis points in one */
#define LIQ_PENALTY_MAX 2000                   /* basis points */
#define FEE_DIVISOR     1000000                /* the stability fee's divisor */

/* args: admin, oracle, compliance registry, earnings distributor, DAO */
static void initialize(struct sim_host *h, const sim_val *args)
{
    sim_slots_put(h, SIM_NAMES("ORACLE", "COMPL", "EARN", "DAO"), &args[1]);
    sim_slot_put(h, "PAUSED", sim_bool(false));
}

/* --- markets ---------------------------------------------------------------------- */

static struct sim_key config_key(struct sim_host *h, sim_val symbol)
{
    return sim_key(h, EN(asset_config), SIM_VALS(symbol));
}

/* args: DAO, symbol, token, oracle symbol, collateral's oracle symbol, minimum ratio, liquidation
 * ratio, penalty, fee, debt ceiling (ratios, penalty and fee in basis points) */
static void register_asset(struct sim_host *h, const sim_val *args)
{
    sim_require(h, args[5].i128 > args[6].i128, "min CR must exceed liquidation CR");
    sim_require(h, args[7].i128 <= LIQ_PENALTY_MAX, "liquidation penalty too high");
    sim_put(h, config_key(h, args[1]),
            sim_make(h, SIM_FIELDS({ "token", args[2] }, { "oracle_symbol", args[3] },
                                   { "coll_oracle_sym", args[4] }, { "min_coll_ratio", args[5] },
                                   { "liq_ratio", args[6] }, { "liq_penalty", args[7] },
                                   { "stab_fee_bps", args[8] }, { "debt_ceiling", args[9] },
                                   { "enabled", sim_bool(true) })));
    sim_emit(h, EV(market_created), SIM_VALS(args[1]),
             SIM_FIELDS({ "token", args[2] }, { "oracle_symbol", args[3] },
                        { "coll_oracle_symbol", args[4] }, { "min_coll_ratio", args[5] },
                        { "liq_ratio", args[6] }, { "liq_penalty", args[7] },
                        { "stab_fee_bps", args[8] }, { "debt_ceiling", args[9] }));
}

/* Returns the key that marks a token as allowed collateral. */
static struct sim_key collateral_key(struct sim_host *h, sim_val token)
{
    return sim_key(h, EN(collateral_allowed), SIM_VALS(token));
}

/* args: DAO, token, allowed */
static void set_collateral_allowed(struct sim_host *h, const sim_val *args)
{
    sim_put_flag(h, collateral_key(h, args[1]), args[2].b);
}

/* Sets a field of an asset's configuration. args: DAO, symbol, value */
static void change_config(struct sim_host *h, const sim_val *args, const char *field)
{
    const sim_val *config = sim_get_needed(h, config_key(h, args[1]), "asset not configured");
    sim_set(config, field, args[2]);
    sim_put(h, config_key(h, args[1]), *config);
}

/* args: DAO, symbol, enabled */
static void set_asset_enabled(struct sim_host *h, const sim_val *args)
{
    change_config(h, args, "enabled");
}

/* args: DAO, symbol, debt ceiling */
static void set_debt_ceiling(struct sim_host *h, const sim_val *args)
{
    change_config(h, args, "debt_ceiling");
}

/* --- shared by the vault functions ------------------------------------------------- */

static void require_running(struct sim_host *h)
{
    sim_require(h, !sim_slot_bool(h, "PAUSED"), "protocol is paused");
}

static void require_positive(struct sim_host *h, sim_amount amount)
{
    sim_require(h, amount > 0, "amount must be positive");
}

/* Asks the registry about the owner as sender and recipient: the asset's rules apply to minting
 * too. */
static void assert_transfer(struct sim_host *h, sim_val owner, sim_val synth, sim_amount amount)
{
    sim_call(h, sim_slot_addr(h, "COMPL"), "assert_transfer_allowed",
             SIM_VALS(sim_address(sim_self(h)), owner, owner, synth, sim_i128(amount)));
}

static struct sim_key vault_key(struct sim_host *h, sim_val owner, sim_val synth)
{
    return sim_key(h, EN(vault), SIM_VALS(owner, synth));
}

/* Returns a vault; refuses if there is none. */
static const sim_val *vault_of(struct sim_host *h, sim_val owner, sim_val synth)
{
    return sim_get_needed(h, vault_key(h, owner, synth), "vault not found — open one first");
}

/* Returns an asset's configuration; refuses if there is none. */
static const sim_val *config_of(struct sim_host *h, sim_val synth)
{
    return sim_get_needed(h, config_key(h, synth), "synth asset not registered");
}

/* Stamps and stores a vault. */
static void put_vault(struct sim_host *h, const sim_val *vault)
{
    sim_set(vault, "last_update", sim_u64(h->now));
    sim_put(h, vault_key(h, *sim_field(vault, "owner"), *sim_field(vault, "synth_asset")), *vault);
}

/* Returns the TWAP of the symbol that the field names. */
static sim_amount twap_of(struct sim_host *h, const sim_val *config, const char *symbol_field)
{
    sim_val symbol = *sim_field(config, symbol_field);
    return sim_call(h, sim_slot_addr(h, "ORACLE"), "get_twap", SIM_VALS(symbol)).i128;
}

/* Refuses unless the collateral is worth enough. Large values saturate instead of overflowing, as
 * published. */
static void check_ratio(struct sim_host *h, const sim_val *config, sim_amount collateral,
                        sim_amount debt)
{
    sim_amount coll_price = twap_of(h, config, "coll_oracle_sym");
    sim_amount synth_price = twap_of(h, config, "oracle_symbol");
    sim_amount have = sim_sat_mul(sim_sat_mul(collateral, coll_price), BPS);
    sim_amount need =
        sim_sat_mul(sim_sat_mul(debt, synth_price), sim_field_i128(config, "min_coll_ratio"));
    sim_require(h, have >= need, "collateral ratio too low");
}

/* Returns the key of an asset's total debt. */
static struct sim_key debt_key(struct sim_host *h, sim_val synth)
{
    return sim_key(h, EN(debt_total), SIM_VALS(synth));
}

/* Lowers an asset's total debt, to 0 at the least. */
static void lower_debt_total(struct sim_host *h, sim_val synth, sim_amount by)
{
    sim_amount left = sim_sub(h, sim_get_i128(h, debt_key(h, synth)), by);
    sim_put(h, debt_key(h, synth), sim_i128(sim_max(left, 0)));
}

/* Emits an event of a vault. args: owner, synthetic asset */
static void emit_amount(struct sim_host *h, const char *name, const sim_val *args,
                        sim_amount amount)
{
    sim_emit(h, name, SIM_VALS(args[0]),
             SIM_FIELDS({ "synth_asset", args[1] }, { "amount", sim_i128(amount) }));
}

/* --- vaults ------------------------------------------------------------------------------- */

/* Checks of open_vault, with its args. */
static void check_open(struct sim_host *h, const sim_val *args)
{
    require_running(h);
    sim_assert_compliant(h, args[0].addr);
    assert_transfer(h, args[0], args[1], 0);
    sim_require(h, sim_has(h, collateral_key(h, args[2])), "collateral not allowed");
    const sim_val *config = config_of(h, args[1]);
    sim_require(h, sim_field_bool(config, "enabled"), "synth asset is disabled");
    sim_require(h, !sim_has(h, vault_key(h, args[0], args[1])),
                "vault already open — use deposit_collateral");
    require_positive(h, args[3].i128);
}

/* args: owner, synthetic asset, collateral's token, collateral */
static void open_vault(struct sim_host *h, const sim_val *args)
{
    check_open(h, args);
    sim_transfer(h, args[2].addr, args[0].addr, sim_self(h), args[3].i128);
    sim_val vault =
        sim_make(h, SIM_FIELDS({ "owner", args[0] }, { "collateral", args[3] },
                               { "collateral_tok", args[2] }, { "synth_asset", args[1] },
                               { "debt", sim_i128(0) }, { "opened_at", sim_u64(h->now) },
                               { "last_update", sim_u64(h->now) }));
    put_vault(h, &vault);
    /* A vault that is closed stays listed, as published. */
    sim_append(h, sim_key(h, EN(vaults_by_owner), SIM_VALS(args[0])), args[1]);
    sim_emit(h, EV(open), SIM_VALS(args[0]),
             SIM_FIELDS({ "synth_asset", args[1] }, { "collateral_token", args[2] },
                        { "collateral_amount", args[3] }));
}

/* args: owner, synthetic asset, amount */
static void deposit_collateral(struct sim_host *h, const sim_val *args)
{
    require_running(h);
    sim_assert_compliant(h, args[0].addr);
    require_positive(h, args[2].i128);
    const sim_val *vault = vault_of(h, args[0], args[1]);
    sim_transfer(h, sim_field_addr(vault, "collateral_tok"), args[0].addr, sim_self(h),
                 args[2].i128);
    sim_bump(h, vault, "collateral", args[2].i128);
    put_vault(h, vault);
    emit_amount(h, EV(deposit), args, args[2].i128);
}

/* Burns the stability fee from the owner's new tokens and reports it as revenue. receive_revenue
 * then transfers the fee from this contract, which holds none of it unless tokens were sent here
 * before. */
static void charge_fee(struct sim_host *h, const sim_val *config, sim_val owner, sim_amount amount)
{
    sim_amount rate = sim_field_i128(config, "stab_fee_bps");
    sim_amount fee = sim_sat_mul(amount, rate) / FEE_DIVISOR;
    if (fee <= 0)
        return;
    sim_val token = *sim_field(config, "token");
    sim_call(h, token.addr, "burn", SIM_VALS(owner, sim_i128(fee)));
    const sim_val *earnings = sim_slot(h, "EARN");
    if (!earnings)
        return;
    sim_call(
        h, earnings->addr, "receive_revenue",
        SIM_VALS(sim_address(sim_self(h)), token, sim_i128(fee), sim_sym("stabfee"), sim_u32(0)));
}

/* args: owner, synthetic asset, amount */
static void mint_synth(struct sim_host *h, const sim_val *args)
{
    sim_amount amount = args[2].i128;
    require_running(h);
    require_positive(h, amount);
    sim_assert_compliant(h, args[0].addr);
    assert_transfer(h, args[0], args[1], amount);
    const sim_val *vault = vault_of(h, args[0], args[1]);
    const sim_val *config = config_of(h, args[1]);
    sim_require(h, sim_field_bool(config, "enabled"), "synth asset is disabled");
    sim_amount total = sim_get_i128(h, debt_key(h, args[1]));
    sim_require(h, sim_sat_add(total, amount) <= sim_field_i128(config, "debt_ceiling"),
                "debt ceiling exceeded");
    sim_amount debt = sim_field_i128(vault, "debt");
    check_ratio(h, config, sim_field_i128(vault, "collateral"), sim_sat_add(debt, amount));
    sim_bump(h, vault, "debt", amount);
    put_vault(h, vault);
    sim_put(h, debt_key(h, args[1]), sim_i128(sim_add(h, total, amount)));
    sim_call(h, sim_field_addr(config, "token"), "mint", SIM_VALS(args[0], args[2]));
    charge_fee(h, config, args[0], amount);
    emit_amount(h, EV(mint), args, amount);
}

/* args: owner, synthetic asset, amount. More than the debt is not burnt. Works during a pause
 * too. */
static void burn_synth(struct sim_host *h, const sim_val *args)
{
    require_positive(h, args[2].i128);
    sim_assert_compliant(h, args[0].addr);
    const sim_val *vault = vault_of(h, args[0], args[1]);
    const sim_val *config = config_of(h, args[1]);
    sim_amount repaid = sim_min(args[2].i128, sim_field_i128(vault, "debt"));
    sim_call(h, sim_field_addr(config, "token"), "burn", SIM_VALS(args[0], sim_i128(repaid)));
    sim_bump(h, vault, "debt", -repaid);
    put_vault(h, vault);
    lower_debt_total(h, args[1], repaid);
    emit_amount(h, EV(burn), args, repaid);
}

/* args: owner, synthetic asset, amount */
static void withdraw_collateral(struct sim_host *h, const sim_val *args)
{
    sim_amount amount = args[2].i128;
    require_running(h);
    require_positive(h, amount);
    sim_assert_compliant(h, args[0].addr);
    const sim_val *vault = vault_of(h, args[0], args[1]);
    const sim_val *config = config_of(h, args[1]);
    sim_amount left = sim_sub(h, sim_field_i128(vault, "collateral"), amount);
    sim_require(h, left >= 0, "insufficient collateral");
    sim_amount debt = sim_field_i128(vault, "debt");
    if (debt > 0)
        check_ratio(h, config, left, debt);
    sim_set(vault, "collateral", sim_i128(left));
    put_vault(h, vault);
    sim_transfer(h, sim_field_addr(vault, "collateral_tok"), sim_self(h), args[0].addr, amount);
    emit_amount(h, EV(withdraw), args, amount);
}

/* --- liquidation ----------------------------------------------------------------------------- */

/* TWAPs of a vault's collateral and of its synthetic asset. */
struct prices {
    sim_amount collateral;
    sim_amount synth;
};

/* Reads the collateral's price first: the order of the calls shows in the footprint. */
static struct prices prices_of(struct sim_host *h, const sim_val *config)
{
    sim_amount collateral = twap_of(h, config, "coll_oracle_sym");
    return (struct prices){ collateral, twap_of(h, config, "oracle_symbol") };
}

/* Returns the debt's value at that price. */
static sim_amount debt_value(struct sim_host *h, const sim_val *vault, struct prices p)
{
    return sim_mul_div(h, sim_field_i128(vault, "debt"), p.synth, WAD);
}

/* Returns the value of the collateral in basis points of the debt's. The debt's value must not be
 * 0. */
static sim_amount ratio_bps(struct sim_host *h, const sim_val *vault, struct prices p)
{
    sim_amount have = sim_mul_div(h, sim_field_i128(vault, "collateral"), p.collateral, WAD);
    return sim_mul_div(h, have, BPS, debt_value(h, vault, p));
}

/* Returns the collateral for a repaid debt: its value and the penalty. */
static sim_amount award_of(struct sim_host *h, const sim_val *config, sim_amount repaid,
                           struct prices p)
{
    sim_amount value = sim_mul_div(h, repaid, p.synth, WAD);
    sim_amount penalty = sim_mul_div(h, value, sim_field_i128(config, "liq_penalty"), BPS);
    return sim_mul_div(h, sim_add(h, value, penalty), WAD, p.collateral);
}

/* Sends collateral that secures no debt any more to the stability pool, by a plain transfer: no
 * depositor gains it. */
static void settle_rest(struct sim_host *h, const sim_val *vault)
{
    sim_amount rest = sim_field_i128(vault, "collateral");
    if (sim_field_i128(vault, "debt") != 0 || rest <= 0)
        return;
    const sim_val *pool = sim_slot(h, "STABPOOL");
    if (pool)
        sim_transfer(h, sim_field_addr(vault, "collateral_tok"), sim_self(h), pool->addr, rest);
    sim_set(vault, "collateral", sim_i128(0));
}

/* Removes an empty vault, stores any other. args are those of liquidate. */
static void put_or_remove(struct sim_host *h, const sim_val *vault, const sim_val *args)
{
    if (sim_field_i128(vault, "debt") == 0 && sim_field_i128(vault, "collateral") == 0)
        sim_remove(h, vault_key(h, args[1], args[2]));
    else
        put_vault(h, vault);
}

/* args: liquidator, owner, synthetic asset, most debt to repay */
static void liquidate(struct sim_host *h, const sim_val *args)
{
    require_running(h);
    require_positive(h, args[3].i128);
    sim_assert_compliant(h, args[0].addr);
    const sim_val *vault = vault_of(h, args[1], args[2]);
    const sim_val *config = config_of(h, args[2]);
    struct prices p = prices_of(h, config);
    bool owes = debt_value(h, vault, p) > 0;
    sim_amount ratio = owes ? ratio_bps(h, vault, p) : SIM_I128_MAX;
    sim_require(h, ratio < sim_field_i128(config, "liq_ratio"), "vault is not undercollateralised");
    sim_amount repaid = sim_min(args[3].i128, sim_field_i128(vault, "debt"));
    sim_call(h, sim_field_addr(config, "token"), "burn", SIM_VALS(args[0], sim_i128(repaid)));
    sim_amount award = sim_min(award_of(h, config, repaid, p), sim_field_i128(vault, "collateral"));
    sim_transfer(h, sim_field_addr(vault, "collateral_tok"), sim_self(h), args[0].addr, award);
    sim_bump(h, vault, "collateral", -award);
    sim_bump(h, vault, "debt", -repaid);
    settle_rest(h, vault);
    put_or_remove(h, vault, args);
    lower_debt_total(h, args[2], repaid);
    sim_emit(h, EV(liquidate), SIM_VALS(args[1]),
             SIM_FIELDS({ "synth_asset", args[2] }, { "collateral_seized", sim_i128(award) }));
}

/* --- reads ----------------------------------------------------------------------------------- */

static sim_amount priced_ratio(struct sim_host *h, const sim_val *config, const sim_val *vault)
{
    return ratio_bps(h, vault, prices_of(h, config));
}

/* args: owner, synthetic asset */
static sim_val get_cr_bps(struct sim_host *h, const sim_val *args)
{
    const sim_val *vault = vault_of(h, args[0], args[1]);
    if (sim_field_i128(vault, "debt") == 0)
        return sim_i128(SIM_I128_MAX);
    return sim_i128(priced_ratio(h, config_of(h, args[1]), vault));
}

/* args: owner, synthetic asset */
static sim_val is_liquidatable(struct sim_host *h, const sim_val *args)
{
    const sim_val *vault = sim_get(h, vault_key(h, args[0], args[1]));
    if (!vault || sim_field_i128(vault, "debt") == 0)
        return sim_bool(false);
    const sim_val *config = config_of(h, args[1]);
    return sim_bool(priced_ratio(h, config, vault) < sim_field_i128(config, "liq_ratio"));
}

static const struct sim_fn fns[] = {
    { "initialize", "aaaaa", SIM_NEW, .change = initialize },
    { "register_asset", "ayayyiiiii", "DAO", .change = register_asset },
    { "set_collateral_allowed", "aab", "DAO", .change = set_collateral_allowed },
    { "set_asset_enabled", "ayb", "DAO", .change = set_asset_enabled },
    { "set_debt_ceiling", "ayi", "DAO", .change = set_debt_ceiling },
    { "set_stability_pool", "aa", "ADMIN", .set = "STABPOOL" },
    { "set_paused", "ab", "ADMIN", .set = "PAUSED" },
    { "open_vault", "ayai", SIM_FIRST, .change = open_vault },
    { "deposit_collateral", "ayi", SIM_FIRST, .change = deposit_collateral },
    { "mint_synth", "ayi", SIM_FIRST, .change = mint_synth },
    { "burn_synth", "ayi", SIM_FIRST, .change = burn_synth },
    { "withdraw_collateral", "ayi", SIM_FIRST, .change = withdraw_collateral },
    { "liquidate", "aayi", SIM_FIRST, .change = liquidate },
    { "upgrade", "ah", SIM_STORED("DAO"), .change = sim_upgrade_arg },
    { "get_cr_bps", "ay", SIM_FREE, .answer = get_cr_bps },
    { "is_liquidatable", "ay", SIM_FREE, .answer = is_liquidatable },
    { "get_debt_total", "y", SIM_FREE, .as = SIM_AS_I128, .entry = ID(debt_total) },
    { "get_asset_config", "y", SIM_FREE, .as = SIM_AS_OPTION, .entry = ID(asset_config) },
    { "get_vaults_by_owner", "a", SIM_FREE, .as = SIM_AS_LIST, .entry = ID(vaults_by_owner) },
    { "is_paused", "", SIM_FREE, .slot = "PAUSED" },
    { 0 },
};

const struct sim_class sim_class_synthetic_engine = { .role = TIDE_ROLE_synthetic_engine,
                                                      .fns = fns };
