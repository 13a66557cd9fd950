/* A synthetic asset: a SEP-41 token that only the engine mints. */
#include "tools/sim/host/host.h"

#define EV(id) SIM_EVENT(synth_token, id)
#define EN(id) SIM_ENTRY(synth_token, id)
#define ID(id) TIDE_EN_synth_token_##id

static struct sim_key balance_key(struct sim_host *h, sim_val party)
{
    return sim_key(h, EN(balance), SIM_VALS(party));
}

#define SIM_LIFE_MAX 3110399u /* ledgers: the longest life that the network permits */

/* Returns the key of an allowance, which is a temporary entry: it ends with its life. */
static struct sim_key allowance_key(struct sim_host *h, sim_val from, sim_val spender)
{
    return sim_key_temporary(h, EN(allowance), SIM_VALS(from, spender));
}

static struct sim_key supply_key(struct sim_host *h)
{
    return sim_key(h, EN(total_supply), SIM_NONE);
}

/* Returns true if the account is frozen. */
static bool is_frozen(struct sim_host *h, sim_val party)
{
    const sim_val *flag = sim_get(h, sim_key(h, EN(frozen_account), SIM_VALS(party)));
    return flag && flag->b;
}

static void require_running(struct sim_host *h)
{
    sim_require(h, !sim_slot_bool(h, "PAUSED"), "token is paused");
}

/* Refuses for a frozen account. */
static void require_free(struct sim_host *h, sim_val party)
{
    sim_require(h, !is_frozen(h, party), "account is frozen");
}

static void require_positive(struct sim_host *h, sim_amount amount)
{
    sim_require(h, amount > 0, "amount must be positive");
}

/* Lowers a balance; refuses if it is too small. */
static void take_balance(struct sim_host *h, sim_val from, sim_amount amount)
{
    struct sim_key key = balance_key(h, from);
    sim_amount held = sim_get_i128(h, key);
    sim_require(h, held >= amount, "insufficient balance");
    sim_put(h, key, sim_i128(sim_sub(h, held, amount)));
}

/* Raises a balance. */
static void give_balance(struct sim_host *h, sim_val to, sim_amount amount)
{
    sim_raise(h, balance_key(h, to), amount);
}

static void change_supply(struct sim_host *h, sim_amount by)
{
    sim_raise(h, supply_key(h), by);
}

/* Lowers an allowance; refuses if it is too small. */
static void spend_allowance(struct sim_host *h, sim_val from, sim_val spender, sim_amount amount)
{
    struct sim_key key = allowance_key(h, from, spender);
    sim_amount allowed = sim_get_i128(h, key);
    sim_require(h, allowed >= amount, "insufficient allowance");
    sim_put(h, key, sim_i128(sim_sub(h, allowed, amount)));
}

/* args: admin, minter, name, symbol, decimals. The published contract asks for no authorisation
 * here. */
static void initialize(struct sim_host *h, const sim_val *args)
{
    sim_require(h, !sim_slot(h, "ADMIN"), "already initialized");
    sim_slots_put(h, SIM_NAMES("ADMIN", "MINTER", "NAME", "SYMBOL", "DECIMALS"), args);
    sim_slot_put(h, "PAUSED", sim_bool(false));
    sim_put(h, supply_key(h), sim_i128(0));
}

/* Checks that transfer and transfer_from have in common. */
static void check_transfer(struct sim_host *h, sim_val from, sim_val to, sim_amount amount)
{
    require_running(h);
    require_free(h, from);
    require_free(h, to);
    require_positive(h, amount);
}

/* Libraries whose events a token emits; the first are the protocol's own. */
enum { FORMS_PROTOCOL, FORMS_SDK_22, FORMS_SDK_23, FORMS_OPENZEPPELIN };

/* Forms of the events in the catalogue. */
enum { FORM_MAP, FORM_VALUE };
enum { APPROVE_MAP, APPROVE_LIVE_UNTIL, APPROVE_VEC };

/* A token of soroban-sdk 23 also names an asset here, as SEP-41 allows. */
static sim_val asset_topic(void)
{
    return sim_string(TIDE_SLICE("native"));
}

/* Emits an event with an amount. admin and to may be void: the event then has no such topic. Of
 * every four transfers to a multiplexed receiver, one has each type of id. */
