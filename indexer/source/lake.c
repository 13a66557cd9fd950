/* Ledgers of a SEP-54 data lake. Objects come from the prefetcher, are decompressed into a window
 * that grows to the largest ledger, and are cut into ledgers there. Objects with many ledgers are
 * decompressed ahead in a thread. */
#include "indexer/source/lake_impl.h"
#include "tidemark/clock.h"
#include "tidemark/limits.h"
#include "tidemark/log.h"
#include "tidemark/meta.h"
#include "tidemark/zstd.h" /* for its magic number only */

/* FILL_BYTES: first size of the window. AHEAD_BYTES_MAX: fill_ahead takes up to four times the
 * longest ledger if that is less, otherwise up to twice the longest ledger. */
enum { FILL_BYTES = 256 << 10, BATCH_HEADER = 12, AHEAD_BYTES_MAX = 8 << 20 };
/* An object that does not hold may still be written for so long. */
enum { WRITTEN_MS = 30000 };

/* --- one object -------------------------------------------------------------------------- */

static tide_status corrupt(struct lake *l, tide_status status, const char *what,
                           struct tide_err *err)
{
    return tide_fail(err, status, "%s/%s: ledger %u: %s", l->store.name, l->key, l->at, what);
}

/* Decompresses until the window has at least `want` bytes, or the object ends. */
static tide_status fill_window(struct lake *l, size_t want, struct tide_err *err)
{
    assert(l->used <= l->plain.len);
    if (l->used) {
        memmove(l->plain.ptr, l->plain.ptr + l->used, l->plain.len - l->used);
        l->plain.len -= l->used;
        l->used = 0;
    }
    if (l->plain.len == TIDE_LEDGER_BYTES_MAX)
        return corrupt(l, TIDE_E_LIMIT, "larger than a ledger may be", err);
    if (want > TIDE_LEDGER_BYTES_MAX)
        want = TIDE_LEDGER_BYTES_MAX;
    while (l->plain.len < want) {
        size_t room = want - l->plain.len;
        uint8_t *to = tide_buf_room(&l->plain, room);
        if (!to)
            return corrupt(l, TIDE_E_MEMORY, "out of memory", err);
        size_t made = 0;
        const char *what = NULL;
        tide_status status = unpack_read(l->unpack, to, room, &made, &what);
        assert(made <= room);
        l->plain.len += made;
        if (status)
            return corrupt(l, status, what, err);
        if (made < room)
            break;
    }
    return TIDE_OK;
}

static tide_slice window(const struct lake *l)
{
    assert(l->used <= l->plain.len);
    return tide_slice_of(l->plain.ptr + l->used, l->plain.len - l->used);
}

/* Reads the batch header, which must agree with the object's name. The first object of a lake is
 * named from 0 and begins with ledger 1 or 2. */
static tide_status read_batch_header(struct lake *l, struct tide_err *err)
{
    assert(l->used == 0);
    tide_status status = fill_window(l, BATCH_HEADER, err);
    if (status)
        return status;
    if (l->plain.len < BATCH_HEADER)
        return corrupt(l, TIDE_E_DECODE, "cut short", err);
    uint32_t start = tide_be32(l->plain.ptr), end = tide_be32(l->plain.ptr + 4);
    uint32_t count = tide_be32(l->plain.ptr + 8);
    l->used = BATCH_HEADER;
    uint32_t named = lake_layout_start(&l->layout, l->next);
    uint64_t named_end = (uint64_t)named + l->layout.batch - 1;
    bool start_fits = start == named || (named == 0 && start >= 1 && start <= 2);
    if (!start_fits || end != named_end || count != end - start + 1)
        return tide_fail(
            err, TIDE_E_DECODE,
            "%s/%s: the batch header has ledgers %u..%u, %u of them; its name has others",
            l->store.name, l->key, start, end, count);
    l->at = start;
    l->end = end;
    return TIDE_OK;
}

static void leave_object(struct lake *l)
{
    unpack_end(l->unpack);
    if (l->open)
        prefetch_done(l->prefetch);
    l->open = false;
    l->second = false;
}

static tide_status enter_object(struct lake *l, struct tide_err *err)
{
    tide_slice packed;
    tide_status status = prefetch_take(l->prefetch, &packed, l->key, err);
    if (status)
        return status;
    assert(!l->open); /* the window belongs to one object */
    l->open = true;
    /* Bit 2 of the frame header descriptor: a checksum follows the content. */
    l->checked = packed.len > 4 && tide_zstd_magic(packed) && (packed.ptr[4] & 4);
    l->at = l->next;
    l->used = 0;
    tide_buf_reset(&l->plain);
    unpack_begin(l->unpack, packed, l->layout.batch > 1);
    if (!tide_zstd_magic(packed))
        return corrupt(l, TIDE_E_DECODE, "not a zstd frame", err);
    return read_batch_header(l, err);
}

