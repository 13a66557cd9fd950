/* Attacks by calls and events, failed and passed. */
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/hostile/hostile_impl.h"

#include <string.h>

/* Functions of the protocol, and names with a meaning for the host or for index programs. */
static const char *const functions[] = {
    "swap_exact_in",
    "initialize",
    "attest",
    "upgrade",
    "open_vault",
    "submit_prices",
    "transfer",
    "propose",
    "submit_attestation",
    "register_partner_asset",
    "extend_ttl",
    "__constructor",
    "",
    "set_frozen",
    "execute",
};

static tide_slice random_function(struct dice *d)
{
    return tide_slice_str(functions[dice_of(d, TIDE_COUNT(functions))]);
}

/* Returns the id of a random contract of the protocol, Stellar assets included. */
static const uint8_t *random_contract(struct hostile *h)
{
    return h->chain->parties.contracts[dice_of(&h->dice, PARTY_TOKEN + PARTY_MARKETS)].id;
}

/* Appends up to `most` arguments. */
static void put_args(struct attack *a, uint32_t most, struct hostile_bounds bounds)
{
    uint32_t count = dice_of(a->dice, most + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (dice_percent(a->dice, 15)) {
            tide_buf_be32(&a->h->args, TIDE_SCV_ADDRESS);
            hostile_put_any_address(a->h, &a->h->args);
        } else {
            hostile_value(a->dice, &a->h->args, bounds);
        }
        a->args++;
    }
}

/* Appends a diagnostic event, sometimes even if the chain's options exclude them. */
static void put_diagnostics(struct attack *a, const uint8_t id[TIDE_HASH_BYTES])
{
    struct tide_buf *out = &a->chain->diagnostics;
    if (!a->chain->options.diagnostics && !dice_percent(a->dice, 20))
        return;
    tide_buf_be32(out, dice_of(a->dice, 2)); /* in a successful call, or not */
    lcm_put_event_head(out, id, 2, 2);
    lcm_put_symbol(out, "error");
    hostile_value(a->dice, out, (struct hostile_bounds){ .bytes = 400, .depth = 40, .wild = true });
    hostile_value(a->dice, out,
                  (struct hostile_bounds){ .bytes = 2000, .depth = 90, .wild = true });
    a->diagnostics++;
}

/* Returns a result code: trapped, limits exceeded, archived entry, refundable fee too small. */
static int32_t random_failure(struct dice *d)
{
    return -2 - (int32_t)dice_of(d, 4); /* trapped, limits, archived, fee too small */
}

/* Makes a failed call of a protocol contract. */
static void make_refused_call(struct hostile *h, struct hostile_bounds bounds, uint32_t most)
{
    struct attack a;
    uint8_t name[32];
    attack_begin(&a, h);
    const uint8_t *to = random_contract(h);
    put_args(&a, most, bounds);
    tide_slice function = random_function(&h->dice);
    if (dice_percent(&h->dice, 20)) { /* a function's name is any bytes, up to 32 */
        uint32_t len = dice_of(&h->dice, 33);
        for (uint32_t i = 0; i < len; i++)
            name[i] = (uint8_t)dice_u64(&h->dice);
        function = tide_slice_of(name, len);
    }
    attack_call(&a, to, function);
    put_diagnostics(&a, to);
    attack_end(&a, LCM_OP_INVOKE, random_failure(&h->dice));
}

/* The network keeps the arguments of refused calls, even wild ones. */
void hostile_refused(struct hostile *h)
{
    uint32_t bytes = dice_percent(&h->dice, 85) ? 2000 : 30000;
    make_refused_call(
        h, (struct hostile_bounds){ .bytes = bytes, .depth = HOSTILE_DEPTH_WILD, .wild = true },
        10);
}

/* Appends events of the contract, up to that many bytes. */
static void put_events(struct attack *a, const struct sim_contract *ours, uint32_t bytes)
{
    struct tide_buf *out = &a->chain->events_xdr;
    uint32_t count = dice_size(a->dice, 1, 40);
    for (uint32_t i = 0; i < count && out->len < bytes; i++) {
        hostile_put_event(a->h, out, ours->address.key, ours->role, hostile_style(a->dice));
        a->events++;
    }
}

