#include "indexer/writer_impl.h"

/* The running transaction's last words: how far the tables stand, and the wake-up for readers. */

static void sql_counts(struct tide_writer *w, const struct tide_batch_counts *c)
{
    writer_sql_more(w,
                    ", ledgers = ledgers + %" PRIu64 ", transactions = transactions + %" PRIu64
                    ", calls = calls + %" PRIu64 ", events = events + %" PRIu64
                    ", changes = changes + %" PRIu64 ", raw_events = raw_events + %" PRIu64
                    ", raw_states = raw_states + %" PRIu64
                    ", calls_verified = calls_verified + %" PRIu64
                    ", calls_rewritten = calls_rewritten + %" PRIu64
                    ", calls_unverified = calls_unverified + %" PRIu64,
                    c->ledgers, c->transactions, c->calls, c->events, c->changes, c->raw_events,
                    c->raw_states, c->calls_verified, c->calls_rewritten, c->calls_unverified);
}

tide_status writer_count(struct tide_writer *w, const struct tide_batch_counts *counts,
                         struct tide_err *err)
{
    writer_sql(w, "UPDATE chain.cursor SET moves = moves + 1");
    if (counts)
        sql_counts(w, counts);
    writer_sql_more(w, " WHERE deployment = %u", w->deployment);
    return writer_run_sql(w, "UPDATE 1", err);
}

/* One round trip for the case of every ledger at the tip: the range before this one grows. */
static tide_status advance(struct tide_writer *w, const struct cover *c, uint64_t *grown,
                           struct tide_err *err)
{
    struct tide_pg_rows rows;
    writer_sql(w, "WITH c AS (UPDATE chain.cursor SET moves = moves + 1");
    if (c->counts)
        sql_counts(w, c->counts);
    if (c->moves_cursor) {
        writer_sql_more(w, ", moved_at = clock_timestamp(), ledger = %u, hash = ", c->to);
        writer_sql_hash(w, c->hash);
        writer_sql_more(w, ", closed_at = ");
        writer_sql_time(w, c->close_time);
    }
    writer_sql_more(w,
                    " WHERE deployment = %u RETURNING 1), v AS (UPDATE chain.coverage SET"
                    " to_ledger = %u, hash = ",
                    w->deployment, c->to);
    writer_sql_hash(w, c->hash);
    writer_sql_more(w, ", closed_at = ");
    writer_sql_time(w, c->close_time);
    writer_sql_more(w, " WHERE deployment = %u AND to_ledger = %u AND hash = ", w->deployment,
                    c->from - 1);
    writer_sql_hash(w, c->previous_hash);
    writer_sql_more(w,
                    " RETURNING 1) SELECT (SELECT count(*) FROM c), (SELECT count(*) FROM v),"
                    " pg_notify('tidemark', '%u %u')",
                    w->deployment, c->to);
    tide_status status = writer_query_sql(w, &rows, err);
    if (status == TIDE_OK && (rows.count != 1 || tide_pg_u64(&rows, 0, 0) != 1))
        status = tide_fail(err, TIDE_E_FENCED, "writer: the cursor of deployment %u is gone",
                           w->deployment);
    if (status == TIDE_OK)
        *grown = tide_pg_u64(&rows, 0, 1);
    tide_pg_rows_release(&rows);
    return status;
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

tide_status writer_cover(struct tide_writer *w, const struct cover *c, struct tide_err *err)
{
    uint64_t grown = 0;
    tide_status status = advance(w, c, &grown, err);
    if (status != TIDE_OK || (grown && c->moves_cursor))
        return status;
    status = check_neighbours(w, c, grown > 0, err);
    if (status == TIDE_OK && !grown)
        status = insert_range(w, c, err);
    if (status == TIDE_OK)
        status = join_next(w, c, err);
    return status;
}
