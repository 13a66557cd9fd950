/* Footprints: the keys that a transaction declares against those that its call touched. Arguments
 * as values. */
#include "tidemark/xdr_skip.h"
#include "tools/sim/node/node_impl.h"

void node_footprint_keys(tide_slice *out, tide_slice keys, uint32_t count)
{
    struct tide_xdr x = tide_xdr_of(keys);
    struct tide_change key;
    for (uint32_t i = 0; i < count; i++) {
        skip_ledger_key(&x, &key);
        out[i] = key.entry;
    }
}

/* Returns true if the keys include the wanted one. */
static bool has_key(tide_slice keys, uint32_t count, tide_slice wanted)
{
    struct tide_xdr x = tide_xdr_of(keys);
    struct tide_change key;
    for (uint32_t i = 0; i < count; i++) {
        skip_ledger_key(&x, &key);
        if (tide_slice_eq(key.entry, wanted))
            return true;
    }
    return false;
}

struct sim_entry *node_data_entry(struct sim_node *node, tide_slice key)
{
    struct tide_xdr x = tide_xdr_of(key);
    struct tide_change read = { 0 };
    if (!tide_ledger_key_data(&x, &read) || tide_be32(read.contract.ptr) != SIM_CONTRACT)
        return NULL;
    struct sim_addr address = { .kind = SIM_CONTRACT };
    memcpy(address.key, read.contract.ptr + 4, TIDE_HASH_BYTES);
    struct sim_contract *contract = sim_contract_find(&node->chain.host, address);
    struct sim_entry *entry =
        contract ? sim_entry_find(&node->chain.host, contract, read.key, read.durability) : NULL;
    return entry && entry->exists ? entry : NULL;
}

bool node_is_code(const struct sim_node *node, tide_slice key)
{
    return key.len == 4 + TIDE_HASH_BYTES && tide_be32(key.ptr) == TIDE_ENTRY_CONTRACT_CODE &&
           chain_is_code(&node->chain, key.ptr + 4);
}

/* Returns true for the key of a persistent entry, data or code, whose life has ended. */
static bool is_archived(struct sim_node *node, tide_slice key)
{
    if (node_is_code(node, key))
        return chain_code_lapsed(&node->chain);
    const struct sim_entry *entry = node_data_entry(node, key);
    return entry && entry->durability == SIM_PERSISTENT && entry->live_until < node->chain.ledger;
}

void node_restore_key(struct sim_node *node, tide_slice key, struct chain_making *m)
{
    if (!is_archived(node, key))
        return;
    if (node_is_code(node, key))
        chain_code_restore(m->chain, &m->changes);
    else
        chain_restore(m->chain, m->chain->index, node_data_entry(node, key), &m->changes);
}

/* Returns true if the transaction lists this read-write key for restoration. */
static bool is_listed(const struct node_tx *tx, uint32_t place)
{
    for (uint32_t i = 0; i < tx->archived_count; i++) {
        if (tide_be32(tx->archived.ptr + (size_t)i * 4) == place)
            return true;
    }
    return false;
}

bool node_footprint_archived(struct sim_node *node, const struct node_tx *tx)
{
    tide_slice keys[NODE_FOOTPRINT_MAX];
    const struct tide_envelope *env = &tx->env;
    node_footprint_keys(keys, env->read_only, env->read_only_count);
    node_footprint_keys(keys + env->read_only_count, env->read_write, env->read_write_count);
    /* The indexes of the list count read-write keys only; read-only keys cannot be restored. */
    for (uint32_t i = 0; i < env->read_only_count + env->read_write_count; i++) {
        if (is_archived(node, keys[i]) &&
            (i < env->read_only_count || !is_listed(tx, i - env->read_only_count)))
            return true;
    }
    return false;
}

void node_restore_listed(struct sim_node *node, const struct node_tx *tx, struct chain_making *m)
{
    tide_slice keys[NODE_FOOTPRINT_MAX];
    node_footprint_keys(keys, tx->env.read_write, tx->env.read_write_count);
    for (uint32_t i = 0; i < tx->archived_count; i++) {
        uint32_t place = tide_be32(tx->archived.ptr + (size_t)i * 4);
        node_restore_key(node, keys[place], m);
    }
}

