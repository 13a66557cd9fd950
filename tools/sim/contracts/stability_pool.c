/* The stability pool: deposits that liquidations consume, and the collateral that they gain. A
 * liquidation rewrites no deposit. The state keeps the product p of all losses and the sum of all
 * gains per unit; a deposit's snapshot of both gives its present value. */
#include "tools/sim/host/host.h"

#define EV(id) SIM_EVENT(stability_pool, id)
#define EN(id) SIM_ENTRY(stability_pool, id)

#define ONE   ((sim_amount)1000000000000) /* fixed point of p and sum_coll */
#define P_MIN 1000 /* a smaller p starts a new epoch: older deposits are worth nothing */

static struct sim_key state_key(struct sim_host *h)
{
    return sim_key(h, EN(state), SIM_NONE);
}

static struct sim_key deposit_key(struct sim_host *h, sim_val depositor)
{
    return sim_key(h, EN(deposit), SIM_VALS(depositor));
}

/* Returns the pool's state; refuses before initialize. */
static const sim_val *state_of(struct sim_host *h)
{
    return sim_get_needed(h, state_key(h), "not initialised");
}

/* args: admin, USDC, engine, DAO, compliance registry */
static void initialize(struct sim_host *h, const sim_val *args)
{
    sim_slots_put(h, SIM_NAMES("USDC", "ENGINE", "DAO", "COMPL"), &args[1]);
    sim_val none = sim_u64(0);
    sim_val zero = sim_i128(0);
    sim_put(h, state_key(h),
            sim_make(h, SIM_FIELDS({ "total_deposits", zero }, { "p", sim_i128(ONE) },
                                   { "sum_coll", zero }, { "total_coll_gained", zero },
                                   { "epoch", none }, { "scale", none },
                                   { "total_liq_count", none }, { "paused", sim_bool(false) })));
}

/* Returns the values of the state that a deposit records. */
static sim_val snapshot_of(struct sim_host *h, const sim_val *state)
{
    return sim_make(h, SIM_FIELDS({ "p_value", *sim_field(state, "p") },
                                  { "sum_coll", *sim_field(state, "sum_coll") },
                                  { "epoch", *sim_field(state, "epoch") },
                                  { "scale", *sim_field(state, "scale") }));
}

/* Returns the collateral gained since the snapshot. The epoch is not compared, as published: a gain
 * may be negative. */
static sim_amount gain_of(struct sim_host *h, const sim_val *deposit, const sim_val *state)
{
    sim_amount initial = sim_field_i128(deposit, "initial_value");
    if (initial == 0)
        return 0;
    sim_amount since = sim_field_i128(sim_field(deposit, "snapshot"), "sum_coll");
    sim_amount grown = sim_sub(h, sim_field_i128(state, "sum_coll"), since);
    return sim_mul_div(h, initial, grown, ONE);
}

/* Returns what is left of a deposit. A deposit of an older epoch is lost. */
static sim_amount compounded_value(struct sim_host *h, const sim_val *deposit, const sim_val *state)
{
    const sim_val *snapshot = sim_field(deposit, "snapshot");
    if (sim_field_u64(snapshot, "epoch") != sim_field_u64(state, "epoch"))
        return 0;
    sim_amount p_then = sim_max(sim_field_i128(snapshot, "p_value"), 1);
    sim_amount ratio = sim_mul_div(h, sim_field_i128(state, "p"), ONE, p_then);
    return sim_mul_div(h, sim_field_i128(deposit, "initial_value"), ratio, ONE);
}

/* Announces the depositor's gain and resets the snapshot. The gain itself is paid nowhere, as
 * published. */
static void settle_gain(struct sim_host *h, sim_val depositor, const sim_val *state)
{
    const sim_val *deposit = sim_get(h, deposit_key(h, depositor));
    if (!deposit)
        return;
    sim_amount gain = gain_of(h, deposit, state);
    if (gain > 0)
        sim_emit(h, EV(claim), SIM_VALS(depositor, sim_sym("coll")),
                 SIM_FIELDS({ "amount", sim_i128(gain) }));
    sim_set(deposit, "snapshot", snapshot_of(h, state));
    sim_put(h, deposit_key(h, depositor), *deposit);
}

