#include "schema/hot/hot_impl.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

tide_status hot_path(char out[HOT_PATH_MAX], const struct tide_hot *hot, const char *name,
                     struct tide_err *err)
{
    int len = snprintf(out, HOT_PATH_MAX, "%s/%s", hot->dir, name);
    return len > 0 && len < HOT_PATH_MAX
               ? TIDE_OK
               : tide_fail(err, TIDE_E_CONFIG, "cache: path of %s is too long", name);
}

void hot_generation_name(char out[HOT_NAME_MAX], uint32_t generation)
{
    int len = snprintf(out, HOT_NAME_MAX, "gen-%08u", generation);
    assert(len > 0 && len < HOT_NAME_MAX);
    (void)len;
}

/* Returns the number in gen-N, 0 for any other name. */
static uint32_t generation_of(const char *name)
{
    uint64_t n = 0;
    if (strncmp(name, "gen-", 4) != 0 ||
        tide_parse_u64(&n, tide_slice_str(name + 4), UINT32_MAX) != TIDE_OK)
        return 0;
    return (uint32_t)n;
}

tide_status hot_make_dir(const char *path, struct tide_err *err)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_IO, "cache: cannot make %s: %s", path, strerror(errno));
}

tide_status hot_current(const struct tide_hot *hot, uint32_t *generation, struct tide_err *err)
{
    char path[HOT_PATH_MAX], name[HOT_NAME_MAX];
    *generation = 0;
    tide_status status = hot_path(path, hot, "current", err);
    if (status != TIDE_OK)
        return status;
    ssize_t len = readlink(path, name, sizeof name - 1);
    if (len < 0 && (errno == ENOENT || errno == EINVAL))
        return TIDE_OK;
    if (len < 0)
        return tide_fail(err, TIDE_E_IO, "cache: cannot read %s: %s", path, strerror(errno));
    name[len] = 0;
    *generation = generation_of(name);
    return TIDE_OK;
}

tide_status hot_link(const struct tide_hot *hot, uint32_t generation, struct tide_err *err)
{
    char path[HOT_PATH_MAX], fresh[HOT_PATH_MAX], name[HOT_NAME_MAX];
    hot_generation_name(name, generation);
    tide_status status = hot_path(path, hot, "current", err);
    if (status == TIDE_OK)
        status = hot_path(fresh, hot, "current.new", err);
    if (status != TIDE_OK)
        return status;
    (void)unlink(fresh);
    if (symlink(name, fresh) != 0 || rename(fresh, path) != 0)
        return tide_fail(err, TIDE_E_IO, "cache: cannot link %s: %s", path, strerror(errno));
    return TIDE_OK;
}

void hot_remove(const struct tide_hot *hot, const char *name)
{
    static const char *const files[] = { "data.mdb", "lock.mdb" };
    char path[HOT_PATH_MAX], file[HOT_PATH_MAX + 16];
    struct tide_err ignored;
    if (hot_path(path, hot, name, &ignored) != TIDE_OK)
        return;
    for (size_t i = 0; i < TIDE_COUNT(files); i++) {
        snprintf(file, sizeof file, "%s/%s", path, files[i]);
        (void)unlink(file);
    }
    (void)rmdir(path);
}

tide_status hot_move_aside(struct tide_hot *hot, uint32_t generation, const char *why,
                           struct tide_err *err)
{
    char from[HOT_PATH_MAX], to[HOT_PATH_MAX], name[HOT_NAME_MAX], aside[HOT_NAME_MAX],
        quoted[TIDE_ERR_TEXT_MAX];
    hot_generation_name(name, generation);
    int len = snprintf(aside, sizeof aside, "damaged-%lld-%08u", (long long)time(NULL), generation);
    assert(len > 0 && (size_t)len < sizeof aside);
    (void)len;
    tide_status status = hot_path(from, hot, name, err);
    if (status == TIDE_OK)
        status = hot_path(to, hot, aside, err);
    if (status != TIDE_OK)
        return status;
    if (rename(from, to) != 0 && errno != ENOENT)
        return tide_fail(err, TIDE_E_IO, "cache: cannot move %s aside: %s", from, strerror(errno));
    atomic_fetch_add(&hot->moved_aside, 1);
    tide_log(TIDE_WARN, "cache.moved_aside", "generation=%u to=%s why=%s", generation, aside,
             tide_log_quote(quoted, sizeof quoted, why));
    return TIDE_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

uint32_t hot_newest(const struct tide_hot *hot)
{
    uint32_t newest = 0;
    DIR *dir = opendir(hot->dir);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        const char *last = strrchr(e->d_name, '-');
        uint64_t n = 0;
        if (last && tide_parse_u64(&n, tide_slice_str(last + 1), UINT32_MAX) == TIDE_OK &&
            n > newest)
            newest = (uint32_t)n;
    }
    if (dir)
        closedir(dir);
    return newest;
}

void hot_sweep(const struct tide_hot *hot, uint32_t keep)
{
    enum { NAMES = 64, DAMAGED_KEPT = 2 };
    static const char damaged[] = "damaged-";
    char names[NAMES][HOT_NAME_MAX];
    size_t count = 0;
    DIR *dir = opendir(hot->dir);
    for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        uint32_t generation = generation_of(e->d_name);
        bool is_damaged = strncmp(e->d_name, damaged, sizeof damaged - 1) == 0;
        if (count < NAMES && strlen(e->d_name) < HOT_NAME_MAX && is_damaged)
            snprintf(names[count++], HOT_NAME_MAX, "%s", e->d_name);
        else if (generation && generation != keep)
            hot_remove(hot, e->d_name);
    }
    if (dir)
        closedir(dir);
    qsort(names, count, sizeof names[0], by_name);
    for (size_t i = 0; i + DAMAGED_KEPT < count; i++)
        hot_remove(hot, names[i]);
}