uint32_t node_codes(const uint8_t *codes[SIM_DEPTH_MAX], const struct sim_outcome *out)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < out->frame_count; f++) {
        const uint8_t *code = chain_code_of(out->frames[f].contract);
        bool known = !code || count == SIM_DEPTH_MAX;
        for (uint32_t i = 0; i < count && !known; i++)
            known = memcmp(codes[i], code, TIDE_HASH_BYTES) == 0;
        if (!known)
            codes[count++] = code;
    }
    return count;
}

bool node_code_lapsed(const struct chain *chain, const struct sim_outcome *out)
{
    const uint8_t *codes[SIM_DEPTH_MAX];
    bool runs = false;
    for (uint32_t i = node_codes(codes, out); i > 0; i--)
        runs |= chain_is_code(chain, codes[i - 1]);
    return runs && chain_code_lapsed(chain);
}

/* Returns true if the footprint has the key; a written key must be a read-write key. */
static bool has_either(const struct tide_envelope *env, tide_slice key, bool write)
{
    return has_key(env->read_write, env->read_write_count, key) ||
           (!write && has_key(env->read_only, env->read_only_count, key));
}

/* Returns true if the read-write footprint has the keys of all used nonces. */
static bool has_nonces(struct sim_node *node, const struct tide_envelope *env)
{
    const struct node_auths *auths = &node->auths;
    for (uint32_t g = 0; g < auths->grant_count; g++) {
        struct tide_buf *value = &node->value;
        if (!auths->grants[g].used || !auths->grants[g].arm)
            continue;
        tide_buf_reset(value);
        chain_nonce_key(value, auths->grants[g].nonce);
        tide_buf_reset(&node->answer);
        struct lcm_data data = { auths->grants[g].address, tide_buf_view(value), SIM_TEMPORARY };
        lcm_put_data_key(&node->answer, &data);
        if (!has_either(env, tide_buf_view(&node->answer), true))
            return false;
    }
    return true;
}

const char *node_footprint_covers(struct sim_node *node, struct chain_making *m,
                                  const struct node_tx *tx)
{
    struct tide_buf *key = &node->answer;
    const uint8_t *codes[SIM_DEPTH_MAX];
    for (uint32_t i = 0; i < m->out->touch_count; i++) {
        const struct sim_touch *touch = &m->out->touches[i];
        tide_buf_reset(key);
        chain_put_touch_key(m, key, touch);
        if (!has_either(&tx->env, tide_buf_view(key), touch->written || chain_was_lapsed(m, touch)))
            return NODE_NO_KEY;
    }
    for (uint32_t i = node_codes(codes, m->out); i > 0; i--) {
        tide_buf_reset(key);
        lcm_put_code_key(key, codes[i - 1]);
        if (!has_either(&tx->env, tide_buf_view(key), false))
            return NODE_NO_KEY;
    }
    return has_nonces(node, &tx->env) ? NULL : NODE_NO_KEY;
}

/* --- arguments ---------------------------------------------------------------------------- */

/* Returns true for scalars and Vecs of scalars: functions here take no other types. Moves x behind
 * the value. */
static bool is_known_value(struct tide_xdr *x, bool inner)
{
    struct tide_xdr look = *x;
    uint32_t type = tide_xdr_u32(&look);
    bool known = type <= TIDE_SCV_VOID || type == TIDE_SCV_U32 || type == TIDE_SCV_U64 ||
                 type == TIDE_SCV_I128 || type == TIDE_SCV_BYTES || type == TIDE_SCV_STRING ||
                 type == TIDE_SCV_SYMBOL;
    if (type == TIDE_SCV_ADDRESS)
        known = tide_xdr_u32(&look) <= SIM_CONTRACT;
    if (type == TIDE_SCV_VEC && !inner) {
        known = tide_xdr_u32(&look) == 1;
        uint32_t count = tide_xdr_u32(&look);
        for (uint32_t i = 0; i < count && known; i++)
            known = is_known_value(&look, true);
    }
    tide_scval_skip(x);
    return known && x->status == TIDE_OK;
}

const sim_val *node_args(struct sim_node *node, const struct node_tx *tx)
{
    struct tide_arena *arena = &node->chain.arena;
    struct tide_xdr x = tide_xdr_of(tx->env.args);
    tide_arena_reset(arena);
    sim_val *args = tide_new(arena, sim_val, (size_t)tx->env.arg_count + 1);
    for (uint32_t i = 0; args && i < tx->env.arg_count; i++) {
        const uint8_t *mark = x.cur;
        if (!is_known_value(&x, false))
            return NULL;
        args[i] = sim_val_read(arena, tide_xdr_span(&x, mark));
    }
    return arena->full ? NULL : args;
}
