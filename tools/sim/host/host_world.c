/* Accounts, classic assets and contracts of the model, and classic balances. */
#include "tools/sim/host/host_impl.h"

#include <search.h>

/* Orders accounts, and contracts: each begins with its address. */
static int by_address(const void *a, const void *b)
{
    const struct sim_addr *x = a, *y = b;
    return memcmp(x->key, y->key, TIDE_HASH_BYTES);
}

/* Returns the account or contract of that address in the tree, or NULL. */
static void *find_address(void *const *tree, const struct sim_addr *address)
{
    void *const *node = tfind(address, tree, by_address);
    return node ? *node : NULL;
}

/* Adds an account or contract to the tree. */
static void add_address(void **tree, void *made)
{
    if (!tsearch(made, tree, by_address))
        abort();
}

struct sim_account *sim_account_find(struct sim_host *h, struct sim_addr address)
{
    struct sim_account *a =
        address.kind == SIM_ACCOUNT ? find_address(&h->accounts, &address) : NULL;
    return a && a->exists ? a : NULL;
}

struct sim_account *sim_account_add(struct sim_host *h, struct sim_addr address, int64_t balance)
{
    assert(address.kind == SIM_ACCOUNT && !sim_account_find(h, address));
    struct sim_account *made = sim_room(NULL, sizeof(*made));
    *made = (struct sim_account){
        .address = address, .exists = true, .balance = balance, .modified = h->seq
    };
    add_address(&h->accounts, made);
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

struct sim_contract *sim_contract_find(struct sim_host *h, struct sim_addr address)
{
    return address.kind == SIM_CONTRACT ? find_address(&h->contracts, &address) : NULL;
}

struct sim_contract *sim_contract_add(struct sim_host *h, struct sim_addr address,
                                      enum tide_role role, const char *name)
{
    assert(address.kind == SIM_CONTRACT && !sim_contract_find(h, address));
    struct sim_contract *made = sim_room(NULL, sizeof(*made));
    *made = (struct sim_contract){ .address = address, .role = role, .code = h->classes[role] };
    snprintf(made->name, sizeof(made->name), "%s", name);
    add_address(&h->contracts, made);
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
    tdestroy(h->accounts, free);
    tdestroy(h->contracts, free);
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
