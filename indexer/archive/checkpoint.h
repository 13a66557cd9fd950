/* Proves the ledgers of a checkpoint by signatures of the validators that the operator names.
 *
 * A quorum that externalized a value of ledger N signed the hash of its transaction set. The set
 * names the hash of ledger N - 1, so the signatures prove that hash, and by the chain of hashes all
 * ledgers before it: results, events and state. Ledger N itself is proven by a later vote.
 *
 * The set comes from the archive's transactions/ file. A ledger without transactions is not in it:
 * its set is made again from the hash of the ledger before and compared with the signed hash.
 * A STELLAR_VALUE_EMPTY_TX_SET itself contains the hash of the ledger before.
 *
 * Threads  one thread at a time uses a task. Reading waits as archive_read does. */
#ifndef INDEXER_ARCHIVE_CHECKPOINT_H
#define INDEXER_ARCHIVE_CHECKPOINT_H

#include "indexer/archive/archive.h"
#include "tidemark/buf.h"
#include "tidemark/quorum.h"

struct checkpoint_task {
    struct archive *archive;
    const struct tide_quorum *quorum;
    const uint8_t *network_id;
    uint32_t first, last; /* ledgers whose votes count; last is the checkpoint's */
    /* Hashes of our ledgers from first - 1 on; up to last - 1 if there are so many. */
    const uint8_t (*hashes)[TIDE_HASH_BYTES];
    uint32_t hash_count;
    /* Gets the last ledger's TransactionHistoryEntry, if a proof reads it; NULL: not wanted. */
    struct tide_buf *last_set;
};

struct checkpoint_proof {
    uint32_t ledger;               /* proven with all before it; or the first that contradicts */
    uint8_t hash[TIDE_HASH_BYTES]; /* the hash that the quorum signed */
    uint64_t close_time;           /* close time of ledger + 1, whose value was signed */
    struct tide_signers signers;   /* validators that signed */
};

/* Proves as many of our ledgers as the checkpoint's votes allow.
 * TIDE_OK         *out says up to which ledger
 * TIDE_E_CHAIN    a quorum signed another hash; *out says of which ledger, and which
 * TIDE_E_EOF      no quorum has signed: votes are missing
 * TIDE_E_MISSING  no place has the checkpoint's votes, or the transaction sets; or the task lacks
 *                 a hash of ours that is needed
 * otherwise       as archive_read */
tide_status checkpoint_prove(const struct checkpoint_task *task, struct checkpoint_proof *out,
                             struct tide_err *err) TIDE_MUST_USE;

/* Writes the signers' public keys as an array in PostgreSQL's form. Returns the text in out, which
 * the caller releases, or NULL without memory. */
const char *checkpoint_put_signers(const struct tide_quorum *quorum,
                                   const struct tide_signers *signers, struct tide_buf *out);

/* Ledgers of a checkpoint: they end with the ledgers 63, 127, 191 … An accelerated test network has
 * checkpoints of 8 ledgers; of these each eighth is used, whose files hold 8 ledgers. */
#define CHECKPOINT_LEDGERS 64u

static inline uint32_t checkpoint_of(uint32_t ledger)
{
    return ledger | (CHECKPOINT_LEDGERS - 1);
}

#endif
