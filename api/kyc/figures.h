/* What /metrics says of KYC: queues, sessions by state, webhooks by what became of them. */
#ifndef API_KYC_FIGURES_H
#define API_KYC_FIGURES_H

#include "api/kyc/worker.h"

/* now_ms: monotonic. */
void tide_kyc_put_figures(struct tide_buf *out, const struct tide_kyc_settings *settings,
                          struct tide_kyc_workers *workers, struct tide_kyc_refused *refused,
                          int64_t now_ms);

#endif
