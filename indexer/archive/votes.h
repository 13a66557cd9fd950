/* The votes of named validators about the ledgers up to one checkpoint.
 *
 * A vote counts if its validator is in the quorum set and its signature holds on the network, once
 * for each value. Signatures of votes before `checked_from` are not checked. A validator can add
 * only one new value to a ledger, so that it alone cannot fill the table of values. Votes of
 * several archives add up: each proves itself.
 * Memory   fixed when the votes are opened: some 24 KiB a ledger.
 * Threads  one thread at a time. */
#ifndef INDEXER_ARCHIVE_VOTES_H
#define INDEXER_ARCHIVE_VOTES_H

#include "indexer/archive/envelope.h"
#include "tidemark/quorum.h"
#include "tidemark/stellar_value.h"

struct votes; /* opaque */

struct votes_options {
    const struct tide_quorum *quorum; /* borrowed, as network_id is */
    const uint8_t *network_id;
    uint32_t first, last; /* ledgers of the checkpoint, at most VOTES_LEDGERS_MAX */
    /* Signatures of votes about earlier ledgers are not checked: such a vote may show that a check
     * is needed, and proves nothing. */
    uint32_t checked_from;
};

#define VOTES_LEDGERS_MAX 64u

/* A value and the validators that voted for it. */
struct vote_value {
    uint8_t bytes[SCP_VALUE_BYTES_MAX];
    uint32_t len;
    struct tide_signers signers;
};

tide_status votes_open(struct votes **out,
                       const struct votes_options *options) TIDE_MUST_USE; /* TIDE_E_MEMORY */
void votes_close(struct votes *votes);                                     /* NULL is allowed */

/* Call before each file. Resets the number of signatures that may be checked in one file. */
void votes_begin_file(struct votes *votes);
/* Takes an envelope; self is the votes. TIDE_E_LIMIT: the file has too many votes that do not
 * hold. */
tide_status votes_add(void *self, const struct scp_envelope *envelope, struct tide_err *err);

/* Returns the value of the ledger for which the quorum set is satisfied; NULL: there is none. */
const struct vote_value *votes_decided(const struct votes *votes, uint32_t ledger);
/* Reads the decided value. Returns false if there is none, or it is of a newer protocol. */
bool votes_read_decided(const struct votes *votes, uint32_t ledger, struct tide_stellar_value *out);
/* Returns the highest ledger that has a decided value, at most `below`; 0: none. */
uint32_t votes_highest(const struct votes *votes, uint32_t below);
/* Returns the largest number of validators that voted for one value of any ledger. */
uint32_t votes_most(const struct votes *votes);

#endif