/* Returns an empty deposit with the present snapshot. */
static sim_val new_deposit(struct sim_host *h, const sim_val *state)
{
    return sim_make(h, SIM_FIELDS({ "initial_value", sim_i128(0) },
                                  { "snapshot", snapshot_of(h, state) },
                                  { "deposited_at", sim_u64(h->now) }));
}

/* Changes the sum of deposits and stores the state. */
static void change_total(struct sim_host *h, const sim_val *state, sim_amount by)
{
    sim_bump(h, state, "total_deposits", by);
    sim_put(h, state_key(h), *state);
}

/* args: depositor, amount. A second deposit adds to the first one's initial value, not to its
 * compounded value, as published. */
static void deposit(struct sim_host *h, const sim_val *args)
{
    sim_amount amount = args[1].i128;
    sim_assert_compliant(h, args[0].addr);
    sim_require(h, amount > 0, "amount must be positive");
    const sim_val *state = state_of(h);
    sim_require(h, !sim_field_bool(state, "paused"), "stability pool is paused");
    settle_gain(h, args[0], state);
    sim_transfer(h, sim_slot_addr(h, "USDC"), args[0].addr, sim_self(h), amount);
    const sim_val *stored = sim_get(h, deposit_key(h, args[0]));
    sim_val mine = stored ? *stored : new_deposit(h, state);
    sim_bump(h, &mine, "initial_value", amount);
    sim_set(&mine, "snapshot", snapshot_of(h, state));
    sim_put(h, deposit_key(h, args[0]), mine);
    change_total(h, state, amount);
    sim_emit(h, EV(deposit), SIM_VALS(args[0]), SIM_FIELDS({ "amount", args[1] }));
}

/* args: depositor, most to withdraw */
static sim_val withdraw(struct sim_host *h, const sim_val *args)
{
    sim_assert_compliant(h, args[0].addr);
    const sim_val *state = state_of(h);
    settle_gain(h, args[0], state);
    const sim_val *mine = sim_get_needed(h, deposit_key(h, args[0]), "no deposit");
    sim_amount held = compounded_value(h, mine, state);
    sim_amount amount = sim_min(args[1].i128, held);
    sim_require(h, amount > 0, "nothing to withdraw");
    sim_set(mine, "initial_value", sim_i128(held - amount));
    sim_set(mine, "snapshot", snapshot_of(h, state));
    sim_put(h, deposit_key(h, args[0]), *mine);
    change_total(h, state, -amount);
    sim_transfer(h, sim_slot_addr(h, "USDC"), sim_self(h), args[0].addr, amount);
    sim_emit(h, EV(withdraw), SIM_VALS(args[0]), SIM_FIELDS({ "amount", sim_i128(amount) }));
    return sim_i128(amount);
}

/* args: depositor. Returns 0 whatever the gain was, as published. */
static sim_val claim_gains(struct sim_host *h, const sim_val *args)
{
    sim_assert_compliant(h, args[0].addr);
    const sim_val *state = state_of(h);
    settle_gain(h, args[0], state);
    sim_put(h, state_key(h), *state);
    return sim_i128(0);
}

/* Books a liquidation: deposits lose debt / total, and gain collateral / total. */
static void count_loss(struct sim_host *h, const sim_val *state, sim_amount debt,
                       sim_amount collateral)
{
    sim_amount total = sim_field_i128(state, "total_deposits");
    sim_amount loss = sim_mul_div(h, debt, ONE, total);
    sim_amount p = sim_field_i128(state, "p");
    p = sim_sub(h, p, sim_mul_div(h, p, loss, ONE));
    sim_set(state, "p", sim_i128(p));
    sim_bump(h, state, "sum_coll", sim_mul_div(h, collateral, ONE, total));
    sim_bump(h, state, "total_deposits", sim_sub(h, 0, debt));
    sim_bump(h, state, "total_coll_gained", collateral);
    sim_set(state, "total_liq_count", sim_u64(sim_field_u64(state, "total_liq_count") + 1));
    if (p >= P_MIN)
        return;
    sim_set(state, "epoch", sim_u64(sim_field_u64(state, "epoch") + 1));
    sim_set(state, "scale", sim_u64(0));
    sim_set(state, "sum_coll", sim_i128(0));
    sim_set(state, "p", sim_i128(ONE));
}

