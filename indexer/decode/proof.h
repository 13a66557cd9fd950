/* Checks of the hashes of a ledger, driven by the walk's callbacks in the same pass as decoding.
 * The level sets which hashes are computed; CHAIN costs least.
 *
 *   CHAIN    the header hashes to the hash that it carries
 *   RESULTS  … and the result set and the transaction set hash to what the header says
 *   EVENTS   … and the events of each successful contract call hash to what its result says
 *
 * If the network is known, each envelope is hashed and joined to its result at every level: the
 * set's order is not the order of execution, so no call can be matched with its result otherwise.
 *
 * No level covers entry changes, fee events, classic events, diagnostics and evictions.
 *
 * Memory   the first envelopes of a ledger as they were read (half a MiB), and one table of
 *          envelope hashes, grown to the largest ledger, at most TIDE_TXS_PER_LEDGER_MAX entries.
 * Threads  one thread at a time. The object may run one helper thread (tide_proof_use_worker). */
#ifndef INDEXER_DECODE_PROOF_H
#define INDEXER_DECODE_PROOF_H

#include "tidemark/limits.h"
#include "tidemark/meta.h"

/* Most transactions that a ledger's bytes can hold. The network's own limit is a setting that
 * can change. */
#define TIDE_TXS_PER_LEDGER_MAX (TIDE_LEDGER_BYTES_MAX / 56u)

enum tide_proof { TIDE_PROOF_CHAIN, TIDE_PROOF_RESULTS, TIDE_PROOF_EVENTS };

enum tide_check {
    TIDE_CHECK_NONE, /* not checked: the level is lower, or the network is not known */
    TIDE_CHECK_HOLDS,
    TIDE_CHECK_FAILS,
    /* The transaction set of an EMPTY_TX_SET ledger: its hash is zero by definition. */
    TIDE_CHECK_EXEMPT,
};

struct tide_ledger_proof {
    enum tide_check header;          /* SHA-256 of the header = ledgerHeader.hash */
    enum tide_check results;         /* hash of the results = txSetResultHash */
    enum tide_check tx_set;          /* hash of the set = scpValue.txSetHash */
    enum tide_check tx_set_previous; /* the set's previousLedgerHash = the header's */
    enum tide_check envelopes;       /* set of envelope hashes = set of result hashes */
    uint32_t calls_verified;
    uint32_t calls_rewritten;
    uint32_t calls_unverified;
};

enum tide_call_proof {
    TIDE_CALL_NONE,     /* no successful InvokeHostFunction, or the level is below EVENTS */
    TIDE_CALL_VERIFIED, /* return value and events hash to the result's hash as they stand */
    /* The same after the exporter's known rewriting of asset events is undone (rewrite.h). */
    TIDE_CALL_REWRITTEN,
    TIDE_CALL_UNVERIFIED, /* no known form hashes to it */
};

struct tide_proof_check;

/* network_id: 32 bytes, copied; NULL if it is not known. Fails with TIDE_E_MEMORY. */
tide_status tide_proof_open(struct tide_proof_check **out, enum tide_proof level,
                            const uint8_t *network_id) TIDE_MUST_USE;
void tide_proof_close(struct tide_proof_check *verify); /* NULL is allowed */

/* Starts a helper thread that hashes large transaction sets while the walk goes on. From then on a
 * ledger that was begun must be ended or dropped. If no thread can be started, the caller's thread
 * goes on hashing. */
void tide_proof_use_worker(struct tide_proof_check *verify);

/* Call from the walk's callbacks of the same names. Slices must live until tide_proof_end or
 * tide_proof_drop. tide_proof_header begins a ledger and forgets the one before. */
void tide_proof_header(struct tide_proof_check *verify, const struct tide_ledger_header *header);
/* Fails with TIDE_E_LIMIT for more than TIDE_TXS_PER_LEDGER_MAX envelopes, or TIDE_E_MEMORY. */
tide_status tide_proof_envelope(struct tide_proof_check *verify,
                                const struct tide_envelope *read) TIDE_MUST_USE;
void tide_proof_tx_set(struct tide_proof_check *verify, tide_slice tx_set);
void tide_proof_tx(struct tide_proof_check *verify, const struct tide_tx *tx);
enum tide_call_proof tide_proof_tx_end(struct tide_proof_check *verify, const struct tide_tx *tx);
void tide_proof_end(struct tide_proof_check *verify);
/* Ends a ledger whose walk failed. Waits until the helper thread no longer reads the slices. */
void tide_proof_drop(struct tide_proof_check *verify);

/* Returns the findings. `header` is set by tide_proof_header, all others by tide_proof_end. */
const struct tide_ledger_proof *tide_proof_findings(const struct tide_proof_check *verify);

/* The text that tide_proof_holds gives if another network's passphrase may be the cause. Compare
 * the pointers. */
extern const char tide_proof_network[];
/* Returns false if a check failed; *what is then static text that names the first one. Unverified
 * calls are counted only: re-exported history contains some. */
bool tide_proof_holds(const struct tide_proof_check *verify, const char **what);

/* Returns the envelope whose hash is tx_hash. Empty if there is none, or the network is not known.
 * Valid from the first tx callback to tide_proof_end. */
tide_slice tide_proof_find(const struct tide_proof_check *verify, const uint8_t *tx_hash);

/* Reads that envelope into out. Returns false if there is none, or it cannot be read. */
bool tide_proof_read(const struct tide_proof_check *verify, const uint8_t *tx_hash,
                     struct tide_envelope *out);

#endif
