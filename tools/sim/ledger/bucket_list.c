/* The changes of a ledger as a batch, and the levels that batches sink through. */
#include "tools/sim/ledger/bucket_list.h"
#include "tidemark/meta.h"
#include "tools/sim/ledger/bucket.h"

#include <search.h>
#include <stdlib.h>

/* A level: next is the merge that becomes curr at the next spill of the level above. */
struct level {
    struct bucket *curr, *snap, *next;
    bool pending; /* next is set, maybe to an empty bucket */
};

struct levels {
    struct bucket_form form;
    struct level all[BUCKET_LEVELS];
};

/* A change of a ledger. Its slices borrow from the ledger. */
struct step {
    struct tide_bucket_key key;
    tide_slice body; /* LedgerEntry, or LedgerKey of what is removed */
    uint64_t rank;   /* order in time */
    enum { STEP_CREATED, STEP_UPDATED, STEP_REMOVED, STEP_RESTORED, STEP_EVICTED } what;
    uint32_t durability;
    uint32_t live_until; /* a TTL's liveUntilLedgerSeq */
};

/* The state of a key beyond the buckets. */
struct fact {
    uint8_t
        key_hash[TIDE_HASH_BYTES]; /* SHA-256 of the LedgerKey; the first field: the tree's key */
    bool live, archived;
    uint8_t *entry; /* LedgerEntry of contract data or code; owned, NULL for other types */
    size_t entry_len;
};

struct bucket_list {
    struct levels live, hot;
    void *facts;        /* tree of search.h, by key_hash */
    struct step *steps; /* steps of the present ledger */
    uint32_t count, max;
    struct tide_buf key; /* a LedgerKey */
};

tide_status bucket_list_open(struct bucket_list **out, uint32_t protocol)
{
    enum { KEY_MAX = 1 << 20 };
    *out = calloc(1, sizeof **out);
    if (!*out)
        return TIDE_E_MEMORY;
    (*out)->live.form = (struct bucket_form){ .protocol = protocol };
    (*out)->hot.form = (struct bucket_form){ .protocol = protocol, .hot = true };
    tide_buf_init(&(*out)->key, KEY_MAX);
    return TIDE_OK;
}

static void close_levels(struct levels *levels)
{
    for (uint32_t i = 0; i < BUCKET_LEVELS; i++) {
        bucket_release(levels->all[i].curr);
        bucket_release(levels->all[i].snap);
        bucket_release(levels->all[i].next);
    }
}

static void free_fact(void *fact)
{
    free(((struct fact *)fact)->entry);
    free(fact);
}

void bucket_list_close(struct bucket_list *list)
{
    if (!list)
        return;
    close_levels(&list->live);
    close_levels(&list->hot);
    tdestroy(list->facts, free_fact);
    tide_buf_release(&list->key);
    free(list->steps);
    free(list);
}

/* ---- the changes of a ledger ---- */

static tide_status add_step(struct bucket_list *list, const struct step *step)
{
    if (list->count == list->max) {
        uint32_t max = list->max ? list->max * 2 : 1024;
        struct step *grown = realloc(list->steps, max * sizeof *grown);
        if (!grown)
            return TIDE_E_MEMORY;
        list->steps = grown;
        list->max = max;
    }
    assert((uint32_t)step->rank == 0 && "the lower half is the place in the ledger");
    list->steps[list->count] = *step;
    list->steps[list->count].rank |= list->count;
    list->count++;
    return TIDE_OK;
}

/* Returns the rank of a change: fees of all transactions apply before the first operation. They
 * change accounts alone. Attackers list entries of contracts there, too: those apply where they
 * stand. */
