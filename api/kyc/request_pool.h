/* Worker pools for KYC's routes. Each worker owns a context (base/context.h). Sessions, webhooks
 * and short reads have separate pools, so that none delays another. */
#ifndef API_KYC_REQUEST_POOL_H
#define API_KYC_REQUEST_POOL_H

#include "api/kyc/base/handler.h"

/* The name in log lines and metrics: "sessions". */
const char *tide_kyc_pool_name(enum tide_kyc_pool_id pool);

/* Creates the pools without starting their threads. They set stopped and stopped_self of the
 * options themselves. Pools that were made before a failure (TIDE_E_MEMORY) are set;
 * tide_worker_pool_close frees each. */
tide_status tide_kyc_pools_open(struct tide_worker_pool *out[TIDE_KYC_POOL_COUNT],
                                const struct tide_kyc_context_options *options,
                                struct tide_err *err) TIDE_MUST_USE;

#endif
