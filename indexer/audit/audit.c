/* The steps of an audit: choose a checkpoint, prove its buckets, read them, compare. */
#include "indexer/archive/checkpoint.h"
#include "indexer/audit/audit_impl.h"
#include "indexer/database/query.h"
#include "tidemark/hash.h"
#include "tidemark/stop.h"
#include "tidemark/text.h"

#include <stdlib.h>

/* stellar-core's constant for accelerated test networks, beside CHECKPOINT_LEDGERS. */
enum { TEST_CHECKPOINT_LEDGERS = 8 };
static_assert(CHECKPOINT_LEDGERS % TEST_CHECKPOINT_LEDGERS == 0,
              "the last ledger of a long checkpoint also ends a short one");
static_assert(2 * HISTORY_LEVELS <= INT16_MAX, "a bucket's rank is stored as int2");

static const struct archive_limits state_limits = { .packed_max = HISTORY_STATE_BYTES,
                                                    .unpacked_max = HISTORY_STATE_BYTES };
static const struct archive_limits ledger_limits = { .packed_max = 16 << 20,
                                                     .unpacked_max = 64 << 20,
                                                     .expansion_max = 1000 };
/* A bucket is as large as the network's state, and entries of zeros pack well: only hours say that
 * a read has no end. Bytes that are no sorted entries end it at once. */
static const struct archive_limits bucket_limits = { .packed_max = UINT64_C(256) << 30,
                                                     .unpacked_max = UINT64_C(1) << 40,
                                                     .timeout_ms = 6 * 3600 * 1000 };

/* ---- the checkpoint's state ---- */

struct state_reading {
    struct audit *a;
    bool proven; /* the state must be that of a->ledger, whose bucket_hash is known */
    struct tide_buf json;
};

static tide_status begin_state(void *self, struct tide_err *err)
{
    struct state_reading *r = self;
    (void)err;
    tide_buf_reset(&r->json);
    return TIDE_OK;
}

static tide_status put_state(void *self, tide_slice piece, struct tide_err *err)
{
    struct state_reading *r = self;
    tide_buf_slice(&r->json, piece);
    return r->json.failed ? tide_fail(err, TIDE_E_LIMIT, "above %u bytes", HISTORY_STATE_BYTES)
                          : TIDE_OK;
}

/* Compares the hash of all buckets with the header's. It proves their names. */
static tide_status prove_state(const struct audit *a, struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    if (a->state.current_ledger != a->ledger)
        return tide_fail(err, TIDE_E_CHAIN, "is the state of ledger %u", a->state.current_ledger);
    history_state_hash(hash, &a->state);
    if (memcmp(hash, a->bucket_hash, TIDE_HASH_BYTES) == 0)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_CHAIN,
                     "the archive's buckets of ledger %u do not hash to its header's"
                     " bucketListHash",
                     a->ledger);
}

static tide_status end_state(void *self, struct tide_err *err)
{
    struct state_reading *r = self;
    tide_status status = history_state_parse(&r->a->state, tide_buf_view(&r->json), err);
    return status == TIDE_OK && r->proven ? prove_state(r->a, err) : status;
}

static tide_status read_state(struct audit *a, const char *key, bool proven, struct tide_err *err)
{
    struct state_reading r = { .a = a, .proven = proven };
    const struct archive_sink sink = { begin_state, put_state, end_state, &r };
    tide_buf_init(&r.json, HISTORY_STATE_BYTES);
    tide_status status = archive_read(a->archive, key, &state_limits, &sink, err);
    tide_buf_release(&r.json);
    return status;
}

/* Sets a->ledger to the archive's newest checkpoint that the index has reached. */
static tide_status choose_checkpoint(struct audit *a, const struct tide_range *covered,
                                     struct tide_err *err)
{
    tide_status status = read_state(a, ARCHIVE_NEWEST_KEY, false, err);
    if (status != TIDE_OK)
        return status;
    uint32_t newest = a->state.current_ledger;
    uint32_t step = (uint64_t)newest % CHECKPOINT_LEDGERS == CHECKPOINT_LEDGERS - 1
                        ? CHECKPOINT_LEDGERS
                        : TEST_CHECKPOINT_LEDGERS;
    if (newest > covered->to)
        newest -= (newest - covered->to + step - 1) / step * step;
    if (newest > covered->to || newest < covered->from)
        return tide_fail(err, TIDE_E_MISSING,
                         "no checkpoint of the archive, whose newest is ledger %u, is in the"
                         " indexed ledgers %u to %u",
                         a->state.current_ledger, covered->from, covered->to);
    a->ledger = newest;
    return TIDE_OK;
}

