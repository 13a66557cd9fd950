#include "indexer/write/writer_impl.h"
#include "tidemark/log.h"

struct hash_question {
    uint32_t ledger;
    bool *known;
    uint8_t *hash;
};

static tide_status read_hash(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct hash_question *q = arg;
    struct tide_pg_rows rows;
    write_sql(s,
              "SELECT hash FROM chain.coverage WHERE deployment = %u AND to_ledger = %u UNION ALL"
              " SELECT previous_hash FROM chain.coverage WHERE deployment = %u AND from_ledger = %u"
              " UNION ALL SELECT hash FROM chain.partition WHERE deployment = %u AND NOT attached"
              " AND last_loaded = %u",
              s->plan->deployment, q->ledger, s->plan->deployment, q->ledger + 1,
              s->plan->deployment, q->ledger);
    tide_status status = write_query_sql(s, &rows, err);
    *q->known =
        status == TIDE_OK && rows.count > 0 && tide_pg_bytes(&rows, 0, 0, q->hash, TIDE_HASH_BYTES);
    tide_pg_rows_release(&rows);
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
    struct tide_pg_rows rows;
    write_sql(s,
              "SELECT from_ledger, to_ledger FROM chain.coverage WHERE deployment = %u UNION ALL"
              " SELECT first_loaded, last_loaded FROM chain.partition WHERE deployment = %u"
              " AND NOT attached AND last_loaded IS NOT NULL ORDER BY 1",
              s->plan->deployment, s->plan->deployment);
    tide_status status = write_query_sql(s, &rows, err);
    assert(q->max > 0 && q->wanted.from <= q->wanted.to);
    uint32_t at = q->wanted.from, found = 0;
    for (uint32_t i = 0; status == TIDE_OK && i < rows.count; i++) {
        uint32_t from = (uint32_t)tide_pg_u64(&rows, i, 0), to = (uint32_t)tide_pg_u64(&rows, i, 1);
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
    tide_pg_rows_release(&rows);
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
    struct tide_pg_rows rows;
    (void)arg;
    tide_status status = write_begin_long(m, err);
    if (status == TIDE_OK) {
        write_sql(s, "SELECT from_ledger, to_ledger FROM chain.holes(%u::smallint)",
                  s->plan->deployment);
        status = write_query_sql(s, &rows, err);
        if (status == TIDE_OK && rows.count) {
            log_holes(s->plan, &rows);
            sql_split(s);
            status = write_run_sql(s, "INSERT", err);
        }
        tide_pg_rows_release(&rows);
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
