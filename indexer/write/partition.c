#include "indexer/write/writer_impl.h"
#include "tidemark/text.h"

/* Partitions by (deployment, ledger). A partition of every partitioned table is one row of
 * chain.partition; its tables are named NAME_pD_F. Each begins its life unattached:
 *
 *   create    the tables, without indexes, and the row           one transaction
 *   load      rows and progress                                  one transaction a batch
 *   build     keys and indexes that the parents have and they lack, one statement each; statistics
 *   attach    all tables, state, coverage, cursor                one transaction
 *
 * so that after a kill at any point what is missing can be seen and done. While the indexes of a
 * partition are built, the next one loads (w->complete, w->loading). They are attached in order. */

uint32_t partition_start(const struct tide_writer *w, uint32_t ledger)
{
    return ledger - ledger % w->options.partition_ledgers;
}

void writer_sql_leaf(struct tide_writer *w, const struct tide_table *table, uint32_t from)
{
    const struct tide_table *stored = tide_table_stored(table);
    writer_sql_more(w, "%s.\"%s_p%u_%u\"", stored->schema, stored->name, w->deployment, from);
}

static void read_loading(struct loading *l, const struct tide_pg_rows *rows, uint32_t row)
{
    *l = (struct loading){ .active = true,
                           .from = (uint32_t)tide_pg_u64(rows, row, 0),
                           .end = (uint32_t)tide_pg_u64(rows, row, 1),
                           .first = (uint32_t)tide_pg_u64(rows, row, 2),
                           .last = (uint32_t)tide_pg_u64(rows, row, 3),
                           .close_time = tide_pg_u64(rows, row, 6) };
    if (l->first) {
        tide_pg_bytes(rows, row, 4, l->previous_hash, TIDE_HASH_BYTES);
        tide_pg_bytes(rows, row, 5, l->hash, TIDE_HASH_BYTES);
    }
}

/* The size of partitions is that of the first one, whatever the configuration says today. */
static tide_status read_size(struct tide_writer *w, struct tide_err *err)
{
    struct tide_pg_rows rows;
    writer_sql(w,
               "SELECT end_ledger - from_ledger FROM chain.partition WHERE deployment = %u LIMIT 1",
               w->deployment);
    tide_status status = writer_query_sql(w, &rows, err);
    uint64_t size = status == TIDE_OK && rows.count ? tide_pg_u64(&rows, 0, 0) : 0;
    tide_pg_rows_release(&rows);
    if (size && size != w->options.partition_ledgers) {
        tide_log(TIDE_WARN, "partition.size", "configured=%u used=%" PRIu64,
                 w->options.partition_ledgers, size);
        w->options.partition_ledgers = (uint32_t)size;
    }
    return status;
}

uint32_t tide_writer_partition_ledgers(const struct tide_writer *w)
{
    return w->options.partition_ledgers;
}

tide_status partition_read(struct tide_writer *w, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = read_size(w, err);
    if (status != TIDE_OK)
        return status;
    writer_sql(w,
               "SELECT from_ledger, end_ledger, first_loaded, last_loaded, previous_hash, hash,"
               " extract(epoch FROM closed_at)::bigint FROM chain.partition"
               " WHERE deployment = %u AND NOT attached ORDER BY from_ledger LIMIT 2",
               w->deployment);
    status = writer_query_sql(w, &rows, err);
    w->attached_from = w->attached_end = 0;
    w->loading = w->complete = (struct loading){ .active = false };
    if (status == TIDE_OK && rows.count == 2)
        read_loading(&w->complete, &rows, 0);
    if (status == TIDE_OK && rows.count > 0)
        read_loading(&w->loading, &rows, rows.count - 1);
    tide_pg_rows_release(&rows);
    return status;
}

struct finding {
    uint32_t ledger;
    bool *attached, *exists;
};

static tide_status find(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    const struct finding *f = arg;
    struct tide_pg_rows rows;
    writer_sql(w,
               "SELECT attached, from_ledger, end_ledger FROM chain.partition WHERE deployment = %u"
               " AND from_ledger <= %u AND end_ledger > %u",
               w->deployment, f->ledger, f->ledger);
    tide_status status = writer_query_sql(w, &rows, err);
    if (status == TIDE_OK && rows.count == 1) {
        *f->exists = true;
        *f->attached = tide_pg_bool(&rows, 0, 0);
    }
    if (*f->attached) {
        w->attached_from = (uint32_t)tide_pg_u64(&rows, 0, 1);
        w->attached_end = (uint32_t)tide_pg_u64(&rows, 0, 2);
    }
    tide_pg_rows_release(&rows);
    return status;
}