/* Sets a->ledger to the checkpoint that was asked for, or to the newest one. */
static tide_status find_checkpoint(struct audit *a, uint32_t asked, struct tide_err *err)
{
    struct tide_range covered = { 0, 0 };
    tide_status status = tide_query_covered(a->read, a->deployment, &covered, err);
    if (status != TIDE_OK)
        return status;
    a->from_ledger = covered.from;
    a->ledger = asked;
    if (asked && (asked < covered.from || asked > covered.to))
        return tide_fail(err, TIDE_E_MISSING, "ledgers %u to %u are indexed, not %u", covered.from,
                         covered.to, asked);
    return asked ? TIDE_OK : choose_checkpoint(a, &covered, err);
}

/* ---- the checkpoint's header ---- */

tide_status audit_stored_hash(struct audit *a, uint32_t of, uint8_t hash[TIDE_HASH_BYTES],
                              struct tide_err *err)
{
    struct tide_pg_rows rows;
    char id[8], ledger[16];
    snprintf(id, sizeof id, "%u", a->deployment);
    snprintf(ledger, sizeof ledger, "%u", of);
    tide_status status = tide_pg_query(
        a->read, &rows, "SELECT hash FROM chain.ledger WHERE deployment = $1 AND ledger = $2",
        (const char *[]){ id, ledger }, 2, err);
    if (status == TIDE_OK &&
        (rows.count == 0 || !tide_pg_bytes(&rows, 0, 0, hash, TIDE_HASH_BYTES)))
        status = tide_fail(err, TIDE_E_MISSING, "ledger %u is not in the tables", of);
    tide_pg_rows_release(&rows);
    return status;
}

struct header_reading {
    struct audit *a;
    struct record_stream records;
    bool found;
};

static tide_status take_header(void *self, tide_slice record, struct tide_err *err)
{
    struct header_reading *r = self;
    struct tide_ledger_header header = { 0 };
    struct tide_xdr x = tide_xdr_of(record);
    uint8_t hash[TIDE_HASH_BYTES];
    tide_ledger_header_read(&x, &header);
    if (tide_xdr_end(&x) != TIDE_OK)
        return tide_xdr_error(&x, err, "a ledger header");
    if (header.sequence != r->a->ledger)
        return TIDE_OK;
    tide_sha256(hash, header.header_xdr);
    if (memcmp(hash, r->a->header_hash, TIDE_HASH_BYTES) != 0)
        return tide_fail(err, TIDE_E_CHAIN, "ledger %u has another hash than the index",
                         r->a->ledger);
    memcpy(r->a->bucket_hash, header.bucket_hash, TIDE_HASH_BYTES);
    r->a->protocol = header.protocol;
    r->found = true;
    return TIDE_OK;
}

static tide_status begin_headers(void *self, struct tide_err *err)
{
    struct header_reading *r = self;
    (void)err;
    record_stream_reset(&r->records);
    r->found = false;
    return TIDE_OK;
}

static tide_status put_headers(void *self, tide_slice piece, struct tide_err *err)
{
    struct header_reading *r = self;
    return record_stream_push(&r->records, piece, err);
}

static tide_status end_headers(void *self, struct tide_err *err)
{
    struct header_reading *r = self;
    tide_status status = record_stream_end(&r->records, err);
    if (status == TIDE_OK && !r->found)
        status = tide_fail(err, TIDE_E_DECODE, "the file lacks ledger %u", r->a->ledger);
    return status;
}

/* Reads the header of the checkpoint's ledger. It must be the one that the index stored. */
static tide_status read_header(struct audit *a, struct tide_err *err)
{
    enum { HEADER_MAX = 64 << 10 };
    struct header_reading r = { .a = a };
    const struct archive_sink sink = { begin_headers, put_headers, end_headers, &r };
    char key[ARCHIVE_KEY_MAX];
    tide_status status = audit_stored_hash(a, a->ledger, a->header_hash, err);
    if (status != TIDE_OK)
        return status;
    archive_file_key(key, ARCHIVE_LEDGER, a->ledger);
    record_stream_init(&r.records, HEADER_MAX, take_header, &r);
    status = archive_read(a->archive, key, &ledger_limits, &sink, err);
    record_stream_release(&r.records);
    return status;
}

