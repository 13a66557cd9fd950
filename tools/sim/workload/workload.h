/* The workload of a simulated chain: the calls of its population, one by one.
 *
 * The workload does not read the model's state. It records the answers to its own calls and guesses
 * the rest, often wrongly on purpose: about a quarter of the calls are refused.
 *
 * Order   workload_deploy until it returns false; a ledger ends behind each call with ledger_end.
 *         Then, for each ledger, workload_ledger once and workload_next for each transaction.
 *         workload_outcome follows each call that was made, before the next call is requested.
 * Heals   A disturbance is a call that stops others, such as a pause. It schedules a heal: the call
 *         that undoes it some ledgers later.
 * Bytes   Seed, options and answers decide every call.
 * Threads One thread uses a workload. */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include "tools/sim/workload/parties.h"

/* Mixed: all kinds of calls, with texts and amounts that are hard to store or show. Swaps: mostly
 * swaps. Showcase: calls of a protocol that a person believes, for screens: prices of the real
 * world, readable texts, pauses of hours, slumps of XLM in which vaults are liquidated; no pause
 * and no slump in the last WORKLOAD_EVEN ledgers of the past. */
enum workload_profile { WORKLOAD_MIXED, WORKLOAD_SWAPS, WORKLOAD_SHOWCASE };

/* Data of a passed call that workload_outcome records. The comments name the fields of
 * workload_call that it reads, and the answer. */
enum workload_note {
    NOTE_NOTHING, /* nothing to record */
    NOTE_SWAP,    /* what: pool, flag: a to b, amount: sold; answer: bought */
    NOTE_ADD,     /* what: pool, amount: a, other: b; answer: shares */
    NOTE_REMOVE,  /* what: pool, amount: shares; answer: amounts of a and b */
    NOTE_OPEN,    /* what: market, amount; the five below too */
    NOTE_DEPOSIT,
    NOTE_MINT,
    NOTE_BURN,
    NOTE_WITHDRAW,
    NOTE_LIQUIDATE, /* and other: user who was liquidated */
    NOTE_SAVE,      /* amount: deposit in the stability pool */
    NOTE_UNSAVE,    /* answer: amount withdrawn */
    NOTE_PAY,       /* transfer of a synthetic asset; what: market, amount, other: recipient */
    NOTE_ATTEST,    /* amount: expiry in unix seconds */
    /* flag: a transaction was queued; answer: proposal id, or [proposal id, transaction id] */
    NOTE_PROPOSE,
    NOTE_SUBMIT_TX, /* answer: transaction id */
    NOTE_PARTNER,   /* answer: partner id */
    NOTE_POOL_MADE, /* what: pool */
};

static_assert(WORKLOAD_SHOWCASE == 2, "columns of the weights");

/* One call. workload_call_init prepares the buffer, which serves many calls. */
struct workload_call {
    uint32_t source;   /* place of the account that sends it */
    uint32_t contract; /* place of the contract */
    bool create;       /* deploys the contract; there is no function */
    bool ledger_end;   /* deployment only: the ledger ends behind this call */
    char fn[33];       /* function; "" and no create: an empty step, no call */
    uint32_t arg_count;
    struct tide_buf args;    /* ScVals back to back */
    party_ref auth;          /* party that authorises: the source, or a wallet contract */
    enum workload_note note; /* kind of the data below, which the outcome needs */
    uint32_t party;          /* place in workload.users */
    uint32_t what;
    bool flag;
    int64_t amount;
    int64_t other;
};

/* Sizes of the workload's tables. */
enum {
    WORKLOAD_POOLS = 4,
    WORKLOAD_FEEDS = 6,
    WORKLOAD_PROPOSALS = 12,
    WORKLOAD_HEALS = 192,
    WORKLOAD_ALLOWANCES = 16,
    WORKLOAD_FROZEN = 7, /* the user whom a showcase freezes for good */
    WORKLOAD_EVEN = 600  /* last ledgers of a showcase's past, without pauses and slumps */
};
static_assert(PARTY_USERS_MAX + PARTY_WALLETS <= 0xffffff && PARTY_MARKETS <= 0xff,
              "HEAL_HOLDER has the market in the top byte");

/* A user, or a wallet contract, as the workload believes it to be. Amounts have 7 decimals. */
struct workload_user {
    party_ref ref;   /* the account or the wallet contract */
    uint32_t source; /* place of the account that sends its transactions */
    bool attested;
    int64_t until;             /* expiry of the attestation, unix seconds; 0: never */
    bool vault[PARTY_MARKETS]; /* there is an open vault; collateral and debt are the vault's */
    int64_t collateral[PARTY_MARKETS];
    int64_t debt[PARTY_MARKETS];
    int64_t synth[PARTY_MARKETS];   /* synthetic tokens held */
    int64_t shares[WORKLOAD_POOLS]; /* shares of each pool */
    int64_t saved;                  /* deposit in the stability pool */
};

