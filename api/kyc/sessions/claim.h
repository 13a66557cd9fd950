/* A session for who asks: the one that is open, or a new one within the limits. One transaction,
 * before any provider hears of it: what dies afterwards leaves a row that the next request finds.
 */
#ifndef API_KYC_SESSIONS_CLAIM_H
#define API_KYC_SESSIONS_CLAIM_H

#include "api/kyc/sessions/session_request.h"
#include "api/kyc/sessions/session_store.h"

enum tide_kyc_claim {
    TIDE_KYC_CLAIM_MADE,
    TIDE_KYC_CLAIM_FOUND,
    TIDE_KYC_CLAIM_REFUSED, /* the reply holds the problem */
};

/* 401 challenge_invalid, challenge_used; 422 idempotency_key_reused; 429 too_many_sessions. A
 * status other than TIDE_OK: the database failed; the transaction is still to be rolled back. */
tide_status tide_kyc_claim(struct tide_kyc_context *context, struct tide_kyc_session_request *ask,
                           struct tide_kyc_session *out, enum tide_kyc_claim *how,
                           struct tide_reply *reply, struct tide_err *err) TIDE_MUST_USE;

#endif
