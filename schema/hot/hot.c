#include "tidemark/hot.h"
#include "schema/hot/hot_impl.h"
#include "tidemark/log.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

tide_status tide_hot_open(struct tide_hot **out, const struct tide_hot_options *options,
                          struct tide_err *err)
{
    struct tide_hot *hot = calloc(1, sizeof *hot);
    if (!hot)
        return tide_fail(err, TIDE_E_MEMORY, "cache");
    int len = snprintf(hot->dir, sizeof hot->dir, "%s", options->dir);
    hot->map_first = options->map_first ? options->map_first : TIDE_HOT_MAP_FIRST;
    hot->map_max = options->map_max ? options->map_max : TIDE_HOT_MAP_MAX;
    hot->readers_max = options->readers_max ? options->readers_max : TIDE_HOT_READERS_MAX;
    hot->stopped = options->stopped;
    hot->stopped_self = options->stopped_self;
    atomic_init(&hot->lock_fd, -1);
    pthread_mutex_init(&hot->opening, NULL);
    pthread_mutex_init(&hot->mutex, NULL);
    pthread_cond_init(&hot->opened, NULL);
    tide_status status =
        len > 0 && (size_t)len + HOT_NAME_MAX < sizeof hot->dir
            ? hot_make_dir(hot->dir, err)
            : tide_fail(err, TIDE_E_CONFIG, "cache: folder \"%.60s…\"", options->dir);
    if (status == TIDE_OK && access(hot->dir, R_OK | W_OK | X_OK) != 0)
        status = hot_fail(err, errno, "use", hot->dir);
    if (status == TIDE_OK)
        *out = hot;
    else
        tide_hot_close(hot);
    return status;
}

void tide_hot_close(struct tide_hot *hot)
{
    if (!hot)
        return;
    assert(!hot->readers);
    assert(!hot->txn && !hot->building); /* each change commits or is abandoned */
    hot_publish(hot, NULL);
    if (atomic_load(&hot->lock_fd) >= 0)
        close(atomic_load(&hot->lock_fd));
    pthread_cond_destroy(&hot->opened);
    pthread_mutex_destroy(&hot->mutex);
    pthread_mutex_destroy(&hot->opening);
    free(hot);
}

/* --- generations ----------------------------------------------------------------------------- */

static tide_status open_generation(struct tide_hot *hot, uint32_t generation, struct tide_err *err)
{
    char name[HOT_NAME_MAX], path[HOT_PATH_MAX];
    struct hot_env *env;
    assert(generation > 0); /* 0 stands for none */
    hot_generation_name(name, generation);
    tide_status status = hot_path(path, hot, name, err);
    if (status == TIDE_OK)
        status = hot_check(hot, path, err);
    if (status == TIDE_OK)
        status = hot_env_open(&env, hot, path, 0, err);
    if (status != TIDE_OK)
        return status;
    env->generation = generation;
    hot_publish(hot, env);
    tide_log(TIDE_INFO, "cache.opened", "generation=%u", generation);
    return TIDE_OK;
}

/* Opens the generation that the link names. A missing link withdraws the open generation: an
 * operator or the feeder removed it on purpose. */
static tide_status refresh_generation(struct tide_hot *hot, struct tide_err *err)
{
    uint32_t generation;
    tide_status status = hot_current(hot, &generation, err);
    if (status != TIDE_OK)
        return status;
    struct hot_env *env = atomic_load(&hot->current);
    if (generation == 0) {
        hot_publish(hot, NULL);
        return tide_fail(err, TIDE_E_MISSING, "cache: %s holds none yet", hot->dir);
    }
    return env && env->generation == generation ? TIDE_OK : open_generation(hot, generation, err);
}

tide_status tide_hot_refresh(struct tide_hot *hot, struct tide_err *err)
{
    pthread_mutex_lock(&hot->opening);
    tide_status status = refresh_generation(hot, err);
    pthread_mutex_unlock(&hot->opening);
    return status;
}

