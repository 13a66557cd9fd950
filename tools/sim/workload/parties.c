/* Names, keys and ids of the simulated accounts and contracts. */
#include "tools/sim/workload/parties.h"
#include "tidemark/deployment.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"
#include "tools/sim/ledger/lcm.h"

/* The last title has characters that JSON and CSV must escape. */
/* clang-format off */
const struct party_market party_markets[PARTY_MARKETS] = {
    { "sGOLD", "Synthetic Gold",                  "GOLD" },
    { "sTSLA", "Synthetic Tesla",                 "TSLA" },
    { "sBTC",  "Synthetic Bitcoin",               "BTC"  },
    { "PSOIL", "Partner Oil \xe2\x82\xac\xf0\x9f\x9b\xa2 \"crude\"", "OIL" },
};

/* Names of the contracts in front of the tokens, in the order of their places. */
static const char *const contract_names[PARTY_TOKEN] = {
    "liquidity_pool", "synthetic_engine", "stability_pool", "compliance_registry",
    "partner_registry", "earnings_distributor", "oracle", "dao_governance", "usdc", "xlm",
};

/* Names of the accounts that are not numbered, in the order of their places. */
static const char *const single_names[PARTY_VERIFIER + PARTY_VERIFIERS] = {
    "admin", "daowallet", "deployer", "issuer", "treasury", "devfund", "outsider",
    "sumsub", "persona", "veriff", "didit",
};
/* clang-format on */

void parties_seed(uint8_t out[TIDE_SEED_BYTES], uint64_t seed, const char *name)
{
    char text[96];
    struct tide_sha256 sha;
    int len = snprintf(text, sizeof text, "tidemark simulated account %" PRIu64 " ", seed);
    assert(len > 0 && (size_t)len < sizeof text);
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, tide_slice_of(text, (size_t)len));
    tide_sha256_update(&sha, tide_slice_str(name)); /* a name of any length: an argument */
    tide_sha256_final(&sha, out);
}

tide_status parties_key(struct parties *parties, uint8_t out[TIDE_HASH_BYTES], uint64_t seed,
                        const char *name)
{
    uint8_t secret[TIDE_SEED_BYTES];
    parties_seed(secret, seed, name);
    return keys_add(&parties->keys, secret, out);
}

uint32_t parties_owner(const struct parties *parties, uint32_t wallet)
{
    assert(wallet < PARTY_WALLETS && parties->user_count > 0);
    return PARTY_USER + wallet % parties->user_count;
}

void parties_salt(uint8_t out[TIDE_HASH_BYTES], uint64_t seed, uint32_t place)
{
    char text[96];
    int len =
        snprintf(text, sizeof text, "tidemark simulated contract %" PRIu64 " %u", seed, place);
    assert(len > 0 && (size_t)len < sizeof text);
    tide_sha256(out, tide_slice_of(text, (size_t)len));
}

/* Names the account at place i. The groups stand from the last place to the first. */
static void name_account(char out[32], uint32_t i)
{
    static const struct {
        uint32_t first;
        const char *name;
    } groups[] = { { PARTY_USER, "user" },
                   { PARTY_SIGNER, "signer" },
                   { PARTY_PARTNER, "partner" },
                   { PARTY_FEED, "feed" },
                   { PARTY_GOV, "gov" } };
    for (size_t g = 0; g < TIDE_COUNT(groups); g++) {
        if (i >= groups[g].first) {
            snprintf(out, 32, "%s%u", groups[g].name, i - groups[g].first);
            return;
        }
    }
    assert(i < TIDE_COUNT(single_names));
    snprintf(out, 32, "%s", single_names[i]);
}

static void name_contract(char out[32], uint32_t i)
{
    if (i < PARTY_TOKEN)
        snprintf(out, 32, "%s", contract_names[i]);
    else if (i < PARTY_TOKEN + PARTY_MARKETS)
        snprintf(out, 32, "token_%s", party_markets[i - PARTY_TOKEN].symbol);
    else
        snprintf(out, 32, "wallet%u", i - PARTY_TOKEN - PARTY_MARKETS);
}

/* Hashes a HashIDPreimage: envelope type 8 (contract id), network id, and the source of the id. */
static void hash_contract_id(uint8_t out[TIDE_HASH_BYTES], const struct parties *parties,
                             const struct tide_buf *preimage)
{
    static const uint8_t type[4] = { 0, 0, 0, 8 };
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(type, sizeof type));
    tide_sha256_update(&h, tide_slice_of(parties->network_id, TIDE_HASH_BYTES));
    tide_sha256_update(&h, tide_buf_view(preimage));
    tide_sha256_final(&h, out);
}

