/* From the inbox to the outbox: a thread for each provider, so that one which hangs holds up none
 * of the others. Several processes may work on one database.
 *
 * Inbox      takes a webhook that no other thread works on, finds its session, asks the provider by
 *            our own address, and applies the answer in one transaction (worker_store.c)
 * Sessions   whose time has come are asked about too: what webhooks lost is found
 * Upkeep     old webhooks are pruned, refused ones noted in the audit, figures read for /metrics
 * Once       who works on a session holds an advisory lock of it, from before the provider is asked
 *            until the answer is committed: an older answer never lands on a newer one
 * Trouble    a row is taken for a short while at a time: if the process dies, the next one
 *            takes it. What fails is tried again ever later; a provider that fails is left alone.
 * Clocks     while host, database and chain differ by more than skew_s nothing is decided: webhooks
 *            are kept, and worked on once the clocks agree (tidemark/clocks.h) */
#ifndef API_KYC_WORKER_WORKER_H
#define API_KYC_WORKER_WORKER_H

#include "api/kyc/worker/refused.h"

struct tide_kyc_workers; /* opaque: all threads */

struct tide_kyc_workers_options {
    const struct tide_kyc_settings *settings;
    const char *conninfo; /* kyc_database_url, else database_url */
    struct tide_deployment_select *select;
    const char *ca_file; /* http_ca_file */
    const struct tide_clock *clock;
    uint32_t reconcile_s;
    uint32_t skew_s; /* clock_skew_s */
    struct tide_kyc_refused *refused;
};

/* kyc.attester: what the attester says of itself. */
struct tide_kyc_attester {
    uint64_t attention; /* confirmed intents that a person must look at */
    bool known;         /* there was ever one; else nothing below */
    char state[16];     /* working, waiting, stopped */
    double heartbeat_age_s;
    uint64_t ledger;
    bool funded; /* balance, in stroops, is known */
    uint64_t balance;
    uint64_t sent, confirmed, parked, failures;
    uint64_t confirmed_at, failed_at; /* unix seconds; 0: never */
    uint64_t standing;                /* confirmed revocations that the index does not show */
};

/* What /metrics shows; of the database as it was figures_age_ms ago. */
struct tide_kyc_figures {
    bool known;
    int64_t asked_ms; /* monotonic */
    uint64_t inbox_new, inbox_failed;
    double inbox_oldest_s; /* of the new ones */
    uint64_t sessions[TIDE_KYC_STATE_COUNT];
    uint64_t outbox_queued, outbox_signed, outbox_submitted, outbox_parked;
    double outbox_oldest_s; /* of what is not at an end */
    struct tide_kyc_attester attester;
};

/* Of one provider's thread, since the start. */
struct tide_kyc_effort {
    uint64_t webhooks;  /* rows of the inbox brought to an end      */
    uint64_t strangers; /* of these, of no session                  */
    uint64_t asked;     /* decisions fetched                        */
    uint64_t failed;    /* of these, without an answer              */
    uint64_t moved;     /* sessions that changed                    */
    uint64_t stale;     /* answers older than what was known        */
    uint64_t found;     /* moves that no webhook had told of        */
    int64_t turned_ms;  /* monotonic: when it last had looked at all that was due; 0: not yet */
    bool away;          /* the provider failed last: it is left alone for a while */
    bool waits;         /* the clocks differ: nothing is decided */
};

/* Does not connect yet. *options and what it points to outlive the threads. */
tide_status tide_kyc_workers_open(struct tide_kyc_workers **out,
                                  const struct tide_kyc_workers_options *options,
                                  struct tide_err *err) TIDE_MUST_USE;
tide_status tide_kyc_workers_start(struct tide_kyc_workers *workers,
                                   struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_workers_close(struct tide_kyc_workers *workers); /* NULL is fine */

/* Any thread. */
void tide_kyc_workers_figures(struct tide_kyc_workers *workers, struct tide_kyc_figures *out);
void tide_kyc_workers_effort(struct tide_kyc_workers *workers, uint32_t provider,
                             struct tide_kyc_effort *out);

#endif
