#include "indexer/write/writer_impl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* Keys and indexes of a loaded partition, by several connections at a time: a table belongs to one
 * of them, the largest are taken first, small ones together in one transaction (140 tables are 170
 * commits otherwise). What a kill or a failure leaves undone is found missing the next time. A
 * transaction takes the locks of its tables first, in the order of their making (partition.c). */

enum { LANES_MAX = 64, TOGETHER_BYTES = 16 << 20 };

struct work {
    struct tide_pg_rows
        rows; /* statement, table, its bytes, its name; a table's rows are neighbours */
    pthread_mutex_t lock;
    uint32_t next;
    bool failed;
};

struct lane {
    struct work *work;
    struct tide_pg *pg;
    struct tide_buf sql;
    tide_status status;
    struct tide_err err;
    atomic_bool ended;
};

/* Every index of the parents that the tables of this partition lack, as a statement. */
static void sql_missing_indexes(struct tide_writer *w, uint32_t from)
{
    writer_sql(w,
               "SELECT format(CASE WHEN i.indisprimary THEN 'ALTER TABLE %%s ADD %%s' ELSE"
               " 'CREATE ' || CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END ||"
               " 'INDEX ON %%s%%s' END, leaf.oid::regclass, CASE WHEN i.indisprimary THEN"
               " (SELECT pg_get_constraintdef(k.oid) || coalesce(' WITH (' || array_to_string(("
               "SELECT c.reloptions FROM pg_class c WHERE c.oid = i.indexrelid), ', ') || ')', '')"
               " FROM pg_constraint k WHERE k.conindid ="
               " i.indexrelid AND k.contype = 'p') ELSE d.def END), leaf.oid,"
               " pg_relation_size(leaf.oid), leaf.oid::regclass"
               " FROM pg_class parent JOIN pg_namespace s ON s.oid = parent.relnamespace"
               " JOIN pg_index i ON i.indrelid = parent.oid"
               " JOIN pg_class leaf ON leaf.relnamespace = s.oid AND leaf.relname ="
               " parent.relname || '_p%u_%u',"
               " LATERAL (SELECT substring(pg_get_indexdef(i.indexrelid) FROM ' USING .*')) d(def)"
               " WHERE parent.relkind = 'p' AND s.nspname IN ('chain', 'chain_rows', 'event', "
               "'event_rows',"
               " 'history', 'history_rows')"
               " AND NOT EXISTS (SELECT 1 FROM pg_index o WHERE o.indrelid = leaf.oid AND"
               " o.indisvalid AND o.indisprimary = i.indisprimary AND"
               " substring(pg_get_indexdef(o.indexrelid) FROM ' USING .*') = d.def)"
               " ORDER BY 3 DESC, 2, NOT i.indisprimary, i.indexrelid",
               w->deployment, from);
}

/* Row at is the first of its table, in a transaction that begins with row first. */
static bool begins_table(const struct tide_pg_rows *rows, uint32_t first, uint32_t at)
{
    return at == first ||
           !tide_slice_eq(tide_pg_slice(rows, at, 1), tide_pg_slice(rows, at - 1, 1));
}

/* Of rows first to end: one of the table made next after the one numbered oid; end: none was. */
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
    }
}

/* The next statements for one lane, into its sql: one table's, or those of several small tables. */
static bool take(struct lane *lane)
{
    struct work *work = lane->work;
    uint64_t bytes = 0;
    tide_buf_reset(&lane->sql);
    pthread_mutex_lock(&work->lock);
    const struct tide_pg_rows *rows = &work->rows;
    uint32_t at = work->failed ? rows->count : work->next;
    while (at < rows->count) {
        bool new_table = begins_table(rows, work->next, at);
        uint64_t size = new_table ? tide_pg_u64(rows, at, 2) : 0;
        if (at > work->next && bytes + size > TOGETHER_BYTES && new_table)
            break;
        bytes += size;
        at++;
    }
    bool any = at > work->next && !work->failed;
    if (any)
        sql_statements(&lane->sql, rows, work->next, at);
    work->next = at;
    pthread_mutex_unlock(&work->lock);
    tide_buf_u8(&lane->sql, 0);
    return any;
}

static void *run_lane(void *self)
{
    struct lane *lane = self;
    tide_pg_patience(lane->pg, 0); /* an index may take hours */
    lane->status = tide_pg_run(lane->pg, "SET statement_timeout = 0", "SET", &lane->err);
    while (lane->status == TIDE_OK && take(lane)) {
        lane->status = writer_point(TIDE_FAILPOINT("build.index"), &lane->err);
        if (lane->status == TIDE_OK && lane->sql.failed)
            lane->status = tide_fail(&lane->err, TIDE_E_LIMIT, "indexes: statements too long");
        if (lane->status == TIDE_OK)
            lane->status = tide_pg_run(lane->pg, (const char *)lane->sql.ptr, NULL, &lane->err);
    }
    pthread_mutex_lock(&lane->work->lock);
    lane->work->failed |= lane->status != TIDE_OK;
    pthread_mutex_unlock(&lane->work->lock);
    atomic_store(&lane->ended, true);
    return NULL;
}

