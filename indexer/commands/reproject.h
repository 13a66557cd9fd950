/* Reprojection: what was kept raw is decoded again with the catalogue of this build, and what now
 * fits moves into its typed tables, a bounded number of rows a transaction. The chain is not
 * needed; afterwards the tables are as if this build had indexed it. */
#ifndef INDEXER_COMMANDS_REPROJECT_H
#define INDEXER_COMMANDS_REPROJECT_H

#include "indexer/database/words.h"
#include "indexer/decode/redecode.h"
#include "tidemark/buf.h"
#include "tidemark/pg.h"

struct tide_reproject {
    struct tide_pg *pg;
    uint16_t deployment;
    struct tide_decode *decode;
    struct tide_batch *batch;
    struct tide_words *words;
    struct tide_buf moved; /* "(…),(…)": keys of the rows of this chunk that fit now */
    uint64_t chunk_moved;
    uint64_t events_seen, events_moved, versions_seen, versions_moved;
};

/* Inside a transaction: writes the batch's rows, drops the raw rows named by moved, brings state
 * and counts up to date, empties batch and moved. */
tide_status tide_reproject_move_events(struct tide_reproject *r,
                                       struct tide_err *err) TIDE_MUST_USE;
tide_status tide_reproject_move_versions(struct tide_reproject *r,
                                         struct tide_err *err) TIDE_MUST_USE;

#endif
