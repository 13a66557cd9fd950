/* Where work of KYC is done: one thread's connection to the primary, its HTTP client, and which
 * deployment it is about. Each worker thread has one.
 *
 * Network   sessions without a key, and the sandbox, are for networks that are not the main one:
 *           on that one no context with such settings ever becomes ready.
 * Writing   one transaction: tide_kyc_begin, statements, tide_kyc_commit. COMMIT's lost answer is
 *           TIDE_E_DB: what runs again must find what it did before. */
#ifndef API_KYC_BASE_CONTEXT_H
#define API_KYC_BASE_CONTEXT_H

#include "api/kyc/base/settings.h"
#include "api/sql/deployment_select.h"
#include "api/sql/worker_pool.h"
#include "tidemark/clock.h"
#include "tidemark/http.h"
#include "tidemark/pg.h"

#define TIDE_KYC_STATEMENT_MS   5000
#define TIDE_KYC_PASSPHRASE_MAX 160u

struct tide_kyc_context_options {
    const struct tide_kyc_settings *settings;
    const struct tide_clock *clock;
    const char *conninfo;   /* kyc_database_url, else database_url; NULL: the environment's */
    const char *ca_file;    /* http_ca_file */
    const char *rpc;        /* Stellar RPC servers, a comma list; NULL or "": none */
    const char *rpc_header; /* of each request to them; NULL or "": none */
    struct tide_deployment_select *select; /* NULL: the only deployment */
    bool (*stopped)(void *self); /* the process ends: asked while a statement or a call runs */
    void *stopped_self;
};

struct tide_kyc_context {
    struct tide_kyc_context_options options;
    const struct tide_kyc_settings *settings; /* the same as options' */
    struct tide_pg *pg;                       /* NULL or not alive: not connected */
    struct tide_http *http;
    bool ready;
    struct tide_deployment_selected selected;
    uint16_t deployment;     /* selected's */
    char deployment_text[8]; /* of statements */
    uint8_t network_id[TIDE_HASH_BYTES];
    char passphrase[TIDE_KYC_PASSPHRASE_MAX];
    int64_t rpc_away_until_ms;     /* monotonic: no server of rpc answered */
    int64_t deadline_ms;           /* monotonic: when the work should be over; 0: whenever */
    struct tide_worker_pool *pool; /* while job is worked on here */
    struct tide_job *job;
};

/* Call before waiting for a provider. One thread of a pool of several is always reserved for the
 * other providers. TIDE_BULKHEAD_BACK: the job runs again when there is room. */
enum tide_worker_pool_room
tide_kyc_context_enter(struct tide_kyc_context *context,
                       const struct tide_kyc_provider *provider) TIDE_MUST_USE;

/* Does not connect yet. */
tide_status tide_kyc_context_open(struct tide_kyc_context *context,
                                  const struct tide_kyc_context_options *options,
                                  struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_context_close(struct tide_kyc_context *context);
bool tide_kyc_context_ready(const struct tide_kyc_context *context);
/* Connects, if need be anew. TIDE_E_DB, TIDE_E_DB_FATAL: not ready; TIDE_E_CONFIG: never will be,
 * on this network with this file. */
tide_status tide_kyc_context_connect(struct tide_kyc_context *context,
                                     struct tide_err *err) TIDE_MUST_USE;

tide_status tide_kyc_begin(struct tide_kyc_context *context, struct tide_err *err) TIDE_MUST_USE;
tide_status tide_kyc_commit(struct tide_kyc_context *context, struct tide_err *err) TIDE_MUST_USE;
/* Ends a transaction that failed or is not needed; without one, or a connection, nothing. */
void tide_kyc_rollback(struct tide_kyc_context *context);

/* For calls to providers (struct tide_kyc_call): the deadline is past, or the process ends. self is
 * the place. */
bool tide_kyc_context_cancelled(void *self);
/* Unix seconds, of the place's clock. */
int64_t tide_kyc_now(const struct tide_kyc_context *context);

/* False where the network is the public main one and the file has what is not for it; what: its
 * name, for a person. Pure. */
bool tide_kyc_network_allowed(const struct tide_kyc_settings *settings,
                              const uint8_t network_id[TIDE_HASH_BYTES], const char **what);

#endif
