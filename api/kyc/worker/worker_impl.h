/* Types and functions that the files worker*.c share. */
#ifndef API_KYC_WORKER_WORKER_IMPL_H
#define API_KYC_WORKER_WORKER_IMPL_H

#include "api/kyc/base/thread.h"
#include "api/kyc/worker/decision.h"
#include "api/kyc/worker/worker.h"
#include "tidemark/text.h"

#include <stdatomic.h>

#define WORKER_SESSION_BYTES 65u
#define WORKER_NUMBER_BYTES  24u
#define WORKER_META_BYTES \
    TIDE_BYTEA_BYTES(TIDE_HASH_BYTES) /* hash of a decision, as SQL takes it */

/* Figures of the database for /metrics, as they were at asked_ms. */
#define WORKER_FIGURES 30u
struct worker_figures {
    bool known;
    int64_t asked_ms; /* monotonic */
    int64_t values[WORKER_FIGURES];
};

struct worker {
    struct tide_kyc_workers *all;
    uint32_t index; /* the provider's index in the settings */
    const struct tide_kyc_provider *provider;
    struct tide_kyc_thread thread;
    struct tide_kyc_context context;
    uint32_t failures;     /* failed calls in a row */
    int64_t away_until_ms; /* monotonic: no call before this time */
    bool settings_noted;   /* the audit has the row of this start */
    bool clocks_differ;    /* already logged */
    bool order_failed;     /* the last order failed; already logged */
    int64_t repaired_ms, pruned_ms, forgotten_ms, figures_ms;
    int64_t ended_due_ms;          /* monotonic: when ended sessions are counted again */
    struct tide_kyc_effort effort; /* guarded by the mutex */
};

struct tide_kyc_workers {
    struct tide_kyc_context_options options;
    struct tide_kyc_refused *refused;
    atomic_bool closing;
    pthread_mutex_t mutex; /* guards figures and each worker's effort */
    struct worker_figures figures;
    uint32_t count;
    struct worker workers[TIDE_KYC_PROVIDERS_MAX];
};

/* A webhook that this worker has taken. */
struct worker_event {
    char key[TIDE_KYC_ID_BYTES];
    char provider_id[TIDE_KYC_ID_BYTES]; /* "": none */
    char ref[TIDE_KYC_ID_BYTES];         /* "": none */
    uint32_t attempts;
};

#define WORKER_MOMENT_BYTES 48u

/* A session that this worker works on. */
struct worker_session {
    char id[WORKER_SESSION_BYTES];
    char provider_id[TIDE_KYC_ID_BYTES]; /* "": none yet */
    char provider[TIDE_KYC_WORD_BYTES];  /* the provider's key */
    char address[TIDE_KYC_ADDRESS_BYTES];
    char taken_at[WORKER_MOMENT_BYTES]; /* the database's time before the provider is asked */
    uint32_t attempts;
};

/* --- worker_store.c: statements --------------------------------------------------------------- */

/* Takes the next due webhook for a while. *found false: none is due. */
tide_status worker_take_event(struct worker *w, struct worker_event *out, bool *found,
                              struct tide_err *err);
/* Takes the next due session for a while. */
tide_status worker_take_session(struct worker *w, struct worker_session *out, bool *found,
                                struct tide_err *err);
/* Reads a session that people ordered to revoke (kyc.revocation): any provider's, in random
 * order. */
tide_status worker_take_order(struct worker *w, struct worker_session *out, bool *found,
                              struct tide_err *err);
/* Finds the session of a webhook, by the provider's id, else by reference. Of several sessions with
 * one reference an open one is preferred. If the id is unknown, a session without an id matches
 * (the provider's answer to its creation was lost). If the webhook has only a reference, a session
 * with an id matches. The newest wins. */
tide_status worker_find_session(struct worker *w, const struct worker_event *event,
                                struct worker_session *out, bool *found, struct tide_err *err);
/* Tries to take the session's lock for this connection. *held false: another connection has it. */
tide_status worker_lock(struct worker *w, const struct worker_session *session, bool *held,
                        struct tide_err *err);
tide_status worker_unlock(struct worker *w, const struct worker_session *session,
                          struct tide_err *err);

/* Finishes a webhook about no session, with an audit row. */
tide_status worker_ignore(struct worker *w, const struct worker_event *event, struct tide_err *err);
struct worker_pause {
    uint32_t ms;
    const char *why; /* a static word */
    bool uncounted;  /* takes back the attempt that worker_take_… counted */
    bool given_up;   /* the webhook is never tried again */
};
/* Postpones the webhook, or without one (NULL) the session. */
tide_status worker_postpone(struct worker *w, const struct worker_session *session,
                            const struct worker_event *event, const struct worker_pause *pause,
                            struct tide_err *err);

void worker_copy_text(char *to, size_t size, const struct tide_pg_rows *rows, uint32_t column);

/* --- worker_apply.c --------------------------------------------------------------------------- */

/* Weighs the decision (NULL: none) against the session and writes the result in one transaction:
 * session, outbox, audit, and the end of the webhook (event NULL: there was none). Transactions
 * about one address are serialized, so that each sees the other approvals. TIDE_E_CONFLICT: the
 * session got another person at the provider since it was read. */
tide_status worker_apply(struct worker *w, const struct worker_session *session,
                         const struct worker_event *event, const struct tide_kyc_decision *decision,
                         struct tide_kyc_plan *plan, struct tide_err *err);

/* --- worker_recall.c -------------------------------------------------------------------------- */

/* If the plan attests an approval that the chain has already, by an attestation that no intent of
 * this database sent, sets the plan's end to the chain's and meta to its hash: the attester then
 * finds that it is so, and sends nothing. Else meta is "". */
tide_status worker_recall(struct worker *w, const struct worker_session *session,
                          struct tide_kyc_plan *plan, char meta[WORKER_META_BYTES], int64_t now,
                          struct tide_err *err);

/* --- worker_maintenance.c --------------------------------------------------------------------- */

/* Writes an audit row with the digest of the KYC file, once, before any work is taken: two rows
 * that differ show a changed file. Only the first worker does it. */
tide_status worker_note_settings(struct worker *w, struct tide_err *err);

/* Does the maintenance that is due. The first worker also does what concerns all providers. */
tide_status worker_maintain(struct worker *w, struct tide_err *err);

/* --- worker_figures.c ------------------------------------------------------------------------- */

/* Reads the database's figures for /metrics. Only the first worker does it. */
tide_status worker_read_figures(struct worker *w, struct tide_err *err);

/* --- worker.c --------------------------------------------------------------------------------- */

#define WORKER_COUNT(w, field)                  \
    do {                                        \
        pthread_mutex_lock(&(w)->all->mutex);   \
        (w)->effort.field++;                    \
        pthread_mutex_unlock(&(w)->all->mutex); \
    } while (0)

#endif
