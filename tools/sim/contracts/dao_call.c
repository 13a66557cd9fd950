/* Call data of a proposal: the number of an action in four bytes, then the action's arguments in a
 * packed little-endian form. */
#include "tools/sim/contracts/dao_call.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

#define EN(id) SIM_ENTRY(dao_governance, id)

#define SYMBOL_MAX 32u /* bytes */
#define TEXT_MAX   80u

/* The rest of the call data. Reading past its end refuses. */
struct payload {
    struct sim_host *h;
    tide_slice left;
};

/* Returns the next n bytes, borrowed. */
static tide_slice take_bytes(struct payload *p, size_t n)
{
    sim_require(p->h, p->left.len >= n, "payload too short");
    tide_slice out = { p->left.ptr, n };
    p->left.ptr += n;
    p->left.len -= n;
    return out;
}

static uint64_t take_number(struct payload *p, size_t bytes)
{
    tide_slice raw = take_bytes(p, bytes);
    uint64_t value = 0;
    for (size_t i = bytes; i-- > 0;)
        value = value << 8 | raw.ptr[i];
    return value;
}

static uint32_t take_u32(struct payload *p)
{
    return (uint32_t)take_number(p, 4);
}

/* The low half comes first. */
static sim_val take_i128(struct payload *p)
{
    uint64_t lo = take_number(p, 8);
    uint64_t hi = take_number(p, 8);
    return sim_i128(tide_i128_from_parts((int64_t)hi, lo).raw);
}

/* A character that a Symbol cannot have refuses, as the network's host would. */
static sim_val take_symbol(struct payload *p)
{
    uint64_t len = take_number(p, 1);
    sim_require(p->h, len <= SYMBOL_MAX, "symbol payload too long");
    tide_slice text = take_bytes(p, len);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        bool fine =
            (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        sim_require(p->h, fine, "symbol payload has a bad character");
    }
    return sim_symbol(text);
}

