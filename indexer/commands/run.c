/* The commands run and backfill: both index ranges of ledgers by the same path, source -> decode ->
 * write. */
#include "indexer/base/supervise.h"
#include "indexer/commands/command.h"
#include "indexer/follow/follow.h"
#include "indexer/prove/prover.h"
#include "indexer/start/start.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

enum { RANGES_MAX = 256 };

/* The option --from-checkpoint. */
struct checkpoint {
    bool given;
    uint32_t ledger; /* 0: latest */
};

/* Returns the state that the last heartbeat shows. frozen means that an operator must act. */
static const char *state_at_end(tide_status status)
{
    if (status == TIDE_E_POISON)
        return "quarantine";
    return status == TIDE_OK || status == TIDE_E_STOPPED ? "stopped" : "frozen";
}

/* Writes the reason of the end to the database and the log, closes the job, and returns the exit
 * code. */
static int finish_job(struct tide_follow *job, const char *command, tide_status status,
                      struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    bool well = status == TIDE_OK || status == TIDE_E_STOPPED;
    tide_supervise_stopping(job->supervise);
    if (job->writer && status != TIDE_E_FENCED) {
        tide_follow_heartbeat(job, state_at_end(status), well ? NULL : err->text);
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
    tide_follow_close(job);
    return tide_status_exit(status);
}

/* Finds the first ledger to index: behind the cursor, or the first of an empty index. */
static tide_status find_start(struct tide_follow *job, struct tide_range *range,
                              struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t next = tide_writer_next(job->writer, hash);
    const struct tide_config *c = job->config;
    *range = (struct tide_range){ next ? next : tide_follow_first_ledger(job), 0 };
    job->ledger = next ? next - 1 : 0;
    if (next && c->first_ledger > next)
        return tide_fail(
            err, TIDE_E_CONFLICT,
            "first_ledger=%u would leave a gap: ledgers up to %u are indexed; unset it",
            c->first_ledger, next - 1);
    return TIDE_OK;
}

/* Handles a source without a new ledger. That is an error only for an empty index; otherwise the
 * index may be at the tip. */
static tide_status handle_nothing_new(const struct tide_follow *job, struct tide_range range,
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

/* Handles --from-checkpoint where something is indexed. A service starts again with the same
 * command, so an index that began so goes on. */
static tide_status check_started(struct tide_follow *job, const struct checkpoint *checkpoint,
                                 struct tide_err *err)
{
    uint32_t ledger;
    tide_status status = tide_writer_started(job->writer, &ledger, err);
    if (status != TIDE_OK)
        return status;
    if (ledger && (!checkpoint->ledger || checkpoint->ledger == ledger)) {
        tide_log(TIDE_INFO, "start.before", "ledger=%u", ledger);
        return TIDE_OK;
    }
    return ledger ? tide_fail(err, TIDE_E_CONFLICT,
                              "from-checkpoint: the index began at checkpoint %u, not %u", ledger,
                              checkpoint->ledger)
                  : tide_fail(err, TIDE_E_CONFLICT,
                              "from-checkpoint: the index is not empty: run without it, or use"
                              " another database");
}

static tide_status source_hash(void *self, uint32_t ledger, uint8_t hash[TIDE_HASH_BYTES],
                               struct tide_err *err)
{
    return tide_follow_hash(self, ledger, hash, err);
}

/* Begins an empty index with the state of a checkpoint. */
static tide_status start_at(struct tide_follow *job, const struct checkpoint *checkpoint,
                            struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    const struct tide_start_options start = { .config = job->config,
                                              .deployment = job->deployment,
                                              .writer = job->writer,
                                              .checkpoint = checkpoint->ledger,
                                              .source_hash = source_hash,
                                              .source_self = job };
    if (!checkpoint->given)
        return TIDE_OK;
    if (tide_writer_next(job->writer, hash))
        return check_started(job, checkpoint, err);
    tide_follow_heartbeat(job, "starting", NULL);
    return tide_start(&start, err);
}

static tide_status follow_tip(struct tide_follow *job, const struct checkpoint *checkpoint,
                              struct tide_err *err)
{
    struct tide_range range = { 0 };
    tide_status status = start_at(job, checkpoint, err);
    if (status == TIDE_OK)
        status = find_start(job, &range, err);
    uint32_t before = job->ledger;
    /* An archive that is believed, because no validators are named, proves nothing. */
    if (status == TIDE_OK && (!checkpoint->given || job->deployment->quorum.count))
        status = tide_follow_prove(job, err);
    if (status == TIDE_OK)
        status = tide_follow_index(job, range, err);
    if (status == TIDE_OK && job->ledger == before)
        status = handle_nothing_new(job, range, err);
    if (status == TIDE_OK)
        status = tide_discovery_finish(job->discovery, job->writer, err);
    return status == TIDE_OK ? tide_prover_finish(job->prover, err) : status;
}

static tide_status read_checkpoint(const struct tide_config *config,
                                   const struct tide_option *options, struct checkpoint *out,
                                   struct tide_err *err)
{
    const struct tide_option *option = tide_option_find(options, "from-checkpoint");
    *out = (struct checkpoint){ .given = option->value != NULL };
    if (!out->given)
        return TIDE_OK;
    if (!*config->archive)
        return tide_fail(err, TIDE_E_CONFIG, "archive: no history archive is set");
    return strcmp(option->value, "latest") == 0
               ? TIDE_OK
               : tide_option_u32(option, 1, INT32_MAX - 1, &out->ledger, err);
}

/* A writer that lost its lease becomes a standby in the same process, unless standby is off. */
int tide_run_main(const struct tide_config *config, const struct tide_option *options, int argc,
                  char **argv)
{
    struct tide_follow job;
    struct tide_err err;
    struct checkpoint checkpoint;
    (void)argc;
    tide_status status = read_checkpoint(config, options, &checkpoint, &err);
    if (status != TIDE_OK)
        return tide_command_end(argv[0], status, &err);
    status = tide_follow_open(&job, config, &err);
    if (status == TIDE_OK)
        status = follow_tip(&job, &checkpoint, &err);
    while (status == TIDE_E_FENCED && job.writer && config->standby) {
        status = tide_follow_reopen(&job, &err);
        if (status == TIDE_OK)
            status = follow_tip(&job, &checkpoint, &err);
    }
    return finish_job(&job, argv[0], status, &err);
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

/* Indexes the range, and fails if the source ends before it. */
static tide_status fill_range(struct tide_follow *job, struct tide_range range,
                              struct tide_err *err)
{
    tide_log(TIDE_INFO, "backfill.range", "from=%u to=%u", range.from, range.to);
    tide_status status = tide_follow_index(job, range, err);
    if (status == TIDE_OK && job->ledger < range.to)
        status = tide_fail(err, TIDE_E_MISSING,
                           "backfill: the source has nothing after ledger %u, and %u was asked for",
                           job->ledger < range.from ? range.from - 1 : job->ledger, range.to);
    return status;
}

/* ---- below the state of a checkpoint ---- */

/* The past below a checkpoint is filled from its first ledger on, in order: all of it becomes
 * visible at once. */
static tide_status check_past(const struct tide_follow *job, struct tide_range wanted,
                              const struct tide_fill *fill, struct tide_err *err)
{
    uint32_t first = tide_follow_first_ledger(job);
    if (fill->first && (wanted.from < fill->first || wanted.from > fill->next))
        return tide_fail(err, TIDE_E_CONFLICT,
                         "backfill: ledgers %u to %u below the checkpoint %u are loaded: go on with"
                         " --from %u, or drop them with --anew",
                         fill->first, fill->next - 1, fill->start, fill->next);
    if (!fill->first && first && wanted.from > first)
        return tide_fail(err, TIDE_E_CONFLICT,
                         "backfill: the past below the checkpoint %u is filled from its first"
                         " ledger on: --from %u",
                         fill->start, first);
    return TIDE_OK;
}

/* Loads ledgers below the checkpoint. The checkpoint's own ledger makes them visible. */
static tide_status fill_past(struct tide_follow *job, struct tide_range wanted,
                             const struct tide_fill *fill, struct tide_err *err)
{
    uint32_t from = fill->first ? fill->next : wanted.from;
    struct tide_range below = { from, wanted.to < fill->start ? wanted.to : fill->start - 1 };
    tide_status status = check_past(job, wanted, fill, err);
    if (status == TIDE_OK && below.from <= below.to)
        status = fill_range(job, below, err);
    if (status != TIDE_OK)
        return status;
    if (below.to + 1 < fill->start) {
        tide_log(TIDE_INFO, "backfill.held", "to=%u checkpoint=%u", below.to, fill->start);
        return TIDE_OK;
    }
    return fill_range(job, (struct tide_range){ fill->start, fill->start }, err);
}

/* Does nothing if no past is missing, or none of `wanted`. The checkpoint's own ledger is covered:
 * it is read again only behind all ledgers below. */
static tide_status fill_below(struct tide_follow *job, struct tide_range wanted, bool anew,
                              struct tide_err *err)
{
    struct tide_fill fill;
    uint32_t held = tide_writer_held_before(job->writer);
    if (wanted.from > held || (anew && wanted.from == held))
        return TIDE_OK;
    tide_status status = tide_writer_fill(job->writer, anew, &fill, err);
    if (status != TIDE_OK)
        return status;
    bool last = wanted.from == held && fill.next == held;
    return wanted.from < held || last ? fill_past(job, wanted, &fill, err) : TIDE_OK;
}

/* Indexes the ranges of `wanted` that are not covered, or whose rows are missing, one after the
 * other. */
static tide_status fill_missing(struct tide_follow *job, struct tide_range wanted, bool anew,
                                struct tide_err *err)
{
    assert(wanted.from > 0 && wanted.from <= wanted.to);
    struct tide_range missing[RANGES_MAX];
    uint32_t count = 0;
    tide_status status = tide_writer_uncover(job->writer, err);
    if (status == TIDE_OK)
        status = fill_below(job, wanted, anew, err);
    if (status == TIDE_OK)
        status = tide_writer_missing(job->writer, wanted, missing, RANGES_MAX, &count, err);
    assert(count <= RANGES_MAX);
    uint32_t at = wanted.from;
    for (uint32_t i = 0; status == TIDE_OK && i <= count; i++) {
        uint32_t next = i < count ? missing[i].from : wanted.to + 1;
        if (next > at)
            tide_log(TIDE_INFO, "backfill.covered", "from=%u to=%u", at, next - 1);
        if (i < count)
            at = missing[i].to + 1;
    }
    assert(status != TIDE_OK || at <= wanted.to + 1);
    for (uint32_t i = 0; status == TIDE_OK && i < count; i++)
        status = fill_range(job, missing[i], err);
    if (status == TIDE_OK)
        status = tide_writer_finish(job->writer, err);
    if (status != TIDE_OK || tide_writer_is_loading(job->writer))
        return status; /* a part of the past below a checkpoint waits for the rest */
    return tide_discovery_finish(job->discovery, job->writer, err);
}

int tide_backfill_main(const struct tide_config *config, const struct tide_option *options,
                       int argc, char **argv)
{
    struct tide_follow job = { 0 };
    struct tide_err err;
    struct tide_range wanted = { 0 };
    (void)argc;
    tide_status status = wanted_range(options, &wanted, &err);
    if (status != TIDE_OK)
        return tide_command_end(argv[0], status, &err);
    status = tide_follow_open(&job, config, &err);
    if (status == TIDE_OK)
        status = fill_missing(&job, wanted, tide_option_given(options, "anew"), &err);
    return finish_job(&job, argv[0], status, &err);
}
