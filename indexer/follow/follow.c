/* A job of run or backfill: opens source, writer and discovery, sends heartbeats, and becomes a
 * standby again after another writer took over. */
#include "indexer/follow/follow.h"
#include "indexer/base/supervise.h"
#include "indexer/database/query.h"
#include "indexer/follow/pipeline.h"
#include "indexer/prove/prover.h"
#include "indexer/source/source.h"
#include "tidemark/clock.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/meta.h"
#include "tidemark/stop.h"
#include "tidemark/text.h"

/* A source in trouble for this long makes the state "degraded". */
enum { DEGRADED_MS = 30000, AWAY_MS = 3000, STANDBY_POLL_MS = 200 };

/* Returns whether the job has no last ledger: it then waits for sources without limit. */
static bool follow_is_endless(const struct tide_follow *job, struct tide_range range)
{
    return !job->config->stop_at_end && range.to == 0;
}

void tide_follow_heartbeat(struct tide_follow *job, const char *state, const char *error)
{
    char text[96], trouble[TIDE_ERR_TEXT_MAX];
    const struct tide_source *source = job->source;
    uint32_t ahead = source && source->ops->ahead ? source->ops->ahead(source->self) : 0;
    struct tide_heartbeat note = { .state = state,
                                   .tip = ahead > job->tip ? ahead : job->tip,
                                   .ledger = job->ledger,
                                   .rate = job->progress.rate,
                                   .event_rate = job->progress.event_rate,
                                   .error = error,
                                   .ledgers = job->progress.ledgers,
                                   .events = job->progress.events,
                                   .source = source ? source->ops->name : NULL };
    if (source && source->ops->trouble)
        note.trouble_ms = source->ops->trouble(source->self, trouble, sizeof trouble);
    if (note.trouble_ms > 0)
        note.trouble = trouble;
    if (source)
        job->troubled = note.trouble_ms > 0;
    note.current =
        job->following && !job->troubled && !job->source_away_ms && job->ledger >= note.tip;
    snprintf(text, sizeof text, "STATUS=%s, ledger %u", state, job->ledger);
    tide_notify(getenv("NOTIFY_SOCKET"), text);
    tide_writer_heartbeat(job->writer, &note);
    job->heartbeat_ms = tide_now_ms();
}

/* Returns whether the source has been in trouble for DEGRADED_MS, with the reason in text. */
static bool is_degraded(const struct tide_follow *job, char *text, size_t size)
{
    const struct tide_source *source = job->source;
    return source && source->ops->trouble &&
           source->ops->trouble(source->self, text, size) >= DEGRADED_MS;
}

static const char *state_of(const struct tide_follow *job)
{
    if (tide_writer_is_loading(job->writer))
        return "loading";
    return job->following ? "following" : "indexing";
}

/* Writes a heartbeat with the job's own state, or "degraded" if the source has been in trouble for
 * long. */
static void follow_report(struct tide_follow *job)
{
    char text[TIDE_ERR_TEXT_MAX];
    bool degraded = is_degraded(job, text, sizeof text);
    tide_follow_heartbeat(job, degraded ? "degraded" : state_of(job), degraded ? text : NULL);
}

/* Gives sources the stored hash of a ledger. They call it from their own threads. */
static tide_status stored_hash(void *self, uint32_t ledger, uint8_t hash[TIDE_HASH_BYTES])
{
    const struct tide_follow *job = self;
    if (!job->writer)
        return TIDE_E_DB;
    return tide_stored_hash(job->config->database_url, job->deployment->id, ledger, hash);
}

static tide_status open_new_source(struct tide_follow *job, struct tide_source *source,
                                   struct tide_err *err)
{
    const struct tide_source_options options = { .config = job->config,
                                                 .passphrase = job->deployment->passphrase,
                                                 .stopping = tide_stop_asked,
                                                 .stored_hash = stored_hash,
                                                 .stored_self = job };
    return tide_source_open(source, &options, err);
}

/* Fails if the deployment file and the source are of different networks. Called before the writer
 * opens, so that such a pair leaves no trace in the database. */
static tide_status check_source(struct tide_follow *job, struct tide_err *err)
{
    struct tide_source source;
    struct tide_err found;
    tide_status status = open_new_source(job, &source, &found);
    if (status == TIDE_OK)
        source.ops->close(source.self);
    if (status != TIDE_E_CONFIG && status != TIDE_E_CHAIN)
        return TIDE_OK; /* a source that is away now may answer when it is needed */
    *err = found;
    return status;
}

