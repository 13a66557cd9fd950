/* The entry changes of a finished ledger in the order of another node. Core keeps changes in hash
 * maps with a salt of the process, so nodes list them in different orders. Here they stand in the
 * order of a salted hash of their keys; changes of one key keep their order. */
#include "tidemark/limits.h"
#include "tidemark/meta.h"
#include "tools/sim/ledger/lcm.h"

/* A change or an evicted key in the ledger's bytes. */
struct piece {
    uint64_t rank; /* salted hash of the key */
    size_t at;     /* offset in the ledger */
    size_t len;
};

/* State of the walk over the ledger. */
struct shuffle {
    uint64_t salt;
    uint8_t *ledger;
    /* pieces of the present group: an operation's changes, or the evicted keys */
    struct piece *pieces;
    size_t count, max;
    struct tide_buf copy; /* the rearranged group */
};

/* Returns the rank of a key: the first bytes of its salted hash. */
static uint64_t rank_of(const struct shuffle *s, uint32_t type, tide_slice key)
{
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t rank;
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(&s->salt, sizeof s->salt));
    tide_sha256_update(&h, tide_slice_of(&type, sizeof type));
    tide_sha256_update(&h, key);
    tide_sha256_final(&h, hash);
    memcpy(&rank, hash, sizeof rank);
    return rank;
}

/* Returns the bytes that identify the change's entry. All entries of one type of an account, for
 * instance its trustlines, count as one, so they keep their order. */
static tide_slice key_of(const struct tide_change *change)
{
    enum { ACCOUNT_ID = 36 };
    if (change->type == TIDE_ENTRY_CONTRACT_DATA)
        return tide_slice_of(change->contract.ptr, change->contract.len + change->key.len + 4);
    if (change->type == TIDE_ENTRY_TTL || change->type == TIDE_ENTRY_CONTRACT_CODE)
        return tide_slice_of(change->key_hash, TIDE_HASH_BYTES);
    /* a removed entry is a LedgerKey, without the last modified ledger */
    size_t head = change->kind == TIDE_CHANGE_REMOVED ? 4 : 8;
    assert(change->entry.len >= head + ACCOUNT_ID);
    return tide_slice_of(change->entry.ptr + head, ACCOUNT_ID);
}

static tide_status add_piece(struct shuffle *s, struct piece piece)
{
    if (s->count == s->max) {
        size_t more = s->max ? s->max * 2 : 64;
        struct piece *pieces = realloc(s->pieces, more * sizeof *pieces);
        if (!pieces)
            return TIDE_E_MEMORY;
        s->pieces = pieces;
        s->max = more;
    }
    s->pieces[s->count++] = piece;
    return TIDE_OK;
}

static tide_status on_change(void *self, const struct tide_tx *tx, const struct tide_change *change)
{
    struct shuffle *s = self;
    (void)tx;
    /* A change is a type of four bytes and the entry. */
    return add_piece(s, (struct piece){ .rank = rank_of(s, change->type, key_of(change)),
                                        .at = (size_t)(change->entry.ptr - 4 - s->ledger),
                                        .len = change->entry.len + 4 });
}

static tide_status on_evicted(void *self, tide_slice key)
{
    struct shuffle *s = self;
    return add_piece(s, (struct piece){ .rank = rank_of(s, 0, key),
                                        .at = (size_t)(key.ptr - s->ledger),
                                        .len = key.len });
}

static int by_rank(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Sorts the group's pieces and writes them back over their old bytes, which they fill exactly. */
static tide_status rearrange_group(struct shuffle *s)
{
    if (!s->count)
        return TIDE_OK;
    size_t first = s->pieces[0].at;
    size_t end = s->pieces[s->count - 1].at + s->pieces[s->count - 1].len;
    qsort(s->pieces, s->count, sizeof *s->pieces, by_rank);
    tide_buf_reset(&s->copy);
    for (size_t i = 0; i < s->count; i++)
        tide_buf_put(&s->copy, s->ledger + s->pieces[i].at, s->pieces[i].len);
    s->count = 0;
    if (s->copy.failed)
        return TIDE_E_MEMORY;
    assert(s->copy.len == end - first && "the pieces fill their old bytes");
    memcpy(s->ledger + first, s->copy.ptr, s->copy.len);
    return TIDE_OK;
}

static tide_status on_changes_end(void *self, const struct tide_tx *tx)
{
    (void)tx;
    return rearrange_group(self);
}

static tide_status on_end(void *self, const struct tide_ledger_tail *tail)
{
    (void)tail;
    return rearrange_group(self);
}

tide_status lcm_shuffle(struct tide_buf *out, size_t at, uint64_t salt)
{
    struct tide_err err;
    struct shuffle s = { .salt = salt, .ledger = out->ptr + at };
    const struct tide_walk walk = { .self = &s,
                                    .change = on_change,
                                    .changes_end = on_changes_end,
                                    .evicted = on_evicted,
                                    .end = on_end };
    tide_buf_init(&s.copy, TIDE_LEDGER_BYTES_MAX);
    tide_status status = tide_ledger_walk(&walk, tide_slice_of(s.ledger, out->len - at), &err);
    tide_buf_release(&s.copy);
    free(s.pieces);
    return status;
}
