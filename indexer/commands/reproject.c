/* The command reproject: decodes rows that were stored raw with the catalogue of this build, and
 * moves those that fit into their typed tables, a bounded number of rows in each transaction. The
 * chain is not needed. Afterwards the tables are as if this build had indexed it. */
#include "indexer/commands/command.h"
#include "indexer/database/migrate.h"
#include "indexer/database/query.h"
#include "indexer/database/words.h"
#include "indexer/decode/redecode.h"
#include "tidemark/limits.h"
#include "tidemark/log.h"
#include "tidemark/strkey.h"
#include "tidemark/table.h"
#include "tidemark/text.h"

#include <stdlib.h>

struct tide_reproject {
    struct tide_pg *pg;
    uint16_t deployment;
    struct tide_decode *decode;
    struct tide_batch *batch;
    struct tide_words *words;
    struct tide_buf moved; /* "(…),(…)": keys of the chunk's rows that fit now */
    uint64_t chunk_moved;  /* number of rows in moved */
    uint64_t events_seen, events_moved, versions_seen, versions_moved;
};

/* --- moving rows ------------------------------------------------------------------------ */

enum { SQL_MAX = 4 << 20 };

static tide_status run_statement(struct tide_reproject *r, struct tide_buf *sql, const char *tag,
                                 struct tide_err *err)
{
    tide_buf_u8(sql, 0);
    tide_status status = sql->failed ? tide_fail(err, TIDE_E_LIMIT, "reproject: statement too long")
                                     : tide_pg_run(r->pg, (const char *)sql->ptr, tag, err);
    tide_buf_reset(sql);
    return status;
}

/* Writes the columns of one version in the table, each with the prefix, without the column
 * left_out. */
static void put_columns(struct tide_buf *sql, const struct tide_table *table, const char *prefix,
                        const char *left_out)
{
    bool any = false;
    for (uint32_t i = 0; i < tide_table_own_columns(table); i++) {
        if (left_out && strcmp(table->columns[i].name, left_out) == 0)
            continue;
        tide_buf_putf(sql, "%s%s\"%s\"", any ? ", " : "", prefix, table->columns[i].name);
        any = true;
    }
    assert(any);
}

/* Reads the words of the batch's rows and gets their keys, in the transaction that stores the
 * rows. */
static tide_status ask_words(struct tide_reproject *r, struct tide_err *err)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    tide_status status = TIDE_OK;
    tide_words_begin(r->words);
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        if (tables[i].stored && r->batch->rows[i].count)
            status = tide_words_read(r->words, i, &tables[i],
                                     tide_buf_view(&r->batch->rows[i].copy), err);
    return status == TIDE_OK ? tide_words_ask(r->words, r->pg, err) : status;
}

/* Copies the batch's rows of a table, with keys in place of words, into `into`. */
static tide_status copy_rows(struct tide_reproject *r, struct tide_buf *sql, const char *into,
                             uint32_t index, struct tide_err *err)
{
    uint32_t count;
    const struct tide_table *table = &tide_tables(&count)[index];
    const struct tide_rows *rows = &r->batch->rows[index];
    assert(index < count && rows->count > 0);
    tide_slice tuples = tide_buf_view(&rows->copy);
    struct tide_buf keyed;
    tide_status status = TIDE_OK;
    tide_buf_init(&keyed, INT32_MAX);
    if (table->stored) {
        struct tide_words_rows words = { .place = index, .table = table, .tuples = tuples };
        status = tide_words_put(r->words, &words, NULL, &keyed, err);
        tuples = tide_buf_view(&keyed);
    }
    tide_buf_putf(sql, "COPY %s (", into);
    put_columns(sql, tide_table_stored(table), "", NULL);
    tide_buf_put(sql, ") FROM STDIN (FORMAT binary)", sizeof ") FROM STDIN (FORMAT binary)");
    if (status == TIDE_OK && (sql->failed || rows->copy.failed))
        status = tide_fail(err, TIDE_E_LIMIT, "reproject: %s: too many bytes", into);
    if (status == TIDE_OK)
        status = tide_pg_copy(r->pg, (const char *)sql->ptr, tuples, rows->count, err);
    tide_buf_release(&keyed);
    tide_buf_reset(sql);
    return status;
}

