/* Vacuums a loaded partition and builds its keys, indexes and statistics by several workers, each
 * with a connection of its own. A table belongs to one worker. The largest tables are taken first;
 * small ones share a transaction, because 140 tables would otherwise cost 170 commits. After a kill
 * or a failure the next attempt finds what is missing: a table with its indexes is done. A
 * transaction first locks its tables in the order of their creation (see attach.c). For a full
 * partition the worker that ends last merges state and folds rollups. */
#include "indexer/write/load/build.h"
#include "indexer/write/load/index_sql.h"
#include "tidemark/clock.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <stdlib.h>
#include <unistd.h>

enum { WORKERS_MAX = 64, TOGETHER_BYTES = 16 << 20, TOGETHER_TABLES = 24, VACUUM_BYTES = 1 << 20 };

struct work {
    const struct write_plan *plan;
    /* columns: statement, table's oid, bytes, name, bounds; the rows of a table are adjacent */
    struct tide_pg_rows rows;
    pthread_mutex_t lock;
    uint32_t next;
    uint32_t busy; /* number of workers that run statements */
    bool failed;
    /* The worker that ends last goes on with state and rollups. That worker clears the flag. */
    bool merges;
    /* the partition is the oldest, so its worker may merge: partitions are merged in order */
    atomic_bool oldest;
    atomic_bool indexed; /* no statement is left or running */
    bool statistics;     /* the work is statistics of parents: rows have only a name, for ANALYZE */
    atomic_bool stopped; /* workers must end as soon as they can */
};

struct worker {
    struct work *work;
    struct write_session *session; /* &own, or the writer's session, for which there is no thread */
    struct write_session own;
    bool merged; /* its session has an open transaction with state and rollups */
    struct tide_buf vacuum, sql;
    tide_status status;
    struct tide_err err;
    pthread_t thread;
    atomic_bool ended;
};

/* The build of one partition: its workers. */
struct load_build {
    struct work work;
    struct worker workers[WORKERS_MAX];
    uint32_t count;
    struct load_attach attach; /* arguments of the merge; set before work.oldest */
};
static_assert(offsetof(struct load_build, work) == 0, "merge_rows finds the build by its work");

/* Settings of a worker. No limit on statements: an index may take hours. Commits need not wait for
 * the disk: after a crash of the server, missing work is found again, and the COMMIT that shows the
 * partition flushes everything before it. Statistics of 140 tables at the session's usual precision
 * would be a twentieth of all work. */
#define WORKER_SQL  "SET statement_timeout = 0; SET synchronous_commit = off"
#define COARSE_SQL  "SET default_statistics_target = 10"
#define MERGE_SQL   "SET synchronous_commit TO DEFAULT;" WRITE_STATISTICS_SQL
#define RESTORE_SQL "SET statement_timeout = '10min';" MERGE_SQL

static bool is_work_stopped(void *self)
{
    const struct work *work = self;
    return atomic_load(&work->stopped) || write_plan_stopped(work->plan);
}

/* Returns whether row `at` is the first of its table in a transaction that begins with row
 * `first`. */
static bool begins_table(const struct tide_pg_rows *rows, uint32_t first, uint32_t at)
{
    assert(first <= at && at < rows->count);
    return at == first ||
           !tide_slice_eq(tide_pg_slice(rows, at, 1), tide_pg_slice(rows, at - 1, 1));
}

/* Returns the row in [first, end) whose table has the smallest oid above `oid`, or `end`. */
static uint32_t next_made(const struct tide_pg_rows *rows, uint32_t first, uint32_t end,
                          uint64_t oid)
{
    assert(first <= end && end <= rows->count);
    uint32_t found = end;
    for (uint32_t at = first; at < end; at++) {
        uint64_t number = tide_pg_u64(rows, at, 1);
        if (number > oid && (found == end || number < tide_pg_u64(rows, found, 1)))
            found = at;
    }
    return found;
}

/* Vacuums and freezes the loaded tables. Their rows hardly change any more. If they are frozen
 * while they are still in memory, PostgreSQL need not read and write them again later, and
 * index-only scans need not visit them. No page is given back, because all are full. Small tables
 * are left to autovacuum: the free space and visibility maps take 32 KiB for each table. */
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

/* Appends lock, indexes, bounds and ANALYZE. Without it a loaded table has no statistics until
 * autovacuum runs, and a plan without statistics may read a whole table for one page; the rollups
 * query the table at once. A coarse sample suffices to tell a pool from a trader. Columns used in
 * joins get a finer one when the parents are analysed. */
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

/* Puts the next statements into the worker's sql: those of one table, or of several small ones.
 * Returns false if none are left. */
