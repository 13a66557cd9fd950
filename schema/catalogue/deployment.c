#include "tidemark/deployment.h"
#include "schema/catalogue/quorum_read.h"
#include "tidemark/hash.h"
#include "tidemark/strkey.h"

#include "tidemark/json_read.h"
#include <errno.h>

enum { FILE_BYTES_MAX = 1 << 20, SLOTS = 2 * TIDE_CONTRACTS_MAX };

static const char *const role_names[TIDE_ROLE_COUNT] = {
    [TIDE_ROLE_liquidity_pool] = "liquidity_pool",
    [TIDE_ROLE_synthetic_engine] = "synthetic_engine",
    [TIDE_ROLE_stability_pool] = "stability_pool",
    [TIDE_ROLE_compliance_registry] = "compliance_registry",
    [TIDE_ROLE_partner_registry] = "partner_registry",
    [TIDE_ROLE_earnings_distributor] = "earnings_distributor",
    [TIDE_ROLE_oracle] = "oracle",
    [TIDE_ROLE_dao_governance] = "dao_governance",
    [TIDE_ROLE_synth_token] = "synth_token",
    [TIDE_ROLE_stellar_asset] = "stellar_asset",
    [TIDE_ROLE_wallet] = "wallet",
};

const char *tide_role_name(enum tide_role role)
{
    assert(role < TIDE_ROLE_COUNT);
    return role_names[role];
}

enum tide_role tide_role_named(tide_slice name)
{
    int role = 0;
    while (role < TIDE_ROLE_COUNT && !tide_slice_eq_str(name, role_names[role]))
        role++;
    return (enum tide_role)role;
}

enum tide_role tide_role_of_contract(const char *word)
{
    enum tide_role role = tide_role_named(tide_slice_str(word));
    return role < TIDE_ROLE_COUNT ? role : TIDE_ROLE_stellar_asset;
}

enum tide_role tide_role_of_table(tide_slice table)
{
    for (int role = 0; role <= TIDE_ROLE_stellar_asset; role++) {
        size_t len = strlen(role_names[role]);
        if (table.len > len + 1 && memcmp(table.ptr, role_names[role], len) == 0 &&
            table.ptr[len] == '_')
            return (enum tide_role)role;
    }
    return TIDE_ROLE_COUNT;
}

/* Contract ids are hashes, so their first two bytes serve as the hash of the table. */
static uint32_t slot_of(const uint8_t id[TIDE_HASH_BYTES])
{
    return ((uint32_t)id[0] << 8 | id[1]) % SLOTS;
}

const struct tide_contract *tide_deployment_find(const struct tide_deployment *deployment,
                                                 const uint8_t id[TIDE_HASH_BYTES])
{
    for (uint32_t slot = slot_of(id); deployment->slots[slot]; slot = (slot + 1) % SLOTS) {
        const struct tide_contract *c = &deployment->contracts[deployment->slots[slot] - 1];
        if (memcmp(c->id, id, TIDE_HASH_BYTES) == 0)
            return c;
    }
    return NULL;
}

tide_status tide_deployment_add(struct tide_deployment *deployment,
                                const struct tide_contract *contract)
{
    if (tide_deployment_find(deployment, contract->id))
        return TIDE_E_CONFLICT;
    if (deployment->contract_count == TIDE_CONTRACTS_MAX)
        return TIDE_E_LIMIT;
    struct tide_contract *c = &deployment->contracts[deployment->contract_count];
    *c = *contract;
    if (!*c->role_name)
        snprintf(c->role_name, sizeof c->role_name, "%s", tide_role_name(c->role));
    char text[TIDE_STRKEY_TEXT_MAX];
    size_t len = tide_strkey_encode(text, TIDE_STRKEY_CONTRACT, tide_slice_of(c->id, sizeof c->id));
    assert(len == sizeof c->address - 1);
    memcpy(c->address, text, len);
    c->address[len] = '\0';
    uint32_t slot = slot_of(c->id);
    while (deployment->slots[slot])
        slot = (slot + 1) % SLOTS;
    deployment->slots[slot] = (uint16_t)++deployment->contract_count;
    return TIDE_OK;
}

