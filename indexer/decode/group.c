/* Sorts the changes of one LedgerEntryChanges into an order that all nodes agree on. README.md,
 * "The order of entry changes", says why. */
#include "indexer/decode/decode_impl.h"

#include <stdlib.h>
#include <string.h>

/* Compares bytes, then lengths. */
static int compare_bytes(const uint8_t *a, uint32_t a_len, const uint8_t *b, uint32_t b_len)
{
    int bytes = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return bytes ? bytes : (a_len > b_len) - (a_len < b_len);
}

/* Compares positions in the ledger: changes of one key keep the order in which they stand there. */
static int compare_positions(const uint8_t *a, const uint8_t *b)
{
    return (a > b) - (a < b);
}

static int by_data_key(const void *left, const void *right)
{
    const struct data_change *a = left, *b = right;
    int keys = compare_bytes(a->key, a->key_len, b->key, b->key_len);
    return keys ? keys : compare_positions(a->key, b->key);
}

static int by_ttl_key(const void *left, const void *right)
{
    const struct ttl_change *a = left, *b = right;
    int keys = memcmp(a->key_hash, b->key_hash, TIDE_HASH_BYTES);
    return keys ? keys : compare_positions(a->key_hash, b->key_hash);
}

/* Sorts the items from index `first` on. Sorted input, the usual case, is detected without a
 * sort. */
static void sort_from(struct list *list, uint32_t first, size_t size,
                      int (*compare)(const void *, const void *))
{
    uint8_t *items = list->items;
    uint32_t i = first + 1;
    while (i < list->count && compare(items + (i - 1) * size, items + i * size) < 0)
        i++;
    if (i < list->count)
        qsort(items + first * size, list->count - first, size, compare);
}

struct data_change group_pack(const struct tide_change *change)
{
    const uint8_t *key = change->contract.ptr;
    const uint8_t *durability = change->key.ptr + change->key.len;
    assert(change->key.ptr == key + change->contract.len && "a key stands in one piece");
    assert(!change->value.len || change->value.ptr == durability + 4);
    return (struct data_change){ .key = key,
                                 .key_len = (uint32_t)(durability + 4 - key),
                                 .value_len = (uint32_t)change->value.len,
                                 .contract_len = (uint16_t)change->contract.len,
                                 .kind = (uint16_t)change->kind };
}

struct tide_change group_unpack(const struct data_change *packed)
{
    const uint8_t *end = packed->key + packed->key_len;
    uint32_t key_len = packed->key_len - packed->contract_len - 4;
    return (struct tide_change){
        .kind = (enum tide_change_kind)packed->kind,
        .type = TIDE_ENTRY_CONTRACT_DATA,
        .contract = tide_slice_of(packed->key, packed->contract_len),
        .key = tide_slice_of(packed->key + packed->contract_len, key_len),
        .durability = tide_be32(end - 4),
        .value = tide_slice_of(end, packed->value_len),
    };
}

static tide_status no_memory(struct tide_decode *d)
{
    return tide_fail(d->err, TIDE_E_MEMORY, "ledger %" PRIu32 ": entry changes",
                     d->header.sequence);
}

tide_status group_add(struct tide_decode *d, const struct tide_change *change)
{
    if (change->type == TIDE_ENTRY_TTL) {
        struct ttl_change *ttl = decode_list_push(&d->entries.ttls, sizeof *ttl);
        if (!ttl)
            return no_memory(d);
        *ttl = (struct ttl_change){ change->key_hash, change->live_until,
                                    change->kind == TIDE_CHANGE_REMOVED };
        return TIDE_OK;
    }
    struct data_change *data = decode_list_push(&d->entries.group, sizeof *data);
    if (!data)
        return no_memory(d);
    *data = group_pack(change);
    return TIDE_OK;
}

tide_status group_each(struct tide_decode *d, const struct tide_tx *tx, group_take *take)
{
    sort_from(&d->entries.group, 0, sizeof(struct data_change), by_data_key);
    sort_from(&d->entries.ttls, d->entries.ttls_sorted, sizeof(struct ttl_change), by_ttl_key);
    d->entries.ttls_sorted = d->entries.ttls.count;
    const struct data_change *changes = d->entries.group.items;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < d->entries.group.count && status == TIDE_OK; i++) {
        struct tide_change change = group_unpack(&changes[i]);
        status = take(d, tx, &change);
    }
    d->entries.group.count = 0;
    return status;
}

tide_status decode_evicted(struct tide_decode *d, tide_slice key_xdr)
{
    struct tide_xdr x = tide_xdr_of(key_xdr);
    struct tide_change key = { .kind = TIDE_CHANGE_REMOVED, .type = TIDE_ENTRY_CONTRACT_DATA };
    return tide_ledger_key_data(&x, &key) ? group_add(d, &key) : TIDE_OK;
}
