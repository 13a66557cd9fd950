/* Reads the state of a checkpoint: headers, state file, buckets. */
#include "indexer/archive/snapshot.h"

static_assert(2 * HISTORY_LEVELS <= INT16_MAX, "a bucket's rank is stored as int2");

static const struct archive_limits state_limits = { .packed_max = HISTORY_STATE_BYTES,
                                                    .unpacked_max = HISTORY_STATE_BYTES };
/* A bucket is as large as the network's state, and entries of zeros pack well: only hours say that
 * a read has no end. Bytes that are no sorted entries end it at once. */
static const struct archive_limits bucket_limits = { .packed_max = UINT64_C(256) << 30,
                                                     .unpacked_max = UINT64_C(1) << 40,
                                                     .timeout_ms = 6 * 3600 * 1000 };

/* ---- the state file ---- */

struct state_reading {
    struct snapshot *s;
    bool proven; /* s->bucket_hash is known: the state must be that of s->ledger */
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

/* Proves the buckets' names, which are hashes: compares their hash with the header's. */
static tide_status prove_state(const struct snapshot *s, struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    if (s->state.current_ledger != s->ledger)
        return tide_fail(err, TIDE_E_CHAIN, "is the state of ledger %u", s->state.current_ledger);
    history_state_hash(hash, &s->state);
    if (memcmp(hash, s->bucket_hash, TIDE_HASH_BYTES) == 0)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_CHAIN,
                     "the archive's buckets of ledger %u do not hash to its header's"
                     " bucketListHash",
                     s->ledger);
}

static tide_status end_state(void *self, struct tide_err *err)
{
    struct state_reading *r = self;
    tide_status status = history_state_parse(&r->s->state, tide_buf_view(&r->json), err);
    return status == TIDE_OK && r->proven ? prove_state(r->s, err) : status;
}

static tide_status read_state(struct snapshot *s, const char *key, bool proven,
                              struct tide_err *err)
{
    struct state_reading r = { .s = s, .proven = proven };
    const struct archive_sink sink = { begin_state, put_state, end_state, &r, NULL };
    tide_buf_init(&r.json, HISTORY_STATE_BYTES);
    tide_status status = archive_read(s->archive, key, &state_limits, &sink, err);
    tide_buf_release(&r.json);
    return status;
}

tide_status snapshot_newest(struct archive *archive, uint32_t *ledger, struct tide_err *err)
{
    struct snapshot s = { .archive = archive };
    tide_status status = read_state(&s, ARCHIVE_NEWEST_KEY, false, err);
    *ledger = status == TIDE_OK ? s.state.current_ledger : 0;
    return status;
}

tide_status snapshot_state(struct snapshot *s, struct tide_err *err)
{
    char key[ARCHIVE_KEY_MAX];
    archive_file_key(key, ARCHIVE_STATE, s->ledger);
    return read_state(s, key, true, err);
}

/* ---- headers ---- */

static tide_status take_header(void *self, tide_slice record, struct tide_err *err)
{
    const struct snapshot_headers *sink = self;
    struct tide_ledger_header header = { 0 };
    struct tide_xdr x = tide_xdr_of(record);
    uint8_t hash[TIDE_HASH_BYTES];
    tide_ledger_header_read(&x, &header);
    if (tide_xdr_end(&x) != TIDE_OK)
        return tide_xdr_error(&x, err, "a ledger header");
    tide_sha256(hash, header.header_xdr);
    return sink->header(sink->self, &header, hash, err);
}

static tide_status begin_headers(void *self, struct tide_err *err)
{
    const struct snapshot_headers *sink = self;
    return sink->begin ? sink->begin(sink->self, err) : TIDE_OK;
}

static tide_status end_headers(void *self, struct tide_err *err)
{
    const struct snapshot_headers *sink = self;
    return sink->end(sink->self, err);
}

