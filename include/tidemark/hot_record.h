/* The records of the hot cache: keys and fixed-size values, in one place for the feeder and the
 * readers. The rules (rule.h) compute from these records too, whether they come from the cache or
 * from the history tables.
 *
 * Values   packed structs without alignment, because they are read in place, in the map. They are
 *          little-endian: the cache never leaves its host. An unknown field is zero.
 * Keys     one byte of kind, then the parts named below. A prefix is therefore a range, and keys
 *          are in the order of addresses, symbols or numbers (big-endian).
 * Version  increase TIDE_HOT_FORMAT with every change of this file. A cache of another format is
 *          moved aside and rebuilt.
 * Private  a person's jurisdiction is stored because the rule needs it. No answer and no log
 *          contains it. */
#ifndef TIDEMARK_HOT_RECORD_H
#define TIDEMARK_HOT_RECORD_H

#include "tidemark/clock.h"
#include "tidemark/deployment.h"
#include "tidemark/ledger_value.h"

#define TIDE_HOT_FORMAT 19u

/* X(NAME, RECORD): the kind TIDE_HOT_NAME with the struct tide_hot_RECORD. Beside it the parts of
 * its key, and the content. */
#define TIDE_HOT_KINDS(X)                                                             \
    X(META, meta)             /* -                       what the cache stands for */ \
    X(PERSON, person)         /* address                 compliance               */  \
    X(BLOCKED, blocked)       /* u32 code                blocked jurisdictions    */  \
    X(CHANGED, changed)       /* u32 ledger, address     persons, by last change  */  \
    X(FEED, feed)             /* symbol                  oracle feeds             */  \
    X(POOL, pool)             /* symbol                  pools                    */  \
    X(TICK, tick)             /* symbol, u64 close time  pools in the last day    */  \
    X(TRADE, trade)           /* symbol                  sums of pools' swaps     */  \
    X(MARKET, market)         /* symbol                  markets                  */  \
    X(VAULT, vault)           /* symbol, address         vaults of a market       */  \
    X(HELD, held)             /* symbol, address         collateral by token      */  \
    X(CONTRACT, contract)     /* address                 contracts                */  \
    X(PARTNER, partner)       /* u32 id                  partners                 */  \
    X(CATALOG, catalog)       /* symbol                  assets of partners       */  \
    X(VERIFIER, verifier)     /* address                 who may attest           */  \
    X(PROVIDER, provider)     /* address                 who may submit prices    */  \
    X(COLLATERAL, collateral) /* address                 tokens taken             */  \
    X(WITHDRAWN, withdrawn)   /* kid                     keys of receipts that count no more */

enum tide_hot_kind {
    TIDE_HOT_NONE,
#define TIDE_HOT_ENUM(name, record) TIDE_HOT_##name,
    TIDE_HOT_KINDS(TIDE_HOT_ENUM)
#undef TIDE_HOT_ENUM
        TIDE_HOT_KIND_COUNT
};

#define TIDE_HOT_KEY_MAX       80u
#define TIDE_HOT_KID           43u    /* bytes of a kid: a key's thumbprint as base64url */
#define TIDE_HOT_CODES         1024u  /* jurisdictions with a bit of their own    */
#define TIDE_HOT_WINDOW_S      86400u /* sliding window of trading volumes */
#define TIDE_HOT_WINDOW_KEEP_S 90000u /* age at which ticks are dropped */
#define TIDE_HOT_NEVER         0u     /* expires_at of an attestation without end */
static_assert(TIDE_HOT_WINDOW_KEEP_S > TIDE_HOT_WINDOW_S, "the window's first tick is kept");

static_assert(TIDE_HOT_KID == (4 * TIDE_HASH_BYTES + 2) / 3, "base64url of a SHA-256");
static_assert(TIDE_HOT_CODES % 8 == 0, "blocked codes fill whole bytes");

