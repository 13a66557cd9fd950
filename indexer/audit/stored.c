/* Entries of the tables as rows: of each key the newest version at or before the ledger. */
#include "indexer/audit/audit_impl.h"
#include "indexer/base/copy.h"
#include "indexer/decode/redecode.h"
#include "indexer/verify/digest.h"
#include "tidemark/catalogue.h"
#include "tidemark/hash.h"
#include "tidemark/strkey.h"
#include "tidemark/tx.h"

/* Columns that every history table has, then those of history.ttl and history.raw. */
enum { KEY_HASH = 1, LEDGER = 2, TX = 3, SEQ = 4, CONTRACT = 6, REMOVED = 7 };
enum { TTL_LIVE_UNTIL = 9, TTL_EVICTED = 10, RAW_KEY = 10 };

/* One history table that is being read; history.ttl is read part by part. */
struct reading {
    struct audit *a;
    const struct tide_table *table;
    uint32_t index;
    int wasm; /* index of the column wasm, or -1 */
};

static tide_slice field_of(tide_slice tuple, uint32_t column)
{
    tide_slice field;
    bool null;
    if (tide_digest_field(tuple, column, &field, &null) != TIDE_OK)
        return (tide_slice){ 0 };
    return field;
}

static int32_t number_of(tide_slice tuple, uint32_t column)
{
    tide_slice field = field_of(tuple, column);
    return field.len == 4 ? (int32_t)tide_be32(field.ptr) : 0;
}

static bool is_set(tide_slice tuple, uint32_t column)
{
    tide_slice field = field_of(tuple, column);
    return field.len == 1 && field.ptr[0];
}

/* Returns the followed contract whose address the row has, or NULL. */
static const struct tide_contract *owner_of(const struct audit *a, tide_slice address)
{
    uint8_t id[TIDE_STRKEY_PAYLOAD_MAX];
    enum tide_strkey kind;
    size_t len;
    if (tide_strkey_decode(&kind, id, &len, address) != TIDE_OK || kind != TIDE_STRKEY_CONTRACT)
        return NULL;
    assert(len == TIDE_HASH_BYTES); /* the decoder checks the length of each kind */
    const struct tide_contract *contract = tide_deployment_find(a->contracts, id);
    return contract && !contract->unsettled ? contract : NULL;
}

/* Returns whether the index stores every change of the entry, see tide_redecode_owner. */
static bool is_followed(const struct reading *r, const struct tide_contract *owner,
                        tide_slice tuple)
{
    const struct tide_kind *balance = &tide_entries()[TIDE_EN_stellar_asset_balance];
    enum { ADDRESS_BYTES = 36 };
    uint8_t address[ADDRESS_BYTES] = { 0, 0, 0, 1 };
    static_assert(ADDRESS_BYTES == 4 + TIDE_HASH_BYTES, "the arm, then the contract's id");
    bool followed = true;
    if (owner->role != TIDE_ROLE_stellar_asset)
        return true;
    if (r->index != TIDE_TABLE_HISTORY_RAW)
        return r->index == (uint32_t)balance->table;
    memcpy(address + 4, owner->id, TIDE_HASH_BYTES);
    return tide_redecode_owner(r->a->decode, tide_slice_of(address, sizeof address),
                               field_of(tuple, RAW_KEY), &followed) &&
           followed;
}

/* Hashes the LedgerKey of code: the key of its time to live. */
static void hash_code_key(uint8_t out[TIDE_HASH_BYTES], tide_slice hash)
{
    uint8_t key[4 + TIDE_HASH_BYTES] = { 0, 0, 0, TIDE_ENTRY_CONTRACT_CODE };
    assert(hash.len == TIDE_HASH_BYTES);
    memcpy(key + 4, hash.ptr, hash.len);
    tide_sha256(out, tide_slice_of(key, sizeof key));
}

/* Notes the code that a contract runs. Adds the code's hash and the key of its time to live to the
 * filter, so that the reader of buckets keeps these entries. */
static tide_status put_code(struct reading *r, const struct tide_contract *owner, tide_slice tuple,
                            struct tide_err *err)
{
    enum { COLUMNS = 7 };
    struct tide_buf *row = &r->a->rows[AUDIT_STORED_CODE].copy;
    uint8_t ttl[TIDE_HASH_BYTES];
    tide_slice key = field_of(tuple, KEY_HASH), hash = field_of(tuple, (uint32_t)r->wasm);
    if (hash.len != TIDE_HASH_BYTES)
        return TIDE_OK;
    hash_code_key(ttl, hash);
    key_filter_add(&r->a->keys, hash.ptr);
    key_filter_add(&r->a->keys, ttl);
    tide_copy_row(row, COLUMNS);
    tide_copy_bytes(row, key.ptr, key.len);
    tide_copy_bytes(row, owner->address, strlen(owner->address));
    tide_copy_bytes(row, hash.ptr, hash.len);
    tide_copy_bytes(row, ttl, sizeof ttl);
    tide_copy_int4(row, number_of(tuple, LEDGER));
    tide_copy_int4(row, number_of(tuple, TX));
    tide_copy_int4(row, number_of(tuple, SEQ));
    return audit_rows_added(r->a, AUDIT_STORED_CODE, err);
}

