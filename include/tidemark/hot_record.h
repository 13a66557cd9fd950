/* The records of the hot cache: keys and fixed-size values, in one place for the feeder and the
 * readers. The rules (rule.h) compute from records too, wherever these were read.
 *
 * Values   packed structs without alignment: they are read in place, in the map. Little-endian;
 *          the cache never leaves its host. A field that is not ours to know is zero.
 * Keys     one byte of kind, then the parts below, so that a prefix is a range and the order of
 *          keys is the order of addresses, symbols, numbers (big-endian).
 * Version  TIDE_HOT_FORMAT counts every change of this file; a cache of another format is
 *          moved aside and rebuilt.
 * Private  a person's jurisdiction is here because the rule needs it: it leaves the process in
 *          no answer and no log. */
#ifndef TIDEMARK_HOT_RECORD_H
#define TIDEMARK_HOT_RECORD_H

#include "tidemark/clock.h"
#include "tidemark/deployment.h"
#include "tidemark/ledger_value.h"

#define TIDE_HOT_FORMAT 13u

/* Name of the record, its struct tide_hot_<name>. */
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
#define TIDE_HOT_KID           43u    /* bytes of a key's name, base64url         */
#define TIDE_HOT_CODES         1024u  /* jurisdictions with a bit of their own    */
#define TIDE_HOT_WINDOW_S      86400u /* sliding window of trade                  */
#define TIDE_HOT_WINDOW_KEEP_S 90000u /* ticks are kept that long                 */
#define TIDE_HOT_NEVER         0u     /* expires_at of an attestation without end */

/* The ledger and deployment of the cache, the settings that every look-up needs, and its age. */
struct TIDE_HOT_PACKED tide_hot_meta {
    uint16_t format;
    uint16_t deployment;
    uint8_t retired;             /* another generation took over: reopen          */
    uint8_t complete;            /* contracts that the file names are known from their creation */
    uint8_t compliance_complete; /* the compliance registry is: without it no answer is "yes" */
    uint8_t engine_paused;
    uint32_t generation;
    uint32_t ledger;       /* everything up to this ledger is here, nothing after it */
    uint32_t first_ledger; /* first of the contiguous range                */
    uint32_t start_from;   /* incomplete: the ledger to index from, 0: unknown */
    uint64_t close_time;   /* of that ledger, unix seconds                  */
    uint64_t moves;        /* chain.cursor.moves at that ledger             */
    uint32_t changes_from; /* what changed after this ledger has a CHANGED record; 0: being built */
    uint32_t blocked_at;   /* ledger of the last change of blocked jurisdictions since then      */
    /* How old all of it was when the feeder last asked the database (api/sql/age.h). Times of this
     * host are tide_clock's now_ms under this boot id. */
    uint8_t boot[TIDE_BOOT_BYTES];
    int64_t fed_ms;          /* of this host: when the feeder asked, even without news  */
    int64_t changed_ms;      /* of this host: when renewed_ms was first seen             */
    int64_t renewed_ms;      /* unix, of the primary: the indexer last renewed its lease */
    uint64_t aged_ms;        /* since that renewal, as far as the feeder could tell      */
    uint64_t closed_age_ms;  /* since the ledger closed, by the later of two clocks      */
    uint8_t standby;         /* the database was a hot standby                           */
    uint32_t unkept;         /* bit of each source (include/tidemark/project.h) outside the scope */
    uint64_t raw_states;     /* versions of entries that were kept undecoded  */
    uint32_t contracts_seen; /* rows of chain.contract_seen               */
    uint32_t pasts_read;     /* complete ranges of chain.contract_coverage, weighed (feed_sql.c) */
    uint32_t withdrawn_keys; /* rows of chain.withdrawn_key               */
    uint64_t records;        /* in the cache, this one included               */
    uint8_t hash[TIDE_HASH_BYTES]; /* of that ledger */
    uint8_t
        protocol[TIDE_HASH_BYTES]; /* the deployment's, in any epoch: api/sql/deployment_select.h */
    uint8_t network_id[TIDE_HASH_BYTES];
    char passphrase[128]; /* NUL-terminated */
    uint64_t travel_rule_count;
    uint64_t epoch;                      /* current one of the earnings distributor */
    struct tide_hot_amount protocol_fee; /* bps of the swap fee      */
    struct tide_hot_address canonical_verifier;
    struct tide_hot_address dao_wallet;      /* as the deployment file names it; kind 0: not */
    struct tide_hot_address multisig_wallet; /* MSIGWLT of governance, else its DAO_ADDR: only
                                                reported */
    /* By role, those below TIDE_ROLE_synth_token: whose state the records are, as the deployment
     * file has it; and what governance's storage names, which is only reported. */
    struct tide_hot_address contracts[TIDE_ROLE_COUNT];
    struct tide_hot_address dao_named[TIDE_ROLE_COUNT];
    uint8_t blocked[TIDE_HOT_CODES / 8]; /* bit of each blocked jurisdiction below TIDE_HOT_CODES */
};

