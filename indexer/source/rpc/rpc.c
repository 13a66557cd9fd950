/* Ledgers from Stellar RPC. A thread fetches a page while the previous one is decoded. At the tip
 * it asks for the next ledger at about the time when it is due. */
#include "indexer/source/rpc/fleet.h"
#include "indexer/source/rpc/pace.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"

#include <errno.h>

enum {
    SLOTS = 2,
    TIP_WAIT_MS = 250,
    LOOK_MS = 50,
    HELD_MOST = 4, /* attempts at a page that no other server has, before next fails */
};

struct slot {
    bool ready;
    struct tide_buf body;
    struct tide_rpc_page page; /* borrows from body */
};

struct rpc_source {
    struct tide_source_options options;
    struct rpc_fleet *fleet;
    pthread_t thread;
    bool started;
    /* Members of the reading thread: */
    uint32_t given;   /* last ledger that next returned, 0 after a seek */
    uint32_t reading; /* ledgers of the oldest slot that were returned */
    bool reported_tip;

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t work;  /* the fetching thread may have something to do */
    pthread_cond_t done;  /* the reader may have something to do */
    bool closing, sought;
    uint32_t generation; /* number of seeks */
    struct rpc_want want;
    uint32_t oldest_slot; /* the slot that is read, or is read next */
    uint32_t fresh_slot;  /* the slot that is filled next */
    bool at_tip;          /* the wanted ledger is not there yet */
    uint32_t newest;      /* newest ledger of the network when the last page came */
    tide_status ended;    /* the fetching thread has ended, with this status; err has the reason */
    struct tide_err err;
    struct rpc_pace pace;
    struct slot slots[SLOTS];
};

/* --- the fetching thread ------------------------------------------------------------------ */

static bool is_unwanted(void *self)
{
    struct rpc_source *s = self;
    pthread_mutex_lock(&s->lock);
    bool yes = s->closing;
    pthread_mutex_unlock(&s->lock);
    return yes || (s->options.stopping && s->options.stopping(s->options.stopping_self));
}

/* Waits ms, or until a seek or the close. Call with the lock. */
static void pause_for(struct rpc_source *s, int64_t ms)
{
    uint32_t generation = s->generation;
    struct timespec until = tide_monotonic_in(ms);
    int waited = 0;
    while (!s->closing && s->generation == generation && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&s->work, &s->lock, &until);
}

static bool has_work(const struct rpc_source *s)
{
    bool done = s->want.last && s->want.first > s->want.last;
    return s->sought && !done && !s->ended && !s->slots[s->fresh_slot].ready;
}

/* Notes the outcome of a request, and pauses if it says so. Call with the lock. */
static void note_outcome(struct rpc_source *s, enum rpc_outcome outcome, uint32_t pause_ms,
                         const struct tide_err *err)
{
    const struct tide_clock *clock = tide_clock_system();
    struct slot *slot = &s->slots[s->fresh_slot];
    uint32_t oldest = 0;
    switch (outcome) {
    case RPC_PAGE:
        rpc_fleet_range(s->fleet, &oldest, &s->newest);
        slot->ready = true;
        s->at_tip = false;
        s->want.first += slot->page.count;
        s->fresh_slot = (s->fresh_slot + 1) % SLOTS;
        if (s->want.first > s->newest)
            rpc_pace_hit(&s->pace, clock->now_ms(clock->self), slot->page.count);
        else /* not at the tip: the times at which ledgers came are unknown */
            rpc_pace_forget(&s->pace);
        break;
    case RPC_TIP:
        s->at_tip = true;
        rpc_pace_miss(&s->pace, clock->now_ms(clock->self));
        break;
    case RPC_HELD:
        rpc_pace_miss(&s->pace, clock->now_ms(clock->self));
        /* the reader then commits the ledgers before; a source that ends waits for the page */
        s->at_tip = s->at_tip || (!s->want.give_up && s->pace.misses > HELD_MOST);
        break;
    case RPC_PAUSE:
        break;
    case RPC_GONE:
    case RPC_END:
        s->ended = err->code;
        s->err = *err;
        break;
    }
    pthread_cond_broadcast(&s->done);
    if (outcome == RPC_TIP || outcome == RPC_HELD)
        pause_for(s, rpc_pace_wait(&s->pace, clock->now_ms(clock->self)));
    else if (outcome == RPC_PAUSE)
        pause_for(s, pause_ms);
}