/* Names a contract and computes its id, from the asset or from deployer and salt. */
static void make_contract(struct parties *parties, uint64_t seed, uint32_t place)
{
    struct tide_buf preimage;
    tide_buf_init(&preimage, 256);
    if (place == PARTY_USDC || place == PARTY_XLM) {
        tide_buf_be32(&preimage, 1); /* from an asset */
        if (place == PARTY_XLM)
            tide_buf_be32(&preimage, 0); /* native */
        else
            lcm_put_asset4(&preimage, "USDC", parties->accounts[PARTY_ISSUER].id);
    } else {
        uint8_t salt[TIDE_HASH_BYTES];
        parties_salt(salt, seed, place);
        tide_buf_be32(&preimage, 0); /* from an address */
        lcm_put_address_account(&preimage, parties->accounts[PARTY_DEPLOYER].id);
        tide_buf_put(&preimage, salt, sizeof salt);
    }
    name_contract(parties->contracts[place].name, place);
    hash_contract_id(parties->contracts[place].id, parties, &preimage);
    tide_buf_release(&preimage);
}

/* Sets the key that signs for a contract: an own one, or the owner's for a wallet. */
static tide_status set_signer(struct parties *parties, uint64_t seed, uint32_t place)
{
    uint8_t *signer = parties->signers[place];
    if (place < PARTY_TOKEN + PARTY_MARKETS)
        return parties_key(parties, signer, seed, parties->contracts[place].name);
    uint32_t owner = parties_owner(parties, place - PARTY_TOKEN - PARTY_MARKETS);
    memcpy(signer, parties->accounts[owner].id, TIDE_HASH_BYTES);
    return TIDE_OK;
}

tide_status parties_open(struct parties *parties, const char *passphrase, uint64_t seed,
                         uint32_t user_count)
{
    assert(user_count > 0 && user_count <= PARTY_USERS_MAX);
    *parties =
        (struct parties){ .user_count = user_count, .account_count = PARTY_USER + user_count };
    snprintf(parties->passphrase, sizeof parties->passphrase, "%s", passphrase);
    tide_network_id(parties->network_id, tide_slice_str(parties->passphrase));
    parties->accounts = calloc(parties->account_count, sizeof *parties->accounts);
    if (!parties->accounts)
        return TIDE_E_MEMORY;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; status == TIDE_OK && i < parties->account_count; i++) {
        name_account(parties->accounts[i].name, i);
        status = parties_key(parties, parties->accounts[i].id, seed, parties->accounts[i].name);
    }
    for (uint32_t i = 0; status == TIDE_OK && i < PARTY_CONTRACTS; i++) {
        make_contract(parties, seed, i);
        status = set_signer(parties, seed, i);
    }
    return status;
}

void parties_close(struct parties *parties)
{
    free(parties->accounts);
    parties->accounts = NULL;
    keys_close(&parties->keys);
}

void parties_put_address(struct tide_buf *buf, const struct parties *parties, party_ref party)
{
    const uint8_t *id = parties_get(parties, party)->id;
    if (party >= 0)
        lcm_put_address_account(buf, id);
    else
        lcm_put_address_contract(buf, id);
}

void parties_put_strkey(struct tide_buf *buf, const struct parties *parties, party_ref party)
{
    char text[TIDE_STRKEY_TEXT_MAX];
    enum tide_strkey kind = party >= 0 ? TIDE_STRKEY_ACCOUNT : TIDE_STRKEY_CONTRACT;
    tide_slice id = { parties_get(parties, party)->id, TIDE_HASH_BYTES };
    tide_buf_put(buf, text, tide_strkey_encode(text, kind, id));
}

/* Writes a member of the JSON object: a name and its strkey. */
static void put_named(struct tide_buf *json, const struct parties *parties, party_ref party,
                      bool last)
{
    tide_buf_putf(json, "  \"%s\": \"", parties_get(parties, party)->name);
    parties_put_strkey(json, parties, party);
    tide_buf_putf(json, last ? "\"\n" : "\",\n");
}

void parties_deployment(struct tide_buf *json, const struct parties *parties, uint32_t first_ledger,
                        uint32_t last_ledger)
{
    uint32_t named =
        parties->account_count < TIDE_ACCOUNTS_MAX ? parties->account_count : TIDE_ACCOUNTS_MAX;
    tide_buf_putf(json, "{\n \"network\": ");
    tide_buf_json_string(json, tide_slice_str(parties->passphrase));
    tide_buf_putf(json, ",\n \"first_ledger\": %u,\n", first_ledger);
    if (last_ledger)
        tide_buf_putf(json, " \"last_ledger\": %u,\n", last_ledger);
    tide_buf_putf(json, " \"contracts\": {\n");
    for (uint32_t i = 0; i < PARTY_CONTRACTS; i++)
        put_named(json, parties, parties_contract(i), i + 1 == PARTY_CONTRACTS);
    tide_buf_putf(json, " },\n \"accounts\": {\n");
    for (uint32_t i = 0; i < named; i++)
        put_named(json, parties, (party_ref)i, i + 1 == named);
    tide_buf_putf(json, " },\n \"usdc\": {\n  \"code\": \"USDC\",\n  \"issuer\": \"");
    parties_put_strkey(json, parties, PARTY_ISSUER);
    tide_buf_putf(json, "\"\n }");
    if (parties->validators.len)
        tide_buf_putf(json, ",\n \"validators\": %.*s", TIDE_SLICE_FMT(parties->validators));
    tide_buf_str(json, "\n}\n");
}
