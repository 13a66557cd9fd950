/* Runs the turns of a thread, and handles failures of its database. */
#include "api/kyc/base/thread.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"

enum { SLICE_MS = 50, PAUSE_FIRST_MS = 250, PAUSE_MOST_MS = 10000 };

/* Connects if needed, and listens. */
static tide_status connect_now(struct tide_kyc_thread *t, struct tide_err *err)
{
    if (tide_kyc_context_ready(t->context) && t->connected)
        return TIDE_OK;
    t->connected = false;
    if (t->turns->connects)
        t->turns->connects(t->self);
    tide_status status = tide_kyc_context_connect(t->context, err);
    if (status == TIDE_OK && t->turns->channel)
        status = tide_pg_listen(t->context->pg, t->turns->channel, err);
    t->connected = status == TIDE_OK;
    return status;
}

/* Sleeps in short slices, so that closing need not wait. */
static void pause_thread(const struct tide_kyc_thread *t, uint32_t ms)
{
    const struct tide_clock *clock = t->context->options.clock;
    for (uint32_t done = 0; done < ms && !tide_kyc_context_cancelled(t->context); done += SLICE_MS)
        clock->sleep_ms(clock->self, SLICE_MS);
}

/* Chooses whether to reconnect, and pauses longer with each failure. */
static void handle_failure(struct tide_kyc_thread *t, tide_status status,
                           const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    if (status == TIDE_OK)
        t->failures = 0;
    if (status == TIDE_OK || status == TIDE_E_STOPPED)
        return;
    tide_kyc_rollback(t->context);
    if (t->failures == 0)
        t->turns->failed(t->self, status == TIDE_E_DB || status == TIDE_E_NO_PRIMARY,
                         tide_log_quote(quoted, sizeof quoted, err->text));
    if (t->context->pg && tide_pg_remedy(t->context->pg) != TIDE_PG_AGAIN)
        t->connected = false;
    pause_thread(t, tide_retry_pause_ms(&t->retry, PAUSE_FIRST_MS, PAUSE_MOST_MS, t->failures++));
}

/* The thread counts as alive while the database is unreachable: a restart would not help, and the
 * process has other work. */
static void *run_thread(void *self)
{
    struct tide_kyc_thread *t = self;
    struct tide_err err;
    tide_liveness_begin(t->turns->name, TIDE_LIVENESS_WAITS_MS);
    while (!tide_kyc_context_cancelled(t->context)) {
        uint32_t wait_ms = 0;
        bool notified;
        tide_liveness_mark();
        tide_status status = connect_now(t, &err);
        if (status == TIDE_OK)
            status = t->turns->turn(t->self, &wait_ms, &err);
        if (status == TIDE_OK && wait_ms)
            status = tide_pg_wait(t->context->pg, (int)wait_ms, &notified, &err);
        handle_failure(t, status, &err);
    }
    tide_liveness_end();
    return NULL;
}

tide_status tide_kyc_thread_open(struct tide_kyc_thread *out, const struct tide_kyc_turns *turns,
                                 void *self, uint32_t number, struct tide_kyc_context *context,
                                 const struct tide_kyc_context_options *options,
                                 struct tide_err *err)
{
    *out = (struct tide_kyc_thread){ .turns = turns, .self = self, .context = context };
    tide_retry_init(&out->retry, options->clock->wall_ms(options->clock->self), number);
    tide_status status = tide_kyc_context_open(context, options, err);
    out->opened = status == TIDE_OK;
    return status;
}

tide_status tide_kyc_thread_start(struct tide_kyc_thread *thread, struct tide_err *err)
{
    assert(thread->opened && !thread->started);
    thread->started = pthread_create(&thread->thread, NULL, run_thread, thread) == 0;
    return thread->started ? TIDE_OK
                           : tide_fail(err, TIDE_E_MEMORY, "cannot start the thread \"%s\"",
                                       thread->turns->name);
}

void tide_kyc_thread_close(struct tide_kyc_thread *thread)
{
    if (thread->started)
        pthread_join(thread->thread, NULL);
    if (thread->opened)
        tide_kyc_context_close(thread->context);
}
