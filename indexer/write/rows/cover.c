#include "indexer/write/rows/cover.h"
#include "tidemark/text.h"

#include <stddef.h>

/* The last statements of a transaction: counts, coverage and cursor, and the notification of
 * readers. */

static const struct {
    const char *column;
    size_t offset;
} totals[] = {
#define TOTAL(name)                                     \
    {                                                   \
#name, offsetof(struct tide_batch_counts, name) \
    }
    TOTAL(ledgers),         TOTAL(transactions),     TOTAL(calls),
    TOTAL(events),          TOTAL(changes),          TOTAL(raw_events),
    TOTAL(raw_states),      TOTAL(calls_verified),   TOTAL(raw_calls),
    TOTAL(calls_rewritten), TOTAL(calls_unverified),
#undef TOTAL
};
static_assert(sizeof(struct tide_batch_counts) == TIDE_COUNT(totals) * sizeof(uint64_t),
              "each count has a column");

static uint64_t total(const struct tide_batch_counts *counts, size_t i)
{
    uint64_t n = 0;
    assert(i < TIDE_COUNT(totals));
    if (counts)
        memcpy(&n, (const uint8_t *)counts + totals[i].offset, sizeof n);
    return n;
}

tide_status write_count(struct write_session *s, const struct tide_batch_counts *counts,
                        struct tide_err *err)
{
    write_sql(s, "UPDATE chain.cursor SET moves = moves + 1");
    for (size_t i = 0; counts && i < TIDE_COUNT(totals); i++)
        write_sql_more(s, ", %s = %s + %" PRIu64, totals[i].column, totals[i].column,
                       total(counts, i));
    write_sql_more(s, " WHERE deployment = %u", s->plan->deployment);
    return write_run_sql(s, "UPDATE 1", err);
}

/* ---- the statement of every ledger at the tip: the range before this one grows ---- */

enum { FIXED_VALUES = 6, VALUES = FIXED_VALUES + TIDE_COUNT(totals), VALUE_MAX = 72 };
static_assert((int)VALUES <= (int)TIDE_PG_PARAMS_MAX, "one statement");
static_assert((size_t)VALUE_MAX > 2 + 2 * TIDE_HASH_BYTES, "a hash as bytea text is the longest");

static const char *cover_name(bool moves_cursor)
{
    return moves_cursor ? "cover" : "cover_behind";
}

static void sql_cover(struct write_session *s, bool moves_cursor)
{
    write_sql(s, "WITH c AS (UPDATE chain.cursor SET moves = moves + 1");
    for (size_t i = 0; i < TIDE_COUNT(totals); i++)
        write_sql_more(s, ", %s = %s + $%zu::bigint", totals[i].column, totals[i].column,
                       i + FIXED_VALUES + 1);
    if (moves_cursor)
        write_sql_more(s, ", moved_at = clock_timestamp(), ledger = $2::integer,"
                          " hash = $3::bytea, closed_at = to_timestamp($4::bigint / 1000.0)");
    write_sql_more(s,
                   " WHERE deployment = $1::smallint RETURNING 1), v AS (UPDATE chain.coverage"
                   " SET to_ledger = $2::integer, hash = $3::bytea,"
                   " closed_at = to_timestamp($4::bigint / 1000.0) WHERE deployment = $1::smallint"
                   " AND to_ledger = $5::integer AND hash = $6::bytea RETURNING 1)"
                   " SELECT (SELECT count(*) FROM c), (SELECT count(*) FROM v),"
                   /* Notifies only while the queue is less than half full: the whole server
                       * shares it, and any login can fill it. */
                   " CASE WHEN pg_notification_queue_usage() < 0.5 THEN pg_notify('tidemark',"
                   " $1::smallint::text || ' ' || $2::integer::text) END");
}

