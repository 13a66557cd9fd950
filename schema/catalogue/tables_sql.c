#include "schema/catalogue/catalogue_impl.h"

static void write_literal(FILE *out, const char *text)
{
    putc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', out);
        putc(*text, out);
    }
    putc('\'', out);
}

static void write_comment(FILE *out, const char *what, const struct tide_table *t,
                          const char *comment)
{
    fprintf(out, "COMMENT ON %s %s.\"%s\" IS ", what, t->schema, t->name);
    write_literal(out, comment);
    fprintf(out, ";\n");
}

static void write_comments(FILE *out, const struct tide_table *t)
{
    write_comment(out, t->stored || t->is_view ? "VIEW" : "TABLE", t, t->comment);
    for (uint32_t i = 0; i < t->column_count; i++) {
        fprintf(out, "COMMENT ON COLUMN %s.\"%s\".\"%s\" IS ", t->schema, t->name,
                t->columns[i].name);
        write_literal(out, t->columns[i].comment);
        fprintf(out, ";\n");
    }
}

/* Returns the bytes of a type of fixed length, 0 for others. Rows have no padding if columns with
 * longer types come first. */
static uint32_t fixed_bytes(enum tide_pg_type type)
{
    if (type == TIDE_PG_TIMESTAMPTZ || type == TIDE_PG_INT8)
        return 8;
    if (type == TIDE_PG_INT4)
        return 4;
    return type == TIDE_PG_INT2 ? 2 : type == TIDE_PG_BOOL ? 1 : 0;
}

static void write_columns(FILE *out, const struct tide_table *t, uint32_t bytes, bool all)
{
    for (uint32_t i = 0; i < t->column_count; i++)
        if (all || fixed_bytes(t->columns[i].type) == bytes)
            fprintf(out, "    \"%s\" %s%s,\n", t->columns[i].name,
                    tide_pg_type_name(t->columns[i].type),
                    t->columns[i].nullable ? "" : " NOT NULL");
}

/* Writes an index. A partition has the rows of one deployment, so indexes of stored rows leave that
 * column out. */
static void write_index(FILE *out, const struct tide_table *t, const char *columns,
                        const char *full)
{
    static const char all[] = "(deployment, ";
    bool shorter = *full && strncmp(columns, all, sizeof all - 1) == 0;
    const char *list = shorter ? columns + sizeof all - 1 : columns;
    size_t len = strstr(list, " WHERE ") ? (size_t)(strstr(list, " WHERE ") - list) : strlen(list);
    fprintf(out, "CREATE INDEX ON %s.\"%s\" %s%.*s%s%s;\n", t->schema, t->name, shorter ? "(" : "",
            (int)len, list, strstr(list, " WITH ") ? "" : full, list + len);
}

static void write_table(FILE *out, const struct tide_table *t, bool packed)
{
    fprintf(out, "\nCREATE TABLE %s.\"%s\" (\n", t->schema, t->name);
    for (uint32_t bytes = 8; packed && bytes > 0; bytes /= 2)
        write_columns(out, t, bytes, false);
    write_columns(out, t, 0, !packed);
    if (t->check)
        fprintf(out, "    %s,\n", t->check);
    /* Rows are seldom added to a partition after it is filled and indexed. */
    const char *full = packed ? " WITH (fillfactor = 100)" : "";
    fprintf(out, "    PRIMARY KEY (%s)%s\n)%s;\n", t->primary_key, full,
            t->partitioned ? " PARTITION BY RANGE (deployment, ledger)" : "");
    for (uint32_t i = 0; i < TIDE_INDEXES_MAX && t->indexes[i]; i++)
        write_index(out, t, t->indexes[i], full);
    if (t->together)
        fprintf(out, "CREATE STATISTICS %s.%s_together (dependencies) ON %s FROM %s.\"%s\";\n",
                t->schema, t->name, t->together, t->schema, t->name);
}

/* ---- views: words for keys ---- */

/* Number of columns of a view that get their word by a join; the others get it by a subselect for
 * each row. The planner drops joins whose column is not read, and starts at chain.word if a
 * condition names a word. With more joins it would no longer try all orders. Only entries with a
 * contract's settings have more columns. */
enum { JOINS_MAX = 6 };

static const char *stored_name(const struct tide_table *table, const struct tide_column *column)
{
    return table->stored ? table->stored->columns[column->slot].name : column->name;
}

static const char *words_of(const struct tide_column *column)
{
    return column->words ? column->words : "chain.word";
}

