/* States of a session. */
#ifndef API_KYC_BASE_STATE_H
#define API_KYC_BASE_STATE_H

#include "tidemark/slice.h"

#define TIDE_KYC_ADDRESS_BYTES 57u /* G… or C…, NUL-terminated */

/* Where a session stands. Texts are those of kyc.session.state. */
enum tide_kyc_state {
    TIDE_KYC_CREATED,         /* not started                                         */
    TIDE_KYC_PENDING,         /* the person, or the provider, is at it               */
    TIDE_KYC_REVIEW,          /* a person must look: at the provider's, or with us   */
    TIDE_KYC_ACTION_REQUIRED, /* the person must come again                          */
    TIDE_KYC_APPROVED,
    TIDE_KYC_DECLINED,
    TIDE_KYC_EXPIRED,
    TIDE_KYC_REVOKED, /* approved once, withdrawn by the provider since */
    TIDE_KYC_STATE_COUNT
};

const char *tide_kyc_state_text(enum tide_kyc_state state);
bool tide_kyc_state_of(tide_slice text, enum tide_kyc_state *out);
/* created, pending, review, action_required: the same request asked again is the same session. */
bool tide_kyc_is_open(enum tide_kyc_state state);

/* The state as clients see it: a review is "pending". */
const char *tide_kyc_public_state(enum tide_kyc_state state);

/* True for a reason that the person may be shown: something about the pictures, the documents or
 * the entries that the person can change. Suspicions, lists and limits are not among them.
 * "": false. */
bool tide_kyc_reason_shown(tide_slice reason);

#endif
