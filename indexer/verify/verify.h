/* verify checks what is stored.
 *
 * The tables  Ledgers are contiguous and linked by their hashes. Every event in the log has a row
 *             in its own table, and the other way round. Each ledger's row and the cursor have the
 *             right counts of transactions, calls, events and raw rows. Each call and event has its
 *             transaction. State is the newest of history. Rollups are what their statements make
 *             of events and history. Sums over the whole index are left out for a range.
 * A source    if one is configured: the decoder reads the ledgers of the range again, with hashes
 *             and proofs, and the rows of every table are compared by ledger.
 * Signatures  if an archive is configured: of each checkpoint, the votes of the validators that the
 *             deployment file names are compared with the stored hashes (indexer/archive).
 * getEvents   of each server of `rpc`: the ids of all events of the deployment's contracts, in the
 *             part of the range that the server still keeps. A difference means that the server or
 *             the index lost events.
 *
 * verify writes nothing that stays. Memory is bounded: digests of a limited number of ledgers. */
#ifndef INDEXER_VERIFY_VERIFY_H
#define INDEXER_VERIFY_VERIFY_H

#include "indexer/database/range.h"
#include "tidemark/buf.h"
#include "tidemark/config.h"
#include "tidemark/deployment.h"
#include "tidemark/pg.h"

struct tide_verify {
    struct tide_pg *pg; /* a transaction with one snapshot */
    uint16_t deployment;
    struct tide_range range;
    bool part;                /* a part of the index was asked for, not all of it */
    struct tide_pg_rows rows; /* rows of the last tide_verify_ask */
    uint64_t wrong; /* differences reported so far; the first TIDE_VERIFY_SAID_MAX are printed */
};

#define TIDE_VERIFY_SAID_MAX 20u

/* Prints one difference on standard output and counts it. */
void tide_verify_report(struct tide_verify *check, const char *format, ...) TIDE_PRINTF(2, 3);

/* Runs a statement with $1 deployment, $2 and $3 the range's first and last ledger. check->rows are
 * its rows. */
tide_status tide_verify_ask(struct tide_verify *check, const char *sql,
                            struct tide_err *err) TIDE_MUST_USE;

/* Compares the tables with themselves: ledgers, events, counts and state. */
tide_status tide_verify_stored(struct tide_verify *check, struct tide_err *err) TIDE_MUST_USE;
/* Folds all rollups again over a connection of its own, into temporary tables. */
tide_status tide_verify_rollups(struct tide_verify *check, const struct tide_config *config,
                                struct tide_err *err) TIDE_MUST_USE;
/* Decodes the ledgers again from the configured source. */
tide_status tide_verify_source(struct tide_verify *check, const struct tide_config *config,
                               struct tide_err *err) TIDE_MUST_USE;
/* Proves the stored hashes by signatures. TIDE_E_CHAIN: a quorum signed another hash, and err names
 * the first such ledger. TIDE_E_MISSING: the newest checkpoint is not proven. */
tide_status tide_verify_signatures(struct tide_verify *check, const struct tide_config *config,
                                   struct tide_err *err) TIDE_MUST_USE;
/* Compares with getEvents of every configured server. */
tide_status tide_verify_events(struct tide_verify *check, const struct tide_config *config,
                               struct tide_err *err) TIDE_MUST_USE;

/* verify --proof: checks a proof of a transaction or of an entry that an API gave, against the
 * validators of the deployment file. The proof of an entry is checked offline up to the hashes of
 * the buckets; if `archive` is set, the buckets are read and the entry is compared.
 *
 * TIDE_OK          it proves what is printed
 * TIDE_E_CONFLICT  it proves nothing, or the entry is another one
 * TIDE_E_DECODE, TIDE_E_UNKNOWN, TIDE_E_LIMIT  the file is no proof, or of a newer protocol
 * TIDE_E_MISSING, TIDE_E_CHAIN, TIDE_E_IO  a bucket is missing or damaged in each place */
tide_status tide_verify_proof(const char *path, const struct tide_config *config,
                              struct tide_err *err) TIDE_MUST_USE;

/* verify --receipt: checks whether a receipt (include/tidemark/receipt.h) was right.
 *
 * Right    TIDE_OK: the index gives the receipt's answer at that ledger and time
 * Wrong    TIDE_E_CONFLICT: the signature does not hold, the JWKS lacks the key, the key was
 *          withdrawn, or the answer or a claim differs; each difference is printed
 * Unknown  TIDE_E_MISSING: another network or deployment, a ledger that is not indexed or has
 *          another hash
 * TIDE_E_DECODE: the file is no receipt. Archived events do not matter: answers come from entries.
 *
 * Not checked: how old the server's knowledge was (its lease). exp is therefore only checked
 * against the bound that the answer itself sets. */
struct tide_verify_receipt {
    struct tide_pg *pg; /* a transaction with one snapshot */
    uint16_t deployment;
    const char *path; /* path of the receipt */
    /* Path of the JWKS; NULL: the signature is not checked, and the output says so. */
    const char *jwks;
};

/* Prints each difference and the result. */
tide_status tide_verify_receipt(const struct tide_verify_receipt *of,
                                struct tide_err *err) TIDE_MUST_USE;

/* Reads the deployment file, which must name validators: their signatures are checked. `what`
 * begins the message if none is configured. The caller frees *out, also after a failure. */
tide_status tide_verify_validators(struct tide_deployment **out, const struct tide_config *config,
                                   const char *what, struct tide_err *err) TIDE_MUST_USE;

/* Appends a file that a user names to the buffer. TIDE_E_IO if it cannot be read, TIDE_E_LIMIT if
 * it is larger than the buffer may be: "larger than WHAT". */
tide_status verify_read_file(struct tide_buf *out, const char *path, const char *what,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
