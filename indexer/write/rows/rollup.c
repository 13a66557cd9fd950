/* Folds rows into sums over time, in the transaction that makes the rows visible: of a batch
 * after its rows, of a loaded partition when it is attached, and of all rows after the rules
 * have changed. Rollups of tokens' tables are folded again when the past of a discovered token
 * is added. */
#include "indexer/write/rows/rollup.h"
#include "indexer/write/session/main_session.h"
#include "tidemark/deployment.h"
#include "tidemark/log.h"

enum { NAME_MAX_BYTES = 16 };

static void rollup_statement_name(char name[NAME_MAX_BYTES], size_t rollup)
{
    assert(rollup < tide_rollup_count);
    int len = snprintf(name, NAME_MAX_BYTES, "rollup%zu", rollup);
    assert(len > 0 && len < NAME_MAX_BYTES);
    (void)len;
}

static bool table_is(const struct tide_table *table, const struct tide_rollup_piece *name)
{
    return strcmp(table->schema, name->schema) == 0 && strcmp(table->name, name->table) == 0;
}

/* Returns the table's index, or TIDE_TABLES_MAX if the plan lacks it, as with the tables of a
 * test. */
static uint32_t find_table(const struct write_plan *plan, const struct tide_rollup_piece *name)
{
    uint32_t i = 0;
    while (i < plan->table_count && !table_is(&plan->tables[i], name))
        i++;
    return i < plan->table_count ? i : TIDE_TABLES_MAX;
}

static bool learn_tables(const struct write_plan *plan, const struct tide_rollup *rollup,
                         bool needs[TIDE_TABLES_MAX])
{
    for (size_t i = 0; i < rollup->count; i++) {
        const struct tide_rollup_piece *piece = &rollup->pieces[i];
        if (piece->kind != TIDE_ROLLUP_NEEDS && piece->kind != TIDE_ROLLUP_BESIDE)
            continue;
        uint32_t table = find_table(plan, piece);
        if (table == TIDE_TABLES_MAX)
            return false;
        needs[table] |= piece->kind == TIDE_ROLLUP_NEEDS;
    }
    return true;
}

void write_rollups_learn(struct write_rollups *r, const struct write_plan *plan)
{
    assert(tide_rollup_count <= TIDE_ROLLUPS_MAX);
    *r = (struct write_rollups){ .any = false };
    for (size_t i = 0; i < tide_rollup_count; i++) {
        r->kept[i] = learn_tables(plan, &tide_rollups[i], r->needs[i]);
        r->any |= r->kept[i];
    }
}

/* Returns the number of rows that the rollup would fold. */
static uint64_t rows_for(const struct write_session *s, const struct write_rollups *r,
                         size_t rollup, const struct tide_batch *batch)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < s->plan->table_count; i++)
        rows += r->needs[rollup][i] ? batch->rows[i].count : 0;
    return r->kept[rollup] ? rows : 0;
}

/* ---- text ---- */

/* The partition whose rows a fold reads. */
struct place {
    const struct write_plan *plan;
    uint32_t from; /* first ledger of the partition */
};

/* Writes the table that a fold reads. */
static void put_name(void *self, struct tide_buf *out, const struct tide_rollup_piece *name)
{
    const struct place *place = self;
    const struct write_plan *plan = place->plan;
    uint32_t i = find_table(plan, name);
    assert(i < plan->table_count); /* write_rollups_learn found the tables of a kept rollup */
    const struct tide_table *table = &plan->tables[i], *stored = tide_table_stored(table);
    char leaf[128];
    if (!table->partitioned) {
        tide_buf_putf(out, "%s.\"%s\"", table->schema, table->name);
        return;
    }
    int len = snprintf(leaf, sizeof leaf, "%s.\"%s_p%u_%u\"", stored->schema, stored->name,
                       plan->deployment, place->from);
    assert(len > 0 && (size_t)len < sizeof leaf); /* a cut name is another partition's */
    (void)len;
    if (!table->stored) {
        tide_buf_str(out, leaf);
        return;
    }
    struct tide_buf versions;
    tide_buf_init(&versions, 1u << 16);
    tide_table_versions(&versions, table, leaf);
    tide_buf_u8(&versions, 0);
    out->failed |= versions.failed;
    tide_buf_u8(out, '(');
    if (!versions.failed)
        tide_table_select(out, table, (const char *)versions.ptr, true);
    tide_buf_u8(out, ')');
    tide_buf_release(&versions);
}

