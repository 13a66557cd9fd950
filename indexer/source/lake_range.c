/* Finds out how a lake names its objects, and which ledgers it has: its first and last one, and
 * whether a missing object is the tip's next one, or in a hole. A store that can list its objects
 * is listed; others are probed at distances that double. */
#include "indexer/source/lake_impl.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"

/* LOOK_MS: least time until the lake is searched because a ledger is late; LOOK_MS_MAX: longest
 * pause between two searches. COST: a search takes at most one part in so many of the time. */
enum { PROBES_MAX = 32, LOOK_MS = 10000, LOOK_MS_MAX = 60000, COST = 100 };
enum { CONFIG_BYTES = 64 << 10 };

static bool is_stopping(const struct lake *l)
{
    return l->options.stopping && l->options.stopping(l->options.stopping_self);
}

/* Returns whether the ledger's object exists: TIDE_OK, TIDE_E_MISSING, TIDE_E_IO or
 * TIDE_E_STOPPED. *forbidden: with TIDE_E_MISSING, the server answered 403. */
static tide_status is_there(struct lake *l, uint32_t ledger, bool *forbidden, struct tide_err *err)
{
    tide_status status = TIDE_E_MISSING;
    *forbidden = false;
    if (is_stopping(l))
        return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
    for (uint32_t i = 0; i < LAKE_EXTENSIONS && status == TIDE_E_MISSING; i++) {
        char key[TIDE_OBJECT_KEY_MAX];
        struct object_fault fault = { 0 };
        lake_layout_key(key, &l->layout, ledger, i);
        status = l->store.ops->exists(l->store.self, TIDE_OBJECT_CLIENTS_MAX - 1, key, &fault, err);
        *forbidden = *forbidden || fault.forbidden;
    }
    if (status != TIDE_E_STOPPED)
        prefetch_note(l->prefetch, status, err);
    return status;
}

/* Returns the n-th distance at which the lake is probed, in objects. Distances double; each search
 * has others between 2^n and 2^(n+1), spread by the golden ratio, so that also a short run of
 * objects behind a long hole is met. */
static uint64_t probe_distance(uint32_t look, uint32_t n)
{
    double part = look * 0.6180339887498949;
    part -= (double)(uint64_t)part;
    return n ? (uint64_t)((double)(1ull << n) * (1 + part)) : 1;
}

/* Finds a ledger after `from` whose object exists; *found is 0 if there is none. A store that can
 * list its objects is listed, others are probed. */
static tide_status find_later(struct lake *l, uint32_t from, uint32_t *found, struct tide_err *err)
{
    bool ignored;
    *found = 0;
    if (l->store.ops->list) {
        struct lake_listing listing;
        tide_status status = lake_layout_list(&listing, &l->store, err);
        if (!status && listing.last >= (uint64_t)from + l->layout.batch)
            *found = lake_layout_start(&l->layout, listing.last);
        return status;
    }
    for (uint32_t i = 0; i < PROBES_MAX; i++) {
        uint64_t ledger = from + probe_distance(l->gap.looks, i) * l->layout.batch;
        if (ledger > UINT32_MAX)
            break;
        tide_status status = is_there(l, (uint32_t)ledger, &ignored, err);
        if (status == TIDE_OK)
            *found = (uint32_t)ledger;
        if (status != TIDE_E_MISSING)
            return status;
    }
    return TIDE_OK;
}

bool lake_has_end(const struct lake *l)
{
    return l->last || l->options.config->stop_at_end;
}

/* A forbidden object counts as one that is not there yet if the one before it may be read. */
static tide_status judge_forbidden(struct lake *l, struct tide_err *err)
{
    uint32_t start = lake_layout_start(&l->layout, l->next);
    struct tide_err why = *err;
    bool ignored;
    tide_status status = start > 2 ? is_there(l, start - 1, &ignored, err) : TIDE_E_MISSING;
    if (status == TIDE_OK)
        return tide_fail(err, TIDE_E_EOF, "%s/%s: not there yet (403)", l->store.name, l->key);
    if (status != TIDE_E_MISSING)
        return status;
    l->gap.forbidden = true;
    return tide_fail(err, TIDE_E_IO, "ledger %u: %s", l->next, why.text);
}

