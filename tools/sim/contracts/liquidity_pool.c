/* Constant-product pools, many in one contract. Fees accrue to each share; the protocol takes a cut
 * of them. */
#include "tools/sim/host/host.h"

#define EV(id) SIM_EVENT(liquidity_pool, id)
#define EN(id) SIM_ENTRY(liquidity_pool, id)

#define ONE             ((sim_amount)1000000000000) /* fixed point of accumulated fees per share */
#define WAD             ((sim_amount)10000000)      /* fixed point of prices */
#define BPS             10000                       /* basis points in one */
#define IMPACT_MAX_BPS  100                         /* a swap may take this part of the reserve */
#define PROTFEE_DEFAULT 500 /* basis points of the swap fee that the protocol takes */
#define PROTFEE_MAX     2500
#define LOCKED_SHARES   1000 /* shares of a pool's first deposit that belong to no provider */

/* args: admin, DAO, earnings distributor, compliance registry */
static void initialize(struct sim_host *h, const sim_val *args)
{
    sim_slots_put(h, SIM_NAMES("DAO", "EARN", "COMPL"), &args[1]);
    sim_slot_put(h, "PROTFEE", sim_i128(PROTFEE_DEFAULT));
    sim_slot_put(h, "PoolCount", sim_u32(0));
}

static struct sim_key pool_key(struct sim_host *h, sim_val id)
{
    return sim_key(h, EN(pool), SIM_VALS(id));
}

/* Returns a pool; refuses if there is none. */
static const sim_val *pool_of(struct sim_host *h, sim_val id)
{
    return sim_get_needed(h, pool_key(h, id), "pool not found");
}

/* Returns the key of a provider's position in a pool. */
static struct sim_key position_key(struct sim_host *h, sim_val id, sim_val provider)
{
    return sim_key(h, EN(lp_pos), SIM_VALS(id, provider));
}

/* --- administration ------------------------------------------------------------------ */

/* Returns a pool without liquidity. tier is the swap fee in basis points. */
static sim_val new_pool(struct sim_host *h, sim_val token_a, sim_val token_b, sim_val tier)
{
    sim_val zero = sim_i128(0);
    return sim_make(h, SIM_FIELDS({ "token_a", token_a }, { "token_b", token_b },
                                  { "reserve_a", zero }, { "reserve_b", zero },
                                  { "total_shares", zero }, { "fee_tier", tier },
                                  { "fee_a_accum", zero }, { "fee_b_accum", zero },
                                  { "cumulative_vol_a", zero }, { "cumulative_vol_b", zero },
                                  { "paused", sim_bool(false) }));
}

/* args: creator, pool id, token A, token B, fee tier */
static sim_val create_pool(struct sim_host *h, const sim_val *args)
{
    struct sim_addr creator = args[0].addr;
    bool trusted = sim_addr_eq(creator, sim_slot_addr(h, "ADMIN")) ||
                   sim_addr_eq(creator, sim_slot_addr(h, "DAO"));
    sim_require(h, trusted, "only admin or DAO can create pools");
    sim_amount tier = args[4].i128;
    sim_require(h, tier == 5 || tier == 30 || tier == 100, "invalid fee tier");
    sim_require(h, !sim_has(h, pool_key(h, args[1])), "pool already exists");
    sim_put(h, pool_key(h, args[1]), new_pool(h, args[2], args[3], args[4]));
    uint32_t count = sim_slot_u32(h, "PoolCount");
    sim_put(h, sim_key(h, EN(pool_list), SIM_VALS(sim_u32(count))), args[1]);
    sim_slot_put(h, "PoolCount", sim_u32(count + 1));
    return args[1];
}

/* args: admin, pool id, paused */
static void set_paused(struct sim_host *h, const sim_val *args)
{
    const sim_val *pool = pool_of(h, args[1]);
    sim_set(pool, "paused", args[2]);
    sim_put(h, pool_key(h, args[1]), *pool);
}

/* args: DAO, basis points */
static void set_protocol_fee(struct sim_host *h, const sim_val *args)
{
    sim_require(h, args[1].i128 <= PROTFEE_MAX, "protocol fee too high");
    sim_slot_put(h, "PROTFEE", args[1]);
}

