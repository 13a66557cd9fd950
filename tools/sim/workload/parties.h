/* Accounts and contracts of a simulated chain with their names, keys and ids. All of them follow
 * from the seed and the passphrase. */
#ifndef SIM_PARTIES_H
#define SIM_PARTIES_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/limits.h"
#include "tidemark/status.h"
#include "tools/sim/ledger/keys.h"

/* A party: accounts count up from 0, contracts down from -1. */
typedef int32_t party_ref;

/* Contracts by place. Tokens follow in the order of party_markets, then the wallets. */
enum party_contract_place {
    PARTY_POOL,
    PARTY_ENGINE,
    PARTY_STABILITY,
    PARTY_COMPLIANCE,
    PARTY_PARTNERS,
    PARTY_EARNINGS,
    PARTY_ORACLE,
    PARTY_DAO,
    PARTY_USDC,
    PARTY_XLM,
    PARTY_TOKEN,
};

enum {
    PARTY_MARKETS = 4,
    PARTY_WALLETS = 4,
    PARTY_CONTRACTS = PARTY_TOKEN + PARTY_MARKETS + PARTY_WALLETS
};

/* Accounts by place; the users follow. */
enum party_account_place {
    PARTY_ADMIN,
    PARTY_DAOWALLET,
    PARTY_DEPLOYER,
    PARTY_ISSUER,
    PARTY_TREASURY,
    PARTY_DEVFUND,
    PARTY_OUTSIDER,
    PARTY_VERIFIER,
    PARTY_GOV = PARTY_VERIFIER + 4,
    PARTY_FEED = PARTY_GOV + 7,
    PARTY_PARTNER = PARTY_FEED + 5,
    PARTY_SIGNER = PARTY_PARTNER + 5,
    PARTY_USER = PARTY_SIGNER + 4,
};

enum {
    PARTY_VERIFIERS = 4,
    PARTY_GOVS = 7,
    PARTY_FEEDS = 5,
    PARTY_PARTNERS_MAX = 5,
    PARTY_SIGNERS = 4,
    PARTY_USERS_MAX = 100000
};

struct party_market {
    const char *symbol; /* of the synth            */
    const char *title;
    const char *feed; /* oracle symbol           */
};
extern const struct party_market party_markets[PARTY_MARKETS];

struct party {
    char name[32];
    uint8_t id[TIDE_HASH_BYTES]; /* ed25519 key or contract id */
};

struct parties {
    char passphrase[256];
    uint8_t network_id[TIDE_HASH_BYTES];
    uint32_t user_count;
    uint32_t account_count;
    struct party *accounts; /* owned: parties_close */
    struct party contracts[PARTY_CONTRACTS];
    /* The key that signs for a contract: for wallets their owner's, as their code would check. Contracts of
     * the protocol have no signer; some calls of the workload name one all the same (strict_auth). */
    uint8_t signers[PARTY_CONTRACTS][TIDE_HASH_BYTES];
    struct keys keys; /* of all of them */
};

/* user_count 1 to PARTY_USERS_MAX. TIDE_E_MEMORY. */
tide_status parties_open(struct parties *parties, const char *passphrase, uint64_t seed,
                         uint32_t user_count) TIDE_MUST_USE;
void parties_close(struct parties *parties);

/* The secret seed of a named account: it follows from public values, and is
 * good for simulated networks alone. */
void parties_seed(uint8_t out[TIDE_SEED_BYTES], uint64_t seed, const char *name);
/* Adds that key to the ones that sign here, and tells its public half. TIDE_E_MEMORY. */
tide_status parties_key(struct parties *parties, uint8_t out[TIDE_HASH_BYTES], uint64_t seed,
                        const char *name) TIDE_MUST_USE;
/* The account that a wallet belongs to. */
uint32_t parties_owner(const struct parties *parties, uint32_t wallet);

static inline party_ref parties_contract(uint32_t place)
{
    return -1 - (party_ref)place;
}

static inline const struct party *parties_get(const struct parties *parties, party_ref party)
{
    return party >= 0 ? &parties->accounts[party] : &parties->contracts[-1 - party];
}

/* SCAddress XDR, and the same as ScVal. */
void parties_put_address(struct tide_buf *buf, const struct parties *parties, party_ref party);
/* G… or C…, 56 bytes. */
void parties_put_strkey(struct tide_buf *buf, const struct parties *parties, party_ref party);

/* The salt of a contract's id. SACs (usdc, xlm) have none: their ids follow from the asset. */
void parties_salt(uint8_t out[TIDE_HASH_BYTES], uint64_t seed, uint32_t place);

/* deployment.json. Users beyond TIDE_ACCOUNTS_MAX have no name there. */
void parties_deployment(struct tide_buf *json, const struct parties *parties, uint32_t first_ledger,
                        uint32_t last_ledger);

#endif
