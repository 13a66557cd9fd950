/* The footprint and the ledger entry changes of a call. */
#include "tidemark/xdr.h"
#include "tools/sim/chain/chain_call.h"

/* --- footprint --------------------------------------------------------------- */

void chain_put_touch_key(struct chain_making *m, struct tide_buf *to, const struct sim_touch *touch)
{
    struct chain *chain = m->chain;
    if (touch->kind == SIM_TOUCH_DATA) {
        struct lcm_data data = chain_data(touch->entry, &chain->scratch);
        lcm_put_data_key(to, &data);
    } else if (touch->kind == SIM_TOUCH_ACCOUNT) {
        lcm_put_account_key(to, touch->account->address.key);
    } else {
        assert(touch->kind == SIM_TOUCH_LINE && touch->asset == 1 && "chain->asset is USDC");
        lcm_put_trustline_key(to, touch->account->address.key, tide_buf_view(&chain->asset));
    }
}

bool chain_was_lapsed(const struct chain_making *m, const struct sim_touch *touch)
{
    return touch->kind == SIM_TOUCH_DATA && touch->existed &&
           touch->entry->durability == SIM_PERSISTENT && touch->live_until < m->chain->ledger;
}

void chain_put_footprint(struct chain_making *m)
{
    struct chain *chain = m->chain;
    for (uint32_t i = 0; i < m->out->touch_count; i++) {
        const struct sim_touch *touch = &m->out->touches[i];
        bool lapsed = chain_was_lapsed(m, touch);
        if (lapsed) {
            tide_buf_be32(&chain->archived, m->read_write);
            m->archived++;
        }
        bool write = touch->written || lapsed;
        chain_put_touch_key(m, write ? &chain->read_write : &chain->read_only, touch);
        if (write)
            m->read_write++;
        else
            m->read_only++;
    }
}

const uint8_t *chain_code_of(const struct sim_contract *contract)
{
    const struct sim_entry *entry = contract->instance;
    /* The hash stands behind the value's type and the executable's type, which is wasm. */
    if (!entry || !entry->exists || entry->val.len < 40 || entry->val.ptr[7] != 0)
        return NULL;
    return entry->val.ptr + 8;
}

void chain_put_code_key(struct chain_making *m, const uint8_t *hash)
{
    struct chain *chain = m->chain;
    bool restored = m->code_lapsed && chain_is_code(chain, hash);
    bool write = restored || m->out->code_created;
    if (restored) {
        tide_buf_be32(&chain->archived, m->read_write);
        m->archived++;
    }
    lcm_put_code_key(write ? &chain->read_write : &chain->read_only, hash);
    if (write)
        m->read_write++;
    else
        m->read_only++;
}

/* --- changes -------------------------------------------------------------------- */

/* Appends the changes of a new entry. */
static void put_created(struct chain_making *m, const struct lcm_data *data, tide_slice value,
                        uint32_t live_until)
{
    chain_change(&m->chain->changes, &m->changes, CHANGE_CREATED);
    m->changed++;
    lcm_put_data(&m->chain->changes, m->chain->ledger, data, value);
    chain_put_ttl(m->chain, &m->changes, CHANGE_CREATED, data, m->chain->ledger, live_until);
}

/* Appends the changes of a removed entry. The network lists a lapsed one as restored first, with a
 * full new life. */
static void put_removed(struct chain_making *m, const struct sim_touch *touch,
                        const struct lcm_data *data, bool lapsed)
{
    assert(touch->existed && !touch->entry->exists);
    struct tide_buf *buf = &m->chain->changes;
    uint32_t before = lapsed ? CHANGE_RESTORED : CHANGE_STATE;
    uint32_t live_until =
        lapsed ? m->chain->ledger + m->chain->host.persistent_life : touch->live_until;
    chain_change(buf, &m->changes, before);
    lcm_put_data(buf, touch->modified, data, touch->val);
    chain_change(buf, &m->changes, CHANGE_REMOVED);
    m->changed++;
    lcm_put_data_key(buf, data);
    chain_put_ttl(m->chain, &m->changes, before, data, touch->modified, live_until);
    chain_put_ttl(m->chain, &m->changes, CHANGE_REMOVED, data, 0, 0);
}

/* Appends the changes of an entry that existed and still exists. Restored if its life had ended,
 * updated if it was written. */
