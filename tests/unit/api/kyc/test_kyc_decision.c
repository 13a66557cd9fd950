/* A provider's decision applied to a session, in every order, and the counters of refused webhooks.
 * label: threads */
#include "api/kyc/worker/decision.h"
#include "api/kyc/worker/refused.h"
#include "tidemark/text.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NOW = 1800000000, DAY = 86400, YEAR = 365 * DAY };

static struct tide_kyc_standing standing(enum tide_kyc_state state)
{
    return (struct tide_kyc_standing){ .state = state,
                                       .created_at = NOW - 600,
                                       .expires_at = NOW + DAY };
}

static struct tide_kyc_standing approved(void)
{
    struct tide_kyc_standing s = standing(TIDE_KYC_APPROVED);
    s.decided_ms = (int64_t)(NOW - 60) * 1000;
    s.jurisdiction = 756;
    s.attested_until = NOW + YEAR;
    s.attested = true;
    return s;
}

static struct tide_kyc_decision decision(enum tide_kyc_state state, int64_t decided_s)
{
    return (struct tide_kyc_decision){ .state = state,
                                       .jurisdiction = state == TIDE_KYC_APPROVED ? 756 : 0,
                                       .decided_ms = decided_s * 1000 };
}

static struct tide_kyc_plan weigh(const struct tide_kyc_standing *s,
                                  const struct tide_kyc_decision *d)
{
    struct tide_kyc_plan plan;
    tide_kyc_weigh(&plan, s, d, YEAR, NOW);
    return plan;
}

static void apply_plan(struct tide_kyc_standing *s, const struct tide_kyc_plan *p)
{
    s->state = p->state;
    snprintf(s->reason, sizeof s->reason, "%s", p->reason);
    s->decided_ms = p->decided_ms;
    s->jurisdiction = p->jurisdiction;
    s->valid_until = p->valid_until;
    s->attested_until = p->attested_until;
    s->attested |= p->action == TIDE_KYC_ATTEST;
}

static void test_approval(void **state)
{
    (void)state;
    struct tide_kyc_standing s = standing(TIDE_KYC_CREATED);
    struct tide_kyc_decision d = decision(TIDE_KYC_APPROVED, NOW - 1);
    struct tide_kyc_plan p = weigh(&s, &d);
    assert_int_equal(p.outcome, TIDE_KYC_MOVED);
    assert_int_equal(p.state, TIDE_KYC_APPROVED);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
    assert_int_equal(p.jurisdiction, 756);
    assert_int_equal(p.attested_until, NOW + YEAR);
    d.valid_until = NOW + 30 * DAY; /* the document expires before the policy's limit */
    p = weigh(&s, &d);
    assert_int_equal(p.attested_until, NOW + 30 * DAY);
    apply_plan(&s, &p);
    p = weigh(&s, &d);
    assert_int_equal(p.outcome, TIDE_KYC_SAME);
    assert_int_equal(p.action, TIDE_KYC_NO_ACTION);
}

static void test_approval_that_is_none(void **state)
{
    (void)state;
    struct tide_kyc_standing s = standing(TIDE_KYC_PENDING);
    struct tide_kyc_decision d = decision(TIDE_KYC_APPROVED, NOW - 1);
    d.jurisdiction = 0;
    struct tide_kyc_plan p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_REVIEW);
    assert_string_equal(p.reason, "no_country");
    assert_int_equal(p.action, TIDE_KYC_NO_ACTION);
    d = decision(TIDE_KYC_APPROVED, NOW - 1);
    d.valid_until = NOW;
    p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_EXPIRED);
    assert_string_equal(p.reason, "document_expired");
    assert_int_equal(p.action, TIDE_KYC_NO_ACTION);
}

static void test_newest_wins(void **state)
{
    (void)state;
    struct tide_kyc_standing s = approved();
    struct tide_kyc_decision d = decision(TIDE_KYC_PENDING, NOW - 120);
    struct tide_kyc_plan p = weigh(&s, &d);
    assert_int_equal(p.outcome, TIDE_KYC_STALE);
    assert_int_equal(p.state, TIDE_KYC_APPROVED);
    assert_int_equal(p.action, TIDE_KYC_NO_ACTION);
    d = decision(TIDE_KYC_DECLINED, NOW - 30);
    p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_REVOKED);
    assert_string_equal(p.reason, "declined");
    assert_int_equal(p.action, TIDE_KYC_REVOKE);
    assert_int_equal(p.jurisdiction, 0);
    /* An older answer that arrives late changes nothing. */
    apply_plan(&s, &p);
    d = decision(TIDE_KYC_APPROVED, NOW - 60);
    p = weigh(&s, &d);
    assert_int_equal(p.outcome, TIDE_KYC_STALE);
    /* A new approval changes the session. */
    d = decision(TIDE_KYC_APPROVED, NOW - 10);
    p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_APPROVED);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
}

