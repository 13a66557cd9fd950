/* Entry changes in any order. No hash covers them, so a malicious server may list changes that no
 * core would. A transaction picks a few keys and lists them many times, in every group of
 * changes. */
#include "tidemark/scval.h"
#include "tools/sim/chain/chain_call.h"
#include "tools/sim/hostile/hostile_impl.h"

/* keys of a transaction, changes of a transaction, groups of changes */
enum { SUBJECTS = 5, CHANGES_MOST = 160, PLACES = 5 };

/* A key that the transaction changes many times. Its bytes are in h->subjects. */
struct subject {
    size_t address, key; /* offsets in h->subjects */
    size_t address_len, key_len;
    uint32_t durability;
    enum tide_role role;
    const struct tide_kind *kind; /* NULL: an instance, or no kind of the catalogue */
    bool instance;
    const struct sim_entry *victim; /* entry of the model with that key; NULL: none */
};

/* A group of changes of the transaction. */
struct change_group {
    struct tide_buf *buf;
    uint32_t *count;
};

/* Returns a part of the subjects' bytes. */
static tide_slice subject_part(const struct hostile *h, size_t at, size_t len)
{
    return tide_slice_of(h->subjects.ptr + at, len);
}

/* Returns the subject's entry as the lcm functions take it. */
static struct lcm_data data_of(const struct hostile *h, const struct subject *s)
{
    return (struct lcm_data){ subject_part(h, s->address, s->address_len),
                              subject_part(h, s->key, s->key_len), s->durability };
}

/* Appends the subject's address and key to h->subjects. */
static void set_subject_key(struct hostile *h, struct subject *s, struct sim_addr contract,
                            tide_slice key)
{
    s->address = h->subjects.len;
    chain_put_addr(&h->subjects, contract);
    s->address_len = h->subjects.len - s->address;
    s->key = h->subjects.len;
    tide_buf_slice(&h->subjects, key);
    s->key_len = key.len;
}

/* Returns a random contract, Stellar assets included. */
static const struct sim_contract *any_contract(struct hostile *h)
{
    const uint32_t assets[] = { PARTY_USDC, PARTY_XLM };
    if (dice_percent(&h->dice, 80))
        return hostile_ours(h);
    uint32_t change_group = assets[dice_of(&h->dice, TIDE_COUNT(assets))];
    return sim_contract_find(&h->chain->host, chain_addr(h->chain, parties_contract(change_group)));
}

static const tide_slice instance_key = { (const uint8_t *)"\0\0\0\x14", 4 }; /* ScVal */

/* Makes the subject a token's instance, which markets or catalogs may name. */
static void choose_token(struct hostile *h, struct subject *s)
{
    struct sim_addr token = { .kind = SIM_CONTRACT };
    hostile_foreign(h, dice_of(&h->dice, HOSTILE_FOREIGN), token.key);
    *s = (struct subject){ .durability = SIM_PERSISTENT,
                           .role = TIDE_ROLE_synth_token,
                           .instance = true };
    set_subject_key(h, s, token, instance_key);
}

/* Returns an entry of a kind from which rollups are computed, or NULL if there is none. The search
 * starts at a random bucket; a second try starts at the first. */
static const struct sim_entry *rolled_entry(struct hostile *h)
{
    static const int rolled[] = {
        TIDE_EN_liquidity_pool_pool,   TIDE_EN_synthetic_engine_debt_total,
        TIDE_EN_stability_pool_state,  TIDE_EN_oracle_feed,
        TIDE_EN_stellar_asset_balance, TIDE_EN_compliance_registry_compliance_rec
    };
    struct sim_host *host = &h->chain->host;
    const struct tide_kind *kind = &tide_entries()[rolled[dice_of(&h->dice, TIDE_COUNT(rolled))]];
    struct sim_walk walk = { .bucket = dice_of(&h->dice, host->entry_buckets) };
    for (uint32_t tries = 0; tries < 2; tries++, walk = (struct sim_walk){ .bucket = 0 })
        for (struct sim_entry *e = sim_entry_next(host, &walk); e; e = sim_entry_next(host, &walk))
            if (hostile_kind_of(e) == kind)
                return e;
    return NULL;
}

