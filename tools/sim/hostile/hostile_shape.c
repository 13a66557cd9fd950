/* Imitations of the protocol's events, entries and instances in the catalogue's shapes: with every
 * field at its limits, a little wrong, or of any content. */
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/xdr.h"
#include "tools/sim/chain/chain_call.h"
#include "tools/sim/hostile/hostile_impl.h"

#include <stdlib.h>
#include <string.h>

enum hostile_style hostile_style(struct dice *d)
{
    uint32_t luck = dice_of(d, 100);
    return luck < 70 ? STYLE_EXTREME : luck < 90 ? STYLE_BENT : STYLE_ANY;
}

const struct sim_contract *hostile_ours(struct hostile *h)
{
    uint32_t place;
    do
        place = dice_of(&h->dice, PARTY_TOKEN + PARTY_MARKETS);
    while (place == PARTY_USDC || place == PARTY_XLM);
    return sim_contract_find(&h->chain->host, chain_addr(h->chain, parties_contract(place)));
}

void hostile_foreign(const struct hostile *h, uint32_t i, uint8_t out[TIDE_HASH_BYTES])
{
    char text[64];
    int len =
        snprintf(text, sizeof text, "hostile contract %" PRIu64 " %u", h->chain->options.seed, i);
    tide_sha256(out, tide_slice_of(text, (size_t)len));
}

/* Appends the address of a random party of the chain. */
static void put_party_address(struct hostile *h, struct tide_buf *out)
{
    const struct parties *parties = &h->chain->parties;
    if (dice_percent(&h->dice, 30))
        lcm_put_address_contract(out, parties->contracts[dice_of(&h->dice, PARTY_CONTRACTS)].id);
    else
        lcm_put_address_account(out,
                                parties->accounts[dice_of(&h->dice, parties->account_count)].id);
}

void hostile_put_any_address(struct hostile *h, struct tide_buf *out)
{
    if (h->named) {
        lcm_put_address_contract(out, h->named);
        return;
    }
    uint32_t luck = dice_of(&h->dice, 100);
    uint8_t id[TIDE_HASH_BYTES];
    if (hostile_all(h) && luck < 30) {
        put_party_address(h, out);
    } else if (luck < 60) {
        lcm_put_address_account(out, h->accounts[dice_of(&h->dice, HOSTILE_ACCOUNTS)].key);
    } else if (luck < 85) {
        hostile_foreign(h, dice_of(&h->dice, HOSTILE_FOREIGN), id);
        lcm_put_address_contract(out, id);
    } else {
        for (uint32_t i = 0; i < TIDE_HASH_BYTES; i += 8) {
            uint64_t word = dice_u64(&h->dice);
            memcpy(id + i, &word, 8);
        }
        if (dice_of(&h->dice, 2))
            lcm_put_address_contract(out, id);
        else
            lcm_put_address_account(out, id);
    }
}

/* Returns a number that identifies something. Before all_from, such numbers stay above those of the
 * workload. */
static uint32_t named_u32(struct hostile *h)
{
    static const uint32_t names[] = { INT32_MAX - 1, INT32_MAX,      0x80000000,
                                      0x80000001,    UINT32_MAX - 1, UINT32_MAX };
    if (hostile_all(h) && dice_percent(&h->dice, 30))
        return dice_of(&h->dice, 6);
    return dice_percent(&h->dice, 50) ? names[dice_of(&h->dice, TIDE_COUNT(names))]
                                      : INT32_MAX - dice_of(&h->dice, 4096);
}

/* Returns a 64-bit number that identifies something. */
static uint64_t named_u64(struct hostile *h)
{
    static const uint64_t names[] = { INT32_MAX, 0x80000000,         UINT32_MAX,     1ull << 32u,
                                      INT64_MAX, 0x8000000000000000, UINT64_MAX - 1, UINT64_MAX };
    if (hostile_all(h) && dice_percent(&h->dice, 30))
        return dice_of(&h->dice, 6);
    return dice_percent(&h->dice, 50) ? names[dice_of(&h->dice, TIDE_COUNT(names))]
                                      : INT64_MAX - dice_of(&h->dice, 4096);
}

