/* The loader: fills new partitions while they have no indexes and are invisible, then attaches
 * them.
 *
 *   create    the tables, without indexes, and the row: one transaction, usually done while the
 *             previous partition loads (partition.c)
 *   load      rows and progress: one transaction for each batch
 *   build     vacuum; the keys and indexes that the parents have, one statement each; statistics
 *   attach    all tables, state, coverage, cursor: one transaction
 *
 * After a kill at any point the missing steps can be recognised and done. Up to three partitions
 * are in progress: one loads, the full one before it gets its indexes, and the one before that is
 * merged into state and folded into rollups. They are attached in order. */
#ifndef INDEXER_WRITE_LOAD_LOAD_H
#define INDEXER_WRITE_LOAD_LOAD_H

#include "indexer/write/load/build.h"
#include "indexer/write/load/partition.h"
#include "indexer/write/rows/keys.h"

/* A full partition: its last ledger is loaded, but it is not attached yet. */
struct load_full {
    struct load_range range;
    struct load_build *build; /* the build that runs beside the writer; NULL: none */
};
enum { LOAD_FULL_MAX = 2 };

/* The loader. All fields belong to the writer's thread. The threads of spare and build have structs
 * of their own. */
struct write_load {
    struct write_main *main; /* borrowed */
    struct write_keys *keys; /* borrowed */
    struct load_build_options build;
    struct load_range loading;
    struct load_full full[LOAD_FULL_MAX]; /* the partitions before `loading`, the oldest first */
    uint32_t full_count;
    uint32_t attached_from, attached_end; /* a partition known to be attached; 0, 0: unknown */
    struct load_spare *spare;             /* the spare partition that a thread makes; NULL: none */
    uint32_t spare_from; /* first ledger of the last spare partition that was begun */
    uint32_t ahead;      /* first ledger of the partition that was last made ahead */
    bool unanalysed;     /* the parents were not analysed since a partition was attached */
};

/* Makes a loader on the writer's session, which need not be connected. */
void write_load_init(struct write_load *load, struct write_main *m, struct write_keys *keys,
                     const struct load_build_options *build);
/* Stops its threads. The next writer does what they leave undone. */
void write_load_close(struct write_load *load);
/* Reads which partitions are loading or full, and forgets what is known of attached ones. */
tide_status write_load_read(struct write_load *load, struct tide_err *err) TIDE_MUST_USE;

/* Decides whether the batch is loaded (*loads) or its partition is attached. Ends a load that the
 * batch does not continue, and makes the batch's partition if there is none. */
tide_status write_load_choose(struct write_load *load, const struct tide_batch *batch, bool *loads,
                              struct tide_err *err) TIDE_MUST_USE;
/* Commits a batch into the loading partition, which takes it. */
tide_status write_load_commit(struct write_load *load, const struct tide_batch *batch,
                              struct tide_err *err) TIDE_MUST_USE;
/* Makes the loading partitions visible. Does nothing if there are none. */
tide_status write_load_finish(struct write_load *load, struct tide_err *err) TIDE_MUST_USE;
/* Attaches the oldest full partition if its build is done. */
tide_status write_load_settle_built(struct write_load *load, struct tide_err *err) TIDE_MUST_USE;
/* If ledger is in the last tenth of its partition, makes the next partition and attaches it empty.
 * A partition that exists is never loaded. */
tide_status write_load_ahead(struct write_load *load, uint32_t ledger,
                             struct tide_err *err) TIDE_MUST_USE;

/* Reads a range from a row of chain.partition that was selected as LOAD_RANGE_COLUMNS. */
#define LOAD_RANGE_COLUMNS                                                     \
    "from_ledger, end_ledger, first_loaded, last_loaded, previous_hash, hash," \
    " chain.unix_ms(closed_at)"
void load_range_read(struct load_range *l, const struct tide_pg_rows *rows, uint32_t row);

/* Drops all partitions that begin below the ledger, with their rows, and what they showed of
 * contracts. Nothing may be loading. */
tide_status write_load_drop(struct write_load *load, uint32_t below,
                            struct tide_err *err) TIDE_MUST_USE;
/* Makes the ledger's partition and attaches it empty, unless it is attached. What
 * is loading is attached first. */
tide_status write_load_make(struct write_load *load, uint32_t ledger,
                            struct tide_err *err) TIDE_MUST_USE;

bool write_load_is_active(const struct write_load *load);
/* Returns the newest range that continues the cursor and therefore counts as committed, or NULL. A
 * load of earlier ledgers does not count. */
const struct load_range *write_load_onward(const struct write_load *load);

#endif