/* Decides whether a missing object is the tip's, in a hole or forbidden. */
static tide_status look_behind(struct lake *l, struct tide_err *err)
{
    uint32_t found = 0;
    bool forbidden;
    tide_status status = find_later(l, lake_layout_start(&l->layout, l->next), &found, err);
    if (status)
        return status;
    /* The missing object may have been added meanwhile. */
    status = is_there(l, l->next, &forbidden, err);
    if (status && status != TIDE_E_MISSING)
        return status;
    forbidden = forbidden || prefetch_is_forbidden(l->prefetch);
    if ((status == TIDE_OK && !forbidden) || (!found && !forbidden))
        return tide_fail(err, TIDE_E_EOF, "%s/%s: not there yet", l->store.name, l->key);
    if (!found)
        return judge_forbidden(l, err);
    l->gap.found = found;
    return tide_fail(err, lake_has_end(l) && !forbidden ? TIDE_E_MISSING : TIDE_E_IO,
                     "%s/%s: ledger %u is %s, but the object of ledger %u is there", l->store.name,
                     l->key, l->next, forbidden ? "forbidden (403)" : "missing", found);
}

/* A ledger that is merely due must not cost a search: the first one comes once it is missing for
 * twice as long as the one before it was, and further ones after pauses that double. */
static void begin_gap(struct lake *l)
{
    int64_t now = tide_now_ms(), pause = 2 * l->waited_ms;
    bool at_once = lake_has_end(l) || !l->waited_ms;
    pause = pause < LOOK_MS ? LOOK_MS : pause > LOOK_MS_MAX ? LOOK_MS_MAX : pause;
    l->gap = (struct lake_gap){ .ledger = l->next,
                                .since_ms = now,
                                .look_ms = at_once ? now : now + pause,
                                .pause_ms = pause,
                                .status = TIDE_E_EOF };
    tide_fail(&l->gap.err, TIDE_E_EOF, "%s/%s: not there yet", l->store.name, l->key);
}

static void log_hole(const struct lake *l)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    tide_log(TIDE_WARN, "lake.hole", "ledger=%u found=%u error=%s", l->next, l->gap.found,
             tide_log_quote(quoted, sizeof quoted, l->gap.err.text));
}

static void search_lake(struct lake *l)
{
    struct lake_gap *gap = &l->gap;
    uint32_t before = gap->found;
    int64_t began = tide_now_ms();
    gap->found = 0;
    gap->forbidden = false;
    gap->status = look_behind(l, &gap->err);
    gap->looks++;
    bool known = gap->found || gap->forbidden;
    prefetch_note_gap(l->prefetch, known ? gap->err.text : NULL, gap->found);
    if (gap->found && !before && !lake_has_end(l))
        log_hole(l);
    if (gap->status != TIDE_E_EOF && !known)
        return; /* the store failed: the next call searches again */
    int64_t now = tide_now_ms(), rest = (now - began) * COST;
    gap->look_ms = now + (rest > gap->pause_ms ? rest : gap->pause_ms);
    gap->pause_ms = 2 * gap->pause_ms < LOOK_MS_MAX ? 2 * gap->pause_ms : LOOK_MS_MAX;
}

tide_status lake_at_gap(struct lake *l, struct tide_err *err)
{
    if (l->gap.ledger != l->next)
        begin_gap(l);
    if (tide_now_ms() >= l->gap.look_ms || lake_has_end(l))
        search_lake(l);
    *err = l->gap.err;
    return l->gap.status;
}

void lake_leave_gap(struct lake *l)
{
    if (l->gap.found && l->next == l->gap.ledger)
        tide_log(TIDE_INFO, "lake.filled", "ledger=%u", l->gap.ledger);
    if (l->gap.ledger)
        l->waited_ms = tide_now_ms() - l->gap.since_ms + 1;
    l->gap = (struct lake_gap){ 0 };
    l->unfinished.ledger = 0;
    prefetch_note_gap(l->prefetch, NULL, 0);
}

/* Finds the last ledger of the run of objects from ledger `from` on, by doubling the distance and
 * then halving it. The result is right for lakes without holes. */
static tide_status probe_last(struct lake *l, uint32_t from, uint32_t *last, struct tide_err *err)
{
    assert(l->layout.batch > 0);
    uint32_t batch = l->layout.batch;
    bool ignored;
    uint64_t there = lake_layout_start(&l->layout, from), missing = 0, step = batch;
    while (!missing && there + step <= UINT32_MAX) {
        tide_status status = is_there(l, (uint32_t)(there + step), &ignored, err);
        if (status == TIDE_E_MISSING) {
            missing = there + step;
        } else if (status == TIDE_OK) {
            there += step;
            step *= 2;
        } else {
            return status;
        }
    }
    while (missing > there + batch) {
        uint64_t middle = there + (missing - there) / batch / 2 * batch;
        assert(there < middle && middle < missing);
        tide_status status = is_there(l, (uint32_t)middle, &ignored, err);
        if (status && status != TIDE_E_MISSING)
            return status;
        *(status ? &missing : &there) = middle;
    }
    assert(missing == 0 || missing == there + batch);
    *last = (uint32_t)(there + batch - 1);
    return TIDE_OK;
}

