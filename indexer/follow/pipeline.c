#include "indexer/follow/pipeline.h"
#include "indexer/decode/pool.h"
#include "indexer/follow/queue.h"
#include "indexer/source/ledger_peek.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <stdatomic.h>

enum {
    TIP_WAIT_MS = 300,      /* a source that makes us wait so long has no backlog */
    TIP_LEFT_LEDGERS = 4,   /* so many in a row without waiting: there is a backlog again */
    SETTLED_WAIT_MS = 2000, /* a source that blocks so long is at its tip */
    CHUNK_WAIT_MS = 20,     /* ledgers of a slower source are decoded one by one */
};

/* What a ledger's rows are followed by: see tide_decode_pool_flush. */
enum mark { MARK_CUT = 1, MARK_TIP };

struct tide_pipeline {
    struct tide_pipeline_options options;
    struct tide_decode_pool *decode;
    struct tide_item *items;
    uint32_t item_count;
    struct tide_queue free, full;
    pthread_t thread;
    bool started;
    atomic_bool closing;
    /* of the thread */
    tide_status
        ended; /* why reading goes no further behind what is being decoded; TIDE_OK: it does */
    struct tide_err ended_err;
    bool at_tip;  /* each ledger is handed over by itself */
    bool settled; /* the source said that nothing is there, and nothing has piled up since: a source
                      that is merely slower than we are has ledgers, and no tip */
    bool told_tip; /* the last item said tip */
    uint32_t quick;
};

static bool is_stopping(const struct tide_pipeline *p)
{
    return atomic_load(&p->closing) ||
           (p->options.stopped && p->options.stopped(p->options.stopped_self));
}

static void doze(struct tide_pipeline *p, uint32_t ms)
{
    const struct tide_clock *clock = p->options.clock;
    while (ms && !is_stopping(p)) {
        uint32_t slice = ms < 50 ? ms : 50;
        clock->sleep_ms(clock->self, slice);
        ms -= slice;
    }
}

/* Buffers keep their capacity, but the mix of tables changes over a chain: when what is kept
 * exceeds the limit by a quarter, it is given back. Capacities double, so that is often; at twice
 * the limit it is seldom, for 2 % less CPU here and half as much memory again. */
static void reuse(struct tide_pipeline *p, struct tide_batch *batch)
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

static bool is_full(const struct tide_pipeline *p, const struct tide_batch *batch, int64_t since_ms)
{
    const struct tide_clock *clock = p->options.clock;
    if (batch->to == 0)
        return false;
    if (batch->bytes >= p->options.batch_bytes)
        return true;
    if (batch->to - batch->from + 1 >= p->options.batch_ledgers)
        return true;
    if ((batch->to + 1) % p->options.partition_ledgers == 0 || batch->to == p->options.to)
        return true;
    return clock->now_ms(clock->self) - since_ms >= p->options.batch_ms;
}

static void end(struct tide_item *item, tide_status status)
{
    item->last = true;
    item->status = status;
}

/* ---- ledgers into the decoders ---- */

/* waited: the milliseconds that the source took. True if the ledger is the tip for now. */
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

static tide_status next_ledger(struct tide_pipeline *p, uint32_t *sequence, struct tide_err *err)
{
    const struct tide_source *source = &p->options.source;
    struct ledger_peek peek;
    tide_slice lcm;
    tide_status status = source->ops->next(source->self, &lcm, sequence, err);
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

/* A batch must be able to end behind this ledger. */
static bool ends_batch(const struct tide_pipeline *p, uint32_t sequence)
{
    return (sequence + 1) % p->options.partition_ledgers == 0 || sequence == p->options.to ||
           p->options.batch_ledgers < TIDE_DECODE_CHUNK_LEDGERS;
}

static void read_ledger(struct tide_pipeline *p)
{
    const struct tide_clock *clock = p->options.clock;
    uint32_t sequence = 0;
    int64_t asked = clock->now_ms(clock->self);
    p->ended = next_ledger(p, &sequence, &p->ended_err);
    if (p->ended != TIDE_OK) {
        tide_decode_pool_flush(p->decode, 0);
        return;
    }
    int64_t waited = clock->now_ms(clock->self) - asked;
    bool tip = note_tip(p, waited);
    if (p->at_tip)
        tide_decode_pool_flush(p->decode, tip ? MARK_TIP : MARK_CUT);
    else if (ends_batch(p, sequence) || waited >= CHUNK_WAIT_MS)
        tide_decode_pool_flush(p->decode, 0);
}

/* At the tip a source may wait for long: what it gave is decoded first, so that a bad ledger is
 * found while it is the last one. */
static bool may_read(const struct tide_pipeline *p)
{
    if (p->ended != TIDE_OK || (p->at_tip && tide_decode_pool_is_busy(p->decode)))
        return false;
    return tide_decode_pool_has_room(p->decode);
}

/* While following, retry without limit. Ledgers already in the batch are committed. */
static bool may_ask_again(const struct tide_pipeline *p, tide_status status)
{
    return status == TIDE_E_IO && !p->options.stop_at_end && p->options.source.ops->trouble;
}

static bool ask_again(struct tide_pipeline *p, struct tide_item *item)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    tide_log(TIDE_WARN, "source.retry", "reason=%s",
             tide_log_quote(quoted, sizeof quoted, item->err.text));
    doze(p, p->options.poll_ms);
    return item->batch.to == 0;
}

