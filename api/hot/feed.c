#include "api/hot/feed.h"
#include "api/hot/feed_impl.h"
#include "schema/base/liveness.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SQL_MAX = 256 << 10, PRUNE_S = 600, RETRY_MS = 250 };

static int64_t now_ms(void)
{
    const struct tide_clock *clock = tide_clock_system();
    return clock->now_ms(clock->self);
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000;
}

tide_status tide_feed_open(struct tide_feed **out, const struct tide_feed_options *options,
                           struct tide_err *err)
{
    struct tide_feed *feed = calloc(1, sizeof *feed);
    if (!feed)
        return tide_fail(err, TIDE_E_MEMORY, "feed");
    feed->options = *options;
    feed->rebuilt_ms = now_ms() - 1000 * (int64_t)TIDE_FEED_REBUILD_S;
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

/* Asks for what no ledger has, so that the plan is made now and not while a ledger waits for it. */
static tide_status plan_ahead(struct tide_feed *feed, struct tide_err *err)
{
    struct tide_pg_rows rows;
    const char *params[] = { feed->selected.text, "2147483647", "2147483647" };
    tide_status status = tide_pg_execute(feed->pg, &rows, "news", params, 3, err);
    if (status == TIDE_OK)
        tide_pg_rows_release(&rows);
    return status;
}

/* What is new is always few rows by an index; the planner is told so, whatever its figures say. */
static tide_status prepare(struct tide_feed *feed, struct tide_err *err)
{
    tide_status status = tide_pg_run(feed->pg,
                                     "SET enable_seqscan = off;"
                                     " SET plan_cache_mode = force_generic_plan",
                                     "SET", err);
    if (status == TIDE_OK)
        status = tide_pg_prepare(feed->pg, "moves",
                                 "SELECT moves FROM chain.cursor WHERE deployment = $1", err);
    tide_buf_reset(&feed->sql);
    feed_sql_news(&feed->sql);
    const char *sql = project_sql_text(&feed->sql, err);
    if (status == TIDE_OK)
        status = sql ? tide_pg_prepare(feed->pg, "news", sql, err) : TIDE_E_MEMORY;
    if (status == TIDE_OK)
        status = plan_ahead(feed, err);
    if (status == TIDE_OK && !feed->selected.standby)
        status = tide_pg_listen(feed->pg, "tidemark", err);
    return status;
}

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
        status = prepare(feed, err);
    feed->prepared = status == TIDE_OK;
    return status;
}

/* --- one step --------------------------------------------------------------------------------- */

static tide_status rebuild(struct tide_feed *feed, const char *why, struct tide_err *err)
{
    char quoted[512];
    if (!feed->rebuild_told)
        tide_log(TIDE_INFO, "feed.rebuild", "why=%s", tide_log_quote(quoted, sizeof quoted, why));
    tide_status status = feed_build(feed, err);
    feed->rebuild_told = status != TIDE_OK;
    if (status == TIDE_OK) {
        pthread_mutex_lock(&feed->mutex);
        feed->stats.rebuilds++;
        feed->stats.ledger = feed->look.ledger;
        pthread_mutex_unlock(&feed->mutex);
        feed->moves_seen = feed->look.moves;
    }
    return status;
}

static bool is_of(const struct tide_feed *feed, const struct tide_hot_meta *meta)
{
    return meta->deployment == feed->selected.id &&
           memcmp(meta->protocol, feed->selected.protocol, sizeof meta->protocol) == 0;
}

/* Whether readers answer from it meanwhile: another epoch of what is served. */
static bool serves(const struct tide_feed *feed, const struct tide_hot_meta *meta)
{
    return tide_deployment_select_allows(feed->options.select, meta->protocol);
}

/* A cache that can be read and is of this deployment; built where there is none. *built says so. */
static tide_status have_cache(struct tide_feed *feed, struct tide_hot_meta *meta, bool *built,
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
        if (status == TIDE_OK && is_of(feed, meta))
            return TIDE_OK;
        /* The old one answers until the new is built; one that is no more does not. */
        if (status == TIDE_OK && serves(feed, meta) && meta->deployment < feed->selected.id) {
            *built = true;
            snprintf(why, sizeof why, "deployment %u follows %u", feed->selected.id,
                     meta->deployment);
            return rebuild(feed, why, err);
        }
        status = tide_fail(err, TIDE_E_DECODE, "cache: of deployment %u, this is %u",
                           meta->deployment, feed->selected.id);
    }
    if (status != TIDE_E_MISSING && status != TIDE_E_DECODE && status != TIDE_E_SCHEMA)
        return status;
    snprintf(why, sizeof why, "%s", err->text);
    status = tide_hot_discard(feed->options.hot, why, err);
    *built = status == TIDE_OK;
    return status == TIDE_OK ? rebuild(feed, why, err) : status;
}

