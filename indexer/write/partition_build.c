#include "indexer/write/writer_impl.h"
#include "tidemark/liveness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* A loaded partition is vacuumed, then gets keys, indexes and statistics, by several connections at
 * a time: a table belongs to one of them, the largest are taken first, small ones together in a
 * transaction (140 tables are 170 commits otherwise). What a kill or a failure leaves undone is
 * found missing the next time: a table with its indexes is done. A transaction takes the locks of
 * its tables first, in the order of their making (attach.c). Of a full partition the connection
 * that ends last merges state and folds rollups. */

enum { LANES_MAX = 64, TOGETHER_BYTES = 16 << 20, TOGETHER_TABLES = 24, VACUUM_BYTES = 1 << 20 };

struct work {
    const struct tide_writer *writer;
    /* statement, table, its bytes, its name, its bounds; a table's rows are neighbours */
    struct tide_pg_rows rows;
    pthread_mutex_t lock;
    uint32_t next;
    uint32_t busy; /* lanes with statements */
    bool failed;
    bool merges; /* the lane that ends last goes on with state and rollups, and clears this */
    atomic_bool oldest;  /* it may: partitions are merged in order, one after another */
    atomic_bool indexed; /* no statement is left or running */
    bool statistics;     /* of parents: their rows hold no statement but ANALYZE, by name */
    atomic_bool stopped; /* lanes end as soon as they can */
};

struct lane {
    struct work *work;
    struct tide_pg *pg;
    bool merged; /* its session has an open transaction with state and rollups */
    struct tide_buf vacuum, sql;
    tide_status status;
    struct tide_err err;
    pthread_t thread;
    atomic_bool ended;
};

/* The lanes of one partition. */
struct build {
    struct work work;
    struct lane lanes[LANES_MAX];
    uint32_t count;
    struct tide_writer second; /* for the lane that merges: see attach.c */
};

/* All rows of a partition that was loaded whole closed between its first and its last ledger, also
 * what discovery adds: a question that names a span of time leaves its tables out. That costs one
 * scan; small tables are not worth the statement. A partition that lacks ledgers gets no bounds,
 * since they may come. */
static void sql_bounds(struct tide_writer *w, const struct loading *l)
{
    writer_sql_more(w, "%s", "SELECT ");
    if (!writer_has_contracts(w) || l->first != l->from || l->last + 1 != l->end) {
        writer_sql_more(w, "%s", "NULL::text");
        return;
    }
    writer_sql_more(w, "%s",
                    "format(' DROP CONSTRAINT IF EXISTS closed, ADD CONSTRAINT closed CHECK ("
                    "closed_at BETWEEN %L AND %L);', to_char(min(closed_at) AT TIME ZONE 'UTC', f),"
                    " to_char(max(closed_at) AT TIME ZONE 'UTC', f)) FROM ");
    writer_sql_leaf(w, &w->options.tables[TIDE_TABLE_LEDGER], l->from);
    writer_sql_more(w, "%s", ", (VALUES ('YYYY-MM-DD HH24:MI:SS.US+00')) f(f) GROUP BY f");
}

/* Every index of the parents that the tables of this partition lack, as a statement. It looks once
 * more, under the table's lock: a session of a killed writer may have gone on meanwhile. */
