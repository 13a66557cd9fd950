/* Entries that attackers write, and the changes that the ledger lists for them. */
#include "tidemark/limits.h"
#include "tidemark/xdr.h"
#include "tools/sim/chain/chain_call.h"
#include "tools/sim/hostile/hostile_impl.h"

#include <stdlib.h>

/* Frees an entry's buffers and zeroes it. */
static void clear_entry(struct hostile_entry *entry)
{
    tide_buf_release(&entry->key);
    tide_buf_release(&entry->val);
    *entry = (struct hostile_entry){ 0 };
}

/* Copies bytes to a buffer. Without memory the program ends: the simulator is a tool. */
static void set_buffer(struct tide_buf *buf, tide_slice to)
{
    tide_buf_reset(buf);
    tide_buf_slice(buf, to);
    assert(!buf->failed);
}

void hostile_forget(struct hostile *h)
{
    for (uint32_t i = 0; h->entries && i < h->entry_count; i++)
        clear_entry(&h->entries[i]);
    free(h->entries);
    h->entries = NULL;
}

/* Returns the recorded entry with that key, or NULL. */
static struct hostile_entry *find_entry(struct hostile *h, const uint8_t contract[TIDE_HASH_BYTES],
                                        uint32_t durability, tide_slice key)
{
    for (uint32_t i = 0; i < h->entry_count; i++) {
        struct hostile_entry *e = &h->entries[i];
        if (e->durability == durability && tide_slice_eq(tide_buf_view(&e->key), key) &&
            memcmp(e->contract, contract, TIDE_HASH_BYTES) == 0)
            return e;
    }
    return NULL;
}

/* Returns a free place. If there is none, forgets a random entry, which stays on the ledger. */
static struct hostile_entry *new_entry(struct hostile *h)
{
    if (h->entry_count < HOSTILE_ENTRIES)
        return &h->entries[h->entry_count++];
    struct hostile_entry *entry = &h->entries[dice_of(&h->dice, HOSTILE_ENTRIES)];
    clear_entry(entry);
    return entry;
}

/* Returns the entry as the lcm functions take it. */
static struct lcm_data data_of(struct hostile *h, const struct hostile_entry *entry)
{
    return lcm_data_of(&h->address, entry->contract, tide_buf_view(&entry->key), entry->durability);
}

/* Appends a change of an entry. */
static void put_data(struct attack *a, uint32_t kind, uint32_t modified,
                     const struct lcm_data *data, tide_slice value)
{
    chain_change(&a->chain->changes, &a->changes, kind);
    if (kind == CHANGE_REMOVED)
        lcm_put_data_key(&a->chain->changes, data);
    else
        lcm_put_data(&a->chain->changes, modified, data, value);
}

/* Returns the end of a new life: half of them lapse soon. */
static uint32_t new_life(struct hostile *h)
{
    return h->chain->ledger + 4 + dice_of(&h->dice, dice_percent(&h->dice, 50) ? 40 : 4000);
}

/* Returns true if the entry's life has ended. */
static bool has_lapsed(const struct hostile *h, const struct hostile_entry *entry)
{
    return entry->live_until < h->chain->ledger;
}

/* Appends the update of an entry, which restores it first if its life has ended. */
static void update_entry(struct attack *a, struct hostile_entry *entry, const struct lcm_data *data,
                         tide_slice value)
{
    bool restored = has_lapsed(a->h, entry);
    if (restored) {
        /* index of the key in the read-write footprint */
        tide_buf_be32(&a->chain->archived, a->read_write - 1);
        a->archived++;
    }
    put_data(a, restored ? CHANGE_RESTORED : CHANGE_STATE, entry->modified, data,
             tide_buf_view(&entry->val));
    put_data(a, CHANGE_UPDATED, a->chain->ledger, data, value);
    if (restored) {
        entry->live_until = new_life(a->h);
        chain_put_ttl(a->chain, &a->changes, CHANGE_RESTORED, data, a->chain->ledger,
                      entry->live_until);
    }
}

