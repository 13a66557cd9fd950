#include "indexer/write/writer_impl.h"

/* Sums over time, folded in the transaction that makes their rows visible: of a batch behind its
 * rows, of a loaded partition when it is attached, of all there is when the rules have changed.
 * What reads tables of tokens is folded again when the past of a discovered one joins them. */

static void rollup_statement_name(char name[WRITER_NAME_MAX], size_t rollup)
{
    snprintf(name, WRITER_NAME_MAX, "rollup%zu", rollup);
}

static bool table_is(const struct tide_table *table, const struct tide_rollup_name *name)
{
    return tide_slice_eq(tide_slice_str(table->schema), name->schema) &&
           tide_slice_eq(tide_slice_str(table->name), name->table);
}

/* TIDE_TABLES_MAX when there is none: a test's own tables. */
static uint32_t find_table(const struct tide_writer *w, const struct tide_rollup_name *name)
{
    uint32_t i = 0;
    while (i < w->options.table_count && !table_is(&w->options.tables[i], name))
        i++;
    return i < w->options.table_count ? i : TIDE_TABLES_MAX;
}

static bool learn_tables(const struct tide_writer *w, const struct tide_rollup *rollup,
                         bool needs[TIDE_TABLES_MAX])
{
    tide_slice rest = rollup->sql, before;
    struct tide_rollup_name name;
    while (tide_rollup_next(&rest, &before, &name)) {
        uint32_t table = name.mark == TIDE_ROLLUP_INTO ? 0 : find_table(w, &name);
        if (table == TIDE_TABLES_MAX)
            return false;
        if (name.mark == TIDE_ROLLUP_NEEDS)
            needs[table] = true;
    }
    return true;
}

void writer_rollup_learn(struct tide_writer *w)
{
    assert(tide_rollup_count <= TIDE_ROLLUPS_MAX);
    for (size_t i = 0; i < tide_rollup_count; i++) {
        bool wanted = !w->options.rollups || w->options.rollups[i];
        w->rollups[i] = wanted && learn_tables(w, &tide_rollups[i], w->rollup_needs[i]);
        w->rolls |= w->rollups[i];
    }
}

/* Rows that the rollup would fold. */
static uint64_t rows_for(const struct tide_writer *w, size_t rollup, const struct tide_batch *batch)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < w->options.table_count; i++)
        rows += w->rollup_needs[rollup][i] ? batch->rows[i].count : 0;
    return w->rollups[rollup] ? rows : 0;
}

/* ---- text ---- */

struct place {
    struct tide_writer *w;
    uint32_t from; /* partition */
};

/* Tables that are not wanted have no partition: the empty parent stands in. */
static void put_name(void *self, struct tide_buf *out, const struct tide_rollup_name *name)
{
    const struct place *place = self;
    const struct tide_writer *w = place->w;
    uint32_t i = find_table(w, name);
    const struct tide_table *table = &w->options.tables[i], *stored = tide_table_stored(table);
    char leaf[128];
    if (!table->partitioned || !w->options.wanted[i]) {
        tide_buf_putf(out, "%s.\"%s\"", table->schema, table->name);
        return;
    }
    snprintf(leaf, sizeof leaf, "%s.\"%s_p%u_%u\"", stored->schema, stored->name, w->deployment,
             place->from);
    if (!table->stored) {
        tide_buf_str(out, leaf);
        return;
    }
    tide_buf_u8(out, '(');
    tide_table_select(out, table, leaf, true);
    tide_buf_u8(out, ')');
}

/* The rows of the CTE `added`, which are of that table. */
struct added {
    const struct tide_table *table;
};

static void put_added(void *self, struct tide_buf *out, const struct tide_rollup_name *name)
{
    const struct tide_table *table = ((const struct added *)self)->table;
    assert(table_is(table, name));
    tide_buf_u8(out, '(');
    tide_table_select(out, table, "added", true);
    tide_buf_u8(out, ')');
}

