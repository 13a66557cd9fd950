#include "indexer/archive/archive_impl.h"

#include "tidemark/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_BYTES = TIDE_CONFIG_TEXT_MAX + ARCHIVE_KEY_MAX + 2,
    EXPANSION_FREE = 4 << 20, /* unpacked bytes that may have any expansion */
};
static_assert((int)EXPANSION_FREE >= (int)ATTEMPT_PIECE_BYTES,
              "one piece has no limit of expansion");

static bool is_stopping(void *self)
{
    const struct attempt *a = self;
    return a->options->stopping && a->options->stopping(a->options->stopping_self);
}

static tide_status give_bytes(struct attempt *a, tide_slice bytes, struct tide_err *err)
{
    a->unpacked += bytes.len;
    if (a->unpacked > a->limits->unpacked_max)
        return tide_fail(err, TIDE_E_LIMIT, "more than %" PRIu64 " bytes unpacked",
                         a->limits->unpacked_max);
    if (a->limits->expansion_max && a->unpacked > EXPANSION_FREE &&
        a->unpacked / a->limits->expansion_max > a->packed)
        return tide_fail(err, TIDE_E_LIMIT,
                         "%" PRIu64 " bytes unpack to %" PRIu64 " or more: above %u times",
                         a->packed, a->unpacked, a->limits->expansion_max);
    return bytes.len ? a->sink->bytes(a->sink->self, bytes, err) : TIDE_OK;
}

static tide_status take_packed(struct attempt *a, tide_slice bytes, struct tide_err *err)
{
    a->packed += bytes.len;
    if (a->packed > a->limits->packed_max)
        return tide_fail(err, TIDE_E_LIMIT, "more than %" PRIu64 " bytes", a->limits->packed_max);
    if (!a->gunzip)
        return give_bytes(a, bytes, err);
    for (size_t made = 1; bytes.len || made;) {
        const char *what = NULL;
        tide_status status =
            gunzip_read(a->gunzip, &bytes, a->room, ATTEMPT_PIECE_BYTES, &made, &what);
        if (status)
            return tide_fail(err, status, "%s", what);
        assert(made <= ATTEMPT_PIECE_BYTES);
        status = give_bytes(a, tide_slice_of(a->room, made), err);
        if (status)
            return status;
        if (is_stopping(a))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
    }
    return TIDE_OK;
}

static void forget_attempt(struct attempt *a)
{
    a->again = a->cut = false;
    a->after_ms = 0;
    a->status = TIDE_OK;
}

static tide_status begin_file(struct attempt *a, struct tide_err *err)
{
    a->packed = a->unpacked = 0;
    if (a->gunzip)
        gunzip_reset(a->gunzip);
    return a->sink->begin(a->sink->self, err);
}

static tide_status end_file(struct attempt *a, struct tide_err *err)
{
    if (a->gunzip && !gunzip_complete(a->gunzip))
        return tide_fail(err, TIDE_E_DECODE, "cut short after %" PRIu64 " bytes", a->packed);
    return a->sink->end(a->sink->self, err);
}

/* --- a folder ---------------------------------------------------------------------------- */

static tide_status read_pieces(struct attempt *a, int fd, struct tide_err *err)
{
    uint32_t timeout_ms =
        a->limits->timeout_ms ? a->limits->timeout_ms : a->options->config->http_timeout_ms;
    int64_t until = tide_now_ms() + timeout_ms;
    uint8_t *piece = malloc(ATTEMPT_PIECE_BYTES);
    tide_status status = piece ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "out of memory");
    while (!status) {
        ssize_t got = read(fd, piece, ATTEMPT_PIECE_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            break;
        if (got < 0) {
            a->again = true;
            status = tide_fail(err, TIDE_E_IO, "%s", strerror(errno));
        } else if (is_stopping(a)) {
            status = tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        } else if (tide_now_ms() > until) {
            a->again = true;
            status = tide_fail(err, TIDE_E_IO, "not read within %u ms", timeout_ms);
        } else {
            status = take_packed(a, tide_slice_of(piece, (size_t)got), err);
        }
    }
    free(piece);
    return status;
}

