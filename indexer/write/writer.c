#include "indexer/write/writer_impl.h"
#include "tidemark/liveness.h"
#include "tidemark/text.h"

#include <stdarg.h>

enum { PAUSE_MS = 100 }; /* before the first repetition */

bool writer_stopped(const struct tide_writer *w)
{
    return w->options.stopped && w->options.stopped(w->options.stopped_self);
}

/* Pauses differ between processes: sessions that met in a deadlock should not meet again. Sleeps
 * in slices, so that a stop is seen. */
void writer_pause(struct tide_writer *w, uint32_t attempt)
{
    const struct tide_clock *clock = w->options.clock;
    tide_retry_init(&w->retry, clock->now_ms(clock->self), w->retry.chance);
    uint32_t ms = tide_retry_pause_ms(&w->retry, PAUSE_MS, w->options.retry_ms_max, attempt);
    while (ms && !writer_stopped(w)) {
        uint32_t slice = ms < 100 ? ms : 100;
        clock->sleep_ms(clock->self, (int64_t)slice);
        tide_liveness_mark();
        ms -= slice;
    }
}

TIDE_PRINTF(2, 0)
static void append_sql(struct tide_buf *sql, const char *format, va_list args)
{
    char text[2048];
    int len = vsnprintf(text, sizeof text, format, args);
    assert(len >= 0 && (size_t)len < sizeof text);
    tide_buf_put(sql, text, (size_t)len);
}

void writer_sql(struct tide_writer *w, const char *format, ...)
{
    va_list args;
    tide_buf_reset(&w->sql);
    va_start(args, format);
    append_sql(&w->sql, format, args);
    va_end(args);
}

void writer_sql_more(struct tide_writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append_sql(&w->sql, format, args);
    va_end(args);
}

void writer_sql_hash(struct tide_writer *w, const uint8_t hash[TIDE_HASH_BYTES])
{
    tide_buf_str(&w->sql, "'\\x");
    tide_buf_hex(&w->sql, tide_slice_of(hash, TIDE_HASH_BYTES));
    tide_buf_str(&w->sql, "'::bytea");
}

void writer_sql_time(struct tide_writer *w, uint64_t close_time)
{
    writer_sql_more(w, "to_timestamp(%" PRIu64 ")", close_time);
}

void writer_sql_columns(struct tide_writer *w, const struct tide_table *table, const char *prefix)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        writer_sql_more(w, "%s%s\"%s\"", i ? "," : "", prefix, table->columns[i].name);
}

tide_status writer_sql_sealed(struct tide_writer *w, struct tide_err *err)
{
    tide_buf_u8(&w->sql, 0);
    if (w->sql.failed)
        return tide_fail(err, TIDE_E_LIMIT, "writer: a statement is longer than %u bytes",
                         WRITER_SQL_MAX);
    return TIDE_OK;
}

tide_status writer_run_sql(struct tide_writer *w, const char *tag, struct tide_err *err)
{
    tide_status status = writer_sql_sealed(w, err);
    return status == TIDE_OK ? tide_pg_run(w->pg, (const char *)w->sql.ptr, tag, err) : status;
}

tide_status writer_query_sql(struct tide_writer *w, struct tide_pg_rows *rows, struct tide_err *err)
{
    *rows = (struct tide_pg_rows){ 0 };
    tide_status status = writer_sql_sealed(w, err);
    return status == TIDE_OK ? tide_pg_script(w->pg, rows, (const char *)w->sql.ptr, err) : status;
}

tide_status writer_point(bool fired, struct tide_err *err)
{
    return fired ? tide_fail(err, TIDE_E_DB, "failpoint") : TIDE_OK;
}

void writer_sql_fence(struct tide_writer *w)
{
    writer_sql_more(w,
                    "SELECT 1 FROM chain.cursor WHERE deployment = %u AND fence = %" PRIu64
                    " AND moves = %" PRIu64 " FOR UPDATE",
                    w->deployment, w->fence, w->moves);
}

tide_status writer_fenced(const struct tide_writer *w, struct tide_err *err)
{
    return tide_fail(err, TIDE_E_FENCED,
                     "writer: another writer took deployment %u over; this one stops",
                     w->deployment);
}

tide_status writer_begin(struct tide_writer *w, struct tide_err *err)
{
    struct tide_pg_rows rows;
    writer_sql(w, "BEGIN; ");
    writer_sql_fence(w);
    tide_status status = writer_query_sql(w, &rows, err);
    if (status == TIDE_OK && rows.count != 1)
        status = writer_fenced(w, err);
    tide_pg_rows_release(&rows);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("commit.fenced"), err);
    return status;
}

