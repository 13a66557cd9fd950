/* Files of ledgers, raw or zstd, as JSON lines, read as a stream; and ScVals from standard
 * input. */
#include "indexer/dump/dump.h"

#include "indexer/dump/dump_impl.h"
#include "tidemark/limits.h"
#include "tidemark/scval.h"
#include "tidemark/text.h"
#include "tidemark/zstd.h"

#include <errno.h>

enum { READ_BYTES = 256 << 10, FILL_BYTES = 1 << 20 };

struct reader {
    FILE *file;
    struct tide_unzstd *zstd; /* NULL: the file is raw */
    struct tide_buf window;   /* bytes from `at` on are not consumed yet */
    size_t at;
    uint64_t before; /* decompressed bytes that left the window */
    bool whole;      /* the file has no bytes behind the window */
    uint8_t *input;
    tide_slice pending; /* bytes of the file that are not decompressed yet */
    bool ended;         /* the file is read to its end */
};

static tide_status read_input(struct reader *r, struct tide_err *err)
{
    assert(r->pending.len == 0 && !r->ended);
    size_t len = fread(r->input, 1, READ_BYTES, r->file);
    if (len < READ_BYTES && ferror(r->file))
        return tide_fail(err, TIDE_E_IO, "read: %s", strerror(errno));
    r->ended = len < READ_BYTES;
    r->pending = tide_slice_of(r->input, len);
    return TIDE_OK;
}