/* Appends the return value. */
static void put_return(struct attack *a)
{
    hostile_value(a->dice, &a->chain->answer,
                  (struct hostile_bounds){ .bytes = 1500, .depth = HOSTILE_DEPTH_VALID });
}

/* The network lets a contract with foreign code emit these events. */
void hostile_events(struct hostile *h)
{
    struct attack a;
    attack_begin(&a, h);
    const struct sim_contract *ours = hostile_ours(h);
    put_args(&a, 4, (struct hostile_bounds){ .bytes = 800, .depth = HOSTILE_DEPTH_VALID });
    attack_call(&a, ours->address.key, random_function(&h->dice));
    put_events(&a, ours, HOSTILE_EVENT_BYTES - 3000);
    put_return(&a);
    put_diagnostics(&a, ours->address.key);
    attack_end(&a, LCM_OP_INVOKE, 0);
}

/* A stranger's contract calls two protocol contracts; all three emit events. */
void hostile_router(struct hostile *h)
{
    struct attack a;
    uint8_t id[TIDE_HASH_BYTES];
    attack_begin(&a, h);
    hostile_foreign(h, dice_of(&h->dice, HOSTILE_FOREIGN), id);
    put_args(&a, 4, (struct hostile_bounds){ .bytes = 800, .depth = HOSTILE_DEPTH_VALID });
    const struct sim_contract *first = hostile_ours(h), *second = hostile_ours(h);
    attack_instance(&a, first->address.key);
    if (second != first)
        attack_instance(&a, second->address.key);
    attack_call(&a, id, random_function(&h->dice));
    hostile_put_event(h, &a.chain->events_xdr, id, first->role, hostile_style(&h->dice));
    a.events++;
    put_events(&a, first, HOSTILE_EVENT_BYTES / 3);
    put_events(&a, second, HOSTILE_EVENT_BYTES - 4000);
    put_return(&a);
    attack_end(&a, LCM_OP_INVOKE, dice_percent(&h->dice, 15) ? random_failure(&h->dice) : 0);
}

/* --- Stellar assets ---------------------------------------------------------------------- */

static const char *const asset_names[] = { "transfer", "mint", "burn", "clawback" };

/* Appends a memo as the network's asset contract writes it: number, hash or text. */
static void put_memo(struct hostile *h, struct tide_buf *out)
{
    switch (dice_of(&h->dice, 3)) {
    case 0:
        tide_buf_be32(out, TIDE_SCV_U64);
        tide_buf_be64(out, hostile_u64(&h->dice));
        return;
    case 1:
        tide_buf_be32(out, TIDE_SCV_BYTES);
        hostile_put_bytes(&h->dice, out, TIDE_HASH_BYTES);
        return;
    default:
        tide_buf_be32(out, TIDE_SCV_STRING);
        hostile_put_text(&h->dice, out, 28);
        return;
    }
}

/* Appends an amount in the contract's range, from 0 to the largest i128. */
static void put_amount(struct hostile *h, struct tide_buf *out)
{
    tide_buf_be32(out, TIDE_SCV_I128);
    tide_buf_be64(out, dice_percent(&h->dice, 30) ? INT64_MAX : 0);
    tide_buf_be64(out, hostile_u64(&h->dice));
}

/* Appends a random address. */
static void put_holder(struct hostile *h, struct tide_buf *out)
{
    tide_buf_be32(out, TIDE_SCV_ADDRESS);
    hostile_put_any_address(h, out);
}

/* Appends an event of a Stellar asset in the form that its code emits. name is an index in
 * asset_names; 0 is a transfer. */
static void put_asset_event(struct attack *a, uint32_t place, uint32_t name)
{
    struct hostile *h = a->h;
    struct tide_buf *out = &a->chain->events_xdr;
    char text[5 + 56 + 1] = "native";
    if (place == PARTY_USDC) {
        struct tide_buf issuer;
        tide_buf_init(&issuer, 64);
        parties_put_strkey(&issuer, &h->chain->parties, PARTY_ISSUER);
        snprintf(text, sizeof text, "USDC:%.56s", (const char *)issuer.ptr);
        tide_buf_release(&issuer);
    }
    lcm_put_event_head(out, h->chain->parties.contracts[place].id, 1, name == 0 ? 4 : 3);
    lcm_put_symbol(out, asset_names[name]);
    put_holder(h, out);
    if (name == 0)
        put_holder(h, out);
    lcm_put_string(out, text);
    if (name < 2 && dice_percent(&h->dice, 40)) { /* transfers and mints may have a memo */
        lcm_put_map(out, 2);
        lcm_put_symbol(out, "amount");
        put_amount(h, out);
        lcm_put_symbol(out, "to_muxed_id");
        put_memo(h, out);
    } else {
        put_amount(h, out);
    }
    a->events++;
}

