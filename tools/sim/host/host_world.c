/* Accounts, classic assets and contracts of the model, and classic balances. */
#include "tools/sim/host/host_impl.h"

#define BUCKETS_MIN 256u /* power of two */

static uint64_t address_hash(struct sim_addr address)
{
    return sim_hash(address.kind, address.key, TIDE_HASH_BYTES);
}

/* Doubles the table. Accounts do not move in memory. */
static void rehash_accounts(struct sim_host *h)
{
    uint32_t buckets = h->account_buckets ? h->account_buckets * 2 : BUCKETS_MIN;
    assert((buckets & (buckets - 1)) == 0 && "a mask finds the bucket");
    struct sim_account **table = sim_room(NULL, buckets * sizeof(struct sim_account *));
    memset(table, 0, buckets * sizeof(struct sim_account *));
    for (uint32_t i = 0; i < h->account_buckets; i++) {
        for (struct sim_account *a = h->accounts[i], *next; a; a = next) {
            next = a->next;
            struct sim_account **head = &table[address_hash(a->address) & (buckets - 1)];
            a->next = *head;
            *head = a;
        }
    }
    free(h->accounts);
    h->accounts = table;
    h->account_buckets = buckets;
}

struct sim_account *sim_account_find(struct sim_host *h, struct sim_addr address)
{
    if (address.kind != SIM_ACCOUNT || !h->account_buckets)
        return NULL;
    struct sim_account *a = h->accounts[address_hash(address) & (h->account_buckets - 1)];
    while (a && !sim_addr_eq(a->address, address))
        a = a->next;
    return a && a->exists ? a : NULL;
}

struct sim_account *sim_account_add(struct sim_host *h, struct sim_addr address, int64_t balance)
{
    assert(address.kind == SIM_ACCOUNT && !sim_account_find(h, address));
    if (h->account_count >= h->account_buckets)
        rehash_accounts(h);
    struct sim_account **head = &h->accounts[address_hash(address) & (h->account_buckets - 1)];
    struct sim_account *made = sim_room(NULL, sizeof(*made));
    *made = (struct sim_account){
        .next = *head, .address = address, .exists = true, .balance = balance, .modified = h->seq
    };
    *head = made;
    h->account_count++;
    return made;
}

void sim_trust(struct sim_account *account, uint32_t asset)
{
    assert(asset > 0 && asset < SIM_ASSETS_MAX && !account->lines[asset].exists);
    account->lines[asset] = (struct sim_line){
        .exists = true, .authorized = true, .limit = INT64_MAX, .modified = account->modified
    };
    account->subentries++;
}

uint32_t sim_asset_add(struct sim_host *h, const char *code, struct sim_addr issuer)
{
    assert(h->asset_count < SIM_ASSETS_MAX && strlen(code) < sizeof(h->assets[0].code));
    struct sim_asset *asset = &h->assets[h->asset_count];
    snprintf(asset->code, sizeof(asset->code), "%s", code);
    asset->issuer = issuer;
    return h->asset_count++;
}

/* Doubles the table. Contracts do not move in memory. */
static void rehash_contracts(struct sim_host *h)
{
    uint32_t buckets = h->contract_buckets ? h->contract_buckets * 2 : BUCKETS_MIN;
    assert((buckets & (buckets - 1)) == 0 && "a mask finds the bucket");
    struct sim_contract **table = sim_room(NULL, buckets * sizeof(struct sim_contract *));
    memset(table, 0, buckets * sizeof(struct sim_contract *));
    for (uint32_t i = 0; i < h->contract_buckets; i++) {
        for (struct sim_contract *c = h->contracts[i], *next; c; c = next) {
            next = c->next;
            struct sim_contract **head = &table[address_hash(c->address) & (buckets - 1)];
            c->next = *head;
            *head = c;
        }
    }
    free(h->contracts);
    h->contracts = table;
    h->contract_buckets = buckets;
}

struct sim_contract *sim_contract_find(struct sim_host *h, struct sim_addr address)
{
    if (address.kind != SIM_CONTRACT || !h->contract_buckets)
        return NULL;
    struct sim_contract *c = h->contracts[address_hash(address) & (h->contract_buckets - 1)];
    while (c && !sim_addr_eq(c->address, address))
        c = c->next;
    return c;
}

