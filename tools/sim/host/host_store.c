/* The table of entries, and the touches of the running call: writing, undoing, freeing. */
#include "tools/sim/host/host_impl.h"

#define BUCKETS_MIN 1024u /* power of two */

/* The jump skips every C frame of the call tree, back to the setjmp of the entry function. */
_Noreturn void sim_refuse(struct sim_host *h, const char *reason)
{
    h->out.reason = reason;
    longjmp(h->refused, 1);
}

void *sim_room(void *old, size_t size)
{
    void *room = realloc(old, size);
    if (!room)
        abort();
    return room;
}

void sim_grow(void **array, uint32_t *max, uint32_t count, size_t size)
{
    if (count < *max)
        return;
    assert(count == *max && "arrays grow by one element at a time");
    *max = *max ? *max * 2 : 64;
    *array = sim_room(*array, *max * size);
}

/* Mixes eight bytes at a time. Nothing depends on the values: walks over the table have no
 * order. */
static uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    uint64_t hash = seed ^ (len * 0x9e3779b97f4a7c15u);
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    uint64_t tail = 0;
    if (len)
        memcpy(&tail, at, len);
    hash = (hash ^ tail) * 0xc4ceb9fe1a85ec53u;
    return hash ^ (hash >> 29);
}

void sim_check_arena(struct sim_host *h)
{
    if (h->arena.full)
        sim_refuse(h, "too much memory for one call");
}

/* Frees a value at the next call: the outcome and the contracts' trees point into it until then. */
static void discard_value(struct sim_host *h, tide_slice val)
{
    if (!val.ptr)
        return;
    sim_grow((void **)&h->garbage, &h->garbage_max, h->garbage_count, sizeof(*h->garbage));
    h->garbage[h->garbage_count++] = (void *)(uintptr_t)val.ptr;
}

/* Doubles the table. Entries do not move in memory. */
static void rehash_entries(struct sim_host *h)
{
    uint32_t buckets = h->entry_buckets ? h->entry_buckets * 2 : BUCKETS_MIN;
    assert(buckets > 0 && (buckets & (buckets - 1)) == 0 && "a mask finds the bucket");
    struct sim_entry **table = sim_room(NULL, buckets * sizeof(struct sim_entry *));
    memset(table, 0, buckets * sizeof(struct sim_entry *));
    for (uint32_t i = 0; i < h->entry_buckets; i++) {
        for (struct sim_entry *e = h->entries[i], *next; e; e = next) {
            next = e->next;
            struct sim_entry **head = &table[e->hash & (buckets - 1)];
            e->next = *head;
            *head = e;
        }
    }
    free(h->entries);
    h->entries = table;
    h->entry_buckets = buckets;
}

/* The contract, the durability and the key identify an entry. */
static uint64_t key_hash(const struct sim_contract *contract, tide_slice key, uint32_t durability)
{
    uint64_t seed = hash_bytes(durability, contract->address.key, TIDE_HASH_BYTES);
    return hash_bytes(seed, key.ptr, key.len);
}

struct sim_entry *sim_entry_find(struct sim_host *h, struct sim_contract *contract, tide_slice key,
                                 uint32_t durability)
{
    uint64_t hash = key_hash(contract, key, durability);
    struct sim_entry *e = h->entry_buckets ? h->entries[hash & (h->entry_buckets - 1)] : NULL;
    while (e && !(e->hash == hash && e->contract == contract && e->durability == durability &&
                  tide_slice_eq(e->key, key)))
        e = e->next;
    return e;
}

/* Adds the entry to the list of entries that are not evicted. */
static void list_live(struct sim_host *h, struct sim_entry *entry)
{
    if (h->live_count == h->live_max) {
        h->live_max = h->live_max ? h->live_max * 2 : 1024;
        h->live = sim_room(h->live, h->live_max * sizeof(struct sim_entry *));
    }
    assert(h->live_count < h->live_max);
    entry->live_index = h->live_count;
    h->live[h->live_count++] = entry;
}