/* The ledger and deployment of the cache, the settings that every look-up needs, and its age. */
struct TIDE_HOT_PACKED tide_hot_meta {
    uint16_t format;
    uint16_t deployment;
    uint8_t retired;  /* another generation is current: readers must reopen */
    uint8_t complete; /* all contracts of the deployment file are indexed from their creation */
    /* the registry is indexed from its creation; otherwise no address is compliant */
    uint8_t compliance_complete;
    uint8_t engine_paused;
    uint32_t generation;
    uint32_t ledger;       /* everything up to this ledger is here, nothing after it */
    uint32_t first_ledger; /* first ledger of the covered range that ends at `ledger` */
    uint32_t start_from;   /* if incomplete: the ledger to index from; 0: unknown */
    uint64_t close_time;   /* close time of `ledger`, unix seconds: the clock of contracts */
    uint16_t close_ms;     /* milliseconds after it, below 1000 */
    uint64_t moves;        /* chain.cursor.moves at that ledger             */
    /* CHANGED records are complete for changes after this ledger; 0: being built */
    uint32_t changes_from;
    /* ledger of the last change of a blocked jurisdiction after changes_from */
    uint32_t blocked_at;
    /* Age of the contents when the feeder last asked the database (api/sql/age.h). Times of this
     * host are now_ms of tide_clock and count only with this boot id. */
    uint8_t boot[TIDE_BOOT_BYTES];
    int64_t fed_ms;     /* time of this host when the feeder last asked, even without news */
    int64_t changed_ms; /* time of this host when renewed_ms was first seen */
    int64_t renewed_ms; /* unix ms by the primary's clock: the indexer last was current */
    uint64_t aged_ms;   /* ms since that renewal, as far as the feeder could tell */
    /* ms since the ledger closed, by the later of host's and database's clock */
    uint64_t closed_age_ms;
    uint8_t standby;         /* the database was a hot standby                           */
    uint64_t raw_states;     /* versions of entries that are stored raw */
    uint32_t contracts_seen; /* rows of chain.contract_seen               */
    /* complete ranges of chain.contract_coverage; one that was read for its rows counts 8192 more,
     * see feed_head.def */
    uint32_t pasts_read;
    uint32_t withdrawn_keys; /* digest of chain.withdrawn_key (feed_head.def) */
    uint32_t proven;         /* last ledger proven by signatures (chain.checkpoint); 0: none */
    uint32_t forked;         /* ledger of which another hash is signed (chain.fork); 0: none */
    /* The index began with the state of a checkpoint (chain.start), and knows the past from this
     * ledger on, which closed behind this unix second. 0: there is no such limit */
    uint32_t history_from;
    uint64_t history_since;
    uint64_t records;              /* records in the cache, this one included */
    uint8_t hash[TIDE_HASH_BYTES]; /* hash of `ledger` */
    /* hash of the deployment without its epoch: api/sql/deployment_select.h */
    uint8_t protocol[TIDE_HASH_BYTES];
    uint8_t network_id[TIDE_HASH_BYTES];
    char passphrase[128]; /* NUL-terminated */
    uint64_t travel_rule_count;
    uint64_t epoch;                      /* current epoch of the earnings distributor */
    struct tide_hot_amount protocol_fee; /* bps of the swap fee      */
    struct tide_hot_address canonical_verifier;
    struct tide_hot_address dao_wallet; /* as the deployment file names it; kind 0: not named */
    /* MSIGWLT of governance, else its DAO_ADDR; only reported */
    struct tide_hot_address multisig_wallet;
    /* contracts: by role below TIDE_ROLE_synth_token, the contracts of the deployment file, whose
     * state the records are. dao_named: the contracts that governance's storage names, which are
     * only reported. */
    struct tide_hot_address contracts[TIDE_ROLE_COUNT];
    struct tide_hot_address dao_named[TIDE_ROLE_COUNT];
    uint8_t blocked[TIDE_HOT_CODES / 8]; /* bit of each blocked jurisdiction below TIDE_HOT_CODES */
};
static_assert(offsetof(struct tide_hot_meta, format) == 0, "each format has its number first");

