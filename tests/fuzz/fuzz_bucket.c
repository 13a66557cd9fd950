/* Any bytes as a bucket of either list, under their own hash: in one piece and in many, the same
 * entries come out, in ascending order. */
#include "tests/fuzz/promise.h"

#include "indexer/archive/bucket.h"

struct result {
    tide_status status;
    uint32_t count, sum;
    struct tide_buf last; /* key of the last entry of contract data */
};

static tide_status note_entry(void *self, enum bucket_entry_kind kind,
                              const struct tide_change *change, struct tide_err *err)
{
    struct result *r = self;
    bool value = kind == BUCKET_ENTRY_LIVE || kind == BUCKET_ENTRY_ARCHIVED;
    (void)err;
    r->count++;
    r->sum = r->sum * 33 + sum_bytes(change->entry) + kind;
    if (change->type != TIDE_ENTRY_CONTRACT_DATA) {
        PROMISE(inside(tide_slice_of(change->key_hash, TIDE_HASH_BYTES), change->entry));
        return TIDE_OK;
    }
    PROMISE(inside(change->contract, change->entry) && inside(change->key, change->entry));
    PROMISE(value ? inside(change->value, change->entry) : change->value.len == 0);
    struct tide_bucket_key key =
        value ? tide_bucket_key_of_entry(change) : tide_bucket_key_of_key(change);
    struct tide_bucket_key last = { TIDE_ENTRY_CONTRACT_DATA, tide_buf_view(&r->last) };
    PROMISE(inside(key.fields, change->entry) && tide_bucket_key_order(&key, &key) == 0);
    PROMISE(last.fields.len == 0 ||
            (tide_bucket_key_order(&last, &key) < 0 && tide_bucket_key_order(&key, &last) > 0));
    tide_buf_reset(&r->last);
    tide_buf_slice(&r->last, key.fields);
    return TIDE_OK;
}

static struct result read_bucket(enum bucket_list list, tide_slice bytes, size_t step)
{
    struct result r = { 0 };
    struct bucket_reader reader;
    struct tide_err err;
    uint8_t name[TIDE_HASH_BYTES];
    tide_sha256(name, bytes);
    tide_buf_init(&r.last, BUCKET_RECORD_MAX);
    bucket_reader_init(&reader, note_entry, &r);
    bucket_reader_begin(&reader, list, name);
    for (size_t at = 0; at < bytes.len && r.status == TIDE_OK; at += step) {
        size_t len = bytes.len - at < step ? bytes.len - at : step;
        r.status = bucket_reader_push(&reader, tide_slice_of(bytes.ptr + at, len), &err);
    }
    if (r.status == TIDE_OK)
        r.status = bucket_reader_end(&reader, &err);
    PROMISE(r.status != TIDE_E_CHAIN);
    bucket_reader_release(&reader);
    tide_buf_release(&r.last);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum bucket_list lists[] = { BUCKET_LIST_LIVE, BUCKET_LIST_HOT_ARCHIVE };
    tide_slice whole = tide_slice_of(data, size);
    for (size_t i = 0; i < TIDE_COUNT(lists); i++) {
        struct result once = read_bucket(lists[i], whole, size + 1);
        struct result pieces = read_bucket(lists[i], whole, 13);
        PROMISE(once.count == pieces.count && once.sum == pieces.sum &&
                once.status == pieces.status);
    }
    return 0;
}
