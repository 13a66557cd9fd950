#include "schema/project/record_set.h"

#include <stdlib.h>

static int order(const struct tide_hot_key *a, const struct tide_hot_key *b)
{
    return tide_slice_cmp(tide_slice_of(a->bytes, a->len), tide_slice_of(b->bytes, b->len));
}

/* Returns the index of that key, or the index where it belongs. */
static uint32_t find_slot(const struct record_set *set, const struct tide_hot_key *key, bool *found)
{
    uint32_t low = 0, high = set->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (order(&set->slots[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < set->count && order(&set->slots[low].key, key) == 0;
    return low;
}

static size_t size_of(const struct tide_hot_key *key)
{
    assert(key->len > 0 && key->bytes[0] < TIDE_HOT_KIND_COUNT);
    assert(key->len <= TIDE_HOT_KEY_MAX);
    return tide_hot_record_size((enum tide_hot_kind)key->bytes[0]);
}

const void *record_set_find(const struct record_set *set, const struct tide_hot_key *key)
{
    bool found;
    uint32_t at = find_slot(set, key, &found);
    return found ? set->slots[at].record : NULL;
}

static bool has_prefix(const struct record_slot *slot, const struct tide_hot_key *key, size_t len)
{
    return slot->key.len >= len && memcmp(slot->key.bytes, key->bytes, len) == 0;
}

/* Searches the next key anew after each call, because each() may add records. */
void record_set_scan(const struct record_set *set, const struct tide_hot_key *prefix,
                     bool (*each)(void *self, tide_slice key, const void *record), void *self)
{
    assert(prefix->len > 0);
    struct tide_hot_key key = *prefix;
    bool found;
    uint32_t at = find_slot(set, &key, &found);
    while (at < set->count && has_prefix(&set->slots[at], prefix, prefix->len)) {
        key = set->slots[at].key;
        if (!each(self, tide_slice_of(key.bytes, key.len), set->slots[at].record))
            return;
        at = find_slot(set, &key, &found) + 1;
    }
}

const void *record_set_floor(const struct record_set *set, const struct tide_hot_key *key,
                             size_t prefix_len)
{
    assert(prefix_len <= key->len);
    bool found;
    uint32_t at = find_slot(set, key, &found);
    if (!found && at == 0)
        return NULL;
    const struct record_slot *slot = &set->slots[found ? at : at - 1];
    return has_prefix(slot, key, prefix_len) ? slot->record : NULL;
}

static tide_status set_get(void *self, const struct tide_hot_key *key, void *out, bool *found,
                           struct tide_err *err)
{
    const void *record = record_set_find(self, key);
    (void)err;
    *found = record != NULL;
    if (record)
        memcpy(out, record, size_of(key));
    else
        memset(out, 0, size_of(key));
    return TIDE_OK;
}

static bool make_room(struct record_set *set)
{
    if (set->count < set->max)
        return true;
    uint32_t max = set->max ? 2 * set->max : 16;
    struct record_slot *slots = realloc(set->slots, max * sizeof *slots);
    if (!slots)
        return false;
    set->slots = slots;
    set->max = max;
    return true;
}

static tide_status set_put(void *self, const struct tide_hot_key *key, const void *record,
                           struct tide_err *err)
{
    struct record_set *set = self;
    bool found;
    uint32_t at = find_slot(set, key, &found);
    if (!found) {
        assert(size_of(key) > 0);
        void *copy = make_room(set) ? malloc(size_of(key)) : NULL;
        if (!copy)
            return tide_fail(err, TIDE_E_MEMORY, "records");
        memmove(set->slots + at + 1, set->slots + at, (set->count - at) * sizeof *set->slots);
        set->slots[at] = (struct record_slot){ *key, copy };
        set->count++;
    }
    memcpy(set->slots[at].record, record, size_of(key));
    return TIDE_OK;
}

static tide_status set_drop(void *self, const struct tide_hot_key *key, struct tide_err *err)
{
    struct record_set *set = self;
    bool found;
    uint32_t at = find_slot(set, key, &found);
    (void)err;
    if (!found)
        return TIDE_OK;
    free(set->slots[at].record);
    set->count--;
    memmove(set->slots + at, set->slots + at + 1, (set->count - at) * sizeof *set->slots);
    return TIDE_OK;
}

struct tide_hot_sink record_set_sink(struct record_set *set)
{
    return (struct tide_hot_sink){ .self = set, .get = set_get, .put = set_put, .drop = set_drop };
}

void record_set_release(struct record_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        free(set->slots[i].record);
    free(set->slots);
    *set = (struct record_set){ 0 };
}