static void put_kept(struct chain_making *m, const struct sim_touch *touch,
                     const struct lcm_data *data, bool lapsed)
{
    struct tide_buf *buf = &m->chain->changes;
    const struct sim_entry *entry = touch->entry;
    if (lapsed || touch->written) {
        assert(touch->existed && entry->exists);
        chain_change(buf, &m->changes, lapsed ? CHANGE_RESTORED : CHANGE_STATE);
        lcm_put_data(buf, touch->modified, data, touch->val);
    }
    if (touch->written) {
        chain_change(buf, &m->changes, CHANGE_UPDATED);
        m->changed++;
        lcm_put_data(buf, m->chain->ledger, data, entry->val);
    }
    if (lapsed) {
        chain_put_ttl(m->chain, &m->changes, CHANGE_RESTORED, data, m->chain->ledger,
                      entry->live_until);
    } else if (touch->live_until != entry->live_until) {
        chain_put_ttl(m->chain, &m->changes, CHANGE_STATE, data, touch->modified,
                      touch->live_until);
        chain_put_ttl(m->chain, &m->changes, CHANGE_UPDATED, data, m->chain->ledger,
                      entry->live_until);
    }
}

/* Appends the changes of a touched data entry, and reports its new version. */
static void put_data_change(struct chain_making *m, const struct sim_touch *touch)
{
    struct sim_entry *entry = touch->entry;
    bool lapsed = chain_was_lapsed(m, touch);
    assert(touch->kind == SIM_TOUCH_DATA && entry->touched_in == m->chain->host.call);
    struct lcm_data data = chain_data(entry, &m->chain->scratch);
    if (lapsed) {
        sim_entry_restore(&m->chain->host, entry);
        if (entry->exists)
            entry->live_until = m->chain->ledger + m->chain->host.persistent_life;
    }
    uint32_t tx = m->chain->index;
    if (touch->existed && entry->exists) {
        put_kept(m, touch, &data, lapsed);
        if (touch->written || lapsed || touch->live_until != entry->live_until)
            chain_report_version(m->chain, tx, entry, touch->written ? CHAIN_WRITTEN : CHAIN_LIFE);
    } else if (touch->existed) {
        put_removed(m, touch, &data, lapsed);
        chain_report_version(m->chain, tx, entry, CHAIN_REMOVED);
    } else if (entry->exists) {
        put_created(m, &data, entry->val, entry->live_until);
        chain_report_version(m->chain, tx, entry, CHAIN_WRITTEN);
    }
}

void chain_sweep(struct chain_making *m)
{
    for (uint32_t i = 0; i < m->out->touch_count; i++) {
        const struct sim_touch *touch = &m->out->touches[i];
        if (touch->kind != SIM_TOUCH_DATA || touch->existed || touch->entry->exists ||
            /* live_until is 0 for an entry that never existed. */
            touch->live_until == 0 || touch->live_until >= m->chain->ledger)
            continue;
        chain_evict(m->chain, touch->entry);
    }
}

void chain_put_nonce(struct chain_making *m, struct sim_addr party, int64_t nonce,
                     uint32_t live_until)
{
    struct tide_buf address, key;
    tide_buf_init(&address, 64);
    tide_buf_init(&key, 64);
    chain_put_addr(&address, party);
    chain_nonce_key(&key, nonce);
    struct lcm_data data = { tide_buf_view(&address), tide_buf_view(&key), SIM_TEMPORARY };
    lcm_put_data_key(&m->chain->read_write, &data);
    m->read_write++;
    if (m->out->ok)
        /* the value of a nonce's entry is void */
        put_created(m, &data, TIDE_SLICE("\0\0\0\1"), live_until);
    tide_buf_release(&address);
    tide_buf_release(&key);
}

void chain_put_changes(struct chain_making *m)
{
    uint32_t nonce_until = m->chain->ledger + SIM_NONCE_LIFE;
    for (uint32_t i = 0; i < m->out->auth_count; i++) {
        if (m->out->auths[i].first)
            chain_put_nonce(m, m->out->auths[i].party, chain_nonce(m, i), nonce_until);
    }
    if (!m->out->ok)
        return;
    if (m->out->code_created) {
        chain_code_create(m->chain, &m->changes);
        m->changed++;
    }
    if (m->code_lapsed)
        chain_code_restore(m->chain, &m->changes);
    chain_put_touches(m);
}

void chain_put_touches(struct chain_making *m)
{
    for (uint32_t i = 0; i < m->out->touch_count; i++) {
        const struct sim_touch *touch = &m->out->touches[i];
        if (touch->kind == SIM_TOUCH_DATA) {
            put_data_change(m, touch);
        } else if (touch->written) {
            chain_change(&m->chain->changes, &m->changes, CHANGE_STATE);
            chain_put_touch(m->chain, &m->chain->changes, touch, true);
            chain_change(&m->chain->changes, &m->changes, CHANGE_UPDATED);
            chain_put_touch(m->chain, &m->chain->changes, touch, false);
            m->changed++;
        }
    }
}
