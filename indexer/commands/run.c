#include "indexer/commands/command.h"
#include "indexer/database/scope.h"
#include "indexer/database/stored_hash.h"
#include "indexer/follow/discovery.h"
#include "indexer/follow/pipeline.h"
#include "indexer/follow/progress.h"
#include "indexer/write/writer.h"
#include "tidemark/log.h"
#include "tidemark/notify.h"
#include "tidemark/text.h"

/* run and backfill: the same path, source -> decode -> write, over other ranges. */
struct job {
    const struct tide_config *config;
    const struct tide_table *tables;
    uint32_t table_count;
    struct tide_scope scope;
    struct tide_buf scope_text;
    struct tide_deployment *deployment;
    struct tide_writer *writer;
    struct tide_discovery *discovery;
    struct tide_progress progress;
    struct tide_watchdog dog;
    struct tide_witness witness;   /* of the writer before this one */
    uint32_t tip, ledger;          /* newest known, newest committed */
    int64_t heartbeat_ms, awry_ms; /* awry_ms: since when the source cannot be opened; 0: it can */
    bool following, began;
    const struct tide_source *source; /* while a range is indexed */
};

enum { TAKE_MS = 250, TAKE_READING_MS = 5 }; /* wait for a ledger; the same while discovery reads */
enum { HEARTBEAT_MS = 500, RANGES_MAX = 256, DEGRADED_MS = 30000 };

static int64_t now_ms(void)
{
    const struct tide_clock *clock = tide_clock_system();
    return clock->now_ms(clock->self);
}

/* Asked all the time by the thread that works, so it is also the sign that it lives. */
static bool alive_or_stopped(void *self)
{
    struct job *job = self;
    tide_watchdog_ping(&job->dog, now_ms());
    return tide_stop_asked(NULL);
}

static bool is_endless(const struct job *job, struct tide_range range)
{
    return !job->config->stop_at_end && range.to == 0;
}