static void test_withdrawal(void **state)
{
    (void)state;
    static const enum tide_kyc_state open[] = { TIDE_KYC_CREATED, TIDE_KYC_PENDING, TIDE_KYC_REVIEW,
                                                TIDE_KYC_ACTION_REQUIRED };
    for (size_t i = 0; i < TIDE_COUNT(open); i++) {
        struct tide_kyc_standing s = approved();
        struct tide_kyc_decision d = decision(open[i], 0);
        struct tide_kyc_plan p = weigh(&s, &d);
        assert_int_equal(p.state, TIDE_KYC_REVOKED);
        assert_string_equal(p.reason, "reset");
        assert_int_equal(p.action, TIDE_KYC_REVOKE);
        apply_plan(&s, &p);
        p = weigh(&s, &d);
        assert_int_equal(p.outcome, TIDE_KYC_SAME);
        /* An older answer does not restore the approval that was withdrawn. The same one may be an
         * older answer, or the provider restored it: a person decides. */
        d = decision(TIDE_KYC_APPROVED, NOW - 61);
        assert_int_equal(weigh(&s, &d).outcome, TIDE_KYC_STALE);
        d = decision(TIDE_KYC_APPROVED, NOW - 60);
        p = weigh(&s, &d);
        assert_string_equal(p.parked, "repeated_approval");
        apply_plan(&s, &p);
        assert_int_equal(weigh(&s, &d).outcome, TIDE_KYC_SAME);
    }
    struct tide_kyc_standing s = approved();
    struct tide_kyc_decision d = decision(TIDE_KYC_EXPIRED, NOW - 5);
    struct tide_kyc_plan p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_EXPIRED);
    assert_int_equal(p.action, TIDE_KYC_REVOKE);
    s.attested = false; /* nothing was ever asked of the chain */
    p = weigh(&s, &d);
    assert_int_equal(p.action, TIDE_KYC_NO_ACTION);
    s = approved();
    s.attested_until = NOW; /* the attestation has ended by itself */
    p = weigh(&s, &d);
    assert_int_equal(p.action, TIDE_KYC_NO_ACTION);
}

static void test_country_changes(void **state)
{
    (void)state;
    struct tide_kyc_standing s = approved();
    struct tide_kyc_decision d = decision(TIDE_KYC_APPROVED, NOW - 1);
    d.jurisdiction = 276;
    struct tide_kyc_plan p = weigh(&s, &d);
    assert_int_equal(p.outcome, TIDE_KYC_MOVED);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
    assert_int_equal(p.jurisdiction, 276);
    d.jurisdiction = 0;
    d.reason = "country_unknown";
    p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_APPROVED);
    assert_string_equal(p.reason, "country_unknown");
    assert_string_equal(p.parked, "country_unknown");
    /* The same decision with a later time changes nothing. */
    d = decision(TIDE_KYC_APPROVED, NOW - 1);
    p = weigh(&s, &d);
    assert_int_equal(p.outcome, TIDE_KYC_SAME);
    assert_int_equal(p.decided_ms, (int64_t)(NOW - 1) * 1000);
}

static void test_time_ends(void **state)
{
    (void)state;
    struct tide_kyc_standing s = approved();
    s.attested_until = NOW;
    struct tide_kyc_decision d = decision(TIDE_KYC_APPROVED, NOW - 60);
    struct tide_kyc_plan p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_EXPIRED);
    assert_string_equal(p.reason, "attestation_ended");
    assert_int_equal(p.action, TIDE_KYC_NO_ACTION);
    apply_plan(&s, &p);
    p = weigh(&s, &d); /* the same decision does not renew it */
    assert_int_equal(p.outcome, TIDE_KYC_SAME);
    d.decided_ms = 0; /* may be the same, or a new one: a person decides */
    assert_string_equal(weigh(&s, &d).parked, "undated_approval");
    d = decision(TIDE_KYC_APPROVED, NOW - 1); /* a new one does */
    p = weigh(&s, &d);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
    s = standing(TIDE_KYC_PENDING);
    s.expires_at = NOW;
    p = weigh(&s, NULL);
    assert_int_equal(p.state, TIDE_KYC_EXPIRED);
    assert_string_equal(p.reason, "session_ended");
    d = decision(TIDE_KYC_APPROVED, NOW - 1); /* approved in time, asked late */
    p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_APPROVED);
    d = decision(TIDE_KYC_REVIEW, NOW - 1); /* a review may take longer than its page */
    p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_REVIEW);
    s = standing(TIDE_KYC_EXPIRED);
    d = decision(TIDE_KYC_PENDING, NOW - 1); /* a closed session is not opened again */
    p = weigh(&s, &d);
    assert_int_equal(p.outcome, TIDE_KYC_SAME);
    d = decision(TIDE_KYC_APPROVED, NOW - 1);
    p = weigh(&s, &d);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
}

/* The node's clock decided that the approval ended, and that clock may be years ahead. So a later
 * decline still revokes the attestation once, or hands it over if another approval stands. */
static void test_declined_after_its_end(void **state)
{
    (void)state;
    struct tide_kyc_standing s = approved(), ended;
    s.attested_until = NOW;
    struct tide_kyc_decision d = decision(TIDE_KYC_DECLINED, NOW - 1);
    /* the approval has ended, but no maintenance has noticed it */
    struct tide_kyc_plan p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_REVOKED);
    assert_int_equal(p.action, TIDE_KYC_REVOKE);
    p = weigh(&s, NULL);
    assert_int_equal(p.state, TIDE_KYC_EXPIRED);
    apply_plan(&s, &p);
    ended = s;
    p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_REVOKED);
    assert_int_equal(p.action, TIDE_KYC_REVOKE);
    apply_plan(&s, &p);
    assert_int_equal(weigh(&s, &d).outcome, TIDE_KYC_SAME);
    ended.other = true;
    assert_int_equal(weigh(&ended, &d).action, TIDE_KYC_HAND_OVER);
    ended.attested = false;
    assert_int_equal(weigh(&ended, &d).action, TIDE_KYC_NO_ACTION);
    s = approved(); /* an attestation that expired by itself needs no transaction */
    s.attested_until = NOW;
    d = decision(TIDE_KYC_EXPIRED, NOW - 1);
    assert_int_equal(weigh(&s, &d).action, TIDE_KYC_NO_ACTION);
}