/* Folds rows of any ledger: each row is folded in the statement that adds it. */
void writer_sql_fold_added(struct tide_writer *w, uint32_t table)
{
    const char *const values[] = { w->deployment_text, "0", "2147483647" };
    struct added added = { &w->options.tables[table] };
    const struct tide_rollup_writer writer = { put_added, &added, "rollup", values };
    for (size_t i = 0; i < tide_rollup_count; i++) {
        if (!w->rollups[i] || !w->rollup_needs[i][table])
            continue;
        writer_sql_more(w, ", folded%zu AS (", i);
        tide_rollup_write(&w->sql, &tide_rollups[i], &writer);
        w->sql.len--; /* without its NUL */
        writer_sql_more(w, ")");
    }
}

static tide_status write_sql(struct tide_writer *w, size_t rollup, uint32_t from,
                             struct tide_err *err)
{
    struct place place = { w, from };
    const struct tide_rollup_writer writer = { put_name, &place, "rollup", NULL };
    tide_buf_reset(&w->sql);
    tide_rollup_write(&w->sql, &tide_rollups[rollup], &writer);
    return w->sql.failed
               ? tide_fail(err, TIDE_E_LIMIT, "writer: rollup %s", tide_rollups[rollup].name)
               : TIDE_OK;
}

/* ---- of a batch ---- */

tide_status writer_rollup_prepare(struct tide_writer *w, const struct tide_batch *batch,
                                  struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < tide_rollup_count && status == TIDE_OK; i++) {
        char name[WRITER_NAME_MAX];
        if (w->session.rollups[i] || rows_for(w, i, batch) == 0)
            continue;
        rollup_statement_name(name, i);
        status = write_sql(w, i, w->session.puts_from, err);
        if (status == TIDE_OK)
            status = tide_pg_prepare(w->pg, name, (const char *)w->sql.ptr, err);
        w->session.rollups[i] = status == TIDE_OK;
    }
    return status;
}

struct bounds {
    char from[12], to[12];
    const char *values[3];
};

static void set_bounds(const struct tide_writer *w, struct bounds *b, uint32_t from, uint32_t to)
{
    snprintf(b->from, sizeof b->from, "%u", from);
    snprintf(b->to, sizeof b->to, "%u", to);
    b->values[0] = w->deployment_text;
    b->values[1] = b->from;
    b->values[2] = b->to;
}

tide_status writer_rollup_send(struct tide_writer *w, const struct tide_batch *batch,
                               uint32_t *statements, struct tide_err *err)
{
    struct bounds bounds;
    bool bulk = false;
    tide_status status = TIDE_OK;
    set_bounds(w, &bounds, batch->from, batch->to);
    for (size_t i = 0; i < tide_rollup_count && status == TIDE_OK; i++) {
        char name[WRITER_NAME_MAX];
        uint64_t rows = rows_for(w, i, batch);
        if (rows > ROLLUP_BULK_ROWS && !bulk) {
            bulk = true;
            ++*statements;
            status = tide_pg_pipe_run(w->pg, TIDE_ROLLUP_BULK_SQL, err);
        }
        if (rows == 0 || status != TIDE_OK)
            continue;
        rollup_statement_name(name, i);
        ++*statements;
        status = tide_pg_pipe_execute(w->pg, name, bounds.values, 3, err);
    }
    return status;
}

/* ---- of a partition, of everything ---- */

static tide_status fold_range(struct tide_writer *w, size_t rollup, uint32_t partition,
                              struct tide_range range, struct tide_err *err)
{
    struct bounds bounds;
    tide_status status = write_sql(w, rollup, partition, err);
    for (uint32_t at = range.from; at <= range.to && status == TIDE_OK; at += TIDE_ROLLUP_LEDGERS) {
        uint32_t to = at + TIDE_ROLLUP_LEDGERS - 1;
        set_bounds(w, &bounds, at, to < range.to ? to : range.to);
        status = tide_pg_query(w->pg, NULL, (const char *)w->sql.ptr, bounds.values, 3, err);
    }
    return status;
}