static void heartbeat(struct job *job, const char *state, const char *error)
{
    char text[96], trouble[TIDE_ERR_TEXT_MAX];
    const struct tide_source *source = job->source;
    struct tide_heartbeat note = { .state = state,
                                   .tip = job->tip,
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
    snprintf(text, sizeof text, "STATUS=%s, ledger %u", state, job->ledger);
    tide_notify(getenv("NOTIFY_SOCKET"), text);
    tide_writer_heartbeat(job->writer, &note);
    job->heartbeat_ms = now_ms();
}

/* A source that could not go on for a while: the heartbeat says why. */
static bool is_degraded(const struct job *job, char *text, size_t size)
{
    const struct tide_source *source = job->source;
    return source && source->ops->trouble &&
           source->ops->trouble(source->self, text, size) >= DEGRADED_MS;
}

static const char *state_of(const struct job *job)
{
    if (tide_writer_is_loading(job->writer))
        return "loading";
    return job->following ? "following" : "indexing";
}

static void heartbeat_now(struct job *job)
{
    char text[TIDE_ERR_TEXT_MAX];
    bool degraded = is_degraded(job, text, sizeof text);
    heartbeat(job, degraded ? "degraded" : state_of(job), degraded ? text : NULL);
}

static tide_status stored_hash(void *self, uint32_t ledger, uint8_t hash[TIDE_HASH_BYTES])
{
    const struct job *job = self;
    if (!job->writer)
        return TIDE_E_DB;
    return tide_stored_hash(job->config->database_url, job->deployment->id, ledger, hash);
}

static tide_status new_source(struct job *job, struct tide_source *source, struct tide_err *err)
{
    const struct tide_source_options options = { .config = job->config,
                                                 .passphrase = job->deployment->passphrase,
                                                 .stopping = tide_stop_asked,
                                                 .stored_hash = stored_hash,
                                                 .stored_self = job };
    return tide_source_open(source, &options, err);
}

/* A deployment file and a lake that do not belong together must leave no trace in the database. */
static tide_status check_source(struct job *job, struct tide_err *err)
{
    struct tide_source source;
    struct tide_err found;
    tide_status status = new_source(job, &source, &found);
    if (status == TIDE_OK)
        source.ops->close(source.self);
    if (status != TIDE_E_CONFIG && status != TIDE_E_CHAIN)
        return TIDE_OK; /* one that does not answer now may do so when it is needed */
    *err = found;
    return status;
}

static tide_status try_source(struct job *job, struct tide_source *source, struct tide_range range,
                              struct tide_err *err)
{
    tide_status status = new_source(job, source, err);
    if (status == TIDE_OK)
        status = source->ops->seek(source->self, range.from, range.to, err);
    if (status != TIDE_OK && source->ops) {
        source->ops->close(source->self);
        source->ops = NULL;
    }
    return status;
}

/* Who follows waits for a source that is away; so a standby can take over while it is. */
static tide_status open_source(struct job *job, struct tide_source *source, struct tide_range range,
                               struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    tide_status status;
    while ((status = try_source(job, source, range, err)) == TIDE_E_IO && is_endless(job, range)) {
        job->awry_ms = job->awry_ms ? job->awry_ms : now_ms();
        tide_log(TIDE_WARN, "source.retry", "reason=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
        heartbeat(job, now_ms() - job->awry_ms >= DEGRADED_MS ? "degraded" : state_of(job),
                  err->text);
        for (int64_t until = now_ms() + job->config->http_retry_ms_max / 10; now_ms() < until;) {
            const struct tide_clock *clock = tide_clock_system();
            if (alive_or_stopped(job))
                return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
            clock->sleep_ms(clock->self, 50);
        }
    }
    job->awry_ms = 0;
    return status;
}

/* Becomes the writer: waits for its turn, reads where the tables stand. */
static tide_status job_write(struct job *job, struct tide_err *err)
{
    const struct tide_config *config = job->config;
    struct tide_writer_options to = { .conninfo = config->database_url,
                                      .tables = job->tables,
                                      .table_count = job->table_count,
                                      .wanted = job->scope.wanted,
                                      .rollups = job->scope.rollups,
                                      .scope = (const char *)job->scope_text.ptr,
                                      .deployment = job->deployment,
                                      .discovered_max = config->discovered_tokens,
                                      .partition_ledgers = config->partition_ledgers,
                                      .array_bytes = (size_t)config->array_kib << 10,
                                      .standby_poll_ms = config->standby_poll_ms,
                                      .retry_ms_max = config->db_retry_ms_max,
                                      .silence_ms = config->db_silence_ms,
                                      .standby = config->standby,
                                      .migrate = config->migrate_on_start,
                                      .hold_lease = true,
                                      .witness = job->witness,
                                      .clock = tide_clock_system(),
                                      .stopped = alive_or_stopped,
                                      .stopped_self = job };
    const struct tide_discovery_options discover = { .config = config,
                                                     .deployment = job->deployment,
                                                     .tables =
                                                         job->scope.all ? NULL : job->scope.wanted,
                                                     .stopped = alive_or_stopped,
                                                     .stopped_self = job };
    tide_status status = tide_writer_open(&job->writer, &to, err);
    return status == TIDE_OK ? tide_discovery_open(&job->discovery, &discover, err) : status;
}

/* Another writer took over, or the server lost commits: waits as standby again, in the same
 * process. Contracts found meanwhile are read again with the rest. */
static tide_status job_again(struct job *job, struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    tide_log(TIDE_WARN, "writer.again", "ledger=%u reason=%s", job->ledger,
             tide_log_quote(quoted, sizeof quoted, err->text));
    job->witness = tide_writer_witness(job->writer);
    tide_discovery_close(job->discovery);
    job->discovery = NULL;
    tide_writer_close(job->writer);
    job->writer = NULL;
    job->following = false;
    free(job->deployment);
    job->deployment = NULL;
    tide_status status = tide_deployment_read(&job->deployment, job->config->deployment, err);
    return status == TIDE_OK ? job_write(job, err) : status;
}

/* A contract that the file leaves out is not looked for: nothing of it will be in the tables. */
static void tell_contracts(const struct tide_deployment *deployment)
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

static tide_status job_open(struct job *job, const struct tide_config *config, struct tide_err *err)
{
    *job = (struct job){ .config = config };
    tide_config_tell(config, "index.settings");
    tide_watchdog_init(&job->dog, getenv("NOTIFY_SOCKET"), getenv("WATCHDOG_USEC"),
                       getenv("WATCHDOG_PID"));
    job->tables = tide_tables(&job->table_count);
    tide_buf_init(&job->scope_text, 64u << 10);
    if (!*config->deployment)
        return tide_fail(err, TIDE_E_CONFIG,
                         "deployment: the JSON file that names network and "
                         "contracts is not set");
    tide_status status =
        tide_scope_parse(&job->scope, job->tables, job->table_count, config->only, err);
    if (status == TIDE_OK)
        status = tide_deployment_read(&job->deployment, config->deployment, err);
    if (status == TIDE_OK)
        status = check_source(job, err);
    if (status != TIDE_OK)
        return status;
    tell_contracts(job->deployment);
    tide_scope_text(&job->scope_text, &job->scope, job->tables, job->table_count);
    tide_buf_u8(&job->scope_text, 0);
    status = job_write(job, err);
    if (status == TIDE_OK)
        tide_notify(getenv("NOTIFY_SOCKET"), "READY=1");
    return status;
}

static void job_close(struct job *job)
{
    tide_discovery_close(job->discovery);
    tide_writer_close(job->writer);
    tide_buf_release(&job->scope_text);
    free(job->deployment);
}

static struct tide_pipeline_options pipeline_options(const struct job *job, struct tide_range range,
                                                     const uint8_t *previous_hash)
{
    const struct tide_config *c = job->config;
    return (struct tide_pipeline_options){
        .decode = { .deployment = job->deployment,
                    .proof = (enum tide_proof)c->proof,
                    .tables = job->scope.all ? NULL : job->scope.wanted,
                    .discovered_max = c->discovered_tokens },
        .from = range.from,
        .to = range.to,
        .previous_hash = previous_hash,
        .stop_at_end = !is_endless(job, range),
        .poll_ms = c->poll_ms,
        .partition_ledgers = tide_writer_partition_ledgers(job->writer),
        .batch_ledgers = c->batch_ledgers,
        .batch_ms = c->batch_ms,
        .queue_batches = c->queue_batches,
        .batch_bytes = (size_t)c->batch_mib << 20,
        .clock = tide_clock_system(),
        .stopped = tide_stop_asked,
    };
}

static tide_status write_item(struct job *job, const struct tide_item *item, struct tide_err *err)
{
    const struct tide_batch *batch = &item->batch;
    tide_status status = TIDE_OK;
    if (batch->to) {
        status = tide_writer_commit(job->writer, batch, err);
        if (status != TIDE_OK)
            return status;
        job->ledger = batch->to;
        if (batch->rows[TIDE_TABLE_CONTRACT_SEEN].count)
            tide_discovery_wake(job->discovery, batch->settled);
        if (batch->to > job->tip)
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

/* Takes items until the last one, or until what is decoded ahead lacks a contract (*again). *end is
 * how the ledgers ended, the result how writing did. err is filled at the end of a source too: it
 * says what is not there. */
static tide_status drain(struct job *job, struct tide_pipeline *pipeline, tide_status *end,
                         bool *again, struct tide_err *err)
{
    *end = TIDE_OK;
    *again = false;
    for (bool last = false; !last;) {
        if (alive_or_stopped(job))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        if (tide_writer_lost(job->writer))
            return tide_fail(err, TIDE_E_FENCED, "writer: another writer holds the lease");
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
        } else {
            tide_status status = tide_writer_idle(job->writer, err);
            if (status == TIDE_OK)
                status = tide_discovery_turn(job->discovery, job->writer, err);
            *again = tide_discovery_settled(job->discovery);
            if (status != TIDE_OK || *again)
                return status;
        }
        if (now_ms() - job->heartbeat_ms >= HEARTBEAT_MS)
            heartbeat_now(job);
        tide_progress_add(&job->progress, job->ledger, job->tip, 0, 0);
    }
    return TIDE_OK;
}

static tide_status index_once(struct job *job, struct tide_range range, bool *again,
                              struct tide_err *err)
{
    struct tide_source source = { 0 };
    struct tide_pipeline *pipeline = NULL;
    uint8_t hash[TIDE_HASH_BYTES];
    bool known = false;
    uint32_t first = 0;
    tide_status end = TIDE_OK;
    /* What one range discovered is watched in the next one, too. */
    tide_status status = tide_writer_adopt(job->writer, err);
    if (status == TIDE_OK && range.from > 1)
        status = tide_writer_hash(job->writer, range.from - 1, &known, hash, err);
    if (status == TIDE_OK)
        status = open_source(job, &source, range, err);
    struct tide_pipeline_options options = pipeline_options(job, range, known ? hash : NULL);
    options.source = source;
    if (status == TIDE_OK) {
        struct tide_err ignored;
        if (source.ops->range(source.self, &first, &job->tip, &ignored) != TIDE_OK)
            job->tip = 0;
        tide_progress_start(&job->progress, options.clock, range.from ? range.from : first,
                            range.to);
        /* Who was killed while it waited for a ledger did not crash on it. */
        bool awaited = job->tip && range.from > job->tip;
        status = tide_writer_attempt(job->writer, range.from ? range.from : first,
                                     job->config->crash_limit, job->began || awaited, err);
        job->began = true;
    }
    if (status == TIDE_OK) {
        heartbeat(job, "indexing", NULL);
        status = tide_pipeline_open(&pipeline, &options, err);
    }
    job->source = &source;
    if (status == TIDE_OK)
        status = drain(job, pipeline, &end, again, err);
    job->source = NULL;
    tide_pipeline_close(pipeline);
    tide_progress_end(&job->progress);
    if (source.ops)
        source.ops->close(source.self);
    return status == TIDE_OK ? end : status;
}

/* A contract of which the past showed what it is is followed by a new decoder, from the next ledger
 * on. Its past until there is noted with what it is. */
static tide_status index_range(struct job *job, struct tide_range range, struct tide_err *err)
{
    for (;;) {
        bool again = false;
        tide_status status = index_once(job, range, &again, err);
        if (status != TIDE_OK || !again)
            return status;
        if (job->ledger >= range.from && (range.to == 0 || job->ledger <= range.to))
            range.from = job->ledger + 1;
        if (range.to && range.from > range.to)
            return TIDE_OK;
        tide_log(TIDE_INFO, "index.adopting", "from=%u", range.from);
    }
}

static const char *state_at_end(tide_status status)
{
    if (status == TIDE_E_POISON)
        return "quarantine";
    return status == TIDE_OK || status == TIDE_E_STOPPED ? "stopped" : "frozen";
}

/* The last words: why it ended, in the database and the log, and the exit code. */
static int finish(struct job *job, const char *command, tide_status status, struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    bool well = status == TIDE_OK || status == TIDE_E_STOPPED;
    tide_notify(getenv("NOTIFY_SOCKET"), "STOPPING=1");
    if (job->writer && status != TIDE_E_FENCED) {
        heartbeat(job, state_at_end(status), well ? NULL : err->text);
        tide_writer_ended(job->writer);
    }
    if (!job->writer)
        tide_command_end(command, status, err);
    else if (well)
        tide_log(TIDE_INFO, "index.stopped", "ledger=%u reason=%s", job->ledger,
                 status == TIDE_OK ? "end" : "signal");
    else
        tide_log(TIDE_ERROR, "index.frozen", "ledger=%u exit=%d reason=%s", job->ledger,
                 tide_status_exit(status), tide_log_quote(quoted, sizeof quoted, err->text));
    job_close(job);
    return tide_status_exit(status);
}

/* A load that does not lead on from the cursor was left by a backfill: it is finished first. */
static tide_status where_to_begin(struct job *job, struct tide_range *range, struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t next = tide_writer_next(job->writer, hash);
    const struct tide_config *c = job->config;
    uint32_t first = c->first_ledger ? c->first_ledger : job->deployment->first_ledger;
    *range = (struct tide_range){ next ? next : first, 0 };
    job->ledger = next ? next - 1 : 0;
    if (next && c->first_ledger > next)
        return tide_fail(
            err, TIDE_E_CONFLICT,
            "first_ledger=%u would leave a gap: ledgers up to %u are indexed; unset it",
            c->first_ledger, next - 1);
    return TIDE_OK;
}

/* The source had nothing that was wanted: well where an index is that may be at the tip. */
static tide_status nothing_came(const struct job *job, struct tide_range range,
                                struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    tide_fail_context(err, "no ledger from %u on is there", range.from);
    if (job->ledger == 0) {
        err->code = TIDE_E_MISSING;
        return err->code;
    }
    tide_log(TIDE_INFO, "index.nothing", "ledger=%u reason=%s", job->ledger,
             tide_log_quote(quoted, sizeof quoted, err->text));
    return TIDE_OK;
}

static tide_status follow(struct job *job, struct tide_err *err)
{
    struct tide_range range;
    tide_status status = where_to_begin(job, &range, err);
    uint32_t before = job->ledger;
    if (status == TIDE_OK)
        status = index_range(job, range, err);
    if (status == TIDE_OK && job->ledger == before)
        status = nothing_came(job, range, err);
    return status == TIDE_OK ? tide_discovery_finish(job->discovery, job->writer, err) : status;
}

int tide_run_main(const struct tide_config *config, const struct tide_option *options, int argc,
                  char **argv)
{
    struct job job;
    struct tide_err err;
    (void)options;
    (void)argc;
    tide_status status = job_open(&job, config, &err);
    if (status == TIDE_OK)
        status = follow(&job, &err);
    while (status == TIDE_E_FENCED && job.writer && config->standby) {
        status = job_again(&job, &err);
        if (status == TIDE_OK)
            status = follow(&job, &err);
    }
    return finish(&job, argv[0], status, &err);
}

static tide_status wanted_range(const struct tide_option *options, struct tide_range *out,
                                struct tide_err *err)
{
    tide_status status =
        tide_option_u32(tide_option_find(options, "from"), 1, INT32_MAX, &out->from, err);
    if (status == TIDE_OK)
        status = tide_option_u32(tide_option_find(options, "to"), 1, INT32_MAX, &out->to, err);
    if (status == TIDE_OK && (!out->from || !out->to || out->from > out->to))
        status = tide_fail(err, TIDE_E_USAGE, "--from N --to M with N <= M");
    return status;
}

static tide_status fill_missing(struct job *job, struct tide_range wanted, struct tide_err *err)
{
    struct tide_range missing[RANGES_MAX];
    uint32_t count = 0;
    tide_status status = tide_writer_missing(job->writer, wanted, missing, RANGES_MAX, &count, err);
    uint32_t at = wanted.from;
    for (uint32_t i = 0; status == TIDE_OK && i <= count; i++) {
        uint32_t next = i < count ? missing[i].from : wanted.to + 1;
        if (next > at)
            tide_log(TIDE_INFO, "backfill.covered", "from=%u to=%u", at, next - 1);
        if (i < count)
            at = missing[i].to + 1;
    }
    for (uint32_t i = 0; status == TIDE_OK && i < count; i++) {
        tide_log(TIDE_INFO, "backfill.range", "from=%u to=%u", missing[i].from, missing[i].to);
        status = index_range(job, missing[i], err);
        if (status == TIDE_OK && job->ledger < missing[i].to)
            status = tide_fail(
                err, TIDE_E_MISSING,
                "backfill: the source has nothing after ledger %u, and %u was asked for",
                job->ledger < missing[i].from ? missing[i].from - 1 : job->ledger, missing[i].to);
    }
    if (status == TIDE_OK)
        status = tide_writer_finish(job->writer, err);
    return status == TIDE_OK ? tide_discovery_finish(job->discovery, job->writer, err) : status;
}

int tide_backfill_main(const struct tide_config *config, const struct tide_option *options,
                       int argc, char **argv)
{
    struct job job = { 0 };
    struct tide_err err;
    struct tide_range wanted = { 0 };
    (void)argc;
    tide_status status = wanted_range(options, &wanted, &err);
    if (status != TIDE_OK)
        return tide_command_end(argv[0], status, &err);
    status = job_open(&job, config, &err);
    if (status == TIDE_OK)
        status = fill_missing(&job, wanted, &err);
    return finish(&job, argv[0], status, &err);
}
