/* Attacks by entries, tokens, names, lifetimes, code and bulk. */
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/hostile/hostile_impl.h"

#include <string.h>

static const tide_slice instance_key = { (const uint8_t *)"\0\0\0\x14", 4 }; /* ScVal */

/* Returns the style of an entry. Before all_from, entries of the compliance registry have the right
 * shape: an index must treat one that it cannot read as a possible freeze, and then stops answering
 * about all addresses. */
static enum hostile_style style_of(struct hostile *h, const struct sim_contract *ours)
{
    enum hostile_style style = hostile_style(&h->dice);
    bool spared = ours->role == TIDE_ROLE_compliance_registry && !hostile_all(h);
    return spared ? STYLE_EXTREME : style;
}

/* Foreign code at a protocol contract's address writes and removes entries. */
void hostile_entries(struct hostile *h)
{
    struct attack a;
    attack_begin(&a, h);
    const struct sim_contract *ours = hostile_ours(h);
    attack_call(&a, ours->address.key, TIDE_SLICE("do_anything"));
    uint32_t count = dice_size(&h->dice, 1, 30);
    for (uint32_t i = 0; i < count; i++) {
        const struct tide_kind *kind = hostile_kind(h, ours->role);
        if (!kind)
            continue;
        hostile_put_entry(h, kind, style_of(h, ours));
        if (h->key.len <= HOSTILE_KEY_BYTES)
            attack_write(&a, ours->address.key, kind->temporary ? SIM_TEMPORARY : SIM_PERSISTENT,
                         tide_buf_view(&h->key));
    }
    struct hostile_entry *old = hostile_any_entry(h, false);
    if (old && dice_percent(&h->dice, 50) &&
        /* A transaction changes a key once. */
        old->touched != ((uint64_t)a.chain->ledger << 32 | (a.chain->index + 1)))
        attack_remove(&a, old);
    attack_end(&a, LCM_OP_INVOKE, 0);
}

/* --- tokens ------------------------------------------------------------------------------- */

/* Writes a market's configuration or a partner's asset under a name of the attackers. Its token is
 * any address. */
static void put_token_entry(struct attack *a, const struct sim_contract *ours,
                            const struct tide_kind *kind)
{
    struct hostile *h = a->h;
    hostile_put_entry(h, kind, STYLE_EXTREME);
    if (h->key.len <= HOSTILE_KEY_BYTES)
        attack_write(a, ours->address.key, SIM_PERSISTENT, tide_buf_view(&h->key));
}

/* Emits events of a stranger's token, which a market may or may not name, and writes its instance
 * and an entry. */
static void emit_token_events(struct hostile *h)
{
    struct attack a;
    uint8_t id[TIDE_HASH_BYTES];
    attack_begin(&a, h);
    a.own_instance = true;
    uint32_t token = dice_of(&h->dice, HOSTILE_FOREIGN);
    hostile_foreign(h, token, id);
    attack_call(&a, id, TIDE_SLICE("transfer"));
    uint32_t count = dice_size(&h->dice, 1, 100);
    for (uint32_t i = 0; i < count && a.chain->events_xdr.len < HOSTILE_EVENT_BYTES - 1000; i++) {
        if (i % 20 == 19 && token + 1 < HOSTILE_FOREIGN) {
            /* Each contract that runs is in the footprint, once. The last one's instance is
             * written. */
            attack_instance(&a, id);
            token += 1 + dice_of(&h->dice, HOSTILE_FOREIGN - token - 1);
            hostile_foreign(h, token, id);
        }
        enum hostile_style style = hostile_style(&h->dice);
        hostile_put_event(
            h, &a.chain->events_xdr, id,
            dice_percent(&h->dice, 30) ? TIDE_ROLE_stellar_asset : TIDE_ROLE_synth_token, style);
        a.events++;
    }
    hostile_put_instance(h, TIDE_ROLE_synth_token, hostile_style(&h->dice));
    attack_write(&a, id, SIM_PERSISTENT, instance_key);
    const struct tide_kind *kind = hostile_kind(h, TIDE_ROLE_synth_token);
    if (kind) {
        hostile_put_entry(h, kind, hostile_style(&h->dice));
        attack_write(&a, id, kind->temporary ? SIM_TEMPORARY : SIM_PERSISTENT,
                     tide_buf_view(&h->key));
    }
    attack_end(&a, LCM_OP_INVOKE, 0);
}

