/* Pools by token. */
#include "api/routes/pairs.h"
#include "tidemark/lookup.h"

#include <stdlib.h>

/* Makes room for one more pair: doubles a full list, up to TIDE_PAIRS_MAX. Returns false and sets
 * failed if that is impossible. */
static bool make_room(struct tide_pairs *pairs)
{
    if (pairs->count < pairs->max)
        return true;
    uint32_t max = pairs->max ? 2 * pairs->max : 64;
    struct tide_pair *all = max <= TIDE_PAIRS_MAX ? realloc(pairs->all, max * sizeof *all) : NULL;
    pairs->failed |= !all;
    if (!all)
        return false;
    pairs->all = all;
    pairs->max = max;
    return true;
}

static bool add_pool(void *self, tide_slice key, const void *record)
{
    struct tide_pairs *pairs = self;
    const struct tide_hot_pool *pool = record;
    bool first = tide_hot_address_eq(&pool->token_a, &pairs->quote);
    (void)key;
    if (!first && !tide_hot_address_eq(&pool->token_b, &pairs->quote))
        return true;
    if (!make_room(pairs))
        return false;
    assert(pairs->count < pairs->max && pairs->max <= TIDE_PAIRS_MAX);
    pairs->all[pairs->count++] =
        (struct tide_pair){ .token = first ? pool->token_b : pool->token_a,
                            .pool = pool,
                            .depth = tide_hot_i128(first ? pool->reserve_a : pool->reserve_b) };
    return true;
}

/* Orders by token, then the deepest pool first, then by name, so that the result is the same on
 * all nodes. */
static int by_depth(const void *left, const void *right)
{
    const struct tide_pair *a = left, *b = right;
    int order = memcmp(&a->token, &b->token, sizeof a->token);
    if (order == 0)
        order = (a->depth < b->depth) - (a->depth > b->depth);
    return order ? order : memcmp(&a->pool->id, &b->pool->id, sizeof a->pool->id);
}

bool tide_pairs_read(struct tide_pairs *pairs, struct tide_reader *reader)
{
    struct tide_hot_key pools = tide_hot_key(TIDE_HOT_POOL);
    *pairs = (struct tide_pairs){ 0 };
    if (!tide_lookup_quote(reader, &pairs->quote))
        return true;
    tide_reader_scan(reader, &pools, add_pool, pairs);
    if (pairs->count)
        qsort(pairs->all, pairs->count, sizeof *pairs->all, by_depth);
    return !pairs->failed;
}

/* Finds the first entry of the token: the deepest pool. */
const struct tide_hot_pool *tide_pairs_find(const struct tide_pairs *pairs,
                                            const struct tide_hot_address *token)
{
    assert(pairs->count <= pairs->max);
    uint32_t low = 0, high = pairs->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (memcmp(&pairs->all[middle].token, token, sizeof *token) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < pairs->count && tide_hot_address_eq(&pairs->all[low].token, token)
               ? pairs->all[low].pool
               : NULL;
}

void tide_pairs_release(struct tide_pairs *pairs)
{
    free(pairs->all);
    *pairs = (struct tide_pairs){ 0 };
}
