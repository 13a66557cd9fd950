/* The writer's own session: transactions under the fence, and their repetition. */
#include "indexer/write/session/main_session.h"
#include "tidemark/clock.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

enum { PAUSE_MS = 100 }; /* pause before the first repetition */

/* Pauses differ between processes: sessions that met in a deadlock should not meet again. Sleeps
 * in slices, so that a stop is seen. */
static void write_pause(struct write_main *m, uint32_t attempt)
{
    struct write_session *s = &m->session;
    tide_retry_init(&m->retry, tide_now_ms(), m->retry.chance);
    uint32_t ms = tide_retry_pause_ms(&m->retry, PAUSE_MS, s->plan->retry_ms_max, attempt);
    while (ms && !write_plan_stopped(s->plan)) {
        uint32_t slice = ms < 100 ? ms : 100;
        tide_sleep_ms((int64_t)slice);
        tide_liveness_mark();
        ms -= slice;
    }
}

void write_sql_fence(struct write_session *s, const struct write_cursor *cursor)
{
    write_sql_more(s,
                   "SELECT 1 FROM chain.cursor WHERE deployment = %u AND writer = '%s'"
                   " AND moves = %" PRIu64 " AND ledger = %u",
                   s->plan->deployment, cursor->writer, cursor->moves, cursor->ledger);
    if (cursor->ledger) {
        write_sql_more(s, " AND hash = ");
        write_sql_hash(s, cursor->hash);
    }
    write_sql_more(s, " FOR UPDATE");
}

tide_status write_fenced(const struct write_plan *plan, struct tide_err *err)
{
    return tide_fail(err, TIDE_E_FENCED,
                     "writer: another writer took deployment %u over; this one stops",
                     plan->deployment);
}

tide_status write_begin(struct write_main *m, struct tide_err *err)
{
    struct write_session *s = &m->session;
    write_sql(s, "BEGIN; ");
    write_sql_fence(s, &m->cursor);
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK && s->rows.count != 1)
        status = write_fenced(s->plan, err);
    if (status == TIDE_OK)
        status = write_point(TIDE_FAILPOINT("commit.fenced"), err);
    return status;
}

tide_status write_begin_long(struct write_main *m, struct tide_err *err)
{
    struct write_session *s = &m->session;
    tide_status status = write_begin(m, err);
    if (status == TIDE_OK)
        status = tide_pg_run(write_pg(s), "SET LOCAL statement_timeout = 0", "SET", err);
    if (status == TIDE_OK)
        tide_pg_patience(write_pg(s), 0);
    tide_liveness_long(true);
    return status;
}

void write_end_long(struct write_main *m)
{
    struct write_session *s = &m->session;
    tide_liveness_long(false);
    tide_pg_patience(write_pg(s), s->plan->silence_ms);
}

/* Proves on a new session that this process still is the writer. Its own dead session may hold the
 * lock for a while; another writer in the row means that it took over. */
static tide_status reclaim_lock(struct write_main *m, uint64_t *moves, struct tide_err *err)
{
    struct write_session *s = &m->session;
    for (uint32_t attempt = 0;; attempt++) {
        write_sql(s,
                  "SELECT c.writer IS NOT DISTINCT FROM '%s', c.moves,"
                  " c.writer IS NOT DISTINCT FROM '%s' AND"
                  " pg_try_advisory_lock(x'74696465'::int, %u) FROM chain.cursor c"
                  " WHERE c.deployment = %u",
                  m->cursor.writer, m->cursor.writer, s->plan->deployment, s->plan->deployment);
        tide_status status = write_query_sql(s, err);
        if (status != TIDE_OK)
            return status;
        bool ours = s->rows.count == 1 && tide_pg_bool(&s->rows, 0, 0);
        bool locked = s->rows.count == 1 && tide_pg_bool(&s->rows, 0, 2);
        *moves = s->rows.count == 1 ? tide_pg_u64(&s->rows, 0, 1) : 0;
        if (!ours)
            return write_fenced(s->plan, err);
        if (locked)
            return TIDE_OK;
        if (write_plan_stopped(s->plan))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        write_pause(m, attempt);
    }
}

/* Reports the failure in the heartbeat. */
static void tell_trouble(struct write_main *m, const struct tide_err *err)
{
    struct tide_heartbeat heartbeat = m->heartbeat;
    heartbeat.state = "retrying";
    heartbeat.rate = heartbeat.event_rate = 0;
    heartbeat.current = false;
    heartbeat.error = err->text;
    write_main_report(m, &heartbeat);
}

/* Reconnects and finds out whether the transaction committed. err holds the earlier failure, which
 * is reported once there is a connection again. */
static tide_status settle_commit(struct write_main *m, bool commits, bool *settled,
                                 struct tide_err *err)
{
    struct write_session *s = &m->session;
    uint64_t moves = 0;
    tide_status status = write_session_reopen(s, err);
    if (status == TIDE_OK)
        status = reclaim_lock(m, &moves, err);
    if (status == TIDE_OK)
        status = write_keep_lease(m, err);
    if (status != TIDE_OK)
        return status;
    assert(!*settled); /* write_retry asks once for each lost connection */
    *settled = commits && moves == m->cursor.moves + 1;
    if (moves != m->cursor.moves && !*settled)
        return tide_fail(
            err, TIDE_E_FENCED, "writer: the cursor moved without us%s",
            moves < m->cursor.moves ? ": this server has lost commits that were confirmed" : "");
    tide_log(TIDE_WARN, "db.back", "deployment=%u settled=%s", s->plan->deployment,
             *settled ? "committed" : "again");
    tell_trouble(m, err);
    return TIDE_OK;
}

