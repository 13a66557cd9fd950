/* What the hashes of a ledger prove. Driven by the callbacks of the walk in the same pass; the
 * level says how far to go, and only that is paid for.
 *
 *   CHAIN    the header hashes to the hash it carries
 *   RESULTS  … and the result set and the transaction set hash to what the header says
 *   EVENTS   … and the events of each successful contract call hash to what its result says
 *
 * With the network known, at every level, each envelope is hashed and joined to its result: the
 * set's order is not the order of execution, so no call can be matched with its result otherwise.
 *
 * Not covered by any of them: entry changes, fee events, classic events, diagnostics, evictions.
 *
 * Memory   the first envelopes of a ledger as they were read (half a MiB);
 *          one table of envelope hashes, grown to the largest ledger, at most
 *          TIDE_TXS_PER_LEDGER_MAX entries.
 * Threads  one object belongs to one thread; it may have one of its own (tide_proof_use_worker). */
#ifndef INDEXER_DECODE_PROOF_H
#define INDEXER_DECODE_PROOF_H

#include "tidemark/meta.h"

enum tide_proof { TIDE_PROOF_CHAIN, TIDE_PROOF_RESULTS, TIDE_PROOF_EVENTS };

enum tide_check {
    TIDE_CHECK_NONE, /* not asked for, or the network is not known                       */
    TIDE_CHECK_HOLDS,
    TIDE_CHECK_FAILS,
    TIDE_CHECK_EXEMPT, /* tx set of an EMPTY_TX_SET ledger: its hash is zero by definition */
};

struct tide_ledger_proof {
    enum tide_check header;          /* SHA-256 of the header = ledgerHeader.hash             */
    enum tide_check results;         /* txSetResultHash                                       */
    enum tide_check tx_set;          /* scpValue.txSetHash                                    */
    enum tide_check tx_set_previous; /* the set's previousLedgerHash = the header's           */
    enum tide_check envelopes;       /* set of envelope hashes = set of result hashes         */
    uint32_t calls_verified;
    uint32_t calls_rewritten;
    uint32_t calls_unverified;
};

enum tide_call_proof {
    TIDE_CALL_NONE,       /* no successful InvokeHostFunction, or the level is below EVENTS   */
    TIDE_CALL_VERIFIED,   /* return value and events hash to the result's hash as they stand  */
    TIDE_CALL_REWRITTEN,  /* … once the exporter's known rewriting of asset events is undone  */
    TIDE_CALL_UNVERIFIED, /* no known form hashes to it                                       */
};

struct tide_proof_check;

/* network_id: 32 bytes, copied; NULL when it is not known. TIDE_E_MEMORY. */
tide_status tide_proof_open(struct tide_proof_check **out, enum tide_proof level,
                            const uint8_t *network_id) TIDE_MUST_USE;
void tide_proof_close(struct tide_proof_check *verify); /* NULL is fine */

/* From now on the hash of a large transaction set is made by a thread of its own, while the walk
 * goes on: a ledger that was begun must be ended or dropped. Without a thread to spare nothing
 * changes. */
void tide_proof_use_worker(struct tide_proof_check *verify);

/* The walk's callbacks of the same names; slices must live until tide_proof_end. header begins
 * a ledger and forgets the one before. */
void tide_proof_header(struct tide_proof_check *verify, const struct tide_ledger_header *header);
/* TIDE_E_LIMIT: more than TIDE_TXS_PER_LEDGER_MAX; TIDE_E_MEMORY. */
tide_status tide_proof_envelope(struct tide_proof_check *verify,
                                const struct tide_envelope *envelope) TIDE_MUST_USE;
void tide_proof_tx_set(struct tide_proof_check *verify, tide_slice tx_set);
void tide_proof_tx(struct tide_proof_check *verify, const struct tide_tx *tx);
enum tide_call_proof tide_proof_tx_end(struct tide_proof_check *verify, const struct tide_tx *tx);
void tide_proof_end(struct tide_proof_check *verify);
/* Instead of end, for a ledger whose walk was given up: its slices are needed no more. */
void tide_proof_drop(struct tide_proof_check *verify);

/* The findings; complete after tide_proof_end, header from tide_proof_header on. */
const struct tide_ledger_proof *tide_proof_findings(const struct tide_proof_check *verify);

/* What tide_proof_holds names when another passphrase may explain it: compare the pointers. */
extern const char tide_proof_network[];
/* False when a check fails; *what is then static text naming the first one. Calls that are
 * unverified are counted, not refused: re-exported history holds such. */
bool tide_proof_holds(const struct tide_proof_check *verify, const char **what);

/* The envelope whose hash a result pair carries; empty when there is none or the network is not
 * known. Valid from the first tx callback to tide_proof_end. */
tide_slice tide_proof_find(const struct tide_proof_check *verify, const uint8_t *tx_hash);

/* The same, read: false when there is none. */
bool tide_proof_read(const struct tide_proof_check *verify, const uint8_t *tx_hash,
                     struct tide_envelope *out);

#endif