static void put_array(struct tide_buf *out, const char *column)
{
    tide_buf_putf(out,
                  "CASE WHEN t.\"%s\" IS NOT NULL THEN ARRAY(SELECT (SELECT w.word FROM chain.word"
                  " AS w WHERE w.id = u.key) FROM unnest(t.\"%s\") AS u (key)) END",
                  column, column);
}

/* An array lists each word once, although both columns may have it. */
static void put_split(struct tide_buf *out, const struct tide_column *column, uint32_t joins)
{
    tide_buf_putf(out, "array_remove(ARRAY[w%u.word", joins + 1);
    for (uint32_t i = 2; i <= column->split; i++)
        tide_buf_putf(out, ", CASE WHEN t.\"%s_%u\" IS DISTINCT FROM t.\"%s_1\" THEN w%u.word END",
                      column->name, i, column->name, joins + i);
    tide_buf_str(out, "], NULL)");
}

/* Writes the expression for the words of a column and counts the joins that it needs. */
static void put_words(struct tide_buf *out, const struct tide_table *table,
                      const struct tide_column *column, uint32_t *joins)
{
    if (column->split) {
        put_split(out, column, *joins);
        *joins += column->split;
    } else if (column->type == TIDE_PG_TEXT_ARRAY) {
        put_array(out, stored_name(table, column));
    } else if (*joins < JOINS_MAX) {
        tide_buf_putf(out, "w%u.word", ++*joins);
    } else {
        tide_buf_putf(out, "(SELECT w.word FROM %s AS w WHERE w.id = t.\"%s\")", words_of(column),
                      stored_name(table, column));
    }
}

static void put_join(struct tide_buf *out, const char *words, const char *column, uint32_t *joins)
{
    ++*joins;
    tide_buf_putf(out, " LEFT JOIN %s AS w%u ON w%u.id = t.\"%s\"", words, *joins, *joins, column);
}

/* Writes the joins in the order in which put_words counts them. */
static void put_joins(struct tide_buf *out, const struct tide_table *table)
{
    uint32_t joins = 0;
    char name[80];
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct tide_column *column = &table->columns[i];
        for (uint32_t k = 1; k <= column->split; k++) {
            snprintf(name, sizeof name, "%s_%u", column->name, k);
            put_join(out, words_of(column), name, &joins);
        }
        if (column->keyed && column->type == TIDE_PG_TEXT && joins < JOINS_MAX)
            put_join(out, words_of(column), stored_name(table, column), &joins);
    }
}

static void put_keys(struct tide_buf *out, const struct tide_table *table,
                     const struct tide_column *column)
{
    for (uint32_t i = 1; i <= column->split; i++)
        tide_buf_putf(out, ", t.\"%s_%u\" AS \"%s_%u_key\"", column->name, i, column->name, i);
    if (column->keyed && column->type == TIDE_PG_TEXT)
        tide_buf_putf(out, ", t.\"%s\" AS \"%s_key\"", stored_name(table, column), column->name);
}

void tide_table_select(struct tide_buf *out, const struct tide_table *table, const char *from,
                       bool keys)
{
    uint32_t joins = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct tide_column *column = &table->columns[i];
        const char *name = stored_name(table, column);
        tide_buf_str(out, i ? ", " : "SELECT ");
        if (column->keyed)
            put_words(out, table, column, &joins);
        else
            tide_buf_putf(out, "t.\"%s\"", name);
        if (column->keyed || strcmp(name, column->name) != 0)
            tide_buf_putf(out, " AS \"%s\"", column->name);
    }
    for (uint32_t i = 0; keys && i < table->column_count; i++)
        put_keys(out, table, &table->columns[i]);
    tide_buf_putf(out, " FROM %s AS t", from);
    put_joins(out, table);
    if (table->where)
        tide_buf_putf(out, " WHERE %s", table->where);
}

static void write_key_comments(FILE *out, const struct tide_table *t)
{
    for (uint32_t i = 0; i < t->column_count; i++) {
        const struct tide_column *column = &t->columns[i];
        char what[64];
        snprintf(what, sizeof what, "Its key in %s", words_of(column));
        for (uint32_t k = 1; k <= column->split; k++)
            fprintf(out, "COMMENT ON COLUMN %s.\"%s\".\"%s_%u_key\" IS '%s';\n", t->schema, t->name,
                    column->name, k, what);
        if (column->keyed && column->type == TIDE_PG_TEXT)
            fprintf(out, "COMMENT ON COLUMN %s.\"%s\".\"%s_key\" IS '%s';\n", t->schema, t->name,
                    column->name, what);
    }
}

