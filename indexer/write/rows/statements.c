/* Prepares a session to take a batch in one round trip: the row types of the tables, and a prepared
 * statement for each operation on a table. Both are made when they are first needed, outside of
 * transactions. */
#include "indexer/write/rows/statements.h"
#include "indexer/write/rows/rollup.h"
#include "indexer/write/session/session.h"

/* --- merging into the tables of state --------------------------------------------------- */

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

/* Begins the text that merges the rows of parameter 1 into the table of state with this index in
 * the plan. behind: the rows are not of the newest ledgers, so newer versions may exist. */
static void write_sql_merge(struct write_session *s, uint32_t index, bool behind)
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
        if (state->kind != TIDE_TABLE_STATE || state->is_view)
            continue;
        status = merge_leaf(s, state, from, ledger, behind, err);
    }
    return status;
}

/* ---- rows that are added to indexed ledgers, for tokens that were discovered later ---- */

/* Returns the columns of chain.ledger that count rows of the deployment. chain.cursor has their
 * totals under the same names, except for our_txs. */
static uint32_t counts_of(const struct tide_table *ledger, const struct tide_column *out[])
{
    assert(ledger->column_count <= TIDE_COLUMNS_MAX);
    uint32_t count = 0;
    bool counts = false; /* the counts begin with our_txs */
    for (uint32_t i = 0; i < ledger->column_count; i++) {
        counts |= strcmp(ledger->columns[i].name, "our_txs") == 0;
        if (counts && ledger->columns[i].type == TIDE_PG_INT4)
            out[count++] = &ledger->columns[i];
    }
    assert(count > 0);
    return count;
}

static const char *total_of(const struct tide_column *count)
{
    return strcmp(count->name, "our_txs") == 0 ? "transactions" : count->name;
}

/* Replaces the counts of stored ledgers by the new ones, and adds the differences to the totals. */
static void sql_add_ledgers(struct write_session *s)
{
    const struct tide_column *counts[TIDE_COLUMNS_MAX];
    uint32_t count = counts_of(&s->plan->tables[TIDE_TABLE_LEDGER], counts);
    write_sql(s, "WITH n AS (SELECT * FROM unnest($1::chain.ledger[])), o AS (SELECT l.* FROM"
                 " chain.ledger AS l JOIN n ON n.deployment = l.deployment AND n.ledger ="
                 " l.ledger), u AS (UPDATE chain.ledger AS l SET ");
    for (uint32_t i = 0; i < count; i++)
        write_sql_more(s, "%s%s = n.%s", i ? ", " : "", counts[i]->name, counts[i]->name);
    write_sql_more(s, " FROM n WHERE l.deployment = n.deployment AND l.ledger = n.ledger AND"
                      " l.hash = n.hash RETURNING l.ledger), c AS (UPDATE chain.cursor AS c SET ");
    for (uint32_t i = 0; i < count; i++)
        write_sql_more(s, "%s%s = c.%s + s.%s", i ? ", " : "", total_of(counts[i]),
                       total_of(counts[i]), counts[i]->name);
    write_sql_more(s, " FROM (SELECT ");
    for (uint32_t i = 0; i < count; i++)
        write_sql_more(s, "%scoalesce(sum(n.%s - o.%s), 0) AS %s", i ? ", " : "", counts[i]->name,
                       counts[i]->name, counts[i]->name);
    write_sql_more(s,
                   " FROM n JOIN o USING (ledger)) AS s WHERE c.deployment = %u)"
                   " SELECT ledger FROM u",
                   s->plan->deployment);
}

/* Appends the end of the statement that adds transactions with their calls. A stored transaction
 * gets the call that it lacks: its contract was not followed before. */
static void sql_complete_tx(struct write_session *s, const struct tide_table *table)
{
    write_sql_more(s, "(%s) DO UPDATE SET ", table->primary_key);
    const char *comma = "";
    for (uint32_t i = 0; i < table->column_count; i++) {
        write_sql_more(s, "%s\"%s\" = excluded.\"%s\"", comma, table->columns[i].name,
                       table->columns[i].name);
        comma = ", ";
    }
    write_sql_more(s, " WHERE o.contract IS NULL AND excluded.contract IS NOT NULL RETURNING *)");
}

