/* The newest row of each key within one batch. The writer merges only these rows into the state
 * tables. */
#include "indexer/decode/decode_impl.h"

#include "indexer/decode/keyed_hash.h"

#include <stdlib.h>

enum { SLOTS_FIRST = 1 << 12 };
static_assert((SLOTS_FIRST & (SLOTS_FIRST - 1)) == 0, "a mask finds the slot");
static_assert(TIDE_TABLE_BYTES_MAX <= UINT32_MAX && TIDE_TABLES_MAX <= UINT16_MAX,
              "offset, len and table of an entry hold them");

static uint32_t slot_start(const struct latest_map *map, const uint8_t *hash, int table)
{
    assert(map->slot_count > 0 && (map->slot_count & (map->slot_count - 1)) == 0);
    return (uint32_t)keyed_hash(map->seed, hash, (uint32_t)table) & (map->slot_count - 1);
}

static bool grow_slots(struct latest_map *map)
{
    uint32_t wanted = map->slot_count ? map->slot_count * 2 : SLOTS_FIRST;
    assert(map->entries.count < wanted);
    if (!map->slots && !keyed_hash_seed(&map->seed))
        return false;
    uint32_t *slots = calloc(wanted, sizeof *slots);
    if (!slots)
        return false;
    free(map->slots);
    map->slots = slots;
    map->slot_count = wanted;
    const struct latest *entries = map->entries.items;
    for (uint32_t i = 0; i < map->entries.count; i++) {
        uint32_t slot = slot_start(map, entries[i].hash, entries[i].table);
        while (map->slots[slot])
            slot = (slot + 1) & (wanted - 1);
        map->slots[slot] = i + 1;
    }
    return true;
}

void latest_begin_ledger(struct latest_map *map)
{
    map->ledger_from = map->entries.count;
    map->undo.count = 0;
}

static void rebuild_slots(struct latest_map *map)
{
    if (!map->slots)
        return;
    memset(map->slots, 0, map->slot_count * sizeof *map->slots);
    const struct latest *entries = map->entries.items;
    for (uint32_t i = 0; i < map->entries.count; i++) {
        uint32_t slot = slot_start(map, entries[i].hash, entries[i].table);
        while (map->slots[slot])
            slot = (slot + 1) & (map->slot_count - 1);
        map->slots[slot] = i + 1;
    }
}

void latest_take_back(struct latest_map *map)
{
    assert(map->ledger_from <= map->entries.count);
    struct latest *entries = map->entries.items;
    const struct undo *undo = map->undo.items;
    for (uint32_t i = map->undo.count; i-- > 0;) {
        assert(undo[i].index < map->entries.count);
        entries[undo[i].index].offset = undo[i].offset;
        entries[undo[i].index].len = undo[i].len;
    }
    map->undo.count = 0;
    map->entries.count = map->ledger_from;
    rebuild_slots(map);
}

/* Keeps the old row's position in `undo`, so that a ledger that fails leaves the map as it was. */
bool latest_note(struct latest_map *map, const uint8_t *hash, int table, struct tide_rows *rows,
                 size_t offset)
{
    assert((unsigned)table < TIDE_TABLES_MAX && offset <= rows->copy.len);
    if (map->entries.count * 2 >= map->slot_count && !grow_slots(map))
        return false;
    uint32_t len = (uint32_t)(rows->copy.len - offset);
    uint32_t slot = slot_start(map, hash, table);
    for (; map->slots[slot]; slot = (slot + 1) & (map->slot_count - 1)) {
        struct latest *e = (struct latest *)map->entries.items + (map->slots[slot] - 1);
        if (e->table != table || memcmp(e->hash, hash, TIDE_HASH_BYTES) != 0)
            continue;
        struct undo *undo = decode_list_push(&map->undo, sizeof *undo);
        if (!undo)
            return false;
        *undo = (struct undo){ map->slots[slot] - 1, e->offset, e->len };
        e->offset = (uint32_t)offset;
        e->len = len;
        map->dead[table] = true;
        return true;
    }
    struct latest *e = decode_list_push(&map->entries, sizeof *e);
    if (!e)
        return false;
    memcpy(e->hash, hash, TIDE_HASH_BYTES);
    e->table = (uint16_t)table;
    e->offset = (uint32_t)offset;
    e->len = len;
    map->slots[slot] = map->entries.count;
    assert(map->entries.count < map->slot_count); /* a search ends at a free slot */
    return true;
}

const uint8_t *latest_row(const struct latest_map *map, const uint8_t *hash, int table,
                          const struct tide_rows *rows)
{
    if (!map->slots)
        return NULL;
    uint32_t slot = slot_start(map, hash, table);
    for (; map->slots[slot]; slot = (slot + 1) & (map->slot_count - 1)) {
        const struct latest *e = (const struct latest *)map->entries.items + (map->slots[slot] - 1);
        if (e->table == table && memcmp(e->hash, hash, TIDE_HASH_BYTES) == 0)
            return rows->copy.ptr + e->offset;
    }
    return NULL;
}

/* Copies the newest rows together, for tables that have older ones. */
void latest_compact(struct latest_map *map, struct tide_batch *batch, struct tide_buf *scratch)
{
    const struct latest *entries = map->entries.items;
    for (int table = 0; table < (int)TIDE_TABLES_MAX; table++) {
        if (!map->dead[table])
            continue;
        struct tide_rows *rows = &batch->rows[table];
        tide_buf_reset(scratch);
        uint64_t count = 0;
        for (uint32_t i = 0; i < map->entries.count; i++) {
            if (entries[i].table != table)
                continue;
            assert(entries[i].offset + entries[i].len <= rows->copy.len);
            tide_buf_put(scratch, rows->copy.ptr + entries[i].offset, entries[i].len);
            count++;
        }
        if (scratch->failed) {
            rows->copy.failed = true; /* no memory: the writer must not commit the batch */
            continue;
        }
        assert(scratch->len <= rows->copy.len); /* the newest rows are a part of all */
        if (scratch->len)                       /* no row is left if the ledger was undone */
            memcpy(rows->copy.ptr, scratch->ptr, scratch->len);
        rows->copy.len = scratch->len;
        rows->count = count;
    }
}

void latest_reset(struct latest_map *map)
{
    if (map->entries.count == 0)
        return;
    map->entries.count = 0;
    map->undo.count = 0;
    map->ledger_from = 0;
    memset(map->dead, 0, sizeof map->dead);
    if (map->slots)
        memset(map->slots, 0, map->slot_count * sizeof *map->slots);
}

void latest_release(struct latest_map *map)
{
    free(map->entries.items);
    free(map->undo.items);
    free(map->slots);
    *map = (struct latest_map){ 0 };
}
