/* The threads that turn webhooks and due sessions into decisions: one thread per provider. */
#include "api/base/clocks.h"
#include "api/kyc/sessions/session_store.h"
#include "api/kyc/worker/worker_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ORDERS_A_TURN = 8,
    EVENTS_A_TURN = 32,
    SESSIONS_A_TURN = 8,
    POLL_MS = 1000,
    SOON_MS = 500, /* another thread works on the session */
    LEAST_MS = 1000,
    MOST_MS = 60 * 1000,      /* longest pause of a failing provider */
    ROW_MOST_MS = 900 * 1000, /* longest pause of a failing row */
    ATTEMPTS_MAX = 40,        /* about nine hours; the session is still checked regularly */
};

static_assert(LEAST_MS <= MOST_MS && MOST_MS <= ROW_MOST_MS, "a pause grows up to its limit");

static uint32_t worker_backoff_ms(struct worker *w, uint32_t most_ms, uint32_t times)
{
    return tide_retry_pause_ms(&w->thread.retry, LEAST_MS, most_ms, times);
}

static bool is_closing(void *self)
{
    return atomic_load(&((struct tide_kyc_workers *)self)->closing);
}

/* --- calls to the provider -------------------------------------------------------------------- */

/* Counts a call's result, and pauses the provider after a failure. Logs the first failure in a row
 * and the recovery. TIDE_E_CONFIG is an error: the provider refuses the configured credentials. */
static void track_provider(struct worker *w, tide_status status, const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    bool bad = status == TIDE_E_IO || status == TIDE_E_CONFIG;
    if (bad) {
        bool ours = status == TIDE_E_CONFIG;
        w->away_until_ms =
            tide_kyc_now_ms(&w->context) + worker_backoff_ms(w, MOST_MS, w->failures);
        if (w->failures++ == 0)
            tide_log(ours ? TIDE_ERROR : TIDE_WARN, "kyc.provider_away", "provider=%s text=%s",
                     w->provider->key, tide_log_quote(quoted, sizeof quoted, err->text));
    } else if (status != TIDE_E_STOPPED) {
        if (w->failures)
            tide_log(TIDE_INFO, "kyc.provider_back", "provider=%s failures=%u", w->provider->key,
                     w->failures);
        w->failures = 0;
    }
    pthread_mutex_lock(&w->all->mutex);
    w->effort.away = w->failures != 0;
    w->effort.asked++;
    w->effort.failed += status != TIDE_OK && status != TIDE_E_MISSING;
    pthread_mutex_unlock(&w->all->mutex);
}

/* Asks the provider for the decision on a session. *out is the decision, stored in *room;
 * &tide_kyc_gone if the provider does not know the person; NULL if the session has no person there
 * yet. */
static tide_status ask_provider(struct worker *w, const struct worker_session *session,
                                struct tide_kyc_decision *room,
                                const struct tide_kyc_decision **out, struct tide_err *err)
{
    struct tide_kyc_call call = { .settings = w->all->options.settings,
                                  .provider = w->provider,
                                  .http = w->context.http,
                                  .pg = w->context.pg,
                                  .now = tide_kyc_now(&w->context),
                                  .cancelled = tide_kyc_context_cancelled,
                                  .self = &w->context };
    char ref[TIDE_KYC_REF_BYTES];
    *room = (struct tide_kyc_decision){ 0 };
    *out = NULL;
    if (!session->provider_id[0])
        return TIDE_OK;
    tide_status status = tide_kyc_fetch(&call, session->provider_id, room, err);
    track_provider(w, status, err);
    (void)TIDE_FAILPOINT("kyc.decision_fetched");
    *out = status == TIDE_OK ? room : &tide_kyc_gone;
    /* Compute the reference from the address, because the stored column might be forged. */
    tide_kyc_reference(ref, &w->context, session->address);
    if (status == TIDE_OK && room->ref[0] && strcmp(room->ref, ref) != 0)
        *room = (struct tide_kyc_decision){ .state = TIDE_KYC_REVIEW,
                                            .doubtful = true,
                                            .reason = "reference" };
    return status == TIDE_E_MISSING ? TIDE_OK : status;
}