/* Opens the file and finds out from its first bytes whether it is zstd. */
static tide_status open_reader(struct reader *r, const char *path, struct tide_err *err)
{
    *r = (struct reader){ .file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb") };
    tide_buf_init(&r->window, TIDE_LEDGER_BYTES_MAX + 2 * FILL_BYTES);
    if (!r->file)
        return tide_fail(err, TIDE_E_IO, "%s", strerror(errno));
    r->input = malloc(READ_BYTES);
    if (!r->input)
        return tide_fail(err, TIDE_E_MEMORY, "read buffer");
    tide_status status = read_input(r, err);
    if (status == TIDE_OK && tide_zstd_magic(r->pending) && tide_unzstd_open(&r->zstd) != TIDE_OK)
        return tide_fail(err, TIDE_E_MEMORY, "zstd");
    return status;
}

static void close_reader(struct reader *r)
{
    if (r->file && r->file != stdin)
        fclose(r->file);
    tide_unzstd_close(r->zstd);
    tide_buf_release(&r->window);
    free(r->input);
}

/* Moves at most `room` pending bytes into the window, decompressed. */
static tide_status take_pending(struct reader *r, uint8_t *to, size_t room, size_t *made,
                                struct tide_err *err)
{
    if (!r->zstd) {
        *made = r->pending.len < room ? r->pending.len : room;
        memcpy(to, r->pending.ptr, *made);
        r->pending.ptr += *made;
        r->pending.len -= *made;
        return TIDE_OK;
    }
    const char *what = "";
    tide_status status = tide_unzstd_read(r->zstd, &r->pending, to, room, made, &what);
    return status == TIDE_OK ? TIDE_OK : tide_fail(err, status, "zstd: %s", what);
}

/* Reads until the window has at least `wanted` bytes that are not consumed, or the file ends. */
static tide_status fill_window(struct reader *r, size_t wanted, struct tide_err *err)
{
    assert(r->at <= r->window.len);
    struct tide_buf *w = &r->window;
    if (r->at)
        memmove(w->ptr, w->ptr + r->at, w->len - r->at);
    w->len -= r->at;
    r->before += r->at;
    r->at = 0;
    size_t goal = wanted > FILL_BYTES ? wanted : FILL_BYTES;
    if (goal > w->max)
        goal = w->max;
    while (w->len < goal && !r->whole) {
        size_t made = 0;
        uint8_t *to = tide_buf_room(w, goal - w->len);
        if (!to)
            return tide_fail(err, TIDE_E_LIMIT, "ledger above %u bytes", TIDE_LEDGER_BYTES_MAX);
        tide_status status = take_pending(r, to, goal - w->len, &made, err);
        w->len += made;
        assert(w->len <= goal && made <= goal);
        if (status == TIDE_OK && made == 0 && r->pending.len == 0) {
            if (!r->ended)
                status = read_input(r, err);
            else if (r->zstd && !tide_unzstd_complete(r->zstd))
                return tide_fail(err, TIDE_E_DECODE, "zstd: cut short");
            else
                r->whole = true;
        }
        if (status != TIDE_OK)
            return status;
    }
    return TIDE_OK;
}

/* Returns the next ledger. The split says through `wanted` how many bytes it needs. */
static tide_status next_ledger(struct reader *r, struct tide_split *split, tide_slice *lcm,
                               struct tide_err *err)
{
    for (;;) {
        assert(r->at <= r->window.len);
        tide_slice in = tide_slice_of(r->window.ptr + r->at, r->window.len - r->at);
        size_t before = in.len;
        tide_status status = tide_split_next(split, &in, r->whole, lcm, err);
        assert(in.len <= before);
        r->at += before - in.len;
        if (status != TIDE_E_EOF || r->whole)
            return status;
        status = fill_window(r, split->wanted, err);
        if (status != TIDE_OK)
            return status;
    }
}

/* Fails with TIDE_E_CHAIN if a batch has other ledgers than its header says. */
static tide_status check_claim(const struct tide_split *split, uint32_t sequence, bool first,
                               struct tide_err *err)
{
    if (split->framing != TIDE_FRAMING_BATCH)
        return TIDE_OK;
    if ((first && sequence != split->first) || (split->left == 0 && sequence != split->last))
        return tide_fail(err, TIDE_E_CHAIN,
                         "batch claims ledgers %" PRIu32 "..%" PRIu32 " but holds %" PRIu32,
                         split->first, split->last, sequence);
    return TIDE_OK;
}

/* Adds to the message of malformed data where it is. Offsets in the message count from there. */
static tide_status add_position(const struct reader *r, uint64_t at, uint32_t last,
                                struct tide_err *err)
{
    assert(err->code != TIDE_OK);
    if (tide_status_exit(err->code) != tide_status_exit(TIDE_E_DECODE))
        return err->code;
    const char *what = r->zstd ? " (decompressed)" : "";
    if (last)
        return tide_fail_context(err, "behind ledger %" PRIu32 ", from byte %" PRIu64 "%s on", last,
                                 at, what);
    return tide_fail_context(err, "from byte %" PRIu64 "%s on", at, what);
}

/* Decodes ledger after ledger. A check that fails is counted; malformed data ends the file. */
static tide_status decode_all(struct reader *r, struct dump_sink *sink,
                              struct tide_dump_totals *totals, struct tide_err *err)
{
    struct tide_split split = { 0 };
    tide_slice lcm;
    tide_status status;
    while ((status = next_ledger(r, &split, &lcm, err)) == TIDE_OK) {
        assert(lcm.len > 0 && lcm.len <= r->before + r->at);
        uint32_t before = totals->ledgers ? sink->last_sequence : 0;
        status = dump_sink_ledger(sink, lcm, err);
        if (status != TIDE_OK)
            return add_position(r, r->before + r->at - lcm.len, before, err);
        status = check_claim(&split, sink->last_sequence, totals->ledgers == 0, err);
        if (status != TIDE_OK)
            return status;
        totals->framing = split.framing;
        totals->ledgers++;
        totals->failed += !sink->last_holds;
    }
    if (status == TIDE_E_EOF)
        return TIDE_OK;
    return add_position(r, r->before + r->at, totals->ledgers ? sink->last_sequence : 0, err);
}

tide_status tide_dump_file(const char *path, FILE *out, const struct tide_dump_options *options,
                           struct tide_dump_totals *totals, struct tide_err *err)
{
    assert((options->kinds & ~(unsigned)TIDE_DUMP_ALL) == 0);
    struct reader reader;
    struct dump_sink sink = { 0 };
    *totals = (struct tide_dump_totals){ 0 };
    tide_status status = open_reader(&reader, path, err);
    if (status == TIDE_OK) {
        status = dump_sink_open(&sink, out, options, err);
        if (status == TIDE_OK)
            status = decode_all(&reader, &sink, totals, err);
        dump_sink_close(&sink);
    }
    close_reader(&reader);
    if (status == TIDE_OK && fflush(out) != 0)
        status = tide_fail(err, TIDE_E_IO, "output: %s", strerror(errno));
    return status == TIDE_OK ? TIDE_OK : tide_fail_context(err, "%s", path);
}

static tide_status decode_value(FILE *out, tide_slice text, struct tide_buf *xdr,
                                struct tide_buf *json)
{
    tide_buf_reset(xdr);
    tide_buf_reset(json);
    tide_status status = tide_buf_base64_decode(xdr, text);
    if (status == TIDE_OK)
        status = tide_scval_json(json, tide_buf_view(xdr));
    if (status != TIDE_OK)
        return status;
    tide_buf_u8(json, '\n');
    return fwrite(json->ptr, 1, json->len, out) == json->len ? TIDE_OK : TIDE_E_IO;
}

tide_status tide_dump_values(FILE *in, FILE *out, struct tide_err *err)
{
    struct tide_buf xdr;
    struct tide_buf json;
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    uint64_t number = 0;
    tide_status status = TIDE_OK;
    tide_buf_init(&xdr, TIDE_LEDGER_BYTES_MAX);
    tide_buf_init(&json, TIDE_JSON_BYTES_MAX);
    while (status == TIDE_OK && (len = getline(&line, &cap, in)) >= 0) {
        tide_slice text = tide_slice_of(line, (size_t)len);
        while (text.len && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
            text.len--;
        number++;
        status = decode_value(out, text, &xdr, &json);
        if (status != TIDE_OK)
            status =
                tide_fail(err, status, "line %" PRIu64 ": %s", number, tide_status_text(status));
    }
    free(line);
    tide_buf_release(&xdr);
    tide_buf_release(&json);
    return status;
}
