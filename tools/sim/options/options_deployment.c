#include "tidemark/text.h"
#include "tools/sim/options/options.h"

#include <dirent.h>
#include <sys/stat.h>

enum { TEXT_MAX = 1 << 20, PATH_TEXT = 4096 };

/* Whether the file is of the chain of made, which leaves out how far that goes. */
static bool same_chain(tide_slice there, tide_slice made)
{
    static const char key[] = " \"last_ledger\": ";
    size_t at = 0;
    while (at < there.len && at < made.len && there.ptr[at] == made.ptr[at])
        at++;
    while (at > 0 && at < made.len && made.ptr[at - 1] != '\n')
        at--;
    there = (tide_slice){ there.ptr + at, there.len - at };
    made = (tide_slice){ made.ptr + at, made.len - at };
    if (there.len > sizeof key && memcmp(there.ptr, key, sizeof key - 1) == 0) {
        const uint8_t *end = memchr(there.ptr, '\n', there.len);
        size_t line = end ? (size_t)(end - there.ptr) + 1 : there.len;
        there = (tide_slice){ there.ptr + line, there.len - line };
    }
    return tide_slice_eq(there, made);
}

static bool of_another_chain(const char *path, tide_slice made)
{
    uint8_t chunk[4096];
    struct tide_buf there;
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    tide_buf_init(&there, TEXT_MAX);
    for (size_t len; (len = fread(chunk, 1, sizeof chunk, file)) > 0;)
        tide_buf_put(&there, chunk, len);
    fclose(file);
    bool other = there.len > 0 && (there.failed || !same_chain(tide_buf_view(&there), made));
    tide_buf_release(&there);
    return other;
}

/* A lake that holds something: its .config.json, and more. */
static bool is_lake(const char *path)
{
    bool config = false, more = false;
    DIR *folder = opendir(path);
    if (!folder)
        return false;
    /* one thread reads this handle */
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) { /* NOLINT */
        config |= strcmp(e->d_name, ".config.json") == 0;
        more |= e->d_name[0] != '.';
    }
    closedir(folder);
    return config && more;
}

/* Whether the folder of that lake holds other lakes; name is one of them. */
static bool lake_beside(const char *lake, char name[256])
{
    char path[PATH_TEXT];
    struct stat own, other;
    int len = snprintf(path, sizeof path, "%s/..", lake);
    DIR *folder = len > 0 && (size_t)len < sizeof path ? opendir(path) : NULL;
    bool found = false, there = stat(lake, &own) == 0;
    if (!folder)
        return false;
    for (struct dirent *e = readdir(folder); e && !found; e = readdir(folder)) { /* NOLINT */
        len = snprintf(path, sizeof path, "%s/../%s", lake, e->d_name);
        if (strcmp(e->d_name, "..") == 0 || len < 0 || (size_t)len >= sizeof path ||
            stat(path, &other) != 0 || !is_lake(path))
            continue;
        found = !(there && own.st_dev == other.st_dev && own.st_ino == other.st_ino);
        snprintf(name, 256, "%s", e->d_name);
    }
    closedir(folder);
    return found;
}

static tide_status place(const struct sim_settings *s, char path[PATH_TEXT], struct tide_err *err)
{
    int len = s->deployment ? snprintf(path, PATH_TEXT, "%s", s->deployment)
                            : snprintf(path, PATH_TEXT, "%s/../deployment.json", s->lake);
    if (len < 0 || len >= PATH_TEXT)
        return tide_fail(err, TIDE_E_USAGE, "--deployment is too long a name");
    return TIDE_OK;
}

tide_status sim_settings_unclaimed(const struct sim_settings *s, const struct cast *cast,
                                   struct tide_err *err)
{
    char path[PATH_TEXT], name[256];
    struct tide_buf made;
    if (s->deployment || !s->lake)
        return TIDE_OK;
    tide_status status = place(s, path, err);
    if (status != TIDE_OK)
        return status;
    tide_buf_init(&made, TEXT_MAX);
    cast_deployment(&made, cast, (uint32_t)s->first_ledger, 0);
    if (of_another_chain(path, tide_buf_view(&made)) && lake_beside(s->lake, name))
        status = tide_fail(err, TIDE_E_CONFLICT,
                           "%s is of another chain, and the lake %s stands beside this one: say "
                           "with --deployment FILE where this one's goes",
                           path, name);
    tide_buf_release(&made);
    return status;
}

tide_status sim_settings_deployment(const struct sim_settings *s, const struct cast *cast,
                                    uint32_t last, struct tide_err *err)
{
    char path[PATH_TEXT];
    struct tide_buf json;
    if (!s->deployment && !s->lake)
        return TIDE_OK;
    tide_status status = place(s, path, err);
    if (status != TIDE_OK)
        return status;
    tide_buf_init(&json, TEXT_MAX);
    cast_deployment(&json, cast, (uint32_t)s->first_ledger, last);
    FILE *file = fopen(path, "wb");
    bool whole = file && !json.failed && fwrite(json.ptr, 1, json.len, file) == json.len;
    if (file && fclose(file) != 0)
        whole = false;
    tide_buf_release(&json);
    return whole ? TIDE_OK : tide_fail(err, TIDE_E_IO, "cannot write %s", path);
}
