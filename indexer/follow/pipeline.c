/* The thread that reads ledgers from the source, gives them to the decoders and collects their rows
 * in batches. */
#include "indexer/follow/pipeline.h"
#include "indexer/decode/pool.h"
#include "indexer/follow/queue.h"
#include "tidemark/clock.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"
#include "tidemark/meta.h"
#include "tidemark/text.h"

#include <stdatomic.h>

enum {
    TIP_WAIT_MS = 300,      /* a source that takes this long for a ledger has no backlog */
    TIP_LEFT_LEDGERS = 4,   /* this many ledgers in a row without such a wait: there is a backlog */
    SETTLED_WAIT_MS = 2000, /* a source without `newest` that blocks for this long is at its tip */
    LOG_MS = 30000,         /* pause between two log lines with the same reason */
    CHUNK_WAIT_MS = 20,     /* ledgers of a source that takes longer are decoded one by one */
};

/* Marks for tide_decode_pool_flush. MARK_CUT: a batch ends behind the rows. MARK_TIP: the same, and
 * the ledger is the tip. */
enum mark { MARK_CUT = 1, MARK_TIP };

struct tide_pipeline {
    struct tide_pipeline_options options;
    struct tide_decode_pool *decode;
    struct tide_item *items;
    uint32_t item_count;
    struct tide_queue free, full;
    pthread_t thread;
    bool started;
    atomic_bool closing, finished; /* finished: the last item was handed over */
    /* The pipeline's thread holds it, except while it waits in the source: what is below and the
     * decoders are then the caller's, who takes the rows of a batch whose time is over. */
    pthread_mutex_t lock;
    struct tide_item *filling; /* NULL: none, or the caller has it */
    int64_t since_ms;          /* since then the item has rows */
    bool reading;              /* the thread is in the source */
    /* Used by the pipeline's thread only. */
    tide_status ended; /* why the source gives no further ledger; TIDE_OK: it may */
    struct tide_err ended_err;
    bool at_tip; /* each ledger is a batch of its own */
    /* The source said that it has nothing, and no backlog has grown since. A source that is merely
     * slower than the decoders has ledgers left and never says so. */
    bool settled;
    bool reported_tip; /* the last item had `tip` set */
    uint32_t quick;    /* ledgers in a row without a wait */
    struct {
        char text[TIDE_ERR_TEXT_MAX];
        int64_t at_ms;
    } told; /* the last log line about a read that is repeated */
};

static bool is_stopping(const struct tide_pipeline *p)
{
    return atomic_load(&p->closing) ||
           (p->options.stopped && p->options.stopped(p->options.stopped_self));
}

/* Sleeps, in slices that notice a stop. */
static void sleep_unless_stopping(struct tide_pipeline *p, uint32_t ms)
{
    while (ms && !is_stopping(p)) {
        uint32_t slice = ms < 50 ? ms : 50;
        tide_sleep_ms(slice);
        ms -= slice;
    }
}

/* Resets a batch for its next use. Buffers keep their capacity, but the mix of tables changes over
 * a chain, so buffers of more than 5/4 of the limit are freed. Capacities double, so that happens
 * often. Freeing at twice the limit instead would save 2 % of the indexer's CPU and take half as
 * much memory again. */
static void reset_batch(struct tide_pipeline *p, struct tide_batch *batch)
{
    size_t kept = 0;
    for (size_t i = 0; i < TIDE_TABLES_MAX; i++)
        kept += batch->rows[i].copy.cap;
    if (kept > p->options.batch_bytes + p->options.batch_bytes / 4) {
        tide_batch_release(batch);
        tide_batch_init(batch);
    }
    tide_batch_reset(batch);
}

static bool ends_partition(const struct tide_pipeline *p, uint32_t sequence)
{
    return (sequence + 1) % p->options.partition_ledgers == 0 || sequence + 1 == p->options.cut;
}

static bool has_waited(const struct tide_pipeline *p)
{
    return tide_now_ms() - p->since_ms >= p->options.batch_ms;
}

/* Returns whether the batch ends here: by bytes, ledgers, partition, last ledger or time. */
static bool is_full(const struct tide_pipeline *p, const struct tide_batch *batch)
{
    if (batch->to == 0)
        return false;
    if (batch->bytes >= p->options.batch_bytes)
        return true;
    if (batch->to - batch->from + 1 >= p->options.batch_ledgers)
        return true;
    if (ends_partition(p, batch->to) || batch->to == p->options.to)
        return true;
    return has_waited(p);
}

