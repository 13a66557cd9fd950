#include "indexer/database/query.h"
#include "indexer/prove/prover_impl.h"
#include "tidemark/clock.h"
#include "tidemark/failpoint.h"
#include "tidemark/limits.h"
#include "tidemark/log.h"
#include "tidemark/stop.h"
#include "tidemark/text.h"

#include <stdlib.h>

enum { RETRY_MS = 250 }; /* first pause between passes without progress; doubles, with jitter */

/* --- a pass ----------------------------------------------------------------------------- */

uint32_t prove_next(const struct proving *p)
{
    /* The votes that prove the ledger are in this checkpoint. They may prove later ones, too, which
     * were not indexed when the index began with a checkpoint's state. */
    uint32_t used = checkpoint_of((p->proven ? p->proven : p->from) + 1);
    return p->proven && p->used >= used ? used + CHECKPOINT_LEDGERS : used;
}

/* An index that lost ledgers has lost proofs, too. */
bool prove_due(const struct proving *p, uint32_t indexed)
{
    if (p->failing || p->parts.at || indexed < p->to)
        return true;
    return p->from == 0 ? indexed > 0 : indexed >= prove_next(p);
}

static tide_status load_task(struct proving *p, uint32_t checkpoint, struct tide_err *err)
{
    uint32_t oldest = p->from + 1; /* the first ledger whose vote names an indexed one */
    uint32_t begin = checkpoint - (CHECKPOINT_LEDGERS - 1);
    p->task = (struct checkpoint_task){ .archive = p->archive,
                                        .quorum = &p->quorum,
                                        .network_id = p->network_id,
                                        .first = begin > oldest ? begin : oldest,
                                        .last = checkpoint,
                                        .hashes = (const uint8_t(*)[TIDE_HASH_BYTES])p->hashes,
                                        .last_set = &p->last_set };
    p->task.hash_count = p->task.last - p->task.first + 1;
    return tide_stored_hashes(p->pg, p->deployment_id, p->task.first - 1, p->task.hash_count,
                              p->hashes, err);
}

/* Stores the fork. If the index lost the ledger meanwhile, there is none. */
static tide_status note_fork(struct proving *p, const struct checkpoint_proof *proof,
                             const struct tide_err *found, struct tide_err *err)
{
    bool stored;
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    tide_status status = prove_store_fork(p, proof, &stored, err);
    if (status != TIDE_OK || !stored)
        return status;
    tide_log(TIDE_ERROR, "proof.forked", "ledger=%u proven=%u signers=%u reason=%s", proof->ledger,
             p->proven, tide_signers_count(&proof->signers),
             tide_log_quote(quoted, sizeof quoted, found->text));
    *err = *found;
    return TIDE_E_CHAIN;
}

static tide_status note_proof(struct proving *p, const struct checkpoint_proof *proof, bool *proven,
                              struct tide_err *err)
{
    tide_status status = prove_store(p, proof, proven, err);
    if (status != TIDE_OK || !*proven)
        return status;
    p->proven = proof->ledger;
    tide_log(TIDE_INFO, "proof.proven", "ledger=%u signers=%u of=%u", proof->ledger,
             tide_signers_count(&proof->signers), p->quorum.count);
    return TIDE_OK;
}

/* Tries to prove the checkpoint. Files and signatures that are missing only leave *proven false. */
static tide_status try_checkpoint(struct proving *p, uint32_t checkpoint, bool *proven,
                                  struct tide_err *err)
{
    struct checkpoint_proof proof;
    struct tide_err found;
    *proven = false;
    p->asked = true;
    tide_buf_reset(&p->last_set);
    tide_status status = load_task(p, checkpoint, err);
    if (status == TIDE_E_CONFLICT)
        return TIDE_OK; /* the server lost commits; the next pass reads its place again */
    if (status != TIDE_OK)
        return status;
    tide_status outcome = checkpoint_prove(&p->task, &proof, &found);
    if (TIDE_FAILPOINT("prove.read"))
        return tide_fail(err, TIDE_E_DB, "failpoint");
    if (outcome == TIDE_OK && checkpoint > p->used)
        p->used = checkpoint;
    if (outcome == TIDE_OK)
        return proof.ledger > p->proven ? note_proof(p, &proof, proven, err) : TIDE_OK;
    if (outcome == TIDE_E_CHAIN)
        return note_fork(p, &proof, &found, err);
    if (outcome == TIDE_E_STOPPED || outcome == TIDE_E_MEMORY) {
        *err = found;
        return outcome;
    }
    snprintf(p->reason, sizeof p->reason, "%s", found.text);
    return TIDE_OK;
}

/* Proves from the oldest checkpoint without proof up to `last`, as far as the files are there. */
static tide_status walk_up(struct proving *p, uint32_t last, struct tide_err *err)
{
    bool proven = true;
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && proven && prove_next(p) <= last)
        status = try_checkpoint(p, prove_next(p), &proven, err);
    return status;
}

static tide_status prove_pass(struct proving *p, struct tide_err *err)
{
    bool proven = false;
    tide_status status = prove_connect(p, err);
    if (status == TIDE_OK)
        status = prove_read_place(p, err);
    p->asked = false;
    if (status != TIDE_OK || p->to < prove_next(p))
        return status;
    uint32_t newest = checkpoint_of(p->to + 1) - CHECKPOINT_LEDGERS;
    status = try_checkpoint(p, newest, &proven, err);
    if (status == TIDE_OK && !proven && newest >= prove_next(p) + CHECKPOINT_LEDGERS)
        status = try_checkpoint(p, newest - CHECKPOINT_LEDGERS, &proven, err);
    if (status == TIDE_OK && !proven && newest >= prove_next(p) + 2 * CHECKPOINT_LEDGERS)
        status = walk_up(p, newest - 2 * CHECKPOINT_LEDGERS, err);
    return status;
}

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
            wait_until_due(prover,
                           idle ? tide_retry_pause_ms(&retry, RETRY_MS, c->retry_ms_max, idle - 1)
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