tide_status writer_rollup_partition(struct tide_writer *w, uint32_t partition,
                                    struct tide_range range, struct tide_err *err)
{
    if (!w->rolls)
        return TIDE_OK;
    tide_status status = tide_pg_run(w->pg, TIDE_ROLLUP_BULK_SQL, "SELECT", err);
    for (size_t i = 0; i < tide_rollup_count && status == TIDE_OK; i++)
        if (w->rollups[i])
            status = fold_range(w, i, partition, range, err);
    return status;
}

static bool is_of_tokens(const struct tide_table *table)
{
    enum tide_role role = tide_role_of_table(tide_slice_str(table->name));
    return role == TIDE_ROLE_synth_token || role == TIDE_ROLE_stellar_asset;
}

static bool has_tokens_for(const struct tide_writer *w, size_t rollup,
                           const struct tide_batch *batch)
{
    for (uint32_t i = 0; i < w->options.table_count; i++)
        if (w->rollup_needs[rollup][i] && batch->rows[i].count &&
            is_of_tokens(&w->options.tables[i]))
            return w->rollups[rollup];
    return false;
}

/* A batch may span partitions. */
static tide_status fold_batch(struct tide_writer *w, size_t rollup, const struct tide_batch *batch,
                              struct tide_err *err)
{
    tide_status status = tide_pg_run(w->pg, TIDE_ROLLUP_BULK_SQL, "SELECT", err);
    for (uint32_t at = batch->from; at <= batch->to && status == TIDE_OK;) {
        uint32_t partition = partition_start(w, at);
        uint32_t end = partition + w->options.partition_ledgers - 1;
        struct tide_range range = { at, end < batch->to ? end : batch->to };
        status = fold_range(w, rollup, partition, range, err);
        at = end + 1;
    }
    return status;
}

tide_status writer_rollup_again(struct tide_writer *w, const struct tide_batch *batch,
                                struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < tide_rollup_count && status == TIDE_OK; i++)
        if (has_tokens_for(w, i, batch))
            status = fold_batch(w, i, batch, err);
    return status;
}

static tide_status empty_all(struct tide_writer *w, struct tide_err *err)
{
    tide_slice tables[TIDE_ROLLUP_TABLES_MAX];
    uint32_t count = tide_rollup_tables(tables);
    writer_sql(w, "%s", "");
    for (uint32_t i = 0; i < count; i++)
        writer_sql_more(w, "DELETE FROM rollup.\"%.*s\" WHERE deployment = %u;",
                        TIDE_SLICE_FMT(tables[i]), w->deployment);
    return writer_run_sql(w, "DELETE", err);
}

static tide_status fold_all(struct tide_writer *w, struct tide_err *err)
{
    struct tide_pg_rows rows;
    writer_sql(w,
               "SELECT from_ledger, end_ledger FROM chain.partition WHERE deployment = %u AND"
               " attached ORDER BY 1",
               w->deployment);
    tide_status status = writer_query_sql(w, &rows, err);
    for (uint32_t i = 0; status == TIDE_OK && w->rolls && i < rows.count; i++) {
        uint32_t from = (uint32_t)tide_pg_u64(&rows, i, 0),
                 end = (uint32_t)tide_pg_u64(&rows, i, 1);
        status = writer_rollup_partition(w, from, (struct tide_range){ from, end - 1 }, err);
    }
    tide_pg_rows_release(&rows);
    return status;
}

/* Checks that no partition was dropped: a detached one still has its tables, the rows of a dropped
 * one cannot be folded again. */
