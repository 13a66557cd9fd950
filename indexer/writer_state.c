#include "indexer/writer_impl.h"

/* State holds the newest version of each key. Versions come in the shape of the history table
 * (removed ones too), at most one a key: rows of a subquery called n. */

static void sql_assignments(struct tide_writer *w, const struct tide_table *state)
{
    const char *comma = "";
    for (uint32_t i = 0; i < state->column_count; i++) {
        const char *name = state->columns[i].name;
        if (strcmp(name, "deployment") == 0 || strcmp(name, "key_hash") == 0)
            continue;
        writer_sql_more(w, "%s\"%s\" = excluded.\"%s\"", comma, name, name);
        comma = ", ";
    }
}

/* Behind the cursor a key may have newer versions, even a removal that left no row in state. */
static void sql_newest_only(struct tide_writer *w, const struct tide_table *history)
{
    writer_sql_more(w,
                    " AND NOT EXISTS (SELECT 1 FROM history.\"%s\" h WHERE h.deployment ="
                    " n.deployment AND h.key_hash = n.key_hash AND (h.ledger, h.tx, h.seq) >"
                    " (n.ledger, n.tx, n.seq))",
                    history->name);
}

/* Appends the statement that merges the rows of n, given as text that defines it. */
static void sql_merge(struct tide_writer *w, const struct tide_table *state, const char *source,
                      bool behind)
{
    const struct tide_table *history = &w->options.tables[state->pair];
    writer_sql_more(w,
                    "WITH %s, gone AS (DELETE FROM state.\"%s\" s USING n WHERE n.removed AND"
                    " s.deployment = n.deployment AND s.key_hash = n.key_hash AND (s.ledger, s.tx,"
                    " s.seq) <= (n.ledger, n.tx, n.seq)) INSERT INTO state.\"%s\" AS s (",
                    source, state->name, state->name);
    writer_sql_columns(w, state, "");
    writer_sql_more(w, ") SELECT ");
    writer_sql_columns(w, state, "n.");
    writer_sql_more(w, " FROM n WHERE NOT n.removed");
    if (behind)
        sql_newest_only(w, history);
    writer_sql_more(w, " ON CONFLICT (deployment, key_hash) DO UPDATE SET ");
    sql_assignments(w, state);
    writer_sql_more(w, " WHERE (s.ledger, s.tx, s.seq) <="
                       " (excluded.ledger, excluded.tx, excluded.seq)");
}

/* Once a session and table: the temporary table, and the merge from it as a prepared statement
 * that empties it too. (ON COMMIT DELETE ROWS would truncate every such table at every commit: 110
 * ms for sixty of them, where this costs nothing that is measurable.) A number in
 * the names makes a second attempt after a failure half-way independent of the first. */
static tide_status stage(struct tide_writer *w, uint32_t index, struct tide_err *err)
{
    const struct tide_table *state = &w->options.tables[index];
    const struct tide_table *history = &w->options.tables[state->pair];
    char source[256], name[48];
    uint32_t number = ++w->stagings;
    snprintf(source, sizeof source, "n AS (DELETE FROM pg_temp.\"stage_%s\" RETURNING *)",
             state->name);
    writer_sql(w, "CREATE TEMPORARY TABLE IF NOT EXISTS \"stage_%s\" (LIKE history.\"%s\")",
               state->name, history->name);
    tide_status status = writer_run_sql(w, "CREATE TABLE", err);
    for (int behind = 0; behind < 2 && status == TIDE_OK; behind++) {
        snprintf(name, sizeof name, "merge%d_%u", behind, number);
        writer_sql(w, "%s", "");
        sql_merge(w, state, source, behind == 1);
        tide_buf_u8(&w->sql, 0);
        status = w->sql.failed ? tide_fail(err, TIDE_E_LIMIT, "writer: merge of %s", state->name)
                               : tide_pg_prepare(w->pg, name, (const char *)w->sql.ptr, err);
    }
    if (status == TIDE_OK)
        w->staged[index] = number;
    return status;
}

/* Nothing vacuums temporary tables: what merges left dead goes when it has become much. */
static tide_status sweep(struct tide_writer *w, uint32_t index, uint64_t rows, struct tide_err *err)
{
    enum { DEAD_ROWS_MAX = 10000 };
    tide_status status = TIDE_OK;
    if (w->staged_rows[index] > DEAD_ROWS_MAX) {
        writer_sql(w, "TRUNCATE pg_temp.\"stage_%s\"", w->options.tables[index].name);
        status = writer_run_sql(w, "TRUNCATE", err);
        w->staged_rows[index] = 0;
    }
    w->staged_rows[index] += rows;
    return status;
}

tide_status writer_stage_all(struct tide_writer *w, const struct tide_batch *batch,
                             struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < w->options.table_count && status == TIDE_OK; i++) {
        if (w->options.tables[i].kind != TIDE_TABLE_STATE || !batch->rows[i].count)
            continue;
        if (!w->staged[i])
            status = stage(w, i, err);
        if (status == TIDE_OK)
            status = sweep(w, i, batch->rows[i].count, err);
    }
    return status;
}

tide_status writer_merge_staged(struct tide_writer *w, uint32_t index, bool behind,
                                struct tide_err *err)
{
    char name[48];
    snprintf(name, sizeof name, "merge%d_%u", behind, w->staged[index]);
    return tide_pg_execute(w->pg, NULL, name, NULL, 0, err);
}

tide_status writer_merge_partition(struct tide_writer *w, uint32_t from, bool behind,
                                   struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < w->options.table_count && status == TIDE_OK; i++) {
        const struct tide_table *state = &w->options.tables[i];
        if (state->kind != TIDE_TABLE_STATE || !w->options.wanted[i])
            continue;
        const struct tide_table *history = &w->options.tables[state->pair];
        char source[512];
        snprintf(source, sizeof source,
                 "n AS MATERIALIZED (SELECT DISTINCT ON (key_hash) * FROM"
                 " history.\"%s_p%u_%u\" ORDER BY key_hash, ledger DESC, tx DESC, seq DESC)",
                 history->name, w->deployment, from);
        writer_sql(w, "%s", "");
        sql_merge(w, state, source, behind);
        status = writer_run_sql(w, "INSERT", err);
    }
    return status;
}