/* All that was read is in batches; the source has said why there is no more. False when the item is
 * to be handed over. */
static bool end_reading(struct tide_pipeline *p, struct tide_item *item)
{
    const struct tide_source *source = &p->options.source;
    tide_status status = p->ended;
    p->ended = TIDE_OK;
    item->err = p->ended_err;
    if (may_ask_again(p, status))
        return ask_again(p, item);
    if (status != TIDE_E_EOF) {
        end(item, status);
        return false;
    }
    bool final = p->options.stop_at_end || source->ops->finite(source->self);
    item->tip = p->at_tip = p->settled = true;
    p->quick = 0;
    if (final)
        end(item, TIDE_OK);
    if (final || item->batch.to || !p->told_tip)
        return false;
    if (!source->ops->newest)
        doze(p, p->options.poll_ms);
    return true;
}

/* ---- rows out of them ---- */

static bool fits(const struct tide_pipeline *p, const struct tide_batch *batch,
                 const struct tide_decoded *more)
{
    return batch->to == 0 ||
           (batch->bytes + more->bytes <= p->options.batch_bytes &&
            batch->to - batch->from + 1 + more->ledgers <= p->options.batch_ledgers);
}

/* Rows of the oldest chunk into the item. False when the item is to be handed over. */
static bool take_rows(struct tide_pipeline *p, struct tide_item *item)
{
    struct tide_decoded decoded;
    uint32_t failed = 0;
    tide_decode_pool_wait(p->decode, &decoded);
    if (!fits(p, &item->batch, &decoded))
        return false;
    tide_status status = tide_decode_pool_take(p->decode, &item->batch, &failed, &item->err);
    if (status == TIDE_OK) {
        item->tip = decoded.mark == MARK_TIP;
        return decoded.mark == 0;
    }
    p->ended = TIDE_OK; /* what was read behind the bad ledger does not count */
    if (tide_source_refetch(&p->options.source, failed, &item->err))
        return true;
    end(item, status);
    return false;
}

/* False when the item is to be handed over. */
static bool step(struct tide_pipeline *p, struct tide_item *item)
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

static void fill(struct tide_pipeline *p, struct tide_item *item)
{
    const struct tide_clock *clock = p->options.clock;
    int64_t since = clock->now_ms(clock->self);
    item->tip = item->last = false;
    item->status = TIDE_OK;
    while (!is_stopping(p)) {
        if (!step(p, item) || is_full(p, &item->batch, since))
            break;
        if (item->batch.to == 0)
            since = clock->now_ms(clock->self);
    }
    p->told_tip = item->tip;
    if (item->batch.to && item->batch.to == p->options.to)
        end(item, TIDE_OK);
    tide_decode_pool_batch_end(p->decode, &item->batch);
}

static void *work(void *self)
{
    struct tide_pipeline *p = self;
    bool last = false;
    while (!last && !is_stopping(p)) {
        struct tide_item *item = tide_queue_take(&p->free, -1);
        if (!item)
            break;
        fill(p, item);
        last = item->last;
        if (!tide_queue_put(&p->full, item))
            break;
    }
    return NULL;
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
    struct tide_pipeline *p = calloc(1, sizeof *p);
    if (!p)
        return tide_fail(err, TIDE_E_MEMORY, "pipeline");
    p->options = *options;
    tide_queue_init(&p->free);
    tide_queue_init(&p->full);
    tide_status status = open_items(p, err);
    if (status == TIDE_OK)
        status = tide_decode_pool_open(&p->decode, &options->decode, options->decode_threads, err);
    if (status == TIDE_OK) {
        tide_decode_pool_expect(p->decode, options->from, options->previous_hash);
        p->started = pthread_create(&p->thread, NULL, work, p) == 0;
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
    free(p);
}

struct tide_item *tide_pipeline_take(struct tide_pipeline *p, int64_t timeout_ms)
{
    return tide_queue_take(&p->full, timeout_ms);
}

void tide_pipeline_give(struct tide_pipeline *p, struct tide_item *item)
{
    reuse(p, &item->batch);
    tide_queue_put(&p->free, item);
}