static bool take_statements(struct worker *worker)
{
    struct work *work = worker->work;
    uint64_t bytes = 0;
    uint32_t tables = 0;
    tide_buf_reset(&worker->vacuum);
    tide_buf_reset(&worker->sql);
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
    assert(work->next <= at && at <= rows->count && tables <= TOGETHER_TABLES);
    bool any = at > work->next && !work->failed && !atomic_load(&work->stopped);
    if (any && work->statistics) {
        sql_analyse(&worker->sql, rows, work->next, at);
    } else if (any) {
        sql_vacuum(&worker->vacuum, rows, work->next, at);
        sql_statements(&worker->sql, rows, work->next, at);
    }
    work->busy += any;
    work->next = at;
    pthread_mutex_unlock(&work->lock);
    tide_buf_u8(&worker->vacuum, 0);
    tide_buf_u8(&worker->sql, 0);
    return any;
}

/* Notes that the worker has run its statements, or failed. */
static void end_statements(struct worker *worker)
{
    pthread_mutex_lock(&worker->work->lock);
    worker->work->failed |= worker->status != TIDE_OK;
    assert(worker->work->busy > 0);
    worker->work->busy--;
    if (worker->work->busy == 0 && worker->work->next == worker->work->rows.count)
        atomic_store(&worker->work->indexed, true);
    pthread_mutex_unlock(&worker->work->lock);
}

/* Returns true for exactly one worker, once all indexes are built: that worker merges. */
static bool take_merge(struct work *work)
{
    pthread_mutex_lock(&work->lock);
    bool mine = work->merges && !work->failed && !atomic_load(&work->stopped) && work->busy == 0 &&
                work->next == work->rows.count;
    work->merges &= !mine;
    pthread_mutex_unlock(&work->lock);
    return mine;
}

/* Waits until the previous partition is attached. Meanwhile it sends a statement now and then,
 * because the server ends silent sessions. */
static tide_status wait_for_turn(struct worker *worker)
{
    int64_t spoke = tide_now_ms();
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && !atomic_load(&worker->work->oldest)) {
        if (is_work_stopped(worker->work))
            return tide_fail(&worker->err, TIDE_E_STOPPED, "asked to stop");
        tide_sleep_ms(10);
        if (tide_now_ms() - spoke < WRITE_SPEAK_MS)
            continue;
        spoke = tide_now_ms();
        status = tide_pg_run(write_pg(worker->session), "SELECT 1", "SELECT", &worker->err);
    }
    return status;
}

static void merge_rows(struct worker *worker)
{
    struct load_build *b = (struct load_build *)(void *)worker->work; /* work is its first member */
    assert(worker->session == &worker->own && !worker->merged);
    worker->status = wait_for_turn(worker);
    if (worker->status != TIDE_OK)
        return;
    worker->status = tide_pg_run(write_pg(worker->session), MERGE_SQL, NULL, &worker->err);
    if (worker->status == TIDE_OK)
        worker->status = load_attach_begin(worker->session, &b->attach, &worker->err);
    worker->merged = worker->status == TIDE_OK;
}

static void run_worker(struct worker *worker)
{
    tide_pg_patience(write_pg(worker->session), 0);
    worker->status = tide_pg_run(write_pg(worker->session),
                                 worker->work->statistics ? WORKER_SQL : WORKER_SQL ";" COARSE_SQL,
                                 NULL, &worker->err);
    while (worker->status == TIDE_OK && take_statements(worker)) {
        worker->status = write_point(TIDE_FAILPOINT("build.index"), &worker->err);
        if (worker->status == TIDE_OK && (worker->vacuum.failed || worker->sql.failed))
            worker->status = tide_fail(&worker->err, TIDE_E_LIMIT, "indexes: statements too long");
        if (worker->status == TIDE_OK && worker->vacuum.len > 1)
            worker->status = tide_pg_run(write_pg(worker->session),
                                         (const char *)worker->vacuum.ptr, NULL, &worker->err);
        if (worker->status == TIDE_OK)
            worker->status = tide_pg_run(write_pg(worker->session), (const char *)worker->sql.ptr,
                                         NULL, &worker->err);
        end_statements(worker);
    }
    if (worker->status == TIDE_OK && take_merge(worker->work))
        merge_rows(worker);
}

static void *run_helper(void *self)
{
    struct worker *worker = self;
    tide_liveness_begin("index", TIDE_LIVENESS_LONG_MS);
    write_session_take(worker->session);
    run_worker(worker);
    write_session_give(worker->session);
    tide_liveness_end();
    atomic_store(&worker->ended, true);
    return NULL;
}

/* Prepares a worker. session NULL: the worker gets a session of its own, not connected yet. */
static void init_worker(struct worker *worker, struct work *work, struct write_session *session)
{
    *worker = (struct worker){ .work = work, .session = session ? session : &worker->own };
    if (!session)
        write_session_init(&worker->own, work->plan, WRITE_OWNER_BUILD);
    atomic_init(&worker->ended, false);
    tide_buf_init(&worker->vacuum, WRITE_SQL_MAX);
    tide_buf_init(&worker->sql, WRITE_SQL_MAX);
}

