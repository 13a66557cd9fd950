#include "tidemark/entry_value.h"
#include "tidemark/catalogue.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/table.h"
#include "tidemark/text.h"
#include "tidemark/tx.h"

#include <stdio.h>

/* --- values ---------------------------------------------------------------------------------- */

static void put_named(struct tide_buf *out, enum tide_scval_type type, tide_slice bytes)
{
    tide_buf_be32(out, type);
    tide_xdr_put_var(out, bytes);
}

/* Begins a vec or a map. */
static void put_many(struct tide_buf *out, enum tide_scval_type type, uint32_t count)
{
    tide_buf_be32(out, type);
    tide_buf_be32(out, 1);
    tide_buf_be32(out, count);
}

static bool put_number(struct tide_buf *out, enum tide_type type, tide_slice text)
{
    uint64_t number;
    tide_i128 amount;
    if (type == TIDE_T_I128) {
        if (tide_i128_parse(&amount, text) != TIDE_OK)
            return false;
        tide_buf_be32(out, TIDE_SCV_I128);
        tide_buf_be64(out, (uint64_t)((tide_raw_u128)amount.raw >> 64));
        tide_buf_be64(out, (uint64_t)amount.raw);
        return true;
    }
    if (tide_parse_u64(&number, text, type == TIDE_T_U64 ? UINT64_MAX : UINT32_MAX) != TIDE_OK)
        return false;
    tide_buf_be32(out, type == TIDE_T_U64 ? TIDE_SCV_U64 : TIDE_SCV_U32);
    if (type == TIDE_T_U64)
        tide_buf_be64(out, number);
    else
        tide_buf_be32(out, (uint32_t)number);
    return true;
}

static bool put_address(struct tide_buf *out, tide_slice text)
{
    uint8_t xdr[TIDE_STRKEY_XDR_MAX];
    size_t len = tide_strkey_to_address(xdr, text);
    tide_buf_be32(out, TIDE_SCV_ADDRESS);
    tide_buf_put(out, xdr, len);
    return len > 0;
}

/* Appends bytes that PostgreSQL writes as "\x…". */
static bool put_bytes(struct tide_buf *out, enum tide_scval_type type, tide_slice text)
{
    if (text.len < 2 || text.len % 2 || text.ptr[0] != '\\' || text.ptr[1] != 'x')
        return false;
    size_t len = (text.len - 2) / 2;
    tide_buf_be32(out, type);
    tide_buf_be32(out, (uint32_t)len);
    uint8_t *room = tide_buf_room(out, len);
    if (!room)
        return true; /* out->failed is set */
    if (tide_hex_decode(room, len, tide_slice_of(text.ptr + 2, text.len - 2)) != TIDE_OK)
        return false;
    out->len += len;
    static const uint8_t zero[4];
    tide_buf_put(out, zero, -len & 3);
    return true;
}

static bool put_one(struct tide_buf *out, enum tide_type type, tide_slice text);

/* Appends a list that PostgreSQL writes as {a,b,"c"}: its elements are words, numbers and
 * addresses, so none needs an escape. */
static bool put_list(struct tide_buf *out, enum tide_type element, tide_slice text)
{
    size_t at = out->len, end = text.len - 1;
    uint32_t count = 0;
    if (text.len < 2 || text.ptr[0] != '{' || text.ptr[end] != '}')
        return false;
    put_many(out, TIDE_SCV_VEC, 0);
    for (size_t i = 1; i < end; count++) {
        size_t from = i;
        while (i < end && text.ptr[i] != ',')
            i++;
        bool quoted = i - from >= 2 && text.ptr[from] == '"' && text.ptr[i - 1] == '"';
        tide_slice one = tide_slice_of(text.ptr + from + quoted, i - from - (quoted ? 2 : 0));
        if (!put_one(out, element, one))
            return false;
        i++;
    }
    if (!out->failed) {
        uint32_t word = __builtin_bswap32(count);
        memcpy(out->ptr + at + 8, &word, sizeof word);
    }
    return true;
}

