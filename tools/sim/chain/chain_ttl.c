/* Lifetimes of entries: lapsed entries are evicted or restored, instances extended before they
 * lapse. */
#include "tidemark/xdr.h"
#include "tools/sim/chain/chain.h"

/* ledgers between scans, evictions of a ledger at most, ledgers between extensions */
enum { SCAN_EVERY = 16, EVICT_MOST = 200, CARE_EVERY = 64 };

/* Orders entries by contract and key, so that their places in memory do not decide bytes. */
static int by_key(const void *a, const void *b)
{
    const struct sim_entry *const *x = a, *const *y = b;
    int order = memcmp((*x)->contract->address.key, (*y)->contract->address.key, TIDE_HASH_BYTES);
    if (order == 0)
        order = tide_slice_cmp((*x)->key, (*y)->key);
    return order ? order : (int)(*x)->durability - (int)(*y)->durability;
}

/* Lists the lapsed entries in chain->lapsed, sorted. Returns their number. Without memory, the rest
 * waits for the next scan. */
static uint32_t find_lapsed(struct chain *chain)
{
    uint32_t count = 0, at = 0;
    for (struct sim_entry *e = sim_entry_live(&chain->host, &at); e;
         e = sim_entry_live(&chain->host, &at)) {
        if (e->live_until >= chain->ledger)
            continue;
        if (count == chain->lapsed_max) {
            uint32_t more = count ? count * 2 : 256;
            struct sim_entry **grown = realloc(chain->lapsed, more * sizeof(struct sim_entry *));
            if (!grown)
                break;
            chain->lapsed = grown;
            chain->lapsed_max = more;
        }
        chain->lapsed[count++] = e;
    }
    if (count)
        qsort(chain->lapsed, count, sizeof(struct sim_entry *), by_key);
    return count;
}

/* Evicts a lapsed entry. A temporary one is gone; a persistent one moves to the hot archive. */
static void evict_entry(struct chain *chain, struct sim_entry *entry)
{
    assert(entry->exists && !entry->evicted && entry->live_until < chain->ledger);
    chain_evict(chain, entry);
    if (entry->durability == SIM_TEMPORARY) {
        sim_entry_evict(&chain->host, entry);
        return;
    }
    sim_entry_archive(&chain->host, entry);
    chain_report_version(chain, 0, entry, CHAIN_LIFE);
}

/* --- extending and restoring ---------------------------------------------------------------- */

/* A transaction of the deployer that extends or restores entries. */
struct care {
    struct chain *chain;
    struct sim_account *payer;
    struct lcm_tx tx;
    uint32_t keys;    /* keys in the footprint */
    uint32_t changes; /* changes in chain->changes */
};

/* Extends an entry's life unless it is longer already; appends the changes and counts them. */
static void extend_entry(struct chain *chain, uint32_t tx, struct sim_entry *entry,
                         uint32_t live_until, uint32_t *count)
{
    if (entry->live_until >= live_until)
        return;
    struct lcm_data data = chain_data(entry, &chain->scratch);
    chain_put_ttl(chain, count, CHANGE_STATE, &data, entry->modified, entry->live_until);
    chain_put_ttl(chain, count, CHANGE_UPDATED, &data, chain->ledger, live_until);
    entry->live_until = live_until;
    chain_report_version(chain, tx, entry, CHAIN_LIFE);
}

void chain_restore(struct chain *chain, uint32_t tx, struct sim_entry *entry, uint32_t *count)
{
    entry->live_until = chain->ledger + chain->host.persistent_life;
    sim_entry_restore(&chain->host, entry);
    chain_change(&chain->changes, count, CHANGE_RESTORED);
    struct lcm_data data = chain_data(entry, &chain->scratch);
    lcm_put_data(&chain->changes, entry->modified, &data, entry->val);
    chain_put_ttl(chain, count, CHANGE_RESTORED, &data, chain->ledger, entry->live_until);
    chain_report_version(chain, tx, entry, CHAIN_LIFE);
}

/* Adds an entry's key to the footprint. */
static void add_key(struct care *c, const struct sim_entry *entry)
{
    struct lcm_data data = chain_data(entry, &c->chain->scratch);
    lcm_put_data_key(&c->chain->read_only, &data);
    c->keys++;
}

/* Adds an entry to an extension and to its footprint. index + 1 is the number that the transaction
 * gets. */
static void extend_key(struct care *c, struct sim_entry *entry, uint32_t live_until)
{
    add_key(c, entry);
    extend_entry(c->chain, c->chain->index + 1, entry, live_until, &c->changes);
}

/* Adds an entry to a restoration and to its footprint. */
static void restore_key(struct care *c, struct sim_entry *entry)
{
    add_key(c, entry);
    chain_restore(c->chain, c->chain->index + 1, entry, &c->changes);
}

