/* The temporary tables of an audit: rows are sent in pieces by COPY. */
#include "indexer/audit/audit_impl.h"
#include "indexer/base/copy.h"
#include "indexer/verify/digest.h"
#include "tidemark/hash.h"

enum { PIECE_BYTES = 1 << 20, ROW_BYTES_MAX = 16 << 20 };
static_assert(ROW_BYTES_MAX >= 2 * BUCKET_RECORD_MAX, "a row has an entry's key and value");
static_assert(AUDIT_FOUND == 0 && AUDIT_TTL < AUDIT_CODE && AUDIT_CODE + 1 == AUDIT_STORED,
              "tables of the buckets come first: a damaged bucket empties them");

static const char tables_sql[] =
    "CREATE TEMP TABLE audit_found (rank int2 NOT NULL, hot bool NOT NULL, held bool NOT NULL,"
    " key_hash bytea NOT NULL, contract text NOT NULL, followed bool NOT NULL, kind int4,"
    " typed bytea, raw bytea, modified int4 NOT NULL, key_xdr bytea NOT NULL);"
    "CREATE TEMP TABLE audit_ttl (rank int2 NOT NULL, held bool NOT NULL, key_hash bytea NOT NULL,"
    " live_until int8 NOT NULL);"
    "CREATE TEMP TABLE audit_code (rank int2 NOT NULL, hot bool NOT NULL, held bool NOT NULL,"
    " hash bytea NOT NULL);"
    "CREATE TEMP TABLE audit_stored (key_hash bytea NOT NULL, contract text NOT NULL,"
    " followed bool NOT NULL, kind int4 NOT NULL, raw bool NOT NULL, hash bytea,"
    " ledger int4 NOT NULL, tx int4 NOT NULL, seq int4 NOT NULL);"
    "CREATE TEMP TABLE audit_stored_ttl (key_hash bytea NOT NULL, removed bool NOT NULL,"
    " evicted bool NOT NULL, live_until int8);"
    "CREATE TEMP TABLE audit_stored_code (contract text NOT NULL, hash bytea NOT NULL)";

tide_status audit_rows_open(struct audit *a, struct tide_err *err)
{
    static const char *const names[AUDIT_TABLES] = { "audit_found",      "audit_ttl",
                                                     "audit_code",       "audit_stored",
                                                     "audit_stored_ttl", "audit_stored_code" };
    for (uint32_t i = 0; i < AUDIT_TABLES; i++) {
        a->rows[i].table = names[i];
        assert(a->rows[i].table && a->rows[i].count == 0);
        tide_buf_init(&a->rows[i].copy, PIECE_BYTES + ROW_BYTES_MAX);
    }
    return tide_pg_run(a->temp, tables_sql, "CREATE", err);
}

void audit_rows_close(struct audit *a)
{
    for (uint32_t i = 0; i < AUDIT_TABLES; i++)
        tide_buf_release(&a->rows[i].copy);
}

static tide_status send_rows(struct audit *a, struct audit_rows *rows, struct tide_err *err)
{
    char sql[96];
    if (rows->copy.failed)
        return tide_fail(err, TIDE_E_MEMORY, "rows of %s", rows->table);
    if (rows->count == 0)
        return TIDE_OK;
    assert(rows->copy.len > 0); /* each row that was counted was appended */
    int len = snprintf(sql, sizeof sql, "COPY pg_temp.%s FROM STDIN (FORMAT binary)", rows->table);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    tide_status status = tide_pg_run(a->temp, "BEGIN", "BEGIN", err);
    if (status == TIDE_OK)
        status = tide_pg_copy(a->temp, sql, tide_buf_view(&rows->copy), rows->count, err);
    if (status == TIDE_OK)
        status = tide_pg_run(a->temp, "COMMIT", "COMMIT", err);
    tide_buf_reset(&rows->copy);
    rows->count = 0;
    return status;
}

tide_status audit_rows_added(struct audit *a, enum audit_table table, struct tide_err *err)
{
    assert(table < AUDIT_TABLES);
    struct audit_rows *rows = &a->rows[table];
    rows->count++;
    return rows->copy.failed || rows->copy.len >= PIECE_BYTES ? send_rows(a, rows, err) : TIDE_OK;
}

tide_status audit_rows_flush(struct audit *a, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < AUDIT_TABLES && status == TIDE_OK; i++)
        status = send_rows(a, &a->rows[i], err);
    return status;
}

tide_status audit_rows_drop_bucket(struct audit *a, struct tide_err *err)
{
    char sql[192];
    for (uint32_t i = AUDIT_FOUND; i <= AUDIT_CODE; i++) {
        tide_buf_reset(&a->rows[i].copy);
        a->rows[i].count = 0;
    }
    bool hot = a->snapshot.bucket.list == BUCKET_LIST_HOT_ARCHIVE;
    int len = snprintf(sql, sizeof sql,
                       "DELETE FROM pg_temp.audit_found WHERE rank = %u AND hot = %d::bool;"
                       "DELETE FROM pg_temp.audit_code WHERE rank = %u AND hot = %d::bool",
                       a->snapshot.rank, hot, a->snapshot.rank, hot);
    assert(len > 0 && (size_t)len < sizeof sql); /* a statement that is cut deletes other rows */
    (void)len;
    tide_status status = tide_pg_run(a->temp, sql, "DELETE", err);
    snprintf(sql, sizeof sql, "DELETE FROM pg_temp.audit_ttl WHERE rank = %u", a->snapshot.rank);
    return status == TIDE_OK && !hot ? tide_pg_run(a->temp, sql, "DELETE", err) : status;
}

/* Returns whether the column says which version a row is, or why it is stored raw, and nothing of
 * the entry. */
static bool is_of_version(const struct tide_column *column)
{
    static const char *const names[] = { "deployment", "key_hash",  "ledger",  "tx",
                                         "seq",        "closed_at", "removed", "reason" };
    for (size_t i = 0; i < TIDE_COUNT(names); i++)
        if (strcmp(column->name, names[i]) == 0)
            return true;
    return column->no_digest;
}

tide_status audit_row_hash(uint8_t out[TIDE_HASH_BYTES], const struct tide_table *table,
                           tide_slice tuple, struct tide_err *err)
{
    struct tide_sha256 h;
    tide_sha256_init(&h);
    for (uint32_t i = 0; i < table->column_count; i++) {
        tide_slice field;
        bool null;
        if (tide_digest_field(tuple, i, &field, &null) != TIDE_OK)
            return tide_fail(err, TIDE_E_SCHEMA,
                             "%s.%s: a row does not have the columns that this build knows",
                             table->schema, table->name);
        if (is_of_version(&table->columns[i]))
            continue;
        uint64_t len = null ? UINT64_MAX : field.len;
        tide_sha256_update(&h, tide_slice_of((const uint8_t *)&len, sizeof len));
        tide_sha256_update(&h, field);
    }
    tide_sha256_final(&h, out);
    return TIDE_OK;
}