/* --- one session ------------------------------------------------------------------------------ */

/* Counts the outcome, and logs a change of the session. */
static void report_change(struct worker *w, const struct worker_session *session,
                          const struct worker_event *event, const char *by,
                          const struct tide_kyc_plan *plan)
{
    pthread_mutex_lock(&w->all->mutex);
    w->effort.webhooks += event != NULL;
    w->effort.moved += plan->outcome == TIDE_KYC_MOVED;
    w->effort.stale += plan->outcome == TIDE_KYC_STALE;
    w->effort.found += plan->outcome == TIDE_KYC_MOVED && !event;
    pthread_mutex_unlock(&w->all->mutex);
    if (plan->outcome == TIDE_KYC_MOVED)
        tide_log(plan->parked[0] ? TIDE_ERROR : TIDE_INFO, "kyc.decision",
                 "session=%s provider=%s state=%s reason=%s by=%s parked=%s", session->id,
                 session->provider, tide_kyc_state_text(plan->state),
                 plan->reason[0] ? plan->reason : "none", by,
                 plan->parked[0] ? plan->parked : "none");
}

/* Fetches the decision and applies it. The caller holds the session's lock. */
static tide_status decide_session(struct worker *w, const struct worker_session *session,
                                  const struct worker_event *event, struct tide_err *err)
{
    struct tide_kyc_decision room;
    const struct tide_kyc_decision *decision;
    struct tide_kyc_plan plan;
    tide_status status = ask_provider(w, session, &room, &decision, err);
    if (status == TIDE_OK)
        status = worker_apply(w, session, event, decision, &plan, err);
    (void)TIDE_FAILPOINT("kyc.decision_committed");
    if (status == TIDE_OK)
        report_change(w, session, event, event ? "webhook" : "check", &plan);
    return status;
}

/* Carries out a revocation that people ordered, without asking the provider. If another thread has
 * the session's lock, a later turn does it. A failed order is tried again, and delays no other
 * decision. */
static tide_status next_order(struct worker *w, bool *found, struct tide_err *err)
{
    struct worker_session session;
    struct tide_kyc_plan plan;
    char quoted[TIDE_ERR_TEXT_MAX];
    tide_status status = worker_take_order(w, &session, found, err);
    if (status == TIDE_OK && *found)
        status = worker_lock(w, &session, found, err);
    if (status != TIDE_OK || !*found)
        return status;
    status = worker_apply(w, &session, NULL, &tide_kyc_ordered, &plan, err);
    if (status == TIDE_OK)
        report_change(w, &session, NULL, "people", &plan);
    else if (!w->order_failed)
        tide_log(TIDE_ERROR, "kyc.order_failed", "session=%s text=%s", session.id,
                 tide_log_quote(quoted, sizeof quoted, err->text));
    w->order_failed = status != TIDE_OK;
    *found = status == TIDE_OK;
    return tide_pg_alive(w->context.pg) ? worker_unlock(w, &session, err) : status;
}

/* True for a failure of the provider, not of the database: the work is postponed. */
static bool is_provider_failure(tide_status status)
{
    return status == TIDE_E_IO || status == TIDE_E_CONFIG || status == TIDE_E_DECODE ||
           status == TIDE_E_LIMIT;
}

/* Postpones the webhook or the session. After ATTEMPTS_MAX attempts a webhook is given up. */
static tide_status postpone_work(struct worker *w, const struct worker_session *session,
                                 const struct worker_event *event, tide_status why,
                                 struct tide_err *err)
{
    uint32_t attempts = event ? event->attempts : session->attempts;
    const struct worker_pause pause = { .ms = worker_backoff_ms(w, ROW_MOST_MS, attempts),
                                        .why = tide_status_name(why),
                                        .given_up = event && attempts >= ATTEMPTS_MAX };
    if (pause.given_up)
        tide_log(TIDE_ERROR, "kyc.webhook_given_up", "provider=%s event=%s why=%s",
                 w->provider->key, event->key, pause.why);
    return worker_postpone(w, session, event, &pause, err);
}