/* Moves the last entry of the list into the gap. */
static void unlist_live(struct sim_host *h, struct sim_entry *entry)
{
    assert(entry->live_index < h->live_count);
    struct sim_entry *last = h->live[--h->live_count];
    assert(h->live[entry->live_index] == entry);
    last->live_index = entry->live_index;
    h->live[entry->live_index] = last;
}

/* Returns the entry whose key is in h->scratch, created without a value if there is none. */
static struct sim_entry *find_or_create(struct sim_host *h, struct sim_contract *contract,
                                        uint32_t durability)
{
    tide_slice key = tide_buf_view(&h->scratch);
    struct sim_entry *found = sim_entry_find(h, contract, key, durability);
    if (found)
        return found;
    if (h->entry_count >= h->entry_buckets)
        rehash_entries(h);
    assert(h->entry_count < h->entry_buckets);
    uint64_t hash = key_hash(contract, key, durability);
    struct sim_entry **head = &h->entries[hash & (h->entry_buckets - 1)];
    /* The key lies behind the entry in one allocation. */
    struct sim_entry *made = sim_room(NULL, sizeof(*made) + key.len);
    uint8_t *bytes = (uint8_t *)(made + 1);
    assert(key.ptr);
    memcpy(bytes, key.ptr, key.len);
    *made = (struct sim_entry){ .next = *head,
                                .hash = hash,
                                .contract = contract,
                                .key = { bytes, key.len },
                                .durability = durability };
    *head = made;
    h->entry_count++;
    list_live(h, made);
    return made;
}

/* Unlinks and frees an entry. The value must be freed or owned elsewhere. */
static void free_entry(struct sim_host *h, struct sim_entry *entry)
{
    assert(h->entry_count > 0 && h->entry_buckets > 0);
    struct sim_entry **at = &h->entries[entry->hash & (h->entry_buckets - 1)];
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    if (entry->contract->instance == entry)
        entry->contract->instance = NULL;
    if (!entry->evicted)
        unlist_live(h, entry);
    free(entry);
    h->entry_count--;
}

struct sim_entry *sim_entry_touch(struct sim_host *h, struct sim_contract *contract,
                                  const sim_val *key, uint32_t durability)
{
    assert(durability == SIM_TEMPORARY || durability == SIM_PERSISTENT);
    tide_buf_reset(&h->scratch);
    sim_val_xdr(&h->scratch, key);
    if (h->scratch.failed)
        sim_refuse(h, "key too large");
    struct sim_entry *entry = find_or_create(h, contract, durability);
    if (entry->touched_in == h->call)
        return entry;
    tide_slice before = entry->val;
    bool lapsed = entry->exists && durability == SIM_TEMPORARY && entry->live_until < h->seq;
    if (lapsed) { /* the life is over, but no eviction has removed the entry yet */
        /* A plain call removes the lapsed value for good. An attempt keeps it in the touch, so that
         * undoing restores it. */
        if (!h->attempt)
            discard_value(h, before);
        entry->exists = false;
        entry->val = (tide_slice){ 0 };
    }
    sim_grow((void **)&h->out.touches, &h->touch_max, h->out.touch_count, sizeof(*h->out.touches));
    entry->touched_in = h->call;
    entry->touch = h->out.touch_count;
    h->out.touches[h->out.touch_count++] = (struct sim_touch){
        .kind = SIM_TOUCH_DATA,
        .entry = entry,
        .existed = entry->exists,
        .val = lapsed && h->attempt ? before : entry->val,
        .live_until = entry->live_until,
        .modified = entry->modified,
        .lapsed = lapsed && h->attempt,
    };
    return entry;
}

struct sim_touch *sim_entry_write(struct sim_host *h, struct sim_entry *entry)
{
    assert(entry->touched_in == h->call);
    assert(entry->touch < h->out.touch_count && h->out.touches[entry->touch].entry == entry);
    struct sim_touch *touch = &h->out.touches[entry->touch];
    touch->written = true;
    return touch;
}

/* Returns how many ledgers a new entry lives. */
static uint32_t first_life(const struct sim_host *h, const struct sim_entry *entry)
{
    return entry->durability == SIM_TEMPORARY ? h->temporary_life : h->persistent_life;
}

