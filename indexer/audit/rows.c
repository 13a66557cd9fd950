/* The temporary tables of an audit: rows are sent in pieces by COPY. */
#include "indexer/audit/audit_impl.h"
#include "indexer/base/copy.h"
#include "indexer/verify/digest.h"
#include "tidemark/hash.h"

static_assert((int)TEMP_ROW_BYTES_MAX >= 2 * (int)BUCKET_RECORD_MAX,
              "a row has an entry's key and value");
static_assert(AUDIT_FOUND == 0 && AUDIT_TTL < AUDIT_CODE && AUDIT_CODE + 1 == AUDIT_STORED,
              "tables of the buckets come first: a damaged bucket empties them");

static const char tables_sql[] =
    "CREATE TEMP TABLE audit_found (rank int2 NOT NULL, hot bool NOT NULL, held bool NOT NULL,"
    " key_hash bytea NOT NULL, contract text NOT NULL, followed bool NOT NULL, kind int4,"
    " typed bytea, raw bytea, modified int4 NOT NULL, key_xdr bytea NOT NULL);"
    "CREATE TEMP TABLE audit_ttl (rank int2 NOT NULL, held bool NOT NULL, key_hash bytea NOT NULL,"
    " live_until int8 NOT NULL);"
    "CREATE TEMP TABLE audit_code (rank int2 NOT NULL, hot bool NOT NULL, held bool NOT NULL,"
    " hash bytea NOT NULL, sound bool NOT NULL);"
    "CREATE TEMP TABLE audit_stored (key_hash bytea NOT NULL, contract text NOT NULL,"
    " followed bool NOT NULL, kind int4 NOT NULL, raw bool NOT NULL, hash bytea,"
    " ledger int4 NOT NULL, tx int4 NOT NULL, seq int4 NOT NULL);"
    "CREATE TEMP TABLE audit_stored_ttl (key_hash bytea NOT NULL, removed bool NOT NULL,"
    " evicted bool NOT NULL, live_until int8, ledger int4 NOT NULL, tx int4 NOT NULL,"
    " seq int4 NOT NULL);"
    "CREATE TEMP TABLE audit_stored_code (key_hash bytea NOT NULL, contract text NOT NULL,"
    " hash bytea NOT NULL, ttl_hash bytea NOT NULL, ledger int4 NOT NULL, tx int4 NOT NULL,"
    " seq int4 NOT NULL)";

tide_status audit_rows_open(struct audit *a, struct tide_err *err)
{
    static const char *const names[AUDIT_TABLES] = { "audit_found",      "audit_ttl",
                                                     "audit_code",       "audit_stored",
                                                     "audit_stored_ttl", "audit_stored_code" };
    for (uint32_t i = 0; i < AUDIT_TABLES; i++)
        temp_rows_init(&a->rows[i], names[i]);
    return tide_pg_run(a->temp, tables_sql, "CREATE", err);
}

void audit_rows_close(struct audit *a)
{
    for (uint32_t i = 0; i < AUDIT_TABLES; i++)
        temp_rows_release(&a->rows[i]);
}

tide_status audit_rows_added(struct audit *a, enum audit_table table, struct tide_err *err)
{
    assert(table < AUDIT_TABLES);
    return temp_rows_added(&a->rows[table], a->temp, err);
}

tide_status audit_rows_flush(struct audit *a, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < AUDIT_TABLES && status == TIDE_OK; i++)
        status = temp_rows_flush(&a->rows[i], a->temp, err);
    return status;
}

tide_status audit_rows_drop_bucket(struct audit *a, struct tide_err *err)
{
    char sql[192];
    for (uint32_t i = AUDIT_FOUND; i <= AUDIT_CODE; i++)
        temp_rows_drop(&a->rows[i]);
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
