/* The pipeline fetches and decodes in threads of its own, so that PostgreSQL is never idle: one
 * thread reads ledgers of a source, several decode them, and the caller takes batches here.
 *
 * Batches  a fixed number, used again and again. Memory is queue_batches + 1 times the batch limit
 *          and the decoders' buffers (pool.h); it does not grow with time.
 * Cut      a batch ends at a limit of bytes, ledgers or time, at the end of a partition, and at the
 *          tip after each ledger. The limit of time holds while the source hangs, too.
 * Tip      at the tip a ledger is decoded before the source is asked for the next one.
 * Trouble  rows of the ledgers before a failure come out first, then the failure.
 * Threads  one thread calls these functions. The source and the decoders belong to the pipeline's
 *          threads until tide_pipeline_close. */
#ifndef INDEXER_FOLLOW_PIPELINE_H
#define INDEXER_FOLLOW_PIPELINE_H

#include "indexer/decode/batch.h"
#include "indexer/decode/decode.h"
#include "indexer/source/source.h"
#include "tidemark/clock.h"

struct tide_pipeline; /* opaque */

struct tide_pipeline_options {
    struct tide_source source; /* positioned by seek; the caller closes it, after the pipeline */
    struct tide_decode_options decode;
    uint32_t from;                /* first ledger; 0: the source's first */
    const uint8_t *previous_hash; /* hash of ledger from - 1; NULL: not known */
    uint32_t to;                  /* last ledger; 0: no end */
    bool stop_at_end; /* end at the source's last ledger instead of waiting for the next */
    uint32_t poll_ms;
    uint32_t partition_ledgers; /* a batch does not cross a multiple of it */
    uint32_t cut;               /* nor this ledger; 0: none */
    uint32_t decode_threads;    /* see tide_decode_pool_open */
    /* Limits of one batch, and the number of batches that may wait for the caller. */
    uint32_t batch_ledgers, batch_ms, queue_batches;
    size_t batch_bytes;
    bool (*stopped)(void *self); /* asked often, by the pipeline's thread */
    void *stopped_self;
};

/* One batch handed to the caller. */
struct tide_item {
    struct tide_batch batch; /* may be empty */
    bool tip;                /* the batch ends at the tip, as far as the source knows */
    bool last;               /* no item follows; status says why */
    /* If last: TIDE_OK at the end of the range or source, else the failure that err describes. */
    tide_status status;
    struct tide_err err;
};

tide_status tide_pipeline_open(struct tide_pipeline **out,
                               const struct tide_pipeline_options *options,
                               struct tide_err *err) TIDE_MUST_USE;
/* Stops the threads, waits for them, frees everything. NULL is allowed. */
void tide_pipeline_close(struct tide_pipeline *pipeline);
/* Returns the next item, or NULL after timeout_ms. The caller gives it back with
 * tide_pipeline_give. */
struct tide_item *tide_pipeline_take(struct tide_pipeline *pipeline, int64_t timeout_ms);
void tide_pipeline_give(struct tide_pipeline *pipeline, struct tide_item *item);

#endif
