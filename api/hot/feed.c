/* The feeder: its connection, one step, and its thread. */
#include "api/hot/feed.h"
#include "api/hot/feed_impl.h"
#include "tidemark/clock.h"
#include "tidemark/failpoint.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SQL_MAX = 256 << 10, /* bytes of the feeding statement */
    PRUNE_S = 600,       /* seconds of ledger time between two prunings */
    RETRY_MS = 250       /* after a failure */
};

tide_status tide_feed_open(struct tide_feed **out, const struct tide_feed_options *options,
                           struct tide_err *err)
{
    assert(options->hot);
    struct tide_feed *feed = calloc(1, sizeof *feed);
    if (!feed)
        return tide_fail(err, TIDE_E_MEMORY, "feed");
    feed->options = *options;
    feed->rebuilt_ms = tide_now_ms() - 1000 * (int64_t)TIDE_FEED_REBUILD_S;
    pthread_mutex_init(&feed->mutex, NULL);
    tide_buf_init(&feed->sql, SQL_MAX);
    tide_status status = tide_hot_reader_open(&feed->reader, options->hot, err);
    if (status == TIDE_OK)
        *out = feed;
    else
        tide_feed_close(feed);
    return status;
}

void tide_feed_close(struct tide_feed *feed)
{
    if (!feed)
        return;
    tide_hot_reader_close(feed->reader);
    tide_pg_close(feed->pg);
    tide_buf_release(&feed->sql);
    pthread_mutex_destroy(&feed->mutex);
    free(feed);
}

void tide_feed_stats(struct tide_feed *feed, struct tide_feed_stats *out)
{
    pthread_mutex_lock(&feed->mutex);
    *out = feed->stats;
    pthread_mutex_unlock(&feed->mutex);
}

/* --- connection ------------------------------------------------------------------------------ */

/* Writes the statement of one step: all changes after ledger $2, up to $3 or the cursor, the
 * cursor row first. */
static void write_news(struct tide_buf *sql)
{
    project_sql_begin(sql);
    feed_sql_cursor(sql);
    for (int source = 0; source < (int)PROJECT_SOURCE_COUNT; source++) {
        tide_buf_str(sql, " UNION ALL ");
        tide_buf_str(sql, project_forms[source].since);
    }
    tide_buf_str(sql, " ORDER BY ledger, source, tx, seq");
}

/* Executes the statement for a ledger that cannot exist: PostgreSQL then plans it now, and not
 * while a new ledger waits. */
static tide_status plan_ahead(struct tide_feed *feed, struct tide_err *err)
{
    struct tide_pg_rows rows;
    const char *params[] = { feed->selected.text, "2147483647", "2147483647" };
    tide_status status = tide_pg_execute(feed->pg, &rows, "news", params, 3, err);
    if (status == TIDE_OK)
        tide_pg_rows_release(&rows);
    return status;
}

/* Prepares the statements. A step reads few rows by an index: sequential scans are disabled, so
 * that stale planner statistics cannot choose one. */
static tide_status prepare_statements(struct tide_feed *feed, struct tide_err *err)
{
    tide_status status = tide_pg_run(feed->pg,
                                     "SET enable_seqscan = off;"
                                     " SET plan_cache_mode = force_generic_plan",
                                     "SET", err);
    if (status == TIDE_OK)
        status = tide_pg_prepare(feed->pg, "moves",
                                 "SELECT moves FROM chain.cursor WHERE deployment = $1", err);
    write_news(&feed->sql);
    const char *sql = project_sql_text(&feed->sql, err);
    if (status == TIDE_OK)
        status = sql ? tide_pg_prepare(feed->pg, "news", sql, err) : TIDE_E_MEMORY;
    if (status == TIDE_OK)
        status = plan_ahead(feed, err);
    if (status == TIDE_OK && !feed->selected.standby)
        status = tide_pg_listen(feed->pg, "tidemark", err);
    return status;
}

/* Connects and prepares, unless the connection is alive and still serves the selected
 * deployment. */
