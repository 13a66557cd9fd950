/* Export of entries, now or as of a ledger: one query for each table of the catalogue, and one for
 * raw entries. */
#include "indexer/decode/raw.h"
#include "indexer/export/cursor.h"
#include "indexer/export/export.h"
#include "indexer/export/value.h"
#include "tidemark/limits.h"
#include "tidemark/scval.h"
#include "tidemark/table.h"

enum state_column {
    STATE_AS_OF,
    STATE_CONTRACT,
    STATE_ROLE,
    STATE_KEY,
    STATE_DURABILITY,
    STATE_LIVE_UNTIL,
    STATE_VAL
};

const char *const tide_export_state_columns[] = { "as_of",      "contract",   "role", "key",
                                                  "durability", "live_until", "val",  NULL };

enum { AT_CONTRACT, AT_LIVE_UNTIL, AT_DURABILITY, AT_EXECUTABLE, AT_WASM, AT_FIELDS };

/* A table that entries are read from. */
struct source {
    const struct tide_kind *kind; /* NULL: raw entries */
    const char *name;             /* name of the table in the schemas state and history */
    bool roles[TIDE_ROLE_COUNT];  /* for raw entries: roles of the contracts that have some */
};

static tide_slice field_text(const void *self, uint32_t field)
{
    return tide_cursor_text(self, AT_FIELDS + field);
}

static bool field_null(const void *self, uint32_t field)
{
    return tide_cursor_null(self, AT_FIELDS + field);
}

static void put_columns(struct tide_buf *sql, const struct source *from)
{
    bool instance = from->kind && from->kind->class == TIDE_KIND_INSTANCE;
    tide_buf_str(sql, "SELECT t.contract, l.live_until");
    if (from->kind)
        tide_buf_putf(sql, ", %d", from->kind->temporary ? 0 : 1);
    else
        tide_buf_str(sql, ", t.durability");
    tide_buf_str(sql, instance ? ", t.executable, encode(t.wasm, 'hex')" : ", NULL, NULL");
    for (uint32_t i = 0; from->kind && i < from->kind->field_count; i++) {
        tide_buf_str(sql, ", ");
        tide_export_value_select(sql, "t", from->kind->fields[i].column,
                                 from->kind->fields[i].type);
    }
    if (!from->kind)
        tide_buf_str(sql, ", encode(t.key_xdr, 'hex'), encode(t.value_xdr, 'hex')");
}

/* Appends the condition that no raw version is as new as the typed one. A key's versions are in one
 * table, unless the catalogue learned or lost its kind in between: then the newest counts. For an
 * instance that fits in part, the raw row counts, since that row is whole. */
static void put_newest_typed(struct tide_buf *sql, const struct tide_export *x)
{
    tide_buf_putf(sql,
                  "NOT EXISTS (SELECT FROM %s.raw AS w WHERE w.deployment = t.deployment"
                  " AND w.key_hash = t.key_hash AND (w.ledger, w.tx, w.seq) >= (t.ledger, t.tx,"
                  " t.seq)",
                  x->as_of ? "history" : "state");
    if (x->as_of)
        tide_buf_putf(sql, " AND w.ledger <= %u", x->as_of);
    tide_buf_str(sql, ")");
}

/* Appends the condition that the raw row's key is of that kind. Other tables cannot have versions
 * of that key, and are not searched. */
