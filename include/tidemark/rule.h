/* The contracts' answers, computed from records by pure functions with the contracts' own integer
 * arithmetic. Results are equal to the last unit. State and time are arguments.
 *
 * Time     now is unix seconds. The functions look nothing up and remember nothing.
 * Refusal  if the contract refuses an answer, these functions refuse it with the same reason. An
 *          overflow is a refusal, because the contract traps.
 * Absent   a NULL record is an entry that is not on the ledger. */
#ifndef TIDEMARK_RULE_H
#define TIDEMARK_RULE_H

#include "tidemark/hot_record.h"

/* Reasons of a refusal: X(name, code, the contract's own text) */
#define TIDE_REFUSALS(X)                                               \
    X(NOTHING, "ok", "ok")                                             \
    X(NO_POOL, "no_pool", "pool not found")                            \
    X(NO_FEED, "no_feed", "no price feed for asset")                   \
    X(NO_MARKET, "no_market", "synth asset not registered")            \
    X(NOT_STARTED, "not_started", "not initialised")                   \
    X(DIVIDED_BY_ZERO, "divided_by_zero", "attempt to divide by zero") \
    X(OVERFLOW, "overflow", "attempt to calculate with overflow")

enum tide_refusal {
#define TIDE_REFUSAL(name, code, text) TIDE_REFUSED_##name,
    TIDE_REFUSALS(TIDE_REFUSAL)
#undef TIDE_REFUSAL
};

/* Return the code for programs, such as "stale_twap", which never changes, and the text for people,
 * such as "TWAP is stale". */
const char *tide_refusal_code(enum tide_refusal refusal);
const char *tide_refusal_text(enum tide_refusal refusal);

/* --- compliance (rule.c) ----------------------------------------------------- */

/* The statuses that the status route shows. */
enum tide_standing_status {
    TIDE_STANDING_UNKNOWN,
    TIDE_STANDING_PENDING,
    TIDE_STANDING_VERIFIED,
    TIDE_STANDING_SUSPENDED,
    TIDE_STANDING_SANCTIONED,
    TIDE_STANDING_EXPIRED,
    TIDE_STANDING_FROZEN,
    TIDE_STANDING_RESTRICTED, /* jurisdiction blocked */
};

/* The step of the contract's check that decided, in the order of the steps. */
enum tide_standing_reason {
    TIDE_REASON_COMPLIANT,
    TIDE_REASON_FROZEN,
    TIDE_REASON_NO_RECORD,
    TIDE_REASON_REVOKED, /* a record with status Unknown */
    TIDE_REASON_PENDING,
    TIDE_REASON_SUSPENDED,
    TIDE_REASON_SANCTIONED,
    TIDE_REASON_EXPIRED, /* the stored status is Expired */
    TIDE_REASON_LAPSED,  /* the stored status is Verified, but expires_at has passed */
    TIDE_REASON_JURISDICTION,
    TIDE_REASON_UNDEFINED, /* a status that the contract does not know */
};

struct tide_standing {
    enum tide_standing_status status;
    enum tide_standing_reason reason;
    bool compliant;       /* answer of is_user_compliant */
    bool needs_kyc;       /* a new attestation would make the person compliant */
    uint64_t valid_until; /* compliant: the last second at which this holds; 0: no end is known */
};

/* Computes the standing of a person; NULL if the address has no record. blocked: the person's
 * jurisdiction is blocked. If the registry is not indexed from its creation the result may be
 * wrong: the caller checks tide_hot_meta.compliance_complete first. */
void tide_rule_standing(struct tide_standing *out, const struct tide_hot_person *person,
                        bool blocked, uint64_t now);
/* Returns whether the check inside swaps and vaults (assert_user_compliant) lets the user pass for
 * a calling contract. */
bool tide_rule_gate(const struct tide_standing *standing, const struct tide_hot_person *user,
                    const struct tide_hot_person *caller);
const char *tide_standing_status_name(enum tide_standing_status status); /* "Verified"  */
const char *tide_standing_reason_code(enum tide_standing_reason reason); /* "lapsed"    */

/* --- prices (rule.c) ----------------------------------------------------------- */

