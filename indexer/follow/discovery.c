/* The states of discovery, and the reader: a source and a pipeline for one gap. */
#include "indexer/follow/discovery.h"
#include "indexer/database/query.h"
#include "indexer/follow/pipeline.h"
#include "tidemark/clock.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/retry.h"
#include "tidemark/stop.h"
#include "tidemark/text.h"

#include <pthread.h>
#include <stdatomic.h>

/* Limits of one turn: its transaction delays the tip by a few milliseconds. */
enum { BATCH_BYTES = 128 << 10, BATCH_LEDGERS = 5000, BATCH_MS = 500, BATCHES = 2, THREADS = 1 };
enum { RETRY_MS = 5000, RETRY_MS_MAX = 600000, TURN_MS = 5 };

/* ASK: ask the database for a gap. IDLE: there is none. WAIT: pause after trouble. READ: read the
 * gap. */
enum phase { PHASE_ASK, PHASE_IDLE, PHASE_WAIT, PHASE_READ };

/* Reads the ledgers of one gap again. */
struct reader {
    struct tide_config config;
    struct tide_deployment *deployment; /* own copy */
    const struct tide_discovery_options *options;
    struct tide_gap *gap;
    struct tide_source source;
    struct tide_pipeline *pipeline;
    pthread_t thread; /* opens source and pipeline, which may take long */
    bool started;
    atomic_bool closing, opened;
    tide_status status; /* result of opening; valid once `opened` is true */
    struct tide_err err;
};

struct tide_discovery {
    struct tide_retry retry;
    struct tide_discovery_options options;
    enum phase phase;
    struct tide_gap gap;
    struct reader *reader;
    uint32_t failures;
    int64_t retry_at_ms;
    bool settled; /* a contract's kind was settled, see tide_discovery_settled */
};

/* ---- the reader ---- */

static bool is_closing(void *self)
{
    const struct reader *r = self;
    return atomic_load(&r->closing) || tide_stop_asked(NULL);
}

static tide_status stored_hash(void *self, uint32_t ledger, uint8_t hash[TIDE_HASH_BYTES])
{
    const struct reader *r = self;
    return tide_stored_hash(r->config.database_url, r->deployment->id, ledger, hash);
}

static tide_status open_source(struct reader *r, struct tide_err *err)
{
    const struct tide_source_options options = { .config = &r->config,
                                                 .passphrase = r->deployment->passphrase,
                                                 .stopping = is_closing,
                                                 .stopping_self = r,
                                                 .stored_hash = stored_hash,
                                                 .stored_self = r };
    if (strcmp(r->config.stream, "-") == 0)
        return tide_fail(err, TIDE_E_MISSING,
                         "standard input cannot be read again: start once"
                         " with a lake or a file that has these ledgers");
    tide_status status = tide_source_open(&r->source, &options, err);
    const struct tide_range range = r->gap->range;
    return status == TIDE_OK ? r->source.ops->seek(r->source.self, range.from, range.to, err)
                             : status;
}

static tide_status open_pipeline(struct reader *r, struct tide_err *err)
{
    const struct tide_pipeline_options options = {
        .source = r->source,
        .decode = { .deployment = r->deployment,
                    .proof = (enum tide_proof)r->config.proof,
                    .known_only = true,
                    .mentioned = (const uint8_t(*)[TIDE_HASH_BYTES])r->gap->ids,
                    .mentioned_count = r->gap->contract_count },
        .from = r->gap->range.from,
        .to = r->gap->range.to,
        .stop_at_end = true,
        .poll_ms = r->config.poll_ms,
        .partition_ledgers = INT32_MAX,
        .decode_threads = THREADS,
        .batch_ledgers = BATCH_LEDGERS,
        .batch_ms = BATCH_MS,
        .queue_batches = BATCHES,
        .batch_bytes = BATCH_BYTES,
        .stopped = is_closing,
        .stopped_self = r,
    };
    return tide_pipeline_open(&r->pipeline, &options, err);
}

static void *open_all(void *self)
{
    struct reader *r = self;
    r->status = open_source(r, &r->err);
    if (r->status == TIDE_OK)
        r->status = open_pipeline(r, &r->err);
    atomic_store(&r->opened, true);
    return NULL;
}

static void close_reader(struct tide_discovery *d)
{
    struct reader *r = d->reader;
    d->reader = NULL;
    if (!r)
        return;
    atomic_store(&r->closing, true);
    if (r->started)
        pthread_join(r->thread, NULL);
    tide_pipeline_close(r->pipeline);
    if (r->source.ops)
        r->source.ops->close(r->source.self);
    free(r->deployment);
    free(r);
}

static tide_status start_reader(struct tide_discovery *d, struct tide_err *err)
{
    struct reader *r = calloc(1, sizeof *r);
    d->reader = r;
    if (r)
        r->deployment = malloc(sizeof *r->deployment);
    if (!r || !r->deployment)
        return tide_fail(err, TIDE_E_MEMORY, "discovery");
    r->config = *d->options.config;
    *r->deployment = *d->options.deployment;
    r->options = &d->options;
    r->gap = &d->gap;
    r->started = pthread_create(&r->thread, NULL, open_all, r) == 0;
    return r->started ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "discovery: no thread");
}

/* ---- turns ---- */

/* Ends the reading after a failure. Returns a stop or the loss of the lease to the caller; all
 * other failures are stored, logged and tried again later. */
