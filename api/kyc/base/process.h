/* The objects that KYC's parts share in one process. kyc.c makes them; they live as long as the
 * server. */
#ifndef API_KYC_BASE_PROCESS_H
#define API_KYC_BASE_PROCESS_H

#include "api/kyc/base/settings.h"
#include "api/sql/deployment_select.h"
#include "api/sql/worker_pool.h"
#include "tidemark/clock.h"
#include "tidemark/config.h"

#include <pthread.h>

/* Worker pools. None of them waits for another. */
enum tide_kyc_pool_id {
    TIDE_KYC_POOL_SESSIONS, /* may wait ten seconds for a provider */
    TIDE_KYC_POOL_HOOKS,    /* wait for the database only */
    TIDE_KYC_POOL_READS,    /* two threads: short reads go on while providers hang */
    TIDE_KYC_POOL_COUNT
};

struct tide_kyc_keys;    /* keys/keys.h */
struct tide_kyc_refused; /* worker/refused.h */
struct tide_kyc_workers; /* worker/worker.h */
struct tide_kyc_texts;   /* pages/text.h */
struct tide_notify;      /* notify/notify.h */

struct tide_kyc {
    const struct tide_config *config;
    const struct tide_clock *clock;
    struct tide_deployment_select *select;
    struct tide_kyc_settings *settings;
    struct tide_kyc_keys *keys;   /* borrowed from the API */
    struct tide_kyc_texts *texts; /* texts of the pages */
    struct tide_worker_pool *pools[TIDE_KYC_POOL_COUNT];
    struct tide_kyc_refused *refused; /* counts refused webhooks */
    struct tide_kyc_workers *workers;
    struct tide_notify *notify; /* NULL: no webhooks to partners */
    pthread_mutex_t signing;    /* guards every use of settings->challenge */
};

#endif
