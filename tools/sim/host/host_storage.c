/* Functions for contracts: arithmetic, entries by key, instance slots, fields of structs. */
#include "tools/sim/host/host_impl.h"

/* --- arithmetic ----------------------------------------------------------------- */

sim_amount sim_add(struct sim_host *h, sim_amount a, sim_amount b)
{
    sim_amount out;
    sim_require(h, !__builtin_add_overflow(a, b, &out), "attempt to add with overflow");
    return out;
}

sim_amount sim_sub(struct sim_host *h, sim_amount a, sim_amount b)
{
    sim_amount out;
    sim_require(h, !__builtin_sub_overflow(a, b, &out), "attempt to subtract with overflow");
    return out;
}

sim_amount sim_mul(struct sim_host *h, sim_amount a, sim_amount b)
{
    sim_amount out;
    sim_require(h, !__builtin_mul_overflow(a, b, &out), "attempt to multiply with overflow");
    return out;
}

sim_amount sim_div(struct sim_host *h, sim_amount a, sim_amount b)
{
    sim_require(h, b != 0, "attempt to divide by zero");
    sim_require(h, !(b == -1 && a == -SIM_I128_MAX - 1), "attempt to divide with overflow");
    return a / b;
}

sim_amount sim_mul_div(struct sim_host *h, sim_amount a, sim_amount b, sim_amount c)
{
    return sim_div(h, sim_mul(h, a, b), c);
}

sim_amount sim_sat_add(sim_amount a, sim_amount b)
{
    sim_amount out;
    if (!__builtin_add_overflow(a, b, &out))
        return out;
    return a < 0 ? -SIM_I128_MAX - 1 : SIM_I128_MAX;
}

sim_amount sim_sat_mul(sim_amount a, sim_amount b)
{
    sim_amount out;
    if (!__builtin_mul_overflow(a, b, &out))
        return out;
    return (a < 0) != (b < 0) ? -SIM_I128_MAX - 1 : SIM_I128_MAX;
}

/* --- keys and entries ------------------------------------------------------------- */

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

sim_val sim_text(struct sim_host *h, const char *text)
{
    size_t len = strlen(text);
    char *copy = tide_new(&h->arena, char, len + 1);
    sim_check_arena(h);
    memcpy(copy, text, len);
    return sim_string(tide_slice_of(copy, len));
}

struct sim_key sim_key(struct sim_host *h, const char *variant, const sim_val *args, uint32_t count)
{
    return (struct sim_key){ sim_named_vec(h, variant, args, count), SIM_PERSISTENT };
}

struct sim_key sim_key1(struct sim_host *h, const char *variant, sim_val arg)
{
    return sim_key(h, variant, &arg, 1);
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

sim_val *sim_get_needed(struct sim_host *h, struct sim_key key, const char *reason)
{
    sim_val *val = sim_get(h, key);
    sim_require(h, val, reason);
    return val;
}

sim_val sim_get_list(struct sim_host *h, struct sim_key key)
{
    const sim_val *stored = sim_get(h, key);
    return stored ? *stored : sim_vec(&h->arena, SIM_NONE);
}

void sim_append(struct sim_host *h, struct sim_key key, sim_val item)
{
    sim_val list = sim_get_list(h, key);
    sim_vec_push(&h->arena, &list, item);
    sim_put(h, key, list);
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

void sim_raise(struct sim_host *h, struct sim_key key, sim_amount by)
{
    sim_put(h, key, sim_i128(sim_add(h, sim_get_i128(h, key), by)));
}

void sim_put_flag(struct sim_host *h, struct sim_key key, bool on)
{
    if (on)
        sim_put(h, key, sim_bool(true));
    else
        sim_remove(h, key);
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

void sim_slots_put(struct sim_host *h, const char *const *names, uint32_t count,
                   const sim_val *vals)
{
    for (uint32_t i = 0; i < count; i++)
        sim_slot_put(h, names[i], vals[i]);
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