/* Appends one value. The types are those of value_put in the decoder. */
static bool put_one(struct tide_buf *out, enum tide_type type, tide_slice text)
{
    switch (type) {
    case TIDE_T_BOOL:
        tide_buf_be32(out, TIDE_SCV_BOOL);
        tide_buf_be32(out, tide_slice_eq_str(text, "t"));
        return true;
    case TIDE_T_U32:
    case TIDE_T_ENUM_U32:
    case TIDE_T_U64:
    case TIDE_T_I128:
        return put_number(out, type, text);
    case TIDE_T_SYM:
        put_named(out, TIDE_SCV_SYMBOL, text);
        return true;
    case TIDE_T_TEXT:
        put_named(out, TIDE_SCV_STRING, text);
        return true;
    case TIDE_T_ADDR:
        return put_address(out, text);
    case TIDE_T_BYTES:
    case TIDE_T_B32:
        return put_bytes(out, TIDE_SCV_BYTES, text);
    case TIDE_T_STR:
        return put_bytes(out, TIDE_SCV_STRING, text);
    case TIDE_T_ENUM_SYM:
        put_many(out, TIDE_SCV_VEC, 1);
        put_named(out, TIDE_SCV_SYMBOL, text);
        return true;
    case TIDE_T_VEC_SYM:
        return put_list(out, TIDE_T_SYM, text);
    case TIDE_T_VEC_ADDR:
        return put_list(out, TIDE_T_ADDR, text);
    case TIDE_T_VEC_U32:
        return put_list(out, TIDE_T_U32, text);
    case TIDE_T_VEC_U64:
        return put_list(out, TIDE_T_U64, text);
    case TIDE_T_ANY:
    case TIDE_T_MUXED:
        break; /* is_told refuses its kind */
    }
    return false;
}

/* --- structs --------------------------------------------------------------------------------- */

static bool is_part(const struct tide_field *f)
{
    return f->place != TIDE_P_KEY && f->place != TIDE_P_ACTION;
}

static bool is_told(const struct tide_kind *kind)
{
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *f = &kind->fields[i];
        if (is_part(f) && (f->is_private || f->type == TIDE_T_ANY))
            return false;
    }
    return true;
}

static bool entry_value_columns(struct tide_buf *sql, const struct tide_kind *kind)
{
    if (!is_told(kind))
        return false;
    if (kind->class == TIDE_KIND_INSTANCE)
        tide_buf_str(sql, ", executable, wasm");
    for (uint32_t i = 0; i < kind->field_count; i++)
        if (is_part(&kind->fields[i]))
            tide_buf_putf(sql, ", \"%s\"", kind->fields[i].column);
    return true;
}

/* The columns of a kind in a row. */
struct columns {
    const struct tide_kind *kind;
    const struct tide_pg_rows *rows;
    uint32_t row, first;
};

/* Returns the column of a field. */
static uint32_t column_of(const struct columns *c, uint32_t field)
{
    uint32_t column = c->first;
    for (uint32_t i = 0; i < field; i++)
        column += is_part(&c->kind->fields[i]);
    return column;
}

static bool put_field(struct tide_buf *out, const struct columns *c, uint32_t field)
{
    uint32_t column = column_of(c, field);
    return !tide_pg_is_null(c->rows, c->row, column) &&
           put_one(out, c->kind->fields[field].type, tide_pg_slice(c->rows, c->row, column));
}

static bool is_inner(const struct tide_kind *kind, uint32_t field, const char *outer)
{
    return field < kind->field_count && kind->fields[field].place == TIDE_P_SUB &&
           strcmp(kind->fields[field].outer, outer) == 0;
}

/* Appends the struct inside a struct whose fields begin at *field, and moves it behind them. */
static bool put_inner(struct tide_buf *out, const struct columns *c, uint32_t *field)
{
    const char *outer = c->kind->fields[*field].outer;
    uint32_t end = *field;
    while (is_inner(c->kind, end, outer))
        end++;
    put_named(out, TIDE_SCV_SYMBOL, tide_slice_str(outer));
    put_many(out, TIDE_SCV_MAP, end - *field);
    for (; *field < end; (*field)++) {
        put_named(out, TIDE_SCV_SYMBOL, tide_slice_str(c->kind->fields[*field].name));
        if (!put_field(out, c, *field))
            return false;
    }
    return true;
}

/* Returns the number of members: fields, and structs inside. */
static uint32_t count_members(const struct tide_kind *kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *f = &kind->fields[i];
        count += f->place == TIDE_P_FIELD ||
                 (f->place == TIDE_P_SUB && (i == 0 || !is_inner(kind, i - 1, f->outer)));
    }
    return count;
}

/* Appends a struct: the catalogue names its members in the order of their names, as the host sorts
 * them (tests/unit/schema/catalogue/test_catalogue.c). */
