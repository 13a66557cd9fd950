/* The earnings distributor. Fees come in, partners receive their cut at once, the rest is split
 * when a week is over. */
#include "tools/sim/host/host.h"

#define EV(id) SIM_EVENT(earnings_distributor, id)
#define EN(id) SIM_ENTRY(earnings_distributor, id)
#define ID(id) TIDE_EN_earnings_distributor_##id

#define BPS           10000   /* basis points in one */
#define EPOCH_SECONDS 604800u /* one week */
#define SHARE_DEFAULT 5000    /* a partner's share in basis points if the registry names none */
#define STAKERS_BPS   3500
#define LP_BPS        3000
#define STABILITY_BPS 2000
#define TREASURY_BPS  1000
#define DEV_BPS       500

/* Returns the key of an epoch: one week of revenue. */
static struct sim_key epoch_key(struct sim_host *h, uint64_t id)
{
    return sim_key(h, EN(epoch), SIM_VALS(sim_u64(id)));
}

/* Returns the key of an epoch's revenue in one token, without the partners' cuts. */
static struct sim_key revenue_key(struct sim_host *h, uint64_t id, sim_val token)
{
    return sim_key(h, EN(epoch_revenue), SIM_VALS(sim_u64(id), token));
}

/* Returns the key of the list of tokens in which an epoch had revenue. */
static struct sim_key tokens_key(struct sim_host *h, uint64_t id)
{
    return sim_key(h, EN(epoch_token_list), SIM_VALS(sim_u64(id)));
}

/* Stores a new epoch without revenue that ends a week from now. */
static void open_epoch(struct sim_host *h, uint64_t id)
{
    sim_val zero = sim_i128(0);
    sim_put(
        h, epoch_key(h, id),
        sim_make(h, SIM_FIELDS({ "epoch_id", sim_u64(id) }, { "start_time", sim_u64(h->now) },
                               { "end_time", sim_u64(h->now + EPOCH_SECONDS) },
                               { "total_revenue", zero }, { "partner_revenue", zero },
                               { "protocol_revenue", zero }, { "staker_snapshot", zero },
                               { "per_token_revenue", zero }, { "finalized", sim_bool(false) })));
}

/* args: admin, treasury, development fund, stability pool, DAO, partner registry */
static void initialize(struct sim_host *h, const sim_val *args)
{
    sim_slots_put(h, SIM_NAMES("TREAS", "DEV", "STABPOOL", "DAO", "PREG"), &args[1]);
    sim_slot_put(h, "LpCount", sim_u32(0));
    sim_slot_put(h, "EPOCH", sim_u64(0));
    open_epoch(h, 0);
}

/* args: admin, liquidity pool */
static void register_lp(struct sim_host *h, const sim_val *args)
{
    uint32_t count = sim_slot_u32(h, "LpCount");
    sim_put(h, sim_key(h, EN(lp_contract), SIM_VALS(sim_u32(count))), args[1]);
    sim_slot_put(h, "LpCount", sim_u32(count + 1));
}

/* --- closing an epoch ------------------------------------------------------------------ */

static void pay_out(struct sim_host *h, sim_val token, struct sim_addr to, sim_amount amount)
{
    if (amount > 0)
        sim_transfer(h, token.addr, sim_self(h), to, amount);
}

/* Pays the shares of treasury, development, stability pool and liquidity pools. The stakers' share
 * stays here; claim reports it. Rounding leaves a rest here. */
static void split_revenue(struct sim_host *h, sim_val token, sim_amount revenue)
{
    pay_out(h, token, sim_slot_addr(h, "TREAS"), sim_mul_div(h, revenue, TREASURY_BPS, BPS));
    pay_out(h, token, sim_slot_addr(h, "DEV"), sim_mul_div(h, revenue, DEV_BPS, BPS));
    pay_out(h, token, sim_slot_addr(h, "STABPOOL"), sim_mul_div(h, revenue, STABILITY_BPS, BPS));
    uint32_t count = sim_slot_u32(h, "LpCount");
    if (count == 0)
        return;
    sim_amount each = sim_mul_div(h, revenue, LP_BPS, BPS) / count;
    for (uint32_t i = 0; i < count; i++) {
        const sim_val *lp = sim_get(h, sim_key(h, EN(lp_contract), SIM_VALS(sim_u32(i))));
        if (lp)
            pay_out(h, token, lp->addr, each);
    }
}

/* Splits the revenue of each token, closes the epoch and opens the next. The deposits of this
 * moment are the measure of the stakers' shares. */