/* The table of the rows in the CTE `added`. */
struct added {
    const struct tide_table *table;
};

static void put_added(void *self, struct tide_buf *out, const struct tide_rollup_piece *name)
{
    const struct tide_table *table = ((const struct added *)self)->table;
    assert(table_is(table, name));
    tide_buf_u8(out, '(');
    tide_table_select(out, table, "added", true);
    tide_buf_u8(out, ')');
}

/* The rows may be of any ledgers: each row is folded by the statement that adds it. */
void write_sql_fold_added(struct write_session *s, const struct write_rollups *r, uint32_t table)
{
    const char *const values[] = { s->plan->deployment_text, "0", "2147483647" };
    struct added added = { &s->plan->tables[table] };
    const struct tide_rollup_writer writer = { put_added, &added, "rollup", values };
    for (size_t i = 0; i < tide_rollup_count; i++) {
        if (!r->kept[i] || !r->needs[i][table])
            continue;
        write_sql_more(s, ", folded%zu AS (", i);
        tide_rollup_write(&s->sql, &tide_rollups[i], &writer);
        if (!s->sql.failed)
            s->sql.len--; /* removes the NUL */
        write_sql_more(s, ")");
    }
}

static tide_status write_fold(struct write_session *s, size_t rollup, uint32_t from,
                              struct tide_err *err)
{
    struct place place = { s->plan, from };
    const struct tide_rollup_writer writer = { put_name, &place, "rollup", NULL };
    tide_buf_reset(&s->sql);
    tide_rollup_write(&s->sql, &tide_rollups[rollup], &writer);
    return s->sql.failed
               ? tide_fail(err, TIDE_E_LIMIT, "writer: rollup %s", tide_rollups[rollup].name)
               : TIDE_OK;
}

/* ---- of a batch ---- */

tide_status write_rollup_prepare(struct write_session *s, const struct write_rollups *r,
                                 bool prepared[TIDE_ROLLUPS_MAX], const struct tide_batch *batch,
                                 struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < tide_rollup_count && status == TIDE_OK; i++) {
        char name[NAME_MAX_BYTES];
        if (prepared[i] || rows_for(s, r, i, batch) == 0)
            continue;
        rollup_statement_name(name, i);
        status = write_fold(s, i, write_plan_partition(s->plan, batch->from), err);
        if (status == TIDE_OK)
            status = tide_pg_prepare(write_pg(s), name, (const char *)s->sql.ptr, err);
        prepared[i] = status == TIDE_OK;
    }
    return status;
}

struct bounds {
    char from[12], to[12];
    const char *values[3];
};

static void set_bounds(const struct write_plan *plan, struct bounds *b, uint32_t from, uint32_t to)
{
    assert(from <= to);
    snprintf(b->from, sizeof b->from, "%u", from);
    snprintf(b->to, sizeof b->to, "%u", to);
    b->values[0] = plan->deployment_text;
    b->values[1] = b->from;
    b->values[2] = b->to;
}

tide_status write_rollup_send(struct write_session *s, const struct write_rollups *r,
                              const struct tide_batch *batch, uint32_t *statements,
                              struct tide_err *err)
{
    struct bounds bounds;
    tide_status status = TIDE_OK;
    set_bounds(s->plan, &bounds, batch->from, batch->to);
    for (size_t i = 0; i < tide_rollup_count && status == TIDE_OK; i++) {
        char name[NAME_MAX_BYTES];
        if (rows_for(s, r, i, batch) == 0)
            continue;
        if (*statements == 0) {
            ++*statements;
            status = tide_pg_pipe_run(write_pg(s), TIDE_ROLLUP_SETTINGS_SQL, err);
        }
        if (status != TIDE_OK)
            break;
        rollup_statement_name(name, i);
        ++*statements;
        status = tide_pg_pipe_execute(write_pg(s), name, bounds.values, 3, err);
    }
    return status;
}

