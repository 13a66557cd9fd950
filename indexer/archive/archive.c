#include "indexer/archive/archive.h"
#include "indexer/archive/gunzip.h"
#include "tidemark/clock.h"
#include "tidemark/http.h"
#include "tidemark/limits.h"
#include "tidemark/log.h"
#include "tidemark/retry.h"
#include "tidemark/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- one attempt at one place ----------------------------------------------------------- */

enum { ATTEMPT_PIECE_BYTES = 32 << 10 };

struct attempt {
    const struct archive_options *options;
    const struct archive_limits *limits;
    const struct archive_sink *sink;
    struct gunzip *gunzip; /* NULL: the file is not packed */
    uint8_t *room;         /* ATTEMPT_PIECE_BYTES for unpacked bytes */
    uint64_t packed, unpacked;
    bool enough;        /* the rest of the file is not needed */
    bool cut;           /* the transfer ended behind `packed` bytes: the next attempt at the same
                         * place asks for the rest */
    bool whole;         /* read the file from its start again: the parts of a cut one did not fit */
    bool again;         /* the same attempt may succeed later */
    uint32_t after_ms;  /* pause that the server asked for; 0: none */
    tide_status status; /* the reason for which the bytes were refused */
    struct tide_err err;
};

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
    tide_status status = bytes.len ? a->sink->bytes(a->sink->self, bytes, err) : TIDE_OK;
    a->enough = status == TIDE_OK && a->sink->enough && a->sink->enough(a->sink->self);
    return status;
}