static void announce(struct sim_host *h, enum tide_event_id id, uint32_t form,
                     const struct sim_field *parties, uint32_t count, sim_val amount, bool muxed)
{
    struct sim_field values[8];
    uint32_t filled = 0;
    assert(count + 3 <= TIDE_COUNT(values));
    for (uint32_t i = 0; i < count; i++)
        values[filled++] = parties[i];
    values[filled++] = (struct sim_field){ "amount", amount };
    if (h->self->forms == FORMS_SDK_23)
        values[filled++] = (struct sim_field){ "asset", asset_topic() };
    if (muxed) {
        const sim_val ids[] = { sim_u64(UINT64_MAX), sim_void(), sim_string(TIDE_SLICE("rent 7")),
                                sim_bytes(TIDE_SLICE("\1\2\xff")) };
        values[filled++] =
            (struct sim_field){ "to_muxed_id", ids[(uint64_t)amount.i128 % TIDE_COUNT(ids)] };
    }
    sim_emit_form(h, id, form, values, filled);
}

/* Returns whether the receiver of this amount counts as multiplexed: one in three. */
static bool is_muxed(const struct sim_host *h, sim_amount amount)
{
    return h->self->forms >= FORMS_SDK_23 && amount % 3 == 0;
}

static void announce_transfer(struct sim_host *h, sim_val from, sim_val to, sim_amount amount)
{
    bool muxed = is_muxed(h, amount);
    uint32_t form = h->self->forms == FORMS_PROTOCOL || muxed ? FORM_MAP : FORM_VALUE;
    announce(h, TIDE_EV_synth_token_transfer, form,
             SIM_FIELDS({ "from_address", from }, { "to_address", to }), sim_i128(amount), muxed);
}

static void announce_approval(struct sim_host *h, const sim_val *args)
{
    static const uint32_t forms[] = { APPROVE_MAP, APPROVE_VEC, APPROVE_VEC, APPROVE_LIVE_UNTIL };
    announce(h, TIDE_EV_synth_token_approve, forms[h->self->forms],
             SIM_FIELDS({ "from_address", args[0] }, { "spender", args[1] },
                        { "expiration_ledger", args[3] }),
             args[2], false);
}

static void announce_mint(struct sim_host *h, sim_val to, sim_amount amount)
{
    bool admin = h->self->forms == FORMS_SDK_22, muxed = is_muxed(h, amount);
    bool map = h->self->forms == FORMS_PROTOCOL || h->self->forms == FORMS_OPENZEPPELIN || muxed;
    announce(h, TIDE_EV_synth_token_mint, map ? FORM_MAP : FORM_VALUE,
             (const struct sim_field[]){ { "to_address", to },
                                         { "admin", sim_address(h->self->address) } },
             1 + admin, sim_i128(amount), muxed);
}

static void announce_burn(struct sim_host *h, sim_val from, sim_amount amount)
{
    bool map = h->self->forms == FORMS_PROTOCOL || h->self->forms == FORMS_OPENZEPPELIN;
    announce(h, TIDE_EV_synth_token_burn, map ? FORM_MAP : FORM_VALUE,
             SIM_FIELDS({ "from_address", from }), sim_i128(amount), false);
}

/* args: receiver, holder, amount. Other tokens name no receiver; the oldest name the administrator. */
static void announce_clawback(struct sim_host *h, const sim_val *args)
{
    bool own = h->self->forms == FORMS_PROTOCOL, admin = h->self->forms == FORMS_SDK_22;
    announce(h, TIDE_EV_synth_token_clawback, own ? FORM_MAP : FORM_VALUE,
             (const struct sim_field[]){ { "from_address", args[1] },
                                         { own ? "to_address" : "admin", args[0] } },
             1 + (own || admin), args[2], false);
}

/* Moves an amount and announces the transfer. */
static void move_balance(struct sim_host *h, sim_val from, sim_val to, sim_amount amount)
{
    take_balance(h, from, amount);
    give_balance(h, to, amount);
    announce_transfer(h, from, to, amount);
}

/* args: sender, recipient, amount */
static void transfer(struct sim_host *h, const sim_val *args)
{
    check_transfer(h, args[0], args[1], args[2].i128);
    move_balance(h, args[0], args[1], args[2].i128);
}

/* args: spender, sender, recipient, amount */
static void transfer_from(struct sim_host *h, const sim_val *args)
{
    check_transfer(h, args[1], args[2], args[3].i128);
    spend_allowance(h, args[1], args[0], args[3].i128);
    move_balance(h, args[1], args[2], args[3].i128);
}

