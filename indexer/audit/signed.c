/* The proof of the audited header: validators signed it, or the chain of ledgers alone links it. */
#include "indexer/archive/checkpoint.h"
#include "indexer/audit/audit_impl.h"

#include <stdlib.h>

static tide_status find_hash(void *self, uint32_t ledger, uint8_t hash[TIDE_HASH_BYTES],
                             struct tide_err *err)
{
    struct audit *a = self;
    return audit_stored_hash(a, ledger, hash, err);
}

/* Proves the ledger by votes of the ledgers after it. Without enough votes it stays linked. */
static tide_status prove_signed(struct audit *a, const struct tide_deployment *file,
                                struct tide_err *err)
{
    struct checkpoint_proof proof;
    const struct checkpoint_task task = { .archive = a->archive,
                                          .quorum = &file->quorum,
                                          .network_id = file->network_id,
                                          .first = a->ledger + 1,
                                          .last = checkpoint_of(a->ledger + 1),
                                          .hash_of = find_hash,
                                          .self = a };
    assert(task.first <= task.last); /* a state's ledger is below INT32_MAX */
    tide_status status = checkpoint_prove(&task, &proof, err);
    if (status == TIDE_OK)
        printf("proof       signed: %u of %u validators signed ledger %u, which follows from it\n",
               tide_signers_count(&proof.signers), file->quorum.count, proof.ledger);
    else if (status != TIDE_E_CHAIN && status != TIDE_E_MEMORY && status != TIDE_E_STOPPED)
        printf("proof       linked, not signed yet: %s\n", err->text);
    else
        return status;
    return TIDE_OK;
}

tide_status audit_print_proof(struct audit *a, struct tide_err *err)
{
    struct tide_deployment *file = NULL;
    tide_status status =
        *a->config->deployment ? tide_deployment_read(&file, a->config->deployment, err) : TIDE_OK;
    if (status == TIDE_OK && file && file->quorum.count)
        status = prove_signed(a, file, err);
    else if (status == TIDE_OK)
        printf("proof       linked: the hash follows from the chain of ledgers; the deployment file"
               " names no validators\n");
    free(file);
    return status;
}