/* Appends a symbol that names something: the attackers' own, or the workload's from all_from on. */
static void put_name(struct hostile *h, struct tide_buf *out)
{
    static const char *const theirs[] = { "XLMUSDC", "sGOLD", "sBTC", "GOLD", "XLM", "USDC" };
    tide_buf_be32(out, TIDE_SCV_SYMBOL);
    if (hostile_all(h) && dice_percent(&h->dice, 30))
        tide_xdr_put_var(out, tide_slice_str(theirs[dice_of(&h->dice, TIDE_COUNT(theirs))]));
    else
        hostile_put_symbol(&h->dice, out, 'Z');
}

static void put_typed(struct hostile *h, struct tide_buf *out, enum tide_type type, bool id);

/* Appends a Vec of values of that type. */
static void put_vec_of(struct hostile *h, struct tide_buf *out, enum tide_type item)
{
    uint32_t count = dice_percent(&h->dice, 95) ? dice_of(&h->dice, 6) : dice_of(&h->dice, 300);
    lcm_put_vec(out, count);
    for (uint32_t i = 0; i < count; i++)
        put_typed(h, out, item, true);
}

/* Appends a status as an enum variant: known, unknown or empty. */
static void put_status(struct hostile *h, struct tide_buf *out)
{
    static const char *const words[] = { "Active",   "Passed", "Executed", "Cancelled", "Pending",
                                         "Approved", "Failed", "Rejected", "Nonsense",  "" };
    lcm_put_vec(out, 1);
    lcm_put_symbol(out, words[dice_of(&h->dice, TIDE_COUNT(words))]);
}

/* Appends a boolean or a number. */
static void put_number(struct hostile *h, struct tide_buf *out, enum tide_type type, bool id)
{
    struct dice *d = &h->dice;
    if (type == TIDE_T_BOOL) {
        lcm_words(out, TIDE_SCV_BOOL, dice_of(d, 2));
    } else if (type == TIDE_T_U64) {
        tide_buf_be32(out, TIDE_SCV_U64);
        tide_buf_be64(out, id ? named_u64(h) : hostile_u64(d));
    } else if (type == TIDE_T_I128) {
        tide_buf_be32(out, TIDE_SCV_I128);
        hostile_put_i128(d, out);
    } else {
        lcm_words(out, TIDE_SCV_U32, id ? named_u32(h) : hostile_u32(d));
    }
}

/* Appends a string or bytes. */
static void put_opaque(struct hostile *h, struct tide_buf *out, enum tide_type type)
{
    struct dice *d = &h->dice;
    uint32_t most = dice_percent(d, 90) ? 80 : 6000;
    if (type == TIDE_T_STR || type == TIDE_T_TEXT) {
        tide_buf_be32(out, TIDE_SCV_STRING);
        hostile_put_text(d, out, most);
        return;
    }
    tide_buf_be32(out, TIDE_SCV_BYTES);
    hostile_put_bytes(d, out, type == TIDE_T_B32 ? TIDE_HASH_BYTES : dice_of(d, most));
}

/* Appends call data of the DAO: a partner's registration by any account under a name of any bytes.
 * Sometimes the data is cut, or has the byte of another action. */
