#include "tools/sim/workload/parties.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"
#include "tools/sim/ledger/lcm.h"

/* clang-format off */
const struct cast_market cast_markets[CAST_MARKETS] = {
    { "sGOLD", "Synthetic Gold",                  "GOLD" },
    { "sTSLA", "Synthetic Tesla",                 "TSLA" },
    { "sBTC",  "Synthetic Bitcoin",               "BTC"  },
    { "PSOIL", "Partner Oil \xe2\x82\xac\xf0\x9f\x9b\xa2 \"crude\"", "OIL" },
};

static const char *const contract_names[CAST_TOKEN] = {
    "liquidity_pool", "synthetic_engine", "stability_pool", "compliance_registry",
    "partner_registry", "earnings_distributor", "oracle", "dao_governance", "usdc", "xlm",
};

static const char *const single_names[CAST_VERIFIER + CAST_VERIFIERS] = {
    "admin", "daowallet", "deployer", "issuer", "treasury", "devfund", "outsider",
    "sumsub", "persona", "veriff", "didit",
};
/* clang-format on */

void cast_seed(uint8_t out[TIDE_SEED_BYTES], uint64_t seed, const char *name)
{
    char text[96];
    int len = snprintf(text, sizeof text, "tidemark simulated account %" PRIu64 " %s", seed, name);
    tide_sha256(out, tide_slice_of(text, (size_t)len));
}

tide_status cast_key(struct cast *cast, uint8_t out[TIDE_HASH_BYTES], uint64_t seed,
                     const char *name)
{
    uint8_t secret[TIDE_SEED_BYTES];
    cast_seed(secret, seed, name);
    return keys_add(&cast->keys, secret, out);
}

uint32_t cast_owner(const struct cast *cast, uint32_t wallet)
{
    return CAST_USER + wallet % cast->user_count;
}

void cast_salt(uint8_t out[TIDE_HASH_BYTES], uint64_t seed, uint32_t place)
{
    char text[96];
    int len =
        snprintf(text, sizeof text, "tidemark simulated contract %" PRIu64 " %u", seed, place);
    tide_sha256(out, tide_slice_of(text, (size_t)len));
}

static void name_account(char out[32], uint32_t i)
{
    static const struct {
        uint32_t first;
        const char *name;
    } groups[] = { { CAST_USER, "user" },
                   { CAST_SIGNER, "signer" },
                   { CAST_PARTNER, "partner" },
                   { CAST_FEED, "feed" },
                   { CAST_GOV, "gov" } };
    for (size_t g = 0; g < TIDE_COUNT(groups); g++) {
        if (i >= groups[g].first) {
            snprintf(out, 32, "%s%u", groups[g].name, i - groups[g].first);
            return;
        }
    }
    snprintf(out, 32, "%s", single_names[i]);
}

static void name_contract(char out[32], uint32_t i)
{
    if (i < CAST_TOKEN)
        snprintf(out, 32, "%s", contract_names[i]);
    else if (i < CAST_TOKEN + CAST_MARKETS)
        snprintf(out, 32, "token_%s", cast_markets[i - CAST_TOKEN].symbol);
    else
        snprintf(out, 32, "wallet%u", i - CAST_TOKEN - CAST_MARKETS);
}

/* SHA-256 of HashIDPreimage: type 8, network, and what the id is made from. */
static void hash_contract_id(uint8_t out[TIDE_HASH_BYTES], const struct cast *cast,
                             const struct tide_buf *preimage)
{
    static const uint8_t type[4] = { 0, 0, 0, 8 };
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(type, sizeof type));
    tide_sha256_update(&h, tide_slice_of(cast->network_id, TIDE_HASH_BYTES));
    tide_sha256_update(&h, tide_buf_view(preimage));
    tide_sha256_final(&h, out);
}

static void place_contract(struct cast *cast, uint64_t seed, uint32_t place)
{
    struct tide_buf preimage;
    tide_buf_init(&preimage, 256);
    if (place == CAST_USDC || place == CAST_XLM) {
        tide_buf_be32(&preimage, 1); /* from an asset */
        if (place == CAST_XLM)
            tide_buf_be32(&preimage, 0);
        else
            lcm_put_asset4(&preimage, "USDC", cast->accounts[CAST_ISSUER].id);
    } else {
        uint8_t salt[TIDE_HASH_BYTES];
        cast_salt(salt, seed, place);
        tide_buf_be32(&preimage, 0); /* from an address */
        lcm_put_address_account(&preimage, cast->accounts[CAST_DEPLOYER].id);
        tide_buf_put(&preimage, salt, sizeof salt);
    }
    name_contract(cast->contracts[place].name, place);
    hash_contract_id(cast->contracts[place].id, cast, &preimage);
    tide_buf_release(&preimage);
}

