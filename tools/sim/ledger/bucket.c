#include "tools/sim/ledger/bucket.h"
#include "tidemark/meta.h"
#include "tidemark/xdr_skip.h"

#include <stdlib.h>

enum { BUCKET_BYTES_MAX = 1 << 30, MARK_BYTES = 4, LAST_FRAGMENT_BIT = 31 };
static_assert(BUCKET_BYTES_MAX < INT32_MAX, "a record's length leaves the last bit free");
static_assert(BUCKET_LIVE == 0 && BUCKET_DEAD == 1 && BUCKET_INIT == 2, "BucketEntryType");

struct bucket *bucket_begin(const struct bucket_form *form)
{
    struct bucket *bucket = malloc(sizeof *bucket);
    if (!bucket)
        return NULL;
    *bucket = (struct bucket){ .holders = 1 };
    tide_buf_init(&bucket->bytes, BUCKET_BYTES_MAX);
    tide_buf_be32(&bucket->bytes, UINT32_C(1) << LAST_FRAGMENT_BIT | 16);
    tide_buf_be32(&bucket->bytes, UINT32_MAX); /* METAENTRY */
    tide_buf_be32(&bucket->bytes, form->protocol);
    tide_buf_be32(&bucket->bytes, 1);
    tide_buf_be32(&bucket->bytes, form->hot); /* BucketListType */
    return bucket;
}

void bucket_put(struct bucket *bucket, enum bucket_arm arm, tide_slice body)
{
    assert(arm == BUCKET_LIVE || arm == BUCKET_DEAD || arm == BUCKET_INIT);
    assert(body.len > 0 && body.len % 4 == 0 && body.len < BUCKET_BYTES_MAX);
    uint32_t len = MARK_BYTES + (uint32_t)body.len;
    tide_buf_be32(&bucket->bytes, UINT32_C(1) << LAST_FRAGMENT_BIT | len);
    tide_buf_be32(&bucket->bytes, arm);
    tide_buf_slice(&bucket->bytes, body);
}

struct bucket *bucket_end(struct bucket *bucket)
{
    if (bucket->bytes.failed) {
        bucket_release(bucket);
        return NULL;
    }
    tide_sha256(bucket->hash, tide_buf_view(&bucket->bytes));
    return bucket;
}

void bucket_release(struct bucket *bucket)
{
    assert(!bucket || bucket->holders > 0);
    if (!bucket || --bucket->holders)
        return;
    tide_buf_release(&bucket->bytes);
    free(bucket);
}

/* A place in a bucket that is read. */
struct reading {
    tide_slice rest;
    bool live; /* the fields below are a record */
    enum bucket_arm arm;
    tide_slice body;
    struct tide_bucket_key key;
};

/* Moves to the next record. The metadata is no record. */
static void read_next(struct reading *r)
{
    uint32_t len = 0, arm = 0;
    do {
        r->live = r->rest.len > 0;
        if (!r->live)
            return;
        assert(r->rest.len > (size_t)2 * MARK_BYTES);
        len = tide_be32(r->rest.ptr) & ~(UINT32_C(1) << LAST_FRAGMENT_BIT);
        arm = tide_be32(r->rest.ptr + MARK_BYTES);
        assert(len > MARK_BYTES && MARK_BYTES + (size_t)len <= r->rest.len);
        r->body = tide_slice_of(r->rest.ptr + (size_t)2 * MARK_BYTES, len - MARK_BYTES);
        r->rest = tide_slice_of(r->rest.ptr + MARK_BYTES + len, r->rest.len - MARK_BYTES - len);
    } while (arm == UINT32_MAX);
    struct tide_change change = { 0 };
    struct tide_xdr x = tide_xdr_of(r->body);
    r->arm = (enum bucket_arm)arm;
    if (arm == BUCKET_DEAD) {
        skip_ledger_key(&x, &change);
        r->key = tide_bucket_key_of_key(&change);
    } else {
        skip_ledger_entry(&x, &change);
        r->key = tide_bucket_key_of_entry(&change);
    }
    assert(x.status == TIDE_OK && "bucket_put got an entry");
}

static struct reading begin_reading(const struct bucket *bucket)
{
    struct reading r = { .rest = bucket ? tide_buf_view(&bucket->bytes) : (tide_slice){ 0 } };
    read_next(&r);
    return r;
}

/* Writes the record of a key that both buckets have. An entry that the older bucket creates is
 * unknown below, and one that it removes is known: INIT and DEAD must keep saying so. */
static void merge_equal(struct bucket *out, const struct bucket_form *form,
                        const struct reading *older, const struct reading *newer, bool dead)
{
    enum bucket_arm arm = newer->arm;
    if (!form->hot && newer->arm == BUCKET_INIT)
        arm = BUCKET_LIVE;
    if (!form->hot && older->arm == BUCKET_INIT) {
        if (newer->arm == BUCKET_DEAD)
            return;
        arm = BUCKET_INIT;
    }
    if (arm != BUCKET_DEAD || dead)
        bucket_put(out, arm, newer->body);
}

static void merge_single(struct bucket *out, const struct reading *r, bool dead)
{
    if (r->arm != BUCKET_DEAD || dead)
        bucket_put(out, r->arm, r->body);
}

tide_status bucket_merge(struct bucket **out, const struct bucket_form *form,
                         const struct bucket *older, const struct bucket *newer, bool dead)
{
    struct reading old = begin_reading(older), new = begin_reading(newer);
    *out = NULL;
    if (!older && !newer)
        return TIDE_OK;
    struct bucket *merged = bucket_begin(form);
    if (!merged)
        return TIDE_E_MEMORY;
    while (old.live || new.live) {
        int order = !old.live ? 1 : !new.live ? -1 : tide_bucket_key_order(&old.key, &new.key);
        if (order == 0)
            merge_equal(merged, form, &old, &new, dead);
        else
            merge_single(merged, order < 0 ? &old : &new, dead);
        if (order <= 0)
            read_next(&old);
        if (order >= 0)
            read_next(&new);
    }
    *out = bucket_end(merged);
    return *out ? TIDE_OK : TIDE_E_MEMORY;
}