/* Reads the checkpoint's state from a place that has the one of the header. */
static tide_status read_proven_state(struct audit *a, struct tide_err *err)
{
    char key[ARCHIVE_KEY_MAX], hex[2 * TIDE_HASH_BYTES + 1];
    archive_file_key(key, ARCHIVE_STATE, a->ledger);
    tide_status status = read_state(a, key, true, err);
    if (status != TIDE_OK)
        return status;
    tide_hex(hex, tide_slice_of(a->header_hash, TIDE_HASH_BYTES));
    hex[2 * TIDE_HASH_BYTES] = 0;
    printf("checkpoint  ledger %u, protocol %u: the archive's header is the stored one, %s\n",
           a->ledger, a->protocol, hex);
    return audit_print_proof(a, err);
}

/* ---- the buckets ---- */

/* The bucket that bucket_reader begins with. */
struct bucket_reading {
    struct audit *a;
    const uint8_t *name;
    enum bucket_list list;
};

/* An earlier attempt at this bucket may have given rows: they are dropped. */
static tide_status begin_bucket(void *self, struct tide_err *err)
{
    struct bucket_reading *r = self;
    bucket_reader_begin(&r->a->bucket, r->list, r->name);
    assert(r->a->rank < 2 * HISTORY_LEVELS); /* read_list counts them */
    return audit_rows_drop_bucket(r->a, err);
}

static tide_status put_bucket(void *self, tide_slice piece, struct tide_err *err)
{
    struct bucket_reading *r = self;
    return bucket_reader_push(&r->a->bucket, piece, err);
}

static tide_status end_bucket(void *self, struct tide_err *err)
{
    struct bucket_reading *r = self;
    return bucket_reader_end(&r->a->bucket, err);
}

static tide_status read_bucket(struct audit *a, enum bucket_list list, const uint8_t *name,
                               struct tide_err *err)
{
    static const uint8_t empty[TIDE_HASH_BYTES] = { 0 };
    struct bucket_reading r = { a, name, list };
    const struct archive_sink sink = { begin_bucket, put_bucket, end_bucket, &r };
    char key[ARCHIVE_KEY_MAX];
    if (memcmp(name, empty, sizeof empty) == 0)
        return TIDE_OK;
    archive_bucket_key(key, name);
    tide_status status = archive_read(a->archive, key, &bucket_limits, &sink, err);
    if (status == TIDE_OK)
        status = audit_rows_flush(a, err);
    a->buckets++;
    assert(a->buckets <= 2 * 2 * HISTORY_LEVELS); /* two lists */
    a->bytes += a->bucket.bytes;
    a->records += a->bucket.count;
    return status;
}

/* Reads a list from its youngest bucket to its oldest one. */
static tide_status read_list(struct audit *a, enum bucket_list list,
                             const struct history_level levels[HISTORY_LEVELS],
                             struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < HISTORY_LEVELS && status == TIDE_OK; i++) {
        a->rank = 2 * i;
        status = read_bucket(a, list, levels[i].curr, err);
        a->rank = 2 * i + 1;
        if (status == TIDE_OK)
            status = read_bucket(a, list, levels[i].snap, err);
    }
    return status;
}

static tide_status read_buckets(struct audit *a, struct tide_err *err)
{
    /* Rows of the tables were sent before: those of a damaged bucket are dropped alone. */
    assert(a->rows[AUDIT_STORED].count == 0 && a->rows[AUDIT_STORED_TTL].count == 0);
    bucket_reader_init(&a->bucket, audit_found_entry, a);
    tide_status status = read_list(a, BUCKET_LIST_LIVE, a->state.live, err);
    if (status == TIDE_OK)
        status = read_list(a, BUCKET_LIST_HOT_ARCHIVE, a->state.hot, err);
    bucket_reader_release(&a->bucket);
    if (status == TIDE_OK)
        printf("buckets     %u of them hash to their names: %" PRIu64 " records, %" PRIu64
               " bytes\n",
               a->buckets, a->records, a->bytes);
    return status;
}

/* ---- the whole ---- */

/* Opens the decoder for the contracts whose rows are complete at the ledger. It fills history
 * tables alone, and discovers nothing. */
static tide_status open_decoder(struct audit *a, struct tide_err *err)
{
    bool wanted[TIDE_TABLES_MAX] = { false };
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    for (uint32_t i = 0; i < count; i++)
        wanted[i] = tables[i].kind == TIDE_TABLE_HISTORY;
    assert(!a->contracts && !a->batch && !a->decode);
    tide_status status =
        tide_query_contracts(a->read, a->deployment, a->ledger + 1, &a->contracts, err);
    if (status != TIDE_OK)
        return status;
    struct tide_decode_options options = {
        .deployment = a->contracts, .proof = TIDE_PROOF_CHAIN, .tables = wanted, .known_only = true
    };
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
        status = tide_query_scope(a->read, a->deployment, &a->scope, err);
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
