/* Entries of buckets, in temporary tables of the server until all buckets are read: the version in
 * the youngest bucket counts. */
#include "indexer/base/copy.h"
#include "indexer/database/query.h"
#include "indexer/start/start_impl.h"
#include "tidemark/hash.h"
#include "tidemark/stop.h"
#include "tidemark/tx.h"

enum { SPEAK_ENTRIES = 1 << 16 };
static_assert((int)TEMP_ROW_BYTES_MAX >= 2 * (int)BUCKET_RECORD_MAX,
              "a row has an entry's key and value");

static const char tables_sql[] =
    "CREATE TEMP TABLE start_found (rank int2 NOT NULL, hot bool NOT NULL, held bool NOT NULL,"
    " key_hash bytea NOT NULL, contract bytea NOT NULL, durability int2 NOT NULL,"
    " key_xdr bytea NOT NULL, value_xdr bytea NOT NULL);"
    "CREATE TEMP TABLE start_ttl (rank int2 NOT NULL, held bool NOT NULL, key_hash bytea NOT NULL,"
    " live_until int8 NOT NULL)";

/* An entry that the hot archive holds is archived, unless the live list has it again. */
static const char winners_sql[] =
    "COPY (WITH live AS (SELECT DISTINCT ON (key_hash) * FROM pg_temp.start_found WHERE NOT hot"
    "   ORDER BY key_hash, rank),"
    " archived AS (SELECT DISTINCT ON (key_hash) * FROM pg_temp.start_found WHERE hot"
    "   ORDER BY key_hash, rank),"
    " ttl AS (SELECT DISTINCT ON (key_hash) * FROM pg_temp.start_ttl ORDER BY key_hash, rank)"
    " SELECT e.key_hash, e.contract, e.durability, e.hot, e.key_xdr, e.value_xdr,"
    "   CASE WHEN t.held AND NOT e.hot THEN t.live_until ELSE 0 END"
    " FROM (SELECT * FROM live WHERE held UNION ALL SELECT a.* FROM archived AS a WHERE a.held"
    "   AND NOT EXISTS (SELECT FROM live AS l WHERE l.key_hash = a.key_hash AND l.held)) AS e"
    " LEFT JOIN ttl AS t ON t.key_hash = e.key_hash ORDER BY e.key_hash)"
    " TO STDOUT (FORMAT binary)";
enum { KEY_HASH, CONTRACT, DURABILITY, HOT, KEY, VALUE, LIVE_UNTIL, WINNER_COLUMNS };

tide_status start_found_open(struct start *s, struct tide_err *err)
{
    static const char *const names[START_TABLES] = { "start_found", "start_ttl" };
    for (uint32_t i = 0; i < START_TABLES; i++)
        temp_rows_init(&s->rows[i], names[i]);
    tide_status status = key_filter_open(&s->keys, err);
    if (status == TIDE_OK)
        status = tide_query_connect(&s->temp, s->options->config, "tidemark-start", true, err);
    return status == TIDE_OK ? tide_pg_run(s->temp, tables_sql, "CREATE", err) : status;
}

void start_found_close(struct start *s)
{
    for (uint32_t i = 0; i < START_TABLES; i++)
        temp_rows_release(&s->rows[i]);
    key_filter_close(&s->keys);
    tide_pg_close(s->temp);
    s->temp = NULL;
}

static tide_status row_added(struct start *s, enum start_table table, struct tide_err *err)
{
    return temp_rows_added(&s->rows[table], s->temp, err);
}

/* Drops the rows of the bucket that begins: an earlier attempt at it may have given some. */
static tide_status begin_bucket(void *self, struct tide_err *err)
{
    struct start *s = self;
    char sql[192];
    bool hot = s->snapshot.bucket.list == BUCKET_LIST_HOT_ARCHIVE;
    for (uint32_t i = 0; i < START_TABLES; i++)
        temp_rows_drop(&s->rows[i]);
    int len = snprintf(sql, sizeof sql,
                       "DELETE FROM pg_temp.start_found WHERE rank = %u AND hot = %d::bool;"
                       "DELETE FROM pg_temp.start_ttl WHERE rank = %u AND NOT %d::bool",
                       s->snapshot.rank, hot, s->snapshot.rank, hot);
    assert(len > 0 && (size_t)len < sizeof sql); /* a cut statement would delete other rows */
    (void)len;
    return tide_pg_run(s->temp, sql, "DELETE", err);
}

static tide_status end_bucket(void *self, struct tide_err *err)
{
    struct start *s = self;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < START_TABLES && status == TIDE_OK; i++)
        status = temp_rows_flush(&s->rows[i], s->temp, err);
    return status;
}

