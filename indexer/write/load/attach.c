/* Makes a loaded partition visible in one transaction: attaches its tables, merges its newest
 * versions into state, folds its rows into rollups, and moves coverage and cursor.
 *
 * The transaction of a full partition runs on a session that built its indexes, while the writer's
 * own session loads the next partition. It begins with state and rollups, which loading does not
 * touch. Only its end needs the writer: the fence, the tables, the cursor. If it fails, the
 * writer's own session does it again. */
#include "indexer/write/load/attach.h"
#include "indexer/write/rows/cover.h"
#include "indexer/write/rows/statements.h"

#include <assert.h>
#include <string.h>

/* --- a range that is being loaded ------------------------------------------------------- */

struct load_range load_range_of(uint32_t from, uint32_t end)
{
    assert(from < end);
    return (struct load_range){ .active = true, .from = from, .end = end };
}

bool load_range_takes(const struct load_range *range, const struct tide_batch *batch)
{
    return range->active && batch->from >= range->from && batch->from < range->end &&
           (!range->first || batch->from == range->last + 1);
}

void load_range_add(struct load_range *range, const struct tide_batch *batch)
{
    assert(load_range_takes(range, batch) && batch->to >= batch->from && batch->to < range->end);
    if (!range->first) {
        range->first = batch->from;
        memcpy(range->previous_hash, batch->previous_hash, TIDE_HASH_BYTES);
    }
    range->last = batch->to;
    memcpy(range->hash, batch->hash, TIDE_HASH_BYTES);
    range->closed_ms = batch->closed_ms;
    assert(range->first > 0 && range->first <= range->last);
}

bool load_range_is_full(const struct load_range *range)
{
    return range->active && range->last + 1 == range->end;
}

bool load_range_is_whole(const struct load_range *range)
{
    return range->first == range->from && range->last + 1 == range->end;
}

bool load_range_wants_spare(const struct load_range *range)
{
    assert(range->last >= range->from); /* a batch was added */
    return range->last - range->from >= (range->end - range->from) / 3 * 2;
}

/* ---- publications ---- */

/* Logical replication sends rows that are written to a published table. Rows loaded into a detached
 * partition were never written to its parent, so no subscriber would get them, and no error would
 * show it. While a publication has partitioned tables, a new partition is therefore attached empty
 * and its rows go through the parent. If a publication is created during a load, that load is not
 * attached. */
static const char published_sql[] =
    "SELECT string_agg(quote_ident(p.pubname), ', ' ORDER BY p.pubname) FROM pg_publication AS p"
    " WHERE p.puballtables OR EXISTS (SELECT FROM pg_publication_rel AS r JOIN pg_class AS c"
    " ON c.oid = r.prrelid WHERE r.prpubid = p.oid AND c.relkind = 'p') OR EXISTS (SELECT FROM"
    " pg_publication_namespace AS n JOIN pg_class AS c ON c.relnamespace = n.pnnspid WHERE"
    " n.pnpubid = p.oid AND c.relkind = 'p')";

tide_status load_publication_find(struct write_session *s, struct load_publications *out,
                                  struct tide_err *err)
{
    write_sql(s, "%s", published_sql);
    tide_status status = write_query_sql(s, err);
    *out = (struct load_publications){ .any = false };
    if (status != TIDE_OK)
        return status;
    out->any = !tide_pg_is_null(&s->rows, 0, 0);
    static_assert(sizeof out->names > 200, "the cut list has its NUL");
    snprintf(out->names, sizeof out->names, "%.200s", tide_pg_text(&s->rows, 0, 0));
    return TIDE_OK;
}

/* Runs in the transaction that attaches a loaded partition. Fails with TIDE_E_DB_FATAL if
 * subscribers would miss its rows. Creating a publication that names a table waits for the table's
 * lock, so none can come in between. A publication of all tables or of a schema takes no lock: if
 * it is created at the moment of COMMIT, it is not noticed. */
