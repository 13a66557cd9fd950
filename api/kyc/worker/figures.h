/* What /metrics says of KYC: queues, sessions by state, webhooks by what became of them, the worker
 * pools of this process, the attester. */
#ifndef API_KYC_WORKER_FIGURES_H
#define API_KYC_WORKER_FIGURES_H

#include "api/kyc/worker/worker.h"
#include "api/sql/worker_pool.h"

struct tide_kyc_pool_line {
    const char *name;
    struct tide_worker_pool_stats stats;
};
void tide_kyc_put_pools(struct tide_buf *out, const struct tide_kyc_pool_line *lines, size_t count);

struct tide_kyc_keys;
void tide_kyc_put_keys(struct tide_buf *out, struct tide_kyc_keys *keys);

/* now_ms: monotonic. */
void tide_kyc_put_figures(struct tide_buf *out, const struct tide_kyc_settings *settings,
                          struct tide_kyc_workers *workers, struct tide_kyc_refused *refused,
                          int64_t now_ms);

#endif
