#include "tidemark/project.h"

/* Writes the sums, and the pool's state at the close of a ledger, for sliding windows. */
static tide_status put_trade(struct project_row *row, const struct tide_hot_symbol *id,
                             const struct tide_hot_trade *trade, struct tide_err *err)
{
    struct tide_hot_pool pool;
    struct tide_hot_key pool_key = tide_hot_key_symbol(TIDE_HOT_POOL, id);
    struct tide_hot_key trade_key = tide_hot_key_symbol(TIDE_HOT_TRADE, id);
    struct tide_hot_key tick_key = tide_hot_key_tick(id, row->close_time);
    bool found;
    tide_status status = row->sink->get(row->sink->self, &pool_key, &pool, &found, err);
    struct tide_hot_tick tick = { .time = row->close_time,
                                  .reserve_a = pool.reserve_a,
                                  .reserve_b = pool.reserve_b,
                                  .trade = *trade };
    if (status == TIDE_OK)
        status = row->sink->put(row->sink->self, &trade_key, trade, err);
    return status == TIDE_OK ? row->sink->put(row->sink->self, &tick_key, &tick, err) : status;
}

static tide_status get_trade(struct project_row *row, const struct tide_hot_symbol *id,
                             struct tide_hot_trade *trade, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_TRADE, id);
    bool found;
    return row->sink->get(row->sink->self, &key, trade, &found, err);
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
    return row->sink->put(row->sink->self, key, &pool, err);
}

/* The trade of a pool outlives its entry: the entry may be written again within the window. */
tide_status project_pool(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_symbol id = project_symbol(row, 0);
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_POOL, &id);
    struct tide_hot_trade trade;
    tide_status status =
        row->removed ? row->sink->drop(row->sink->self, &key, err) : put_pool(row, &key, err);
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
tide_status project_swap(struct project_row *row, struct tide_err *err)
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
