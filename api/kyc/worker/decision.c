/* Weighs a provider's decision against a session's state. Pure. */
#include "api/kyc/worker/decision.h"

#include <stdio.h>

/* Seconds between checks of an approved session; longest pause of a waiting one; longest review. */
enum { APPROVED_CHECK_S = 86400, OPEN_MOST_S = 3600, REVIEW_MOST_S = 30 * 86400 };

const struct tide_kyc_decision tide_kyc_gone = { .state = TIDE_KYC_REVIEW,
                                                 .doubtful = true,
                                                 .reason = "gone" };
const struct tide_kyc_decision tide_kyc_ordered = { .state = TIDE_KYC_DECLINED,
                                                    .reason = "operator" };
static const char flood_reason[] = "many_revocations", undated_reason[] = "undated_approval",
                  before_reason[] = "before_revocation";

static_assert(sizeof flood_reason <= TIDE_KYC_REASON_BYTES &&
                  sizeof undated_reason <= TIDE_KYC_REASON_BYTES &&
                  sizeof before_reason <= TIDE_KYC_REASON_BYTES,
              "compared whole with a stored reason");

static void set_reason(struct tide_kyc_plan *plan, const char *reason)
{
    assert(!reason || strlen(reason) < sizeof plan->reason);
    snprintf(plan->reason, sizeof plan->reason, "%s", reason ? reason : "");
}

static void end_session(struct tide_kyc_plan *plan, enum tide_kyc_state state, const char *reason)
{
    assert(state != TIDE_KYC_APPROVED); /* approve_session sets what an approval needs */
    plan->outcome = TIDE_KYC_MOVED;
    plan->state = state;
    plan->jurisdiction = 0;
    plan->valid_until = 0; /* attested_until stays: the session was approved once */
    set_reason(plan, reason);
}

/* Returns the decision without values that cannot be used. An approval without a country becomes a
 * doubtful review; an approval with an expired document becomes expired. */
static struct tide_kyc_decision normalize_decision(const struct tide_kyc_decision *from,
                                                   int64_t now)
{
    struct tide_kyc_decision d = *from;
    if (d.decided_ms > (now + 1) * 1000)
        d.decided_ms = 0; /* a time in the future would make every later decision stale */
    if (d.state != TIDE_KYC_APPROVED)
        return d;
    if (d.jurisdiction == 0) {
        d.state = TIDE_KYC_REVIEW;
        d.doubtful = true;
        d.reason = d.reason ? d.reason : "no_country";
    } else if (d.valid_until && d.valid_until <= now) {
        d.state = TIDE_KYC_EXPIRED;
        d.reason = "document_expired";
    } else {
        d.reason = NULL;
    }
    return d;
}

/* Plans an attestation that ends with the document, after at most attestation_s. */
static void approve_session(struct tide_kyc_plan *plan, const struct tide_kyc_decision *d,
                            uint32_t attestation_s, int64_t now)
{
    assert(d->state == TIDE_KYC_APPROVED && !d->doubtful);
    assert(d->jurisdiction && attestation_s);
    int64_t end_s = now + attestation_s;
    plan->outcome = TIDE_KYC_MOVED;
    plan->state = TIDE_KYC_APPROVED;
    set_reason(plan, NULL);
    plan->jurisdiction = d->jurisdiction;
    plan->valid_until = d->valid_until;
    plan->attested_until = d->valid_until && d->valid_until < end_s ? d->valid_until : end_s;
    assert(plan->attested_until > now); /* normalize_decision: the document is valid */
    plan->action = TIDE_KYC_ATTEST;
}

/* True for an approved session that waits for a person's decision: only such a session has a
 * reason. */
static bool is_doubtful(const struct tide_kyc_standing *s)
{
    return s->state == TIDE_KYC_APPROVED && s->reason[0];
}

static bool has_reason(const struct tide_kyc_standing *s, const char *reason)
{
    return strcmp(s->reason, reason) == 0;
}

/* Makes the planned action wait until a person releases it. */
static void hold_for_person(struct tide_kyc_plan *plan, const char *why)
{
    assert(plan->action != TIDE_KYC_NO_ACTION && strlen(why) < sizeof plan->parked);
    snprintf(plan->parked, sizeof plan->parked, "%s", why);
}

