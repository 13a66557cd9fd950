#include "indexer/write/writer_impl.h"
#include "tidemark/text.h"

#include <stddef.h>

/* The running transaction's last words: how far the tables stand, and the wake-up for readers. */

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
    if (counts)
        memcpy(&n, (const uint8_t *)counts + totals[i].offset, sizeof n);
    return n;
}

tide_status writer_count(struct tide_writer *w, const struct tide_batch_counts *counts,
                         struct tide_err *err)
{
    writer_sql(w, "UPDATE chain.cursor SET moves = moves + 1");
    for (size_t i = 0; counts && i < TIDE_COUNT(totals); i++)
        writer_sql_more(w, ", %s = %s + %" PRIu64, totals[i].column, totals[i].column,
                        total(counts, i));
    writer_sql_more(w, " WHERE deployment = %u", w->deployment);
    return writer_run_sql(w, "UPDATE 1", err);
}

/* ---- the statement of every ledger at the tip: the range before this one grows ---- */

enum { FIXED_VALUES = 6, VALUES = FIXED_VALUES + TIDE_COUNT(totals), VALUE_MAX = 72 };
static_assert((int)VALUES <= (int)TIDE_PG_PARAMS_MAX, "one statement");

static const char *cover_name(bool moves_cursor)
{
    return moves_cursor ? "cover" : "cover_behind";
}