static tide_status put_entry(struct reading *r, const struct tide_contract *owner, tide_slice tuple,
                             struct tide_err *err)
{
    enum { COLUMNS = 9 };
    struct tide_buf *row = &r->a->rows[AUDIT_STORED].copy;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_slice key = field_of(tuple, KEY_HASH);
    tide_status status = audit_row_hash(hash, r->table, tuple, err);
    if (status != TIDE_OK)
        return status;
    tide_copy_row(row, COLUMNS);
    tide_copy_bytes(row, key.ptr, key.len);
    tide_copy_bytes(row, owner->address, strlen(owner->address));
    tide_copy_bool(row, is_followed(r, owner, tuple));
    tide_copy_int4(row, (int32_t)r->index);
    tide_copy_bool(row, r->index == TIDE_TABLE_HISTORY_RAW);
    if (is_set(tuple, REMOVED))
        tide_copy_null(row);
    else
        tide_copy_bytes(row, hash, sizeof hash);
    tide_copy_int4(row, number_of(tuple, LEDGER));
    tide_copy_int4(row, number_of(tuple, TX));
    tide_copy_int4(row, number_of(tuple, SEQ));
    return audit_rows_added(r->a, AUDIT_STORED, err);
}

static tide_status put_ttl(struct reading *r, tide_slice tuple, struct tide_err *err)
{
    enum { COLUMNS = 7 };
    struct tide_buf *row = &r->a->rows[AUDIT_STORED_TTL].copy;
    tide_slice key = field_of(tuple, KEY_HASH), live_until = field_of(tuple, TTL_LIVE_UNTIL);
    tide_copy_row(row, COLUMNS);
    tide_copy_bytes(row, key.ptr, key.len);
    tide_copy_bool(row, is_set(tuple, REMOVED));
    tide_copy_bool(row, is_set(tuple, TTL_EVICTED));
    if (live_until.len)
        tide_copy_bytes(row, live_until.ptr, live_until.len);
    else
        tide_copy_null(row);
    tide_copy_int4(row, number_of(tuple, LEDGER));
    tide_copy_int4(row, number_of(tuple, TX));
    tide_copy_int4(row, number_of(tuple, SEQ));
    return audit_rows_added(r->a, AUDIT_STORED_TTL, err);
}

static tide_status take_tuple(void *self, tide_slice tuple, struct tide_err *err)
{
    struct reading *r = self;
    tide_slice key = field_of(tuple, KEY_HASH);
    assert(r->index < TIDE_TABLES_MAX && r->table->kind == TIDE_TABLE_HISTORY);
    if (key.len != TIDE_HASH_BYTES)
        return tide_fail(err, TIDE_E_SCHEMA, "%s.%s: a row has no hash of its key",
                         r->table->schema, r->table->name);
    const struct tide_contract *owner = owner_of(r->a, field_of(tuple, CONTRACT));
    if (!owner)
        return TIDE_OK;
    key_filter_add(&r->a->keys, key.ptr);
    if (r->index == TIDE_TABLE_HISTORY_TTL)
        return put_ttl(r, tuple, err);
    tide_status status = put_entry(r, owner, tuple, err);
    if (status == TIDE_OK && r->wasm >= 0 && !is_set(tuple, REMOVED))
        status = put_code(r, owner, tuple, err);
    return status;
}

/* Writes the statement: skips from key to key in the primary key's index of the stored table, and
 * takes the newest of each key's rows in `from`, at or before the ledger, by one more probe. */
static void put_statement(struct tide_buf *sql, const struct audit *a,
                          const struct tide_table *table, const struct tide_table *stored,
                          const char *from)
{
    tide_buf_putf(sql,
                  "COPY (WITH RECURSIVE k (h) AS ((SELECT key_hash FROM %s.\"%s\""
                  " WHERE deployment = %u ORDER BY key_hash LIMIT 1) UNION ALL"
                  " SELECT (SELECT key_hash FROM %s.\"%s\" WHERE deployment = %u"
                  " AND key_hash > k.h ORDER BY key_hash LIMIT 1) FROM k WHERE k.h IS NOT NULL)"
                  " SELECT ",
                  stored->schema, stored->name, a->deployment, stored->schema, stored->name,
                  a->deployment);
    for (uint32_t i = 0; i < table->column_count; i++)
        tide_buf_putf(sql, "%st.\"%s\"", i ? ", " : "", table->columns[i].name);
    tide_buf_putf(sql,
                  " FROM k CROSS JOIN LATERAL (SELECT * FROM %s AS v"
                  " WHERE v.deployment = %u AND v.key_hash = k.h AND v.ledger <= %u"
                  " ORDER BY v.ledger DESC, v.tx DESC, v.seq DESC LIMIT 1) AS t"
                  ") TO STDOUT (FORMAT binary)",
                  from, a->deployment, a->ledger);
    tide_buf_u8(sql, 0);
}

