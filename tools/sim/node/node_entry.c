/* Look-ups of entries by clients; restoration of entries. */
#include "tidemark/xdr_skip.h"
#include "tools/sim/node/node_impl.h"

/* Sets the answer to LedgerEntryData: the entry without its ledger in front and its extension
 * behind. */
static void set_data(struct sim_node *node, struct node_entry *out, uint32_t modified)
{
    out->data = tide_slice_of(node->entries.ptr + 4, node->entries.len - 8);
    out->modified = modified;
}

/* A look-up marks the account as used by a client, even if it does not exist yet. */
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

/* A lapsed temporary entry does not exist for clients; a lapsed persistent one is archived. */
static tide_status find_data(struct sim_node *node, const struct tide_change *key,
                             struct node_entry *out)
{
    const struct sim_entry *entry = node_data_entry(node, key->entry);
    if (!entry)
        return TIDE_E_MISSING;
    bool lapsed = entry->live_until < node->chain.ledger;
    if (lapsed && entry->durability == SIM_TEMPORARY)
        return TIDE_E_MISSING;
    struct lcm_data data = { key->contract, key->key, key->durability };
    lcm_put_data(&node->entries, entry->modified, &data, entry->val);
    set_data(node, out, entry->modified);
    out->has_ttl = true;
    out->live_until = lapsed ? 0 : entry->live_until;
    return TIDE_OK;
}

static tide_status find_code(struct sim_node *node, tide_slice key, struct node_entry *out)
{
    const struct chain *chain = &node->chain;
    if (!node_is_code(node, key))
        return TIDE_E_MISSING;
    chain_put_code(chain, &node->entries);
    set_data(node, out, chain->code.modified);
    out->has_ttl = true;
    out->live_until = chain_code_lapsed(chain) ? 0 : chain->code.live_until;
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
        /* behind the key's type and the public key's type */
        return find_account(node, key.ptr + 8, out);
    case TIDE_ENTRY_CONTRACT_DATA:
        return find_data(node, &read, out);
    case TIDE_ENTRY_CONTRACT_CODE:
        return find_code(node, key, out);
    case TIDE_ENTRY_TTL:
        return TIDE_E_USAGE;
    default:
        return TIDE_E_MISSING;
    }
}

/* --- restoring ------------------------------------------------------------------------------ */

uint32_t node_restore(struct sim_node *node, const struct node_tx *tx, struct chain_making *m)
{
    tide_slice keys[NODE_FOOTPRINT_MAX];
    uint32_t count = tx->env.read_write_count;
    node_footprint_keys(keys, tx->env.read_write, count);
    for (uint32_t i = 0; i < count; i++)
        node_restore_key(node, keys[i], m);
    return m->changes / 2; /* each restoration has two changes: entry and lifetime */
}
