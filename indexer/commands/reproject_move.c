/* Moving rows of a reprojection from the raw tables to the typed ones. */
#include "indexer/commands/reproject.h"

#include "tidemark/table.h"

enum { SQL_MAX = 4 << 20 };

static tide_status run_statement(struct tide_reproject *r, struct tide_buf *sql, const char *tag,
                                 struct tide_err *err)
{
    tide_buf_u8(sql, 0);
    tide_status status = sql->failed ? tide_fail(err, TIDE_E_LIMIT, "reproject: statement too long")
                                     : tide_pg_run(r->pg, (const char *)sql->ptr, tag, err);
    tide_buf_reset(sql);
    return status;
}

/* Writes the table's columns, each with the prefix, without the column left_out. */
static void put_columns(struct tide_buf *sql, const struct tide_table *table, const char *prefix,
                        const char *left_out)
{
    bool any = false;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (left_out && strcmp(table->columns[i].name, left_out) == 0)
            continue;
        tide_buf_putf(sql, "%s%s\"%s\"", any ? ", " : "", prefix, table->columns[i].name);
        any = true;
    }
    assert(any);
}

/* Reads the words of the batch's rows and gets their keys, in the transaction that stores the
 * rows. */
static tide_status ask_words(struct tide_reproject *r, struct tide_err *err)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    tide_status status = TIDE_OK;
    tide_words_begin(r->words);
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        if (tables[i].stored && r->batch->rows[i].count)
            status = tide_words_read(r->words, i, &tables[i],
                                     tide_buf_view(&r->batch->rows[i].copy), err);
    return status == TIDE_OK ? tide_words_ask(r->words, r->pg, err) : status;
}

/* Copies the batch's rows of a table, with keys in place of words, into `into`. */
static tide_status copy_rows(struct tide_reproject *r, struct tide_buf *sql, const char *into,
                             uint32_t index, struct tide_err *err)
{
    uint32_t count;
    const struct tide_table *table = &tide_tables(&count)[index];
    const struct tide_rows *rows = &r->batch->rows[index];
    assert(index < count && rows->count > 0);
    tide_slice tuples = tide_buf_view(&rows->copy);
    struct tide_buf keyed;
    tide_status status = TIDE_OK;
    tide_buf_init(&keyed, INT32_MAX);
    if (table->stored) {
        status = tide_words_put(r->words, index, table, tuples, &keyed, err);
        tuples = tide_buf_view(&keyed);
    }
    tide_buf_putf(sql, "COPY %s (", into);
    put_columns(sql, tide_table_stored(table), "", NULL);
    tide_buf_put(sql, ") FROM STDIN (FORMAT binary)", sizeof ") FROM STDIN (FORMAT binary)");
    if (status == TIDE_OK && (sql->failed || rows->copy.failed))
        status = tide_fail(err, TIDE_E_LIMIT, "reproject: %s: too many bytes", into);
    if (status == TIDE_OK)
        status = tide_pg_copy(r->pg, (const char *)sql->ptr, tuples, rows->count, err);
    tide_buf_release(&keyed);
    tide_buf_reset(sql);
    return status;
}

/* Deletes the raw rows that moved, and subtracts them from the counts of ledger and cursor. */
static tide_status drop_raw(struct tide_reproject *r, struct tide_buf *sql, const char *table,
                            const char *key, const char *count, struct tide_err *err)
{
    assert(r->chunk_moved > 0);
    tide_buf_putf(sql, "WITH gone AS (DELETE FROM %s WHERE deployment = %u AND (%s) IN (", table,
                  r->deployment, key);
    tide_buf_slice(sql, tide_buf_view(&r->moved));
    tide_buf_putf(sql,
                  ") RETURNING ledger) UPDATE chain.ledger AS l SET %s = l.%s - g.n FROM (SELECT"
                  " ledger, count(*) AS n FROM gone GROUP BY ledger) AS g WHERE l.deployment = %u"
                  " AND l.ledger = g.ledger",
                  count, count, r->deployment);
    tide_status status = run_statement(r, sql, "UPDATE", err);
    tide_buf_putf(sql, "UPDATE chain.cursor SET %s = %s - %" PRIu64 " WHERE deployment = %u", count,
                  count, r->chunk_moved, r->deployment);
    return status == TIDE_OK ? run_statement(r, sql, "UPDATE 1", err) : status;
}

