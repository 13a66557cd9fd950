/* Entries as people look them up; and the operations that only move their lives. */
#include "schema/wire/skip_impl.h"
#include "tools/sim/node/node_impl.h"

/* LedgerEntryData: an entry without the ledger in front and the extension behind. */
static void set_data(struct sim_node *node, struct node_entry *out, uint32_t modified)
{
    out->data = tide_slice_of(node->entries.ptr + 4, node->entries.len - 8);
    out->modified = modified;
}

static tide_status find_account(struct sim_node *node, const uint8_t *key, struct node_entry *out)
{
    const struct sim_account *account = sim_account_find(&node->chain.host, node_account(key));
    node_use(node, key);
    if (!account)
        return TIDE_E_MISSING;
    struct lcm_account entry = chain_account(account);
    lcm_put_account(&node->entries, &entry);
    set_data(node, out, account->modified);
    return TIDE_OK;
}

static tide_status find_line(struct sim_node *node, tide_slice key, struct node_entry *out)
{
    const struct sim_account *account =
        sim_account_find(&node->chain.host, node_account(key.ptr + 8));
    tide_slice asset = tide_slice_of(key.ptr + 40, key.len - 40);
    node_use(node, key.ptr + 8);
    if (!account || !account->lines[1].exists ||
        !tide_slice_eq(asset, tide_buf_view(&node->chain.asset)))
        return TIDE_E_MISSING;
    const struct sim_line *line = &account->lines[1];
    struct lcm_trustline entry = { .asset = asset,
                                   .balance = line->balance,
                                   .limit = line->limit,
                                   .flags = line->authorized ? 1 : 0,
                                   .modified = line->modified };
    memcpy(entry.key, account->address.key, TIDE_HASH_BYTES);
    lcm_put_trustline(&node->entries, &entry);
    set_data(node, out, line->modified);
    return TIDE_OK;
}

static tide_status find_nonce(struct sim_node *node, const struct tide_change *key,
                              struct node_entry *out)
{
    struct tide_xdr address = tide_xdr_of(key->contract), x = tide_xdr_of(key->key);
    struct sim_addr who = { .kind = tide_xdr_u32(&address) };
    tide_xdr_skip(&address, who.kind == SIM_ACCOUNT ? 4 : 0);
    if (tide_xdr_left(&address) != TIDE_HASH_BYTES || tide_xdr_u32(&x) != TIDE_SCV_LEDGER_KEY_NONCE)
        return TIDE_E_MISSING;
    memcpy(who.key, address.cur, TIDE_HASH_BYTES);
    const struct node_nonce *nonce = node_nonce_find(node, who, tide_xdr_i64(&x));
    if (!nonce || nonce->expires < node->chain.ledger)
        return TIDE_E_MISSING;
    struct lcm_data data = { key->contract, key->key, SIM_TEMPORARY };
    lcm_put_data(&node->entries, nonce->ledger, &data, TIDE_SLICE("\0\0\0\1"));
    set_data(node, out, nonce->ledger);
    out->lives = true;
    out->live_until = nonce->expires;
    return TIDE_OK;
}

static tide_status find_data(struct sim_node *node, const struct tide_change *key,
                             struct node_entry *out)
{
    const struct sim_entry *entry = node_data_entry(node, key->entry);
    if (!entry)
        return find_nonce(node, key, out);
    bool lapsed = entry->live_until < node->chain.ledger;
    if (lapsed && entry->durability == SIM_TEMPORARY)
        return TIDE_E_MISSING;
    struct lcm_data data = { key->contract, key->key, key->durability };
    lcm_put_data(&node->entries, entry->modified, &data, entry->val);
    set_data(node, out, entry->modified);
    out->lives = true;
    out->live_until = lapsed ? 0 : entry->live_until;
    return TIDE_OK;
}

/* The one code there is: contracts run natively, and their wasm has no bytes. */
static tide_status find_code(struct sim_node *node, const uint8_t *hash, struct node_entry *out)
{
    uint8_t empty[TIDE_HASH_BYTES];
    struct tide_buf *buf = &node->entries;
    tide_sha256(empty, (tide_slice){ 0 });
    if (!node->chain.code_ledger || memcmp(hash, empty, TIDE_HASH_BYTES) != 0)
        return TIDE_E_MISSING;
    tide_buf_be32(buf, node->chain.code_ledger);
    tide_buf_be32(buf, TIDE_ENTRY_CONTRACT_CODE);
    tide_buf_be32(buf, 0);
    tide_buf_put(buf, hash, TIDE_HASH_BYTES);
    tide_buf_be32(buf, 0);
    tide_buf_be32(buf, 0);
    set_data(node, out, node->chain.code_ledger);
    out->lives = true;
    out->live_until = node->chain.code_ledger + SIM_LIFE_MAX;
    return TIDE_OK;
}

tide_status node_entry(struct sim_node *node, tide_slice key, struct node_entry *out)
{
    struct tide_xdr x = tide_xdr_of(key);
    struct tide_change read = { 0 };
    *out = (struct node_entry){ 0 };
    tide_buf_reset(&node->entries);
    if (!tide_ledger_key_data(&x, &read) && x.status != TIDE_OK)
        return x.status;
    if (tide_xdr_end(&x) != TIDE_OK)
        return x.status;
    switch (read.type) {
    case TIDE_ENTRY_ACCOUNT:
        return find_account(node, key.ptr + 8, out);
    case TIDE_ENTRY_TRUSTLINE:
        return find_line(node, key, out);
    case TIDE_ENTRY_CONTRACT_DATA:
        return find_data(node, &read, out);
    case TIDE_ENTRY_CONTRACT_CODE:
        return find_code(node, read.key_hash, out);
    case TIDE_ENTRY_TTL:
        return TIDE_E_USAGE;
    default:
        return TIDE_E_MISSING;
    }
}

/* --- lives ---------------------------------------------------------------------------------- */

uint32_t node_lives(struct sim_node *node, const struct node_tx *tx, struct chain_making *m)
{
    tide_slice keys[NODE_FOOTPRINT_MAX];
    struct chain *chain = &node->chain;
    bool restoring = tx->ops[0].type == LCM_OP_RESTORE;
    const struct tide_envelope *env = &tx->env;
    uint32_t count = restoring ? env->read_write_count : env->read_only_count;
    node_footprint_keys(keys, restoring ? env->read_write : env->read_only, count);
    for (uint32_t i = 0; i < count; i++) {
        struct sim_entry *entry = node_data_entry(node, keys[i]);
        if (!entry)
            continue;
        bool lapsed = entry->live_until < chain->ledger;
        if (restoring && lapsed && entry->durability == SIM_PERSISTENT)
            chain_restore(chain, chain->index, entry, &m->changes);
        else if (!restoring && !lapsed)
            chain_extend(chain, chain->index, entry, chain->ledger + tx->extend_to, &m->changes);
    }
    return m->changes / 2;
}
