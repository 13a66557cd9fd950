/* The story: what people do on a simulated chain, call by call.
 *
 * It knows no contract from within. It remembers what its own calls answered, guesses the rest,
 * and is often wrong on purpose: about a quarter of the calls are refused.
 *
 * Order   story_deploy until it says no more, a ledger whenever call->ledger_end is set;
 *         then for each ledger story_ledger once and story_next for each transaction.
 *         Each call is answered by story_told before the next is asked for.
 * Same    seed, options and answers give the same calls. */
#ifndef SIM_STORY_H
#define SIM_STORY_H

#include "tools/sim/workload/parties.h"

enum story_profile { STORY_MIXED, STORY_SWAPS };

/* What story_told has to remember of a call that passed. */
enum story_note {
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
    NOTE_ATTEST,    /* who: subject, amount: until when                   */
    NOTE_PROPOSE,   /* answer: id or [id, tx]                             */
    NOTE_SUBMIT_TX, /* answer: id                                         */
    NOTE_PARTNER,   /* answer: id                                         */
    NOTE_POOL_MADE, /* what: pool                                         */
};

struct story_call {
    uint32_t source;   /* account that sends it                                  */
    uint32_t contract; /* place in the cast's contracts                          */
    bool create;       /* deploys the contract; no function                      */
    bool ledger_end;   /* deployment: a ledger closes behind it                  */
    char fn[33];
    uint32_t arg_count;
    struct tide_buf args; /* ScVals back to back                                   */
    cast_ref auth;        /* who authorises; the source or a contract account       */
    enum story_note note;
    uint32_t who; /* user, by place in story.users                          */
    uint32_t what;
    bool flag;
    int64_t amount;
    int64_t other;
};

enum {
    STORY_POOLS = 4,
    STORY_FEEDS = 6,
    STORY_PROPOSALS = 12,
    STORY_HEALS = 192,
    STORY_ALLOWANCES = 16
};

struct story_user {
    cast_ref ref;
    uint32_t source;
    bool attested;
    int64_t until; /* when the attestation lapses; 0: never */
    bool vault[CAST_MARKETS];
    int64_t collateral[CAST_MARKETS];
    int64_t debt[CAST_MARKETS];
    int64_t synth[CAST_MARKETS];
    int64_t shares[STORY_POOLS];
    int64_t saved;
};

struct story_pool {
    bool made;
    int64_t a, b;
};

struct story_proposal {
    uint64_t id;
    uint32_t votes;
    uint32_t asked; /* steps taken: votes sent, then finalise, execute */
    uint64_t made_at;
};

/* Something that would stop the chain if nobody undid it. */
struct story_heal {
    uint32_t due; /* ledger */
    uint32_t kind;
    uint32_t what;
};

/* An approval that somebody may draw on. */
struct story_allowance {
    uint32_t owner; /* places in users */
    uint32_t spender;
    uint32_t market;
    int64_t amount;
};

struct story {
    const struct cast *cast;
    enum story_profile profile;
    bool strict_auth;
    bool catalog_native; /* partners' catalogs name the native asset's contract */
    uint64_t random;
    uint32_t step; /* of the deployment */
    uint32_t part;
    uint32_t ledger;
    uint64_t now;
    uint64_t priced_at;
    uint32_t round; /* providers that still have to send this round */
    int64_t price[STORY_FEEDS];
    uint32_t user_count; /* users and wallets */
    struct story_user *users;
    uint32_t *busy_at; /* by account */
    struct story_pool pools[STORY_POOLS];
    struct story_proposal proposals[STORY_PROPOSALS];
    uint32_t proposal_count;
    uint64_t msig_tx; /* newest multisig transaction + 1 */
    uint32_t partner_count;
    uint32_t catalog;    /* names given out */
    bool calm;           /* in this ledger */
    uint32_t company_at; /* ledger that was last asked to be calm */
    uint32_t calm_until; /* ledger before which nobody stops anything again */
    uint32_t allowance_count;
    struct story_allowance allowances[STORY_ALLOWANCES];
    uint32_t heal_count;
    struct story_heal heals[STORY_HEALS];
};