static void empty_chunk(struct tide_reproject *r)
{
    tide_batch_reset(r->batch);
    tide_buf_reset(&r->moved);
    r->chunk_moved = 0;
}

/* The raw rows are deleted after the typed rows were written, in the same transaction. */
tide_status tide_reproject_move_events(struct tide_reproject *r, struct tide_err *err)
{
    uint32_t count;
    struct tide_buf sql;
    char into[160];
    const struct tide_table *tables = tide_tables(&count);
    tide_status status = ask_words(r, err);
    tide_buf_init(&sql, SQL_MAX);
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++) {
        if (r->batch->rows[i].count == 0)
            continue;
        assert(tables[i].kind != TIDE_TABLE_STATE); /* open_decoder left them out */
        int len = snprintf(into, sizeof into, "\"%s\".\"%s\"",
                           tide_table_stored(&tables[i])->schema, tables[i].name);
        assert(len > 0 && (size_t)len < sizeof into);
        (void)len;
        status = copy_rows(r, &sql, into, i, err);
    }
    if (status == TIDE_OK && r->chunk_moved)
        status = drop_raw(r, &sql, "event_rows.raw", "ledger, tx, op, event", "raw_events", err);
    tide_buf_release(&sql);
    empty_chunk(r);
    return status;
}

/* Inserts the staged versions into history. A version of an instance that fitted in part is there
 * already and is replaced. */
static tide_status merge_history(struct tide_reproject *r, struct tide_buf *sql,
                                 const struct tide_table *table, struct tide_err *err)
{
    tide_buf_putf(
        sql,
        "DELETE FROM history_rows.\"%s\" AS h USING pg_temp.again AS a WHERE h.deployment ="
        " a.deployment AND h.key_hash = a.key_hash AND h.ledger = a.ledger AND h.tx = a.tx"
        " AND h.seq = a.seq; INSERT INTO history_rows.\"%s\" (",
        table->name, table->name);
    put_columns(sql, tide_table_stored(table), "", NULL);
    tide_buf_str(sql, ") SELECT ");
    put_columns(sql, tide_table_stored(table), "a.", NULL);
    tide_buf_str(sql, " FROM pg_temp.again AS a");
    return run_statement(r, sql, "INSERT", err);
}

/* Writes the newest version of each staged key to state, as the writer does. A raw version may be
 * newer; that one is in state.raw. */
static tide_status merge_state(struct tide_reproject *r, struct tide_buf *sql,
                               const struct tide_table *table, struct tide_err *err)
{
    tide_buf_putf(sql,
                  "DELETE FROM state.\"%s\" AS s USING pg_temp.again AS a WHERE s.deployment ="
                  " a.deployment AND s.key_hash = a.key_hash; INSERT INTO state.\"%s\" (",
                  table->name, table->name);
    put_columns(sql, table, "", "removed");
    tide_buf_str(sql, ") SELECT ");
    put_columns(sql, table, "n.", "removed");
    tide_buf_putf(sql,
                  " FROM (SELECT DISTINCT deployment, key_hash FROM pg_temp.again) AS k"
                  " CROSS JOIN LATERAL (SELECT * FROM history.\"%s\" AS h WHERE h.deployment ="
                  " k.deployment AND h.key_hash = k.key_hash"
                  " ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS n"
                  " WHERE NOT n.removed",
                  table->name);
    return run_statement(r, sql, "INSERT", err);
}