tide_status snapshot_headers_read(struct archive *archive, uint32_t checkpoint,
                                  const struct snapshot_headers *headers, struct tide_err *err)
{
    const struct archive_records records = { begin_headers, take_header, end_headers,
                                             (void *)(uintptr_t)headers, NULL };
    return archive_read_records(archive, ARCHIVE_LEDGER, checkpoint, &records, err);
}

/* ---- the buckets ---- */

/* The bucket that bucket_reader begins with. */
struct bucket_reading {
    struct snapshot *s;
    const struct snapshot_sink *sink;
    const uint8_t *name;
    enum bucket_list list;
};

static tide_status begin_bucket(void *self, struct tide_err *err)
{
    struct bucket_reading *r = self;
    bucket_reader_begin(&r->s->bucket, r->list, r->name);
    assert(r->s->rank < 2 * HISTORY_LEVELS); /* read_list counts them */
    return r->sink->begin(r->sink->self, err);
}

static tide_status put_bucket(void *self, tide_slice piece, struct tide_err *err)
{
    struct bucket_reading *r = self;
    return bucket_reader_push(&r->s->bucket, piece, err);
}

static tide_status end_bucket(void *self, struct tide_err *err)
{
    struct bucket_reading *r = self;
    return bucket_reader_end(&r->s->bucket, err);
}

static tide_status read_bucket(struct bucket_reading *r, struct tide_err *err)
{
    static const uint8_t empty[TIDE_HASH_BYTES] = { 0 };
    const struct archive_sink sink = { begin_bucket, put_bucket, end_bucket, r, NULL };
    struct snapshot *s = r->s;
    char key[ARCHIVE_KEY_MAX];
    if (memcmp(r->name, empty, sizeof empty) == 0)
        return TIDE_OK;
    archive_bucket_key(key, r->name);
    tide_status status = archive_read(s->archive, key, &bucket_limits, &sink, err);
    if (status == TIDE_OK)
        status = r->sink->end(r->sink->self, err);
    s->buckets++;
    assert(s->buckets <= 2 * 2 * HISTORY_LEVELS); /* two lists */
    s->bytes += s->bucket.bytes;
    s->records += s->bucket.count;
    return status;
}

/* Reads the bucket of that age. */
static tide_status read_rank(struct snapshot *s, const struct snapshot_sink *sink,
                             enum bucket_list list, uint32_t rank, struct tide_err *err)
{
    const struct history_level *levels = list == BUCKET_LIST_LIVE ? s->state.live : s->state.hot;
    const struct history_level *level = &levels[rank / 2];
    struct bucket_reading r = { s, sink, rank % 2 ? level->snap : level->curr, list };
    s->rank = rank;
    return read_bucket(&r, err);
}

/* Reads a list from its oldest bucket to its youngest one. */
static tide_status read_list(struct snapshot *s, const struct snapshot_sink *sink,
                             enum bucket_list list, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 2 * HISTORY_LEVELS; i-- > 0 && status == TIDE_OK;)
        status = read_rank(s, sink, list, i, err);
    return status;
}

tide_status snapshot_search(struct snapshot *s, enum bucket_list list,
                            const struct snapshot_sink *sink, bool (*found)(const void *self),
                            struct tide_err *err)
{
    tide_status status = TIDE_OK;
    bucket_reader_init(&s->bucket, sink->entry, sink->self);
    for (uint32_t i = 0; i < 2 * HISTORY_LEVELS && status == TIDE_OK && !found(sink->self); i++)
        status = read_rank(s, sink, list, i, err);
    bucket_reader_release(&s->bucket);
    return status;
}

tide_status snapshot_read(struct snapshot *s, const struct snapshot_sink *sink,
                          struct tide_err *err)
{
    s->buckets = 0;
    s->bytes = s->records = 0;
    bucket_reader_init(&s->bucket, sink->entry, sink->self);
    tide_status status = read_list(s, sink, BUCKET_LIST_LIVE, err);
    if (status == TIDE_OK)
        status = read_list(s, sink, BUCKET_LIST_HOT_ARCHIVE, err);
    bucket_reader_release(&s->bucket);
    return status;
}
