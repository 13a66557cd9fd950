/* Indexing of one range: batches from the pipeline to the writer, and a new pipeline when the
 * contracts change. */
#include "indexer/follow/follow_impl.h"
#include "indexer/follow/pipeline.h"
#include "indexer/prove/prover.h"
#include "tidemark/clock.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/stop.h"

/* Longest wait for a batch. TAKE_READING_MS holds while discovery reads: it uses this thread. */
enum { TAKE_MS = 250, TAKE_READING_MS = 5 };
enum { HEARTBEAT_MS = 500 };
/* A source that gives nothing in the time of so many batches is in trouble: what is loaded is shown
 * without the rest of its partition, which then takes longer to index. */
enum { SHOW_BATCHES = 15 };

static struct tide_pipeline_options pipeline_options(const struct tide_follow *job,
                                                     struct tide_range range, bool leads,
                                                     const uint8_t *previous_hash)
{
    const struct tide_config *c = job->config;
    return (struct tide_pipeline_options){
        .decode = { .deployment = job->deployment,
                    .proof = (enum tide_proof)c->proof,
                    .discovered_max = leads ? c->discovered_tokens : 0 },
        .from = range.from,
        .to = range.to,
        .previous_hash = previous_hash,
        .stop_at_end = !follow_is_endless(job, range),
        .poll_ms = c->poll_ms,
        .partition_ledgers = tide_writer_partition_ledgers(job->writer),
        .cut = tide_writer_cut(job->writer),
        .decode_threads = c->decode_threads,
        .batch_ledgers = c->batch_ledgers,
        .batch_ms = c->batch_ms,
        .queue_batches = c->queue_batches,
        .batch_bytes = (size_t)c->batch_mib << 20,
        .clock = tide_clock_system(),
        .stopped = tide_stop_asked,
    };
}

/* Commits the item's batch. At the tip also prepares the tables of the next partition. */
static tide_status write_item(struct tide_follow *job, const struct tide_item *item,
                              struct tide_err *err)
{
    const struct tide_batch *batch = &item->batch;
    assert(!batch->to || (batch->from && batch->from <= batch->to));
    tide_status status = TIDE_OK;
    if (batch->to) {
        status = tide_writer_commit(job->writer, batch, err);
        if (status != TIDE_OK)
            return status;
        job->ledger = batch->to;
        if (batch->rows[TIDE_TABLE_CONTRACT_SEEN].count)
            tide_discovery_wake(job->discovery);
        /* At the source's tip the committed ledger is the tip, even if the source reported a newer
         * one: it did not deliver that. */
        if (batch->to > job->tip || item->tip)
            job->tip = batch->to;
        tide_log(TIDE_DEBUG, "batch.committed", "from=%u to=%u bytes=%zu events=%" PRIu64,
                 batch->from, batch->to, batch->bytes, batch->counts.events);
        tide_progress_add(&job->progress, batch->to, job->tip, batch->counts.ledgers,
                          batch->counts.events);
    }
    if (item->tip || item->last) {
        status = tide_writer_finish(job->writer, err);
        job->following = item->tip;
    }
    if (status == TIDE_OK && item->tip && batch->to)
        status = tide_writer_ahead(job->writer, batch->to, err);
    return status;
}

/* Shows what was loaded before the source went away. Ledgers below a checkpoint stay hidden until
 * all are there. */
static tide_status show_loaded(struct tide_follow *job, int64_t *written_ms, struct tide_err *err)
{
    int64_t limit_ms = (int64_t)SHOW_BATCHES * job->config->batch_ms;
    if (!tide_writer_is_loading(job->writer) || tide_now_ms() - *written_ms < limit_ms)
        return TIDE_OK;
    *written_ms = tide_now_ms();
    tide_status status = tide_writer_finish(job->writer, err);
    if (status == TIDE_OK && !tide_writer_is_loading(job->writer))
        tide_log(TIDE_INFO, "load.shown", "to=%u reason=\"the source gives nothing\"", job->ledger);
    return status;
}

/* Does what time is for when no batch came within the wait: the writer's own work, and
 * discovery. */
static tide_status work_idle(struct tide_follow *job, int64_t *written_ms, bool *again,
                             struct tide_err *err)
{
    tide_status status = tide_writer_idle(job->writer, err);
    if (status == TIDE_OK)
        status = show_loaded(job, written_ms, err);
    if (status == TIDE_OK)
        status = tide_discovery_turn(job->discovery, job->writer, err);
    *again = tide_discovery_settled(job->discovery);
    return status;
}