static tide_status connect_now(struct tide_feed *feed, struct tide_err *err)
{
    struct tide_pg_options to = { .conninfo = feed->options.conninfo,
                                  .application = "tidemark-feeder",
                                  .silence_ms = TIDE_FEED_SILENCE_MS,
                                  .stopped = feed->options.stopped,
                                  .stopped_self = feed->options.stopped_self };
    if (feed->pg && tide_pg_alive(feed->pg) && feed->prepared) {
        tide_status status = tide_deployment_select_refresh(feed->options.select, feed->pg, err);
        if (status != TIDE_OK ||
            tide_deployment_select_is_current(feed->options.select, &feed->selected))
            return status;
    }
    feed->prepared = false;
    tide_status status =
        tide_deployment_select_connect(&feed->pg, &to, feed->options.select, &feed->selected, err);
    if (status == TIDE_OK)
        status = prepare_statements(feed, err);
    feed->prepared = status == TIDE_OK;
    return status;
}

/* --- one step --------------------------------------------------------------------------------- */

/* Builds a new generation, and logs the reason once until a build succeeds. */
static tide_status rebuild_cache(struct tide_feed *feed, const char *why, struct tide_err *err)
{
    assert(why);
    char quoted[512];
    if (!feed->rebuild_logged)
        tide_log(TIDE_INFO, "feed.rebuild", "why=%s", tide_log_quote(quoted, sizeof quoted, why));
    tide_status status = feed_build(feed, err);
    feed->rebuild_logged = status != TIDE_OK;
    if (status == TIDE_OK) {
        assert(feed->head.ledger > 0); /* feed_read_head checked it */
        pthread_mutex_lock(&feed->mutex);
        feed->stats.rebuilds++;
        feed->stats.ledger = feed->head.ledger;
        pthread_mutex_unlock(&feed->mutex);
        feed->moves_seen = feed->head.moves;
    }
    return status;
}

static bool matches_deployment(const struct tide_feed *feed, const struct tide_hot_meta *meta)
{
    return meta->deployment == feed->selected.id &&
           memcmp(meta->protocol, feed->selected.protocol, sizeof meta->protocol) == 0;
}

/* Returns whether readers may answer from this cache: it is of an epoch of the served
 * deployment. */
static bool is_served(const struct tide_feed *feed, const struct tide_hot_meta *meta)
{
    return tide_deployment_select_allows(feed->options.select, meta->protocol);
}

/* Ensures that there is a readable cache of the selected deployment, and copies its record.
 * Builds one if needed (*built). A damaged or foreign cache is discarded first. */
static tide_status ensure_cache(struct tide_feed *feed, struct tide_hot_meta *meta, bool *built,
                                struct tide_err *err)
{
    const struct tide_hot_meta *found;
    char why[TIDE_ERR_TEXT_MAX];
    *built = false;
    tide_status status = tide_hot_refresh(feed->options.hot, err);
    if (status == TIDE_OK)
        status = tide_hot_begin(feed->reader, &found, err);
    if (status == TIDE_OK) {
        *meta = *found;
        status = tide_hot_end(feed->reader);
        if (status == TIDE_OK && matches_deployment(feed, meta))
            return TIDE_OK;
        /* The cache of an earlier epoch answers until the new one is built. */
        if (status == TIDE_OK && is_served(feed, meta) && meta->deployment < feed->selected.id) {
            *built = true;
            snprintf(why, sizeof why, "deployment %u follows %u", feed->selected.id,
                     meta->deployment);
            return rebuild_cache(feed, why, err);
        }
        status =
            tide_fail(err, TIDE_E_DECODE, "the cache is of deployment %u, this process serves %u",
                      meta->deployment, feed->selected.id);
    }
    if (status != TIDE_E_MISSING && status != TIDE_E_DECODE && status != TIDE_E_SCHEMA)
        return status;
    snprintf(why, sizeof why, "%s", err->text);
    status = tide_hot_discard(feed->options.hot, why, err);
    *built = status == TIDE_OK;
    return status == TIDE_OK ? rebuild_cache(feed, why, err) : status;
}