static bool put_struct(struct tide_buf *out, const struct columns *c)
{
    put_many(out, TIDE_SCV_MAP, count_members(c->kind));
    for (uint32_t i = 0; i < c->kind->field_count;) {
        const struct tide_field *f = &c->kind->fields[i];
        if (f->place == TIDE_P_SUB) {
            if (!put_inner(out, c, &i))
                return false;
            continue;
        }
        if (f->place == TIDE_P_FIELD) {
            put_named(out, TIDE_SCV_SYMBOL, tide_slice_str(f->name));
            if (!put_field(out, c, i))
                return false;
        }
        i++;
    }
    return true;
}

static bool put_entry(struct tide_buf *out, const struct columns *c)
{
    for (uint32_t i = 0; i < c->kind->field_count; i++)
        if (c->kind->fields[i].place == TIDE_P_VALUE)
            return put_field(out, c, i);
    return put_struct(out, c);
}

/* --- instances ------------------------------------------------------------------------------- */

/* Compares the storage keys of two slots as the host does: symbols come before vecs. */
static int slot_order(const struct tide_field *a, const struct tide_field *b)
{
    return a->vec_key != b->vec_key ? a->vec_key - b->vec_key : strcmp(a->name, b->name);
}

/* Returns the slot with the smallest key behind `last` (NULL: of all) that has a value, or -1. */
static int next_slot(const struct columns *c, const struct tide_field *last)
{
    int next = -1;
    for (uint32_t i = 0; i < c->kind->field_count; i++) {
        const struct tide_field *f = &c->kind->fields[i];
        if (!tide_pg_is_null(c->rows, c->row, column_of(c, i)) &&
            (!last || slot_order(f, last) > 0) &&
            (next < 0 || slot_order(f, &c->kind->fields[next]) < 0))
            next = (int)i;
    }
    return next;
}

static bool put_storage(struct tide_buf *out, const struct columns *c)
{
    size_t at = out->len;
    uint32_t count = 0;
    tide_buf_be32(out, 1);
    tide_buf_be32(out, 0);
    for (int i = next_slot(c, NULL); i >= 0; i = next_slot(c, &c->kind->fields[i]), count++) {
        const struct tide_field *f = &c->kind->fields[i];
        if (f->vec_key)
            put_many(out, TIDE_SCV_VEC, 1);
        put_named(out, TIDE_SCV_SYMBOL, tide_slice_str(f->name));
        if (!put_field(out, c, (uint32_t)i))
            return false;
    }
    if (!out->failed) {
        uint32_t word = __builtin_bswap32(count);
        memcpy(out->ptr + at + 4, &word, sizeof word);
    }
    return count > 0; /* without a slot the storage may be absent or empty */
}

static bool put_instance(struct tide_buf *out, struct columns c)
{
    enum { WASM };
    uint8_t wasm[TIDE_HASH_BYTES];
    if (!tide_pg_bytes(c.rows, c.row, c.first + 1, wasm, sizeof wasm))
        return false; /* a Stellar asset's, or code by reference */
    tide_buf_be32(out, TIDE_SCV_CONTRACT_INSTANCE);
    tide_buf_be32(out, WASM);
    tide_buf_put(out, wasm, sizeof wasm);
    c.first += 2;
    return put_storage(out, &c);
}

static bool entry_value_put(struct tide_buf *out, const struct tide_kind *kind,
                            const struct tide_pg_rows *rows, uint32_t row, uint32_t column)
{
    const struct columns c = { kind, rows, row, column };
    assert(kind->class != TIDE_KIND_EVENT && is_told(kind));
    return kind->class == TIDE_KIND_INSTANCE ? put_instance(out, c) : put_entry(out, &c);
}

/* --- the tables ------------------------------------------------------------------------------ */

/* Finds the kind of the entry by its key. NULL: the catalogue has none. */
static const struct tide_kind *kind_of(enum tide_role role, const struct tide_change *key)
{
    struct tide_xdr x = tide_xdr_of(key->key);
    uint32_t arm = tide_xdr_u32(&x);
    if (arm == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE)
        return tide_instance_find(role);
    if (arm != TIDE_SCV_VEC || !tide_xdr_bool(&x) || tide_xdr_u32(&x) == 0 ||
        tide_xdr_u32(&x) != TIDE_SCV_SYMBOL)
        return NULL;
    return tide_entry_find(role, tide_xdr_var(&x, 32));
}

struct asking {
    const struct tide_entry_question *of;
    char deployment[8], ledger[12], hash[TIDE_BYTEA_BYTES(TIDE_HASH_BYTES)];
    enum tide_role role;
    bool whole; /* the tables have every entry that the contract has had */
    bool raw;   /* a version of this one could not be decoded */
    const struct tide_kind *kind;
};

/* Reads the contract's role, whether it was followed from its creation on, and whether the entry is
 * stored undecoded. */
