#include "indexer/archive/bucket.h"
#include "tidemark/xdr_skip.h"

/* BucketEntryType. Of HotArchiveBucketEntryType, ARCHIVED has LIVE's number and LIVE (restored) has
 * DEAD's. */
enum { ENTRY_LIVE, ENTRY_DEAD, ENTRY_INIT };
static_assert(ENTRY_LIVE == 0 && ENTRY_DEAD == 1 && ENTRY_INIT == 2, "XDR's numbers");
static const uint32_t entry_meta = UINT32_MAX; /* -1 */

static tide_status refuse_record(const struct bucket_reader *r, const char *reason,
                                 struct tide_err *err)
{
    return tide_fail(err, TIDE_E_DECODE, "record %" PRIu64 " at byte %" PRIu64 ": %s", r->count,
                     r->records.offset, reason);
}

/* Reads BucketMetadata. A bucket of the hot archive must say that it is one. A live one may. */
static tide_status read_meta(struct bucket_reader *r, struct tide_xdr *x, struct tide_err *err)
{
    if (r->count > 1)
        return refuse_record(r, "metadata behind another record", err);
    r->protocol = tide_xdr_u32(x);
    uint32_t said = skip_enum(x, 1, "BucketMetadata arm");
    uint32_t list = said ? skip_enum(x, 1, "BucketListType") : (uint32_t)BUCKET_LIST_LIVE;
    if (x->status == TIDE_OK && list != (uint32_t)r->list)
        return refuse_record(r, "metadata of the other list", err);
    return TIDE_OK;
}

/* Notes the key, which must sort behind the one before. */
static tide_status check_order(struct bucket_reader *r, const struct tide_bucket_key *key,
                               struct tide_err *err)
{
    struct tide_bucket_key last = { r->last_type, tide_buf_view(&r->last_key) };
    int order = last.fields.len ? tide_bucket_key_order(&last, key) : -1;
    if (order >= 0)
        return refuse_record(r, order == 0 ? "the key of the record before" : "keys are not sorted",
                             err);
    r->last_type = key->type;
    tide_buf_reset(&r->last_key);
    tide_buf_slice(&r->last_key, key->fields);
    return r->last_key.failed ? tide_fail(err, TIDE_E_MEMORY, "a bucket's key") : TIDE_OK;
}

/* Returns whether the list has records of this arm with a value. */
static bool has_value(const struct bucket_reader *r, uint32_t arm)
{
    return arm == ENTRY_LIVE || (arm == ENTRY_INIT && r->list == BUCKET_LIST_LIVE);
}

static enum bucket_entry_kind kind_of(const struct bucket_reader *r, bool value)
{
    if (r->list == BUCKET_LIST_LIVE)
        return value ? BUCKET_ENTRY_LIVE : BUCKET_ENTRY_DEAD;
    return value ? BUCKET_ENTRY_ARCHIVED : BUCKET_ENTRY_RESTORED;
}

static bool is_given(uint32_t type)
{
    return type == TIDE_ENTRY_CONTRACT_DATA || type == TIDE_ENTRY_CONTRACT_CODE ||
           type == TIDE_ENTRY_TTL;
}

/* Reads the entry or the key behind the record's arm. */
static tide_status read_entry(struct bucket_reader *r, struct tide_xdr *x, uint32_t arm,
                              struct tide_err *err)
{
    struct tide_change change = { 0 };
    bool value = has_value(r, arm);
    if (!value && arm != ENTRY_DEAD)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "BucketEntry arm", arm);
    else if (value)
        skip_ledger_entry(x, &change);
    else
        skip_ledger_key(x, &change);
    if (tide_xdr_end(x) != TIDE_OK)
        return TIDE_OK; /* read_record reports it */
    struct tide_bucket_key key =
        value ? tide_bucket_key_of_entry(&change) : tide_bucket_key_of_key(&change);
    tide_status status = check_order(r, &key, err);
    if (status == TIDE_OK && is_given(change.type))
        status = r->entry(r->self, kind_of(r, value), &change, err);
    return status;
}

static tide_status read_record(void *self, tide_slice record, struct tide_err *err)
{
    struct bucket_reader *r = self;
    struct tide_xdr x = tide_xdr_of(record);
    assert(record.len <= BUCKET_RECORD_MAX);
    r->count++;
    uint32_t arm = tide_xdr_u32(&x);
    tide_status status = arm == entry_meta ? read_meta(r, &x, err) : read_entry(r, &x, arm, err);
    if (status == TIDE_OK && tide_xdr_end(&x) != TIDE_OK) {
        char context[64];
        snprintf(context, sizeof context, "record %" PRIu64, r->count);
        status = tide_xdr_error(&x, err, context);
    }
    return status;
}

void bucket_reader_init(struct bucket_reader *reader, bucket_entry_fn entry, void *self)
{
    assert(entry);
    *reader = (struct bucket_reader){ .entry = entry, .self = self };
    record_stream_init(&reader->records, BUCKET_RECORD_MAX, read_record, reader);
    tide_buf_init(&reader->last_key, BUCKET_RECORD_MAX);
}

void bucket_reader_release(struct bucket_reader *reader)
{
    record_stream_release(&reader->records);
    tide_buf_release(&reader->last_key);
}

void bucket_reader_begin(struct bucket_reader *reader, enum bucket_list list,
                         const uint8_t name[TIDE_HASH_BYTES])
{
    assert(list == BUCKET_LIST_LIVE || list == BUCKET_LIST_HOT_ARCHIVE);
    record_stream_reset(&reader->records);
    tide_buf_reset(&reader->last_key);
    tide_sha256_init(&reader->hash);
    memcpy(reader->name, name, TIDE_HASH_BYTES);
    reader->list = list;
    reader->protocol = 0;
    reader->count = reader->bytes = 0;
}

tide_status bucket_reader_push(struct bucket_reader *reader, tide_slice bytes, struct tide_err *err)
{
    reader->bytes += bytes.len;
    tide_sha256_update(&reader->hash, bytes);
    return record_stream_push(&reader->records, bytes, err);
}

tide_status bucket_reader_end(struct bucket_reader *reader, struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    assert(reader->records.offset <= reader->bytes); /* every byte of a record was hashed before */
    tide_sha256_final(&reader->hash, hash);
    if (memcmp(hash, reader->name, TIDE_HASH_BYTES) != 0)
        return tide_fail(err, TIDE_E_CHAIN, "%" PRIu64 " bytes that do not hash to the name",
                         reader->bytes);
    return record_stream_end(&reader->records, err);
}
