/* What the files worker*.c share. */
#ifndef API_KYC_WORKER_WORKER_IMPL_H
#define API_KYC_WORKER_WORKER_IMPL_H

#include "api/kyc/base/context.h"
#include "api/kyc/worker/decision.h"
#include "api/kyc/worker/worker.h"
#include "tidemark/retry.h"

#include <pthread.h>
#include <stdatomic.h>

#define WORKER_SESSION_BYTES 65u
#define WORKER_NUMBER_BYTES  24u

struct worker {
    struct tide_kyc_workers *all;
    uint32_t index; /* of the provider */
    const struct tide_kyc_provider *provider;
    const struct tide_kyc_adapter *adapter;
    pthread_t thread;
    bool opened, started, listening;
    struct tide_kyc_context context;
    struct tide_retry retry;
    uint32_t failures;     /* of the provider, in a row  */
    uint32_t db_failures;  /* of the database, in a row  */
    int64_t away_until_ms; /* monotonic                  */
    bool settings_noted;   /* in the audit */
    bool clocks_differ;    /* said in the log */
    bool order_failed;     /* the last one; said in the log */
    int64_t pruned_ms, forgotten_ms, figures_ms;
    int64_t ended_due_ms;                 /* when sessions that ended are counted again */
    uint64_t ended[TIDE_KYC_STATE_COUNT]; /* how many these were */
    struct tide_kyc_effort effort;        /* under the mutex */
};

struct tide_kyc_workers {
    struct tide_kyc_workers_options options;
    atomic_bool closing;
    pthread_mutex_t mutex; /* of figures and of each worker's effort */
    struct tide_kyc_figures figures;
    uint32_t count;
    struct worker workers[TIDE_KYC_PROVIDERS_MAX];
};

/* A webhook that this worker took. */
struct worker_event {
    char key[TIDE_KYC_ID_BYTES];
    char provider_id[TIDE_KYC_ID_BYTES]; /* "": none */
    char ref[TIDE_KYC_ID_BYTES];         /* "": none */
    uint32_t attempts;
};

#define WORKER_MOMENT_BYTES 48u

/* A session that it works on. */
struct worker_session {
    char id[WORKER_SESSION_BYTES];
    char provider_id[TIDE_KYC_ID_BYTES]; /* "": none yet */
    char provider[TIDE_KYC_WORD_BYTES];  /* its key */
    char address[TIDE_KYC_ADDRESS_BYTES];
    char taken_at[WORKER_MOMENT_BYTES]; /* the database's time: before the provider is asked */
    uint32_t attempts;
};

/* --- worker_store.c: statements --------------------------------------------------------------- */

/* The next webhook that no thread works on; *found false: none is due. */
tide_status worker_take_event(struct worker *w, struct worker_event *out, bool *found,
                              struct tide_err *err);
/* The next session whose time has come. */
tide_status worker_take_session(struct worker *w, struct worker_session *out, bool *found,
                                struct tide_err *err);
/* A session whose revocation people ordered (kyc.revocation): any provider's, any one of them. */
tide_status worker_take_order(struct worker *w, struct worker_session *out, bool *found,
                              struct tide_err *err);
/* Whose webhook it is: by the provider's id, else by reference. Of several of one reference an open
 * one; an unknown id is that of a session which has none yet (the provider's answer to us
 * was lost), and who is named by reference alone is one that has an id; then the newest. */
tide_status worker_find_session(struct worker *w, const struct worker_event *event,
                                struct worker_session *out, bool *found, struct tide_err *err);
/* The lock of a session, for this connection; *held false: another has it. */
tide_status worker_lock(struct worker *w, const struct worker_session *session, bool *held,
                        struct tide_err *err);
tide_status worker_unlock(struct worker *w, const struct worker_session *session,
                          struct tide_err *err);

/* A webhook of no session: done, and noted. */
tide_status worker_ignore(struct worker *w, const struct worker_event *event, struct tide_err *err);
/* Later again. why: a word of ours. */
tide_status worker_put_off_event(struct worker *w, const struct worker_event *event,
                                 uint32_t after_ms, const char *why, bool given_up,
                                 struct tide_err *err);
/* Another thread works on its session: later again, and this was no attempt. event or NULL. */
tide_status worker_make_way(struct worker *w, const struct worker_session *session,
                            const struct worker_event *event, const char *why,
                            struct tide_err *err);
tide_status worker_put_off_session(struct worker *w, const struct worker_session *session,
                                   uint32_t after_ms, const char *why, struct tide_err *err);

/* Ends the transaction: commits what went well, undoes the rest. */
tide_status worker_finish(struct worker *w, tide_status status, struct tide_err *err);
void worker_copy_text(char *to, size_t size, const struct tide_pg_rows *rows, uint32_t column);

/* --- worker_apply.c --------------------------------------------------------------------------- */

/* Weighs the decision (NULL: none) against the session and writes all of it in one transaction:
 * session, outbox, audit, and the end of the webhook (NULL: there was none). Transactions about one
 * address follow one another, so that what one approval does to the chain knows of the others.
 * TIDE_E_CONFLICT: the session is another person of the provider's since it was asked. */
tide_status worker_apply(struct worker *w, const struct worker_session *session,
                         const struct worker_event *event, const struct tide_kyc_decision *decision,
                         struct tide_kyc_plan *plan, struct tide_err *err);

/* --- worker_maintenance.c */

/* Notes in the audit with which file this process works, once, before any work is taken: two rows
 * that differ show a changed file. The first worker alone does it. */
tide_status worker_note_settings(struct worker *w, struct tide_err *err);

/* What is due of it; the first worker does what is of all. */
tide_status worker_maintain(struct worker *w, struct tide_err *err);

/* --- worker_attester.c */

tide_status worker_read_attester(struct worker *w, struct tide_kyc_attester *out,
                                 struct tide_err *err);

/* --- worker.c */

uint32_t worker_chance(struct worker *w);
/* least_ms doubled `times` times, at most most_ms, spread over its upper half. */
uint32_t worker_backoff_ms(struct worker *w, uint32_t least_ms, uint32_t most_ms, uint32_t times);
int64_t worker_wall_s(const struct worker *w);
int64_t worker_now_ms(const struct worker *w);
#define WORKER_COUNT(w, field)                  \
    do {                                        \
        pthread_mutex_lock(&(w)->all->mutex);   \
        (w)->effort.field++;                    \
        pthread_mutex_unlock(&(w)->all->mutex); \
    } while (0)

#endif
