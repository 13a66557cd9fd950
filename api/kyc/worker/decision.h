/* Decides what a provider's decision changes in a session and on the chain. Pure, so that tests can
 * try every order of decisions.
 *
 * Newest     a decision older than the known one changes nothing. A decision without a time, or
 *            with a time in the future, counts as made when it was fetched
 * Same       an unchanged decision makes no revision and no intent
 * Withdrawn  if the provider of an approved session gives another verdict, the session is revoked
 *            and the attestation is taken back. If another approval of the address stands, the
 *            chain gets the content of that approval instead, until the end of that approval
 * Doubtful   an answer that is no verdict about this session: the provider does not know the person
 *            (gone), another level or reference, an unknown status, no country. An approved session
 *            stays approved with that reason, and a revocation waits for a person's decision
 *            (parked). The next verdict ends the doubt
 * Flood      if a provider withdraws more approvals in an hour than the KYC file allows, further
 *            revocations are parked in the same way. Without a person, only an approval ends that
 * Undated    an approval without a time, after a decline, a withdrawal or the end of an approval,
 *            may be the older answer. The session becomes approved, and its attestation is parked
 * Repeated   so is an approval with the time that it had before it was withdrawn
 * Unusable   an approval that cannot be attested leaves a closed session closed, with the reason.
 *            The console lists it
 * Ordered    two people of the console have ordered to revoke the address: an approved session is
 *            revoked, whatever its provider says. An approval that the provider gave before the
 *            order, or without a time, is parked
 * Over       an approval lasts as long as its attestation. The same decision fetched again never
 *            extends it, even if another detail changed: the person must be checked again. A
 *            decline after that end is still a revocation, because the end rests on this
 *            host's clock */
#ifndef API_KYC_WORKER_DECISION_H
#define API_KYC_WORKER_DECISION_H

#include "api/kyc/providers/provider.h"

#define TIDE_KYC_REASON_BYTES 33u /* static words, NUL-terminated */

/* The state of a session that a decision is weighed against. Times in unix seconds; 0: none. */
struct tide_kyc_standing {
    enum tide_kyc_state state;
    char reason[TIDE_KYC_REASON_BYTES]; /* "": none */
    int64_t decided_ms;
    uint32_t jurisdiction;
    int64_t valid_until;
    int64_t attested_until; /* 0: never approved */
    int64_t created_at, expires_at;
    bool attested;      /* the outbox has an attest of this session that is not superseded */
    bool other;         /* another approval of the address stands, and the chain had it once */
    bool longer;        /* the chain may hold an attestation whose approval no longer stands */
    bool flood;         /* the provider has used up its revocations of the hour */
    int64_t ordered_ms; /* when people last ordered to revoke the address; 0: never */
};

enum tide_kyc_outcome {
    TIDE_KYC_SAME,  /* no change */
    TIDE_KYC_STALE, /* older than the known decision: ignored */
    TIDE_KYC_MOVED, /* the session takes the plan's members */
};
enum tide_kyc_action {
    TIDE_KYC_NO_ACTION,
    TIDE_KYC_ATTEST,
    TIDE_KYC_REVOKE,
    TIDE_KYC_HAND_OVER /* attest the content of the other approval */
};

struct tide_kyc_plan {
    enum tide_kyc_outcome outcome;
    enum tide_kyc_state state;
    char reason[TIDE_KYC_REASON_BYTES];
    int64_t decided_ms;
    uint32_t jurisdiction; /* 0 unless approved */
    int64_t valid_until, attested_until;
    enum tide_kyc_action action;
    char parked[TIDE_KYC_REASON_BYTES]; /* why a person must release the action; "": queue it */
};

/* Weighs a decision against the session's state and fills *out. decision NULL: none was fetched,
 * only time counts. &tide_kyc_gone: the provider does not know the id. &tide_kyc_ordered: people
 * ordered to revoke this session. attestation_s: the longest attestation, seconds. */
extern const struct tide_kyc_decision tide_kyc_gone, tide_kyc_ordered;
void tide_kyc_weigh(struct tide_kyc_plan *out, const struct tide_kyc_standing *standing,
                    const struct tide_kyc_decision *decision, uint32_t attestation_s, int64_t now);

/* Returns the seconds until the next check of a session at its provider; 0: none is needed. Checks
 * of a waiting session become rarer; an approved session is checked daily and at its end. chance,
 * any number, spreads the checks by up to a quarter. */
uint32_t tide_kyc_next_check(const struct tide_kyc_plan *plan,
                             const struct tide_kyc_standing *standing, uint32_t reconcile_s,
                             uint32_t chance, int64_t now);
/* Returns a number that no result of tide_kyc_next_check exceeds. */
uint32_t tide_kyc_longest_check(uint32_t reconcile_s);

/* Computes HMAC-SHA256(key, provider || 0 || provider_id || 0 || rev in decimal). Without key the
 * hash reveals nothing. */
void tide_kyc_meta_hash(uint8_t out[TIDE_HASH_BYTES], const uint8_t key[32], const char *provider,
                        const char *provider_id, uint32_t rev);

#endif