/* Appends up to `most` events of Stellar assets. */
static void put_asset_events(struct attack *a, uint32_t most)
{
    struct tide_buf *out = &a->chain->events_xdr;
    uint32_t count = dice_size(a->dice, 1, most);
    for (uint32_t i = 0; i < count && out->len < HOSTILE_EVENT_BYTES - 400; i++) {
        uint32_t name = dice_percent(a->dice, 70) ? 0 : dice_of(a->dice, TIDE_COUNT(asset_names));
        put_asset_event(a, dice_of(a->dice, 2) ? PARTY_USDC : PARTY_XLM, name);
    }
}

/* Calls the asset, or a stranger's contract that calls the asset; some of the latter with an event
 * of a protocol contract. */
void hostile_asset(struct hostile *h)
{
    struct attack a;
    uint8_t id[TIDE_HASH_BYTES];
    attack_begin(&a, h);
    hostile_foreign(h, dice_of(&h->dice, HOSTILE_FOREIGN), id);
    bool direct = dice_percent(&h->dice, 40);
    const uint8_t *to = direct ? h->chain->parties.contracts[PARTY_USDC].id : id;
    put_args(&a, 3, (struct hostile_bounds){ .bytes = 300, .depth = 30 });
    attack_call(&a, to, TIDE_SLICE("transfer"));
    put_asset_events(&a, direct ? 1 : 70);
    if (!direct && dice_percent(&h->dice, 30)) {
        const struct sim_contract *ours = hostile_ours(h);
        attack_instance(&a, ours->address.key);
        hostile_put_event(h, &a.chain->events_xdr, ours->address.key, ours->role, STYLE_EXTREME);
        a.events++;
    }
    put_return(&a);
    attack_end(&a, LCM_OP_INVOKE, 0);
}

/* --- imitations: nothing of it concerns the protocol ------------------------------------- */

/* The footprint lists protocol contracts, but the called contract is a stranger's. */
void hostile_footprint(struct hostile *h)
{
    struct attack a;
    uint8_t id[TIDE_HASH_BYTES];
    attack_begin(&a, h);
    hostile_foreign(h, dice_of(&h->dice, HOSTILE_FOREIGN), id);
    uint32_t keys = dice_size(&h->dice, 1, HOSTILE_KEYS);
    for (uint32_t i = 0; i < keys; i++) {
        const struct sim_contract *ours = hostile_ours(h);
        const struct tide_kind *kind = hostile_kind(h, ours->role);
        if (i % 3 == 0 || !kind) {
            attack_instance(&a, random_contract(h));
            continue;
        }
        hostile_put_entry(h, kind, STYLE_EXTREME);
        if (h->key.len > HOSTILE_KEY_BYTES)
            continue;
        struct lcm_data data =
            lcm_data_of(&h->address, ours->address.key, tide_buf_view(&h->key), i % 2);
        attack_key(&a, a.read_write < HOSTILE_WRITES && i % 5 == 0, &data);
    }
    put_args(&a, 2, (struct hostile_bounds){ .bytes = 300, .depth = 30 });
    attack_call(&a, id, random_function(&h->dice));
    put_asset_events(&a, 80);
    attack_end(&a, LCM_OP_INVOKE, dice_percent(&h->dice, 30) ? random_failure(&h->dice) : 0);
}

