/* Verifies the tables against each other: the chain of ledgers, rows and
 * their parents, state against history. */
#include "indexer/verify/verify.h"
#include "tidemark/catalogue.h"
#include "tidemark/table.h"

#include <stdarg.h>

/* --- counts ----------------------------------------------------------------------------- */

enum { TABLES_MAX = 2, SQL_MAX = 64 << 10 };

/* ---- the counts of chain.ledger ---- */

/* A count of chain.ledger, and the tables whose rows it counts. */
struct counted {
    const char *column; /* column of chain.ledger */
    const char *names[TABLES_MAX];
    uint32_t count;
};

static const struct counted counted[] = {
    { "our_txs", { "chain.tx" }, 1 },
    { "events", { "event.log", "event.raw" }, 2 },
    { "raw_events", { "event.raw" }, 1 },
    { "raw_states", { "history.raw" }, 1 },
};

/* Compares the count that the statement `from` finds in each ledger with the column of
 * chain.ledger. `names` are the tables for the report. */
static tide_status check_ledgers(struct tide_verify *check, const char *column, const char *names,
                                 const struct tide_buf *from, struct tide_err *err)
{
    struct tide_buf sql;
    tide_buf_init(&sql, SQL_MAX);
    tide_buf_putf(&sql,
                  "SELECT ledger, coalesce(r.n, 0), coalesce(l.n, 0), count(*) OVER () FROM"
                  " (SELECT ledger, \"%s\" AS n FROM chain.ledger WHERE deployment = $1"
                  " AND ledger BETWEEN $2 AND $3) AS l FULL JOIN (",
                  column);
    tide_buf_slice(&sql, tide_buf_view(from));
    tide_buf_str(&sql, ") AS r USING (ledger) WHERE coalesce(r.n, 0) <> coalesce(l.n, 0)"
                       " ORDER BY ledger LIMIT 1");
    tide_buf_u8(&sql, 0);
    tide_status status = sql.failed || from->failed
                             ? tide_fail(err, TIDE_E_LIMIT, "verify: statement too long")
                             : tide_verify_ask(check, (const char *)sql.ptr, err);
    tide_buf_release(&sql);
    if (status != TIDE_OK)
        return status;
    if (check->rows.count)
        tide_verify_report(
            check, "%s: ledger %s: %s rows, chain.ledger has %s (%s); %s ledgers differ", names,
            tide_pg_text(&check->rows, 0, 0), tide_pg_text(&check->rows, 0, 1),
            tide_pg_text(&check->rows, 0, 2), column, tide_pg_text(&check->rows, 0, 3));
    return TIDE_OK;
}

static void put_rows(struct tide_buf *from, bool more, const char *columns, const char *table)
{
    tide_buf_putf(from, "%sSELECT %s FROM %s WHERE deployment = $1 AND ledger BETWEEN $2 AND $3",
                  more ? " UNION ALL " : "", columns, table);
}

static tide_status check_rows(struct tide_verify *check, const struct counted *c,
                              struct tide_err *err)
{
    assert(c->count > 0 && c->count <= TABLES_MAX);
    char names[64];
    struct tide_buf from;
    tide_buf_init(&from, SQL_MAX);
    tide_buf_str(&from, "SELECT ledger, count(*) AS n FROM (");
    for (uint32_t i = 0; i < c->count; i++)
        put_rows(&from, i > 0, "ledger", c->names[i]);
    tide_buf_str(&from, ") AS x GROUP BY ledger");
    int len = snprintf(names, sizeof names, "%s%s%s", c->names[0], c->count > 1 ? " and " : "",
                       c->count > 1 ? c->names[1] : "");
    assert(len > 0 && (size_t)len < sizeof names);
    (void)len;
    tide_status status = check_ledgers(check, c->column, names, &from, err);
    tide_buf_release(&from);
    return status;
}

/* Compares the number of entry versions. A version of an instance that fits in part is in two
 * tables, hence DISTINCT. */
static tide_status check_versions(struct tide_verify *check, struct tide_err *err)
{
    uint32_t count;
    struct tide_buf from;
    const struct tide_table *tables = tide_tables(&count);
    bool more = false;
    tide_buf_init(&from, SQL_MAX);
    tide_buf_str(&from, "SELECT ledger, count(DISTINCT (tx, seq)) AS n FROM (");
    for (uint32_t i = 0; i < count; i++) {
        char name[96];
        if (tables[i].kind != TIDE_TABLE_HISTORY || i == TIDE_TABLE_HISTORY_TTL)
            continue;
        int len = snprintf(name, sizeof name, "history.\"%s\"", tables[i].name);
        assert(len > 0 && (size_t)len < sizeof name);
        (void)len;
        put_rows(&from, more, "ledger, tx, seq", name);
        more = true;
    }
    tide_buf_str(&from, ") AS x GROUP BY ledger");
    tide_status status = check_ledgers(check, "changes", "history", &from, err);
    tide_buf_release(&from);
    return status;
}

