#include "indexer/write/writer_impl.h"

/* Where a table's rows of this batch go: its partition's own table, which spares the routing of
 * each row; the table itself when it is not partitioned. State is merged, never copied. */
static void sql_target(struct tide_writer *w, const struct tide_table *table, uint32_t from)
{
    const struct tide_table *stored = tide_table_stored(table);
    writer_sql_more(w, "COPY ");
    if (table->partitioned)
        writer_sql_leaf(w, table, from);
    else
        writer_sql_more(w, "%s.\"%s\"", stored->schema, stored->name);
    writer_sql_more(w, " (");
    writer_sql_columns(w, stored, "");
    writer_sql_more(w, ") FROM STDIN (FORMAT binary);");
}

tide_status writer_read_words(struct tide_writer *w, const struct tide_batch *batch, bool *ask,
                              struct tide_err *err)
{
    tide_status status = TIDE_OK;
    tide_words_begin(w->words);
    for (uint32_t i = 0; i < w->options.table_count && status == TIDE_OK; i++)
        if (batch->rows[i].count && w->options.tables[i].stored)
            status = tide_words_read(w->words, i, &w->options.tables[i],
                                     tide_buf_view(&batch->rows[i].copy), err);
    *ask = tide_words_missing(w->words);
    return status;
}

tide_status writer_ask_words(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = tide_words_ask(w->words, w->pg, err);
    return status == TIDE_OK ? writer_point(TIDE_FAILPOINT("commit.words"), err) : status;
}

tide_status writer_keyed(struct tide_writer *w, uint32_t table, const struct tide_rows *rows,
                         tide_slice *tuples, struct tide_err *err)
{
    const struct tide_table *t = &w->options.tables[table];
    *tuples = tide_buf_view(&rows->copy);
    if (!t->stored)
        return TIDE_OK;
    tide_buf_reset(&w->keyed);
    tide_status status = tide_words_put(w->words, table, t, *tuples, &w->keyed, err);
    *tuples = tide_buf_view(&w->keyed);
    return status;
}

static bool is_copied(const struct tide_writer *w, const struct tide_batch *batch, uint32_t i)
{
    return batch->rows[i].count && w->options.tables[i].kind != TIDE_TABLE_STATE;
}

static tide_status copy_table(struct tide_writer *w, const struct tide_batch *batch, uint32_t i,
                              struct tide_err *err)
{
    const struct tide_table *table = &w->options.tables[i];
    const struct tide_rows *rows = &batch->rows[i];
    char what[128];
    tide_slice tuples;
    snprintf(what, sizeof what, "COPY %s.%s", table->schema, table->name);
    tide_status status = writer_keyed(w, i, rows, &tuples, err);
    if (status == TIDE_OK)
        status = tide_pg_copy_put(w->pg, what, tuples, rows->count, err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("commit.copied"), err);
    return status;
}

/* A statement for each table, in one message: the server takes in one table's rows while the next
 * one's get their keys, and a hundred statements don't wait for a hundred answers. */
tide_status writer_copy_rows(struct tide_writer *w, const struct tide_batch *batch,
                             struct tide_err *err)
{
    struct tide_err ignored;
    bool any = false;
    writer_sql(w, "%s", "");
    for (uint32_t i = 0; i < w->options.table_count; i++) {
        if (is_copied(w, batch, i))
            sql_target(w, &w->options.tables[i], partition_start(w, batch->from));
        any |= is_copied(w, batch, i);
    }
    tide_buf_u8(&w->sql, 0);
    if (w->sql.failed)
        return tide_fail(err, TIDE_E_LIMIT, "writer: statements too long");
    if (!any)
        return TIDE_OK;
    tide_status status = tide_pg_copy_open(w->pg, (const char *)w->sql.ptr, err);
    for (uint32_t i = 0; i < w->options.table_count && status == TIDE_OK; i++)
        if (is_copied(w, batch, i))
            status = copy_table(w, batch, i, err);
    tide_status closed = tide_pg_copy_close(w->pg, status == TIDE_OK ? err : &ignored);
    return status == TIDE_OK ? closed : status;
}