/* Begins the text of the statement that adds the rows of parameter 1 to the table that has this
 * index in the plan. The statement folds added calls into their rollups, and new counts of
 * ledgers into the totals of chain.cursor. */
static void write_sql_add(struct write_session *s, const struct write_rollups *rollups,
                          uint32_t index)
{
    assert(index < s->plan->table_count);
    const struct tide_table *table = tide_table_stored(&s->plan->tables[index]);
    if (index == TIDE_TABLE_LEDGER) {
        sql_add_ledgers(s);
        return;
    }
    write_sql(s, "%sINSERT INTO %s.\"%s\" AS o (", index == TIDE_TABLE_TX ? "WITH added AS (" : "",
              table->schema, table->name);
    write_sql_columns(s, table, "");
    write_sql_more(s, ") SELECT ");
    write_sql_columns(s, table, "n.");
    write_sql_more(s, " FROM unnest($1::%s.\"%s\"[]) n ON CONFLICT ", table->schema, table->name);
    if (index != TIDE_TABLE_TX) {
        write_sql_more(s, "DO NOTHING");
        return;
    }
    sql_complete_tx(s, table);
    write_sql_fold_added(s, rollups, TIDE_TABLE_CALL);
    write_sql_more(s,
                   " UPDATE chain.cursor SET calls = calls + (SELECT count(*) FROM added WHERE"
                   " contract IS NOT NULL) WHERE deployment = %u",
                   s->plan->deployment);
}

/* ---- prepared statements ---- */

enum { NAME_MAX_BYTES = 24 };

static void put_statement_name(char name[NAME_MAX_BYTES], enum write_statement what, uint32_t table)
{
    static const char *const verbs[] = { "put", "add", "merge", "behind" };
    static_assert(TIDE_COUNT(verbs) == WRITE_STATEMENTS, "each statement has its own name");
    assert(what < WRITE_STATEMENTS);
    int len = snprintf(name, NAME_MAX_BYTES, "%s%u", verbs[what], table);
    assert(len > 0 && len < NAME_MAX_BYTES);
    (void)len;
}

/* Returns the table whose shape the rows have: rows of state have the shape of history. */
static uint32_t shape_of(const struct write_plan *plan, uint32_t table)
{
    assert(table < plan->table_count && table < TIDE_TABLES_MAX);
    const struct tide_table *t = &plan->tables[table];
    return t->kind == TIDE_TABLE_STATE ? t->pair : table;
}

static struct tide_row_shape *find_shape(struct write_statements *st, uint32_t table, bool stored)
{
    struct write_session *s = st->session;
    uint32_t index = shape_of(s->plan, table);
    return stored && s->plan->tables[index].stored ? &st->known.stored[index]
                                                   : &st->known.shapes[index];
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
    /* set last: an oid that is not 0 marks the shape as known */
    shape->oid = (uint32_t)tide_pg_u64(rows, 0, 0);
    return TIDE_OK;
}

static tide_status learn_shape(struct write_statements *st, uint32_t index, bool stored,
                               struct tide_err *err)
{
    struct write_session *s = st->session;
    const struct tide_table *table = &s->plan->tables[shape_of(s->plan, index)];
    if (stored)
        table = tide_table_stored(table);
    struct tide_pg_rows rows;
    const char *values[] = { table->schema, table->name };
    tide_status status = tide_pg_query(
        write_pg(s), &rows,
        "SELECT c.reltype, a.attname, a.atttypid FROM pg_attribute a JOIN pg_class c ON"
        " c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1"
        " AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
        values, 2, err);
    if (status == TIDE_OK)
        status = fill_shape(find_shape(st, index, stored), table, &rows, err);
    tide_pg_rows_release(&rows);
    return status;
}

static void sql_put(struct write_statements *st, uint32_t index)
{
    struct write_session *s = st->session;
    const struct tide_table *table = tide_table_stored(&s->plan->tables[index]);
    write_sql(s, "INSERT INTO ");
    if (table->partitioned)
        write_sql_leaf(s, table, st->known.puts_from);
    else
        write_sql_more(s, "%s.\"%s\"", table->schema, table->name);
    write_sql_more(s, " (");
    write_sql_columns(s, table, "");
    write_sql_more(s, ") SELECT ");
    write_sql_columns(s, table, "n.");
    write_sql_more(s, " FROM unnest($1::%s.\"%s\"[]) n", table->schema, table->name);
}

