#include "indexer/write/writer_impl.h"
#include "tidemark/text.h"

/* Partitions by (deployment, ledger). A partition of every partitioned table is one row of
 * chain.partition; its tables are named NAME_pD_F. Each begins its life unattached:
 *
 *   create    the tables, without indexes, and the row           one transaction; most often while
 *             the partition before it loads (partition_spare.c)
 *   load      rows and progress                                  one transaction a batch
 *   build     vacuum; keys and indexes that the parents have and they lack, one statement each;
 *             statistics
 *   attach    all tables, state, coverage, cursor                one transaction
 *
 * so that after a kill at any point what is missing can be seen and done. Up to three are on their
 * way: one loads, the full one before it gets its indexes, and that before this one is merged into
 * state and folded into rollups (w->loading, w->full). They are attached in order (attach.c). */

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
               " WHERE deployment = %u AND NOT attached AND first_loaded IS NOT NULL"
               " ORDER BY from_ledger LIMIT %u",
               w->deployment, WRITER_FULL_MAX + 1);
    status = writer_query_sql(w, &rows, err);
    w->attached_from = w->attached_end = 0;
    w->loading = (struct loading){ .active = false };
    w->full_count = 0;
    for (uint32_t row = 0; row + 1 < rows.count; row++) {
        w->full[w->full_count] = (struct full){ .build = NULL };
        read_loading(&w->full[w->full_count++].range, &rows, row);
    }
    if (status == TIDE_OK && rows.count > 0)
        read_loading(&w->loading, &rows, rows.count - 1);
    tide_pg_rows_release(&rows);
    return status;
}

struct finding {
    uint32_t ledger;
    bool *attached;
};

static tide_status find_partition(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    const struct finding *f = arg;
    struct tide_pg_rows rows;
    writer_sql(w,
               "SELECT attached, from_ledger, end_ledger FROM chain.partition WHERE deployment = %u"
               " AND from_ledger <= %u AND end_ledger > %u",
               w->deployment, f->ledger, f->ledger);
    tide_status status = writer_query_sql(w, &rows, err);
    *f->attached = status == TIDE_OK && rows.count == 1 && tide_pg_bool(&rows, 0, 0);
    if (*f->attached) {
        w->attached_from = (uint32_t)tide_pg_u64(&rows, 0, 1);
        w->attached_end = (uint32_t)tide_pg_u64(&rows, 0, 2);
    }
    tide_pg_rows_release(&rows);
    return status;
}