tide_status partition_find(struct tide_writer *w, uint32_t ledger, bool *attached, bool *exists,
                           struct tide_err *err)
{
    struct finding finding = { ledger, attached, exists };
    *attached = ledger >= w->attached_from && ledger < w->attached_end;
    *exists = *attached;
    return *attached ? TIDE_OK : writer_retry(w, find, &finding, false, err);
}

static void sql_create(struct tide_writer *w, const struct tide_table *table, uint32_t from)
{
    writer_sql_more(w, "CREATE TABLE ");
    writer_sql_leaf(w, table, from);
    writer_sql_more(
        w,
        " (LIKE %s.\"%s\" INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE,"
        " CONSTRAINT loading CHECK (deployment = %u AND ledger >= %u AND ledger < %u));",
        tide_table_stored(table)->schema, table->name, w->deployment, from,
        from + w->options.partition_ledgers);
}

static tide_status create(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    const uint32_t from = *(const uint32_t *)arg;
    tide_status status = writer_begin(w, err);
    if (status != TIDE_OK)
        return status;
    writer_sql(w, "%s", "");
    for (uint32_t i = 0; i < w->options.table_count; i++)
        if (w->options.tables[i].partitioned && w->options.wanted[i])
            sql_create(w, &w->options.tables[i], from);
    writer_sql_more(w,
                    "INSERT INTO chain.partition (deployment, from_ledger, end_ledger, attached)"
                    " VALUES (%u, %u, %u, false)",
                    w->deployment, from, from + w->options.partition_ledgers);
    status = writer_run_sql(w, "INSERT", err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("partition.created"), err);
    if (status == TIDE_OK)
        status = writer_count(w, NULL, err);
    return status == TIDE_OK ? writer_commit(w, err) : status;
}

tide_status partition_create(struct tide_writer *w, uint32_t from, struct tide_err *err)
{
    if (from > UINT32_MAX - w->options.partition_ledgers ||
        from + w->options.partition_ledgers > INT32_MAX)
        return tide_fail(err, TIDE_E_LIMIT, "ledger %u is beyond what the tables hold", from);
    tide_status status = writer_retry(w, create, &from, true, err);
    if (status == TIDE_OK)
        w->loading = (struct loading){ .active = true,
                                       .from = from,
                                       .end = from + w->options.partition_ledgers };
    return status;
}

/* In the order in which a dump takes them, which is that of their making: else each waits, sooner
 * or later, for what the other holds, and the server ends one of the two. */
static void sql_lock_leaves(struct tide_writer *w)
{
    const char *before = "LOCK TABLE ";
    for (uint32_t i = 0; i < w->options.table_count; i++) {
        if (!w->options.tables[i].partitioned || !w->options.wanted[i])
            continue;
        writer_sql_more(w, "%s", before);
        writer_sql_leaf(w, &w->options.tables[i], w->loading.from);
        before = ", ";
    }
    if (before[0] == ',')
        writer_sql_more(w, " IN ACCESS EXCLUSIVE MODE; ");
}

static tide_status attach_tables(struct tide_writer *w, struct tide_err *err)
{
    const struct loading *l = &w->loading;
    writer_sql(w, "%s", "");
    sql_lock_leaves(w);
    for (uint32_t i = 0; i < w->options.table_count; i++) {
        const struct tide_table *table = tide_table_stored(&w->options.tables[i]);
        if (!table->partitioned || !w->options.wanted[i])
            continue;
        writer_sql_more(w, "ALTER TABLE %s.\"%s\" ATTACH PARTITION ", table->schema, table->name);
        writer_sql_leaf(w, table, l->from);
        writer_sql_more(w, " FOR VALUES FROM (%u, %u) TO (%u, %u); ALTER TABLE ", w->deployment,
                        l->from, w->deployment, l->end);
        writer_sql_leaf(w, table, l->from);
        writer_sql_more(w, " DROP CONSTRAINT loading;");
    }
    writer_sql_more(w,
                    "UPDATE chain.partition SET attached = true WHERE deployment = %u AND"
                    " from_ledger = %u AND NOT attached",
                    w->deployment, l->from);
    return writer_run_sql(w, "UPDATE 1", err);
}

static bool moves_cursor(const struct tide_writer *w)
{
    return w->loading.first && (w->cursor == 0 || w->loading.first == w->cursor + 1);
}