tide_status attempt_folder(struct attempt *a, const char *folder, const char *key,
                           struct tide_err *err)
{
    char path[PATH_BYTES];
    struct stat st;
    int len = snprintf(path, sizeof path, "%s/%s", folder, key);
    assert(len > 0 && (size_t)len < sizeof path);
    (void)len;
    forget_attempt(a);
    tide_status status = begin_file(a, err);
    if (status)
        return tide_fail_context(err, "%s", path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not wait for a writer */
    if (fd < 0) {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        a->again = !missing && errno != EACCES && errno != EPERM;
        return tide_fail(err, missing ? TIDE_E_MISSING : TIDE_E_IO, "%s: %s", path,
                         missing ? "not there" : strerror(errno));
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        status = tide_fail(err, TIDE_E_IO, "not a file");
    else
        status = read_pieces(a, fd, err);
    close(fd);
    if (!status)
        status = end_file(a, err);
    return status ? tide_fail_context(err, "%s", path) : TIDE_OK;
}

/* --- a web server ------------------------------------------------------------------------ */

static tide_status take_piece(void *self, tide_slice bytes)
{
    struct attempt *a = self;
    a->status = take_packed(a, bytes, &a->err);
    return a->status;
}

/* Fails with the reason of an answer without a file. */
static tide_status fail_answer(struct attempt *a, const struct tide_http_answer *answer,
                               struct tide_err *err)
{
    a->again = answer->again;
    a->after_ms = answer->after_ms;
    /* A bucket that may not be listed answers 403 for a file that is not there. */
    if (answer->code == 404 || answer->code == 410 || answer->code == 403)
        return tide_fail(err, TIDE_E_MISSING, "not there (%u)", answer->code);
    return tide_fail(err, TIDE_E_IO, "the server answered %u", answer->code);
}

/* Notes how an attempt may go on that ended with this status. Bytes that do not fit those from
 * before a cut may be another copy's: then the file is read once more, as a whole. */
static tide_status judge_end(struct attempt *a, const struct tide_http_answer *answer,
                             uint64_t from, tide_status status, struct tide_err *err)
{
    bool transfer = status == TIDE_E_IO && !a->status && answer->again;
    a->cut = transfer && !a->whole && !answer->elsewhere && a->packed > 0;
    if (!from || a->cut || status == TIDE_OK || status == TIDE_E_MEMORY || status == TIDE_E_STOPPED)
        return status;
    a->whole = a->again = true;
    err->code = TIDE_E_IO;
    return TIDE_E_IO;
}

tide_status attempt_http(struct attempt *a, struct tide_http *http, const char *base,
                         const char *key, struct tide_err *err)
{
    char url[PATH_BYTES];
    struct tide_http_answer answer = { 0 };
    int len = snprintf(url, sizeof url, "%s/%s", base, key);
    assert(len > 0 && (size_t)len < sizeof url);
    (void)len;
    uint64_t from = a->cut ? a->packed : 0;
    forget_attempt(a);
    tide_status status = from ? TIDE_OK : begin_file(a, err);
    if (status)
        return tide_fail_context(err, "%s", url);
    const struct tide_http_request request = { .method = TIDE_HTTP_GET,
                                               .url = url,
                                               .follow = true,
                                               .timeout_ms = a->limits->timeout_ms,
                                               .piece = take_piece,
                                               .from = from,
                                               .cancelled = is_stopping,
                                               .self = a };
    status = tide_http_call(http, &request, NULL, &answer, err);
    if (a->status) {
        *err = a->err;
        status = a->status;
    } else if (status) {
        a->again = answer.again;
    } else if (answer.code != (from ? 206u : 200u)) {
        status = fail_answer(a, &answer, err);
    } else {
        status = end_file(a, err);
    }
    status = judge_end(a, &answer, from, status, err);
    return status ? tide_fail_context(err, "%s", url) : TIDE_OK;
}