tide_status writer_begin_long(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = writer_begin(w, err);
    if (status == TIDE_OK)
        status = tide_pg_run(w->pg, "SET LOCAL statement_timeout = 0", "SET", err);
    if (status == TIDE_OK)
        tide_pg_patience(w->pg, 0);
    tide_liveness_long(true);
    return status;
}

void writer_end_long(struct tide_writer *w)
{
    tide_liveness_long(false);
    tide_pg_patience(w->pg, w->options.silence_ms);
}

tide_status writer_commit(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = writer_point(TIDE_FAILPOINT("commit.before"), err);
    if (status == TIDE_OK)
        status = tide_pg_run(w->pg, "COMMIT", "COMMIT", err);
    if (status == TIDE_OK)
        (void)!TIDE_FAILPOINT("commit.after");
    return status;
}

/* The session is new: prove that we are still the writer. The lock may still be held by our own
 * dead session for a while; a changed fence tells the difference. */
static tide_status reclaim_lock(struct tide_writer *w, uint64_t *moves, struct tide_err *err)
{
    for (uint32_t attempt = 0;; attempt++) {
        struct tide_pg_rows rows;
        writer_sql(w,
                   "SELECT c.fence, c.moves, pg_try_advisory_lock(x'74696465'::int, %u)"
                   " FROM chain.cursor c WHERE c.deployment = %u",
                   w->deployment, w->deployment);
        tide_status status = writer_query_sql(w, &rows, err);
        if (status != TIDE_OK)
            return status;
        bool ours = rows.count == 1 && tide_pg_u64(&rows, 0, 0) == w->fence;
        bool locked = rows.count == 1 && tide_pg_bool(&rows, 0, 2);
        *moves = rows.count == 1 ? tide_pg_u64(&rows, 0, 1) : 0;
        tide_pg_rows_release(&rows);
        if (!ours)
            return writer_fenced(w, err);
        if (locked)
            return TIDE_OK;
        if (writer_stopped(w))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        writer_pause(w, attempt);
    }
}

/* Into the heartbeat. */
static void tell_trouble(struct tide_writer *w, const struct tide_err *err)
{
    struct tide_heartbeat heartbeat = w->heartbeat;
    heartbeat.state = "retrying";
    heartbeat.rate = heartbeat.event_rate = 0;
    heartbeat.error = err->text;
    tide_writer_heartbeat(w, &heartbeat);
}

/* err holds the earlier failure. It is reported once there is a connection again. */
static tide_status settle_commit(struct tide_writer *w, bool commits, bool *settled,
                                 struct tide_err *err)
{
    uint64_t moves = 0;
    tide_status status = tide_pg_reopen(w->pg, err);
    memset(&w->session, 0, sizeof w->session);
    if (status == TIDE_OK)
        status = tide_pg_run(w->pg, WRITER_SESSION_SQL, NULL, err);
    if (status == TIDE_OK)
        status = reclaim_lock(w, &moves, err);
    if (status == TIDE_OK)
        status = writer_keep_lease(w, err);
    if (status != TIDE_OK)
        return status;
    *settled = commits && moves == w->moves + 1;
    if (moves != w->moves && !*settled)
        return tide_fail(err, TIDE_E_FENCED, "writer: the cursor moved without us%s",
                         moves < w->moves ? ": this server has lost commits that were confirmed"
                                          : "");
    tide_log(TIDE_WARN, "db.back", "deployment=%u settled=%s", w->deployment,
             *settled ? "committed" : "again");
    tell_trouble(w, err);
    return TIDE_OK;
}

static void log_trouble(struct tide_writer *w, uint32_t attempt, const struct tide_err *err)
{
    w->retries++;
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    tide_log(TIDE_WARN, "db.retry", "attempt=%u state=%s reason=%s", attempt + 1,
             tide_pg_sqlstate(w->pg)[0] ? tide_pg_sqlstate(w->pg) : "-",
             tide_log_quote(quoted, sizeof quoted, err->text));
}

/* Removes the traces of a failed transaction, and reports the failure if the database allows it. */
static void clean_up(struct tide_writer *w, tide_status status, const struct tide_err *err)
{
    struct tide_err ignored;
    if (tide_pg_in_transaction(w->pg))
        (void)!tide_pg_run(w->pg, "ROLLBACK", NULL, &ignored);
    if (status == TIDE_E_DB)
        tell_trouble(w, err);
}

/* Class 23, a constraint: see "Duplicate key" in writer.h. */
static tide_status explain_constraint(const struct tide_writer *w, tide_status status,
                                      struct tide_err *err)
{
    if (status == TIDE_E_DB_FATAL && strncmp(tide_pg_sqlstate(w->pg), "23", 2) == 0)
        return tide_fail_context(
            err, "writer: a row that this index did not write is in the way "
                 "and stays as it is; find out which program wrote it and remove it");
    return status;
}