static void end_item(struct tide_item *item, tide_status status)
{
    item->last = true;
    item->status = status;
}

/* ---- ledgers into the decoders ---- */

/* Updates at_tip. `waited` is the milliseconds that the source took. Returns true if the ledger is
 * the tip as far as the source knows. */
static bool note_tip(struct tide_pipeline *p, int64_t waited)
{
    const struct tide_source *source = &p->options.source;
    p->quick = waited < TIP_WAIT_MS ? p->quick + 1 : 0;
    p->at_tip = waited >= TIP_WAIT_MS || (p->at_tip && p->quick < TIP_LEFT_LEDGERS);
    if (!source->ops->newest)
        return waited >= SETTLED_WAIT_MS;
    p->at_tip = source->ops->newest(source->self);
    p->settled = p->settled && p->at_tip;
    return p->settled;
}

/* Asks the source, which may hang. Meanwhile the caller may take the item (take_waiting). */
static tide_status ask_source(struct tide_pipeline *p, tide_slice *lcm, uint32_t *sequence,
                              struct tide_err *err)
{
    const struct tide_source *source = &p->options.source;
    p->reading = true;
    pthread_mutex_unlock(&p->lock);
    tide_status status = source->ops->next(source->self, lcm, sequence, err);
    pthread_mutex_lock(&p->lock);
    p->reading = false;
    return status;
}

/* Copies the source's next ledger into the decoders. */
static tide_status next_ledger(struct tide_pipeline *p, uint32_t *sequence, struct tide_err *err)
{
    assert(p->options.source.ops->next);
    const struct tide_source *source = &p->options.source;
    struct ledger_peek peek;
    tide_slice lcm;
    tide_status status = ask_source(p, &lcm, sequence, err);
    if (status == TIDE_OK && TIDE_FAILPOINT("ledger.fetched"))
        status = tide_fail(err, TIDE_E_IO, "failpoint");
    if (status != TIDE_OK)
        return status;
    const uint8_t *hash = ledger_peek(&peek, lcm) == TIDE_OK ? peek.hash : NULL;
    status = tide_decode_pool_add(p->decode, lcm, *sequence, hash, err);
    if (source->ops->done)
        source->ops->done(source->self);
    return status;
}

/* Returns whether a batch may have to end behind this ledger: no chunk may then cross it. */
static bool ends_batch(const struct tide_pipeline *p, uint32_t sequence)
{
    return ends_partition(p, sequence) || sequence == p->options.to ||
           p->options.batch_ledgers < TIDE_DECODE_CHUNK_LEDGERS;
}

static void read_ledger(struct tide_pipeline *p)
{
    uint32_t sequence = 0;
    int64_t asked = tide_now_ms();
    p->ended = next_ledger(p, &sequence, &p->ended_err);
    if (p->ended != TIDE_OK) {
        tide_decode_pool_flush(p->decode, 0);
        return;
    }
    int64_t waited = tide_now_ms() - asked;
    bool tip = note_tip(p, waited);
    if (p->at_tip)
        tide_decode_pool_flush(p->decode, tip ? MARK_TIP : MARK_CUT);
    else if (ends_batch(p, sequence) || waited >= CHUNK_WAIT_MS)
        tide_decode_pool_flush(p->decode, 0);
}

/* Returns whether to read the next ledger. At the tip, a source may wait for long, so the last
 * ledger is decoded first: otherwise a bad ledger would be noticed only with the next one. */
static bool may_read(const struct tide_pipeline *p)
{
    if (p->ended != TIDE_OK || (p->at_tip && tide_decode_pool_is_busy(p->decode)))
        return false;
    return tide_decode_pool_has_room(p->decode);
}

/* Returns whether the read is repeated: a remote source failed, and the job has no end. There is no
 * limit, because the database keeps all that was committed. */
static bool may_retry(const struct tide_pipeline *p, tide_status status)
{
    return status == TIDE_E_IO && !p->options.stop_at_end && p->options.source.ops->trouble;
}

static void log_retry(struct tide_pipeline *p, const char *reason)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    int64_t now = tide_now_ms();
    if (strcmp(p->told.text, reason) == 0 && now - p->told.at_ms < LOG_MS)
        return;
    snprintf(p->told.text, sizeof p->told.text, "%s", reason);
    p->told.at_ms = now;
    tide_log(TIDE_WARN, "source.retry", "reason=%s", tide_log_quote(quoted, sizeof quoted, reason));
}