static tide_status find_signer(struct cast *cast, uint64_t seed, uint32_t place)
{
    uint8_t *signer = cast->signers[place];
    if (place < CAST_TOKEN + CAST_MARKETS)
        return cast_key(cast, signer, seed, cast->contracts[place].name);
    uint32_t owner = cast_owner(cast, place - CAST_TOKEN - CAST_MARKETS);
    memcpy(signer, cast->accounts[owner].id, TIDE_HASH_BYTES);
    return TIDE_OK;
}

tide_status cast_open(struct cast *cast, const char *passphrase, uint64_t seed, uint32_t user_count)
{
    *cast = (struct cast){ .user_count = user_count, .account_count = CAST_USER + user_count };
    snprintf(cast->passphrase, sizeof cast->passphrase, "%s", passphrase);
    tide_network_id(cast->network_id, tide_slice_str(cast->passphrase));
    cast->accounts = calloc(cast->account_count, sizeof *cast->accounts);
    if (!cast->accounts)
        return TIDE_E_MEMORY;
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; status == TIDE_OK && i < cast->account_count; i++) {
        name_account(cast->accounts[i].name, i);
        status = cast_key(cast, cast->accounts[i].id, seed, cast->accounts[i].name);
    }
    for (uint32_t i = 0; status == TIDE_OK && i < CAST_CONTRACTS; i++) {
        place_contract(cast, seed, i);
        status = find_signer(cast, seed, i);
    }
    return status;
}

void cast_close(struct cast *cast)
{
    free(cast->accounts);
    cast->accounts = NULL;
    keys_close(&cast->keys);
}

void cast_put_address(struct tide_buf *buf, const struct cast *cast, cast_ref who)
{
    const uint8_t *id = cast_party(cast, who)->id;
    if (who >= 0)
        lcm_put_address_account(buf, id);
    else
        lcm_put_address_contract(buf, id);
}

void cast_put_strkey(struct tide_buf *buf, const struct cast *cast, cast_ref who)
{
    char text[TIDE_STRKEY_TEXT_MAX];
    enum tide_strkey kind = who >= 0 ? TIDE_STRKEY_ACCOUNT : TIDE_STRKEY_CONTRACT;
    tide_slice id = { cast_party(cast, who)->id, TIDE_HASH_BYTES };
    tide_buf_put(buf, text, tide_strkey_encode(text, kind, id));
}

static void put_named(struct tide_buf *json, const struct cast *cast, cast_ref who, bool last)
{
    tide_buf_putf(json, "  \"%s\": \"", cast_party(cast, who)->name);
    cast_put_strkey(json, cast, who);
    tide_buf_putf(json, last ? "\"\n" : "\",\n");
}

void cast_deployment(struct tide_buf *json, const struct cast *cast, uint32_t first_ledger,
                     uint32_t last_ledger)
{
    uint32_t named =
        cast->account_count < TIDE_ACCOUNTS_MAX ? cast->account_count : TIDE_ACCOUNTS_MAX;
    tide_buf_putf(json, "{\n \"network\": ");
    tide_buf_json_string(json, tide_slice_str(cast->passphrase));
    tide_buf_putf(json, ",\n \"first_ledger\": %u,\n", first_ledger);
    if (last_ledger)
        tide_buf_putf(json, " \"last_ledger\": %u,\n", last_ledger);
    tide_buf_putf(json, " \"contracts\": {\n");
    for (uint32_t i = 0; i < CAST_CONTRACTS; i++)
        put_named(json, cast, cast_contract(i), i + 1 == CAST_CONTRACTS);
    tide_buf_putf(json, " },\n \"accounts\": {\n");
    for (uint32_t i = 0; i < named; i++)
        put_named(json, cast, (cast_ref)i, i + 1 == named);
    tide_buf_putf(json, " },\n \"usdc\": {\n  \"code\": \"USDC\",\n  \"issuer\": \"");
    cast_put_strkey(json, cast, CAST_ISSUER);
    tide_buf_putf(json, "\"\n }\n}\n");
}