/* Why what the cache says is wrong, NULL: it is not. */
static const char *wrong(const struct tide_hot_meta *meta, const struct feed_look *look)
{
    if (look->cursor < meta->ledger)
        return "the cache is ahead of the database";
    return look->same ? NULL : "the cache is not on the database's chain";
}

/* Why the cache cannot go on from where it is; NULL: it can. *wait: not yet worth a rebuild. */
static const char *cannot_follow(const struct tide_feed *feed, const struct tide_hot_meta *meta,
                                 const struct feed_look *look, bool *wait)
{
    bool early = now_ms() - feed->rebuilt_ms < 1000 * (int64_t)TIDE_FEED_REBUILD_S;
    *wait = false;
    if (look->raw_states < meta->raw_states)
        return "entries were decoded again";
    if (look->from != meta->first_ledger)
        return "an earlier range was filled in";
    if (look->pasts_read != meta->pasts_read)
        return "the past of a discovered token was read";
    if (look->cursor == meta->ledger && look->moves != meta->moves) {
        *wait = early;
        return early ? NULL : "something changed behind the cache";
    }
    return NULL;
}

/* A standby may only be late: the cache stays as it is, and ages, for a while. */
static bool may_catch_up(struct tide_feed *feed, const struct tide_hot_meta *meta)
{
    if (!feed->look.sign.standby || feed->look.cursor >= meta->ledger) {
        feed->behind_ms = 0;
        return false;
    }
    if (feed->behind_ms == 0)
        feed->behind_ms = now_ms();
    return now_ms() - feed->behind_ms < TIDE_FEED_BEHIND_MS;
}

static tide_status take_news(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_feed *feed = self;
    struct tide_hot_meta meta;
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    bool found;
    tide_status status = sink->get(sink->self, &key, &meta, &found, err);
    /* An entry that was undecoded may have a version again that is not. */
    bool undecoded = feed->look.raw_states > 0 && !meta.complete;
    bool contracts = meta.contracts_seen != feed->look.contracts_seen ||
                     meta.raw_states != feed->look.raw_states || undecoded;
    for (uint32_t i = 1; i < feed->news.count && status == TIDE_OK; i++)
        status = project_sql_apply(sink, &feed->news, i, err);
    if (status == TIDE_OK && contracts)
        status = project_contracts(feed->pg, feed->selected.id, feed->look.ledger, sink, err);
    if (status == TIDE_OK && meta.withdrawn_keys != feed->look.withdrawn_keys)
        status = feed_put_withdrawn(feed, sink, err);
    if (status == TIDE_OK)
        status = feed_put_meta(feed, sink, &feed->look, err);
    return status;
}

void feed_note_time(struct tide_feed *feed)
{
    const struct tide_clock *clock = tide_clock_system();
    feed->asked_ms = clock->now_ms(clock->self);
    feed->wall_ms = clock->wall_ms(clock->self);
}

/* Rows since the cache's ledger, and where the database stands, of one moment. */
static tide_status ask_news(struct tide_feed *feed, const struct tide_hot_meta *meta,
                            uint32_t until, struct tide_err *err)
{
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
    return feed_read_look(&feed->look, &feed->news, 0, meta->hash, err);
}

/* What changed behind is asked for again later: the cache keeps saying what it stands for. */
static void keep_moves(struct tide_feed *feed, const struct tide_hot_meta *meta)
{
    feed->look.moves = meta->moves;
}

static tide_status follow(struct tide_feed *feed, const struct tide_hot_meta *meta, bool *more,
                          struct tide_err *err)
{
    bool wait;
    feed->moves_seen = feed->look.moves;
    if (may_catch_up(feed, meta))
        return TIDE_OK;
    const char *why = wrong(meta, &feed->look);
    if (why) {
        tide_status status = tide_hot_discard(feed->options.hot, why, err);
        return status == TIDE_OK ? rebuild(feed, why, err) : status;
    }
    if (feed->look.ledger < meta->ledger)
        return TIDE_OK; /* asked for less than is there */
    why = cannot_follow(feed, meta, &feed->look, &wait);
    if (why) {
        feed->rebuilt_ms = now_ms();
        return rebuild(feed, why, err);
    }
    if (wait)
        keep_moves(feed, meta);
    *more = feed->look.ledger < feed->look.cursor && feed->look.ledger < feed->until;
    uint64_t start = now_us();
    tide_status status = tide_hot_update(feed->options.hot, take_news, feed, err);
    if (status == TIDE_E_LIMIT) {
        *more = false;
        return rebuild(feed, err->text, err);
    }
    if (status != TIDE_OK)
        return status;
    pthread_mutex_lock(&feed->mutex);
    feed->stats.steps++;
    feed->stats.rows += feed->news.count - 1;
    feed->stats.asked_us += feed->asked_us;
    feed->stats.applied_us += now_us() - start;
    feed->stats.ledger = feed->look.ledger;
    pthread_mutex_unlock(&feed->mutex);
    return TIDE_OK;
}