/* The entries ComplianceRec, Frozen and Whitelist of one address. */
struct TIDE_HOT_PACKED tide_hot_person {
    uint8_t recorded; /* there is a ComplianceRec; otherwise the fields from status on are zero */
    uint8_t frozen;
    uint8_t whitelisted;
    uint32_t ledger;  /* ledger of the last change of ComplianceRec */
    uint32_t changed; /* ledger of its CHANGED record; 0: it has none */
    uint32_t status;  /* 0 Unknown, 1 Pending, 2 Verified, 3 Suspended, 4 Sanctioned, 5 Expired */
    uint32_t jurisdiction; /* private */
    uint64_t expires_at;   /* 0: never */
    uint64_t updated_at;
    struct tide_hot_address provider;
    struct tide_hot_symbol reason;
};

struct TIDE_HOT_PACKED tide_hot_blocked {
    uint32_t ledger;
};

/* An address whose PERSON record was changed or removed in the key's ledger. */
struct TIDE_HOT_PACKED tide_hot_changed {
    uint8_t none;
};

struct TIDE_HOT_PACKED tide_hot_feed {
    uint32_t ledger;
    uint32_t observations; /* number of observations in the last aggregation */
    uint64_t latest_ts;
    uint64_t twap_ts;
    struct tide_hot_amount latest_price;
    struct tide_hot_amount twap_price;
};

struct TIDE_HOT_PACKED tide_hot_pool {
    uint32_t ledger;
    uint8_t paused;
    struct tide_hot_symbol id;
    struct tide_hot_address token_a;
    struct tide_hot_address token_b;
    struct tide_hot_amount reserve_a;
    struct tide_hot_amount reserve_b;
    struct tide_hot_amount total_shares;
    struct tide_hot_amount fee_tier; /* bps */
    struct tide_hot_amount fee_a_accum;
    struct tide_hot_amount fee_b_accum;
    struct tide_hot_amount cumulative_vol_a;
    struct tide_hot_amount cumulative_vol_b;
};

/* Sums of a pool's swaps. They start at an arbitrary value and go on while the pool has no entry:
 * the trade between two ticks is their difference. */
struct TIDE_HOT_PACKED tide_hot_trade {
    uint64_t swaps;
    struct tide_hot_amount traded_a; /* amount of token A that swaps moved in or out */
    struct tide_hot_amount traded_b;
    /* swap fees in token A; fees paid in B are converted at the price of their own swap */
    struct tide_hot_amount fees_a;
    struct tide_hot_amount fees_b;
};

/* A pool after the last change at one close time. The reserves of a pool without entry are 0. */
struct TIDE_HOT_PACKED tide_hot_tick {
    uint64_t time;
    struct tide_hot_amount reserve_a;
    struct tide_hot_amount reserve_b;
    struct tide_hot_trade trade;
};

struct TIDE_HOT_PACKED tide_hot_market {
    uint32_t ledger;
    uint8_t listed; /* an AssetConfig exists; no debt or vaults without one have been seen */
    uint8_t enabled;
    struct tide_hot_symbol symbol;
    struct tide_hot_address token;
    struct tide_hot_symbol oracle_symbol;
    struct tide_hot_symbol coll_oracle_symbol;
    struct tide_hot_amount min_coll_ratio; /* bps */
    struct tide_hot_amount liq_ratio;
    struct tide_hot_amount liq_penalty;
    struct tide_hot_amount stab_fee_bps;
    struct tide_hot_amount debt_ceiling;
    struct tide_hot_amount debt_total;
    struct tide_hot_amount collateral; /* sum of all vaults */
    uint64_t vaults;                   /* number of vault entries */
    uint64_t indebted;                 /* number of vaults with debt */
};

