/* Attestations, suspensions, freezes, countries, verifiers. */
#include "tools/sim/workload/workload.h"

/* Countries people say they come from; the last two are blocked from the start. */
static const int countries[] = { 392, 756, 702, 36, 826, 124, 484, 710, 840, 276 };

static tide_slice metadata(struct story *story, uint8_t out[40])
{
    for (size_t i = 0; i < 40; i += 8) {
        uint64_t v = story_random(story);
        memcpy(out + i, &v, 8);
    }
    uint32_t luck = story_pick(story, 12);
    return tide_slice_of(out, luck == 0 ? 0 : luck == 1 ? 40 : 32);
}

static int64_t expiry(struct story *story)
{
    static const int64_t days[] = { 0, 400, 3, 200, 90, 20 };
    int64_t length = days[story_pick(story, TIDE_COUNT(days))];
    return length ? (int64_t)story->now + length * 86400 : 0;
}

static bool needs_attestation(const struct story *story, const struct story_user *user)
{
    return !user->attested || (user->until && user->until < (int64_t)story->now);
}

/* Whom to attest: mostly somebody who is not. */
static uint32_t pick_subject(struct story *story)
{
    uint32_t at = story_pick(story, story->user_count);
    for (uint32_t tries = 0; tries < 20 && !needs_attestation(story, &story->users[at]); tries++)
        at = story_pick(story, story->user_count);
    return at;
}

static uint32_t pick_verifier(struct story *story)
{
    return CAST_VERIFIER + story_pick(story, story_once_in(story, 8) ? CAST_VERIFIERS : 3);
}

static void attest(struct story *story, struct story_call *call)
{
    uint8_t bytes[40];
    uint32_t at = pick_subject(story);
    tide_slice data = metadata(story, bytes);
    int country = countries[story_pick(story, story_once_in(story, 8) ? TIDE_COUNT(countries) : 8)];
    uint32_t verifier = pick_verifier(story);
    int64_t until = expiry(story);
    story_begin(call, verifier, CAST_COMPLIANCE, "attest");
    story_args(story, call, "aauty", (int)verifier, story->users[at].ref, country, (long long)until,
               &data);
    call->amount = until;
    call->note = NOTE_ATTEST;
    call->who = at;
}

static void submit(struct story *story, struct story_call *call)
{
    uint32_t at = story_free_user(story);
    const struct story_user *user = &story->users[at];
    int country = countries[story_pick(story, story_once_in(story, 5) ? TIDE_COUNT(countries) : 8)];
    int64_t until = expiry(story);
    story_begin(call, user->source, CAST_COMPLIANCE, "submit_attestation");
    story_args(story, call, "aaut", user->ref,
               (int)(CAST_SIGNER + story_pick(story, story_once_in(story, 5) ? 3 : 2)), country,
               (long long)until);
    call->amount = until;
    call->auth = user->ref;
    call->note = NOTE_ATTEST;
    call->who = at;
}

static void freeze(struct story *story, struct story_call *call)
{
    static const char *const reasons[] = { "court", "ofac", "lost_key", "review" };
    uint32_t at = story_pick(story, story->user_count);
    story_begin(call, CAST_ADMIN, CAST_COMPLIANCE, "freeze_account");
    story_args(story, call, "aas", CAST_ADMIN, story->users[at].ref,
               reasons[story_pick(story, TIDE_COUNT(reasons))]);
    story_heal_later(story, HEAL_PERSON, at, 10 + story_pick(story, 60));
}

static void suspend(struct story *story, struct story_call *call)
{
    uint32_t at = story_pick(story, story->user_count);
    bool sanction = story_once_in(story, 4);
    story_begin(call, CAST_ADMIN, CAST_COMPLIANCE,
                sanction ? "sanction_account" : "suspend_account");
    story_args(story, call, "aas", CAST_ADMIN, story->users[at].ref, sanction ? "ofac" : "review");
    story->users[at].attested = false;
    if (sanction)
        story_heal_later(story, HEAL_PERSON, at, 20 + story_pick(story, 100));
}

static void relieve(struct story *story, struct story_call *call, const char *fn)
{
    uint32_t at = story_pick(story, story->user_count);
    story_begin(call, CAST_ADMIN, CAST_COMPLIANCE, fn);
    story_args(story, call, "aa", CAST_ADMIN, story->users[at].ref);
}