/* Another process feeds, or the database is away: readers go on with what the link names. */
static void follow_link(struct tide_feed *feed)
{
    struct tide_err none;
    (void)!tide_hot_refresh(feed->options.hot,
                            &none); /* a bad one is the feeding process's to mend */
}

static tide_status step(struct tide_feed *feed, uint32_t until, bool *more, struct tide_err *err)
{
    struct tide_hot_meta meta;
    bool mine, built;
    *more = false;
    feed->until = until ? until : INT32_MAX;
    tide_status status = tide_hot_lock(feed->options.hot, &mine, err);
    if (status != TIDE_OK)
        return status;
    status = mine ? connect_now(feed, err)
                  : tide_fail(err, TIDE_E_CONFLICT, "feed: another process feeds this cache");
    if (status != TIDE_OK) {
        follow_link(feed);
        return status;
    }
    status = have_cache(feed, &meta, &built, err);
    if (status != TIDE_OK || built)
        return status;
    uint64_t start = now_us();
    status = ask_news(feed, &meta, until, err);
    feed->asked_us = now_us() - start;
    if (status == TIDE_OK && TIDE_FAILPOINT("feed.between"))
        status = tide_fail(err, TIDE_E_IO, "failpoint: between database and cache");
    if (status == TIDE_OK)
        status = follow(feed, &meta, more, err);
    if (status == TIDE_OK && feed->look.sign.standby != feed->selected.standby)
        feed->prepared = false; /* promoted: connect anew, and listen */
    tide_pg_rows_release(&feed->news);
    if (status == TIDE_OK && feed->look.close_time > feed->pruned_at + PRUNE_S) {
        feed->pruned_at = feed->look.close_time;
        status = feed_prune(feed, err);
    }
    return status;
}

tide_status tide_feed_step(struct tide_feed *feed, uint32_t until, bool *more, struct tide_err *err)
{
    tide_status status = step(feed, until, more, err);
    pthread_mutex_lock(&feed->mutex);
    feed->stats.feeding = status == TIDE_OK;
    /* That another process feeds is how it should be. */
    bool failed = status != TIDE_OK && status != TIDE_E_CONFLICT;
    feed->stats.failures += failed;
    feed->stats.unmigrated = failed && tide_deployment_select_unmigrated(feed->pg);
    snprintf(feed->stats.trouble, sizeof feed->stats.trouble, "%s", failed ? err->text : "");
    pthread_mutex_unlock(&feed->mutex);
    return status;
}

/* - the thread -------------------------------------------------------------------------------*/

static bool stopped(const struct tide_feed *feed)
{
    return feed->options.stopped && feed->options.stopped(feed->options.stopped_self);
}

static void nap(int64_t ms)
{
    const struct tide_clock *clock = tide_clock_system();
    clock->sleep_ms(clock->self, ms);
}

/* A standby is asked for its cursor until that moves, at most a second. */
static tide_status poll_cursor(struct tide_feed *feed, struct tide_err *err)
{
    for (int64_t end = now_ms() + TIDE_FEED_IDLE_MS; now_ms() < end && !stopped(feed);) {
        struct tide_pg_rows rows;
        tide_status status = tide_pg_execute(feed->pg, &rows, "moves",
                                             (const char *[]){ feed->selected.text }, 1, err);
        if (status != TIDE_OK)
            return status;
        bool moved = rows.count == 1 && tide_pg_u64(&rows, 0, 0) != feed->moves_seen;
        tide_pg_rows_release(&rows);
        if (moved)
            return TIDE_OK;
        nap(TIDE_FEED_STANDBY_MS);
    }
    return TIDE_OK;
}

static void wait_for_news(struct tide_feed *feed)
{
    struct tide_err err;
    bool notified;
    tide_status status = feed->selected.standby
                             ? poll_cursor(feed, &err)
                             : tide_pg_wait(feed->pg, TIDE_FEED_IDLE_MS, &notified, &err);
    if (status != TIDE_OK)
        nap(RETRY_MS);
}

static void complain(tide_status status, const struct tide_err *err, tide_status *last)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    if (status != *last && status != TIDE_E_CONFLICT && status != TIDE_E_STOPPED)
        tide_log(TIDE_WARN, "feed.trouble", "status=%s text=%s", tide_status_name(status),
                 tide_log_quote(quoted, sizeof quoted, err->text));
    *last = status;
}

void tide_feed_run(struct tide_feed *feed)
{
    tide_status last = TIDE_OK;
    tide_liveness_begin("feeder", TIDE_LIVENESS_WAITS_MS);
    while (!stopped(feed)) {
        struct tide_err err;
        bool more;
        tide_liveness_mark();
        tide_status status = tide_feed_step(feed, 0, &more, &err);
        if (status == TIDE_OK) {
            last = TIDE_OK;
            if (!more)
                wait_for_news(feed);
            continue;
        }
        complain(status, &err, &last);
        for (int i = 0; i < (status == TIDE_E_CONFLICT ? 4 : 1) && !stopped(feed); i++)
            nap(RETRY_MS);
    }
    tide_liveness_end();
}