/* Registers tokens in the engine or in the partner registry. */
static void register_tokens(struct hostile *h, bool market, uint32_t count)
{
    struct attack a;
    uint32_t place = market ? PARTY_ENGINE : PARTY_PARTNERS;
    const struct sim_contract *ours =
        sim_contract_find(&h->chain->host, chain_addr(h->chain, parties_contract(place)));
    const struct tide_kind *kind = &tide_entries()[market ? TIDE_EN_synthetic_engine_asset_config
                                                          : TIDE_EN_partner_registry_partner_asset];
    attack_begin(&a, h);
    attack_call(&a, ours->address.key, tide_slice_str(market ? "register_asset" : "preg_asset"));
    for (uint32_t i = 0; i < count; i++)
        put_token_entry(&a, ours, kind);
    attack_end(&a, LCM_OP_INVOKE, 0);
}

/* Registers tokens; now and then as many as eight full transactions can. */
void hostile_tokens(struct hostile *h)
{
    enum { MOST = 150, MANY_TXS = 8 };
    bool market = dice_of(&h->dice, 2), many = dice_percent(&h->dice, 5);
    for (uint32_t i = 0; many && i < MANY_TXS; i++)
        register_tokens(h, false, MOST);
    register_tokens(h, market, dice_size(&h->dice, 1, MOST));
    emit_token_events(h);
}

/* Writes an asset of a partner's catalog to h->key and h->value, live or not, by trying until it is
 * so. */
static void put_listing(struct hostile *h, bool live)
{
    static const uint8_t is_live[] =
        "\0\0\0\xf\0\0\0\4live\0\0\0\0\0\0\0\1"; /* the pair live: true */
    const struct tide_kind *kind = &tide_entries()[TIDE_EN_partner_registry_partner_asset];
    do
        hostile_put_entry(h, kind, STYLE_EXTREME);
    while (h->key.len > HOSTILE_KEY_BYTES ||
           (memmem(h->value.ptr, h->value.len, is_live, sizeof is_live - 1) != NULL) != live);
}

/* Lists a new contract in a catalog. The contract that the last ledger listed writes its
 * instance. */
void hostile_listings(struct hostile *h)
{
    struct attack a;
    uint8_t last[TIDE_HASH_BYTES], next[TIDE_HASH_BYTES];
    if (!hostile_all(h) || h->listed_at == h->chain->ledger)
        return;
    hostile_foreign(h, h->listed % HOSTILE_FOREIGN, last);
    hostile_foreign(h, (h->listed + 1) % HOSTILE_FOREIGN, next);
    const uint8_t *registry = h->chain->parties.contracts[PARTY_PARTNERS].id;
    attack_begin(&a, h);
    a.own_instance = true;
    attack_call(&a, last, TIDE_SLICE("__constructor"));
    hostile_put_instance(h, TIDE_ROLE_synth_token, STYLE_EXTREME);
    attack_write(&a, last, SIM_PERSISTENT, instance_key);
    attack_end(&a, LCM_OP_INVOKE, 0);
    attack_begin(&a, h);
    attack_call(&a, registry, TIDE_SLICE("preg_asset"));
    h->named = next; /* the catalog's token is this contract */
    put_listing(h, true);
    h->named = NULL;
    attack_write(&a, registry, SIM_PERSISTENT, tide_buf_view(&h->key));
    attack_end(&a, LCM_OP_INVOKE, 0);
    h->listed++;
    h->listed_at = h->chain->ledger;
}

