/* Replaces the words of a batch by keys. indexer/database/words.h caches them. */
#include "indexer/write/rows/keys.h"

tide_status write_keys_open(struct write_keys *keys, const struct write_plan *plan,
                            struct tide_err *err)
{
    *keys = (struct write_keys){ .plan = plan };
    tide_buf_init(&keys->keyed, INT32_MAX);
    write_pack_open(&keys->pack);
    tide_status status = write_lives_open(&keys->lives, err);
    return status == TIDE_OK ? tide_words_open(&keys->words, err) : status;
}

void write_keys_close(struct write_keys *keys)
{
    tide_buf_release(&keys->keyed);
    write_lives_close(&keys->lives);
    write_pack_close(&keys->pack);
    tide_words_close(keys->words);
    keys->words = NULL;
}

tide_status write_keys_read(struct write_keys *keys, const struct tide_batch *batch, bool *ask,
                            struct tide_err *err)
{
    tide_status status = write_lives_match(&keys->lives, keys->plan, batch, err);
    tide_words_begin(keys->words);
    /* event.log shows the rows of other tables. */
    assert(batch->rows[TIDE_TABLE_EVENT_LOG].count == 0);
    for (uint32_t i = 0; i < keys->plan->table_count && status == TIDE_OK; i++)
        if (batch->rows[i].count && keys->plan->tables[i].stored)
            status = tide_words_read(keys->words, i, &keys->plan->tables[i],
                                     tide_buf_view(&batch->rows[i].copy), err);
    *ask = tide_words_missing(keys->words);
    return status;
}

tide_status write_keys_ask(struct write_keys *keys, struct write_session *s, struct tide_err *err)
{
    tide_status status = tide_words_ask(keys->words, write_pg(s), err);
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("commit.words"), err) : status;
}

/* Returns the end of the tables among which those that share the stored table of this one are. */
static uint32_t sharers_end(const struct write_plan *plan, uint32_t table)
{
    const struct tide_table *stored = plan->tables[table].stored;
    return stored && stored->is_shared ? plan->table_count : table + 1;
}

uint64_t write_keys_count(const struct write_keys *keys, const struct tide_batch *batch,
                          uint32_t table)
{
    const struct write_plan *plan = keys->plan;
    const struct tide_table *tables = plan->tables;
    uint64_t count = 0;
    if (table == TIDE_TABLE_HISTORY_TTL && write_plan_has_contracts(plan))
        return keys->lives.alone;
    if (!tide_table_owns(tables, table))
        return 0;
    for (uint32_t i = table; i < sharers_end(plan, table); i++)
        if (tables[i].stored == tables[table].stored && !tables[i].completes)
            count += batch->rows[i].count;
    return count;
}

static struct tide_words_rows rows_of(const struct write_keys *keys, const struct tide_batch *batch,
                                      uint32_t table)
{
    const struct tide_table *t = &keys->plan->tables[table];
    return (struct tide_words_rows){ table, t, tide_buf_view(&batch->rows[table].copy),
                                     t->kind == TIDE_TABLE_HISTORY
                                         ? write_lives_of(&keys->lives, table)
                                         : NULL };
}

tide_status write_keys_put(struct write_keys *keys, const struct tide_batch *batch, uint32_t table,
                           tide_slice *tuples, uint64_t *count, struct tide_err *err)
{
    const struct tide_table *tables = keys->plan->tables;
    struct tide_words_rows more = { 0 };
    tide_status status = TIDE_OK;
    assert(table < keys->plan->table_count && tide_table_owns(tables, table));
    *tuples = tide_buf_view(&batch->rows[table].copy);
    *count = write_keys_count(keys, batch, table);
    if (!tables[table].stored)
        return TIDE_OK;
    uint32_t end = sharers_end(keys->plan, table);
    tide_buf_reset(&keys->keyed);
    for (uint32_t i = table; i < end; i++)
        if (tables[i].stored == tables[table].stored && tables[i].completes && batch->rows[i].count)
            more = rows_of(keys, batch, i);
    for (uint32_t i = table; i < end && status == TIDE_OK; i++) {
        if (tables[i].stored != tables[table].stored || tables[i].completes ||
            !batch->rows[i].count)
            continue;
        struct tide_words_rows rows = rows_of(keys, batch, i);
        status = tide_words_put(keys->words, &rows, more.table ? &more : NULL, &keys->keyed, err);
    }
    *tuples = tide_buf_view(&keys->keyed);
    return status == TIDE_OK && tables[table].packed
               ? write_pack_rows(&keys->pack, tables[table].stored, tuples, count, err)
               : status;
}

/* ---- rows by COPY, table by table ---- */

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

static bool is_copied(const struct write_keys *keys, const struct tide_batch *batch, uint32_t i)
{
    return keys->plan->tables[i].kind != TIDE_TABLE_STATE && write_keys_count(keys, batch, i);
}

static tide_status copy_table(struct write_session *s, struct write_keys *keys,
                              const struct tide_batch *batch, uint32_t i, struct tide_err *err)
{
    const struct tide_table *table = &s->plan->tables[i];
    char what[128];
    tide_slice tuples;
    uint64_t count;
    assert(table->kind != TIDE_TABLE_STATE);
    int len = snprintf(what, sizeof what, "COPY %s.%s", table->schema, table->name);
    assert(len > 0 && (size_t)len < sizeof what);
    (void)len;
    tide_status status = write_keys_put(keys, batch, i, &tuples, &count, err);
    if (status == TIDE_OK)
        status = tide_pg_copy_put(write_pg(s), what, tuples, count, err);
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
        if (is_copied(keys, batch, i))
            sql_target(s, i, write_plan_partition(s->plan, batch->from));
        any |= is_copied(keys, batch, i);
    }
    tide_buf_u8(&s->sql, 0);
    if (s->sql.failed)
        return tide_fail(err, TIDE_E_LIMIT, "writer: statements too long");
    if (!any)
        return TIDE_OK;
    tide_status status = tide_pg_copy_open(write_pg(s), (const char *)s->sql.ptr, err);
    for (uint32_t i = 0; i < s->plan->table_count && status == TIDE_OK; i++)
        if (is_copied(keys, batch, i))
            status = copy_table(s, keys, batch, i, err);
    tide_status closed = tide_pg_copy_close(write_pg(s), status == TIDE_OK ? err : &ignored);
    return status == TIDE_OK ? closed : status;
}