static tide_status attach_all(struct tide_writer *w, struct tide_err *err)
{
    const struct loading *l = &w->loading;
    tide_status status = attach_tables(w, err);
    if (status == TIDE_OK && l->first)
        status = publication_check_load(w, err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("attach.tables"), err);
    if (status == TIDE_OK && l->first)
        status = writer_merge_partition(w, l->from, !moves_cursor(w), err);
    if (status == TIDE_OK && l->first)
        status = writer_rollup_partition(w, l->from, (struct tide_range){ l->first, l->last }, err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("attach.merged"), err);
    struct cover cover = { l->first,        l->last, l->previous_hash, l->hash, l->close_time,
                           moves_cursor(w), NULL };
    if (status == TIDE_OK)
        status = l->first ? writer_cover(w, &cover, err) : writer_count(w, NULL, err);
    return status;
}

static tide_status attach(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    (void)arg;
    tide_status status = writer_begin_long(w, err);
    if (status == TIDE_OK)
        status = attach_all(w, err);
    if (status == TIDE_OK)
        status = writer_commit(w, err);
    writer_end_long(w);
    return status;
}

/* What the statistics of the partition's own tables are (partition_build.c) for this one, which has
 * no partitions. */
static tide_status analyse_words(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    (void)arg;
    tide_pg_patience(w->pg, 0);
    tide_status status = tide_pg_run(w->pg, "ANALYZE chain.word", "ANALYZE", err);
    tide_pg_patience(w->pg, w->options.silence_ms);
    return status;
}

tide_status partition_finish(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = writer_retry(w, partition_build, NULL, false, err);
    if (status == TIDE_OK && w->loading.first)
        status = writer_retry(w, analyse_words, NULL, false, err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("attach.before"), err);
    if (status == TIDE_OK)
        status = writer_retry(w, attach, NULL, true, err);
    if (status != TIDE_OK)
        return status;
    tide_log(TIDE_INFO, "partition.attached", "deployment=%u from=%u end=%u first=%u last=%u",
             w->deployment, w->loading.from, w->loading.end, w->loading.first, w->loading.last);
    if (moves_cursor(w)) {
        w->cursor = w->loading.last;
        memcpy(w->hash, w->loading.hash, TIDE_HASH_BYTES);
    }
    w->attached_from = w->loading.from;
    w->attached_end = w->loading.end;
    w->loading.active = false;
    return TIDE_OK;
}

tide_status partition_settle(struct tide_writer *w, struct tide_err *err)
{
    struct loading next = w->loading;
    assert(w->complete.active);
    partition_build_end(w, false);
    w->loading = w->complete;
    tide_status status = partition_finish(w, err);
    w->complete.active = status != TIDE_OK;
    w->loading = next;
    return status;
}

tide_status partition_settle_built(struct tide_writer *w, struct tide_err *err)
{
    return w->complete.active && partition_build_ended(w) ? partition_settle(w, err) : TIDE_OK;
}

tide_status partition_complete(struct tide_writer *w, struct tide_err *err)
{
    assert(w->loading.active && w->loading.last + 1 == w->loading.end);
    tide_status status = w->complete.active ? partition_settle(w, err) : TIDE_OK;
    if (status != TIDE_OK)
        return status;
    w->complete = w->loading;
    w->loading.active = false;
    status = writer_point(TIDE_FAILPOINT("partition.complete"), err);
    return status == TIDE_OK ? partition_build_begin(w, err) : status;
}

tide_status tide_writer_finish(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = w->complete.active ? partition_settle(w, err) : TIDE_OK;
    return status == TIDE_OK && w->loading.active ? partition_finish(w, err) : status;
}

/* The next partition is made while the current one still has room, so that no ledger at the tip
 * waits for it. */
tide_status tide_writer_ahead(struct tide_writer *w, uint32_t ledger, struct tide_err *err)
{
    uint32_t size = w->options.partition_ledgers, next = partition_start(w, ledger) + size;
    bool attached = false, exists = false;
    if (w->loading.active || next - ledger > size / 10 || next == w->ahead)
        return TIDE_OK;
    uint32_t from = w->attached_from, end = w->attached_end;
    tide_status status = partition_find(w, next, &attached, &exists, err);
    if (status == TIDE_OK && !exists)
        status = partition_create(w, next, err);
    if (status == TIDE_OK && w->loading.active)
        status = partition_finish(w, err);
    if (status == TIDE_OK)
        w->ahead = next;
    w->attached_from = from;
    w->attached_end = end;
    return status;
}
