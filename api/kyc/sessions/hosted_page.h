/* Sessions as they are answered: with the provider's page, which is asked for when it is needed. */
#ifndef API_KYC_SESSIONS_HOSTED_PAGE_H
#define API_KYC_SESSIONS_HOSTED_PAGE_H

#include "api/kyc/base/handler.h"
#include "api/kyc/sessions/session_store.h"

/* Sees to it that an open session has a page of its provider's that has not run out: asks for one,
 * twice at most, before the place's deadline. However many want it at once, one of them asks.
 * *session is as the row then stands. *offered false: the reply holds the problem (502
 * provider_unavailable, provider_refused), and the row is as it was: the next try goes on from
 * there; or place->job is to run again, once the provider has room for it. Outside of
 * transactions. */
tide_status tide_kyc_hosted_page(struct tide_kyc_context *context, uint32_t reconcile_s,
                                 struct tide_kyc_session *session, bool *offered,
                                 struct tide_reply *reply, struct tide_err *err) TIDE_MUST_USE;

#endif