static void close_epoch(struct sim_host *h, uint64_t id)
{
    sim_val staked = sim_call(h, sim_slot_addr(h, "STABPOOL"), "get_total_deposits", SIM_NONE);
    const sim_val *tokens = sim_get(h, tokens_key(h, id));
    for (uint32_t i = 0; tokens && i < tokens->len; i++) {
        sim_amount revenue = sim_get_i128(h, revenue_key(h, id, tokens->vec[i]));
        if (revenue != 0)
            split_revenue(h, tokens->vec[i], revenue);
    }
    const sim_val *epoch = sim_get(h, epoch_key(h, id));
    sim_set(epoch, "staker_snapshot", staked);
    sim_set(epoch, "finalized", sim_bool(true));
    sim_put(h, epoch_key(h, id), *epoch);
    open_epoch(h, id + 1);
    sim_slot_put(h, "EPOCH", sim_u64(id + 1));
    sim_emit(h, EV(epoch_closed), SIM_NONE,
             SIM_FIELDS({ "epoch", sim_u64(id) },
                        { "total_revenue", *sim_field(epoch, "total_revenue") }));
    sim_emit(h, EV(epoch_opened), SIM_NONE, SIM_FIELDS({ "epoch", sim_u64(id + 1) }));
}

/* Anyone may close an epoch that is over. */
static sim_val finalize_epoch(struct sim_host *h, const sim_val *args)
{
    (void)args;
    uint64_t id = sim_slot_u64(h, "EPOCH");
    const sim_val *epoch = sim_get_needed(h, epoch_key(h, id), "not initialised");
    sim_require(h, h->now >= sim_field_u64(epoch, "end_time"), "epoch not yet complete");
    close_epoch(h, id);
    return sim_u64(id);
}

/* --- revenue ---------------------------------------------------------------------------- */

/* A payment that came in. */
struct revenue {
    sim_val token;
    sim_amount amount;
    sim_val source;
    sim_val partner;
    uint64_t epoch;
};

/* Returns the partner's share of the payment. A share of 0 becomes the default, as published. An
 * inactive partner has share 0 too; the registry then refuses to credit it. */
static sim_amount partner_cut(struct sim_host *h, const struct revenue *r)
{
    sim_val answer =
        sim_call(h, sim_slot_addr(h, "PREG"), "get_revenue_share", SIM_VALS(r->partner));
    sim_amount share = answer.i128 > 0 ? answer.i128 : SHARE_DEFAULT;
    return sim_mul_div(h, r->amount, share, BPS);
}

/* Transfers the partner's cut to the registry and returns it; 0 if the payment names no partner.
 * epoch is changed in place; book_revenue stores it. */
static sim_amount forward_cut(struct sim_host *h, const struct revenue *r, const sim_val *epoch)
{
    if (r->partner.u32 == 0)
        return 0;
    sim_amount cut = partner_cut(h, r);
    if (cut <= 0)
        return cut;
    sim_val value = sim_i128(cut);
    sim_val id = sim_u64(r->epoch);
    struct sim_addr registry = sim_slot_addr(h, "PREG");
    sim_transfer(h, r->token.addr, sim_self(h), registry, cut);
    sim_call(h, registry, "credit_partner_revenue",
             SIM_VALS(sim_address(sim_self(h)), r->partner, value, id));
    sim_raise(h, sim_key(h, EN(epoch_partner_revenue), SIM_VALS(id, r->partner)), cut);
    sim_bump(h, epoch, "partner_revenue", cut);
    sim_emit(h, EV(partner_revenue_forwarded), SIM_VALS(r->partner, id),
             SIM_FIELDS({ "partner_cut", value }, { "source", r->source }));
    return cut;
}

/* Lists the token in the epoch, once. The entry is rewritten even if nothing changes, as
 * published. */
static void list_token(struct sim_host *h, uint64_t id, sim_val token)
{
    sim_val list = sim_get_list(h, tokens_key(h, id));
    bool known = false;
    for (uint32_t i = 0; i < list.len; i++)
        known = known || sim_addr_eq(list.vec[i].addr, token.addr);
    if (!known)
        sim_vec_push(&h->arena, &list, token);
    sim_put(h, tokens_key(h, id), list);
}

/* Adds the payment to the epoch's totals; kept is the payment without the partner's cut. */
static void book_revenue(struct sim_host *h, const struct revenue *r, const sim_val *epoch,
                         sim_amount kept)
{
    sim_bump(h, epoch, "total_revenue", r->amount);
    sim_bump(h, epoch, "protocol_revenue", kept);
    sim_raise(h, revenue_key(h, r->epoch, r->token), kept);
    list_token(h, r->epoch, r->token);
    sim_put(h, epoch_key(h, r->epoch), *epoch);
}