static tide_status take_packed(struct attempt *a, tide_slice bytes, struct tide_err *err)
{
    a->packed += bytes.len;
    if (a->packed > a->limits->packed_max)
        return tide_fail(err, TIDE_E_LIMIT, "more than %" PRIu64 " bytes", a->limits->packed_max);
    if (!a->gunzip)
        return give_bytes(a, bytes, err);
    for (size_t made = 1; (bytes.len || made) && !a->enough;) {
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
    a->enough = false;
    if (a->gunzip)
        gunzip_reset(a->gunzip);
    return a->sink->begin(a->sink->self, err);
}

static tide_status end_file(struct attempt *a, struct tide_err *err)
{
    if (a->gunzip && !a->enough && !gunzip_complete(a->gunzip))
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
    while (!status && !a->enough) {
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

/* Read the file from a folder, and from a web server. The status is that of archive_read. */
static tide_status attempt_folder(struct attempt *a, const char *folder, const char *key,
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
    return a->enough ? TIDE_E_EOF : a->status;
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

static tide_status attempt_http(struct attempt *a, struct tide_http *http, const char *base,
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
    if (a->enough) {
        status = end_file(a, err);
    } else if (a->status) {
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

#define ARCHIVE_PLACES_MAX 8u

enum {
    SLEEP_MS = 50,
    RETRY_MS = 250,          /* first pause between rounds; doubles, with jitter */
    RESUMES_MAX = 64,        /* for one file at one place */
    PROGRESS_BYTES = 1 << 20 /* a cut transfer that gave this many bytes is no failed try */
};

struct place {
    char name[TIDE_CONFIG_TEXT_MAX]; /* the folder or URL without a slash at its end */
    struct tide_http *http;          /* NULL: a folder */
};

struct archive {
    struct archive_options options;
    struct place places[ARCHIVE_PLACES_MAX];
    uint32_t count;
    uint32_t preferred; /* the place that gave the last good copy; asked first */
    struct gunzip *gunzip;
    struct tide_retry retry;
    uint8_t room[ATTEMPT_PIECE_BYTES];
};

/* --- names ------------------------------------------------------------------------------- */

void archive_file_key(char out[ARCHIVE_KEY_MAX], enum archive_file file, uint32_t checkpoint)
{
    static const char *const names[] = { [ARCHIVE_STATE] = "history",
                                         [ARCHIVE_LEDGER] = "ledger",
                                         [ARCHIVE_TRANSACTIONS] = "transactions",
                                         [ARCHIVE_RESULTS] = "results",
                                         [ARCHIVE_SCP] = "scp" };
    static_assert(TIDE_COUNT(names) == ARCHIVE_SCP + 1, "each file has a name");
    assert(file < TIDE_COUNT(names));
    int len = snprintf(out, ARCHIVE_KEY_MAX, "%s/%02x/%02x/%02x/%s-%08x.%s", names[file],
                       checkpoint >> 24, checkpoint >> 16 & 255, checkpoint >> 8 & 255, names[file],
                       checkpoint, file == ARCHIVE_STATE ? "json" : "xdr.gz");
    assert(len > 0 && len < (int)ARCHIVE_KEY_MAX);
    (void)len;
}

void archive_bucket_key(char out[ARCHIVE_KEY_MAX], const uint8_t hash[TIDE_HASH_BYTES])
{
    char hex[2 * TIDE_HASH_BYTES + 1];
    tide_hex(hex, tide_slice_of(hash, TIDE_HASH_BYTES));
    hex[sizeof hex - 1] = '\0';
    int len = snprintf(out, ARCHIVE_KEY_MAX, "bucket/%.2s/%.2s/%.2s/bucket-%s.xdr.gz", hex, hex + 2,
                       hex + 4, hex);
    assert(len > 0 && len < (int)ARCHIVE_KEY_MAX);
    (void)len;
}

/* --- places ------------------------------------------------------------------------------ */

static tide_status open_http(struct archive *a, struct place *p, struct tide_err *err)
{
    const char *host = strstr(p->name, "://") + 3;
    if (!*host || strpbrk(p->name, "?#") || memchr(host, '@', strcspn(host, "/")))
        return tide_fail(err, TIDE_E_CONFIG,
                         "archive: place %u: expected http(s)://host/path without a query and a "
                         "password, which would be logged",
                         a->count + 1);
    const struct tide_config *c = a->options.config;
    const struct tide_http_options options = tide_http_configured(c, "tidemark-indexer");
    return tide_http_open(&p->http, &options, err);
}

static tide_status open_folder(struct place *p, struct tide_err *err)
{
    struct stat st;
    if (strncmp(p->name, "file://", 7) == 0)
        memmove(p->name, p->name + 7, strlen(p->name + 7) + 1);
    else if (strstr(p->name, "://"))
        return tide_fail(err, TIDE_E_CONFIG, "archive=%s: expected a folder, file:// or http(s)://",
                         p->name);
    if (stat(p->name, &st) != 0)
        return tide_fail(err, TIDE_E_CONFIG, "archive=%s: %s", p->name, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return tide_fail(err, TIDE_E_CONFIG, "archive=%s: not a folder", p->name);
    return TIDE_OK;
}

static tide_status open_place(struct archive *a, const char *text, size_t len, struct tide_err *err)
{
    if (a->count == ARCHIVE_PLACES_MAX)
        return tide_fail(err, TIDE_E_CONFIG, "archive: more than %u places", ARCHIVE_PLACES_MAX);
    struct place *p = &a->places[a->count];
    while (len > 1 && text[len - 1] == '/')
        len--;
    if (len == 0 || len >= sizeof p->name)
        return tide_fail(err, TIDE_E_CONFIG, "archive: place %u: empty or too long", a->count + 1);
    memcpy(p->name, text, len);
    p->name[len] = '\0';
    bool web = strncmp(p->name, "http://", 7) == 0 || strncmp(p->name, "https://", 8) == 0;
    tide_status status = web ? open_http(a, p, err) : open_folder(p, err);
    if (!status)
        a->count++;
    return status;
}

static tide_status open_places(struct archive *a, struct tide_err *err)
{
    for (const char *at = a->options.places;; at++) {
        size_t len = strcspn(at, ",");
        tide_slice text = tide_slice_of(at, len);
        while (text.len && text.ptr[0] == ' ')
            text = tide_slice_of(text.ptr + 1, text.len - 1);
        while (text.len && text.ptr[text.len - 1] == ' ')
            text.len--;
        tide_status status = open_place(a, (const char *)text.ptr, text.len, err);
        if (status)
            return status;
        at += len;
        if (!*at)
            return TIDE_OK;
    }
}

tide_status archive_open(struct archive **out, const struct archive_options *options,
                         struct tide_err *err)
{
    struct archive *a = calloc(1, sizeof *a);
    if (!a || gunzip_open(&a->gunzip)) {
        free(a);
        return tide_fail(err, TIDE_E_MEMORY, "archive: out of memory");
    }
    a->options = *options;
    tide_retry_init(&a->retry, tide_now_ms(), 0);
    tide_status status = open_places(a, err);
    if (status) {
        archive_close(a);
        return status;
    }
    assert(a->count > 0 && a->count <= ARCHIVE_PLACES_MAX); /* an empty list is refused */
    *out = a;
    return TIDE_OK;
}

void archive_close(struct archive *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; i < ARCHIVE_PLACES_MAX; i++)
        tide_http_close(a->places[i].http);
    gunzip_close(a->gunzip);
    free(a);
}

/* --- reading ----------------------------------------------------------------------------- */

/* One read of a file: how each place answered last. */
struct reading {
    struct archive *archive;
    const char *key;
    struct attempt attempt;
    bool refused[ARCHIVE_PLACES_MAX]; /* the place is not asked again: it lacks a good copy */
    struct tide_err answers[ARCHIVE_PLACES_MAX];
    uint32_t after_ms; /* longest pause that a place asked for in this round */
};

static int weight_of(tide_status status)
{
    return status == TIDE_E_MISSING ? 0 : status == TIDE_E_IO ? 1 : 2;
}

/* Returns the failure to report: one of bytes before one of transfer before a missing file. */
static const struct tide_err *worst_answer(const struct reading *r)
{
    const struct tide_err *worst = &r->answers[0];
    for (uint32_t i = 1; i < r->archive->count; i++)
        if (weight_of(r->answers[i].code) > weight_of(worst->code))
            worst = &r->answers[i];
    return worst;
}

/* Waits before round n + 1. TIDE_E_STOPPED if the owner asks for a stop. */
static tide_status pause_reading(struct reading *r, uint32_t n, struct tide_err *err)
{
    const struct archive_options *o = &r->archive->options;
    const struct tide_clock *clock = tide_clock_system();
    uint32_t most = o->config->retry_ms_max;
    uint32_t ms = tide_retry_pause_ms(&r->archive->retry, RETRY_MS, most, n);
    if (r->after_ms > ms)
        ms = r->after_ms < most ? r->after_ms : most;
    char quoted[512];
    tide_log(TIDE_WARN, "archive.retry", "try=%u pause_ms=%u error=%s", n + 1, ms,
             tide_log_quote(quoted, sizeof quoted, err->text));
    for (uint32_t slept = 0; slept < ms; slept += SLEEP_MS) {
        if (o->stopping && o->stopping(o->stopping_self))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        clock->sleep_ms(clock->self, ms - slept < SLEEP_MS ? ms - slept : SLEEP_MS);
    }
    return TIDE_OK;
}

/* Reads the file from one place. A transfer that is cut goes on behind its last byte. If the parts
 * do not fit, the file is read once more from its begin. */
static tide_status read_place(struct reading *r, const struct place *p, struct tide_err *err)
{
    struct attempt *a = &r->attempt;
    uint32_t tries = r->archive->options.config->http_tries;
    a->cut = a->whole = false;
    for (uint32_t n = 0, idle = 0; n < RESUMES_MAX; n++) {
        uint64_t had = a->cut ? a->packed : 0;
        bool whole = a->whole;
        tide_status status = p->http ? attempt_http(a, p->http, p->name, r->key, err)
                                     : attempt_folder(a, p->name, r->key, err);
        bool anew = a->whole && !whole;
        if (!a->cut && !anew)
            return status;
        idle = a->packed - had >= PROGRESS_BYTES ? 0 : idle + 1;
        if (a->cut && idle >= tries)
            return status;
        status = pause_reading(r, idle, err);
        if (status)
            return status;
    }
    return err->code;
}

static tide_status ask_place(struct reading *r, uint32_t index, struct tide_err *err)
{
    assert(index < r->archive->count && !r->refused[index]);
    tide_status status = read_place(r, &r->archive->places[index], err);
    r->refused[index] = status != TIDE_E_IO || !r->attempt.again;
    if (r->attempt.after_ms > r->after_ms)
        r->after_ms = r->attempt.after_ms;
    if (status)
        r->answers[index] = *err;
    return status;
}

/* Asks each place that may still have a good copy. Returns TIDE_OK, TIDE_E_MEMORY, TIDE_E_STOPPED,
 * TIDE_E_IO if asking again may help, or TIDE_E_MISSING if it does not. */
static tide_status ask_places(struct reading *r, struct tide_err *err)
{
    struct archive *a = r->archive;
    tide_status outcome = TIDE_E_MISSING;
    uint32_t first = a->preferred;
    assert(first < a->count);
    r->after_ms = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t index = (first + i) % a->count;
        if (r->refused[index])
            continue;
        tide_status status = ask_place(r, index, err);
        if (status == TIDE_OK)
            a->preferred = index;
        if (status == TIDE_OK || status == TIDE_E_MEMORY || status == TIDE_E_STOPPED)
            return status;
        if (!r->refused[index])
            outcome = TIDE_E_IO;
    }
    return outcome;
}

tide_status archive_read(struct archive *a, const char *key, const struct archive_limits *limits,
                         const struct archive_sink *sink, struct tide_err *err)
{
    size_t len = strlen(key);
    assert(len > 0 && len < ARCHIVE_KEY_MAX);
    assert(limits->packed_max > 0 && limits->unpacked_max > 0);
    bool packed = len > 3 && strcmp(key + len - 3, ".gz") == 0;
    struct reading r = { .archive = a, .key = key };
    r.attempt = (struct attempt){ .options = &a->options,
                                  .limits = limits,
                                  .sink = sink,
                                  .gunzip = packed ? a->gunzip : NULL,
                                  .room = a->room };
    for (uint32_t n = 0;; n++) {
        tide_status status = ask_places(&r, err);
        if (status == TIDE_OK || status == TIDE_E_MEMORY || status == TIDE_E_STOPPED)
            return status;
        *err = *worst_answer(&r);
        assert(err->code != TIDE_OK); /* each place failed, and each failure set r.answers[i] */
        if (status != TIDE_E_IO || n + 1 >= a->options.config->http_tries)
            return err->code;
        status = pause_reading(&r, n, err);
        if (status)
            return status;
    }
}

/* --- records ----------------------------------------------------------------------------- */

struct record_reading {
    const struct archive_records *records;
    struct record_stream stream;
};

static tide_status begin_records(void *self, struct tide_err *err)
{
    struct record_reading *r = self;
    record_stream_reset(&r->stream);
    return r->records->begin ? r->records->begin(r->records->self, err) : TIDE_OK;
}

static tide_status push_records(void *self, tide_slice piece, struct tide_err *err)
{
    struct record_reading *r = self;
    return record_stream_push(&r->stream, piece, err);
}

static bool has_enough(void *self)
{
    const struct record_reading *r = self;
    return r->records->enough && r->records->enough(r->records->self);
}

static tide_status end_records(void *self, struct tide_err *err)
{
    struct record_reading *r = self;
    tide_status status = has_enough(r) ? TIDE_OK : record_stream_end(&r->stream, err);
    return status == TIDE_OK && r->records->end ? r->records->end(r->records->self, err) : status;
}

tide_status archive_read_records(struct archive *archive, enum archive_file file,
                                 uint32_t checkpoint, const struct archive_records *records,
                                 struct tide_err *err)
{
    /* 64 ledgers as large as a ledger may be are not to be expected. */
    static const struct archive_limits ledgers = { .packed_max = 512 << 20,
                                                   .unpacked_max = (uint64_t)4 << 30,
                                                   .expansion_max = 256 };
    static const struct archive_limits headers = { .packed_max = 16 << 20,
                                                   .unpacked_max = 64 << 20,
                                                   .expansion_max = 1000 };
    enum { HEADER_MAX = 64 << 10 };
    bool are_headers = file == ARCHIVE_LEDGER;
    char key[ARCHIVE_KEY_MAX];
    struct record_reading r = { .records = records };
    const struct archive_sink sink = { begin_records, push_records, end_records, &r, has_enough };
    assert(file != ARCHIVE_STATE);
    archive_file_key(key, file, checkpoint);
    record_stream_init(&r.stream, are_headers ? HEADER_MAX : TIDE_LEDGER_BYTES_MAX, records->record,
                       records->self);
    tide_status status = archive_read(archive, key, are_headers ? &headers : &ledgers, &sink, err);
    record_stream_release(&r.stream);
    return status;
}