tide_status write_statements_prepare(struct write_statements *st, enum write_statement what,
                                     uint32_t table, struct tide_err *err)
{
    struct write_session *s = st->session;
    char name[NAME_MAX_BYTES];
    if (st->known.prepared[what][table])
        return TIDE_OK;
    bool stored = what == WRITE_PUT || what == WRITE_ADD;
    tide_status status = TIDE_OK;
    if (find_shape(st, table, stored)->oid == 0)
        status = learn_shape(st, table, stored, err);
    if (status != TIDE_OK)
        return status;
    if (what == WRITE_PUT)
        sql_put(st, table);
    else if (what == WRITE_ADD)
        write_sql_add(s, st->rollups, table);
    else
        write_sql_merge(s, table, what == WRITE_MERGE_BEHIND);
    put_statement_name(name, what, table);
    status = write_sql_sealed(s, err);
    if (status == TIDE_OK)
        status = tide_pg_prepare(write_pg(s), name, (const char *)s->sql.ptr, err);
    st->known.prepared[what][table] = status == TIDE_OK;
    return status;
}

static void forget_all(struct write_statements *st, uint32_t partition)
{
    assert(partition != WRITE_NO_PUTS);
    memset(&st->known, 0, sizeof st->known);
    st->known.puts_from = partition;
    st->number = st->session->number;
}

/* A kept plan is for the sizes that tables had when it was made: of an empty partition, any index
 * would do. The number of batches doubles between two of these calls, so no plan is for much less
 * than half of what the session has written since. */
static tide_status renew_plans(struct write_statements *st, struct tide_err *err)
{
    uint32_t batches = ++st->known.batches;
    if (batches < 2 || (batches & (batches - 1)) != 0)
        return TIDE_OK;
    return tide_pg_run(write_pg(st->session), "DISCARD PLANS", NULL, err);
}

tide_status write_statements_begin(struct write_statements *st, uint32_t partition,
                                   struct tide_err *err)
{
    tide_status status = TIDE_OK;
    if (st->number != st->session->number)
        forget_all(st, 0);
    uint32_t from = partition == WRITE_NO_PUTS ? st->known.puts_from : partition;
    if (st->known.unsure || st->known.puts_from != from) {
        status = tide_pg_run(write_pg(st->session), "DEALLOCATE ALL", NULL, err);
        if (status == TIDE_OK)
            forget_all(st, from);
    }
    return status == TIDE_OK ? renew_plans(st, err) : status;
}

tide_status write_send_rows(struct write_statements *st, enum write_statement what, uint32_t table,
                            const struct tide_batch *batch, uint64_t *count, struct tide_err *err)
{
    struct write_session *s = st->session;
    char name[NAME_MAX_BYTES];
    bool stored = what == WRITE_PUT || what == WRITE_ADD;
    tide_slice tuples = tide_buf_view(&batch->rows[table].copy);
    *count = batch->rows[table].count;
    if (stored && write_keys_put(st->keys, batch, table, &tuples, count, err) != TIDE_OK)
        return err->code;
    assert(st->known.prepared[what][table] && st->number == s->number);
    tide_buf_reset(&st->array);
    if (!tide_row_array(&st->array, find_shape(st, table, stored), tuples, *count))
        return tide_fail(err, TIDE_E_LIMIT, "writer: rows of %s do not fit a statement",
                         s->plan->tables[table].name);
    put_statement_name(name, what, table);
    return tide_pg_pipe_bytes(write_pg(s), name, tide_buf_view(&st->array), err);
}

void write_statements_init(struct write_statements *st, struct write_session *session,
                           struct write_keys *keys, const struct write_rollups *rollups)
{
    memset(st, 0, sizeof *st);
    st->session = session;
    st->keys = keys;
    st->rollups = rollups;
    tide_buf_init(&st->array, INT32_MAX);
}

void write_statements_release(struct write_statements *st)
{
    tide_buf_release(&st->array);
}
