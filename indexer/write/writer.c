/* The interface: which part commits a batch, and where the tables stand. */
#include "indexer/write/writer_impl.h"
#include "tidemark/log.h"

uint32_t tide_writer_next(const struct tide_writer *w, uint8_t previous_hash[TIDE_HASH_BYTES])
{
    const struct load_range *newest = write_load_onward(&w->load);
    const struct write_cursor *cursor = &w->main.cursor;
    uint32_t last = newest ? newest->last : cursor->ledger;
    memcpy(previous_hash, newest ? newest->hash : cursor->hash, TIDE_HASH_BYTES);
    return last ? last + 1 : 0;
}

uint32_t tide_writer_partition_ledgers(const struct tide_writer *w)
{
    return w->plan.partition_ledgers;
}

uint32_t tide_writer_cut(const struct tide_writer *w)
{
    return w->plan.cut;
}

uint32_t tide_writer_held_before(const struct tide_writer *w)
{
    return w->plan.held_before;
}

bool tide_writer_is_loading(const struct tide_writer *w)
{
    return write_load_is_active(&w->load);
}

static tide_status check_place(const struct tide_writer *w, const struct tide_batch *batch,
                               struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t next = tide_writer_next(w, hash);
    assert(batch->from > 0 && batch->to >= batch->from);
    assert(write_plan_partition(&w->plan, batch->from) ==
           write_plan_partition(&w->plan, batch->to));
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

/* Fails if a table's rows could not be completed for lack of memory: rows would be missing, or
 * occur twice. */
static tide_status check_rows(const struct tide_batch *batch, struct tide_err *err)
{
    for (uint32_t i = 0; i < TIDE_TABLES_MAX; i++)
        if (batch->rows[i].copy.failed)
            return tide_fail(err, TIDE_E_MEMORY, "rows of ledgers %u to %u", batch->from,
                             batch->to);
    return TIDE_OK;
}

tide_status tide_writer_commit(struct tide_writer *w, const struct tide_batch *batch,
                               struct tide_err *err)
{
    bool loads = false;
    tide_status status = check_rows(batch, err);
    if (status == TIDE_OK)
        status = check_place(w, batch, err);
    if (status == TIDE_OK && w->plan.held_before && batch->from == w->plan.held_before)
        return writer_fill(w, batch, err);
    if (status == TIDE_OK && write_plan_holds(&w->plan, batch->from))
        status = writer_fill_check(w, batch, err);
    if (status == TIDE_OK)
        status = write_load_choose(&w->load, batch, &loads, err);
    if (status != TIDE_OK)
        return status;
    assert(!loads || write_load_is_active(&w->load));
    return loads ? write_load_commit(&w->load, batch, err) : write_tip_commit(&w->tip, batch, err);
}

tide_status tide_writer_finish(struct tide_writer *w, struct tide_err *err)
{
    return write_load_finish(&w->load, err);
}

tide_status tide_writer_ahead(struct tide_writer *w, uint32_t ledger, struct tide_err *err)
{
    return write_load_ahead(&w->load, ledger, err);
}

tide_status tide_writer_idle(struct tide_writer *w, struct tide_err *err)
{
    tide_status status = write_load_settle_built(&w->load, err);
    return status == TIDE_OK ? write_main_speak(&w->main, err) : status;
}

void tide_writer_heartbeat(struct tide_writer *w, const struct tide_heartbeat *heartbeat)
{
    write_main_report(&w->main, heartbeat);
}

bool tide_writer_lost(const struct tide_writer *w)
{
    return write_main_is_lost(&w->main);
}

uint64_t tide_writer_moves(const struct tide_writer *w)
{
    return w->main.cursor.moves;
}

/* ---- crashes on one ledger ---- */

/* Counts crashes on one ledger. The next process counts them, because the one that crashed cannot
 * (chain.attempt). */

struct attempt {
    uint32_t ledger, limit;
    bool again;
    uint32_t crashes;
};

/* Counts the start. If `running` is still set, the last process crashed on the ledger that comes
 * next. */
static tide_status count_crash(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    struct attempt *a = *(struct attempt *const *)arg;
    write_sql(s,
              "INSERT INTO chain.attempt AS a (deployment, running, ledger) VALUES (%u, true, %u)"
              " ON CONFLICT (deployment) DO UPDATE SET running = true, began_at ="
              " clock_timestamp(), ledger = excluded.ledger, attempts ="
              " CASE WHEN a.ledger = excluded.ledger THEN a.attempts ELSE 0 END +"
              " (a.running AND NOT %s)::int RETURNING attempts",
              s->plan->deployment, a->ledger, a->again ? "true" : "false");
    tide_status status = write_query_sql(s, err);
    if (status == TIDE_OK)
        a->crashes = (uint32_t)tide_pg_u64(&s->rows, 0, 0);
    return status;
}

static tide_status clear_running(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    (void)arg;
    write_sql(s, "UPDATE chain.attempt SET running = false WHERE deployment = %u",
              s->plan->deployment);
    return write_run_sql(s, "UPDATE", err);
}

tide_status tide_writer_attempt(struct tide_writer *w, uint32_t ledger, uint32_t limit, bool again,
                                struct tide_err *err)
{
    struct attempt attempt = { .ledger = ledger, .limit = limit, .again = again };
    struct attempt *arg = &attempt;
    tide_status status = write_retry(&w->main, count_crash, &arg, false, err);
    if (status != TIDE_OK || limit == 0 || attempt.crashes < limit)
        return status;
    return tide_fail(err, TIDE_E_POISON,
                     "ledger %u: this program crashed on it %u times in a row, and starts no more"
                     " work on it: update the program, or report the ledger and the crash; to try"
                     " again all the same, start with crash_limit=0",
                     ledger, attempt.crashes);
}

/* Clears `running` with a single attempt. If that fails, one crash too many is counted, which the
 * next ledger resets. */
void tide_writer_ended(struct tide_writer *w)
{
    struct write_session *s = &w->main.session;
    struct tide_err ignored;
    if (tide_pg_alive(write_pg(s)) && !tide_pg_in_transaction(write_pg(s)))
        (void)!clear_running(&w->main, NULL, &ignored);
}

/* --- ranges ----------------------------------------------------------------------------- */

struct hash_question {
    uint32_t ledger;
    bool *known;
    uint8_t *hash;
};

static tide_status read_hash(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct hash_question *q = arg;
    write_sql(s,
              "SELECT hash FROM chain.coverage WHERE deployment = %u AND to_ledger = %u UNION ALL"
              " SELECT previous_hash FROM chain.coverage WHERE deployment = %u AND from_ledger = %u"
              " UNION ALL SELECT hash FROM chain.partition WHERE deployment = %u AND NOT attached"
              " AND last_loaded = %u",
              s->plan->deployment, q->ledger, s->plan->deployment, q->ledger + 1,
              s->plan->deployment, q->ledger);
    tide_status status = write_query_sql(s, err);
    *q->known = status == TIDE_OK && s->rows.count > 0 &&
                tide_pg_bytes(&s->rows, 0, 0, q->hash, TIDE_HASH_BYTES);
    return status;
}

tide_status tide_writer_hash(struct tide_writer *w, uint32_t ledger, bool *known,
                             uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    struct hash_question question = { ledger, known, hash };
    return write_retry(&w->main, read_hash, &question, false, err);
}

struct range_question {
    struct tide_range wanted;
    struct tide_range *out;
    uint32_t max;
    uint32_t *count;
};

static tide_status read_missing(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct range_question *q = arg;
    write_sql(s,
              "SELECT from_ledger, to_ledger FROM chain.coverage WHERE deployment = %u UNION ALL"
              " SELECT first_loaded, last_loaded FROM chain.partition WHERE deployment = %u"
              " AND NOT attached AND last_loaded IS NOT NULL ORDER BY 1",
              s->plan->deployment, s->plan->deployment);
    tide_status status = write_query_sql(s, err);
    assert(q->max > 0 && q->wanted.from <= q->wanted.to);
    uint32_t at = q->wanted.from, found = 0;
    for (uint32_t i = 0; status == TIDE_OK && i < s->rows.count; i++) {
        uint32_t from = (uint32_t)tide_pg_u64(&s->rows, i, 0),
                 to = (uint32_t)tide_pg_u64(&s->rows, i, 1);
        if (to < at || from > q->wanted.to)
            continue;
        if (from > at && found < q->max)
            q->out[found++] = (struct tide_range){ at, from - 1 };
        at = to + 1;
    }
    if (status == TIDE_OK && at <= q->wanted.to && found < q->max)
        q->out[found++] = (struct tide_range){ at, q->wanted.to };
    assert(found <= q->max);
    *q->count = found;
    return status;
}

tide_status tide_writer_missing(struct tide_writer *w, struct tide_range wanted,
                                struct tide_range *out, uint32_t max, uint32_t *count,
                                struct tide_err *err)
{
    struct range_question question = { wanted, out, max, count };
    return write_retry(&w->main, read_missing, &question, false, err);
}

/* ---- coverage without rows ---- */

/* Puts the parts of each range that have rows in the place of the range. The insert reads from the
 * delete, so the old range is gone before its parts come. */
static void sql_split(struct write_session *s)
{
    uint32_t id = s->plan->deployment;
    write_sql(s,
              "WITH h AS MATERIALIZED (SELECT * FROM chain.holes(%u::smallint)), d AS (DELETE FROM"
              " chain.coverage AS c WHERE c.deployment = %u AND EXISTS (SELECT FROM h WHERE"
              " h.from_ledger BETWEEN c.from_ledger AND c.to_ledger) RETURNING c.*), p AS (SELECT"
              " b.ledger AS from_ledger, coalesce((SELECT min(h.from_ledger) - 1 FROM h WHERE"
              " h.from_ledger BETWEEN b.ledger AND d.to_ledger), d.to_ledger) AS to_ledger FROM d,"
              " LATERAL (SELECT d.from_ledger AS ledger UNION ALL SELECT h.to_ledger + 1 FROM h"
              " WHERE h.from_ledger BETWEEN d.from_ledger AND d.to_ledger) AS b)",
              id, id);
    write_sql_more(s,
                   " INSERT INTO chain.coverage (deployment, from_ledger, to_ledger,"
                   " previous_hash, hash, closed_at) SELECT %u, p.from_ledger, p.to_ledger,"
                   " a.previous_hash, z.hash, z.closed_at FROM p JOIN chain.ledger AS a ON"
                   " a.deployment = %u AND a.ledger = p.from_ledger JOIN chain.ledger AS z ON"
                   " z.deployment = %u AND z.ledger = p.to_ledger WHERE p.from_ledger <="
                   " p.to_ledger",
                   id, id, id);
}

static void log_holes(const struct write_plan *plan, const struct tide_pg_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        tide_log(TIDE_WARN, "coverage.hole", "deployment=%u from=%s to=%s", plan->deployment,
                 tide_pg_text(rows, i, 0), tide_pg_text(rows, i, 1));
}

static tide_status uncover_holes(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    (void)arg;
    tide_status status = write_begin_long(m, err);
    if (status == TIDE_OK) {
        write_sql(s, "SELECT from_ledger, to_ledger FROM chain.holes(%u::smallint)",
                  s->plan->deployment);
        status = write_query_sql(s, err);
        if (status == TIDE_OK && s->rows.count) {
            log_holes(s->plan, &s->rows);
            sql_split(s);
            status = write_run_sql(s, "INSERT", err);
        }
    }
    if (status == TIDE_OK)
        status = write_commit(s, err);
    write_end_long(m);
    return status;
}

tide_status tide_writer_uncover(struct tide_writer *w, struct tide_err *err)
{
    return write_retry(&w->main, uncover_holes, NULL, false, err);
}