/* Logs, sleeps, and returns whether to go on: a batch with rows is handed over first. */
static bool pause_before_retry(struct tide_pipeline *p, struct tide_item *item)
{
    log_retry(p, item->err.text);
    sleep_unless_stopping(p, p->options.poll_ms);
    return item->batch.to == 0;
}

/* Handles the end of reading, when all ledgers read are in batches. Returns false if the item must
 * be handed over. */
static bool end_reading(struct tide_pipeline *p, struct tide_item *item)
{
    const struct tide_source *source = &p->options.source;
    tide_status status = p->ended;
    p->ended = TIDE_OK;
    item->err = p->ended_err;
    if (may_retry(p, status))
        return pause_before_retry(p, item);
    if (status != TIDE_E_EOF) {
        end_item(item, status);
        return false;
    }
    bool final = p->options.stop_at_end || source->ops->finite(source->self);
    item->tip = p->at_tip = p->settled = true;
    p->quick = 0;
    if (final)
        end_item(item, TIDE_OK);
    if (final || item->batch.to || !p->reported_tip)
        return false;
    if (!source->ops->newest)
        sleep_unless_stopping(p, p->options.poll_ms);
    return true;
}

/* ---- rows out of them ---- */

static bool fits_batch(const struct tide_pipeline *p, const struct tide_batch *batch,
                       const struct tide_decoded *more)
{
    return batch->to == 0 ||
           (batch->bytes + more->bytes <= p->options.batch_bytes &&
            batch->to - batch->from + 1 + more->ledgers <= p->options.batch_ledgers);
}

/* Appends the rows of the oldest chunk to the item. Returns false if the item must be handed
 * over. */
static bool take_rows(struct tide_pipeline *p, struct tide_item *item)
{
    struct tide_decoded decoded;
    uint32_t failed = 0;
    tide_decode_pool_wait(p->decode, &decoded);
    if (!fits_batch(p, &item->batch, &decoded))
        return false;
    tide_status status = tide_decode_pool_take(p->decode, &item->batch, &failed, &item->err);
    if (status == TIDE_OK) {
        item->tip = decoded.mark == MARK_TIP;
        return decoded.mark == 0;
    }
    /* Ledgers behind the bad one were dropped, and so was the source's status. */
    p->ended = TIDE_OK;
    if (tide_source_refetch(&p->options.source, failed, &item->err))
        return true;
    end_item(item, status);
    return false;
}

/* Does one step: takes rows, reads a ledger, or handles the end. Returns false if the item must be
 * handed over. */
static bool advance_item(struct tide_pipeline *p, struct tide_item *item)
{
    struct tide_decoded ignored;
    if (tide_decode_pool_ready(p->decode, &ignored))
        return take_rows(p, item);
    if (may_read(p)) {
        read_ledger(p);
        return true;
    }
    if (!tide_decode_pool_is_busy(p->decode))
        return end_reading(p, item);
    tide_decode_pool_flush(p->decode, 0);
    return take_rows(p, item);
}

/* Makes the item ready for the caller. */
static void close_item(struct tide_pipeline *p, struct tide_item *item)
{
    p->reported_tip = item->tip;
    if (item->batch.to && item->batch.to == p->options.to)
        end_item(item, TIDE_OK);
    tide_decode_pool_batch_end(p->decode, &item->batch);
    atomic_store(&p->finished, item->last);
    p->filling = NULL;
}

/* Fills an item until its batch ends. The time limit counts from the batch's first rows. Returns
 * false if the caller took the item while the source hung. */
static bool fill_item(struct tide_pipeline *p, struct tide_item *item)
{
    item->tip = item->last = false;
    item->status = TIDE_OK;
    pthread_mutex_lock(&p->lock);
    p->filling = item;
    p->since_ms = tide_now_ms();
    while (!is_stopping(p)) {
        bool more = advance_item(p, item);
        if (!p->filling || !more || is_full(p, &item->batch))
            break;
        if (item->batch.to == 0)
            p->since_ms = tide_now_ms();
    }
    bool mine = p->filling != NULL;
    if (mine)
        close_item(p, item);
    pthread_mutex_unlock(&p->lock);
    return mine;
}

static void *run_pipeline(void *self)
{
    struct tide_pipeline *p = self;
    while (!atomic_load(&p->finished) && !is_stopping(p)) {
        struct tide_item *item = tide_queue_take(&p->free, -1);
        if (!item)
            break;
        if (fill_item(p, item) && !tide_queue_put(&p->full, item))
            break;
    }
    return NULL;
}

