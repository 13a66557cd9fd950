/* Reprojection decodes rows that were stored raw with the catalogue of this build, and moves those
 * that fit into their typed tables, a bounded number of rows in each transaction. The chain is not
 * needed. Afterwards the tables are as if this build had indexed it. */
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
    struct tide_buf moved; /* "(…),(…)": keys of the chunk's rows that fit now */
    uint64_t chunk_moved;  /* number of rows in moved */
    uint64_t events_seen, events_moved, versions_seen, versions_moved;
};

/* Called inside a transaction: write the batch's rows, delete the raw rows that r->moved names,
 * update state and counts, and empty batch and moved. */
tide_status tide_reproject_move_events(struct tide_reproject *r,
                                       struct tide_err *err) TIDE_MUST_USE;
tide_status tide_reproject_move_versions(struct tide_reproject *r,
                                         struct tide_err *err) TIDE_MUST_USE;

#endif