void tide_deployment_settle(struct tide_deployment *deployment, uint32_t index, enum tide_role role)
{
    assert(index < deployment->contract_count);
    struct tide_contract *contract = &deployment->contracts[index];
    assert(contract->discovered && contract->unsettled);
    assert(role == TIDE_ROLE_synth_token || role == TIDE_ROLE_stellar_asset);
    contract->role = role;
    contract->unsettled = false;
    snprintf(contract->role_name, sizeof contract->role_name, "%s", tide_role_name(role));
}

/* --- the file ---------------------------------------------------------------------------- */

/* Sets role and role_name for a key under "contracts". Returns false for an unknown key. */
static bool role_of(const char *name, struct tide_contract *out)
{
    out->role = tide_role_named(tide_slice_str(name));
    if (out->role <= TIDE_ROLE_dao_governance)
        return true;
    bool usdc_or_xlm = strcmp(name, "usdc") == 0 || strcmp(name, "xlm") == 0;
    if (strncmp(name, "token_", 6) == 0 && name[6])
        out->role = TIDE_ROLE_synth_token;
    else if (usdc_or_xlm || (strncmp(name, "asset_", 6) == 0 && name[6]))
        out->role = TIDE_ROLE_stellar_asset;
    else if (strncmp(name, "wallet", 6) == 0)
        out->role = TIDE_ROLE_wallet;
    else
        return false;
    if (usdc_or_xlm)
        snprintf(out->role_name, sizeof out->role_name, "%s", name);
    return true;
}

static tide_status read_address(uint8_t key[TIDE_HASH_BYTES], enum tide_strkey want,
                                const json_t *value, const char *name, struct tide_err *err)
{
    const char *text = json_string_value(value);
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len = 0;
    if (!text ||
        tide_strkey_decode(&kind, payload, &len, tide_slice_of(text, json_string_length(value))) ||
        kind != want || len != TIDE_HASH_BYTES)
        return tide_fail(err, TIDE_E_CONFIG, "%s: expected %s address", name,
                         want == TIDE_STRKEY_CONTRACT ? "a contract's C…" : "an account's G…");
    memcpy(key, payload, TIDE_HASH_BYTES);
    return TIDE_OK;
}

static tide_status read_contract(struct tide_deployment *d, const char *name, const json_t *value,
                                 struct tide_err *err)
{
    struct tide_contract c = { 0 };
    if (strlen(name) >= sizeof c.name || !role_of(name, &c))
        return tide_fail(err, TIDE_E_CONFIG,
                         "contracts.%.80s: unknown name; expected a role (liquidity_pool …), usdc, "
                         "xlm, token_*, asset_* or wallet*",
                         name);
    if (d->contract_count == TIDE_FILE_CONTRACTS_MAX)
        return tide_fail(err, TIDE_E_CONFIG, "contracts: more than %u", TIDE_FILE_CONTRACTS_MAX);
    snprintf(c.name, sizeof c.name, "%s", name);
    tide_status status = read_address(c.id, TIDE_STRKEY_CONTRACT, value, name, err);
    if (status)
        return tide_fail_context(err, "contracts");
    status = tide_deployment_add(d, &c);
    if (status == TIDE_E_CONFLICT)
        return tide_fail(err, TIDE_E_CONFIG, "contracts.%s: the same contract as %s", name,
                         tide_deployment_find(d, c.id)->name);
    assert(status == TIDE_OK && "the table holds more than a file may name");
    return TIDE_OK;
}

static tide_status read_contracts(struct tide_deployment *d, json_t *object, struct tide_err *err)
{
    const char *name;
    json_t *value;
    if (!json_is_object(object) || json_object_size(object) == 0)
        return tide_fail(err, TIDE_E_CONFIG, "contracts: expected names with addresses");
    json_object_foreach(object, name, value)
    {
        tide_status status = read_contract(d, name, value, err);
        if (status)
            return status;
    }
    return TIDE_OK;
}

