/* Fetch and decode in threads of their own, so that PostgreSQL is never idle: one reads ledgers of
 * a source, several decode them, and batches come out here.
 *
 * Batches  a fixed number of them, used again and again: memory is queue_batches + 1 times the
 *          batch limit and what the decoders hold (pool.h), and does not grow with time.
 * Cut      at bytes, ledgers or time; at the end of a partition; after each ledger at the tip.
 * Tip      a ledger is decoded before the next one is asked for.
 * Trouble  what was good before a failure comes out first, then the failure.
 * Threads  the source and the decoders belong to the pipeline's thread until close. */
#ifndef INDEXER_FOLLOW_PIPELINE_H
#define INDEXER_FOLLOW_PIPELINE_H

#include "indexer/decode/batch.h"
#include "indexer/decode/decode.h"
#include "indexer/source/source.h"
#include "tidemark/clock.h"

struct tide_pipeline; /* opaque */

struct tide_pipeline_options {
    struct tide_source source; /* sought already; stays the caller's to close, after close */
    struct tide_decode_options decode;
    uint32_t from;                /* first ledger; 0: whatever comes */
    const uint8_t *previous_hash; /* what from must follow; NULL: not known */
    uint32_t to;                  /* last ledger wanted; 0: open end */
    bool stop_at_end;             /* end when the source has no more for now */
    uint32_t poll_ms;
    uint32_t partition_ledgers;
    uint32_t decode_threads; /* see tide_decode_pool_open */
    uint32_t batch_ledgers, batch_ms, queue_batches;
    size_t batch_bytes;
    const struct tide_clock *clock;
    bool (*stopped)(void *self);
    void *stopped_self;
};

/* One hand-over. */
struct tide_item {
    struct tide_batch batch; /* may be empty */
    bool tip;                /* nothing more is there for now */
    bool last;               /* nothing will follow; status says why */
    tide_status status;      /* of last: TIDE_OK reached the end, or the failure in err */
    struct tide_err err;
};

tide_status tide_pipeline_open(struct tide_pipeline **out,
                               const struct tide_pipeline_options *options,
                               struct tide_err *err) TIDE_MUST_USE;
/* Stops the thread, waits for it, frees everything. NULL is allowed. */
void tide_pipeline_close(struct tide_pipeline *pipeline);
/* The next item, or NULL after timeout_ms. The caller gives it back. */
struct tide_item *tide_pipeline_take(struct tide_pipeline *pipeline, int64_t timeout_ms);
void tide_pipeline_give(struct tide_pipeline *pipeline, struct tide_item *item);

#endif
