#include "schema/reader/reader_sql.h"
#include "tidemark/history_lookup.h"

/* The columns of one entry, read with the helpers of project.h. */
struct reading {
    struct tide_pg_rows rows;
    struct project_row row;
};

static tide_status read_entry(struct tide_history *history, struct reading *reading, bool *found,
                              const struct tide_entry_key *key, const char *sql,
                              struct tide_err *err)
{
    tide_status status = tide_history_entry(history, &reading->rows, found, key, sql, err);
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

tide_status tide_history_stability(struct tide_history *history, struct tide_stability *out,
                                   bool *found, struct tide_err *err)
{
    struct reading in;
    struct tide_entry_key key = { .contract = history->contracts[TIDE_ROLE_stability_pool],
                                  .variant = "State" };
    tide_status status = read_entry(history, &in, found, &key, reader_sql_stability, err);
    if (status != TIDE_OK || !*found)
        return status;
    *out = (struct tide_stability){ .p = amount(&in, 0), .epoch = project_u64(&in.row, 1) };
    return end_reading(&in, "stability_pool_state", err);
}

tide_status tide_history_saving(struct tide_history *history, struct tide_saving *out, bool *found,
                                const struct tide_hot_address *depositor, struct tide_err *err)
{
    struct reading in;
    struct tide_entry_key key = { .contract = history->contracts[TIDE_ROLE_stability_pool],
                                  .variant = "Deposit",
                                  .count = 1,
                                  .parts = { TIDE_PART_ADDRESS(*depositor) } };
    tide_status status = read_entry(history, &in, found, &key, reader_sql_saving, err);
    if (status != TIDE_OK || !*found)
        return status;
    *out = (struct tide_saving){ .initial_value = amount(&in, 0),
                                 .p_value = amount(&in, 1),
                                 .epoch = project_u64(&in.row, 2) };
    return end_reading(&in, "stability_pool_deposit", err);
}
