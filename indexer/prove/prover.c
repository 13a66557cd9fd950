#include "indexer/prove/prover_impl.h"
#include "tidemark/clock.h"
#include "tidemark/limits.h"
#include "tidemark/log.h"
#include "tidemark/stop.h"
#include "tidemark/text.h"

#include <stdlib.h>

static bool is_stopping(void *self)
{
    struct tide_prover *prover = self;
    return atomic_load(&prover->closing) || tide_stop_asked(NULL);
}

/* --- trouble --------------------------------------------------------------------------- */

/* Returns why the proof is late, or "". A checkpoint is published some time after its last ledger,
 * so the proof is late only when a further one has been indexed. */
static const char *find_trouble(const struct proving *p)
{
    return p->to && p->to >= prove_next(p) + CHECKPOINT_LEDGERS ? p->reason : "";
}

static void log_trouble(struct proving *p, const char *trouble)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    if (*trouble && !*p->trouble)
        tide_log(TIDE_WARN, "proof.delayed", "ledger=%u proven=%u reason=%s", p->to, p->proven,
                 tide_log_quote(quoted, sizeof quoted, trouble));
    else if (!*trouble && *p->trouble)
        tide_log(TIDE_INFO, "proof.resumed", "ledger=%u proven=%u", p->to, p->proven);
    snprintf(p->trouble, sizeof p->trouble, "%s", trouble);
}