static void put_call_data(struct hostile *h, struct tide_buf *out)
{
    enum { REGISTER_PARTNER = 14, ACTIONS = 18, NAME_MAX = 80 };
    struct dice *d = &h->dice;
    uint8_t id[TIDE_HASH_BYTES];
    char owner[TIDE_STRKEY_TEXT_MAX];
    struct tide_buf data, name;
    tide_buf_init(&data, 1024);
    tide_buf_init(&name, 1024);
    hostile_foreign(h, 0, id);
    hostile_put_text(d, &name, NAME_MAX);
    size_t len = tide_strkey_encode(owner, TIDE_STRKEY_ACCOUNT, tide_slice_of(id, sizeof id));
    tide_buf_u8(&data, dice_percent(d, 70) ? REGISTER_PARTNER : (uint8_t)dice_of(d, ACTIONS));
    tide_buf_put(&data, "\0\0\0", 3);
    tide_buf_u8(&data, (uint8_t)len);
    tide_buf_put(&data, owner, len);
    uint8_t name_len = name.ptr[3]; /* name is an XDR string: its length, its bytes */
    tide_buf_u8(&data, name_len);
    tide_buf_put(&data, name.ptr + 4, name_len);
    tide_buf_be32(out, TIDE_SCV_BYTES);
    tide_xdr_put_var(
        out,
        tide_slice_of(data.ptr, dice_percent(d, 90) ? data.len : dice_of(d, (uint32_t)data.len)));
    tide_buf_release(&name);
    tide_buf_release(&data);
}

/* Appends the id of a multiplexed receiver: a u64, a string, bytes or void. */
static void put_muxed_id(struct hostile *h, struct tide_buf *out)
{
    static const enum tide_type types[] = { TIDE_T_STR, TIDE_T_BYTES };
    uint32_t kind = dice_of(&h->dice, TIDE_COUNT(types) + 2);
    if (kind < TIDE_COUNT(types))
        put_opaque(h, out, types[kind]);
    else if (kind == TIDE_COUNT(types))
        put_number(h, out, TIDE_T_U64, false);
    else
        tide_buf_be32(out, TIDE_SCV_VOID);
}

/* Appends a value of the catalogue's type. id: it identifies something, so it must be one of the
 * attackers'. */
static void put_typed(struct hostile *h, struct tide_buf *out, enum tide_type type, bool id)
{
    switch (type) {
    case TIDE_T_BOOL:
    case TIDE_T_U32:
    case TIDE_T_ENUM_U32:
    case TIDE_T_U64:
    case TIDE_T_I128:
        put_number(h, out, type, id);
        return;
    case TIDE_T_BYTES:
    case TIDE_T_B32:
    case TIDE_T_STR:
    case TIDE_T_TEXT:
        put_opaque(h, out, type);
        return;
    case TIDE_T_SYM:
        put_name(h, out);
        return;
    case TIDE_T_ADDR:
        tide_buf_be32(out, TIDE_SCV_ADDRESS);
        hostile_put_any_address(h, out);
        return;
    case TIDE_T_ENUM_SYM:
        put_status(h, out);
        return;
    case TIDE_T_VEC_SYM:
        put_vec_of(h, out, TIDE_T_SYM);
        return;
    case TIDE_T_VEC_ADDR:
        put_vec_of(h, out, TIDE_T_ADDR);
        return;
    case TIDE_T_VEC_U32:
        put_vec_of(h, out, TIDE_T_U32);
        return;
    case TIDE_T_VEC_U64:
        put_vec_of(h, out, TIDE_T_U64);
        return;
    case TIDE_T_ANY:
        hostile_value(&h->dice, out, (struct hostile_bounds){ .bytes = 2000, .depth = 60 });
        return;
    case TIDE_T_MUXED:
        put_muxed_id(h, out);
        return;
    }
}

/* Returns true if the field is an identifier, not an amount. The column's name decides. */
static bool names_something(const struct tide_field *field)
{
    const char *c = field->column;
    size_t len = strlen(c);
    return field->place == TIDE_P_KEY || strstr(c, "epoch") || strstr(c, "index") ||
           strstr(c, "sequence") || (len >= 2 && strcmp(c + len - 2, "id") == 0);
}

/* Appends a field's value; in the bent style, one in four has any type. */
static void put_field(struct hostile *h, struct tide_buf *out, const struct tide_field *field,
                      enum hostile_style style)
{
    if (style == STYLE_BENT && field->place != TIDE_P_KEY && dice_percent(&h->dice, 25))
        hostile_value(&h->dice, out, (struct hostile_bounds){ .bytes = 600, .depth = 40 });
    else if (strcmp(field->column, "call_data") == 0 && dice_percent(&h->dice, 80))
        put_call_data(h, out);
    else
        put_typed(h, out, field->type, names_something(field));
}