static void sql_missing_indexes(struct tide_writer *w, const struct loading *l)
{
    writer_sql(w,
               "SELECT format('DO $do$ BEGIN IF NOT EXISTS (SELECT FROM pg_index o WHERE o.indrelid"
               " = %%s AND o.indisvalid AND o.indisprimary = %%L AND substring(pg_get_indexdef("
               "o.indexrelid) FROM '' USING .*'') = %%L) THEN EXECUTE %%L; END IF; END $do$',"
               " leaf.oid, i.indisprimary, d.def, make.statement), leaf.oid,"
               " pg_relation_size(leaf.oid), leaf.oid::regclass, CASE WHEN pg_relation_size("
               "leaf.oid) >= 1 << 20 AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid ="
               " leaf.oid AND a.attname = 'closed_at') THEN 'ALTER TABLE ' || leaf.oid::regclass"
               " || span.bounds END FROM pg_class parent JOIN pg_namespace s ON s.oid = "
               "parent.relnamespace"
               " JOIN pg_index i ON i.indrelid = parent.oid"
               " JOIN pg_class leaf ON leaf.relnamespace = s.oid AND leaf.relname ="
               " parent.relname || '_p%u_%u', (",
               w->deployment, l->from);
    sql_bounds(w, l);
    writer_sql_more(
        w, "%s",
        ") span(bounds), LATERAL (SELECT substring(pg_get_indexdef(i.indexrelid) FROM ' USING "
        ".*')) d(def),"
        " LATERAL (SELECT format(CASE WHEN i.indisprimary THEN 'ALTER TABLE %s ADD %s' ELSE"
        " 'CREATE ' || CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END ||"
        " 'INDEX ON %s%s' END, leaf.oid::regclass, CASE WHEN i.indisprimary THEN"
        " (SELECT pg_get_constraintdef(k.oid) || coalesce(' WITH (' || array_to_string(("
        "SELECT c.reloptions FROM pg_class c WHERE c.oid = i.indexrelid), ', ') || ')', '')"
        " FROM pg_constraint k WHERE k.conindid ="
        " i.indexrelid AND k.contype = 'p') ELSE d.def END)) make(statement)"
        " WHERE parent.relkind = 'p' AND s.nspname IN ('chain', 'chain_rows', 'event',"
        " 'event_rows', 'history', 'history_rows')"
        " AND NOT EXISTS (SELECT 1 FROM pg_index o WHERE o.indrelid = leaf.oid AND"
        " o.indisvalid AND o.indisprimary = i.indisprimary AND"
        " substring(pg_get_indexdef(o.indexrelid) FROM ' USING .*') = d.def)"
        " ORDER BY 3 DESC, 2, NOT i.indisprimary, i.indexrelid");
}

/* An index may take hours. No commit of a lane needs to wait for the disk: what a crash of the
 * server takes is found missing again, and the COMMIT that shows the partition flushes all before
 * it. Statistics of 140 tables as fine as a session's are a twentieth of all work. */
#define LANE_SQL    "SET statement_timeout = 0; SET synchronous_commit = off"
#define COARSE_SQL  "SET default_statistics_target = 10"
#define MERGE_SQL   "SET synchronous_commit TO DEFAULT;" WRITER_STATISTICS_SQL
#define NO_LANE_SQL "SET statement_timeout = '10min';" MERGE_SQL

static bool is_work_stopped(void *self)
{
    const struct work *work = self;
    return atomic_load(&work->stopped) || writer_stopped(work->writer);
}

/* Row at is the first of its table, in a transaction that begins with row first. */
static bool begins_table(const struct tide_pg_rows *rows, uint32_t first, uint32_t at)
{
    return at == first ||
           !tide_slice_eq(tide_pg_slice(rows, at, 1), tide_pg_slice(rows, at - 1, 1));
}

/* Returns the row in [first, end) whose table has the smallest oid above `oid`, or `end`. */
static uint32_t next_made(const struct tide_pg_rows *rows, uint32_t first, uint32_t end,
                          uint64_t oid)
{
    uint32_t found = end;
    for (uint32_t at = first; at < end; at++) {
        uint64_t number = tide_pg_u64(rows, at, 1);
        if (number > oid && (found == end || number < tide_pg_u64(rows, found, 1)))
            found = at;
    }
    return found;
}

/* Vacuums and freezes a loaded table. The rows hardly change any more: if they are frozen now,
 * while they are in memory, PostgreSQL never reads and writes them again for that, and index scans
 * need not visit them. The pages are full, so none is given back. Small tables are left to
 * autovacuum: the maps of free space and visibility take 32 KiB a table. */
static void sql_vacuum(struct tide_buf *sql, const struct tide_pg_rows *rows, uint32_t first,
                       uint32_t end)
{
    const char *before = "VACUUM (FREEZE, TRUNCATE false) ";
    for (uint32_t at = first; at < end; at++) {
        if (!begins_table(rows, first, at) || tide_pg_u64(rows, at, 2) < VACUUM_BYTES)
            continue;
        tide_buf_str(sql, before);
        tide_buf_slice(sql, tide_pg_slice(rows, at, 3));
        before = ", ";
    }
}

