/* Rows of chain.partition, and the tables that they stand for. */
#include "indexer/write/load/partition.h"

struct question {
    uint32_t ledger;
    uint32_t *from, *end;
};

static tide_status read_bounds(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct question *q = arg;
    struct tide_pg_rows rows;
    write_sql(s,
              "SELECT attached, from_ledger, end_ledger FROM chain.partition WHERE deployment = %u"
              " AND from_ledger <= %u AND end_ledger > %u",
              s->plan->deployment, q->ledger, q->ledger);
    tide_status status = write_query_sql(s, &rows, err);
    bool attached = status == TIDE_OK && rows.count == 1 && tide_pg_bool(&rows, 0, 0);
    *q->from = attached ? (uint32_t)tide_pg_u64(&rows, 0, 1) : 0;
    *q->end = attached ? (uint32_t)tide_pg_u64(&rows, 0, 2) : 0;
    tide_pg_rows_release(&rows);
    return status;
}

tide_status load_partition_find(struct write_main *m, uint32_t ledger, uint32_t *from,
                                uint32_t *end, struct tide_err *err)
{
    const struct question question = { ledger, from, end };
    return write_retry(m, read_bounds, &question, false, err);
}

static void sql_create(struct write_session *s, const struct tide_table *table, uint32_t from)
{
    write_sql_more(s, "CREATE TABLE ");
    write_sql_leaf(s, table, from);
    write_sql_more(s,
                   " (LIKE %s.\"%s\" INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE,"
                   " CONSTRAINT loading CHECK (deployment = %u AND ledger >= %u AND ledger < %u));",
                   tide_table_stored(table)->schema, table->name, s->plan->deployment, from,
                   write_plan_end(s->plan, from));
}

/* Inserts the row first, so that another session that makes the same partition waits for it and
 * then takes it. */
tide_status load_partition_make(struct write_session *s, uint32_t from, struct tide_err *err)
{
    struct tide_pg_rows rows;
    uint32_t end = write_plan_end(s->plan, from), size = s->plan->partition_ledgers;
    assert(write_plan_partition(s->plan, from) == from && write_plan_fits(s->plan, from));
    write_sql(s,
              "INSERT INTO chain.partition (deployment, from_ledger, end_ledger, attached, cut_of)"
              " VALUES (%u, %u, %u, false, nullif(%u, 0)) ON CONFLICT DO NOTHING RETURNING 1",
              s->plan->deployment, from, end, end - from < size ? size : 0);
    tide_status status = write_query_sql(s, &rows, err);
    bool there = status == TIDE_OK && rows.count == 0;
    tide_pg_rows_release(&rows);
    if (status != TIDE_OK || there)
        return status;
    write_sql(s, "%s", "");
    for (uint32_t i = 0; i < s->plan->table_count; i++)
        if (s->plan->tables[i].partitioned)
            sql_create(s, &s->plan->tables[i], from);
    status = write_run_sql(s, "CREATE TABLE", err);
    return status == TIDE_OK ? write_point(TIDE_FAILPOINT("partition.created"), err) : status;
}

/* Appends what the ledgers of the partition added to the totals. */
static void sql_uncount(struct write_session *s, uint32_t from)
{
    const struct tide_table *tables = s->plan->tables;
    write_sql_more(s,
                   "UPDATE chain.cursor AS c SET moves = moves + 1, ledgers = c.ledgers -"
                   " l.ledgers, transactions = transactions - our_txs, calls = calls - n, events ="
                   " c.events - l.events, changes = c.changes - l.changes, raw_events ="
                   " c.raw_events - l.raw_events, raw_states = c.raw_states - l.raw_states,"
                   " raw_calls = c.raw_calls - l.raw_calls, calls_verified = c.calls_verified -"
                   " l.verified, calls_rewritten = c.calls_rewritten - rewritten,"
                   " calls_unverified = c.calls_unverified - unverified FROM (SELECT count(*) AS"
                   " ledgers, coalesce(sum(our_txs), 0) AS our_txs, coalesce(sum(events), 0) AS"
                   " events, coalesce(sum(changes), 0) AS changes, coalesce(sum(raw_events), 0) AS"
                   " raw_events, coalesce(sum(raw_states), 0) AS raw_states,"
                   " coalesce(sum(raw_calls), 0) AS raw_calls, coalesce(sum(calls_verified), 0) AS"
                   " verified, coalesce(sum(calls_rewritten), 0) AS rewritten,"
                   " coalesce(sum(calls_unverified), 0) AS unverified FROM ");
    write_sql_leaf(s, &tables[TIDE_TABLE_LEDGER], from);
    write_sql_more(s, ") AS l, (SELECT ");
    write_sql_more(s, "count(*) AS n FROM ");
    write_sql_leaf(s, &tables[TIDE_TABLE_CALL], from);
    write_sql_more(s, ") AS k WHERE c.deployment = %u; ", s->plan->deployment);
}

tide_status load_partition_drop(struct write_session *s, uint32_t from, struct tide_err *err)
{
    const char *before = "DROP TABLE ";
    write_sql(s, "%s", "");
    sql_uncount(s, from);
    for (uint32_t i = 0; i < s->plan->table_count; i++) {
        if (!s->plan->tables[i].partitioned)
            continue;
        write_sql_more(s, "%s", before);
        write_sql_leaf(s, &s->plan->tables[i], from);
        before = ", ";
    }
    write_sql_more(s, "; DELETE FROM chain.partition WHERE deployment = %u AND from_ledger = %u",
                   s->plan->deployment, from);
    return write_run_sql(s, "DELETE 1", err);
}
