/* Writing a history archive: for each checkpoint the state file, headers, transactions, results,
 * votes and buckets, as stellar-core publishes them. A checkpoint is a ledger whose number is one below a multiple of 64.
 *
 * Files    are written whole, and again by a later run; equal options give equal bytes.
 * Threads  One thread uses an archive_write. */
#ifndef SIM_ARCHIVE_WRITE_H
#define SIM_ARCHIVE_WRITE_H

#include "tidemark/buf.h"
#include "tidemark/sign.h"
#include "tidemark/status.h"
#include "tools/sim/ledger/bucket_list.h"

/* Simulated validators sign the values of ledgers, as the SCP files of an archive hold them. Their
 * seeds are public (SHA-256 of the network's passphrase and a number), so their signatures prove
 * nothing to anybody but tests. */
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

struct archive_write {
    const char *dir, *passphrase;
    struct bucket_list *buckets;         /* after the ledger that is put */
    const struct validators *validators; /* none of them: the archive has no votes */
    /* The votes for this ledger name another ledger before it, as if the validators were on a fork.
     * 0: no ledger */
    uint32_t fork;
    struct tide_buf headers, transactions, results, votes; /* records of this checkpoint */
    struct tide_buf text;                                  /* text of a state file          */
};

/* The options are the archive's first five members; what they name is borrowed. */
void archive_write_open(struct archive_write *archive, const struct archive_write *options);
/* Appends a ledger. Ledgers come in order. A checkpoint's files are written with its last one.
 * Returns TIDE_E_IO, TIDE_E_MEMORY, or a walk's error. */
tide_status archive_write_put(struct archive_write *archive, tide_slice lcm,
                              struct tide_err *err) TIDE_MUST_USE;
void archive_write_close(struct archive_write *archive);

#endif
