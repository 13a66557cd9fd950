/* Ledgers of a framed stream, as stellar-core writes it: a 4-byte length with its top bit set, then
 * one LedgerCloseMeta. The stream is a file or a pipe, plain or zstd. */
#include "indexer/source/source.h"
#include "tidemark/limits.h"
#include "tidemark/meta.h"
#include "tidemark/xdr.h"
#include "tidemark/zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 256 << 10, WAIT_MS = 50 };

#define LAST_FRAGMENT 0x80000000u

struct stream {
    struct tide_source_options options;
    const char *name;
    int fd;
    bool owned, regular, ended; /* ended: no further byte will come */
    bool begun;                 /* detect_form has recognised zstd or plain */
    struct tide_unzstd *unzstd; /* NULL: plain */
    uint8_t *input;             /* READ_BYTES; bytes that were read and not used */
    tide_slice left;            /* part of input */
    uint64_t offset;            /* plain bytes before the window */
    struct tide_buf plain;      /* window: the present record and the bytes behind it */
    size_t used;                /* bytes of the window that were handed out */
    uint32_t seen;              /* sequence of the last record; 0 before the first */
    uint32_t first, last;       /* range wanted; 0: any first ledger, no end */
};

static bool is_stopping(const struct stream *s)
{
    return s->options.stopping && s->options.stopping(s->options.stopping_self);
}

/* Returns whether the caller reads up to an end. A pause in a pipe is none: the process that writes
 * to it may be slow. */
static bool wants_end(const struct stream *s)
{
    return s->last || s->options.config->stop_at_end;
}

/* Reads available bytes. TIDE_E_EOF: none now, or (s->ended) no more. */
static tide_status read_some(struct stream *s, uint8_t *to, size_t size, size_t *got,
                             struct tide_err *err)
{
    assert(size > 0);
    struct pollfd p = { .fd = s->fd, .events = POLLIN };
    *got = 0;
    while (!s->ended) {
        int ready = s->regular ? 1 : poll(&p, 1, WAIT_MS);
        if (is_stopping(s))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        if (ready == 0 && wants_end(s))
            continue;
        if (ready == 0)
            return tide_fail(err, TIDE_E_EOF, "%s: no ledger yet", s->name);
        ssize_t n = ready < 0 ? -1 : read(s->fd, to, size);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return tide_fail(err, TIDE_E_IO, "%s: %s", s->name, strerror(errno));
        s->ended = n == 0;
        *got = (size_t)n;
        if (n > 0)
            return TIDE_OK;
    }
    return tide_fail(err, TIDE_E_EOF, "%s: the stream has ended", s->name);
}

/* Tells zstd from plain by the first four bytes: a record's length has its top bit set, a zstd
 * magic number does not. */
static tide_status detect_form(struct stream *s, struct tide_err *err)
{
    while (s->left.len < 4) {
        size_t got = 0;
        tide_status status =
            read_some(s, s->input + s->left.len, READ_BYTES - s->left.len, &got, err);
        if (status == TIDE_E_EOF && s->ended && s->left.len)
            return tide_fail(err, TIDE_E_DECODE, "%s: ends within the first record", s->name);
        if (status)
            return status;
        assert(s->left.len + got <= READ_BYTES);
        s->left = tide_slice_of(s->input, s->left.len + got);
    }
    s->begun = true;
    return tide_zstd_magic(s->left) && tide_unzstd_open(&s->unzstd)
               ? tide_fail(err, TIDE_E_MEMORY, "%s: out of memory", s->name)
               : TIDE_OK;
}

static tide_status unpack_bytes(struct stream *s, uint8_t *to, size_t size, size_t *made,
                                struct tide_err *err)
{
    for (;;) {
        const char *what = NULL;
        tide_status status = tide_unzstd_read(s->unzstd, &s->left, to, size, made, &what);
        if (status)
            return tide_fail(err, status, "%s: byte %" PRIu64 " of the ledgers: %s", s->name,
                             s->offset + s->plain.len, what);
        if (*made)
            return TIDE_OK;
        size_t got = 0;
        status = read_some(s, s->input, READ_BYTES, &got, err);
        if (status == TIDE_E_EOF && s->ended && !tide_unzstd_complete(s->unzstd))
            return tide_fail(err, TIDE_E_DECODE, "%s: ends within a zstd frame", s->name);
        if (status)
            return status;
        s->left = tide_slice_of(s->input, got);
    }
}