/* Deletes the raw rows that moved, and subtracts them from the counts of ledger and cursor. */
static tide_status drop_raw(struct tide_reproject *r, struct tide_buf *sql, const char *table,
                            const char *key, const char *count, struct tide_err *err)
{
    assert(r->chunk_moved > 0);
    tide_buf_putf(sql, "WITH gone AS (DELETE FROM %s WHERE deployment = %u AND (%s) IN (", table,
                  r->deployment, key);
    tide_buf_slice(sql, tide_buf_view(&r->moved));
    tide_buf_putf(sql,
                  ") RETURNING ledger) UPDATE chain.ledger AS l SET %s = l.%s - g.n FROM (SELECT"
                  " ledger, count(*) AS n FROM gone GROUP BY ledger) AS g WHERE l.deployment = %u"
                  " AND l.ledger = g.ledger",
                  count, count, r->deployment);
    tide_status status = run_statement(r, sql, "UPDATE", err);
    tide_buf_putf(sql, "UPDATE chain.cursor SET %s = %s - %" PRIu64 " WHERE deployment = %u", count,
                  count, r->chunk_moved, r->deployment);
    return status == TIDE_OK ? run_statement(r, sql, "UPDATE 1", err) : status;
}

static void empty_chunk(struct tide_reproject *r)
{
    tide_batch_reset(r->batch);
    tide_buf_reset(&r->moved);
    r->chunk_moved = 0;
}

/* The raw rows are deleted after the typed rows were written, in the same transaction. */
static tide_status tide_reproject_move_events(struct tide_reproject *r, struct tide_err *err)
{
    uint32_t count;
    struct tide_buf sql;
    char into[160];
    const struct tide_table *tables = tide_tables(&count);
    tide_status status = ask_words(r, err);
    tide_buf_init(&sql, SQL_MAX);
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++) {
        if (r->batch->rows[i].count == 0)
            continue;
        assert(tables[i].kind != TIDE_TABLE_STATE); /* open_decoder left them out */
        const struct tide_table *stored = tide_table_stored(&tables[i]);
        int len = snprintf(into, sizeof into, "\"%s\".\"%s\"", stored->schema, stored->name);
        assert(len > 0 && (size_t)len < sizeof into);
        (void)len;
        status = copy_rows(r, &sql, into, i, err);
    }
    if (status == TIDE_OK && r->chunk_moved)
        status = drop_raw(r, &sql, "event_rows.raw", "ledger, tx, op, event", "raw_events", err);
    tide_buf_release(&sql);
    empty_chunk(r);
    return status;
}

/* Inserts the staged versions into history. A version of an instance that fitted in part is there
 * already and is replaced. */
static tide_status merge_history(struct tide_reproject *r, struct tide_buf *sql,
                                 const struct tide_table *table, struct tide_err *err)
{
    tide_buf_putf(
        sql,
        "DELETE FROM history_rows.\"%s\" AS h USING pg_temp.again AS a WHERE h.deployment ="
        " a.deployment AND h.key_hash = a.key_hash AND h.ledger = a.ledger AND h.tx = a.tx"
        " AND h.seq = a.seq; INSERT INTO history_rows.\"%s\" (",
        table->name, table->name);
    put_columns(sql, tide_table_stored(table), "", NULL);
    tide_buf_str(sql, ") SELECT ");
    put_columns(sql, tide_table_stored(table), "a.", NULL);
    tide_buf_str(sql, " FROM pg_temp.again AS a");
    return run_statement(r, sql, "INSERT", err);
}

/* Writes the newest version of each staged key to state, as the writer does. A raw version may be
 * newer; that one is in state.raw. */
static tide_status merge_state(struct tide_reproject *r, struct tide_buf *sql,
                               const struct tide_table *table, struct tide_err *err)
{
    tide_buf_putf(sql,
                  "DELETE FROM state.\"%s\" AS s USING pg_temp.again AS a WHERE s.deployment ="
                  " a.deployment AND s.key_hash = a.key_hash; INSERT INTO state.\"%s\" (",
                  table->name, table->name);
    put_columns(sql, table, "", "removed");
    tide_buf_str(sql, ") SELECT ");
    put_columns(sql, table, "n.", "removed");
    tide_buf_putf(sql,
                  " FROM (SELECT DISTINCT deployment, key_hash FROM pg_temp.again) AS k"
                  " CROSS JOIN LATERAL (SELECT * FROM asof.\"%s\" AS h WHERE h.deployment ="
                  " k.deployment AND h.key_hash = k.key_hash"
                  " ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS n"
                  " WHERE NOT n.removed",
                  table->name);
    return run_statement(r, sql, "INSERT", err);
}

