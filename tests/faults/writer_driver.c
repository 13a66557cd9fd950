/* Drives the writer alone, with tables and rows made up here, so that faults can be tried in
 * milliseconds: writer_driver setup (empties what there is) | write FROM TO.
 *
 * Ledger L has L % 4 events and touches three of fifty keys, each at most once; every fifth
 * touch removes the key. Its hash is L repeated, so any two ranges link. Options after the
 * operands: batch=N partition=N poll=MS silence=MS pause=MS standby=0 tip (finish after every
 * batch) heartbeat (a heartbeat after every batch) arrays=BYTES (rows of a batch up to this go as
 * arrays). */
#include "indexer/base/copy.h"
#include "indexer/database/migrate.h"
#include "indexer/write/writer.h"

#include <signal.h>
#include <stdio.h>

enum { EVENT, STATE, HISTORY, TABLES, KEYS = 50, TOUCHES = 3 };

#define COMMON(label, kind_of)         \
    {                                  \
        .name = label, .type = kind_of \
    }

static const struct tide_table tables[TABLES] = {
    [EVENT] = { .schema = "event",
                .name = "thing",
                .kind = TIDE_TABLE_EVENT,
                .column_count = 4,
                .columns = { COMMON("deployment", TIDE_PG_INT2), COMMON("ledger", TIDE_PG_INT4),
                             COMMON("tx", TIDE_PG_INT4), COMMON("amount", TIDE_PG_INT8) },
                .partitioned = true,
                .pair = EVENT },
    [STATE] = { .schema = "state",
                .name = "item",
                .kind = TIDE_TABLE_STATE,
                .column_count = 6,
                .columns = { COMMON("deployment", TIDE_PG_INT2), COMMON("key_hash", TIDE_PG_BYTEA),
                             COMMON("ledger", TIDE_PG_INT4), COMMON("tx", TIDE_PG_INT4),
                             COMMON("seq", TIDE_PG_INT4), COMMON("value", TIDE_PG_INT8) },
                .pair = HISTORY },
    [HISTORY] = { .schema = "history",
                  .name = "item",
                  .kind = TIDE_TABLE_HISTORY,
                  .column_count = 7,
                  .columns = { COMMON("deployment", TIDE_PG_INT2),
                               COMMON("key_hash", TIDE_PG_BYTEA), COMMON("ledger", TIDE_PG_INT4),
                               COMMON("tx", TIDE_PG_INT4), COMMON("seq", TIDE_PG_INT4),
                               COMMON("removed", TIDE_PG_BOOL), COMMON("value", TIDE_PG_INT8) },
                  .partitioned = true,
                  .pair = STATE },
};

/* Empties the driver's tables with their partitions, and the rows of chain.* about them. */
static const char empty_sql[] =
    "DO $$ DECLARE r text; BEGIN FOR r IN SELECT oid::regclass FROM pg_class WHERE relkind IN "
    "('r', 'p')"
    " AND NOT relispartition AND relnamespace IN ('event'::regnamespace, 'history'::regnamespace,"
    " 'state'::regnamespace) AND relname ~ '^(thing|item)(_|$)' LOOP EXECUTE 'DROP TABLE ' || r; "
    "END LOOP;"
    " EXECUTE (SELECT 'TRUNCATE ' || string_agg(oid::regclass::text, ', ') || ' RESTART IDENTITY "
    "CASCADE'"
    " FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace ="
    " 'chain'::regnamespace AND relname NOT IN ('migration', 'database')); END $$";

static const char tables_sql[] =
    "CREATE TABLE event.thing (deployment int2 NOT NULL, ledger int4 NOT NULL, tx int4 NOT NULL,"
    " amount int8, PRIMARY KEY (deployment, ledger, tx)) PARTITION BY RANGE (deployment, ledger);"
    "CREATE INDEX ON event.thing (amount, ledger);"
    "CREATE TABLE history.item (deployment int2 NOT NULL, key_hash bytea NOT NULL,"
    " ledger int4 NOT NULL, tx int4 NOT NULL, seq int4 NOT NULL, removed bool NOT NULL, value int8,"
    " PRIMARY KEY (deployment, key_hash, ledger, tx, seq)) PARTITION BY RANGE (deployment, ledger);"
    "CREATE TABLE state.item (deployment int2 NOT NULL, key_hash bytea NOT NULL,"
    " ledger int4 NOT NULL, tx int4 NOT NULL, seq int4 NOT NULL, value int8,"
    " PRIMARY KEY (deployment, key_hash))";