/* Adds at most `size` plain bytes to the window. */
static tide_status read_more(struct stream *s, size_t size, struct tide_err *err)
{
    uint8_t *to = tide_buf_room(&s->plain, size);
    size_t made = 0;
    if (!to)
        return tide_fail(err, TIDE_E_MEMORY, "%s: out of memory", s->name);
    tide_status status = TIDE_OK;
    if (s->unzstd) {
        status = unpack_bytes(s, to, size, &made, err);
    } else if (s->left.len) {
        made = s->left.len < size ? s->left.len : size;
        memcpy(to, s->left.ptr, made);
        s->left = tide_slice_of(s->left.ptr + made, s->left.len - made);
    } else {
        status = read_some(s, to, size, &made, err);
    }
    assert(made <= size);
    s->plain.len += made;
    return status;
}

/* Fills the window to at least `want` bytes. TIDE_E_EOF only if the window is empty and no byte
 * comes; a record that is cut short is TIDE_E_DECODE. */
static tide_status need_bytes(struct stream *s, size_t want, struct tide_err *err)
{
    while (s->plain.len < want) {
        size_t size = want - s->plain.len;
        tide_status status = read_more(s, size > READ_BYTES ? size : READ_BYTES, err);
        if (status == TIDE_E_EOF && s->ended && s->plain.len)
            return tide_fail(err, TIDE_E_DECODE, "%s: ends within the record at byte %" PRIu64,
                             s->name, s->offset);
        if (status)
            return status;
    }
    return TIDE_OK;
}

/* Reads the next record to the start of the window. *lcm begins behind its length. */
static tide_status next_record(struct stream *s, tide_slice *lcm, struct tide_err *err)
{
    assert(s->used <= s->plain.len);
    tide_status status = s->begun ? TIDE_OK : detect_form(s, err);
    if (status)
        return status;
    if (s->used)
        memmove(s->plain.ptr, s->plain.ptr + s->used, s->plain.len - s->used);
    s->plain.len -= s->used;
    s->offset += s->used;
    s->used = 0;
    if ((status = need_bytes(s, 4, err)))
        return status;
    uint32_t mark = tide_be32(s->plain.ptr);
    uint32_t len = mark & ~LAST_FRAGMENT;
    if (!(mark & LAST_FRAGMENT))
        return tide_fail(err, TIDE_E_DECODE,
                         "%s: byte %" PRIu64 ": no record mark (%08x); framed XDR is expected",
                         s->name, s->offset, mark);
    if (len > TIDE_LEDGER_BYTES_MAX)
        return tide_fail(err, TIDE_E_LIMIT, "%s: byte %" PRIu64 ": a record of %u bytes, above %u",
                         s->name, s->offset, len, TIDE_LEDGER_BYTES_MAX);
    if ((status = need_bytes(s, 4 + (size_t)len, err)))
        return status;
    s->used = 4 + (size_t)len;
    assert(s->used <= s->plain.len);
    *lcm = tide_slice_of(s->plain.ptr + 4, len);
    return TIDE_OK;
}

static void stream_done(void *self)
{
    struct stream *s = self;
    if (s->used < s->plain.len || s->plain.cap <= TIDE_SOURCE_WINDOW_KEPT)
        return;
    s->offset += s->used;
    s->used = 0;
    tide_buf_release(&s->plain);
}

/* Checks that the ledger follows the one before, and that the stream does not begin behind the
 * wanted one. */
static tide_status check_order(struct stream *s, uint32_t sequence, struct tide_err *err)
{
    if (sequence == 0)
        return tide_fail(err, TIDE_E_DECODE, "%s: the record at byte %" PRIu64 " is no ledger",
                         s->name, s->offset);
    if (s->seen && sequence != s->seen + 1)
        return tide_fail(err, TIDE_E_CHAIN, "%s: ledger %u follows %u", s->name, sequence, s->seen);
    if (s->first && sequence > s->first && s->seen < s->first)
        return tide_fail(err, TIDE_E_MISSING, "%s: begins at ledger %u, %u is wanted", s->name,
                         sequence, s->first);
    s->seen = sequence;
    return TIDE_OK;
}

