#include "indexer/follow/pipeline.h"
#include "indexer/follow/queue.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

#include <stdatomic.h>

enum {
    TIP_WAIT_MS = 300,      /* a source that makes us wait so long has no backlog */
    TIP_LEFT_LEDGERS = 4,   /* so many in a row without waiting: there is a backlog again */
    SETTLED_WAIT_MS = 2000, /* a source that blocks so long is at its tip */
};

struct tide_pipeline {
    struct tide_pipeline_options options;
    struct tide_decode *decode;
    struct tide_item *items;
    uint32_t item_count;
    struct tide_queue free, full;
    pthread_t thread;
    bool started;
    atomic_bool closing;
    /* of the thread */
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
 * exceeds twice the limit, it is given back. */
static void reuse(struct tide_pipeline *p, struct tide_batch *batch)
{
    size_t kept = 0;
    for (size_t i = 0; i < TIDE_TABLES_MAX; i++)
        kept += batch->rows[i].copy.cap;
    if (kept > 2 * p->options.batch_bytes) {
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
    if (batch->bytes >= p->options.batch_bytes || p->at_tip)
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

static tide_status fail_at(bool fired, struct tide_item *item)
{
    return fired ? tide_fail(&item->err, TIDE_E_IO, "failpoint") : TIDE_OK;
}

/* A ledger that is here already, read while its end is found. False, and nothing has happened, when
 * there is none, or it is not as it should be: the usual way says why. */
static bool quick_ledger(struct tide_pipeline *p, struct tide_item *item, tide_status *status)
{
    const struct tide_source *source = &p->options.source;
    tide_slice bytes = { 0 };
    size_t len = 0;
    struct tide_err ignored;
    if (!source->ops->peek || p->options.decode.mentioned_count)
        return false;
    source->ops->peek(source->self, &bytes);
    if (!bytes.len)
        return false;
    *status = fail_at(TIDE_FAILPOINT("ledger.fetched"), item);
    if (*status != TIDE_OK)
        return true;
    if (tide_decode_first(p->decode, &item->batch, bytes, &len, &ignored) != TIDE_OK)
        return false;
    source->ops->consume(source->self, len);
    *status = fail_at(TIDE_FAILPOINT("ledger.decoded"), item);
    return true;
}

/* waited: the milliseconds that the source took. */
static tide_status next_ledger(struct tide_pipeline *p, struct tide_item *item, int64_t *waited)
{
    const struct tide_clock *clock = p->options.clock;
    const struct tide_source *source = &p->options.source;
    tide_status status;
    bool again;
    do {
        tide_slice lcm;
        uint32_t sequence = 0;
        int64_t asked = clock->now_ms(clock->self);
        again = false;
        status = source->ops->next(source->self, &lcm, &sequence, &item->err);
        *waited = clock->now_ms(clock->self) - asked;
        if (status == TIDE_OK)
            status = fail_at(TIDE_FAILPOINT("ledger.fetched"), item);
        if (status == TIDE_OK) {
            status = tide_decode_ledger(p->decode, &item->batch, lcm, &item->err);
            again = status != TIDE_OK && tide_source_refetch(source, &item->err);
        }
    } while (again);
    if (status == TIDE_OK)
        status = fail_at(TIDE_FAILPOINT("ledger.decoded"), item);
    return status;
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

/* One ledger into the batch; false when the item is to be handed over. */
static bool one_ledger(struct tide_pipeline *p, struct tide_item *item)
{
    tide_status status = TIDE_OK;
    int64_t waited = 0;
    if (!quick_ledger(p, item, &status))
        status = next_ledger(p, item, &waited);
    if (may_ask_again(p, status))
        return ask_again(p, item);
    if (status == TIDE_E_EOF) {
        bool final =
            p->options.stop_at_end || p->options.source.ops->finite(p->options.source.self);
        item->tip = p->at_tip = p->settled = true;
        p->quick = 0;
        if (final)
            end(item, TIDE_OK);
        if (final || item->batch.to || !p->told_tip)
            return false;
        if (!p->options.source.ops->newest)
            doze(p, p->options.poll_ms);
        return true;
    }
    if (status != TIDE_OK) {
        end(item, status);
        return false;
    }
    p->quick = waited < TIP_WAIT_MS ? p->quick + 1 : 0;
    p->at_tip = waited >= TIP_WAIT_MS || (p->at_tip && p->quick < TIP_LEFT_LEDGERS);
    p->told_tip = false;
    if (p->options.source.ops->newest) {
        p->at_tip = p->options.source.ops->newest(p->options.source.self);
        p->settled = p->settled && p->at_tip;
        item->tip = p->settled;
        return true;
    }
    item->tip = waited >= SETTLED_WAIT_MS;
    return true;
}

static void fill(struct tide_pipeline *p, struct tide_item *item)
{
    const struct tide_clock *clock = p->options.clock;
    int64_t since = clock->now_ms(clock->self);
    item->tip = item->last = false;
    item->status = TIDE_OK;
    while (!is_stopping(p)) {
        if (!one_ledger(p, item) || is_full(p, &item->batch, since))
            break;
        if (item->batch.to == 0)
            since = clock->now_ms(clock->self);
    }
    p->told_tip = item->tip;
    if (item->batch.to && item->batch.to == p->options.to)
        end(item, TIDE_OK);
    tide_decode_batch_end(p->decode, &item->batch);
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
        status = tide_decode_open(&p->decode, &options->decode, err);
    if (status == TIDE_OK) {
        tide_decode_expect(p->decode, options->from, options->previous_hash);
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
    tide_decode_close(p->decode);
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