tide_status writer_cover_prepare(struct tide_writer *w, bool moves_cursor, struct tide_err *err)
{
    if (w->session.covers[moves_cursor])
        return TIDE_OK;
    writer_sql(w, "WITH c AS (UPDATE chain.cursor SET moves = moves + 1");
    for (size_t i = 0; i < TIDE_COUNT(totals); i++)
        writer_sql_more(w, ", %s = %s + $%zu::bigint", totals[i].column, totals[i].column,
                        i + FIXED_VALUES + 1);
    if (moves_cursor)
        writer_sql_more(w, ", moved_at = clock_timestamp(), ledger = $2::integer,"
                           " hash = $3::bytea, closed_at = to_timestamp($4::bigint)");
    writer_sql_more(w, " WHERE deployment = $1::smallint RETURNING 1), v AS (UPDATE chain.coverage"
                       " SET to_ledger = $2::integer, hash = $3::bytea,"
                       " closed_at = to_timestamp($4::bigint) WHERE deployment = $1::smallint"
                       " AND to_ledger = $5::integer AND hash = $6::bytea RETURNING 1)"
                       " SELECT (SELECT count(*) FROM c), (SELECT count(*) FROM v),"
                       /* The queue is the whole server's, and any login can fill it. */
                       " CASE WHEN pg_notification_queue_usage() < 0.5 THEN pg_notify('tidemark',"
                       " $1::smallint::text || ' ' || $2::integer::text) END");
    tide_status status = writer_sql_sealed(w, err);
    if (status == TIDE_OK)
        status = tide_pg_prepare(w->pg, cover_name(moves_cursor), (const char *)w->sql.ptr, err);
    w->session.covers[moves_cursor] = status == TIDE_OK;
    w->session.unsure |= status != TIDE_OK;
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

static void fill_values(const struct tide_writer *w, struct cover_values *v, const struct cover *c)
{
    snprintf(v->text[0], VALUE_MAX, "%u", w->deployment);
    snprintf(v->text[1], VALUE_MAX, "%u", c->to);
    hash_text(v->text[2], c->hash);
    snprintf(v->text[3], VALUE_MAX, "%" PRIu64, c->close_time);
    snprintf(v->text[4], VALUE_MAX, "%u", c->from - 1);
    hash_text(v->text[5], c->previous_hash);
    for (size_t i = 0; i < TIDE_COUNT(totals); i++)
        snprintf(v->text[FIXED_VALUES + i], VALUE_MAX, "%" PRIu64, total(c->counts, i));
    for (size_t i = 0; i < (size_t)VALUES; i++)
        v->values[i] = v->text[i];
}

tide_status writer_cover_send(struct tide_writer *w, const struct cover *c, struct tide_err *err)
{
    struct cover_values v;
    fill_values(w, &v, c);
    return tide_pg_pipe_execute(w->pg, cover_name(c->moves_cursor), v.values, VALUES, err);
}

tide_status writer_covered(struct tide_writer *w, const struct tide_pg_rows *rows, uint64_t *grown,
                           struct tide_err *err)
{
    if (rows->count != 1 || tide_pg_u64(rows, 0, 0) != 1)
        return tide_fail(err, TIDE_E_FENCED, "writer: the cursor of deployment %u is gone",
                         w->deployment);
    *grown = tide_pg_u64(rows, 0, 1);
    return TIDE_OK;
}

/* Ranges that touch from..to, for a message: overlap is a conflict, a hash that differs a break. */
static tide_status check_neighbours(struct tide_writer *w, const struct cover *c, bool grown,
                                    struct tide_err *err)
{
    struct tide_pg_rows rows;
    writer_sql(w, "SELECT from_ledger, to_ledger, to_ledger = %u AND hash <> ", c->from - 1);
    writer_sql_hash(w, c->previous_hash);
    writer_sql_more(w, " OR from_ledger = %u AND previous_hash <> ", c->to + 1);
    writer_sql_hash(w, c->hash);
    writer_sql_more(w,
                    ", from_ledger <= %u AND to_ledger >= %u FROM chain.coverage"
                    " WHERE deployment = %u AND from_ledger <= %u AND to_ledger >= %u",
                    c->to, c->from, w->deployment, c->to + 1, c->from - 1);
    tide_status status = writer_query_sql(w, &rows, err);
    for (uint32_t i = 0; status == TIDE_OK && i < rows.count; i++) {
        const char *from = tide_pg_text(&rows, i, 0), *to = tide_pg_text(&rows, i, 1);
        if (tide_pg_bool(&rows, i, 2))
            status = tide_fail(err, TIDE_E_CHAIN,
                               "ledgers %u..%u do not link to the indexed %s..%s: another network,"
                               " or a reset one; compare the source and the database",
                               c->from, c->to, from, to);
        else if (tide_pg_bool(&rows, i, 3) && !(grown && tide_pg_u64(&rows, i, 1) == c->to))
            status = tide_fail(err, TIDE_E_CONFLICT, "ledgers %u..%u overlap the indexed %s..%s",
                               c->from, c->to, from, to);
    }
    tide_pg_rows_release(&rows);
    return status;
}

static tide_status insert_range(struct tide_writer *w, const struct cover *c, struct tide_err *err)
{
    writer_sql(w,
               "INSERT INTO chain.coverage (deployment, from_ledger, to_ledger, previous_hash,"
               " hash, closed_at) VALUES (%u, %u, %u, ",
               w->deployment, c->from, c->to);
    writer_sql_hash(w, c->previous_hash);
    writer_sql_more(w, ", ");
    writer_sql_hash(w, c->hash);
    writer_sql_more(w, ", ");
    writer_sql_time(w, c->close_time);
    writer_sql_more(w, ")");
    return writer_run_sql(w, "INSERT", err);
}

/* Two ranges that touch become one. */
static tide_status join_next(struct tide_writer *w, const struct cover *c, struct tide_err *err)
{
    writer_sql(w,
               "WITH b AS (DELETE FROM chain.coverage WHERE deployment = %u AND from_ledger = %u"
               " RETURNING *) UPDATE chain.coverage a SET to_ledger = b.to_ledger, hash = b.hash,"
               " closed_at = b.closed_at FROM b WHERE a.deployment = %u AND a.to_ledger = %u",
               w->deployment, c->to + 1, w->deployment, c->to);
    return writer_run_sql(w, "UPDATE", err);
}

/* Completes the coverage if the range before did not just grow: inserts a range of its own, or
 * joins two. */
tide_status writer_cover_settle(struct tide_writer *w, const struct cover *c, uint64_t grown,
                                struct tide_err *err)
{
    if (grown && c->moves_cursor)
        return TIDE_OK;
    tide_status status = check_neighbours(w, c, grown > 0, err);
    if (status == TIDE_OK && !grown)
        status = insert_range(w, c, err);
    if (status == TIDE_OK)
        status = join_next(w, c, err);
    return status;
}

tide_status writer_cover(struct tide_writer *w, const struct cover *c, struct tide_err *err)
{
    struct cover_values v;
    struct tide_pg_rows rows = { 0 };
    uint64_t grown = 0;
    fill_values(w, &v, c);
    tide_status status = writer_cover_prepare(w, c->moves_cursor, err);
    if (status == TIDE_OK)
        status = tide_pg_execute(w->pg, &rows, cover_name(c->moves_cursor), v.values, VALUES, err);
    if (status == TIDE_OK)
        status = writer_covered(w, &rows, &grown, err);
    tide_pg_rows_release(&rows);
    return status == TIDE_OK ? writer_cover_settle(w, c, grown, err) : status;
}