/* Makes the subject an entry of the population, or an instance. */
static void choose_victim(struct hostile *h, struct subject *s)
{
    const struct sim_contract *contract = any_contract(h);
    struct sim_host *host = &h->chain->host;
    struct sim_walk walk = { .bucket = dice_of(&h->dice, host->entry_buckets) };
    const struct sim_entry *entry = dice_percent(&h->dice, 30) ? rolled_entry(h) : NULL;
    if (!entry && (dice_of(&h->dice, 3) || !contract->instance))
        entry = sim_entry_next(host, &walk);
    entry = entry ? entry : contract->instance;
    if (!entry) {
        choose_token(h, s);
        return;
    }
    *s = (struct subject){ .durability = entry->durability,
                           .role = entry->contract->role,
                           .kind = hostile_kind_of(entry),
                           .victim = entry };
    s->instance = tide_scval_type_of(entry->key) == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE;
    set_subject_key(h, s, entry->contract->address, entry->key);
}

/* Chooses a subject. From all_from on, most are entries of the population. Before, the compliance
 * registry is spared: see style_of of attacks_state.c. */
static void choose_subject(struct hostile *h, struct subject *s)
{
    const struct sim_contract *contract = any_contract(h);
    const struct tide_kind *kind = hostile_kind(h, contract->role);
    if (hostile_all(h) && dice_percent(&h->dice, 60)) {
        choose_victim(h, s);
        return;
    }
    if (kind)
        hostile_put_entry(h, kind, STYLE_EXTREME);
    if (!kind || h->key.len > HOSTILE_KEY_BYTES || dice_percent(&h->dice, 15)) {
        choose_token(h, s);
        return;
    }
    bool spared = contract->role == TIDE_ROLE_compliance_registry && !hostile_all(h);
    *s = (struct subject){ .durability = kind->temporary ? SIM_TEMPORARY : SIM_PERSISTENT,
                           .role = contract->role,
                           .kind = kind };
    if (!spared && dice_percent(&h->dice, 10))
        s->durability = !s->durability;
    set_subject_key(h, s, contract->address, tide_buf_view(&h->key));
}

/* Writes a value for the subject to h->value. */
static void put_value(struct hostile *h, const struct subject *s)
{
    bool spared = s->role == TIDE_ROLE_compliance_registry && !hostile_all(h);
    enum hostile_style style = spared ? STYLE_EXTREME : hostile_style(&h->dice);
    if (s->instance) {
        hostile_put_instance(h, s->role, style);
    } else if (s->kind) {
        hostile_put_entry_value(h, s->kind, style);
    } else {
        tide_buf_reset(&h->value);
        hostile_value(&h->dice, &h->value, (struct hostile_bounds){ .bytes = 400, .depth = 20 });
    }
}

/* Appends a change of the key's lifetime. */
static void put_life(struct hostile *h, const struct change_group *at, uint32_t kind,
                     const struct lcm_data *data)
{
    uint8_t hash[TIDE_HASH_BYTES];
    lcm_data_hash(hash, data);
    chain_change(at->buf, at->count, kind);
    if (kind == CHANGE_REMOVED) {
        lcm_put_ttl_key(at->buf, hash);
        return;
    }
    uint32_t live_until = hostile_u32(&h->dice);
    lcm_put_ttl(at->buf, hostile_u32(&h->dice), hash, live_until);
}

/* Appends a change of the key's entry. */
static void put_data(struct hostile *h, const struct change_group *at, uint32_t kind,
                     const struct subject *s)
{
    struct lcm_data data = data_of(h, s);
    chain_change(at->buf, at->count, kind);
    if (kind == CHANGE_REMOVED) {
        lcm_put_data_key(at->buf, &data);
        return;
    }
    put_value(h, s);
    lcm_put_data(at->buf, hostile_u32(&h->dice), &data, tide_buf_view(&h->value));
}

/* Appends a change of an entry that is none of the protocol's: an account, code, a lifetime without
 * an entry. */
static void put_other(struct hostile *h, const struct change_group *at, uint32_t kind)
{
    uint8_t any[TIDE_HASH_BYTES];
    hostile_foreign(h, dice_of(&h->dice, 8), any);
    chain_change(at->buf, at->count, kind);
    struct lcm_account account = h->accounts[dice_of(&h->dice, HOSTILE_ACCOUNTS)];
    if (kind != CHANGE_REMOVED)
        lcm_put_account(at->buf, &account);
    else if (dice_of(&h->dice, 2))
        lcm_put_code_key(at->buf, any);
    else
        lcm_put_ttl_key(at->buf, any);
}

