/* The indexer's figures for /metrics: its heartbeat and the cursor's counters. They are read on
 * the stream's connection, which is idle while the stream waits. */
#include "api/stream/pg_source.h"
#include "tidemark/clock.h"

#include <stdio.h>

enum {
    LEDGER,
    CLOSED,
    MOVED,
    LEDGERS,
    TRANSACTIONS,
    CALLS,
    EVENTS,
    CHANGES,
    RAW_EVENTS,
    RAW_STATES,
    RAW_CALLS,
    VERIFIED,
    REWRITTEN,
    UNVERIFIED,
    STATE,
    TIP,
    LAG,
    RATE,
    EVENT_RATE,
    HEARTBEAT_AGE,
    RETRIES,
    TROUBLE,
    WAITING,
    PROVEN,
    PROOF_TROUBLE,
    FORKED,
    HISTORY_FROM
};

/* Returns a column that the statement multiplied by 1000, to avoid a floating-point text. */
static double thousandths(const struct tide_pg_rows *rows, uint32_t column)
{
    return (double)tide_pg_u64(rows, 0, column) / 1000;
}

/* Reads the row of stream_sql_figures. Without a heartbeat its columns are NULL and become 0. */
static struct stream_figures read_figures(const struct tide_pg_rows *rows)
{
    assert(rows->columns == HISTORY_FROM + 1);
    struct stream_figures f = {
        .known = true,
        .asked_ms = tide_now_ms(),
        .has_heartbeat = !tide_pg_is_null(rows, 0, STATE),
        .tip = (uint32_t)tide_pg_u64(rows, 0, TIP),
        .lag = (uint32_t)tide_pg_u64(rows, 0, LAG),
        .rate = thousandths(rows, RATE),
        .event_rate = thousandths(rows, EVENT_RATE),
        .heartbeat_age_s = thousandths(rows, HEARTBEAT_AGE),
        .retries = tide_pg_u64(rows, 0, RETRIES),
        .trouble_ms = tide_pg_u64(rows, 0, TROUBLE),
        .contracts_waiting = tide_pg_u64(rows, 0, WAITING),
        .proven = (uint32_t)tide_pg_u64(rows, 0, PROVEN),
        .proof_trouble_s = thousandths(rows, PROOF_TROUBLE),
        .forked = tide_pg_bool(rows, 0, FORKED),
        .history_from = (uint32_t)tide_pg_u64(rows, 0, HISTORY_FROM),
        .ledger = (uint32_t)tide_pg_u64(rows, 0, LEDGER),
        .closed_ms = tide_pg_u64(rows, 0, CLOSED),
        .moved_at = tide_pg_u64(rows, 0, MOVED),
        .ledgers = tide_pg_u64(rows, 0, LEDGERS),
        .transactions = tide_pg_u64(rows, 0, TRANSACTIONS),
        .calls = tide_pg_u64(rows, 0, CALLS),
        .events = tide_pg_u64(rows, 0, EVENTS),
        .changes = tide_pg_u64(rows, 0, CHANGES),
        .raw_events = tide_pg_u64(rows, 0, RAW_EVENTS),
        .raw_states = tide_pg_u64(rows, 0, RAW_STATES),
        .raw_calls = tide_pg_u64(rows, 0, RAW_CALLS),
        .calls_verified = tide_pg_u64(rows, 0, VERIFIED),
        .calls_rewritten = tide_pg_u64(rows, 0, REWRITTEN),
        .calls_unverified = tide_pg_u64(rows, 0, UNVERIFIED),
    };
    snprintf(f.state, sizeof f.state, "%s", tide_pg_text(rows, 0, STATE));
    return f;
}

void stream_pg_refresh_figures(struct stream_pg *pg)
{
    struct tide_pg_rows rows;
    struct tide_err err;
    if (pg->figures.known && tide_now_ms() - pg->figures.asked_ms < STREAM_FIGURES_MS)
        return;
    if (tide_pg_execute(pg->pg, &rows, "figures", (const char *[]){ pg->selected.text }, 1, &err) !=
        TIDE_OK)
        return; /* the next read of the head reports the failure */
    if (rows.count == 1) {
        struct stream_figures figures = read_figures(&rows);
        pthread_mutex_lock(&pg->mutex);
        pg->figures = figures;
        pthread_mutex_unlock(&pg->mutex);
    }
    tide_pg_rows_release(&rows);
}

void stream_pg_figures(struct stream_pg *pg, struct stream_figures *out)
{
    pthread_mutex_lock(&pg->mutex);
    *out = pg->figures;
    pthread_mutex_unlock(&pg->mutex);
}
