/* The steps of an audit: choose a checkpoint, prove its buckets, read them, compare. */
#include "indexer/audit/audit_impl.h"
#include "indexer/database/query.h"
#include "tidemark/hash.h"
#include "tidemark/stop.h"
#include "tidemark/text.h"

#include <stdlib.h>

static_assert(CHECKPOINT_LEDGERS % SNAPSHOT_STEP_MIN == 0,
              "the last ledger of a long checkpoint also ends a short one");

/* ---- the checkpoint ---- */

/* Sets a->ledger to the archive's newest checkpoint that the index has reached. */
static tide_status choose_checkpoint(struct audit *a, const struct tide_range *covered,
                                     struct tide_err *err)
{
    uint32_t newest, there;
    tide_status status = snapshot_newest(a->archive, &newest, err);
    if (status != TIDE_OK)
        return status;
    there = newest;
    uint32_t step = (uint64_t)newest % CHECKPOINT_LEDGERS == CHECKPOINT_LEDGERS - 1
                        ? CHECKPOINT_LEDGERS
                        : SNAPSHOT_STEP_MIN;
    if (newest > covered->to)
        newest -= (newest - covered->to + step - 1) / step * step;
    if (newest > covered->to || newest < covered->from)
        return tide_fail(err, TIDE_E_MISSING,
                         "no checkpoint of the archive, whose newest is ledger %u, is in the"
                         " indexed ledgers %u to %u",
                         there, covered->from, covered->to);
    a->ledger = newest;
    return TIDE_OK;
}

/* Sets a->ledger to the checkpoint that was asked for, or to the newest one. */
static tide_status find_checkpoint(struct audit *a, uint32_t asked, struct tide_err *err)
{
    struct tide_range covered = { 0, 0 };
    tide_status status =
        tide_query_covered(a->read, a->deployment, (struct tide_range){ 0, asked }, &covered, err);
    if (status != TIDE_OK)
        return status;
    a->from_ledger = covered.from;
    a->ledger = asked;
    return asked ? TIDE_OK : choose_checkpoint(a, &covered, err);
}

/* ---- the checkpoint's header ---- */

/* Reads the stored hashes from the checkpoint's ledger on: validators sign those of ledgers behind
 * it, too. */
static tide_status read_hashes(struct audit *a, struct tide_err *err)
{
    a->hash_count = CHECKPOINT_LEDGERS;
    tide_status status = tide_stored_hashes_so_far(a->read, a->deployment, a->ledger,
                                                   &a->hash_count, a->hashes, err);
    if (status == TIDE_OK && a->hash_count == 0)
        return tide_fail(err, TIDE_E_MISSING, "ledger %u is not in the tables", a->ledger);
    return status;
}

struct header_reading {
    struct audit *a;
    bool found;
};

static tide_status begin_headers(void *self, struct tide_err *err)
{
    struct header_reading *r = self;
    (void)err;
    r->found = false;
    return TIDE_OK;
}

static tide_status take_header(void *self, const struct tide_ledger_header *header,
                               const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    struct header_reading *r = self;
    if (header->sequence != r->a->ledger)
        return TIDE_OK;
    if (memcmp(hash, r->a->hashes[0], TIDE_HASH_BYTES) != 0)
        return tide_fail(err, TIDE_E_CHAIN, "ledger %u has another hash than the index",
                         r->a->ledger);
    memcpy(r->a->snapshot.bucket_hash, header->bucket_hash, TIDE_HASH_BYTES);
    r->a->protocol = header->protocol;
    r->found = true;
    return TIDE_OK;
}

static tide_status end_headers(void *self, struct tide_err *err)
{
    const struct header_reading *r = self;
    return r->found ? TIDE_OK
                    : tide_fail(err, TIDE_E_DECODE, "the file lacks ledger %u", r->a->ledger);
}

/* Reads the header of the checkpoint's ledger. It must be the one that the index stored. */
static tide_status read_header(struct audit *a, struct tide_err *err)
{
    struct header_reading r = { .a = a };
    const struct snapshot_headers sink = { begin_headers, take_header, end_headers, &r };
    tide_status status = read_hashes(a, err);
    return status == TIDE_OK ? snapshot_headers_read(a->archive, a->ledger, &sink, err) : status;
}

/* ---- its proof ---- */

/* Proves the ledger by votes of the ledgers after it. Without enough votes it stays linked. */
static tide_status prove_signed(struct audit *a, const struct tide_deployment *file,
                                struct tide_err *err)
{
    struct checkpoint_proof proof;
    const struct checkpoint_task task = { .archive = a->archive,
                                          .quorum = &file->quorum,
                                          .network_id = file->network_id,
                                          .first = a->ledger + 1,
                                          .last = checkpoint_of(a->ledger + 1),
                                          .hashes = (const uint8_t(*)[TIDE_HASH_BYTES])a->hashes,
                                          .hash_count = a->hash_count };
    assert(task.first <= task.last); /* a state's ledger is below INT32_MAX */
    tide_status status = checkpoint_prove(&task, &proof, err);
    if (status == TIDE_OK)
        printf("proof       signed: %u of %u validators signed ledger %u, which follows from it\n",
               tide_signers_count(&proof.signers), file->quorum.count, proof.ledger);
    else if (status != TIDE_E_CHAIN && status != TIDE_E_MEMORY && status != TIDE_E_STOPPED)
        printf("proof       linked, not signed yet: %s\n", err->text);
    else
        return status;
    return TIDE_OK;
}

/* Prints whether the header is signed by the validators of the deployment file, or linked alone.
 * TIDE_E_CHAIN if they signed another one. */
