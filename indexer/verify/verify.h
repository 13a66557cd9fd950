/* verify: what is stored, checked again.
 *
 * Against itself  ledgers contiguous and linked by their hashes; every event in the log has its
 *                 payload and the other way round; transactions, calls, events and what is raw as
 *                 many as each ledger and the cursor say; each call and event of a transaction that
 *                 is there; state is the newest of history; rollups are what their statements make
 *                 of events and history (sums of the whole unless a part is checked)
 * Against a source (when one is configured) the ledgers of the range go through the decoder again,
 *                 hashes and proofs included, and the rows of every table are compared by ledger
 * Against getEvents (of each server of rpc) every event of the deployment's contracts by its id, in
 *                 what the server still keeps of the range: a server that loses events, or we
 *
 * Nothing is written that stays. Memory is bounded: a chunk of ledgers' digests. */
#ifndef INDEXER_VERIFY_VERIFY_H
#define INDEXER_VERIFY_VERIFY_H

#include "indexer/database/range.h"
#include "indexer/database/scope.h"
#include "tidemark/config.h"
#include "tidemark/pg.h"

struct tide_verify {
    struct tide_pg *pg; /* in a snapshot */
    uint16_t deployment;
    struct tide_scope scope; /* what is filled: nothing is said of other tables */
    struct tide_range range;
    bool part;      /* a range was asked for */
    uint64_t wrong; /* differences said so far; the first VERIFY_SAID_MAX are printed */
};

#define TIDE_VERIFY_SAID_MAX 20u

/* Says one difference on standard output. */
void tide_verify_report(struct tide_verify *check, const char *format, ...) TIDE_PRINTF(2, 3);

/* The rows of one statement with $1 deployment, $2 and $3 the range's first and last ledger. */
tide_status tide_verify_ask(struct tide_verify *check, struct tide_pg_rows *rows, const char *sql,
                            struct tide_err *err) TIDE_MUST_USE;

tide_status tide_verify_stored(struct tide_verify *check, struct tide_err *err) TIDE_MUST_USE;
/* Transactions, calls and events: counted, and held against one another. */
tide_status tide_verify_counts(struct tide_verify *check, struct tide_err *err) TIDE_MUST_USE;
/* By a connection of its own: what it makes goes to temporary tables and is rolled back. */
tide_status tide_verify_rollups(struct tide_verify *check, const struct tide_config *config,
                                struct tide_err *err) TIDE_MUST_USE;
tide_status tide_verify_source(struct tide_verify *check, const struct tide_config *config,
                               struct tide_err *err) TIDE_MUST_USE;
tide_status tide_verify_events(struct tide_verify *check, const struct tide_config *config,
                               struct tide_err *err) TIDE_MUST_USE;

#endif