static tide_status read_accounts(struct tide_deployment *d, json_t *object, struct tide_err *err)
{
    const char *name;
    json_t *value;
    if (object && !json_is_object(object))
        return tide_fail(err, TIDE_E_CONFIG, "accounts: expected names with addresses");
    json_object_foreach(object, name, value)
    {
        if (d->account_count == TIDE_ACCOUNTS_MAX)
            return tide_fail(err, TIDE_E_CONFIG, "accounts: more than %u", TIDE_ACCOUNTS_MAX);
        struct tide_account *a = &d->accounts[d->account_count++];
        if (strlen(name) >= sizeof a->name)
            return tide_fail(err, TIDE_E_CONFIG, "accounts.%.80s: name too long", name);
        snprintf(a->name, sizeof a->name, "%s", name);
        if (read_address(a->key, TIDE_STRKEY_ACCOUNT, value, name, err))
            return tide_fail_context(err, "accounts");
    }
    return TIDE_OK;
}

static tide_status read_ledger(uint32_t *out, const json_t *root, const char *key,
                               struct tide_err *err)
{
    const json_t *value = json_object_get(root, key);
    if (!value)
        return TIDE_OK;
    json_int_t v = json_integer_value(value);
    if (!json_is_integer(value) || v < 1 || v > UINT32_MAX)
        return tide_fail(err, TIDE_E_CONFIG, "%s: expected 1..4294967295", key);
    *out = (uint32_t)v;
    return TIDE_OK;
}

/* Checks the form of the asset behind contracts.usdc. The values are not stored: the contract id
 * follows from them. */
static tide_status check_usdc(const json_t *usdc, struct tide_err *err)
{
    if (!usdc)
        return TIDE_OK;
    uint8_t issuer[TIDE_HASH_BYTES];
    size_t code = json_string_length(json_object_get(usdc, "code"));
    if (code < 1 || code > 12)
        return tide_fail(err, TIDE_E_CONFIG, "usdc.code: expected 1..12 letters");
    return read_address(issuer, TIDE_STRKEY_ACCOUNT, json_object_get(usdc, "issuer"), "usdc.issuer",
                        err);
}

static tide_status check_keys(json_t *root, struct tide_err *err)
{
    static const char *const known[] = { "network",  "first_ledger", "last_ledger", "contracts",
                                         "accounts", "usdc",         "validators" };
    const char *name;
    json_t *value;
    if (!json_is_object(root))
        return tide_fail(err, TIDE_E_CONFIG, "expected a JSON object");
    json_object_foreach(root, name, value)
    {
        size_t i = 0;
        while (i < TIDE_COUNT(known) && strcmp(known[i], name) != 0)
            i++;
        if (i == TIDE_COUNT(known))
            return tide_fail(err, TIDE_E_CONFIG, "unknown key %.80s", name);
    }
    return TIDE_OK;
}

static tide_status read_root(struct tide_deployment *d, json_t *root, struct tide_err *err)
{
    tide_status status = check_keys(root, err);
    if (status)
        return status;
    assert(d);
    const json_t *network = json_object_get(root, "network");
    size_t len = json_string_length(network);
    if (len == 0 || len >= sizeof d->passphrase)
        return tide_fail(err, TIDE_E_CONFIG, "network: expected a passphrase of 1..%zu bytes",
                         sizeof d->passphrase - 1);
    memcpy(d->passphrase, json_string_value(network), len);
    tide_network_id(d->network_id, tide_slice_of(d->passphrase, len));
    status = read_ledger(&d->first_ledger, root, "first_ledger", err);
    if (!status)
        status = read_ledger(&d->last_ledger, root, "last_ledger", err);
    if (!status && d->last_ledger && d->last_ledger < d->first_ledger)
        status = tide_fail(err, TIDE_E_CONFIG, "last_ledger %u is before first_ledger %u",
                           d->last_ledger, d->first_ledger);
    if (!status)
        status = read_contracts(d, json_object_get(root, "contracts"), err);
    if (!status)
        status = read_accounts(d, json_object_get(root, "accounts"), err);
    const json_t *validators = json_object_get(root, "validators");
    if (!status && validators)
        status = tide_quorum_read(&d->quorum, validators, err);
    return status ? status : check_usdc(json_object_get(root, "usdc"), err);
}