static uint64_t rank_of(const struct tide_change *change)
{
    bool contract = change->type == TIDE_ENTRY_CONTRACT_DATA ||
                    change->type == TIDE_ENTRY_CONTRACT_CODE || change->type == TIDE_ENTRY_TTL;
    uint64_t phase = contract                                   ? 1
                     : change->section == TIDE_SECTION_FEE      ? 0
                     : change->section == TIDE_SECTION_POST_FEE ? 2
                     : change->section == TIDE_SECTION_UPGRADE  ? 3
                                                                : 1;
    return phase << 32;
}

static tide_status take_change(void *self, const struct tide_tx *tx,
                               const struct tide_change *change)
{
    static const int what[] = { STEP_CREATED, STEP_UPDATED, STEP_REMOVED, -1, STEP_RESTORED };
    (void)tx;
    if (change->kind == TIDE_CHANGE_STATE)
        return TIDE_OK;
    static_assert(TIDE_CHANGE_STATE == 3 && TIDE_CHANGE_RESTORED == 4, "the table's places");
    assert((size_t)change->kind < TIDE_COUNT(what));
    struct step step = { .body = change->entry,
                         .rank = rank_of(change),
                         .what = what[change->kind],
                         .durability = change->durability,
                         .live_until = change->live_until };
    step.key = change->kind == TIDE_CHANGE_REMOVED ? tide_bucket_key_of_key(change)
                                                   : tide_bucket_key_of_entry(change);
    return add_step(self, &step);
}

static tide_status take_evicted(void *self, tide_slice ledger_key)
{
    const uint64_t last = UINT64_C(4) << 32;
    struct tide_change key = { 0 };
    struct tide_xdr x = tide_xdr_of(ledger_key);
    tide_ledger_key_data(&x, &key); /* reads keys of other types, too */
    struct step step = { .key = tide_bucket_key_of_key(&key),
                         .body = ledger_key,
                         .rank = last,
                         .what = STEP_EVICTED,
                         .durability = key.durability };
    return x.status == TIDE_OK ? add_step(self, &step) : x.status;
}

static int by_key_and_time(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    int order = tide_bucket_key_order(&a->key, &b->key);
    return order ? order : a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Returns whether an evicted entry moves to the hot archive. */
static bool is_archived(const struct step *step)
{
    return step->key.type == TIDE_ENTRY_CONTRACT_CODE ||
           (step->key.type == TIDE_ENTRY_CONTRACT_DATA && step->durability == 1);
}

static int by_hash(const void *a, const void *b)
{
    return memcmp(a, b, TIDE_HASH_BYTES);
}

/* Returns the fact of that key, a new one if need be; NULL without memory. */
static struct fact *find_fact(struct bucket_list *list, const uint8_t hash[TIDE_HASH_BYTES])
{
    void *const *node = tfind(hash, &list->facts, by_hash);
    if (node)
        return *node;
    struct fact *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    memcpy(made->key_hash, hash, TIDE_HASH_BYTES);
    if (tsearch(made, &list->facts, by_hash))
        return made;
    free(made);
    return NULL;
}

/* Stores a copy of the entry. Returns false without memory. */
static bool set_entry(struct fact *fact, tide_slice entry)
{
    assert(entry.len > 0);
    uint8_t *copy = realloc(fact->entry, entry.len);
    if (!copy)
        return false;
    memcpy(copy, entry.ptr, entry.len);
    fact->entry = copy;
    fact->entry_len = entry.len;
    return true;
}

/* Returns the fact of a step's key. */
static struct fact *fact_of(struct bucket_list *list, const struct step *step)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_buf_reset(&list->key);
    tide_buf_be32(&list->key, step->key.type);
    tide_buf_slice(&list->key, step->key.fields);
    tide_sha256(hash, tide_buf_view(&list->key));
    return list->key.failed ? NULL : find_fact(list, hash);
}

/* Applies one step to what is known of its key. An entry that is evicted while it is not live stays
 * as it is. */