tide_status write_cover_prepare(struct write_session *s, bool prepared[2], bool moves_cursor,
                                struct tide_err *err)
{
    if (prepared[moves_cursor])
        return TIDE_OK;
    sql_cover(s, moves_cursor);
    tide_status status = write_sql_sealed(s, err);
    if (status == TIDE_OK)
        status =
            tide_pg_prepare(write_pg(s), cover_name(moves_cursor), (const char *)s->sql.ptr, err);
    prepared[moves_cursor] = status == TIDE_OK;
    return status;
}

struct cover_values {
    char text[VALUES][VALUE_MAX];
    const char *values[VALUES];
};

static void hash_text(char out[VALUE_MAX], const uint8_t hash[TIDE_HASH_BYTES])
{
    memcpy(out, "\\x", 2);
    tide_hex(out + 2, tide_slice_of(hash, TIDE_HASH_BYTES));
    out[2 + 2 * TIDE_HASH_BYTES] = 0;
}

static void fill_values(const struct write_plan *plan, struct cover_values *v,
                        const struct write_cover *c)
{
    snprintf(v->text[0], VALUE_MAX, "%u", plan->deployment);
    snprintf(v->text[1], VALUE_MAX, "%u", c->to);
    hash_text(v->text[2], c->hash);
    snprintf(v->text[3], VALUE_MAX, "%" PRIu64, c->closed_ms);
    snprintf(v->text[4], VALUE_MAX, "%u", c->from - 1);
    hash_text(v->text[5], c->previous_hash);
    for (size_t i = 0; i < TIDE_COUNT(totals); i++)
        snprintf(v->text[FIXED_VALUES + i], VALUE_MAX, "%" PRIu64, total(c->counts, i));
    for (size_t i = 0; i < (size_t)VALUES; i++)
        v->values[i] = v->text[i];
}

tide_status write_cover_send(struct write_session *s, const struct write_cover *c,
                             struct tide_err *err)
{
    struct cover_values v;
    assert(c->from > 0 && c->from <= c->to);
    fill_values(s->plan, &v, c);
    return tide_pg_pipe_execute(write_pg(s), cover_name(c->moves_cursor), v.values, VALUES, err);
}

tide_status write_covered(const struct write_plan *plan, const struct tide_pg_rows *rows,
                          uint64_t *grown, struct tide_err *err)
{
    if (rows->count != 1 || tide_pg_u64(rows, 0, 0) != 1)
        return tide_fail(err, TIDE_E_FENCED, "writer: the cursor of deployment %u is gone",
                         plan->deployment);
    *grown = tide_pg_u64(rows, 0, 1);
    return TIDE_OK;
}

/* Compares the range with its neighbours: an overlap is TIDE_E_CONFLICT, a differing hash
 * TIDE_E_CHAIN. */
static tide_status check_neighbours(struct write_session *s, const struct write_cover *c,
                                    bool grown, struct tide_err *err)
{
    write_sql(s, "SELECT from_ledger, to_ledger, to_ledger = %u AND hash <> ", c->from - 1);
    write_sql_hash(s, c->previous_hash);
    write_sql_more(s, " OR from_ledger = %u AND previous_hash <> ", c->to + 1);
    write_sql_hash(s, c->hash);
    write_sql_more(s,
                   ", from_ledger <= %u AND to_ledger >= %u FROM chain.coverage"
                   " WHERE deployment = %u AND from_ledger <= %u AND to_ledger >= %u",
                   c->to, c->from, s->plan->deployment, c->to + 1, c->from - 1);
    tide_status status = write_query_sql(s, err);
    for (uint32_t i = 0; status == TIDE_OK && i < s->rows.count; i++) {
        const char *from = tide_pg_text(&s->rows, i, 0), *to = tide_pg_text(&s->rows, i, 1);
        if (tide_pg_bool(&s->rows, i, 2))
            status = tide_fail(err, TIDE_E_CHAIN,
                               "ledgers %u..%u do not link to the indexed %s..%s: another network,"
                               " or a reset one; compare the source and the database",
                               c->from, c->to, from, to);
        else if (tide_pg_bool(&s->rows, i, 3) && !(grown && tide_pg_u64(&s->rows, i, 1) == c->to))
            status = tide_fail(err, TIDE_E_CONFLICT, "ledgers %u..%u overlap the indexed %s..%s",
                               c->from, c->to, from, to);
    }
    return status;
}