tide_status writer_retry(struct tide_writer *w, writer_step step, const void *arg, bool commits,
                         struct tide_err *err)
{
    bool settled = false;
    tide_status status = step(w, arg, err);
    for (uint32_t attempt = 0; status != TIDE_OK && !settled; attempt++) {
        bool lost = !tide_pg_alive(w->pg) || tide_pg_remedy(w->pg) == TIDE_PG_RECONNECT;
        tide_words_forget(w->words); /* some may have been added by this transaction */
        if (status == TIDE_E_DB)
            log_trouble(w, attempt, err);
        status = explain_constraint(w, status, err);
        if (!lost)
            clean_up(w, status, err);
        if (status != TIDE_E_DB)
            return status;
        writer_pause(w, attempt);
        if (writer_stopped(w))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop while the database is away");
        if (!lost)
            lost = !tide_pg_alive(w->pg);
        status = lost ? settle_commit(w, commits, &settled, err) : TIDE_OK;
        if (status == TIDE_OK && !settled)
            status = step(w, arg, err);
    }
    if (commits && status == TIDE_OK)
        w->moves++;
    return status;
}

/* Loading that continues the cursor counts as committed; loading of an earlier range does not.
 * NULL: none does. */
static const struct loading *loaded_onward(const struct tide_writer *w)
{
    const struct loading *newest = NULL;
    uint32_t last = w->cursor;
    for (uint32_t i = 0; i <= w->full_count; i++) {
        const struct loading *l = i < w->full_count ? &w->full[i].range : &w->loading;
        if (!l->active || !l->first || (last && l->first != last + 1))
            continue;
        newest = l;
        last = l->last;
    }
    return newest;
}

uint32_t tide_writer_next(const struct tide_writer *w, uint8_t previous_hash[TIDE_HASH_BYTES])
{
    const struct loading *newest = loaded_onward(w);
    uint32_t last = newest ? newest->last : w->cursor;
    memcpy(previous_hash, newest ? newest->hash : w->hash, TIDE_HASH_BYTES);
    return last ? last + 1 : 0;
}

bool tide_writer_is_loading(const struct tide_writer *w)
{
    return w->loading.active || w->full_count;
}

static tide_status load_batch(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    const struct tide_batch *batch = arg;
    struct tide_pg_rows rows;
    bool ask;
    tide_status status = writer_read_words(w, batch, &ask, err);
    if (status == TIDE_OK)
        status = writer_begin(w, err);
    if (status == TIDE_OK && ask)
        status = writer_ask_words(w, err);
    if (status == TIDE_OK)
        status = writer_copy_rows(w, batch, err);
    if (status == TIDE_OK)
        status = writer_count(w, &batch->counts, err);
    if (status != TIDE_OK)
        return status;
    writer_sql(w,
               "UPDATE chain.partition SET first_loaded = coalesce(first_loaded, %u),"
               " last_loaded = %u, previous_hash = coalesce(previous_hash, ",
               batch->from, batch->to);
    writer_sql_hash(w, batch->previous_hash);
    writer_sql_more(w, "), hash = ");
    writer_sql_hash(w, batch->hash);
    writer_sql_more(w, ", closed_at = ");
    writer_sql_time(w, batch->close_time);
    writer_sql_more(w,
                    " WHERE deployment = %u AND from_ledger = %u AND NOT attached"
                    " AND coalesce(last_loaded, %u) = %u RETURNING 1",
                    w->deployment, w->loading.from, batch->from - 1, batch->from - 1);
    status = writer_query_sql(w, &rows, err);
    if (status == TIDE_OK && rows.count != 1)
        status = tide_fail(err, TIDE_E_CONFLICT, "writer: partition %u is not loaded up to %u",
                           w->loading.from, batch->from - 1);
    tide_pg_rows_release(&rows);
    if (status == TIDE_OK)
        status = writer_note_discovered(w, batch, err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("load.progress"), err);
    return status == TIDE_OK ? writer_commit(w, err) : status;
}

static size_t rows_of(const struct tide_batch *batch)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        bytes += batch->rows[i].copy.len;
    return bytes;
}

static tide_status index_batch(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    const struct tide_batch *batch = arg;
    const struct cover cover = { .from = batch->from,
                                 .to = batch->to,
                                 .previous_hash = batch->previous_hash,
                                 .hash = batch->hash,
                                 .close_time = batch->close_time,
                                 .moves_cursor = w->cursor == 0 || batch->from == w->cursor + 1,
                                 .counts = &batch->counts };
    bool copied = rows_of(batch) > w->options.array_bytes, ask = false;
    tide_status status = writer_read_words(w, batch, &ask, err);
    const struct writer_sending sending = { batch, &cover, copied || ask, copied };
    if (status == TIDE_OK)
        status = writer_prepare(w, &sending, err);
    if (status == TIDE_OK && sending.begun)
        status = writer_begin(w, err);
    if (status == TIDE_OK && ask)
        status = writer_ask_words(w, err);
    if (status == TIDE_OK && sending.copied)
        status = writer_copy_rows(w, batch, err);
    if (status == TIDE_OK)
        status = writer_send(w, &sending, err);
    if (status == TIDE_OK)
        status = writer_note_discovered(w, batch, err);
    if (status == TIDE_OK)
        status = writer_point(TIDE_FAILPOINT("commit.cursor"), err);
    return status == TIDE_OK ? writer_commit(w, err) : status;
}