static void log_trouble(struct write_main *m, uint32_t attempt, const struct tide_err *err)
{
    struct write_session *s = &m->session;
    m->retries++;
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    tide_log(TIDE_WARN, "db.retry", "attempt=%u state=%s reason=%s", attempt + 1,
             tide_pg_sqlstate(write_pg(s))[0] ? tide_pg_sqlstate(write_pg(s)) : "-",
             tide_log_quote(quoted, sizeof quoted, err->text));
}

/* Removes the traces of a failed transaction, and reports the failure if the database allows it. */
static void clean_up(struct write_main *m, tide_status status, const struct tide_err *err)
{
    struct write_session *s = &m->session;
    struct tide_err ignored;
    if (tide_pg_in_transaction(write_pg(s)))
        (void)!tide_pg_run(write_pg(s), "ROLLBACK", NULL, &ignored);
    if (status == TIDE_E_DB)
        tell_trouble(m, err);
}

/* Explains a violated constraint (class 23): see "Duplicate key" in writer.h. */
static tide_status explain_constraint(const struct write_main *m, tide_status status,
                                      struct tide_err *err)
{
    if (status == TIDE_E_DB_FATAL && strncmp(tide_pg_sqlstate(write_pg(&m->session)), "23", 2) == 0)
        return tide_fail_context(
            err, "writer: a row that this index did not write is in the way "
                 "and stays as it is; find out which program wrote it and remove it");
    return status;
}

tide_status write_retry(struct write_main *m, write_step step, const void *arg, bool commits,
                        struct tide_err *err)
{
    struct write_session *s = &m->session;
    bool settled = false;
    assert(s->owner == WRITE_OWNER_WRITER);
    tide_status status = step(m, arg, err);
    for (uint32_t attempt = 0; status != TIDE_OK && !settled; attempt++) {
        bool lost = !tide_pg_alive(write_pg(s)) || tide_pg_remedy(write_pg(s)) == TIDE_PG_RECONNECT;
        tide_words_forget(m->words); /* this transaction may have added some */
        if (status == TIDE_E_DB)
            log_trouble(m, attempt, err);
        status = explain_constraint(m, status, err);
        if (!lost)
            clean_up(m, status, err);
        if (status != TIDE_E_DB)
            return status;
        write_pause(m, attempt);
        if (write_plan_stopped(s->plan))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop while the database is away");
        if (!lost)
            lost = !tide_pg_alive(write_pg(s));
        status = lost ? settle_commit(m, commits, &settled, err) : TIDE_OK;
        if (status == TIDE_OK && !settled)
            status = step(m, arg, err);
    }
    if (commits && status == TIDE_OK)
        write_main_count(m);
    return status;
}

void write_main_note_away(struct write_main *m, uint32_t attempt, const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    m->retries++;
    tide_log(TIDE_WARN, "db.retry", "attempt=%u reason=%s", attempt + 1,
             tide_log_quote(quoted, sizeof quoted, err->text));
    write_pause(m, attempt);
}

/* ---- the cursor ---- */

void write_main_count(struct write_main *m)
{
    m->cursor.moves++;
    if (m->lease)
        tide_lease_committed(m->lease, m->cursor.moves);
}

bool write_cursor_continues(const struct write_cursor *cursor, uint32_t from)
{
    return cursor->ledger == 0 || from == cursor->ledger + 1;
}

void write_main_advance(struct write_main *m, uint32_t ledger, const uint8_t hash[TIDE_HASH_BYTES])
{
    assert(ledger > m->cursor.ledger);
    m->cursor.ledger = ledger;
    memcpy(m->cursor.hash, hash, TIDE_HASH_BYTES);
}

/* ---- signs of life ---- */

static tide_status send_statement(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    (void)arg;
    return tide_pg_run(write_pg(s), "SELECT 1", "SELECT", err);
}

tide_status write_main_speak(struct write_main *m, struct tide_err *err)
{
    int64_t now = tide_now_ms();
    if (now - m->spoke_ms < WRITE_SPEAK_MS)
        return TIDE_OK;
    m->spoke_ms = now;
    return write_retry(m, send_statement, NULL, false, err);
}

void write_main_wait(struct write_main *m, const atomic_bool *ended, const atomic_bool *enough,
                     atomic_bool *stopped)
{
    struct write_session *s = &m->session;
    struct tide_err ignored;
    while (!atomic_load(ended) && !atomic_load(enough)) {
        int64_t until = tide_now_ms() + WRITE_SPEAK_MS;
        while (!atomic_load(ended) && !atomic_load(enough) && tide_now_ms() < until) {
            tide_sleep_ms(20);
            if (write_plan_stopped(s->plan))
                atomic_store(stopped, true);
        }
        if (!atomic_load(ended) && !atomic_load(enough) && tide_pg_alive(write_pg(s)))
            (void)!tide_pg_run(write_pg(s), "SELECT 1", "SELECT", &ignored);
    }
}

void write_main_report(struct write_main *m, const struct tide_heartbeat *heartbeat)
{
    m->heartbeat = *heartbeat;
    m->heartbeat.error = m->heartbeat.trouble = m->heartbeat.source = NULL;
    if (m->lease)
        tide_lease_report(m->lease, heartbeat, m->retries);
}

bool write_main_is_lost(const struct write_main *m)
{
    return m->lease && tide_lease_lost(m->lease);
}