/* ---- rows and their parents: $1 deployment, $2 and $3 the range; count and first ledger ---- */

/* A comparison whose statement returns the number of wrong rows and their first ledger. */
struct belongs {
    const char *what;
    const char *sql;
};

#define IN_RANGE(t) t ".deployment = $1 AND " t ".ledger BETWEEN $2 AND $3"

static const struct belongs belongs[] = {
    { "chain.tx: transactions have another close time than their ledger",
      "SELECT count(*), min(t.ledger) FROM chain.tx AS t JOIN chain.ledger AS l ON"
      " l.deployment = t.deployment AND l.ledger = t.ledger"
      " WHERE l.closed_at <> t.closed_at AND " IN_RANGE("t") " AND " IN_RANGE("l") },
    { "event.log: events have no successful transaction in chain.tx",
      "SELECT count(*), min(e.ledger) FROM (SELECT * FROM event.log AS e "
      "WHERE " IN_RANGE("e") ") AS e LEFT JOIN (SELECT * FROM chain.tx AS t "
                             "WHERE " IN_RANGE("t") ") AS t ON t.ledger = e.ledger AND t.tx = e.tx "
                                                    "WHERE t.ledger IS NULL OR NOT t.ok OR"
                                                    " t.closed_at <> e.closed_at" },
    { "chain.call: calls have fewer events than event.log has of them",
      "SELECT count(*), min(c.ledger) FROM (SELECT * FROM chain.call AS c "
      "WHERE " IN_RANGE("c") ") AS c JOIN (SELECT ledger, tx, op, count(*) AS n FROM "
                             "event.log AS e WHERE " IN_RANGE(
                                 "e") " GROUP BY ledger, tx, op) AS e ON e.ledger = "
                                      "c.ledger AND e.tx = c.tx AND e.op = c.op"
                                      " WHERE e.n > c.events" },
};

static tide_status check_belongs(struct tide_verify *check, const struct belongs *b,
                                 struct tide_err *err)
{
    tide_status status = tide_verify_ask(check, b->sql, err);
    if (status != TIDE_OK)
        return status;
    assert(check->rows.count == 1 && check->rows.columns == 2); /* aggregates alone */
    if (tide_pg_u64(&check->rows, 0, 0))
        tide_verify_report(check, "%s: %s, first at ledger %s", b->what,
                           tide_pg_text(&check->rows, 0, 0), tide_pg_text(&check->rows, 0, 1));
    return TIDE_OK;
}

/* ---- the totals of status ---- */

/* Returns no rows while a range loads, whose rows are counted but not visible yet, and none if
 * partitions are archived. */
static const char totals_sql[] =
    "SELECT n.name, n.rows, n.said FROM chain.cursor AS c, (SELECT count(*) AS ledgers,"
    " coalesce(sum(our_txs), 0) AS transactions, coalesce(sum(events), 0) AS events,"
    " coalesce(sum(changes), 0) AS changes, coalesce(sum(raw_events), 0) AS raw_events,"
    " coalesce(sum(raw_states), 0) AS raw_states, coalesce(sum(raw_calls), 0) AS raw_calls,"
    " coalesce(sum(calls_verified), 0) AS verified,"
    " coalesce(sum(calls_rewritten), 0) AS rewritten, coalesce(sum(calls_unverified), 0) AS"
    " unverified FROM chain.ledger WHERE deployment = $1) AS l, LATERAL (VALUES"
    " ('ledgers', l.ledgers, c.ledgers), ('transactions', l.transactions, c.transactions),"
    " ('calls', (SELECT count(*) FROM chain.call WHERE deployment = $1),"
    " c.calls), ('events', l.events, c.events),"
    " ('changes', l.changes, c.changes), ('raw_events', l.raw_events, c.raw_events),"
    " ('raw_states', l.raw_states, c.raw_states), ('raw_calls', l.raw_calls, c.raw_calls),"
    " ('calls_verified', l.verified, c.calls_verified),"
    " ('calls_rewritten', l.rewritten, c.calls_rewritten),"
    " ('calls_unverified', l.unverified, c.calls_unverified)) AS n(name, rows, said)"
    " WHERE c.deployment = $1 AND n.rows <> n.said"
    " AND NOT EXISTS (SELECT FROM chain.partition WHERE deployment = $1 AND NOT attached AND "
    "first_loaded IS NOT NULL)"
    " AND NOT EXISTS (SELECT FROM chain.archive WHERE deployment = $1)";