/* Extends an allowance's life. The published contract passes the expiration ledger as a length of
 * life. The host refuses a length above SIM_LIFE_MAX. A shorter one extends the life only in the
 * entry's last ledger, because the threshold is 0. */
static void extend_allowance(struct sim_host *h, struct sim_key key, uint32_t by)
{
    sim_require(h, by <= SIM_LIFE_MAX, "extension past the longest life");
    sim_extend(h, key, 0, by);
}

/* args: owner, spender, amount, expiration ledger */
static void approve(struct sim_host *h, const sim_val *args)
{
    sim_require(h, args[2].i128 >= 0, "amount must not be negative");
    sim_require(h, args[3].u32 >= h->seq, "expiration is in the past");
    struct sim_key key = allowance_key(h, args[0], args[1]);
    sim_put(h, key, args[2]);
    extend_allowance(h, key, args[3].u32);
    announce_approval(h, args);
}

/* args: recipient, amount */
static void mint(struct sim_host *h, const sim_val *args)
{
    require_running(h);
    require_free(h, args[0]);
    require_positive(h, args[1].i128);
    give_balance(h, args[0], args[1].i128);
    change_supply(h, args[1].i128);
    announce_mint(h, args[0], args[1].i128);
}

/* Lowers a balance and the supply, and announces the burning. */
static void destroy_balance(struct sim_host *h, sim_val from, sim_amount amount)
{
    take_balance(h, from, amount);
    change_supply(h, sim_sub(h, 0, amount));
    announce_burn(h, from, amount);
}

/* args: owner, amount. A frozen account may burn. */
static void burn(struct sim_host *h, const sim_val *args)
{
    require_running(h);
    require_positive(h, args[1].i128);
    destroy_balance(h, args[0], args[1].i128);
}

/* args: spender, owner, amount. Neither the pause, nor a freeze, nor the sign of the amount is
 * checked, as published. */
static void burn_from(struct sim_host *h, const sim_val *args)
{
    spend_allowance(h, args[1], args[0], args[2].i128);
    destroy_balance(h, args[1], args[2].i128);
}

/* args: admin, account, frozen */
static void set_frozen(struct sim_host *h, const sim_val *args)
{
    sim_put(h, sim_key(h, EN(frozen_account), SIM_VALS(args[1])), args[2]);
    sim_emit(h, EV(freeze), SIM_VALS(args[1]), SIM_FIELDS({ "frozen", args[2] }));
}

/* args: admin, account, amount. The admin receives the amount. */
static void clawback(struct sim_host *h, const sim_val *args)
{
    sim_require(h, is_frozen(h, args[1]), "account must be frozen");
    take_balance(h, args[1], args[2].i128);
    give_balance(h, args[0], args[2].i128);
    announce_clawback(h, args);
}

/* --- reads ---------------------------------------------------------------------- */

/* args: owner, spender */
static sim_val allowance(struct sim_host *h, const sim_val *args)
{
    return sim_i128(sim_get_i128(h, allowance_key(h, args[0], args[1])));
}

static const struct sim_fn fns[] = {
    { "initialize", "aassu", SIM_FREE, .change = initialize },
    { "transfer", "aai", SIM_FIRST, .change = transfer },
    { "transfer_from", "aaai", SIM_FIRST, .change = transfer_from },
    { "approve", "aaiu", SIM_FIRST, .change = approve },
    { "mint", "ai", SIM_STORED("MINTER"), .change = mint },
    { "burn", "ai", SIM_FIRST, .change = burn },
    { "burn_from", "aai", SIM_FIRST, .change = burn_from },
    { "set_frozen", "aab", "ADMIN", .change = set_frozen },
    { "clawback", "aai", "ADMIN", .change = clawback },
    { "set_paused", "ab", "ADMIN", .set = "PAUSED" },
    { "upgrade", "ah", SIM_STORED("ADMIN"), .change = sim_upgrade_arg },
    { "balance", "a", SIM_FREE, .as = SIM_AS_I128, .entry = ID(balance) },
    { "allowance", "aa", SIM_FREE, .answer = allowance },
    { "total_supply", "", SIM_FREE, .as = SIM_AS_I128, .entry = ID(total_supply) },
    { "decimals", "", SIM_FREE, .slot = "DECIMALS" },
    { "name", "", SIM_FREE, .slot = "NAME" },
    { "symbol", "", SIM_FREE, .slot = "SYMBOL" },
    { 0 },
};

const struct sim_class sim_class_synth_token = { .role = TIDE_ROLE_synth_token, .fns = fns };