static tide_status read_text(char **text, size_t *len, const char *path, struct tide_err *err)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return tide_fail(err, TIDE_E_CONFIG, "deployment=%s: %s", path, strerror(errno));
    *text = malloc(FILE_BYTES_MAX + 1);
    *len = *text ? fread(*text, 1, FILE_BYTES_MAX + 1, file) : 0;
    bool failed = ferror(file);
    fclose(file);
    if (!*text)
        return tide_fail(err, TIDE_E_MEMORY, "%s: out of memory", path);
    if (failed)
        return tide_fail(err, TIDE_E_IO, "%s: cannot be read", path);
    if (*len > FILE_BYTES_MAX)
        return tide_fail(err, TIDE_E_CONFIG, "%s: larger than %d bytes", path, FILE_BYTES_MAX);
    return TIDE_OK;
}

tide_status tide_deployment_read(struct tide_deployment **out, const char *path,
                                 struct tide_err *err)
{
    char *text = NULL;
    size_t len = 0;
    json_error_t where;
    json_t *root = NULL;
    struct tide_deployment *d = NULL;
    tide_status status = read_text(&text, &len, path, err);
    if (!status &&
        !(root = tide_json_load(tide_slice_of(text, len), JSON_REJECT_DUPLICATES, &where)))
        status = tide_fail(err, TIDE_E_CONFIG, "%s:%d: %s", path, where.line, where.text);
    if (!status && !(d = calloc(1, sizeof *d)))
        status = tide_fail(err, TIDE_E_MEMORY, "%s: out of memory", path);
    if (!status && (status = read_root(d, root, err)))
        tide_fail_context(err, "%s", path);
    json_decref(root);
    free(text);
    if (status)
        free(d);
    else
        *out = d;
    return status;
}

/* --- identity ---------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, TIDE_HASH_BYTES);
}

static bool is_core(enum tide_role role)
{
    return role < TIDE_ROLE_synth_token;
}

void tide_deployment_hash(uint8_t out[TIDE_HASH_BYTES], const struct tide_deployment *deployment)
{
    const struct tide_deployment *d = deployment;
    uint8_t ids[TIDE_CONTRACTS_MAX][TIDE_HASH_BYTES];
    size_t count = 0;
    assert(d->contract_count <= TIDE_CONTRACTS_MAX);
    for (uint32_t i = 0; i < d->contract_count; i++)
        if (is_core(d->contracts[i].role))
            memcpy(ids[count++], d->contracts[i].id, TIDE_HASH_BYTES);
    for (uint32_t i = 0; count == 0 && i < d->contract_count; i++)
        memcpy(ids[i], d->contracts[i].id, TIDE_HASH_BYTES);
    if (count == 0)
        count = d->contract_count;
    qsort(ids, count, TIDE_HASH_BYTES, by_bytes);
    tide_sha256(out, tide_slice_of(ids, count * TIDE_HASH_BYTES));
}

void tide_deployment_protocol(uint8_t out[TIDE_HASH_BYTES], const uint8_t network[TIDE_HASH_BYTES],
                              const uint8_t contracts[TIDE_HASH_BYTES])
{
    struct tide_sha256 sha;
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, tide_slice_of(network, TIDE_HASH_BYTES));
    tide_sha256_update(&sha, tide_slice_of(contracts, TIDE_HASH_BYTES));
    tide_sha256_final(&sha, out);
}