/* Events and entries have the protocol's shapes, but belong to a stranger's contract. */
void hostile_strangers(struct hostile *h)
{
    struct attack a;
    uint8_t id[TIDE_HASH_BYTES];
    attack_begin(&a, h);
    hostile_foreign(h, dice_of(&h->dice, HOSTILE_FOREIGN), id);
    const struct sim_contract *like = hostile_ours(h);
    a.own_instance = true;
    put_args(&a, 3, (struct hostile_bounds){ .bytes = 300, .depth = 30 });
    attack_call(&a, id, random_function(&h->dice));
    uint32_t count = dice_size(&h->dice, 1, 12);
    for (uint32_t i = 0; i < count; i++) {
        hostile_put_event(h, &a.chain->events_xdr, id, like->role, hostile_style(&h->dice));
        a.events++;
        const struct tide_kind *kind = hostile_kind(h, like->role);
        if (!kind)
            continue;
        hostile_put_entry(h, kind, hostile_style(&h->dice));
        attack_write(&a, id, kind->temporary ? SIM_TEMPORARY : SIM_PERSISTENT,
                     tide_buf_view(&h->key));
    }
    if (dice_percent(&h->dice, 40)) {
        hostile_put_instance(h, like->role, hostile_style(&h->dice));
        /* key of the instance */
        attack_write(&a, id, SIM_PERSISTENT, TIDE_SLICE("\0\0\0\x14"));
    } else {
        attack_instance(&a, id);
    }
    attack_end(&a, LCM_OP_INVOKE, 0);
}

/* --- as large as the network allows ------------------------------------------------------ */

/* Makes one event of the greatest size, or as many as possible of the smallest. */
static void large_events(struct hostile *h)
{
    struct attack a;
    attack_begin(&a, h);
    const struct sim_contract *ours = hostile_ours(h);
    attack_call(&a, ours->address.key, random_function(&h->dice));
    if (dice_of(&h->dice, 2)) {
        lcm_put_event_head(&a.chain->events_xdr, ours->address.key, 1, 1);
        lcm_put_symbol(&a.chain->events_xdr, "swap");
        tide_buf_be32(&a.chain->events_xdr, TIDE_SCV_BYTES);
        hostile_put_bytes(&h->dice, &a.chain->events_xdr, HOSTILE_EVENT_BYTES - 200);
        a.events++;
    } else { /* the smallest event, as often as it fits */
        while (a.chain->events_xdr.len < HOSTILE_EVENT_BYTES - 80) {
            lcm_put_event_head(&a.chain->events_xdr, ours->address.key, 1, 0);
            tide_buf_be32(&a.chain->events_xdr, TIDE_SCV_VOID);
            a.events++;
        }
    }
    attack_end(&a, LCM_OP_INVOKE, 0);
}

/* Makes an entry of the greatest size. */
static void large_entry(struct hostile *h)
{
    struct attack a;
    attack_begin(&a, h);
    const struct sim_contract *ours = hostile_ours(h);
    /* as in style_of of attacks_state.c */
    while (ours->role == TIDE_ROLE_compliance_registry && !hostile_all(h))
        ours = hostile_ours(h);
    attack_call(&a, ours->address.key, random_function(&h->dice));
    tide_buf_reset(&h->key);
    tide_buf_be32(&h->key, TIDE_SCV_STRING);
    hostile_put_text(&h->dice, &h->key, 180);
    tide_buf_reset(&h->value);
    if (dice_of(&h->dice, 2)) {
        tide_buf_be32(&h->value, TIDE_SCV_BYTES);
        hostile_put_bytes(&h->dice, &h->value, HOSTILE_ENTRY_BYTES - 400);
    } else {
        hostile_value(&h->dice, &h->value,
                      (struct hostile_bounds){ .bytes = HOSTILE_ENTRY_BYTES - 400,
                                               .depth = HOSTILE_DEPTH_VALID });
    }
    attack_write(&a, ours->address.key, SIM_PERSISTENT, tide_buf_view(&h->key));
    attack_end(&a, LCM_OP_INVOKE, 0);
}

void hostile_large(struct hostile *h)
{
    switch (dice_of(&h->dice, 3)) {
    case 0:
        make_refused_call(h,
                          (struct hostile_bounds){ .bytes = HOSTILE_TX_BYTES - 4000,
                                                   .depth = HOSTILE_DEPTH_WILD,
                                                   .wild = true },
                          1);
        return;
    case 1:
        large_events(h);
        return;
    default:
        large_entry(h);
        return;
    }
}

/* Repeats large attacks until the ledger is full. */
void hostile_flood(struct hostile *h)
{
    const struct lcm *lcm = &h->chain->lcm;
    h->flooded = true;
    while (lcm->envelopes.len + lcm->processing.len < HOSTILE_FLOOD_BYTES)
        hostile_large(h);
}