/* --- positions and their fees ---------------------------------------------------------- */

/* Moves the fees that one side has earned since the last settlement to the position's pending fees.
 * names: accumulator of the pool, its value at the last settlement, pending fees. */
static void settle_side(struct sim_host *h, const sim_val *position, const sim_val *pool,
                        const char *const names[3])
{
    sim_amount accum = sim_field_i128(pool, names[0]);
    sim_amount grown = sim_sub(h, accum, sim_field_i128(position, names[1]));
    sim_amount fees = sim_mul_div(h, grown, sim_field_i128(position, "shares"), ONE);
    sim_bump(h, position, names[2], fees);
    sim_set(position, names[1], sim_i128(accum));
}

/* Names of each side's fields, as settle_side takes them. */
static const char *const side_a[3] = { "fee_a_accum", "fee_a_debt", "pending_a" };
static const char *const side_b[3] = { "fee_b_accum", "fee_b_debt", "pending_b" };

/* Settles both sides of a position and stores it. A position without shares earns nothing. */
static void settle_fees(struct sim_host *h, struct sim_key key, const sim_val *pool)
{
    const sim_val *position = sim_get(h, key);
    if (!position || sim_field_i128(position, "shares") == 0)
        return;
    settle_side(h, position, pool, side_a);
    settle_side(h, position, pool, side_b);
    sim_put(h, key, *position);
}

static sim_val pair_of(struct sim_host *h, sim_amount a, sim_amount b)
{
    return sim_vec(&h->arena, SIM_VALS(sim_i128(a), sim_i128(b)));
}

/* Transfers a token out of the pool. */
static void pay_out(struct sim_host *h, const sim_val *pool, const char *token, struct sim_addr to,
                    sim_amount amount)
{
    sim_transfer(h, sim_field_addr(pool, token), sim_self(h), to, amount);
}

/* args: provider, pool id. Pays the pending fees and returns both amounts. */
static sim_val pay_fees(struct sim_host *h, const sim_val *args, const sim_val *pool)
{
    struct sim_key key = position_key(h, args[1], args[0]);
    const sim_val *position = sim_get(h, key);
    sim_amount a = position ? sim_field_i128(position, "pending_a") : 0;
    sim_amount b = position ? sim_field_i128(position, "pending_b") : 0;
    if (a == 0 && b == 0)
        return pair_of(h, 0, 0);
    sim_set(position, "pending_a", sim_i128(0));
    sim_set(position, "pending_b", sim_i128(0));
    sim_put(h, key, *position);
    if (a > 0)
        pay_out(h, pool, "token_a", args[0].addr, a);
    if (b > 0)
        pay_out(h, pool, "token_b", args[0].addr, b);
    sim_emit(h, EV(claim), SIM_VALS(args[0], args[1]),
             SIM_FIELDS({ "claim_a", sim_i128(a) }, { "claim_b", sim_i128(b) }));
    return pair_of(h, a, b);
}

/* args: provider, pool id */
static sim_val claim_fees(struct sim_host *h, const sim_val *args)
{
    sim_assert_compliant(h, args[0].addr);
    const sim_val *pool = pool_of(h, args[1]);
    settle_fees(h, position_key(h, args[1], args[0]), pool);
    return pay_fees(h, args, pool);
}

/* --- liquidity ---------------------------------------------------------------------------- */

/* Returns the integer square root of n, bit by bit. */
static sim_amount isqrt(sim_amount n)
{
    sim_amount root = 0;
    for (sim_amount bit = (sim_amount)1 << 63; bit; bit >>= 1) {
        sim_amount next = root | bit;
        if (next <= n / next)
            root = next;
    }
    return root;
}

/* Returns the shares for a deposit. The first deposit sets the price and loses LOCKED_SHARES. A
 * later one gets shares for the smaller of its two sides. */