struct settings {
    uint32_t batch, partition, poll, silence, pause, arrays;
    bool standby, tip, heartbeat;
};

static volatile sig_atomic_t stop;

static void on_term(int number)
{
    (void)number;
    stop = 1;
}

static bool stopped(void *self)
{
    (void)self;
    return stop != 0;
}

static uint64_t mix_bits(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ull;
    return x ^ (x >> 29);
}

/* The writer sets its number, which is not 1 if the first attempt to store it failed. */
static struct tide_deployment deployment = { .passphrase = "driver", .contract_count = 1 };

static void put_key(struct tide_buf *buf, uint64_t key)
{
    uint8_t hash[TIDE_HASH_BYTES] = { (uint8_t)key, 7 };
    tide_copy_bytes(buf, hash, sizeof hash);
}

static void put_version(struct tide_rows *rows, uint32_t ledger, uint32_t seq, uint64_t key)
{
    bool removed = mix_bits(ledger * 1000ull + key) % 5 == 0;
    rows->count++;
    tide_copy_row(&rows->copy, 7);
    tide_copy_int2(&rows->copy, (int16_t)deployment.id);
    put_key(&rows->copy, key);
    tide_copy_int4(&rows->copy, (int32_t)ledger);
    tide_copy_int4(&rows->copy, 1);
    tide_copy_int4(&rows->copy, (int32_t)seq);
    tide_copy_bool(&rows->copy, removed);
    if (removed)
        tide_copy_null(&rows->copy);
    else
        tide_copy_int8(&rows->copy, (int64_t)ledger * 100 + (int64_t)key);
}

static void put_event(struct tide_rows *rows, uint32_t ledger, uint32_t tx)
{
    rows->count++;
    tide_copy_row(&rows->copy, 4);
    tide_copy_int2(&rows->copy, (int16_t)deployment.id);
    tide_copy_int4(&rows->copy, (int32_t)ledger);
    tide_copy_int4(&rows->copy, (int32_t)tx);
    tide_copy_int8(&rows->copy, (int64_t)mix_bits(ledger + tx) % 1000);
}

static uint64_t key_of(uint32_t ledger, uint32_t touch)
{
    return (mix_bits(ledger) + (uint64_t)touch * 17) % KEYS;
}

/* Appends the last version of each key in from..to, as the decoder does. */
static void put_states(struct tide_batch *batch)
{
    for (uint64_t key = 0; key < KEYS; key++)
        for (uint32_t ledger = batch->to; ledger >= batch->from; ledger--) {
            uint32_t touch = 0;
            while (touch < TOUCHES && key_of(ledger, touch) != key)
                touch++;
            if (touch < TOUCHES) {
                put_version(&batch->rows[STATE], ledger, touch, key);
                break;
            }
        }
}

static void fill_batch(struct tide_batch *batch, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < TABLES; i++) {
        tide_buf_reset(&batch->rows[i].copy);
        batch->rows[i].count = 0;
    }
    batch->from = from;
    batch->to = to;
    memset(batch->previous_hash, (int)((from - 1) & 0xff), TIDE_HASH_BYTES);
    memset(batch->hash, (int)(to & 0xff), TIDE_HASH_BYTES);
    batch->closed_ms = 1700000000000 + 5000ull * to;
    batch->counts = (struct tide_batch_counts){ .ledgers = to - from + 1 };
    for (uint32_t ledger = from; ledger <= to; ledger++) {
        for (uint32_t tx = 0; tx < ledger % 4; tx++)
            put_event(&batch->rows[EVENT], ledger, tx);
        for (uint32_t touch = 0; touch < TOUCHES; touch++)
            put_version(&batch->rows[HISTORY], ledger, touch, key_of(ledger, touch));
        batch->counts.events += ledger % 4;
    }
    put_states(batch);
}

