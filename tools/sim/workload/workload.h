/* The workload of a simulated chain, call by call.
 *
 * It does not read the model's state. It remembers the answers to its own calls and guesses the
 * rest, often wrongly on purpose: about a quarter of the calls are refused.
 *
 * Order   workload_deploy until it returns false, a ledger whenever call->ledger_end is set;
 *         then for each ledger workload_ledger once and workload_next for each transaction.
 *         workload_outcome follows each call, before the next call is asked for.
 * Same    seed, options and answers give the same calls. */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include "tools/sim/workload/parties.h"

enum workload_profile { WORKLOAD_MIXED, WORKLOAD_SWAPS };

/* What workload_outcome has to remember of a call that passed. */
enum workload_note {
    NOTE_NOTHING,
    NOTE_SWAP,   /* what: pool, flag: a to b, amount: in; answer: out  */
    NOTE_ADD,    /* what: pool, amount, other; answer: shares          */
    NOTE_REMOVE, /* what: pool, amount: shares; answer: both amounts   */
    NOTE_OPEN,   /* what: market, amount                               */
    NOTE_DEPOSIT,
    NOTE_MINT,
    NOTE_BURN,
    NOTE_WITHDRAW,
    NOTE_LIQUIDATE, /* other: user liquidated                             */
    NOTE_SAVE,      /* stability pool deposit                             */
    NOTE_UNSAVE,
    NOTE_PAY,       /* synth transfer: other: receiver                    */
    NOTE_ATTEST,    /* user: subject, amount: until when                   */
    NOTE_PROPOSE,   /* answer: id or [id, tx]                             */
    NOTE_SUBMIT_TX, /* answer: id                                         */
    NOTE_PARTNER,   /* answer: id                                         */
    NOTE_POOL_MADE, /* what: pool                                         */
};

struct workload_call {
    uint32_t source;   /* account that sends it                                  */
    uint32_t contract; /* place among the contracts                         */
    bool create;       /* deploys the contract; no function                      */
    bool ledger_end;   /* deployment: a ledger closes behind it                  */
    char fn[33];
    uint32_t arg_count;
    struct tide_buf args; /* ScVals back to back                                   */
    party_ref auth;       /* the authoriser: the source or a contract account       */
    enum workload_note note;
    uint32_t party; /* user, by place in workload.users                          */
    uint32_t what;
    bool flag;
    int64_t amount;
    int64_t other;
};

enum {
    WORKLOAD_POOLS = 4,
    WORKLOAD_FEEDS = 6,
    WORKLOAD_PROPOSALS = 12,
    WORKLOAD_HEALS = 192,
    WORKLOAD_ALLOWANCES = 16
};

struct workload_user {
    party_ref ref;
    uint32_t source;
    bool attested;
    int64_t until; /* when the attestation lapses; 0: never */
    bool vault[PARTY_MARKETS];
    int64_t collateral[PARTY_MARKETS];
    int64_t debt[PARTY_MARKETS];
    int64_t synth[PARTY_MARKETS];
    int64_t shares[WORKLOAD_POOLS];
    int64_t saved;
};

struct workload_pool {
    bool made;
    int64_t a, b;
};

struct workload_proposal {
    uint64_t id;
    uint32_t votes;
    uint32_t asked; /* steps taken: votes sent, then finalise, execute */
    uint64_t made_at;
};

/* A change that would stop the chain if it were not undone. */
struct workload_heal {
    uint32_t due; /* ledger */
    uint32_t kind;
    uint32_t what;
};

/* An approval that its spender may draw on. */
struct workload_allowance {
    uint32_t owner; /* places in users */
    uint32_t spender;
    uint32_t market;
    int64_t amount;
};

struct workload {
    const struct parties *parties;
    enum workload_profile profile;
    bool strict_auth;
    bool catalog_native; /* partners' catalogs name the native asset's contract */
    uint64_t random;
    uint32_t step; /* of the deployment */
    uint32_t part;
    uint32_t ledger;
    uint64_t now;
    uint64_t priced_at;
    uint32_t round; /* providers that still have to send this round */
    int64_t price[WORKLOAD_FEEDS];
    uint32_t user_count; /* users and wallets */
    uint32_t founders;   /* users that the deployment attests; the others ask later */
    struct workload_user *users;
    uint32_t *busy_at; /* by account */
    struct workload_pool pools[WORKLOAD_POOLS];
    struct workload_proposal proposals[WORKLOAD_PROPOSALS];
    uint32_t proposal_count;
    uint64_t msig_tx; /* newest multisig transaction + 1 */
    uint32_t partner_count;
    uint32_t catalog;    /* names given out */
    bool calm;           /* in this ledger */
    uint32_t company_at; /* ledger that was last asked to be calm */
    uint32_t calm_until; /* ledger before which nothing is stopped again */
    uint32_t allowance_count;
    struct workload_allowance allowances[WORKLOAD_ALLOWANCES];
    uint32_t heal_count;
    struct workload_heal heals[WORKLOAD_HEALS];
};