/* Stages the versions in a temporary table, because history and state are merged by key. */
static tide_status move_table(struct tide_reproject *r, struct tide_buf *sql, uint32_t index,
                              struct tide_err *err)
{
    uint32_t count;
    const struct tide_table *table = &tide_tables(&count)[index];
    assert(index < count && table->kind == TIDE_TABLE_HISTORY);
    tide_buf_putf(sql, "CREATE TEMPORARY TABLE again (LIKE history_rows.\"%s\") ON COMMIT DROP",
                  table->name);
    tide_status status = run_statement(r, sql, "CREATE", err);
    if (status == TIDE_OK)
        status = copy_rows(r, sql, "pg_temp.again", index, err);
    if (status == TIDE_OK)
        status = merge_history(r, sql, table, err);
    if (status == TIDE_OK)
        status = merge_state(r, sql, table, err);
    tide_buf_str(sql, "DROP TABLE pg_temp.again");
    return status == TIDE_OK ? run_statement(r, sql, "DROP", err) : status;
}

/* Adds the contracts that entries name, now that they can be decoded. The next run follows those
 * below the limit, and reads their past. */
static tide_status add_seen(struct tide_reproject *r, struct tide_buf *sql, struct tide_err *err)
{
    if (r->batch->rows[TIDE_TABLE_CONTRACT_SEEN].count == 0)
        return TIDE_OK;
    tide_buf_str(sql, "CREATE TEMPORARY TABLE again (LIKE chain.contract_seen) ON COMMIT DROP");
    tide_status status = run_statement(r, sql, "CREATE", err);
    if (status == TIDE_OK)
        status = copy_rows(r, sql, "pg_temp.again", TIDE_TABLE_CONTRACT_SEEN, err);
    tide_buf_str(sql, "INSERT INTO chain.contract_seen SELECT * FROM pg_temp.again"
                      " ON CONFLICT DO NOTHING;");
    tide_buf_putf(sql,
                  " SELECT chain.note_discovered(%u::smallint, ARRAY(SELECT DISTINCT contract FROM"
                  " pg_temp.again))",
                  r->deployment);
    if (status == TIDE_OK)
        status = run_statement(r, sql, "SELECT", err);
    tide_buf_str(sql, "DROP TABLE pg_temp.again");
    return status == TIDE_OK ? run_statement(r, sql, "DROP", err) : status;
}

/* Deletes rows of state.raw whose version moved. Others are still the newest version of their
 * key. */
static tide_status drop_raw_state(struct tide_reproject *r, struct tide_buf *sql,
                                  struct tide_err *err)
{
    tide_buf_putf(sql,
                  "DELETE FROM state.raw AS s WHERE s.deployment = %u AND NOT EXISTS (SELECT FROM"
                  " history.raw AS h WHERE h.deployment = s.deployment AND h.key_hash = s.key_hash"
                  " AND h.ledger = s.ledger AND h.tx = s.tx AND h.seq = s.seq)",
                  r->deployment);
    return run_statement(r, sql, "DELETE", err);
}

/* Gives the lifetimes that raw versions carry rows of their own: a lifetime may stand anywhere. */
static tide_status keep_lives(struct tide_reproject *r, struct tide_buf *sql, struct tide_err *err)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    tide_buf_str(sql, "INSERT INTO history_rows.ttl (");
    put_columns(sql, tide_table_stored(&tables[TIDE_TABLE_HISTORY_TTL]), "", NULL);
    tide_buf_str(sql, ") ");
    tide_table_select_lives(sql, &tables[TIDE_TABLE_HISTORY_RAW]);
    tide_buf_putf(sql, " AND t.deployment = %u AND (t.key_hash, t.ledger, t.tx, t.seq) IN (",
                  r->deployment);
    tide_buf_slice(sql, tide_buf_view(&r->moved));
    tide_buf_str(sql, ")");
    return run_statement(r, sql, "INSERT", err);
}

