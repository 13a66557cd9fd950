#include "indexer/verify/proof_buckets.h"
#include "indexer/archive/snapshot.h"

/* One search. */
struct searching {
    const struct tide_change *key;
    struct snapshot snapshot;
    bool hit; /* the bucket that was read last has the key */
    enum bucket_entry_kind kind;
    struct proof_entry *out;
};

static tide_status begin_bucket(void *self, struct tide_err *err)
{
    struct searching *s = self;
    (void)err;
    s->hit = false; /* an earlier attempt at this bucket was damaged */
    return TIDE_OK;
}

static tide_status take_entry(void *self, enum bucket_entry_kind kind,
                              const struct tide_change *change, struct tide_err *err)
{
    struct searching *s = self;
    if (change->type != TIDE_ENTRY_CONTRACT_DATA || change->durability != s->key->durability ||
        !tide_slice_eq(change->contract, s->key->contract) ||
        !tide_slice_eq(change->key, s->key->key))
        return TIDE_OK;
    assert(!s->hit); /* the reader refuses a key that does not ascend */
    s->hit = true;
    s->kind = kind;
    s->out->last_modified = change->last_modified;
    tide_buf_reset(&s->out->value);
    tide_buf_slice(&s->out->value, change->value);
    return s->out->value.failed ? tide_fail(err, TIDE_E_MEMORY, "an entry's value") : TIDE_OK;
}

static tide_status end_bucket(void *self, struct tide_err *err)
{
    (void)self, (void)err;
    return TIDE_OK;
}

static bool is_found(const void *self)
{
    const struct searching *s = self;
    return s->hit;
}

/* Searches one list. *place: where its value is, or none. */
static tide_status search_list(struct searching *s, enum bucket_list list, enum proof_place *place,
                               struct tide_err *err)
{
    const struct snapshot_sink sink = { begin_bucket, take_entry, end_bucket, s };
    s->hit = false;
    tide_status status = snapshot_search(&s->snapshot, list, &sink, is_found, err);
    *place = PROOF_PLACE_NONE;
    if (status != TIDE_OK || !s->hit)
        return status;
    s->out->list = list;
    s->out->rank = s->snapshot.rank;
    if (s->kind == BUCKET_ENTRY_LIVE)
        *place = PROOF_PLACE_LIVE;
    else if (s->kind == BUCKET_ENTRY_ARCHIVED)
        *place = PROOF_PLACE_ARCHIVED;
    return TIDE_OK;
}

tide_status proof_find_entry(struct proof_entry *out, const struct proof_claim *claim,
                             struct archive *archive, struct tide_err *err)
{
    assert(claim->kind == PROOF_ENTRY && claim->of.type == TIDE_ENTRY_CONTRACT_DATA);
    struct searching s = { .key = &claim->of, .out = out };
    *out = (struct proof_entry){ .rank = UINT32_MAX };
    tide_buf_init(&out->value, BUCKET_RECORD_MAX);
    s.snapshot.archive = archive;
    s.snapshot.ledger = claim->header.sequence;
    s.snapshot.state = claim->buckets;
    tide_status status = search_list(&s, BUCKET_LIST_LIVE, &out->place, err);
    if (status == TIDE_OK && out->place == PROOF_PLACE_NONE && claim->buckets.version > 1)
        status = search_list(&s, BUCKET_LIST_HOT_ARCHIVE, &out->place, err);
    if (status == TIDE_OK && out->place == PROOF_PLACE_NONE) {
        tide_buf_reset(&out->value);
        out->last_modified = 0;
    }
    out->buckets = s.snapshot.buckets;
    out->bytes = s.snapshot.bytes;
    return status;
}
