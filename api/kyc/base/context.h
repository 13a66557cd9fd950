/* A worker's context: one thread's connection to the primary, its HTTP client, and the deployment
 * that the connection serves. Each worker thread owns one.
 *
 * Network   the main network allows neither sessions without a key nor the sandbox provider. With
 *           such settings no context becomes ready there.
 * Writing   one transaction: tide_kyc_begin, statements, tide_kyc_commit. If the answer to COMMIT
 *           is lost, the result is TIDE_E_DB. The repeated work must then find the rows that the
 *           first run may have committed. */
#ifndef API_KYC_BASE_CONTEXT_H
#define API_KYC_BASE_CONTEXT_H

#include "api/kyc/base/settings.h"
#include "api/sql/deployment_select.h"
#include "api/sql/worker_pool.h"
#include "tidemark/clock.h"
#include "tidemark/config.h"
#include "tidemark/http.h"
#include "tidemark/pg.h"

#define TIDE_KYC_STATEMENT_MS   5000
#define TIDE_KYC_IDLE_MS_MIN    15000 /* api_idle_ms */
#define TIDE_KYC_PASSPHRASE_MAX 160u

struct tide_kyc_context_options {
    const struct tide_kyc_settings *settings;
    const struct tide_clock *clock;
    const struct tide_config *config;
    const char *conninfo; /* kyc_database_url, else database_url; NULL: libpq's environment */
    struct tide_deployment_select *select; /* NULL: the database's only deployment */
    /* True when the process ends. Called while a statement or an HTTP call runs. */
    bool (*stopped)(void *self);
    void *stopped_self;
};

struct tide_kyc_context {
    struct tide_kyc_context_options options;
    const struct tide_kyc_settings *settings; /* equals options.settings */
    struct tide_pg *pg;                       /* NULL or not alive: not connected */
    struct tide_http *http;
    bool ready;
    struct tide_deployment_selected selected;
    uint16_t deployment;     /* equals selected.id */
    char deployment_text[8]; /* the same as text, for statements */
    uint8_t network_id[TIDE_HASH_BYTES];
    char passphrase[TIDE_KYC_PASSPHRASE_MAX];
    /* monotonic: no RPC request before this time, because none was answered */
    int64_t rpc_away_until_ms;
    int64_t deadline_ms;           /* monotonic: end of the time for the current job; 0: none */
    struct tide_worker_pool *pool; /* the worker's pool, for bulkheads */
    /* the job that runs; NULL: none */
    struct tide_job *job;
};

/* Enters the provider's bulkhead. Call before waiting for a provider: in a pool of several workers
 * one is always reserved for the other providers. TIDE_BULKHEAD_BACK: the job is queued again and
 * runs when there is room. */
enum tide_worker_pool_room
tide_kyc_context_enter(struct tide_kyc_context *context,
                       const struct tide_kyc_provider *provider) TIDE_MUST_USE;

/* Opens the HTTP client. Does not connect to the database. */
tide_status tide_kyc_context_open(struct tide_kyc_context *context,
                                  const struct tide_kyc_context_options *options,
                                  struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_context_close(struct tide_kyc_context *context);
/* True if the context is connected, to the deployment that is selected now. */
bool tide_kyc_context_ready(const struct tide_kyc_context *context);
/* Connects, or connects again. TIDE_E_DB, TIDE_E_DB_FATAL: not ready. TIDE_E_CONFIG: this network
 * forbids a setting of this KYC file, so trying again is useless. */
tide_status tide_kyc_context_connect(struct tide_kyc_context *context,
                                     struct tide_err *err) TIDE_MUST_USE;

tide_status tide_kyc_begin(struct tide_kyc_context *context, struct tide_err *err) TIDE_MUST_USE;
tide_status tide_kyc_commit(struct tide_kyc_context *context, struct tide_err *err) TIDE_MUST_USE;
/* Rolls back the open transaction. Does nothing without a transaction or a connection. */
void tide_kyc_rollback(struct tide_kyc_context *context);

/* The cancel function of calls to providers (struct tide_kyc_call): true if the job's deadline has
 * passed or the process ends. self is the context. */
bool tide_kyc_context_cancelled(void *self);
/* Return the wall clock in unix seconds, and the monotonic clock. */
int64_t tide_kyc_now(const struct tide_kyc_context *context);
int64_t tide_kyc_now_ms(const struct tide_kyc_context *context);

/* Returns false if network_id is the public main network and the KYC file contains a setting that
 * is forbidden there. *what then names the setting for a person; else *what is NULL. Pure. */
bool tide_kyc_network_allowed(const struct tide_kyc_settings *settings,
                              const uint8_t network_id[TIDE_HASH_BYTES], const char **what);

#endif
