/* Comparisons within the tables: counts of rows against chain.ledger and chain.cursor, and rows
 * against the rows that they belong to. */
#include "indexer/verify/verify.h"
#include "tidemark/table.h"

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
    struct tide_pg_rows rows;
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
                             : tide_verify_ask(check, &rows, (const char *)sql.ptr, err);
    tide_buf_release(&sql);
    if (status != TIDE_OK)
        return status;
    if (rows.count)
        tide_verify_report(check,
                           "%s: ledger %s: %s rows, chain.ledger has %s (%s); %s ledgers differ",
                           names, tide_pg_text(&rows, 0, 0), tide_pg_text(&rows, 0, 1),
                           tide_pg_text(&rows, 0, 2), column, tide_pg_text(&rows, 0, 3));
    tide_pg_rows_release(&rows);
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
    { "chain.call: calls differ from their transaction in chain.tx",
      "SELECT count(*), min(c.ledger) FROM (SELECT * FROM chain.call AS c "
      "WHERE " IN_RANGE("c") ") AS c LEFT JOIN (SELECT * FROM chain.tx AS t "
                             "WHERE " IN_RANGE(
                                 "t") ") AS t ON t.ledger = c.ledger AND t.tx = c.tx "
                                      "WHERE t.ledger IS NULL OR"
                                      " (t.hash, t.ok, t.closed_at) <> (c.hash, c.ok, "
                                      "c.closed_at)" },
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
    struct tide_pg_rows rows;
    tide_status status = tide_verify_ask(check, &rows, b->sql, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.count == 1 && rows.columns == 2); /* aggregates alone */
    if (tide_pg_u64(&rows, 0, 0))
        tide_verify_report(check, "%s: %s, first at ledger %s", b->what, tide_pg_text(&rows, 0, 0),
                           tide_pg_text(&rows, 0, 1));
    tide_pg_rows_release(&rows);
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

tide_status tide_verify_counts(struct tide_verify *check, struct tide_err *err)
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
