#include "indexer/write/writer_impl.h"

/* Where a table's rows of this batch go: its partition's own table, which spares the routing of
 * each row; the table itself when it is not partitioned. State is merged, never copied. */
static void sql_target(struct tide_writer *w, const struct tide_table *table, uint32_t from)
{
    writer_sql(w, "COPY ");
    if (table->partitioned)
        writer_sql_leaf(w, table, from);
    else
        writer_sql_more(w, "%s.\"%s\"", table->schema, table->name);
    writer_sql_more(w, " (");
    writer_sql_columns(w, table, "");
    writer_sql_more(w, ") FROM STDIN (FORMAT binary)");
    tide_buf_u8(&w->sql, 0);
}

static tide_status copy_table(struct tide_writer *w, const struct tide_batch *batch, uint32_t i,
                              struct tide_err *err)
{
    const struct tide_table *table = &w->options.tables[i];
    const struct tide_rows *rows = &batch->rows[i];
    sql_target(w, table, partition_start(w, batch->from));
    if (w->sql.failed)
        return tide_fail(err, TIDE_E_LIMIT, "writer: statement for %s", table->name);
    tide_status status =
        tide_pg_copy(w->pg, (const char *)w->sql.ptr, tide_buf_view(&rows->copy), rows->count, err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("commit.copied"), err);
    return status;
}

tide_status writer_copy_rows(struct tide_writer *w, const struct tide_batch *batch,
                             struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < w->options.table_count && status == TIDE_OK; i++)
        if (batch->rows[i].count && w->options.tables[i].kind != TIDE_TABLE_STATE)
            status = copy_table(w, batch, i, err);
    return status;
}