/* ---- versions that share a row ---- */

/* Writes a column of the versions before a stored row's own. */
static void put_earlier(struct tide_buf *out, const struct tide_table *stored, uint32_t column)
{
    const char *name = stored->columns[column].name;
    const struct tide_column *earlier = tide_table_earlier(stored, name);
    if (strcmp(name, "tx") == 0)
        tide_buf_str(out, "u.tx");
    else if (strcmp(name, "removed") == 0)
        tide_buf_str(out, "false");
    else if (earlier)
        tide_buf_putf(out, "CASE WHEN t.\"%s\" IS NULL THEN t.\"%s\" ELSE u.\"%s\"::%s END",
                      earlier->name, name, name, tide_pg_type_name(stored->columns[column].type));
    else
        tide_buf_putf(out, "t.\"%s\"", name);
}

/* Writes the arrays, or their names in the rows that they become. */
static void put_arrays(struct tide_buf *out, const struct tide_table *stored, bool names)
{
    for (uint32_t i = stored->own_columns; i < stored->column_count; i++)
        tide_buf_putf(out, "%s%s\"%s\"", i > stored->own_columns ? ", " : "", names ? "" : "t.",
                      stored->columns[i].name + (names ? sizeof TIDE_EARLIER - 1 : 0));
}

void tide_table_versions(struct tide_buf *out, const struct tide_table *table, const char *from)
{
    const struct tide_table *stored = tide_table_stored(table);
    if (!stored->own_columns) {
        tide_buf_str(out, from);
        return;
    }
    uint32_t count = stored->own_columns - 1; /* without life */
    for (uint32_t i = 0; i < count; i++)
        tide_buf_putf(out, "%s\"%s\"", i ? ", " : "(SELECT ", stored->columns[i].name);
    tide_buf_putf(out, " FROM %s UNION ALL ", from);
    for (uint32_t i = 0; i < count; i++) {
        tide_buf_str(out, i ? ", " : "SELECT ");
        put_earlier(out, stored, i);
    }
    tide_buf_putf(out, " FROM %s AS t, LATERAL unnest(", from);
    put_arrays(out, stored, false);
    tide_buf_str(out, ") AS u (");
    put_arrays(out, stored, true);
    tide_buf_str(out, ") WHERE t.\"" TIDE_EARLIER "tx\" IS NOT NULL)");
}

/* ---- lifetimes ---- */

void tide_table_select_lives(struct tide_buf *out, const struct tide_table *history)
{
    static const char *const durability[] = { [TIDE_LIFE_TEMPORARY] = "0",
                                              [TIDE_LIFE_PERSISTENT] = "1",
                                              [TIDE_LIFE_COLUMN] = "t.durability" };
    assert(history->life && history->stored);
    tide_buf_putf(out,
                  "SELECT t.deployment, t.key_hash, t.ledger, t.tx, (t.life & 2147483647)::int4 AS"
                  " seq, t.closed_at, t.contract, t.removed, %s::int2 AS durability,"
                  " nullif((t.life >> 32) & 4294967295, 0) AS live_until,"
                  " NOT t.removed AND t.life >> 32 = 0 AS evicted FROM %s.\"%s\" AS t WHERE"
                  " t.life <> 0",
                  durability[history->life], history->stored->schema, history->stored->name);
}

/* The view from which history.ttl takes its rows, with keys in the place of words. */
#define LIVES "history_rows.life"

/* Writes that view. */
static void write_lives(FILE *out, const struct tide_table *ttl)
{
    uint32_t count;
    struct tide_buf sql;
    const struct tide_table *tables = tide_tables(&count);
    tide_buf_init(&sql, 1u << 20);
    for (uint32_t i = 0; i < ttl->stored->column_count; i++)
        tide_buf_putf(&sql, "%st.\"%s\"", i ? ", " : "SELECT ", ttl->stored->columns[i].name);
    tide_buf_putf(&sql, " FROM %s.\"%s\" AS t", ttl->stored->schema, ttl->stored->name);
    for (uint32_t i = 0; i < count; i++) {
        if (!tables[i].life)
            continue;
        tide_buf_str(&sql, " UNION ALL ");
        tide_table_select_lives(&sql, &tables[i]);
    }
    assert(!sql.failed);
    fprintf(out,
            "\nCREATE VIEW " LIVES " AS %.*s;\nCOMMENT ON VIEW " LIVES
            " IS 'How long entries live, with keys: of the versions of all tables, and of"
            " history_rows.ttl';\n",
            (int)sql.len, (const char *)sql.ptr);
    tide_buf_release(&sql);
}

