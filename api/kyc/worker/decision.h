/* What a provider's decision does to a session: pure, so that every order of them can be tried.
 *
 * Newest     what the provider says it decided before what is known changes nothing; what says
 *            no time, or one to come, is as old as the moment it was fetched
 * Same       changes nothing: no revision, no intent
 * Withdrawn  an approved session whose provider gives another verdict is revoked: what stands on
 *            the chain is taken back. Where another approval of the same address stands, the chain
 *            is made to say what that one gave instead, and no longer than that one lasts
 * Doubtful   an answer that is no verdict about this session: the provider does not know the
 *            person (gone), another level, another reference, an unknown status, no country. An
 *            approved session stays approved, with that reason, and a revocation is parked for a
 *            person to decide. The next verdict ends the doubt
 * Flood      if a provider withdraws more approvals an hour than the KYC file allows, the rest is
 *            parked in the same way, and only an approval ends that by itself
 * Undated    an approval without a time, behind a decline or a withdrawal, may be the older answer:
 *            the session becomes approved, and its attestation is parked for a person to decide
 * Ordered    two people of the console withdrew what the address has: an approved session is
 *            revoked, whatever its provider says. An approval of the address that the provider gave
 *            before that order, or without a time, is parked for a person to decide
 * Over       an approval lasts as long as its attestation. The same decision fetched again does not
 *            renew it, not even when something else of it changed: the person must be looked at
 *            again. A decline is a revocation after that end too: the end is our clock's word */
#ifndef API_KYC_WORKER_DECISION_H
#define API_KYC_WORKER_DECISION_H

#include "api/kyc/providers/provider.h"

#define TIDE_KYC_REASON_BYTES 33u /* words of ours, NUL-terminated */

/* A session, as far as a decision is weighed against it. Times in unix seconds, 0: none. */
struct tide_kyc_standing {
    enum tide_kyc_state state;
    char reason[TIDE_KYC_REASON_BYTES]; /* "": none */
    int64_t decided_ms;
    uint32_t jurisdiction;
    int64_t valid_until;
    int64_t attested_until; /* 0: it was never approved */
    int64_t created_at, expires_at;
    bool attested; /* an attest of it is in the outbox, and not superseded */
    bool other;    /* another check's approval of the address stands, and the chain took it once */
    bool longer;   /* the chain may hold what an approval gave that does not stand any more */
    bool flood;    /* its provider withdrew as many approvals as an hour may have */
    int64_t ordered_ms; /* when people last ordered a revocation of the address; 0: never */
};

enum tide_kyc_outcome {
    TIDE_KYC_SAME,  /* nothing new                          */
    TIDE_KYC_STALE, /* older than what is known: left alone */
    TIDE_KYC_MOVED, /* the plan's members are the session's */
};
enum tide_kyc_action {
    TIDE_KYC_NO_ACTION,
    TIDE_KYC_ATTEST,
    TIDE_KYC_REVOKE,
    TIDE_KYC_HAND_OVER /* attest what the other approval gave */
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

/* decision NULL: none was fetched; time alone counts then. &tide_kyc_gone: the provider does not
 * know that id. &tide_kyc_ordered: people ordered the revocation of this session.
 * attestation_s: the most that an attestation lasts. */
extern const struct tide_kyc_decision tide_kyc_gone, tide_kyc_ordered;
void tide_kyc_weigh(struct tide_kyc_plan *out, const struct tide_kyc_standing *now_known,
                    const struct tide_kyc_decision *decision, uint32_t attestation_s, int64_t now);

/* Seconds until the provider is asked again about a session that stands so; 0: never by itself.
 * Who waits is asked about less and less often; who is approved, once a day, and at its end.
 * chance: any number, spreads them by a quarter. */
uint32_t tide_kyc_ask_again(const struct tide_kyc_plan *plan,
                            const struct tide_kyc_standing *standing, uint32_t reconcile_s,
                            uint32_t chance, int64_t now);

/* HMAC-SHA256(key, provider || 0 || provider_id || 0 || rev in decimal): nothing without key. */
void tide_kyc_meta_hash(uint8_t out[TIDE_HASH_BYTES], const uint8_t key[32], const char *provider,
                        const char *provider_id, uint32_t rev);

#endif
