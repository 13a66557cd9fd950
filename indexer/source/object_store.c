/* Objects of a lake on a web server. Each worker has an HTTP client of its own, whose connection is
 * kept alive. */
#include "indexer/source/object_store.h"
#include "tidemark/http.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- a folder --------------------------------------------------------------------------- */

enum { PATH_BYTES = TIDE_CONFIG_TEXT_MAX + TIDE_OBJECT_KEY_MAX + 2, READ_BYTES = 1 << 20 };

struct folder {
    size_t object_max;
    char path[TIDE_CONFIG_TEXT_MAX];
};

static void full_path(char *out, const struct folder *f, const char *key)
{
    int len = snprintf(out, PATH_BYTES, "%s/%s", f->path, key);
    assert(len > 0 && len < PATH_BYTES); /* a path that is cut is another object's */
    (void)len;
}

/* Fails with the reason of errno. An object without permission is not tried again. */
static tide_status fail_open(const char *path, struct object_fault *fault, struct tide_err *err)
{
    if (errno == ENOENT || errno == ENOTDIR)
        return tide_fail(err, TIDE_E_MISSING, "%s: not there", path);
    fault->again = errno != EACCES && errno != EPERM;
    return tide_fail(err, TIDE_E_IO, "%s: %s", path, strerror(errno));
}

/* Reads the file straight into the sink. Room for the file's size is asked for once, so that the
 * buffer does not grow in steps. */
static tide_status read_all(int fd, size_t size, size_t max, struct object_sink *sink,
                            struct object_fault *fault)
{
    for (;;) {
        size_t want = size > sink->bytes.len ? size - sink->bytes.len : 1;
        size_t total = sink->bytes.len + want;
        if (total > max + 1)
            return TIDE_E_LIMIT;
        if (total > sink->bytes.cap && !sink->room(sink->self, total)) {
            fault->no_room = true;
            return TIDE_E_IO;
        }
        uint8_t *to = tide_buf_room(&sink->bytes, want);
        if (!to)
            return TIDE_E_MEMORY;
        ssize_t got = read(fd, to, want > READ_BYTES ? READ_BYTES : want);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            fault->again = true;
            return TIDE_E_IO;
        }
        if (got == 0)
            return sink->bytes.len > max ? TIDE_E_LIMIT : TIDE_OK;
        sink->bytes.len += (size_t)got;
        if (sink->cancelled(sink->self))
            return TIDE_E_STOPPED;
    }
}

static tide_status folder_get(void *self, uint32_t client, const char *key,
                              struct object_sink *sink, struct object_fault *fault,
                              struct tide_err *err)
{
    const struct folder *f = self;
    char path[PATH_BYTES];
    (void)client;
    full_path(path, f, key);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_open(path, fault, err);
    struct stat st;
    tide_status status;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        status = tide_fail(err, TIDE_E_IO, "%s: not a file", path);
    else if ((size_t)st.st_size > f->object_max)
        status = tide_fail(err, TIDE_E_LIMIT, "%s: larger than object_max_mib allows", path);
    else if ((status = read_all(fd, (size_t)st.st_size, f->object_max, sink, fault)))
        tide_fail(err, status, "%s: %s", path,
                  status == TIDE_E_IO ? strerror(errno) : tide_status_text(status));
    close(fd);
    return status;
}

static tide_status folder_exists(void *self, uint32_t client, const char *key,
                                 struct object_fault *fault, struct tide_err *err)
{
    char path[PATH_BYTES];
    (void)client;
    full_path(path, self, key);
    return access(path, F_OK) == 0 ? TIDE_OK : fail_open(path, fault, err);
}

static tide_status folder_list(void *self, const char *name, object_name each, void *each_self,
                               struct tide_err *err)
{
    char path[PATH_BYTES];
    full_path(path, self, name);
    DIR *dir = opendir(path);
    if (!dir)
        return tide_fail(err, TIDE_E_IO, "%s: %s", path, strerror(errno));
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry || !each(each_self, entry->d_name))
            break;
    }
    int failed = errno;
    closedir(dir);
    return failed ? tide_fail(err, TIDE_E_IO, "%s: %s", path, strerror(failed)) : TIDE_OK;
}

static void folder_close(void *self)
{
    free(self);
}

static const struct object_store_ops folder_ops = {
    .get = folder_get,
    .exists = folder_exists,
    .list = folder_list,
    .close = folder_close,
};