static sim_amount shares_for(struct sim_host *h, const sim_val *pool, sim_amount a, sim_amount b)
{
    sim_amount total = sim_field_i128(pool, "total_shares");
    if (total == 0) {
        sim_amount first = isqrt(sim_mul(h, a, b)) - LOCKED_SHARES;
        sim_require(h, first > 0, "initial liquidity too low");
        sim_set(pool, "total_shares", sim_i128(LOCKED_SHARES));
        return first;
    }
    return sim_min(sim_mul_div(h, a, total, sim_field_i128(pool, "reserve_a")),
                   sim_mul_div(h, b, total, sim_field_i128(pool, "reserve_b")));
}

/* Adds shares to a position that is settled, or creates it. */
static void add_shares(struct sim_host *h, struct sim_key key, const sim_val *pool,
                       sim_amount shares)
{
    const sim_val *stored = sim_get(h, key);
    sim_val zero = sim_i128(0);
    sim_val position =
        stored
            ? *stored
            : sim_make(h, SIM_FIELDS({ "shares", zero }, { "fee_a_debt", zero },
                                     { "fee_b_debt", zero }, { "pending_a", zero },
                                     { "pending_b", zero }, { "deposited_at", sim_u64(h->now) }));
    sim_bump(h, &position, "shares", shares);
    sim_set(&position, "fee_a_debt", *sim_field(pool, "fee_a_accum"));
    sim_set(&position, "fee_b_debt", *sim_field(pool, "fee_b_accum"));
    sim_put(h, key, position);
}

/* args: provider, pool id, amount of A, amount of B, fewest shares. Both amounts are taken as
 * given, even off the pool's price, as published. */
static sim_val add_liquidity(struct sim_host *h, const sim_val *args)
{
    sim_amount a = args[2].i128;
    sim_amount b = args[3].i128;
    struct sim_addr provider = args[0].addr;
    sim_assert_compliant(h, provider);
    const sim_val *pool = pool_of(h, args[1]);
    sim_require(h, !sim_field_bool(pool, "paused"), "pool is paused");
    sim_require(h, a > 0 && b > 0, "amounts must be positive");
    struct sim_key key = position_key(h, args[1], args[0]);
    settle_fees(h, key, pool);
    sim_amount shares = shares_for(h, pool, a, b);
    sim_require(h, shares >= args[4].i128, "slippage: shares below minimum");
    sim_transfer(h, sim_field_addr(pool, "token_a"), provider, sim_self(h), a);
    sim_transfer(h, sim_field_addr(pool, "token_b"), provider, sim_self(h), b);
    sim_bump(h, pool, "reserve_a", a);
    sim_bump(h, pool, "reserve_b", b);
    sim_bump(h, pool, "total_shares", shares);
    add_shares(h, key, pool, shares);
    sim_put(h, pool_key(h, args[1]), *pool);
    sim_emit(h, EV(add_liquidity), SIM_VALS(args[0], args[1]),
             SIM_FIELDS({ "amount_a", args[2] }, { "amount_b", args[3] },
                        { "shares", sim_i128(shares) }));
    return sim_i128(shares);
}

/* Returns the part of a reserve that belongs to the shares. */
static sim_amount reserve_part(struct sim_host *h, const sim_val *pool, const char *reserve,
                               sim_amount shares)
{
    return sim_mul_div(h, shares, sim_field_i128(pool, reserve),
                       sim_field_i128(pool, "total_shares"));
}