/* --- tokens that are named before they are followed ---------------------------------------- */

/* Writes to h->value the instance of a Stellar asset's contract, which has no code of its own. */
static void put_asset_instance(struct hostile *h)
{
    static const uint8_t executable[] = { 0, 0, 0, TIDE_SCV_CONTRACT_INSTANCE, 0, 0, 0, 1 };
    const size_t head = sizeof executable + TIDE_HASH_BYTES; /* head of an instance with code */
    hostile_put_instance(h, TIDE_ROLE_stellar_asset, STYLE_EXTREME);
    memcpy(h->value.ptr, executable, sizeof executable);
    h->value.len -= TIDE_HASH_BYTES;
    memmove(h->value.ptr + sizeof executable, h->value.ptr + head,
            h->value.len - sizeof executable);
}

/* Writes an entry of a contract in which each address is this one. */
static void put_naming(struct attack *a, const uint8_t *contract, int kind, const uint8_t *named)
{
    struct hostile *h = a->h;
    h->named = named;
    hostile_put_entry(h, &tide_entries()[kind], STYLE_EXTREME);
    h->named = NULL;
    if (h->key.len <= HOSTILE_KEY_BYTES)
        attack_write(a, contract, SIM_PERSISTENT, tide_buf_view(&h->key));
}

/* Writes an entry of the catalog that names the token. */
static void put_catalog(struct attack *a, const uint8_t *token, bool live)
{
    struct hostile *h = a->h;
    h->named = token;
    put_listing(h, live);
    h->named = NULL;
    attack_write(a, h->chain->parties.contracts[PARTY_PARTNERS].id, SIM_PERSISTENT,
                 tide_buf_view(&h->key));
}

/* Deploys a token of which the engine has some, and names it as collateral, in a pool and in an
 * entry of a catalog that is not live: an index follows the token only when it is listed. */
static void name_token(struct hostile *h, const uint8_t *token)
{
    struct attack a;
    const struct party *ours = h->chain->parties.contracts;
    bool asset = dice_of(&h->dice, 2);
    attack_begin(&a, h);
    a.own_instance = true;
    attack_call(&a, token, TIDE_SLICE("__constructor"));
    if (asset)
        put_asset_instance(h);
    else
        hostile_put_instance(h, TIDE_ROLE_synth_token, STYLE_EXTREME);
    attack_write(&a, token, SIM_PERSISTENT, instance_key);
    put_naming(&a, token, asset ? TIDE_EN_stellar_asset_balance : TIDE_EN_synth_token_balance,
               ours[PARTY_ENGINE].id);
    put_naming(&a, ours[PARTY_ENGINE].id, TIDE_EN_synthetic_engine_collateral_allowed, token);
    put_naming(&a, ours[PARTY_POOL].id, TIDE_EN_liquidity_pool_pool, token);
    put_catalog(&a, token, false);
    attack_end(&a, LCM_OP_INVOKE, 0);
}

/* Lists a token that was named before. */
static void list_token(struct hostile *h, const uint8_t *token)
{
    struct attack a;
    attack_begin(&a, h);
    attack_call(&a, h->chain->parties.contracts[PARTY_PARTNERS].id, TIDE_SLICE("preg_asset"));
    put_catalog(&a, token, true);
    attack_end(&a, LCM_OP_INVOKE, 0);
}

void hostile_late(struct hostile *h)
{
    uint8_t token[TIDE_HASH_BYTES];
    char text[48];
    bool list = h->late_listed < h->late_named && dice_of(&h->dice, 2);
    uint32_t number = list ? h->late_listed++ : h->late_named++;
    uint64_t seed = h->chain->options.seed;
    int len = snprintf(text, sizeof text, "late token %" PRIu64 " %u", seed, number);
    tide_sha256(token, tide_slice_of(text, (size_t)len));
    if (list)
        list_token(h, token);
    else
        name_token(h, token);
}