/* args: engine, debt, collateral, collateral's token. Pays the debt and takes the collateral. */
static void absorb_liquidation(struct sim_host *h, const sim_val *args)
{
    struct sim_addr engine = args[0].addr;
    sim_amount debt = args[1].i128;
    sim_amount collateral = args[2].i128;
    sim_require(h, sim_addr_eq(engine, sim_slot_addr(h, "ENGINE")), "unauthorised");
    const sim_val *state = state_of(h);
    sim_require(h, !sim_field_bool(state, "paused"), "stability pool is paused");
    sim_require(h, sim_field_i128(state, "total_deposits") >= debt,
                "insufficient stability pool depth");
    sim_transfer(h, args[3].addr, engine, sim_self(h), collateral);
    sim_transfer(h, sim_slot_addr(h, "USDC"), sim_self(h), engine, debt);
    count_loss(h, state, debt, collateral);
    sim_put(h, state_key(h), *state);
    sim_emit(h, EV(absorb), SIM_VALS(args[0]),
             SIM_FIELDS({ "debt_absorbed", args[1] }, { "collateral_reward", args[2] }));
}

/* args: admin, paused */
static void set_paused(struct sim_host *h, const sim_val *args)
{
    const sim_val *state = state_of(h);
    sim_set(state, "paused", args[1]);
    sim_put(h, state_key(h), *state);
}

/* --- reads -------------------------------------------------------------------------- */

/* args: depositor */
static sim_val get_compounded_deposit(struct sim_host *h, const sim_val *args)
{
    const sim_val *mine = sim_get(h, deposit_key(h, args[0]));
    return sim_i128(mine ? compounded_value(h, mine, state_of(h)) : 0);
}

/* args: depositor */
static sim_val get_collateral_gain(struct sim_host *h, const sim_val *args)
{
    const sim_val *mine = sim_get(h, deposit_key(h, args[0]));
    return sim_i128(mine ? gain_of(h, mine, state_of(h)) : 0);
}

static sim_val get_state(struct sim_host *h, const sim_val *args)
{
    (void)args;
    return *state_of(h);
}

static sim_val get_total_deposits(struct sim_host *h, const sim_val *args)
{
    (void)args;
    return *sim_field(state_of(h), "total_deposits");
}

static const struct sim_fn fns[] = {
    { "initialize", "aaaaa", SIM_NEW, .change = initialize },
    { "deposit", "ai", SIM_FIRST, .change = deposit },
    { "withdraw", "ai", SIM_FIRST, .answer = withdraw },
    { "claim_gains", "a", SIM_FIRST, .answer = claim_gains },
    { "absorb_liquidation", "aiia", SIM_FIRST, .change = absorb_liquidation },
    { "set_paused", "ab", "ADMIN", .change = set_paused },
    { "set_compliance", "aa", "DAO", .set = "COMPL" },
    { "upgrade", "ah", SIM_STORED("DAO"), .change = sim_upgrade_arg },
    { "get_compounded_deposit", "a", SIM_FREE, .answer = get_compounded_deposit },
    { "get_collateral_gain", "a", SIM_FREE, .answer = get_collateral_gain },
    { "get_state", "", SIM_FREE, .answer = get_state },
    { "get_total_deposits", "", SIM_FREE, .answer = get_total_deposits },
    { 0 },
};

const struct sim_class sim_class_stability_pool = { .role = TIDE_ROLE_stability_pool, .fns = fns };