/* args: provider, pool id, shares, least of A, least of B. Pays the pending fees too. */
static sim_val remove_liquidity(struct sim_host *h, const sim_val *args)
{
    struct sim_addr provider = args[0].addr;
    sim_amount shares = args[2].i128;
    sim_assert_compliant(h, provider);
    const sim_val *pool = pool_of(h, args[1]);
    struct sim_key key = position_key(h, args[1], args[0]);
    settle_fees(h, key, pool);
    pay_fees(h, args, pool);
    const sim_val *position = sim_get(h, key);
    sim_require(h, position, "no position");
    sim_require(h, sim_field_i128(position, "shares") >= shares, "insufficient shares");
    sim_amount out_a = reserve_part(h, pool, "reserve_a", shares);
    sim_amount out_b = reserve_part(h, pool, "reserve_b", shares);
    sim_require(h, out_a >= args[3].i128, "slippage: token A below minimum");
    sim_require(h, out_b >= args[4].i128, "slippage: token B below minimum");
    sim_bump(h, pool, "reserve_a", sim_sub(h, 0, out_a));
    sim_bump(h, pool, "reserve_b", sim_sub(h, 0, out_b));
    sim_bump(h, pool, "total_shares", sim_sub(h, 0, shares));
    sim_bump(h, position, "shares", sim_sub(h, 0, shares));
    sim_put(h, pool_key(h, args[1]), *pool);
    sim_put(h, key, *position);
    pay_out(h, pool, "token_a", provider, out_a);
    pay_out(h, pool, "token_b", provider, out_b);
    sim_emit(h, EV(remove_liquidity), SIM_VALS(args[0], args[1]),
             SIM_FIELDS({ "out_a", sim_i128(out_a) }, { "out_b", sim_i128(out_b) },
                        { "shares", sim_i128(shares) }));
    return pair_of(h, out_a, out_b);
}

/* --- swaps ----------------------------------------------------------------------------------- */

/* Field names of a pool: the side that is sold to the pool, and the side that is bought from it. */
struct direction {
    const char *token_in, *token_out;
    const char *reserve_in, *reserve_out;
    const char *accum, *volume;
};

static const struct direction *direction_of(bool a_to_b)
{
    static const struct direction both[2] = {
        { "token_b", "token_a", "reserve_b", "reserve_a", "fee_b_accum", "cumulative_vol_b" },
        { "token_a", "token_b", "reserve_a", "reserve_b", "fee_a_accum", "cumulative_vol_a" },
    };
    return &both[a_to_b];
}

/* Returns the fee for the amount that is sold. */
static sim_amount fee_of(struct sim_host *h, const sim_val *pool, sim_amount in)
{
    return sim_mul_div(h, in, sim_field_i128(pool, "fee_tier"), BPS);
}

/* Returns the amount bought for `net`, the amount sold without its fee: reserves keep their
 * product. */
static sim_amount out_for(struct sim_host *h, const sim_val *pool, const struct direction *d,
                          sim_amount net)
{
    sim_amount sold = sim_field_i128(pool, d->reserve_in);
    sim_amount bought = sim_field_i128(pool, d->reserve_out);
    return sim_div(h, sim_mul(h, bought, net), sim_add(h, sold, net));
}

/* Books a swap in the pool. The whole amount sold joins the reserve, the fee included; the fee is
 * also credited to the shares, as published. */
static void book_swap(struct sim_host *h, const sim_val *pool, const struct direction *d,
                      sim_amount in, sim_amount out, sim_amount lp_fee)
{
    sim_bump(h, pool, d->reserve_in, in);
    sim_bump(h, pool, d->reserve_out, sim_sub(h, 0, out));
    sim_bump(h, pool, d->volume, in);
    sim_amount total = sim_field_i128(pool, "total_shares");
    if (total > 0)
        sim_bump(h, pool, d->accum, sim_mul_div(h, lp_fee, ONE, total));
}

/* Sends the protocol's cut to the earnings distributor. */
static void forward_cut(struct sim_host *h, sim_val token, sim_amount cut, sim_val partner)
{
    sim_call(h, sim_slot_addr(h, "EARN"), "receive_revenue",
             SIM_VALS(sim_address(sim_self(h)), token, sim_i128(cut), sim_sym("swapfee"), partner));
}