/* --- names of the DAO --------------------------------------------------------------------- */

/* Overwrites the contracts that the DAO's storage names, or restores the model's names. */
void hostile_names(struct hostile *h)
{
    struct attack a;
    const struct sim_contract *dao =
        sim_contract_find(&h->chain->host, chain_addr(h->chain, parties_contract(PARTY_DAO)));
    if (!dao->instance || dao->instance->live_until < h->chain->ledger)
        return;
    attack_begin(&a, h);
    a.own_instance = true;
    attack_call(&a, dao->address.key,
                tide_slice_str(h->renamed ? "set_protocol_config" : "initialize"));
    if (h->renamed) {
        tide_buf_reset(&h->value);
        tide_buf_slice(&h->value, dao->instance->val);
    } else {
        hostile_put_instance(h, TIDE_ROLE_dao_governance, STYLE_EXTREME);
    }
    h->renamed = !h->renamed;
    attack_overwrite(&a, dao->instance, tide_buf_view(&h->value));
    attack_end(&a, LCM_OP_INVOKE, 0);
}

/* --- lifetimes ----------------------------------------------------------------------------- */

/* Makes a transaction that extends an entry's lifetime. */
static void put_extension(struct hostile *h, struct hostile_entry *entry, uint32_t live_until)
{
    struct attack a;
    attack_begin(&a, h);
    lcm_words(&a.chain->body, 0, live_until - h->chain->ledger);
    attack_extend(&a, entry, live_until);
    attack_end(&a, LCM_OP_EXTEND_TTL, 0);
}

/* Extends one key by several transactions. Those of one stage do not see each other: each extends
 * the life at the ledger's start, and the longest life counts, whichever comes last. */
static void extend_one_key(struct hostile *h, struct hostile_entry *entry)
{
    uint32_t count = 1 + dice_of(&h->dice, 4), longest = entry->live_until;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t life = entry->live_until + 1 + dice_of(&h->dice, 3000);
        put_extension(h, entry, life);
        longest = life > longest ? life : longest;
    }
    entry->live_until = longest;
}

/* Makes a transaction that restores an entry. */
static void restore_entry(struct hostile *h, struct hostile_entry *entry)
{
    struct attack a;
    attack_begin(&a, h);
    tide_buf_be32(&a.chain->body, 0);
    attack_restore(&a, entry);
    attack_end(&a, LCM_OP_RESTORE, 0);
}

/* Extends a live entry, or restores a lapsed one. */
void hostile_lives(struct hostile *h)
{
    bool lapsed = dice_percent(&h->dice, 30);
    struct hostile_entry *entry = hostile_any_entry(h, lapsed);
    if (entry && lapsed)
        restore_entry(h, entry);
    else if (entry && entry->modified < h->chain->ledger)
        extend_one_key(h, entry);
}

/* --- code ---------------------------------------------------------------------------------- */

/* Appends a random hash. */
static void put_random(struct hostile *h, struct tide_buf *out)
{
    for (uint32_t i = 0; i < TIDE_HASH_BYTES / 8; i++)
        tide_buf_be64(out, dice_u64(&h->dice));
}

/* Makes a transaction that creates a contract from any code, with arguments for its constructor. */
static void create_contract(struct hostile *h)
{
    struct attack a;
    uint32_t args = dice_of(&h->dice, 4);
    attack_begin(&a, h);
    struct tide_buf *body = &a.chain->body;
    lcm_words(body, 3, 0); /* create contract v2, from address */
    lcm_put_address_account(body, a.from->key);
    put_random(h, body);
    tide_buf_be32(body, 0); /* executable: wasm */
    put_random(h, body);
    tide_buf_be32(body, args);
    for (uint32_t i = 0; i < args; i++)
        hostile_value(&h->dice, body, (struct hostile_bounds){ .bytes = 800, .depth = 90 });
    tide_buf_be32(body, 0); /* no authorisations */
    bool passes = dice_of(&h->dice, 2);
    if (passes) { /* the constructor may call protocol contracts */
        const struct sim_contract *ours = hostile_ours(h);
        attack_instance(&a, ours->address.key);
        hostile_put_event(h, &a.chain->events_xdr, ours->address.key, ours->role,
                          hostile_style(&h->dice));
        a.events++;
    }
    attack_end(&a, LCM_OP_INVOKE, passes ? 0 : -2);
}