/* Appends random changes of the subjects. */
static void put_changes(struct hostile *h, const struct subject *subjects, uint32_t count,
                        const struct change_group *places)
{
    uint32_t changes = dice_size(&h->dice, 1, CHANGES_MOST);
    for (uint32_t i = 0; i < changes; i++) {
        /* Half of the changes stand in the operation's group, where nodes list them. */
        const struct change_group *at =
            &places[dice_of(&h->dice, 2) ? 0 : dice_of(&h->dice, PLACES)];
        const struct subject *s = &subjects[dice_of(&h->dice, count)];
        uint32_t kind = dice_of(&h->dice, CHANGE_RESTORED + 1);
        struct lcm_data data = data_of(h, s);
        if (dice_percent(&h->dice, 5))
            put_other(h, at, kind);
        else if (dice_percent(&h->dice, 30))
            put_life(h, at, kind, &data);
        else
            put_data(h, at, kind, s);
    }
}

/* Recreates the instances of the model's contracts at the end. Without an instance most routes
 * answer that its contract is missing, and would show nothing of the attack. */
static void restore_instances(struct hostile *h, const struct subject *subjects, uint32_t count,
                              const struct change_group *last)
{
    for (uint32_t i = 0; i < count; i++) {
        struct lcm_data data = data_of(h, &subjects[i]);
        if (!subjects[i].instance || !subjects[i].victim)
            continue;
        chain_change(last->buf, last->count, CHANGE_CREATED);
        lcm_put_data(last->buf, h->chain->ledger, &data, subjects[i].victim->val);
    }
}

/* Evicts some keys, some twice, and lists some changes by an upgrade. */
static void put_after_all(struct hostile *h, const struct subject *subjects, uint32_t count)
{
    struct lcm_list upgrade = { .count = 0 };
    struct change_group at = { &h->late, &upgrade.count };
    tide_buf_reset(&h->late);
    for (uint32_t i = dice_of(&h->dice, 6); i > 0; i--) {
        const struct subject *s = &subjects[dice_of(&h->dice, count)];
        struct lcm_data data = data_of(h, s);
        tide_buf_reset(&h->key);
        lcm_put_data_key(&h->key, &data);
        lcm_evict(&h->chain->lcm, tide_buf_view(&h->key));
        put_data(h, &at, s->instance ? CHANGE_UPDATED : dice_of(&h->dice, CHANGE_RESTORED + 1), s);
    }
    upgrade.xdr = tide_buf_view(&h->late);
    if (dice_percent(&h->dice, 30))
        lcm_upgrade(&h->chain->lcm, &upgrade);
}

/* Calls a protocol contract, or a stranger's contract whose footprint lists one. */
static void call_contract(struct attack *a, const struct subject *subjects, uint32_t count)
{
    struct hostile *h = a->h;
    uint8_t id[TIDE_HASH_BYTES];
    hostile_foreign(h, dice_of(&h->dice, HOSTILE_FOREIGN), id);
    const struct sim_contract *contract = any_contract(h);
    bool direct = dice_percent(&h->dice, 60);
    if (!direct)
        attack_instance(a, contract->address.key);
    a->own_instance = true;
    attack_call(a, direct ? contract->address.key : id, TIDE_SLICE("do_anything"));
    for (uint32_t i = 0; i < count; i++) {
        struct lcm_data data = data_of(h, &subjects[i]);
        if (dice_percent(&h->dice, 80))
            attack_key(a, dice_percent(&h->dice, 70), &data);
    }
}

void hostile_changes(struct hostile *h)
{
    struct attack a;
    struct subject subjects[SUBJECTS];
    uint32_t count = 1 + dice_of(&h->dice, SUBJECTS), refunds = 0;
    attack_begin(&a, h);
    tide_buf_reset(&h->subjects);
    for (uint32_t i = 0; i < count; i++)
        choose_subject(h, &subjects[i]);
    call_contract(&a, subjects, count);
    struct chain *chain = a.chain;
    tide_buf_reset(&h->after);
    tide_buf_reset(&h->refund);
    const struct change_group places[PLACES] = { { &chain->changes, &a.changes },
                                                 { &chain->fee_changes, &a.tx.fee_changes.count },
                                                 { &chain->before, &a.tx.before.count },
                                                 { &h->after, &a.tx.after.count },
                                                 { &h->refund, &refunds } };
    put_changes(h, subjects, count, places);
    /* The last group of the ledger: refunds in version 2, changes behind the operations before. */
    restore_instances(h, subjects, count, &places[chain->lcm.version == 2 ? PLACES - 1 : 3]);
    a.tx.after.xdr = tide_buf_view(&h->after);
    attack_end(&a, LCM_OP_INVOKE, dice_percent(&h->dice, 10) ? -2 : 0);
    if (chain->lcm.version == 2)
        lcm_refund(&chain->lcm, chain->lcm.tx_count - 1,
                   &(struct lcm_list){ tide_buf_view(&h->refund), refunds });
    if (dice_percent(&h->dice, 30))
        put_after_all(h, subjects, count);
}
