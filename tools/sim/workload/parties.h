/* Who takes part in a simulated chain: accounts and contracts with their names, keys and ids,
 * all of them following from the seed and the passphrase. */
#ifndef SIM_CAST_H
#define SIM_CAST_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/limits.h"
#include "tidemark/status.h"
#include "tools/sim/ledger/keys.h"

/* A party: accounts count up from 0, contracts down from -1. */
typedef int32_t cast_ref;

/* Contracts by place. Tokens follow in the order of cast_markets, then the wallets. */
enum cast_contract_place {
    CAST_POOL,
    CAST_ENGINE,
    CAST_STABILITY,
    CAST_COMPLIANCE,
    CAST_PARTNERS,
    CAST_EARNINGS,
    CAST_ORACLE,
    CAST_DAO,
    CAST_USDC,
    CAST_XLM,
    CAST_TOKEN,
};

enum {
    CAST_MARKETS = 4,
    CAST_WALLETS = 4,
    CAST_CONTRACTS = CAST_TOKEN + CAST_MARKETS + CAST_WALLETS
};

/* Accounts by place; the users follow. */
enum cast_account_place {
    CAST_ADMIN,
    CAST_DAOWALLET,
    CAST_DEPLOYER,
    CAST_ISSUER,
    CAST_TREASURY,
    CAST_DEVFUND,
    CAST_OUTSIDER,
    CAST_VERIFIER,
    CAST_GOV = CAST_VERIFIER + 4,
    CAST_FEED = CAST_GOV + 7,
    CAST_PARTNER = CAST_FEED + 5,
    CAST_SIGNER = CAST_PARTNER + 5,
    CAST_USER = CAST_SIGNER + 4,
};

enum { CAST_VERIFIERS = 4, CAST_GOVS = 7, CAST_FEEDS = 5, CAST_PARTNERS_MAX = 5, CAST_SIGNERS = 4 };

struct cast_market {
    const char *symbol; /* of the synth            */
    const char *title;
    const char *feed; /* oracle symbol           */
};
extern const struct cast_market cast_markets[CAST_MARKETS];

struct cast_party {
    char name[32];
    uint8_t id[TIDE_HASH_BYTES]; /* ed25519 key or contract id */
};

struct cast {
    char passphrase[256];
    uint8_t network_id[TIDE_HASH_BYTES];
    uint32_t user_count;
    uint32_t account_count;
    struct cast_party *accounts; /* owned: cast_close */
    struct cast_party contracts[CAST_CONTRACTS];
    /* Who signs for a contract: for wallets their owner, as their code would check. Contracts of
     * the protocol have no signer; some calls of the story name one all the same (strict_auth). */
    uint8_t signers[CAST_CONTRACTS][TIDE_HASH_BYTES];
    struct keys keys; /* of all of them */
};

/* user_count 1 to 100 000. TIDE_E_MEMORY. */
tide_status cast_open(struct cast *cast, const char *passphrase, uint64_t seed,
                      uint32_t user_count) TIDE_MUST_USE;
void cast_close(struct cast *cast);

/* The secret seed of a named account: it follows from two things that anybody may know, and is
 * good for simulated networks alone. */
void cast_seed(uint8_t out[TIDE_SEED_BYTES], uint64_t seed, const char *name);
/* Adds that key to the ones that sign here, and tells its public half. TIDE_E_MEMORY. */
tide_status cast_key(struct cast *cast, uint8_t out[TIDE_HASH_BYTES], uint64_t seed,
                     const char *name) TIDE_MUST_USE;
/* The account that a wallet belongs to. */
uint32_t cast_owner(const struct cast *cast, uint32_t wallet);

static inline cast_ref cast_contract(uint32_t place)
{
    return -1 - (cast_ref)place;
}

static inline const struct cast_party *cast_party(const struct cast *cast, cast_ref who)
{
    return who >= 0 ? &cast->accounts[who] : &cast->contracts[-1 - who];
}

/* SCAddress XDR, and the same as ScVal. */
void cast_put_address(struct tide_buf *buf, const struct cast *cast, cast_ref who);
/* G… or C…, 56 bytes. */
void cast_put_strkey(struct tide_buf *buf, const struct cast *cast, cast_ref who);

/* The salt of a contract's id. SACs (usdc, xlm) have none: their ids follow from the asset. */
void cast_salt(uint8_t out[TIDE_HASH_BYTES], uint64_t seed, uint32_t place);

/* deployment.json. Users beyond TIDE_ACCOUNTS_MAX have no name there. */
void cast_deployment(struct tide_buf *json, const struct cast *cast, uint32_t first_ledger,
                     uint32_t last_ledger);

#endif
