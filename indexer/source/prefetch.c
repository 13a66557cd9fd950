/* Background threads that fetch a lake's objects into a ring of slots. The reader takes them from
 * the oldest slot. */
#include "indexer/source/prefetch.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"
#include "tidemark/retry.h"

#include <errno.h>
#include <pthread.h>

#define OBJECT_BYTES_MAX ((size_t)256 << 20) /* one data-lake object, compressed */

/* OBJECTS_AHEAD: most objects fetched ahead at once. AHEAD_FIRST: those until times are measured,
 * and from a folder always. MEAN_PARTS: weight of the old mean against a new sample. */
enum { OBJECTS_AHEAD = 32, AHEAD_FIRST = 8, MEAN_PARTS = 8 };

/* EMPTY: not asked for. BUSY: a thread fetches it. READY: bytes are there. FAILED: err is set.
 * REPORTED: prefetch_take has returned err. */
enum slot_state { EMPTY, BUSY, READY, FAILED, REPORTED };

struct slot {
    enum slot_state state;
    struct tide_buf bytes; /* valid in state READY */
    size_t counted;        /* part of prefetch.held */
    uint32_t extension;
    struct tide_err err; /* valid in states FAILED and REPORTED */
    bool forbidden;      /* the same */
};

struct worker {
    struct prefetch *owner;
    uint32_t client;
    pthread_t thread;
};

struct prefetch {
    const struct object_store *store;
    const struct lake_layout *layout;
    struct tide_source_options options;
    size_t bytes_max;
    uint32_t slot_count, worker_count;
    bool adapts; /* the store is a server: measured times set how far to fetch ahead */
    struct worker workers[TIDE_OBJECT_CLIENTS_MAX];

    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t work;  /* a worker may find an object to fetch, or must stop */
    pthread_cond_t done;  /* a slot changed */
    bool closing;
    uint32_t generation;  /* number of seeks; results of an older one are dropped */
    uint32_t start;       /* first ledger of object 0 */
    uint64_t count;       /* objects up to the end of the range */
    uint64_t base;        /* oldest object that is not done; its slot is base % slot_count */
    uint32_t ahead;       /* objects fetched ahead, 1 .. slot_count; as many workers fetch */
    uint64_t fetch_us;    /* mean time in which an object arrives; 0: not known */
    uint64_t read_us;     /* mean time in which the reader uses up an object; 0: not known */
    uint64_t given_us;    /* time at which the present object was handed out; 0: none is */
    uint32_t patience_ms; /* prefetch_take waits for so long; 0: without limit */
    size_t held;          /* bytes in slots and in transfer */
    uint32_t extension;   /* the extension of the last object found */
    int64_t trouble_ms;   /* time at which attempts began to fail; 0: they succeed */
    char trouble[TIDE_ERR_TEXT_MAX];
    int64_t gap_ms; /* time at which a gap was noted; 0: there is none */
    char gap[TIDE_ERR_TEXT_MAX];
    uint32_t behind_gap;
    struct slot slots[];
};

/* One object being fetched. */
struct fetch {
    struct prefetch *owner;
    uint64_t object;
    uint32_t generation;
    uint32_t client;
    size_t counted; /* bytes of the sink that owner->held counts */
    size_t refused; /* bytes for which there was no room at the last attempt */
    struct object_sink sink;
    uint32_t extension;
    bool forbidden;   /* the last attempt found no object, and an answer was 403 */
    uint64_t took_us; /* 0: it waited for room, or took more than one attempt */
    struct tide_retry retry;
};

static void add_sample(uint64_t *mean, uint64_t us)
{
    us = us ? us : 1;
    *mean = *mean ? (*mean * (MEAN_PARTS - 1) + us) / MEAN_PARTS : us;
}

/* Returns how many objects to fetch ahead. A reader that waits for the database takes long for each
 * object and needs few. Call with the lock. */
static uint32_t ahead_wanted(const struct prefetch *p)
{
    assert(p->slot_count > 0);
    uint64_t wanted = AHEAD_FIRST;
    if (p->adapts && p->fetch_us && p->read_us)
        wanted = p->fetch_us / p->read_us + 2;
    return wanted < p->slot_count ? (uint32_t)wanted : p->slot_count;
}