/* Logs the first of consecutive failures of the database. The next pass tries again. */
static void log_failure(struct proving *p, tide_status status, const struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    if (status != TIDE_OK && !p->failing)
        tide_log(TIDE_WARN, "proof.retry", "reason=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
    p->failing = status != TIDE_OK;
}

/* --- the thread ------------------------------------------------------------------------ */

/* Runs a pass and reports it. Returns false if the thread ends: a fork, or a stop. */
static bool run_pass(struct tide_prover *prover)
{
    struct proving *p = &prover->proving;
    struct tide_err err;
    tide_status status = prove_pass(p, &err);
    if (status == TIDE_E_CHAIN) {
        prover->fork = err;
        atomic_store(&prover->forked, true);
        return false;
    }
    if (status == TIDE_OK)
        status = prove_collect(p, &err);
    if (status == TIDE_E_STOPPED)
        return false;
    if (status == TIDE_OK && p->asked) {
        char trouble[TIDE_ERR_TEXT_MAX];
        snprintf(trouble, sizeof trouble, "%s", find_trouble(p));
        tide_text_make_ascii(trouble);
        log_trouble(p, trouble);
        status = prove_store_state(p, trouble, &err);
    }
    log_failure(p, status, &err);
    return true;
}

/* Waits for the milliseconds, or until the owner wants something. */
static void wait_a_while(struct tide_prover *prover, uint32_t ms)
{
    struct timespec until = tide_monotonic_in(ms);
    int waited = 0;
    pthread_mutex_lock(&prover->lock);
    while (waited == 0 && !is_stopping(prover) && !atomic_load(&prover->finishing))
        waited = pthread_cond_timedwait(&prover->wake, &prover->lock, &until);
    pthread_mutex_unlock(&prover->lock);
}

/* Between passes the thread waits without a statement until one is due: with a ledger every 600 ms
 * that is every 38 s. */
static void wait_until_due(struct tide_prover *prover, uint32_t ms)
{
    const struct proving *p = &prover->proving;
    do
        wait_a_while(prover, ms);
    while (!is_stopping(prover) && !atomic_load(&prover->finishing) &&
           !prove_due(p, atomic_load(&prover->indexed)));
}

/* After a pass without progress the pauses grow, so that archives are not asked too often. */
static void *run_prover(void *self)
{
    struct tide_prover *prover = self;
    struct proving *p = &prover->proving;
    const struct tide_config *c = &p->config;
    struct tide_retry retry;
    uint32_t idle = 0;
    tide_retry_init(&retry, tide_now_ms(), p->deployment_id);
    for (bool last = false; !last && !is_stopping(prover);) {
        uint32_t before = p->proven;
        last = atomic_load(&prover->finishing);
        if (!run_pass(prover))
            break;
        last = last && (!p->parts.at || p->failing);
        idle = p->proven != before || !p->asked ? 0 : idle + 1;
        if (!last)
            wait_until_due(prover, idle ? tide_retry_pause_ms(&retry, c->http_retry_ms,
                                                              c->http_retry_ms_max, idle - 1)
                                        : c->poll_ms);
    }
    tide_buf_release(&p->last_set);
    archive_close(p->archive);
    tide_pg_close(p->pg);
    return NULL;
}

/* --- open and close -------------------------------------------------------------------- */

static tide_status init_proving(struct tide_prover *prover, const struct tide_config *config,
                                const struct tide_deployment *deployment, struct tide_err *err)
{
    struct proving *p = &prover->proving;
    const struct archive_options options = { .places = p->config.archive,
                                             .config = &p->config,
                                             .stopping = is_stopping,
                                             .stopping_self = prover };
    assert(deployment->id > 0);
    p->config = *config;
    p->config.http_tries = 1;
    p->quorum = deployment->quorum;
    memcpy(p->network_id, deployment->network_id, sizeof p->network_id);
    p->deployment_id = deployment->id;
    tide_buf_init(&p->last_set, TIDE_LEDGER_BYTES_MAX);
    snprintf(p->deployment, sizeof p->deployment, "%u", deployment->id);
    p->stopping = is_stopping;
    p->stopping_self = prover;
    if (p->quorum.count == 0)
        return tide_fail(err, TIDE_E_CONFIG,
                         "archive: `validators` is missing in the deployment file, so no signature "
                         "counts");
    return archive_open(&p->archive, &options, err);
}

static bool init_locks(struct tide_prover *prover)
{
    if (pthread_mutex_init(&prover->lock, NULL) != 0)
        return false;
    if (tide_cond_init(&prover->wake))
        return true;
    pthread_mutex_destroy(&prover->lock);
    return false;
}

tide_status tide_prover_open(struct tide_prover **out, const struct tide_config *config,
                             const struct tide_deployment *deployment, struct tide_err *err)
{
    *out = NULL;
    struct tide_prover *prover = calloc(1, sizeof *prover);
    if (!prover || !init_locks(prover)) {
        free(prover);
        return tide_fail(err, TIDE_E_MEMORY, "prover");
    }
    tide_status status = init_proving(prover, config, deployment, err);
    if (status == TIDE_OK) {
        prover->started = pthread_create(&prover->thread, NULL, run_prover, prover) == 0;
        if (prover->started) {
            *out = prover;
            return TIDE_OK;
        }
        archive_close(prover->proving.archive);
        status = tide_fail(err, TIDE_E_MEMORY, "prover: no thread");
    }
    tide_prover_close(prover);
    return status;
}

/* Sets what the thread waits for, and wakes it. */
static void ask_thread(struct tide_prover *prover, atomic_bool *wish)
{
    pthread_mutex_lock(&prover->lock);
    atomic_store(wish, true);
    pthread_cond_broadcast(&prover->wake);
    pthread_mutex_unlock(&prover->lock);
}

static void join_thread(struct tide_prover *prover)
{
    if (prover->started)
        pthread_join(prover->thread, NULL);
    prover->started = false;
}

void tide_prover_close(struct tide_prover *prover)
{
    if (!prover)
        return;
    ask_thread(prover, &prover->closing);
    join_thread(prover);
    pthread_cond_destroy(&prover->wake);
    pthread_mutex_destroy(&prover->lock);
    free(prover);
}

static tide_status report_fork(const struct tide_prover *prover, struct tide_err *err)
{
    if (!atomic_load(&prover->forked))
        return TIDE_OK;
    *err = prover->fork;
    return TIDE_E_CHAIN;
}

tide_status tide_prover_check(struct tide_prover *prover, uint32_t ledger, struct tide_err *err)
{
    if (!prover)
        return TIDE_OK;
    atomic_store(&prover->indexed, ledger);
    return report_fork(prover, err);
}

tide_status tide_prover_finish(struct tide_prover *prover, struct tide_err *err)
{
    if (!prover)
        return TIDE_OK;
    ask_thread(prover, &prover->finishing);
    join_thread(prover);
    return report_fork(prover, err);
}