/* founders: 1 … parties->user_count. TIDE_E_MEMORY. */
tide_status workload_open(struct workload *workload, const struct parties *parties, uint64_t seed,
                          enum workload_profile profile, uint32_t founders) TIDE_MUST_USE;
void workload_close(struct workload *workload);

void workload_call_init(struct workload_call *call);
void workload_call_release(struct workload_call *call);

/* The next call of the deployment; false when there is none left. */
bool workload_deploy(struct workload *workload, uint64_t now, struct workload_call *call);
/* A ledger begins. Answers how many seconds it closes after the last one. */
uint32_t workload_pause(struct workload *workload, uint32_t close_step);
void workload_ledger(struct workload *workload, uint32_t ledger, uint64_t now);
/* Nothing gets stopped or blocked in this ledger, and what was is undone; or later, if that has
 * to wait. */
void workload_keep_calm(struct workload *workload, bool wait);
/* The next call of this ledger. */
void workload_next(struct workload *workload, struct workload_call *call);
/* True while the workload wants more calls in this ledger than were asked for. */
bool workload_urgent(const struct workload *workload);
void workload_outcome(struct workload *workload, const struct workload_call *call, bool passed,
                      tide_slice answer);

/* --- for the workload's own files ------------------------------------------------ */

uint64_t workload_random(struct workload *workload);
/* 0 … n-1 */
uint32_t workload_pick(struct workload *workload, uint32_t n);
/* True once in n. */
bool workload_once_in(struct workload *workload, uint32_t n);
/* low … high, both included */
int64_t workload_between(struct workload *workload, int64_t low, int64_t high);

/* Starts a call: source sends contract.fn. */
void workload_begin(struct workload_call *call, uint32_t source, uint32_t contract, const char *fn);
/* Appends arguments: a party (a: int), s symbol (const char *), i i128 (int64_t as long long),
 * u u32 (unsigned), t u64 (unsigned long long), b bool (int), x string, y bytes (tide_slice *). */
void workload_args(const struct workload *workload, struct workload_call *call, const char *kinds,
                   ...);
/* The head of a vec argument of count values, which the caller appends uncounted. */
void workload_vec(struct workload_call *call, uint32_t count);
void workload_put(const struct workload *workload, struct workload_call *call, char kind,
                  long long value);

/* A user (place in users) whose source has not sent anything in this ledger. */
uint32_t workload_free_user(struct workload *workload);
/* True while clients are active. */
static inline bool workload_has_company(const struct workload *workload)
{
    return workload->company_at == workload->ledger && workload->ledger > 0;
}
/* True when something may be stopped for a while; then nothing else for some ledgers. */
bool workload_may_disturb(struct workload *workload);
void workload_heal_later(struct workload *workload, uint32_t kind, uint32_t what, uint32_t ledgers);
/* Strange text: quotes, markup, emoji, bytes that are not UTF-8. */
tide_slice workload_text(struct workload *workload);

enum workload_pool_place { POOL_XLM, POOL_GOLD, POOL_BTC, POOL_TSLA };
extern const char *const workload_pool_names[WORKLOAD_POOLS];
/* The market whose synth is token a; PARTY_MARKETS for XLM. */
extern const uint32_t workload_pool_market[WORKLOAD_POOLS];

enum workload_feed { FEED_BTC, FEED_GOLD, FEED_OIL, FEED_TSLA, FEED_USDC, FEED_XLM };
extern const char *const workload_feed_names[WORKLOAD_FEEDS];

enum {
    HEAL_ENGINE,
    HEAL_SAVINGS,
    HEAL_POOL,
    HEAL_TOKEN,
    HEAL_MARKET,
    HEAL_COUNTRY,
    HEAL_VERIFIER,
    HEAL_FEE,
    HEAL_PERSON,
    HEAL_CEILING,
    HEAL_SIGNER, /* what: which one */
    HEAL_HOLDER, /* what: user, the market in its top byte */
};

/* Families of actions; each fills one call. */
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
void workload_heal_now(struct workload *workload, struct workload_call *call);
void workload_move_prices(struct workload *workload);

#endif
