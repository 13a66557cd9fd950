/* Writes KYC's part of /metrics: queues, sessions by state, webhooks by fate, worker pools, API
 * keys, the attester. */
#ifndef API_KYC_WORKER_FIGURES_H
#define API_KYC_WORKER_FIGURES_H

#include "api/kyc/worker/worker.h"
#include "api/sql/worker_pool.h"

/* The statistics of one worker pool. */
struct tide_kyc_pool_line {
    const char *name;
    struct tide_worker_pool_stats stats;
};
void tide_kyc_put_pools(struct tide_buf *out, const struct tide_kyc_pool_line *lines, size_t count);

struct tide_kyc_keys;
void tide_kyc_put_keys(struct tide_buf *out, struct tide_kyc_keys *keys);

/* Appends the figures of providers, sessions, queues and the attester. now_ms: monotonic. Leaves
 * out database figures that were never read. */
void tide_kyc_put_figures(struct tide_buf *out, const struct tide_kyc_settings *settings,
                          struct tide_kyc_workers *workers, struct tide_kyc_refused *refused,
                          int64_t now_ms);

#endif
