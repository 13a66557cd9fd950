/* A batch holds the rows of consecutive ledgers, encoded for binary COPY, one buffer for each
 * table. The decoder fills the batch without I/O, the writer commits it in one transaction and
 * resets it. A reset keeps the buffers' capacity, so memory does not grow with the number of
 * batches. One thread at a time may use a batch. */
#ifndef INDEXER_DECODE_BATCH_H
#define INDEXER_DECODE_BATCH_H

#include "tidemark/buf.h"
#include "tidemark/table.h"

/* One table's rows in one batch: more than 8 times the largest ledger and the largest batch_mib. */
#define TIDE_TABLE_BYTES_MAX (1u << 30)

struct tide_rows {
    struct tide_buf copy; /* COPY BINARY tuples, without the file header and trailer */
    uint64_t count;
};

struct tide_batch_counts {
    uint64_t ledgers, transactions, calls, events, changes, raw_events, raw_states, raw_calls;
    uint64_t calls_verified, calls_rewritten, calls_unverified;
};

struct tide_batch {
    uint32_t from, to; /* first and last ledger; both 0 if the batch is empty */
    uint8_t previous_hash[TIDE_HASH_BYTES]; /* previousLedgerHash of ledger `from` */
    uint8_t hash[TIDE_HASH_BYTES];          /* hash of ledger `to` */
    uint64_t closed_ms;                     /* close time of ledger `to`, in unix milliseconds */
    size_t bytes;                           /* sum of the buffers */
    bool settled; /* a ledger here shows the kind of a discovered contract, see decode.h */
    struct tide_batch_counts counts;
    /* Indexed by table. A state table's rows have the columns of the paired HISTORY table, removed
     * entries included: one row for each key that changed, with the key's last version. The writer
     * merges them. */
    struct tide_rows rows[TIDE_TABLES_MAX];
};

void tide_batch_init(struct tide_batch *batch);
void tide_batch_reset(struct tide_batch *batch);
void tide_batch_release(struct tide_batch *batch);
/* Returns whether a row of chain.contract_seen has `what` (discovered, market …) in its column
 * `what`. The search is for the bytes, so a contract whose name contains the word counts, too. */
bool tide_batch_saw(const struct tide_batch *batch, const char *what);

#endif
