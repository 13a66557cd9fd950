/* The states of a KYC session, and their texts. */
#ifndef API_KYC_BASE_STATE_H
#define API_KYC_BASE_STATE_H

#include "tidemark/slice.h"

#define TIDE_KYC_ADDRESS_BYTES 57u /* G… or C…, NUL-terminated */

/* State of a session. The texts are the values of kyc.session.state. */
enum tide_kyc_state {
    TIDE_KYC_CREATED,         /* the person has not started */
    TIDE_KYC_PENDING,         /* the person or the provider is working on it */
    TIDE_KYC_REVIEW,          /* a reviewer must decide, at the provider or here */
    TIDE_KYC_ACTION_REQUIRED, /* the person must continue */
    TIDE_KYC_APPROVED,
    TIDE_KYC_DECLINED,
    TIDE_KYC_EXPIRED,
    TIDE_KYC_REVOKED, /* was approved; the provider has withdrawn it */
    TIDE_KYC_STATE_COUNT
};

const char *tide_kyc_state_text(enum tide_kyc_state state);
/* Returns false for an unknown text. */
bool tide_kyc_state_of(tide_slice text, enum tide_kyc_state *out);
/* True for created, pending, review and action_required: a repeated request then gets this session
 * again. */
bool tide_kyc_is_open(enum tide_kyc_state state);

/* Returns the state that clients see: a review is "pending". */
const char *tide_kyc_public_state(enum tide_kyc_state state);

/* True for a reason that the page may show: a fault of the pictures, documents or entries that the
 * person can correct. Suspicions, watch lists and limits are not shown. False for "". */
bool tide_kyc_reason_shown(tide_slice reason);

/* Reasons why an approval cannot be attested: the provider approves the person, and the answer
 * lacks what an attestation needs. */
#define TIDE_KYC_UNUSABLE(X) X("level") X("no_country") X("country_unknown") X("end_unknown")
/* True for one of them. */
bool tide_kyc_reason_unusable(tide_slice reason);

#endif