struct TIDE_HOT_PACKED tide_hot_vault {
    uint32_t ledger;
    struct tide_hot_address collateral_token;
    struct tide_hot_amount collateral;
    struct tide_hot_amount debt;
    uint64_t opened_at;
    uint64_t last_update;
};

/* The vaults of a market with collateral of one token, which may be worth nothing. */
struct TIDE_HOT_PACKED tide_hot_held {
    struct tide_hot_amount collateral; /* sum */
    uint64_t vaults;
};

struct TIDE_HOT_PACKED tide_hot_contract {
    uint8_t role;     /* enum tide_role */
    uint8_t complete; /* indexed from its creation */
    uint8_t watched;  /* the deployment file names it, or its past was read after its discovery */
    uint8_t paused;   /* a synth token is paused */
    uint8_t has_instance;
    uint32_t created;     /* ledger of its creation; 0: unknown */
    uint32_t ledger;      /* ledger of the last change of its instance */
    uint32_t decimals;    /* at most 38 */
    uint8_t has_decimals; /* decimals are known */
    char name[64];        /* key in the deployment file, NUL-terminated */
    char role_name[64];   /* role as in exports: usdc, synth_token … */
    /* issuer of a Stellar asset, as the deployment file or the chain says */
    struct tide_hot_address issuer;
    struct tide_hot_name title;  /* NAME of a token  */
    struct tide_hot_name symbol; /* SYMBOL of a token, or the asset's code */
};

struct TIDE_HOT_PACKED tide_hot_partner {
    uint32_t ledger;
    uint32_t id;
    uint8_t active;
    struct tide_hot_address owner;
    struct tide_hot_name name;
    struct tide_hot_amount revenue_share; /* bps; at 0 and below the distributor takes 5000 */
    struct tide_hot_amount pending_revenue;
    struct tide_hot_amount total_earned;
    struct tide_hot_amount total_volume;
    uint64_t registered_at;
};

struct TIDE_HOT_PACKED tide_hot_catalog {
    uint32_t ledger;
    uint32_t partner_id;
    uint8_t live;
    struct tide_hot_symbol symbol;
    struct tide_hot_address token;
    struct tide_hot_symbol oracle_symbol;
    struct tide_hot_amount debt_ceiling;
    uint64_t deployed_at;
};

struct TIDE_HOT_PACKED tide_hot_verifier {
    uint32_t ledger;
};

struct TIDE_HOT_PACKED tide_hot_provider {
    uint32_t ledger;
};

struct TIDE_HOT_PACKED tide_hot_collateral {
    uint32_t ledger;
};

/* A withdrawn key of receipts. The record holds for every deployment of the database. */
struct TIDE_HOT_PACKED tide_hot_withdrawn {
    uint8_t none;
};

/* Records are stored as they are. Increase TIDE_HOT_FORMAT when a size changes, too. */
static_assert(sizeof(struct tide_hot_meta) == 1364, "format 18");
static_assert(sizeof(struct tide_hot_person) == 100, "format 14");
static_assert(sizeof(struct tide_hot_feed) == 56, "format 14");
static_assert(sizeof(struct tide_hot_pool) == 231, "format 14");
static_assert(sizeof(struct tide_hot_trade) == 72, "format 14");
static_assert(sizeof(struct tide_hot_tick) == 112, "format 14");
static_assert(sizeof(struct tide_hot_market) == 263, "format 14");
static_assert(sizeof(struct tide_hot_vault) == 85, "format 14");
static_assert(sizeof(struct tide_hot_contract) == 375, "format 17");
static_assert(sizeof(struct tide_hot_partner) == 212, "format 14");
static_assert(sizeof(struct tide_hot_catalog) == 130, "format 14");

