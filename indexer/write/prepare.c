/* Prepares a session to take a batch in one round trip: the row types of the tables, and a prepared
 * statement for each operation on a table. Both are made when they are first needed, outside of
 * transactions. */
#include "indexer/write/writer_impl.h"

void writer_statement_name(char name[WRITER_NAME_MAX], enum writer_statement what, uint32_t table)
{
    static const char *const verbs[] = { "put", "add", "merge", "behind" };
    snprintf(name, WRITER_NAME_MAX, "%s%u", verbs[what], table);
}

/* State rows come in the shape of history. */
static uint32_t shape_of(const struct tide_writer *w, uint32_t table)
{
    const struct tide_table *t = &w->options.tables[table];
    return t->kind == TIDE_TABLE_STATE ? t->pair : table;
}

struct tide_row_shape *writer_shape(struct tide_writer *w, uint32_t table, bool stored)
{
    uint32_t index = shape_of(w, table);
    return stored && w->options.tables[index].stored ? &w->session.stored[index]
                                                     : &w->session.shapes[index];
}

static uint16_t column_named(const struct tide_table *table, const char *name)
{
    for (uint16_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return i;
    return TIDE_ROW_NO_COLUMN;
}

static tide_status fill_shape(struct tide_row_shape *shape, const struct tide_table *table,
                              const struct tide_pg_rows *rows, struct tide_err *err)
{
    uint32_t found = 0;
    *shape = (struct tide_row_shape){ .columns = (uint16_t)table->column_count };
    for (uint32_t i = 0; i < rows->count && i < TIDE_COLUMNS_MAX; i++) {
        uint16_t column = column_named(table, tide_pg_text(rows, i, 1));
        shape->attribute[i].oid = (uint32_t)tide_pg_u64(rows, i, 2);
        shape->attribute[i].column = column;
        found += column != TIDE_ROW_NO_COLUMN;
    }
    if (found != table->column_count || rows->count > TIDE_COLUMNS_MAX)
        return tide_fail(err, TIDE_E_SCHEMA, "%s.%s: its columns are not the ones of this build",
                         table->schema, table->name);
    shape->count = (uint16_t)rows->count;
    shape->oid = (uint32_t)tide_pg_u64(rows, 0, 0); /* last: it says that the shape is known */
    return TIDE_OK;
}

static tide_status learn_shape(struct tide_writer *w, uint32_t index, bool stored,
                               struct tide_err *err)
{
    const struct tide_table *table = &w->options.tables[shape_of(w, index)];
    if (stored)
        table = tide_table_stored(table);
    struct tide_pg_rows rows;
    const char *values[] = { table->schema, table->name };
    tide_status status = tide_pg_query(
        w->pg, &rows,
        "SELECT c.reltype, a.attname, a.atttypid FROM pg_attribute a JOIN pg_class c ON"
        " c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1"
        " AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
        values, 2, err);
    if (status == TIDE_OK)
        status = fill_shape(writer_shape(w, index, stored), table, &rows, err);
    tide_pg_rows_release(&rows);
    return status;
}

static void sql_put(struct tide_writer *w, uint32_t index)
{
    const struct tide_table *table = tide_table_stored(&w->options.tables[index]);
    writer_sql(w, "INSERT INTO ");
    if (table->partitioned)
        writer_sql_leaf(w, table, w->session.puts_from);
    else
        writer_sql_more(w, "%s.\"%s\"", table->schema, table->name);
    writer_sql_more(w, " (");
    writer_sql_columns(w, table, "");
    writer_sql_more(w, ") SELECT ");
    writer_sql_columns(w, table, "n.");
    writer_sql_more(w, " FROM unnest($1::%s.\"%s\"[]) n", table->schema, table->name);
}

static tide_status prepare_statement(struct tide_writer *w, enum writer_statement what,
                                     uint32_t table, struct tide_err *err)
{
    char name[WRITER_NAME_MAX];
    if (w->session.prepared[what][table])
        return TIDE_OK;
    bool stored = what == WRITER_PUT || what == WRITER_ADD;
    tide_status status = TIDE_OK;
    if (writer_shape(w, table, stored)->oid == 0)
        status = learn_shape(w, table, stored, err);
    if (status != TIDE_OK)
        return status;
    if (what == WRITER_PUT)
        sql_put(w, table);
    else if (what == WRITER_ADD)
        writer_sql_add(w, table);
    else
        writer_sql_merge(w, table, what == WRITER_MERGE_BEHIND);
    writer_statement_name(name, what, table);
    status = writer_sql_sealed(w, err);
    if (status == TIDE_OK)
        status = tide_pg_prepare(w->pg, name, (const char *)w->sql.ptr, err);
    w->session.prepared[what][table] = status == TIDE_OK;
    return status;
}

/* After a failure it is unknown which statements exist. Those that put rows name a partition. */
static tide_status begin_anew(struct tide_writer *w, uint32_t from, struct tide_err *err)
{
    struct writer_session *s = &w->session;
    if (!s->unsure && s->puts_from == from)
        return TIDE_OK;
    tide_status status = tide_pg_run(w->pg, "DEALLOCATE ALL", NULL, err);
    if (status == TIDE_OK) {
        memset(s, 0, sizeof *s);
        s->puts_from = from;
    }
    return status;
}

tide_status writer_prepare(struct tide_writer *w, const struct writer_sending *sending,
                           struct tide_err *err)
{
    const struct tide_batch *batch = sending->batch;
    bool onward = sending->cover->moves_cursor;
    tide_status status = begin_anew(w, partition_start(w, batch->from), err);
    for (uint32_t i = 0; i < w->options.table_count && status == TIDE_OK; i++) {
        bool is_state = w->options.tables[i].kind == TIDE_TABLE_STATE;
        if (batch->rows[i].count && is_state)
            status = prepare_statement(w, onward ? WRITER_MERGE : WRITER_MERGE_BEHIND, i, err);
        else if (batch->rows[i].count && !sending->copied)
            status = prepare_statement(w, WRITER_PUT, i, err);
    }
    if (status == TIDE_OK)
        status = writer_rollup_prepare(w, batch, err);
    if (status == TIDE_OK)
        status = writer_cover_prepare(w, onward, err);
    w->session.unsure |= status != TIDE_OK;
    return status;
}

tide_status writer_prepare_gap(struct tide_writer *w, const struct tide_batch *batch,
                               struct tide_err *err)
{
    tide_status status = begin_anew(w, w->session.puts_from, err);
    for (uint32_t i = 0; i < w->options.table_count && status == TIDE_OK; i++) {
        bool is_state = w->options.tables[i].kind == TIDE_TABLE_STATE;
        if (batch->rows[i].count)
            status = prepare_statement(w, is_state ? WRITER_MERGE_BEHIND : WRITER_ADD, i, err);
    }
    w->session.unsure |= status != TIDE_OK;
    return status;
}