static void put_is_of_kind(struct tide_buf *sql, const struct tide_kind *kind)
{
    assert(kind->class != TIDE_KIND_EVENT);
    if (kind->class == TIDE_KIND_INSTANCE) {
        tide_buf_putf(sql, "t.key_xdr = '\\x%08x'",
                      (unsigned)TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
        return;
    }
    enum { BEFORE_SYMBOL = 12 }; /* arm, present, count */
    size_t len = strlen(kind->name);
    tide_buf_putf(sql, "substr(t.key_xdr, %d, %zu) = '\\x%08x%08zx", BEFORE_SYMBOL + 1, 8 + len,
                  (unsigned)TIDE_SCV_SYMBOL, len);
    for (size_t i = 0; i < len; i++)
        tide_buf_putf(sql, "%02x", (unsigned)(uint8_t)kind->name[i]);
    tide_buf_str(sql, "'");
}

/* Appends a search for a newer typed version in the table of each kind whose role is set in
 * raw->roles. */
static void put_newer(struct tide_buf *sql, const struct tide_export *x, const struct source *raw,
                      const struct tide_kind *kinds, uint32_t count)
{
    uint32_t tables;
    const struct tide_table *all = tide_tables(&tables);
    for (uint32_t i = 0; i < count; i++) {
        if (!raw->roles[kinds[i].role])
            continue;
        tide_buf_putf(sql, " UNION ALL SELECT 1 FROM history.\"%s\" AS s WHERE ",
                      all[kinds[i].table].name);
        put_is_of_kind(sql, &kinds[i]);
        tide_buf_str(sql, " AND s.deployment = t.deployment AND s.key_hash = t.key_hash"
                          " AND (s.ledger, s.tx, s.seq) > (t.ledger, t.tx, t.seq)");
        if (x->as_of)
            tide_buf_putf(sql, " AND s.ledger <= %u", x->as_of);
    }
}

/* Appends the condition that no typed version is newer than the raw one. The search is in
 * history even if the present state is exported: a removal leaves no row in state. The count in
 * place of an anti-join makes the planner probe the tables for each of the few raw rows. */
static void put_newest_raw(struct tide_buf *sql, const struct tide_export *x,
                           const struct source *raw)
{
    assert(!raw->kind);
    tide_buf_str(sql, "(SELECT count(*) FROM (SELECT 1 WHERE false");
    put_newer(sql, x, raw, tide_entries(), TIDE_EN_COUNT);
    put_newer(sql, x, raw, tide_instances(), TIDE_IN_COUNT);
    tide_buf_str(sql, ") AS n) = 0");
}

static void put_newest(struct tide_buf *sql, const struct tide_export *x, const struct source *from)
{
    if (from->kind)
        put_newest_typed(sql, x);
    else
        put_newest_raw(sql, x, from);
}

/* Writes the query of the present entries. */
static void put_now(struct tide_buf *sql, const struct tide_export *x, const struct source *from)
{
    assert(x->as_of == 0);
    put_columns(sql, from);
    tide_buf_putf(sql,
                  " FROM state.\"%s\" AS t LEFT JOIN state.ttl AS l"
                  " ON l.deployment = t.deployment AND l.key_hash = t.key_hash"
                  " WHERE t.deployment = %u AND ",
                  from->name, x->deployment);
    put_newest(sql, x, from);
    tide_buf_str(sql, " ORDER BY t.key_hash");
}

/* Writes the query of entries as of a ledger. The recursive part skips from key to key in the
 * primary key's index. The newest version of each key at or before the ledger is one more probe of
 * that index. */
static void put_as_of(struct tide_buf *sql, const struct tide_export *x, const struct source *from)
{
    assert(x->as_of > 0);
    tide_buf_putf(sql,
                  "WITH RECURSIVE k (h) AS ((SELECT key_hash FROM history.\"%s\""
                  " WHERE deployment = %u ORDER BY key_hash LIMIT 1) UNION ALL"
                  " SELECT (SELECT key_hash FROM history.\"%s\" WHERE deployment = %u"
                  " AND key_hash > k.h ORDER BY key_hash LIMIT 1) FROM k WHERE k.h IS NOT NULL) ",
                  from->name, x->deployment, from->name, x->deployment);
    put_columns(sql, from);
    tide_buf_putf(sql,
                  " FROM k CROSS JOIN LATERAL (SELECT * FROM history.\"%s\" AS v"
                  " WHERE v.deployment = %u AND v.key_hash = k.h AND v.ledger <= %u"
                  " ORDER BY v.ledger DESC, v.tx DESC, v.seq DESC LIMIT 1) AS t",
                  from->name, x->deployment, x->as_of);
    tide_buf_putf(sql,
                  " LEFT JOIN LATERAL (SELECT v.live_until FROM history.ttl AS v"
                  " WHERE v.deployment = %u AND v.key_hash = k.h AND v.ledger <= %u"
                  " ORDER BY v.ledger DESC, v.tx DESC, v.seq DESC LIMIT 1) AS l ON true"
                  " WHERE NOT t.removed AND ",
                  x->deployment, x->as_of);
    put_newest(sql, x, from);
}

/* Writes {"executable": …, "wasm": …, "storage": {…}}. */
static void put_instance(struct tide_buf *json, const struct tide_kind *kind,
                         const struct tide_value_row *row, const struct tide_export_cursor *at)
{
    assert(kind->class == TIDE_KIND_INSTANCE);
    tide_buf_str(json, "{\"executable\":");
    tide_export_value_json(json, TIDE_T_TEXT, tide_cursor_text(at, AT_EXECUTABLE));
    if (!tide_cursor_null(at, AT_WASM)) {
        tide_buf_str(json, ",\"wasm\":");
        tide_export_value_json(json, TIDE_T_B32, tide_cursor_text(at, AT_WASM));
    }
    tide_buf_str(json, ",\"storage\":");
    tide_export_value_entry(json, kind, row);
    tide_buf_u8(json, '}');
}

static void put_known(struct tide_export *x, const struct tide_kind *kind,
                      const struct tide_export_cursor *at)
{
    assert(kind && at->live);
    struct tide_value_row row = {
        .text = field_text, .null = field_null, .self = at, .with_private = x->with_private
    };
    tide_buf_reset(&x->json);
    tide_export_value_key(&x->json, kind, &row);
    tide_export_row_json(&x->row, STATE_KEY, tide_buf_view(&x->json));
    x->row.bytes.failed = x->row.bytes.failed || x->json.failed;
    tide_buf_reset(&x->json);
    if (kind->class == TIDE_KIND_INSTANCE)
        put_instance(&x->json, kind, &row, at);
    else
        tide_export_value_entry(&x->json, kind, &row);
    tide_export_row_json(&x->row, STATE_VAL, tide_buf_view(&x->json));
    x->row.bytes.failed = x->row.bytes.failed || x->json.failed;
}

static void put_xdr(struct tide_export *x, uint32_t column, tide_slice hex)
{
    struct tide_buf bytes;
    tide_buf_init(&bytes, TIDE_JSON_BYTES_MAX);
    tide_buf_reset(&x->json);
    if (tide_raw_hex(&bytes, hex) && tide_scval_json(&x->json, tide_buf_view(&bytes)) == TIDE_OK)
        tide_export_row_json(&x->row, column, tide_buf_view(&x->json));
    x->row.bytes.failed = x->row.bytes.failed || x->json.failed || bytes.failed;
    tide_buf_release(&bytes);
}

/* Writes the line of one entry. */
static tide_status put_entry(struct tide_export *x, const struct source *from,
                             const struct tide_export_cursor *at, struct tide_err *err)
{
    assert(at->live);
    tide_slice contract = tide_cursor_text(at, AT_CONTRACT);
    const struct tide_export_contract *known = tide_export_contract(x, contract);
    if (x->as_of)
        tide_export_row_number(&x->row, STATE_AS_OF, x->as_of);
    tide_export_row_text(&x->row, STATE_CONTRACT, contract);
    if (known)
        tide_export_row_text(&x->row, STATE_ROLE, tide_slice_str(known->role_name));
    tide_export_row_text(&x->row, STATE_DURABILITY,
                         tide_cursor_u64(at, AT_DURABILITY) ? TIDE_SLICE("persistent")
                                                            : TIDE_SLICE("temporary"));
    tide_export_row_json(&x->row, STATE_LIVE_UNTIL,
                         tide_cursor_null(at, AT_LIVE_UNTIL) ? TIDE_SLICE("null")
                                                             : tide_cursor_text(at, AT_LIVE_UNTIL));
    if (from->kind)
        put_known(x, from->kind, at);
    else {
        put_xdr(x, STATE_KEY, tide_cursor_text(at, AT_FIELDS));
        if (!tide_export_hides(x, contract))
            put_xdr(x, STATE_VAL, tide_cursor_text(at, AT_FIELDS + 1));
    }
    return tide_export_row_end(&x->row, err);
}

static tide_status export_table(struct tide_export *x, const struct source *from,
                                struct tide_err *err)
{
    struct tide_export_cursor at = { 0 };
    struct tide_buf sql;
    tide_buf_init(&sql, 48u << 10);
    if (x->as_of)
        put_as_of(&sql, x, from);
    else
        put_now(&sql, x, from);
    tide_status status = tide_export_cursor_open(&at, x->pg, 0, &sql, err);
    tide_buf_release(&sql);
    while (status == TIDE_OK && at.live) {
        status = tide_export_stop(err);
        if (status == TIDE_OK)
            status = put_entry(x, from, &at, err);
        if (status == TIDE_OK)
            status = tide_export_cursor_next(&at, err);
    }
    tide_export_cursor_close(&at);
    if (status == TIDE_OK)
        status = tide_pg_run(x->pg, "CLOSE tide_0", "CLOSE", err);
    return status;
}

static tide_status export_kinds(struct tide_export *x, const struct tide_kind *kinds,
                                uint32_t count, struct tide_err *err)
{
    uint32_t tables;
    const struct tide_table *all = tide_tables(&tables);
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++) {
        struct source from = { .kind = &kinds[i], .name = all[kinds[i].state_table].name };
        status = export_table(x, &from, err);
    }
    return status;
}