static tide_status insert_range(struct write_session *s, const struct write_cover *c,
                                struct tide_err *err)
{
    write_sql(s,
              "INSERT INTO chain.coverage (deployment, from_ledger, to_ledger, previous_hash,"
              " hash, closed_at) VALUES (%u, %u, %u, ",
              s->plan->deployment, c->from, c->to);
    write_sql_hash(s, c->previous_hash);
    write_sql_more(s, ", ");
    write_sql_hash(s, c->hash);
    write_sql_more(s, ", ");
    write_sql_time(s, c->closed_ms);
    write_sql_more(s, ")");
    return write_run_sql(s, "INSERT", err);
}

/* Joins the range with the one that follows it. */
static tide_status join_next(struct write_session *s, const struct write_cover *c,
                             struct tide_err *err)
{
    write_sql(s,
              "WITH b AS (DELETE FROM chain.coverage WHERE deployment = %u AND from_ledger = %u"
              " RETURNING *) UPDATE chain.coverage a SET to_ledger = b.to_ledger, hash = b.hash,"
              " closed_at = b.closed_at FROM b WHERE a.deployment = %u AND a.to_ledger = %u",
              s->plan->deployment, c->to + 1, s->plan->deployment, c->to);
    return write_run_sql(s, "UPDATE", err);
}

/* Completes the coverage. Unless the previous range grew by this one, inserts a range of its own.
 * Joins ranges that touch. */
tide_status write_cover_settle(struct write_session *s, const struct write_cover *c, uint64_t grown,
                               struct tide_err *err)
{
    assert(c->from > 0 && c->from <= c->to);
    if (grown && c->moves_cursor)
        return TIDE_OK;
    tide_status status = check_neighbours(s, c, grown > 0, err);
    if (status == TIDE_OK && !grown)
        status = insert_range(s, c, err);
    if (status == TIDE_OK)
        status = join_next(s, c, err);
    return status;
}

tide_status write_cover(struct write_session *s, const struct write_cover *c, struct tide_err *err)
{
    struct cover_values v;
    struct tide_pg_rows rows = { 0 };
    uint64_t grown = 0;
    assert(c->from > 0 && c->from <= c->to);
    fill_values(s->plan, &v, c);
    sql_cover(s, c->moves_cursor);
    tide_status status = write_sql_sealed(s, err);
    if (status == TIDE_OK)
        status = tide_pg_query(write_pg(s), &rows, (const char *)s->sql.ptr, v.values, VALUES, err);
    if (status == TIDE_OK)
        status = write_covered(s->plan, &rows, &grown, err);
    tide_pg_rows_release(&rows);
    return status == TIDE_OK ? write_cover_settle(s, c, grown, err) : status;
}

void write_sql_note_discovered(struct write_session *s, const struct tide_batch *batch)
{
    assert(batch->from > 0 && batch->from <= batch->to);
    write_sql(s,
              "SELECT chain.note_discovered(%u::smallint, ARRAY(SELECT DISTINCT n.contract FROM"
              " chain.contract_seen AS n WHERE n.deployment = %u AND n.ledger BETWEEN %u AND %u"
              " AND n.what IN ('discovered', 'asset', 'token')))",
              s->plan->deployment, s->plan->deployment, batch->from, batch->to);
}

tide_status write_note_discovered(struct write_session *s, const struct tide_batch *batch,
                                  struct tide_err *err)
{
    if (!write_plan_has_contracts(s->plan) ||
        !(batch->settled || tide_batch_saw(batch, "discovered")))
        return TIDE_OK;
    write_sql_note_discovered(s, batch);
    return write_run_sql(s, "SELECT", err);
}
