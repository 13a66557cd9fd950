/* Texts and groups of the session states. */
#include "api/kyc/base/state.h"

static const char *const states[TIDE_KYC_STATE_COUNT] = {
    [TIDE_KYC_CREATED] = "created",   [TIDE_KYC_PENDING] = "pending",
    [TIDE_KYC_REVIEW] = "review",     [TIDE_KYC_ACTION_REQUIRED] = "action_required",
    [TIDE_KYC_APPROVED] = "approved", [TIDE_KYC_DECLINED] = "declined",
    [TIDE_KYC_EXPIRED] = "expired",   [TIDE_KYC_REVOKED] = "revoked",
};

const char *tide_kyc_state_text(enum tide_kyc_state state)
{
    assert(state < TIDE_KYC_STATE_COUNT);
    return states[state];
}

bool tide_kyc_state_of(tide_slice text, enum tide_kyc_state *out)
{
    for (size_t i = 0; i < TIDE_COUNT(states); i++)
        if (tide_slice_eq_str(text, states[i])) {
            *out = (enum tide_kyc_state)i;
            return true;
        }
    return false;
}

static_assert(TIDE_KYC_CREATED == 0 && TIDE_KYC_PENDING < TIDE_KYC_ACTION_REQUIRED &&
                  TIDE_KYC_REVIEW < TIDE_KYC_ACTION_REQUIRED &&
                  TIDE_KYC_APPROVED == TIDE_KYC_ACTION_REQUIRED + 1,
              "the open states come first");

/* Relies on the order of the enum: the open states come first. */
bool tide_kyc_is_open(enum tide_kyc_state state)
{
    assert(state < TIDE_KYC_STATE_COUNT);
    return state <= TIDE_KYC_ACTION_REQUIRED;
}

const char *tide_kyc_public_state(enum tide_kyc_state state)
{
    assert(state < TIDE_KYC_STATE_COUNT);
    return states[state == TIDE_KYC_REVIEW ? TIDE_KYC_PENDING : state];
}

bool tide_kyc_reason_shown(tide_slice reason)
{
    static const char *const shown[] = {
        "document_unreadable", "document_expired", "document_unsupported", "document_incomplete",
        "document_damaged",    "face_unclear",     "details_differ",
    };
    for (size_t i = 0; i < TIDE_COUNT(shown); i++)
        if (tide_slice_eq_str(reason, shown[i]))
            return true;
    return false;
}

bool tide_kyc_reason_unusable(tide_slice reason)
{
#define ELEMENT(word) word,
    static const char *const unusable[] = { TIDE_KYC_UNUSABLE(ELEMENT) };
#undef ELEMENT
    for (size_t i = 0; i < TIDE_COUNT(unusable); i++)
        if (tide_slice_eq_str(reason, unusable[i]))
            return true;
    return false;
}
