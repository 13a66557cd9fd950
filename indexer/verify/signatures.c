/* verify against signatures: the stored hashes of each checkpoint and the validators' votes. */
#include "indexer/archive/checkpoint.h"
#include "indexer/database/query.h"
#include "indexer/verify/verify.h"
#include "tidemark/stop.h"

/* The work over all checkpoints, and the stored hashes of the present one. */
struct signed_check {
    struct tide_verify *check;
    struct checkpoint_task task;
    uint32_t checkpoints, proven;                        /* how many were read, and proven */
    uint32_t through;                                    /* highest proven ledger; 0: none */
    uint32_t signers;                                    /* validators that signed it */
    tide_status last;                                    /* outcome of the newest checkpoint */
    uint8_t hashes[CHECKPOINT_LEDGERS][TIDE_HASH_BYTES]; /* from task.first - 1 on */
};

static tide_status load_hashes(struct signed_check *s, struct tide_err *err)
{
    s->task.hashes = (const uint8_t(*)[TIDE_HASH_BYTES])s->hashes;
    s->task.hash_count = s->task.last - s->task.first + 1;
    return tide_stored_hashes(s->check->pg, s->check->deployment, s->task.first - 1,
                              s->task.hash_count, s->hashes, err);
}

/* Returns true for a failure that ends the check. Others leave a checkpoint without proof, and a
 * later one may prove its ledgers. */
static bool is_final(tide_status status)
{
    return status == TIDE_E_CHAIN || status == TIDE_E_MEMORY || status == TIDE_E_STOPPED;
}

static tide_status check_checkpoint(struct signed_check *s, uint32_t checkpoint,
                                    struct tide_err *err)
{
    struct checkpoint_proof proof;
    uint32_t oldest = s->check->range.from + 1; /* a vote about N proves N - 1 */
    uint32_t begin = checkpoint - (CHECKPOINT_LEDGERS - 1);
    s->task.first = begin > oldest ? begin : oldest;
    s->task.last = checkpoint;
    tide_status status = load_hashes(s, err);
    if (status)
        return status;
    s->checkpoints++;
    s->last = checkpoint_prove(&s->task, &proof, err);
    if (s->last == TIDE_OK) {
        s->proven++;
        s->through = proof.ledger;
        s->signers = tide_signers_count(&proof.signers);
    } else if (!is_final(s->last)) {
        printf("signed  checkpoint %u is without proof: %s\n", checkpoint, err->text);
    }
    return is_final(s->last) ? s->last : TIDE_OK;
}

static tide_status check_all(struct signed_check *s, struct tide_err *err)
{
    const struct tide_range range = s->check->range;
    tide_status status = TIDE_OK;
    uint64_t checkpoint = checkpoint_of(range.from + 1);
    for (; !status && checkpoint <= range.to; checkpoint += CHECKPOINT_LEDGERS)
        status = check_checkpoint(s, (uint32_t)checkpoint, err);
    if (status)
        return status;
    if (s->checkpoints == 0) {
        printf("signed  no checkpoint ends in ledgers %u to %u\n", range.from, range.to);
        return TIDE_OK;
    }
    if (s->proven)
        printf("signed  ledgers %u to %u: %u of %u checkpoints, ledger %u by %u of %u validators\n",
               range.from, s->through, s->proven, s->checkpoints, s->through, s->signers,
               s->task.quorum->count);
    if (s->last == TIDE_OK)
        return TIDE_OK;
    char reason[TIDE_ERR_TEXT_MAX];
    snprintf(reason, sizeof reason, "%s", err->text);
    return tide_fail(err, TIDE_E_MISSING, "ledger %u is the first without proof: %s",
                     s->through ? s->through + 1 : range.from, reason);
}

tide_status tide_verify_signatures(struct tide_verify *check, const struct tide_config *config,
                                   struct tide_err *err)
{
    struct tide_deployment *deployment = NULL;
    struct signed_check s = { .check = check };
    const struct archive_options options = { .places = config->archive,
                                             .config = config,
                                             .stopping = tide_stop_asked };
    tide_status status = tide_verify_validators(
        &deployment, config, "archive: the deployment file must name the validators", err);
    if (!status)
        status = archive_open(&s.task.archive, &options, err);
    if (!status) {
        s.task.quorum = &deployment->quorum;
        s.task.network_id = deployment->network_id;
        status = check_all(&s, err);
    }
    archive_close(s.task.archive);
    free(deployment);
    return status;
}