static struct slot *slot_of(struct prefetch *p, uint64_t object)
{
    assert(p->slot_count > 0);
    return &p->slots[object % p->slot_count];
}

/* Returns whether the fetch's result is no longer wanted: a seek or close came in between. Call
 * with the lock. */
static bool is_stale(const struct fetch *f)
{
    return f->owner->closing || f->owner->generation != f->generation;
}

static bool fetch_cancelled(void *self)
{
    struct fetch *f = self;
    pthread_mutex_lock(&f->owner->lock);
    bool yes = is_stale(f);
    pthread_mutex_unlock(&f->owner->lock);
    return yes;
}

/* Reserves bytes for a fetch. The oldest object always gets room, since the reader waits for it;
 * others only within the bound. */
static bool fetch_room(void *self, size_t total)
{
    struct fetch *f = self;
    struct prefetch *p = f->owner;
    size_t cap = f->sink.bytes.cap ? 2 * f->sink.bytes.cap : total;
    size_t want = cap > total ? cap : total; /* the buffer grows by doubling */
    pthread_mutex_lock(&p->lock);
    size_t more = want > f->counted ? want - f->counted : 0;
    bool yes = f->object == p->base || p->held + more <= p->bytes_max;
    if (yes) {
        p->held += more;
        f->counted += more;
    } else {
        f->refused = want;
    }
    pthread_mutex_unlock(&p->lock);
    return yes;
}

/* Frees the bytes that the fetch holds. Call with the lock. */
static void drop_bytes(struct fetch *f)
{
    assert(f->owner->held >= f->counted);
    f->owner->held -= f->counted;
    f->counted = 0;
    tide_buf_release(&f->sink.bytes);
    tide_buf_init(&f->sink.bytes, OBJECT_BYTES_MAX);
    pthread_cond_broadcast(&f->owner->work);
}

/* Sleeps up to ms. Returns false if the fetch is no longer wanted. */
static bool pause_for(struct fetch *f, uint32_t ms)
{
    struct timespec until = tide_monotonic_in(ms);
    pthread_mutex_lock(&f->owner->lock);
    int waited = 0;
    while (!is_stale(f) && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&f->owner->work, &f->owner->lock, &until);
    bool wanted = !is_stale(f);
    pthread_mutex_unlock(&f->owner->lock);
    return wanted;
}

/* Frees the fetch's bytes and waits until the refused size fits, or the object is the oldest.
 * Returns false if the fetch is no longer wanted. */
static bool wait_for_room(struct fetch *f)
{
    struct prefetch *p = f->owner;
    pthread_mutex_lock(&p->lock);
    drop_bytes(f);
    while (!is_stale(f) && f->object != p->base && p->held + f->refused > p->bytes_max)
        pthread_cond_wait(&p->work, &p->lock);
    bool wanted = !is_stale(f);
    pthread_mutex_unlock(&p->lock);
    return wanted;
}

/* Returns the pause before attempt n + 1: the backoff, or the longer one that the store asked for,
 * within retry_ms_max. */
static uint32_t pause_ms(struct fetch *f, uint32_t n, uint32_t asked)
{
    const struct tide_config *c = f->owner->options.config;
    uint32_t ms = tide_retry_pause_ms(&f->retry, TIDE_OBJECT_RETRY_MS, c->retry_ms_max, n);
    if (asked > ms)
        ms = asked < c->retry_ms_max ? asked : c->retry_ms_max;
    return ms;
}

/* Tries once to get the object, under both extensions. */
static tide_status attempt_object(struct fetch *f, uint32_t ledger, struct object_fault *fault,
                                  struct tide_err *err)
{
    const struct object_store *store = f->owner->store;
    tide_status status = TIDE_E_MISSING;
    uint32_t first = f->extension;
    f->forbidden = false;
    for (uint32_t i = 0; i < LAKE_EXTENSIONS && status == TIDE_E_MISSING; i++) {
        char key[TIDE_OBJECT_KEY_MAX];
        f->extension = (first + i) % LAKE_EXTENSIONS;
        lake_layout_key(key, f->owner->layout, ledger, f->extension);
        tide_buf_reset(&f->sink.bytes);
        *fault = (struct object_fault){ 0 };
        status = store->ops->get(store->self, f->client, key, &f->sink, fault, err);
        f->forbidden = f->forbidden || fault->forbidden;
    }
    if (status == TIDE_E_MISSING)
        f->extension = first;
    return status;
}