/* An address travels as a strkey, with its length in one byte. */
static sim_val take_address(struct payload *p)
{
    enum tide_strkey kind;
    uint8_t key[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    bool read = tide_strkey_decode(&kind, key, &len, take_bytes(p, take_number(p, 1))) == TIDE_OK &&
                (kind == TIDE_STRKEY_ACCOUNT || kind == TIDE_STRKEY_CONTRACT);
    sim_require(p->h, read, "address payload is not a strkey");
    sim_val out = { .type = TIDE_SCV_ADDRESS };
    out.addr.kind = kind == TIDE_STRKEY_ACCOUNT ? SIM_ACCOUNT : SIM_CONTRACT;
    memcpy(out.addr.key, key, TIDE_HASH_BYTES);
    return out;
}

/* A name: one byte of length, then UTF-8. */
static sim_val take_name(struct payload *p)
{
    uint64_t len = take_number(p, 1);
    sim_require(p->h, len <= TEXT_MAX, "name payload too long");
    tide_slice name = take_bytes(p, len);
    sim_require(p->h, tide_utf8_valid(name), "name payload is not UTF-8");
    return sim_string(name);
}

/* Returns the next argument. type: a letter of sim_types_fit. */
static sim_val take_arg(struct payload *p, char type)
{
    switch (type) {
    case 'a':
        return take_address(p);
    case 'b':
        return sim_bool(take_number(p, 1) != 0);
    case 'i':
        return take_i128(p);
    case 's':
        return take_name(p);
    case 'u':
        return sim_u32(take_u32(p));
    default:
        return take_symbol(p);
    }
}

/* --- wallets ------------------------------------------------------------------------ */

struct sim_key dao_wallet_key(struct sim_host *h, uint32_t wallet)
{
    return sim_key(h, EN(multi_sig_wallet), SIM_VALS(sim_u32(wallet)));
}

const sim_val *dao_wallet(struct sim_host *h, uint32_t wallet, bool any)
{
    const sim_val *stored = sim_get(h, dao_wallet_key(h, wallet));
    sim_require(h, stored, "wallet not found");
    sim_require(h, any || sim_field_bool(stored, "active"), "wallet is not active");
    return stored;
}

bool dao_wallet_lists(const sim_val *wallet, struct sim_addr party, uint32_t *at)
{
    const sim_val *signers = sim_field(wallet, "signers");
    for (uint32_t i = 0; i < signers->len; i++) {
        if (sim_addr_eq(signers->vec[i].addr, party)) {
            *at = i;
            return true;
        }
    }
    return false;
}

static struct sim_key signer_key(struct sim_host *h, const sim_val *wallet, uint32_t index)
{
    return sim_key(h, EN(multi_sig_signer), SIM_VALS(*sim_field(wallet, "id"), sim_u32(index)));
}

static void put_wallet(struct sim_host *h, const sim_val *wallet)
{
    sim_put(h, dao_wallet_key(h, sim_field_u32(wallet, "id")), *wallet);
}

/* Signers stand in the wallet and, one by one, in entries of their own. */
void dao_signer_add(struct sim_host *h, const sim_val *wallet, sim_val party)
{
    sim_val *signers = sim_field(wallet, "signers");
    uint32_t index = signers->len;
    sim_vec_push(&h->arena, signers, party);
    put_wallet(h, wallet);
    sim_put(h, signer_key(h, wallet, index), party);
}

/* The signers behind the removed one move up by one index. The last index loses its entry. */
void dao_signer_remove(struct sim_host *h, const sim_val *wallet, struct sim_addr party)
{
    sim_val *signers = sim_field(wallet, "signers");
    sim_require(h, signers->len > sim_field_u32(wallet, "threshold"),
                "signers would fall below threshold");
    uint32_t at;
    sim_require(h, dao_wallet_lists(wallet, party, &at), "signer not found in wallet");
    signers->len--;
    memmove(&signers->vec[at], &signers->vec[at + 1], (signers->len - at) * sizeof(sim_val));
    put_wallet(h, wallet);
    for (uint32_t i = 0; i < signers->len; i++)
        sim_put(h, signer_key(h, wallet, i), signers->vec[i]);
    sim_remove(h, signer_key(h, wallet, signers->len));
}

/* --- actions -------------------------------------------------------------------------- */

/* Action 0: registers a synthetic asset and allows its collateral. */
static void deploy_asset(struct payload *p, sim_val caller)
{
    /* The collateral stands behind the oracle's symbol; register_asset does not take it. */
    enum { COLLATERAL = 4 };
    static const char types[] = "yayayiiiii";
    sim_val args[sizeof types] = { caller }, collateral;
    uint32_t count = 1;
    for (const char *type = types; *type; type++) {
        if (type == types + COLLATERAL - 1)
            collateral = take_arg(p, *type);
        else
            args[count++] = take_arg(p, *type);
    }
    struct sim_addr engine = sim_slot_addr(p->h, "CDP");
    sim_call(p->h, engine, "register_asset", args, count);
    sim_call(p->h, engine, "set_collateral_allowed", SIM_VALS(caller, collateral, sim_bool(true)));
}

/* Action 4. Data that is too short is ignored, as published; the second parameter is optional. */
static void adjust_ratios(struct payload *p, sim_val caller)
{
    (void)caller;
    if (p->left.len < 16)
        return;
    sim_put(p->h, sim_key(p->h, EN(param_cr), SIM_NONE), take_i128(p));
    if (p->left.len >= 16)
        sim_put(p->h, sim_key(p->h, EN(param_liq_penalty), SIM_NONE), take_i128(p));
}

/* Returns true if a wallet number and a whole address are left. Actions 6 and 7 do nothing
 * otherwise, as published. */
static bool holds_signer(const struct payload *p)
{
    return p->left.len >= 5 && p->left.len >= (size_t)5 + p->left.ptr[4];
}

/* Action 6: adds a signer to a multisig wallet. */
static void add_signer(struct payload *p, sim_val caller)
{
    (void)caller;
    if (!holds_signer(p))
        return;
    uint32_t id = take_u32(p);
    sim_val party = take_address(p);
    const sim_val *wallet = dao_wallet(p->h, id, false);
    uint32_t at;
    sim_require(p->h, sim_field(wallet, "signers")->len < DAO_SIGNERS_MAX, "too many signers");
    sim_require(p->h, !dao_wallet_lists(wallet, party.addr, &at), "already a signer");
    dao_signer_add(p->h, wallet, party);
}

/* Action 7. */
static void remove_signer(struct payload *p, sim_val caller)
{
    (void)caller;
    if (!holds_signer(p))
        return;
    uint32_t id = take_u32(p);
    sim_val party = take_address(p);
    dao_signer_remove(p->h, dao_wallet(p->h, id, false), party.addr);
}

/* Action 16: replaces the code of a contract, or of this one. */
static void upgrade_contract(struct payload *p, sim_val caller)
{
    (void)caller;
    sim_val target = take_address(p);
    tide_slice hash = take_bytes(p, TIDE_HASH_BYTES);
    if (sim_addr_eq(target.addr, sim_self(p->h)))
        sim_upgrade(p->h, hash);
    else
        sim_call(p->h, target.addr, "upgrade",
                 SIM_VALS(sim_address(sim_self(p->h)), sim_bytes(hash)));
}

/* Sets a parameter from data in the old form: the parameter's number in the first byte of the
 * whole, then its value. */
static void apply_legacy(struct sim_host *h, tide_slice data)
{
    static const enum tide_entry_id params[] = {
        TIDE_EN_dao_governance_param_cr,
        TIDE_EN_dao_governance_param_borrow_fee,
        TIDE_EN_dao_governance_param_liq_penalty,
    };
    if (data.len < 17 || data.ptr[0] >= TIDE_COUNT(params))
        return;
    struct payload p = { h, { data.ptr + 1, data.len - 1 } };
    sim_put(h, sim_key(h, tide_entries()[params[data.ptr[0]]].name, SIM_NONE), take_i128(&p));
}

/* An action: code of its own, or one call of a function of the contract in the slot. */
struct action {
    void (*run)(struct payload *p, sim_val caller);
    const char *slot;
    const char *function;
    const char *types; /* types of the arguments, as take_arg takes them */
    bool as_caller;    /* the proposal's caller is the first argument; else this contract */
    size_t least;      /* fewer bytes of data do nothing, as published */
};

/* The index is the number of the action; the order is the published one. */
static const struct action actions[] = {
    { .run = deploy_asset },
    { .slot = "PARTNER", .function = "deactivate_partner", .types = "u" },
    { .types = NULL }, /* upgrade_tier, which the published contract has removed */
    { .slot = "PARTNER", .function = "set_partner_share", .types = "ui" },
    { .run = adjust_ratios },
    { .slot = "LP", .function = "create_pool", .types = "yaai", .as_caller = true },
    { .run = add_signer },
    { .run = remove_signer },
    { .slot = "ORACLE", .function = "add_provider", .types = "a" },
    { .slot = "ORACLE", .function = "remove_provider", .types = "a" },
    { .slot = "ORACLE", .function = "set_min_providers", .types = "u", .least = 4 },
    { .slot = "COMPLY", .function = "add_verifier", .types = "a", .as_caller = true },
    { .slot = "COMPLY", .function = "remove_verifier", .types = "a", .as_caller = true },
    { .slot = "CDP", .function = "set_collateral_allowed", .types = "ab", .as_caller = true },
    { .slot = "PARTNER", .function = "dao_register_partner", .types = "as" },
    { .slot = "PARTNER", .function = "activate_partner_asset", .types = "y" },
    { .run = upgrade_contract },
};

/* Makes the one call of an action. */
static void call_function(struct payload *p, const struct action *action, sim_val caller)
{
    enum { ARGS_MAX = 4 };
    sim_val args[1 + ARGS_MAX] = { action->as_caller ? caller : sim_address(sim_self(p->h)) };
    uint32_t count = 1;
    if (p->left.len < action->least)
        return;
    for (const char *type = action->types; *type; type++) {
        assert(count <= ARGS_MAX);
        args[count++] = take_arg(p, *type);
    }
    sim_call(p->h, sim_slot_addr(p->h, action->slot), action->function, args, count);
}

void dao_apply(struct sim_host *h, tide_slice data, sim_val caller)
{
    if (data.len < 4)
        return;
    struct payload p = { h, data };
    uint32_t number = take_u32(&p);
    const struct action *action = &actions[number % TIDE_COUNT(actions)];
    if (number >= TIDE_COUNT(actions)) {
        apply_legacy(h, data);
    } else if (action->run) {
        action->run(&p, caller);
    } else {
        sim_require(h, action->slot, "upgrade_tier removed — all partners have the same rights");
        call_function(&p, action, caller);
    }
}
