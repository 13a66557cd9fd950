#include "schema/hot/hot_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"

#include <lmdb.h>
#include <stdlib.h>

/* Records in one transaction of a build: limits the memory of dirty pages and the growth of the
 * map. */
enum { BUILD_CHUNK = 4096 };
static_assert(TIDE_HOT_KEY_MAX <= 511, "LMDB stores no longer keys");

/* --- the sink --------------------------------------------------------------------------------- */

static tide_status failed(struct tide_hot *hot, int rc, const char *what, struct tide_err *err)
{
    hot->full = rc == MDB_MAP_FULL;
    return hot_fail(err, rc, what, hot->dir);
}

static tide_status sink_get(void *self, const struct tide_hot_key *key, void *out, bool *found,
                            struct tide_err *err)
{
    struct tide_hot *hot = self;
    MDB_val name = { key->len, (void *)(uintptr_t)key->bytes }, value;
    size_t size = tide_hot_record_size((enum tide_hot_kind)key->bytes[0]);
    assert(size > 0 && hot->writing);
    memset(out, 0, size);
    *found = false;
    int rc = mdb_get(hot->txn, hot->writing->dbi, &name, &value);
    if (rc == MDB_NOTFOUND)
        return TIDE_OK;
    if (rc != 0)
        return failed(hot, rc, "read", err);
    const void *record = hot_record_of(key->bytes, key->len, value.mv_data, value.mv_size);
    if (!record)
        return tide_fail(err, TIDE_E_DECODE, "cache: a record of kind %u is damaged",
                         key->bytes[0]);
    memcpy(out, record, size);
    *found = true;
    return TIDE_OK;
}

static int begin_write(struct tide_hot *hot)
{
    assert(!hot->txn);
    hot->written = 0;
    return mdb_txn_begin(hot->writing->env, NULL, 0, &hot->txn);
}

static int commit_write(struct tide_hot *hot)
{
    assert(hot->txn);
    MDB_txn *txn = hot->txn;
    hot->txn = NULL;
    return mdb_txn_commit(txn);
}

/* Returns whether half of the map is free, so that the next chunk fits. */
static bool roomy(const MDB_envinfo *info, const MDB_stat *stat)
{
    return (info->me_last_pgno + 1) * stat->ms_psize < info->me_mapsize / 2;
}

/* Commits the records written so far, enlarges the map if needed, and begins the next transaction
 * of a build. */
static tide_status next_chunk(struct tide_hot *hot, struct tide_err *err)
{
    assert(hot->building);
    MDB_envinfo info;
    MDB_stat stat;
    int rc = commit_write(hot);
    if (rc == 0)
        rc = mdb_env_info(hot->writing->env, &info);
    if (rc == 0)
        rc = mdb_env_stat(hot->writing->env, &stat);
    if (rc == 0 && !roomy(&info, &stat)) {
        tide_status status = hot_grow(hot, hot->writing, err);
        if (status != TIDE_OK)
            return status;
    }
    if (rc == 0)
        rc = begin_write(hot);
    return rc == 0 ? TIDE_OK : failed(hot, rc, "write to", err);
}

static tide_status sink_put(void *self, const struct tide_hot_key *key, const void *record,
                            struct tide_err *err)
{
    struct tide_hot *hot = self;
    size_t size = tide_hot_record_size((enum tide_hot_kind)key->bytes[0]);
    assert(key->len > 0 && size > 0); /* readers refuse a record of another size */
    struct hot_head front = { .size = (uint32_t)size,
                              .kind = key->bytes[0],
                              .format = TIDE_HOT_FORMAT };
    if (!hot->txn) /* an earlier chunk failed */
        return tide_fail(err, TIDE_E_IO, "cache: nothing is being written");
    if (hot->building && ++hot->written > BUILD_CHUNK) {
        tide_status status = next_chunk(hot, err);
        if (status != TIDE_OK)
            return status;
    }
    MDB_val name = { key->len, (void *)(uintptr_t)key->bytes };
    MDB_val value = { sizeof front + size, NULL };
    int rc = TIDE_FAILPOINT("hot.put")
                 ? MDB_MAP_FULL
                 : mdb_put(hot->txn, hot->writing->dbi, &name, &value, MDB_RESERVE);
    if (rc != 0)
        return failed(hot, rc, "write to", err);
    uint8_t *to = value.mv_data;
    memcpy(to + sizeof front, record, size);
    front.check = hot_sum(tide_slice_of(key->bytes, key->len), to + sizeof front, size);
    memcpy(to, &front, sizeof front);
    return TIDE_OK;
}