/* A pool, as the workload believes it to be: reserves of both tokens. */
struct workload_pool {
    bool made;
    int64_t a, b;
};

/* A proposal of the DAO that is not decided yet. */
struct workload_proposal {
    uint64_t id;
    uint32_t proposer; /* place of the account that made it: only this one may cancel it */
    uint32_t votes;
    uint32_t asked;   /* votes sent so far; governor number `asked` is the next to vote */
    uint64_t made_at; /* unix seconds */
};

/* A call that must undo a disturbance. */
struct workload_heal {
    uint32_t due;  /* ledger in which it is made at the earliest */
    uint32_t kind; /* HEAL_… */
    uint32_t what; /* object, as the kind says */
};

/* An approval of an allowance, of which its spender may transfer or burn tokens. */
struct workload_allowance {
    uint32_t owner; /* owner and spender are places in workload.users */
    uint32_t spender;
    uint32_t market;
    int64_t amount;
};

/* State of a workload. Only the workload's own files change it after workload_open, except for
 * strict_auth, catalog_native and even, which the chain sets. */
struct workload {
    const struct parties *parties;
    enum workload_profile profile;
    bool strict_auth; /* make no call that only a signature of a protocol contract would let pass */
    bool catalog_native; /* partners' catalogs name the native asset's contract */
    bool even;           /* showcase: no pause and no slump from now on */
    uint64_t random;     /* state of the random numbers */
    uint32_t step;       /* deployment: number of the step */
    uint32_t part;       /* deployment: number of the call within the step */
    uint32_t ledger;     /* present ledger */
    uint64_t now;        /* its close time, unix seconds */
    uint64_t priced_at;  /* close time of the last round of prices */
    uint32_t round;      /* oracle providers that have not sent their prices in this round */
    uint32_t moves;      /* showcase: moves of all prices so far, which decide the slumps */
    int64_t price[WORKLOAD_FEEDS]; /* prices in USDC, 7 decimals */
    uint32_t user_count;           /* length of users: the users, then the wallet contracts */
    uint32_t founders; /* users whom the deployment attests; verifiers attest the others later */
    struct workload_user *users;
    uint32_t *busy_at; /* by account: the last ledger in which it sent a call */
    struct workload_pool pools[WORKLOAD_POOLS];
    struct workload_proposal proposals[WORKLOAD_PROPOSALS];
    uint32_t proposal_count; /* proposals made; the array keeps the newest */
    uint64_t msig_tx;        /* id of the newest multisig transaction + 1 */
    uint32_t partner_count;
    uint32_t catalog;         /* catalogs registered, which gives their names */
    bool calm;                /* due heals are urgent in this ledger, because clients are active */
    uint32_t clients_at;      /* last ledger in which clients were active */
    uint32_t calm_until;      /* no disturbance before this ledger */
    uint32_t allowance_count; /* approvals made; the array keeps the newest */
    struct workload_allowance allowances[WORKLOAD_ALLOWANCES];
    uint32_t heal_count;
    struct workload_heal heals[WORKLOAD_HEALS];
};

/* Opens a workload with 1 to parties->user_count founders. parties must outlive it. Returns
 * TIDE_E_MEMORY. */
tide_status workload_open(struct workload *workload, const struct parties *parties, uint64_t seed,
                          enum workload_profile profile, uint32_t founders) TIDE_MUST_USE;
void workload_close(struct workload *workload);

/* Prepares and frees the buffer of a call. */
void workload_call_init(struct workload_call *call);
void workload_call_release(struct workload_call *call);

/* Makes the next call of the deployment. Returns false behind the last one. */
bool workload_deploy(struct workload *workload, uint64_t now, struct workload_call *call);
/* Returns how many seconds after the last ledger the next one closes: close_step mostly, days now
 * and then. */
uint32_t workload_pause(struct workload *workload, uint32_t close_step);
/* Begins a ledger. */
void workload_ledger(struct workload *workload, uint32_t ledger, uint64_t now);
/* Tells the workload that clients are active in this ledger: it disturbs nothing, and undoes all
 * disturbances at once, or in the next ledger if wait is true. */
void workload_keep_calm(struct workload *workload, bool wait);
/* Makes the next call of this ledger. */
void workload_next(struct workload *workload, struct workload_call *call);
/* Returns true while this ledger needs more calls than were requested: a round of prices, or due
 * heals while clients are active. */
bool workload_urgent(const struct workload *workload);
/* Records the outcome of a call; answer is ScVal XDR, empty unless it passed. */
void workload_outcome(struct workload *workload, const struct workload_call *call, bool passed,
                      tide_slice answer);