/* Random histories: in whatever order the answers arrive, attestations and revocations alternate,
 * and the newest answer decides at the end. */
static void test_random_orders(void **state)
{
    (void)state;
    static const enum tide_kyc_state all[] = { TIDE_KYC_PENDING,         TIDE_KYC_REVIEW,
                                               TIDE_KYC_ACTION_REQUIRED, TIDE_KYC_APPROVED,
                                               TIDE_KYC_APPROVED,        TIDE_KYC_DECLINED };
    uint32_t chance = 12345;
    for (int round = 0; round < 2000; round++) {
        struct tide_kyc_standing s = standing(TIDE_KYC_CREATED);
        struct tide_kyc_decision history[6];
        bool attested = false;
        int64_t newest = 0;
        for (size_t i = 0; i < TIDE_COUNT(history); i++) {
            chance = chance * 1664525u + 1013904223u;
            history[i] = decision(all[(chance >> 8) % TIDE_COUNT(all)], NOW - 100 + (int64_t)i);
        }
        for (int step = 0; step < 16; step++) {
            chance = chance * 1664525u + 1013904223u;
            size_t at = step == 15 ? TIDE_COUNT(history) - 1 : (chance >> 8) % TIDE_COUNT(history);
            struct tide_kyc_plan p = weigh(&s, &history[at]);
            bool older = history[at].decided_ms < newest;
            if (older)
                assert_int_not_equal(p.outcome, TIDE_KYC_MOVED);
            if (p.action == TIDE_KYC_REVOKE)
                assert_true(attested);
            attested = p.action == TIDE_KYC_NO_ACTION ? attested : p.action == TIDE_KYC_ATTEST;
            apply_plan(&s, &p);
            newest = s.decided_ms > newest ? s.decided_ms : newest;
            assert_int_equal(attested, s.state == TIDE_KYC_APPROVED);
        }
        enum tide_kyc_state last = history[TIDE_COUNT(history) - 1].state;
        assert_int_equal(s.state == TIDE_KYC_APPROVED, last == TIDE_KYC_APPROVED);
    }
}

/* Another approval of the address stands: nothing is revoked, and the attestation takes that
 * approval's values. */
static void test_another_stands(void **state)
{
    (void)state;
    struct tide_kyc_standing s = approved();
    struct tide_kyc_decision d = decision(TIDE_KYC_DECLINED, NOW - 5);
    s.other = true;
    struct tide_kyc_plan p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_REVOKED);
    assert_int_equal(p.action, TIDE_KYC_HAND_OVER);
    d.state = TIDE_KYC_EXPIRED;
    assert_int_equal(weigh(&s, &d).action, TIDE_KYC_HAND_OVER);
    s.attested = false; /* this one's never got to the chain */
    assert_int_equal(weigh(&s, &d).action, TIDE_KYC_NO_ACTION);
    s = approved();
    s.attested_until = NOW; /* ended by itself */
    assert_int_equal(weigh(&s, NULL).action, TIDE_KYC_NO_ACTION);
    s.longer = true; /* the approval that was to take over was withdrawn meanwhile */
    assert_int_equal(weigh(&s, NULL).action, TIDE_KYC_REVOKE);
    s.other = true;
    p = weigh(&s, NULL);
    assert_int_equal(p.state, TIDE_KYC_EXPIRED);
    assert_int_equal(p.action, TIDE_KYC_HAND_OVER);
}

static void test_gone(void **state)
{
    (void)state;
    struct tide_kyc_standing s = approved();
    struct tide_kyc_plan p = weigh(&s, &tide_kyc_gone);
    assert_int_equal(p.outcome, TIDE_KYC_MOVED);
    assert_int_equal(p.state, TIDE_KYC_APPROVED);
    assert_string_equal(p.reason, "gone");
    assert_int_equal(p.action, TIDE_KYC_REVOKE);
    assert_string_equal(p.parked, "gone_at_provider");
    assert_int_equal(p.attested_until, s.attested_until);
    struct tide_kyc_standing before = s;
    apply_plan(&s, &p);
    assert_int_equal(weigh(&s, &tide_kyc_gone).outcome, TIDE_KYC_SAME);
    /* The provider knows the person again: the attestation is restored, and ends when it would have
     * ended before. */
    struct tide_kyc_decision d = decision(TIDE_KYC_APPROVED, NOW - 1);
    s.attested_until = before.attested_until = NOW + 10 * DAY;
    p = weigh(&s, &d);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
    assert_int_equal(p.attested_until, NOW + 10 * DAY);
    assert_string_equal(p.reason, "");
    d = decision(TIDE_KYC_DECLINED, NOW - 1);
    p = weigh(&s, &d);
    assert_int_equal(p.action, TIDE_KYC_REVOKE);
    assert_string_equal(p.parked, "");
    s.attested_until = NOW;
    p = weigh(&s, &tide_kyc_gone);
    assert_string_equal(p.reason, "attestation_ended");
    before.other = true; /* another provider approved the address */
    assert_int_equal(weigh(&before, &tide_kyc_gone).action, TIDE_KYC_HAND_OVER);
    before.other = before.attested = false;
    assert_int_equal(weigh(&before, &tide_kyc_gone).action, TIDE_KYC_NO_ACTION);
    static const enum tide_kyc_state others[] = { TIDE_KYC_CREATED, TIDE_KYC_PENDING,
                                                  TIDE_KYC_REVIEW,  TIDE_KYC_DECLINED,
                                                  TIDE_KYC_REVOKED, TIDE_KYC_EXPIRED };
    for (size_t i = 0; i < TIDE_COUNT(others); i++) {
        s = standing(others[i]);
        assert_int_equal(weigh(&s, &tide_kyc_gone).outcome, TIDE_KYC_SAME);
    }
}

