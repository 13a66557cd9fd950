#include "indexer/write/writer_impl.h"
#include "tidemark/text.h"

/* A loaded partition becomes visible: its tables are attached, its newest versions merged into
 * state, its rows folded into rollups, coverage and cursor moved, in one transaction.
 *
 * The transaction of a full partition runs on a session that built its indexes, while the
 * writer's own session loads the next one. It begins with state and rollups, which loading does not
 * touch. Only its end needs the writer: the fence, the tables, the cursor. What fails there is done
 * again by the writer's own session. */

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

bool attach_moves_cursor(const struct tide_writer *w)
{
    return w->loading.first && (w->cursor == 0 || w->loading.first == w->cursor + 1);
}

/* Analyses chain.word, which has no partitions, as partition_build.c does for the partition's own
 * tables. */
tide_status attach_analyse_words(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    (void)arg;
    tide_pg_patience(w->pg, 0);
    tide_status status = tide_pg_run(w->pg, "ANALYZE chain.word", "ANALYZE", err);
    tide_pg_patience(w->pg, w->options.silence_ms);
    return status;
}

static tide_status merge_rows(struct tide_writer *w, struct tide_err *err)
{
    const struct loading *l = &w->loading;
    const struct tide_range range = { l->first, l->last };
    tide_status status = TIDE_OK;
    if (l->first)
        status = writer_merge_partition(w, l->from, !attach_moves_cursor(w), err);
    if (status == TIDE_OK && l->first)
        status = writer_rollup_partition(w, l->from, range, err);
    return status == TIDE_OK ? writer_point(TIDE_FAILPOINT("attach.merged"), err) : status;
}

static tide_status show_tables(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = attach_tables(w, err);
    if (status == TIDE_OK && w->loading.first)
        status = publication_check_load(w, err);
    return status == TIDE_OK ? writer_point(TIDE_FAILPOINT("attach.tables"), err) : status;
}

static tide_status move_cursor(struct tide_writer *w, struct tide_err *err)
{
    const struct loading *l = &w->loading;
    const struct cover cover = { l->first, l->last,       l->previous_hash,
                                 l->hash,  l->close_time, attach_moves_cursor(w),
                                 NULL };
    return l->first ? writer_cover(w, &cover, err) : writer_count(w, NULL, err);
}

/* The end of an earlier transaction is not known, because the connection was lost at its COMMIT.
 * The row's lock waits for that session. *done: it committed; then this one has no more to do. */
static tide_status look_for_commit(struct tide_writer *w, bool *done, struct tide_err *err)
{
    struct tide_pg_rows rows;
    writer_sql(w,
               "BEGIN; SELECT moves FROM chain.cursor WHERE deployment = %u AND fence = %" PRIu64
               " FOR UPDATE",
               w->deployment, w->fence);
    tide_status status = writer_query_sql(w, &rows, err);
    *done = status == TIDE_OK && rows.count == 1 && tide_pg_u64(&rows, 0, 0) == w->moves + 1;
    tide_pg_rows_release(&rows);
    return status == TIDE_OK ? tide_pg_run(w->pg, "ROLLBACK", "ROLLBACK", err) : status;
}

tide_status attach_partition(struct tide_writer *w, const void *perhaps, struct tide_err *err)
{
    bool done = false;
    if (*(const bool *)perhaps) {
        tide_status status = look_for_commit(w, &done, err);
        if (status != TIDE_OK || done)
            return status;
    }
    tide_status status = writer_begin_long(w, err);
    if (status == TIDE_OK)
        status = show_tables(w, err);
    if (status == TIDE_OK)
        status = merge_rows(w, err);
    if (status == TIDE_OK)
        status = move_cursor(w, err);
    if (status == TIDE_OK)
        status = writer_commit(w, err);
    writer_end_long(w);
    return status;
}

/* ---- beside the writer ---- */

tide_status attach_begin_beside(struct tide_writer *second, struct tide_err *err)
{
    tide_status status = attach_analyse_words(second, NULL, err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("attach.before"), err);
    tide_pg_patience(second->pg, 0);
    if (status == TIDE_OK)
        status = tide_pg_run(second->pg, "BEGIN", "BEGIN", err);
    return status == TIDE_OK ? merge_rows(second, err) : status;
}

tide_status attach_end_beside(struct tide_writer *second, bool *sent, struct tide_err *err)
{
    struct tide_pg_rows rows;
    *sent = false;
    tide_pg_patience(second->pg, second->options.silence_ms);
    writer_sql(second, "%s", "");
    writer_sql_fence(second);
    tide_status status = writer_query_sql(second, &rows, err);
    if (status == TIDE_OK && rows.count != 1)
        status = writer_fenced(second, err);
    tide_pg_rows_release(&rows);
    if (status == TIDE_OK)
        status = show_tables(second, err);
    if (status == TIDE_OK)
        status = move_cursor(second, err);
    *sent = status == TIDE_OK;
    return status == TIDE_OK ? writer_commit(second, err) : status;
}