/* Returns why the cache contradicts the database, or NULL. Readers must not answer from such a
 * cache. */
static const char *why_wrong(const struct tide_hot_meta *meta, const struct feed_head *head)
{
    if (head->cursor < meta->ledger)
        return "the cache is ahead of the database";
    return head->same ? NULL : "the cache is not on the database's chain";
}

/* Returns why the cache must be rebuilt although its contents are true, or NULL. *wait: a
 * rebuild is due, but the last one was too recent. */
static const char *why_rebuild(const struct tide_feed *feed, const struct tide_hot_meta *meta,
                               const struct feed_head *head, bool *wait)
{
    bool early = tide_now_ms() - feed->rebuilt_ms < 1000 * (int64_t)TIDE_FEED_REBUILD_S;
    *wait = false;
    if (head->raw_states < meta->raw_states)
        return "entries were decoded again";
    if (head->from != meta->first_ledger)
        return "an earlier range was filled in";
    if (head->pasts_read != meta->pasts_read)
        return "the past of a discovered token was read";
    if (head->cursor == meta->ledger && head->moves != meta->moves) {
        *wait = early;
        return early ? NULL : "something changed behind the cache";
    }
    return NULL;
}

/* Returns whether to leave the cache as it is for now: a standby that is behind it may only be
 * late. */
static bool may_catch_up(struct tide_feed *feed, const struct tide_hot_meta *meta)
{
    if (!feed->head.sign.standby || feed->head.cursor >= meta->ledger) {
        feed->behind_ms = 0;
        return false;
    }
    if (feed->behind_ms == 0)
        feed->behind_ms = tide_now_ms();
    return tide_now_ms() - feed->behind_ms < TIDE_FEED_BEHIND_MS;
}

/* Applies the rows of a step in one transaction of the cache. */
static tide_status apply_news(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_feed *feed = self;
    struct tide_hot_meta meta;
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    bool found;
    tide_status status = sink->get(sink->self, &key, &meta, &found, err);
    /* An entry that could not be decoded may have a decoded version now: compute "complete"
     * again. */
    bool undecoded = feed->head.raw_states > 0 && !meta.complete;
    bool contracts = meta.contracts_seen != feed->head.contracts_seen ||
                     meta.raw_states != feed->head.raw_states || undecoded;
    for (uint32_t i = 1; i < feed->news.count && status == TIDE_OK; i++)
        status = project_apply_row(sink, &feed->news, i, err);
    if (status == TIDE_OK && contracts)
        status = project_contracts(feed->pg, feed->selected.id, feed->head.ledger, sink, err);
    if (status == TIDE_OK && meta.withdrawn_keys != feed->head.withdrawn_keys)
        status = feed_put_withdrawn(feed, sink, err);
    if (status == TIDE_OK)
        status = feed_put_meta(feed, sink, &feed->head, err);
    return status;
}

void feed_note_time(struct tide_feed *feed)
{
    const struct tide_clock *clock = tide_clock_system();
    feed->asked_ms = clock->now_ms(clock->self);
    feed->wall_ms = clock->wall_ms(clock->self);
}

/* Queries the rows since the cache's ledger and the database's state, in one snapshot. */
static tide_status query_news(struct tide_feed *feed, const struct tide_hot_meta *meta,
                              uint32_t until, struct tide_err *err)
{
    assert(feed->prepared);
    char from[16], to[16];
    uint32_t end = meta->ledger + TIDE_FEED_LEDGERS;
    snprintf(from, sizeof from, "%u", meta->ledger);
    snprintf(to, sizeof to, "%u", until && until < end ? until : end);
    feed_note_time(feed);
    tide_status status = tide_pg_execute(feed->pg, &feed->news, "news",
                                         (const char *[]){ feed->selected.text, from, to }, 3, err);
    if (status != TIDE_OK)
        return status;
    if (feed->news.count == 0)
        return tide_fail(err, TIDE_E_MISSING, "feed: no deployment %u", feed->selected.id);
    return feed_read_head(&feed->head, &feed->news, 0, meta->hash, err);
}