void attack_write(struct attack *a, const uint8_t contract[TIDE_HASH_BYTES], uint32_t durability,
                  tide_slice key)
{
    struct hostile *h = a->h;
    tide_slice value = tide_buf_view(&h->value);
    struct hostile_entry *entry = find_entry(h, contract, durability, key);
    uint64_t now = (uint64_t)a->chain->ledger << 32 | (a->chain->index + 1);
    if (entry && entry->touched == now)
        return;
    if (!entry) {
        entry = new_entry(h);
        memcpy(entry->contract, contract, TIDE_HASH_BYTES);
        entry->durability = durability;
        tide_buf_init(&entry->key, TIDE_LEDGER_BYTES_MAX);
        tide_buf_init(&entry->val, TIDE_LEDGER_BYTES_MAX);
        set_buffer(&entry->key, key);
    }
    entry->touched = now;
    struct lcm_data data = data_of(h, entry);
    attack_key(a, true, &data);
    /* a lapsed temporary entry does not exist for the network */
    bool gone = !entry->exists || (durability == SIM_TEMPORARY && has_lapsed(h, entry));
    if (gone) {
        entry->live_until = new_life(h);
        put_data(a, CHANGE_CREATED, a->chain->ledger, &data, value);
        chain_put_ttl(a->chain, &a->changes, CHANGE_CREATED, &data, a->chain->ledger,
                      entry->live_until);
    } else {
        update_entry(a, entry, &data, value);
    }
    set_buffer(&entry->val, value);
    entry->modified = a->chain->ledger;
    entry->exists = true;
    entry->evicted = false;
}

void attack_create(struct attack *a, const struct lcm_data *data, tide_slice value)
{
    put_data(a, CHANGE_CREATED, a->chain->ledger, data, value);
    chain_put_ttl(a->chain, &a->changes, CHANGE_CREATED, data, a->chain->ledger, new_life(a->h));
}

void attack_update(struct attack *a, const struct lcm_data *data, tide_slice value)
{
    put_data(a, CHANGE_STATE, a->chain->ledger, data, value);
    put_data(a, CHANGE_UPDATED, a->chain->ledger, data, value);
}

void attack_remove(struct attack *a, struct hostile_entry *entry)
{
    struct lcm_data data = data_of(a->h, entry);
    attack_key(a, true, &data);
    put_data(a, CHANGE_STATE, entry->modified, &data, tide_buf_view(&entry->val));
    put_data(a, CHANGE_REMOVED, 0, &data, tide_buf_view(&entry->val));
    chain_put_ttl(a->chain, &a->changes, CHANGE_STATE, &data, entry->modified, entry->live_until);
    chain_put_ttl(a->chain, &a->changes, CHANGE_REMOVED, &data, 0, 0);
    entry->exists = false;
}

void attack_restore(struct attack *a, struct hostile_entry *entry)
{
    struct lcm_data data = data_of(a->h, entry);
    attack_key(a, true, &data);
    entry->live_until = new_life(a->h);
    entry->evicted = false;
    put_data(a, CHANGE_RESTORED, entry->modified, &data, tide_buf_view(&entry->val));
    chain_put_ttl(a->chain, &a->changes, CHANGE_RESTORED, &data, a->chain->ledger,
                  entry->live_until);
}

void attack_extend(struct attack *a, const struct hostile_entry *entry, uint32_t live_until)
{
    struct lcm_data data = data_of(a->h, entry);
    attack_key(a, false, &data);
    chain_put_ttl(a->chain, &a->changes, CHANGE_STATE, &data, entry->modified, entry->live_until);
    chain_put_ttl(a->chain, &a->changes, CHANGE_UPDATED, &data, a->chain->ledger, live_until);
}

void attack_overwrite(struct attack *a, const struct sim_entry *entry, tide_slice value)
{
    struct lcm_data data = chain_data(entry, &a->h->address);
    attack_key(a, true, &data);
    put_data(a, CHANGE_STATE, entry->modified, &data, entry->val);
    put_data(a, CHANGE_UPDATED, a->chain->ledger, &data, value);
}

struct hostile_entry *hostile_any_entry(struct hostile *h, bool lapsed)
{
    uint32_t start = h->entry_count ? dice_of(&h->dice, h->entry_count) : 0;
    for (uint32_t i = 0; i < h->entry_count; i++) {
        struct hostile_entry *e = &h->entries[(start + i) % h->entry_count];
        if (e->exists && has_lapsed(h, e) == lapsed && !(lapsed && e->durability == SIM_TEMPORARY))
            return e;
    }
    return NULL;
}

/* Lists the entry and its lifetime as evicted. A persistent entry can be restored later. */
static void evict_entry(struct hostile *h, struct hostile_entry *entry)
{
    struct lcm_data data = data_of(h, entry);
    lcm_evict_data(&h->chain->lcm, &data);
    entry->evicted = true;
    entry->exists = entry->durability == SIM_PERSISTENT;
}

void hostile_evict(struct hostile *h)
{
    for (uint32_t i = 0; i < h->entry_count; i++) {
        struct hostile_entry *entry = &h->entries[i];
        if (entry->exists && !entry->evicted && has_lapsed(h, entry) && dice_percent(&h->dice, 20))
            evict_entry(h, entry);
    }
}