/* Closes a session of its own; the writer's stays open. */
static void release_worker(struct worker *worker)
{
    if (worker->session == &worker->own)
        write_session_close(&worker->own);
    tide_buf_release(&worker->vacuum);
    tide_buf_release(&worker->sql);
}

/* Returns the number of workers: what the operator configured, or 1.5 for each core, because each
 * index, however small, waits for the disk. At most as many as transactions: small tables share
 * one. */
static uint32_t workers_wanted(uint32_t connections, const struct tide_pg_rows *rows)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t wanted = connections ? connections : (uint64_t)(cores > 0 ? (cores * 3 + 1) / 2 : 1);
    uint64_t bytes = 0, tables = 0;
    for (uint32_t at = 0; at < rows->count; at++) {
        bytes += begins_table(rows, 0, at) ? tide_pg_u64(rows, at, 2) : 0;
        tables += begins_table(rows, 0, at);
    }
    uint64_t most = 1 + bytes / TOGETHER_BYTES + tables / TOGETHER_TABLES;
    most = most < WORKERS_MAX ? most : WORKERS_MAX;
    assert(wanted > 0 && most > 0);
    return (uint32_t)(wanted < most ? wanted : most);
}

/* Starts helpers up to the number of workers wanted. If no further connection can be had, there are
 * fewer. */
static void start_helpers(struct load_build *b, uint32_t wanted)
{
    assert(wanted <= WORKERS_MAX);
    while (b->count < wanted) {
        struct worker *worker = &b->workers[b->count];
        init_worker(worker, &b->work, NULL);
        bool open = write_session_open(&worker->own, is_work_stopped, worker->work, &worker->err) ==
                    TIDE_OK;
        if (open)
            write_session_give(&worker->own);
        if (!open || pthread_create(&worker->thread, NULL, run_helper, worker) != 0) {
            release_worker(worker);
            return;
        }
        b->count++;
    }
}

/* Waits for the helpers from number `first` on. Returns the first failure. */
static tide_status join_helpers(struct write_main *m, struct load_build *b, uint32_t first,
                                struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = first; i < b->count; i++) {
        struct worker *worker = &b->workers[i];
        write_main_wait(m, &worker->ended, &worker->ended, &worker->work->stopped);
        pthread_join(worker->thread, NULL);
        if (status == TIDE_OK && worker->status != TIDE_OK) {
            status = worker->status;
            *err = worker->err;
        }
    }
    return status;
}

static void close_helpers(struct load_build *b, uint32_t first)
{
    for (uint32_t i = first; i < b->count; i++) {
        release_worker(&b->workers[i]);
    }
}

/* Runs the workers. The first one is the writer's own session. */
static tide_status run_workers(struct write_main *m, struct load_build *b, uint32_t connections,
                               struct tide_err *err)
{
    struct tide_err other;
    assert(b->count == 0 && !b->work.merges); /* only the workers of load_build_begin merge */
    init_worker(&b->workers[0], &b->work, &m->session);
    b->count = 1;
    start_helpers(b, workers_wanted(connections, &b->work.rows));
    tide_liveness_long(true);
    run_worker(&b->workers[0]);
    tide_liveness_long(false);
    tide_status status = b->workers[0].status;
    if (status != TIDE_OK)
        *err = b->workers[0].err;
    tide_status others = join_helpers(m, b, 1, &other);
    close_helpers(b, 1);
    if (status == TIDE_OK && others != TIDE_OK) {
        status = others;
        *err = other;
    }
    release_worker(&b->workers[0]);
    return status;
}

static struct load_build *new_build(const struct write_plan *plan)
{
    struct load_build *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->work.plan = plan;
    pthread_mutex_init(&b->work.lock, NULL);
    atomic_init(&b->work.stopped, false);
    atomic_init(&b->work.oldest, false);
    atomic_init(&b->work.indexed, false);
    return b;
}

static void free_build(struct load_build *b)
{
    pthread_mutex_destroy(&b->work.lock);
    tide_pg_rows_release(&b->work.rows);
    free(b);
}

/* Runs the session's text, whose rows are the build's work. */
static tide_status take_work(struct write_session *s, struct load_build *b, struct tide_err *err)
{
    tide_pg_rows_release(&b->work.rows);
    tide_status status = write_query_sql(s, err);
    b->work.rows = s->rows;
    s->rows = (struct tide_pg_rows){ 0 };
    return status;
}

