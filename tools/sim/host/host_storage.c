/* Storage functions for contracts: entries by key, instance slots, fields of structs. */
#include "tools/sim/host/host_impl.h"

sim_val sim_named_vec(struct sim_host *h, const char *name, const sim_val *values, uint32_t count)
{
    sim_val out = { .type = TIDE_SCV_VEC, .len = count + 1 };
    out.vec = tide_new(&h->arena, sim_val, (size_t)count + 1);
    sim_check_arena(h);
    out.vec[0] = sim_sym(name);
    if (count)
        memcpy(&out.vec[1], values, count * sizeof(*values));
    return out;
}

struct sim_key sim_key(struct sim_host *h, const char *variant, const sim_val *args, uint32_t count)
{
    return (struct sim_key){ sim_named_vec(h, variant, args, count), SIM_PERSISTENT };
}

struct sim_key sim_key_temporary(struct sim_host *h, const char *variant, const sim_val *args,
                                 uint32_t count)
{
    return (struct sim_key){ sim_named_vec(h, variant, args, count), SIM_TEMPORARY };
}

/* Returns the running contract's entry, recorded in the footprint even if it does not exist. */
static struct sim_entry *touch_entry(struct sim_host *h, const struct sim_key *key)
{
    return sim_entry_touch(h, h->self, &key->val, key->durability);
}

bool sim_has(struct sim_host *h, struct sim_key key)
{
    return touch_entry(h, &key)->exists;
}

/* Reads a fresh tree at each call: a contract that changes its tree without a put changes nothing
 * else. */
sim_val *sim_get(struct sim_host *h, struct sim_key key)
{
    struct sim_entry *entry = touch_entry(h, &key);
    if (!entry->exists)
        return NULL;
    sim_val *tree = tide_new(&h->arena, sim_val, 1);
    sim_check_arena(h);
    *tree = sim_val_read(&h->arena, entry->val);
    sim_check_arena(h);
    return tree;
}

void sim_put(struct sim_host *h, struct sim_key key, sim_val val)
{
    sim_entry_store(h, touch_entry(h, &key), &val);
}

void sim_remove(struct sim_host *h, struct sim_key key)
{
    struct sim_entry *entry = touch_entry(h, &key);
    if (entry->exists)
        sim_entry_clear(h, entry);
}

void sim_extend(struct sim_host *h, struct sim_key key, uint32_t threshold, uint32_t by)
{
    struct sim_entry *entry = touch_entry(h, &key);
    assert(entry->exists);
    /* The network never shortens a life. */
    if (entry->live_until - h->seq > threshold || h->seq + by <= entry->live_until)
        return;
    sim_entry_write(h, entry);
    entry->live_until = h->seq + by;
}

sim_amount sim_get_i128(struct sim_host *h, struct sim_key key)
{
    const sim_val *val = sim_get(h, key);
    assert(!val || val->type == TIDE_SCV_I128);
    return val ? val->i128 : 0;
}

uint32_t sim_get_u32(struct sim_host *h, struct sim_key key)
{
    const sim_val *val = sim_get(h, key);
    assert(!val || val->type == TIDE_SCV_U32);
    return val ? val->u32 : 0;
}

/* --- instance --------------------------------------------------------------------- */

static const sim_val instance_key = { .type = TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE };

/* Parses the instance once a call. Contracts then share the tree, so a change must be saved at
 * once. */
struct sim_instance *sim_instance_load(struct sim_host *h, struct sim_contract *contract)
{
    if (contract->loaded_in == h->call)
        return contract->loaded;
    struct sim_entry *entry = sim_entry_touch(h, contract, &instance_key, SIM_PERSISTENT);
    if (!entry->exists)
        return NULL;
    contract->instance = entry;
    sim_val tree = sim_val_read(&h->arena, entry->val);
    sim_check_arena(h);
    assert(tree.type == TIDE_SCV_CONTRACT_INSTANCE);
    contract->loaded = tree.instance;
    contract->loaded_in = h->call;
    return contract->loaded;
}

void sim_instance_save(struct sim_host *h, struct sim_contract *contract)
{
    assert(contract->loaded_in == h->call && "the tree is of this call");
    struct sim_entry *entry = sim_entry_touch(h, contract, &instance_key, SIM_PERSISTENT);
    sim_val tree = { .type = TIDE_SCV_CONTRACT_INSTANCE, .instance = contract->loaded };
    sim_entry_store(h, entry, &tree);
}

