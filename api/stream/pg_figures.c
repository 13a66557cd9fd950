/* The indexer's figures for /metrics: its heartbeat and the cursor's counters. They are read on
 * the stream's connection, which is idle while the stream waits. */
#include "api/stream/pg_source.h"
#include "tidemark/clock.h"

#include <stdio.h>

const char stream_sql_figures[] = "SELECT h.state"
#define TIDE_FIGURE(member, type, expression) ", " expression
#include "api/stream/figures.def"
#undef TIDE_FIGURE
                                  " FROM chain.cursor AS c LEFT JOIN chain.heartbeat AS h"
                                  " ON h.deployment = c.deployment WHERE c.deployment = $1";

#define READ_U32(column)   (uint32_t) tide_pg_u64(rows, 0, column)
#define READ_U64(column)   tide_pg_u64(rows, 0, column)
#define READ_BOOL(column)  tide_pg_bool(rows, 0, column)
#define READ_MILLI(column) (double)tide_pg_u64(rows, 0, column) / 1000

static struct stream_figures read_figures(const struct tide_pg_rows *rows)
{
    uint32_t column = 0;
    struct stream_figures f = { .known = true,
                                .asked_ms = tide_now_ms(),
                                .has_heartbeat = !tide_pg_is_null(rows, 0, 0) };
    snprintf(f.state, sizeof f.state, "%s", tide_pg_text(rows, 0, column++));
#define TIDE_FIGURE(member, type, expression) f.member = READ_##type(column++);
#include "api/stream/figures.def"
#undef TIDE_FIGURE
    assert(column == rows->columns);
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