void prefetch_note(struct prefetch *p, tide_status status, const struct tide_err *err)
{
    pthread_mutex_lock(&p->lock);
    if (status != TIDE_E_IO)
        p->trouble_ms = 0;
    else if (!p->trouble_ms)
        p->trouble_ms = tide_now_ms();
    if (status == TIDE_E_IO)
        snprintf(p->trouble, sizeof p->trouble, "%s", err->text);
    pthread_mutex_unlock(&p->lock);
}

void prefetch_note_gap(struct prefetch *p, const char *text, uint32_t ledger)
{
    pthread_mutex_lock(&p->lock);
    if (!text)
        p->gap_ms = 0;
    else if (!p->gap_ms)
        p->gap_ms = tide_now_ms();
    if (text)
        snprintf(p->gap, sizeof p->gap, "%s", text);
    p->behind_gap = text ? ledger : 0;
    pthread_mutex_unlock(&p->lock);
}

bool prefetch_is_forbidden(struct prefetch *p)
{
    pthread_mutex_lock(&p->lock);
    const struct slot *s = slot_of(p, p->base);
    bool yes = s->state == REPORTED && s->forbidden;
    pthread_mutex_unlock(&p->lock);
    return yes;
}

uint32_t prefetch_behind_gap(struct prefetch *p)
{
    pthread_mutex_lock(&p->lock);
    uint32_t ledger = p->behind_gap;
    pthread_mutex_unlock(&p->lock);
    return ledger;
}

int64_t prefetch_trouble(struct prefetch *p, char *text, size_t size)
{
    pthread_mutex_lock(&p->lock);
    int64_t from = p->trouble_ms ? p->trouble_ms : p->gap_ms;
    snprintf(text, size, "%s", p->trouble_ms ? p->trouble : from ? p->gap : "");
    pthread_mutex_unlock(&p->lock);
    return from ? tide_now_ms() - from + 1 : 0;
}

/* Gets an object, with retries and waits for room. */
static tide_status fetch_object(struct fetch *f, uint32_t ledger, struct tide_err *err)
{
    struct object_fault fault;
    uint64_t began = tide_monotonic_us();
    for (uint32_t n = 0;; n++) {
        tide_status status = attempt_object(f, ledger, &fault, err);
        f->took_us = n == 0 && status == TIDE_OK ? tide_monotonic_us() - began : 0;
        while (fault.no_room) {
            if (!wait_for_room(f))
                return tide_fail(err, TIDE_E_STOPPED, "not wanted any more");
            status = attempt_object(f, ledger, &fault, err);
        }
        prefetch_note(f->owner, status, err);
        if (status != TIDE_E_IO || !fault.again)
            return status;
        if (n + 1 >= f->owner->options.config->http_tries)
            return tide_fail_context(err, "given up after %u tries", n + 1);
        uint32_t ms = pause_ms(f, n, fault.after_ms);
        char quoted[512];
        tide_log(TIDE_WARN, "lake.retry", "try=%u pause_ms=%u error=%s", n + 1, ms,
                 tide_log_quote(quoted, sizeof quoted, err->text));
        if (!pause_for(f, ms))
            return tide_fail(err, TIDE_E_STOPPED, "not wanted any more");
    }
}

/* Puts the result into the object's slot. Call with the lock. */
static void deliver_object(struct fetch *f, tide_status status, const struct tide_err *err)
{
    struct prefetch *p = f->owner;
    if (is_stale(f)) {
        drop_bytes(f);
        return;
    }
    struct slot *s = slot_of(p, f->object);
    assert(s->state == BUSY);
    if (status) {
        drop_bytes(f);
        s->state = FAILED;
        s->err = *err;
        s->forbidden = status == TIDE_E_MISSING && f->forbidden;
        if (status == TIDE_E_MISSING)
            p->ahead = 1;
    } else {
        s->state = READY;
        s->bytes = f->sink.bytes;
        s->counted = f->counted;
        s->extension = p->extension = f->extension;
        if (f->took_us)
            add_sample(&p->fetch_us, f->took_us);
        f->counted = 0;
        tide_buf_init(&f->sink.bytes, OBJECT_BYTES_MAX);
    }
    pthread_cond_broadcast(&p->done);
}