/* Keeps the cache's value of moves, so that later steps still see that a rebuild is due. */
static void keep_moves(struct tide_feed *feed, const struct tide_hot_meta *meta)
{
    feed->head.moves = meta->moves;
}

/* Applies a step that was queried, or rebuilds the cache. */
static tide_status apply_step(struct tide_feed *feed, const struct tide_hot_meta *meta, bool *more,
                              struct tide_err *err)
{
    bool wait;
    assert(feed->news.count > 0); /* query_news checked it: the cursor row */
    feed->moves_seen = feed->head.moves;
    if (may_catch_up(feed, meta))
        return TIDE_OK;
    const char *why = why_wrong(meta, &feed->head);
    if (why) {
        tide_status status = tide_hot_discard(feed->options.hot, why, err);
        return status == TIDE_OK ? rebuild_cache(feed, why, err) : status;
    }
    if (feed->head.ledger < meta->ledger)
        return TIDE_OK; /* the caller's `until` is below the cache's ledger */
    why = why_rebuild(feed, meta, &feed->head, &wait);
    if (why) {
        feed->rebuilt_ms = tide_now_ms();
        return rebuild_cache(feed, why, err);
    }
    if (wait)
        keep_moves(feed, meta);
    *more = feed->head.ledger < feed->head.cursor && feed->head.ledger < feed->until;
    assert(feed->head.same && feed->head.ledger >= meta->ledger); /* never back */
    uint64_t start = tide_monotonic_us();
    tide_status status = tide_hot_update(feed->options.hot, apply_news, feed, err);
    if (status == TIDE_E_LIMIT) {
        *more = false;
        return rebuild_cache(feed, err->text, err);
    }
    if (status != TIDE_OK)
        return status;
    pthread_mutex_lock(&feed->mutex);
    feed->stats.steps++;
    feed->stats.rows += feed->news.count - 1;
    feed->stats.asked_us += feed->asked_us;
    feed->stats.applied_us += tide_monotonic_us() - start;
    feed->stats.ledger = feed->head.ledger;
    pthread_mutex_unlock(&feed->mutex);
    return TIDE_OK;
}

/* Switches readers to the generation that the cache's link names. Another process feeds, or the
 * database is away. */
static void follow_link(struct tide_feed *feed)
{
    struct tide_err none;
    /* The feeding process repairs a bad one */
    (void)!tide_hot_refresh(feed->options.hot, &none);
}

static tide_status run_step(struct tide_feed *feed, uint32_t until, bool *more,
                            struct tide_err *err)
{
    struct tide_hot_meta meta;
    bool mine, built;
    *more = false;
    feed->until = until ? until : INT32_MAX;
    assert(feed->until > 0);
    tide_status status = tide_hot_lock(feed->options.hot, &mine, err);
    if (status != TIDE_OK)
        return status;
    status =
        mine ? connect_now(feed, err)
             : tide_fail(err, TIDE_E_CONFLICT, "feed: another process already feeds this cache");
    if (status != TIDE_OK) {
        follow_link(feed);
        return status;
    }
    status = ensure_cache(feed, &meta, &built, err);
    if (status != TIDE_OK || built)
        return status;
    uint64_t start = tide_monotonic_us();
    status = query_news(feed, &meta, until, err);
    feed->asked_us = tide_monotonic_us() - start;
    if (status == TIDE_OK && TIDE_FAILPOINT("feed.between"))
        status = tide_fail(err, TIDE_E_IO, "failpoint: between database and cache");
    if (status == TIDE_OK)
        status = apply_step(feed, &meta, more, err);
    if (status == TIDE_OK && feed->head.sign.standby != feed->selected.standby)
        feed->prepared = false; /* the standby was promoted: reconnect, and listen */
    tide_pg_rows_release(&feed->news);
    if (status == TIDE_OK && feed->head.closed_ms / 1000 > feed->pruned_at + PRUNE_S) {
        feed->pruned_at = feed->head.closed_ms / 1000;
        status = feed_prune(feed, err);
    }
    return status;
}