/* ComplianceRec, Frozen and Whitelist of one address. */
struct TIDE_HOT_PACKED tide_hot_person {
    uint8_t recorded; /* ComplianceRec is there: else the fields from status on are zero */
    uint8_t frozen;
    uint8_t whitelisted;
    uint32_t ledger;  /* of the last change of ComplianceRec */
    uint32_t changed; /* of its CHANGED record; 0: it has none */
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

/* A person that changed in the key's ledger, or was removed. */
struct TIDE_HOT_PACKED tide_hot_changed {
    uint8_t none;
};

struct TIDE_HOT_PACKED tide_hot_feed {
    uint32_t ledger;
    uint32_t observations; /* of the last aggregation */
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

/* Sums of a pool's swaps. They run on from an arbitrary beginning, also while the pool has no
 * entry: the trade between two ticks is their difference. */
struct TIDE_HOT_PACKED tide_hot_trade {
    uint64_t swaps;
    struct tide_hot_amount traded_a; /* what swaps moved of token A, in or out */
    struct tide_hot_amount traded_b;
    struct tide_hot_amount fees_a; /* swap fees, those paid in B valued at their own swap's price */
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
    uint8_t
        listed; /* AssetConfig is there; a market may have debt or vaults without (never seen) */
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
    struct tide_hot_amount collateral; /* of all its vaults */
    uint64_t vaults;                   /* entries that are there */
    uint64_t indebted;                 /* of these, with debt    */
};

struct TIDE_HOT_PACKED tide_hot_vault {
    uint32_t ledger;
    struct tide_hot_address collateral_token;
    struct tide_hot_amount collateral;
    struct tide_hot_amount debt;
    uint64_t opened_at;
    uint64_t last_update;
};

struct TIDE_HOT_PACKED tide_hot_contract {
    uint8_t role;     /* enum tide_role */
    uint8_t complete; /* indexed from its creation on */
    uint8_t watched;  /* the file names it, or its past was read after it was discovered */
    uint8_t paused;   /* of a synth token */
    uint8_t has_instance;
    uint32_t created; /* ledger, 0 when not known */
    uint32_t ledger;  /* of its instance's last change */
    uint32_t decimals;
    char name[64];                  /* key in the deployment file, NUL-terminated */
    char role_name[64];             /* as exported: usdc, synth_token …          */
    struct tide_hot_address issuer; /* of a Stellar asset, as the deployment or the chain says */
    struct tide_hot_name title;     /* NAME of a token  */
    struct tide_hot_name symbol;    /* SYMBOL of a token, or the asset's code */
};

struct TIDE_HOT_PACKED tide_hot_partner {
    uint32_t ledger;
    uint32_t id;
    uint8_t active;
    struct tide_hot_address owner;
    struct tide_hot_name name;
    struct tide_hot_amount revenue_share; /* bps; 0 and below: the distributor takes 5000 */
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

/* A withdrawn key; the record holds for every deployment of the database. */
struct TIDE_HOT_PACKED tide_hot_withdrawn {
    uint8_t none;
};

/* Bytes of a record of that kind. 0 for no kind. */
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

static inline struct tide_hot_key tide_hot_key(enum tide_hot_kind kind)
{
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

#endif
