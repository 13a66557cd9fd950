/* Calls of the compliance registry: attestations, suspensions, freezes, countries, verifiers. */
#include "tools/sim/workload/workload.h"

/* Countries of the users, ISO 3166-1 numbers. The last two are blocked from the start. */
static const int countries[] = { 392, 756, 702, 36, 826, 124, 484, 710, 840, 276 };

/* Returns the metadata of an attestation: mostly a hash, sometimes nothing or 40 bytes. */
static tide_slice random_metadata(struct workload *workload, uint8_t out[40])
{
    for (size_t i = 0; i < 40; i += 8) {
        uint64_t v = workload_random(workload);
        memcpy(out + i, &v, 8);
    }
    uint32_t luck = workload_pick(workload, 12);
    return tide_slice_of(out, luck == 0 ? 0 : luck == 1 ? 40 : 32);
}

/* Returns a random expiry in unix seconds; 0: never. */
static int64_t random_expiry(struct workload *workload)
{
    static const int64_t days[] = { 0, 400, 3, 200, 90, 20 };
    int64_t length = days[workload_pick(workload, TIDE_COUNT(days))];
    return length ? (int64_t)workload->now + length * 86400 : 0;
}

static bool needs_attestation(const struct workload *workload, const struct workload_user *user)
{
    return !user->attested || (user->until && user->until < (int64_t)workload->now);
}

/* Returns the user to attest: mostly one who needs an attestation. */
static uint32_t pick_subject(struct workload *workload)
{
    uint32_t at = workload_pick(workload, workload->user_count);
    for (uint32_t tries = 0; tries < 20 && !needs_attestation(workload, &workload->users[at]);
         tries++)
        at = workload_pick(workload, workload->user_count);
    return at;
}

/* Returns a verifier: mostly one of the three whom the deployment registers. */
static uint32_t pick_verifier(struct workload *workload)
{
    return PARTY_VERIFIER +
           workload_pick(workload, workload_once_in(workload, 8) ? PARTY_VERIFIERS : 3);
}

/* A verifier attests a user; one in eight may come from a blocked country. */
static void attest_user(struct workload *workload, struct workload_call *call)
{
    uint8_t bytes[40];
    uint32_t at = pick_subject(workload);
    tide_slice data = random_metadata(workload, bytes);
    int country = countries[workload_pick(
        workload, workload_once_in(workload, 8) ? TIDE_COUNT(countries) : 8)];
    uint32_t verifier = pick_verifier(workload);
    int64_t until = random_expiry(workload);
    workload_begin(call, verifier, PARTY_COMPLIANCE, "attest");
    workload_args(workload, call, "aauty", (int)verifier, workload->users[at].ref, country,
                  (long long)until, &data);
    call->amount = until;
    call->note = NOTE_ATTEST;
    call->party = at;
}