/* --- maps of fields ------------------------------------------------------------------ */

/* A member of a map. field is NULL for a nested struct. */
struct member {
    char name[33];                  /* a symbol */
    const struct tide_field *field; /* NULL: a nested struct */
};

static struct member member_of(tide_slice name, const struct tide_field *field)
{
    struct member member = { .field = field };
    assert(name.len < sizeof member.name);
    memcpy(member.name, name.ptr, name.len);
    return member;
}

/* Orders members by name, as the host sorts symbols. */
static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static void put_members(struct hostile *h, struct tide_buf *out, struct member *members,
                        uint32_t count, enum hostile_style style);

/* Appends the nested struct whose name is outer. */
static void put_sub(struct hostile *h, struct tide_buf *out, const struct tide_kind *kind,
                    const char *outer, enum hostile_style style)
{
    struct member members[TIDE_FIELDS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *f = &kind->fields[i];
        if (f->place == TIDE_P_SUB && strcmp(f->outer, outer) == 0)
            members[count++] = member_of(tide_slice_str(f->name), f);
    }
    put_members(h, out, members, count, style);
}

/* Appends a map of the members. In the bent style, one may be missing and another may be added. */
static void put_members(struct hostile *h, struct tide_buf *out, struct member *members,
                        uint32_t count, enum hostile_style style)
{
    bool more = style == STYLE_BENT && dice_percent(&h->dice, 40);
    if (count)
        qsort(members, count, sizeof *members, by_name);
    if (style == STYLE_BENT && count && dice_percent(&h->dice, 40)) {
        uint32_t gone = dice_of(&h->dice, count);
        memmove(&members[gone], &members[gone + 1], (--count - gone) * sizeof *members);
    }
    lcm_put_map(out, count + more);
    for (uint32_t i = 0; i < count; i++) {
        lcm_put_symbol(out, members[i].name);
        put_field(h, out, members[i].field, style);
    }
    if (more) {
        lcm_put_symbol(out, "zzz_more");
        hostile_value(&h->dice, out, (struct hostile_bounds){ .bytes = 300, .depth = 20 });
    }
}

/* Appends a map of the fields that stand in those places (bits by enum tide_place). */
static void put_map(struct hostile *h, struct tide_buf *out, const struct tide_kind *kind,
                    uint32_t places, enum hostile_style style)
{
    struct member members[TIDE_FIELDS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *f = &kind->fields[i];
        if (places >> f->place & 1)
            members[count++] = member_of(tide_slice_str(f->name), f);
    }
    put_members(h, out, members, count, style);
}

/* Returns the name of the struct inside an entry's value, or NULL. A kind has one at most. */
static const char *outer_of(const struct tide_kind *kind)
{
    for (uint32_t i = 0; i < kind->field_count; i++) {
        if (kind->fields[i].place == TIDE_P_SUB)
            return kind->fields[i].outer;
    }
    return NULL;
}

/* Appends an event that resembles none of the catalogue. */
static void put_any_event(struct hostile *h, struct tide_buf *out,
                          const uint8_t id[TIDE_HASH_BYTES])
{
    uint32_t topics = dice_percent(&h->dice, 80) ? dice_of(&h->dice, 6) : dice_of(&h->dice, 60);
    lcm_put_event_head(out, id, 1, topics);
    for (uint32_t i = 0; i <= topics; i++)
        hostile_value(&h->dice, out, (struct hostile_bounds){ .bytes = 900, .depth = 60 });
}

/* Appends an executable_update, which the network's host itself emits. Its form never varies. */
static void put_upgrade(struct hostile *h, struct tide_buf *out, const uint8_t id[TIDE_HASH_BYTES])
{
    lcm_put_event_head(out, id, 0, 3);
    lcm_put_symbol(out, "executable_update");
    for (uint32_t i = 0; i < 2; i++) {
        lcm_put_vec(out, 2);
        lcm_put_symbol(out, "Wasm");
        tide_buf_be32(out, TIDE_SCV_BYTES);
        hostile_put_bytes(&h->dice, out, TIDE_HASH_BYTES);
    }
    lcm_put_vec(out, 0);
}

