/* One pass: which checkpoints are tried, and what follows from each. */
#include "indexer/database/stored_hash.h"
#include "indexer/prove/prover_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/log.h"

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

tide_status prove_pass(struct proving *p, struct tide_err *err)
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
