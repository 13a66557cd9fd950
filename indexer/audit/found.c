/* Entries of buckets as rows: each entry of the deployment is decoded by the code that decodes
 * ledgers, and its row is hashed as a stored one is. */
#include "indexer/audit/audit_impl.h"
#include "indexer/base/copy.h"
#include "indexer/decode/redecode.h"
#include "tidemark/hash.h"
#include "tidemark/tx.h"

/* One entry of the deployment. */
struct found {
    const struct tide_contract *owner;
    const struct tide_change *change;
    uint8_t key_hash[TIDE_HASH_BYTES];
    bool followed, held, hot;
    int32_t kind; /* its history table; -1: stored raw */
    uint8_t typed[TIDE_HASH_BYTES], raw[TIDE_HASH_BYTES];
};

/* Returns the history table that the decoder filled, or -1. */
static int32_t filled_table(const struct audit *a)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    for (uint32_t i = 0; i < count; i++)
        if (tables[i].kind == TIDE_TABLE_HISTORY && a->batch->rows[i].count)
            return (int32_t)i;
    return -1;
}

/* Writes the row that history.raw would have of the entry, and hashes it. */
static tide_status hash_raw(const struct found *f, uint8_t out[TIDE_HASH_BYTES],
                            struct tide_err *err)
{
    uint32_t count;
    const struct tide_table *table = &tide_tables(&count)[TIDE_TABLE_HISTORY_RAW];
    enum { COMMON = 8, COLUMNS = COMMON + 4, VERSION_COLUMNS = 6 };
    static_assert(VERSION_COLUMNS + 2 == COMMON, "contract and removed follow");
    assert(table->column_count == COLUMNS && table->kind == TIDE_TABLE_HISTORY);
    assert(f->held); /* an entry without a value has no row */
    struct tide_buf row;
    tide_buf_init(&row, (size_t)2 * BUCKET_RECORD_MAX);
    tide_copy_row(&row, COLUMNS);
    for (int i = 0; i < VERSION_COLUMNS; i++)
        tide_copy_null(&row);
    tide_copy_bytes(&row, f->owner->address, strlen(f->owner->address));
    tide_copy_bool(&row, false);
    tide_copy_int2(&row, (int16_t)f->change->durability);
    tide_copy_null(&row); /* the reason */
    tide_copy_bytes(&row, f->change->key.ptr, f->change->key.len);
    tide_copy_bytes(&row, f->change->value.ptr, f->change->value.len);
    tide_status status = row.failed ? tide_fail(err, TIDE_E_MEMORY, "a row of an entry")
                                    : audit_row_hash(out, table, tide_buf_view(&row), err);
    tide_buf_release(&row);
    return status;
}

/* Decodes the entry, and hashes the row of its table. */
static tide_status decode_found(struct audit *a, struct found *f, struct tide_err *err)
{
    const struct tide_change *c = f->change;
    struct tide_redecode_raw_version version = {
        .ledger = c->last_modified, .durability = c->durability, .key = c->key, .value = c->value
    };
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    assert(count <= TIDE_TABLES_MAX);
    memcpy(version.key_hash, f->key_hash, TIDE_HASH_BYTES);
    memcpy(version.contract, f->owner->id, TIDE_HASH_BYTES);
    tide_batch_reset(a->batch);
    f->kind = tide_redecode_version(a->decode, a->batch, &version) ? filled_table(a) : -1;
    tide_status status = hash_raw(f, f->raw, err);
    if (status != TIDE_OK || f->kind < 0)
        return status;
    const struct tide_buf *copy = &a->batch->rows[f->kind].copy;
    assert((uint32_t)f->kind < count && tables[f->kind].kind == TIDE_TABLE_HISTORY);
    return copy->failed ? tide_fail(err, TIDE_E_MEMORY, "a row of an entry")
                        : audit_row_hash(f->typed, &tables[f->kind], tide_buf_view(copy), err);
}

static void put_hash(struct tide_buf *row, const uint8_t *hash)
{
    if (hash)
        tide_copy_bytes(row, hash, TIDE_HASH_BYTES);
    else
        tide_copy_null(row);
}

