/* The loader: partitions that do not exist are filled without indexes and invisible, then attached.
 *
 *   create    the tables, without indexes, and the row           one transaction; most often while
 *             the partition before it loads (spare.c)
 *   load      rows and progress                                  one transaction a batch
 *   build     vacuum; keys and indexes that the parents have and they lack, one statement each;
 *             statistics
 *   attach    all tables, state, coverage, cursor                one transaction
 *
 * After a kill at any point what is missing can be seen and done. Up to three partitions are on
 * their way: one loads, the full one before it gets its indexes, and that before this one is merged
 * into state and folded into rollups. They are attached in order. */
#ifndef INDEXER_WRITE_LOAD_LOAD_H
#define INDEXER_WRITE_LOAD_LOAD_H

#include "indexer/write/load/build.h"
#include "indexer/write/load/spare.h"
#include "indexer/write/rows/keys.h"

/* A full partition: its last ledger is loaded, and it is not attached. */
struct load_full {
    struct load_range range;
    struct load_build *build; /* of its indexes and rows, beside us; NULL: none */
};
enum { LOAD_FULL_MAX = 2 };

/* All fields belong to the writer's thread. Threads of spare and build have what they need in
 * structs of their own. */
struct write_load {
    struct write_main *main; /* borrowed */
    struct write_keys *keys; /* borrowed */
    struct load_build_options build;
    struct load_range loading;
    struct load_full full[LOAD_FULL_MAX]; /* before `loading`, the oldest first */
    uint32_t full_count;
    uint32_t attached_from, attached_end; /* a partition known to be attached; 0, 0: unknown */
    struct load_spare *spare;             /* being made, by a thread; NULL: none is */
    uint32_t spare_from;                  /* the last that was begun */
    uint32_t ahead;                       /* the partition that was last made ahead */
    bool unanalysed;                      /* the parents, since a loaded partition was attached */
};

/* Makes a loader on the writer's session, which need not be connected. */
void write_load_init(struct write_load *load, struct write_main *m, struct write_keys *keys,
                     const struct load_build_options *build);
/* Stops its threads. What they leave undone, the next writer does. */
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
/* Makes what is loading visible. Nothing to do is fine. */
tide_status write_load_finish(struct write_load *load, struct tide_err *err) TIDE_MUST_USE;
/* Attaches the oldest full partition, if that needs no waiting. */
tide_status write_load_settle_built(struct write_load *load, struct tide_err *err) TIDE_MUST_USE;
/* Makes the partition after the one of ledger when ledger is in its last tenth, and attaches it
 * empty: a partition that exists is never loaded. */
tide_status write_load_ahead(struct write_load *load, uint32_t ledger,
                             struct tide_err *err) TIDE_MUST_USE;

bool write_load_is_active(const struct write_load *load);
/* Returns the newest range that continues the cursor, and counts as committed; NULL: there is none.
 * Loading of an earlier range does not count. */
const struct load_range *write_load_onward(const struct write_load *load);

#endif