/* Takes the whole object as its one ledger. The frame's checksum has shown that it is complete, so
 * no walk is needed to find the ledger's end. */
static tide_status cut_whole(struct lake *l, size_t *len, struct tide_err *err)
{
    size_t want = FILL_BYTES;
    while (!unpack_exhausted(l->unpack)) {
        size_t was = window(l).len;
        tide_status status = fill_window(l, was + want, err);
        if (status)
            return status;
        if (window(l).len == was)
            break;
        want = window(l).len;
    }
    if (!unpack_exhausted(l->unpack))
        return corrupt(l, TIDE_E_DECODE, "cut short", err);
    *len = window(l).len;
    return TIDE_OK;
}

/* Fills the window to the longest ledger so far, and further with bytes that are ready. A ledger
 * that is cut short in the window would have to be walked again from its start. */
static void fill_ahead(struct lake *l)
{
    struct tide_err ignored;
    if (window(l).len >= l->longest)
        return;
    size_t most = 4 * l->longest < AHEAD_BYTES_MAX ? 4 * l->longest : 2 * l->longest;
    size_t want = window(l).len + unpack_ready(l->unpack);
    want = want < l->longest ? l->longest : want;
    (void)!fill_window(l, want < most ? want : most, &ignored);
}

/* Finds the end of the ledger at the window's start. If bytes are missing, the window is doubled,
 * so the bytes of a large ledger are walked at most twice. */
static tide_status cut_by_walk(struct lake *l, size_t *len, struct tide_err *err)
{
    fill_ahead(l);
    for (size_t want = FILL_BYTES;;) {
        struct tide_xdr x = tide_xdr_of(window(l));
        if (x.cur != x.end)
            tide_ledger_skip(&x);
        if (x.status == TIDE_OK && tide_xdr_offset(&x)) {
            *len = tide_xdr_offset(&x);
            return TIDE_OK;
        }
        if (x.status && !x.truncated) {
            tide_xdr_error(&x, err, "LedgerCloseMeta");
            return tide_fail_context(err, "%s/%s: ledger %u", l->store.name, l->key, l->at);
        }
        size_t was = window(l).len;
        while (want < 2 * was)
            want *= 2;
        tide_status status = fill_window(l, want, err);
        if (status)
            return status;
        if (window(l).len == was)
            return corrupt(l, TIDE_E_DECODE, "cut short", err);
    }
}

/* Moves the window behind a ledger. */
static void consume_ledger(struct lake *l, size_t len)
{
    assert(len > 0 && l->used + len <= l->plain.len);
    l->used += len;
    l->at++;
    if (len > l->longest)
        l->longest = len;
}

/* Cuts the next ledger out of the open object. Behind the last one, checks that nothing follows and
 * that the checksum holds. */
static tide_status cut_ledger(struct lake *l, tide_slice *lcm, struct tide_err *err)
{
    size_t len = 0;
    bool whole = l->checked && l->layout.batch == 1;
    tide_status status = whole ? cut_whole(l, &len, err) : cut_by_walk(l, &len, err);
    if (status)
        return status;
    *lcm = tide_slice_of(window(l).ptr, len);
    if (ledger_peek_sequence(*lcm) != l->at)
        return corrupt(l, TIDE_E_DECODE, "the batch has another ledger at this position", err);
    if (l->at == l->end) {
        uint8_t rest;
        size_t made = 0;
        const char *what = "bytes after the last ledger";
        status = unpack_read(l->unpack, &rest, 1, &made, &what);
        if (status)
            return corrupt(l, status, what, err);
        if (made || l->used + len != l->plain.len || !unpack_exhausted(l->unpack))
            return corrupt(l, TIDE_E_DECODE, made ? what : "cut short or followed by more", err);
    }
    consume_ledger(l, len);
    return TIDE_OK;
}

/* --- the source -------------------------------------------------------------------------- */

/* Drops the open object. The next read fetches it again. */
static void drop_object(struct lake *l, bool second)
{
    unpack_end(l->unpack);
    l->open = false;
    l->second = second;
    prefetch_seek(l->prefetch, l->next, l->last);
}