static tide_status discard_generation(struct tide_hot *hot, const char *why, struct tide_err *err)
{
    uint32_t generation;
    char path[HOT_PATH_MAX];
    tide_status status = hot_current(hot, &generation, err);
    if (status == TIDE_OK)
        status = hot_path(path, hot, "current", err);
    if (status != TIDE_OK)
        return status;
    hot_publish(hot, NULL);
    (void)unlink(path);
    return generation ? hot_move_aside(hot, generation, why, err) : TIDE_OK;
}

tide_status tide_hot_discard(struct tide_hot *hot, const char *why, struct tide_err *err)
{
    assert(atomic_load(&hot->lock_fd) >= 0 && "only the feeder writes");
    pthread_mutex_lock(&hot->opening);
    tide_status status = discard_generation(hot, why, err);
    pthread_mutex_unlock(&hot->opening);
    return status;
}

tide_status tide_hot_lock(struct tide_hot *hot, bool *mine, struct tide_err *err)
{
    char path[HOT_PATH_MAX];
    *mine = atomic_load(&hot->lock_fd) >= 0;
    if (*mine)
        return TIDE_OK;
    tide_status status = hot_path(path, hot, "feeder.lock", err);
    if (status != TIDE_OK)
        return status;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return hot_fail(err, errno, "open", path);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        atomic_store(&hot->lock_fd, fd);
        *mine = true;
        return TIDE_OK;
    }
    status = errno == EWOULDBLOCK ? TIDE_OK : hot_fail(err, errno, "lock", path);
    close(fd);
    return status;
}

/* --- once a second ---------------------------------------------------------------------------- */

/* Ends snapshots by their numbers: a reader may begin another one meanwhile, which goes on. */
static void end_late_readers(struct tide_hot *hot, uint32_t now)
{
    enum { SECONDS_MAX = 1 + TIDE_HOT_READ_MS / 1000 };
    pthread_mutex_lock(&hot->mutex);
    for (struct tide_hot_reader *r = hot->readers; r; r = r->next) {
        uint64_t number = atomic_load(&r->begun); /* `since` is of this one, or of a later one */
        bool late = atomic_load(&r->busy) && now - atomic_load(&r->since) >= SECONDS_MAX;
        if (late && atomic_exchange(&r->late, number) != number)
            atomic_fetch_add(&hot->expired, 1);
    }
    pthread_mutex_unlock(&hot->mutex);
}

static void clear_dead_readers(struct tide_hot *hot)
{
    int dead = 0;
    pthread_mutex_lock(&hot->mutex);
    struct hot_env *env = atomic_load(&hot->current);
    int rc = env ? mdb_reader_check(env->env, &dead) : 0;
    pthread_mutex_unlock(&hot->mutex);
    if (rc != 0 || dead == 0)
        return;
    atomic_fetch_add(&hot->cleared, (unsigned long long)dead);
    tide_log(TIDE_INFO, "cache.dead_readers", "cleared=%d", dead);
}

void tide_hot_tick(struct tide_hot *hot)
{
    enum { MINUTE = 60 };
    uint32_t now = atomic_fetch_add(&hot->seconds, 1) + 1;
    end_late_readers(hot, now);
    if (atomic_load(&hot->lock_fd) >= 0 && now % MINUTE == 0)
        clear_dead_readers(hot);
}

void tide_hot_stats(struct tide_hot *hot, struct tide_hot_stats *out)
{
    MDB_envinfo info;
    MDB_stat stat;
    *out = (struct tide_hot_stats){ .grown = atomic_load(&hot->grown),
                                    .cleared = atomic_load(&hot->cleared),
                                    .expired = atomic_load(&hot->expired),
                                    .moved_aside = atomic_load(&hot->moved_aside),
                                    .waits_map = atomic_load(&hot->waits_map),
                                    .waits_generation = atomic_load(&hot->waits_generation) };
    pthread_mutex_lock(&hot->mutex);
    struct hot_env *env = atomic_load(&hot->current);
    if (env && mdb_env_info(env->env, &info) == 0 && mdb_env_stat(env->env, &stat) == 0) {
        out->generation = env->generation;
        out->readers = info.me_numreaders;
        out->map_bytes = info.me_mapsize;
        out->used_bytes = (info.me_last_pgno + 1) * stat.ms_psize;
        out->records = stat.ms_entries;
    }
    pthread_mutex_unlock(&hot->mutex);
}