static tide_status check_publications(struct write_session *s, const struct load_range *range,
                                      struct tide_err *err)
{
    struct load_publications found;
    tide_status status = load_publication_find(s, &found, err);
    if (status != TIDE_OK || !found.any)
        return status;
    return tide_fail(err, TIDE_E_DB_FATAL,
                     "ledgers %u to %u were loaded before the publication %s was made: its "
                     "subscribers would never get their rows; DROP PUBLICATION, let the indexer "
                     "attach them, then make publication and subscription again",
                     range->first, range->last, found.names);
}

/* ---- the transaction ---- */

/* Locks the tables in the order of their creation, in which pg_dump locks them. In another order
 * the two could deadlock, and the server would end one of them. */
static void sql_lock_leaves(struct write_session *s, const struct load_range *l)
{
    const char *before = "LOCK TABLE ";
    for (uint32_t i = 0; i < s->plan->table_count; i++) {
        if (!s->plan->tables[i].partitioned || !tide_table_owns(s->plan->tables, i))
            continue;
        write_sql_more(s, "%s", before);
        write_sql_leaf(s, &s->plan->tables[i], l->from);
        before = ", ";
    }
    if (before[0] == ',')
        write_sql_more(s, " IN ACCESS EXCLUSIVE MODE; ");
}

static tide_status attach_tables(struct write_session *s, const struct load_range *l,
                                 struct tide_err *err)
{
    write_sql(s, "%s", "");
    sql_lock_leaves(s, l);
    for (uint32_t i = 0; i < s->plan->table_count; i++) {
        const struct tide_table *table = tide_table_stored(&s->plan->tables[i]);
        if (!table->partitioned || !tide_table_owns(s->plan->tables, i))
            continue;
        write_sql_more(s, "ALTER TABLE %s.\"%s\" ATTACH PARTITION ", table->schema, table->name);
        write_sql_leaf(s, table, l->from);
        write_sql_more(s, " FOR VALUES FROM (%u, %u) TO (%u, %u); ALTER TABLE ",
                       s->plan->deployment, l->from, s->plan->deployment, l->end);
        write_sql_leaf(s, table, l->from);
        write_sql_more(s, " DROP CONSTRAINT loading;");
    }
    if (l->first) /* a snapshot of before sees these rows, and its cursor is behind them */
        write_sql_more(s, "UPDATE chain.cursor SET parts = parts + 1 WHERE deployment = %u;",
                       s->plan->deployment);
    write_sql_more(s,
                   "UPDATE chain.partition SET attached = true WHERE deployment = %u AND"
                   " from_ledger = %u AND NOT attached",
                   s->plan->deployment, l->from);
    return write_run_sql(s, "UPDATE 1", err);
}

bool load_attach_moves(const struct write_cursor *cursor, const struct load_range *range)
{
    return range->first && write_cursor_continues(cursor, range->first);
}

static tide_status analyse_words(struct write_session *s, struct tide_err *err)
{
    tide_pg_patience(write_pg(s), 0);
    tide_status status = tide_pg_run(write_pg(s), "ANALYZE chain.word", "ANALYZE", err);
    tide_pg_patience(write_pg(s), s->plan->silence_ms);
    return status;
}

tide_status load_attach_words(struct write_main *m, const void *arg, struct tide_err *err)
{
    (void)arg;
    return analyse_words(&m->session, err);
}

static tide_status merge_rows(struct write_session *s, const struct load_attach *a,
                              struct tide_err *err)
{
    const struct load_range *l = &a->range;
    const struct tide_range range = { l->first, l->last };
    tide_status status = TIDE_OK;
    if (l->first)
        status = write_merge_partition(s, l->from, 0, !a->moves_cursor, err);
    if (status == TIDE_OK && l->first)
        status = write_rollup_partition(s, a->rollups, l->from, range, err);
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("attach.merged"), err) : status;
}