/* Makes a transaction that uploads code. */
static void upload_code(struct hostile *h)
{
    struct attack a;
    attack_begin(&a, h);
    tide_buf_be32(&a.chain->body, 2); /* upload */
    hostile_put_bytes(&h->dice, &a.chain->body, dice_of(&h->dice, 60000));
    tide_buf_be32(&a.chain->body, 0);
    attack_end(&a, LCM_OP_INVOKE, dice_of(&h->dice, 2) ? 0 : -2);
}

void hostile_code(struct hostile *h)
{
    if (dice_of(&h->dice, 3))
        create_contract(h);
    else
        upload_code(h);
}

/* --- attacks on the workload's entries ------------------------------------------------------ */

/* Returns a random live entry of a protocol contract in the model, or NULL. */
static struct sim_entry *random_entry(struct hostile *h)
{
    struct sim_host *host = &h->chain->host;
    struct sim_walk walk = { .bucket = dice_of(&h->dice, host->entry_buckets) };
    for (struct sim_entry *e = sim_entry_next(host, &walk); e; e = sim_entry_next(host, &walk)) {
        enum tide_role role = e->contract->role;
        if (e->live_until >= h->chain->ledger && role != TIDE_ROLE_stellar_asset &&
            role != TIDE_ROLE_wallet)
            return e;
    }
    return NULL;
}

/* Finds the kind by the symbol that begins a key's Vec. */
const struct tide_kind *hostile_kind_of(const struct sim_entry *entry)
{
    struct tide_xdr x = tide_xdr_of(entry->key);
    if (tide_scval_type_of(entry->key) != TIDE_SCV_VEC)
        return NULL;
    tide_xdr_skip(&x, 16); /* Vec, present, length, type of the first item */
    tide_slice name = tide_xdr_var(&x, 32);
    return x.status == TIDE_OK ? tide_entry_find(entry->contract->role, name) : NULL;
}

/* Writes another value for the entry to h->value, of the right shape or not. Returns false if the
 * catalogue has no such key. */
static bool put_other_value(struct hostile *h, const struct sim_entry *victim)
{
    const struct tide_kind *kind = hostile_kind_of(victim);
    enum hostile_style style = hostile_style(&h->dice);
    if (tide_scval_type_of(victim->key) == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE)
        hostile_put_instance(h, victim->contract->role, style);
    else if (kind)
        hostile_put_entry_value(h, kind, style);
    return kind || tide_scval_type_of(victim->key) == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE;
}

/* Overwrites up to eight entries of the workload. Entries of one transaction are distinct. */
void hostile_scorch(struct hostile *h)
{
    enum { MOST = 8 };
    struct attack a;
    const struct sim_entry *seen[MOST];
    const struct sim_entry *victim = random_entry(h);
    if (!victim)
        return;
    attack_begin(&a, h);
    a.own_instance = true;
    attack_call(&a, victim->contract->address.key, TIDE_SLICE("do_anything"));
    for (uint32_t i = 0; victim && i < MOST; i++) {
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again |= seen[k] == victim;
        if (!again && put_other_value(h, victim))
            attack_overwrite(&a, victim, tide_buf_view(&h->value));
        seen[i] = victim;
        victim = random_entry(h);
    }
    attack_end(&a, LCM_OP_INVOKE, 0);
}

/* --- bulk: one operation with as many events or entries as --hostile-bulk says, most of them equal.
 * The time that an index needs for them must grow in proportion to their number. ------------- */