static void adopt_loaded(struct tide_writer *w, const struct tide_batch *batch)
{
    struct loading *l = &w->loading;
    if (!l->first) {
        l->first = batch->from;
        memcpy(l->previous_hash, batch->previous_hash, TIDE_HASH_BYTES);
    }
    l->last = batch->to;
    memcpy(l->hash, batch->hash, TIDE_HASH_BYTES);
    l->close_time = batch->close_time;
}

/* Whether the batch lies in the partition behind the full ones, which is to be loaded. */
static bool loads_behind(const struct tide_writer *w, const struct tide_batch *batch, bool attached)
{
    return w->loading.active || (batch->from == w->full[w->full_count - 1].range.end && !attached);
}

/* Decides between loading and indexing, and ends a load that this batch does not continue. */
static tide_status prepare_batch(struct tide_writer *w, const struct tide_batch *batch,
                                 struct tide_err *err)
{
    struct loading *l = &w->loading;
    bool attached = false;
    tide_status status = partition_settle_built(w, err);
    if (status == TIDE_OK && l->active &&
        (batch->from < l->from || batch->from >= l->end ||
         (l->first && batch->from != l->last + 1)))
        status = tide_writer_finish(w, err);
    if (status == TIDE_OK && !l->active)
        status = partition_find(w, batch->from, &attached, err);
    if (status == TIDE_OK && w->full_count && !loads_behind(w, batch, attached))
        status = partition_settle(w, err);
    if (status == TIDE_OK && !l->active && !attached)
        status = partition_create(w, partition_start(w, batch->from), err);
    if (status == TIDE_OK && l->active && !l->first)
        status = publication_attach_empty(w, err);
    return status;
}

static tide_status check_place(const struct tide_writer *w, const struct tide_batch *batch,
                               struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t next = tide_writer_next(w, hash);
    assert(batch->from > 0 && batch->to >= batch->from);
    assert(partition_start(w, batch->from) == partition_start(w, batch->to));
    if (next && batch->from > next)
        return tide_fail(err, TIDE_E_CONFLICT,
                         "writer: ledger %u would leave a gap after %u; index %u..%u first",
                         batch->from, next - 1, next, batch->from - 1);
    if (next && batch->from == next && memcmp(hash, batch->previous_hash, sizeof hash) != 0)
        return tide_fail(err, TIDE_E_CHAIN,
                         "ledger %u does not follow the stored ledger %u: another network, or a "
                         "reset one; compare the source and the database",
                         batch->from, next - 1);
    return TIDE_OK;
}

tide_status tide_writer_commit(struct tide_writer *w, const struct tide_batch *batch,
                               struct tide_err *err)
{
    tide_status status = check_place(w, batch, err);
    if (status == TIDE_OK)
        status = prepare_batch(w, batch, err);
    if (status != TIDE_OK)
        return status;
    if (w->loading.active) {
        status = writer_retry(w, load_batch, batch, true, err);
        if (status != TIDE_OK)
            return status;
        adopt_loaded(w, batch);
        partition_spare_begin(w);
        return w->loading.last + 1 == w->loading.end ? partition_complete(w, err) : TIDE_OK;
    }
    bool onward = w->cursor == 0 || batch->from == w->cursor + 1;
    status = writer_retry(w, index_batch, batch, true, err);
    if (status == TIDE_OK && onward) {
        w->cursor = batch->to;
        memcpy(w->hash, batch->hash, TIDE_HASH_BYTES);
    }
    return status;
}

static tide_status send_statement(struct tide_writer *w, const void *arg, struct tide_err *err)
{
    (void)arg;
    return tide_pg_run(w->pg, "SELECT 1", "SELECT", err);
}

tide_status tide_writer_idle(struct tide_writer *w, struct tide_err *err)
{
    const struct tide_clock *clock = w->options.clock;
    int64_t now = clock->now_ms(clock->self);
    tide_status status = partition_settle_built(w, err);
    if (status != TIDE_OK || now - w->spoke_ms < WRITER_SPEAK_MS)
        return status;
    w->spoke_ms = now;
    return writer_retry(w, send_statement, NULL, false, err);
}