/* A loaded table has no statistics until autovacuum comes by. What is attached is asked at once, by
 * the rollups first, and a plan without statistics may read a whole table for a page. A coarse
 * sample is enough to tell a pool from a trader; the columns that rows are joined by get a finer
 * one when the parents are analysed. */
static void sql_statements(struct tide_buf *sql, const struct tide_pg_rows *rows, uint32_t first,
                           uint32_t end)
{
    uint32_t at = next_made(rows, first, end, 0);
    tide_buf_str(sql, "LOCK TABLE ");
    while (at < end) {
        tide_buf_slice(sql, tide_pg_slice(rows, at, 3));
        at = next_made(rows, first, end, tide_pg_u64(rows, at, 1));
        tide_buf_str(sql, at < end ? ", " : " IN ACCESS EXCLUSIVE MODE;");
    }
    for (at = first; at < end; at++) {
        tide_buf_slice(sql, tide_pg_slice(rows, at, 0));
        tide_buf_u8(sql, ';');
        if (at + 1 < end && !begins_table(rows, first, at + 1))
            continue;
        tide_buf_slice(sql, tide_pg_slice(rows, at, 4));
        tide_buf_str(sql, "ANALYZE ");
        tide_buf_slice(sql, tide_pg_slice(rows, at, 3));
        tide_buf_u8(sql, ';');
    }
}

static void sql_analyse(struct tide_buf *sql, const struct tide_pg_rows *rows, uint32_t first,
                        uint32_t end)
{
    for (uint32_t at = first; at < end; at++) {
        tide_buf_str(sql, at == first ? "ANALYZE " : ", ");
        tide_buf_slice(sql, tide_pg_slice(rows, at, 3));
    }
}

/* The next statements for one lane, into its sql: one table's, or those of several small tables. */
static bool take_statements(struct lane *lane)
{
    struct work *work = lane->work;
    uint64_t bytes = 0;
    uint32_t tables = 0;
    tide_buf_reset(&lane->vacuum);
    tide_buf_reset(&lane->sql);
    pthread_mutex_lock(&work->lock);
    const struct tide_pg_rows *rows = &work->rows;
    uint32_t at = work->failed || atomic_load(&work->stopped) ? rows->count : work->next;
    while (at < rows->count) {
        bool new_table = begins_table(rows, work->next, at);
        uint64_t size = new_table ? tide_pg_u64(rows, at, 2) : 0;
        if (at > work->next && new_table &&
            (bytes + size > TOGETHER_BYTES || tables == TOGETHER_TABLES))
            break;
        bytes += size;
        tables += new_table;
        at++;
    }
    bool any = at > work->next && !work->failed && !atomic_load(&work->stopped);
    if (any && work->statistics) {
        sql_analyse(&lane->sql, rows, work->next, at);
    } else if (any) {
        sql_vacuum(&lane->vacuum, rows, work->next, at);
        sql_statements(&lane->sql, rows, work->next, at);
    }
    work->busy += any;
    work->next = at;
    pthread_mutex_unlock(&work->lock);
    tide_buf_u8(&lane->vacuum, 0);
    tide_buf_u8(&lane->sql, 0);
    return any;
}

/* The lane has run its statements, or failed. */
static void end_statements(struct lane *lane)
{
    pthread_mutex_lock(&lane->work->lock);
    lane->work->failed |= lane->status != TIDE_OK;
    lane->work->busy--;
    if (lane->work->busy == 0 && lane->work->next == lane->work->rows.count)
        atomic_store(&lane->work->indexed, true);
    pthread_mutex_unlock(&lane->work->lock);
}

/* True for one lane: all indexes are there, and it is its turn to merge. */
static bool take_merge(struct work *work)
{
    pthread_mutex_lock(&work->lock);
    bool mine = work->merges && !work->failed && !atomic_load(&work->stopped) && work->busy == 0 &&
                work->next == work->rows.count;
    work->merges &= !mine;
    pthread_mutex_unlock(&work->lock);
    return mine;
}