tide_status load_attach_show(struct write_session *s, const struct load_range *range,
                             struct tide_err *err)
{
    tide_status status = attach_tables(s, range, err);
    if (status == TIDE_OK && range->first)
        status = check_publications(s, range, err);
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("attach.tables"), err) : status;
}

static tide_status move_cursor(struct write_session *s, const struct load_attach *a,
                               struct tide_err *err)
{
    const struct load_range *l = &a->range;
    const struct write_cover cover = { l->first, l->last,      l->previous_hash,
                                       l->hash,  l->closed_ms, a->moves_cursor,
                                       NULL };
    return l->first ? write_cover(s, &cover, err) : write_count(s, NULL, err);
}

/* Finds out whether an earlier transaction committed whose connection was lost at COMMIT. FOR
 * UPDATE waits for that session. *done: it committed, and nothing is left to do. */
static tide_status look_for_commit(struct write_main *m, bool *done, struct tide_err *err)
{
    struct write_session *s = &m->session;
    write_sql(s,
              "BEGIN; SELECT moves FROM chain.cursor WHERE deployment = %u AND writer = '%s'"
              " FOR UPDATE",
              s->plan->deployment, m->cursor.writer);
    tide_status status = write_query_sql(s, err);
    *done = status == TIDE_OK && s->rows.count == 1 &&
            tide_pg_u64(&s->rows, 0, 0) == m->cursor.moves + 1;
    return status == TIDE_OK ? tide_pg_run(write_pg(s), "ROLLBACK", "ROLLBACK", err) : status;
}

/* Does everything except BEGIN, fence and COMMIT, in the order of the writer's own session. */
static tide_status attach_all(struct write_session *s, const struct load_attach *a,
                              struct tide_err *err)
{
    tide_status status = load_attach_show(s, &a->range, err);
    if (status == TIDE_OK)
        status = merge_rows(s, a, err);
    return status == TIDE_OK ? move_cursor(s, a, err) : status;
}

tide_status load_attach_step(struct write_main *m, const void *arg, struct tide_err *err)
{
    const struct load_attach *a = arg;
    bool done = false;
    assert(a->moves_cursor == load_attach_moves(&m->cursor, &a->range));
    if (a->perhaps) {
        tide_status status = look_for_commit(m, &done, err);
        if (status != TIDE_OK || done)
            return status;
    }
    tide_status status = write_begin_long(m, err);
    if (status == TIDE_OK)
        status = attach_all(&m->session, a, err);
    if (status == TIDE_OK)
        status = write_commit(&m->session, err);
    write_end_long(m);
    return status;
}

/* ---- beside the writer ---- */

tide_status load_attach_begin(struct write_session *s, const struct load_attach *a,
                              struct tide_err *err)
{
    assert(s->owner == WRITE_OWNER_BUILD); /* the writer's session begins with the fence */
    tide_status status = analyse_words(s, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("attach.before"), err);
    tide_pg_patience(write_pg(s), 0);
    if (status == TIDE_OK)
        status = tide_pg_run(write_pg(s), "BEGIN", "BEGIN", err);
    return status == TIDE_OK ? merge_rows(s, a, err) : status;
}

tide_status load_attach_end(struct write_session *s, const struct load_attach *a,
                            const struct write_cursor *cursor, bool *sent, struct tide_err *err)
{
    assert(s->owner == WRITE_OWNER_BUILD);
    assert(a->moves_cursor == load_attach_moves(cursor, &a->range));
    *sent = false;
    tide_pg_patience(write_pg(s), s->plan->silence_ms);
    write_sql(s, "%s", "");
    write_sql_fence(s, cursor);
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK && s->rows.count != 1)
        status = write_fenced(s->plan, err);
    if (status == TIDE_OK)
        status = load_attach_show(s, &a->range, err);
    if (status == TIDE_OK)
        status = move_cursor(s, a, err);
    *sent = status == TIDE_OK;
    return status == TIDE_OK ? write_commit(s, err) : status;
}