/* Returns the number of the kind's fields in that place. */
static uint32_t count_place(const struct tide_kind *kind, enum tide_place place)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < kind->field_count; i++)
        count += kind->fields[i].place == place;
    return count;
}

/* Appends an event's data in the form's shape. An optional member may be absent. */
static void put_data(struct hostile *h, struct tide_buf *out, const struct tide_kind *kind,
                     const struct tide_event_form *form, enum hostile_style style)
{
    struct member members[TIDE_PARTS_MAX];
    uint32_t count = 0;
    if (form->shape == TIDE_SHAPE_VEC) {
        lcm_put_vec(out, form->data_count);
    }
    for (uint32_t i = 0; i < form->data_count; i++) {
        const struct tide_part *part = &form->data[i];
        if (form->shape != TIDE_SHAPE_MAP)
            put_field(h, out, &kind->fields[part->field], style);
        else if (!part->optional || dice_of(&h->dice, 2))
            members[count++] = member_of(part->name, &kind->fields[part->field]);
    }
    if (form->shape == TIDE_SHAPE_MAP)
        put_members(h, out, members, count, style);
}

/* Returns a random kind of event of that role, or NULL if none is found. */
static const struct tide_kind *event_kind(struct hostile *h, enum tide_role role)
{
    for (uint32_t tries = 0; tries < 400; tries++) {
        const struct tide_kind *kind = &tide_events()[dice_of(&h->dice, TIDE_EV_COUNT)];
        if (kind->role == role)
            return kind;
    }
    return NULL;
}

void hostile_put_event_of(struct hostile *h, struct tide_buf *out,
                          const uint8_t id[TIDE_HASH_BYTES], const struct tide_kind *kind,
                          enum hostile_style style)
{
    if (kind->system) {
        put_upgrade(h, out, id);
        return;
    }
    const struct tide_event_form *form = &kind->forms[dice_of(&h->dice, kind->form_count)];
    bool optional = dice_of(&h->dice, 2); /* the topics that may be absent are there */
    bool more = style == STYLE_BENT && dice_percent(&h->dice, 30);
    uint32_t topics = 1 + more;
    for (uint32_t i = 0; i < form->topic_count; i++)
        topics += !form->topics[i].optional || optional;
    lcm_put_event_head(out, id, 1, topics);
    lcm_put_symbol(out, kind->name);
    for (uint32_t i = 0; i < form->topic_count; i++)
        if (!form->topics[i].optional || optional)
            put_field(h, out, &kind->fields[form->topics[i].field], style);
    if (more)
        hostile_value(&h->dice, out, (struct hostile_bounds){ .bytes = 300, .depth = 30 });
    put_data(h, out, kind, form, style);
}

void hostile_put_event(struct hostile *h, struct tide_buf *out, const uint8_t id[TIDE_HASH_BYTES],
                       enum tide_role role, enum hostile_style style)
{
    const struct tide_kind *kind = event_kind(h, role);
    if (!kind || style == STYLE_ANY)
        put_any_event(h, out, id);
    else
        hostile_put_event_of(h, out, id, kind, style);
}

/* --- entries --------------------------------------------------------------------------- */

const struct tide_kind *hostile_kind(struct hostile *h, enum tide_role role)
{
    for (uint32_t tries = 0; tries < 400; tries++) {
        const struct tide_kind *kind = &tide_entries()[dice_of(&h->dice, TIDE_EN_COUNT)];
        bool keyed = count_place(kind, TIDE_P_KEY) > 0;
        if (kind->role == role && (keyed || hostile_all(h)))
            return kind;
    }
    return NULL;
}