/* Marks an approved session as doubtful and parks its revocation for a person. The first doubt
 * stays until a verdict ends it. */
static void mark_doubtful(struct tide_kyc_plan *plan, const struct tide_kyc_standing *s,
                          const char *reason)
{
    assert(s->state == TIDE_KYC_APPROVED && reason && *reason);
    if (is_doubtful(s))
        return;
    plan->outcome = TIDE_KYC_MOVED;
    set_reason(plan, reason);
    plan->action = s->other      ? TIDE_KYC_HAND_OVER
                   : s->attested ? TIDE_KYC_REVOKE
                                 : TIDE_KYC_NO_ACTION;
    if (plan->action == TIDE_KYC_REVOKE)
        hold_for_person(plan, reason == tide_kyc_gone.reason ? "gone_at_provider" : reason);
}

/* Handles an approval of an approved session. If details changed without a newer decision, the
 * attestation never becomes longer. */
static void confirm_approval(struct tide_kyc_plan *plan, const struct tide_kyc_standing *s,
                             const struct tide_kyc_decision *d, uint32_t attestation_s, int64_t now)
{
    assert(s->state == TIDE_KYC_APPROVED && d->state == TIDE_KYC_APPROVED);
    bool differs = d->jurisdiction != s->jurisdiction || d->valid_until != s->valid_until;
    if (has_reason(s, undated_reason) && d->decided_ms == 0)
        return; /* the same undated answer again */
    if (has_reason(s, before_reason) && d->decided_ms <= s->ordered_ms)
        return;
    if (!differs && !is_doubtful(s))
        return;
    approve_session(plan, d, attestation_s, now);
    if (!differs || d->decided_ms <= s->decided_ms)
        plan->attested_until =
            plan->attested_until < s->attested_until ? plan->attested_until : s->attested_until;
    if (!is_doubtful(s) && plan->attested_until == s->attested_until &&
        plan->jurisdiction == s->jurisdiction)
        plan->action = TIDE_KYC_NO_ACTION;
}

/* Weighs a decision about an approved session. A withdrawal becomes a revocation, unless the
 * attestation has ended already. */
static void weigh_approved(struct tide_kyc_plan *plan, const struct tide_kyc_standing *s,
                           const struct tide_kyc_decision *d, uint32_t attestation_s, int64_t now)
{
    assert(s->state == TIDE_KYC_APPROVED);
    if (d->doubtful) {
        mark_doubtful(plan, s, d->reason);
        return;
    }
    if (d->state == TIDE_KYC_APPROVED) {
        confirm_approval(plan, s, d, attestation_s, now);
        return;
    }
    bool ended = s->attested_until <= now, over = ended && d->state == TIDE_KYC_EXPIRED;
    bool revokes = s->attested && !over && !s->other;
    if (revokes && !ended && (s->flood || has_reason(s, flood_reason))) {
        mark_doubtful(plan, s, flood_reason);
        return;
    }
    if (d->state == TIDE_KYC_EXPIRED)
        end_session(plan, TIDE_KYC_EXPIRED, d->reason ? d->reason : "provider");
    else
        end_session(plan, TIDE_KYC_REVOKED,
                    d->reason                       ? d->reason
                    : d->state == TIDE_KYC_DECLINED ? "declined"
                                                    : "reset");
    plan->action = s->attested && !over ? TIDE_KYC_REVOKE : TIDE_KYC_NO_ACTION;
}

/* True if a decline follows an approval that ended by time. The end rests on this host's clock, so
 * the chain may still hold the attestation. If it does not, the attester finds nothing to
 * revoke. */
static bool withdraws_ended(const struct tide_kyc_standing *s, const struct tide_kyc_decision *d)
{
    return s->state == TIDE_KYC_EXPIRED && d->state == TIDE_KYC_DECLINED && s->attested;
}

/* Weighs a decision about a closed session. Only a verdict changes it, and an approval only if it
 * is not the one that ended. */
