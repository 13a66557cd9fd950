/* Votes of validators: SCP envelopes as archives keep them, and the values that they vote for.
 *
 * Only EXTERNALIZE counts as a vote: with it a validator says that the value is final. The
 * signature is Ed25519 over network id || ENVELOPE_TYPE_SCP || statement, so an envelope of another
 * network or of another slot does not hold. */
#ifndef INDEXER_ARCHIVE_ENVELOPE_H
#define INDEXER_ARCHIVE_ENVELOPE_H

#include "tidemark/xdr.h"

#define SCP_VALUE_BYTES_MAX 1280u /* above the longest StellarValue of protocol 30 */

/* Slices borrow from the envelope's bytes. */
struct scp_envelope {
    const uint8_t *node; /* 32 bytes: the public key of the validator */
    uint64_t slot;       /* the ledger that the vote is about */
    bool externalizes;   /* false: another statement, without a value here */
    tide_slice value;    /* XDR of a StellarValue */
    tide_slice statement, signature;
};

/* Reads one envelope; a failure stays in the cursor. */
void scp_envelope_read(struct tide_xdr *x, struct scp_envelope *out);

/* Returns whether the node signed the statement on that network. */
bool scp_envelope_holds(const struct scp_envelope *envelope,
                        const uint8_t network_id[TIDE_HASH_BYTES]);

/* Calls `each` with every envelope of an SCPHistoryEntry. A status other than TIDE_OK ends the
 * walk. TIDE_E_DECODE, TIDE_E_UNKNOWN, or what `each` returned. */
typedef tide_status (*scp_envelope_fn)(void *self, const struct scp_envelope *envelope,
                                       struct tide_err *err);
tide_status scp_entry_walk(tide_slice entry, scp_envelope_fn each, void *self,
                           struct tide_err *err) TIDE_MUST_USE;

#endif