static tide_status note_data(struct start *s, enum bucket_entry_kind kind,
                             const struct tide_change *change, struct tide_err *err)
{
    enum { COLUMNS = 8, ADDRESS_BYTES = 36, CONTRACT_ARM = 1 };
    struct tide_buf *row = &s->rows[START_FOUND].copy;
    bool held = kind == BUCKET_ENTRY_LIVE || kind == BUCKET_ENTRY_ARCHIVED;
    uint8_t hash[TIDE_HASH_BYTES];
    if (change->contract.len != ADDRESS_BYTES || tide_be32(change->contract.ptr) != CONTRACT_ARM ||
        !tide_deployment_find(tide_redecode_contracts(s->decode), change->contract.ptr + 4))
        return TIDE_OK;
    tide_data_key_hash(hash, change->contract, change->key, change->durability);
    key_filter_add(&s->keys, hash);
    tide_copy_row(row, COLUMNS);
    tide_copy_int2(row, (int16_t)s->snapshot.rank);
    tide_copy_bool(row, kind == BUCKET_ENTRY_ARCHIVED || kind == BUCKET_ENTRY_RESTORED);
    tide_copy_bool(row, held);
    tide_copy_bytes(row, hash, TIDE_HASH_BYTES);
    tide_copy_bytes(row, change->contract.ptr + 4, TIDE_HASH_BYTES);
    tide_copy_int2(row, (int16_t)change->durability);
    tide_copy_bytes(row, change->key.ptr, change->key.len);
    tide_copy_bytes(row, change->value.ptr, held ? change->value.len : 0);
    return row_added(s, START_FOUND, err);
}

static tide_status note_ttl(struct start *s, bool held, const struct tide_change *change,
                            struct tide_err *err)
{
    enum { COLUMNS = 4 };
    struct tide_buf *row = &s->rows[START_TTL].copy;
    if (!key_filter_has(&s->keys, change->key_hash))
        return TIDE_OK;
    tide_copy_row(row, COLUMNS);
    tide_copy_int2(row, (int16_t)s->snapshot.rank);
    tide_copy_bool(row, held);
    tide_copy_bytes(row, change->key_hash, TIDE_HASH_BYTES);
    tide_copy_int8(row, change->live_until);
    return row_added(s, START_TTL, err);
}

/* Keeps an entry of the snapshot. Meanwhile sends a statement in the writer's session now and then:
 * PostgreSQL ends an idle session, and its lock would be lost. */
static tide_status take_entry(void *self, enum bucket_entry_kind kind,
                              const struct tide_change *change, struct tide_err *err)
{
    struct start *s = self;
    if (++s->noted % SPEAK_ENTRIES == 0) {
        tide_status status = tide_writer_idle(s->options->writer, err);
        if (status != TIDE_OK)
            return status;
    }
    if (change->type == TIDE_ENTRY_CONTRACT_DATA)
        return note_data(s, kind, change, err);
    if (change->type == TIDE_ENTRY_TTL)
        return note_ttl(s, kind == BUCKET_ENTRY_LIVE, change, err);
    return TIDE_OK;
}

tide_status start_found_read(struct start *s, struct tide_err *err)
{
    const struct snapshot_sink sink = { begin_bucket, take_entry, end_bucket, s };
    tide_status status =
        tide_pg_run(s->temp, "TRUNCATE pg_temp.start_found, pg_temp.start_ttl", "TRUNCATE", err);
    return status == TIDE_OK ? snapshot_read(&s->snapshot, &sink, err) : status;
}

/* ---- the versions that count ---- */

struct giving {
    struct start *s;
    start_entry_fn *entry;
    void *self;
};

static uint16_t short_of(tide_slice field)
{
    return (uint16_t)(field.ptr[0] << 8 | field.ptr[1]);
}

/* Cuts a tuple into its fields. Returns false if it has other columns. */
static bool cut_tuple(tide_slice tuple, tide_slice fields[WINNER_COLUMNS])
{
    if (tuple.len < 2 || short_of(tuple) != WINNER_COLUMNS)
        return false;
    tuple = tide_slice_of(tuple.ptr + 2, tuple.len - 2);
    for (uint32_t i = 0; i < WINNER_COLUMNS; i++) {
        uint32_t len = tuple.len < 4 ? UINT32_MAX : tide_be32(tuple.ptr);
        if (tuple.len < 4 || len > tuple.len - 4)
            return false;
        fields[i] = tide_slice_of(tuple.ptr + 4, len);
        tuple = tide_slice_of(tuple.ptr + 4 + len, tuple.len - 4 - len);
    }
    return fields[KEY_HASH].len == TIDE_HASH_BYTES && fields[CONTRACT].len == TIDE_HASH_BYTES &&
           fields[DURABILITY].len == 2 && fields[HOT].len == 1 && fields[LIVE_UNTIL].len == 8;
}

static tide_status take_tuple(void *self, tide_slice tuple, struct tide_err *err)
{
    const struct giving *g = self;
    tide_slice fields[WINNER_COLUMNS];
    if (tide_stop_asked(NULL))
        return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
    if (!cut_tuple(tuple, fields))
        return tide_fail(err, TIDE_E_SCHEMA, "start_found: a row has other columns");
    struct tide_redecode_entry entry = { .ledger = g->s->ledger,
                                         .closed_ms = (int64_t)g->s->chain.closed_ms,
                                         .durability = short_of(fields[DURABILITY]),
                                         .key = fields[KEY],
                                         .value = fields[VALUE],
                                         .archived = fields[HOT].ptr[0],
                                         .live_until =
                                             (uint32_t)tide_be64(fields[LIVE_UNTIL].ptr) };
    memcpy(entry.key_hash, fields[KEY_HASH].ptr, TIDE_HASH_BYTES);
    memcpy(entry.contract, fields[CONTRACT].ptr, TIDE_HASH_BYTES);
    return g->entry(g->s, &entry, g->self, err);
}

tide_status start_found_each(struct start *s, start_entry_fn *entry, void *self,
                             struct tide_err *err)
{
    struct giving g = { s, entry, self };
    const struct tide_pg_tuples sink = { take_tuple, &g };
    return tide_pg_copy_out(s->temp, &sink, winners_sql, err);
}