static void weigh_closed(struct tide_kyc_plan *plan, const struct tide_kyc_standing *s,
                         const struct tide_kyc_decision *d, uint32_t attestation_s, int64_t now)
{
    assert(s->state != TIDE_KYC_APPROVED && !tide_kyc_is_open(s->state));
    bool was_approved = s->attested_until != 0;
    bool newer = d->decided_ms ? d->decided_ms > s->decided_ms : s->state != TIDE_KYC_EXPIRED;
    if (d->state == TIDE_KYC_APPROVED) {
        if (!was_approved || newer)
            approve_session(plan, d, attestation_s, now);
        if (plan->action == TIDE_KYC_ATTEST && !d->decided_ms && s->state != TIDE_KYC_EXPIRED) {
            set_reason(plan, undated_reason);
            hold_for_person(plan, undated_reason);
        }
        return;
    }
    if (withdraws_ended(s, d)) {
        end_session(plan, TIDE_KYC_REVOKED, d->reason ? d->reason : "declined");
        plan->action = TIDE_KYC_REVOKE;
        if (s->flood)
            hold_for_person(plan, flood_reason);
        return;
    }
    if (s->state != TIDE_KYC_REVOKED && !tide_kyc_is_open(d->state) && d->state != s->state)
        end_session(plan, d->state, d->reason);
}

/* Weighs a decision about an open session: the session simply follows it. */
static void weigh_open(struct tide_kyc_plan *plan, const struct tide_kyc_standing *s,
                       const struct tide_kyc_decision *d, uint32_t attestation_s, int64_t now)
{
    assert(tide_kyc_is_open(s->state));
    if (d->state == TIDE_KYC_APPROVED)
        approve_session(plan, d, attestation_s, now);
    else if (d->state != s->state || strcmp(d->reason ? d->reason : "", s->reason) != 0)
        end_session(plan, d->state, d->reason);
}

/* Revokes a session because people ordered it. The provider's answer and its limit of revocations
 * do not matter. */
static void weigh_ordered(struct tide_kyc_plan *plan, const struct tide_kyc_standing *s)
{
    if (s->state != TIDE_KYC_APPROVED && !(s->state == TIDE_KYC_EXPIRED && s->attested))
        return;
    end_session(plan, TIDE_KYC_REVOKED, tide_kyc_ordered.reason);
    plan->action = s->attested ? TIDE_KYC_REVOKE : TIDE_KYC_NO_ACTION;
}

/* Parks an attestation whose decision is not newer than the people's order: they knew that
 * decision. */
static void hold_older_approval(struct tide_kyc_plan *plan, const struct tide_kyc_standing *s,
                                const struct tide_kyc_decision *d)
{
    if (plan->action != TIDE_KYC_ATTEST || !s->ordered_ms || d->decided_ms > s->ordered_ms)
        return;
    set_reason(plan, before_reason);
    hold_for_person(plan, before_reason);
}

/* Ends approvals and open sessions whose time is over. A review may outlast its session by
 * REVIEW_MOST_S, because the provider's people work on it. */
static void weigh_time(struct tide_kyc_plan *plan, const struct tide_kyc_standing *s, int64_t now)
{
    if (plan->state == TIDE_KYC_APPROVED && plan->attested_until <= now) {
        end_session(plan, TIDE_KYC_EXPIRED, "attestation_ended");
        plan->parked[0] = 0;
        plan->action = s->other    ? TIDE_KYC_HAND_OVER
                       : s->longer ? TIDE_KYC_REVOKE
                                   : TIDE_KYC_NO_ACTION;
    } else if (tide_kyc_is_open(plan->state)) {
        int64_t most = plan->state == TIDE_KYC_REVIEW ? REVIEW_MOST_S : 0;
        if (s->expires_at + most <= now)
            end_session(plan, TIDE_KYC_EXPIRED, "session_ended");
    }
}

/* Starts from the unchanged session, weighs the decision by the session's state, then applies
 * time. */
