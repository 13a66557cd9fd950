/* Keys, indexes and statistics of a loaded partition, by several sessions at a time. */
#ifndef INDEXER_WRITE_LOAD_BUILD_H
#define INDEXER_WRITE_LOAD_BUILD_H

#include "indexer/write/load/attach.h"

/* How many sessions may build at once; 0: 1.5 a core. */
struct load_build_options {
    const struct write_rollups *rollups; /* borrowed */
    uint32_t connections;
};

/* A build beside the writer: it has threads and sessions of its own. */
struct load_build; /* opaque */

/* Makes the keys and indexes that the tables of the range still lack. Waits for all of it; the
 * writer's session works, too. */
tide_status load_build_run(struct write_main *m, const struct load_build_options *options,
                           const struct load_range *range, struct tide_err *err) TIDE_MUST_USE;
/* Analyses the parents, once after a load, by as many sessions. */
tide_status load_build_statistics(struct write_main *m, const struct load_build_options *options,
                                  struct tide_err *err) TIDE_MUST_USE;

/* Begins the same for a full partition, beside the writer. *out is NULL if no session could be had:
 * what is left undone, load_build_run does. */
tide_status load_build_begin(struct write_main *m, const struct load_build_options *options,
                             const struct load_range *range, struct load_build **out,
                             struct tide_err *err) TIDE_MUST_USE;
/* Waits for its indexes. NULL is allowed here and below. */
void load_build_wait_indexes(struct write_main *m, struct load_build *build);
/* Tells it that its partition is the oldest: its rows are merged once it has its indexes. */
void load_build_merge(struct load_build *build, const struct write_cursor *cursor);
/* Returns true if its sessions have no work left. */
bool load_build_is_done(const struct load_build *build);
/* Waits until it has ended, attaches the partition on the session where its rows were merged, and
 * frees the build. stop: it is stopped, and nothing is attached. Returns true if the partition is
 * attached. *perhaps: it may be, for the answer to COMMIT was lost. */
bool load_build_end(struct write_main *m, struct load_build *build, bool stop, bool *perhaps);

#endif