static int wasm_column(const struct tide_table *table)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, "wasm") == 0)
            return (int)i;
    return -1;
}

/* Asserts that the columns stand where the numbers above say. */
static void check_columns(const struct tide_table *table, uint32_t index)
{
    assert(strcmp(table->columns[KEY_HASH].name, "key_hash") == 0);
    assert(strcmp(table->columns[LEDGER].name, "ledger") == 0 &&
           strcmp(table->columns[TX].name, "tx") == 0 &&
           strcmp(table->columns[SEQ].name, "seq") == 0);
    assert(strcmp(table->columns[CONTRACT].name, "contract") == 0);
    assert(strcmp(table->columns[REMOVED].name, "removed") == 0);
    assert(index != TIDE_TABLE_HISTORY_RAW || strcmp(table->columns[RAW_KEY].name, "key_xdr") == 0);
    assert(index != TIDE_TABLE_HISTORY_TTL ||
           (strcmp(table->columns[TTL_LIVE_UNTIL].name, "live_until") == 0 &&
            strcmp(table->columns[TTL_EVICTED].name, "evicted") == 0));
}

/* Reads rows of a table's form from the stored table of `history`. */
static tide_status read_rows(struct audit *a, uint32_t index, const struct tide_table *history,
                             const char *from, struct tide_err *err)
{
    enum { SQL_MAX = 32 << 10 };
    uint32_t count;
    const struct tide_table *table = &tide_tables(&count)[index];
    struct reading reading = { a, table, index, wasm_column(table) };
    assert(index < count);
    check_columns(table, index);
    struct tide_pg_tuples sink = { take_tuple, &reading };
    struct tide_buf sql;
    tide_buf_init(&sql, SQL_MAX);
    put_statement(&sql, a, table, history->stored, from);
    tide_status status = sql.failed
                             ? tide_fail(err, TIDE_E_LIMIT, "%s: too many columns", table->name)
                             : tide_pg_copy_out(a->read, &sink, (const char *)sql.ptr, err);
    tide_buf_release(&sql);
    return status;
}

/* Reads the lifetimes that a table's versions carry, or those that stand alone. */
static tide_status read_lives(struct audit *a, const struct tide_table *history,
                              struct tide_err *err)
{
    enum { SQL_MAX = 4 << 10 };
    uint32_t count;
    const struct tide_table *ttl = &tide_tables(&count)[TIDE_TABLE_HISTORY_TTL];
    struct tide_buf rows, from;
    tide_buf_init(&rows, SQL_MAX);
    tide_buf_init(&from, SQL_MAX);
    tide_buf_str(&rows, "(");
    if (history->life)
        tide_table_select_lives(&rows, history);
    else
        tide_buf_putf(&rows, "SELECT * FROM %s.\"%s\"", ttl->stored->schema, ttl->stored->name);
    tide_buf_put(&rows, ")", sizeof ")");
    tide_buf_str(&from, "(");
    if (!rows.failed)
        tide_table_select(&from, ttl, (const char *)rows.ptr, false);
    tide_buf_put(&from, ")", sizeof ")");
    tide_status status =
        rows.failed || from.failed
            ? tide_fail(err, TIDE_E_MEMORY, "lifetimes of %s", history->name)
            : read_rows(a, TIDE_TABLE_HISTORY_TTL, history, (const char *)from.ptr, err);
    tide_buf_release(&rows);
    tide_buf_release(&from);
    return status;
}

/* Reads a table's versions and the lifetimes with them; of history.ttl those that stand alone. */
static tide_status read_table(struct audit *a, uint32_t index, struct tide_err *err)
{
    uint32_t count;
    char from[96];
    const struct tide_table *table = &tide_tables(&count)[index];
    tide_status status = TIDE_OK;
    if (table->life) {
        snprintf(from, sizeof from, "asof.\"%s\"", table->name);
        status = read_rows(a, index, table, from, err);
    }
    return status == TIDE_OK ? read_lives(a, table, err) : status;
}

tide_status audit_stored_read(struct audit *a, struct tide_err *err)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        if (tables[i].kind == TIDE_TABLE_HISTORY)
            status = read_table(a, i, err);
    return status == TIDE_OK ? audit_rows_flush(a, err) : status;
}