tide_status partition_find(struct tide_writer *w, uint32_t ledger, bool *attached,
                           struct tide_err *err)
{
    struct finding finding = { ledger, attached };
    *attached = ledger >= w->attached_from && ledger < w->attached_end;
    return *attached ? TIDE_OK : writer_retry(w, find_partition, &finding, false, err);
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

/* The row comes first: another session that makes the partition waits for it, then takes it. */
tide_status partition_make_tables(struct tide_writer *w, uint32_t from, struct tide_err *err)
{
    struct tide_pg_rows rows;
    writer_sql(w,
               "INSERT INTO chain.partition (deployment, from_ledger, end_ledger, attached)"
               " VALUES (%u, %u, %u, false) ON CONFLICT DO NOTHING RETURNING 1",
               w->deployment, from, from + w->options.partition_ledgers);
    tide_status status = writer_query_sql(w, &rows, err);
    bool there = status == TIDE_OK && rows.count == 0;
    tide_pg_rows_release(&rows);
    if (status != TIDE_OK || there)
        return status;
    writer_sql(w, "%s", "");
    for (uint32_t i = 0; i < w->options.table_count; i++)
        if (w->options.tables[i].partitioned && w->options.wanted[i])
            sql_create(w, &w->options.tables[i], from);
    status = writer_run_sql(w, "CREATE TABLE", err);
    return status == TIDE_OK ? writer_point(TIDE_FAILPOINT("partition.created"), err) : status;
}

static tide_status create_partition(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    tide_status status = writer_begin(w, err);
    if (status == TIDE_OK)
        status = partition_make_tables(w, *(const uint32_t *)arg, err);
    if (status == TIDE_OK)
        status = writer_count(w, NULL, err);
    return status == TIDE_OK ? writer_commit(w, err) : status;
}

bool partition_fits(const struct tide_writer *w, uint32_t from)
{
    return from <= INT32_MAX - w->options.partition_ledgers;
}

tide_status partition_create(struct tide_writer *w, uint32_t from, struct tide_err *err)
{
    if (!partition_fits(w, from))
        return tide_fail(err, TIDE_E_LIMIT, "ledger %u is beyond what the tables hold", from);
    partition_spare_end(w, false);
    tide_status status = writer_retry(w, create_partition, &from, true, err);
    if (status == TIDE_OK)
        w->loading = (struct loading){ .active = true,
                                       .from = from,
                                       .end = from + w->options.partition_ledgers };
    return status;
}

/* Notes that the loading partition has been attached. */
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

/* Attaches the oldest full partition. */
static tide_status settle_oldest(struct tide_writer *w, struct tide_err *err)
{
    struct loading next = w->loading;
    bool perhaps = false;
    tide_status status = TIDE_OK;
    assert(w->full_count > 0);
    bool attached = partition_build_end(w, &w->full[0], false, &perhaps);
    w->loading = w->full[0].range;
    if (attached) {
        w->moves++;
        adopt_attached(w);
    } else {
        status = partition_finish(w, perhaps, err);
    }
    w->loading = next;
    if (status != TIDE_OK)
        return status;
    w->full_count--;
    memmove(&w->full[0], &w->full[1], w->full_count * sizeof w->full[0]);
    if (w->full_count)
        partition_build_merge(w, &w->full[0]);
    return TIDE_OK;
}

tide_status partition_settle(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && w->full_count)
        status = settle_oldest(w, err);
    return status;
}

tide_status partition_settle_built(struct tide_writer *w, struct tide_err *err)
{
    bool built = w->full_count && partition_build_ended(&w->full[0]);
    return built ? settle_oldest(w, err) : TIDE_OK;
}

tide_status partition_complete(struct tide_writer *w, struct tide_err *err)
{
    assert(w->loading.active && w->loading.last + 1 == w->loading.end);
    tide_status status = w->full_count == WRITER_FULL_MAX ? settle_oldest(w, err) : TIDE_OK;
    if (status != TIDE_OK)
        return status;
    if (w->full_count)
        partition_build_indexes(w, &w->full[0]);
    struct full *full = &w->full[w->full_count++];
    *full = (struct full){ .range = w->loading };
    w->loading.active = false;
    status = writer_point(TIDE_FAILPOINT("partition.complete"), err);
    if (status == TIDE_OK)
        status = partition_build_begin(w, full, err);
    if (status == TIDE_OK && w->full_count == 1)
        partition_build_merge(w, full);
    return status;
}

tide_status tide_writer_finish(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = partition_settle(w, err);
    if (status == TIDE_OK && w->loading.active)
        status = partition_finish(w, false, err);
    return status == TIDE_OK && w->unanalysed ? statistics_of_parents(w, err) : status;
}

/* The next partition is made while the current one still has room, so that no ledger at the tip
 * waits for it. */
tide_status tide_writer_ahead(struct tide_writer *w, uint32_t ledger, struct tide_err *err)
{
    uint32_t size = w->options.partition_ledgers, next = partition_start(w, ledger) + size;
    bool attached = false;
    if (w->loading.active || next - ledger > size / 10 || next == w->ahead)
        return TIDE_OK;
    uint32_t from = w->attached_from, end = w->attached_end;
    tide_status status = partition_find(w, next, &attached, err);
    if (status == TIDE_OK && !attached)
        status = partition_create(w, next, err);
    if (status == TIDE_OK && w->loading.active)
        status = partition_finish(w, false, err);
    if (status == TIDE_OK)
        w->ahead = next;
    w->attached_from = from;
    w->attached_end = end;
    return status;
}
