/* POST /api/kyc/webhook/{providerKey} */
#ifndef API_KYC_WORKER_WEBHOOK_ROUTE_H
#define API_KYC_WORKER_WEBHOOK_ROUTE_H

#include "api/kyc/base/handler.h"

/* The provider of a webhook's path. NULL: there is none, and the reply says so. Does not wait. */
const struct tide_kyc_provider *tide_kyc_webhook_provider(const struct tide_kyc *kyc,
                                                          const struct tide_request *request,
                                                          struct tide_reply *reply);

#endif