/* args: payer, token, amount, source of the fee, partner (0: none). The first payment after the end
 * of the epoch still counts to it and closes it. */
static void receive_revenue(struct sim_host *h, const sim_val *args)
{
    struct revenue r = {
        .token = args[1], .amount = args[2].i128, .source = args[3], .partner = args[4]
    };
    sim_require(h, r.amount > 0, "amount must be positive");
    sim_transfer(h, r.token.addr, args[0].addr, sim_self(h), r.amount);
    r.epoch = sim_slot_u64(h, "EPOCH");
    const sim_val *epoch = sim_get_needed(h, epoch_key(h, r.epoch), "not initialised");
    sim_amount cut = forward_cut(h, &r, epoch);
    book_revenue(h, &r, epoch, sim_sub(h, r.amount, cut));
    sim_emit(
        h, "revenue_received", SIM_VALS(args[0], r.source),
        SIM_FIELDS({ "token", r.token }, { "amount", args[2] }, { "epoch", sim_u64(r.epoch) }));
    if (h->now >= sim_field_u64(epoch, "end_time"))
        close_epoch(h, r.epoch);
}

/* --- stakers ---------------------------------------------------------------------------- */

/* Returns the key that marks an epoch's share as claimed. */
static struct sim_key claimed_key(struct sim_host *h, sim_val claimer, sim_val epoch)
{
    return sim_key(h, EN(claimed), SIM_VALS(claimer, epoch));
}

/* Returns the claimer's share of one epoch and marks it as claimed. The share follows the present
 * deposit, not the one at the epoch's end, as published. Returns 0 for an open or claimed epoch. */
static sim_amount claim_one(struct sim_host *h, sim_val claimer, sim_val id, sim_amount deposit)
{
    if (sim_has(h, claimed_key(h, claimer, id)))
        return 0;
    const sim_val *epoch = sim_get(h, epoch_key(h, id.u64));
    if (!epoch || !sim_field_bool(epoch, "finalized") ||
        sim_field_i128(epoch, "staker_snapshot") == 0)
        return 0;
    sim_amount pot = sim_mul(h, STAKERS_BPS, sim_field_i128(epoch, "protocol_revenue"));
    sim_amount share = sim_div(h, sim_mul(h, pot, deposit),
                               sim_mul(h, sim_field_i128(epoch, "staker_snapshot"), BPS));
    if (share <= 0)
        return 0;
    sim_put(h, claimed_key(h, claimer, id), sim_bool(true));
    return share;
}

/* args: claimer, epochs. Returns what is due but transfers no tokens, as published. */
static sim_val claim(struct sim_host *h, const sim_val *args)
{
    sim_amount deposit =
        sim_call(h, sim_slot_addr(h, "STABPOOL"), "get_compounded_deposit", SIM_VALS(args[0])).i128;
    sim_require(h, deposit > 0, "must have a Stability Pool deposit to claim");
    sim_amount total = 0;
    for (uint32_t i = 0; i < args[1].len; i++)
        total = sim_add(h, total, claim_one(h, args[0], args[1].vec[i], deposit));
    if (total > 0)
        sim_emit(h, EV(revenue_claimed), SIM_VALS(args[0]),
                 SIM_FIELDS({ "total", sim_i128(total) }));
    return sim_i128(total);
}

static const struct sim_fn fns[] = {
    { "initialize", "aaaaaa", SIM_NEW, .change = initialize },
    { "register_lp", "aa", "ADMIN", .change = register_lp },
    { "receive_revenue", "aaiyu", SIM_FIRST, .change = receive_revenue },
    { "finalize_epoch", "", SIM_FREE, .answer = finalize_epoch },
    { "claim", "aVU", SIM_FIRST, .answer = claim },
    { "upgrade", "ah", SIM_STORED("DAO"), .change = sim_upgrade_arg },
    { "get_current_epoch", "", SIM_FREE, .slot = "EPOCH" },
    { "get_epoch", "U", SIM_FREE, .as = SIM_AS_OPTION, .entry = ID(epoch) },
    { "get_epoch_tokens", "U", SIM_FREE, .as = SIM_AS_LIST, .entry = ID(epoch_token_list) },
    { 0 },
};

const struct sim_class sim_class_earnings_distributor = { .role = TIDE_ROLE_earnings_distributor,
                                                          .fns = fns };
