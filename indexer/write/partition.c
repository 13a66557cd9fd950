#include "indexer/write/writer_impl.h"
#include "tidemark/text.h"

/* Partitions by (deployment, ledger). A partition of every partitioned table is one row of
 * chain.partition; its tables are named NAME_pD_F. Each begins its life unattached:
 *
 *   create    the tables, without indexes, and the row           one transaction
 *   load      rows and progress                                  one transaction a batch
 *   build     vacuum; keys and indexes that the parents have and they lack, one statement each;
 *             statistics
 *   attach    all tables, state, coverage, cursor                one transaction
 *
 * so that after a kill at any point what is missing can be seen and done. While a full partition is
 * built, merged into state and folded into rollups, the next one loads (w->complete, w->loading).
 * They are attached in order (attach.c). */

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

/* What is loading has been attached. */
static void adopt_attached(struct tide_writer *w)
{
    tide_log(TIDE_INFO, "partition.attached", "deployment=%u from=%u end=%u first=%u last=%u",
             w->deployment, w->loading.from, w->loading.end, w->loading.first, w->loading.last);
    if (attach_moves_cursor(w)) {
        w->cursor = w->loading.last;
        memcpy(w->hash, w->loading.hash, TIDE_HASH_BYTES);
    }
    w->attached_from = w->loading.from;
    w->attached_end = w->loading.end;
    w->unanalysed |= w->loading.first != 0;
    w->loading.active = false;
}

tide_status partition_finish(struct tide_writer *w, bool perhaps, struct tide_err *err)
{
    tide_status status = perhaps ? TIDE_OK : writer_retry(w, partition_build, NULL, false, err);
    if (status == TIDE_OK && w->loading.first && !perhaps)
        status = writer_retry(w, attach_analyse_words, NULL, false, err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("attach.before"), err);
    if (status == TIDE_OK)
        status = writer_retry(w, attach_partition, &perhaps, true, err);
    if (status == TIDE_OK)
        adopt_attached(w);
    return status;
}

tide_status partition_settle(struct tide_writer *w, struct tide_err *err)
{
    struct loading next = w->loading;
    bool perhaps = false;
    tide_status status = TIDE_OK;
    assert(w->complete.active);
    bool attached = partition_build_end(w, false, &perhaps);
    w->loading = w->complete;
    if (attached) {
        w->moves++;
        adopt_attached(w);
    } else {
        status = partition_finish(w, perhaps, err);
    }
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
    if (status == TIDE_OK && w->loading.active)
        status = partition_finish(w, false, err);
    return status == TIDE_OK && w->unanalysed ? statistics_of_parents(w, err) : status;
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
        status = partition_finish(w, false, err);
    if (status == TIDE_OK)
        w->ahead = next;
    w->attached_from = from;
    w->attached_end = end;
    return status;
}