/* Deletes the raw versions that moved, and merges the typed ones table by table. */
static tide_status tide_reproject_move_versions(struct tide_reproject *r, struct tide_err *err)
{
    uint32_t count;
    struct tide_buf sql;
    const struct tide_table *tables = tide_tables(&count);
    assert(count <= TIDE_TABLES_MAX);
    tide_status status = ask_words(r, err);
    tide_buf_init(&sql, SQL_MAX);
    if (status == TIDE_OK && r->chunk_moved)
        status = keep_lives(r, &sql, err);
    if (status == TIDE_OK && r->chunk_moved)
        status =
            drop_raw(r, &sql, "history_rows.raw", "key_hash, ledger, tx, seq", "raw_states", err);
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        if (tables[i].kind == TIDE_TABLE_HISTORY && r->batch->rows[i].count)
            status = move_table(r, &sql, i, err);
    if (status == TIDE_OK)
        status = add_seen(r, &sql, err);
    if (status == TIDE_OK && r->chunk_moved)
        status = drop_raw_state(r, &sql, err);
    tide_buf_release(&sql);
    empty_chunk(r);
    return status;
}

/* CHUNK_ROWS is the LIMIT of the queries below. */
enum { CHUNK_ROWS = 500, MOVED_MAX = 1 << 20 };

static const char next_events_sql[] =
    "SELECT ledger, tx, op, event, chain.unix_ms(closed_at), contract,"
    " encode(xdr, 'hex') FROM event.raw WHERE deployment = $1"
    " AND (ledger, tx, op, event) > ($2::int, $3::int, $4::int, $5::int)"
    " ORDER BY ledger, tx, op, event LIMIT 500";

static const char next_versions_sql[] =
    "SELECT encode(key_hash, 'hex'), ledger, tx, seq, chain.unix_ms(closed_at),"
    " contract, durability, removed, encode(key_xdr, 'hex'), encode(value_xdr, 'hex')"
    " FROM history.raw WHERE deployment = $1"
    " AND (key_hash, ledger, tx, seq) > (decode($2, 'hex'), $3::int, $4::int, $5::int)"
    " ORDER BY key_hash, ledger, tx, seq LIMIT 500";

/* The last row seen, as texts of its key. The next chunk begins behind it. */
struct place {
    char texts[4][2 * TIDE_HASH_BYTES + 1];
};

static bool contract_id(uint8_t id[TIDE_HASH_BYTES], tide_slice address)
{
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    enum tide_strkey kind;
    if (tide_strkey_decode(&kind, payload, &len, address) != TIDE_OK ||
        kind != TIDE_STRKEY_CONTRACT)
        return false;
    assert(len == TIDE_HASH_BYTES); /* the decoder checks the length of each kind */
    memcpy(id, payload, TIDE_HASH_BYTES);
    return true;
}

/* Adds the key of a row that fits now to r->moved. The first column is a number, or with `hash` a
 * hash in hex. */
static void note_moved(struct tide_reproject *r, const struct tide_pg_rows *rows, uint32_t at,
                       bool hash)
{
    assert(at < rows->count && rows->columns >= 4);
    if (r->moved.len)
        tide_buf_u8(&r->moved, ',');
    tide_buf_putf(&r->moved, hash ? "(decode('%s','hex'),%s,%s,%s)" : "(%s,%s,%s,%s)",
                  tide_pg_text(rows, at, 0), tide_pg_text(rows, at, 1), tide_pg_text(rows, at, 2),
                  tide_pg_text(rows, at, 3));
    r->chunk_moved++;
}

/* Decodes one raw event. A row that still fits no kind stays raw. */
static void redecode_event(struct tide_reproject *r, const struct tide_pg_rows *rows, uint32_t at,
                           struct tide_buf *bytes)
{
    assert(at < rows->count && rows->columns >= 7);
    struct tide_redecode_raw_event event = { .ledger = (uint32_t)tide_pg_u64(rows, at, 0),
                                             .tx = (uint32_t)tide_pg_u64(rows, at, 1),
                                             .op = (uint32_t)tide_pg_u64(rows, at, 2),
                                             .event = (uint32_t)tide_pg_u64(rows, at, 3),
                                             .closed_ms = (int64_t)tide_pg_u64(rows, at, 4) };
    tide_buf_reset(bytes);
    if (!contract_id(event.contract, tide_pg_slice(rows, at, 5)) ||
        !tide_raw_hex(bytes, tide_pg_slice(rows, at, 6)))
        return;
    event.xdr = tide_buf_view(bytes);
    if (!tide_redecode_event(r->decode, r->batch, &event))
        return;
    note_moved(r, rows, at, false);
    r->events_moved++;
}

