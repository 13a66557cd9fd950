/* A deployment: one set of contracts on one network. Read from a JSON file:
 *
 *   { "network": PASSPHRASE, "first_ledger": N, "last_ledger": N (optional),
 *     "contracts": { NAME: "C…", … }, "accounts": { NAME: "G…", … },
 *     "usdc": { "code": "USDC", "issuer": "G…" } }
 *
 * The NAME of a contract is its role (liquidity_pool … dao_governance, usdc, xlm),
 * token_* for synth tokens, asset_* for further Stellar assets (collateral), wallet*
 * for plain contracts that act as users. Unknown names are refused with the name.
 * usdc, xlm and asset_* share the catalogue of `stellar_asset`. Refused as well: unknown
 * keys, keys or contracts given twice, more than TIDE_FILE_CONTRACTS_MAX or TIDE_ACCOUNTS_MAX. */
#ifndef TIDEMARK_DEPLOYMENT_H
#define TIDEMARK_DEPLOYMENT_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

enum tide_role {
    TIDE_ROLE_liquidity_pool,
    TIDE_ROLE_synthetic_engine,
    TIDE_ROLE_stability_pool,
    TIDE_ROLE_compliance_registry,
    TIDE_ROLE_partner_registry,
    TIDE_ROLE_earnings_distributor,
    TIDE_ROLE_oracle,
    TIDE_ROLE_dao_governance,
    TIDE_ROLE_synth_token,
    TIDE_ROLE_stellar_asset,
    TIDE_ROLE_wallet,
    TIDE_ROLE_COUNT
};

#define TIDE_NAME_MAX           64u
#define TIDE_CONTRACTS_MAX      6144u /* the file's, and discovered tokens */
#define TIDE_FILE_CONTRACTS_MAX 1024u
#define TIDE_ACCOUNTS_MAX       4096u

struct tide_contract {
    char name[TIDE_NAME_MAX]; /* key in the file, or token_<address> when discovered */
    char role_name
        [TIDE_NAME_MAX]; /* as exported: liquidity_pool, synth_token, usdc, xlm, wallet … */
    char address[57];    /* C…, NUL-terminated */
    uint8_t id[TIDE_HASH_BYTES];
    enum tide_role role;
    bool discovered; /* a token that the chain names; the file does not */
    bool listed;     /* discovered, and takes one of the places of tokens that catalogs name */
    /* Discovered, and no ledger read so far shows whether it is a Stellar asset's contract or
     * another token's. Such a contract is not followed, whatever role says. */
    bool unsettled;
    /* Discovered: the ledgers that name it, and show what it is, first, as far as they were read;
     * 0: of a contract that the file names. Rows are followed for it from the later one on. */
    uint32_t named_ledger, shown_ledger;
    uint32_t market_ledger; /* discovered: the first one, too, in which a market names it; or 0 */
};

struct tide_account {
    char name[TIDE_NAME_MAX];
    uint8_t key[TIDE_HASH_BYTES]; /* ed25519 */
};

struct tide_deployment {
    uint16_t id; /* small integer of chain.deployment; 0 until the database has told */
    char passphrase[256];
    uint8_t network_id[TIDE_HASH_BYTES];
    uint32_t first_ledger; /* 0: not said */
    uint32_t last_ledger;  /* 0: not said */
    uint32_t contract_count;
    struct tide_contract contracts[TIDE_CONTRACTS_MAX];
    /* Hash table over the ids, by their first two bytes: index + 1, 0 is free. Filled by
     * tide_deployment_add alone. */
    uint16_t slots[2 * TIDE_CONTRACTS_MAX];
    uint32_t account_count;
    struct tide_account accounts[TIDE_ACCOUNTS_MAX];
};

/* Reads and checks the file. *out is malloc'd, owned by the caller (free).
 * TIDE_E_CONFIG names the file and the key; TIDE_E_IO when it cannot be read. */
tide_status tide_deployment_read(struct tide_deployment **out, const char *path,
                                 struct tide_err *err) TIDE_MUST_USE;

/* Adds a contract (a token that the chain has told of, a test's): name, id and role are the
 * caller's; address and, where it is empty, role_name are filled in.
 * TIDE_E_CONFLICT when the id is there, TIDE_E_LIMIT when the table is full. */
tide_status tide_deployment_add(struct tide_deployment *deployment,
                                const struct tide_contract *contract) TIDE_MUST_USE;

/* Notes what an unsettled contract is. It is followed from there on. */
void tide_deployment_settle(struct tide_deployment *deployment, uint32_t index,
                            enum tide_role role);

/* Identity of a deployment on its network: hash of the ids of the protocol's own contracts, sorted.
 * Tokens, assets and wallets come and go within one deployment. */
void tide_deployment_hash(uint8_t out[TIDE_HASH_BYTES], const struct tide_deployment *deployment);

/* The same across networks: hash of the network's id and of that hash. Equal in each epoch of the
 * network, and at each server of one deployment. */
void tide_deployment_protocol(uint8_t out[TIDE_HASH_BYTES], const uint8_t network[TIDE_HASH_BYTES],
                              const uint8_t contracts[TIDE_HASH_BYTES]);

/* "liquidity_pool", "synth_token", "stellar_asset", "wallet" … */
const char *tide_role_name(enum tide_role role);

/* The role whose entries or events are in the table of that name ("oracle_feed");
 * TIDE_ROLE_COUNT: no one role's. */
enum tide_role tide_role_of_table(tide_slice table);

/* True of a role that one contract has: the deployment file names it. */
static inline bool tide_role_is_single(enum tide_role role)
{
    return role < TIDE_ROLE_synth_token;
}

/* The contract with that id, or NULL. O(1) expected. */
const struct tide_contract *tide_deployment_find(const struct tide_deployment *deployment,
                                                 const uint8_t id[TIDE_HASH_BYTES]);

#endif
