/* Simulated validators: they sign the values of ledgers, as the SCP files of an archive hold them.
 * Their seeds are public (SHA-256 of the network's passphrase and a number), so their signatures
 * prove nothing to anybody but tests.
 *
 * Threads  one thread uses them. */
#ifndef SIM_VALIDATORS_H
#define SIM_VALIDATORS_H

#include "tidemark/buf.h"
#include "tidemark/sign.h"

#define VALIDATORS_MAX 20u

struct validators {
    uint32_t count, signers; /* the first `signers` of them sign, the others are silent */
    uint8_t network_id[TIDE_HASH_BYTES];
    struct tide_sign *keys[VALIDATORS_MAX];
};

/* Makes the keys. count is at most VALIDATORS_MAX. TIDE_E_MEMORY; close in any case. */
tide_status validators_open(struct validators *validators, const char *passphrase, uint32_t count,
                            uint32_t signers) TIDE_MUST_USE;
void validators_close(struct validators *validators);

/* Appends the quorum set for the deployment file: more than two thirds must sign. */
void validators_put_quorum(struct tide_buf *json, const struct validators *validators);
/* Appends an SCPHistoryEntry with the signers' EXTERNALIZE votes for the ledger's value. */
void validators_put_votes(struct tide_buf *out, const struct validators *validators,
                          uint32_t ledger, tide_slice value);

#endif
