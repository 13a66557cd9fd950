/* The full build of the cache, in one snapshot of the database. */
#include "api/hot/feed_impl.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"

#include <stdio.h>

struct building {
    struct tide_feed *feed;
    struct tide_hot_sink *sink;
    uint64_t rows;
};

static tide_status apply_row(void *self, const struct tide_pg_rows *row, struct tide_err *err)
{
    struct building *b = self;
    assert(row->count == 1); /* tide_pg_stream gives one row at a time */
    b->rows++;
    tide_liveness_mark();
    return project_apply_row(b->sink, row, 0, err);
}

struct numbers {
    char deployment[8], from[16], to[16];
};

/* Returns the statements' values as text. They must live while the statement runs. */
static struct numbers numbers_of(const struct tide_feed *feed, uint32_t from, uint32_t to)
{
    struct numbers n;
    static_assert(sizeof n.deployment > 5 && sizeof n.from > 10 && sizeof n.to > 10, "no cut");
    snprintf(n.deployment, sizeof n.deployment, "%u", feed->selected.id);
    snprintf(n.from, sizeof n.from, "%u", from);
    snprintf(n.to, sizeof n.to, "%u", to);
    return n;
}

/* Applies all rows of a statement, one by one as they arrive, so that memory stays bounded. */
static tide_status stream_rows(struct building *b, struct tide_buf *sql, const struct numbers *n,
                               size_t count, struct tide_err *err)
{
    const char *values[] = { n->deployment, n->from, n->to };
    assert(count > 0 && count <= TIDE_COUNT(values));
    struct tide_pg_sink sink = { apply_row, b };
    const char *text = project_sql_text(sql, err);
    tide_status status =
        text ? tide_pg_stream(b->feed->pg, &sink, text, values, count, err) : TIDE_E_MEMORY;
    tide_buf_reset(sql);
    return status;
}