/* Decodes one raw version of an entry. A row that still does not fit stays raw. */
static void redecode_version(struct tide_reproject *r, const struct tide_pg_rows *rows, uint32_t at,
                             struct tide_buf *bytes)
{
    assert(at < rows->count && rows->columns >= 10);
    struct tide_redecode_raw_version v = { .ledger = (uint32_t)tide_pg_u64(rows, at, 1),
                                           .tx = (uint32_t)tide_pg_u64(rows, at, 2),
                                           .seq = (uint32_t)tide_pg_u64(rows, at, 3),
                                           .closed_ms = (int64_t)tide_pg_u64(rows, at, 4),
                                           .durability = (uint32_t)tide_pg_u64(rows, at, 6),
                                           .removed = tide_pg_bool(rows, at, 7) };
    tide_buf_reset(bytes);
    if (tide_hex_decode(v.key_hash, TIDE_HASH_BYTES, tide_pg_slice(rows, at, 0)) != TIDE_OK ||
        !contract_id(v.contract, tide_pg_slice(rows, at, 5)) ||
        !tide_raw_hex(bytes, tide_pg_slice(rows, at, 8)))
        return;
    size_t key_len = bytes->len;
    if (!tide_raw_hex(bytes, tide_pg_slice(rows, at, 9)))
        return;
    assert(key_len <= bytes->len);
    v.key = tide_slice_of(bytes->ptr, key_len);
    v.value = tide_slice_of(bytes->ptr + key_len, bytes->len - key_len);
    if (!tide_redecode_version(r->decode, r->batch, &v))
        return;
    note_moved(r, rows, at, true);
    r->versions_moved++;
}

/* The query of raw rows, how one row is decoded, and how a chunk's rows are moved. */
struct pass {
    const char *sql;
    void (*redecode)(struct tide_reproject *r, const struct tide_pg_rows *rows, uint32_t at,
                     struct tide_buf *bytes);
    tide_status (*move)(struct tide_reproject *r, struct tide_err *err);
    uint64_t *seen;
};

/* Marks the rollups as not built: the moved rows change their sums. The next writer makes them
 * anew. */
static tide_status forget_rollups(struct tide_reproject *r, struct tide_err *err)
{
    char sql[64];
    int len =
        snprintf(sql, sizeof sql, "DELETE FROM rollup.built WHERE deployment = %u", r->deployment);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    return tide_pg_run(r->pg, sql, "DELETE", err);
}

/* Decodes one chunk of raw rows and moves those that fit, in one transaction. *more says whether
 * rows may follow. */
static tide_status reproject_chunk(struct tide_reproject *r, const struct pass *pass,
                                   struct place *place, bool *more, struct tide_err *err)
{
    assert(r->moved.len == 0 && r->chunk_moved == 0);
    char id[8];
    struct tide_pg_rows rows = { 0 };
    struct tide_buf bytes;
    snprintf(id, sizeof id, "%u", r->deployment);
    tide_status status = tide_pg_run(r->pg, "BEGIN", "BEGIN", err);
    if (status == TIDE_OK)
        status = tide_query_hold(r->pg, err);
    if (status == TIDE_OK)
        status = tide_query_whole(r->pg, r->deployment, 0, UINT32_MAX, err);
    if (status == TIDE_OK)
        status = tide_pg_query(r->pg, &rows, pass->sql,
                               (const char *[]){ id, place->texts[0], place->texts[1],
                                                 place->texts[2], place->texts[3] },
                               5, err);
    tide_buf_init(&bytes, TIDE_JSON_BYTES_MAX);
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        pass->redecode(r, &rows, i, &bytes);
    for (uint32_t i = 0; i < 4 && rows.count; i++)
        snprintf(place->texts[i], sizeof place->texts[i], "%s",
                 tide_pg_text(&rows, rows.count - 1, i));
    assert(rows.count <= CHUNK_ROWS); /* LIMIT of the statement */
    *more = rows.count == CHUNK_ROWS;
    *pass->seen += rows.count;
    tide_pg_rows_release(&rows);
    tide_buf_release(&bytes);
    if (status == TIDE_OK && r->chunk_moved)
        status = forget_rollups(r, err);
    if (status == TIDE_OK)
        status = pass->move(r, err);
    assert(status != TIDE_OK || r->chunk_moved == 0); /* move moved all noted rows */
    return status == TIDE_OK ? tide_pg_run(r->pg, "COMMIT", "COMMIT", err) : status;
}

