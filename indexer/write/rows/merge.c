#include "indexer/write/rows/merge.h"

/* Merges versions into tables of state, which hold the newest version of each key. The versions are
 * rows of a subquery n with the columns of the history table, removed ones included, at most one
 * for each key. */

static void sql_assignments(struct write_session *s, const struct tide_table *state)
{
    const char *comma = "";
    for (uint32_t i = 0; i < state->column_count; i++) {
        const char *name = state->columns[i].name;
        if (strcmp(name, "deployment") == 0 || strcmp(name, "key_hash") == 0)
            continue;
        write_sql_more(s, "%s\"%s\" = excluded.\"%s\"", comma, name, name);
        comma = ", ";
    }
}

/* Appends the condition that no newer version exists: for ledgers behind the cursor a key may have
 * newer versions, even a removal that left no row in state. */
static void sql_newest_only(struct write_session *s, const struct tide_table *history)
{
    write_sql_more(s,
                   " AND NOT EXISTS (SELECT 1 FROM %s.\"%s\" h WHERE h.deployment ="
                   " n.deployment AND h.key_hash = n.key_hash AND (h.ledger, h.tx, h.seq) >"
                   " (n.ledger, n.tx, n.seq))",
                   tide_table_stored(history)->schema, history->name);
}

/* Appends the statement that merges the rows of n; source is the text of the CTE n. */
static void sql_merge(struct write_session *s, const struct tide_table *state, const char *source,
                      bool behind)
{
    const struct tide_table *history = &s->plan->tables[state->pair];
    assert(state->kind == TIDE_TABLE_STATE && history->kind == TIDE_TABLE_HISTORY);
    assert(&s->plan->tables[history->pair] == state);
    write_sql_more(s,
                   "WITH %s, gone AS (DELETE FROM state.\"%s\" s USING n WHERE n.removed AND"
                   " s.deployment = n.deployment AND s.key_hash = n.key_hash AND (s.ledger, s.tx,"
                   " s.seq) <= (n.ledger, n.tx, n.seq)) INSERT INTO state.\"%s\" AS s (",
                   source, state->name, state->name);
    write_sql_columns(s, state, "");
    write_sql_more(s, ") SELECT ");
    write_sql_columns(s, state, "n.");
    write_sql_more(s, " FROM n WHERE NOT n.removed");
    if (behind)
        sql_newest_only(s, history);
    write_sql_more(s, " ON CONFLICT (deployment, key_hash) DO UPDATE SET ");
    sql_assignments(s, state);
    write_sql_more(s, " WHERE (s.ledger, s.tx, s.seq) <="
                      " (excluded.ledger, excluded.tx, excluded.seq)");
}

void write_sql_merge(struct write_session *s, uint32_t index, bool behind)
{
    const struct tide_table *state = &s->plan->tables[index];
    char source[256];
    int len = snprintf(source, sizeof source, "n AS (SELECT * FROM unnest($1::history.\"%s\"[]))",
                       s->plan->tables[state->pair].name);
    assert(len > 0 && (size_t)len < sizeof source);
    (void)len;
    write_sql(s, "%s", "");
    sql_merge(s, state, source, behind);
}

/* Merges the newest version of each key of a partition. A key has many versions: the inner query
 * finds the newest in the primary key alone, and only those rows are read. No version is newer, so
 * >= means =. For a row that must be equal in four columns the planner would expect one row and
 * choose a nested loop. With the outer DISTINCT ON it expects as many rows as keys. They arrive in
 * key order, which fills the pages of state's index. */
static tide_status merge_leaf(struct write_session *s, const struct tide_table *state,
                              uint32_t from, uint32_t ledger, bool behind, struct tide_err *err)
{
    const struct tide_table *history = &s->plan->tables[state->pair];
    char leaf[128], newest[1024], one[32] = "", one_of_l[32] = "";
    struct tide_buf source;
    tide_buf_init(&source, WRITE_SQL_MAX);
    int len = snprintf(leaf, sizeof leaf, "%s.\"%s_p%u_%u\"", tide_table_stored(history)->schema,
                       history->name, s->plan->deployment, from);
    assert(len > 0 && (size_t)len < sizeof leaf); /* a cut name is another partition's */
    if (ledger) {
        snprintf(one, sizeof one, " AND ledger = %u", ledger);
        snprintf(one_of_l, sizeof one_of_l, " AND l.ledger = %u", ledger);
    }
    len = snprintf(
        newest, sizeof newest,
        "(SELECT DISTINCT ON (l.key_hash) l.* FROM (SELECT DISTINCT ON (key_hash) key_hash,"
        " ledger, tx, seq FROM %s WHERE deployment = %u%s ORDER BY key_hash DESC, ledger DESC,"
        " tx DESC, seq DESC) k JOIN %s l ON l.deployment = %u AND l.key_hash = k.key_hash AND"
        " (l.ledger, l.tx, l.seq) >= (k.ledger, k.tx, k.seq)%s ORDER BY l.key_hash)",
        leaf, s->plan->deployment, one, leaf, s->plan->deployment, one_of_l);
    assert(len > 0 && (size_t)len < sizeof newest);
    (void)len;
    tide_buf_str(&source, "n AS MATERIALIZED (");
    tide_table_select(&source, history, newest, false);
    tide_buf_put(&source, ")", sizeof ")");
    write_sql(s, "%s", "");
    if (!source.failed)
        sql_merge(s, state, (const char *)source.ptr, behind);
    tide_status status =
        source.failed ? tide_fail(err, TIDE_E_MEMORY, "writer") : write_run_sql(s, "INSERT", err);
    tide_buf_release(&source);
    return status;
}

tide_status write_merge_partition(struct write_session *s, uint32_t from, uint32_t ledger,
                                  bool behind, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < s->plan->table_count && status == TIDE_OK; i++) {
        const struct tide_table *state = &s->plan->tables[i];
        if (state->kind != TIDE_TABLE_STATE)
            continue;
        status = merge_leaf(s, state, from, ledger, behind, err);
    }
    return status;
}
