/* A few threads that do the work of KYC routes, each at a place of its own (place.h), and the
 * bounded queue before them. Sessions and webhooks have one each: whatever hangs at the one, the
 * other goes on.
 * A job whose connection broke runs once more over a new one: see handle.h. */
#ifndef API_KYC_REQUEST_POOL_H
#define API_KYC_REQUEST_POOL_H

#include "api/kyc/handler.h"

struct tide_kyc_pool;

struct tide_kyc_pool_options {
    const char *name;                        /* of its log lines: "sessions" */
    struct tide_kyc_context_options context; /* stopped is the desk's to set */
    uint32_t threads;
    uint32_t queue;            /* jobs that wait */
    uint32_t provider_threads; /* that may wait for one provider; 0: any number */
    uint32_t grace_ms;         /* of a job's deadline, kept for writing its answer */
};

/* *out is the caller's to close, also when it fails. */
tide_status tide_kyc_pool_open(struct tide_kyc_pool **out,
                               const struct tide_kyc_pool_options *options,
                               struct tide_err *err) TIDE_MUST_USE;
tide_status tide_kyc_pool_start(struct tide_kyc_pool *pool, struct tide_err *err) TIDE_MUST_USE;
/* Any thread. False: the job, and its work, stay the caller's. */
bool tide_kyc_pool_submit(struct tide_kyc_pool *pool, struct tide_job *job) TIDE_MUST_USE;
/* Any thread. */
void tide_kyc_pool_stats(struct tide_kyc_pool *pool, struct tide_worker_pool_stats *out);
/* Answers what waits, then ends the threads. NULL is fine. */
void tide_kyc_pool_close(struct tide_kyc_pool *pool);

#endif
