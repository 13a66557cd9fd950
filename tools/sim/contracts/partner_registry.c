/* The registry of partners: their data, the assets that they deploy, their share of revenue. */
#include "tools/sim/host/host.h"

#define EV(id) SIM_EVENT(partner_registry, id)
#define EN(id) SIM_ENTRY(partner_registry, id)
#define ID(id) TIDE_EN_partner_registry_##id

#define SHARE_DEFAULT   5000 /* basis points of a payment */
#define SHARE_MAX       8000
#define LIQ_PENALTY_MAX 1500 /* basis points */
/* greatest debt ceiling of a partner's asset */
#define CEILING_MAX ((sim_amount)10000000000000)
#define FEE         ((sim_amount)10000000000) /* price of self-registration: 1 000 USDC */

/* args: admin, DAO, USDC, engine, earnings distributor */
static void initialize(struct sim_host *h, const sim_val *args)
{
    sim_slots_put(h, SIM_NAMES("DAO", "USDC", "ENGINE", "EARN"), &args[1]);
    sim_slot_put(h, "PCNT", sim_u32(0));
    sim_slot_put(h, "OPENREG", sim_bool(false));
}

/* Returns a partner; refuses if there is none. */
static const sim_val *partner_of(struct sim_host *h, sim_val id)
{
    return sim_get_needed(h, sim_key1(h, EN(partner), id), "partner not found");
}

static void put_partner(struct sim_host *h, const sim_val *partner)
{
    sim_put(h, sim_key1(h, EN(partner), *sim_field(partner, "id")), *partner);
}

/* Returns the partner of an owner; refuses if there is none or if it is inactive. */
static const sim_val *active_partner_of(struct sim_host *h, sim_val owner)
{
    const sim_val *id = sim_get_needed(h, sim_key1(h, EN(partner_by_owner), owner),
                                       "address is not a registered partner");
    const sim_val *partner = partner_of(h, *id);
    sim_require(h, sim_field_bool(partner, "active"), "partner is not active");
    return partner;
}

/* --- registration ----------------------------------------------------------------------- */

/* Numbers, stores and announces a partner. Each owner is one partner at most. */
static sim_val insert_partner(struct sim_host *h, sim_val owner, sim_val name)
{
    sim_require(h, !sim_has(h, sim_key1(h, EN(partner_by_owner), owner)),
                "address already registered as partner");
    sim_val id = sim_u32(sim_slot_u32(h, "PCNT"));
    sim_val zero = sim_i128(0);
    sim_val partner = sim_make(
        h, SIM_FIELDS({ "id", id }, { "owner", owner }, { "name", name },
                      { "revenue_share", sim_i128(SHARE_DEFAULT) }, { "pending_revenue", zero },
                      { "total_earned", zero }, { "total_volume", zero },
                      { "deployed_assets", sim_vec(&h->arena, SIM_NONE) },
                      { "active", sim_bool(true) }, { "registered_at", sim_u64(h->now) }));
    put_partner(h, &partner);
    sim_put(h, sim_key1(h, EN(partner_by_owner), owner), id);
    sim_slot_put(h, "PCNT", sim_u32(id.u32 + 1));
    sim_emit(h, EV(register), SIM_VALS(owner), SIM_FIELDS({ "id", id }));
    return id;
}

/* args: DAO, owner, name */
static sim_val register_partner(struct sim_host *h, const sim_val *args)
{
    return insert_partner(h, args[1], args[2]);
}

/* args: owner, name. The fee goes to the earnings distributor without a call: it counts to no
 * epoch. */
static sim_val self_register(struct sim_host *h, const sim_val *args)
{
    sim_require(h, sim_slot_bool(h, "OPENREG"), "self-registration is currently disabled");
    sim_transfer(h, sim_slot_addr(h, "USDC"), args[0].addr, sim_slot_addr(h, "EARN"), FEE);
    return insert_partner(h, args[0], args[1]);
}

/* args: owner, symbol, token, oracle symbol, collateral's oracle symbol, minimum ratio, liquidation
 * ratio, penalty, fee, debt ceiling. The asset is not live until the DAO activates it. */
static void register_partner_asset(struct sim_host *h, const sim_val *args)
{
    const sim_val *partner = active_partner_of(h, args[0]);
    sim_require(h, args[9].i128 <= CEILING_MAX, "debt ceiling too high");
    sim_require(h, args[5].i128 > args[6].i128, "min CR must exceed liquidation CR");
    sim_require(h, args[7].i128 <= LIQ_PENALTY_MAX, "liquidation penalty too high");
    sim_require(h, !sim_has(h, sim_key1(h, EN(partner_asset), args[1])),
                "asset already registered");
    sim_val id = *sim_field(partner, "id");
    sim_put(
        h, sim_key1(h, EN(partner_asset), args[1]),
        sim_make(h, SIM_FIELDS({ "symbol", args[1] }, { "token", args[2] }, { "partner_id", id },
                               { "oracle_symbol", args[3] }, { "debt_ceiling", args[9] },
                               { "live", sim_bool(false) }, { "deployed_at", sim_u64(h->now) })));
    sim_vec_push(&h->arena, sim_field(partner, "deployed_assets"), args[1]);
    put_partner(h, partner);
    sim_emit(h, EV(asset), SIM_VALS(args[0]),
             SIM_FIELDS({ "symbol", args[1] }, { "id", id }, { "token", args[2] }));
}

/* args: DAO, symbol */
static void activate_partner_asset(struct sim_host *h, const sim_val *args)
{
    const sim_val *asset =
        sim_get_needed(h, sim_key1(h, EN(partner_asset), args[1]), "partner asset not found");
    sim_require(h, !sim_field_bool(asset, "live"), "asset already live");
    sim_set(asset, "live", sim_bool(true));
    sim_put(h, sim_key1(h, EN(partner_asset), args[1]), *asset);
    sim_emit(h, EV(live), SIM_VALS(args[1]),
             SIM_FIELDS({ "partner_id", *sim_field(asset, "partner_id") }));
}

