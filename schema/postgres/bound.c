#include "tidemark/bound.h"
#include "tidemark/deployment.h"
#include "tidemark/table.h"

#include <ctype.h>
#include <string.h>

enum { TABLE_MAX = 80, BODY_MAX = 512 << 10 };

/* A table that a statement reads: "state.oracle_feed AS f". */
struct place {
    tide_slice schema, table, alias; /* alias: the table's name if the statement gives none */
    const char *end;                 /* behind the alias */
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static tide_slice word_at(const char *at)
{
    size_t len = 0;
    while (is_word(at[len]))
        len++;
    return tide_slice_of(at, len);
}

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\n')
        at++;
    return at;
}

/* Returns whether FROM, JOIN or a comma stands before `at`, so that the name there is a table that
 * is read. */
static bool after_from(const char *sql, const char *at)
{
    while (at > sql && (at[-1] == ' ' || at[-1] == '\n'))
        at--;
    if (at > sql && at[-1] == ',')
        return true;
    for (size_t i = 0; i < 2; i++) {
        const char *word = i ? "JOIN" : "FROM";
        if (at - sql >= 4 && memcmp(at - 4, word, 4) == 0 && (at - sql == 4 || !is_word(at[-5])))
            return true;
    }
    return false;
}

static bool read_place(struct place *out, const char *sql, const char *at)
{
    static const char *const schemas[] = { "state", "history", "event", "chain" };
    if ((at > sql && (is_word(at[-1]) || at[-1] == '.')) || !after_from(sql, at))
        return false;
    out->schema = word_at(at);
    const char *dot = at + out->schema.len;
    bool known = false;
    for (size_t i = 0; i < TIDE_COUNT(schemas); i++)
        known |= tide_slice_eq_str(out->schema, schemas[i]);
    if (!known || *dot != '.')
        return false;
    out->table = out->alias = word_at(dot + 1);
    out->end = dot + 1 + out->table.len;
    const char *as = skip_space(out->end);
    if (*out->end == '(' || out->table.len == 0 || out->table.len > TABLE_MAX)
        return false; /* a function */
    if (strncmp(as, "AS ", 3) == 0) {
        out->alias = word_at(skip_space(as + 3));
        out->end = skip_space(as + 3) + out->alias.len;
    }
    return true;
}

static enum tide_role role_of(const struct place *place)
{
    return tide_slice_eq_str(place->schema, "chain") ? TIDE_ROLE_COUNT
                                                     : tide_role_of_table(place->table);
}

/* Returns whether the table has rows of all followed contracts. */
static bool is_followed(const struct place *place, enum tide_role role)
{
    if (tide_slice_eq_str(place->schema, "chain"))
        return tide_slice_eq_str(place->table, "call");
    return role == TIDE_ROLE_synth_token || role == TIDE_ROLE_stellar_asset ||
           tide_slice_eq_str(place->table, "log") || tide_slice_eq_str(place->table, "raw");
}

/* The parts of the deployment that a statement needs: the contracts by role, and the list of
 * followed contracts. */
struct asked {
    bool roles, followed;
};

/* Returns whether the table is a view of stored rows. Its condition compares keys, so that an index
 * can answer in its order. */
static bool has_keys(const struct place *place)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    for (uint32_t i = 0; i < count; i++)
        if (tide_slice_eq_str(place->schema, tables[i].schema) &&
            tide_slice_eq_str(place->table, tables[i].name))
            return tables[i].stored;
    return false;
}

static void put_condition(struct tide_buf *out, const struct place *place, enum tide_role role,
                          struct asked *asked)
{
    assert(tide_role_is_single(role) || is_followed(place, role));
    bool keys = has_keys(place);
    const char *name = tide_role_is_single(role) ? tide_role_name(role) : "";
    tide_buf_putf(out, "%.*s.contract%s = ", TIDE_SLICE_FMT(place->alias), keys ? "_key" : "");
    if (tide_role_is_single(role) && keys)
        tide_buf_putf(out, "(SELECT chain.word_key(r.%s) FROM bound_roles AS r)", name);
    else if (tide_role_is_single(role))
        tide_buf_putf(out, "(SELECT r.%s FROM bound_roles AS r)", name);
    else if (keys)
        tide_buf_str(out, "ANY ((SELECT f.keys FROM bound_followed AS f)::integer[])");
    else
        tide_buf_str(out, "ANY ((SELECT f.contracts FROM bound_followed AS f)::text[])");
    asked->roles |= tide_role_is_single(role);
    asked->followed |= !tide_role_is_single(role);
}

/* Replaces the table by a join with a SELECT of one row without columns. The planner drops the join
 * and keeps its condition, so plans and names are those of the table alone. */