/* An answer that is not a verdict revokes nothing. After a proper answer the session is as
 * before. */
static void test_doubts(void **state)
{
    (void)state;
    static const char *const reasons[] = { "level", "status_unknown", "no_country",
                                           "country_unknown", "reference" };
    for (size_t i = 0; i < TIDE_COUNT(reasons); i++) {
        struct tide_kyc_standing s = approved(), before = s;
        struct tide_kyc_decision d = { .state = TIDE_KYC_REVIEW,
                                       .doubtful = true,
                                       .reason = reasons[i],
                                       .decided_ms = (int64_t)(NOW - 1) * 1000 };
        struct tide_kyc_plan p = weigh(&s, &d);
        assert_int_equal(p.state, TIDE_KYC_APPROVED);
        assert_string_equal(p.reason, reasons[i]);
        assert_int_equal(p.action, TIDE_KYC_REVOKE);
        assert_string_equal(p.parked, reasons[i]);
        apply_plan(&s, &p);
        assert_int_equal(s.decided_ms, before.decided_ms);
        assert_int_equal(weigh(&s, &d).outcome, TIDE_KYC_SAME);
        assert_int_equal(weigh(&s, &tide_kyc_gone).outcome, TIDE_KYC_SAME);
        struct tide_kyc_decision right = decision(TIDE_KYC_APPROVED, NOW - 60);
        p = weigh(&s, &right);
        assert_string_equal(p.reason, "");
        assert_int_equal(p.action, TIDE_KYC_ATTEST);
        assert_int_equal(p.attested_until, before.attested_until);
        right = decision(TIDE_KYC_DECLINED, NOW - 1);
        assert_int_equal(weigh(&s, &right).action, TIDE_KYC_REVOKE);
        s = standing(TIDE_KYC_PENDING); /* other statuses have a reason to wait */
        p = weigh(&s, &d);
        assert_int_equal(p.state, TIDE_KYC_REVIEW);
        assert_int_equal(p.action, TIDE_KYC_NO_ACTION);
    }
}

/* Many withdrawals at once need review by a person. A later approval ends the need for review. */
static void test_flood(void **state)
{
    (void)state;
    struct tide_kyc_standing s = approved();
    struct tide_kyc_decision d = decision(TIDE_KYC_DECLINED, NOW - 1);
    s.flood = true;
    struct tide_kyc_plan p = weigh(&s, &d);
    assert_int_equal(p.state, TIDE_KYC_APPROVED);
    assert_int_equal(p.action, TIDE_KYC_REVOKE);
    assert_string_equal(p.parked, "many_revocations");
    apply_plan(&s, &p);
    s.flood = false;
    assert_int_equal(weigh(&s, &d).outcome, TIDE_KYC_SAME);
    d = decision(TIDE_KYC_APPROVED, NOW);
    p = weigh(&s, &d);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
    assert_string_equal(p.reason, "");
    s = approved();
    s.flood = s.other = true; /* nothing is revoked: no need to wait */
    d = decision(TIDE_KYC_DECLINED, NOW - 1);
    assert_int_equal(weigh(&s, &d).action, TIDE_KYC_HAND_OVER);
}

/* After a decline or a withdrawal, an approval without a time may be the older of the two, so it
 * needs review. */
static void test_undated_approval(void **state)
{
    (void)state;
    static const enum tide_kyc_state ended[] = { TIDE_KYC_DECLINED, TIDE_KYC_REVOKED };
    for (size_t i = 0; i < TIDE_COUNT(ended); i++) {
        struct tide_kyc_standing s = standing(ended[i]);
        struct tide_kyc_decision d = decision(TIDE_KYC_APPROVED, 0);
        struct tide_kyc_plan p = weigh(&s, &d);
        assert_int_equal(p.state, TIDE_KYC_APPROVED);
        assert_int_equal(p.action, TIDE_KYC_ATTEST);
        assert_string_equal(p.parked, "undated_approval");
        apply_plan(&s, &p);
        assert_int_equal(weigh(&s, &d).outcome, TIDE_KYC_SAME);
        struct tide_kyc_decision declined = decision(TIDE_KYC_DECLINED, 0);
        assert_int_equal(weigh(&s, &declined).state, TIDE_KYC_REVOKED);
        d = decision(TIDE_KYC_APPROVED, NOW - 1);
        p = weigh(&s, &d);
        assert_int_equal(p.action, TIDE_KYC_ATTEST);
        assert_string_equal(p.parked, "");
    }
    struct tide_kyc_standing s = standing(TIDE_KYC_EXPIRED); /* the approval was late */
    struct tide_kyc_decision d = decision(TIDE_KYC_APPROVED, 0);
    assert_string_equal(weigh(&s, &d).parked, "");
    s = approved(); /* Approved, Expired, Approved */
    struct tide_kyc_decision expired = decision(TIDE_KYC_EXPIRED, 0);
    struct tide_kyc_plan p = weigh(&s, &expired);
    apply_plan(&s, &p);
    p = weigh(&s, &d);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
    assert_string_equal(p.parked, "undated_approval");
}

