/* Verifies the tables against each other: the chain of ledgers, events against event.log, state
 * against history. */
#include "indexer/verify/verify.h"
#include "tidemark/catalogue.h"
#include "tidemark/table.h"

#include <stdarg.h>

void tide_verify_report(struct tide_verify *check, const char *format, ...)
{
    va_list args;
    if (check->wrong++ >= TIDE_VERIFY_SAID_MAX)
        return;
    va_start(args, format);
    fputs("WRONG  ", stdout);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

tide_status tide_verify_ask(struct tide_verify *check, struct tide_pg_rows *rows, const char *sql,
                            struct tide_err *err)
{
    char id[8], from[16], to[16];
    snprintf(id, sizeof id, "%u", check->deployment);
    snprintf(from, sizeof from, "%u", check->range.from);
    snprintf(to, sizeof to, "%u", check->range.to);
    return tide_pg_query(check->pg, rows, sql, (const char *[]){ id, from, to }, 3, err);
}

static const char chain_sql[] =
    "WITH l AS (SELECT ledger, previous_hash, lag(ledger) OVER w AS before, lag(hash) OVER w AS "
    "hash"
    " FROM chain.ledger WHERE deployment = $1 AND ledger BETWEEN $2 AND $3"
    " WINDOW w AS (ORDER BY ledger))"
    " SELECT (SELECT count(*) FROM l), l.ledger, l.before FROM (SELECT) AS one LEFT JOIN l"
    " ON l.before = l.ledger - 1 AND l.hash <> l.previous_hash ORDER BY l.ledger LIMIT 20";

static const char holes_sql[] =
    "SELECT h.from_ledger, h.to_ledger FROM chain.holes($1::smallint) AS h WHERE h.to_ledger >= $2"
    " AND h.from_ledger <= $3";

/* Names the ledgers that count as indexed and have no row, with the command that reads them. */
static tide_status report_holes(struct tide_verify *check, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_verify_ask(check, &rows, holes_sql, err);
    for (uint32_t i = 0; status == TIDE_OK && i < rows.count; i++) {
        const char *from = tide_pg_text(&rows, i, 0), *to = tide_pg_text(&rows, i, 1);
        tide_verify_report(check,
                           "chain.ledger: ledgers %s to %s count as indexed, and their rows are"
                           " missing: tidemark-indexer backfill --from %s --to %s",
                           from, to, from, to);
    }
    tide_pg_rows_release(&rows);
    return status;
}

static tide_status check_chain(struct tide_verify *check, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_verify_ask(check, &rows, chain_sql, err);
    if (status != TIDE_OK)
        return status;
    uint64_t count = tide_pg_u64(&rows, 0, 0);
    uint64_t wanted = (uint64_t)check->range.to - check->range.from + 1;
    for (uint32_t i = 0; i < rows.count; i++)
        if (!tide_pg_is_null(&rows, i, 1))
            tide_verify_report(check, "chain.ledger: ledger %s does not follow ledger %s",
                               tide_pg_text(&rows, i, 1), tide_pg_text(&rows, i, 2));
    printf("chain   %" PRIu64 " ledgers, %u to %u\n", count, check->range.from, check->range.to);
    tide_pg_rows_release(&rows);
    return count == wanted ? TIDE_OK : report_holes(check, err);
}

/* Compares the rows of one event table with the rows of that kind in event.log. */
static tide_status check_kind(struct tide_verify *check, const struct tide_table *table,
                              uint64_t *total, struct tide_err *err)
{
    char sql[1024];
    struct tide_pg_rows rows;
    int len = snprintf(
        sql, sizeof sql,
        "SELECT count(*) FILTER (WHERE e.ledger IS NOT NULL), min(coalesce(e.ledger, l.ledger))"
        " FILTER (WHERE e.ledger IS NULL OR l.ledger IS NULL) FROM (SELECT * FROM"
        " event.\"%s\" WHERE deployment = $1 AND ledger BETWEEN $2 AND $3) AS e FULL JOIN (SELECT"
        " * FROM event.log WHERE deployment = $1 AND ledger BETWEEN $2 AND $3 AND kind = '%s')"
        " AS l ON l.ledger = e.ledger AND l.tx = e.tx AND l.op = e.op AND l.event = e.event",
        table->name, table->name);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    tide_status status = tide_verify_ask(check, &rows, sql, err);
    if (status != TIDE_OK)
        return status;
    *total += tide_pg_u64(&rows, 0, 0);
    if (!tide_pg_is_null(&rows, 0, 1))
        tide_verify_report(check, "event.%s and event.log differ, first at ledger %s", table->name,
                           tide_pg_text(&rows, 0, 1));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static tide_status check_events(struct tide_verify *check, struct tide_err *err)
{
    uint32_t count;
    uint64_t total = 0;
    const struct tide_table *tables = tide_tables(&count);
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < TIDE_EV_COUNT && status == TIDE_OK; i++) {
        assert((uint32_t)tide_events()[i].table < count);
        status = check_kind(check, &tables[tide_events()[i].table], &total, err);
    }
    if (status == TIDE_OK)
        printf("events  %" PRIu64 " in their tables and the log\n", total);
    return status;
}

/* Compares one state table with the newest versions of its history. */
static tide_status check_pair(struct tide_verify *check, const struct tide_table *history,
                              uint64_t *total, struct tide_err *err)
{
    char sql[2048], id[8];
    struct tide_pg_rows rows;
    snprintf(id, sizeof id, "%u", check->deployment);
    int len = snprintf(
        sql, sizeof sql,
        "SELECT count(s.key_hash), count(*) FILTER (WHERE CASE WHEN s.key_hash IS NULL THEN NOT"
        " n.removed ELSE n.key_hash IS NULL OR n.removed OR (n.ledger, n.tx, n.seq) <>"
        " (s.ledger, s.tx, s.seq) END) FROM (SELECT DISTINCT ON (key_hash) key_hash, ledger, tx,"
        " seq, removed FROM history.\"%s\" WHERE deployment = $1 ORDER BY key_hash, ledger DESC,"
        " tx DESC, seq DESC) AS n FULL JOIN (SELECT * FROM state.\"%s\" WHERE deployment = $1)"
        " AS s ON s.key_hash = n.key_hash",
        history->name, history->name);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    tide_status status = tide_pg_query(check->pg, &rows, sql, (const char *[]){ id }, 1, err);
    if (status != TIDE_OK)
        return status;
    *total += tide_pg_u64(&rows, 0, 0);
    if (tide_pg_u64(&rows, 0, 1))
        tide_verify_report(check, "state.%s: %s entries are not the newest of their history",
                           history->name, tide_pg_text(&rows, 0, 1));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static tide_status check_state(struct tide_verify *check, struct tide_err *err)
{
    uint32_t count;
    uint64_t total = 0;
    const struct tide_table *tables = tide_tables(&count);
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        if (tables[i].kind == TIDE_TABLE_HISTORY && i != TIDE_TABLE_HISTORY_RAW)
            status = check_pair(check, &tables[i], &total, err);
    if (status == TIDE_OK)
        printf("state   %" PRIu64 " entries and lifetimes, the newest of their history\n", total);
    return status;
}

tide_status tide_verify_stored(struct tide_verify *check, struct tide_err *err)
{
    tide_status status = check_chain(check, err);
    if (status == TIDE_OK)
        status = check_events(check, err);
    if (status == TIDE_OK)
        status = tide_verify_counts(check, err);
    return status == TIDE_OK ? check_state(check, err) : status;
}
