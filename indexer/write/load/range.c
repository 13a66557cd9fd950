/* Changes and predicates of a range that is being loaded. */
#include "indexer/write/load/range.h"

#include <assert.h>
#include <string.h>

struct load_range load_range_of(uint32_t from, uint32_t end)
{
    assert(from < end);
    return (struct load_range){ .active = true, .from = from, .end = end };
}

bool load_range_takes(const struct load_range *range, const struct tide_batch *batch)
{
    return range->active && batch->from >= range->from && batch->from < range->end &&
           (!range->first || batch->from == range->last + 1);
}

void load_range_add(struct load_range *range, const struct tide_batch *batch)
{
    assert(load_range_takes(range, batch) && batch->to >= batch->from && batch->to < range->end);
    if (!range->first) {
        range->first = batch->from;
        memcpy(range->previous_hash, batch->previous_hash, TIDE_HASH_BYTES);
    }
    range->last = batch->to;
    memcpy(range->hash, batch->hash, TIDE_HASH_BYTES);
    range->closed_ms = batch->closed_ms;
    assert(range->first > 0 && range->first <= range->last);
}

bool load_range_is_full(const struct load_range *range)
{
    return range->active && range->last + 1 == range->end;
}

bool load_range_is_whole(const struct load_range *range)
{
    return range->first == range->from && range->last + 1 == range->end;
}

bool load_range_wants_spare(const struct load_range *range)
{
    assert(range->last >= range->from); /* a batch was added */
    return range->last - range->from >= (range->end - range->from) / 3 * 2;
}
