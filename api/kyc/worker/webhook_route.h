/* POST /api/kyc/webhook/{providerKey}: webhooks of the identity providers. */
#ifndef API_KYC_WORKER_WEBHOOK_ROUTE_H
#define API_KYC_WORKER_WEBHOOK_ROUTE_H

#include "api/kyc/base/handler.h"

/* Returns the provider that the path names. NULL: there is none, and the reply holds the problem.
 * Never blocks. */
const struct tide_kyc_provider *tide_kyc_webhook_provider(const struct tide_kyc *kyc,
                                                          const struct tide_request *request,
                                                          struct tide_reply *reply);

#endif