static void put_place(struct tide_buf *out, const struct place *place, enum tide_role role,
                      struct asked *asked)
{
    tide_buf_putf(out, "(%.*s.%.*s AS %.*s JOIN (SELECT) AS %.*s_bound ON ",
                  TIDE_SLICE_FMT(place->schema), TIDE_SLICE_FMT(place->table),
                  TIDE_SLICE_FMT(place->alias), TIDE_SLICE_FMT(place->alias));
    put_condition(out, place, role, asked);
    tide_buf_u8(out, ')');
}

static void write_body(struct tide_buf *out, const char *sql, struct asked *asked)
{
    struct place place;
    for (const char *at = sql; *at;) {
        if (!read_place(&place, sql, at)) {
            tide_buf_u8(out, (uint8_t)*at++);
            continue;
        }
        assert(place.end > at);
        enum tide_role role = role_of(&place);
        if (tide_role_is_single(role) || is_followed(&place, role))
            put_place(out, &place, role, asked);
        else
            tide_buf_put(out, at, (size_t)(place.end - at));
        at = place.end;
    }
}

static void put_roles(struct tide_buf *out)
{
    tide_buf_str(out, "bound_roles AS MATERIALIZED (SELECT ");
    for (int role = 0; role < (int)TIDE_ROLE_synth_token; role++)
        tide_buf_putf(out, "%smax(j.address) FILTER (WHERE j.role = '%s') AS %s", role ? ", " : "",
                      tide_role_name((enum tide_role)role), tide_role_name((enum tide_role)role));
    tide_buf_str(out, " FROM chain.deployment AS d, jsonb_to_recordset(d.contracts)"
                      " AS j(role text, address text) WHERE d.id = $1::smallint)");
}

static void put_followed(struct tide_buf *out)
{
    tide_buf_str(out, "bound_followed AS MATERIALIZED (SELECT f.contracts, ARRAY(SELECT w.id FROM"
                      " chain.word AS w WHERE w.word = ANY (f.contracts)) AS keys FROM (SELECT"
                      " ARRAY(SELECT j.address FROM"
                      " chain.deployment AS d, jsonb_to_recordset(d.contracts) AS j(address text)"
                      " WHERE d.id = $1::smallint UNION ALL SELECT s.contract FROM"
                      " chain.contract_seen AS s WHERE s.deployment = $1::smallint"
                      " AND s.what = 'discovered') AS contracts) AS f)");
}

/* Returns the first word after lines of comment. */
static const char *first_word(const char *sql)
{
    for (sql = skip_space(sql); strncmp(sql, "--", 2) == 0; sql = skip_space(sql))
        sql += strcspn(sql, "\n");
    return sql;
}

void tide_bound_write(struct tide_buf *out, const char *sql)
{
    struct asked asked = { 0 };
    struct tide_buf body;
    const char *begin = first_word(sql);
    bool with = strncmp(begin, "WITH ", 5) == 0;
    /* keeps the comment, which PostgreSQL's log then shows */
    tide_buf_put(out, sql, (size_t)(begin - sql));
    tide_buf_init(&body, BODY_MAX);
    write_body(&body, with ? begin + 5 : begin, &asked);
    tide_buf_str(out, with || asked.roles || asked.followed ? "WITH " : "");
    if (asked.roles)
        put_roles(out);
    tide_buf_str(out, asked.roles && asked.followed ? ", " : "");
    if (asked.followed)
        put_followed(out);
    if (asked.roles || asked.followed)
        tide_buf_str(out, with ? ", " : " ");
    tide_buf_slice(out, tide_buf_view(&body));
    tide_buf_u8(out, 0);
    out->failed |= body.failed;
    tide_buf_release(&body);
}

static tide_status bound_text(struct tide_buf *out, const char *sql, struct tide_err *err)
{
    tide_buf_init(out, BODY_MAX);
    tide_bound_write(out, sql);
    assert(out->failed || (out->len > 0 && out->ptr[out->len - 1] == '\0'));
    if (!out->failed)
        return TIDE_OK;
    tide_buf_release(out);
    return tide_fail(err, TIDE_E_MEMORY, "statement");
}

tide_status tide_bound_prepare(struct tide_pg *pg, const char *name, const char *sql,
                               struct tide_err *err)
{
    struct tide_buf text;
    tide_status status = bound_text(&text, sql, err);
    if (status != TIDE_OK)
        return status;
    status = tide_pg_prepare(pg, name, (const char *)text.ptr, err);
    tide_buf_release(&text);
    return status;
}

tide_status tide_bound_query(struct tide_pg *pg, struct tide_pg_rows *rows, const char *sql,
                             const char *const *values, size_t count, struct tide_err *err)
{
    struct tide_buf text;
    tide_status status = bound_text(&text, sql, err);
    if (status != TIDE_OK)
        return status;
    status = tide_pg_query(pg, rows, (const char *)text.ptr, values, count, err);
    tide_buf_release(&text);
    return status;
}