/* --- every order of every verdict ------------------------------------------------------------- */

/* Events of a session: a verdict of its provider, the end of its attestation, an order. */
enum step {
    APPROVES, /* anew */
    REPEATS,  /* the newest approval again, with its time */
    UNUSABLE, /* approves anew, but the answer has no country that could be attested */
    DECLINES,
    EXPIRES,
    WORKS, /* pending, created */
    REVIEWS,
    ASKS,    /* action required */
    UNCLEAR, /* no verdict: an unknown status, another reference */
    FORGETS, /* does not know the person */
    ENDS,    /* the attestation ends, and the provider is asked */
    PASSES,  /* the attestation ends, and no thread has noticed */
    ORDERS,  /* people order a revocation */
    STEPS
};
/* Providers, and their verdicts that have a time. An end of the document is an expiry with the time of
 * its approval; here it counts as undated where the provider has no other expiry. */
static const struct provider {
    const char *name;
    bool dated[STEPS], absent[STEPS];
} providers[] = {
    { "sumsub",
      { [APPROVES] = true, [REPEATS] = true, [UNUSABLE] = true, [DECLINES] = true, [ASKS] = true },
      { 0 } },
    { "persona",
      { [APPROVES] = true, [REPEATS] = true, [UNUSABLE] = true, [DECLINES] = true },
      { 0 } },
    { "veriff",
      { [APPROVES] = true,
        [REPEATS] = true,
        [UNUSABLE] = true,
        [DECLINES] = true,
        [EXPIRES] = true,
        [REVIEWS] = true,
        [ASKS] = true },
      { 0 } },
    { "didit", { 0 }, { [REPEATS] = true } },
    { "sandbox",
      { [APPROVES] = true,
        [REPEATS] = true,
        [UNUSABLE] = true,
        [DECLINES] = true,
        [EXPIRES] = true,
        [ASKS] = true },
      { [REVIEWS] = true } },
};

/* A session's row, what the outbox has for it, and what an attester that sends everything at once
 * has made of the chain. */
struct history {
    const struct provider *provider;
    struct tide_kyc_standing s;
    struct tide_kyc_decision last; /* the provider's answer now */
    enum step steps[6];
    size_t count;
    int64_t now, approved_ms, newest_ms, ended_ms; /* ended_ms: approvals up to it have ended */
    bool chain, waits;                             /* waits: an intent is parked */
    int64_t chain_until;
};

static void take_plan(struct history *h, const struct tide_kyc_decision *d)
{
    struct tide_kyc_plan p;
    tide_kyc_weigh(&p, &h->s, d, YEAR, h->now);
    apply_plan(&h->s, &p);
    if (p.action != TIDE_KYC_NO_ACTION) {
        h->waits = p.parked[0] != 0;
        if (!h->waits) {
            h->chain = p.action == TIDE_KYC_ATTEST;
            h->chain_until = p.attested_until;
        }
    }
    h->chain = h->chain && h->chain_until > h->now;
}

static enum tide_kyc_state state_of(enum step step)
{
    static const enum tide_kyc_state states[STEPS] = {
        [APPROVES] = TIDE_KYC_APPROVED, [REPEATS] = TIDE_KYC_APPROVED,
        [UNUSABLE] = TIDE_KYC_REVIEW,   [DECLINES] = TIDE_KYC_DECLINED,
        [EXPIRES] = TIDE_KYC_EXPIRED,   [WORKS] = TIDE_KYC_PENDING,
        [REVIEWS] = TIDE_KYC_REVIEW,    [ASKS] = TIDE_KYC_ACTION_REQUIRED,
        [UNCLEAR] = TIDE_KYC_REVIEW,
    };
    return states[step];
}

/* The provider's answer after the step. */
static void make_answer(struct history *h, enum step step)
{
    h->last = decision(state_of(step), 0);
    h->last.doubtful = step == UNUSABLE || step == UNCLEAR;
    h->last.approves = step == UNUSABLE;
    h->last.reason = step == UNUSABLE  ? "country_unknown"
                     : step == UNCLEAR ? "status_unknown"
                                       : NULL;
    if (h->provider->dated[step])
        h->last.decided_ms = step == REPEATS ? h->approved_ms : h->now * 1000;
    if (step == APPROVES || step == UNUSABLE)
        h->approved_ms = h->last.decided_ms;
}

static void take_step(struct history *h, enum step step)
{
    h->steps[h->count++] = step;
    h->now += 3600;
    if (step == ENDS || step == PASSES) {
        h->now += 2 * YEAR;
        h->ended_ms = h->newest_ms;
        h->chain = false;
        if (step == ENDS)
            take_plan(h, h->last.state == TIDE_KYC_CREATED ? NULL : &h->last);
    } else if (step == ORDERS) {
        h->s.ordered_ms = h->now * 1000;
        take_plan(h, &tide_kyc_ordered);
    } else if (step == FORGETS) {
        take_plan(h, &tide_kyc_gone);
    } else {
        make_answer(h, step);
        take_plan(h, &h->last);
        h->newest_ms = h->last.decided_ms > h->newest_ms ? h->last.decided_ms : h->newest_ms;
    }
}

/* True if a person finds the session in the console: a parked intent, or the list of sessions. */
static bool is_shown(const struct history *h)
{
    return h->waits || h->s.state == TIDE_KYC_REVIEW ||
           tide_kyc_reason_unusable(tide_slice_str(h->s.reason));
}