static struct settings read_settings(int argc, char **argv)
{
    struct settings s = { 7, 1000, 50, 0, 500, 1u << 20, true, false, false };
    for (int i = 0; i < argc; i++) {
        unsigned n;
        if (sscanf(argv[i], "batch=%u", &n) == 1)
            s.batch = n;
        else if (sscanf(argv[i], "partition=%u", &n) == 1)
            s.partition = n;
        else if (sscanf(argv[i], "poll=%u", &n) == 1)
            s.poll = n;
        else if (sscanf(argv[i], "arrays=%u", &n) == 1)
            s.arrays = n;
        else if (sscanf(argv[i], "silence=%u", &n) == 1)
            s.silence = n;
        else if (sscanf(argv[i], "pause=%u", &n) == 1)
            s.pause = n;
        else if (sscanf(argv[i], "standby=%u", &n) == 1)
            s.standby = n != 0;
        else if (strcmp(argv[i], "tip") == 0)
            s.tip = true;
        else if (strcmp(argv[i], "heartbeat") == 0)
            s.heartbeat = true;
    }
    return s;
}

static tide_status setup(struct tide_err *err)
{
    struct tide_pg *pg = NULL;
    struct tide_pg_options to = { .conninfo = getenv("TIDEMARK_DATABASE_URL") };
    uint32_t applied;
    tide_status status = tide_pg_open(&pg, &to, err);
    if (status == TIDE_OK)
        status = tide_migrate(pg, tide_migrations, tide_migration_count, &applied, err);
    if (status == TIDE_OK)
        status = tide_pg_run(pg, empty_sql, NULL, err);
    if (status == TIDE_OK)
        status = tide_pg_run(pg, tables_sql, NULL, err);
    tide_pg_close(pg);
    return status;
}

static tide_status write_range(struct tide_writer *w, struct tide_range range,
                               const struct settings *s, struct tide_err *err)
{
    static struct tide_batch batch;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < TABLES; i++)
        tide_buf_init(&batch.rows[i].copy, 64u << 20);
    for (uint32_t at = range.from; at <= range.to && status == TIDE_OK && !stop;) {
        uint32_t to = at + s->batch - 1, edge = at - at % s->partition + s->partition - 1;
        to = to > range.to ? range.to : to;
        fill_batch(&batch, at, to > edge ? edge : to);
        at = batch.to + 1;
        status = tide_writer_commit(w, &batch, err);
        if (status == TIDE_OK && s->tip)
            status = tide_writer_finish(w, err);
        if (status == TIDE_OK && s->tip)
            status = tide_writer_ahead(w, batch.to, err);
        if (s->heartbeat)
            tide_writer_heartbeat(w, &(struct tide_heartbeat){ .state = "indexing",
                                                               .tip = range.to,
                                                               .ledger = batch.to });
    }
    for (uint32_t i = 0; i < TABLES; i++)
        tide_buf_release(&batch.rows[i].copy);
    return status;
}

/* Writes the ledgers of from..to after the cursor, or those that are missing before it. */
static tide_status write_missing(struct tide_writer *w, struct tide_range wanted,
                                 const struct settings *s, struct tide_err *err)
{
    struct tide_range missing[64];
    uint32_t count = 0;
    tide_status status = tide_writer_missing(w, wanted, missing, TIDE_COUNT(missing), &count, err);
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        status = write_range(w, missing[i], s, err);
    return status == TIDE_OK ? tide_writer_finish(w, err) : status;
}

int main(int argc, char **argv)
{
    struct tide_err err = { TIDE_OK, "" };
    struct tide_writer *w = NULL;
    struct settings s = read_settings(argc, argv);
    signal(SIGTERM, on_term);
    struct tide_writer_options options = { .conninfo = getenv("TIDEMARK_DATABASE_URL"),
                                           .tables = tables,
                                           .table_count = TABLES,
                                           .deployment = &deployment,
                                           .partition_ledgers = s.partition,
                                           .array_bytes = s.arrays,
                                           .standby_poll_ms = s.poll,
                                           .retry_ms_max = s.pause,
                                           .silence_ms = s.silence,
                                           .standby = s.standby,
                                           .hold_lease = s.heartbeat,
                                           .stopped = stopped };
    tide_status status = TIDE_OK;
    struct tide_range range = { 0 };
    if (argc >= 2 && strcmp(argv[1], "setup") == 0)
        status = setup(&err);
    else if (argc >= 4 && sscanf(argv[2], "%u", &range.from) == 1 &&
             sscanf(argv[3], "%u", &range.to) == 1)
        status = tide_writer_open(&w, &options, &err);
    else
        return 64;
    if (status == TIDE_OK && w)
        status = write_missing(w, range, &s, &err);
    if (status != TIDE_OK)
        fprintf(stderr, "writer_driver: %s\n", err.text);
    tide_writer_close(w);
    return tide_status_exit(status);
}
