/* A deployment: one set of contracts on one network. Read from a JSON file:
 *
 *   { "network": PASSPHRASE, "first_ledger": N, "last_ledger": N (optional),
 *     "contracts": { NAME: "C…", … }, "accounts": { NAME: "G…", … },
 *     "usdc": { "code": "USDC", "issuer": "G…" },
 *     "validators": { "threshold": N, "validators": ["G…"], "innerSets": [] } (optional) }
 *
 * The NAME of a contract is its role (liquidity_pool … dao_governance, usdc, xlm),
 * token_* for synth tokens, asset_* for further Stellar assets (collateral), wallet*
 * for plain contracts that act as users. Unknown names are refused with the name.
 * validators is a quorum set (tidemark/quorum.h).
 * usdc, xlm and asset_* share the catalogue of `stellar_asset`. Refused as well: unknown
 * keys, keys or contracts given twice, more than TIDE_FILE_CONTRACTS_MAX or TIDE_ACCOUNTS_MAX. */
#ifndef TIDEMARK_DEPLOYMENT_H
#define TIDEMARK_DEPLOYMENT_H

#include "tidemark/quorum.h"
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
#define TIDE_CONTRACTS_MAX      6144u /* contracts of the file and discovered tokens */
#define TIDE_FILE_CONTRACTS_MAX 1024u
#define TIDE_ACCOUNTS_MAX       4096u
static_assert(TIDE_FILE_CONTRACTS_MAX < TIDE_CONTRACTS_MAX, "places are left for found tokens");
static_assert(TIDE_CONTRACTS_MAX < UINT16_MAX, "slots hold an index + 1 of each contract");
static_assert(TIDE_ROLE_COUNT <= 32, "roles are bits of a word");

struct tide_contract {
    char name[TIDE_NAME_MAX]; /* key in the file; token_<address> if discovered */
    char role_name
        [TIDE_NAME_MAX]; /* as exported: liquidity_pool, synth_token, usdc, xlm, wallet … */
    char address[57];    /* C…, NUL-terminated */
    uint8_t id[TIDE_HASH_BYTES];
    enum tide_role role;
    bool discovered; /* a discovered token: the chain names it, the deployment file does not */
    bool listed;     /* discovered, and takes one of the places for tokens that catalogs name */
    /* Discovered, but no ledger read so far shows whether it is a Stellar asset's contract or
     * another token's. The decoder ignores such a contract, whatever role says. */
    bool unsettled;
    /* Discovered: the first ledger read so far that names the contract, and the first that shows
     * its kind. Rows are decoded from the later one on. 0: the deployment file names the
     * contract. */
    uint32_t named_ledger, shown_ledger;
    uint32_t market_ledger; /* discovered: the first ledger in which a market names it; 0: none */
};

struct tide_account {
    char name[TIDE_NAME_MAX];
    uint8_t key[TIDE_HASH_BYTES]; /* ed25519 */
};

struct tide_deployment {
    uint16_t id; /* small integer of chain.deployment; 0 until it is read from the database */
    char passphrase[256];
    uint8_t network_id[TIDE_HASH_BYTES];
    uint32_t first_ledger; /* 0: the file names none */
    uint32_t last_ledger;  /* 0: the file names none */
    uint32_t contract_count;
    struct tide_contract contracts[TIDE_CONTRACTS_MAX];
    /* Hash table of the ids, by their first two bytes: index + 1, 0 is free. Only
     * tide_deployment_add fills it. */
    uint16_t slots[2 * TIDE_CONTRACTS_MAX];
    uint32_t account_count;
    struct tide_account accounts[TIDE_ACCOUNTS_MAX];
    struct tide_quorum quorum; /* without validators if the file names none */
};

/* Reads and checks the file. The caller frees *out with free(). TIDE_E_CONFIG names the file and
 * the key. TIDE_E_IO if the file cannot be read. */
tide_status tide_deployment_read(struct tide_deployment **out, const char *path,
                                 struct tide_err *err) TIDE_MUST_USE;

/* Adds a contract: a discovered token, or one of a test. The caller sets name, id and role. The
 * function fills in address, and role_name if it is empty. TIDE_E_CONFLICT if the id exists,
 * TIDE_E_LIMIT if the table is full. */
tide_status tide_deployment_add(struct tide_deployment *deployment,
                                const struct tide_contract *contract) TIDE_MUST_USE;

/* Sets the role of an unsettled contract. The decoder follows the contract from here on. */
void tide_deployment_settle(struct tide_deployment *deployment, uint32_t index,
                            enum tide_role role);

/* Computes the identity of a deployment on its network: the hash of the sorted ids of the
 * protocol's own contracts. Tokens, assets and wallets do not count, because they change within a
 * deployment. */
void tide_deployment_hash(uint8_t out[TIDE_HASH_BYTES], const struct tide_deployment *deployment);

/* Computes the identity across networks: the hash of the network's id and of tide_deployment_hash.
 * The identity is the same in each epoch of the network and on each server of one deployment. */
void tide_deployment_protocol(uint8_t out[TIDE_HASH_BYTES], const uint8_t network[TIDE_HASH_BYTES],
                              const uint8_t contracts[TIDE_HASH_BYTES]);

/* "liquidity_pool", "synth_token", "stellar_asset", "wallet" … */
const char *tide_role_name(enum tide_role role);

/* Returns the role of that name; TIDE_ROLE_COUNT if there is none. */
enum tide_role tide_role_named(tide_slice name);

/* Returns the role of a contract by the word that the tables and the deployment file have for it:
 * an asset's is its own name (usdc, xlm, asset_*). */
enum tide_role tide_role_of_contract(const char *word);

/* Returns the role whose entries or events are in the table of that name ("oracle_feed");
 * TIDE_ROLE_COUNT if the table belongs to no single role. */
enum tide_role tide_role_of_table(tide_slice table);

/* Returns whether exactly one contract, which the deployment file names, has that role. */
static inline bool tide_role_is_single(enum tide_role role)
{
    return role < TIDE_ROLE_synth_token;
}

/* Returns the contract with that id, or NULL. O(1) expected. */
const struct tide_contract *tide_deployment_find(const struct tide_deployment *deployment,
                                                 const uint8_t id[TIDE_HASH_BYTES]);

#endif
