/* The small writer: commits a batch of ledgers whose partition is attached, in one transaction that
 * makes it visible at once. At the tip a batch is one ledger, and everything before COMMIT is one
 * round trip.
 *
 *   BEGIN, fence · the rows of every table · the newest version of each key into state · rollups ·
 *   coverage, counts, cursor, NOTIFY · COMMIT
 *
 * Few rows go as arrays of prepared statements in a pipeline, many by COPY, table by table. */
#ifndef INDEXER_WRITE_TIP_TIP_H
#define INDEXER_WRITE_TIP_TIP_H

#include "indexer/write/rows/statements.h"
#include "indexer/write/session/main_session.h"

struct write_tip {
    struct write_main *main;             /* borrowed */
    struct write_statements *statements; /* borrowed; of the same session */
    size_t array_bytes;                  /* bytes of rows above which they go by COPY */
};

/* Commits a batch whose partition is attached. Moves the cursor if the batch continues it. After a
 * failure nothing of the batch is in the database. */
tide_status write_tip_commit(struct write_tip *tip, const struct tide_batch *batch,
                             struct tide_err *err) TIDE_MUST_USE;
/* Returns whether the batch's rows go by COPY. */
bool write_tip_copies(const struct write_tip *tip, const struct tide_batch *batch);

#endif
