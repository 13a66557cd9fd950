/* Accounts and contracts of a simulated chain with their names, keys and ids. All of them follow
 * from the seed and the passphrase. */
#ifndef SIM_PARTIES_H
#define SIM_PARTIES_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/status.h"
#include "tools/sim/ledger/keys.h"

/* A party: accounts count up from 0, contracts down from -1. */
typedef int32_t party_ref;

/* Contracts by place. The tokens follow in the order of party_markets, then the wallet
 * contracts. */
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

/* Accounts by place. A group with several accounts begins at its name; the users come last. */
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

static_assert(PARTY_CONTRACTS <= INT8_MAX, "contracts count down from -1");

/* Sizes of the groups of accounts. */
enum {
    PARTY_VERIFIERS = 4,
    PARTY_GOVS = 7,
    PARTY_FEEDS = 5,
    PARTY_PARTNERS_MAX = 5,
    PARTY_SIGNERS = 4,
    PARTY_USERS_MAX = 100000
};
static_assert(PARTY_VERIFIER + PARTY_VERIFIERS == PARTY_GOV, "a group ends where the next begins");
static_assert(PARTY_GOV + PARTY_GOVS == PARTY_FEED, "a group ends where the next begins");
static_assert(PARTY_FEED + PARTY_FEEDS == PARTY_PARTNER, "a group ends where the next begins");
static_assert(PARTY_PARTNER + PARTY_PARTNERS_MAX == PARTY_SIGNER,
              "a group ends where the next begins");
static_assert(PARTY_SIGNER + PARTY_SIGNERS == PARTY_USER, "a group ends where the next begins");

/* A synthetic asset and its oracle feed. */
struct party_market {
    const char *symbol; /* symbol of the synthetic asset */
    const char *title;  /* name of its token */
    const char *feed;   /* symbol in the oracle */
};
extern const struct party_market party_markets[PARTY_MARKETS];

/* An account or a contract. */
struct party {
    char name[32];
    uint8_t id[TIDE_HASH_BYTES]; /* ed25519 key or contract id */
};

/* All parties of a chain. */
struct parties {
    char passphrase[256];
    uint8_t network_id[TIDE_HASH_BYTES];
    uint32_t user_count;
    uint32_t account_count;
    struct party *accounts; /* users are the last user_count of them; owned */
    struct party contracts[PARTY_CONTRACTS];
    /* The key that signs for a contract. A wallet contract has its owner's, as its code would
     * check. Protocol contracts cannot sign on the network; a key stands here because some calls of
     * the workload sign for one all the same (see strict_auth). */
    uint8_t signers[PARTY_CONTRACTS][TIDE_HASH_BYTES];
    struct keys keys;      /* key pairs of all accounts and signers */
    tide_slice validators; /* quorum set of deployment.json; empty: none. Borrowed */
};

/* Makes all parties; user_count is 1 to PARTY_USERS_MAX. Returns TIDE_E_MEMORY. The caller calls
 * parties_close after a failure too. */
tide_status parties_open(struct parties *parties, const char *passphrase, uint64_t seed,
                         uint32_t user_count) TIDE_MUST_USE;
void parties_close(struct parties *parties);

/* Computes the secret seed of a named account from public values. It is worthless on any real
 * network. */
void parties_seed(uint8_t out[TIDE_SEED_BYTES], uint64_t seed, const char *name);
/* Adds the named account's key to the keys that can sign, and returns its public half. Returns
 * TIDE_E_MEMORY. */
tide_status parties_key(struct parties *parties, uint8_t out[TIDE_HASH_BYTES], uint64_t seed,
                        const char *name) TIDE_MUST_USE;
/* Returns the place of the account that owns wallet contract number `wallet`. */
uint32_t parties_owner(const struct parties *parties, uint32_t wallet);

/* Returns the reference of the contract at that place. */
static inline party_ref parties_contract(uint32_t place)
{
    assert(place < PARTY_CONTRACTS);
    return -1 - (party_ref)place;
}

/* Returns the party that a reference names. */
static inline const struct party *parties_get(const struct parties *parties, party_ref party)
{
    assert(party >= 0 ? (uint32_t)party < parties->account_count : -1 - party < PARTY_CONTRACTS);
    return party >= 0 ? &parties->accounts[party] : &parties->contracts[-1 - party];
}

/* Appends the party's SCAddress. */
void parties_put_address(struct tide_buf *buf, const struct parties *parties, party_ref party);
/* Appends the party's strkey: G… or C…, 56 bytes. */
void parties_put_strkey(struct tide_buf *buf, const struct parties *parties, party_ref party);

/* Computes the salt of a contract's id. Stellar asset contracts (usdc, xlm) have none: their ids
 * follow from the asset. */
void parties_salt(uint8_t out[TIDE_HASH_BYTES], uint64_t seed, uint32_t place);

/* Appends deployment.json; last_ledger 0 leaves it out. Users beyond TIDE_ACCOUNTS_MAX are not
 * named there. */
void parties_deployment(struct tide_buf *json, const struct parties *parties, uint32_t first_ledger,
                        uint32_t last_ledger);

#endif