/* args: trader, pool id, A for B, amount sold, least amount bought, partner (0: none) */
static sim_val swap_exact_in(struct sim_host *h, const sim_val *args)
{
    struct sim_addr trader = args[0].addr;
    const struct direction *d = direction_of(args[2].b);
    sim_amount in = args[3].i128;
    sim_assert_compliant(h, trader);
    const sim_val *pool = pool_of(h, args[1]);
    sim_require(h, !sim_field_bool(pool, "paused"), "pool is paused");
    sim_require(h, in > 0, "amount_in must be positive");
    sim_amount fee = fee_of(h, pool, in);
    sim_amount cut = sim_mul_div(h, fee, sim_slot(h, "PROTFEE")->i128, BPS);
    sim_amount out = out_for(h, pool, d, sim_sub(h, in, fee));
    sim_amount impact = sim_mul_div(h, out, BPS, sim_field_i128(pool, d->reserve_out));
    sim_require(h, impact <= IMPACT_MAX_BPS, "price impact too high");
    book_swap(h, pool, d, in, out, sim_sub(h, fee, cut));
    sim_transfer(h, sim_field_addr(pool, d->token_in), trader, sim_self(h), in);
    pay_out(h, pool, d->token_out, trader, out);
    if (cut > 0)
        forward_cut(h, *sim_field(pool, d->token_in), cut, args[5]);
    /* The published contract checks the minimum after the transfers. A refusal undoes them. */
    sim_require(h, out >= args[4].i128, "slippage: output below minimum");
    sim_put(h, pool_key(h, args[1]), *pool);
    sim_emit(h, EV(swap), SIM_VALS(args[0], args[1]),
             SIM_FIELDS({ "amount_in", args[3] }, { "amount_out", sim_i128(out) },
                        { "a_to_b", args[2] }, { "partner_id", args[5] }));
    return sim_i128(out);
}

/* --- reads ----------------------------------------------------------------------------------- */

/* args: pool id */
static sim_val get_pool(struct sim_host *h, const sim_val *args)
{
    return *pool_of(h, args[0]);
}

/* args: pool id, A for B. Returns the price as a fixed-point number. */
static sim_val get_price(struct sim_host *h, const sim_val *args)
{
    const sim_val *pool = pool_of(h, args[0]);
    const struct direction *d = direction_of(args[1].b);
    return sim_i128(sim_mul_div(h, sim_field_i128(pool, d->reserve_out), WAD,
                                sim_field_i128(pool, d->reserve_in)));
}

/* args: pool id, amount sold, A for B */
static sim_val quote(struct sim_host *h, const sim_val *args)
{
    const sim_val *pool = pool_of(h, args[0]);
    sim_amount net = sim_sub(h, args[1].i128, fee_of(h, pool, args[1].i128));
    return sim_i128(out_for(h, pool, direction_of(args[2].b), net));
}

/* args: pool id, provider. Settles a copy: nothing is stored. */
static sim_val claimable_fees(struct sim_host *h, const sim_val *args)
{
    const sim_val *pool = pool_of(h, args[0]);
    const sim_val *position = sim_get(h, position_key(h, args[0], args[1]));
    if (!position)
        return pair_of(h, 0, 0);
    settle_side(h, position, pool, side_a);
    settle_side(h, position, pool, side_b);
    return pair_of(h, sim_field_i128(position, "pending_a"), sim_field_i128(position, "pending_b"));
}

static const struct sim_fn fns[] = {
    { "initialize", "aaaa", SIM_NEW, .change = initialize },
    { "create_pool", "ayaai", SIM_FIRST, .answer = create_pool },
    { "set_paused", "ayb", "ADMIN", .change = set_paused },
    { "set_protocol_fee", "ai", "DAO", .change = set_protocol_fee },
    { "set_compliance", "aa", "DAO", .set = "COMPL" },
    { "add_liquidity", "ayiii", SIM_FIRST, .answer = add_liquidity },
    { "remove_liquidity", "ayiii", SIM_FIRST, .answer = remove_liquidity },
    { "claim_fees", "ay", SIM_FIRST, .answer = claim_fees },
    { "swap_exact_in", "aybiiu", SIM_FIRST, .answer = swap_exact_in },
    { "upgrade", "ah", SIM_STORED("DAO"), .change = sim_upgrade_arg },
    { "get_pool", "y", SIM_FREE, .answer = get_pool },
    { "get_price", "yb", SIM_FREE, .answer = get_price },
    { "quote", "yib", SIM_FREE, .answer = quote },
    { "claimable_fees", "ya", SIM_FREE, .answer = claimable_fees },
    { 0 },
};

const struct sim_class sim_class_liquidity_pool = { .role = TIDE_ROLE_liquidity_pool, .fns = fns };