/* Contracts name their slots either by a symbol in capitals or by an enum variant, whose name has
 * lower-case letters. */
static sim_val slot_key(struct sim_host *h, const char *name)
{
    for (const char *at = name; *at; at++) {
        if (*at >= 'a' && *at <= 'z')
            return sim_named_vec(h, name, SIM_NONE);
    }
    return sim_sym(name);
}

sim_val *sim_slot(struct sim_host *h, const char *name)
{
    sim_val key = slot_key(h, name);
    return sim_map_get(&sim_instance_load(h, h->self)->storage, &key);
}

void sim_slot_put(struct sim_host *h, const char *name, sim_val val)
{
    struct sim_instance *instance = sim_instance_load(h, h->self);
    sim_map_put(&h->arena, &instance->storage, slot_key(h, name), val);
    sim_instance_save(h, h->self);
}

struct sim_addr sim_slot_addr(struct sim_host *h, const char *name)
{
    const sim_val *val = sim_slot(h, name);
    sim_require(h, val, "not initialised");
    assert(val->type == TIDE_SCV_ADDRESS);
    return val->addr;
}

uint32_t sim_slot_u32(struct sim_host *h, const char *name)
{
    const sim_val *val = sim_slot(h, name);
    assert(!val || val->type == TIDE_SCV_U32);
    return val ? val->u32 : 0;
}

uint64_t sim_slot_u64(struct sim_host *h, const char *name)
{
    const sim_val *val = sim_slot(h, name);
    assert(!val || val->type == TIDE_SCV_U64);
    return val ? val->u64 : 0;
}

bool sim_slot_bool(struct sim_host *h, const char *name)
{
    const sim_val *val = sim_slot(h, name);
    assert(!val || val->type == TIDE_SCV_BOOL);
    return val && val->b;
}

void sim_only(struct sim_host *h, const char *slot, struct sim_addr caller)
{
    sim_require(h, sim_addr_eq(sim_slot_addr(h, slot), caller), "unauthorised");
    sim_auth(h, caller);
}

void sim_only_stored(struct sim_host *h, const char *slot)
{
    sim_auth(h, sim_slot_addr(h, slot));
}

/* --- structs ----------------------------------------------------------------------- */

sim_val *sim_field(const sim_val *map, const char *name)
{
    assert(map->type == TIDE_SCV_MAP);
    tide_slice want = tide_slice_str(name);
    for (uint32_t i = 0; i < map->len; i++) {
        if (tide_slice_eq(map->map[i].key.bytes, want))
            return &map->map[i].val;
    }
    assert(false && "field of a stored struct");
    return NULL;
}

void sim_set(const sim_val *map, const char *name, sim_val val)
{
    *sim_field(map, name) = val;
}

sim_amount sim_bump(struct sim_host *h, const sim_val *map, const char *name, sim_amount by)
{
    sim_val *field = sim_field(map, name);
    assert(field->type == TIDE_SCV_I128);
    field->i128 = sim_add(h, field->i128, by);
    return field->i128;
}

sim_val sim_make(struct sim_host *h, const struct sim_field *fields, uint32_t count)
{
    sim_val out = sim_struct(&h->arena, fields, count);
    sim_check_arena(h);
    return out;
}

/* --- shared by contracts -------------------------------------------------------------- */

void sim_transfer(struct sim_host *h, struct sim_addr token, struct sim_addr from,
                  struct sim_addr to, sim_amount amount)
{
    sim_call(h, token, "transfer", SIM_VALS(sim_address(from), sim_address(to), sim_i128(amount)));
}

void sim_assert_compliant(struct sim_host *h, struct sim_addr user)
{
    sim_call(h, sim_slot_addr(h, "COMPL"), "assert_user_compliant",
             SIM_VALS(sim_address(sim_self(h)), sim_address(user)));
}

sim_val sim_upgrade_by_dao(struct sim_host *h, const sim_val *args)
{
    sim_only_stored(h, "DAO");
    sim_upgrade(h, args[1].bytes);
    return sim_void();
}

sim_val sim_set_compliance(struct sim_host *h, const sim_val *args)
{
    sim_only(h, "DAO", args[0].addr);
    sim_slot_put(h, "COMPL", args[1]);
    return sim_void();
}

void sim_initialize(struct sim_host *h, struct sim_addr admin)
{
    sim_require(h, !sim_slot(h, "ADMIN"), "already initialized");
    sim_auth(h, admin);
    sim_slot_put(h, "ADMIN", sim_address(admin));
}