/* Decides a session under its lock, and postpones it if the provider fails. The lock is released in
 * any case, unless the connection is lost and the lock with it. */
static tide_status handle_session(struct worker *w, const struct worker_session *session,
                                  const struct worker_event *event, struct tide_err *err)
{
    static const struct worker_pause locked = { SOON_MS, "locked", .uncounted = true },
                                     replaced = { SOON_MS, "replaced", .uncounted = true };
    bool held;
    struct tide_err after;
    tide_status status = worker_lock(w, session, &held, err);
    if (status != TIDE_OK)
        return status;
    if (!held)
        return worker_postpone(w, session, event, &locked, err);
    status = decide_session(w, session, event, err);
    if (status == TIDE_E_CONFLICT)
        status = worker_postpone(w, session, event, &replaced, err);
    if (is_provider_failure(status)) {
        char quoted[TIDE_ERR_TEXT_MAX];
        tide_log(status == TIDE_E_IO ? TIDE_DEBUG : TIDE_WARN, "kyc.decision_failed",
                 "session=%s provider=%s text=%s", session->id, w->provider->key,
                 tide_log_quote(quoted, sizeof quoted, err->text));
        status = postpone_work(w, session, event, status, err);
    }
    if (tide_pg_alive(w->context.pg) && worker_unlock(w, session, &after) != TIDE_OK &&
        status == TIDE_OK)
        return tide_fail(err, after.code, "%s", after.text);
    return status;
}

/* --- turns ------------------------------------------------------------------------------------ */

/* False while the provider is paused or the process ends. */
static bool may_ask(const struct worker *w)
{
    tide_liveness_mark(); /* before each call to the provider */
    return !is_closing(w->all) && tide_kyc_now_ms(&w->context) >= w->away_until_ms;
}

/* Handles the next due webhook. *found false: none is due. */
static tide_status next_event(struct worker *w, bool *found, struct tide_err *err)
{
    struct worker_event event;
    struct worker_session session;
    bool ours;
    tide_status status = worker_take_event(w, &event, found, err);
    if (status != TIDE_OK || !*found)
        return status;
    (void)TIDE_FAILPOINT("kyc.event_taken");
    status = worker_find_session(w, &event, &session, &ours, err);
    if (status != TIDE_OK)
        return status;
    if (ours)
        return handle_session(w, &session, &event, err);
    WORKER_COUNT(w, webhooks);
    WORKER_COUNT(w, strangers);
    return worker_ignore(w, &event, err);
}

/* Checks the next due session. *found false: none is due. */
static tide_status next_session(struct worker *w, bool *found, struct tide_err *err)
{
    struct worker_session session;
    tide_status status = worker_take_session(w, &session, found, err);
    return status == TIDE_OK && *found ? handle_session(w, &session, NULL, err) : status;
}

/* Compares the clocks, because decisions depend on time: the end of an approval, the age of a
 * decision. Logs each change once. *agree false: nothing may be decided. */
static tide_status compare_clocks(struct worker *w, bool *agree, struct tide_err *err)
{
    struct tide_clocks clocks;
    char text[TIDE_CLOCKS_TEXT_BYTES], quoted[2 * TIDE_CLOCKS_TEXT_BYTES];
    const struct tide_kyc_context_options *options = &w->all->options;
    tide_status status =
        tide_clocks_read(&clocks, w->context.pg, options->clock, w->context.deployment, err);
    if (status != TIDE_OK)
        return status;
    enum tide_clocks_verdict verdict = tide_clocks_judge(&clocks, options->config->clock_skew_s);
    *agree = verdict == TIDE_CLOCKS_AGREE;
    tide_clocks_say(text, &clocks, verdict);
    if (w->clocks_differ == *agree)
        tide_log(*agree ? TIDE_INFO : TIDE_ERROR, "kyc.clocks", "provider=%s verdict=%s text=%s",
                 w->provider->key, tide_clocks_name(verdict),
                 tide_log_quote(quoted, sizeof quoted, text));
    w->clocks_differ = !*agree;
    pthread_mutex_lock(&w->all->mutex);
    w->effort.waits = !*agree;
    pthread_mutex_unlock(&w->all->mutex);
    return TIDE_OK;
}