/* At the tip, waits until the next ledger is due. Returns false after a seek or at the close. Call
 * with the lock. */
static bool await_due(struct rpc_source *s)
{
    const struct tide_clock *clock = tide_clock_system();
    uint32_t generation = s->generation;
    if (s->newest && s->want.first > s->newest && s->pace.misses == 0 && s->pace.begun)
        pause_for(s, rpc_pace_wait(&s->pace, clock->now_ms(clock->self)));
    return !s->closing && s->generation == generation;
}

static void *fetch_pages(void *self)
{
    struct rpc_source *s = self;
    pthread_mutex_lock(&s->lock);
    while (!s->closing) {
        if (!has_work(s)) {
            pthread_cond_wait(&s->work, &s->lock);
            continue;
        }
        if (!await_due(s))
            continue;
        struct slot *slot = &s->slots[s->fresh_slot];
        struct rpc_want want = s->want;
        struct tide_err err = { 0 };
        uint32_t generation = s->generation, pause_ms = 0;
        pthread_mutex_unlock(&s->lock);
        enum rpc_outcome outcome =
            rpc_fleet_fetch(s->fleet, &want, &slot->body, &slot->page, &pause_ms, &err);
        pthread_mutex_lock(&s->lock);
        if (s->generation == generation)
            note_outcome(s, outcome, pause_ms, &err);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* --- the reader --------------------------------------------------------------------------- */

static tide_status rpc_range(void *self, uint32_t *first, uint32_t *last, struct tide_err *err)
{
    struct rpc_source *s = self;
    (void)err;
    rpc_fleet_range(s->fleet, first, last);
    *last = *first ? rpc_fleet_newest(s->fleet) : 0;
    return TIDE_OK;
}

static tide_status rpc_seek(void *self, uint32_t first, uint32_t last, struct tide_err *err)
{
    struct rpc_source *s = self;
    uint32_t oldest = 0, latest = 0;
    rpc_fleet_range(s->fleet, &oldest, &latest);
    if (first == 0 && oldest == 0)
        return tide_fail(err, TIDE_E_IO,
                         "rpc: no server tells its oldest ledger; say where to "
                         "begin (first_ledger)");
    pthread_mutex_lock(&s->lock);
    s->generation++;
    s->sought = true;
    s->ended = TIDE_OK;
    s->at_tip = false;
    s->newest = 0;
    s->want = (struct rpc_want){ .first = first ? first : oldest,
                                 .last = last,
                                 .give_up = last || s->options.config->stop_at_end };
    s->pace = (struct rpc_pace){ 0 };
    for (uint32_t i = 0; i < SLOTS; i++)
        s->slots[i].ready = false;
    /* the thread may still fill that slot with a page of before the seek, which is dropped */
    s->oldest_slot = s->fresh_slot;
    s->reading = s->given = 0;
    s->reported_tip = false;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    return TIDE_OK;
}

static tide_status fail_impatient(struct rpc_source *s, struct tide_err *err)
{
    char text[TIDE_ERR_TEXT_MAX];
    bool known = rpc_fleet_trouble(s->fleet, text, sizeof text) > 0;
    return tide_fail(err, TIDE_E_IO, "rpc: ledger %u does not come%s%s", s->want.first,
                     known ? ": " : "", text);
}

/* Waits for a ledger, the end, or the tip. At the tip the first call returns TIDE_E_EOF at once;
 * later calls wait up to TIP_WAIT_MS for the next ledger. Call with the lock. */
static tide_status await_slot(struct rpc_source *s, struct tide_err *err)
{
    int64_t waited = 0, began_ms = tide_now_ms();
    uint32_t patience_ms = s->want.give_up ? 0 : s->options.patience_ms;
    while (!s->slots[s->oldest_slot].ready) {
        if (s->ended) {
            tide_status status = s->ended;
            *err = s->err;
            if (status == TIDE_E_IO && !s->want.give_up) { /* the thread goes on asking */
                s->ended = TIDE_OK;
                pthread_cond_broadcast(&s->work);
            }
            return status;
        }
        if (s->want.last && s->want.first > s->want.last)
            return tide_fail(err, TIDE_E_EOF, "ledger %u, the last one wanted, is read",
                             s->want.last);
        if (s->at_tip && (!s->reported_tip || waited >= TIP_WAIT_MS)) {
            s->reported_tip = true;
            return tide_fail(err, TIDE_E_EOF, "ledger %u is not there yet", s->want.first);
        }
        if (s->options.stopping && s->options.stopping(s->options.stopping_self))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        if (patience_ms && !s->at_tip && tide_now_ms() - began_ms >= patience_ms)
            return fail_impatient(s, err);
        struct timespec until = tide_monotonic_in(LOOK_MS);
        if (pthread_cond_timedwait(&s->done, &s->lock, &until) == ETIMEDOUT)
            waited += LOOK_MS;
    }
    return TIDE_OK;
}

static tide_status rpc_next(void *self, tide_slice *lcm, uint32_t *sequence, struct tide_err *err)
{
    struct rpc_source *s = self;
    pthread_mutex_lock(&s->lock);
    assert(s->sought);
    struct slot *slot = &s->slots[s->oldest_slot];
    if (slot->ready && s->reading == slot->page.count) {
        slot->ready = false;
        s->reading = 0;
        s->oldest_slot = (s->oldest_slot + 1) % SLOTS;
        slot = &s->slots[s->oldest_slot];
        pthread_cond_broadcast(&s->work);
    }
    tide_status status = await_slot(s, err);
    if (!status) {
        const struct tide_rpc_ledger *l = &slot->page.ledgers[s->reading++];
        *lcm = l->lcm;
        *sequence = s->given = l->sequence;
        s->reported_tip = s->reported_tip && l->sequence >= s->newest;
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* Asks another server for the ledger. */
static bool rpc_refetch(void *self, uint32_t ledger, struct tide_err *err)
{
    struct rpc_source *s = self;
    struct tide_err ignored;
    return rpc_fleet_doubt(s->fleet, ledger, err) &&
           rpc_seek(s, ledger, s->want.last, &ignored) == TIDE_OK;
}

static bool rpc_finite(void *self)
{
    const struct rpc_source *s = self;
    return s->want.last && s->given >= s->want.last;
}

static bool rpc_newest(void *self)
{
    struct rpc_source *s = self;
    pthread_mutex_lock(&s->lock);
    bool newest = s->given && s->given >= s->newest;
    pthread_mutex_unlock(&s->lock);
    return newest;
}

static int64_t rpc_trouble(void *self, char *text, size_t size)
{
    struct rpc_source *s = self;
    return rpc_fleet_trouble(s->fleet, text, size);
}

static void rpc_close(void *self)
{
    struct rpc_source *s = self;
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    if (s->started)
        pthread_join(s->thread, NULL);
    rpc_fleet_close(s->fleet);
    for (uint32_t i = 0; i < SLOTS; i++)
        tide_buf_release(&s->slots[i].body);
    pthread_cond_destroy(&s->done);
    pthread_cond_destroy(&s->work);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static const struct tide_source_ops rpc_ops = {
    .name = "rpc",
    .seek = rpc_seek,
    .next = rpc_next,
    .refetch = rpc_refetch,
    .range = rpc_range,
    .finite = rpc_finite,
    .newest = rpc_newest,
    .trouble = rpc_trouble,
    .close = rpc_close,
};

static bool init_locks(struct rpc_source *s)
{
    return pthread_mutex_init(&s->lock, NULL) == 0 && tide_cond_init(&s->work) &&
           tide_cond_init(&s->done);
}

tide_status tide_rpc_open(struct tide_source *out, const struct tide_source_options *options,
                          struct tide_err *err)
{
    struct rpc_source *s = calloc(1, sizeof *s);
    if (!s || !init_locks(s)) {
        free(s);
        return tide_fail(err, TIDE_E_MEMORY, "rpc: out of memory");
    }
    s->options = *options;
    for (uint32_t i = 0; i < SLOTS; i++)
        tide_buf_init(&s->slots[i].body, 0);
    const struct rpc_fleet_options fleet = { .source = &s->options,
                                             .cancelled = is_unwanted,
                                             .self = s };
    tide_status status = rpc_fleet_open(&s->fleet, &fleet, err);
    if (!status) {
        s->started = pthread_create(&s->thread, NULL, fetch_pages, s) == 0;
        if (!s->started)
            status = tide_fail(err, TIDE_E_MEMORY, "rpc: cannot start a thread");
    }
    if (status) {
        rpc_close(s);
        return status;
    }
    *out = (struct tide_source){ &rpc_ops, s };
    return TIDE_OK;
}