/* Writes items until the last one, or until the running decoder lacks a contract (*again). *end is
 * the source's status at the end; the result is the writer's. err is filled in both cases: at the
 * end of a source it says what the source lacks. */
static tide_status write_items(struct tide_follow *job, struct tide_pipeline *pipeline,
                               tide_status *end, bool *again, struct tide_err *err)
{
    int64_t written_ms = tide_now_ms();
    *end = TIDE_OK;
    *again = false;
    for (bool last = false; !last;) {
        tide_liveness_mark();
        if (tide_stop_asked(NULL))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        if (tide_writer_lost(job->writer))
            return tide_fail(err, TIDE_E_FENCED, "writer: another writer holds the lease");
        if (tide_prover_check(job->prover, job->ledger, err))
            return TIDE_E_CHAIN;
        bool reading = tide_discovery_is_reading(job->discovery);
        struct tide_item *item = tide_pipeline_take(pipeline, reading ? TAKE_READING_MS : TAKE_MS);
        if (item) {
            tide_status status = write_item(job, item, err);
            last = item->last;
            if (status != TIDE_OK)
                return status;
            if (last) {
                *end = item->status;
                *err = item->err;
            }
            tide_pipeline_give(pipeline, item);
            written_ms = tide_now_ms();
        } else {
            tide_status status = work_idle(job, &written_ms, again, err);
            if (status != TIDE_OK || *again)
                return status;
        }
        if (tide_now_ms() - job->heartbeat_ms >= HEARTBEAT_MS)
            follow_report(job);
        tide_progress_add(&job->progress, job->ledger, job->tip, 0, 0);
    }
    return TIDE_OK;
}

/* Indexes the range with one pipeline. *again: a contract changed; call again for the ledgers
 * after job->ledger. */
static tide_status index_range(struct tide_follow *job, struct tide_range range, bool *again,
                               struct tide_err *err)
{
    struct tide_source source = { 0 };
    struct tide_pipeline *pipeline = NULL;
    uint8_t hash[TIDE_HASH_BYTES];
    bool known = false;
    uint32_t first = 0;
    tide_status end = TIDE_OK;
    bool leads = false;
    /* Contracts that an earlier range discovered are followed in this one, too. */
    tide_status status = tide_writer_promote(job->writer, err);
    if (status == TIDE_OK)
        status = tide_writer_leads(job->writer, range.from, &leads, err);
    if (status == TIDE_OK && range.from > 1)
        status = tide_writer_hash(job->writer, range.from - 1, &known, hash, err);
    if (status == TIDE_OK)
        status = follow_open_source(job, &source, range, err);
    struct tide_pipeline_options options = pipeline_options(job, range, leads, known ? hash : NULL);
    options.source = source;
    if (status == TIDE_OK) {
        struct tide_err ignored;
        /* A tip above INT32_MAX is false, and the column of chain.heartbeat could not hold it: the
         * tip then counts as unknown. */
        if (source.ops->range(source.self, &first, &job->tip, &ignored) != TIDE_OK ||
            job->tip > INT32_MAX)
            job->tip = 0;
        tide_progress_start(&job->progress, options.clock, range.from ? range.from : first,
                            range.to);
        /* A process that was killed while it waited for a ledger did not crash on that ledger. */
        bool awaited = job->tip && range.from > job->tip;
        status = tide_writer_attempt(job->writer, range.from ? range.from : first,
                                     job->config->crash_limit, job->began || awaited, err);
        job->began = true;
    }
    if (status == TIDE_OK) {
        tide_follow_heartbeat(job, "indexing", NULL);
        status = tide_pipeline_open(&pipeline, &options, err);
    }
    job->source = &source;
    if (status == TIDE_OK)
        status = write_items(job, pipeline, &end, again, err);
    job->source = NULL;
    tide_pipeline_close(pipeline);
    tide_progress_end(&job->progress);
    if (source.ops)
        source.ops->close(source.self);
    return status == TIDE_OK ? end : status;
}

/* A new pipeline is opened when the past has settled a contract's kind: its decoders follow that
 * contract from the next ledger on. The writer notes the ledgers before as a gap, which discovery
 * reads. */
tide_status tide_follow_index(struct tide_follow *job, struct tide_range range,
                              struct tide_err *err)
{
    for (;;) {
        bool again = false;
        tide_status status = index_range(job, range, &again, err);
        if (status != TIDE_OK || !again)
            return status;
        if (job->ledger >= range.from && (range.to == 0 || job->ledger <= range.to))
            range.from = job->ledger + 1;
        if (range.to && range.from > range.to)
            return TIDE_OK;
        tide_log(TIDE_INFO, "index.adopting", "from=%u", range.from);
    }
}