/* Writes a short key that no protocol entry has to h->key. */
static void put_any_key(struct hostile *h)
{
    lcm_put_vec(&h->key, 2);
    lcm_put_symbol(&h->key, dice_of(&h->dice, 2) ? "Pool" : "Zed");
    /* depth 0: a leaf, so the key stays short */
    hostile_value(&h->dice, &h->key, (struct hostile_bounds){ .bytes = 190, .depth = 0 });
}

void hostile_put_entry_value(struct hostile *h, const struct tide_kind *kind,
                             enum hostile_style style)
{
    struct tide_buf *out = &h->value;
    const char *outer = outer_of(kind);
    tide_buf_reset(out);
    if (style == STYLE_ANY) {
        hostile_value(&h->dice, out, (struct hostile_bounds){ .bytes = 3000, .depth = 80 });
    } else if (count_place(kind, TIDE_P_VALUE)) {
        for (uint32_t i = 0; i < kind->field_count; i++) {
            if (kind->fields[i].place == TIDE_P_VALUE)
                put_field(h, out, &kind->fields[i], style);
        }
    } else if (outer) {
        struct member members[TIDE_FIELDS_MAX];
        uint32_t count = 0;
        for (uint32_t i = 0; i < kind->field_count; i++) {
            if (kind->fields[i].place == TIDE_P_FIELD)
                members[count++] =
                    member_of(tide_slice_str(kind->fields[i].name), &kind->fields[i]);
        }
        members[count++] = member_of(tide_slice_str(outer), NULL);
        qsort(members, count, sizeof *members, by_name);
        lcm_put_map(out, count);
        for (uint32_t i = 0; i < count; i++) {
            lcm_put_symbol(out, members[i].name);
            if (members[i].field)
                put_field(h, out, members[i].field, style);
            else
                put_sub(h, out, kind, outer, style);
        }
    } else {
        put_map(h, out, kind, 1u << TIDE_P_FIELD, style);
    }
}

void hostile_put_entry(struct hostile *h, const struct tide_kind *kind, enum hostile_style style)
{
    tide_buf_reset(&h->key);
    if (style == STYLE_ANY) {
        put_any_key(h);
    } else {
        lcm_put_vec(&h->key, 1 + count_place(kind, TIDE_P_KEY));
        lcm_put_symbol(&h->key, kind->name);
        for (uint32_t i = 0; i < kind->field_count; i++) {
            if (kind->fields[i].place == TIDE_P_KEY)
                put_field(h, &h->key, &kind->fields[i], style);
        }
    }
    hostile_put_entry_value(h, kind, style);
}

/* Orders slots as the host sorts keys: bare symbols before Vecs, each by name. */
static int by_slot(const void *a, const void *b)
{
    const struct tide_field *x = *(const struct tide_field *const *)a;
    const struct tide_field *y = *(const struct tide_field *const *)b;
    if (x->vec_key != y->vec_key)
        return x->vec_key ? 1 : -1;
    return strcmp(x->name, y->name);
}

void hostile_put_instance(struct hostile *h, enum tide_role role, enum hostile_style style)
{
    const struct tide_kind *kind = tide_instance_find(role);
    const struct tide_field *slots[TIDE_FIELDS_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; kind && i < kind->field_count; i++) {
        if (kind->fields[i].place == TIDE_P_SLOT && !dice_percent(&h->dice, 5))
            slots[count++] = &kind->fields[i];
    }
    if (count)
        qsort(slots, count, sizeof(const struct tide_field *), by_slot);
    tide_buf_reset(&h->value);
    lcm_words(&h->value, TIDE_SCV_CONTRACT_INSTANCE, 0);
    for (uint32_t i = 0; i < TIDE_HASH_BYTES / 8; i++)
        tide_buf_be64(&h->value, dice_u64(&h->dice));
    lcm_words(&h->value, 1, count);
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i]->vec_key) {
            lcm_put_vec(&h->value, 1);
        }
        lcm_put_symbol(&h->value, slots[i]->name);
        put_field(h, &h->value, slots[i], style);
    }
}