/* Does a bounded amount of work, so that webhooks, sessions and maintenance all get their share.
 * If rows
 * are left over, the next turn follows at once. */
static tide_status run_turn(void *self, uint32_t *wait_ms, struct tide_err *err)
{
    struct worker *w = self;
    bool found = false, more;
    tide_status status = worker_note_settings(w, err);
    if (status == TIDE_OK)
        status = compare_clocks(w, &found, err);
    *wait_ms = POLL_MS;
    if (status == TIDE_OK && !found)
        return worker_maintain(w, err);
    for (int i = 0; i < ORDERS_A_TURN && found && status == TIDE_OK && !is_closing(w->all); i++)
        status = next_order(w, &found, err);
    found = true;
    for (int i = 0; i < EVENTS_A_TURN && found && status == TIDE_OK && may_ask(w); i++)
        status = next_event(w, &found, err);
    more = found && may_ask(w);
    found = true;
    for (int i = 0; i < SESSIONS_A_TURN && found && status == TIDE_OK && may_ask(w); i++)
        status = next_session(w, &found, err);
    more |= found && may_ask(w);
    *wait_ms = more ? 0 : POLL_MS;
    return status == TIDE_OK ? worker_maintain(w, err) : status;
}

/* --- life ------------------------------------------------------------------------------------- */

static void log_failure(void *self, bool passes, const char *quoted)
{
    tide_log(passes ? TIDE_WARN : TIDE_ERROR, "kyc.worker_failed", "provider=%s text=%s",
             ((struct worker *)self)->provider->key, quoted);
}

static const struct tide_kyc_turns turns = {
    .name = "kyc", .channel = "tidemark_inbox", .turn = run_turn, .failed = log_failure
};

tide_status tide_kyc_workers_open(struct tide_kyc_workers **out,
                                  const struct tide_kyc_context_options *options,
                                  struct tide_kyc_refused *refused, struct tide_err *err)
{
    struct tide_kyc_workers *all = calloc(1, sizeof *all);
    tide_status status = TIDE_OK;
    if (!all)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: KYC workers");
    all->options = *options;
    all->options.stopped = is_closing;
    all->options.stopped_self = all;
    all->refused = refused;
    assert(options->settings->provider_count <= TIDE_COUNT(all->workers));
    pthread_mutex_init(&all->mutex, NULL);
    for (uint32_t i = 0; i < options->settings->provider_count && status == TIDE_OK; i++) {
        struct worker *w = &all->workers[all->count++];
        w->all = all;
        w->index = i;
        w->provider = &options->settings->providers[i];
        status = tide_kyc_thread_open(&w->thread, &turns, w, i, &w->context, &all->options, err);
    }
    if (status == TIDE_OK)
        *out = all;
    else
        tide_kyc_workers_close(all);
    return status;
}

tide_status tide_kyc_workers_start(struct tide_kyc_workers *workers, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < workers->count && status == TIDE_OK; i++)
        status = tide_kyc_thread_start(&workers->workers[i].thread, err);
    return status;
}

void tide_kyc_workers_close(struct tide_kyc_workers *workers)
{
    if (!workers)
        return;
    atomic_store(&workers->closing, true);
    for (uint32_t i = 0; i < workers->count; i++)
        tide_kyc_thread_close(&workers->workers[i].thread);
    pthread_mutex_destroy(&workers->mutex);
    free(workers);
}

void tide_kyc_workers_effort(struct tide_kyc_workers *workers, uint32_t provider,
                             struct tide_kyc_effort *out)
{
    assert(provider < workers->count);
    pthread_mutex_lock(&workers->mutex);
    *out = workers->workers[provider].effort;
    pthread_mutex_unlock(&workers->mutex);
}
