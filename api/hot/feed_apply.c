/* Applies what a step or a build read: the cursor row (feed_head.def), the cache's own record,
 * withdrawn keys; and prunes old ticks. */
#include "api/hot/feed_impl.h"
#include "tidemark/cache_meta.h"
#include "tidemark/hash.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <stdio.h>
#include <stdlib.h>

/* Columns of the cursor row, after PROJECT_ROW_VALUES. */
enum {
#define FEED_HEAD(name, sql) HEAD_##name,
#include "api/hot/feed_head.def"
#undef FEED_HEAD
    HEAD_SIGN /* the first of TIDE_AGE_COLUMNS */
};

static const char head_columns[] =
#define FEED_HEAD(name, sql) sql ", "
#include "api/hot/feed_head.def"
#undef FEED_HEAD
    TIDE_AGE_COLUMNS;

static_assert(FEED_CURSOR_ROW < 0, "the cursor row sorts before the rows of all sources");

void feed_sql_cursor(struct tide_buf *sql)
{
    tide_buf_putf(sql,
                  "SELECT %d AS source, false AS removed, 0 AS ledger, 0::bigint AS closed,"
                  " '' AS contract, 0 AS tx, 0 AS seq, %s FROM chain.cursor AS c"
                  " LEFT JOIN chain.ledger AS l ON l.deployment = $1"
                  " AND l.ledger = least(c.ledger, $3) WHERE c.deployment = $1",
                  FEED_CURSOR_ROW, head_columns);
}

tide_status feed_read_head(struct feed_head *head, const struct tide_pg_rows *rows, uint32_t at,
                           const uint8_t our_hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    const uint32_t v = PROJECT_ROW_VALUES;
    assert(rows->columns == v + HEAD_SIGN + TIDE_AGE_COLUMN_COUNT);
    uint8_t theirs[TIDE_HASH_BYTES];
    *head = (struct feed_head){
        .ledger = (uint32_t)tide_pg_u64(rows, at, v + HEAD_LEDGER),
        .cursor = (uint32_t)tide_pg_u64(rows, at, v + HEAD_CURSOR),
        .closed_ms = tide_pg_u64(rows, at, v + HEAD_TIME),
        .moves = tide_pg_u64(rows, at, v + HEAD_MOVES),
        .raw_states = tide_pg_u64(rows, at, v + HEAD_RAW),
        .contracts_seen = (uint32_t)tide_pg_u64(rows, at, v + HEAD_SEEN),
        .from = (uint32_t)tide_pg_u64(rows, at, v + HEAD_FROM),
        .sign = tide_age_read(rows, at, v + HEAD_SIGN),
        .pasts_read = (uint32_t)tide_pg_u64(rows, at, v + HEAD_READ),
        .withdrawn_keys = (uint32_t)tide_pg_u64(rows, at, v + HEAD_WITHDRAWN),
        .proven = (uint32_t)tide_pg_u64(rows, at, v + HEAD_PROVEN),
        .forked = (uint32_t)tide_pg_u64(rows, at, v + HEAD_FORKED),
    };
    if (head->ledger == 0)
        return tide_fail(err, TIDE_E_MISSING, "feed: nothing is indexed yet");
    if (tide_hex_decode(head->hash, sizeof head->hash, tide_pg_slice(rows, at, v + HEAD_HASH)) !=
        TIDE_OK)
        return tide_fail(err, TIDE_E_MISSING, "feed: ledger %u is not indexed", head->ledger);
    head->same = !our_hash || (tide_hex_decode(theirs, sizeof theirs,
                                               tide_pg_slice(rows, at, v + HEAD_OURS)) == TIDE_OK &&
                               memcmp(theirs, our_hash, sizeof theirs) == 0);
    return TIDE_OK;
}

/* --- the cache's own record ------------------------------------------------------------------- */

/* Computes the ages. Earlier observations count only if they are from this boot of the host: its
 * monotonic clock started again. */
static void put_age(struct tide_hot_meta *meta, const struct tide_feed *feed,
                    const struct feed_head *head)
{
    static_assert(sizeof meta->boot == TIDE_BOOT_BYTES, "the whole id is compared");
    struct tide_age age = { meta->renewed_ms, meta->changed_ms };
    if (memcmp(meta->boot, tide_boot_id(), sizeof meta->boot) != 0 ||
        age.changed_ms > feed->asked_ms)
        age = (struct tide_age){ 0 };
    meta->aged_ms = tide_age_of(&age, &head->sign, feed->wall_ms, feed->asked_ms);
    meta->closed_age_ms = tide_age_closed(&head->sign, head->closed_ms, feed->wall_ms);
    meta->renewed_ms = age.renewed_ms;
    meta->changed_ms = age.changed_ms;
    meta->fed_ms = feed->asked_ms;
    meta->standby = head->sign.standby;
    memcpy(meta->boot, tide_boot_id(), sizeof meta->boot);
}

/* Logs once when the DAO's storage names another contract for a role than the deployment file,
 * and when that ends. The deployment file's is used. */
static void warn_of_names(struct tide_feed *feed, const struct tide_hot_meta *meta)
{
    static_assert((int)TIDE_ROLE_synth_token <= 32, "a bit for each role");
    static_assert((int)TIDE_ROLE_synth_token <= (int)TIDE_COUNT(meta->contracts), "roles index it");
    uint32_t misnamed = tide_cache_misnamed(meta);
    for (int role = 0; role < (int)TIDE_ROLE_synth_token; role++) {
        char own[TIDE_HOT_ADDRESS_TEXT], named[TIDE_HOT_ADDRESS_TEXT];
        bool now = misnamed >> role & 1, before = feed->misnamed >> role & 1;
        if (now == before)
            continue;
        tide_hot_address_text(own, &meta->contracts[role]);
        tide_hot_address_text(named, &meta->dao_named[role]);
        tide_log(now ? TIDE_WARN : TIDE_INFO, now ? "dao.disagrees" : "dao.agrees",
                 "role=%s ledger=%u dao_names=%s deployment_file=%s used=%s",
                 tide_role_name((enum tide_role)role), meta->ledger, named, own, own);
    }
    feed->misnamed = misnamed;
}