/* Assigns the oldest object that no thread fetches. Returns false if there is none, or enough
 * threads fetch. Call with the lock. */
static bool claim_object(struct prefetch *p, struct fetch *f)
{
    /* No object behind a failed one is fetched. prefetch_take empties a failed slot, so that it is
     * tried again. */
    for (uint64_t object = p->base; object < p->base + p->ahead && object < p->count; object++) {
        struct slot *s = slot_of(p, object);
        if (s->state == FAILED || s->state == REPORTED)
            return false;
        if (s->state != EMPTY)
            continue;
        /* Any worker may fetch the object that the reader waits for: the workers within `ahead` may
         * be busy with later objects, or wait for room that only this object makes. */
        bool idles = p->adapts && f->client >= p->ahead;
        if (object != p->base && (idles || p->held >= p->bytes_max / 2))
            return false;
        assert(f->counted == 0 && f->sink.bytes.len == 0); /* the last one was delivered */
        s->state = BUSY;
        f->object = object;
        f->generation = p->generation;
        f->extension = p->extension;
        return true;
    }
    return false;
}

static void *run_worker(void *self)
{
    struct worker *w = self;
    struct prefetch *p = w->owner;
    struct fetch f = { .owner = p, .client = w->client };
    f.sink = (struct object_sink){ .room = fetch_room, .cancelled = fetch_cancelled, .self = &f };
    tide_buf_init(&f.sink.bytes, OBJECT_BYTES_MAX);
    tide_retry_init(&f.retry, tide_now_ms(), w->client);
    pthread_mutex_lock(&p->lock);
    while (!p->closing) {
        if (!claim_object(p, &f)) {
            pthread_cond_wait(&p->work, &p->lock);
            continue;
        }
        assert(p->start + f.object * p->layout->batch <= UINT32_MAX);
        uint32_t ledger = (uint32_t)(p->start + f.object * p->layout->batch);
        pthread_mutex_unlock(&p->lock);
        struct tide_err err = { 0 };
        tide_status status = fetch_object(&f, ledger, &err);
        pthread_mutex_lock(&p->lock);
        deliver_object(&f, status, &err);
    }
    pthread_mutex_unlock(&p->lock);
    tide_buf_release(&f.sink.bytes);
    return NULL;
}

/* Starts threads as they are needed. If one cannot be started, the others do its work. */
static void start_workers(struct prefetch *p)
{
    /* A folder answers without latency: two threads keep the disk busy. */
    pthread_mutex_lock(&p->lock);
    uint32_t wanted = p->adapts || p->ahead < 2 ? p->ahead : 2;
    pthread_mutex_unlock(&p->lock);
    assert(wanted < TIDE_OBJECT_CLIENTS_MAX); /* the last client is the source's own */
    for (; p->worker_count < wanted; p->worker_count++) {
        struct worker *w = &p->workers[p->worker_count];
        *w = (struct worker){ .owner = p, .client = p->worker_count };
        if (pthread_create(&w->thread, NULL, run_worker, w) != 0)
            return;
    }
}

/* --- the reader's side ------------------------------------------------------------------- */

static void empty_slot(struct prefetch *p, struct slot *s)
{
    assert(p->held >= s->counted);
    p->held -= s->counted;
    s->counted = 0;
    s->state = EMPTY;
    tide_buf_release(&s->bytes);
    tide_buf_init(&s->bytes, OBJECT_BYTES_MAX);
}

void prefetch_seek(struct prefetch *p, uint32_t first, uint32_t last)
{
    assert(p->layout->batch > 0);
    pthread_mutex_lock(&p->lock);
    p->generation++;
    for (uint32_t i = 0; i < p->slot_count; i++)
        empty_slot(p, &p->slots[i]);
    p->start = lake_layout_start(p->layout, first);
    uint32_t end = lake_layout_start(p->layout, last ? last : UINT32_MAX);
    p->count = end < p->start ? 0 : (uint64_t)(end - p->start) / p->layout->batch + 1;
    p->base = 0;
    p->patience_ms = last ? 0 : p->options.patience_ms;
    p->given_us = 0;
    p->ahead = ahead_wanted(p);
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    start_workers(p);
}