/* ---- of a partition, of everything ---- */

static tide_status fold_range(struct write_session *s, size_t rollup, uint32_t partition,
                              struct tide_range range, struct tide_err *err)
{
    struct bounds bounds;
    tide_status status = write_fold(s, rollup, partition, err);
    for (uint32_t at = range.from; at <= range.to && status == TIDE_OK; at += TIDE_ROLLUP_LEDGERS) {
        uint32_t to = at + TIDE_ROLLUP_LEDGERS - 1;
        set_bounds(s->plan, &bounds, at, to < range.to ? to : range.to);
        status = tide_pg_query(write_pg(s), NULL, (const char *)s->sql.ptr, bounds.values, 3, err);
    }
    return status;
}

tide_status write_rollup_partition(struct write_session *s, const struct write_rollups *r,
                                   uint32_t partition, struct tide_range range,
                                   struct tide_err *err)
{
    if (!r->any)
        return TIDE_OK;
    tide_status status = tide_pg_run(write_pg(s), TIDE_ROLLUP_BULK_SQL, "SELECT", err);
    for (size_t i = 0; i < tide_rollup_count && status == TIDE_OK; i++)
        if (r->kept[i])
            status = fold_range(s, i, partition, range, err);
    return status;
}

static bool is_of_tokens(const struct tide_table *table)
{
    enum tide_role role = tide_role_of_table(tide_slice_str(table->name));
    return role == TIDE_ROLE_synth_token || role == TIDE_ROLE_stellar_asset;
}

static bool has_tokens_for(const struct write_session *s, const struct write_rollups *r,
                           size_t rollup, const struct tide_batch *batch)
{
    for (uint32_t i = 0; i < s->plan->table_count; i++)
        if (r->needs[rollup][i] && batch->rows[i].count && is_of_tokens(&s->plan->tables[i]))
            return r->kept[rollup];
    return false;
}

/* Folds a batch, which may span partitions. */
static tide_status fold_batch(struct write_session *s, size_t rollup,
                              const struct tide_batch *batch, struct tide_err *err)
{
    tide_status status = tide_pg_run(write_pg(s), TIDE_ROLLUP_BULK_SQL, "SELECT", err);
    for (uint32_t at = batch->from; at <= batch->to && status == TIDE_OK;) {
        uint32_t partition = write_plan_partition(s->plan, at);
        uint32_t end = write_plan_end(s->plan, at);
        struct tide_range range = { at, end <= batch->to ? end - 1 : batch->to };
        status = fold_range(s, rollup, partition, range, err);
        at = end;
    }
    return status;
}

tide_status write_rollup_again(struct write_session *s, const struct write_rollups *r,
                               const struct tide_batch *batch, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < tide_rollup_count && status == TIDE_OK; i++)
        if (has_tokens_for(s, r, i, batch))
            status = fold_batch(s, i, batch, err);
    return status;
}

/* --- all of them anew ------------------------------------------------------------------- */

static tide_status empty_all(struct write_session *s, struct tide_err *err)
{
    write_sql(s, "%s", "");
    for (size_t i = 0; i < tide_rollup_table_count; i++)
        write_sql_more(s, "DELETE FROM rollup.\"%s\" WHERE deployment = %u;", tide_rollup_tables[i],
                       s->plan->deployment);
    return write_run_sql(s, "DELETE", err);
}