/* Returns whether the object may still be being written: galexie's file store and a copy in place
 * show an object before all of it is there. A source that has an end does not wait. */
static bool may_be_unfinished(struct lake *l, tide_status status)
{
    int64_t now = tide_now_ms();
    if (status != TIDE_E_DECODE || lake_has_end(l))
        return false;
    if (l->unfinished.ledger != l->next)
        l->unfinished.since_ms = now;
    l->unfinished.ledger = l->next;
    return now - l->unfinished.since_ms < WRITTEN_MS;
}

/* Drops an object that may be unfinished, and reports it as trouble. */
static tide_status await_rest(struct lake *l, struct tide_err *err)
{
    drop_object(l, false);
    err->code = TIDE_E_IO;
    prefetch_note_gap(l->prefetch, err->text, 0);
    return TIDE_E_IO;
}

static void log_refetch(const struct tide_err *err)
{
    char quoted[512];
    tide_log(TIDE_WARN, "lake.damaged", "again=true error=%s",
             tide_log_quote(quoted, sizeof quoted, err->text));
}

/* Fails for good, with the advice for the operator appended. */
static tide_status fail_damaged(struct lake *l, const char *what, struct tide_err *err)
{
    const char *advice = "; replace the object by a good copy, or use another lake";
    if (err->code == TIDE_E_UNKNOWN)
        advice = "; update, or use another lake";
    if (err->code == TIDE_E_CHAIN)
        advice = "; find out with another lake which is wrong: this object or the index";
    drop_object(l, false);
    tide_fail_context(err, "%s", what);
    size_t len = strlen(err->text);
    assert(len < sizeof err->text);
    snprintf(err->text + len, sizeof err->text - len, "%s", advice);
    return err->code;
}

static tide_status lake_seek(void *self, uint32_t first, uint32_t last, struct tide_err *err)
{
    struct lake *l = self;
    uint32_t oldest = 0, newest = 0;
    if (first == 0) {
        tide_status status = lake_range(l, &oldest, &newest, err);
        if (status)
            return status;
        if (oldest == 0)
            return tide_fail(err, TIDE_E_MISSING, "%s: no ledger found; set first_ledger",
                             l->store.name);
        first = oldest;
    }
    unpack_end(l->unpack);
    l->open = false;
    l->second = false;
    l->refetched = 0;
    l->sought = true;
    lake_leave_gap(l);
    l->waited_ms = 0;
    l->next = first;
    l->last = last;
    prefetch_seek(l->prefetch, first, last);
    return TIDE_OK;
}

/* Reads the next wanted ledger. On failure, the object stays open if it is at fault. */
static tide_status read_wanted(struct lake *l, tide_slice *lcm, struct tide_err *err)
{
    tide_status status;
    do {
        if (l->open && l->at > l->end)
            leave_object(l);
        if (!l->open && (status = enter_object(l, err)))
            return status;
        if (l->at > l->next)
            return tide_fail(err, TIDE_E_MISSING, "%s/%s: begins at ledger %u, %u is wanted",
                             l->store.name, l->key, l->at, l->next);
        if ((status = cut_ledger(l, lcm, err)))
            return status;
    } while (l->at <= l->next);
    return TIDE_OK;
}

/* True if the open object is at fault, not the machine, and a fresh copy may be better. */
static bool is_damaged(const struct lake *l, tide_status status)
{
    assert(l->sought);
    return l->open && status && status != TIDE_E_MISSING && status != TIDE_E_MEMORY;
}

static tide_status lake_next(void *self, tide_slice *lcm, uint32_t *sequence, struct tide_err *err)
{
    struct lake *l = self;
    tide_status status = TIDE_OK;
    if (!l->sought && (status = lake_seek(l, 0, 0, err)))
        return status;
    if (l->last && l->next > l->last)
        return tide_fail(err, TIDE_E_EOF, "ledger %u, the last one wanted, is read", l->last);
    status = read_wanted(l, lcm, err);
    bool damaged = is_damaged(l, status);
    if (damaged && !l->second) {
        if (l->unfinished.ledger != l->next)
            log_refetch(err);
        drop_object(l, true);
        status = read_wanted(l, lcm, err);
        damaged = is_damaged(l, status);
    }
    if (damaged && may_be_unfinished(l, status))
        return await_rest(l, err);
    if (damaged)
        return fail_damaged(l, "damaged, also when fetched again", err);
    if (status == TIDE_E_MISSING && !l->open)
        return lake_at_gap(l, err);
    assert(status || (l->open && l->at == l->next + 1)); /* the ledger cut last is the wanted one */
    if (!status && (l->gap.ledger || l->unfinished.ledger))
        lake_leave_gap(l);
    if (!status)
        *sequence = l->next++;
    return status;
}