static tide_status put_found(struct audit *a, const struct found *f, struct tide_err *err)
{
    enum { COLUMNS = 11 };
    struct tide_buf *row = &a->rows[AUDIT_FOUND].copy;
    bool typed = f->held && f->kind >= 0;
    assert(a->snapshot.rank < 2 * HISTORY_LEVELS && f->kind < (int32_t)TIDE_TABLES_MAX);
    tide_copy_row(row, COLUMNS);
    tide_copy_int2(row, (int16_t)a->snapshot.rank);
    tide_copy_bool(row, f->hot);
    tide_copy_bool(row, f->held);
    tide_copy_bytes(row, f->key_hash, TIDE_HASH_BYTES);
    tide_copy_bytes(row, f->owner->address, strlen(f->owner->address));
    tide_copy_bool(row, f->followed);
    if (typed)
        tide_copy_int4(row, f->kind);
    else
        tide_copy_null(row);
    put_hash(row, typed ? f->typed : NULL);
    put_hash(row, f->held ? f->raw : NULL);
    tide_copy_int4(row, (int32_t)f->change->last_modified);
    tide_copy_bytes(row, f->change->key.ptr, f->change->key.len);
    return audit_rows_added(a, AUDIT_FOUND, err);
}

static tide_status note_data(struct audit *a, enum bucket_entry_kind kind,
                             const struct tide_change *change, struct tide_err *err)
{
    struct found f = { .change = change,
                       .kind = -1,
                       .held = kind == BUCKET_ENTRY_LIVE || kind == BUCKET_ENTRY_ARCHIVED,
                       .hot = kind == BUCKET_ENTRY_ARCHIVED || kind == BUCKET_ENTRY_RESTORED };
    f.owner = tide_redecode_owner(a->decode, change->contract, change->key, &f.followed);
    if (!f.owner)
        return TIDE_OK;
    tide_data_key_hash(f.key_hash, change->contract, change->key, change->durability);
    key_filter_add(&a->keys, f.key_hash);
    tide_status status = f.held ? decode_found(a, &f, err) : TIDE_OK;
    return status == TIDE_OK ? put_found(a, &f, err) : status;
}

static tide_status note_ttl(struct audit *a, bool held, const struct tide_change *change,
                            struct tide_err *err)
{
    enum { COLUMNS = 4 };
    struct tide_buf *row = &a->rows[AUDIT_TTL].copy;
    if (!key_filter_has(&a->keys, change->key_hash))
        return TIDE_OK;
    tide_copy_row(row, COLUMNS);
    tide_copy_int2(row, (int16_t)a->snapshot.rank);
    tide_copy_bool(row, held);
    tide_copy_bytes(row, change->key_hash, TIDE_HASH_BYTES);
    tide_copy_int8(row, change->live_until);
    return audit_rows_added(a, AUDIT_TTL, err);
}

static tide_status note_code(struct audit *a, enum bucket_entry_kind kind,
                             const struct tide_change *change, struct tide_err *err)
{
    enum { COLUMNS = 5 };
    struct tide_buf *row = &a->rows[AUDIT_CODE].copy;
    uint8_t hash[TIDE_HASH_BYTES];
    bool held = kind == BUCKET_ENTRY_LIVE || kind == BUCKET_ENTRY_ARCHIVED;
    if (!key_filter_has(&a->keys, change->key_hash))
        return TIDE_OK;
    if (held)
        tide_sha256(hash, change->value);
    tide_copy_row(row, COLUMNS);
    tide_copy_int2(row, (int16_t)a->snapshot.rank);
    tide_copy_bool(row, kind == BUCKET_ENTRY_ARCHIVED || kind == BUCKET_ENTRY_RESTORED);
    tide_copy_bool(row, held);
    tide_copy_bytes(row, change->key_hash, TIDE_HASH_BYTES);
    tide_copy_bool(row, !held || memcmp(hash, change->key_hash, TIDE_HASH_BYTES) == 0);
    return audit_rows_added(a, AUDIT_CODE, err);
}

tide_status audit_found_entry(void *self, enum bucket_entry_kind kind,
                              const struct tide_change *change, struct tide_err *err)
{
    struct audit *a = self;
    if (change->type == TIDE_ENTRY_CONTRACT_DATA)
        return note_data(a, kind, change, err);
    if (change->type == TIDE_ENTRY_CONTRACT_CODE)
        return note_code(a, kind, change, err);
    assert(change->type == TIDE_ENTRY_TTL); /* the reader gives no other type */
    return note_ttl(a, kind == BUCKET_ENTRY_LIVE, change, err);
}