static tide_status fold_all(struct write_session *s, const struct write_rollups *r,
                            struct tide_err *err)
{
    write_sql(s,
              "SELECT from_ledger, end_ledger FROM chain.partition WHERE deployment = %u AND"
              " attached ORDER BY 1",
              s->plan->deployment);
    tide_status status = write_query_sql(s, err);
    for (uint32_t i = 0; status == TIDE_OK && r->any && i < s->rows.count; i++) {
        uint32_t from = (uint32_t)tide_pg_u64(&s->rows, i, 0),
                 end = (uint32_t)tide_pg_u64(&s->rows, i, 1);
        status = write_rollup_partition(s, r, from, (struct tide_range){ from, end - 1 }, err);
    }
    return status;
}

/* Checks that no partition was dropped: a detached one still has its tables, the rows of a dropped
 * one cannot be folded again. */
static tide_status check_whole(struct write_session *s, struct tide_err *err)
{
    write_sql(s,
              "SELECT min(from_ledger), max(end_ledger) - 1 FROM chain.archive WHERE deployment ="
              " %u AND EXISTS (SELECT FROM unnest(tables) AS t WHERE to_regclass(t) IS NULL)",
              s->plan->deployment);
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK && !tide_pg_is_null(&s->rows, 0, 0))
        status = tide_fail(err, TIDE_E_MISSING,
                           "rollups must be made anew, but tables of ledgers %s to %s are archived:"
                           " restore them, start again, then drop them",
                           tide_pg_text(&s->rows, 0, 0), tide_pg_text(&s->rows, 0, 1));
    return status;
}

tide_status write_rollup_anew(struct write_session *s, const struct write_rollups *r,
                              struct tide_err *err)
{
    tide_status status = r->any ? check_whole(s, err) : TIDE_OK;
    if (status == TIDE_OK)
        status = empty_all(s, err);
    return status == TIDE_OK ? fold_all(s, r, err) : status;
}

static tide_status build_all(struct write_main *m, const struct write_rollups *r,
                             struct tide_err *err)
{
    struct write_session *s = &m->session;
    tide_status status = write_begin_long(m, err);
    if (status == TIDE_OK)
        status = write_rollup_anew(s, r, err);
    if (status != TIDE_OK)
        return status;
    write_sql(s,
              "INSERT INTO rollup.built (deployment, version) VALUES (%u, %d) ON CONFLICT"
              " (deployment) DO UPDATE SET version = excluded.version, built_at ="
              " clock_timestamp()",
              s->plan->deployment, TIDE_ROLLUP_VERSION);
    status = write_run_sql(s, "INSERT", err);
    return status == TIDE_OK ? write_commit(s, err) : status;
}

static tide_status build_anew(struct write_main *m, const void *arg, struct tide_err *err)
{
    tide_status status = build_all(m, arg, err);
    write_end_long(m);
    return status;
}

/* Reads the version of the rollups; 0: they are not built. */
static tide_status read_version(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    uint64_t *version = *(uint64_t *const *)arg;
    write_sql(s, "SELECT version FROM rollup.built WHERE deployment = %u", s->plan->deployment);
    tide_status status = write_query_sql(s, err);
    *version = status == TIDE_OK && s->rows.count ? tide_pg_u64(&s->rows, 0, 0) : 0;
    return status;
}

tide_status write_rollup_settle(struct write_main *m, const struct write_rollups *r,
                                struct tide_err *err)
{
    struct write_session *s = &m->session;
    uint64_t version = TIDE_ROLLUP_VERSION;
    uint64_t *const read = &version;
    tide_status status = r->any ? write_retry(m, read_version, &read, false, err) : TIDE_OK;
    if (status != TIDE_OK || version == TIDE_ROLLUP_VERSION)
        return status;
    if (version > TIDE_ROLLUP_VERSION)
        return tide_fail(err, TIDE_E_SCHEMA,
                         "rollups of version %" PRIu64 " are newer than this build's %d", version,
                         TIDE_ROLLUP_VERSION);
    if (m->cursor.ledger)
        tide_log(TIDE_INFO, "rollup.build", "deployment=%u version=%d cursor=%u",
                 s->plan->deployment, TIDE_ROLLUP_VERSION, m->cursor.ledger);
    return write_retry(m, build_anew, r, false, err);
}