/* The server ends a session that is silent for long (WRITER_SESSION_SQL), and with the writer's own
 * session goes its lock. So the session speaks while another one is still at an index. A failure
 * is not looked at: the next statement meets it. */
static void wait_for_helper(struct tide_writer *w, const struct lane *helper)
{
    const struct tide_clock *clock = w->options.clock;
    struct tide_err ignored;
    while (!atomic_load(&helper->ended)) {
        int64_t until = clock->now_ms(clock->self) + WRITER_SPEAK_MS;
        while (!atomic_load(&helper->ended) && clock->now_ms(clock->self) < until)
            clock->sleep_ms(clock->self, 20);
        if (!atomic_load(&helper->ended) && tide_pg_alive(w->pg))
            (void)!tide_pg_run(w->pg, "SELECT 1", "SELECT", &ignored);
    }
}

static bool open_helper(const struct tide_writer *w, struct lane *lane)
{
    const struct tide_pg_options to = { .conninfo = w->options.conninfo,
                                        .application = "tidemark-indexer",
                                        .server = TIDE_PG_WRITABLE,
                                        .stopped = w->options.stopped,
                                        .stopped_self = w->options.stopped_self };
    tide_status status = tide_pg_open(&lane->pg, &to, &lane->err);
    if (status == TIDE_OK)
        status = tide_pg_run(lane->pg, WRITER_SESSION_SQL, NULL, &lane->err);
    if (status == TIDE_OK)
        return true;
    tide_pg_close(lane->pg);
    lane->pg = NULL;
    return false;
}

static void lane_init(struct lane *lane, struct work *work, struct tide_pg *pg)
{
    *lane = (struct lane){ .work = work, .pg = pg };
    atomic_init(&lane->ended, false);
    tide_buf_init(&lane->sql, WRITER_SQL_MAX);
}

static void lane_release(struct lane *lane)
{
    tide_buf_release(&lane->sql);
}

/* As many as there are cores, or as the operator says; not more than there are transactions of
 * TOGETHER_BYTES. */
static uint32_t lanes_wanted(const struct tide_writer *w, const struct tide_pg_rows *rows)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t wanted = w->options.index_connections ? w->options.index_connections
                                                   : (uint64_t)(cores > 0 ? cores : 1);
    uint64_t bytes = 0;
    for (uint32_t at = 0; at < rows->count; at++)
        bytes += begins_table(rows, 0, at) ? tide_pg_u64(rows, at, 2) : 0;
    uint64_t most = 1 + bytes / TOGETHER_BYTES;
    most = most < LANES_MAX ? most : LANES_MAX;
    return (uint32_t)(wanted < most ? wanted : most);
}

/* Starts helpers up to the number wanted, and returns how many lanes there are: without a further
 * connection the first does it all. Helpers are a help, not a need. */
static uint32_t start_helpers(struct tide_writer *w, struct lane *lanes, pthread_t *threads,
                              uint32_t wanted)
{
    uint32_t count = 1;
    while (count < wanted) {
        lane_init(&lanes[count], lanes[0].work, NULL);
        if (!open_helper(w, &lanes[count]) ||
            pthread_create(&threads[count], NULL, run_lane, &lanes[count]) != 0) {
            tide_pg_close(lanes[count].pg);
            lane_release(&lanes[count]);
            break;
        }
        count++;
    }
    return count;
}

static tide_status run_lanes(struct tide_writer *w, struct work *work, struct tide_err *err)
{
    struct lane lanes[LANES_MAX];
    pthread_t threads[LANES_MAX];
    lane_init(&lanes[0], work, w->pg);
    uint32_t count = start_helpers(w, lanes, threads, lanes_wanted(w, &work->rows));
    run_lane(&lanes[0]);
    tide_status status = lanes[0].status;
    if (status != TIDE_OK)
        *err = lanes[0].err;
    for (uint32_t i = 1; i < count; i++) {
        wait_for_helper(w, &lanes[i]);
        pthread_join(threads[i], NULL);
        tide_pg_close(lanes[i].pg);
        if (status == TIDE_OK && lanes[i].status != TIDE_OK) {
            status = lanes[i].status;
            *err = lanes[i].err;
        }
        lane_release(&lanes[i]);
    }
    lane_release(&lanes[0]);
    return status;
}

tide_status partition_build(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    struct work work = { .next = 0 };
    (void)arg;
    sql_missing_indexes(w, w->loading.from);
    tide_status status = writer_query_sql(w, &work.rows, err);
    if (status == TIDE_OK && work.rows.count) {
        pthread_mutex_init(&work.lock, NULL);
        status = run_lanes(w, &work, err);
        pthread_mutex_destroy(&work.lock);
    }
    tide_pg_patience(w->pg, w->options.silence_ms);
    if (status == TIDE_OK)
        status = tide_pg_run(w->pg, "SET statement_timeout = '10min'", "SET", err);
    tide_pg_rows_release(&work.rows);
    return status;
}
