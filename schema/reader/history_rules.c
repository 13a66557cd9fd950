#include "tidemark/history_lookup.h"

/* The columns of one entry, read with the helpers of project.h. */
struct reading {
    struct tide_pg_rows rows;
    struct project_row row;
};

static tide_status read_entry(struct tide_history *history, struct reading *reading, bool *found,
                              const struct tide_entry_key *key, const char *columns,
                              struct tide_err *err)
{
    tide_status status = tide_history_entry(history, &reading->rows, found, key, columns, err);
    reading->row = (struct project_row){ .rows = &reading->rows };
    return status;
}

static tide_raw_i128 amount(struct reading *reading, uint32_t column)
{
    return tide_hot_i128(project_amount(&reading->row, column));
}

static tide_status end_reading(struct reading *reading, const char *table, struct tide_err *err)
{
    tide_pg_rows_release(&reading->rows);
    return reading->row.bad ? tide_fail(err, TIDE_E_SCHEMA, "%s: a value does not fit", table)
                            : TIDE_OK;
}

tide_status tide_history_position(struct tide_history *history, struct tide_position *out,
                                  bool *found, const struct tide_hot_symbol *pool,
                                  const struct tide_hot_address *provider, struct tide_err *err)
{
    struct reading in;
    struct tide_entry_key key = { .table = "liquidity_pool_lp_pos",
                                  .contract = history->contracts[TIDE_ROLE_liquidity_pool],
                                  .variant = "LpPos",
                                  .count = 2,
                                  .parts = { TIDE_PART_SYMBOL(tide_hot_symbol_slice(pool)),
                                             TIDE_PART_ADDRESS(*provider) } };
    tide_status status =
        read_entry(history, &in, found, &key,
                   "shares, fee_a_debt, fee_b_debt, pending_a, pending_b, deposited_at", err);
    if (status != TIDE_OK || !*found)
        return status;
    *out = (struct tide_position){ .shares = amount(&in, 0),
                                   .fee_a_debt = amount(&in, 1),
                                   .fee_b_debt = amount(&in, 2),
                                   .pending_a = amount(&in, 3),
                                   .pending_b = amount(&in, 4),
                                   .deposited_at = project_u64(&in.row, 5) };
    return end_reading(&in, key.table, err);
}

tide_status tide_history_stability(struct tide_history *history, struct tide_stability *out,
                                   bool *found, struct tide_err *err)
{
    struct reading in;
    struct tide_entry_key key = { .table = "stability_pool_state",
                                  .contract = history->contracts[TIDE_ROLE_stability_pool],
                                  .variant = "State" };
    tide_status status = read_entry(history, &in, found, &key,
                                    "total_deposits, p, sum_coll, total_coll_gained, epoch, scale,"
                                    " total_liq_count, paused",
                                    err);
    if (status != TIDE_OK || !*found)
        return status;
    *out = (struct tide_stability){ .total_deposits = amount(&in, 0),
                                    .p = amount(&in, 1),
                                    .sum_coll = amount(&in, 2),
                                    .total_coll_gained = amount(&in, 3),
                                    .epoch = project_u64(&in.row, 4),
                                    .scale = project_u64(&in.row, 5),
                                    .total_liq_count = project_u64(&in.row, 6),
                                    .paused = project_bool(&in.row, 7) };
    return end_reading(&in, key.table, err);
}

tide_status tide_history_saving(struct tide_history *history, struct tide_saving *out, bool *found,
                                const struct tide_hot_address *depositor, struct tide_err *err)
{
    struct reading in;
    struct tide_entry_key key = { .table = "stability_pool_deposit",
                                  .contract = history->contracts[TIDE_ROLE_stability_pool],
                                  .variant = "Deposit",
                                  .count = 1,
                                  .parts = { TIDE_PART_ADDRESS(*depositor) } };
    tide_status status = read_entry(history, &in, found, &key,
                                    "initial_value, snapshot_p_value, snapshot_sum_coll,"
                                    " snapshot_epoch, snapshot_scale, deposited_at",
                                    err);
    if (status != TIDE_OK || !*found)
        return status;
    *out = (struct tide_saving){ .initial_value = amount(&in, 0),
                                 .p_value = amount(&in, 1),
                                 .sum_coll = amount(&in, 2),
                                 .epoch = project_u64(&in.row, 3),
                                 .scale = project_u64(&in.row, 4),
                                 .deposited_at = project_u64(&in.row, 5) };
    return end_reading(&in, key.table, err);
}

tide_status tide_history_epoch(struct tide_history *history, struct tide_epoch *out, bool *found,
                               uint64_t id, struct tide_err *err)
{
    struct reading in;
    struct tide_entry_key key = { .table = "earnings_distributor_epoch",
                                  .contract = history->contracts[TIDE_ROLE_earnings_distributor],
                                  .variant = "Epoch",
                                  .count = 1,
                                  .parts = { TIDE_PART_U64(id) } };
    tide_status status = read_entry(history, &in, found, &key,
                                    "total_revenue, partner_revenue, protocol_revenue,"
                                    " staker_snapshot, per_token_revenue, epoch_id, start_time,"
                                    " end_time, finalized",
                                    err);
    if (status != TIDE_OK || !*found)
        return status;
    *out = (struct tide_epoch){ .total_revenue = amount(&in, 0),
                                .partner_revenue = amount(&in, 1),
                                .protocol_revenue = amount(&in, 2),
                                .staker_snapshot = amount(&in, 3),
                                .per_token_revenue = amount(&in, 4),
                                .id = project_u64(&in.row, 5),
                                .start_time = project_u64(&in.row, 6),
                                .end_time = project_u64(&in.row, 7),
                                .finalized = project_bool(&in.row, 8) };
    return end_reading(&in, key.table, err);
}