static tide_status check_totals(struct tide_verify *check, struct tide_err *err)
{
    char id[8];
    struct tide_pg_rows rows;
    snprintf(id, sizeof id, "%u", check->deployment);
    tide_status status =
        tide_pg_query(check->pg, &rows, totals_sql, (const char *[]){ id }, 1, err);
    if (status != TIDE_OK)
        return status;
    for (uint32_t i = 0; i < rows.count; i++)
        tide_verify_report(check, "chain.cursor: %s %s, the tables have %s",
                           tide_pg_text(&rows, i, 0), tide_pg_text(&rows, i, 2),
                           tide_pg_text(&rows, i, 1));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Nested loops are off: rows just loaded have no statistics, so the planner would take a join of
 * many rows for a cheap loop. */
static tide_status check_all_belongs(struct tide_verify *check, struct tide_err *err)
{
    tide_status status = tide_pg_run(check->pg, "SET LOCAL enable_nestloop = off", "SET", err);
    for (size_t i = 0; i < TIDE_COUNT(belongs) && status == TIDE_OK; i++)
        status = check_belongs(check, &belongs[i], err);
    return status == TIDE_OK
               ? tide_pg_run(check->pg, "SET LOCAL enable_nestloop TO DEFAULT", "SET", err)
               : status;
}

/* Compares counts and owners of transactions, calls and events. tide_verify_stored calls it. */
static tide_status tide_verify_counts(struct tide_verify *check, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (size_t i = 0; i < TIDE_COUNT(counted) && status == TIDE_OK; i++)
        status = check_rows(check, &counted[i], err);
    if (status == TIDE_OK)
        status = check_versions(check, err);
    if (status == TIDE_OK)
        status = check_all_belongs(check, err);
    if (status == TIDE_OK && !check->part)
        status = check_totals(check, err);
    if (status == TIDE_OK)
        printf("counts  %zu comparisons of the tables with chain.ledger and chain.tx\n",
               TIDE_COUNT(counted) + TIDE_COUNT(belongs) + 1);
    return status;
}

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

tide_status tide_verify_ask(struct tide_verify *check, const char *sql, struct tide_err *err)
{
    tide_pg_rows_release(&check->rows);
    char id[8], from[16], to[16];
    snprintf(id, sizeof id, "%u", check->deployment);
    snprintf(from, sizeof from, "%u", check->range.from);
    snprintf(to, sizeof to, "%u", check->range.to);
    return tide_pg_query(check->pg, &check->rows, sql, (const char *[]){ id, from, to }, 3, err);
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
    tide_status status = tide_verify_ask(check, holes_sql, err);
    for (uint32_t i = 0; status == TIDE_OK && i < check->rows.count; i++) {
        const char *from = tide_pg_text(&check->rows, i, 0), *to = tide_pg_text(&check->rows, i, 1);
        tide_verify_report(check,
                           "chain.ledger: ledgers %s to %s count as indexed, and their rows are"
                           " missing: tidemark-indexer backfill --from %s --to %s",
                           from, to, from, to);
    }
    return status;
}

static tide_status check_chain(struct tide_verify *check, struct tide_err *err)
{
    tide_status status = tide_verify_ask(check, chain_sql, err);
    if (status != TIDE_OK)
        return status;
    uint64_t count = tide_pg_u64(&check->rows, 0, 0);
    uint64_t wanted = (uint64_t)check->range.to - check->range.from + 1;
    for (uint32_t i = 0; i < check->rows.count; i++)
        if (!tide_pg_is_null(&check->rows, i, 1))
            tide_verify_report(check, "chain.ledger: ledger %s does not follow ledger %s",
                               tide_pg_text(&check->rows, i, 1), tide_pg_text(&check->rows, i, 2));
    printf("chain   %" PRIu64 " ledgers, %u to %u\n", count, check->range.from, check->range.to);
    return count == wanted ? TIDE_OK : report_holes(check, err);
}

/* Compares one state table with the newest versions of its history. state.ttl is a view of it. */
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
        " seq, removed FROM asof.\"%s\" WHERE deployment = $1 ORDER BY key_hash, ledger DESC,"
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
        if (tables[i].kind == TIDE_TABLE_HISTORY && i != TIDE_TABLE_HISTORY_RAW &&
            i != TIDE_TABLE_HISTORY_TTL)
            status = check_pair(check, &tables[i], &total, err);
    if (status == TIDE_OK)
        printf("state   %" PRIu64 " entries, the newest of their history\n", total);
    return status;
}

tide_status tide_verify_stored(struct tide_verify *check, struct tide_err *err)
{
    tide_status status = check_chain(check, err);
    if (status == TIDE_OK)
        status = tide_verify_counts(check, err);
    return status == TIDE_OK ? check_state(check, err) : status;
}
