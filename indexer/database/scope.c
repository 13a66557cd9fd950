/* Parsing of --only, and the tables that a selection implies. */
#include "indexer/database/scope.h"

/* Returns whether the table's name is `kind`, or ends in _kind. */
static bool name_matches(const char *name, tide_slice kind)
{
    size_t len = strlen(name);
    if (tide_slice_eq_str(kind, "*") || tide_slice_eq_str(kind, name))
        return true;
    return len > kind.len && name[len - kind.len - 1] == '_' &&
           memcmp(name + len - kind.len, kind.ptr, kind.len) == 0;
}

static bool table_matches(const struct tide_table *table, tide_slice pattern)
{
    const uint8_t *dot = memchr(pattern.ptr, '.', pattern.len);
    if (!dot)
        return name_matches(table->name, pattern);
    tide_slice schema = tide_slice_of(pattern.ptr, (size_t)(dot - pattern.ptr));
    tide_slice kind = tide_slice_of(dot + 1, pattern.len - schema.len - 1);
    return tide_slice_eq_str(schema, table->schema) && name_matches(table->name, kind);
}

static void select_table(struct tide_scope *out, const struct tide_table *tables, uint32_t i)
{
    assert(i < TIDE_TABLES_MAX && tables[i].pair < TIDE_TABLES_MAX);
    out->wanted[i] = true;
    if (tables[i].kind == TIDE_TABLE_STATE || tables[i].kind == TIDE_TABLE_HISTORY)
        out->wanted[tables[i].pair] = true;
}

static bool select_tables(struct tide_scope *out, const struct tide_table *tables, uint32_t count,
                          tide_slice pattern)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        if (table_matches(&tables[i], pattern)) {
            any = true;
            select_table(out, tables, i);
        }
    return any;
}

static void select_all(struct tide_scope *out, const struct tide_table *tables, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        select_table(out, tables, i);
    for (size_t i = 0; i < tide_rollup_count; i++)
        out->rollups[i] = true;
}

static bool select_rollups(struct tide_scope *out, tide_slice pattern)
{
    static const char schema[] = "rollup.";
    bool all = tide_slice_eq_str(pattern, "*"), any = false;
    assert(tide_rollup_count <= TIDE_ROLLUPS_MAX);
    size_t skip = sizeof schema - 1;
    if (!all && (pattern.len <= skip || memcmp(pattern.ptr, schema, skip) != 0))
        return false;
    tide_slice table = all ? pattern : tide_slice_of(pattern.ptr + skip, pattern.len - skip);
    all = tide_slice_eq_str(table, "*");
    for (size_t i = 0; i < tide_rollup_count; i++)
        if (all || tide_rollup_names(&tide_rollups[i], TIDE_ROLLUP_INTO, table))
            any = out->rollups[i] = true;
    return any;
}

/* Adds the tables that selected rollups read: sums over tables that are not filled would be wrong
 * without a sign of it. */
static void add_sources(struct tide_scope *out, const struct tide_table *tables, uint32_t count)
{
    tide_rollup_together(out->rollups);
    for (size_t r = 0; r < tide_rollup_count; r++) {
        tide_slice rest = tide_rollups[r].sql, before;
        struct tide_rollup_name name;
        while (out->rollups[r] && tide_rollup_next(&rest, &before, &name))
            for (uint32_t i = 0; i < count && name.mark != TIDE_ROLLUP_INTO; i++)
                if (tide_slice_eq_str(name.schema, tables[i].schema) &&
                    tide_slice_eq_str(name.table, tables[i].name))
                    select_table(out, tables, i);
    }
}

static tide_slice next_pattern(const char **text)
{
    size_t len = strcspn(*text, ",");
    tide_slice pattern = tide_slice_of(*text, len);
    *text += len + ((*text)[len] == ',');
    while (pattern.len && *pattern.ptr == ' ')
        pattern = tide_slice_of(pattern.ptr + 1, pattern.len - 1);
    while (pattern.len && pattern.ptr[pattern.len - 1] == ' ')
        pattern.len--;
    return pattern;
}

/* Adds the tables that are always filled: raw rows beside selected kinds, ledgers, and contracts
 * that the chain names. */
static void add_implied(struct tide_scope *out, const struct tide_table *tables, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!out->wanted[i] || i < TIDE_TABLE_FIXED_COUNT)
            continue;
        bool event = tables[i].kind == TIDE_TABLE_EVENT;
        out->wanted[event ? TIDE_TABLE_EVENT_RAW : TIDE_TABLE_HISTORY_RAW] = true;
        out->wanted[event ? TIDE_TABLE_EVENT_RAW : TIDE_TABLE_STATE_RAW] = true;
    }
    out->wanted[TIDE_TABLE_TX] |= out->wanted[TIDE_TABLE_CALL]; /* chain.tx has the calls' hashes */
    out->wanted[TIDE_TABLE_LEDGER] = true;
    out->wanted[TIDE_TABLE_CONTRACT_SEEN] = out->wanted[TIDE_TABLE_KEPT_FOR] = true;
}

tide_status tide_scope_parse(struct tide_scope *out, const struct tide_table *tables,
                             uint32_t count, const char *text, struct tide_err *err)
{
    assert(count <= TIDE_TABLES_MAX);
    memset(out, 0, sizeof *out);
    out->all = *text == 0;
    while (*text) {
        tide_slice pattern = next_pattern(&text);
        bool any = pattern.len && select_tables(out, tables, count, pattern);
        if (!(pattern.len && select_rollups(out, pattern)) && !any)
            return tide_fail(err, TIDE_E_CONFIG, "only: no table fits \"%.*s\"",
                             pattern.len < 80 ? (int)pattern.len : 80, (const char *)pattern.ptr);
    }
    if (out->all)
        select_all(out, tables, count);
    add_sources(out, tables, count);
    if (count > TIDE_TABLE_FIXED_COUNT)
        add_implied(out, tables, count);
    return TIDE_OK;
}

static bool is_kept(const struct tide_scope *scope, tide_slice table)
{
    for (size_t i = 0; i < tide_rollup_count; i++)
        if (scope->rollups[i] && tide_rollup_names(&tide_rollups[i], TIDE_ROLLUP_INTO, table))
            return true;
    return false;
}

void tide_scope_text(struct tide_buf *out, const struct tide_scope *scope,
                     const struct tide_table *tables, uint32_t count)
{
    const char *comma = "";
    if (scope->all) {
        tide_buf_u8(out, '*');
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (scope->wanted[i]) {
            tide_buf_putf(out, "%s%s.%s", comma, tables[i].schema, tables[i].name);
            comma = ",";
        }
    tide_slice rollups[TIDE_ROLLUP_TABLES_MAX];
    uint32_t rollup_count = tide_rollup_tables(rollups);
    assert(rollup_count <= TIDE_ROLLUP_TABLES_MAX);
    for (uint32_t i = 0; i < rollup_count; i++)
        if (is_kept(scope, rollups[i]))
            tide_buf_putf(out, ",rollup.%.*s", TIDE_SLICE_FMT(rollups[i]));
}