void tide_kyc_weigh(struct tide_kyc_plan *out, const struct tide_kyc_standing *s,
                    const struct tide_kyc_decision *decision, uint32_t attestation_s, int64_t now)
{
    assert(s->state < TIDE_KYC_STATE_COUNT && attestation_s > 0);
    *out = (struct tide_kyc_plan){ .outcome = TIDE_KYC_SAME,
                                   .state = s->state,
                                   .decided_ms = s->decided_ms,
                                   .jurisdiction = s->jurisdiction,
                                   .valid_until = s->valid_until,
                                   .attested_until = s->attested_until };
    set_reason(out, s->reason);
    bool gone = decision == &tide_kyc_gone;
    bool stale = decision && decision->decided_ms && decision->decided_ms < s->decided_ms;
    if (decision == &tide_kyc_ordered) {
        weigh_ordered(out, s);
    } else if (gone) {
        if (s->state == TIDE_KYC_APPROVED) /* an open session's person may still arrive */
            mark_doubtful(out, s, tide_kyc_gone.reason);
    } else if (decision && !stale) {
        struct tide_kyc_decision d = normalize_decision(decision, now);
        if (s->state == TIDE_KYC_APPROVED)
            weigh_approved(out, s, &d, attestation_s, now);
        else if (tide_kyc_is_open(s->state))
            weigh_open(out, s, &d, attestation_s, now);
        else
            weigh_closed(out, s, &d, attestation_s, now);
        hold_older_approval(out, s, &d);
        if (d.decided_ms && !d.doubtful &&
            (out->outcome == TIDE_KYC_MOVED || s->state == TIDE_KYC_APPROVED))
            out->decided_ms = d.decided_ms;
    }
    if (out->action == TIDE_KYC_REVOKE && s->other) {
        out->action = TIDE_KYC_HAND_OVER;
        out->parked[0] = 0;
    }
    weigh_time(out, s, now);
    assert(out->action == TIDE_KYC_NO_ACTION || out->outcome == TIDE_KYC_MOVED);
    assert(out->action != TIDE_KYC_ATTEST ||
           (out->state == TIDE_KYC_APPROVED && out->jurisdiction));
    assert(out->action != TIDE_KYC_ATTEST || out->attested_until > now);
    assert(out->action != TIDE_KYC_HAND_OVER || s->other);
    if (stale && out->outcome == TIDE_KYC_SAME)
        out->outcome = TIDE_KYC_STALE;
}

/* An open session is checked after an eighth of its age, so the intervals grow with it. */
uint32_t tide_kyc_next_check(const struct tide_kyc_plan *plan, const struct tide_kyc_standing *s,
                             uint32_t reconcile_s, uint32_t chance, int64_t now)
{
    int64_t wait;
    if (plan->state == TIDE_KYC_APPROVED) {
        wait = reconcile_s > APPROVED_CHECK_S ? reconcile_s : APPROVED_CHECK_S;
    } else if (tide_kyc_is_open(plan->state)) {
        wait = (now - s->created_at) / 8;
        wait = wait > OPEN_MOST_S ? OPEN_MOST_S : wait;
        wait = wait < reconcile_s ? reconcile_s : wait;
    } else {
        return 0;
    }
    wait += wait * (chance % 256) / 1024;
    int64_t over = plan->state == TIDE_KYC_APPROVED ? plan->attested_until : s->expires_at;
    if (over > now && over - now < wait)
        wait = over - now;
    assert(wait <= tide_kyc_longest_check(reconcile_s));
    return (uint32_t)(wait < 1 ? 1 : wait);
}

uint32_t tide_kyc_longest_check(uint32_t reconcile_s)
{
    uint32_t wait = reconcile_s > APPROVED_CHECK_S ? reconcile_s : APPROVED_CHECK_S;
    return wait + wait / 4;
}

/* The NULs separate the parts, so that no two inputs are the same text. */
void tide_kyc_meta_hash(uint8_t out[TIDE_HASH_BYTES], const uint8_t key[32], const char *provider,
                        const char *provider_id, uint32_t rev)
{
    char text[TIDE_KYC_WORD_BYTES + TIDE_KYC_ID_BYTES + 16];
    uint8_t digest[TIDE_HMAC_BYTES_MAX];
    int len = snprintf(text, sizeof text, "%s%c%s%c%" PRIu32, provider, 0, provider_id, 0, rev);
    assert(len > 0 && (size_t)len < sizeof text);
    tide_hmac(TIDE_HMAC_SHA256, digest, tide_slice_of(key, 32), tide_slice_of(text, (size_t)len));
    memcpy(out, digest, TIDE_HASH_BYTES);
}
