/* A batch: the rows of a run of consecutive ledgers, encoded for binary COPY, one buffer per table.
 * The decoder fills it (pure CPU), the writer commits it in one transaction, then it is reset
 * and used again: its buffers keep their capacity, so memory is flat. */
#ifndef INDEXER_DECODE_BATCH_H
#define INDEXER_DECODE_BATCH_H

#include "tidemark/buf.h"
#include "tidemark/table.h"

struct tide_rows {
    struct tide_buf copy; /* COPY BINARY tuples, without the file header and trailer */
    uint64_t count;
};

struct tide_batch_counts {
    uint64_t ledgers, transactions, calls, events, changes, raw_events, raw_states, raw_calls;
    uint64_t calls_verified, calls_rewritten, calls_unverified;
};

struct tide_batch {
    uint32_t from, to;                      /* 0, 0 when empty */
    uint8_t previous_hash[TIDE_HASH_BYTES]; /* previousLedgerHash of from */
    uint8_t hash[TIDE_HASH_BYTES];          /* hash of to */
    uint64_t close_time;                    /* of to, unix seconds */
    size_t bytes;                           /* sum of the buffers */
    bool settled; /* these ledgers show what a discovered contract is, see decode.h */
    struct tide_batch_counts counts;
    /* By table index. For state tables: rows in the shape of the paired HISTORY table (removed
     * included), the last version of each key touched in this batch; the writer merges them. */
    struct tide_rows rows[TIDE_TABLES_MAX];
};

void tide_batch_init(struct tide_batch *batch);
void tide_batch_reset(struct tide_batch *batch);
void tide_batch_release(struct tide_batch *batch);
/* Returns whether a row of chain.contract_seen says that word (discovered, market …). Searches the
 * encoded rows, so a name that holds the word counts, too. */
bool tide_batch_saw(const struct tide_batch *batch, const char *what);

#endif
