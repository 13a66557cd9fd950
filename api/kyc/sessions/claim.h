/* Finds or makes the session for a request: the open session, or a new one within the limits. One
 * transaction, committed before the provider is asked: if the process dies afterwards, the next
 * request finds the row. */
#ifndef API_KYC_SESSIONS_CLAIM_H
#define API_KYC_SESSIONS_CLAIM_H

#include "api/kyc/sessions/session_request.h"
#include "api/kyc/sessions/session_store.h"

enum tide_kyc_claim {
    TIDE_KYC_CLAIM_MADE,
    TIDE_KYC_CLAIM_FOUND,
    TIDE_KYC_CLAIM_REFUSED, /* the reply holds the problem */
};

/* Finds or makes the session of ask. Problems: 401 challenge_invalid, challenge_used; 422
 * idempotency_key_reused; 429 too_many_sessions. A status other than TIDE_OK means that the
 * database failed; the caller then rolls the transaction back. May run again after a lost COMMIT:
 * ask remembers the session's id. */
tide_status tide_kyc_claim(struct tide_kyc_context *context, struct tide_kyc_session_request *ask,
                           struct tide_kyc_session *out, enum tide_kyc_claim *how,
                           struct tide_reply *reply, struct tide_err *err) TIDE_MUST_USE;

#endif