tide_status lake_range(void *self, uint32_t *first, uint32_t *last, struct tide_err *err)
{
    struct lake *l = self;
    *first = *last = 0;
    if (l->store.ops->list) {
        struct lake_listing listing;
        tide_status status = lake_layout_list(&listing, &l->store, err);
        *first = listing.first;
        *last = listing.last;
        return status;
    }
    /* Without a listing, only the next wanted ledger and the one before it can be probed at little
     * cost. */
    uint32_t from = l->sought && l->next > 2 ? l->next : 2;
    bool forbidden, ignored;
    tide_status status = is_there(l, from, &forbidden, err);
    if (status == TIDE_OK) {
        *first = from;
        return probe_last(l, from, last, err);
    }
    struct tide_err why = *err;
    if (status == TIDE_E_MISSING && from > 2 &&
        (status = is_there(l, from - 1, &ignored, err)) == TIDE_OK)
        *first = *last = from - 1;
    if (status == TIDE_E_MISSING && forbidden)
        return tide_fail(err, TIDE_E_IO, "%s: ledger %u: %s", l->store.name, from, why.text);
    return status == TIDE_E_MISSING ? TIDE_OK : status;
}

/* --- names of objects -------------------------------------------------------------------- */

static bool has_config_room(void *self, size_t total)
{
    (void)self;
    return total <= CONFIG_BYTES;
}

/* Returns whether the time is over; *self is its end, 0: none. */
static bool is_over(void *self)
{
    const int64_t *end_ms = self;
    return *end_ms && tide_now_ms() >= *end_ms;
}

/* Fetches .config.json, with as many tries as an object, or within patience_ms. TIDE_E_MISSING if
 * the lake has none. */
static tide_status fetch_config(struct lake *l, struct object_sink *sink, struct tide_err *err)
{
    const struct tide_clock *clock = tide_clock_system();
    uint32_t patience_ms = l->options.patience_ms;
    int64_t end_ms = patience_ms ? tide_now_ms() + patience_ms : 0;
    sink->self = &end_ms;
    for (uint32_t n = 1;; n++) {
        struct object_fault fault = { 0 };
        tide_buf_reset(&sink->bytes);
        tide_status status = l->store.ops->get(l->store.self, TIDE_OBJECT_CLIENTS_MAX - 1,
                                               ".config.json", sink, &fault, err);
        if (status == TIDE_E_MISSING && fault.forbidden)
            err->code = status = TIDE_E_IO; /* perhaps the lake has one */
        if (status == TIDE_E_STOPPED)
            return tide_fail(err, TIDE_E_IO, "%s: no answer within %u ms", l->store.name,
                             patience_ms);
        if (status != TIDE_E_IO || !fault.again || is_over(&end_ms) ||
            n >= l->options.config->http_tries)
            return status;
        for (uint32_t ms = 0; ms < TIDE_OBJECT_RETRY_MS && !is_stopping(l); ms += 50)
            clock->sleep_ms(clock->self, 50);
        if (is_stopping(l))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
    }
}

tide_status lake_find_layout(struct lake *l, struct tide_err *err)
{
    char passphrase[256];
    struct object_sink sink = { .room = has_config_room, .cancelled = is_over };
    tide_buf_init(&sink.bytes, CONFIG_BYTES);
    tide_status status = fetch_config(l, &sink, err);
    if (status == TIDE_OK) {
        status = lake_config_parse(&l->layout, passphrase, tide_buf_view(&sink.bytes), err);
        if (status)
            tide_fail_context(err, "%s/.config.json", l->store.name);
        else if (l->options.passphrase && strcmp(l->options.passphrase, passphrase) != 0)
            status = tide_fail(err, TIDE_E_CHAIN,
                               "%s/.config.json: the lake is of network \"%s\", the deployment of "
                               "\"%s\"",
                               l->store.name, passphrase, l->options.passphrase);
    } else if (status == TIDE_E_MISSING) {
        struct lake_listing listing = { 0 };
        status = l->store.ops->list ? lake_layout_list(&listing, &l->store, err) : TIDE_OK;
        l->layout = listing.layout;
        if (!status && l->layout.batch == 0)
            l->layout = (struct lake_layout){ l->options.config->lake_ledgers_per_batch,
                                              l->options.config->lake_batches_per_partition };
    }
    tide_buf_release(&sink.bytes);
    return status;
}
