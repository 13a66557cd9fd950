/* verify of the rollups: folds all stored rows into temporary tables, and compares those with the
 * stored rollups. */
#include "indexer/database/query.h"
#include "indexer/rollup/rollup.h"
#include "indexer/verify/verify.h"

enum { SQL_MAX = 64 << 10 };

/* Writes the table's name: rows are read from the whole table, not from a partition. */
static void put_name(void *self, struct tide_buf *out, const struct tide_rollup_piece *name)
{
    (void)self;
    tide_buf_putf(out, "%s.\"%s\"", name->schema, name->table);
}

static tide_status run_statement(struct tide_pg *pg, struct tide_buf *sql, struct tide_err *err)
{
    tide_buf_u8(sql, 0);
    tide_status status = sql->failed ? tide_fail(err, TIDE_E_MEMORY, "rollups")
                                     : tide_pg_run(pg, (const char *)sql->ptr, NULL, err);
    tide_buf_reset(sql);
    return status;
}

/* Begins a transaction with one snapshot, and creates an empty temporary table for each rollup
 * table. */
static tide_status begin_tables(struct tide_pg *pg, struct tide_buf *sql, struct tide_err *err)
{
    tide_buf_str(sql, "SET statement_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ;");
    for (size_t i = 0; i < tide_rollup_table_count; i++)
        tide_buf_putf(sql,
                      "CREATE TEMPORARY TABLE \"%s\" (LIKE rollup.\"%s\" INCLUDING INDEXES "
                      "INCLUDING DEFAULTS);",
                      tide_rollup_tables[i], tide_rollup_tables[i]);
    tide_buf_str(sql, TIDE_ROLLUP_BULK_SQL);
    return run_statement(pg, sql, err);
}

/* Folds the range, TIDE_ROLLUP_LEDGERS at a time. */
static tide_status fold_range(struct tide_pg *pg, const struct tide_verify *check,
                              struct tide_buf *sql, const struct tide_range *range,
                              struct tide_err *err)
{
    assert(sql->len > 0 && sql->ptr[sql->len - 1] == 0); /* libpq reads up to a NUL */
    char id[8], from[12], to[12];
    tide_status status = TIDE_OK;
    snprintf(id, sizeof id, "%u", check->deployment);
    for (uint32_t at = range->from; at <= range->to && status == TIDE_OK;
         at += TIDE_ROLLUP_LEDGERS) {
        snprintf(from, sizeof from, "%u", at);
        snprintf(to, sizeof to, "%u", at + TIDE_ROLLUP_LEDGERS - 1);
        status = tide_pg_query(pg, NULL, (const char *)sql->ptr, (const char *[]){ id, from, to },
                               3, err);
    }
    return status;
}

static tide_status fold_all(struct tide_pg *pg, const struct tide_verify *check,
                            struct tide_buf *sql, struct tide_err *err)
{
    const struct tide_rollup_writer writer = { put_name, NULL, "pg_temp", NULL };
    struct tide_pg_rows rows = { 0 };
    struct tide_range range = { 1, 0 };
    char id[8];
    snprintf(id, sizeof id, "%u", check->deployment);
    tide_status status = tide_pg_query(pg, &rows,
                                       "SELECT min(from_ledger), max(to_ledger) FROM chain.coverage"
                                       " WHERE deployment = $1",
                                       (const char *[]){ id }, 1, err);
    if (status == TIDE_OK && !tide_pg_is_null(&rows, 0, 0))
        range = (struct tide_range){ (uint32_t)tide_pg_u64(&rows, 0, 0),
                                     (uint32_t)tide_pg_u64(&rows, 0, 1) };
    tide_pg_rows_release(&rows);
    for (size_t i = 0; i < tide_rollup_count && status == TIDE_OK; i++) {
        tide_buf_reset(sql);
        tide_rollup_write(sql, &tide_rollups[i], &writer);
        status = sql->failed ? tide_fail(err, TIDE_E_MEMORY, "rollups")
                             : fold_range(pg, check, sql, &range, err);
    }
    tide_buf_reset(sql);
    return status;
}

/* Compares a table both ways, and reports the number of differing rows with one of them. */
static tide_status compare_table(struct tide_pg *pg, struct tide_verify *check,
                                 struct tide_buf *sql, const char *table, struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    tide_buf_putf(sql,
                  "WITH stored AS (SELECT * FROM rollup.\"%s\" WHERE deployment = %u), made AS"
                  " (SELECT * FROM pg_temp.\"%s\"), surplus AS (TABLE stored EXCEPT TABLE made),"
                  " missing AS (TABLE made EXCEPT TABLE stored) SELECT (SELECT count(*) FROM made),"
                  " (SELECT count(*) FROM surplus), (SELECT count(*) FROM missing),"
                  " coalesce((SELECT row_to_json(m) FROM missing AS m LIMIT 1),"
                  " (SELECT row_to_json(s) FROM surplus AS s LIMIT 1))",
                  table, check->deployment, table);
    tide_buf_u8(sql, 0);
    tide_status status = sql->failed
                             ? tide_fail(err, TIDE_E_MEMORY, "rollups")
                             : tide_pg_query(pg, &rows, (const char *)sql->ptr, NULL, 0, err);
    tide_buf_reset(sql);
    if (status == TIDE_OK && (tide_pg_u64(&rows, 0, 1) || tide_pg_u64(&rows, 0, 2)))
        tide_verify_report(
            check,
            "rollup.%s: %s stored rows are not what events and history give, %s rows are"
            " missing (an altered row counts as both); for example %s",
            table, tide_pg_text(&rows, 0, 1), tide_pg_text(&rows, 0, 2), tide_pg_text(&rows, 0, 3));
    if (status == TIDE_OK)
        printf("rollup  %s rows of %s made again\n", tide_pg_text(&rows, 0, 0), table);
    tide_pg_rows_release(&rows);
    return status;
}

tide_status tide_verify_rollups(struct tide_verify *check, const struct tide_config *config,
                                struct tide_err *err)
{
    struct tide_pg *pg = NULL;
    struct tide_buf sql;
    tide_buf_init(&sql, SQL_MAX);
    tide_status status = tide_query_connect(&pg, config, "tidemark-verify", true, err);
    if (status == TIDE_OK)
        status = begin_tables(pg, &sql, err);
    if (status == TIDE_OK)
        status = fold_all(pg, check, &sql, err);
    for (size_t i = 0; i < tide_rollup_table_count && status == TIDE_OK; i++)
        status = compare_table(pg, check, &sql, tide_rollup_tables[i], err);
    tide_buf_release(&sql);
    tide_pg_close(pg); /* the temporary tables end with the connection */
    return status;
}
