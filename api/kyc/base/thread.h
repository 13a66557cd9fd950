/* A thread that takes turns with a context: it connects, takes a turn, waits for a notification of
 * PostgreSQL, and pauses longer with each failure of the database. The process ends when the
 * context's stopped() returns true. */
#ifndef API_KYC_BASE_THREAD_H
#define API_KYC_BASE_THREAD_H

#include "api/kyc/base/context.h"
#include "tidemark/retry.h"

#include <pthread.h>

struct tide_kyc_turns {
    const char *name;    /* the thread's, for tide_liveness_begin */
    const char *channel; /* notifications to listen to; NULL: none */
    /* Takes a turn. *wait_ms is how long the thread waits for a notification before the next one;
     * 0: not at all. */
    tide_status (*turn)(void *self, uint32_t *wait_ms, struct tide_err *err);
    void (*connects)(void *self); /* before each connection: the one before is lost. NULL: none */
    /* Logs the first failure in a row. passes: it may pass by itself. */
    void (*failed)(void *self, bool passes, const char *quoted);
};

struct tide_kyc_thread {
    const struct tide_kyc_turns *turns;
    void *self; /* for the functions of turns */
    struct tide_kyc_context *context;
    struct tide_retry retry;
    pthread_t thread;
    bool opened, started, connected;
    uint32_t failures; /* the database's, in a row */
};

/* Opens the context, without connecting. number tells the threads of a process apart. turns and
 * context must outlive the thread. */
tide_status tide_kyc_thread_open(struct tide_kyc_thread *out, const struct tide_kyc_turns *turns,
                                 void *self, uint32_t number, struct tide_kyc_context *context,
                                 const struct tide_kyc_context_options *options,
                                 struct tide_err *err) TIDE_MUST_USE;
tide_status tide_kyc_thread_start(struct tide_kyc_thread *thread,
                                  struct tide_err *err) TIDE_MUST_USE;
/* Joins the thread and closes the context. Call it after stopped() became true. Does nothing if the
 * thread was not opened. */
void tide_kyc_thread_close(struct tide_kyc_thread *thread);

#endif