/* Opens the source and seeks to the range. On failure, source->ops is NULL. */
static tide_status try_source(struct tide_follow *job, struct tide_source *source,
                              struct tide_range range, struct tide_err *err)
{
    tide_status status = open_new_source(job, source, err);
    if (status == TIDE_OK)
        status = source->ops->seek(source->self, range.from, range.to, err);
    if (status != TIDE_OK && source->ops) {
        source->ops->close(source->self);
        source->ops = NULL;
    }
    return status;
}

/* A source that is away is tried again without limit while following. The heartbeats in between
 * keep this process known as alive, and the lease lets a standby take over if it is not. */
static tide_status follow_open_source(struct tide_follow *job, struct tide_source *source,
                                      struct tide_range range, struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    tide_status status;
    tide_liveness_mark();
    while ((status = try_source(job, source, range, err)) == TIDE_E_IO &&
           follow_is_endless(job, range)) {
        job->source_away_ms = job->source_away_ms ? job->source_away_ms : tide_now_ms();
        tide_log(TIDE_WARN, "source.retry", "reason=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
        tide_follow_heartbeat(
            job, tide_now_ms() - job->source_away_ms >= DEGRADED_MS ? "degraded" : state_of(job),
            err->text);
        uint32_t pause_ms = job->config->retry_ms_max / 10;
        int64_t until = tide_now_ms() + (pause_ms < AWAY_MS ? pause_ms : AWAY_MS);
        while (tide_now_ms() < until) {
            if (tide_stop_asked(NULL))
                return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
            tide_liveness_mark();
            tide_sleep_ms(50);
        }
    }
    job->source_away_ms = 0;
    return status;
}

/* Reads the hash of `ledger` from the ledger `from`, which is that one or the next. */
static tide_status read_hash(struct tide_follow *job, uint32_t ledger, uint32_t from,
                             uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    struct tide_source source = { 0 };
    struct ledger_peek peek;
    uint32_t sequence = 0;
    tide_slice lcm;
    tide_status status = try_source(job, &source, (struct tide_range){ from, from }, err);
    if (status != TIDE_OK)
        return status;
    status = source.ops->next(source.self, &lcm, &sequence, err);
    if (status == TIDE_OK)
        status = ledger_peek(&peek, lcm);
    if (status == TIDE_OK && peek.sequence == from)
        memcpy(hash, from == ledger ? peek.hash : peek.previous, TIDE_HASH_BYTES);
    else if (status == TIDE_OK || status == TIDE_E_DECODE || status == TIDE_E_UNKNOWN)
        status = tide_fail(err, TIDE_E_MISSING, "the source has no readable ledger %u", from);
    source.ops->close(source.self);
    return status;
}

tide_status tide_follow_hash(struct tide_follow *job, uint32_t ledger,
                             uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    tide_status status = read_hash(job, ledger, ledger, hash, err);
    if (status == TIDE_E_MISSING || status == TIDE_E_EOF)
        status = read_hash(job, ledger, ledger + 1, hash, err);
    if (status == TIDE_E_EOF)
        status = tide_fail(err, TIDE_E_MISSING, "the source has no ledger %u yet", ledger);
    return status;
}

uint32_t tide_follow_first_ledger(const struct tide_follow *job)
{
    return job->config->first_ledger ? job->config->first_ledger : job->deployment->first_ledger;
}

/* Becomes the writer: waits for the lease, and reads up to which ledger the tables are filled. */
static tide_status become_writer(struct tide_follow *job, struct tide_err *err)
{
    const struct tide_config *config = job->config;
    struct tide_writer_options to = { .conninfo = config->database_url,
                                      .tables = job->tables,
                                      .table_count = job->table_count,
                                      .deployment = job->deployment,
                                      .first_ledger = tide_follow_first_ledger(job),
                                      .discovered_max = config->discovered_tokens,
                                      .partition_ledgers = config->partition_ledgers,
                                      .array_bytes = (size_t)config->array_kib << 10,
                                      .standby_poll_ms = STANDBY_POLL_MS,
                                      .retry_ms_max = config->retry_ms_max,
                                      .silence_ms = config->db_silence_ms,
                                      .index_connections = config->decode_threads * 3 / 2,
                                      .standby = config->standby,
                                      .migrate = config->migrate_on_start,
                                      .hold_lease = true,
                                      .moves_seen = job->moves_seen,
                                      .stopped = tide_stop_asked };
    const struct tide_discovery_options discover = { .config = config,
                                                     .deployment = job->deployment,
                                                     .stopped = tide_stop_asked };
    tide_status status = tide_writer_open(&job->writer, &to, err);
    return status == TIDE_OK ? tide_discovery_open(&job->discovery, &discover, err) : status;
}

tide_status tide_follow_prove(struct tide_follow *job, struct tide_err *err)
{
    if (job->prover || !*job->config->archive)
        return TIDE_OK;
    return tide_prover_open(&job->prover, job->config, job->deployment, err);
}

/* Drops the contracts discovered in this process by reading the deployment file again: the tables
 * may lack them now. The new writer adds those that are in the tables. */
tide_status tide_follow_reopen(struct tide_follow *job, struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    tide_log(TIDE_WARN, "writer.again", "ledger=%u reason=%s", job->ledger,
             tide_log_quote(quoted, sizeof quoted, err->text));
    job->moves_seen = tide_writer_moves(job->writer);
    tide_prover_close(job->prover);
    job->prover = NULL;
    tide_discovery_close(job->discovery);
    job->discovery = NULL;
    tide_writer_close(job->writer);
    job->writer = NULL;
    job->following = false;
    free(job->deployment);
    job->deployment = NULL;
    tide_status status = tide_deployment_read(&job->deployment, job->config->deployment, err);
    return status == TIDE_OK ? become_writer(job, err) : status;
}

/* Logs the contracts that the file leaves out: the tables will have nothing of them. */
static void log_missing_contracts(const struct tide_deployment *deployment)
{
    char missing[512] = "";
    for (int role = 0; role < TIDE_ROLE_synth_token; role++) {
        bool named = false;
        for (uint32_t i = 0; i < deployment->contract_count && !named; i++)
            named = (int)deployment->contracts[i].role == role;
        size_t len = strlen(missing);
        if (!named)
            snprintf(missing + len, sizeof missing - len, "%s%s", len ? "," : "",
                     tide_role_name((enum tide_role)role));
    }
    if (*missing)
        tide_log(TIDE_WARN, "deployment.part", "missing=%s reason=%s", missing,
                 "\"contracts that the deployment file does not name are not indexed\"");
}

tide_status tide_follow_open(struct tide_follow *job, const struct tide_config *config,
                             struct tide_err *err)
{
    *job = (struct tide_follow){ .config = config };
    tide_config_tell(config, "index.settings");
    job->tables = tide_tables(&job->table_count);
    if (!*config->deployment)
        return tide_fail(err, TIDE_E_CONFIG,
                         "deployment: the JSON file that names network and "
                         "contracts is not set");
    tide_status status = tide_deployment_read(&job->deployment, config->deployment, err);
    if (status == TIDE_OK)
        status = check_source(job, err);
    if (status != TIDE_OK)
        return status;
    log_missing_contracts(job->deployment);
    status = tide_supervise_open(&job->supervise, "writer", err);
    if (status != TIDE_OK)
        return status;
    /* Report readiness as a standby, too: it may wait for longer than systemd waits for a start. */
    tide_notify(getenv("NOTIFY_SOCKET"), "READY=1\nSTATUS=waiting to become the writer");
    return become_writer(job, err);
}

void tide_follow_close(struct tide_follow *job)
{
    tide_prover_close(job->prover);
    tide_discovery_close(job->discovery);
    tide_writer_close(job->writer);
    tide_supervise_close(job->supervise);
    free(job->deployment);
}

/* ---- one range: batches from the pipeline to the writer ---- */

/* Longest wait for a batch. TAKE_READING_MS holds while discovery reads: it uses this thread. */
enum { TAKE_MS = 250, TAKE_READING_MS = 5 };
enum { HEARTBEAT_MS = 500 };
enum { QUEUE_BATCHES = 2 }; /* decoded ahead of the writer */
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
        .queue_batches = QUEUE_BATCHES,
        .batch_bytes = (size_t)c->batch_mib << 20,
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
        tide_progress_start(&job->progress, tide_clock_system(), range.from ? range.from : first,
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