static tide_status check_whole(struct tide_writer *w, struct tide_err *err)
{
    struct tide_pg_rows rows;
    writer_sql(w,
               "SELECT min(from_ledger), max(end_ledger) - 1 FROM chain.archive WHERE deployment ="
               " %u AND EXISTS (SELECT FROM unnest(tables) AS t WHERE to_regclass(t) IS NULL)",
               w->deployment);
    tide_status status = writer_query_sql(w, &rows, err);
    if (status == TIDE_OK && !tide_pg_is_null(&rows, 0, 0))
        status = tide_fail(err, TIDE_E_MISSING,
                           "rollups must be made anew, but tables of ledgers %s to %s are archived:"
                           " restore them, start again, then drop them",
                           tide_pg_text(&rows, 0, 0), tide_pg_text(&rows, 0, 1));
    tide_pg_rows_release(&rows);
    return status;
}

static tide_status build_all(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = writer_begin_long(w, err);
    if (status == TIDE_OK && w->rolls)
        status = check_whole(w, err);
    if (status == TIDE_OK)
        status = empty_all(w, err);
    if (status == TIDE_OK)
        status = fold_all(w, err);
    if (status != TIDE_OK)
        return status;
    writer_sql(w,
               "INSERT INTO rollup.built (deployment, version) VALUES (%u, %d) ON CONFLICT"
               " (deployment) DO UPDATE SET version = excluded.version, built_at ="
               " clock_timestamp()",
               w->deployment, TIDE_ROLLUP_VERSION);
    status = writer_run_sql(w, "INSERT", err);
    return status == TIDE_OK ? writer_commit(w, err) : status;
}

static tide_status build_anew(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    (void)arg;
    tide_status status = build_all(w, err);
    writer_end_long(w);
    return status;
}

static bool is_kept(const struct tide_writer *w, tide_slice table)
{
    for (size_t i = 0; i < tide_rollup_count; i++)
        if (w->rollups[i] && tide_rollup_names(&tide_rollups[i], TIDE_ROLLUP_INTO, table))
            return true;
    return false;
}

/* 0 also where a table that is not kept has rows: older versions filled a part of them. */
static tide_status read_version(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    uint64_t *version = *(uint64_t *const *)arg;
    struct tide_pg_rows rows;
    tide_slice tables[TIDE_ROLLUP_TABLES_MAX];
    uint32_t count = tide_rollup_tables(tables);
    writer_sql(w, "SELECT version FROM rollup.built WHERE deployment = %u", w->deployment);
    for (uint32_t i = 0; i < count; i++)
        if (!is_kept(w, tables[i]))
            writer_sql_more(w,
                            " AND NOT EXISTS (SELECT FROM rollup.\"%.*s\" WHERE deployment = %u)",
                            TIDE_SLICE_FMT(tables[i]), w->deployment);
    tide_status status = writer_query_sql(w, &rows, err);
    *version = status == TIDE_OK && rows.count ? tide_pg_u64(&rows, 0, 0) : 0;
    tide_pg_rows_release(&rows);
    return status;
}

tide_status writer_rollup_settle(struct tide_writer *w, struct tide_err *err)
{
    uint64_t version = TIDE_ROLLUP_VERSION, *arg = &version;
    bool known = w->rolls || w->options.rollups; /* a test's own tables: nothing is here to do */
    tide_status status = known ? writer_retry(w, read_version, &arg, false, err) : TIDE_OK;
    if (status != TIDE_OK || version == TIDE_ROLLUP_VERSION)
        return status;
    if (version > TIDE_ROLLUP_VERSION)
        return tide_fail(err, TIDE_E_SCHEMA,
                         "rollups of version %" PRIu64 " are newer than this build's %d", version,
                         TIDE_ROLLUP_VERSION);
    if (w->cursor)
        tide_log(TIDE_INFO, "rollup.build", "deployment=%u version=%d cursor=%u", w->deployment,
                 TIDE_ROLLUP_VERSION, w->cursor);
    return writer_retry(w, build_anew, NULL, false, err);
}
