/* The steps of a start: choose a checkpoint, prove it, read its buckets, store the rows. */
#include "indexer/start/start_impl.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/stop.h"

#include <stdlib.h>

/* Reading buckets takes minutes: each piece that arrives is progress. */
static bool is_stopping(void *self)
{
    tide_liveness_mark();
    return tide_stop_asked(self);
}

static tide_status store_rows(struct start *s, struct tide_err *err)
{
    struct tide_start start = { .ledger = s->ledger,
                                .protocol = s->chain.protocol,
                                .closed_ms = s->chain.closed_ms,
                                .signed_ledger = s->proof.ledger,
                                .rows = start_rows_give,
                                .self = s };
    struct tide_buf signers;
    tide_status status = TIDE_OK;
    memcpy(start.hash, s->chain.hashes[0], TIDE_HASH_BYTES);
    memcpy(start.previous_hash, s->chain.previous_hash, TIDE_HASH_BYTES);
    tide_buf_init(&signers, 0);
    if (s->proof.ledger)
        start.signed_by =
            checkpoint_put_signers(&s->options->deployment->quorum, &s->proof.signers, &signers);
    if (s->proof.ledger && !start.signed_by)
        status = tide_fail(err, TIDE_E_MEMORY, "signers");
    if (status == TIDE_OK)
        status = tide_writer_start(s->options->writer, &start, err);
    tide_buf_release(&signers);
    return status;
}

static void log_start(const struct start *s)
{
    tide_log(TIDE_INFO, "start.done",
             "ledger=%u proof=%s signed_ledger=%u signers=%u entries=%" PRIu64 " archived=%" PRIu64
             " buckets=%u bytes=%" PRIu64 " contracts=%u",
             s->ledger, s->proof.ledger ? "signed" : "linked", s->proof.ledger,
             tide_signers_count(&s->proof.signers), s->entries, s->archived, s->snapshot.buckets,
             s->snapshot.bytes, tide_redecode_contracts(s->decode)->contract_count);
}

static tide_status run_start(struct start *s, struct tide_err *err)
{
    tide_status status = start_choose(s, err);
    if (status == TIDE_OK)
        status = start_prove(s, err);
    if (status != TIDE_OK)
        return status;
    s->snapshot = (struct snapshot){ .archive = s->archive, .ledger = s->ledger };
    memcpy(s->snapshot.bucket_hash, s->chain.bucket_hash, TIDE_HASH_BYTES);
    status = snapshot_state(&s->snapshot, err);
    if (status == TIDE_OK)
        tide_log(TIDE_INFO, "start.proven", "ledger=%u protocol=%u proof=%s", s->ledger,
                 s->chain.protocol, s->proof.ledger ? "signed" : "linked");
    if (status == TIDE_OK)
        status = start_found_open(s, err);
    if (status == TIDE_OK)
        status = start_rows_open(s, err);
    if (status == TIDE_OK)
        status = start_rows_find(s, err);
    if (status == TIDE_OK)
        status = store_rows(s, err);
    if (status == TIDE_OK)
        log_start(s);
    return status;
}

tide_status tide_start(const struct tide_start_options *options, struct tide_err *err)
{
    struct start *s = calloc(1, sizeof *s);
    const struct archive_options places = { .places = options->config->archive,
                                            .config = options->config,
                                            .stopping = is_stopping };
    if (!s)
        return tide_fail(err, TIDE_E_MEMORY, "a start");
    s->options = options;
    tide_status status = archive_open(&s->archive, &places, err);
    if (status == TIDE_OK)
        status = run_start(s, err);
    archive_close(s->archive);
    start_rows_close(s);
    start_found_close(s);
    free(s);
    return status;
}
