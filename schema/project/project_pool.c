#include "tidemark/project.h"

/* Writes the pool's state at the close of a ledger, for sliding windows. */
static tide_status put_tick(struct project_row *row, const struct tide_hot_pool *pool,
                            struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key_tick(&pool->id, row->close_time);
    struct tide_hot_tick tick = { .time = row->close_time,
                                  .swaps = pool->swaps,
                                  .reserve_a = pool->reserve_a,
                                  .reserve_b = pool->reserve_b,
                                  .traded_a = pool->traded_a,
                                  .traded_b = pool->traded_b,
                                  .fees_a = pool->fees_a,
                                  .fees_b = pool->fees_b };
    return row->sink->put(row->sink->self, &key, &tick, err);
}

tide_status project_pool(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_pool pool;
    struct tide_hot_symbol id = project_symbol(row, 0);
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_POOL, &id);
    bool found;
    tide_status status = row->sink->get(row->sink->self, &key, &pool, &found, err);
    if (status != TIDE_OK || row->removed)
        return status == TIDE_OK ? row->sink->drop(row->sink->self, &key, err) : status;
    pool.ledger = row->ledger;
    pool.id = id;
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
    status = row->sink->put(row->sink->self, &key, &pool, err);
    return status == TIDE_OK ? put_tick(row, &pool, err) : status;
}

static void add_amount(struct tide_hot_amount *sum, tide_raw_i128 v)
{
    tide_i128 out = { tide_hot_i128(*sum) };
    (void)!tide_i128_add(&out, out, (tide_i128){ v });
    *sum = tide_hot_amount(out.raw);
}

/* v * numerator / denominator, 0 where that cannot be said. */
static tide_raw_i128 scaled(tide_raw_i128 v, tide_raw_i128 numerator, tide_raw_i128 denominator)
{
    assert(denominator >= 0);
    tide_i128 out = { 0 };
    if (tide_i128_mul(&out, (tide_i128){ v }, (tide_i128){ numerator }) != TIDE_OK ||
        tide_i128_div_trunc(&out, out, (tide_i128){ denominator }) != TIDE_OK)
        return 0;
    return out.raw;
}

tide_status project_swap(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_pool pool;
    struct tide_hot_symbol id = project_symbol(row, 0);
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_POOL, &id);
    bool found;
    tide_status status = row->sink->get(row->sink->self, &key, &pool, &found, err);
    if (status != TIDE_OK || !found)
        return status;
    bool a_to_b = project_bool(row, 1);
    tide_raw_i128 in = tide_hot_i128(project_amount(row, 2));
    tide_raw_i128 out = tide_hot_i128(project_amount(row, 3));
    tide_raw_i128 fee = scaled(in, tide_hot_i128(pool.fee_tier), 10000);
    tide_raw_i128 fee_bought = scaled(fee, out, in);
    pool.swaps++;
    add_amount(&pool.traded_a, a_to_b ? in : out);
    add_amount(&pool.traded_b, a_to_b ? out : in);
    add_amount(&pool.fees_a, a_to_b ? fee : fee_bought);
    add_amount(&pool.fees_b, a_to_b ? fee_bought : fee);
    status = row->sink->put(row->sink->self, &key, &pool, err);
    return status == TIDE_OK ? put_tick(row, &pool, err) : status;
}