enum { BULK = 100, BULKS = 3 }; /* repetitions by default; bulk attacks of a chain */

/* A bulk transaction that is being made. */
struct bulk {
    struct attack a;
    uint32_t count;
    /* one contract of each role; NULL: there is none */
    const struct sim_contract *ours[TIDE_ROLE_COUNT];
};

/* Finds the first deployed contract of each role. */
static void find_contracts(struct bulk *c, struct hostile *h)
{
    for (uint32_t place = 0; place < PARTY_TOKEN + PARTY_MARKETS; place++) {
        const struct sim_contract *one =
            sim_contract_find(&h->chain->host, chain_addr(h->chain, parties_contract(place)));
        if (one && one->role < TIDE_ROLE_COUNT && !c->ours[one->role])
            c->ours[one->role] = one;
    }
}

/* Begins a call that lists all these contracts as running. */
static void begin_bulk(struct bulk *c, struct hostile *h)
{
    *c = (struct bulk){ .count = h->options.bulk ? h->options.bulk : BULK };
    find_contracts(c, h);
    attack_begin(&c->a, h);
    c->a.own_instance = true;
    for (uint32_t role = 0; role < TIDE_ROLE_COUNT; role++)
        if (c->ours[role])
            attack_instance(&c->a, c->ours[role]->address.key);
    attack_call(&c->a, c->ours[TIDE_ROLE_earnings_distributor]->address.key, TIDE_SLICE("bulk"));
}

/* Writes the events. Every second one of a kind has the same fields, because its dice are reset to
 * a state of the kind. The kinds take turns, so that equal events stand both near and far from each
 * other. */
static void put_events(struct bulk *c)
{
    struct hostile *h = c->a.h;
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t k = 0; k < TIDE_EV_COUNT; k++) {
            const struct tide_kind *kind = &tide_events()[k];
            const struct sim_contract *ours = c->ours[kind->role];
            struct dice others = h->dice;
            if (!ours || kind->system)
                continue;
            if (i % 2 == 0)
                h->dice.state = k;
            hostile_put_event_of(h, &c->a.chain->events_xdr, ours->address.key, kind,
                                 STYLE_EXTREME);
            if (i % 2 == 0)
                h->dice = others;
            c->a.events++;
        }
}

/* Writes the entries of each kind: versions of one entry, or new entries. */
static void put_entries(struct bulk *c, bool versions)
{
    struct hostile *h = c->a.h;
    for (uint32_t k = 0; k < TIDE_EN_COUNT; k++) {
        const struct tide_kind *kind = &tide_entries()[k];
        const struct sim_contract *ours = c->ours[kind->role];
        if (!ours)
            continue;
        for (uint32_t i = 0; i < c->count; i++) {
            if (i == 0 || !versions)
                hostile_put_entry(h, kind, STYLE_EXTREME);
            struct lcm_data data =
                lcm_data_of(&h->address, ours->address.key, tide_buf_view(&h->key),
                            kind->temporary ? SIM_TEMPORARY : SIM_PERSISTENT);
            if (i == 0 || !versions) {
                attack_key(&c->a, true, &data);
                attack_create(&c->a, &data, tide_buf_view(&h->value));
            } else {
                attack_update(&c->a, &data, tide_buf_view(&h->value));
            }
        }
    }
}

/* The first bulk has events, the second new entries, the third versions. */
void hostile_bulk(struct hostile *h)
{
    struct bulk c;
    if (!hostile_all(h) || h->bulks == BULKS || h->bulk_at == h->chain->ledger)
        return;
    begin_bulk(&c, h);
    if (h->bulks == 0)
        put_events(&c);
    else
        put_entries(&c, h->bulks == 2);
    assert(!h->chain->events_xdr.failed && !h->chain->changes.failed); /* 480 of each fit */
    attack_end(&c.a, LCM_OP_INVOKE, 0);
    h->bulks++;
    h->bulk_at = h->chain->ledger;
}
