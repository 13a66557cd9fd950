/* The Stellar Asset Contract: a classic asset behind the token interface. Accounts hold the asset
 * in their account entry or trustline, contracts in Balance entries. Refusals have the error
 * numbers of the network's contract: 8 negative amount, 10 balance. */
#include "tidemark/strkey.h"
#include "tools/sim/host/host_impl.h"

#define EV(id) SIM_EVENT(stellar_asset, id)
#define EN(id) SIM_ENTRY(stellar_asset, id)

/* Returns the asset's name: "native", or CODE:ISSUER. */
static sim_val asset_name(struct sim_host *h, const struct sim_contract *contract)
{
    const struct sim_asset *asset = &h->assets[contract->asset];
    if (contract->asset == 0)
        return sim_text(h, "native");
    char name[sizeof(asset->code) + TIDE_STRKEY_ADDRESS_MAX + 1];
    char issuer[TIDE_STRKEY_ADDRESS_MAX];
    size_t len = tide_strkey_encode(issuer, TIDE_STRKEY_ACCOUNT,
                                    tide_slice_of(asset->issuer.key, TIDE_HASH_BYTES));
    snprintf(name, sizeof(name), "%s:%.*s", asset->code, (int)len, issuer);
    return sim_text(h, name);
}

/* Returns the AssetInfo that the instance stores. Codes have four letters at most. */
static sim_val asset_info(struct sim_host *h, const struct sim_contract *contract)
{
    const struct sim_asset *asset = &h->assets[contract->asset];
    if (contract->asset == 0)
        return sim_vec(&h->arena, SIM_VALS(sim_sym("Native")));
    sim_val code = sim_text(h, asset->code);
    sim_val issuer = sim_bytes(tide_slice_of(asset->issuer.key, TIDE_HASH_BYTES));
    sim_val parts = sim_make(h, SIM_FIELDS({ "asset_code", code }, { "issuer", issuer }));
    return sim_vec(&h->arena, SIM_VALS(sim_sym("AlphaNum4"), parts));
}

/* The keys are those that the network's contract writes. XLM has no admin. */
static sim_val first_storage(struct sim_host *h, const struct sim_contract *contract)
{
    const struct sim_asset *asset = &h->assets[contract->asset];
    sim_val name = asset_name(h, contract);
    sim_val symbol = contract->asset ? sim_text(h, asset->code) : name;
    sim_val metadata =
        sim_make(h, SIM_FIELDS({ "decimal", sim_u32(7) }, { "name", name }, { "symbol", symbol }));
    sim_val storage = { .type = TIDE_SCV_MAP };
    sim_map_put(&h->arena, &storage, sim_sym("METADATA"), metadata);
    sim_map_put(&h->arena, &storage, sim_named_vec(h, "AssetInfo", SIM_NONE),
                asset_info(h, contract));
    if (contract->asset)
        sim_map_put(&h->arena, &storage, sim_named_vec(h, "Admin", SIM_NONE),
                    sim_address(asset->issuer));
    return storage;
}

static struct sim_key balance_key(struct sim_host *h, struct sim_addr party)
{
    return sim_key(h, EN(balance), SIM_VALS(sim_address(party)));
}

/* Lowers a balance; refuses if it would fall below zero. */
static void take_balance(struct sim_host *h, struct sim_addr from, sim_amount amount)
{
    if (from.kind == SIM_ACCOUNT) {
        sim_classic_take(h, from, h->self->asset, amount);
        return;
    }
    struct sim_key key = balance_key(h, from);
    sim_val *balance = sim_get(h, key);
    if (!balance) {
        /* A contract without a Balance entry holds 0. */
        sim_require(h, amount == 0, "Ok(Contract(10))");
        return;
    }
    sim_amount held = sim_field_i128(balance, "amount");
    sim_require(h, held >= amount, "Ok(Contract(10))");
    sim_set(balance, "amount", sim_i128(held - amount));
    sim_put(h, key, *balance);
}

/* Raises a balance. A contract's first one creates its Balance entry. */
static void give_balance(struct sim_host *h, struct sim_addr to, sim_amount amount)
{
    if (to.kind == SIM_ACCOUNT) {
        sim_classic_give(h, to, h->self->asset, amount);
        return;
    }
    struct sim_key key = balance_key(h, to);
    sim_val *balance = sim_get(h, key);
    if (balance) {
        sim_bump(h, balance, "amount", amount);
        sim_put(h, key, *balance);
        return;
    }
    sim_put(h, key,
            sim_make(h, SIM_FIELDS({ "amount", sim_i128(amount) }, { "authorized", sim_bool(true) },
                                   { "clawback", sim_bool(false) })));
}

/* args: sender, recipient, amount */
static void transfer(struct sim_host *h, const sim_val *args)
{
    struct sim_addr from = args[0].addr;
    struct sim_addr to = args[1].addr;
    sim_amount amount = args[2].i128;
    sim_require(h, amount >= 0, "Ok(Contract(8))");
    sim_auth(h, from);
    take_balance(h, from, amount);
    give_balance(h, to, amount);
    sim_emit_val(h, EV(transfer), SIM_VALS(args[0], args[1], asset_name(h, h->self)),
                 sim_i128(amount));
}

/* args: recipient, amount. Only the issuer may mint; XLM cannot be minted. */
static void mint(struct sim_host *h, const sim_val *args)
{
    sim_require(h, args[1].i128 >= 0, "Ok(Contract(8))");
    sim_require(h, h->self->asset != 0, "no admin");
    sim_auth(h, h->assets[h->self->asset].issuer);
    give_balance(h, args[0].addr, args[1].i128);
    sim_emit_val(h, EV(mint), SIM_VALS(args[0], asset_name(h, h->self)), args[1]);
}

/* args: holder. A classic balance is read without becoming part of the footprint. */
static sim_val balance(struct sim_host *h, const sim_val *args)
{
    struct sim_addr party = args[0].addr;
    if (party.kind == SIM_ACCOUNT)
        return sim_i128(sim_classic_balance(h, party, h->self->asset));
    const sim_val *held = sim_get(h, balance_key(h, party));
    return sim_i128(held ? sim_field_i128(held, "amount") : 0);
}

static sim_val decimals(struct sim_host *h, const sim_val *args)
{
    (void)h;
    (void)args;
    return sim_u32(7);
}

static const struct sim_fn fns[] = {
    { "transfer", "aai", SIM_FREE, .change = transfer },
    { "mint", "ai", SIM_FREE, .change = mint },
    { "balance", "a", SIM_FREE, .answer = balance },
    { "decimals", "", SIM_FREE, .answer = decimals },
    { 0 },
};

const struct sim_class sim_class_stellar_asset = { TIDE_ROLE_stellar_asset, fns, first_storage };