static void revoke(struct story *story, struct story_call *call)
{
    uint32_t at = story_pick(story, story->user_count);
    uint32_t verifier = pick_verifier(story);
    story_begin(call, verifier, CAST_COMPLIANCE, "revoke");
    story_args(story, call, "aa", (int)verifier, story->users[at].ref);
    story->users[at].attested = false;
}

void story_people(struct story *story, struct story_call *call)
{
    uint32_t luck = story_pick(story, 40);
    if (luck < 20)
        attest(story, call);
    else if (luck < 27)
        submit(story, call);
    else if (luck < 30)
        freeze(story, call);
    else if (luck < 33)
        suspend(story, call);
    else if (luck < 35)
        relieve(story, call, "unsuspend_account");
    else if (luck < 37)
        relieve(story, call, "unfreeze_account");
    else
        revoke(story, call);
}

static void country_rules(struct story *story, struct story_call *call)
{
    uint32_t luck = story_pick(story, 8);
    int country = countries[story_pick(story, 8)];
    if (luck < 3 && story_may_disturb(story)) {
        story_begin(call, CAST_DAOWALLET, CAST_COMPLIANCE, "block_jurisdiction");
        story_args(story, call, "au", CAST_DAOWALLET, country);
        story_heal_later(story, HEAL_COUNTRY, (uint32_t)country, 2 + story_pick(story, 10));
    } else if (luck < 6) {
        story_begin(call, CAST_DAOWALLET, CAST_COMPLIANCE, "unblock_jurisdiction");
        story_args(story, call, "au", CAST_DAOWALLET, country);
    } else {
        story_begin(call, CAST_DAOWALLET, CAST_COMPLIANCE,
                    luck == 6 ? "block_us_and_eu" : "block_sanctioned_countries");
        story_args(story, call, "a", CAST_DAOWALLET);
    }
}

static void verifier_rules(struct story *story, struct story_call *call)
{
    uint32_t verifier = CAST_VERIFIER + story_pick(story, CAST_VERIFIERS);
    uint32_t luck = story_pick(story, 9);
    if (story_has_company(story))
        luck = 0; /* nobody loses an office meanwhile */
    if (luck < 6) {
        static const char *const names[] = { "add_verifier", "remove_verifier", "set_verifier" };
        story_begin(call, CAST_DAOWALLET, CAST_COMPLIANCE, names[luck / 2]);
        story_args(story, call, "aa", CAST_DAOWALLET, (int)verifier);
        if (luck / 2 == 1)
            story_heal_later(story, HEAL_VERIFIER, verifier, 3 + story_pick(story, 20));
    } else {
        story_begin(call, verifier, CAST_COMPLIANCE, "register_signer");
        story_args(story, call, "aa", (int)verifier,
                   (int)(CAST_SIGNER + story_pick(story, CAST_SIGNERS)));
    }
}

static void asset_rule(struct story *story, struct story_call *call)
{
    const char *symbol = cast_markets[story_pick(story, 3)].symbol;
    uint32_t count = story_has_company(story) ? 0 : story_pick(story, 3);
    story_begin(call, CAST_DAOWALLET, CAST_COMPLIANCE, "set_asset_rule");
    story_args(story, call, "as", CAST_DAOWALLET, symbol);
    story_vec(call, count);
    for (uint32_t i = 0; i < count; i++)
        story_put(story, call, 'u', i ? 36 : 840);
    story_args(story, call, "ib",
               story_once_in(story, 2) ? 0LL
                                       : (long long)story_between(story, 20000, 90000) * 10000000,
               (int)story_pick(story, 2));
}

void story_registry(struct story *story, struct story_call *call)
{
    uint32_t luck = story_pick(story, 10);
    if (luck < 4) {
        country_rules(story, call);
    } else if (luck < 7) {
        verifier_rules(story, call);
    } else if (luck < 9) {
        asset_rule(story, call);
    } else {
        uint32_t at = story_pick(story, story->user_count);
        story_begin(call, CAST_ADMIN, CAST_COMPLIANCE, "set_whitelist");
        story_args(story, call, "aab", CAST_ADMIN, story->users[at].ref, (int)story_pick(story, 2));
    }
}