static tide_status stream_next(void *self, tide_slice *lcm, uint32_t *sequence,
                               struct tide_err *err)
{
    struct stream *s = self;
    do {
        if (s->last && s->seen >= s->last)
            return tide_fail(err, TIDE_E_EOF, "ledger %u, the last one wanted, is read", s->last);
        tide_status status = next_record(s, lcm, err);
        if (!status)
            status = check_order(s, ledger_peek_sequence(*lcm), err);
        if (status)
            return status;
    } while (s->seen < s->first);
    *sequence = s->seen;
    return TIDE_OK;
}

/* Adds the position to err. A stream has only one copy of a ledger. */
static bool stream_refetch(void *self, uint32_t ledger, struct tide_err *err)
{
    struct stream *s = self;
    if (ledger == s->seen)
        tide_fail_context(err, "%s: record at byte %" PRIu64, s->name, s->offset);
    else
        tide_fail_context(err, "%s: record before byte %" PRIu64, s->name, s->offset);
    return false;
}

/* Goes back to the start of a file. A pipe cannot. */
static tide_status rewind_stream(struct stream *s, struct tide_err *err)
{
    assert(s->fd >= 0);
    if (!s->regular || lseek(s->fd, 0, SEEK_SET) != 0)
        return tide_fail(err, TIDE_E_IO, "%s: a pipe cannot go back to an earlier ledger", s->name);
    tide_unzstd_close(s->unzstd);
    s->unzstd = NULL;
    s->begun = s->ended = false;
    s->left = (tide_slice){ 0 };
    tide_buf_reset(&s->plain);
    s->used = 0;
    s->offset = 0;
    s->seen = 0;
    return TIDE_OK;
}

static tide_status stream_seek(void *self, uint32_t first, uint32_t last, struct tide_err *err)
{
    struct stream *s = self;
    bool back = s->seen && (first == 0 || first <= s->seen);
    tide_status status = back ? rewind_stream(s, err) : TIDE_OK;
    if (!status) {
        s->first = first;
        s->last = last;
    }
    return status;
}

static tide_status stream_range(void *self, uint32_t *first, uint32_t *last, struct tide_err *err)
{
    (void)self, (void)err;
    *first = *last = 0;
    return TIDE_OK;
}

static bool stream_finite(void *self)
{
    const struct stream *s = self;
    return s->ended || (s->last && s->seen >= s->last);
}

/* Returns whether all bytes of a pipe were handed out: the next ledger will be waited for. A file
 * has no tip, only an end. */
static bool stream_newest(void *self)
{
    const struct stream *s = self;
    struct pollfd p = { .fd = s->fd, .events = POLLIN };
    return !s->regular && s->left.len == 0 && s->plain.len == s->used && poll(&p, 1, 0) == 0;
}

static void stream_close(void *self)
{
    struct stream *s = self;
    tide_unzstd_close(s->unzstd);
    tide_buf_release(&s->plain);
    free(s->input);
    if (s->owned)
        close(s->fd);
    free(s);
}

static const struct tide_source_ops stream_ops = {
    .name = "stream",
    .seek = stream_seek,
    .next = stream_next,
    .done = stream_done,
    .refetch = stream_refetch,
    .range = stream_range,
    .finite = stream_finite,
    .newest = stream_newest,
    .close = stream_close,
};

tide_status tide_stream_open(struct tide_source *out, const struct tide_source_options *options,
                             struct tide_err *err)
{
    const char *path = options->config->stream;
    bool piped = strcmp(path, "-") == 0;
    int fd = piped ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        return tide_fail(err, TIDE_E_CONFIG, "stream=%s: %s", path, strerror(errno));
    struct stream *s = calloc(1, sizeof *s);
    if (s)
        s->input = malloc(READ_BYTES);
    if (!s || !s->input) {
        if (!piped)
            close(fd);
        free(s);
        return tide_fail(err, TIDE_E_MEMORY, "stream=%s: out of memory", path);
    }
    s->options = *options;
    s->name = piped ? "standard input" : path;
    s->fd = fd;
    s->owned = !piped;
    s->regular = S_ISREG(st.st_mode);
    tide_buf_init(&s->plain, TIDE_LEDGER_BYTES_MAX + READ_BYTES + 4);
    *out = (struct tide_source){ &stream_ops, s };
    return TIDE_OK;
}