/* True if the newest step is an approval that counts already, for better or worse: one that ended
 * by time never counts again, one from before an order of people was known to them, and one from
 * before the known decision is an older answer. An undated one right after an end that no thread
 * has noticed cannot be told from the approval that ended. */
static bool is_spent(const struct history *h, bool late)
{
    int64_t ms = h->last.decided_ms;
    if (ms == 0)
        return late;
    return ms <= h->ended_ms || ms <= h->s.ordered_ms || ms < h->newest_ms;
}

static const char *fault_of(const struct history *h, bool late, bool was_open)
{
    switch (h->steps[h->count - 1]) {
    case APPROVES:
    case REPEATS:
        return h->chain || is_shown(h) || is_spent(h, late) ? NULL : "an approval is lost";
    case UNUSABLE:
        return is_shown(h) ? NULL : "an approval that cannot be attested is lost";
    case UNCLEAR:
        if (was_open && h->s.state != TIDE_KYC_REVIEW && h->s.state != TIDE_KYC_EXPIRED)
            return "an open session with an unclear answer is not shown";
        return h->chain && !h->waits ? "an attestation stands in doubt and unseen" : NULL;
    case FORGETS:
        return h->chain && !h->waits ? "an attestation of a forgotten person stands unseen" : NULL;
    case DECLINES:
    case EXPIRES:
    case WORKS:
    case REVIEWS:
    case ASKS:
    case ENDS:
    case PASSES:
    case ORDERS:
    case STEPS:
    default:
        return h->chain && !(h->s.flood && h->waits) ? "an attestation stands after its approval"
                                                     : NULL;
    }
}

static void fail_history(const struct history *h, const char *why)
{
    static const char *const words[STEPS] = { "approves", "repeats", "unusable", "declines",
                                              "expires",  "works",   "reviews",  "asks",
                                              "unclear",  "forgets", "ends",     "passes",
                                              "orders" };
    char text[256] = "";
    for (size_t i = 0; i < h->count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), " %s", words[h->steps[i]]);
    fail_msg("%s: %s:%s: %s %s chain %d waits %d", h->provider->name, why, text,
             tide_kyc_state_text(h->s.state), h->s.reason, h->chain, h->waits);
}

/* Asks again, as a regular check does of sessions that are open or approved: nothing may be sent. */
static void expect_rest(const struct history *h)
{
    struct tide_kyc_plan p;
    enum step step = h->steps[h->count - 1];
    if (step > UNCLEAR || !(tide_kyc_is_open(h->s.state) || h->s.state == TIDE_KYC_APPROVED))
        return;
    tide_kyc_weigh(&p, &h->s, &h->last, YEAR, h->now + 1);
    if (p.action != TIDE_KYC_NO_ACTION)
        fail_history(h, "the same answer again acts");
}

/* Takes every step from there, to a depth. Returns the number of histories. */
static size_t walk(const struct history *from, size_t depth)
{
    size_t count = 1;
    if (from->count == depth)
        return count;
    for (enum step step = 0; step < STEPS; step++) {
        struct history h = *from;
        bool was_open = tide_kyc_is_open(h.s.state);
        bool late = h.s.state == TIDE_KYC_APPROVED && h.s.attested_until <= h.now;
        if (h.provider->absent[step] || (step == REPEATS && !h.approved_ms))
            continue;
        take_step(&h, step);
        const char *fault = fault_of(&h, late, was_open);
        if (fault)
            fail_history(&h, fault);
        expect_rest(&h);
        count += walk(&h, depth);
    }
    return count;
}

/* No approval of a provider is lost, and no attestation outlives it unseen, in every order of all
 * verdicts. */
static void test_every_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * TIDE_COUNT(providers); i++) {
        struct history h = { .provider = &providers[i / 2],
                             .s = standing(TIDE_KYC_CREATED),
                             .last = decision(TIDE_KYC_CREATED, 0),
                             .now = NOW };
        h.s.flood = i % 2; /* the provider has used up its revocations of the hour */
        print_message("%s: %zu histories\n", h.provider->name, walk(&h, 5));
    }
}

/* A changed field does not extend an attestation whose decision is not new. */
static void test_a_change_does_not_renew(void **state)
{
    (void)state;
    struct tide_kyc_standing s = approved();
    s.attested_until = NOW + 10 * DAY;
    struct tide_kyc_decision d = decision(TIDE_KYC_APPROVED, NOW - 60);
    d.jurisdiction = 276;
    struct tide_kyc_plan p = weigh(&s, &d);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
    assert_int_equal(p.attested_until, NOW + 10 * DAY);
    d.decided_ms = 0; /* the decision has no time */
    assert_int_equal(weigh(&s, &d).attested_until, NOW + 10 * DAY);
    /* an end before the present one is taken over even without a time */
    d.valid_until = NOW + 5 * DAY;
    assert_int_equal(weigh(&s, &d).attested_until, NOW + 5 * DAY);
    d = decision(TIDE_KYC_APPROVED, NOW - 60);
    d.valid_until = NOW + 500 * DAY;
    p = weigh(&s, &d); /* no value on the chain changes */
    assert_int_equal(p.outcome, TIDE_KYC_MOVED);
    assert_int_equal(p.action, TIDE_KYC_NO_ACTION);
    d.decided_ms = (int64_t)(NOW - 1) * 1000; /* a new decision */
    assert_int_equal(weigh(&s, &d).attested_until, NOW + YEAR);
}