void sim_entry_store(struct sim_host *h, struct sim_entry *entry, const sim_val *val)
{
    sim_check_arena(h);
    sim_entry_write(h, entry);
    tide_buf_reset(&h->scratch);
    sim_val_xdr(&h->scratch, val);
    if (h->scratch.failed)
        sim_refuse(h, "value too large");
    tide_slice xdr = tide_buf_view(&h->scratch);
    assert(xdr.len > 0 && xdr.len % 4 == 0 && "XDR has whole words");
    /* An equal value keeps the old bytes: the entry counts as written but not as changed. */
    if (entry->exists && tide_slice_eq(entry->val, xdr))
        return;
    uint8_t *copy = sim_room(NULL, xdr.len);
    memcpy(copy, xdr.ptr, xdr.len);
    discard_value(h, entry->val);
    entry->val = (tide_slice){ copy, xdr.len };
    if (!entry->exists)
        entry->live_until = h->seq + first_life(h, entry);
    entry->exists = true;
}

void sim_entry_clear(struct sim_host *h, struct sim_entry *entry)
{
    assert(entry->exists);
    sim_entry_write(h, entry);
    discard_value(h, entry->val);
    entry->val = (tide_slice){ 0 };
    entry->exists = false;
}

/* The first access of a call records the state before it. */
struct sim_touch *sim_account_touch(struct sim_host *h, struct sim_account *account, uint32_t asset,
                                    bool write)
{
    assert(asset < SIM_ASSETS_MAX);
    if (account->touched_in[asset] != h->call) {
        sim_grow((void **)&h->out.touches, &h->touch_max, h->out.touch_count,
                 sizeof(*h->out.touches));
        account->touched_in[asset] = h->call;
        account->touch[asset] = h->out.touch_count;
        struct sim_line *line = &account->lines[asset];
        h->out.touches[h->out.touch_count++] = (struct sim_touch){
            .kind = asset ? SIM_TOUCH_LINE : SIM_TOUCH_ACCOUNT,
            .account = account,
            .asset = asset,
            .existed = asset ? line->exists : account->exists,
            .modified = asset ? line->modified : account->modified,
            .balance = asset ? line->balance : account->balance,
        };
    }
    struct sim_touch *touch = &h->out.touches[account->touch[asset]];
    assert(touch->account == account && touch->asset == asset);
    touch->written |= write;
    return touch;
}

/* Restores the state that the touch recorded. Calls change balances only, no other field of
 * accounts. */
static void undo_one(struct sim_touch *touch)
{
    switch (touch->kind) {
    case SIM_TOUCH_DATA:
        touch->entry->exists = touch->existed || touch->lapsed;
        touch->entry->val = touch->val;
        touch->entry->live_until = touch->live_until;
        break;
    case SIM_TOUCH_ACCOUNT:
        touch->account->balance = touch->balance;
        break;
    case SIM_TOUCH_LINE:
        touch->account->lines[touch->asset].balance = touch->balance;
        break;
    }
}

/* Removes a value from the garbage, because undoing brings the value back into use. */
static void keep_value(struct sim_host *h, const uint8_t *ptr)
{
    for (uint32_t i = 0; ptr && i < h->garbage_count; i++) {
        if (h->garbage[i] == ptr)
            h->garbage[i] = NULL;
    }
}

/* Entries that were only read are as before, so they need no undoing. */
void sim_undo(struct sim_host *h)
{
    for (uint32_t i = 0; i < h->out.touch_count; i++) {
        struct sim_touch *touch = &h->out.touches[i];
        if (!touch->written && !touch->lapsed)
            continue;
        if (touch->kind == SIM_TOUCH_DATA && touch->entry->val.ptr != touch->val.ptr) {
            keep_value(h, touch->val.ptr);
            discard_value(h, touch->entry->val);
        }
        undo_one(touch);
    }
}

/* Drops the old values of lapsed temporary entries, which the kept attempt saw as absent. */
void sim_drop_lapsed(struct sim_host *h)
{
    for (uint32_t i = 0; i < h->out.touch_count; i++) {
        struct sim_touch *touch = &h->out.touches[i];
        if (!touch->lapsed)
            continue;
        discard_value(h, touch->val);
        touch->val = (tide_slice){ 0 };
        touch->lapsed = false;
    }
}