tide_status object_folder_open(struct object_store *out, const char *path, size_t object_max,
                               struct tide_err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return tide_fail(err, TIDE_E_CONFIG, "lake=%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return tide_fail(err, TIDE_E_CONFIG, "lake=%s: not a folder", path);
    struct folder *f = calloc(1, sizeof *f);
    if (!f)
        return tide_fail(err, TIDE_E_MEMORY, "lake=%s: out of memory", path);
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    assert(len < sizeof f->path);
    memcpy(f->path, path, len);
    f->object_max = object_max;
    *out = (struct object_store){ &folder_ops, f, f->path };
    return TIDE_OK;
}

enum { URL_BYTES = TIDE_CONFIG_TEXT_MAX + TIDE_OBJECT_KEY_MAX + 2 };

struct http_store {
    const struct tide_source_options *options;
    size_t object_max;
    char base[TIDE_CONFIG_TEXT_MAX];
    struct tide_http
        *clients[TIDE_OBJECT_CLIENTS_MAX]; /* created at first use, by the thread that uses it */
};

static tide_status open_client(struct http_store *s, uint32_t client, struct tide_err *err)
{
    const struct tide_config *c = s->options->config;
    const struct tide_http_options options = tide_http_configured(c, "tidemark-indexer");
    return tide_http_open(&s->clients[client], &options, err);
}

/* Fills err and fault for an answer without an object. */
static tide_status classify_answer(const struct tide_http_answer *answer,
                                   struct object_fault *fault, struct tide_err *err)
{
    fault->again = answer->again;
    fault->after_ms = answer->after_ms;
    fault->forbidden = answer->code == 403;
    if (fault->forbidden)
        return tide_fail(err, TIDE_E_MISSING,
                         "the server answered 403 (forbidden; a bucket that may not be listed "
                         "answers so for an object that is not there)");
    if (answer->code == 404 || answer->code == 410)
        return tide_fail(err, TIDE_E_MISSING, "not there (%u)", answer->code);
    return tide_fail(err, TIDE_E_IO, "the server answered %u", answer->code);
}

static tide_status send_request(struct http_store *s, uint32_t client, const char *key,
                                struct object_sink *sink, struct object_fault *fault,
                                struct tide_err *err)
{
    char url[URL_BYTES];
    struct tide_http_answer answer = { 0 };
    assert(client < TIDE_OBJECT_CLIENTS_MAX);
    int len = snprintf(url, sizeof url, "%s/%s", s->base, key);
    assert(len > 0 && (size_t)len < sizeof url); /* an address that is cut is another object's */
    (void)len;
    struct tide_http_request r = { .method = sink ? TIDE_HTTP_GET : TIDE_HTTP_HEAD,
                                   .url = url,
                                   .follow = true };
    size_t ceiling = sink ? sink->bytes.max : 0;
    if (sink) {
        r.room = sink->room;
        r.cancelled = sink->cancelled;
        r.self = sink->self;
        if (ceiling > s->object_max)
            sink->bytes.max = s->object_max;
    } else {
        r.timeout_ms = s->options->patience_ms;
        r.cancelled = s->options->stopping;
        r.self = s->options->stopping_self;
    }
    tide_status status = s->clients[client] ? TIDE_OK : open_client(s, client, err);
    if (!status)
        status = tide_http_call(s->clients[client], &r, sink ? &sink->bytes : NULL, &answer, err);
    if (sink)
        sink->bytes.max = ceiling;
    fault->no_room = answer.no_room;
    fault->again = status && answer.again;
    if (!status && answer.code == 200)
        return TIDE_OK;
    if (status == TIDE_E_LIMIT && ceiling > s->object_max)
        tide_fail(err, status, "larger than object_max_mib allows");
    if (!status)
        classify_answer(&answer, fault, err);
    return tide_fail_context(err, "%s", url);
}

static tide_status http_get(void *self, uint32_t client, const char *key, struct object_sink *sink,
                            struct object_fault *fault, struct tide_err *err)
{
    return send_request(self, client, key, sink, fault, err);
}

static tide_status http_exists(void *self, uint32_t client, const char *key,
                               struct object_fault *fault, struct tide_err *err)
{
    return send_request(self, client, key, NULL, fault, err);
}

static void http_close(void *self)
{
    struct http_store *s = self;
    for (uint32_t i = 0; i < TIDE_OBJECT_CLIENTS_MAX; i++)
        tide_http_close(s->clients[i]);
    free(s);
}

static const struct object_store_ops http_ops = {
    .get = http_get,
    .exists = http_exists,
    .close = http_close,
};

tide_status object_http_open(struct object_store *out, const char *url,
                             const struct tide_source_options *options, struct tide_err *err)
{
    const char *host = strstr(url, "://");
    if (!host || !host[3])
        return tide_fail(err, TIDE_E_CONFIG, "lake=%s: expected http(s)://host/path", url);
    if (strpbrk(url, "?#") || memchr(host + 3, '@', strcspn(host + 3, "/")))
        return tide_fail(
            err, TIDE_E_CONFIG,
            "lake: the address has a query or a password in it, which would be logged");
    struct http_store *s = calloc(1, sizeof *s);
    if (!s)
        return tide_fail(err, TIDE_E_MEMORY, "lake=%s: out of memory", url);
    size_t len = strlen(url);
    while (len && url[len - 1] == '/')
        len--;
    assert(len < sizeof s->base);
    memcpy(s->base, url, len);
    s->options = options;
    s->object_max = (size_t)options->config->object_max_mib << 20;
    *out = (struct object_store){ &http_ops, s, s->base };
    return TIDE_OK;
}
