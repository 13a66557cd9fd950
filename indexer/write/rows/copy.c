/* Rows by COPY. */
#include "indexer/write/rows/copy.h"

/* Appends the COPY statement for a table's rows of this batch. The target is the partition's own
 * table, which avoids routing each row, or the table itself if it is not partitioned. What held
 * ledgers show of contracts waits in a table of its own, because readers look at
 * chain.contract_seen. State is merged, never copied. */
static void sql_target(struct write_session *s, uint32_t table_index, uint32_t from)
{
    const struct tide_table *table = &s->plan->tables[table_index];
    const struct tide_table *stored = tide_table_stored(table);
    write_sql_more(s, "COPY ");
    if (table->partitioned)
        write_sql_leaf(s, table, from);
    else if (table_index == TIDE_TABLE_CONTRACT_SEEN && write_plan_holds(s->plan, from))
        write_sql_more(s, "chain.contract_held");
    else
        write_sql_more(s, "%s.\"%s\"", stored->schema, stored->name);
    write_sql_more(s, " (");
    write_sql_columns(s, stored, "");
    write_sql_more(s, ") FROM STDIN (FORMAT binary);");
}

static bool is_copied(const struct write_plan *plan, const struct tide_batch *batch, uint32_t i)
{
    return batch->rows[i].count && plan->tables[i].kind != TIDE_TABLE_STATE;
}

static tide_status copy_table(struct write_session *s, struct write_keys *keys,
                              const struct tide_batch *batch, uint32_t i, struct tide_err *err)
{
    const struct tide_table *table = &s->plan->tables[i];
    const struct tide_rows *rows = &batch->rows[i];
    char what[128];
    tide_slice tuples;
    assert(table->kind != TIDE_TABLE_STATE && rows->copy.len > 0);
    int len = snprintf(what, sizeof what, "COPY %s.%s", table->schema, table->name);
    assert(len > 0 && (size_t)len < sizeof what);
    (void)len;
    tide_status status = write_keys_put(keys, i, rows, &tuples, err);
    if (status == TIDE_OK)
        status = tide_pg_copy_put(write_pg(s), what, tuples, rows->count, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("commit.copied"), err);
    return status;
}

/* Sends one statement for each table, in one message. The server takes one table's rows while the
 * keys of the next table's rows are filled in, and a hundred statements need not wait for a hundred
 * answers. */
tide_status write_copy_rows(struct write_session *s, struct write_keys *keys,
                            const struct tide_batch *batch, struct tide_err *err)
{
    struct tide_err ignored;
    bool any = false;
    assert(write_plan_partition(s->plan, batch->from) == write_plan_partition(s->plan, batch->to));
    write_sql(s, "%s", "");
    for (uint32_t i = 0; i < s->plan->table_count; i++) {
        if (is_copied(s->plan, batch, i))
            sql_target(s, i, write_plan_partition(s->plan, batch->from));
        any |= is_copied(s->plan, batch, i);
    }
    tide_buf_u8(&s->sql, 0);
    if (s->sql.failed)
        return tide_fail(err, TIDE_E_LIMIT, "writer: statements too long");
    if (!any)
        return TIDE_OK;
    tide_status status = tide_pg_copy_open(write_pg(s), (const char *)s->sql.ptr, err);
    for (uint32_t i = 0; i < s->plan->table_count && status == TIDE_OK; i++)
        if (is_copied(s->plan, batch, i))
            status = copy_table(s, keys, batch, i, err);
    tide_status closed = tide_pg_copy_close(write_pg(s), status == TIDE_OK ? err : &ignored);
    return status == TIDE_OK ? closed : status;
}