tide_status tide_feed_step(struct tide_feed *feed, uint32_t until, bool *more, struct tide_err *err)
{
    tide_status status = run_step(feed, until, more, err);
    pthread_mutex_lock(&feed->mutex);
    feed->stats.feeding = status == TIDE_OK;
    /* TIDE_E_CONFLICT is no failure: another process feeds. */
    bool failed = status != TIDE_OK && status != TIDE_E_CONFLICT;
    feed->stats.failures += failed;
    feed->stats.unmigrated = failed && tide_deployment_select_unmigrated(feed->pg);
    snprintf(feed->stats.trouble, sizeof feed->stats.trouble, "%s", failed ? err->text : "");
    pthread_mutex_unlock(&feed->mutex);
    return status;
}

/* --- the thread ------------------------------------------------------------------------------ */

static bool is_stopped(const struct tide_feed *feed)
{
    return feed->options.stopped && feed->options.stopped(feed->options.stopped_self);
}

static void sleep_for(int64_t ms)
{
    const struct tide_clock *clock = tide_clock_system();
    clock->sleep_ms(clock->self, ms);
}

/* Polls a standby's cursor until it moves, at most TIDE_FEED_IDLE_MS. */
static tide_status poll_cursor(struct tide_feed *feed, struct tide_err *err)
{
    for (int64_t end = tide_now_ms() + TIDE_FEED_IDLE_MS;
         tide_now_ms() < end && !is_stopped(feed);) {
        struct tide_pg_rows rows;
        tide_status status = tide_pg_execute(feed->pg, &rows, "moves",
                                             (const char *[]){ feed->selected.text }, 1, err);
        if (status != TIDE_OK)
            return status;
        bool moved = rows.count == 1 && tide_pg_u64(&rows, 0, 0) != feed->moves_seen;
        tide_pg_rows_release(&rows);
        if (moved)
            return TIDE_OK;
        sleep_for(TIDE_FEED_STANDBY_MS);
    }
    return TIDE_OK;
}

static void wait_for_news(struct tide_feed *feed)
{
    assert(feed->pg);
    struct tide_err err;
    bool notified;
    tide_status status = feed->selected.standby
                             ? poll_cursor(feed, &err)
                             : tide_pg_wait(feed->pg, TIDE_FEED_IDLE_MS, &notified, &err);
    if (status != TIDE_OK)
        sleep_for(RETRY_MS);
}

/* Logs a failure when its status changes, not at each retry. A conflict with another feeder and a
 * stop are no trouble. */
static void log_trouble(tide_status status, const struct tide_err *err, tide_status *last)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    if (status == *last || status == TIDE_E_CONFLICT || status == TIDE_E_STOPPED)
        return;
    tide_log(TIDE_WARN, "feed.trouble", "status=%s text=%s", tide_status_name(status),
             tide_log_quote(quoted, sizeof quoted, err->text));
    *last = status;
}

/* Logs the end of a trouble that was logged. */
static void log_recovery(tide_status *last)
{
    if (*last != TIDE_OK)
        tide_log(TIDE_INFO, "feed.recovered", "after=%s", tide_status_name(*last));
    *last = TIDE_OK;
}

void tide_feed_run(struct tide_feed *feed)
{
    tide_status last = TIDE_OK;
    tide_liveness_begin("feeder", TIDE_LIVENESS_WAITS_MS);
    while (!is_stopped(feed)) {
        struct tide_err err;
        bool more;
        tide_liveness_mark();
        tide_status status = tide_feed_step(feed, 0, &more, &err);
        if (status == TIDE_OK) {
            log_recovery(&last);
            if (!more)
                wait_for_news(feed);
            continue;
        }
        log_trouble(status, &err, &last);
        for (int i = 0; i < (status == TIDE_E_CONFLICT ? 4 : 1) && !is_stopped(feed); i++)
            sleep_for(RETRY_MS);
    }
    tide_liveness_end();
}
