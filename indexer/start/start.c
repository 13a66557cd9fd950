/* The steps of a start: choose a checkpoint, prove it, read its buckets, store the rows. */
#include "indexer/start/start_impl.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/stop.h"

#include <stdlib.h>

/* ---- the checkpoint ---- */

/* Returns the newest checkpoint of which the next one is published too, so that its votes prove it;
 * 0: there is none yet. */
static uint32_t newest_provable(uint32_t newest)
{
    uint64_t whole = ((uint64_t)newest + 1) / CHECKPOINT_LEDGERS * CHECKPOINT_LEDGERS;
    return whole > CHECKPOINT_LEDGERS ? (uint32_t)(whole - CHECKPOINT_LEDGERS - 1) : 0;
}

/* ---- the headers ---- */

struct header_reading {
    struct start_chain *chain;
    struct start_chain before; /* as it was before this file */
};

static tide_status begin_headers(void *self, struct tide_err *err)
{
    struct header_reading *r = self;
    (void)err;
    *r->chain = r->before;
    return TIDE_OK;
}

/* Begins the chain with the checkpoint's header. */
static void take_first(struct start_chain *c, const struct tide_ledger_header *header,
                       const uint8_t hash[TIDE_HASH_BYTES])
{
    c->last = c->first;
    c->protocol = header->protocol;
    c->closed_ms = tide_header_closed_ms(header);
    memcpy(c->hashes[0], hash, TIDE_HASH_BYTES);
    memcpy(c->previous_hash, header->previous_hash, TIDE_HASH_BYTES);
    memcpy(c->bucket_hash, header->bucket_hash, TIDE_HASH_BYTES);
}

static tide_status take_header(void *self, const struct tide_ledger_header *header,
                               const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    struct header_reading *r = self;
    struct start_chain *c = r->chain;
    if (!c->last && header->sequence == c->first)
        take_first(c, header, hash);
    else if (c->last && header->sequence == c->last + 1 &&
             c->last - c->first < CHECKPOINT_LEDGERS) {
        if (memcmp(header->previous_hash, c->hashes[c->last - c->first], TIDE_HASH_BYTES) != 0)
            return tide_fail(err, TIDE_E_CHAIN, "ledger %u does not follow ledger %u",
                             header->sequence, c->last);
        c->last++;
        memcpy(c->hashes[c->last - c->first], hash, TIDE_HASH_BYTES);
    }
    return TIDE_OK;
}

static tide_status end_headers(void *self, struct tide_err *err)
{
    const struct header_reading *r = self;
    const struct start_chain *c = r->chain;
    return c->last ? TIDE_OK : tide_fail(err, TIDE_E_DECODE, "the file lacks ledger %u", c->first);
}

static tide_status read_headers(struct start *s, uint32_t checkpoint, struct tide_err *err)
{
    struct header_reading r = { .chain = &s->chain, .before = s->chain };
    const struct snapshot_headers sink = { begin_headers, take_header, end_headers, &r };
    return snapshot_headers_read(s->archive, checkpoint, &sink, err);
}

/* Reads the headers up to the end of the next checkpoint. An accelerated network has them in files
 * of 8 ledgers. */
static tide_status read_chain(struct start *s, struct tide_err *err)
{
    uint32_t last = checkpoint_of(s->ledger + 1);
    tide_status status = read_headers(s, last, err);
    for (uint32_t next = s->chain.last + SNAPSHOT_STEP_MIN;
         status == TIDE_OK && s->chain.last < last && next <= last; next += SNAPSHOT_STEP_MIN)
        status = read_headers(s, next, err);
    if (status == TIDE_OK && s->chain.last < last)
        status = tide_fail(err, TIDE_E_MISSING, "the archive lacks the header of ledger %u",
                           s->chain.last + 1);
    return status;
}

/* Sets s->ledger, and reads the chain from its header on. */
static tide_status choose_checkpoint(struct start *s, struct tide_err *err)
{
    const struct tide_quorum *quorum = &s->options->deployment->quorum;
    uint32_t newest;
    tide_status status = snapshot_newest(s->archive, &newest, err);
    if (status != TIDE_OK)
        return status;
    s->ledger = s->options->checkpoint;
    if (!s->ledger)
        s->ledger = quorum->count ? newest_provable(newest) : newest;
    if (!s->ledger || s->ledger >= INT32_MAX || s->ledger > newest)
        return tide_fail(err, TIDE_E_MISSING,
                         "from-checkpoint: the archive's newest checkpoint is ledger %u%s", newest,
                         s->ledger ? "" : ", and the one before it is needed, which it proves");
    s->chain = (struct start_chain){ .first = s->ledger };
    return read_headers(s, s->ledger, err);
}

/* ---- signatures ---- */

/* Without named validators an archive is believed only if the source of ledgers has the same
 * header: nothing of another chain is stored. */
static tide_status compare_source(struct start *s, struct tide_err *err)
{
    const struct tide_start_options *o = s->options;
    uint8_t hash[TIDE_HASH_BYTES];
    tide_status status = o->source_hash(o->source_self, s->ledger, hash, err);
    if (status == TIDE_OK && memcmp(hash, s->chain.hashes[0], sizeof hash) != 0)
        status = tide_fail(err, TIDE_E_CHAIN,
                           "from-checkpoint: ledger %u of the archive is not the source's ledger"
                           " %u: one of them is of another chain",
                           s->ledger, s->ledger);
    if (status == TIDE_E_MISSING)
        tide_fail_context(err, "from-checkpoint: the source does not confirm ledger %u", s->ledger);
    return status;
}

/* Proves the header if validators are named; otherwise compares it with the source's. */
static tide_status prove_header(struct start *s, struct tide_err *err)
{
    const struct tide_deployment *d = s->options->deployment;
    struct checkpoint_task task = { .archive = s->archive,
                                    .quorum = &d->quorum,
                                    .network_id = d->network_id,
                                    .first = s->ledger + 1,
                                    .last = checkpoint_of(s->ledger + 1),
                                    .hashes = (const uint8_t(*)[TIDE_HASH_BYTES])s->chain.hashes };
    if (!d->quorum.count)
        return compare_source(s, err);
    tide_status status = read_chain(s, err);
    task.hash_count = s->chain.last - s->chain.first + 1;
    if (status == TIDE_OK)
        status = checkpoint_prove(&task, &s->proof, err);
    if (status == TIDE_E_EOF)
        err->code = status = TIDE_E_MISSING;
    if (status == TIDE_E_CHAIN)
        tide_fail_context(err, "from-checkpoint: the archive's ledgers are not the network's");
    return status;
}

/* ---- the steps ---- */

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
    tide_status status = choose_checkpoint(s, err);
    if (status == TIDE_OK)
        status = prove_header(s, err);
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