/* Finds the last ledger before the sliding window and its margin; 0: none. */
static tide_status find_window_start(struct tide_feed *feed, const struct feed_head *head,
                                     uint32_t *out, struct tide_err *err)
{
    char seconds[24];
    struct tide_pg_rows rows;
    struct numbers n = numbers_of(feed, head->ledger, 0);
    uint64_t closed = head->closed_ms / 1000;
    uint64_t start = closed > TIDE_HOT_WINDOW_KEEP_S ? closed - TIDE_HOT_WINDOW_KEEP_S : 0;
    snprintf(seconds, sizeof seconds, "%" PRIu64, start);
    tide_status status =
        tide_pg_query(feed->pg, &rows,
                      "SELECT ledger FROM chain.ledger WHERE deployment = $1 AND ledger <= $2 AND"
                      " closed_at < to_timestamp($3::bigint + 1) ORDER BY ledger DESC LIMIT 1",
                      (const char *[]){ n.deployment, n.from, seconds }, 3, err);
    if (status != TIDE_OK)
        return status;
    *out = rows.count ? (uint32_t)tide_pg_u64(&rows, 0, 0) : 0;
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Builds pools as of the window's start, then applies every change and swap since, which yields
 * the window's ticks. */
static tide_status build_pools(struct building *b, const struct feed_head *head,
                               struct tide_err *err)
{
    struct tide_buf *sql = &b->feed->sql;
    uint32_t start = 0;
    tide_status status = find_window_start(b->feed, head, &start, err);
    struct numbers n = numbers_of(b->feed, start, head->ledger);
    project_sql_begin(sql);
    tide_buf_str(sql, project_forms[PROJECT_POOL].probes);
    if (status == TIDE_OK)
        status = stream_rows(b, sql, &n, 2, err);
    project_sql_begin(sql);
    tide_buf_str(sql, project_forms[PROJECT_POOL].since);
    tide_buf_str(sql, " UNION ALL ");
    tide_buf_str(sql, project_forms[PROJECT_SWAP].since);
    tide_buf_str(sql, " ORDER BY ledger, source, tx, seq");
    return status == TIDE_OK ? stream_rows(b, sql, &n, 3, err) : status;
}

/* Builds all other records from the state tables; as of an earlier ledger from the history. */
static tide_status build_rest(struct building *b, const struct feed_head *head,
                              struct tide_err *err)
{
    struct tide_buf *sql = &b->feed->sql;
    tide_status status = TIDE_OK;
    bool as_of = head->ledger != head->cursor;
    struct numbers n = numbers_of(b->feed, head->ledger, 0);
    for (int s = 0; s < (int)PROJECT_SOURCE_COUNT && status == TIDE_OK; s++) {
        if (s == PROJECT_POOL || s == PROJECT_SWAP)
            continue;
        project_sql_begin(sql);
        tide_buf_str(sql, as_of ? project_forms[s].as_of : project_forms[s].newest);
        status = stream_rows(b, sql, &n, as_of ? 2 : 1, err);
    }
    return status;
}

/* Reads the database's state in the build's snapshot, so that it belongs to the rows that
 * follow. */
static tide_status query_head(struct tide_feed *feed, struct feed_head *head, struct tide_err *err)
{
    struct tide_pg_rows rows;
    struct numbers n = numbers_of(feed, 0, feed->until);
    assert(feed->until > 0); /* run_step set it; 0 would find no ledger */
    feed_note_time(feed);
    tide_buf_reset(&feed->sql);
    feed_sql_cursor(&feed->sql);
    const char *sql = project_sql_text(&feed->sql, err);
    if (!sql)
        return TIDE_E_MEMORY;
    tide_status status =
        tide_pg_query(feed->pg, &rows, sql, (const char *[]){ n.deployment, n.from, n.to }, 3, err);
    if (status != TIDE_OK)
        return status;
    status = rows.count == 1
                 ? feed_read_head(head, &rows, 0, NULL, err)
                 : tide_fail(err, TIDE_E_MISSING, "feed: no deployment %u", feed->selected.id);
    tide_pg_rows_release(&rows);
    return status;
}

/* The record with the cache's ledger is written last: a generation without it is incomplete. */
static tide_status fill_cache(struct tide_feed *feed, struct tide_hot_sink *sink,
                              struct tide_err *err)
{
    struct building b = { .feed = feed, .sink = sink };
    tide_status status = query_head(feed, &feed->head, err);
    if (status == TIDE_OK)
        status = build_pools(&b, &feed->head, err);
    if (status == TIDE_OK)
        status = build_rest(&b, &feed->head, err);
    if (status == TIDE_OK)
        status = project_contracts(feed->pg, feed->selected.id, feed->head.ledger, sink, err);
    if (status == TIDE_OK)
        status = feed_put_withdrawn(feed, sink, err);
    if (status == TIDE_OK)
        status = feed_put_meta(feed, sink, &feed->head, err);
    if (status == TIDE_OK)
        tide_log(TIDE_INFO, "feed.built", "ledger=%u rows=%" PRIu64, feed->head.ledger, b.rows);
    return status;
}

/* Fills a generation in one snapshot of the database. Whole tables are read, so sequential scans
 * are enabled. */
static tide_status build_generation(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_feed *feed = self;
    struct tide_err late;
    tide_status status = tide_pg_run(
        feed->pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL enable_seqscan = on",
        "SET", err);
    if (status != TIDE_OK)
        return status;
    status = fill_cache(feed, sink, err);
    tide_status ended = tide_pg_run(feed->pg, status == TIDE_OK ? "COMMIT" : "ROLLBACK", NULL,
                                    status == TIDE_OK ? err : &late);
    return status == TIDE_OK ? ended : status;
}

tide_status feed_build(struct tide_feed *feed, struct tide_err *err)
{
    return tide_hot_rebuild(feed->options.hot, build_generation, feed, err);
}
