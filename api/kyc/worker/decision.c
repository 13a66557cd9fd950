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
                  repeated_reason[] = "repeated_approval", before_reason[] = "before_revocation",
                  ended_reason[] = "attestation_ended";

static_assert(sizeof flood_reason <= TIDE_KYC_REASON_BYTES &&
                  sizeof undated_reason <= TIDE_KYC_REASON_BYTES &&
                  sizeof repeated_reason <= TIDE_KYC_REASON_BYTES &&
                  sizeof before_reason <= TIDE_KYC_REASON_BYTES &&
                  sizeof ended_reason <= TIDE_KYC_REASON_BYTES,
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
        d.doubtful = d.approves = true;
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

/* True for an approved session whose attestation is parked. */
static bool is_held(const struct tide_kyc_standing *s)
{
    return has_reason(s, undated_reason) || has_reason(s, repeated_reason) ||
           has_reason(s, before_reason);
}

/* Makes the planned action wait until a person releases it. */
static void hold_for_person(struct tide_kyc_plan *plan, const char *why)
{
    assert(plan->action != TIDE_KYC_NO_ACTION && strlen(why) < sizeof plan->parked);
    snprintf(plan->parked, sizeof plan->parked, "%s", why);
}

/* --- moves: what one verdict does to a session ------------------------------------------------ */

/* A verdict, and the session that it is about. */
struct verdict {
    const struct tide_kyc_standing *s;
    const struct tide_kyc_decision *d;
    uint32_t attestation_s;
    int64_t now;
};

static void keep_session(struct tide_kyc_plan *plan, const struct verdict *v)
{
    (void)plan;
    (void)v;
}

static void follow_verdict(struct tide_kyc_plan *plan, const struct verdict *v)
{
    const char *reason = v->d->reason ? v->d->reason : "";
    if (v->d->state != v->s->state || strcmp(reason, v->s->reason) != 0)
        end_session(plan, v->d->state, reason);
}

static void attest_approval(struct tide_kyc_plan *plan, const struct verdict *v)
{
    approve_session(plan, v->d, v->attestation_s, v->now);
}

/* Parks the attestation of an approval that may be the older answer. People who ordered a
 * revocation knew an approval from before. */
static void hold_approval(struct tide_kyc_plan *plan, const struct verdict *v)
{
    const char *why = v->d->decided_ms ? repeated_reason : undated_reason;
    if (v->d->decided_ms && v->d->decided_ms <= v->s->ordered_ms)
        return;
    attest_approval(plan, v);
    set_reason(plan, why);
    hold_for_person(plan, why);
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

static void doubt_approval(struct tide_kyc_plan *plan, const struct verdict *v)
{
    mark_doubtful(plan, v->s, v->d->reason);
}

/* Handles an approval of an approved session. A parked approval is released only by a newer one. If
 * details changed without a newer decision, the attestation never becomes longer. */
static void confirm_approval(struct tide_kyc_plan *plan, const struct verdict *v)
{
    const struct tide_kyc_standing *s = v->s;
    const struct tide_kyc_decision *d = v->d;
    bool newer = d->decided_ms > s->decided_ms && d->decided_ms > s->ordered_ms;
    bool differs = d->jurisdiction != s->jurisdiction || d->valid_until != s->valid_until;
    if (is_held(s) && !newer)
        return;
    if (!differs && !is_doubtful(s))
        return;
    attest_approval(plan, v);
    if (!differs || d->decided_ms <= s->decided_ms)
        plan->attested_until =
            plan->attested_until < s->attested_until ? plan->attested_until : s->attested_until;
    if (!is_doubtful(s) && plan->attested_until == s->attested_until &&
        plan->jurisdiction == s->jurisdiction)
        plan->action = TIDE_KYC_NO_ACTION;
}

/* Withdraws an approval: a revocation, unless the attestation has ended already. */
static void withdraw_approval(struct tide_kyc_plan *plan, const struct verdict *v)
{
    const struct tide_kyc_standing *s = v->s;
    const struct tide_kyc_decision *d = v->d;
    bool ended = s->attested_until <= v->now, over = ended && d->state == TIDE_KYC_EXPIRED;
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

/* Takes back an attestation whose approval has ended. The end rests on this host's clock, so the
 * chain may still hold it. If it does not, the attester finds nothing to revoke. */
static void retract_attestation(struct tide_kyc_plan *plan, const struct verdict *v)
{
    if (!v->s->attested) {
        follow_verdict(plan, v);
        return;
    }
    end_session(plan, TIDE_KYC_REVOKED, v->d->reason ? v->d->reason : "declined");
    plan->action = TIDE_KYC_REVOKE;
    if (v->s->flood)
        hold_for_person(plan, flood_reason);
}

/* Ends an approval with its attestation. The chain gets the content of another approval that
 * stands; if it may hold a longer attestation than that, it is revoked. */
static void end_by_time(struct tide_kyc_plan *plan, const struct tide_kyc_standing *s)
{
    end_session(plan, TIDE_KYC_EXPIRED, ended_reason);
    plan->parked[0] = 0;
    plan->action = s->other ? TIDE_KYC_HAND_OVER : s->longer ? TIDE_KYC_REVOKE : TIDE_KYC_NO_ACTION;
}

/* Notes at a closed session that the provider approves the person, and why nothing can be attested:
 * the console lists the session. */
static void note_approval(struct tide_kyc_plan *plan, const struct verdict *v)
{
    if (strcmp(plan->reason, v->d->reason) != 0) {
        plan->outcome = TIDE_KYC_MOVED;
        set_reason(plan, v->d->reason);
    }
}

static void end_with_note(struct tide_kyc_plan *plan, const struct verdict *v)
{
    end_by_time(plan, v->s);
    note_approval(plan, v);
}

/* Ends such a note: the provider no longer approves. */
static void drop_note(struct tide_kyc_plan *plan, const struct verdict *v)
{
    if (tide_kyc_reason_unusable(tide_slice_str(v->s->reason))) {
        plan->outcome = TIDE_KYC_MOVED;
        set_reason(plan, v->d->reason ? v->d->reason : "provider");
    }
}

/* Revokes a session because people ordered it. The provider's answer and its limit of revocations
 * do not matter. */
static void revoke_by_order(struct tide_kyc_plan *plan, const struct verdict *v)
{
    if (v->s->state != TIDE_KYC_APPROVED && !v->s->attested)
        return;
    end_session(plan, TIDE_KYC_REVOKED, tide_kyc_ordered.reason);
    plan->action = v->s->attested ? TIDE_KYC_REVOKE : TIDE_KYC_NO_ACTION;
}

/* --- the table -------------------------------------------------------------------------------- */

/* A row for each kind of session. */
enum row {
    OPEN,     /* created, pending, review, action_required */
    APPROVED, /* with a reason: in doubt, or parked */
    ENDING,   /* approved, and its attestation has ended: weigh_time then ends it */
    DECLINED, /* never approved */
    UNUSED,   /* expired, never approved */
    ENDED,    /* its attestation came to its end */
    LAPSED,   /* expired at the provider after an approval */
    REVOKED,
    ROWS
};
/* A column for each kind of verdict. An older one than the known decision is in none: it is
 * ignored. */
enum column {
    NEW,      /* an approval with a newer time */
    AGAIN,    /* an approval with the time of the known decision */
    UNDATED,  /* an approval without a time */
    NO,       /* declined */
    END,      /* expired */
    BACK,     /* created, pending, review, action_required */
    UNUSABLE, /* an approval that cannot be attested: no country, another level… */
    UNCLEAR,  /* no verdict about this session */
    GONE,
    ORDERED,
    COLUMNS
};

enum move {
    KEEP,    /* nothing changes */
    FOLLOW,  /* the session takes the verdict's state and reason */
    ATTEST,  /* attest the approval */
    HOLD,    /* the same, parked: it may be the older answer */
    AFFIRM,  /* an approval of an approved session */
    DOUBT,   /* park a revocation for a person */
    REVOKE,  /* the approval is withdrawn */
    FINISH,  /* the attestation has ended; NOTE */
    RETRACT, /* a decline after the attestation's end */
    NOTE,    /* a person must know why an approval cannot be attested */
    UNNOTE,  /* the provider no longer approves */
    ORDER,   /* people ordered the revocation */
    MOVES
};

/* clang-format off */
static const enum move moves[ROWS][COLUMNS] = {
    /*             NEW     AGAIN   UNDATED NO       END     BACK    UNUSABLE UNCLEAR GONE ORDERED */
    [OPEN]     = { ATTEST, ATTEST, ATTEST, FOLLOW,  FOLLOW, FOLLOW, FOLLOW,  FOLLOW, KEEP,  KEEP },
    [APPROVED] = { AFFIRM, AFFIRM, AFFIRM, REVOKE,  REVOKE, REVOKE, DOUBT,   DOUBT,  DOUBT, ORDER },
    [ENDING]   = { ATTEST, KEEP,   KEEP,   REVOKE,  REVOKE, REVOKE, FINISH,  KEEP,   KEEP,  ORDER },
    [DECLINED] = { ATTEST, HOLD,   HOLD,   UNNOTE,  UNNOTE, UNNOTE, NOTE,    KEEP,   KEEP,  KEEP },
    [UNUSED]   = { ATTEST, ATTEST, ATTEST, FOLLOW,  UNNOTE, UNNOTE, NOTE,    KEEP,   KEEP,  KEEP },
    [ENDED]    = { ATTEST, KEEP,   HOLD,   RETRACT, KEEP,   KEEP,   NOTE,    KEEP,   KEEP,  ORDER },
    [LAPSED]   = { ATTEST, HOLD,   HOLD,   RETRACT, UNNOTE, UNNOTE, NOTE,    KEEP,   KEEP,  ORDER },
    [REVOKED]  = { ATTEST, HOLD,   HOLD,   UNNOTE,  UNNOTE, UNNOTE, NOTE,    KEEP,   KEEP,  KEEP },
};
/* clang-format on */

static void make_move(enum move move, struct tide_kyc_plan *plan, const struct verdict *v)
{
    static void (*const functions[MOVES])(struct tide_kyc_plan *, const struct verdict *) = {
        [KEEP] = keep_session,        [FOLLOW] = follow_verdict,   [ATTEST] = attest_approval,
        [HOLD] = hold_approval,       [AFFIRM] = confirm_approval, [DOUBT] = doubt_approval,
        [REVOKE] = withdraw_approval, [FINISH] = end_with_note,    [RETRACT] = retract_attestation,
        [NOTE] = note_approval,       [UNNOTE] = drop_note,        [ORDER] = revoke_by_order,
    };
    functions[move](plan, v);
}

static enum row row_of(const struct tide_kyc_standing *s, int64_t now)
{
    if (tide_kyc_is_open(s->state))
        return OPEN;
    if (s->state == TIDE_KYC_APPROVED)
        return s->attested_until <= now ? ENDING : APPROVED;
    if (s->state == TIDE_KYC_EXPIRED && s->attested_until)
        return has_reason(s, ended_reason) ? ENDED : LAPSED;
    return s->state == TIDE_KYC_DECLINED  ? DECLINED
           : s->state == TIDE_KYC_REVOKED ? REVOKED
                                          : UNUSED;
}

static enum column column_of(const struct tide_kyc_standing *s, const struct tide_kyc_decision *d)
{
    if (d->doubtful)
        return d->approves ? UNUSABLE : UNCLEAR;
    if (tide_kyc_is_open(d->state))
        return BACK;
    if (d->state == TIDE_KYC_APPROVED)
        return d->decided_ms == 0 ? UNDATED : d->decided_ms > s->decided_ms ? NEW : AGAIN;
    return d->state == TIDE_KYC_EXPIRED ? END : NO;
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

/* The reason why an approval cannot be attested outlasts the session: a person may still look. */
static void end_open_session(struct tide_kyc_plan *plan)
{
    char reason[TIDE_KYC_REASON_BYTES];
    bool unusable = tide_kyc_reason_unusable(tide_slice_str(plan->reason));
    memcpy(reason, plan->reason, sizeof reason);
    end_session(plan, TIDE_KYC_EXPIRED, unusable ? reason : "session_ended");
}

/* Ends approvals and open sessions whose time is over. A review may outlast its session by
 * REVIEW_MOST_S, because the provider's people work on it. */
static void weigh_time(struct tide_kyc_plan *plan, const struct tide_kyc_standing *s, int64_t now)
{
    if (plan->state == TIDE_KYC_APPROVED && plan->attested_until <= now) {
        end_by_time(plan, s);
    } else if (tide_kyc_is_open(plan->state)) {
        int64_t most = plan->state == TIDE_KYC_REVIEW ? REVIEW_MOST_S : 0;
        if (s->expires_at + most <= now)
            end_open_session(plan);
    }
}

/* Makes the move that the table has for the session and the decision. */
static void weigh_decision(struct tide_kyc_plan *out, struct verdict *v)
{
    const struct tide_kyc_decision d = normalize_decision(v->d, v->now);
    v->d = &d;
    make_move(moves[row_of(v->s, v->now)][column_of(v->s, &d)], out, v);
    hold_older_approval(out, v->s, &d);
    if (d.decided_ms && !d.doubtful &&
        (out->outcome == TIDE_KYC_MOVED || v->s->state == TIDE_KYC_APPROVED))
        out->decided_ms = d.decided_ms;
}

/* Starts from the unchanged session, weighs the decision, then applies time. */
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
    struct verdict v = { s, decision, attestation_s, now };
    bool stale = decision && decision->decided_ms && decision->decided_ms < s->decided_ms;
    if (decision == &tide_kyc_ordered)
        make_move(moves[row_of(s, now)][ORDERED], out, &v);
    else if (decision == &tide_kyc_gone)
        make_move(moves[row_of(s, now)][GONE], out, &v);
    else if (decision && !stale)
        weigh_decision(out, &v);
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