/* Stages the versions in a temporary table, because history and state are merged by key. */
static tide_status move_table(struct tide_reproject *r, struct tide_buf *sql, uint32_t index,
                              struct tide_err *err)
{
    uint32_t count;
    const struct tide_table *table = &tide_tables(&count)[index];
    assert(index < count && table->kind == TIDE_TABLE_HISTORY);
    tide_buf_putf(sql, "CREATE TEMPORARY TABLE again (LIKE history_rows.\"%s\") ON COMMIT DROP",
                  table->name);
    tide_status status = run_statement(r, sql, "CREATE", err);
    if (status == TIDE_OK)
        status = copy_rows(r, sql, "pg_temp.again", index, err);
    if (status == TIDE_OK)
        status = merge_history(r, sql, table, err);
    if (status == TIDE_OK)
        status = merge_state(r, sql, table, err);
    tide_buf_str(sql, "DROP TABLE pg_temp.again");
    return status == TIDE_OK ? run_statement(r, sql, "DROP", err) : status;
}

/* Adds the contracts that entries name, now that they can be decoded. The next run follows those
 * below the limit, and reads their past. */
static tide_status add_seen(struct tide_reproject *r, struct tide_buf *sql, struct tide_err *err)
{
    if (r->batch->rows[TIDE_TABLE_CONTRACT_SEEN].count == 0)
        return TIDE_OK;
    tide_buf_str(sql, "CREATE TEMPORARY TABLE again (LIKE chain.contract_seen) ON COMMIT DROP");
    tide_status status = run_statement(r, sql, "CREATE", err);
    if (status == TIDE_OK)
        status = copy_rows(r, sql, "pg_temp.again", TIDE_TABLE_CONTRACT_SEEN, err);
    tide_buf_str(sql, "INSERT INTO chain.contract_seen SELECT * FROM pg_temp.again"
                      " ON CONFLICT DO NOTHING;");
    tide_buf_putf(sql,
                  " SELECT chain.note_discovered(%u::smallint, ARRAY(SELECT DISTINCT contract FROM"
                  " pg_temp.again))",
                  r->deployment);
    if (status == TIDE_OK)
        status = run_statement(r, sql, "SELECT", err);
    tide_buf_str(sql, "DROP TABLE pg_temp.again");
    return status == TIDE_OK ? run_statement(r, sql, "DROP", err) : status;
}

/* Deletes rows of state.raw whose version moved. Others are still the newest version of their
 * key. */
static tide_status drop_raw_state(struct tide_reproject *r, struct tide_buf *sql,
                                  struct tide_err *err)
{
    tide_buf_putf(sql,
                  "DELETE FROM state.raw AS s WHERE s.deployment = %u AND NOT EXISTS (SELECT FROM"
                  " history.raw AS h WHERE h.deployment = s.deployment AND h.key_hash = s.key_hash"
                  " AND h.ledger = s.ledger AND h.tx = s.tx AND h.seq = s.seq)",
                  r->deployment);
    return run_statement(r, sql, "DELETE", err);
}

/* Deletes the raw versions that moved, and merges the typed ones table by table. */
tide_status tide_reproject_move_versions(struct tide_reproject *r, struct tide_err *err)
{
    uint32_t count;
    struct tide_buf sql;
    const struct tide_table *tables = tide_tables(&count);
    assert(count <= TIDE_TABLES_MAX);
    tide_status status = ask_words(r, err);
    tide_buf_init(&sql, SQL_MAX);
    if (status == TIDE_OK && r->chunk_moved)
        status =
            drop_raw(r, &sql, "history_rows.raw", "key_hash, ledger, tx, seq", "raw_states", err);
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        if (tables[i].kind == TIDE_TABLE_HISTORY && r->batch->rows[i].count)
            status = move_table(r, &sql, i, err);
    if (status == TIDE_OK)
        status = add_seen(r, &sql, err);
    if (status == TIDE_OK && r->chunk_moved)
        status = drop_raw_state(r, &sql, err);
    tide_buf_release(&sql);
    empty_chunk(r);
    return status;
}