static tide_status read_contract(struct asking *a, bool *followed, struct tide_err *err)
{
    enum { ROLE, WHOLE, RAW };
    struct tide_pg_rows rows;
    const char *const values[] = { a->deployment, a->of->contract, a->ledger, a->hash };
    tide_status status = tide_pg_query(
        a->of->pg, &rows,
        "SELECT chain.role_followed($1::smallint, $2::text), EXISTS (SELECT FROM chain.coverage AS"
        " v WHERE v.deployment = $1::smallint AND $3::integer BETWEEN v.from_ledger AND"
        " v.to_ledger AND v.from_ledger <= (SELECT min(n.ledger) FROM chain.contract_seen AS n"
        " WHERE n.deployment = $1::smallint AND n.contract = $2::text AND n.what = 'created')),"
        " EXISTS (SELECT FROM history.raw AS r WHERE r.deployment = $1::smallint AND r.key_hash ="
        " $4::bytea AND r.ledger <= $3::integer)",
        values, TIDE_COUNT(values), err);
    if (status != TIDE_OK)
        return status;
    *followed = rows.count == 1 && !tide_pg_is_null(&rows, 0, ROLE);
    if (*followed) {
        a->role = tide_role_of_contract(tide_pg_text(&rows, 0, ROLE));
        a->raw = tide_pg_bool(&rows, 0, RAW);
        a->whole = tide_pg_bool(&rows, 0, WHOLE) && tide_role_is_single(a->role);
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Writes the statement: the newest version of the entry. Returns NULL without memory. */
static const char *put_statement(struct tide_buf *sql, const struct asking *a)
{
    uint32_t count;
    tide_buf_str(sql, "SELECT removed");
    entry_value_columns(sql, a->kind);
    tide_buf_putf(sql,
                  " FROM asof.\"%s\" AS h WHERE h.deployment = $1::smallint AND h.key_hash ="
                  " $2::bytea AND h.ledger <= $3::integer ORDER BY h.ledger DESC, h.tx DESC,"
                  " h.seq DESC LIMIT 1",
                  tide_tables(&count)[a->kind->table].name);
    tide_buf_u8(sql, 0);
    return sql->failed ? NULL : (const char *)sql->ptr;
}

static enum tide_entry_said said_by(const struct asking *a, const struct tide_pg_rows *rows,
                                    struct tide_buf *value)
{
    enum { REMOVED, FIRST };
    if (rows->count == 0)
        return a->whole ? TIDE_ENTRY_ABSENT : TIDE_ENTRY_UNTOLD;
    if (tide_pg_bool(rows, 0, REMOVED))
        return TIDE_ENTRY_ABSENT;
    return entry_value_put(value, a->kind, rows, 0, FIRST) && !value->failed ? TIDE_ENTRY_VALUE
                                                                             : TIDE_ENTRY_UNTOLD;
}

static tide_status read_version(const struct asking *a, enum tide_entry_said *said,
                                struct tide_buf *value, struct tide_err *err)
{
    enum { SQL_MAX = 16 << 10 };
    struct tide_pg_rows rows;
    struct tide_buf sql;
    const char *const values[] = { a->deployment, a->hash, a->ledger };
    tide_buf_init(&sql, SQL_MAX);
    const char *text = put_statement(&sql, a);
    tide_status status =
        text ? tide_pg_query(a->of->pg, &rows, text, values, TIDE_COUNT(values), err)
             : tide_fail(err, TIDE_E_MEMORY, "an entry's statement");
    tide_buf_release(&sql);
    if (status != TIDE_OK)
        return status;
    *said = said_by(a, &rows, value);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

tide_status tide_entry_value(const struct tide_entry_question *of, bool *followed,
                             enum tide_entry_said *said, struct tide_buf *value,
                             struct tide_err *err)
{
    struct asking a = { .of = of };
    uint8_t hash[TIDE_HASH_BYTES];
    *said = TIDE_ENTRY_UNTOLD;
    snprintf(a.deployment, sizeof a.deployment, "%u", of->deployment);
    snprintf(a.ledger, sizeof a.ledger, "%u", of->ledger);
    tide_data_key_hash(hash, of->key->contract, of->key->key, of->key->durability);
    tide_bytea_text(a.hash, tide_slice_of(hash, sizeof hash));
    tide_status status = read_contract(&a, followed, err);
    if (status != TIDE_OK || !*followed)
        return status;
    a.kind = kind_of(a.role, of->key);
    bool told = !a.raw && a.kind && is_told(a.kind);
    return told ? read_version(&a, said, value, err) : TIDE_OK;
}
