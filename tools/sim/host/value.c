/* Contract values as trees: construction, order, type checks. */
#include "tools/sim/host/value.h"

sim_val sim_vec(struct tide_arena *arena, const sim_val *items, uint32_t count)
{
    sim_val out = { .type = TIDE_SCV_VEC };
    if (count == 0)
        return out;
    out.vec = tide_new(arena, sim_val, count);
    if (!out.vec)
        return out;
    memcpy(out.vec, items, count * sizeof(*items));
    out.len = count;
    return out;
}

void sim_vec_push(struct tide_arena *arena, sim_val *vec, sim_val item)
{
    assert(vec->type == TIDE_SCV_VEC);
    sim_val *items = tide_new(arena, sim_val, (size_t)vec->len + 1);
    if (!items)
        return;
    if (vec->len)
        memcpy(items, vec->vec, vec->len * sizeof(*items));
    items[vec->len] = item;
    vec->vec = items;
    vec->len++;
}

/* Returns the first pair whose key is not below key, or len. */
static uint32_t lower_bound(const sim_val *map, const sim_val *key)
{
    uint32_t at = 0;
    while (at < map->len && sim_val_cmp(&map->map[at].key, key) < 0)
        at++;
    return at;
}

/* Inserts a pair at `at`. map->map must have room for one more. */
static void insert_pair(sim_val *map, uint32_t at, sim_val key, sim_val val)
{
    assert(at <= map->len);
    memmove(&map->map[at + 1], &map->map[at], (map->len - at) * sizeof(*map->map));
    map->map[at] = (struct sim_pair){ key, val };
    map->len++;
}

sim_val sim_struct(struct tide_arena *arena, const struct sim_field *fields, uint32_t count)
{
    sim_val out = { .type = TIDE_SCV_MAP };
    if (count == 0)
        return out;
    out.map = tide_new(arena, struct sim_pair, count);
    if (!out.map)
        return out;
    for (uint32_t i = 0; i < count; i++) {
        if (fields[i].val.type == TIDE_SCV_VOID)
            continue;
        sim_val key = sim_sym(fields[i].name);
        insert_pair(&out, lower_bound(&out, &key), key, fields[i].val);
    }
    assert(out.len <= count);
    return out;
}

sim_val *sim_map_get(const sim_val *map, const sim_val *key)
{
    assert(map->type == TIDE_SCV_MAP);
    for (uint32_t i = 0; i < map->len; i++) {
        if (sim_val_cmp(&map->map[i].key, key) == 0)
            return &map->map[i].val;
    }
    return NULL;
}

/* Replaces in place; a new pair moves the map to new memory, because arena blocks do not grow. */
void sim_map_put(struct tide_arena *arena, sim_val *map, sim_val key, sim_val val)
{
    assert(map->type == TIDE_SCV_MAP);
    uint32_t at = lower_bound(map, &key);
    if (at < map->len && sim_val_cmp(&map->map[at].key, &key) == 0) {
        map->map[at].val = val;
        return;
    }
    struct sim_pair *pairs = tide_new(arena, struct sim_pair, (size_t)map->len + 1);
    if (!pairs)
        return;
    if (map->len)
        memcpy(pairs, map->map, map->len * sizeof(*pairs));
    map->map = pairs;
    insert_pair(map, at, key, val);
}

/* Returns -1, 0 or 1, as a comparison does. */
static int sign_of(bool less, bool more)
{
    return (int)more - (int)less;
}

/* A Vec that is a prefix of the other is the smaller one. */
static int cmp_vec(const sim_val *a, const sim_val *b)
{
    for (uint32_t i = 0; i < a->len && i < b->len; i++) {
        int c = sim_val_cmp(&a->vec[i], &b->vec[i]);
        if (c)
            return c;
    }
    return sign_of(a->len<b->len, a->len> b->len);
}

static int cmp_map(const sim_val *a, const sim_val *b)
{
    for (uint32_t i = 0; i < a->len && i < b->len; i++) {
        int c = sim_val_cmp(&a->map[i].key, &b->map[i].key);
        if (!c)
            c = sim_val_cmp(&a->map[i].val, &b->map[i].val);
        if (c)
            return c;
    }
    return sign_of(a->len<b->len, a->len> b->len);
}

int sim_val_cmp(const sim_val *a, const sim_val *b)
{
    if (a->type != b->type)
        return sign_of(a->type<b->type, a->type> b->type);
    switch (a->type) {
    case TIDE_SCV_BOOL:
        return sign_of(a->b<b->b, a->b> b->b);
    case TIDE_SCV_U32:
        return sign_of(a->u32<b->u32, a->u32> b->u32);
    case TIDE_SCV_U64:
        return sign_of(a->u64<b->u64, a->u64> b->u64);
    case TIDE_SCV_I128:
        return sign_of(a->i128<b->i128, a->i128> b->i128);
    case TIDE_SCV_BYTES:
    case TIDE_SCV_STRING:
    case TIDE_SCV_SYMBOL:
        return tide_slice_cmp(a->bytes, b->bytes);
    case TIDE_SCV_VEC:
        return cmp_vec(a, b);
    case TIDE_SCV_MAP:
        return cmp_map(a, b);
    case TIDE_SCV_ADDRESS:
        if (a->addr.kind != b->addr.kind)
            return sign_of(a->addr.kind<b->addr.kind, a->addr.kind> b->addr.kind);
        return memcmp(a->addr.key, b->addr.key, TIDE_HASH_BYTES);
    default:
        assert(a->type == TIDE_SCV_VOID || a->type == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
        return 0; /* VOID and the instance key have one value each */
    }
}

/* Returns true if the value has the type of that letter (see sim_types_fit). */
static bool letter_fits(char letter, const sim_val *val)
{
    switch (letter) {
    case 'b':
        return val->type == TIDE_SCV_BOOL;
    case 'u':
        return val->type == TIDE_SCV_U32;
    case 'U':
        return val->type == TIDE_SCV_U64;
    case 'i':
        return val->type == TIDE_SCV_I128;
    case 'a':
        return val->type == TIDE_SCV_ADDRESS;
    case 'y':
        return val->type == TIDE_SCV_SYMBOL;
    case 's':
        return val->type == TIDE_SCV_STRING;
    case 'x':
        return val->type == TIDE_SCV_BYTES;
    case 'h':
        return val->type == TIDE_SCV_BYTES && val->bytes.len == TIDE_HASH_BYTES;
    default:
        assert(false && "letter of a type");
        return false;
    }
}

bool sim_types_fit(const char *types, const sim_val *vals, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (*types == '\0')
            return false;
        /* A V takes the next letter as the type of every item. */
        if (*types != 'V') {
            if (!letter_fits(*types++, &vals[i]))
                return false;
            continue;
        }
        if (vals[i].type != TIDE_SCV_VEC)
            return false;
        assert(types[1] && types[1] != 'V' && "a Vec's items have a type of one letter");
        for (uint32_t k = 0; k < vals[i].len; k++) {
            if (!letter_fits(types[1], &vals[i].vec[k]))
                return false;
        }
        types += 2;
    }
    return *types == '\0';
}