/* Appends the SorobanTransactionData. An extension only reads its keys, a restoration writes
 * them. */
static void put_soroban(struct care *c, bool writes)
{
    struct tide_buf *buf = &c->chain->soroban;
    lcm_words(buf, 0, writes ? 0 : c->keys);
    if (!writes)
        tide_buf_slice(buf, tide_buf_view(&c->chain->read_only));
    tide_buf_be32(buf, writes ? c->keys : 0);
    if (writes)
        tide_buf_slice(buf, tide_buf_view(&c->chain->read_only));
    lcm_words(buf, 0, 4000, writes ? 4000 : 0);
    tide_buf_be64(buf, (uint64_t)(c->tx.fee - 100));
    c->tx.soroban = tide_buf_view(buf);
}

/* Begins the transaction: charges the fee and uses a sequence number. */
static void begin_care(struct care *c)
{
    struct chain *chain = c->chain;
    chain_reset(chain);
    c->payer = chain->accounts[PARTY_DEPLOYER];
    c->tx = (struct lcm_tx){ .source = c->payer->address.key, .success = true, .op_count = 1 };
    c->tx.fee = c->tx.fee_charged = 80100;
    chain_move(chain, &chain->fee_changes, &c->tx.fee_changes.count, c->payer, -c->tx.fee);
    chain_bump_sequence(chain, c->payer, &c->tx.before.count);
    c->tx.seq = c->payer->seq;
    chain_fee_event(chain, c->payer->address.key, 0, c->tx.fee);
    tide_buf_be32(&chain->body, 0); /* both operations begin with an extension point */
}

/* Adds the finished transaction to the ledger. */
static void finish_care(struct care *c, enum lcm_op type)
{
    struct chain *chain = c->chain;
    put_soroban(c, type == LCM_OP_RESTORE);
    c->tx.fee_changes.xdr = tide_buf_view(&chain->fee_changes);
    c->tx.before.xdr = tide_buf_view(&chain->before);
    c->tx.tx_events = (struct lcm_list){ tide_buf_view(&chain->tx_events), 1 };
    c->tx.ops[0] =
        (struct lcm_operation){ .type = type,
                                .body = tide_buf_view(&chain->body),
                                .changes = { tide_buf_view(&chain->changes), c->changes } };
    lcm_add(&chain->lcm, &c->tx);
    chain->index++;
    chain->txs++;
}

/* Extends the protocol's code and its contracts' instances, except those that have lapsed
 * already. */
static void extend_instances(struct chain *chain)
{
    struct care c = { .chain = chain };
    uint32_t life = chain->host.persistent_life;
    begin_care(&c);
    tide_buf_be32(&chain->body, life);
    for (uint32_t i = 0; i < PARTY_TOKEN; i++) {
        struct sim_contract *contract =
            sim_contract_find(&chain->host, chain_addr(chain, parties_contract(i)));
        if (contract->instance && contract->instance->exists &&
            contract->instance->live_until >= chain->ledger)
            extend_key(&c, contract->instance, chain->ledger + life);
    }
    if (chain->code.modified && !chain_code_lapsed(chain)) {
        lcm_put_code_key(&chain->read_only, chain->code.hash);
        c.keys++;
        chain_code_extend(chain, chain->ledger + life, &c.changes);
    }
    finish_care(&c, LCM_OP_EXTEND_TTL);
}

/* Restores up to three of the lapsed entries although no call needs them. */
static void restore_some(struct chain *chain, uint32_t count)
{
    struct care c = { .chain = chain };
    uint32_t first = 0;
    while (first < count && chain->lapsed[first]->durability != SIM_PERSISTENT)
        first++;
    if (first == count)
        return;
    begin_care(&c);
    for (uint32_t i = first; i < count && c.keys < 3; i++) {
        struct sim_entry *entry = chain->lapsed[i];
        if (entry->durability == SIM_PERSISTENT && (i == first || chain_random(chain) % 2))
            restore_key(&c, entry);
    }
    assert(c.keys > 0 && "the first entry is always restored");
    finish_care(&c, LCM_OP_RESTORE);
}

void chain_ttl(struct chain *chain)
{
    if (chain->ledger % CARE_EVERY == 3)
        extend_instances(chain);
    if (chain->ledger % SCAN_EVERY != 0)
        return;
    uint32_t count = find_lapsed(chain);
    if (count && chain_random(chain) % 3 == 0)
        restore_some(chain, count < 8 ? count : 8);
    /* Restored entries are in the list too; their lives have not lapsed any more. */
    for (uint32_t i = 0; i < count && i < EVICT_MOST; i++) {
        if (chain->lapsed[i]->live_until < chain->ledger)
            evict_entry(chain, chain->lapsed[i]);
    }
    chain_code_evict(chain);
}