tide_status feed_put_meta(struct tide_feed *feed, struct tide_hot_sink *sink,
                          const struct feed_head *head, struct tide_err *err)
{
    struct tide_hot_meta meta;
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    bool found;
    tide_status status = sink->get(sink->self, &key, &meta, &found, err);
    static_assert(sizeof meta.protocol == sizeof feed->selected.protocol, "copied whole");
    static_assert(sizeof meta.hash == sizeof head->hash, "copied whole");
    assert(head->ledger > 0); /* 0 would mean a cache of nothing */
    meta.deployment = feed->selected.id;
    memcpy(meta.protocol, feed->selected.protocol, sizeof meta.protocol);
    meta.ledger = head->ledger;
    meta.close_time = head->closed_ms / 1000;
    meta.close_ms = (uint16_t)(head->closed_ms % 1000);
    memcpy(meta.hash, head->hash, sizeof meta.hash);
    meta.first_ledger = head->from;
    meta.moves = head->moves;
    if (meta.changes_from == 0) /* the generation was just built */
        meta.changes_from = head->ledger;
    /* Both counts in `head` are the cursor's. Behind the cursor the record keeps older ones, so
     * that each further step computes "complete" again, as of its own ledger. */
    if (head->ledger == head->cursor) {
        meta.raw_states = head->raw_states;
        meta.contracts_seen = head->contracts_seen;
    }
    put_age(&meta, feed, head);
    meta.pasts_read = head->pasts_read;
    meta.withdrawn_keys = head->withdrawn_keys;
    meta.proven = head->proven;
    meta.forked = head->forked;
    if (status == TIDE_OK)
        warn_of_names(feed, &meta);
    return status == TIDE_OK ? sink->put(sink->self, &key, &meta, err) : status;
}

/* --- keys of receipts ------------------------------------------------------------------------- */

tide_status feed_put_withdrawn(struct tide_feed *feed, struct tide_hot_sink *sink,
                               struct tide_err *err)
{
    static const struct tide_hot_withdrawn record;
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(feed->pg, &rows, "SELECT kid FROM chain.withdrawn_key", NULL, 0, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.columns == 1);
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++) {
        tide_slice kid = tide_pg_slice(&rows, i, 0);
        struct tide_hot_key key;
        if (kid.len != TIDE_HOT_KID)
            continue; /* the table's constraint allows only this length */
        key = tide_hot_key_kid((const char *)kid.ptr);
        status = sink->put(sink->self, &key, &record, err);
    }
    tide_pg_rows_release(&rows);
    return status;
}

/* --- pruning of ticks ------------------------------------------------------------------------ */

struct pruning {
    struct tide_hot_symbol *pools;
    uint64_t *ends; /* the pool's ticks before this time are not needed */
    uint32_t count, max;
};

/* Collects the pools that have ticks, also those without entry. Returns false without memory, which
 * ends the scan: fewer pools are then pruned. */
static bool add_pool(void *self, tide_slice key, const void *record)
{
    struct pruning *p = self;
    (void)record;
    if (p->count == p->max) {
        uint32_t max = p->max ? 2 * p->max : 64;
        void *pools = realloc(p->pools, max * sizeof *p->pools);
        if (pools)
            p->pools = pools;
        void *ends = realloc(p->ends, max * sizeof *p->ends);
        if (ends)
            p->ends = ends;
        if (!pools || !ends)
            return false;
        p->max = max;
    }
    assert(p->count < p->max);
    memcpy(&p->pools[p->count++], key.ptr + 1, sizeof *p->pools);
    return true;
}

static tide_status drop_old_ticks(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    const struct pruning *p = self;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < p->count && status == TIDE_OK; i++) {
        struct tide_hot_key prefix = tide_hot_key_symbol(TIDE_HOT_TICK, &p->pools[i]);
        struct tide_hot_key end = tide_hot_key_tick(&p->pools[i], p->ends[i]);
        status = tide_hot_drop_below(sink, &prefix, &end, err);
    }
    return status;
}

/* Keeps the newest tick before the window: the window's first value comes from it. */
tide_status feed_prune(struct tide_feed *feed, struct tide_err *err)
{
    struct pruning p = { 0 };
    const struct tide_hot_meta *meta;
    struct tide_hot_key pools = tide_hot_key(TIDE_HOT_TRADE);
    tide_status status = tide_hot_begin(feed->reader, &meta, err);
    if (status != TIDE_OK)
        return status;
    uint64_t start =
        meta->close_time > TIDE_HOT_WINDOW_KEEP_S ? meta->close_time - TIDE_HOT_WINDOW_KEEP_S : 0;
    tide_hot_scan(feed->reader, &pools, NULL, add_pool, &p);
    for (uint32_t i = 0; i < p.count; i++) {
        struct tide_hot_key key = tide_hot_key_tick(&p.pools[i], start);
        const struct tide_hot_tick *tick =
            tide_hot_floor(feed->reader, &key, 1 + sizeof(struct tide_hot_symbol));
        p.ends[i] = tick ? tick->time : 0;
    }
    if (tide_hot_end(feed->reader) == TIDE_OK && p.count)
        status = tide_hot_update(feed->options.hot, drop_old_ticks, &p, err);
    free(p.pools);
    free(p.ends);
    return status;
}