/* Returns true if the entry's existence, value or balance changed. A longer life alone is no
 * difference. */
static bool differs(const struct sim_touch *touch)
{
    switch (touch->kind) {
    case SIM_TOUCH_DATA:
        return touch->existed != touch->entry->exists ||
               (touch->existed && !tide_slice_eq(touch->val, touch->entry->val));
    case SIM_TOUCH_ACCOUNT:
        return touch->balance != touch->account->balance;
    case SIM_TOUCH_LINE:
        return touch->balance != touch->account->lines[touch->asset].balance;
    }
    return false;
}

/* Stamps even written entries without a difference: the network rewrites them too. */
void sim_commit(struct sim_host *h)
{
    h->out.changed += h->out.code_created;
    for (uint32_t i = 0; i < h->out.touch_count; i++) {
        struct sim_touch *touch = &h->out.touches[i];
        if (!touch->written)
            continue;
        h->out.changed += differs(touch);
        if (touch->kind == SIM_TOUCH_DATA)
            touch->entry->modified = h->seq;
        else if (touch->kind == SIM_TOUCH_ACCOUNT)
            touch->account->modified = h->seq;
        else
            touch->account->lines[touch->asset].modified = h->seq;
    }
}

/* Entries that do not exist were kept for the outcome only: absent keys that were read, and removed
 * entries. */
void sim_drop_outcome(struct sim_host *h)
{
    for (uint32_t i = 0; i < h->out.touch_count; i++) {
        struct sim_touch *touch = &h->out.touches[i];
        if (touch->kind == SIM_TOUCH_DATA && !touch->entry->exists)
            free_entry(h, touch->entry);
    }
    for (uint32_t i = 0; i < h->garbage_count; i++)
        free(h->garbage[i]);
    h->garbage_count = 0;
    h->out.touch_count = 0;
    h->out.event_count = 0;
    h->out.frame_count = 0;
    h->out.auth_count = 0;
    tide_arena_reset(&h->arena);
}

struct sim_entry *sim_entry_next(struct sim_host *h, struct sim_walk *walk)
{
    assert(walk->bucket <= h->entry_buckets);
    /* The walk must not meet entries that exist only for the last outcome, nor may they be freed
     * during the walk. */
    if (walk->bucket == 0 && !walk->entry)
        sim_drop_outcome(h);
    for (;;) {
        while (!walk->entry) {
            if (walk->bucket >= h->entry_buckets)
                return NULL;
            walk->entry = h->entries[walk->bucket++];
        }
        struct sim_entry *found = walk->entry;
        walk->entry = found->next;
        if (found->exists)
            return found;
    }
}

struct sim_entry *sim_entry_live(struct sim_host *h, uint32_t *at)
{
    if (*at == 0)
        sim_drop_outcome(h);
    while (*at < h->live_count) {
        struct sim_entry *found = h->live[(*at)++];
        if (found->exists)
            return found;
    }
    return NULL;
}

/* Evicted entries stay in the table: a restoration needs their value. */
void sim_entry_archive(struct sim_host *h, struct sim_entry *entry)
{
    assert(entry->durability == SIM_PERSISTENT && !entry->evicted);
    unlist_live(h, entry);
    entry->evicted = true;
}

void sim_entry_restore(struct sim_host *h, struct sim_entry *entry)
{
    if (entry->evicted)
        list_live(h, entry);
    entry->evicted = false;
}

void sim_entry_evict(struct sim_host *h, struct sim_entry *entry)
{
    assert(entry->durability == SIM_TEMPORARY && entry->live_until < h->seq);
    free((void *)(uintptr_t)entry->val.ptr);
    free_entry(h, entry);
}

void sim_store_close(struct sim_host *h)
{
    for (uint32_t i = 0; i < h->entry_buckets; i++) {
        for (struct sim_entry *e = h->entries[i], *next; e; e = next) {
            next = e->next;
            free((void *)(uintptr_t)e->val.ptr);
            free(e);
        }
    }
    free(h->entries);
    free(h->live);
    free(h->garbage);
    free(h->out.touches);
}