/* A decision time in the future is dropped: otherwise every later decision would count as older
 * until then. */
static void test_time_to_come(void **state)
{
    (void)state;
    struct tide_kyc_standing s = standing(TIDE_KYC_PENDING);
    struct tide_kyc_decision d = decision(TIDE_KYC_APPROVED, NOW + YEAR);
    struct tide_kyc_plan p = weigh(&s, &d);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
    assert_int_equal(p.decided_ms, 0);
    apply_plan(&s, &p);
    d = decision(TIDE_KYC_DECLINED, NOW - 1);
    p = weigh(&s, &d);
    assert_int_equal(p.action, TIDE_KYC_REVOKE);
}

static void test_asked_again(void **state)
{
    (void)state;
    struct tide_kyc_standing s = standing(TIDE_KYC_PENDING);
    struct tide_kyc_plan p = weigh(&s, NULL);
    uint32_t wait = tide_kyc_next_check(&p, &s, 60, 0, NOW);
    assert_int_equal(wait, 75); /* the session is ten minutes old */
    assert_in_range(tide_kyc_next_check(&p, &s, 60, 255, NOW), 76, 94);
    s.created_at = NOW - 30 * DAY;
    assert_int_equal(tide_kyc_next_check(&p, &s, 60, 0, NOW), 3600);
    s.expires_at = NOW + 100;
    assert_int_equal(tide_kyc_next_check(&p, &s, 60, 0, NOW), 100);
    s = approved();
    p = weigh(&s, NULL);
    assert_int_equal(tide_kyc_next_check(&p, &s, 60, 0, NOW), DAY);
    s.attested_until = NOW + 7;
    p = weigh(&s, NULL);
    assert_int_equal(tide_kyc_next_check(&p, &s, 60, 0, NOW), 7);
    s = standing(TIDE_KYC_DECLINED);
    p = weigh(&s, NULL);
    assert_int_equal(tide_kyc_next_check(&p, &s, 60, 0, NOW), 0);
}

/* The hash was computed with: printf 'sumsub\0app-1\0003' | openssl dgst -sha256 -mac HMAC -macopt
 * hexkey:0001…1f */
static void test_meta_hash(void **state)
{
    (void)state;
    uint8_t key[32], hash[TIDE_HASH_BYTES];
    char text[2 * TIDE_HASH_BYTES + 1] = "";
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)i;
    tide_kyc_meta_hash(hash, key, "sumsub", "app-1", 3);
    tide_hex(text, tide_slice_of(hash, sizeof hash));
    assert_string_equal(text, "6d4320f8ef3f98c2a41d71cc7cbf612e4d53543b1428eed59d5ab4fd7bd60c57");
}

/* --- counters -------------------------------------------------------------------------------- */

/* Two operators order a revocation while the provider still approves. */
static void test_ordered(void **state)
{
    (void)state;
    struct tide_kyc_standing s = approved();
    s.flood = true; /* is no limit of people's */
    struct tide_kyc_plan p = weigh(&s, &tide_kyc_ordered);
    assert_int_equal(p.state, TIDE_KYC_REVOKED);
    assert_string_equal(p.reason, "operator");
    assert_int_equal(p.action, TIDE_KYC_REVOKE);
    assert_string_equal(p.parked, "");
    s.other = true; /* an approval that came after the order */
    assert_int_equal(weigh(&s, &tide_kyc_ordered).action, TIDE_KYC_HAND_OVER);
    s.other = s.attested = false;
    assert_int_equal(weigh(&s, &tide_kyc_ordered).action, TIDE_KYC_NO_ACTION);
    apply_plan(&s, &p);
    s.attested = true;
    assert_int_equal(weigh(&s, &tide_kyc_ordered).outcome, TIDE_KYC_SAME);
    for (enum tide_kyc_state at = TIDE_KYC_CREATED; at < TIDE_KYC_STATE_COUNT; at++) {
        struct tide_kyc_standing other = standing(at);
        bool standing_one = at == TIDE_KYC_APPROVED;
        assert_int_equal(weigh(&other, &tide_kyc_ordered).outcome,
                         standing_one ? TIDE_KYC_MOVED : TIDE_KYC_SAME);
    }
}

/* A provider's approval from before the order does not undo the order, in this session or another
 * one. */
static void test_approval_before_an_order(void **state)
{
    (void)state;
    struct tide_kyc_standing s = standing(TIDE_KYC_PENDING);
    s.ordered_ms = (int64_t)(NOW - 30) * 1000;
    struct tide_kyc_decision before = decision(TIDE_KYC_APPROVED, NOW - 60);
    struct tide_kyc_decision undated = decision(TIDE_KYC_APPROVED, 0);
    struct tide_kyc_decision after = decision(TIDE_KYC_APPROVED, NOW - 10);
    struct tide_kyc_plan p = weigh(&s, &undated);
    assert_string_equal(p.parked, "before_revocation");
    p = weigh(&s, &before);
    assert_int_equal(p.state, TIDE_KYC_APPROVED);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
    assert_string_equal(p.parked, "before_revocation");
    apply_plan(&s, &p);
    assert_int_equal(weigh(&s, &before).outcome, TIDE_KYC_SAME); /* the same decision again */
    assert_int_equal(weigh(&s, &undated).outcome, TIDE_KYC_SAME);
    p = weigh(&s, &after);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
    assert_string_equal(p.parked, "");
    s = approved();
    p = weigh(&s, &tide_kyc_ordered);
    apply_plan(&s, &p);
    s.ordered_ms = (int64_t)(NOW - 30) * 1000;
    assert_int_equal(weigh(&s, &before).outcome, TIDE_KYC_SAME);
    p = weigh(&s, &after);
    assert_int_equal(p.action, TIDE_KYC_ATTEST);
    assert_string_equal(p.parked, "");
}