/* --- for the workload's own files ------------------------------------------------ */

/* Returns a random number. */
uint64_t workload_random(struct workload *workload);
/* Returns a random number from 0 to n - 1. */
uint32_t workload_pick(struct workload *workload, uint32_t n);
/* Returns true with probability 1 / n. */
bool workload_once_in(struct workload *workload, uint32_t n);
/* Returns a random number from low to high, both included; low if high is less. */
int64_t workload_between(struct workload *workload, int64_t low, int64_t high);

/* Starts a call of contract.fn by source, without arguments. The call's notes are cleared. */
void workload_begin(struct workload_call *call, uint32_t source, uint32_t contract, const char *fn);
/* Appends arguments of these kinds: a a party (int), s symbol (const char *), i i128 (long long), u
 * u32 (int), t u64 (long long), b bool (int), x string and y bytes (const tide_slice *). */
void workload_args(const struct workload *workload, struct workload_call *call, const char *kinds,
                   ...);
/* Appends a Vec argument of count items, which the caller appends with workload_put. */
void workload_vec(struct workload_call *call, uint32_t count);
/* Appends a value without counting it as an argument: an item of a Vec. */
void workload_put(const struct workload *workload, struct workload_call *call, char kind,
                  long long value);

/* Returns the place of a random user. After 16 tries it may be one who has sent a call in this
 * ledger. */
uint32_t workload_free_user(struct workload *workload);
/* Returns true if clients are active in this ledger. */
static inline bool workload_clients_active(const struct workload *workload)
{
    return workload->clients_at == workload->ledger && workload->ledger > 0;
}
/* Returns true if a disturbance may begin now. In that case, none may begin for some ledgers. */
bool workload_may_disturb(struct workload *workload);
/* Schedules a heal. A full table drops it. */
void workload_heal_later(struct workload *workload, uint32_t kind, uint32_t what, uint32_t ledgers);
/* Returns a text that is hard to store or show: quotes, markup, emoji, bytes that are not UTF-8. */
tide_slice workload_text(struct workload *workload);
/* Returns the name of a partner: in the showcase a readable one, otherwise as workload_text. */
tide_slice workload_partner_name(struct workload *workload);
/* The price at which a feed begins and to which it returns, in USDC with 7 decimals. */
int64_t workload_home_price(const struct workload *workload, uint32_t feed);

enum workload_pool_place { POOL_XLM, POOL_GOLD, POOL_BTC, POOL_TSLA };
extern const char *const workload_pool_names[WORKLOAD_POOLS];
/* The market whose synthetic asset is the pool's token a; PARTY_MARKETS for XLM. Token b is
 * USDC. */
extern const uint32_t workload_pool_market[WORKLOAD_POOLS];

enum workload_feed { FEED_BTC, FEED_GOLD, FEED_OIL, FEED_TSLA, FEED_USDC, FEED_XLM };
extern const char *const workload_feed_names[WORKLOAD_FEEDS];

/* Kinds of heals. */
enum {
    HEAL_ENGINE, /* unpause the engine; the three below unpause their contracts */
    HEAL_SAVINGS,
    HEAL_POOL,
    HEAL_TOKEN,
    HEAL_MARKET,   /* enable a market; what: market */
    HEAL_COUNTRY,  /* unblock a country; what: its code */
    HEAL_VERIFIER, /* restore a verifier; what: its account */
    HEAL_FEE,      /* reset the protocol fee */
    HEAL_PERSON,   /* unfreeze an account in the registry; what: user */
    HEAL_CEILING,  /* raise a debt ceiling; what: market */
    HEAL_SIGNER,   /* register a signer again; what: number of the signer */
    HEAL_HOLDER,   /* unfreeze a holder of a token; what: user, the market in its top byte */
};

/* Families of calls. Each function makes one call. */
void workload_trade(struct workload *workload, struct workload_call *call);
void workload_liquidity(struct workload *workload, struct workload_call *call);
void workload_vault(struct workload *workload, struct workload_call *call);
void workload_saving(struct workload *workload, struct workload_call *call);
void workload_token(struct workload *workload, struct workload_call *call);
void workload_prices(struct workload *workload, struct workload_call *call);
void workload_oracle(struct workload *workload, struct workload_call *call);
void workload_people(struct workload *workload, struct workload_call *call);
void workload_registry(struct workload *workload, struct workload_call *call);
void workload_partners(struct workload *workload, struct workload_call *call);
void workload_admin(struct workload *workload, struct workload_call *call);
void workload_mistake(struct workload *workload, struct workload_call *call);
void workload_dao(struct workload *workload, struct workload_call *call);
/* Makes the first due heal's call. */
void workload_heal_now(struct workload *workload, struct workload_call *call);
/* Moves all prices at random. */
void workload_move_prices(struct workload *workload);

#endif