static tide_status wait_after(struct tide_discovery *d, struct tide_writer *writer,
                              tide_status status, struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    close_reader(d);
    if (status == TIDE_E_FENCED || (status == TIDE_E_STOPPED && tide_stop_asked(NULL)))
        return status;
    uint32_t pause = tide_retry_pause_ms(&d->retry, RETRY_MS, RETRY_MS_MAX, d->failures++);
    d->phase = PHASE_WAIT;
    d->retry_at_ms = tide_now_ms() + pause;
    tide_log(TIDE_WARN, "discovery.waiting",
             "from=%u to=%u contracts=%u retry_ms=%" PRId64 " reason=%s", d->gap.range.from,
             d->gap.range.to, d->gap.contract_count, d->retry_at_ms - tide_now_ms(),
             tide_log_quote(quoted, sizeof quoted, err->text));
    return tide_writer_gap_trouble(writer, &d->gap, err->text, err);
}

static tide_status ask_for_gap(struct tide_discovery *d, struct tide_writer *writer,
                               struct tide_err *err)
{
    tide_status status = tide_writer_gap(writer, &d->gap, err);
    if (status == TIDE_OK && d->gap.contract_count == 0) {
        d->phase = PHASE_IDLE;
        d->failures = 0;
        return TIDE_OK;
    }
    if (status == TIDE_OK)
        status = tide_writer_adopt(writer, err);
    if (status == TIDE_OK)
        status = start_reader(d, err);
    if (status != TIDE_OK)
        return wait_after(d, writer, status, err);
    d->phase = PHASE_READ;
    tide_log(TIDE_INFO, "discovery.reading", "from=%u to=%u contracts=%u markets=%s",
             d->gap.range.from, d->gap.range.to, d->gap.contract_count,
             d->gap.market ? "true" : "false");
    return TIDE_OK;
}

/* Handles the last item: the gap is closed, or the source has too few ledgers. */
static tide_status end_gap(struct tide_discovery *d, const struct tide_item *item,
                           struct tide_err *err)
{
    if (item->status != TIDE_OK) {
        *err = item->err;
        return item->status;
    }
    if (item->batch.to != d->gap.range.to)
        return tide_fail(err, TIDE_E_MISSING, "the source ends before ledger %u", d->gap.range.to);
    tide_log(TIDE_INFO, "discovery.complete", "from=%u to=%u contracts=%u", d->gap.range.from,
             d->gap.range.to, d->gap.contract_count);
    return TIDE_OK;
}

/* Commits an item's rows. *moved is false if the gap in the database is no longer the one that is
 * read. */
static tide_status write_item(struct tide_discovery *d, struct tide_writer *writer,
                              const struct tide_item *item, bool *moved, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    if (item->batch.to)
        status = tide_writer_commit_gap(writer, &d->gap, &item->batch, moved, err);
    return status == TIDE_OK && item->last ? end_gap(d, item, err) : status;
}

static tide_status read_on(struct tide_discovery *d, struct tide_writer *writer,
                           struct tide_err *err)
{
    struct reader *r = d->reader;
    if (!atomic_load(&r->opened))
        return TIDE_OK;
    if (r->status != TIDE_OK) {
        *err = r->err;
        return wait_after(d, writer, r->status, err);
    }
    struct tide_item *item = tide_pipeline_take(r->pipeline, 0);
    if (!item)
        return TIDE_OK;
    bool moved = true;
    tide_status status = write_item(d, writer, item, &moved, err);
    bool settled = status == TIDE_OK && item->batch.settled;
    bool last = item->last || !moved;
    tide_pipeline_give(r->pipeline, item);
    if (status != TIDE_OK)
        return wait_after(d, writer, status, err);
    d->settled |= settled;
    if (last) {
        close_reader(d);
        d->phase = PHASE_ASK;
    }
    return TIDE_OK;
}

tide_status tide_discovery_turn(struct tide_discovery *d, struct tide_writer *writer,
                                struct tide_err *err)
{
    if (d->phase == PHASE_WAIT && tide_now_ms() >= d->retry_at_ms)
        d->phase = PHASE_ASK;
    if (tide_writer_is_loading(writer))
        return TIDE_OK; /* loading ranges have no keys yet, and their ledgers must be read, too */
    if (d->phase == PHASE_ASK)
        return ask_for_gap(d, writer, err);
    return d->phase == PHASE_READ ? read_on(d, writer, err) : TIDE_OK;
}

tide_status tide_discovery_finish(struct tide_discovery *d, struct tide_writer *writer,
                                  struct tide_err *err)
{
    tide_status status = tide_writer_promote(writer, err);
    if (d->phase != PHASE_READ)
        d->phase = PHASE_ASK;
    while (status == TIDE_OK && (d->phase == PHASE_ASK || d->phase == PHASE_READ)) {
        tide_liveness_mark();
        if (d->options.stopped(d->options.stopped_self))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        status = tide_discovery_turn(d, writer, err);
        if (d->phase == PHASE_READ)
            tide_sleep_ms(TURN_MS);
    }
    return status;
}

void tide_discovery_wake(struct tide_discovery *d)
{
    if (d->phase == PHASE_IDLE)
        d->phase = PHASE_ASK;
}

bool tide_discovery_settled(struct tide_discovery *d)
{
    bool settled = d->settled;
    d->settled = false;
    return settled;
}

bool tide_discovery_is_reading(const struct tide_discovery *d)
{
    return d->phase == PHASE_READ || d->phase == PHASE_ASK;
}

tide_status tide_discovery_open(struct tide_discovery **out,
                                const struct tide_discovery_options *options, struct tide_err *err)
{
    struct tide_discovery *d = calloc(1, sizeof *d);
    if (!d)
        return tide_fail(err, TIDE_E_MEMORY, "discovery");
    d->options = *options;
    d->phase = PHASE_ASK;
    tide_retry_init(&d->retry, tide_now_ms(), 0);
    *out = d;
    return TIDE_OK;
}

void tide_discovery_close(struct tide_discovery *d)
{
    if (!d)
        return;
    close_reader(d);
    free(d);
}