/* --- revenue ------------------------------------------------------------------------------- */

/* args: distributor, partner, amount, epoch. The distributor has transferred the amount before. */
static void credit_partner_revenue(struct sim_host *h, const sim_val *args)
{
    sim_amount amount = args[2].i128;
    sim_require(h, sim_addr_eq(args[0].addr, sim_slot_addr(h, "EARN")), "unauthorised");
    const sim_val *partner = partner_of(h, args[1]);
    sim_require(h, sim_field_bool(partner, "active"), "partner is not active");
    sim_bump(h, partner, "pending_revenue", amount);
    sim_bump(h, partner, "total_earned", amount);
    put_partner(h, partner);
    sim_raise(h, sim_key(h, EN(epoch_revenue), SIM_VALS(args[1], args[3])), amount);
    sim_emit(h, EV(forward), SIM_VALS(args[1]),
             SIM_FIELDS({ "amount", args[2] }, { "epoch", args[3] }));
}

/* args: owner. Pays all pending revenue. */
static sim_val claim_revenue(struct sim_host *h, const sim_val *args)
{
    const sim_val *partner = active_partner_of(h, args[0]);
    sim_val pending = *sim_field(partner, "pending_revenue");
    sim_require(h, pending.i128 > 0, "no revenue to claim");
    sim_set(partner, "pending_revenue", sim_i128(0));
    put_partner(h, partner);
    sim_transfer(h, sim_slot_addr(h, "USDC"), sim_self(h), args[0].addr, pending.i128);
    sim_emit(h, EV(claim), SIM_VALS(args[0]), SIM_FIELDS({ "claimable", pending }));
    return pending;
}

/* --- administration ------------------------------------------------------------------------- */

/* args: DAO, partner, basis points */
static void set_partner_share(struct sim_host *h, const sim_val *args)
{
    sim_require(h, args[2].i128 <= SHARE_MAX, "exceeds max 80%");
    const sim_val *partner = partner_of(h, args[1]);
    sim_set(partner, "revenue_share", args[2]);
    put_partner(h, partner);
}

/* Sets the flag of a partner. */
static void set_active(struct sim_host *h, sim_val id, bool active)
{
    const sim_val *partner = partner_of(h, id);
    sim_set(partner, "active", sim_bool(active));
    put_partner(h, partner);
}

/* args: DAO, partner */
static void deactivate_partner(struct sim_host *h, const sim_val *args)
{
    set_active(h, args[1], false);
    sim_emit(h, EV(deactivate), SIM_VALS(args[1]), SIM_NONE);
}

/* args: DAO, partner. The published contract emits no event here. */
static void reactivate_partner(struct sim_host *h, const sim_val *args)
{
    set_active(h, args[1], true);
}

/* --- reads ----------------------------------------------------------------------------------- */

/* args: partner */
static sim_val get_partner_assets(struct sim_host *h, const sim_val *args)
{
    return *sim_field(partner_of(h, args[0]), "deployed_assets");
}

/* args: partner. An unknown or inactive partner has share 0. */
static sim_val get_revenue_share(struct sim_host *h, const sim_val *args)
{
    const sim_val *partner = sim_get(h, sim_key1(h, EN(partner), args[0]));
    bool earns = partner && sim_field_bool(partner, "active");
    return sim_i128(earns ? sim_field_i128(partner, "revenue_share") : 0);
}

/* args: address */
static sim_val is_partner(struct sim_host *h, const sim_val *args)
{
    const sim_val *id = sim_get(h, sim_key1(h, EN(partner_by_owner), args[0]));
    const sim_val *partner = id ? sim_get(h, sim_key1(h, EN(partner), *id)) : NULL;
    return sim_bool(partner && sim_field_bool(partner, "active"));
}

static const struct sim_fn fns[] = {
    { "initialize", "aaaaa", SIM_NEW, .change = initialize },
    { "register_partner", "aas", SIM_STORED("DAO"), .answer = register_partner },
    { "dao_register_partner", "aas", SIM_STORED("DAO"), .answer = register_partner },
    { "self_register", "as", SIM_FIRST, .answer = self_register },
    { "register_partner_asset", "ayayyiiiii", SIM_FIRST, .change = register_partner_asset },
    { "activate_partner_asset", "ay", SIM_STORED("DAO"), .change = activate_partner_asset },
    { "credit_partner_revenue", "auiU", SIM_FIRST, .change = credit_partner_revenue },
    { "claim_revenue", "a", SIM_FIRST, .answer = claim_revenue },
    { "set_partner_share", "aui", SIM_STORED("DAO"), .change = set_partner_share },
    { "deactivate_partner", "au", SIM_STORED("DAO"), .change = deactivate_partner },
    { "reactivate_partner", "au", SIM_STORED("DAO"), .change = reactivate_partner },
    { "set_open_registration", "ab", SIM_STORED("DAO"), .set = "OPENREG" },
    { "upgrade", "ah", SIM_STORED("DAO"), .change = sim_upgrade_arg },
    { "get_partner", "u", SIM_FREE, .as = SIM_AS_OPTION, .entry = ID(partner) },
    { "get_partner_assets", "u", SIM_FREE, .answer = get_partner_assets },
    { "get_revenue_share", "u", SIM_FREE, .answer = get_revenue_share },
    { "is_partner", "a", SIM_FREE, .answer = is_partner },
    { 0 },
};

const struct sim_class sim_class_partner_registry = { .role = TIDE_ROLE_partner_registry,
                                                      .fns = fns };
