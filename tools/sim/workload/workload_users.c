/* Attestations, suspensions, freezes, countries, verifiers. */
#include "tools/sim/workload/workload.h"

/* Countries of the users; the last two are blocked from the start. */
static const int countries[] = { 392, 756, 702, 36, 826, 124, 484, 710, 840, 276 };

static tide_slice metadata(struct workload *workload, uint8_t out[40])
{
    for (size_t i = 0; i < 40; i += 8) {
        uint64_t v = workload_random(workload);
        memcpy(out + i, &v, 8);
    }
    uint32_t luck = workload_pick(workload, 12);
    return tide_slice_of(out, luck == 0 ? 0 : luck == 1 ? 40 : 32);
}

static int64_t expiry(struct workload *workload)
{
    static const int64_t days[] = { 0, 400, 3, 200, 90, 20 };
    int64_t length = days[workload_pick(workload, TIDE_COUNT(days))];
    return length ? (int64_t)workload->now + length * 86400 : 0;
}

static bool needs_attestation(const struct workload *workload, const struct workload_user *user)
{
    return !user->attested || (user->until && user->until < (int64_t)workload->now);
}

/* The user to attest: mostly one without an attestation. */
static uint32_t pick_subject(struct workload *workload)
{
    uint32_t at = workload_pick(workload, workload->user_count);
    for (uint32_t tries = 0; tries < 20 && !needs_attestation(workload, &workload->users[at]);
         tries++)
        at = workload_pick(workload, workload->user_count);
    return at;
}

static uint32_t pick_verifier(struct workload *workload)
{
    return PARTY_VERIFIER +
           workload_pick(workload, workload_once_in(workload, 8) ? PARTY_VERIFIERS : 3);
}

static void attest(struct workload *workload, struct workload_call *call)
{
    uint8_t bytes[40];
    uint32_t at = pick_subject(workload);
    tide_slice data = metadata(workload, bytes);
    int country = countries[workload_pick(
        workload, workload_once_in(workload, 8) ? TIDE_COUNT(countries) : 8)];
    uint32_t verifier = pick_verifier(workload);
    int64_t until = expiry(workload);
    workload_begin(call, verifier, PARTY_COMPLIANCE, "attest");
    workload_args(workload, call, "aauty", (int)verifier, workload->users[at].ref, country,
                  (long long)until, &data);
    call->amount = until;
    call->note = NOTE_ATTEST;
    call->party = at;
}

static void submit(struct workload *workload, struct workload_call *call)
{
    uint32_t at = workload_free_user(workload);
    const struct workload_user *user = &workload->users[at];
    int country = countries[workload_pick(
        workload, workload_once_in(workload, 5) ? TIDE_COUNT(countries) : 8)];
    int64_t until = expiry(workload);
    workload_begin(call, user->source, PARTY_COMPLIANCE, "submit_attestation");
    workload_args(
        workload, call, "aaut", user->ref,
        (int)(PARTY_SIGNER + workload_pick(workload, workload_once_in(workload, 5) ? 3 : 2)),
        country, (long long)until);
    call->amount = until;
    call->auth = user->ref;
    call->note = NOTE_ATTEST;
    call->party = at;
}

static void freeze(struct workload *workload, struct workload_call *call)
{
    static const char *const reasons[] = { "court", "ofac", "lost_key", "review" };
    uint32_t at = workload_pick(workload, workload->user_count);
    workload_begin(call, PARTY_ADMIN, PARTY_COMPLIANCE, "freeze_account");
    workload_args(workload, call, "aas", PARTY_ADMIN, workload->users[at].ref,
                  reasons[workload_pick(workload, TIDE_COUNT(reasons))]);
    workload_heal_later(workload, HEAL_PERSON, at, 10 + workload_pick(workload, 60));
}

static void suspend(struct workload *workload, struct workload_call *call)
{
    uint32_t at = workload_pick(workload, workload->user_count);
    bool sanction = workload_once_in(workload, 4);
    workload_begin(call, PARTY_ADMIN, PARTY_COMPLIANCE,
                   sanction ? "sanction_account" : "suspend_account");
    workload_args(workload, call, "aas", PARTY_ADMIN, workload->users[at].ref,
                  sanction ? "ofac" : "review");
    workload->users[at].attested = false;
    if (sanction)
        workload_heal_later(workload, HEAL_PERSON, at, 20 + workload_pick(workload, 100));
}