static void lake_done(void *self)
{
    struct lake *l = self;
    if (l->used < l->plain.len || l->plain.cap <= TIDE_SOURCE_WINDOW_KEPT)
        return;
    tide_buf_release(&l->plain);
    l->used = 0;
    l->longest = 0; /* one large ledger must not widen the window for ever */
}

/* Sets l->next back to a ledger that was read, and l->key to its object. */
static void return_to(struct lake *l, uint32_t ledger)
{
    bool zstd = strstr(l->key, ".zstd") != NULL;
    uint32_t start = lake_layout_start(&l->layout, ledger);
    if (start != lake_layout_start(&l->layout, l->next - 1))
        lake_layout_key(l->key, &l->layout, start, zstd ? 1 : 0);
    l->next = ledger;
}

/* Asks for a fresh copy of the ledger's object, once for each ledger. */
static bool lake_refetch(void *self, uint32_t ledger, struct tide_err *err)
{
    struct lake *l = self;
    assert(l->sought && ledger < l->next);
    bool latest = ledger + 1 == l->next;
    return_to(l, ledger);
    tide_fail_context(err, "%s/%s", l->store.name, l->key);
    if (l->refetched == ledger || (latest && l->second)) {
        l->refetched = 0;
        (void)fail_damaged(l, "also when fetched again", err);
        return false;
    }
    l->refetched = ledger;
    log_refetch(err);
    drop_object(l, true);
    return true;
}

static bool lake_finite(void *self)
{
    const struct lake *l = self;
    return l->last && l->next > l->last;
}

static int64_t lake_trouble(void *self, char *text, size_t size)
{
    struct lake *l = self;
    return prefetch_trouble(l->prefetch, text, size);
}

static uint32_t lake_ahead(void *self)
{
    struct lake *l = self;
    return prefetch_behind_gap(l->prefetch);
}

static void lake_close(void *self)
{
    struct lake *l = self;
    unpack_close(l->unpack);
    prefetch_close(l->prefetch);
    tide_buf_release(&l->plain);
    if (l->store.ops)
        l->store.ops->close(l->store.self);
    free(l);
}

static const struct tide_source_ops lake_ops = {
    .name = "lake",
    .seek = lake_seek,
    .next = lake_next,
    .done = lake_done,
    .refetch = lake_refetch,
    .range = lake_range,
    .finite = lake_finite,
    .trouble = lake_trouble,
    .ahead = lake_ahead,
    .close = lake_close,
};

/* --- opening ----------------------------------------------------------------------------- */

/* Opens the object store for a folder, file:// or http(s)://. */
static tide_status open_store(struct lake *l, struct tide_err *err)
{
    const struct tide_config *c = l->options.config;
    if (strncmp(c->lake, "http://", 7) == 0 || strncmp(c->lake, "https://", 8) == 0)
        return object_http_open(&l->store, c->lake, &l->options, err);
    const char *path = strncmp(c->lake, "file://", 7) == 0 ? c->lake + 7 : c->lake;
    if (strstr(path, "://"))
        return tide_fail(err, TIDE_E_CONFIG, "lake=%s: expected a folder, file:// or http(s)://",
                         c->lake);
    return object_folder_open(&l->store, path, (size_t)c->object_max_mib << 20, err);
}

tide_status tide_lake_open(struct tide_source *out, const struct tide_source_options *options,
                           struct tide_err *err)
{
    struct lake *l = calloc(1, sizeof *l);
    if (!l)
        return tide_fail(err, TIDE_E_MEMORY, "lake: out of memory");
    l->options = *options;
    tide_buf_init(&l->plain, TIDE_LEDGER_BYTES_MAX);
    tide_status status = open_store(l, err);
    if (!status)
        status = lake_find_layout(l, err);
    if (!status && (status = unpack_open(&l->unpack)))
        tide_fail(err, status, "lake: out of memory");
    if (!status)
        status = prefetch_open(&l->prefetch, &l->store, &l->layout, options, err);
    if (status) {
        lake_close(l);
        return status;
    }
    tide_log(TIDE_INFO, "lake.open", "ledgers_per_batch=%u batches_per_partition=%u",
             l->layout.batch, l->layout.partition);
    *out = (struct tide_source){ &lake_ops, l };
    return TIDE_OK;
}