static tide_status sink_drop(void *self, const struct tide_hot_key *key, struct tide_err *err)
{
    struct tide_hot *hot = self;
    MDB_val name = { key->len, (void *)(uintptr_t)key->bytes };
    int rc = mdb_del(hot->txn, hot->writing->dbi, &name, NULL);
    return rc == 0 || rc == MDB_NOTFOUND ? TIDE_OK : failed(hot, rc, "write to", err);
}

tide_status tide_hot_drop_below(struct tide_hot_sink *sink, const struct tide_hot_key *prefix,
                                const struct tide_hot_key *end, struct tide_err *err)
{
    struct tide_hot *hot = sink->self;
    assert(prefix->len > 0 && end->len > 0); /* an empty prefix stands for every record */
    MDB_cursor *cursor;
    MDB_val key = { prefix->len, (void *)(uintptr_t)prefix->bytes }, value;
    int rc = mdb_cursor_open(hot->txn, hot->writing->dbi, &cursor);
    if (rc != 0)
        return failed(hot, rc, "write to", err);
    rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    while (rc == 0 && key.mv_size >= prefix->len &&
           memcmp(key.mv_data, prefix->bytes, prefix->len) == 0 &&
           tide_slice_cmp(tide_slice_of(key.mv_data, key.mv_size),
                          tide_slice_of(end->bytes, end->len)) < 0) {
        rc = mdb_cursor_del(cursor, 0);
        if (rc == 0)
            rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return rc == 0 || rc == MDB_NOTFOUND ? TIDE_OK : failed(hot, rc, "write to", err);
}

/* --- transactions ----------------------------------------------------------------------------- */

static struct tide_hot_sink sink_of(struct tide_hot *hot)
{
    return (
        struct tide_hot_sink){ .self = hot, .get = sink_get, .put = sink_put, .drop = sink_drop };
}

static void abandon_write(struct tide_hot *hot)
{
    if (hot->txn)
        mdb_txn_abort(hot->txn);
    hot->txn = NULL;
}

/* Completes meta: format, generation, and the number of records for metrics. */
static tide_status count_records(struct tide_hot *hot, struct tide_hot_sink *sink,
                                 uint32_t generation, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    struct tide_hot_meta meta;
    MDB_stat stat;
    bool found;
    tide_status status = sink->get(sink->self, &key, &meta, &found, err);
    if (status != TIDE_OK)
        return status;
    if (!found)
        return tide_fail(err, TIDE_E_MISSING, "cache: the build says not what it stands for");
    int rc = mdb_stat(hot->txn, hot->writing->dbi, &stat);
    if (rc != 0)
        return failed(hot, rc, "read", err);
    meta.format = TIDE_HOT_FORMAT;
    meta.generation = generation;
    meta.records = stat.ms_entries;
    return sink->put(sink->self, &key, &meta, err);
}

/* Runs change in one transaction. After a failure hot->full says that a larger map may help. */
static tide_status attempt_change(struct tide_hot *hot, tide_hot_change_fn *change, void *self,
                                  struct tide_err *err)
{
    struct tide_hot_sink sink = sink_of(hot);
    hot->full = false;
    int rc = begin_write(hot);
    if (rc == MDB_MAP_RESIZED) {
        tide_status status = hot_remap(hot, hot->writing, err);
        if (status != TIDE_OK)
            return status;
        rc = begin_write(hot);
    }
    if (rc != 0)
        return failed(hot, rc, "write to", err);
    tide_status status = change(self, &sink, err);
    if (status == TIDE_OK)
        status = count_records(hot, &sink, hot->writing->generation, err);
    if (status == TIDE_OK && TIDE_FAILPOINT("hot.commit"))
        status = tide_fail(err, TIDE_E_IO, "failpoint: commit of the cache");
    if (status != TIDE_OK) {
        abandon_write(hot);
        return status;
    }
    rc = commit_write(hot);
    return rc == 0 ? TIDE_OK : failed(hot, rc, "write to", err);
}

tide_status tide_hot_update(struct tide_hot *hot, tide_hot_change_fn *change, void *self,
                            struct tide_err *err)
{
    assert(atomic_load(&hot->lock_fd) >= 0 && "only the feeder writes");
    hot->writing = atomic_load(&hot->current);
    hot->building = false;
    if (!hot->writing)
        return tide_fail(err, TIDE_E_MISSING, "cache: not built yet");
    for (;;) {
        tide_status status = attempt_change(hot, change, self, err);
        if (status == TIDE_OK || !hot->full)
            return status;
        status = hot_grow(hot, hot->writing, err);
        if (status != TIDE_OK)
            return status;
    }
}

/* --- generations ------------------------------------------------------------------------------ */

static tide_status mark_retired(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    struct tide_hot_meta meta;
    bool found;
    (void)self;
    tide_status status = sink->get(sink->self, &key, &meta, &found, err);
    meta.retired = 1;
    return status == TIDE_OK ? sink->put(sink->self, &key, &meta, err) : status;
}

/* Marks the old generation as retired, so that readers of other processes switch at once, not only
 * when they check the link in the next second. */
static void retire_generation(struct tide_hot *hot, struct hot_env *old)
{
    struct tide_err err;
    assert(!hot->txn);
    hot->writing = old;
    hot->building = false;
    if (old && attempt_change(hot, mark_retired, NULL, &err) != TIDE_OK)
        tide_log(TIDE_WARN, "cache.retire", "generation=%u", old->generation);
}

static tide_status fill_generation(struct tide_hot *hot, struct hot_env *env,
                                   tide_hot_change_fn *build, void *self, struct tide_err *err)
{
    assert(env && !hot->building);
    hot->writing = env;
    hot->building = true;
    tide_status status = attempt_change(hot, build, self, err);
    assert(!hot->txn);
    hot->building = false;
    return status;
}

static tide_status make_generation(struct tide_hot *hot, struct hot_env **env, uint32_t generation,
                                   size_t map, struct tide_err *err)
{
    char name[HOT_NAME_MAX], path[HOT_PATH_MAX];
    hot_generation_name(name, generation);
    tide_status status = hot_path(path, hot, name, err);
    if (status == TIDE_OK)
        status = hot_make_dir(path, err);
    if (status == TIDE_OK)
        status = hot_env_open(env, hot, path, map, err);
    if (status == TIDE_OK)
        (*env)->generation = generation;
    return status;
}

static void drop_env(struct tide_hot *hot, struct hot_env *env)
{
    pthread_mutex_lock(&hot->mutex);
    env = hot_env_unref(env);
    pthread_mutex_unlock(&hot->mutex);
    hot_env_close(env);
}

/* Fills a new generation. If the map is too small, starts again with twice the size. */
static tide_status build_new(struct tide_hot *hot, struct hot_env **out, uint32_t generation,
                             tide_hot_change_fn *build, void *self, struct tide_err *err)
{
    for (size_t map = hot->map_first;; map *= 2) {
        char name[HOT_NAME_MAX];
        hot_generation_name(name, generation);
        hot_remove(hot, name);
        tide_status status = make_generation(hot, out, generation, map, err);
        if (status != TIDE_OK)
            return status;
        status = fill_generation(hot, *out, build, self, err);
        if (status == TIDE_OK)
            return TIDE_OK;
        drop_env(hot, *out);
        hot_remove(hot, name);
        if (!hot->full || map > hot->map_max / 2)
            return status;
    }
}

tide_status tide_hot_rebuild(struct tide_hot *hot, tide_hot_change_fn *build, void *self,
                             struct tide_err *err)
{
    struct hot_env *env;
    assert(atomic_load(&hot->lock_fd) >= 0 && "only the feeder writes");
    uint32_t generation = hot_newest(hot) + 1;
    tide_status status = build_new(hot, &env, generation, build, self, err);
    if (status != TIDE_OK)
        return status;
    pthread_mutex_lock(&hot->opening); /* no other thread opens a generation meanwhile */
    assert(env->refs == 1 && env->generation == generation);
    status = TIDE_FAILPOINT("hot.switch")
                 ? tide_fail(err, TIDE_E_IO, "failpoint: switch of the cache")
                 : hot_link(hot, generation, err);
    if (status == TIDE_OK) {
        retire_generation(hot, atomic_load(&hot->current));
        hot_publish(hot, env);
    }
    pthread_mutex_unlock(&hot->opening);
    if (status != TIDE_OK) {
        drop_env(hot, env);
        return status;
    }
    hot_sweep(hot, generation);
    tide_log(TIDE_INFO, "cache.built", "generation=%u", generation);
    return TIDE_OK;
}
