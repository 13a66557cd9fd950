/* Rows of chain.partition, and the tables that they stand for. */
#include "indexer/write/load/partition.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <stdlib.h>

struct question {
    uint32_t ledger;
    uint32_t *from, *end;
};

static tide_status read_bounds(struct write_main *m, const void *arg, struct tide_err *err)
{
    struct write_session *s = &m->session;
    const struct question *q = arg;
    write_sql(s,
              "SELECT attached, from_ledger, end_ledger FROM chain.partition WHERE deployment = %u"
              " AND from_ledger <= %u AND end_ledger > %u",
              s->plan->deployment, q->ledger, q->ledger);
    tide_status status = write_query_sql(s, err);
    bool attached = status == TIDE_OK && s->rows.count == 1 && tide_pg_bool(&s->rows, 0, 0);
    *q->from = attached ? (uint32_t)tide_pg_u64(&s->rows, 0, 1) : 0;
    *q->end = attached ? (uint32_t)tide_pg_u64(&s->rows, 0, 2) : 0;
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
                   " (LIKE %s.\"%s\" INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE"
                   " INCLUDING STATISTICS,"
                   " CONSTRAINT loading CHECK (deployment = %u AND ledger >= %u AND ledger < %u));",
                   tide_table_stored(table)->schema, tide_table_stored(table)->name,
                   s->plan->deployment, from, write_plan_end(s->plan, from));
}

/* Inserts the row first, so that another session that makes the same partition waits for it and
 * then takes it. */
tide_status load_partition_make(struct write_session *s, uint32_t from, struct tide_err *err)
{
    uint32_t end = write_plan_end(s->plan, from), size = s->plan->partition_ledgers;
    assert(write_plan_partition(s->plan, from) == from && write_plan_fits(s->plan, from));
    write_sql(s,
              "INSERT INTO chain.partition (deployment, from_ledger, end_ledger, attached, cut_of)"
              " VALUES (%u, %u, %u, false, nullif(%u, 0)) ON CONFLICT DO NOTHING RETURNING 1",
              s->plan->deployment, from, end, end - from < size ? size : 0);
    tide_status status = write_query_sql(s, err);
    bool there = status == TIDE_OK && s->rows.count == 0;
    if (status != TIDE_OK || there)
        return status;
    write_sql(s, "%s", "");
    for (uint32_t i = 0; i < s->plan->table_count; i++)
        if (s->plan->tables[i].partitioned && tide_table_owns(s->plan->tables, i))
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
    write_sql_more(s, "count(contract) AS n FROM ");
    write_sql_leaf(s, &tables[TIDE_TABLE_CALL], from);
    write_sql_more(s, ") AS k WHERE c.deployment = %u; ", s->plan->deployment);
}

tide_status load_partition_drop(struct write_session *s, uint32_t from, struct tide_err *err)
{
    const char *before = "DROP TABLE ";
    write_sql(s, "%s", "");
    sql_uncount(s, from);
    for (uint32_t i = 0; i < s->plan->table_count; i++) {
        if (!s->plan->tables[i].partitioned || !tide_table_owns(s->plan->tables, i))
            continue;
        write_sql_more(s, "%s", before);
        write_sql_leaf(s, &s->plan->tables[i], from);
        before = ", ";
    }
    write_sql_more(s, "; DELETE FROM chain.partition WHERE deployment = %u AND from_ledger = %u",
                   s->plan->deployment, from);
    return write_run_sql(s, "DELETE 1", err);
}

/* ---- the next partition ---- */

/* Makes the tables of the next partition in a thread with a session of its own. PostgreSQL waits
 * for the disk once for each table, and the writer's session would wait with it. A spare partition
 * has its row in chain.partition and no rows. The loader takes it when it creates that partition,
 * in this process or, after a kill, in the next one. If the spare cannot be made, the loader makes
 * the tables. The thread gives up when the writer stops, when the lease is lost, or when its server
 * is silent (silence_ms). */
struct load_spare {
    struct write_session session;  /* used by the thread while it runs */
    const struct write_main *main; /* borrowed, for its lease */
    uint32_t from;
    atomic_bool stopped, ended;
    pthread_t thread;
};

static bool is_stopped(void *self)
{
    const struct load_spare *spare = self;
    return atomic_load(&spare->stopped) || write_plan_stopped(spare->session.plan) ||
           write_main_is_lost(spare->main);
}

static tide_status make_spare(struct load_spare *spare, struct tide_err *err)
{
    struct write_session *s = &spare->session;
    assert(s->owner == WRITE_OWNER_SPARE);
    tide_status status = write_session_open(s, is_stopped, spare, err);
    if (status == TIDE_OK) {
        tide_pg_patience(write_pg(s), s->plan->silence_ms);
        status = tide_pg_run(write_pg(s), "BEGIN", "BEGIN", err);
    }
    if (status == TIDE_OK)
        status = load_partition_make(s, spare->from, err);
    return status == TIDE_OK ? tide_pg_run(write_pg(s), "COMMIT", "COMMIT", err) : status;
}

static void *create_spare_tables(void *self)
{
    struct load_spare *spare = self;
    struct tide_err err;
    tide_liveness_begin("partition", TIDE_LIVENESS_LONG_MS);
    write_session_take(&spare->session);
    if (make_spare(spare, &err) != TIDE_OK && !is_stopped(spare)) {
        char quoted[TIDE_ERR_TEXT_MAX + 64];
        tide_log(TIDE_WARN, "partition.spare", "from=%u reason=%s", spare->from,
                 tide_log_quote(quoted, sizeof quoted, err.text));
    }
    write_session_give(&spare->session);
    tide_liveness_end();
    atomic_store(&spare->ended, true);
    return NULL;
}

static void release_spare(struct load_spare *spare)
{
    write_session_close(&spare->session);
    free(spare);
}

struct load_spare *load_spare_begin(struct write_main *m, uint32_t from)
{
    struct load_spare *spare = calloc(1, sizeof *spare);
    if (!spare)
        return NULL;
    write_session_init(&spare->session, m->session.plan, WRITE_OWNER_SPARE);
    spare->main = m;
    spare->from = from;
    atomic_init(&spare->stopped, false);
    atomic_init(&spare->ended, false);
    write_session_give(&spare->session);
    if (pthread_create(&spare->thread, NULL, create_spare_tables, spare) == 0)
        return spare;
    release_spare(spare);
    return NULL;
}

void load_spare_end(struct write_main *m, struct load_spare *spare, bool stop)
{
    if (!spare)
        return;
    if (stop)
        atomic_store(&spare->stopped, true);
    write_main_wait(m, &spare->ended, &spare->ended, &spare->stopped);
    pthread_join(spare->thread, NULL);
    release_spare(spare);
}