/* Notes the role of a contract with raw entries. An unknown role may have entries of every kind. A
 * discovered token may have been of either kind of token, so both count. */
static void add_role(struct source *raw, const struct tide_export_contract *known)
{
    enum tide_role role =
        known ? tide_role_named(tide_slice_str(known->role_name)) : TIDE_ROLE_COUNT;
    bool token = role == TIDE_ROLE_synth_token || role == TIDE_ROLE_stellar_asset;
    for (int i = 0; i < (int)TIDE_ROLE_COUNT && role == TIDE_ROLE_COUNT; i++)
        raw->roles[i] = true;
    if (token)
        raw->roles[TIDE_ROLE_synth_token] = raw->roles[TIDE_ROLE_stellar_asset] = true;
    else if (role != TIDE_ROLE_COUNT)
        raw->roles[role] = true;
}

/* Exports raw entries. Most indexes have none, and then no query is made. */
static tide_status export_raw(struct tide_export *x, struct tide_err *err)
{
    struct source raw = { .name = "raw" };
    struct tide_pg_rows rows = { 0 };
    char id[8];
    snprintf(id, sizeof id, "%u", x->deployment);
    tide_status status =
        tide_pg_query(x->pg, &rows,
                      x->as_of ? "SELECT DISTINCT contract FROM history.raw WHERE deployment = $1"
                               : "SELECT DISTINCT contract FROM state.raw WHERE deployment = $1",
                      (const char *[]){ id }, 1, err);
    for (uint32_t i = 0; status == TIDE_OK && i < rows.count; i++)
        add_role(&raw, tide_export_contract(x, tide_pg_slice(&rows, i, 0)));
    bool any = rows.count > 0;
    tide_pg_rows_release(&rows);
    return status == TIDE_OK && any ? export_table(x, &raw, err) : status;
}

tide_status tide_export_state(struct tide_export *x, struct tide_err *err)
{
    tide_status status = export_kinds(x, tide_instances(), TIDE_IN_COUNT, err);
    if (status == TIDE_OK)
        status = export_kinds(x, tide_entries(), TIDE_EN_COUNT, err);
    return status == TIDE_OK ? export_raw(x, err) : status;
}