static void test_reported_once_a_minute(void **state)
{
    (void)state;
    struct tide_kyc_refused *r = tide_kyc_refused_open();
    struct tide_kyc_count_line line;
    assert_false(tide_kyc_next_report(r, 0, 0, 60000, &line));
    tide_kyc_count(r, 0, TIDE_KYC_KEPT, NULL);
    /* accepted webhooks are not reported */
    assert_false(tide_kyc_next_report(r, 0, 0, 60000, &line));
    for (int i = 0; i < 5; i++)
        tide_kyc_count(r, 0, TIDE_KYC_FALSE, "signature");
    assert_false(tide_kyc_next_report(r, 1, 0, 60000, &line));
    assert_true(tide_kyc_next_report(r, 0, 0, 60000, &line));
    assert_int_equal(line.count, 5);
    assert_string_equal(line.why, "signature");
    assert_false(tide_kyc_next_report(r, 0, 1, 60000, &line));
    tide_kyc_count(r, 0, TIDE_KYC_FALSE, "signature");
    assert_false(tide_kyc_next_report(r, 0, 59999, 60000, &line));
    assert_true(tide_kyc_next_report(r, 0, 60000, 60000, &line));
    assert_int_equal(line.count, 1);
    tide_kyc_undo_report(r, 0, &line);
    assert_true(tide_kyc_next_report(r, 0, 60001, 60000, &line));
    assert_int_equal(line.count, 1);
    tide_kyc_refused_close(r);
}

static void test_words_are_bounded(void **state)
{
    (void)state;
    static char words[100][8];
    struct tide_kyc_refused *r = tide_kyc_refused_open();
    struct tide_kyc_count_line lines[TIDE_KYC_REFUSED_WORDS];
    uint64_t sum = 0;
    for (int i = 0; i < 100; i++) {
        snprintf(words[i], sizeof words[i], "w%d", i);
        tide_kyc_count(r, 2, TIDE_KYC_FALSE, words[i]);
    }
    uint32_t count = tide_kyc_counted(r, 2, lines);
    assert_int_equal(count, TIDE_KYC_REFUSED_WORDS);
    for (uint32_t i = 0; i < count; i++)
        sum += lines[i].count;
    assert_int_equal(sum, 100);
    assert_string_equal(lines[count - 1].why, "other");
    tide_kyc_refused_close(r);
}

static void test_patience(void **state)
{
    (void)state;
    struct tide_kyc_refused *r = tide_kyc_refused_open();
    uint32_t had = 0;
    for (uint32_t i = 0; i < 2 * TIDE_KYC_FORGERIES_MINUTE; i++)
        had += tide_kyc_take_forgery_token(r, 0, 5000);
    assert_int_equal(had, TIDE_KYC_FORGERIES_MINUTE);
    assert_true(tide_kyc_take_forgery_token(r, 1, 5000)); /* the token of another provider */
    had = 0;
    for (int i = 0; i < 1000; i++)
        had += tide_kyc_take_forgery_token(r, 0, 6000);
    assert_int_equal(had, TIDE_KYC_FORGERIES_MINUTE / 60);
    tide_kyc_refused_close(r);
}

static void *count_many(void *refused)
{
    for (int i = 0; i < 10000; i++)
        tide_kyc_count(refused, 0, TIDE_KYC_FALSE, i % 2 ? "signature" : "time");
    return NULL;
}

static void test_counted_by_many(void **state)
{
    (void)state;
    struct tide_kyc_refused *r = tide_kyc_refused_open();
    struct tide_kyc_count_line lines[TIDE_KYC_REFUSED_WORDS], line;
    pthread_t threads[4];
    uint64_t told = 0;
    for (size_t i = 0; i < TIDE_COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_many, r), 0);
    for (int i = 0; i < 100; i++)
        while (tide_kyc_next_report(r, 0, i, 1, &line))
            told += line.count;
    for (size_t i = 0; i < TIDE_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    while (tide_kyc_next_report(r, 0, 1000, 1, &line))
        told += line.count;
    assert_int_equal(told, 40000);
    assert_int_equal(tide_kyc_counted(r, 0, lines), 2);
    tide_kyc_refused_close(r);
}

int test_kyc_decision(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_approval),
        cmocka_unit_test(test_approval_that_is_none),
        cmocka_unit_test(test_newest_wins),
        cmocka_unit_test(test_withdrawal),
        cmocka_unit_test(test_country_changes),
        cmocka_unit_test(test_time_ends),
        cmocka_unit_test(test_declined_after_its_end),
        cmocka_unit_test(test_random_orders),
        cmocka_unit_test(test_every_order),
        cmocka_unit_test(test_asked_again),
        cmocka_unit_test(test_another_stands),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_doubts),
        cmocka_unit_test(test_flood),
        cmocka_unit_test(test_undated_approval),
        cmocka_unit_test(test_a_change_does_not_renew),
        cmocka_unit_test(test_time_to_come),
        cmocka_unit_test(test_ordered),
        cmocka_unit_test(test_approval_before_an_order),
        cmocka_unit_test(test_meta_hash),
        cmocka_unit_test(test_reported_once_a_minute),
        cmocka_unit_test(test_words_are_bounded),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_counted_by_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
