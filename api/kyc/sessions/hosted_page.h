/* Obtains the provider's hosted page for a session when a client needs it. */
#ifndef API_KYC_SESSIONS_HOSTED_PAGE_H
#define API_KYC_SESSIONS_HOSTED_PAGE_H

#include "api/kyc/base/handler.h"
#include "api/kyc/sessions/session_store.h"

/* Makes sure that an open session has a provider's page that has not expired. Calls the provider at
 * most twice, before the context's deadline. Of concurrent requests for one session only one calls.
 * *session is the row afterwards. If *obtained is false, either the reply holds the problem (502
 * provider_unavailable, provider_refused) and the next request continues with the unchanged row, or
 * the context's job was queued again until the provider has room. Call outside of transactions. */
tide_status tide_kyc_hosted_page(struct tide_kyc_context *context, uint32_t reconcile_s,
                                 struct tide_kyc_session *session, bool *obtained,
                                 struct tide_reply *reply, struct tide_err *err) TIDE_MUST_USE;

#endif