/* ---- the caller ---- */

/* Ends the item with the rows of all ledgers that were read. What failed stays in the decoders for
 * the pipeline's thread, which may ask the source for another copy. */
static struct tide_item *end_waiting(struct tide_pipeline *p)
{
    struct tide_item *item = p->filling;
    struct tide_decoded decoded;
    uint32_t failed;
    tide_status status = TIDE_OK;
    tide_decode_pool_flush(p->decode, 0);
    while (status == TIDE_OK && tide_decode_pool_is_busy(p->decode)) {
        tide_decode_pool_wait(p->decode, &decoded);
        if (decoded.failed || decoded.mark || !fits_batch(p, &item->batch, &decoded))
            break;
        status = tide_decode_pool_take(p->decode, &item->batch, &failed, &item->err);
    }
    if (status != TIDE_OK)
        end_item(item, status);
    else if (!item->batch.to)
        return NULL;
    close_item(p, item);
    return item;
}

/* Takes the item that is being filled, if its time is over and the source hangs. */
static struct tide_item *take_waiting(struct tide_pipeline *p)
{
    struct tide_item *item = NULL;
    if (pthread_mutex_trylock(&p->lock) != 0)
        return NULL; /* the thread is at work */
    if (p->reading && p->filling && has_waited(p)) {
        item = tide_queue_take(&p->full, 0); /* an older one first */
        item = item ? item : end_waiting(p);
    }
    pthread_mutex_unlock(&p->lock);
    return item;
}

static tide_status open_items(struct tide_pipeline *p, struct tide_err *err)
{
    p->item_count = p->options.queue_batches + 1;
    assert(p->item_count <= TIDE_QUEUE_MAX);
    p->items = calloc(p->item_count, sizeof *p->items);
    if (!p->items)
        return tide_fail(err, TIDE_E_MEMORY, "pipeline");
    for (uint32_t i = 0; i < p->item_count; i++) {
        tide_batch_init(&p->items[i].batch);
        tide_queue_put(&p->free, &p->items[i]);
    }
    return TIDE_OK;
}

tide_status tide_pipeline_open(struct tide_pipeline **out,
                               const struct tide_pipeline_options *options, struct tide_err *err)
{
    assert(options->source.ops);
    assert(options->partition_ledgers > 0 && options->batch_ledgers > 0);
    struct tide_pipeline *p = calloc(1, sizeof *p);
    if (!p)
        return tide_fail(err, TIDE_E_MEMORY, "pipeline");
    p->options = *options;
    tide_queue_init(&p->free);
    tide_queue_init(&p->full);
    pthread_mutex_init(&p->lock, NULL);
    tide_status status = open_items(p, err);
    if (status == TIDE_OK)
        status = tide_decode_pool_open(&p->decode, &options->decode, options->decode_threads, err);
    if (status == TIDE_OK) {
        tide_decode_pool_expect(p->decode, options->from, options->previous_hash);
        p->started = pthread_create(&p->thread, NULL, run_pipeline, p) == 0;
        if (!p->started)
            status = tide_fail(err, TIDE_E_MEMORY, "pipeline: no thread");
    }
    if (status != TIDE_OK) {
        tide_pipeline_close(p);
        return status;
    }
    *out = p;
    return TIDE_OK;
}

void tide_pipeline_close(struct tide_pipeline *p)
{
    if (!p)
        return;
    atomic_store(&p->closing, true);
    tide_queue_close(&p->free);
    tide_queue_close(&p->full);
    if (p->started)
        pthread_join(p->thread, NULL);
    tide_decode_pool_close(p->decode);
    for (uint32_t i = 0; p->items && i < p->item_count; i++)
        tide_batch_release(&p->items[i].batch);
    free(p->items);
    tide_queue_release(&p->free);
    tide_queue_release(&p->full);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

struct tide_item *tide_pipeline_take(struct tide_pipeline *p, int64_t timeout_ms)
{
    struct tide_item *item = tide_queue_take(&p->full, timeout_ms);
    return item ? item : take_waiting(p);
}

void tide_pipeline_give(struct tide_pipeline *p, struct tide_item *item)
{
    assert(item >= p->items && item < p->items + p->item_count);
    reset_batch(p, &item->batch);
    tide_queue_put(&p->free, item);
}