tide_status story_open(struct story *story, const struct cast *cast, uint64_t seed,
                       enum story_profile profile) TIDE_MUST_USE;
void story_close(struct story *story);

void story_call_init(struct story_call *call);
void story_call_release(struct story_call *call);

/* The next call of the deployment; false when there is none left. */
bool story_deploy(struct story *story, uint64_t now, struct story_call *call);
/* A ledger begins. Answers how many seconds it closes after the last one. */
uint32_t story_pause(struct story *story, uint32_t close_step);
void story_ledger(struct story *story, uint32_t ledger, uint64_t now);
/* Nothing gets stopped or blocked in this ledger, and what was is undone; or later, if that has
 * to wait. */
void story_keep_calm(struct story *story, bool wait);
/* The next call of this ledger. */
void story_next(struct story *story, struct story_call *call);
/* True while the story wants more calls in this ledger than were asked for. */
bool story_urgent(const struct story *story);
void story_told(struct story *story, const struct story_call *call, bool passed, tide_slice answer);

/* --- for the story's own files ------------------------------------------------ */

uint64_t story_random(struct story *story);
/* 0 … n-1 */
uint32_t story_pick(struct story *story, uint32_t n);
/* True once in n. */
bool story_once_in(struct story *story, uint32_t n);
/* low … high, both included */
int64_t story_between(struct story *story, int64_t low, int64_t high);

/* Starts a call: source sends contract.fn. */
void story_begin(struct story_call *call, uint32_t source, uint32_t contract, const char *fn);
/* Appends arguments: a party (a: int), s symbol (const char *), i i128 (int64_t as long long),
 * u u32 (unsigned), t u64 (unsigned long long), b bool (int), x string, y bytes (tide_slice *). */
void story_args(const struct story *story, struct story_call *call, const char *kinds, ...);
/* The head of a vec argument of count values, which the caller appends uncounted. */
void story_vec(struct story_call *call, uint32_t count);
void story_put(const struct story *story, struct story_call *call, char kind, long long value);

/* A user (place in users) whose source has not sent anything in this ledger. */
uint32_t story_free_user(struct story *story);
/* True while people from outside are about. */
static inline bool story_has_company(const struct story *story)
{
    return story->company_at == story->ledger && story->ledger > 0;
}
/* True when something may be stopped for a while; then nothing else for some ledgers. */
bool story_may_disturb(struct story *story);
void story_heal_later(struct story *story, uint32_t kind, uint32_t what, uint32_t ledgers);
/* Strange text: quotes, markup, emoji, bytes that are not UTF-8. */
tide_slice story_text(struct story *story);

enum story_pool_place { POOL_XLM, POOL_GOLD, POOL_BTC, POOL_TSLA };
extern const char *const story_pool_names[STORY_POOLS];
/* The market whose synth is token a; CAST_MARKETS for XLM. */
extern const uint32_t story_pool_market[STORY_POOLS];

enum story_feed { FEED_BTC, FEED_GOLD, FEED_OIL, FEED_TSLA, FEED_USDC, FEED_XLM };
extern const char *const story_feed_names[STORY_FEEDS];

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
void story_trade(struct story *story, struct story_call *call);
void story_liquidity(struct story *story, struct story_call *call);
void story_vault(struct story *story, struct story_call *call);
void story_saving(struct story *story, struct story_call *call);
void story_token(struct story *story, struct story_call *call);
void story_prices(struct story *story, struct story_call *call);
void story_oracle(struct story *story, struct story_call *call);
void story_people(struct story *story, struct story_call *call);
void story_registry(struct story *story, struct story_call *call);
void story_partners(struct story *story, struct story_call *call);
void story_admin(struct story *story, struct story_call *call);
void story_mistake(struct story *story, struct story_call *call);
void story_dao(struct story *story, struct story_call *call);
void story_heal_now(struct story *story, struct story_call *call);
void story_move_prices(struct story *story);

#endif