/* Until the partition before is attached. The server ends a session that is silent for long. */
static tide_status wait_for_turn(struct lane *lane)
{
    const struct tide_clock *clock = lane->work->writer->options.clock;
    int64_t spoke = clock->now_ms(clock->self);
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && !atomic_load(&lane->work->oldest)) {
        if (is_work_stopped(lane->work))
            return tide_fail(&lane->err, TIDE_E_STOPPED, "asked to stop");
        clock->sleep_ms(clock->self, 10);
        if (clock->now_ms(clock->self) - spoke < WRITER_SPEAK_MS)
            continue;
        spoke = clock->now_ms(clock->self);
        status = tide_pg_run(lane->pg, "SELECT 1", "SELECT", &lane->err);
    }
    return status;
}

static void merge_rows(struct lane *lane)
{
    struct build *b = (struct build *)(void *)lane->work; /* its first member */
    lane->status = wait_for_turn(lane);
    if (lane->status != TIDE_OK)
        return;
    b->second.pg = lane->pg;
    lane->status = tide_pg_run(lane->pg, MERGE_SQL, NULL, &lane->err);
    if (lane->status == TIDE_OK)
        lane->status = attach_begin_beside(&b->second, &lane->err);
    lane->merged = lane->status == TIDE_OK;
}

static void run_lane(struct lane *lane)
{
    tide_pg_patience(lane->pg, 0);
    lane->status = tide_pg_run(
        lane->pg, lane->work->statistics ? LANE_SQL : LANE_SQL ";" COARSE_SQL, NULL, &lane->err);
    while (lane->status == TIDE_OK && take_statements(lane)) {
        lane->status = writer_point(TIDE_FAILPOINT("build.index"), &lane->err);
        if (lane->status == TIDE_OK && (lane->vacuum.failed || lane->sql.failed))
            lane->status = tide_fail(&lane->err, TIDE_E_LIMIT, "indexes: statements too long");
        if (lane->status == TIDE_OK && lane->vacuum.len > 1)
            lane->status = tide_pg_run(lane->pg, (const char *)lane->vacuum.ptr, NULL, &lane->err);
        if (lane->status == TIDE_OK)
            lane->status = tide_pg_run(lane->pg, (const char *)lane->sql.ptr, NULL, &lane->err);
        end_statements(lane);
    }
    if (lane->status == TIDE_OK && take_merge(lane->work))
        merge_rows(lane);
    atomic_store(&lane->ended, true);
}

static void *run_helper(void *self)
{
    tide_liveness_begin("index", TIDE_LIVENESS_LONG_MS);
    run_lane(self);
    tide_liveness_end();
    return NULL;
}

static void lane_init(struct lane *lane, struct work *work, struct tide_pg *pg)
{
    *lane = (struct lane){ .work = work, .pg = pg };
    atomic_init(&lane->ended, false);
    tide_buf_init(&lane->vacuum, WRITER_SQL_MAX);
    tide_buf_init(&lane->sql, WRITER_SQL_MAX);
}

static void lane_release(struct lane *lane)
{
    tide_buf_release(&lane->vacuum);
    tide_buf_release(&lane->sql);
}

/* Half as many again as there are cores, because each index, however small, waits for the disk; or
 * as the operator says; not more than there are transactions. */
static uint32_t lanes_wanted(const struct tide_writer *w, const struct tide_pg_rows *rows)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t wanted = w->options.index_connections
                          ? w->options.index_connections
                          : (uint64_t)(cores > 0 ? (cores * 3 + 1) / 2 : 1);
    uint64_t bytes = 0, tables = 0;
    for (uint32_t at = 0; at < rows->count; at++) {
        bytes += begins_table(rows, 0, at) ? tide_pg_u64(rows, at, 2) : 0;
        tables += begins_table(rows, 0, at);
    }
    uint64_t most = 1 + bytes / TOGETHER_BYTES + tables / TOGETHER_TABLES;
    most = most < LANES_MAX ? most : LANES_MAX;
    return (uint32_t)(wanted < most ? wanted : most);
}

/* Starts helpers up to the number of lanes wanted. Helpers are a help, not a need: without a
 * further connection there are fewer. */