static void write_select(FILE *out, const struct tide_table *t, const char *schema,
                         const char *from)
{
    struct tide_buf sql;
    tide_buf_init(&sql, 1u << 16);
    tide_table_select(&sql, t, from, true);
    assert(!sql.failed);
    fprintf(out, "CREATE VIEW %s.\"%s\" AS %.*s;\n", schema, t->name, (int)sql.len,
            (const char *)sql.ptr);
    tide_buf_release(&sql);
}

/* Writes the view with words of `from`, and of a history the view asof beside it: from the stored
 * rows alone. */
static void write_view(FILE *out, const struct tide_table *t, const char *from)
{
    struct tide_buf versions;
    tide_buf_init(&versions, 1u << 16);
    tide_table_versions(&versions, t, from);
    tide_buf_u8(&versions, 0);
    assert(!versions.failed);
    write_select(out, t, t->schema, (const char *)versions.ptr);
    tide_buf_release(&versions);
    if (t->life) {
        write_select(out, t, "asof", from);
        fprintf(out,
                "COMMENT ON VIEW asof.\"%s\" IS 'Of history.%s the last version of each key in"
                " each ledger, perhaps others too';\n",
                t->name, t->name);
    }
}

static void write_stored(FILE *out, const struct tide_table *t)
{
    write_table(out, tide_table_stored(t), t->stored);
    if (t->stored)
        write_comment(out, "TABLE", t->stored,
                      t->stored->is_shared ? "What is stored of several views, with keys"
                                           : "What is stored of the view of that name, with keys");
}

static void write_all(FILE *out, const struct tide_table *tables, uint32_t index)
{
    const struct tide_table *t = &tables[index];
    char from[128];
    if (tide_table_owns(tables, index))
        write_stored(out, t);
    if (t->stored) {
        snprintf(from, sizeof from, "%s.\"%s\"", t->stored->schema, t->stored->name);
        write_view(out, t, from);
    }
    write_comments(out, t);
    if (t->stored)
        write_key_comments(out, t);
}

/* Writes what shows lifetimes. All tables of history must be there. */
static void write_all_lives(FILE *out, const struct tide_table *history,
                            const struct tide_table *state)
{
    write_stored(out, history);
    write_lives(out, history);
    write_view(out, history, LIVES);
    write_comments(out, history);
    write_key_comments(out, history);
    write_view(out, state,
               "(SELECT * FROM (SELECT DISTINCT ON (deployment, key_hash) * FROM history.ttl"
               " ORDER BY deployment, key_hash, ledger DESC, tx DESC, seq DESC) AS l WHERE NOT"
               " l.removed)");
    write_comments(out, state);
}

/* Writes the numbers of events' kinds. */
static void write_kinds(FILE *out, const struct tide_table *tables, uint32_t count)
{
    fprintf(out,
            "\nCREATE TABLE chain.kind (\n    id smallint PRIMARY KEY,\n    word text NOT NULL "
            "UNIQUE\n);\nCOMMENT ON TABLE chain.kind IS 'the kinds of events: their numbers in "
            "stored rows';\nCOMMENT ON COLUMN chain.kind.id IS 'Number in event_rows.log';\n"
            "COMMENT ON COLUMN chain.kind.word IS 'Name of the event''s table';\n");
    for (uint32_t i = 0; i < count; i++)
        if (tables[i].number)
            fprintf(out, "INSERT INTO chain.kind VALUES (%u, '%s');\n", tables[i].number,
                    tables[i].name);
}

void tide_tables_write_sql(FILE *out)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    fprintf(
        out,
        "-- 0002_tables: the tables of ledger rows, and the function that shows events of any "
        "kind.\n"
        "--\n"
        "-- Generated from the catalogue (schema/catalogue). The indexer makes the partitions of\n"
        "-- partitioned tables, with these keys and indexes. Tables with keys of chain.word in "
        "the\n"
        "-- place of words are in schemas of their own; views show them with the words.\n"
        "-- Rows are those of decoder version %d.\n",
        TIDE_DECODER_VERSION);
    write_kinds(out, tables, count);
    for (uint32_t i = 0; i < count; i++)
        if (i != TIDE_TABLE_HISTORY_TTL && i != TIDE_TABLE_STATE_TTL)
            write_all(out, tables, i);
    write_all_lives(out, &tables[TIDE_TABLE_HISTORY_TTL], &tables[TIDE_TABLE_STATE_TTL]);
    fputs(tide_event_fields_sql, out);
}
