#include "tidemark/rule.h"

enum stored_status {
    STORED_UNKNOWN,
    STORED_PENDING,
    STORED_VERIFIED,
    STORED_SUSPENDED,
    STORED_SANCTIONED,
    STORED_EXPIRED
};

const char *tide_refusal_code(enum tide_refusal refusal)
{
    static const char *const codes[] = {
#define CODE(name, code, text) code,
        TIDE_REFUSALS(CODE)
#undef CODE
    };
    assert(refusal < TIDE_COUNT(codes));
    return codes[refusal];
}

const char *tide_refusal_text(enum tide_refusal refusal)
{
    static const char *const texts[] = {
#define TEXT(name, code, text) text,
        TIDE_REFUSALS(TEXT)
#undef TEXT
    };
    assert(refusal < TIDE_COUNT(texts));
    return texts[refusal];
}

const char *tide_standing_status_name(enum tide_standing_status status)
{
    static const char *const names[] = { "Unknown",    "Pending", "Verified", "Suspended",
                                         "Sanctioned", "Expired", "Frozen",   "Restricted" };
    static_assert(TIDE_COUNT(names) == TIDE_STANDING_RESTRICTED + 1, "each status has its name");
    assert(status < TIDE_COUNT(names));
    return names[status];
}

const char *tide_standing_reason_code(enum tide_standing_reason reason)
{
    static const char *const codes[] = {
        "compliant",  "frozen",  "no_record", "revoked",      "pending",   "suspended",
        "sanctioned", "expired", "lapsed",    "jurisdiction", "undefined",
    };
    static_assert(TIDE_COUNT(codes) == TIDE_REASON_UNDEFINED + 1, "each reason has its code");
    assert(reason < TIDE_COUNT(codes));
    return codes[reason];
}

/* --- compliance ------------------------------------------------------------------ */

static enum tide_standing_reason reason_of(const struct tide_hot_person *person, bool blocked,
                                           uint64_t now)
{
    static const enum tide_standing_reason of_status[] = {
        [STORED_UNKNOWN] = TIDE_REASON_REVOKED,       [STORED_PENDING] = TIDE_REASON_PENDING,
        [STORED_VERIFIED] = TIDE_REASON_COMPLIANT,    [STORED_SUSPENDED] = TIDE_REASON_SUSPENDED,
        [STORED_SANCTIONED] = TIDE_REASON_SANCTIONED, [STORED_EXPIRED] = TIDE_REASON_EXPIRED,
    };
    if (person && person->frozen)
        return TIDE_REASON_FROZEN;
    if (!person || !person->recorded)
        return TIDE_REASON_NO_RECORD;
    if (person->status >= TIDE_COUNT(of_status))
        return TIDE_REASON_UNDEFINED;
    if (person->status != STORED_VERIFIED)
        return of_status[person->status];
    if (person->expires_at != TIDE_HOT_NEVER && person->expires_at < now)
        return TIDE_REASON_LAPSED;
    return blocked ? TIDE_REASON_JURISDICTION : TIDE_REASON_COMPLIANT;
}

void tide_rule_standing(struct tide_standing *out, const struct tide_hot_person *person,
                        bool blocked, uint64_t now)
{
    /* clang-format off */
    static const struct { enum tide_standing_status status; bool curable; } by_reason[] = {
        [TIDE_REASON_COMPLIANT]    = { TIDE_STANDING_VERIFIED,   false },
        [TIDE_REASON_FROZEN]       = { TIDE_STANDING_FROZEN,     false },
        [TIDE_REASON_NO_RECORD]    = { TIDE_STANDING_UNKNOWN,    true  },
        [TIDE_REASON_REVOKED]      = { TIDE_STANDING_UNKNOWN,    true  },
        [TIDE_REASON_PENDING]      = { TIDE_STANDING_PENDING,    true  },
        [TIDE_REASON_SUSPENDED]    = { TIDE_STANDING_SUSPENDED,  false },
        [TIDE_REASON_SANCTIONED]   = { TIDE_STANDING_SANCTIONED, false },
        [TIDE_REASON_EXPIRED]      = { TIDE_STANDING_EXPIRED,    true  },
        [TIDE_REASON_LAPSED]       = { TIDE_STANDING_EXPIRED,    true  },
        [TIDE_REASON_JURISDICTION] = { TIDE_STANDING_RESTRICTED, false },
        [TIDE_REASON_UNDEFINED]    = { TIDE_STANDING_UNKNOWN,    false },
    };
    /* clang-format on */
    enum tide_standing_reason reason = reason_of(person, blocked, now);
    /* A new attestation would not help if the person's jurisdiction is blocked, because the
     * contract refuses it. A revoked record does not tell where the person lives now. */
    assert(reason < TIDE_COUNT(by_reason));
    assert(reason != TIDE_REASON_COMPLIANT || person);
    bool refused = blocked && person && person->recorded && person->status != STORED_UNKNOWN;
    *out = (struct tide_standing){
        .status = by_reason[reason].status,
        .reason = reason,
        .compliant = reason == TIDE_REASON_COMPLIANT,
        .needs_kyc = by_reason[reason].curable && !refused,
        .valid_until = reason == TIDE_REASON_COMPLIANT ? person->expires_at : 0,
    };
}

bool tide_rule_gate(const struct tide_standing *standing, const struct tide_hot_person *user,
                    const struct tide_hot_person *caller)
{
    bool exempt = user && caller && user->whitelisted && caller->whitelisted;
    return exempt || standing->compliant;
}

/* --- prices ------------------------------------------------------------------------ */

static bool older(uint64_t now, uint64_t stamp, uint64_t age)
{
    return now > stamp && now - stamp > age;
}

bool tide_rule_stale(const struct tide_hot_feed *feed, uint64_t now)
{
    return !feed || older(now, feed->latest_ts, TIDE_RULE_PRICE_AGE_S);
}

bool tide_rule_twap_stale(const struct tide_hot_feed *feed, uint64_t now)
{
    return !feed || older(now, feed->twap_ts, TIDE_RULE_TWAP_AGE_S);
}