static bool apply_step(const struct step *step, struct fact *fact)
{
    bool value = step->what != STEP_REMOVED && step->what != STEP_EVICTED;
    bool kept =
        step->key.type == TIDE_ENTRY_CONTRACT_DATA || step->key.type == TIDE_ENTRY_CONTRACT_CODE;
    if (step->what != STEP_EVICTED)
        fact->archived = false;
    else if (is_archived(step) && fact->entry && fact->live)
        fact->archived = true;
    fact->live = value;
    return !value || !kept || set_entry(fact, step->body);
}

/* Returns which of the two steps says how the entry is. Transactions of a ledger each extend a life
 * from what it was before, so the longest holds until the TTL is removed. */
static const struct step *last_step(const struct step *before, const struct step *step)
{
    bool shorter = before && step->key.type == TIDE_ENTRY_TTL && before->live_until &&
                   step->live_until && before->live_until > step->live_until;
    return shorter ? before : step;
}

/* Puts what became of an archived entry into the batch of the hot archive. */
static void put_hot(struct bucket *hot, const struct fact *fact, bool before, tide_slice key)
{
    if (fact->archived)
        bucket_put(hot, BUCKET_LIVE, tide_slice_of(fact->entry, fact->entry_len));
    else if (before)
        bucket_put(hot, BUCKET_DEAD, key);
}

/* Applies the steps of one key, from first on, and puts their sum into the batch. Returns their
 * number; 0 without memory. */
static uint32_t put_key(struct bucket_list *list, uint32_t first, struct bucket *live,
                        struct bucket *hot)
{
    assert(first < list->count);
    const struct step *steps = list->steps + first, *last = NULL;
    struct fact *fact = fact_of(list, steps);
    uint32_t count = 0;
    if (!fact)
        return 0;
    bool before = fact->live || steps->what == STEP_UPDATED || steps->what == STEP_REMOVED;
    bool archived = fact->archived;
    for (;
         first + count < list->count && tide_bucket_key_order(&steps->key, &steps[count].key) == 0;
         count++) {
        last = last_step(last, &steps[count]);
        if (!apply_step(&steps[count], fact))
            return 0;
    }
    assert(count > 0 && "a key equals itself");
    put_hot(hot, fact, archived, tide_buf_view(&list->key));
    if (fact->live)
        bucket_put(live, before ? BUCKET_LIVE : BUCKET_INIT, last->body);
    else if (before)
        bucket_put(live, BUCKET_DEAD, tide_buf_view(&list->key));
    return count;
}

/* ---- levels ---- */

static uint32_t half_of(uint32_t level)
{
    assert(level < BUCKET_LEVELS);
    return 2u << (2 * level);
}

/* Returns whether a level's curr becomes its snap at this ledger. */
static bool spills(uint32_t ledger, uint32_t level)
{
    return level < BUCKET_LEVELS - 1 && ledger % half_of(level) == 0;
}

/* Returns whether the level will have spilled before the merge that begins now is done: then it
 * begins with an empty curr. */
static bool begins_empty(uint32_t ledger, uint32_t level)
{
    uint32_t step = half_of(level - 1);
    return spills(ledger / step * step + step, level);
}

/* Takes the level's merge as its curr. */
static void commit_level(struct level *level)
{
    if (!level->pending)
        return;
    bucket_release(level->curr);
    level->curr = level->next;
    level->next = NULL;
    level->pending = false;
}

/* Moves curr of the level above to its snap, and merges that into this level. */
static tide_status sink_level(struct levels *levels, uint32_t ledger, uint32_t at)
{
    assert(at > 0 && at < BUCKET_LEVELS);
    struct level *above = &levels->all[at - 1], *level = &levels->all[at];
    bucket_release(above->snap);
    above->snap = above->curr;
    above->curr = NULL;
    commit_level(level);
    assert(!level->next && !level->pending);
    level->pending = true;
    return bucket_merge(&level->next, &levels->form, begins_empty(ledger, at) ? NULL : level->curr,
                        above->snap, at < BUCKET_LEVELS - 1);
}