static void start_helpers(struct tide_writer *w, struct build *b, uint32_t wanted)
{
    while (b->count < wanted) {
        struct lane *lane = &b->lanes[b->count];
        lane_init(lane, &b->work, NULL);
        if (writer_open_session(w, &lane->pg, is_work_stopped, lane->work, &lane->err) != TIDE_OK ||
            pthread_create(&lane->thread, NULL, run_helper, lane) != 0) {
            tide_pg_close(lane->pg);
            lane_release(lane);
            return;
        }
        b->count++;
    }
}

/* Waits for helpers from the first on; the first failure is the one of all. */
static tide_status join_helpers(struct tide_writer *w, struct build *b, uint32_t first,
                                struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = first; i < b->count; i++) {
        struct lane *lane = &b->lanes[i];
        writer_wait_helper(w, &lane->ended, &lane->ended, &lane->work->stopped);
        pthread_join(lane->thread, NULL);
        if (status == TIDE_OK && lane->status != TIDE_OK) {
            status = lane->status;
            *err = lane->err;
        }
    }
    return status;
}

static void close_helpers(struct build *b, uint32_t first)
{
    for (uint32_t i = first; i < b->count; i++) {
        tide_pg_close(b->lanes[i].pg);
        lane_release(&b->lanes[i]);
    }
}

/* The first lane is the writer's own session. */
static tide_status run_lanes(struct tide_writer *w, struct build *b, struct tide_err *err)
{
    struct tide_err other;
    lane_init(&b->lanes[0], &b->work, w->pg);
    b->count = 1;
    start_helpers(w, b, lanes_wanted(w, &b->work.rows));
    tide_liveness_long(true);
    run_lane(&b->lanes[0]);
    tide_liveness_long(false);
    tide_status status = b->lanes[0].status;
    if (status != TIDE_OK)
        *err = b->lanes[0].err;
    tide_status others = join_helpers(w, b, 1, &other);
    close_helpers(b, 1);
    if (status == TIDE_OK && others != TIDE_OK) {
        status = others;
        *err = other;
    }
    lane_release(&b->lanes[0]);
    return status;
}

static struct build *new_build(const struct tide_writer *w)
{
    struct build *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->work.writer = w;
    pthread_mutex_init(&b->work.lock, NULL);
    atomic_init(&b->work.stopped, false);
    atomic_init(&b->work.oldest, false);
    atomic_init(&b->work.indexed, false);
    return b;
}

static void free_build(struct build *b)
{
    tide_buf_release(&b->second.sql);
    pthread_mutex_destroy(&b->work.lock);
    tide_pg_rows_release(&b->work.rows);
    free(b);
}

/* The work that w->sql lists, by the writer's session and others. */
static tide_status run_listed(struct tide_writer *w, bool statistics, struct tide_err *err)
{
    struct build *b = new_build(w);
    if (!b)
        return tide_fail(err, TIDE_E_MEMORY, "indexes of a partition");
    b->work.statistics = statistics;
    tide_status status = writer_query_sql(w, &b->work.rows, err);
    if (status == TIDE_OK && b->work.rows.count)
        status = run_lanes(w, b, err);
    tide_pg_patience(w->pg, w->options.silence_ms);
    if (status == TIDE_OK)
        status = tide_pg_run(w->pg, NO_LANE_SQL, NULL, err);
    free_build(b);
    return status;
}

tide_status partition_build(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    (void)arg;
    sql_missing_indexes(w, &w->loading);
    return run_listed(w, false, err);
}

/* Autovacuum never analyses the parents. Joins and groups over all partitions are planned by their
 * statistics: of the columns that rows are joined and grouped by, because the server reads a sample
 * of each partition again for it, and makes the partition's own once more; and not of less than a
 * MiB in all. Once after a load, not for each partition. */