/* Returns the bytes of a record of that kind; 0 for other values. */
static inline size_t tide_hot_record_size(enum tide_hot_kind kind)
{
    switch (kind) {
#define TIDE_HOT_SIZE(name, record) \
    case TIDE_HOT_##name:           \
        return sizeof(struct tide_hot_##record);
        TIDE_HOT_KINDS(TIDE_HOT_SIZE)
#undef TIDE_HOT_SIZE
    case TIDE_HOT_NONE:
    case TIDE_HOT_KIND_COUNT:
        break;
    }
    return 0;
}

/* --- keys ----------------------------------------------------------------- */

struct tide_hot_key {
    uint8_t len;
    uint8_t bytes[TIDE_HOT_KEY_MAX]; /* the kind first */
};
static_assert(TIDE_HOT_KEY_MAX <= UINT8_MAX, "len holds each length");
static_assert(1 + sizeof(struct tide_hot_symbol) + sizeof(struct tide_hot_address) <=
                  TIDE_HOT_KEY_MAX,
              "the longest key, a vault's, fits");
static_assert(1 + TIDE_HOT_KID <= TIDE_HOT_KEY_MAX, "a kid fits");

static inline struct tide_hot_key tide_hot_key(enum tide_hot_kind kind)
{
    assert(kind > TIDE_HOT_NONE && kind < TIDE_HOT_KIND_COUNT);
    return (struct tide_hot_key){ .len = 1, .bytes = { (uint8_t)kind } };
}

static inline void tide_hot_key_put(struct tide_hot_key *key, const void *bytes, size_t len)
{
    assert(key->len + len <= TIDE_HOT_KEY_MAX);
    memcpy(key->bytes + key->len, bytes, len);
    key->len = (uint8_t)(key->len + len);
}

static inline struct tide_hot_key tide_hot_key_address(enum tide_hot_kind kind,
                                                       const struct tide_hot_address *address)
{
    struct tide_hot_key key = tide_hot_key(kind);
    tide_hot_key_put(&key, address, sizeof *address);
    return key;
}

static inline struct tide_hot_key tide_hot_key_symbol(enum tide_hot_kind kind,
                                                      const struct tide_hot_symbol *symbol)
{
    struct tide_hot_key key = tide_hot_key(kind);
    tide_hot_key_put(&key, symbol, sizeof *symbol);
    return key;
}

static inline struct tide_hot_key tide_hot_key_kid(const char kid[TIDE_HOT_KID])
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_WITHDRAWN);
    tide_hot_key_put(&key, kid, TIDE_HOT_KID);
    return key;
}

static inline struct tide_hot_key tide_hot_key_u32(enum tide_hot_kind kind, uint32_t v)
{
    struct tide_hot_key key = tide_hot_key(kind);
    uint32_t big = __builtin_bswap32(v);
    tide_hot_key_put(&key, &big, sizeof big);
    return key;
}

static inline struct tide_hot_key tide_hot_key_changed(uint32_t ledger,
                                                       const struct tide_hot_address *address)
{
    struct tide_hot_key key = tide_hot_key_u32(TIDE_HOT_CHANGED, ledger);
    tide_hot_key_put(&key, address, sizeof *address);
    return key;
}

static inline struct tide_hot_key tide_hot_key_tick(const struct tide_hot_symbol *pool,
                                                    uint64_t time)
{
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_TICK, pool);
    uint64_t big = __builtin_bswap64(time);
    tide_hot_key_put(&key, &big, sizeof big);
    return key;
}

static inline struct tide_hot_key tide_hot_key_vault(const struct tide_hot_symbol *market,
                                                     const struct tide_hot_address *owner)
{
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_VAULT, market);
    tide_hot_key_put(&key, owner, sizeof *owner);
    return key;
}

static inline struct tide_hot_key tide_hot_key_held(const struct tide_hot_symbol *market,
                                                    const struct tide_hot_address *token)
{
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_HELD, market);
    tide_hot_key_put(&key, token, sizeof *token);
    return key;
}

#endif