static tide_status add_batch(struct levels *levels, uint32_t ledger, const struct bucket *batch)
{
    struct bucket *merged;
    tide_status status = TIDE_OK;
    for (uint32_t i = BUCKET_LEVELS - 1; i > 0 && status == TIDE_OK; i--)
        if (spills(ledger, i - 1))
            status = sink_level(levels, ledger, i);
    if (status == TIDE_OK)
        status = bucket_merge(&merged, &levels->form, levels->all[0].curr, batch, true);
    if (status != TIDE_OK)
        return status;
    bucket_release(levels->all[0].curr);
    levels->all[0].curr = merged;
    return TIDE_OK;
}

/* Adds the sorted steps to both lists. */
static tide_status add_steps(struct bucket_list *list, uint32_t ledger)
{
    struct bucket *live = bucket_begin(&list->live.form), *hot = bucket_begin(&list->hot.form);
    bool good = live && hot;
    for (uint32_t i = 0, count = 1; i < list->count && good && count; i += count) {
        count = put_key(list, i, live, hot);
        good = count > 0;
    }
    live = live ? bucket_end(live) : NULL;
    hot = hot ? bucket_end(hot) : NULL;
    tide_status status = good && live && hot ? TIDE_OK : TIDE_E_MEMORY;
    if (status == TIDE_OK)
        status = add_batch(&list->live, ledger, live);
    if (status == TIDE_OK)
        status = add_batch(&list->hot, ledger, hot);
    bucket_release(live);
    bucket_release(hot);
    return status;
}

tide_status bucket_list_add(struct bucket_list *list, uint32_t ledger, tide_slice lcm,
                            struct tide_err *err)
{
    const struct tide_walk walk = { .self = list, .change = take_change, .evicted = take_evicted };
    list->count = 0;
    tide_status status = tide_ledger_walk(&walk, lcm, err);
    if (status != TIDE_OK)
        return status;
    if (list->count)
        qsort(list->steps, list->count, sizeof *list->steps, by_key_and_time);
    return add_steps(list, ledger);
}

/* ---- hashes ---- */

static const struct bucket *bucket_of(const struct level *level, bool snap)
{
    return snap ? level->snap : level->curr;
}

static void put_hash(uint8_t out[TIDE_HASH_BYTES], const struct bucket *bucket)
{
    if (bucket)
        memcpy(out, bucket->hash, TIDE_HASH_BYTES);
    else
        memset(out, 0, TIDE_HASH_BYTES);
}

static void hash_levels(const struct levels *levels, uint8_t out[TIDE_HASH_BYTES])
{
    uint8_t hashes[BUCKET_LEVELS][TIDE_HASH_BYTES];
    for (uint32_t i = 0; i < BUCKET_LEVELS; i++) {
        uint8_t pair[2][TIDE_HASH_BYTES];
        put_hash(pair[0], levels->all[i].curr);
        put_hash(pair[1], levels->all[i].snap);
        tide_sha256(hashes[i], tide_slice_of(pair, sizeof pair));
    }
    tide_sha256(out, tide_slice_of(hashes, sizeof hashes));
}

void bucket_list_hash(const struct bucket_list *list, uint8_t out[TIDE_HASH_BYTES])
{
    uint8_t pair[2][TIDE_HASH_BYTES];
    hash_levels(&list->live, pair[0]);
    hash_levels(&list->hot, pair[1]);
    tide_sha256(out, tide_slice_of(pair, sizeof pair));
}

tide_slice bucket_list_at(const struct bucket_list *list, struct bucket_place place,
                          uint8_t hash[TIDE_HASH_BYTES])
{
    assert(place.level < BUCKET_LEVELS);
    const struct levels *levels = place.hot ? &list->hot : &list->live;
    const struct bucket *bucket = bucket_of(&levels->all[place.level], place.snap);
    put_hash(hash, bucket);
    return bucket ? tide_buf_view(&bucket->bytes) : (tide_slice){ 0 };
}