/* A user submits an attestation of a signer. Unregistered signers are refused. */
static void submit_attestation(struct workload *workload, struct workload_call *call)
{
    uint32_t at = workload_free_user(workload);
    const struct workload_user *user = &workload->users[at];
    int country = countries[workload_pick(
        workload, workload_once_in(workload, 5) ? TIDE_COUNT(countries) : 8)];
    int64_t until = random_expiry(workload);
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

/* Returns a random user whose restrictions may change. */
static uint32_t pick_user(struct workload *workload)
{
    uint32_t at = workload_pick(workload, workload->user_count);
    bool keeps = workload->profile == WORKLOAD_SHOWCASE && at == WORKLOAD_FROZEN;
    assert(!keeps || at + 1 < workload->user_count);
    return keeps ? at + 1 : at;
}

/* The admin freezes an account; a heal unfreezes it. */
static void freeze_user(struct workload *workload, struct workload_call *call)
{
    static const char *const reasons[] = { "court", "ofac", "lost_key", "review" };
    uint32_t at = pick_user(workload);
    workload_begin(call, PARTY_ADMIN, PARTY_COMPLIANCE, "freeze_account");
    workload_args(workload, call, "aas", PARTY_ADMIN, workload->users[at].ref,
                  reasons[workload_pick(workload, TIDE_COUNT(reasons))]);
    workload_heal_later(workload, HEAL_PERSON, at, 10 + workload_pick(workload, 60));
}

/* The admin suspends or sanctions an account. The heal of a sanction only unfreezes it. */
static void suspend_user(struct workload *workload, struct workload_call *call)
{
    uint32_t at = pick_user(workload);
    bool sanction = workload_once_in(workload, 4);
    workload_begin(call, PARTY_ADMIN, PARTY_COMPLIANCE,
                   sanction ? "sanction_account" : "suspend_account");
    workload_args(workload, call, "aas", PARTY_ADMIN, workload->users[at].ref,
                  sanction ? "ofac" : "review");
    workload->users[at].attested = false;
    if (sanction)
        workload_heal_later(workload, HEAL_PERSON, at, 20 + workload_pick(workload, 100));
}

/* Calls fn for a random user, who mostly has no restriction to lift. */
static void lift_restriction(struct workload *workload, struct workload_call *call, const char *fn)
{
    uint32_t at = pick_user(workload);
    workload_begin(call, PARTY_ADMIN, PARTY_COMPLIANCE, fn);
    workload_args(workload, call, "aa", PARTY_ADMIN, workload->users[at].ref);
}

/* A verifier revokes an attestation; the call fails if another verifier made it. */
static void revoke_attestation(struct workload *workload, struct workload_call *call)
{
    uint32_t at = workload_pick(workload, workload->user_count);
    uint32_t verifier = pick_verifier(workload);
    workload_begin(call, verifier, PARTY_COMPLIANCE, "revoke");
    workload_args(workload, call, "aa", (int)verifier, workload->users[at].ref);
    workload->users[at].attested = false;
}

/* Shares are of 40. */
void workload_people(struct workload *workload, struct workload_call *call)
{
    uint32_t luck = workload_pick(workload, 40);
    if (luck < 20)
        attest_user(workload, call);
    else if (luck < 27)
        submit_attestation(workload, call);
    else if (luck < 30)
        freeze_user(workload, call);
    else if (luck < 33)
        suspend_user(workload, call);
    else if (luck < 35)
        lift_restriction(workload, call, "unsuspend_account");
    else if (luck < 37)
        lift_restriction(workload, call, "unfreeze_account");
    else
        revoke_attestation(workload, call);
}

/* Blocks or unblocks a country, or blocks a whole list again. */
static void change_country_rule(struct workload *workload, struct workload_call *call)
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

/* Adds, removes or replaces a verifier, or registers a signer. */
static void change_verifier(struct workload *workload, struct workload_call *call)
{
    uint32_t verifier = PARTY_VERIFIER + workload_pick(workload, PARTY_VERIFIERS);
    uint32_t luck = workload_pick(workload, 9);
    if (workload_clients_active(workload))
        luck = 0; /* verifiers keep their role while clients are active */
    if (luck < 6) {
        static const char *const names[] = { "add_verifier", "remove_verifier", "set_verifier" };
        workload_begin(call, PARTY_DAOWALLET, PARTY_COMPLIANCE, names[luck / 2]);
        workload_args(workload, call, "aa", PARTY_DAOWALLET, (int)verifier);
        /* luck 2 and 3 remove the verifier */
        if (luck / 2 == 1)
            workload_heal_later(workload, HEAL_VERIFIER, verifier, 3 + workload_pick(workload, 20));
    } else {
        workload_begin(call, verifier, PARTY_COMPLIANCE, "register_signer");
        workload_args(workload, call, "aa", (int)verifier,
                      (int)(PARTY_SIGNER + workload_pick(workload, PARTY_SIGNERS)));
    }
}

/* Sets the rule of an asset: blocked countries, a daily limit, the travel rule. */
static void set_asset_rule(struct workload *workload, struct workload_call *call)
{
    const char *symbol = party_markets[workload_pick(workload, 3)].symbol;
    uint32_t count = workload_clients_active(workload) ? 0 : workload_pick(workload, 3);
    workload_begin(call, PARTY_DAOWALLET, PARTY_COMPLIANCE, "set_asset_rule");
    workload_args(workload, call, "as", PARTY_DAOWALLET, symbol);
    workload_vec(call, count);
    for (uint32_t i = 0; i < count; i++)
        workload_put(workload, call, 'u', i ? 36 : 840);
    uint32_t travel_rule = workload_pick(workload, 2);
    workload_args(workload, call, "ib",
                  workload_once_in(workload, 2)
                      ? 0LL
                      : (long long)workload_between(workload, 20000, 90000) * 10000000,
                  (int)travel_rule);
}

void workload_registry(struct workload *workload, struct workload_call *call)
{
    uint32_t luck = workload_pick(workload, 10);
    if (luck < 4) {
        change_country_rule(workload, call);
    } else if (luck < 7) {
        change_verifier(workload, call);
    } else if (luck < 9) {
        set_asset_rule(workload, call);
    } else {
        uint32_t at = workload_pick(workload, workload->user_count);
        workload_begin(call, PARTY_ADMIN, PARTY_COMPLIANCE, "set_whitelist");
        workload_args(workload, call, "aab", PARTY_ADMIN, workload->users[at].ref,
                      (int)workload_pick(workload, 2));
    }
}
