#include "api/hot/feed_impl.h"
#include "schema/reader/cache_meta.h"
#include "tidemark/hash.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <stdio.h>
#include <stdlib.h>

/* Columns of the cursor row, behind PROJECT_ROW_VALUES. */
enum {
    LOOK_LEDGER,
    LOOK_CURSOR,
    LOOK_TIME,
    LOOK_HASH,
    LOOK_MOVES,
    LOOK_RAW,
    LOOK_SEEN,
    LOOK_FROM,
    LOOK_OURS,
    LOOK_SCOPE,
    LOOK_READ,
    LOOK_WITHDRAWN,
    LOOK_SIGN /* TIDE_AGE_COLUMNS */
};

tide_status feed_read_look(struct feed_look *look, const struct tide_pg_rows *rows, uint32_t at,
                           const uint8_t our_hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    const uint32_t v = PROJECT_ROW_VALUES;
    uint8_t theirs[TIDE_HASH_BYTES];
    *look = (struct feed_look){
        .ledger = (uint32_t)tide_pg_u64(rows, at, v + LOOK_LEDGER),
        .cursor = (uint32_t)tide_pg_u64(rows, at, v + LOOK_CURSOR),
        .close_time = tide_pg_u64(rows, at, v + LOOK_TIME),
        .moves = tide_pg_u64(rows, at, v + LOOK_MOVES),
        .raw_states = tide_pg_u64(rows, at, v + LOOK_RAW),
        .contracts_seen = (uint32_t)tide_pg_u64(rows, at, v + LOOK_SEEN),
        .from = (uint32_t)tide_pg_u64(rows, at, v + LOOK_FROM),
        .unkept = project_unkept(tide_pg_text(rows, at, v + LOOK_SCOPE)),
        .sign = tide_age_read(rows, at, v + LOOK_SIGN),
        .pasts_read = (uint32_t)tide_pg_u64(rows, at, v + LOOK_READ),
        .withdrawn_keys = (uint32_t)tide_pg_u64(rows, at, v + LOOK_WITHDRAWN),
    };
    if (look->ledger == 0)
        return tide_fail(err, TIDE_E_MISSING, "feed: nothing is indexed yet");
    if (tide_hex_decode(look->hash, sizeof look->hash, tide_pg_slice(rows, at, v + LOOK_HASH)) !=
        TIDE_OK)
        return tide_fail(err, TIDE_E_MISSING, "feed: ledger %u is not indexed", look->ledger);
    look->same = !our_hash || (tide_hex_decode(theirs, sizeof theirs,
                                               tide_pg_slice(rows, at, v + LOOK_OURS)) == TIDE_OK &&
                               memcmp(theirs, our_hash, sizeof theirs) == 0);
    return TIDE_OK;
}

/* --- the cache's own record ------------------------------------------------------------------- */

/* What was seen under another start of this host says nothing about its clock now. */
static void put_age(struct tide_hot_meta *meta, const struct tide_feed *feed,
                    const struct feed_look *look)
{
    struct tide_age age = { meta->renewed_ms, meta->changed_ms };
    if (memcmp(meta->boot, tide_boot_id(), sizeof meta->boot) != 0 ||
        age.changed_ms > feed->asked_ms)
        age = (struct tide_age){ 0 };
    meta->aged_ms = tide_age_of(&age, &look->sign, feed->wall_ms, feed->asked_ms);
    meta->closed_age_ms = tide_age_closed(&look->sign, look->close_time, feed->wall_ms);
    meta->renewed_ms = age.renewed_ms;
    meta->changed_ms = age.changed_ms;
    meta->fed_ms = feed->asked_ms;
    meta->standby = look->sign.standby;
    memcpy(meta->boot, tide_boot_id(), sizeof meta->boot);
}

/* Says once what the DAO's storage names otherwise than the deployment file, and when it ends. */
static void warn_of_names(struct tide_feed *feed, const struct tide_hot_meta *meta)
{
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
                          const struct feed_look *look, struct tide_err *err)
{
    struct tide_hot_meta meta;
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    bool found;
    tide_status status = sink->get(sink->self, &key, &meta, &found, err);
    meta.deployment = feed->selected.id;
    memcpy(meta.protocol, feed->selected.protocol, sizeof meta.protocol);
    meta.ledger = look->ledger;
    meta.close_time = look->close_time;
    memcpy(meta.hash, look->hash, sizeof meta.hash);
    meta.first_ledger = look->from;
    meta.unkept = look->unkept;
    meta.moves = look->moves;
    if (meta.changes_from == 0) /* a generation is complete with this */
        meta.changes_from = look->ledger;
    meta.raw_states = look->raw_states;
    meta.contracts_seen = look->contracts_seen;
    put_age(&meta, feed, look);
    meta.pasts_read = look->pasts_read;
    meta.withdrawn_keys = look->withdrawn_keys;
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
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++) {
        tide_slice kid = tide_pg_slice(&rows, i, 0);
        struct tide_hot_key key;
        if (kid.len != TIDE_HOT_KID)
            continue; /* the table's constraint allows no other */
        key = tide_hot_key_kid((const char *)kid.ptr);
        status = sink->put(sink->self, &key, &record, err);
    }
    tide_pg_rows_release(&rows);
    return status;
}

/* --- ticks that no window reaches -------------------------------------------------------- */

struct pruning {
    struct tide_hot_symbol *pools;
    uint64_t *ends; /* keys below are not needed */
    uint32_t count, max;
};

static bool note_pool(void *self, tide_slice key, const void *record)
{
    struct pruning *p = self;
    const struct tide_hot_pool *pool = record;
    (void)key;
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
    p->pools[p->count++] = pool->id;
    return true;
}

static tide_status drop_old(void *self, struct tide_hot_sink *sink, struct tide_err *err)
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

/* The newest tick behind the window is what it begins with: it stays. */
tide_status feed_prune(struct tide_feed *feed, struct tide_err *err)
{
    struct pruning p = { 0 };
    const struct tide_hot_meta *meta;
    struct tide_hot_key pools = tide_hot_key(TIDE_HOT_POOL);
    tide_status status = tide_hot_begin(feed->reader, &meta, err);
    if (status != TIDE_OK)
        return status;
    uint64_t start = meta->close_time - TIDE_HOT_WINDOW_KEEP_S;
    tide_hot_scan(feed->reader, &pools, NULL, note_pool, &p);
    for (uint32_t i = 0; i < p.count; i++) {
        struct tide_hot_key key = tide_hot_key_tick(&p.pools[i], start);
        const struct tide_hot_tick *tick =
            tide_hot_floor(feed->reader, &key, 1 + sizeof(struct tide_hot_symbol));
        p.ends[i] = tick ? tick->time : 0;
    }
    if (tide_hot_end(feed->reader) == TIDE_OK && p.count)
        status = tide_hot_update(feed->options.hot, drop_old, &p, err);
    free(p.pools);
    free(p.ends);
    return status;
}
