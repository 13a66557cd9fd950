#include "schema/hot/hot_impl.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>
#include <time.h>

tide_status hot_fail(struct tide_err *err, int rc, const char *what, const char *path)
{
    tide_status status = TIDE_E_IO;
    const char *advice = "";
    switch (rc) {
    case MDB_INVALID:
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_PANIC:
    case MDB_BAD_TXN:
        status = TIDE_E_DECODE;
        break;
    case MDB_VERSION_MISMATCH:
        status = TIDE_E_SCHEMA;
        break;
    case MDB_MAP_FULL:
    case MDB_READERS_FULL:
    case MDB_TXN_FULL:
        status = TIDE_E_LIMIT;
        break;
    case ENOENT:
        status = TIDE_E_MISSING;
        break;
    case ENOMEM:
        status = TIDE_E_MEMORY;
        break;
    case EACCES:
    case EPERM:
    case EROFS:
        advice = ": the folder and its files must belong to the user of the API, who writes there";
        break;
    default:
        break;
    }
    return tide_fail(err, status, "cache: cannot %s %s: %s%s", what, path, mdb_strerror(rc),
                     advice);
}

static int open_tree(struct hot_env *env)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(env->env, NULL, MDB_RDONLY, &txn);
    if (rc == 0) {
        rc = mdb_dbi_open(txn, NULL, 0, &env->dbi);
        if (rc == 0)
            rc = mdb_txn_commit(txn);
        else
            mdb_txn_abort(txn);
    }
    return rc;
}

/* Reports a damaged page; LMDB calls it, and then ends the process. A file that was cut short has
 * such pages once a commit made it longer again. */
static void log_damage(MDB_env *env, const char *text)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    (void)env;
    tide_log(TIDE_ERROR, "cache.damaged", "reason=%s", tide_log_quote(quoted, sizeof quoted, text));
}

tide_status hot_env_open(struct hot_env **out, const struct tide_hot *hot, const char *path,
                         size_t map, struct tide_err *err)
{
    struct hot_env *env = calloc(1, sizeof *env);
    int rc = env ? mdb_env_create(&env->env) : ENOMEM;
    if (rc == 0)
        rc = mdb_env_set_assert(env->env, log_damage);
    if (rc == 0)
        rc = mdb_env_set_maxreaders(env->env, hot->readers_max);
    if (rc == 0 && map)
        rc = mdb_env_set_mapsize(env->env, map);
    if (rc == 0)
        rc = mdb_env_open(env->env, path, MDB_NOTLS | MDB_NOSYNC, 0600);
    if (rc == 0)
        rc = open_tree(env);
    if (rc == 0) {
        env->refs = 1;
        *out = env;
        return TIDE_OK;
    }
    if (env && env->env)
        mdb_env_close(env->env);
    free(env);
    return hot_fail(err, rc, "open", path);
}

struct hot_env *hot_env_unref(struct hot_env *env)
{
    assert(!env || env->refs > 0);
    return env && --env->refs == 0 ? env : NULL;
}

/* Call without the mutex: unmapping gigabytes takes long. */
void hot_env_close(struct hot_env *env)
{
    if (!env)
        return;
    assert(env->refs == 0);
    mdb_env_close(env->env);
    free(env);
}

void hot_publish(struct tide_hot *hot, struct hot_env *env)
{
    pthread_mutex_lock(&hot->mutex);
    struct hot_env *old = atomic_exchange(&hot->current, env);
    old = hot_env_unref(old);
    pthread_mutex_unlock(&hot->mutex);
    hot_env_close(old);
}

/* --- the gate ---------------------------------------------------------------------------- */

static bool has_readers(struct tide_hot *hot)
{
    for (struct tide_hot_reader *r = hot->readers; r; r = r->next)
        if (atomic_load(&r->busy))
            return true;
    return false;
}

static void hot_gate_close(struct tide_hot *hot)
{
    const struct timespec pause = { .tv_nsec = 50000 };
    pthread_mutex_lock(&hot->mutex);
    while (atomic_load(&hot->closed))
        pthread_cond_wait(&hot->opened, &hot->mutex);
    atomic_store(&hot->closed, true);
    while (has_readers(hot)) {
        pthread_mutex_unlock(&hot->mutex);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&hot->mutex);
    }
    pthread_mutex_unlock(&hot->mutex);
}

static void hot_gate_open(struct tide_hot *hot)
{
    pthread_mutex_lock(&hot->mutex);
    assert(atomic_load(&hot->closed));
    atomic_store(&hot->closed, false);
    pthread_cond_broadcast(&hot->opened);
    pthread_mutex_unlock(&hot->mutex);
}

/* Sets the size of the map while no thread reads from it: no reader by the gate, and no
 * tide_hot_stats by the mutex. */
static int resize_map(struct tide_hot *hot, struct hot_env *env, size_t size)
{
    hot_gate_close(hot);
    pthread_mutex_lock(&hot->mutex);
    int rc = mdb_env_set_mapsize(env->env, size);
    pthread_mutex_unlock(&hot->mutex);
    hot_gate_open(hot);
    return rc;
}

tide_status hot_grow(struct tide_hot *hot, struct hot_env *env, struct tide_err *err)
{
    MDB_envinfo info;
    int rc = mdb_env_info(env->env, &info);
    assert(!hot->txn && env == hot->writing); /* LMDB enlarges no map that is being written */
    if (rc != 0)
        return hot_fail(err, rc, "look at", hot->dir);
    size_t wanted = info.me_mapsize * 2;
    if (wanted > hot->map_max)
        return tide_fail(err, TIDE_E_LIMIT, "cache: full at %zu bytes, the ceiling is %zu",
                         info.me_mapsize, hot->map_max);
    rc = resize_map(hot, env, wanted);
    if (rc != 0)
        return hot_fail(err, rc, "enlarge", hot->dir);
    atomic_fetch_add(&hot->grown, 1);
    return TIDE_OK;
}

tide_status hot_remap(struct tide_hot *hot, struct hot_env *env, struct tide_err *err)
{
    int rc = resize_map(hot, env, 0);
    return rc == 0 ? TIDE_OK : hot_fail(err, rc, "map again", hot->dir);
}
