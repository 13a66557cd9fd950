/* Worker pools for KYC's routes. Each worker owns a context (base/context.h). Sessions, webhooks
 * and short reads have separate pools, so that none delays another. */
#ifndef API_KYC_REQUEST_POOL_H
#define API_KYC_REQUEST_POOL_H

#include "api/kyc/base/handler.h"

struct tide_kyc_pool_options {
    const char *name;                        /* appears in log lines: "sessions" */
    struct tide_kyc_context_options context; /* the pool overwrites stopped and stopped_self */
    uint32_t threads;
    uint32_t queue;            /* jobs that may wait */
    uint32_t provider_threads; /* workers that may wait for one provider; 0: all */
    uint32_t grace_ms;         /* part of a job's deadline that is kept for writing the answer */
};

/* Creates a pool whose threads are not started. Copies options. *out is NULL on failure
 * (TIDE_E_MEMORY). tide_worker_pool_close frees the pool. */
tide_status tide_kyc_pool_open(struct tide_worker_pool **out,
                               const struct tide_kyc_pool_options *options,
                               struct tide_err *err) TIDE_MUST_USE;

#endif