static tide_status print_proof(struct audit *a, struct tide_err *err)
{
    struct tide_deployment *file = NULL;
    tide_status status =
        *a->config->deployment ? tide_deployment_read(&file, a->config->deployment, err) : TIDE_OK;
    if (status == TIDE_OK && file && file->quorum.count)
        status = prove_signed(a, file, err);
    else if (status == TIDE_OK)
        printf("proof       linked: the hash follows from the chain of ledgers; the deployment file"
               " names no validators\n");
    free(file);
    return status;
}

/* Reads the checkpoint's state file from a place whose copy has the header's bucketListHash. */
static tide_status read_proven_state(struct audit *a, struct tide_err *err)
{
    char hex[2 * TIDE_HASH_BYTES + 1];
    a->snapshot.archive = a->archive;
    a->snapshot.ledger = a->ledger;
    tide_status status = snapshot_state(&a->snapshot, err);
    if (status != TIDE_OK)
        return status;
    tide_hex(hex, tide_slice_of(a->hashes[0], TIDE_HASH_BYTES));
    hex[sizeof hex - 1] = 0;
    printf("checkpoint  ledger %u, protocol %u: the archive's header is the stored one, %s\n",
           a->ledger, a->protocol, hex);
    return print_proof(a, err);
}

/* ---- the buckets ---- */

/* An earlier attempt at this bucket may have given rows: they are dropped. */
static tide_status begin_bucket(void *self, struct tide_err *err)
{
    return audit_rows_drop_bucket(self, err);
}

static tide_status end_bucket(void *self, struct tide_err *err)
{
    return audit_rows_flush(self, err);
}

static tide_status read_buckets(struct audit *a, struct tide_err *err)
{
    const struct snapshot_sink sink = { begin_bucket, audit_found_entry, end_bucket, a };
    /* Rows of the tables were sent before: those of a damaged bucket are dropped alone. */
    assert(a->rows[AUDIT_STORED].count == 0 && a->rows[AUDIT_STORED_TTL].count == 0);
    tide_status status = snapshot_read(&a->snapshot, &sink, err);
    if (status == TIDE_OK)
        printf("buckets     %u of them hash to their names: %" PRIu64 " records, %" PRIu64
               " bytes\n",
               a->snapshot.buckets, a->snapshot.records, a->snapshot.bytes);
    return status;
}

/* ---- the whole ---- */

/* Opens the decoder for the contracts whose rows are complete at the ledger. It fills history
 * tables alone, and discovers nothing. */
static tide_status open_decoder(struct audit *a, struct tide_err *err)
{
    assert(!a->contracts && !a->batch && !a->decode);
    tide_status status =
        tide_query_contracts(a->read, a->deployment, a->ledger + 1, &a->contracts, err);
    if (status != TIDE_OK)
        return status;
    struct tide_decode_options options = { .deployment = a->contracts,
                                           .proof = TIDE_PROOF_CHAIN,
                                           .history_only = true,
                                           .known_only = true };
    a->batch = malloc(sizeof *a->batch);
    if (!a->batch)
        return tide_fail(err, TIDE_E_MEMORY, "audit");
    tide_batch_init(a->batch);
    return tide_decode_open(&a->decode, &options, err);
}

static tide_status open_database(struct audit *a, struct tide_err *err)
{
    tide_status status = tide_query_open(&a->read, a->config, "tidemark-audit", err);
    if (status == TIDE_OK)
        status = tide_query_deployment(a->read, a->config, &a->deployment, err);
    if (status == TIDE_OK)
        status = tide_query_connect(&a->temp, a->config, "tidemark-audit", true, err);
    return status == TIDE_OK ? audit_rows_open(a, err) : status;
}

/* Reads the tables as of the ledger, and ends the snapshot: the server need not keep old rows while
 * the buckets arrive. */
static tide_status read_stored(struct audit *a, struct tide_err *err)
{
    tide_status status = audit_stored_read(a, err);
    tide_pg_close(a->read);
    a->read = NULL;
    return status;
}

static tide_status run_audit(struct audit *a, uint32_t checkpoint, struct tide_err *err)
{
    tide_status status = find_checkpoint(a, checkpoint, err);
    if (status == TIDE_OK)
        status = read_header(a, err);
    if (status == TIDE_OK)
        status = read_proven_state(a, err);
    if (status == TIDE_OK)
        status = open_decoder(a, err);
    if (status == TIDE_OK)
        status = read_stored(a, err);
    if (status == TIDE_OK)
        status = read_buckets(a, err);
    return status == TIDE_OK ? audit_compare(a, err) : status;
}

static void close_audit(struct audit *a)
{
    archive_close(a->archive);
    audit_rows_close(a);
    tide_decode_close(a->decode);
    if (a->batch)
        tide_batch_release(a->batch);
    free(a->batch);
    free(a->contracts);
    key_filter_close(&a->keys);
    tide_pg_close(a->read);
    tide_pg_close(a->temp);
}

tide_status tide_audit(const struct tide_audit_options *options, struct tide_err *err)
{
    struct audit a = { .config = options->config };
    const struct archive_options places = { .places = options->config->archive,
                                            .config = options->config,
                                            .stopping = tide_stop_asked };
    tide_status status = open_database(&a, err);
    if (status == TIDE_OK)
        status = key_filter_open(&a.keys, err);
    if (status == TIDE_OK)
        status = archive_open(&a.archive, &places, err);
    if (status == TIDE_OK)
        status = run_audit(&a, options->checkpoint, err);
    close_audit(&a);
    return status;
}