struct sim_contract *sim_contract_add(struct sim_host *h, struct sim_addr address,
                                      enum tide_role role, const char *name)
{
    assert(address.kind == SIM_CONTRACT && !sim_contract_find(h, address));
    if (h->contract_count >= h->contract_buckets)
        rehash_contracts(h);
    struct sim_contract **head = &h->contracts[address_hash(address) & (h->contract_buckets - 1)];
    struct sim_contract *made = sim_room(NULL, sizeof(*made));
    *made = (struct sim_contract){
        .next = *head, .address = address, .role = role, .code = h->classes[role]
    };
    snprintf(made->name, sizeof(made->name), "%s", name);
    *head = made;
    h->contract_count++;
    return made;
}

void sim_open(struct sim_host *h, const uint8_t network_id[TIDE_HASH_BYTES],
              const struct sim_class *const *classes)
{
    *h = (struct sim_host){ .asset_count = 1,
                            .classes = classes,
                            .persistent_life = SIM_PERSISTENT_LIFE,
                            .temporary_life = SIM_TEMPORARY_LIFE };
    memcpy(h->network_id, network_id, TIDE_HASH_BYTES);
    if (tide_arena_open(&h->arena, SIM_ARENA) != TIDE_OK)
        abort();
    tide_buf_init(&h->scratch, SIM_ARENA);
}

void sim_close(struct sim_host *h)
{
    sim_drop_outcome(h);
    sim_store_close(h);
    for (uint32_t i = 0; i < h->account_buckets; i++) {
        for (struct sim_account *a = h->accounts[i], *next; a; a = next) {
            next = a->next;
            free(a);
        }
    }
    for (uint32_t i = 0; i < h->contract_buckets; i++) {
        for (struct sim_contract *c = h->contracts[i], *next; c; c = next) {
            next = c->next;
            free(c);
        }
    }
    free(h->accounts);
    free(h->contracts);
    free(h->out.events);
    free(h->out.frames);
    free(h->out.auths);
    tide_buf_release(&h->scratch);
    tide_arena_close(&h->arena);
}

/* --- classic balances --------------------------------------------------------- */

#define BASE_RESERVE 5000000 /* stroops */

/* Returns the account and touches the entry that holds the balance. The reasons are error numbers
 * of the network's Stellar Asset Contract. */
static struct sim_account *balance_holder(struct sim_host *h, struct sim_addr party, uint32_t asset)
{
    assert(asset < h->asset_count);
    struct sim_account *account = sim_account_find(h, party);
    sim_require(h, account, "Ok(Contract(6))");
    sim_account_touch(h, account, asset, true);
    if (asset == 0)
        return account;
    sim_require(h, account->lines[asset].exists, "Ok(Contract(13))");
    sim_require(h, account->lines[asset].authorized, "Ok(Contract(11))");
    return account;
}

/* Returns the stroops that an account must keep: two base reserves and one for each subentry. */
static int64_t minimum_balance(const struct sim_account *account)
{
    return (2 + (int64_t)account->subentries) * BASE_RESERVE;
}

/* An issuer's balance of its own asset is unlimited and not stored. */
static bool is_issuer(const struct sim_host *h, struct sim_addr party, uint32_t asset)
{
    return asset && sim_addr_eq(h->assets[asset].issuer, party);
}

void sim_classic_take(struct sim_host *h, struct sim_addr from, uint32_t asset, sim_amount amount)
{
    assert(amount >= 0);
    sim_require(h, amount <= INT64_MAX, "Ok(Contract(12))");
    if (is_issuer(h, from, asset))
        return;
    struct sim_account *account = balance_holder(h, from, asset);
    int64_t *balance = asset ? &account->lines[asset].balance : &account->balance;
    int64_t floor = asset ? 0 : minimum_balance(account);
    sim_require(h, *balance - amount >= floor, "Ok(Contract(10))");
    *balance = (int64_t)(*balance - amount);
    assert(*balance >= floor);
}

void sim_classic_give(struct sim_host *h, struct sim_addr to, uint32_t asset, sim_amount amount)
{
    assert(amount >= 0);
    sim_require(h, amount <= INT64_MAX, "Ok(Contract(12))");
    if (is_issuer(h, to, asset))
        return;
    struct sim_account *account = balance_holder(h, to, asset);
    int64_t *balance = asset ? &account->lines[asset].balance : &account->balance;
    int64_t limit = asset ? account->lines[asset].limit : INT64_MAX;
    sim_require(h, *balance <= limit - amount, "Ok(Contract(10))");
    sim_require(h, asset || *balance + amount >= minimum_balance(account), "Ok(Contract(10))");
    *balance = (int64_t)(*balance + amount);
    assert(*balance <= limit);
}

int64_t sim_classic_balance(struct sim_host *h, struct sim_addr party, uint32_t asset)
{
    struct sim_account *account = sim_account_find(h, party);
    if (!account)
        return 0;
    return asset ? account->lines[asset].balance : account->balance;
}