/* Runs chunks until no raw row is left. A stop takes effect between two chunks, each of which is
 * committed. */
static tide_status run_pass(struct tide_reproject *r, const struct pass *pass,
                            const struct place *first, struct tide_err *err)
{
    struct place place = *first;
    bool more = true;
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && more) {
        status = reproject_chunk(r, pass, &place, &more, err);
        if (status == TIDE_OK && tide_stop_asked(NULL))
            status = tide_fail(err, TIDE_E_STOPPED, "asked to stop");
    }
    return status;
}

/* Opens a decoder that fills all tables but state: merge_state takes the newest versions from
 * history. */
static tide_status open_decoder(struct tide_reproject *r, struct tide_err *err)
{
    struct tide_deployment *deployment = NULL;
    tide_status status = tide_query_contracts(r->pg, r->deployment, UINT32_MAX, &deployment, err);
    if (status == TIDE_OK) {
        struct tide_decode_options options = { .deployment = deployment,
                                               .proof = TIDE_PROOF_CHAIN,
                                               .history_only = true };
        status = tide_decode_open(&r->decode, &options, err);
    }
    free(deployment);
    return status;
}

/* Takes the lock that a writer holds: a writer must not change state at the same time. */
static tide_status lock_deployment(struct tide_reproject *r, struct tide_err *err)
{
    char sql[96];
    struct tide_pg_rows rows;
    int len = snprintf(sql, sizeof sql, "SELECT pg_try_advisory_lock(x'74696465'::int, %u)",
                       r->deployment);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    tide_status status = tide_pg_query(r->pg, &rows, sql, NULL, 0, err);
    if (status == TIDE_OK && !tide_pg_bool(&rows, 0, 0))
        status = tide_fail(err, TIDE_E_CONFLICT,
                           "an indexer is writing: stop it, reproject, start it again");
    tide_pg_rows_release(&rows);
    return status;
}

static tide_status reproject_rows(struct tide_reproject *r, struct tide_err *err)
{
    static const struct place first_event = { { "0", "0", "0", "0" } };
    static const struct place first_version = { { "", "0", "0", "0" } };
    const struct pass events = { next_events_sql, redecode_event, tide_reproject_move_events,
                                 &r->events_seen };
    const struct pass versions = { next_versions_sql, redecode_version,
                                   tide_reproject_move_versions, &r->versions_seen };
    tide_status status = lock_deployment(r, err);
    if (status == TIDE_OK)
        status = open_decoder(r, err);
    if (status == TIDE_OK)
        status = run_pass(r, &events, &first_event, err);
    if (status == TIDE_OK)
        status = run_pass(r, &versions, &first_version, err);
    assert(r->events_moved <= r->events_seen && r->versions_moved <= r->versions_seen);
    printf("events   %" PRIu64 " raw, %" PRIu64 " decoded now\n"
           "versions %" PRIu64 " raw, %" PRIu64 " decoded now\n",
           r->events_seen, r->events_moved, r->versions_seen, r->versions_moved);
    return status;
}

int tide_reproject_main(const struct tide_config *config, const struct tide_option *options,
                        int argc, char **argv)
{
    struct tide_err err;
    struct tide_reproject r = { .batch = malloc(sizeof *r.batch) };
    (void)options, (void)argc, (void)argv;
    if (!r.batch) {
        tide_fail(&err, TIDE_E_MEMORY, "reproject");
        return tide_command_end("reproject", err.code, &err);
    }
    tide_batch_init(r.batch);
    tide_buf_init(&r.moved, MOVED_MAX);
    tide_status status = tide_words_open(&r.words, &err);
    if (status == TIDE_OK)
        status = tide_query_connect(&r.pg, config, "tidemark-reproject", true, &err);
    if (status == TIDE_OK)
        status = tide_query_deployment(r.pg, config, &r.deployment, &err);
    if (status == TIDE_OK)
        status = reproject_rows(&r, &err);
    tide_decode_close(r.decode);
    tide_words_close(r.words);
    tide_batch_release(r.batch);
    tide_buf_release(&r.moved);
    free(r.batch);
    tide_pg_close(r.pg);
    return tide_command_end("reproject", status, &err);
}