#define TIDE_RULE_PRICE_AGE_S 300u
#define TIDE_RULE_TWAP_AGE_S  600u
static_assert(TIDE_HOT_WINDOW_S > TIDE_RULE_TWAP_AGE_S, "a TWAP ends within the window");

/* Returns is_stale: there is no feed, or its price is older than TIDE_RULE_PRICE_AGE_S. */
bool tide_rule_stale(const struct tide_hot_feed *feed, uint64_t now);
/* The same for the TWAP and TIDE_RULE_TWAP_AGE_S. */
bool tide_rule_twap_stale(const struct tide_hot_feed *feed, uint64_t now);

/* --- pools (rule_pool.c) --------------------------------------------------------- */

/* Computes the spot price of A in B (or of B in A), 7 decimals. */
enum tide_refusal tide_rule_spot(tide_raw_i128 *out, const struct tide_hot_pool *pool, bool a_to_b);
/* Computes the same price in whole tokens, 7 decimals, as it is shown: the contract divides raw
 * units. Returns false if it is too large. */
bool tide_rule_shown(tide_raw_i128 *out, const struct tide_hot_pool *pool, bool a_to_b,
                     uint32_t decimals_a, uint32_t decimals_b);

/* The swap behind a quote: the amounts of swap_exact_in and the reasons for which it would fail.
 * The contract's quote computes only out and fee, so only their failure refuses the quote. */
struct tide_swap {
    tide_raw_i128 out, fee;
    tide_raw_i128 protocol_fee, impact_bps; /* valid if trap is TIDE_REFUSED_NOTHING */
    enum tide_refusal trap; /* why swap_exact_in cannot compute them: no reserve, overflow */
    bool paused, too_large; /* more than 1 % of the reserve */
    bool nothing_in;        /* the amount is not positive   */
};
enum tide_refusal tide_rule_swap(struct tide_swap *out, const struct tide_hot_pool *pool,
                                 tide_raw_i128 protocol_fee_bps, tide_raw_i128 amount_in,
                                 bool a_to_b);

/* Trade of a pool in the sliding window that ends now. */
struct tide_window {
    tide_raw_i128 traded_a, traded_b; /* amount that swaps moved of each token, in or out */
    tide_raw_i128 fees_a, fees_b;     /* all swap fees in A, and all of them in B: those paid in
                                         the other token are valued at their own swap's price  */
    struct tide_hot_pool then;        /* its reserves alone: as they were at the window's start */
    tide_raw_i128 price_then, price_now;     /* price of A in B, 7 decimals; only if priced */
    tide_raw_i128 price_b_then, price_b_now; /* price of B in A */
    uint64_t swaps;
    bool whole;  /* the pool is older than the window, so the window is full */
    bool priced; /* the pool has a price at both ends */
};
/* trade: the pool's sums now, NULL: no swap. start: the pool's last tick at or before the start of
 * the window, or NULL. */
void tide_rule_window(struct tide_window *out, const struct tide_hot_pool *pool,
                      const struct tide_hot_trade *trade, const struct tide_hot_tick *start);

/* --- the stability pool (rule_saving.c) ---------------------------------------------- */

struct tide_stability {
    tide_raw_i128 p;
    uint64_t epoch;
};

struct tide_saving {
    tide_raw_i128 initial_value, p_value;
    uint64_t epoch;
};

/* state NULL: the pool is not initialised, which the contract checks first. saving NULL: the result
 * is 0. */
enum tide_refusal tide_rule_compounded(tide_raw_i128 *out, const struct tide_stability *state,
                                       const struct tide_saving *saving);

/* --- partners and epochs (rule_saving.c) ----------------------------------------------- */

struct tide_epoch {
    tide_raw_i128 protocol_revenue, staker_snapshot;
    uint64_t id;
    bool finalized;
};

/* Computes the share of an epoch that claim would credit to a depositor with that compounded
 * deposit. */
enum tide_refusal tide_rule_epoch_share(tide_raw_i128 *out, const struct tide_epoch *epoch,
                                        tide_raw_i128 deposit, bool claimed);

#endif
