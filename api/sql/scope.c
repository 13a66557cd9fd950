/* The tables that a statement needs, compared with the index scope. */
#include "api/sql/scope.h"
#include "tidemark/catalogue.h"
#include "tidemark/table.h"

static const struct {
    const char *name, *tables;
} views[] = {
#define TIDE_VIEW_TABLES(name, tables) { name, tables },
#include "api/sql/view_tables.def"
};

struct name {
    tide_slice schema, table, whole;
};

/* Moves to the next schema.table in the text whose schema is one of the index. Returns false at
 * the end. */
static bool next_name(const char **text, struct name *out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    static const char *const schemas[] = { "state", "history", "event", "rollup", "chain" };
    for (const char *at = *text; *at;) {
        size_t schema = strspn(at, letters), table;
        if (schema == 0 || at[schema] != '.') {
            at += schema + (at[schema] != 0);
            continue;
        }
        table = strspn(at + schema + 1, letters);
        *out = (struct name){ .schema = tide_slice_of(at, schema),
                              .table = tide_slice_of(at + schema + 1, table),
                              .whole = tide_slice_of(at, schema + 1 + table) };
        at += out->whole.len;
        for (size_t i = 0; i < TIDE_COUNT(schemas) && table; i++)
            if (tide_slice_eq_str(out->schema, schemas[i])) {
                *text = at;
                return true;
            }
    }
    return false;
}

/* Returns the catalogue's table of that name, or NULL. */
static const struct tide_table *table_of(const struct name *name)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    for (uint32_t i = 0; i < count; i++)
        if (tide_slice_eq_str(name->schema, tables[i].schema) &&
            tide_slice_eq_str(name->table, tables[i].name))
            return &tables[i];
    return NULL;
}

/* Returns the tables that a view or function reads, or NULL if the name is neither. */
static const char *tables_behind(const struct name *name)
{
    for (size_t i = 0; i < TIDE_COUNT(views); i++)
        if (tide_slice_eq_str(name->whole, views[i].name))
            return views[i].tables;
    return NULL;
}

/* --- the scope -------------------------------------------------------------------------- */

struct missing {
    const char *scope;
    char *text; /* TIDE_SCOPE_TEXT bytes */
    size_t len;
};

/* Adds the table to the text if it is outside the scope. A text that is too long ends with "…". */
static void check_table(struct missing *m, tide_slice whole)
{
    static const char more[] = ", …";
    if (tide_scope_names(m->scope, whole) || memmem(m->text, m->len, whole.ptr, whole.len))
        return;
    assert(m->len + sizeof more < TIDE_SCOPE_TEXT); /* room was left for "more" */
    size_t room = TIDE_SCOPE_TEXT - m->len - sizeof more;
    int len = snprintf(m->text + m->len, room, "%s%.*s", m->len ? ", " : "", TIDE_SLICE_FMT(whole));
    if ((size_t)len < room)
        m->len += (size_t)len;
    else
        memcpy(m->text + m->len, more, sizeof more);
}

static void check_kind(struct missing *m, uint32_t kind)
{
    assert(kind < TIDE_EV_COUNT); /* tide_param_read checked it */
    uint32_t count;
    char whole[96];
    const struct tide_table *table = &tide_tables(&count)[tide_events()[kind].table];
    int len = snprintf(whole, sizeof whole, "%s.%s", table->schema, table->name);
    assert(len > 0 && (size_t)len < sizeof whole);
    check_table(m, tide_slice_of(whole, (size_t)len));
}

static void check_kinds(struct missing *m, const struct tide_scope_need *need)
{
    uint32_t count = need->kind_count ? need->kind_count : TIDE_EV_COUNT;
    for (uint32_t i = 0; i < count; i++)
        check_kind(m, need->kind_count ? need->kinds[i] : i);
}

static void check_view(struct missing *m, const char *tables, const struct tide_scope_need *need)
{
    struct name name;
    if (strcmp(tables, "event.*") == 0)
        check_kinds(m, need);
    while (next_name(&tables, &name))
        check_table(m, name.whole);
}

bool tide_scope_has_all(char missing[TIDE_SCOPE_TEXT], const char *scope,
                        const struct tide_scope_need *need)
{
    struct missing m = { .scope = scope, .text = missing };
    const char *rest = need->sql;
    struct name name;
    missing[0] = 0;
    while (!tide_scope_is_all(scope) && next_name(&rest, &name)) {
        const char *tables = tables_behind(&name);
        if (tables)
            check_view(&m, tables, need);
        if (table_of(&name) || (!tables && !tide_slice_eq_str(name.schema, "chain")))
            check_table(&m, name.whole);
    }
    return missing[0] == 0;
}

/* --- names and the problem --------------------------------------------------------------- */

tide_status tide_scope_check_names(const char *name, const char *sql, struct tide_err *err)
{
    struct name table;
    while (next_name(&sql, &table)) {
        /* Tables of migrations are not in the catalogue */
        bool elsewhere =
            tide_slice_eq_str(table.schema, "chain") || tide_slice_eq_str(table.schema, "rollup");
        if (!elsewhere && !table_of(&table))
            return tide_fail(err, TIDE_E_SCHEMA, "%s: unknown table %.*s", name,
                             TIDE_SLICE_FMT(table.whole));
    }
    return TIDE_OK;
}

void tide_scope_refuse(struct tide_reply *reply, const char *missing)
{
    tide_reply_problem(
        reply, 503, "incomplete",
        "This index maintains only some tables (--only), and this answer needs others:"
        " %s.",
        missing);
}