static tide_status analyse_parents(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    (void)arg;
    writer_sql(w, "%s",
               "SELECT NULL, p.oid, s.bytes, format('%s (%s)', p.oid::regclass, (SELECT string_agg("
               "quote_ident(a.attname), ', ') FROM pg_attribute a WHERE a.attrelid = p.oid AND"
               " a.attnum > 0 AND NOT a.attisdropped AND (a.atttypid IN ('int2'::regtype,"
               " 'int4'::regtype, 'timestamptz'::regtype) OR a.attname = 'key_hash'))) FROM"
               " pg_class p, LATERAL (SELECT sum(l.relpages::bigint) * 8192 FROM pg_inherits i"
               " JOIN pg_class l ON l.oid = i.inhrelid WHERE i.inhparent = p.oid) s(bytes) WHERE"
               " p.relkind = 'p' AND p.relnamespace = ANY ('{chain,event,history,chain_rows,"
               "event_rows,history_rows}'::regnamespace[]) AND s.bytes >= 1 << 20"
               " ORDER BY s.bytes DESC, p.oid");
    return run_listed(w, true, err);
}

tide_status statistics_of_parents(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = writer_retry(w, analyse_parents, NULL, false, err);
    w->unanalysed &= status != TIDE_OK;
    return status;
}

/* ---- beside the writer ---- */

struct missing {
    const struct loading *range;
    struct tide_pg_rows *rows;
};

static tide_status find_missing(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    const struct missing *missing = arg;
    tide_pg_rows_release(missing->rows);
    sql_missing_indexes(w, missing->range);
    return writer_query_sql(w, missing->rows, err);
}

tide_status partition_build_begin(struct tide_writer *w, struct full *full, struct tide_err *err)
{
    assert(!full->build);
    struct build *b = new_build(w);
    if (!b)
        return tide_fail(err, TIDE_E_MEMORY, "indexes of a partition");
    const struct missing missing = { &full->range, &b->work.rows };
    tide_status status = writer_retry(w, find_missing, &missing, false, err);
    writer_second(&b->second, w);
    b->second.loading = full->range;
    b->work.merges = true;
    if (status == TIDE_OK)
        start_helpers(w, b, lanes_wanted(w, missing.rows));
    if (b->count)
        full->build = b;
    else
        free_build(b);
    return status;
}

bool partition_build_ended(const struct full *full)
{
    bool ended = true;
    for (uint32_t i = 0; full->build && i < full->build->count; i++)
        ended &= atomic_load(&full->build->lanes[i].ended);
    return ended;
}

void partition_build_indexes(struct tide_writer *w, struct full *full)
{
    for (uint32_t i = 0; full->build && i < full->build->count; i++)
        writer_wait_helper(w, &full->build->lanes[i].ended, &full->build->work.indexed,
                           &full->build->work.stopped);
}

void partition_build_merge(struct tide_writer *w, struct full *full)
{
    if (!full->build)
        return;
    full->build->second.cursor = w->cursor;
    memcpy(full->build->second.hash, w->hash, TIDE_HASH_BYTES);
    atomic_store(&full->build->work.oldest, true);
}

/* On the session where the rows were merged. */
static tide_status attach_merged(struct tide_writer *w, struct build *b, bool *attached,
                                 bool *perhaps, struct tide_err *err)
{
    bool merged = false, sent = false;
    for (uint32_t i = 0; i < b->count; i++)
        merged |= b->lanes[i].merged;
    if (!merged)
        return TIDE_OK;
    b->second.moves = w->moves;
    tide_status status = attach_end_beside(&b->second, &sent, err);
    *attached = status == TIDE_OK;
    *perhaps = sent && !*attached;
    return status;
}

bool partition_build_end(struct tide_writer *w, struct full *full, bool stop, bool *perhaps)
{
    struct tide_err err;
    bool attached = false;
    struct build *b = full->build;
    *perhaps = false;
    if (!b)
        return false;
    if (stop)
        atomic_store(&b->work.stopped, true);
    tide_status status = join_helpers(w, b, 0, &err);
    if (status == TIDE_OK && !stop)
        status = attach_merged(w, b, &attached, perhaps, &err);
    if (status != TIDE_OK && !stop) {
        char quoted[TIDE_ERR_TEXT_MAX + 64];
        tide_log(TIDE_WARN, "partition.build", "from=%u again=true reason=%s", full->range.from,
                 tide_log_quote(quoted, sizeof quoted, err.text));
    }
    close_helpers(b, 0);
    free_build(b);
    full->build = NULL;
    return attached;
}