static void relieve(struct workload *workload, struct workload_call *call, const char *fn)
{
    uint32_t at = workload_pick(workload, workload->user_count);
    workload_begin(call, PARTY_ADMIN, PARTY_COMPLIANCE, fn);
    workload_args(workload, call, "aa", PARTY_ADMIN, workload->users[at].ref);
}

static void revoke(struct workload *workload, struct workload_call *call)
{
    uint32_t at = workload_pick(workload, workload->user_count);
    uint32_t verifier = pick_verifier(workload);
    workload_begin(call, verifier, PARTY_COMPLIANCE, "revoke");
    workload_args(workload, call, "aa", (int)verifier, workload->users[at].ref);
    workload->users[at].attested = false;
}

void workload_people(struct workload *workload, struct workload_call *call)
{
    uint32_t luck = workload_pick(workload, 40);
    if (luck < 20)
        attest(workload, call);
    else if (luck < 27)
        submit(workload, call);
    else if (luck < 30)
        freeze(workload, call);
    else if (luck < 33)
        suspend(workload, call);
    else if (luck < 35)
        relieve(workload, call, "unsuspend_account");
    else if (luck < 37)
        relieve(workload, call, "unfreeze_account");
    else
        revoke(workload, call);
}

static void country_rules(struct workload *workload, struct workload_call *call)
{
    uint32_t luck = workload_pick(workload, 8);
    int country = countries[workload_pick(workload, 8)];
    if (luck < 3 && workload_may_disturb(workload)) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_COMPLIANCE, "block_jurisdiction");
        workload_args(workload, call, "au", PARTY_DAOWALLET, country);
        workload_heal_later(workload, HEAL_COUNTRY, (uint32_t)country,
                            2 + workload_pick(workload, 10));
    } else if (luck < 6) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_COMPLIANCE, "unblock_jurisdiction");
        workload_args(workload, call, "au", PARTY_DAOWALLET, country);
    } else {
        workload_begin(call, PARTY_DAOWALLET, PARTY_COMPLIANCE,
                       luck == 6 ? "block_us_and_eu" : "block_sanctioned_countries");
        workload_args(workload, call, "a", PARTY_DAOWALLET);
    }
}

static void verifier_rules(struct workload *workload, struct workload_call *call)
{
    uint32_t verifier = PARTY_VERIFIER + workload_pick(workload, PARTY_VERIFIERS);
    uint32_t luck = workload_pick(workload, 9);
    if (workload_has_company(workload))
        luck = 0; /* no office is revoked meanwhile */
    if (luck < 6) {
        static const char *const names[] = { "add_verifier", "remove_verifier", "set_verifier" };
        workload_begin(call, PARTY_DAOWALLET, PARTY_COMPLIANCE, names[luck / 2]);
        workload_args(workload, call, "aa", PARTY_DAOWALLET, (int)verifier);
        if (luck / 2 == 1)
            workload_heal_later(workload, HEAL_VERIFIER, verifier, 3 + workload_pick(workload, 20));
    } else {
        workload_begin(call, verifier, PARTY_COMPLIANCE, "register_signer");
        workload_args(workload, call, "aa", (int)verifier,
                      (int)(PARTY_SIGNER + workload_pick(workload, PARTY_SIGNERS)));
    }
}

static void asset_rule(struct workload *workload, struct workload_call *call)
{
    const char *symbol = party_markets[workload_pick(workload, 3)].symbol;
    uint32_t count = workload_has_company(workload) ? 0 : workload_pick(workload, 3);
    workload_begin(call, PARTY_DAOWALLET, PARTY_COMPLIANCE, "set_asset_rule");
    workload_args(workload, call, "as", PARTY_DAOWALLET, symbol);
    workload_vec(call, count);
    for (uint32_t i = 0; i < count; i++)
        workload_put(workload, call, 'u', i ? 36 : 840);
    workload_args(workload, call, "ib",
                  workload_once_in(workload, 2)
                      ? 0LL
                      : (long long)workload_between(workload, 20000, 90000) * 10000000,
                  (int)workload_pick(workload, 2));
}

void workload_registry(struct workload *workload, struct workload_call *call)
{
    uint32_t luck = workload_pick(workload, 10);
    if (luck < 4) {
        country_rules(workload, call);
    } else if (luck < 7) {
        verifier_rules(workload, call);
    } else if (luck < 9) {
        asset_rule(workload, call);
    } else {
        uint32_t at = workload_pick(workload, workload->user_count);
        workload_begin(call, PARTY_ADMIN, PARTY_COMPLIANCE, "set_whitelist");
        workload_args(workload, call, "aab", PARTY_ADMIN, workload->users[at].ref,
                      (int)workload_pick(workload, 2));
    }
}
