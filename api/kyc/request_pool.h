/* A worker pool for routes of KYC: each worker has a context (base/context.h). Sessions, webhooks
 * and short reads have a pool each, so that none waits for another. */
#ifndef API_KYC_REQUEST_POOL_H
#define API_KYC_REQUEST_POOL_H

#include "api/kyc/base/handler.h"

struct tide_kyc_pool_options {
    const char *name;                        /* of its log lines: "sessions" */
    struct tide_kyc_context_options context; /* stopped is the pool's to set */
    uint32_t threads;
    uint32_t queue;            /* jobs that wait */
    uint32_t provider_threads; /* that may wait for one provider; 0: any number */
    uint32_t grace_ms;         /* of a job's deadline, kept for writing its answer */
};

/* Not started yet. *out is NULL if it fails. */
tide_status tide_kyc_pool_open(struct tide_worker_pool **out,
                               const struct tide_kyc_pool_options *options,
                               struct tide_err *err) TIDE_MUST_USE;

#endif