/* Waits up to 100 ms for a change. Returns false if the caller wants to stop. Call with the
 * lock. */
static bool wait_done(struct prefetch *p)
{
    struct timespec until = tide_monotonic_in(100);
    pthread_cond_timedwait(&p->done, &p->lock, &until);
    return !p->options.stopping || !p->options.stopping(p->options.stopping_self);
}

tide_status prefetch_take(struct prefetch *p, tide_slice *bytes, char *key, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    int64_t asked_ms = tide_now_ms();
    pthread_mutex_lock(&p->lock);
    struct slot *s = slot_of(p, p->base);
    uint32_t ledger = (uint32_t)(p->start + p->base * p->layout->batch);
    /* The error was returned before: try the object again. */
    if (s->state == REPORTED) {
        empty_slot(p, s);
        pthread_cond_broadcast(&p->work);
    }
    while (!status && p->base < p->count && (s->state == EMPTY || s->state == BUSY))
        if (!wait_done(p))
            status = tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        else if (p->patience_ms && tide_now_ms() - asked_ms >= p->patience_ms)
            status = tide_fail(err, TIDE_E_IO, "%s: ledger %u does not come%s%s", p->store->name,
                               ledger, p->trouble_ms ? ": " : "", p->trouble_ms ? p->trouble : "");
    lake_layout_key(key, p->layout, ledger, s->state == READY ? s->extension : p->extension);
    if (p->base >= p->count) {
        status = tide_fail(err, TIDE_E_EOF, "the last object wanted is read");
    } else if (!status && s->state == FAILED) {
        *err = s->err;
        status = s->err.code;
        s->state = REPORTED;
    } else if (!status) {
        assert(s->state == READY);
        *bytes = tide_buf_view(&s->bytes);
        p->given_us = tide_monotonic_us();
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

void prefetch_done(struct prefetch *p)
{
    pthread_mutex_lock(&p->lock);
    struct slot *s = slot_of(p, p->base);
    assert(s->state == READY);
    assert(p->base < p->count);
    empty_slot(p, s);
    p->base++;
    if (p->given_us)
        add_sample(&p->read_us, tide_monotonic_us() - p->given_us);
    p->given_us = 0;
    uint32_t wanted = ahead_wanted(p);
    p->ahead = 2 * p->ahead < wanted ? 2 * p->ahead : wanted;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    start_workers(p);
}

/* --- life -------------------------------------------------------------------------------- */

static tide_status init_locks(struct prefetch *p)
{
    bool good = pthread_mutex_init(&p->lock, NULL) == 0 && tide_cond_init(&p->work) &&
                tide_cond_init(&p->done);
    return good ? TIDE_OK : TIDE_E_MEMORY;
}

void prefetch_close(struct prefetch *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 0; i < p->worker_count; i++)
        pthread_join(p->workers[i].thread, NULL);
    for (uint32_t i = 0; i < p->slot_count; i++)
        tide_buf_release(&p->slots[i].bytes);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

tide_status prefetch_open(struct prefetch **out, const struct object_store *store,
                          const struct lake_layout *layout,
                          const struct tide_source_options *options, struct tide_err *err)
{
    uint32_t slots = OBJECTS_AHEAD;
    struct prefetch *p = calloc(1, sizeof *p + slots * sizeof p->slots[0]);
    if (!p || init_locks(p)) {
        free(p);
        return tide_fail(err, TIDE_E_MEMORY, "prefetch of %u objects: out of memory", slots);
    }
    p->store = store;
    p->layout = layout;
    p->options = *options;
    p->bytes_max = (size_t)options->config->batch_mib << 20;
    p->slot_count = slots;
    for (uint32_t i = 0; i < slots; i++)
        tide_buf_init(&p->slots[i].bytes, OBJECT_BYTES_MAX);
    p->adapts = !store->ops->list;
    p->ahead = 1; /* one thread; prefetch_seek starts the others */
    start_workers(p);
    if (p->worker_count == 0) {
        prefetch_close(p);
        return tide_fail(err, TIDE_E_MEMORY, "prefetch: cannot start a thread");
    }
    *out = p;
    return TIDE_OK;
}