/* Runs the work that the session's text lists, on the writer's session and others. */
static tide_status run_listed(struct write_main *m, uint32_t connections, bool statistics,
                              struct tide_err *err)
{
    struct write_session *s = &m->session;
    struct load_build *b = new_build(s->plan);
    if (!b)
        return tide_fail(err, TIDE_E_MEMORY, "indexes of a partition");
    b->work.statistics = statistics;
    tide_status status = take_work(s, b, err);
    if (status == TIDE_OK && b->work.rows.count)
        status = run_workers(m, b, connections, err);
    tide_pg_patience(write_pg(s), s->plan->silence_ms);
    if (status == TIDE_OK)
        status = tide_pg_run(write_pg(s), RESTORE_SQL, NULL, err);
    free_build(b);
    return status;
}

struct order {
    const struct load_range *range;
    uint32_t connections;
};

static tide_status build_range(struct write_main *m, const void *arg, struct tide_err *err)
{
    const struct order *order = arg;
    load_sql_missing_indexes(&m->session, order->range);
    return run_listed(m, order->connections, false, err);
}

tide_status load_build_run(struct write_main *m, const struct load_build_options *options,
                           const struct load_range *range, struct tide_err *err)
{
    const struct order order = { range, options->connections };
    return write_retry(m, build_range, &order, false, err);
}

static tide_status analyse_parents(struct write_main *m, const void *arg, struct tide_err *err)
{
    const struct order *order = arg;
    load_sql_parents(&m->session);
    return run_listed(m, order->connections, true, err);
}

tide_status load_build_statistics(struct write_main *m, const struct load_build_options *options,
                                  struct tide_err *err)
{
    const struct order order = { NULL, options->connections };
    return write_retry(m, analyse_parents, &order, false, err);
}

/* ---- beside the writer ---- */

static tide_status find_missing(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct load_build *b = *(struct load_build *const *)arg;
    load_sql_missing_indexes(&m->session, &b->attach.range);
    return take_work(&m->session, b, err);
}

tide_status load_build_begin(struct write_main *m, const struct load_build_options *options,
                             const struct load_range *range, struct load_build **out,
                             struct tide_err *err)
{
    *out = NULL;
    struct load_build *b = new_build(m->session.plan);
    if (!b)
        return tide_fail(err, TIDE_E_MEMORY, "indexes of a partition");
    b->attach = (struct load_attach){ .rollups = options->rollups, .range = *range };
    b->work.merges = true;
    tide_status status = write_retry(m, find_missing, &b, false, err);
    if (status == TIDE_OK)
        start_helpers(b, workers_wanted(options->connections, &b->work.rows));
    if (b->count)
        *out = b;
    else
        free_build(b);
    return status;
}

bool load_build_is_done(const struct load_build *b)
{
    bool ended = true;
    for (uint32_t i = 0; b && i < b->count; i++)
        ended &= atomic_load(&b->workers[i].ended);
    return ended;
}

void load_build_wait_indexes(struct write_main *m, struct load_build *b)
{
    for (uint32_t i = 0; b && i < b->count; i++)
        write_main_wait(m, &b->workers[i].ended, &b->work.indexed, &b->work.stopped);
}

void load_build_merge(struct load_build *b, const struct write_cursor *cursor)
{
    if (!b)
        return;
    assert(!atomic_load(&b->work.oldest)); /* afterwards its threads read attach */
    b->attach.moves_cursor = load_attach_moves(cursor, &b->attach.range);
    atomic_store(&b->work.oldest, true);
}

/* Attaches the partition on the session that merged its rows. */
static tide_status attach_merged(struct write_main *m, struct load_build *b, bool *attached,
                                 bool *perhaps, struct tide_err *err)
{
    struct worker *merger = NULL;
    bool sent = false;
    for (uint32_t i = 0; i < b->count; i++) {
        assert(!b->workers[i].merged || !merger); /* take_merge chose one */
        if (b->workers[i].merged)
            merger = &b->workers[i];
    }
    if (!merger)
        return TIDE_OK;
    write_session_take(merger->session);
    tide_status status = load_attach_end(merger->session, &b->attach, &m->cursor, &sent, err);
    *attached = status == TIDE_OK;
    *perhaps = sent && !*attached;
    return status;
}

bool load_build_end(struct write_main *m, struct load_build *b, bool stop, bool *perhaps)
{
    struct tide_err err;
    bool attached = false;
    *perhaps = false;
    if (!b)
        return false;
    if (stop)
        atomic_store(&b->work.stopped, true);
    tide_status status = join_helpers(m, b, 0, &err);
    if (status == TIDE_OK && !stop)
        status = attach_merged(m, b, &attached, perhaps, &err);
    if (status != TIDE_OK && !stop) {
        char quoted[TIDE_ERR_TEXT_MAX + 64];
        tide_log(TIDE_WARN, "partition.build", "from=%u again=true reason=%s", b->attach.range.from,
                 tide_log_quote(quoted, sizeof quoted, err.text));
    }
    close_helpers(b, 0);
    free_build(b);
    return attached;
}
