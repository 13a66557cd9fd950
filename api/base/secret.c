#include "api/base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether systemd provided the file. systemd lets only its unit read a credential, by an
 * access list that stat shows as a right of the group. */
static bool is_credential(const char *path)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    size_t len = folder ? strlen(folder) : 0;
    return len > 1 && strncmp(path, folder, len) == 0 && path[len] == '/' &&
           strchr(path + len + 1, '/') == NULL;
}

static tide_status check_file(const struct stat *st, const char *path, struct tide_err *err)
{
    bool given = is_credential(path);
    unsigned others = given ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
    if (!S_ISREG(st->st_mode))
        return tide_fail(err, TIDE_E_CONFIG, "%s: not a regular file", path);
    if (st->st_uid != geteuid() && !(given && st->st_uid == 0))
        return tide_fail(err, TIDE_E_CONFIG, "%s: a secret that belongs to another user", path);
    if (st->st_mode & others)
        return tide_fail(err, TIDE_E_CONFIG, "%s: mode %04o lets others at a secret; make it 0600",
                         path, (unsigned)st->st_mode & 07777u);
    return TIDE_OK;
}

static tide_status read_all(struct tide_buf *out, int fd, const char *path, struct tide_err *err)
{
    for (;;) {
        char part[512];
        ssize_t got = read(fd, part, sizeof part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got > 0)
            tide_buf_put(out, part, (size_t)got);
        explicit_bzero(part, sizeof part);
        if (got < 0)
            return tide_fail(err, TIDE_E_CONFIG, "%s: %s", path, strerror(errno));
        if (out->failed)
            return tide_fail(err, TIDE_E_CONFIG, "%s: larger than such a file may be", path);
        if (got == 0)
            return TIDE_OK;
    }
}

static void trim_line_end(struct tide_buf *out, size_t from)
{
    assert(from <= out->len);
    if (out->len > from && out->ptr[out->len - 1] == '\n')
        out->len--;
    if (out->len > from && out->ptr[out->len - 1] == '\r')
        out->len--;
}

static void wipe_tail(struct tide_buf *out, size_t from)
{
    assert(from <= out->len);
    if (out->len > from)
        explicit_bzero(out->ptr + from, out->len - from);
    out->len = from;
    out->failed = false;
}

tide_status tide_secret_file(struct tide_buf *out, const char *path, struct tide_err *err)
{
    size_t from = out->len;
    struct stat st;
    /* O_NONBLOCK: the open must not wait if the path is a pipe. */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return tide_fail(err, TIDE_E_CONFIG, "%s: %s", path,
                         errno == ELOOP ? "a link, not a file" : strerror(errno));
    tide_status status = fstat(fd, &st) == 0
                             ? check_file(&st, path, err)
                             : tide_fail(err, TIDE_E_CONFIG, "%s: %s", path, strerror(errno));
    /* Grows the buffer once: further growing would leave copies of the secret in freed memory. */
    if (status == TIDE_OK && st.st_size > 0 &&
        ((uint64_t)st.st_size > out->max || !tide_buf_grow(out, (size_t)st.st_size)))
        status = tide_fail(err, TIDE_E_CONFIG, "%s: larger than such a file may be", path);
    if (status == TIDE_OK)
        status = read_all(out, fd, path, err);
    close(fd);
    if (status == TIDE_OK)
        trim_line_end(out, from);
    if (status == TIDE_OK && out->len == from)
        status = tide_fail(err, TIDE_E_CONFIG, "%s: empty", path);
    if (status != TIDE_OK)
        wipe_tail(out, from);
    return status;
}

bool tide_secret_path(char *out, size_t size, const char *setting, const char *credential)
{
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    int len = 0;
    if (*setting)
        len = snprintf(out, size, "%s", setting);
    else if (folder && *folder)
        len = snprintf(out, size, "%s/%s", folder, credential);
    return len > 0 && (size_t)len < size;
}
